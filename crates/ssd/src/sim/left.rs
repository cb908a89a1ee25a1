//! The work that is left when a run is over: collection and other jobs that have begun, and the
//! jobs that follow from them until the drive is at rest.
//!
//! A result counts up to the end of the run, so this work is measured separately, by doing it.

use super::Sim;
use ftl::PolicyTypes;
use kernel::TimeSum;

/// The work of a drive after the end of a run, until it was at rest.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WorkLeft {
    /// Pages moved.
    pub moves: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Time that all dies together were busy.
    pub die_time: TimeSum,
}

impl<K: PolicyTypes> Sim<K> {
    /// Lets the drive do its remaining work after the end of a run. If its life ended, the
    /// remaining work is not known.
    ///
    /// # Panics
    ///
    /// The work never ends.
    pub fn work_off(&mut self) -> Option<WorkLeft> {
        if self.cut_at().is_some() {
            return None;
        }
        let before = self.standing();
        while !self.ftl.is_worn_out()
            && let Some((now, actor)) = self.clock.next()
        {
            self.clock.now = now;
            self.act(actor);
        }
        let ended = self.ftl.is_worn_out() || self.is_empty();
        assert!(ended, "the work left {}", self.describe_stall());
        let after = self.standing();
        Some(WorkLeft {
            moves: after.moves - before.moves,
            erases: after.erases - before.erases,
            die_time: after.die_time - before.die_time,
        })
    }

    /// The work done so far.
    fn standing(&self) -> WorkLeft {
        let counts = self.ftl.counts();
        WorkLeft {
            moves: counts.moved.total(),
            erases: counts.erase.total().get(),
            die_time: self.device.busy_until(self.clock.now),
        }
    }
}
