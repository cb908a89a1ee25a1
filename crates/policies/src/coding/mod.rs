//! Family coding: how bits lie on cells, and whether a block is written twice between two erases.

pub mod wom;
