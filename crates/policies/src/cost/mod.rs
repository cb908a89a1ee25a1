//! Family cost: at which level is a page programmed?

mod rewrites;

use crate::info::{DriveParts, Idle};
use crate::params::Params;
use ftl::{Access, Cost, FtlView, Future, LevelTimes, Lpn, Queues, WriteCtx};
use nand::{DieId, Each, Level};
use std::sync::Arc;

crate::family::family! { $
    /// Family cost.
    CostPolicy: Cost {
        fixed: fixed::Fixed,
        conflict: conflict::Conflict,
        wu: wu::Wu,
        agcr: agcr::Agcr,
        expected: Box<expected::Expected>,
        oracle: oracle::Oracle,
        ideal: ideal::Ideal,
    }
    fn constant(&self) -> Option<Level>;
    fn initial(&self) -> Level;
    #[inline]
    fn level(&mut self, w: &WriteCtx) -> Level;
    fn queues(&self) -> Queues;
    fn learn_times(&mut self, times: &LevelTimes);
    fn is_ideal(&self) -> bool;
    fn wants_future(&self) -> bool;
    fn foresee(&mut self, future: Arc<Future>);
    fn follow(&mut self, access: &Access, stored: Option<Level>);
    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn>;
    fn dram_bits_per_page(&self) -> u32;
}

/// The idle parts of a policy that chooses among levels, and has no other use.
fn needs_levels(drive: &DriveParts<'_>, _: &Params) -> Idle {
    if drive.levels { Idle::Nothing } else { Idle::All(NO_LEVELS.into()) }
}

/// Why there is no choice among levels.
const NO_LEVELS: &str = "it chooses among cost levels, and all take the same time (timing.levels)";

/// The level that a checked parameter names.
fn level_of(word: &str) -> Level {
    Level::ALL.into_iter().find(|l| l.name() == word).expect("the word was checked")
}

/// Counters of a policy: the pages that it had written at each level.
fn written(levels: &Each<Level, u64>) -> Vec<(&'static str, f64)> {
    let name = |level| match level {
        Level::HighCost => "high_writes",
        Level::MediumCost => "medium_writes",
        Level::LowCost => "low_writes",
    };
    levels.iter().map(|(level, n)| (name(level), *n as f64)).collect()
}
