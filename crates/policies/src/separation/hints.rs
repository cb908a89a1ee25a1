//! `hints`: pages of different hints never share a block.
//!
//! With each write the host names the data that the write belongs to. The streams of NVMe and T10 and
//! the placement handles of NVMe's flexible data placement do the same. Each hint has an open block for
//! writes. Pages that collection moves stay apart too: a victim holds pages of one hint, and they
//! move to an open block of that hint. So no block ever holds pages of two hints.

use crate::info::{Family, PolicyInfo, Wanted};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{PageCtx, Separation, StreamClass, StreamSpec, Watch};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "hints",
    summary: "Each hint of the host has blocks of its own, for writes and for moved pages.",
    paper: "Kang et al., The multi-streamed solid-state drive, HotStorage 2014; NVM Express, Flexible \
            Data Placement (TP4146), 2022, with persistently isolated placement handles",
    params: &[ParamInfo {
        name: "streams",
        kind: ParamKind::Int { min: 1, max: 32 },
        default: "4",
        doc: "hints with blocks of their own: 0 (none) to one less than this; greater hints count as 0",
    }],
    wants: |_| Some(Wanted::Hints),
    ..PolicyInfo::of(Family::Separation)
};

/// Streams by hint: those for writes, then those for moves.
#[derive(Copy, Clone, Debug)]
pub struct Hints {
    streams: u8,
}

pub(crate) fn new(params: &Params) -> Hints {
    Hints { streams: params.int("streams") as u8 }
}

/// Names of streams, which outlive the drive.
pub(super) const NAMES: [&str; 32] = [
    "hint-0", "hint-1", "hint-2", "hint-3", "hint-4", "hint-5", "hint-6", "hint-7", "hint-8",
    "hint-9", "hint-10", "hint-11", "hint-12", "hint-13", "hint-14", "hint-15", "hint-16",
    "hint-17", "hint-18", "hint-19", "hint-20", "hint-21", "hint-22", "hint-23", "hint-24",
    "hint-25", "hint-26", "hint-27", "hint-28", "hint-29", "hint-30", "hint-31",
];

impl Watch for Hints {}

impl Separation for Hints {
    fn streams(&self) -> Vec<StreamSpec> {
        let of = |class| {
            NAMES.into_iter().take(self.streams.into()).map(move |name| StreamSpec::of(class, name))
        };
        of(StreamClass::Host).chain(of(StreamClass::Moves)).collect()
    }

    fn stream(&mut self, page: &PageCtx) -> u8 {
        if page.tag.source == nand::Source::Host {
            return if page.hint < self.streams { page.hint } else { 0 };
        }
        // Data from before the first write of the host has no hint.
        let hint = page.from.map_or(0, |stream| stream % self.streams);
        if page.moves { self.streams + hint } else { hint }
    }

    fn isolates(&self) -> bool {
        true
    }
}
