//! The sources of the sections of a result.

use super::energy::EnergyUse;
use super::steady::Steadiness;
use crate::config::Drive;
use crate::sim::{Sim, Stats};
use ftl::{Counts, PolicyTypes};
use workload::{About, Alignment};

/// All known facts of a run that is over.
pub(crate) struct Evidence<'a, K: PolicyTypes> {
    pub(crate) drive: &'a Drive,
    pub(crate) about: &'a About,
    /// Records of the trace that were left out.
    pub(crate) skipped: u64,
    pub(crate) alignment: &'a Alignment,
    /// Pages that were programmed when the run began.
    pub(crate) used_before: u64,
    pub(crate) steadiness: &'a Steadiness<'a>,
    pub(crate) counts: &'a Counts,
    pub(crate) stats: &'a Stats,
    /// `None` for a drive without `[energy]`.
    pub(crate) energy: Option<&'a EnergyUse>,
    /// The counters of the policies, in the order of the families.
    pub(crate) counters: &'a [Vec<(&'static str, f64)>],
    pub(crate) sim: &'a Sim<K>,
}

impl<K: PolicyTypes> Evidence<'_, K> {
    /// When the run was over.
    pub(crate) fn end_ns(&self) -> u64 {
        self.sim.end().as_ns()
    }

    /// Page operations of the run: reads and programs.
    pub(crate) fn page_operations(&self) -> u64 {
        self.counts.read.total() + self.counts.program.total()
    }
}
