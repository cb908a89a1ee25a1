//! Family placement: which plane takes the next page?

pub mod dynamic;
pub mod fixed;
