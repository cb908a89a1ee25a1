//! All integration tests of the crate in one binary: it links the libraries once. `tests/README.md` lists
//! which module answers which question.

extern crate floatgate_ftl as ftl;

mod answers;
mod asks;
mod canary;
mod disturb;
mod mango;
mod model;
mod plans;
mod pools;
mod power_cut;
mod saved;
mod separation;
mod slc;
mod support;
mod throwaway;
mod units;
mod wear;
mod wom;
