//! Family wear: which cold data moves to which worn block?

pub mod cold_swap;
pub mod hot_cold_swap;
