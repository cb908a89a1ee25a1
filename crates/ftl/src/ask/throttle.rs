//! Family **throttle**: how long must a write wait before the FTL sees it?

use super::watch::Watch;
use kernel::Time;
use nand::physics::Recovery;

/// What a throttle plans a life with.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Life {
    /// All flash, in bytes: what one program/erase cycle of every block programs.
    pub raw_bytes: u64,
    /// A page, in bytes.
    pub page_bytes: u64,
    /// The cycles that the flash is rated for.
    pub cycles: u32,
    /// How it recovers between cycles.
    pub recovery: Recovery,
    /// Whether the host sends later requests later by what earlier ones were held back. If not,
    /// they arrive as they would have without a throttle.
    pub pushes_back: bool,
}

/// Family **throttle**: how long must a write wait before the FTL sees it?
pub trait Throttle: Watch {
    /// What there is to plan with. Called once, before anything else.
    fn learn_life(&mut self, _: &Life) {}
    /// Memory that the policy needs, in bytes.
    fn dram_bytes(&self) -> u64 {
        0
    }
    /// The earliest time at which a write of `bytes` host bytes, arrived at `now`, may enter.
    /// Asked once for each write request, in order of arrival.
    fn admit(&mut self, now: Time, bytes: u64) -> Time;
    /// Whether it ever delays anything; if not it is never asked.
    fn active(&self) -> bool;
}

/// Throttle: nothing waits.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoThrottle;

impl Watch for NoThrottle {}

impl Throttle for NoThrottle {
    fn admit(&mut self, now: Time, _: u64) -> Time {
        now
    }

    fn active(&self) -> bool {
        false
    }
}
