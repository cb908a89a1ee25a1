//! `death-time`: classes by when each page will be overwritten, which no drive can know.
//!
//! A page that is overwritten or given up before the host has written `width` more pages goes to class 0.
//! With twice that number it goes to class 1, and so on; the last class takes the rest. Pages of a class
//! end at about the same time, so blocks are nearly empty when they are collected. It is a bound
//! only if there are so many classes that each is narrower than a block's lifetime: with few
//! classes other schemes can be better.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{
    Access, AccessKind, Deaths, Interests, Lpn, PageCtx, Separation, StreamClass, StreamSpec, Watch,
};
use kernel::{Idx, IndexVec};
use nand::Geometry;
use std::sync::Arc;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "death-time",
    summary: "Classes by the time at which each page will be overwritten; no device can know it.",
    paper: "\"FK\" in Wang et al., Separating data via block invalidation time inference for write \
            amplification reduction in log-structured storage (SepBIT), FAST 2022",
    params: &[
        ParamInfo {
            name: "classes",
            kind: ParamKind::Int { min: 2, max: 16 },
            default: "6",
            doc: "classes, each with an open block",
        },
        ParamInfo {
            name: "width",
            kind: ParamKind::Int { min: 1, max: 10_000 },
            default: "100",
            doc: "the time that a class spans, in pages that the host writes, percent of the pages of \
                  a block (or superblock) of each plane (or set of planes)",
        },
    ],
    ..PolicyInfo::of(Family::Separation)
};

const NAMES: [&str; 16] = [
    "class-0", "class-1", "class-2", "class-3", "class-4", "class-5", "class-6", "class-7",
    "class-8", "class-9", "class-10", "class-11", "class-12", "class-13", "class-14", "class-15",
];

/// Classes by the known end of pages.
pub struct DeathTime {
    classes: u8,
    percent: u64,
    width: u32,
    future: Arc<Deaths>,
    /// How often each page was written or given up.
    changes: IndexVec<Lpn, u32>,
    /// Pages that the host has written.
    clock: u32,
}

pub(crate) fn new(params: &Params) -> DeathTime {
    DeathTime {
        classes: params.int("classes") as u8,
        percent: params.int("width"),
        width: 1,
        future: Arc::default(),
        changes: IndexVec::filled(0, 0),
        clock: 0,
    }
}

impl Watch for DeathTime {
    fn interests(&self) -> Interests {
        Interests::ACCESS
    }

    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        let open = u64::from(geometry.data_slots_per_superblock()) * geometry.sets() as u64;
        self.width = (open * self.percent / 100).clamp(1, u32::MAX.into()) as u32;
        self.changes = IndexVec::filled(0, logical_pages as usize);
    }

    fn on_access(&mut self, access: &Access) {
        if access.kind != AccessKind::Read {
            self.changes[access.lpn] += 1;
            self.clock = self.clock.wrapping_add(u32::from(access.kind == AccessKind::Write));
        }
    }
}

impl Separation for DeathTime {
    fn streams(&self) -> Vec<StreamSpec> {
        let names = NAMES.into_iter().take(self.classes.into());
        names.map(|name| StreamSpec::of(StreamClass::Both, name)).collect()
    }

    fn stream(&mut self, page: &PageCtx) -> u8 {
        if self.future.first.len() <= page.lpn.index() + 1 {
            return self.classes - 1; // before the run
        }
        let end = self.future.of(page.lpn, self.changes[page.lpn]);
        if end == u32::MAX {
            return self.classes - 1;
        }
        let class = end.saturating_sub(self.clock) / self.width;
        class.min(u32::from(self.classes) - 1) as u8
    }

    fn wants_future(&self) -> bool {
        true
    }

    fn foresee(&mut self, future: Arc<Deaths>) {
        self.future = future;
    }
}
