//! What the tests of the FTL share: a driver that finishes operations in any legal order, the plain
//! map that it is compared with, and drives drawn from a seed.

mod drive;
mod kit;
mod scenario;
mod small;

pub(crate) use drive::{Drive, Fault, Sabotage, Seen, Taste};
pub(crate) use kit::small_config;
pub(crate) use kit::{
    InOrder, Mix, NoRefresh, NoThrottle, Plain, Traditional, builtin, of_store, policies_of,
    policies_over,
};
pub(crate) use scenario::{Needs, Pattern, Scenario, main_phase, run, sweep, work};
pub(crate) use small::SMALL;
