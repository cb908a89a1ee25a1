//! Family page-choice: which page of the open block takes a write.

pub mod mango;
