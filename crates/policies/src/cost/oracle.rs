//! `oracle`: knows how often each page will be read before it is written again.
//!
//! A bound for any history. A write takes the level at which its program and all reads until the
//! next write take least time together. An idle die re-writes pages that will still be read, if
//! those reads would be faster at high cost. The policy does not know how requests will queue.

use super::rewrites::Rewrites;
use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{
    Access, AccessKind, Cost, FtlView, Future, Interests, LevelTimes, Lpn, Queues, Watch, WriteCtx,
};
use kernel::{IndexVec, Time};
use nand::{DieId, Each, Geometry, Level, Ppn, Source, Tag};
use std::sync::Arc;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "oracle",
    summary: "The level of least total time, knowing how often the page will be read before it is \
              written again; no device can know.",
    paper: "folklore",
    params: &[ParamInfo {
        name: "initial-level",
        kind: ParamKind::Word(&["high", "medium", "low"]),
        default: "high",
        doc: "the level of data that was there before the run",
    }],
    idle: super::needs_levels,
    ..PolicyInfo::of(Family::Cost)
};

/// Levels by future accesses.
pub struct Oracle {
    initial: Level,
    times: LevelTimes,
    future: Arc<Future>,
    /// Writes of each page so far, and reads since the last.
    writes: IndexVec<Lpn, u32>,
    reads: IndexVec<Lpn, u8>,
    queue: Rewrites,
    levels: Each<Level, u64>,
}

pub(crate) fn new(params: &Params) -> Oracle {
    Oracle {
        initial: super::level_of(params.word("initial-level")),
        times: LevelTimes::default(),
        future: Arc::default(),
        writes: IndexVec::filled(0, 0),
        reads: IndexVec::filled(0, 0),
        queue: Rewrites::default(),
        levels: Each::default(),
    }
}

impl Oracle {
    /// Reads of a page before its next write.
    fn reads_left(&self, lpn: Lpn) -> u8 {
        self.future.reads(lpn, self.writes[lpn]).saturating_sub(self.reads[lpn])
    }

    /// Whether a page of this level would be read more quickly had it been written at high cost.
    fn reads_slowly(&self, level: Level) -> bool {
        self.times.read[level] > self.times.read[Level::HighCost]
    }

    /// The level at which a program and a number of reads take least time together.
    fn cheapest(&self, reads: u8) -> Level {
        let total = |l: &Level| self.times.program[*l] + self.times.read[*l] * u64::from(reads);
        // Among equals, the level that is quicker to write.
        Level::ALL.into_iter().rev().min_by_key(total).expect("three levels")
    }
}

impl Watch for Oracle {
    fn interests(&self) -> Interests {
        Interests::ACCESS.with(Interests::IDLE).with(Interests::PROGRAM)
    }

    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        self.writes = IndexVec::filled(0, logical_pages as usize);
        self.reads = IndexVec::filled(0, logical_pages as usize);
        self.queue = Rewrites::new(geometry, logical_pages);
    }

    fn on_program(&mut self, lpn: Lpn, _: Ppn, level: Level, _: Tag, _: Time) {
        if self.reads_slowly(level) && self.reads_left(lpn) > 0 {
            self.queue.ask(lpn);
        }
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let mut all = super::written(&self.levels);
        all.extend(self.queue.counters());
        all
    }
}

impl Cost for Oracle {
    fn initial(&self) -> Level {
        self.initial
    }

    fn queues(&self) -> Queues {
        Queues::None
    }

    fn learn_times(&mut self, times: &LevelTimes) {
        self.times = *times;
    }

    fn wants_future(&self) -> bool {
        true
    }

    fn foresee(&mut self, future: Arc<Future>) {
        self.future = future;
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        let level = match w.tag.source {
            Source::Rewrite => Level::HighCost,
            _ => self.cheapest(self.reads_left(w.lpn)),
        };
        self.levels[level] += 1;
        level
    }

    fn follow(&mut self, access: &Access, stored: Option<Level>) {
        let lpn = access.lpn;
        match access.kind {
            AccessKind::Write => {
                self.writes[lpn] += 1;
                self.reads[lpn] = 0;
                self.queue.forget(lpn);
            }
            AccessKind::Read => {
                self.reads[lpn] = self.reads[lpn].saturating_add(1);
                let worth = stored.is_some_and(|level| self.reads_slowly(level));
                if self.reads_left(lpn) == 0 {
                    self.queue.forget(lpn);
                } else if worth {
                    self.queue.ask(lpn);
                }
            }
            AccessKind::Trim => self.queue.forget(lpn),
        }
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        self.queue.next(die, view)
    }
}
