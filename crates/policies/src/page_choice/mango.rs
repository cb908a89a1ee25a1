//! `mango`: urgent writes take fast pages and pass over slow ones.
//!
//! Grupp et al., MICRO 2009, 4.1. On cells of several bits some pages of a block program several
//! times as fast as others, and take that much less energy. A write of high priority takes the next
//! fast page at the write point; the slow ones on the way are given up and count as invalid.
//! Garbage collection does the same where it works for urgent writes, or where all is urgent (on
//! battery).
//!
//! Skipped pages have to be reclaimed, so blocks fill sooner and are erased more often. So a share
//! of the plane's spare space bounds the skipped pages. Beyond it pages are taken in order, at any
//! priority, and the exported capacity always fits. Collection skips slow pages only for a rather
//! empty victim: its pages, on fast pages alone, must take less than the block that they leave.
//! Otherwise the erase would gain nothing.
//!
//! Cells of one bit have no fast pages, but they have fast blocks: worn blocks program up to twice
//! as fast. There high-priority writes go to the most worn free block and the others to the least
//! worn, through two write points.

use crate::info::{Family, Idle, PolicyInfo, Wanted};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{
    Access, AccessKind, FreePick, FtlView, Interests, PageChoice, Pick, StreamId, StreamSpec,
    Watch, WriteCtx, WritePoint,
};
use kernel::{Dur, Idx, Prio, Time};
use nand::{BlockId, Geometry, PlaneId, Source, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "mango",
    summary: "High-priority writes take the next fast page and pass over slow ones, as far as spare \
              space goes.",
    paper: "Grupp, Caulfield, Coburn, Swanson, Yaakobi, Siegel and Wolf, Characterizing flash \
            memory: anomalies, observations, and applications, MICRO 2009",
    params: &[
        ParamInfo {
            name: "fast-types",
            kind: ParamKind::Int { min: 1, max: 3 },
            default: "1",
            doc: "How many page types count as fast, the quickest to program first.",
        },
        ParamInfo {
            name: "bound",
            kind: ParamKind::Real { min: 0.0, max: 1.0 },
            default: "0.5",
            doc: "The share of a plane's spare space that pages passed over may take; 0: none is \
                  ever passed over.",
        },
        ParamInfo {
            name: "gc",
            kind: ParamKind::Word(&["on-demand", "follow", "slow"]),
            default: "on-demand",
            doc: "When garbage collection takes fast pages: when an urgent write needs the space; \
                  whenever the last request was urgent (battery); never.",
        },
        ParamInfo {
            name: "gc-fill",
            kind: ParamKind::Real { min: 0.0, max: 0.95 },
            default: "0.75",
            doc: "How full a victim may be for that, as a share of a block's fast pages.",
        },
    ],
    forbids: &["coding=wom"],
    idle: |drive, params| {
        let bits = drive.geometry.shape().bits_per_cell as usize;
        let times = &drive.program[..bits];
        if bits == 1 {
            Idle::Nothing
        } else if times.iter().all(|time| *time == times[0]) {
            Idle::All(
                "it prefers fast pages, and all page types take the same time to program".into(),
            )
        } else if params.real("bound") == 0.0 {
            Idle::All("with `bound` 0 no page is passed over".into())
        } else {
            Idle::Nothing
        }
    },
    // Cells of one bit have no fast pages: other writes keep to young blocks.
    wants: |geometry| (geometry.shape().bits_per_cell > 1).then_some(Wanted::Urgent),
    ..PolicyInfo::of(Family::PageChoice)
};

/// When garbage collection takes fast pages.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Collect {
    OnDemand,
    Follow,
    Slow,
}

/// The victim that a plane's collector empties.
#[derive(Copy, Clone, Debug)]
struct Victim {
    block: BlockId,
    fast: bool,
}

/// Page writes: on fast and on slow pages.
type Writes = [u64; 2];

#[derive(Copy, Clone, Default, Debug)]
struct Counters {
    /// By priority.
    host: [Writes; 2],
    /// By whether fast pages were requested.
    gc: [Writes; 2],
    reads: [u64; 2],
    skipped: u64,
    host_refused: u64,
    gc_refused: u64,
    erases: [u64; 2],
    moved: [Writes; 2],
}

/// Urgent writes on fast pages.
pub struct Mango {
    fast_types: usize,
    bound: f64,
    collect: Collect,
    gc_fill: f64,
    times: [Dur; 4],
    /// Whether each page of a block is fast; empty where all are alike.
    fast: Vec<bool>,
    fast_pages: u32,
    geometry: Option<Geometry>,
    /// Pages that may lie passed over in a plane.
    most: u32,
    /// Pages passed over, in each block and in each plane.
    in_block: Vec<u32>,
    in_plane: Vec<u32>,
    victims: Vec<Option<Victim>>,
    /// The first of two streams: worn blocks, then young ones.
    streams: Option<StreamId>,
    /// The priority of the last request, and when it came.
    state: Prio,
    since: Time,
    high: Dur,
    all: Dur,
    counters: Counters,
}

pub(crate) fn new(params: &Params) -> Mango {
    Mango {
        fast_types: params.int("fast-types") as usize,
        bound: params.real("bound"),
        collect: match params.word("gc") {
            "on-demand" => Collect::OnDemand,
            "follow" => Collect::Follow,
            _ => Collect::Slow,
        },
        gc_fill: params.real("gc-fill"),
        times: [Dur::ZERO; 4],
        fast: Vec::new(),
        fast_pages: 0,
        geometry: None,
        most: 0,
        in_block: Vec::new(),
        in_plane: Vec::new(),
        victims: Vec::new(),
        streams: None,
        state: Prio::Normal,
        since: Time::ZERO,
        high: Dur::ZERO,
        all: Dur::ZERO,
        counters: Counters::default(),
    }
}

impl Mango {
    fn geometry(&self) -> &Geometry {
        self.geometry.as_ref().expect("attached first")
    }

    /// The fast pages of a block: those of the quickest types that are quicker than the
    /// slowest.
    fn find_fast(&mut self) {
        let geometry = *self.geometry();
        let bits = geometry.shape().bits_per_cell as usize;
        let mut order: Vec<usize> = (0..bits).collect();
        order.sort_by_key(|t| self.times[*t]);
        let slowest = self.times[order[bits - 1]];
        order.truncate(self.fast_types);
        order.retain(|t| self.times[*t] < slowest);
        let pages = 0..geometry.pages_per_block();
        self.fast = pages.map(|page| order.contains(&geometry.page_type(page))).collect();
        self.fast_pages = self.fast.iter().filter(|fast| **fast).count() as u32;
        if self.fast_pages == 0 {
            self.fast.clear();
        }
    }

    fn is_fast(&self, page: u32) -> bool {
        self.fast.get(page as usize).is_some_and(|fast| *fast)
    }

    /// Whether cells of one bit make blocks differ instead of pages.
    fn by_wear(&self) -> bool {
        self.geometry().shape().bits_per_cell == 1
    }

    /// Whether garbage collection wants fast pages now.
    fn wants_fast(&self, tag: Tag) -> bool {
        match self.collect {
            Collect::OnDemand => tag.prio == Prio::High,
            Collect::Follow => self.state == Prio::High,
            Collect::Slow => false,
        }
    }

    /// Whether the collector may pass over pages for moved data: the victim is so empty that its
    /// pages take less than a block.
    fn may_collect_fast(&mut self, view: &FtlView<'_>, plane: PlaneId, w: &WriteCtx) -> bool {
        let from = view.map.lookup(w.lpn).map(|ppn| view.geometry.block_of(ppn));
        let Some(block) = from else { return false };
        let known = self.victims[plane.index()];
        if let Some(victim) = known.filter(|v| v.block == block) {
            return victim.fast;
        }
        let limit = f64::from(self.fast_pages) * self.gc_fill;
        let fast = f64::from(view.blocks.valid(block)) <= limit;
        self.victims[plane.index()] = Some(Victim { block, fast });
        fast
    }

    /// Gives pages up, if they fit the bound.
    fn give_up(&mut self, plane: PlaneId, block: BlockId, pages: u32) -> bool {
        let standing = &mut self.in_plane[plane.index()];
        if *standing + pages > self.most {
            return false;
        }
        *standing += pages;
        self.in_block[block.index()] += pages;
        self.counters.skipped += u64::from(pages);
        true
    }

    /// The next fast page, if one lies ahead and the pages before it fit.
    fn find(&mut self, plane: PlaneId, at: &WritePoint) -> Option<Pick> {
        let pages = self.fast.len() as u32;
        let found = (at.next..pages).find(|page| self.is_fast(*page));
        match found {
            Some(page) if page == at.next => Some(Pick::Slot(page)),
            Some(page) => self.give_up(plane, at.block, page - at.next).then_some(Pick::Slot(page)),
            None if at.may_open => {
                self.give_up(plane, at.block, pages - at.next).then_some(Pick::NextBlock)
            }
            None => None,
        }
    }

    /// The time since the last request belongs to the state of that request.
    fn pass(&mut self, now: Time) {
        let passed = now - self.since;
        self.all += passed;
        if self.state == Prio::High {
            self.high += passed;
        }
        self.since = now;
    }
}

impl Watch for Mango {
    fn interests(&self) -> Interests {
        Interests::ACCESS.with(Interests::BLOCK)
    }

    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        self.geometry = Some(*geometry);
        let spare = (geometry.pages() as f64 - f64::from(logical_pages)).max(0.0);
        self.most = (spare * self.bound / geometry.planes() as f64) as u32;
        self.in_block = vec![0; geometry.blocks()];
        self.in_plane = vec![0; geometry.planes()];
        self.victims = vec![None; geometry.planes()];
        self.find_fast();
    }

    fn on_access(&mut self, access: &Access) {
        self.pass(access.now);
        self.state = access.host.prio;
        if access.kind == AccessKind::Read {
            self.counters.reads[access.host.prio as usize] += 1;
        }
    }

    fn on_erase(&mut self, block: BlockId, _: Time) {
        let plane = self.geometry().plane_of(block);
        let passed = std::mem::take(&mut self.in_block[block.index()]);
        self.in_plane[plane.index()] -= passed;
        self.counters.erases[self.state as usize] += 1;
        if self.victims[plane.index()].is_some_and(|v| v.block == block) {
            self.victims[plane.index()] = None;
        }
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let c = &self.counters;
        let standing: u32 = self.in_plane.iter().sum();
        let whole = [
            ("slow_skipped", c.skipped),
            ("host_refused", c.host_refused),
            ("gc_refused", c.gc_refused),
            ("standing", standing.into()),
            ("most_standing", u64::from(self.most) * self.in_plane.len() as u64),
            ("host_high_fast", c.host[1][0]),
            ("host_high_slow", c.host[1][1]),
            ("host_low_fast", c.host[0][0]),
            ("host_low_slow", c.host[0][1]),
            ("gc_high_fast", c.gc[1][0]),
            ("gc_high_slow", c.gc[1][1]),
            ("gc_low_fast", c.gc[0][0]),
            ("gc_low_slow", c.gc[0][1]),
            ("host_high_reads", c.reads[1]),
            ("host_low_reads", c.reads[0]),
            ("moved_fast_while_high", c.moved[1][0]),
            ("moved_slow_while_high", c.moved[1][1]),
            ("moved_fast_while_low", c.moved[0][0]),
            ("moved_slow_while_low", c.moved[0][1]),
            ("erases_while_high", c.erases[1]),
            ("erases_while_low", c.erases[0]),
        ];
        let mut all: Vec<_> = whole.into_iter().map(|(name, n)| (name, n as f64)).collect();
        all.push(("seconds_high", self.high.as_secs_f64()));
        all.push(("seconds", self.all.as_secs_f64()));
        all
    }
}

impl PageChoice for Mango {
    fn learn_times(&mut self, program: &[Dur; 4]) {
        self.times = *program;
    }

    fn streams(&self) -> Vec<StreamSpec> {
        if !self.by_wear() {
            return Vec::new();
        }
        let of = |pick| StreamSpec { pick, fallback: Some(StreamId::HOST), ..StreamSpec::REGULAR };
        vec![of(FreePick::MostWorn), of(FreePick::LeastWorn)]
    }

    fn learn_streams(&mut self, first: StreamId) {
        self.streams = self.by_wear().then_some(first);
    }

    fn urgent_stream(&self) -> Option<StreamId> {
        self.streams
    }

    /// Moved data goes to the least worn block: worn blocks are kept for urgent writes.
    fn gc_pick(&self) -> Option<FreePick> {
        self.by_wear().then_some(FreePick::LeastWorn)
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        let streams = if geometry.shape().bits_per_cell == 1 { 2 } else { 0 };
        streams * u64::from(geometry.pages_per_block())
    }

    fn stream(&mut self, to: StreamId, tag: Tag) -> StreamId {
        let Some(StreamId(first)) = self.streams else { return to };
        if !matches!(to, StreamId::HOST | StreamId::HOST_HIGH) {
            return to;
        }
        StreamId(if tag.prio == Prio::High { first } else { first + 1 })
    }

    fn pick(&mut self, view: &FtlView<'_>, at: &WritePoint, w: &WriteCtx) -> Pick {
        let plane = view.geometry.plane_of(at.block);
        let by_gc = w.tag.source != Source::Host;
        let wants = match w.tag.source {
            Source::Host => w.tag.prio == Prio::High,
            Source::Gc => self.wants_fast(w.tag),
            _ => false,
        };
        let mut found = None;
        if wants && !self.fast.is_empty() {
            let may = !by_gc || (at.reserved && self.may_collect_fast(view, plane, w));
            found = if may { self.find(plane, at) } else { None };
            if found.is_none() && !self.is_fast(at.next) {
                let refused = if by_gc {
                    &mut self.counters.gc_refused
                } else {
                    &mut self.counters.host_refused
                };
                *refused += 1;
            }
        }
        let pick = found.unwrap_or(Pick::Slot(at.next));
        if let Pick::Slot(page) = pick {
            let slow = usize::from(!self.is_fast(page));
            if by_gc {
                self.counters.gc[usize::from(wants)][slow] += 1;
                self.counters.moved[self.state as usize][slow] += 1;
            } else {
                self.counters.host[w.tag.prio as usize][slow] += 1;
            }
        }
        pick
    }
}
