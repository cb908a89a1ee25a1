//! `conflict`: quick to write while others wait.
//!
//! A program is of low cost when at least `queue-min` page operations of other requests wait, and
//! of high cost otherwise, so that later reads are quick. Moves follow the same rule. It knows
//! nothing of pages: data written in a burst is slow to read as long as it stays.
//!
//! The paper says that requests wait in the queue of the device. Requests in service may have left
//! that queue (`device`, `channel`, `die`) or be in it still (`requests`). The text allows both.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Cost, Queues, Watch, WriteCtx};
use nand::Level;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "conflict",
    aliases: &["li"],
    summary: "Low-cost writes when requests wait, high-cost writes otherwise.",
    paper: "Li et al., Maximizing IO performance via conflict reduction for flash memory storage \
            systems, DATE 2015",
    params: &[
        ParamInfo {
            name: "scope",
            kind: ParamKind::Word(&["device", "channel", "die", "requests"]),
            default: "device",
            doc: "where they wait; `requests`: those inside the drive, in service or not",
        },
        ParamInfo {
            name: "queue-min",
            kind: ParamKind::Int { min: 1, max: 64 },
            default: "1",
            doc: "page operations of other requests (`requests`: requests) that count as waiting",
        },
        ParamInfo {
            name: "initial-level",
            kind: ParamKind::Word(&["high", "medium", "low"]),
            default: "medium",
            doc: "the level of data that was there before the run",
        },
    ],
    idle: super::needs_levels,
    ..PolicyInfo::of(Family::Cost)
};

/// Levels by the length of the queue.
#[derive(Copy, Clone, Debug)]
pub struct Conflict {
    waiting: fn(&WriteCtx) -> u32,
    queues: Queues,
    queue_min: u32,
    initial: Level,
    low: u64,
    high: u64,
}

pub(crate) fn new(params: &Params) -> Conflict {
    let waiting: fn(&WriteCtx) -> u32 = match params.word("scope") {
        "device" => |w| w.waiting_device,
        "channel" => |w| w.waiting_channel,
        "requests" => |w| w.requests_inside,
        _ => |w| w.waiting_die,
    };
    let queues = match params.word("scope") {
        "die" => Queues::Die,
        "requests" => Queues::None,
        _ => Queues::All,
    };
    Conflict {
        waiting,
        queues,
        queue_min: params.int("queue-min") as u32,
        initial: super::level_of(params.word("initial-level")),
        low: 0,
        high: 0,
    }
}

impl Watch for Conflict {
    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("low_writes", self.low as f64), ("high_writes", self.high as f64)]
    }
}

impl Cost for Conflict {
    fn initial(&self) -> Level {
        self.initial
    }

    fn queues(&self) -> Queues {
        self.queues
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        if (self.waiting)(w) >= self.queue_min {
            self.low += 1;
            Level::LowCost
        } else {
            self.high += 1;
            Level::HighCost
        }
    }
}
