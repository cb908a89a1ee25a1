//! All integration tests of the crate in one binary: it links the libraries once. `tests/README.md` lists
//! which module answers which question.
//!
//! `allocations` and `memory` measure a whole process, so each is a binary of its own.

mod backlog;
mod bench;
mod buffer;
mod bus;
mod causes;
mod cells;
mod choices;
mod closed;
mod common;
mod config;
mod cost;
mod dies;
mod disturb;
mod end;
mod energy;
mod external;
mod failures;
mod fast_forward;
mod fdp;
mod figures;
mod flows;
mod fluid;
mod front;
mod golden;
mod hints;
mod honest;
mod idle;
mod jitter;
mod keys;
mod mango;
mod numbers;
mod options;
mod pace;
mod planes;
mod real;
mod record;
mod same;
mod scale;
mod separation;
mod session;
mod sixty;
mod sketch_arbiter;
mod slc;
mod states;
mod steady;
mod superblocks;
mod units;
mod waf;
mod years;
