//! Shadow blocks: a few read-hot pages each, and nothing else. Both `redftl` and
//! `read-leveling` use them.

use super::identify::Identifier;
use super::{
    Common, HOT, MONITOR, REFRESHED, REFRESHED_SPEC, ROLE_NAMES, SHADOW, WORD, reclaim, share,
};
use crate::params::Params;
use ftl::{
    Dest, FtlView, Interests, Pages, Plan, ReadDisturb, Role, State, Step, StreamId, StreamSpec,
    Watch,
};
use kernel::{Idx, Time};
use nand::{BlockId, Geometry, Level, Mode, Ppn, Tag};

/// Read-hot pages in shadow blocks.
pub struct Shadows {
    common: Common,
    identifier: Identifier,
    percent: u64,
    /// Read-hot pages of a shadow block.
    pages: u32,
    /// At its limit, a shadow block's pages are copied to its own unused pages as long as there are
    /// enough: pages that hold nothing are not disturbed.
    levels: bool,
    /// Shadow blocks of each plane.
    planes: Vec<u32>,
    counts: Counts,
}

#[derive(Copy, Clone, Default)]
struct Counts {
    opened: u64,
    most: u32,
    admitted: u64,
    refused: u64,
    refreshed: u64,
    reused: u64,
    erased: u64,
}

impl Shadows {
    pub(super) fn new(params: &Params, levels: bool) -> Self {
        Self {
            common: Common::new(params),
            identifier: Identifier::new(params.int("monitors")),
            percent: params.int("shadows"),
            pages: params.int("pages") as u32,
            levels,
            planes: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Pages of a shadow block on this drive.
    fn room(&self, geometry: &Geometry) -> u32 {
        self.pages.min(geometry.pages_per_block())
    }

    /// Steps that gather read-hot pages in shadow blocks, as far as such blocks are available. One
    /// block is kept for pages that must leave another.
    fn admit(&mut self, view: &FtlView<'_>, block: BlockId, hot: &[u32], plan: &mut Plan) {
        let room = self.room(view.geometry);
        let cap = share(view.geometry, self.percent);
        let plane = view.geometry.plane_of(block);
        let mut rest = hot;
        let mut opened = 0;
        let mut copy = |n: u32, to: Dest, rest: &mut &[u32]| {
            let (some, others) = rest.split_at(rest.len().min(n as usize));
            *rest = others;
            plan.push(Step::Copy { from: block, pages: Pages::Some(some.to_vec()), to });
        };
        // Data that the host has overwritten leaves space in existing shadow blocks.
        let blocks = view.blocks;
        for shadow in view.geometry.blocks_of(plane).map(BlockId::new) {
            if blocks.role(shadow) != SHADOW || blocks.state(shadow) != State::Open {
                continue;
            }
            let unused = view.geometry.pages_per_block() - blocks.written(shadow);
            let more = room.saturating_sub(blocks.valid(shadow)).min(unused);
            if more > 0 && !rest.is_empty() && !view.is_at_limit(shadow) {
                copy(more, Dest::Block(shadow), &mut rest);
            }
        }
        while !rest.is_empty() && self.planes[plane.index()] + opened + 1 < cap {
            copy(room, Dest::Fresh(HOT), &mut rest);
            opened += 1;
        }
        self.counts.refused += rest.len() as u64;
        self.counts.admitted += (hot.len() - rest.len()) as u64;
    }

    /// Plans the refresh of a shadow block that has reached its limit.
    fn refresh(&mut self, view: &FtlView<'_>, block: BlockId, plan: &mut Plan) {
        self.counts.refreshed += 1;
        let pages = view.geometry.pages_per_block();
        let valid: Vec<u32> = (0..pages).filter(|slot| view.map.is_valid(block, *slot)).collect();
        let unused = pages - view.blocks.written(block);
        let open = view.blocks.state(block) == State::Open;
        if self.levels && open && valid.len() as u32 <= unused {
            self.counts.reused += 1;
            let (pages, to) = (Pages::Some(valid), Dest::Block(block));
            plan.push(Step::Copy { from: block, pages, to });
            plan.push(Step::ResetReads(block));
            return;
        }
        if !valid.is_empty() {
            plan.push(Step::Copy { from: block, pages: Pages::All, to: Dest::Fresh(HOT) });
        }
        reclaim(plan, block, REFRESHED);
    }
}

impl Watch for Shadows {
    fn interests(&self) -> Interests {
        Interests::READ.with(Interests::BLOCK)
    }

    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.common.attach(geometry);
        self.identifier.attach(geometry);
        self.planes = vec![0; geometry.planes()];
    }

    fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {
        self.identifier.on_open(block, stream, role);
        if role != SHADOW {
            return;
        }
        let geometry = *self.common.geometry();
        self.planes[geometry.plane_of(block).index()] += 1;
        self.counts.opened += 1;
        self.counts.most = self.counts.most.max(self.planes.iter().sum());
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let c = &self.counts;
        let mut all = self.common.counters();
        all.extend(self.identifier.counters());
        let blocks: u32 = self.planes.iter().sum();
        all.extend(
            [
                ("shadow_blocks", u64::from(blocks)),
                ("shadow_blocks_most", c.most.into()),
                ("shadow_blocks_opened", c.opened),
                ("shadow_blocks_erased", c.erased),
                ("shadow_refreshes", c.refreshed),
                ("shadow_reuses", c.reused),
                ("hot_pages_admitted", c.admitted),
                ("hot_pages_refused", c.refused),
            ]
            .map(|(name, n)| (name, n as f64)),
        );
        all
    }
}

impl ReadDisturb for Shadows {
    fn limit(&self, _: Mode) -> Option<u32> {
        Some(self.common.limit)
    }

    fn limit_share(&self, level: Level) -> u32 {
        self.common.limit_share(level)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        let geometry = self.common.geometry();
        let cap = Some(share(geometry, self.percent));
        let shadow = StreamSpec { role: SHADOW, cap, ..REFRESHED_SPEC };
        let shadow = StreamSpec { fallback: Some(REFRESHED), ..shadow };
        vec![REFRESHED_SPEC, self.identifier.spec(geometry), shadow]
    }

    fn role_names(&self) -> &'static [&'static str] {
        ROLE_NAMES
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        // An open block for the other streams, and the pages of shadow blocks that hold nothing.
        let pages = geometry.pages_per_block();
        let unused = pages - self.room(geometry);
        2 * u64::from(pages) + u64::from(share(geometry, self.percent)) * u64::from(unused)
    }

    fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool {
        view.blocks.role(block) == SHADOW
            && view.blocks.valid(block) * 2 >= self.room(view.geometry)
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
                plan.push(Step::Seal(block));
                self.admit(view, block, &hot, plan);
                reclaim(plan, block, REFRESHED);
            }
            SHADOW => {
                self.identifier.note(block);
                self.refresh(view, block, plan);
            }
            _ => {
                let to = self.identifier.stream_of(block);
                reclaim(plan, block, to);
            }
        }
    }

    fn on_reset(&mut self, block: BlockId, now: Time) {
        self.common.end(block, now);
    }

    fn on_erased(&mut self, block: BlockId, role: Role, _: u32, _: Tag, now: Time) {
        self.common.end(block, now);
        self.identifier.tick(now);
        self.identifier.on_erased(block);
        if role == SHADOW {
            let plane = self.common.geometry().plane_of(block);
            self.planes[plane.index()] -= 1;
            self.counts.erased += 1;
        }
    }

    /// A read counter and the time of the last refresh for each block, and the counters of
    /// monitored pages.
    fn dram_bytes(&self) -> u64 {
        self.common.geometry().blocks() as u64 * WORD + self.identifier.dram_bytes()
    }
}
