//! Family victim: which block is reclaimed?

pub mod d_choices;
pub mod fifo;
pub mod greedy;
pub mod random;
pub mod stable_greedy;
