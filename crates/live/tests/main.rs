//! All integration tests of the crate in one binary: it links the libraries once. `tests/README.md` lists
//! which module answers which question.

mod common;
mod power;
mod served;
