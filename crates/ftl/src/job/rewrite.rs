//! Writing one page anew, where it lies on the same die.

use super::{Action, Condition, Doing, JobId, Task};
use crate::ask::Kit;
use crate::ftl::Ftl;
use crate::map::Lpn;
use crate::plan::Dest;
use crate::stream::StreamId;

impl<K: Kit> Ftl<K> {
    /// Begins to write a page anew, unless nothing maps it; `None`: it was written, or dropped.
    pub(super) fn rewrite(&mut self, id: JobId, lpn: Option<Lpn>) -> Action {
        let Some(from) = lpn.and_then(|lpn| self.find(lpn)) else { return Action::Done };
        let block = self.space.geometry.block_of(from);
        if !self.is_written(from) {
            return self.wait(id, Condition::Program(block));
        }
        let job = self.jobs.get_mut(id);
        job.task = Task::Rewrite(None);
        job.doing = Doing::Reading { from, to: Dest::Stream(StreamId::HOST) };
        self.space.blocks.pin(block);
        Action::Read(from)
    }
}
