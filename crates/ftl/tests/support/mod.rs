//! Support for the tests of the FTL: a driver that finishes operations in any legal order, the
//! plain map that it is compared with, and drives drawn from a seed.

mod cells;
mod drive;
mod policy_types;
mod scenario;
mod small;
mod steps;

pub(crate) use cells::{Cells, Remembering, over};
pub(crate) use drive::{Drive, Fault, HintsOf, Sabotage, Seen, Taste};
pub(crate) use policy_types::{
    Mix, NoRefresh, Plain, Traditional, builtin, policies_of, policies_with, small_config,
};
pub(crate) use scenario::{
    Checks, Needs, Pattern, Scenario, main_phase, run, sweep, sweep_until, work,
};
pub(crate) use small::SMALL;
pub(crate) use steps::{Steps, host_done};
