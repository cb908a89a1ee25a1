//! Years of a workload that repeats, in seconds of computing: a fluid model with the time steps of
//! the throttles themselves.
//!
//! In each period the throttle grants bytes and a delay per page; the workload's demand flows as
//! far as both let it, and what is held back comes later (as in mode `shifted`). Wear, recovery and
//! the throttle's state advance with every period; stretches without writes are passed over at
//! once. What it takes from elsewhere are bytes programmed for each byte of the host, and the time of
//! a page write without throttle: from an event simulation, or given.

mod demand;
mod flow;
mod ledger;
mod measure;
mod value;

pub use demand::{Demand, DemandError};
pub use flow::{Outcome, Plan, fast_forward, plan_of};
pub use ledger::{Bin, Ledger};
pub use measure::{Measured, measure, page_program_ns};
pub use value::value;
