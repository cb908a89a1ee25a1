//! Reprograms blocks in place when they are read often: their top pages are copied away, the others
//! stay where they are at low density.

use ftl::{Dest, FtlView, Interests, Pages, Plan, ReadDisturb, Role, State, Step, StreamId, Watch};
use kernel::Time;
use nand::{BlockId, Mode};

/// In-place reprogramming at a read limit.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reprogrammed {
    asked: u64,
}

impl Watch for Reprogrammed {
    fn interests(&self) -> Interests {
        Interests::READ
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("blocks to reprogram", self.asked as f64)]
    }
}

impl ReadDisturb for Reprogrammed {
    fn limit(&self, mode: Mode) -> Option<u32> {
        Some(if mode == Mode::Full { 5 } else { 20 })
    }

    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, _: Time, plan: &mut Plan) {
        plan.push(Step::ResetReads(block));
        if view.blocks.state(block) != State::Closed || view.modes[block] != Mode::Full {
            plan.push(Step::Reclaim { block, to: Dest::Stream(StreamId::GC) });
            return;
        }
        self.asked += 1;
        let lost = (0..view.geometry.pages_per_block())
            .filter(|page| !view.layouts.is_slot(Mode::LowDensity, *page))
            .collect();
        let to = Dest::Stream(StreamId::GC);
        plan.push(Step::Copy { from: block, pages: Pages::Some(lost), to });
        plan.push(Step::Reprogram {
            block,
            surcharge: 200,
            role: Role::REGULAR,
            keep_reads: false,
        });
        plan.background = self.asked % 2 == 0;
    }
}
