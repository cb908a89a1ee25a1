//! Family throttle: how long must a write wait before the FTL sees it?
//!
//! One state machine serves two time scales. [`Machine`] knows only periods, so a fluid model can
//! run it over years. [`Gate`] drives it from the events of a run.

mod cells;
mod fixed_rate;
mod gate;
mod machine;
mod regulator;
mod rests;
mod windows;

#[cfg(test)]
mod search;
#[cfg(test)]
mod tests;

pub use cells::RatedCells;
pub use fixed_rate::FixedRate;
pub use gate::Gate;
pub use machine::{CountedRecovery, Machine, Settings, ThrottlePace};
pub use regulator::{Capacity, Enforcement, Epoch, Grant, Regulator, Rules, ThrottleCounts};
pub use rests::Rests;
pub use windows::{Difference, Windows};

use crate::params::{ParamInfo, ParamKind};
use ftl::{Life, Throttle};
use kernel::{Dur, Time};

crate::family::family! { $
    /// Family throttle.
    ThrottlePolicy: Throttle {
        none: none::NoThrottle,
        fixed: Box<Gate>,
        dynamic: Box<Gate>,
        ready: Box<Gate>,
    }
    fn learn_life(&mut self, life: &Life);
    fn dram_bytes(&self) -> u64;
    fn admit(&mut self, now: Time, bytes: u64) -> Time;
    fn active(&self) -> bool;
}

/// A throttle without its events.
trait Paced {
    /// The settings of its state machine, which is the whole policy. `None`: it has none.
    fn settings(&self) -> Option<&Settings> {
        None
    }
}

impl Paced for none::NoThrottle {}
impl Paced for Box<dyn Throttle> {}

impl ThrottlePolicy {
    /// The settings of the state machine that the throttle is, if it is one.
    pub fn settings(&self) -> Option<&Settings> {
        each!(self, policy => policy.settings())
    }
}

// ── Parameters that policies share ──────────────────────────────────────────────────────────────

const TARGET: ParamInfo = ParamInfo {
    name: "target",
    kind: ParamKind::Dur { min: Dur::secs(1) },
    default: "5y",
    doc: "the life to reach, from the beginning of the run; after it nothing is throttled",
};

const PERIOD: ParamInfo = ParamInfo {
    name: "period",
    kind: ParamKind::Dur { min: Dur::ms(1) },
    default: "1s",
    doc: "the length of a period, at whose end its capacity is used up or carried over",
};

const ENFORCEMENT: ParamInfo = ParamInfo {
    name: "enforcement",
    kind: ParamKind::Word(&["optimistic", "pessimistic"]),
    default: "optimistic",
    doc: "beyond the capacity of a period, writes borrow from later epochs or wait",
};

const SPARE: ParamInfo = ParamInfo {
    name: "spare",
    // The guarantee of `capacity = "guarded"` holds up to here. Beyond, an early loan could outrun
    // the endurance of cells that had no time to recover.
    kind: ParamKind::Real { min: 0.0, max: 0.3 },
    default: "0.1",
    doc: "the share of later epochs that may be borrowed",
};

const EPOCH: ParamInfo = ParamInfo {
    name: "epoch",
    kind: ParamKind::Word(&["selected", "window"]),
    default: "selected",
    doc: "the length of epochs: the one at which demand varies least, or always one window",
};

const WINDOW: ParamInfo = ParamInfo {
    name: "window",
    kind: ParamKind::Dur { min: Dur::ms(1) },
    default: "10min",
    doc: "the unit of the lengths of epochs",
};

const HISTORY: ParamInfo = ParamInfo {
    name: "history",
    kind: ParamKind::Dur { min: Dur::ms(1) },
    default: "7d",
    doc: "how far back demand is remembered for the selection of epochs",
};

const AVERAGE: ParamInfo = ParamInfo {
    name: "average",
    kind: ParamKind::Int { min: 1, max: Rules::AVERAGE as u64 },
    default: "1",
    doc: "epochs whose mean predicts the demand of the next; 1: the last one",
};

const DIFFERENCE: ParamInfo = ParamInfo {
    name: "difference",
    kind: ParamKind::Word(&["first", "least"]),
    default: "first",
    doc: "divisor of a difference of demand: the first demand (Eq. 6) or the lesser of the two",
};

const MISS: ParamInfo = ParamInfo {
    name: "miss",
    kind: ParamKind::Real { min: 0.0, max: 100.0 },
    default: "0.25",
    doc: "a prediction whose difference from the actual demand is above this is a miss",
};

const MISSES: ParamInfo = ParamInfo {
    name: "misses",
    kind: ParamKind::Int { min: 1, max: 1_000_000 },
    default: "3",
    doc: "misses in a row after which the length of epochs is selected anew",
};

const PAGES: ParamInfo = ParamInfo {
    name: "pages",
    kind: ParamKind::Word(&["host", "nand"]),
    default: "host",
    doc: "the pages among which Eq. 4 divides a delay: those of the host, which are delayed, or \
          all that are programmed",
};
