//! `ready`: throttles by the demand that is expected and the cycles that are left, recovery included.
//!
//! Life is divided into epochs. The demand of the next is predicted from the last, and the capacity
//! of an epoch is its share of the rest. The delay of each page changes at every epoch so that
//! demand and capacity meet (Eq. 4 and 5).
//!
//! Within an epoch, one-second periods enforce the capacity. Unused capacity is carried over.
//! Demand beyond it waits (`pessimistic`) or borrows from later epochs (`optimistic`). The length
//! of epochs is the one at which demand varies least.
//!
//! The policy reaches the target with the least delay. It is bad for demand without cycles, because
//! then delays follow demand instead of meeting it.
//!
//! Its guarantee is about the mean rest of cells, as in the paper, whose equations ignore the order
//! of rest and work. A drive that idles for half its life and then works has the same mean as one
//! that works evenly. `capacity = "local"` counts each cycle by the rest before it.
//! `capacity = "paper"` guarantees nothing. Cells that rested are credited with cycles that they
//! lose again after the rest, and borrowed bytes can be borrowed again and again.

use super::{
    AVERAGE, Capacity, CountedRecovery, DIFFERENCE, ENFORCEMENT, EPOCH, Gate, HISTORY, MISS,
    MISSES, PAGES, PERIOD, SPARE, Settings, TARGET, WINDOW,
};
use crate::info::{Family, Idle, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use nand::physics::Recovery;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "ready",
    summary: "Spreads the achievable cycles, recovery included, over the target by the demand \
              that it expects; keeps it by the mean rest of cells, or by each cycle's own.",
    paper: "Lee et al., READY, FAST 2012, section 3",
    params: &[
        TARGET,
        ENFORCEMENT,
        ParamInfo {
            name: "capacity",
            kind: ParamKind::Word(&["guarded", "local", "paper"]),
            default: "guarded",
            doc: "the cycles to spread. `guarded`: at most those that are safe if the target is \
                  reached, by the mean rest of the whole life. `local`: the same, but each cycle \
                  counts by the rest before it. `paper`: those of the mean idle time so far, as \
                  printed, which breaks the promise",
        },
        ParamInfo {
            name: "recovery",
            kind: ParamKind::Word(&["drive", "printed", "fitted"]),
            default: "drive",
            doc: "the constants of recovery that it counts on: the drive's, or others",
        },
        SPARE,
        PERIOD,
        EPOCH,
        WINDOW,
        HISTORY,
        AVERAGE,
        DIFFERENCE,
        MISS,
        MISSES,
        PAGES,
    ],
    idle: |drive, _| {
        if drive.recovery {
            return Idle::Nothing;
        }
        Idle::Part(
            "it spreads cycles that cells win back in rest, and in a run they win none back \
             (fast_forward has recovery): the drive may be worn out before the target"
                .into(),
        )
    },
    ..PolicyInfo::of(Family::Throttle)
};

pub(super) fn settings(params: &Params) -> Settings {
    let counted = match params.word("recovery") {
        "printed" => CountedRecovery::Given(Recovery::PRINTED),
        "fitted" => CountedRecovery::Given(Recovery::FITTED),
        _ => CountedRecovery::Drive,
    };
    let capacity = match params.word("capacity") {
        "paper" => Capacity::Paper,
        "local" => Capacity::Local,
        _ => Capacity::Guarded,
    };
    Settings::dynamic(params, counted, capacity)
}

pub(crate) fn new(params: &Params) -> Gate {
    Gate::new(settings(params))
}
