//! `hot-low-density`: read-hot pages go to blocks with guard levels.
//!
//! Such a block stores two bits in a cell instead of three and endures ten times the reads. The
//! read-hot pages of a monitor block move straight to new blocks of that kind, which takes half as
//! many blocks again as their data fills at full density. At most a share of the blocks has guard
//! levels. Beyond that share, the block with the fewest reads for its time is given up.

use super::identify::Identifier;
use super::low::Lows;
use super::{
    COARSE_LESS, Common, FINE_MORE, HOT, LIMIT, LOW, LOW_BLOCKS, LOW_LIMIT, MONITOR, MONITORS,
    PREEMPTIBLE, REFRESHED, REFRESHED_SPEC, ROLE_NAMES, WORD, needs_levels, no_guard_levels,
    reclaim,
};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{
    Dest, FtlView, Interests, Pages, Plan, ReadDisturb, Role, State, Step, StreamId, StreamSpec,
    Watch,
};
use kernel::{Idx, Time};
use nand::{BlockId, Geometry, Level, Mode, PlaneId, Ppn, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "hot-low-density",
    aliases: &["hotld"],
    summary: "Moves read-hot pages to blocks with guard levels, which endure more reads.",
    paper: "Wu, Ma and Chang, Flash read disturb management using adaptive cell bit-density with \
            in-place reprogramming, DATE 2018, section III",
    params: &[LIMIT, LOW_LIMIT, FINE_MORE, COARSE_LESS, MONITORS, LOW_BLOCKS, PREEMPTIBLE],
    misfit: no_guard_levels,
    idle: needs_levels,
    ..PolicyInfo::of(Family::ReadDisturb)
};

/// Read-hot pages in blocks with guard levels.
pub struct HotLowDensity {
    common: Common,
    identifier: Identifier,
    lows: Lows,
}

pub(crate) fn new(params: &Params) -> HotLowDensity {
    HotLowDensity {
        common: Common::new(params),
        identifier: Identifier::new(params.int("monitors")),
        lows: Lows::new(params.int("low-density"), params.int("low-limit") as u32),
    }
}

impl HotLowDensity {
    /// Makes space for `pages` pages in blocks with guard levels. One block is kept for the data of
    /// blocks that already have guard levels and must move.
    fn make_room(
        &mut self,
        view: &FtlView<'_>,
        plane: PlaneId,
        pages: usize,
        now: Time,
        plan: &mut Plan,
    ) {
        let slots = view.layouts.slots(Mode::LowDensity);
        let open = view
            .geometry
            .blocks_of(plane)
            .map(BlockId::new)
            .find(|b| view.blocks.state(*b) == State::Open && view.blocks.stream(*b) == HOT);
        let left = open.map_or(0, |b| {
            slots - view.layouts.slots_before(Mode::LowDensity, view.blocks.written(b))
        });
        let needed = (pages as u32).saturating_sub(left).div_ceil(slots);
        for more in 1..=needed {
            if !self.lows.is_full(plane, more + 1) {
                continue;
            }
            let Some(idlest) = self.lows.take_idlest(view, plane, now) else { return };
            reclaim(plan, idlest, REFRESHED);
        }
    }
}

impl Watch for HotLowDensity {
    fn interests(&self) -> Interests {
        Interests::READ.with(Interests::BLOCK)
    }

    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.common.attach(geometry);
        self.identifier.attach(geometry);
        self.lows.attach(geometry);
    }

    fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {
        self.identifier.on_open(block, stream, role);
        if role == LOW {
            let now = self.identifier.now();
            self.lows.reserve(self.common.geometry().plane_of(block));
            self.lows.begin(block, now);
        }
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let mut all = self.common.counters();
        all.extend(self.identifier.counters());
        all.extend(self.lows.counters());
        all
    }
}

impl ReadDisturb for HotLowDensity {
    fn limit(&self, mode: Mode) -> Option<u32> {
        Some(if mode == Mode::LowDensity { self.lows.limit() } else { self.common.limit })
    }

    fn limit_share(&self, level: Level) -> u32 {
        self.common.limit_share(level)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        let geometry = self.common.geometry();
        let low = StreamSpec {
            role: LOW,
            mode: Mode::LowDensity,
            fallback: Some(REFRESHED),
            cap: Some(self.lows.cap_of(geometry)),
            ..StreamSpec::REGULAR
        };
        vec![REFRESHED_SPEC, self.identifier.spec(geometry), low]
    }

    fn role_names(&self) -> &'static [&'static str] {
        ROLE_NAMES
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        // An open block for each stream, and the blocks for guard levels.
        3 * u64::from(geometry.pages_per_block()) + self.lows.lost_slots(geometry)
    }

    fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool {
        Lows::protects(view, block)
    }

    fn on_read(&mut self, view: &FtlView<'_>, ppn: Ppn, _: Time, _: &mut Plan) {
        self.identifier.on_read(view.geometry, ppn);
    }

    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan) {
        self.common.begin(block, now, plan);
        self.identifier.tick(now);
        if view.blocks.state(block) == State::Moving {
            return;
        }
        let plane = view.geometry.plane_of(block);
        match view.blocks.role(block) {
            MONITOR => {
                self.identifier.note(block);
                let hot = self.identifier.hot(view, block);
                if !hot.is_empty() {
                    self.make_room(view, plane, hot.len(), now, plan);
                    plan.push(Step::Seal(block));
                    let to = Dest::Stream(HOT);
                    plan.push(Step::Copy { from: block, pages: Pages::Some(hot), to });
                }
                reclaim(plan, block, REFRESHED);
            }
            LOW => {
                self.identifier.note(block);
                reclaim(plan, block, HOT);
            }
            _ => {
                let to = self.identifier.stream_of(block);
                reclaim(plan, block, to);
            }
        }
    }

    fn on_erased(&mut self, block: BlockId, role: Role, reads: u32, _: Tag, now: Time) {
        self.common.end(block, now);
        self.identifier.tick(now);
        self.identifier.on_erased(block);
        if role == LOW {
            self.lows.end(self.common.geometry(), block, reads);
        }
    }

    /// A read counter, and the times of the last refresh and of the guard levels, for each block;
    /// the counters of monitored pages.
    fn dram_bytes(&self) -> u64 {
        2 * self.common.geometry().blocks() as u64 * WORD + self.identifier.dram_bytes()
    }
}
