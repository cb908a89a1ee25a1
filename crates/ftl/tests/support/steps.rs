//! Jobs and host operations step by step: an operation is concluded when the next is asked for.

use ftl::{Ftl, JobId, Lpn, Next, PolicyTypes};
use kernel::Time;
use nand::{Operation, Outcome, Store, Verb};
use std::collections::BTreeMap;

/// The operations of jobs that are under way.
#[derive(Default)]
pub(crate) struct Steps(BTreeMap<u32, Operation>);

impl Steps {
    /// The operation of a job is done, if one is under way. Returns the job's next request.
    pub(crate) fn next<K: PolicyTypes>(&mut self, ftl: &mut Ftl<K>, id: JobId, now: Time) -> Next {
        let next = match self.0.remove(&id.as_u32()) {
            Some(operation) => ftl.job_concluded(id, &operation, Outcome::Done, now),
            None => ftl.next(id, now),
        };
        if next == Next::Start {
            self.0.insert(id.as_u32(), *ftl.job(id).operation());
        }
        next
    }

    /// The operation of a job that is under way.
    pub(crate) fn under_way(&self, id: JobId) -> Option<Operation> {
        self.0.get(&id.as_u32()).copied()
    }

    /// The same, where it must want an operation: which.
    pub(crate) fn verb<K: PolicyTypes>(&mut self, ftl: &mut Ftl<K>, id: JobId, now: Time) -> Verb {
        assert_eq!(self.next(ftl, id, now), Next::Start);
        self.0[&id.as_u32()].verb
    }
}

/// The host's operation on a page is done. Returns the data of a read.
pub(crate) fn host_done<K: PolicyTypes>(
    ftl: &mut Ftl<K>,
    lpn: Lpn,
    data: <K::Store as Store>::Page,
    operation: &Operation,
    now: Time,
) -> Option<<K::Store as Store>::Page> {
    ftl.concluded(lpn, || data, operation, Outcome::Done, now)
}
