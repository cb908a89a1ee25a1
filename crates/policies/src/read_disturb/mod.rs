//! Family read-disturb: what moves where when a block nears its read limit?
//!
//! Every host read of a block disturbs its other pages. All schemes count the reads of a block and
//! move its data when the count reaches the limit for its density. They differ in the destination
//! of read-hot pages. This module has their common parts: the streams, the roles, and the search
//! for read-hot pages (`identify.rs`).

mod identify;
mod low;
mod shadows;

pub use shadows::Shadows;

use crate::info::{DriveParts, Idle};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Dest, FtlView, Hold, Plan, Pool, ReadDisturb, Role, Step, StreamId, StreamSpec};
use kernel::{Dur, IndexVec, Time, TimeSum};
use nand::{BlockId, Geometry, Level, Mode, PageOrder, Ppn, Tag};

crate::family::family! { $
    /// Family read-disturb.
    ReadDisturbPolicy: ReadDisturb {
        none: none::NoRefresh,
        refresh: refresh::Refresh,
        redftl: Box<Shadows>,
        read_leveling: Box<Shadows>,
        hot_low_density: Box<hot_low_density::HotLowDensity>,
        ipr: Box<ipr::Ipr>,
    }
    fn limit(&self, mode: Mode) -> Option<u32>;
    fn limit_share(&self, level: Level) -> u32;
    fn streams(&self) -> Vec<StreamSpec>;
    fn keeps(&self) -> Option<(Pool, u32)>;
    fn role_names(&self) -> &'static [&'static str];
    fn spare_slots(&self, geometry: &Geometry) -> u64;
    fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool;
    fn may_reprogram(&mut self, view: &FtlView<'_>, block: BlockId) -> bool;
    fn on_reset(&mut self, block: BlockId, now: Time);
    fn on_reprogrammed(&mut self, block: BlockId, now: Time);
    fn on_erased(&mut self, block: BlockId, role: Role, reads: u32, why: Tag, now: Time);
    fn dram_bytes(&self) -> u64;
    fn on_read(&mut self, view: &FtlView<'_>, ppn: Ppn, now: Time, plan: &mut Plan);
    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan);
    fn on_reclaim(&mut self, view: &FtlView<'_>, block: BlockId, why: Tag) -> Dest;
}

/// A block whose pages are counted one by one.
pub(crate) const MONITOR: Role = Role(1);
/// A block of read-hot pages only.
pub(crate) const READ_HOT: Role = Role(2);
/// A block with guard levels.
pub(crate) const LOW: Role = Role(3);
/// A block that holds a few read-hot pages and nothing else.
pub(crate) const SHADOW: Role = Role(4);
/// The names of the roles in results.
const ROLE_NAMES: &[&str] = &["monitor", "read-hot", "low-density", "shadow"];

const fn stream(n: u8) -> StreamId {
    StreamId(StreamId::BUILT_IN as u8 + n)
}

/// Data moved by a refresh that is not known to be read-hot.
const REFRESHED: StreamId = stream(0);
/// Data of blocks that reached their limit sooner than most.
const MONITORED: StreamId = stream(1);
/// Read-hot pages, in any place of the scheme.
const HOT: StreamId = stream(2);

const REFRESHED_SPEC: StreamSpec =
    StreamSpec { fallback: Some(StreamId::GC), ..StreamSpec::REGULAR };

/// The share of a plane's blocks, in whole blocks.
fn share(geometry: &Geometry, percent: u64) -> u32 {
    (geometry.blocks_per_plane() as u64 * percent / 100) as u32
}

const PERCENT: ParamKind = ParamKind::Int { min: 0, max: 100 };

const LIMIT: ParamInfo = ParamInfo {
    name: "limit",
    kind: ParamKind::Int { min: 1, max: 1_000_000_000 },
    default: "10000",
    doc: "host reads that a block endures",
};
const LOW_LIMIT: ParamInfo = ParamInfo {
    name: "low-limit",
    kind: ParamKind::Int { min: 1, max: 1_000_000_000 },
    default: "100000",
    doc: "host reads that a block with guard levels endures",
};
const FINE_MORE: ParamInfo = ParamInfo {
    name: "fine-more",
    kind: ParamKind::Int { min: 0, max: 300 },
    default: "0",
    doc: "percent of its limit that a block endures more if all its pages were written at high cost \
          (fine steps)",
};
const COARSE_LESS: ParamInfo = ParamInfo {
    name: "coarse-less",
    kind: ParamKind::Int { min: 0, max: 99 },
    default: "0",
    doc: "percent of its limit that a block endures less once a page was written at low cost \
          (coarse steps)",
};
const PREEMPTIBLE: ParamInfo = ParamInfo {
    name: "preemptible",
    kind: ParamKind::Word(&["no", "yes"]),
    default: "no",
    doc: "no: a refresh keeps its die; yes: others go first after each of its operations",
};
const MONITORS: ParamInfo = ParamInfo {
    name: "monitors",
    kind: PERCENT,
    default: "10",
    doc: "percent of the blocks of a plane whose pages are counted",
};
const LOW_BLOCKS: ParamInfo = ParamInfo {
    name: "low-density",
    kind: ParamKind::Int { min: 0, max: 50 },
    default: "15",
    doc: "percent of the blocks of a plane that may have guard levels",
};
const SHADOWS: ParamInfo = ParamInfo {
    name: "shadows",
    kind: ParamKind::Int { min: 0, max: 50 },
    default: "15",
    doc: "percent of the blocks of a plane that may be shadow blocks",
};

/// Bytes of a counter or a timestamp in the memory of a drive. There are three for each block, and
/// two bytes for each page of a tenth of the blocks. For 128 GiB that is the paper's 1.37 MB (IPR
/// III.E).
const WORD: u64 = 8;

/// The common actions of all schemes.
#[derive(Default)]
struct Common {
    limit: u32,
    /// Percent of the limit at the levels above and below the medium one.
    fine: u32,
    coarse: u32,
    hold: Hold,
    geometry: Option<Box<Geometry>>,
    /// When a block reached its limit.
    since: IndexVec<BlockId, Option<Time>>,
    refreshes: u64,
    total: TimeSum,
    longest: Dur,
}

impl Common {
    fn new(params: &Params) -> Self {
        Self {
            limit: params.int("limit") as u32,
            fine: 100 + params.int(FINE_MORE.name) as u32,
            coarse: 100 - params.int(COARSE_LESS.name) as u32,
            hold: if params.word("preemptible") == "yes" { Hold::Nothing } else { Hold::Die },
            ..Self::default()
        }
    }

    fn attach(&mut self, geometry: &Geometry) {
        self.geometry = Some(Box::new(*geometry));
        self.since = IndexVec::filled(None, geometry.blocks());
    }

    fn geometry(&self) -> &Geometry {
        self.geometry.as_deref().expect("a policy is attached first")
    }

    /// Percent of its limit that a block endures whose coarsest page has this level.
    fn limit_share(&self, level: Level) -> u32 {
        match level {
            Level::HighCost => self.fine,
            Level::MediumCost => 100,
            Level::LowCost => self.coarse,
        }
    }

    /// Begins the plan for a block that has reached its limit.
    fn begin(&mut self, block: BlockId, now: Time, plan: &mut Plan) {
        self.since[block].get_or_insert(now);
        plan.hold = self.hold;
    }

    /// A block's counter begins anew.
    fn end(&mut self, block: BlockId, now: Time) {
        let Some(since) = self.since[block].take() else { return };
        let took = now - since;
        self.refreshes += 1;
        self.total += took;
        self.longest = self.longest.max(took);
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("refreshes", self.refreshes as f64),
            ("refresh_ns_total", self.total.as_ns() as f64),
            ("refresh_ns_max", self.longest.as_ns() as f64),
        ]
    }
}

/// The parts that have no use on a drive whose levels are alike.
fn needs_levels(drive: &DriveParts<'_>, params: &Params) -> Idle {
    let set = |param: &ParamInfo| params.int(param.name) > 0;
    if drive.levels || !(set(&FINE_MORE) || set(&COARSE_LESS)) {
        return Idle::Nothing;
    }
    Idle::Part(
        "`fine-more` and `coarse-less` are for blocks written at high and low cost, and all levels \
         take the same time (timing.levels)"
            .to_owned(),
    )
}

/// Plans that the whole block moves to a stream.
fn reclaim(plan: &mut Plan, block: BlockId, to: StreamId) {
    plan.push(Step::Reclaim { block, to: Dest::Stream(to) });
}

/// Why an array cannot have blocks with guard levels, if it cannot.
fn no_guard_levels(geometry: &Geometry) -> Option<String> {
    let bits = geometry.shape().bits_per_cell;
    let why = if bits != 3 {
        format!("three bits per cell, and this drive has {bits}")
    } else if geometry.order() != PageOrder::Cyclic {
        "the pages of a wordline one after the other (pages.order = \"cyclic\")".to_owned()
    } else if geometry.units().pages > 1 {
        "pages that are programmed alone (pages.program = \"page\")".to_owned()
    } else {
        return None;
    };
    Some(format!("guard levels, which it uses, need {why}"))
}
