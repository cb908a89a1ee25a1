//! Keeps 15 % of the blocks partly written and appends to them.
//!
//! A model of the read-disturb schemes that gather read-hot pages. When a block nears its read
//! limit, some of its pages move to a shadow block of its plane, which remains partly written. A
//! shadow block whose pages are read often becomes a hot one. A timer turns shadow blocks over: the
//! oldest is sealed, or its pages move on and it is reclaimed.

use ftl::{
    Dest, FtlView, Interests, Pages, Plan, Pool, ReadDisturb, Role, Step, StreamId, StreamSpec,
    Watch,
};
use kernel::Time;
use nand::{BlockId, Geometry, Mode, PlaneId, Ppn, Tag};

const STREAM: StreamId = StreamId(StreamId::BUILT_IN as u8);
const SHADOW: Role = Role(1);
const HOT: Role = Role(2);
/// Reads after which a block is looked at.
const LIMIT: u32 = 6;
const PERIOD: u64 = 150;

/// Partly written blocks that are appended to.
#[derive(Clone, Debug)]
pub(crate) struct Partly {
    spec: StreamSpec,
    geometry: Option<Geometry>,
    /// Partly written blocks of each plane, the oldest first.
    open: Vec<Vec<BlockId>>,
    /// Reads of each slot, of tracked blocks only.
    reads: Vec<u8>,
    wake: Time,
    turn: u64,
    pub(crate) most: usize,
    appended: u64,
    fresh: u64,
    hot: u64,
    sealed: u64,
    reclaimed: u64,
    for_others: u64,
}

impl Partly {
    /// Shadow blocks of this mode from this pool; when it has none, pages wait or go elsewhere.
    pub(crate) fn new(mode: Mode, pool: Pool, fallback: Option<StreamId>) -> Self {
        let spec = StreamSpec { role: SHADOW, mode, pool, fallback, ..StreamSpec::REGULAR };
        Self {
            spec,
            geometry: None,
            open: Vec::new(),
            reads: Vec::new(),
            wake: Time::from_ns(PERIOD),
            turn: 0,
            most: 0,
            appended: 0,
            fresh: 0,
            hot: 0,
            sealed: 0,
            reclaimed: 0,
            for_others: 0,
        }
    }

    /// Partly written blocks that a plane keeps: 15 %.
    fn cap(geometry: &Geometry) -> usize {
        (geometry.blocks_per_plane() * 15).div_ceil(100)
    }

    /// The destination of the pages of this block that are worth gathering.
    fn gather(&mut self, geometry: &Geometry, from: BlockId) -> Option<Dest> {
        let open = &self.open[geometry.plane_of(from).as_u32() as usize];
        let others = || open.iter().filter(|b| **b != from);
        if open.len() < Self::cap(geometry) {
            self.fresh += 1;
            return Some(Dest::Fresh(STREAM));
        }
        let block = others().nth(self.turn as usize % others().count().max(1))?;
        self.appended += 1;
        Some(Dest::Block(*block))
    }

    fn forget(&mut self, block: BlockId) {
        self.open.iter_mut().for_each(|plane| plane.retain(|b| *b != block));
    }
}

impl Watch for Partly {
    fn interests(&self) -> Interests {
        Interests::READ.with(Interests::BLOCK).with(Interests::TIMER)
    }

    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.geometry = Some(*geometry);
        self.open = vec![Vec::new(); geometry.planes()];
        self.reads = vec![0; geometry.pages()];
    }

    fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {
        assert_eq!(role == SHADOW, stream == STREAM, "a stream's blocks have its role");
        if stream != STREAM {
            return;
        }
        let geometry = self.geometry.as_ref().expect("attached first");
        self.open[geometry.plane_of(block).as_u32() as usize].push(block);
        self.most = self.most.max(self.open.iter().map(Vec::len).sum());
        let first = geometry.ppn(block, 0).as_u32() as usize;
        self.reads[first..first + geometry.pages_per_block() as usize].fill(0);
    }

    fn on_close(&mut self, block: BlockId, _: Time) {
        self.forget(block);
    }

    fn on_erase(&mut self, block: BlockId, _: Time) {
        self.forget(block);
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.wake)
    }

    fn on_timer(&mut self, view: &FtlView<'_>, now: Time, plan: &mut Plan) {
        self.wake = Time::from_ns(now.as_ns() + PERIOD);
        self.turn += 1;
        let plane = PlaneId::from_u32(self.turn as u32 % view.geometry.planes() as u32);
        let open = &mut self.open[plane.as_u32() as usize];
        if open.len() < Self::cap(view.geometry) {
            return;
        }
        let block = open.remove(0);
        if self.turn % 3 == 0 {
            self.sealed += 1;
            plan.push(Step::Seal(block));
        } else {
            self.reclaimed += 1;
            plan.push(Step::Reclaim { block, to: Dest::Stream(StreamId::GC) });
        }
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        [
            ("partly written at most", self.most as u64),
            ("appends", self.appended),
            ("fresh blocks", self.fresh),
            ("hot blocks", self.hot),
            ("sealed", self.sealed),
            ("reclaimed", self.reclaimed),
            ("reclaimed for others", self.for_others),
        ]
        .map(|(name, n)| (name, n as f64))
        .to_vec()
    }
}

impl ReadDisturb for Partly {
    fn limit(&self, _: Mode) -> Option<u32> {
        Some(LIMIT)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        vec![self.spec]
    }

    fn on_read(&mut self, view: &FtlView<'_>, ppn: Ppn, _: Time, plan: &mut Plan) {
        let block = view.geometry.block_of(ppn);
        let reads = &mut self.reads[ppn.as_u32() as usize];
        *reads = reads.saturating_add(1);
        if *reads == 3 && view.blocks.role(block) == SHADOW {
            self.hot += 1;
            plan.push(Step::SetRole(block, HOT));
        }
    }

    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, _: Time, plan: &mut Plan) {
        self.turn += 1;
        plan.push(Step::ResetReads(block));
        let all: Vec<u32> = (0..view.geometry.pages_per_block())
            .filter(|slot| view.map.is_valid(block, *slot))
            .collect();
        let some = all.iter().copied().step_by(2).collect();
        if let Some(to) = self.gather(view.geometry, block) {
            let pages = if self.turn % 5 == 0 { Pages::All } else { Pages::Some(some) };
            plan.push(Step::Copy { from: block, pages, to });
        }
        plan.background = self.turn % 3 == 0;
    }

    fn on_reclaim(&mut self, view: &FtlView<'_>, block: BlockId, _: Tag) -> Dest {
        self.for_others += 1;
        let open = &self.open[view.geometry.plane_of(block).as_u32() as usize];
        let otherwise = if self.for_others % 2 == 0 { STREAM } else { StreamId::GC };
        open.first().map_or(Dest::Stream(otherwise), |b| Dest::Block(*b))
    }
}
