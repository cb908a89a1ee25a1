//! `ipr`: read-hot blocks become low-density blocks where they are.
//!
//! Read-hot pages gather in read-hot blocks. When such a block reaches its limit, its top pages are
//! copied to a new one, and it is reprogrammed. The other two thirds stay in place between guard
//! levels. That takes a third of a block of new space instead of one and a half.
//!
//! Reprogramming wears a block, and less so the more often the block has it. So only blocks of a
//! pool do it, the highest of each plane. Read-hot blocks come from there as long as garbage
//! collection in the pool gives one.

use super::identify::Identifier;
use super::low::Lows;
use super::{
    COARSE_LESS, Common, FINE_MORE, HOT, LIMIT, LOW, LOW_BLOCKS, LOW_LIMIT, MONITOR, MONITORS,
    PREEMPTIBLE, READ_HOT, REFRESHED, REFRESHED_SPEC, ROLE_NAMES, WORD, needs_levels,
    no_guard_levels, reclaim, stream,
};
use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{
    Dest, FreePick, FtlView, Interests, Pages, Plan, Pool, ReadDisturb, Role, State, Step,
    StreamId, StreamSpec, Watch,
};
use kernel::{Idx, IndexVec, Time};
use nand::physics;
use nand::{BlockId, Geometry, Level, Mode, PlaneId, Ppn, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "ipr",
    summary: "Reprograms read-hot blocks in place to low density, which endures more reads.",
    paper: "Wu, Ma and Chang, Flash read disturb management using adaptive cell bit-density with \
            in-place reprogramming, DATE 2018, section III",
    params: &[
        LIMIT,
        LOW_LIMIT,
        FINE_MORE,
        COARSE_LESS,
        MONITORS,
        LOW_BLOCKS,
        ParamInfo {
            name: "pool",
            kind: super::PERCENT,
            default: "20",
            doc: "percent of the blocks of a plane, the highest, that may be reprogrammed",
        },
        ParamInfo {
            name: "pool-gain",
            kind: ParamKind::Int { min: 0, max: 100 },
            default: "0",
            doc: "percent of a block's pages that must be invalid for a block to be reclaimed when the \
                  pool needs a read-hot block; 0: any block, as in the paper",
        },
        ParamInfo {
            name: "pool-reserve",
            kind: ParamKind::Int { min: 0, max: 8 },
            default: "1",
            doc: "free blocks of the pool that each plane keeps for read-hot pages; 0: none, others \
                  take them in turn",
        },
        ParamInfo {
            name: "wear",
            kind: ParamKind::Word(&["flat", "rate"]),
            default: "flat",
            doc: "of a cycle with a reprogram, in plain cycles: flat: 1.2; rate: by how often the \
                  block is reprogrammed",
        },
        ParamInfo {
            name: "keep-reads",
            kind: ParamKind::Word(&["no", "yes"]),
            default: "no",
            doc: "whether the reads before a reprogram count towards low-limit",
        },
        PREEMPTIBLE,
    ],
    misfit: no_guard_levels,
    idle: needs_levels,
    ..PolicyInfo::of(Family::ReadDisturb)
};

/// Read-hot pages when the pool has no block for them.
const HOT_ANYWHERE: StreamId = stream(3);

/// In-place reprogramming.
pub struct Ipr {
    common: Common,
    identifier: Identifier,
    lows: Lows,
    pool: Pool,
    least_gain: u64,
    reserve: u32,
    by_rate: bool,
    keep_reads: bool,
    /// Reprograms and erases of each block.
    cycles: IndexVec<BlockId, (u32, u32)>,
    counts: Counts,
}

#[derive(Copy, Clone, Default)]
struct Counts {
    read_hot: u64,
    outside: u64,
    at_cap: u64,
    pool_erases: u64,
    collected: u64,
    none_to_collect: u64,
}

pub(crate) fn new(params: &Params) -> Ipr {
    let pool = Pool::Highest(params.int("pool") as u16 * 10);
    Ipr {
        common: Common::new(params),
        identifier: Identifier::new(params.int("monitors")),
        lows: Lows::new(params.int("low-density"), params.int("low-limit") as u32),
        pool,
        least_gain: params.int("pool-gain"),
        reserve: params.int("pool-reserve") as u32,
        by_rate: params.word("wear") == "rate",
        keep_reads: params.word("keep-reads") == "yes",
        cycles: IndexVec::default(),
        counts: Counts::default(),
    }
}

impl Ipr {
    fn is_in_pool(&self, geometry: &Geometry, block: BlockId) -> bool {
        geometry.index_in_plane(block) >= self.pool.first_index(geometry)
    }

    /// Finds space in the pool for `pages` read-hot pages, if reclaiming one block there is enough.
    /// Blocks with guard levels, read-hot blocks, and blocks that wear levelling wrote are not
    /// reclaimed.
    fn make_room(&mut self, view: &FtlView<'_>, plane: PlaneId, pages: u32, plan: &mut Plan) {
        let all = view.geometry.blocks_of(plane);
        let first = all.start + self.pool.first_index(view.geometry) as usize;
        let pool = || (first..all.end).map(BlockId::new);
        let blocks = view.blocks;
        let open = pool().find(|b| blocks.state(*b) == State::Open && blocks.stream(*b) == HOT);
        let all_pages = view.geometry.pages_per_block();
        let left = open.map_or(0, |b| all_pages - blocks.written(b));
        if left >= pages || pool().any(|b| blocks.state(b) == State::Free) {
            return;
        }
        let victim = pool()
            .filter(|b| blocks.is_candidate(*b))
            .filter(|b| !matches!(blocks.role(*b), LOW | READ_HOT))
            .filter(|b| blocks.stream(*b) != StreamId::WEAR)
            .filter(|b| !view.is_at_limit(*b))
            .min_by_key(|b| (blocks.valid(*b), b.as_u32()));
        let gains = |b: &BlockId| u64::from(all_pages - blocks.valid(*b)) * 100;
        let enough = self.least_gain * u64::from(all_pages);
        match victim.filter(|b| gains(b) >= enough) {
            Some(victim) => {
                self.counts.collected += 1;
                reclaim(plan, victim, StreamId::GC);
            }
            None => self.counts.none_to_collect += 1,
        }
    }

    /// Moves the whole of a block of read-hot pages. That is a refresh, whose interval counts. A
    /// reprogram is not a refresh, and has a timestamp of its own (III.E).
    fn migrate(&mut self, view: &FtlView<'_>, block: BlockId, plan: &mut Plan) {
        self.identifier.note(block);
        let plane = view.geometry.plane_of(block);
        self.make_room(view, plane, view.blocks.valid(block), plan);
        reclaim(plan, block, HOT);
    }

    fn reprogram(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan) {
        self.counts.read_hot += 1;
        let plane = view.geometry.plane_of(block);
        if !self.is_in_pool(view.geometry, block) {
            self.counts.outside += 1;
            return self.migrate(view, block, plan);
        }
        if self.lows.is_full(plane, 1) {
            let Some(idlest) = self.lows.take_idlest(view, plane, now) else {
                self.counts.at_cap += 1;
                return self.migrate(view, block, plan);
            };
            reclaim(plan, idlest, REFRESHED);
        }
        let top = |slot: &u32| !view.layouts.is_slot(Mode::LowDensity, *slot);
        let valid = |slot: &u32| view.map.is_valid(block, *slot);
        let slots = 0..view.geometry.pages_per_block();
        let tops: Vec<u32> = slots.filter(|slot| top(slot) && valid(slot)).collect();
        self.make_room(view, plane, tops.len() as u32, plan);
        let surcharge = if self.by_rate {
            let (reprograms, erases) = self.cycles[block];
            physics::surcharge(f64::from(reprograms + 1) / f64::from(erases + 1))
        } else {
            physics::surcharge(physics::FLAT.0)
        };
        plan.push(Step::Seal(block));
        plan.push(Step::Copy { from: block, pages: Pages::Some(tops), to: Dest::Stream(HOT) });
        plan.push(Step::Reprogram { block, surcharge, role: LOW, keep_reads: self.keep_reads });
        plan.push(Step::ReclaimAtLimit { block, to: Dest::Stream(HOT) });
    }
}

impl Watch for Ipr {
    fn interests(&self) -> Interests {
        Interests::READ.with(Interests::BLOCK)
    }

    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.common.attach(geometry);
        self.identifier.attach(geometry);
        self.lows.attach(geometry);
        self.cycles = IndexVec::filled((0, 0), geometry.blocks());
    }

    fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {
        self.identifier.on_open(block, stream, role);
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let c = &self.counts;
        let mut all = self.common.counters();
        all.extend(self.identifier.counters());
        all.extend(self.lows.counters());
        all.extend(
            [
                ("read_hot_refreshes", c.read_hot),
                ("skipped_outside_pool", c.outside),
                ("skipped_at_cap", c.at_cap),
                ("pool_erases", c.pool_erases),
                ("pool_blocks_collected", c.collected),
                ("pool_without_victim", c.none_to_collect),
            ]
            .map(|(name, n)| (name, n as f64)),
        );
        all
    }
}

impl ReadDisturb for Ipr {
    fn limit(&self, mode: Mode) -> Option<u32> {
        Some(if mode == Mode::LowDensity { self.lows.limit() } else { self.common.limit })
    }

    fn limit_share(&self, level: Level) -> u32 {
        self.common.limit_share(level)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        let anywhere = StreamSpec { role: READ_HOT, ..REFRESHED_SPEC };
        let hot = StreamSpec { pool: self.pool, fallback: Some(HOT_ANYWHERE), ..anywhere };
        let monitor = self.identifier.spec(self.common.geometry());
        let pick = match self.keeps() {
            Some((pool, _)) => FreePick::OutsideFirst(pool),
            None => FreePick::Oldest,
        };
        let regular = |spec| StreamSpec { pick, ..spec };
        vec![regular(REFRESHED_SPEC), regular(monitor), hot, regular(anywhere)]
    }

    fn keeps(&self) -> Option<(Pool, u32)> {
        (self.reserve > 0).then_some((self.pool, self.reserve))
    }

    fn role_names(&self) -> &'static [&'static str] {
        ROLE_NAMES
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        // An open block for each stream, the blocks kept free, and those for guard levels.
        (4 + u64::from(self.reserve)) * u64::from(geometry.pages_per_block())
            + self.lows.lost_slots(geometry)
    }

    fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool {
        Lows::protects(view, block)
    }

    fn may_reprogram(&mut self, view: &FtlView<'_>, block: BlockId) -> bool {
        let plane = view.geometry.plane_of(block);
        let may = !self.lows.is_full(plane, 1);
        if may {
            self.lows.reserve(plane);
        }
        may
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
        match view.blocks.role(block) {
            MONITOR => {
                self.identifier.note(block);
                let hot = self.identifier.hot(view, block);
                if !hot.is_empty() {
                    let plane = view.geometry.plane_of(block);
                    self.make_room(view, plane, hot.len() as u32, plan);
                    plan.push(Step::Seal(block));
                    let to = Dest::Stream(HOT);
                    plan.push(Step::Copy { from: block, pages: Pages::Some(hot), to });
                }
                reclaim(plan, block, REFRESHED);
            }
            READ_HOT => self.reprogram(view, block, now, plan),
            LOW => self.migrate(view, block, plan),
            _ => {
                let to = self.identifier.stream_of(block);
                reclaim(plan, block, to);
            }
        }
    }

    fn on_reprogrammed(&mut self, block: BlockId, now: Time) {
        self.common.end(block, now);
        self.identifier.tick(now);
        self.cycles[block].0 += 1;
        self.lows.begin(block, now);
    }

    fn on_erased(&mut self, block: BlockId, role: Role, reads: u32, _: Tag, now: Time) {
        self.common.end(block, now);
        self.identifier.tick(now);
        self.identifier.on_erased(block);
        self.cycles[block].1 += 1;
        let geometry = *self.common.geometry();
        self.counts.pool_erases += u64::from(self.is_in_pool(&geometry, block));
        if role == LOW {
            self.lows.end(&geometry, block, reads);
        }
    }

    /// A read counter, and the times of the last refresh and reprogram, for each block; the
    /// counters of monitored pages.
    fn dram_bytes(&self) -> u64 {
        2 * self.common.geometry().blocks() as u64 * WORD + self.identifier.dram_bytes()
    }
}
