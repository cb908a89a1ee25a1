//! `windowed`: the block that gains most, among the oldest.
//!
//! Young blocks are still losing pages, so they are left alone. With a window of all blocks this is
//! `greedy`, and with a window of one `fifo`.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "windowed",
    summary: "Reclaims the block with the fewest valid pages among the oldest of its plane.",
    paper: "Hu et al., Write amplification analysis in flash-based solid state drives, SYSTOR 2009 \
            (windowed greedy)",
    params: &[ParamInfo {
        name: "window",
        kind: ParamKind::Int { min: 1, max: 1_000_000 },
        default: "100",
        doc: "blocks of a plane that are looked at, the oldest first",
    }],
    ..PolicyInfo::of(Family::Victim)
};

/// The block that gains most, among the oldest.
#[derive(Clone, Debug)]
pub struct Windowed {
    window: usize,
    /// Candidates with their ages, in memory that is reused.
    oldest: Vec<(u32, BlockId)>,
}

pub(crate) fn new(params: &Params) -> Windowed {
    Windowed { window: params.int("window") as usize, oldest: Vec::new() }
}

impl Watch for Windowed {}

impl Victim for Windowed {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        let blocks = plane.ftl.blocks;
        self.oldest.clear();
        let age = |b: BlockId| blocks.closings().wrapping_sub(blocks.closed_at(b));
        self.oldest.extend(plane.candidates().map(|b| (age(b), b)));
        if self.oldest.len() > self.window {
            self.oldest.select_nth_unstable_by(self.window - 1, |a, b| b.cmp(a));
            self.oldest.truncate(self.window);
        }
        let best = |(age, b): &&(u32, BlockId)| (blocks.gain(*b), *age, u32::MAX - b.as_u32());
        self.oldest.iter().max_by_key(best).map(|(_, b)| *b)
    }
}
