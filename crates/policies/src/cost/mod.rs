//! Family cost: at which level is a page programmed?

pub mod fixed;
