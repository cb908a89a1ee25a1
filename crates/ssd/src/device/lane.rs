//! Page operations and the lanes in which they wait.

use ftl::{JobId, Lpn};
use kernel::{Dur, Prio, Time};
use nand::{BlockId, Cause, Parts, Ppn, Source};

/// The end of a chain of operations.
pub(crate) const NONE: u32 = u32::MAX;

/// Whose operation it is: who is told when it is done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// A request of the host.
    Host(u32),
    /// A place of the write buffer, whose page goes to flash.
    Buffer(u32),
    /// A job of the FTL.
    Job(JobId),
}

/// What a page operation does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// Reads a slot, or, without one, a page that the map does not know.
    Read,
    /// Programs a slot.
    Program,
    /// Erases a block.
    Erase(BlockId),
    /// Reprograms a block in place: so many wordlines, of which so many top pages are known.
    Reprogram(u16, u16),
    /// Nothing yet: a job has not started, or was woken, and is asked when its turn comes.
    Turn,
}

/// Where the time of one page operation went. Waits are kept as differences of the die's running totals
/// ([`more`], [`less`]), so they may wrap on the way and are right at the end. All of it lies between the
/// arrival of one request and its end.
pub(crate) type Spent = Parts<Dur>;

/// Adds a time to one that may have wrapped.
#[inline(always)]
pub(super) fn more(of: &mut Dur, time: Dur) {
    *of = Dur::ns(of.as_ns().wrapping_add(time.as_ns()));
}

/// Takes a time off another, which may wrap.
#[inline(always)]
pub(super) fn less(of: &mut Dur, time: Dur) {
    *of = Dur::ns(of.as_ns().wrapping_sub(time.as_ns()));
}

/// The time of what waited `waited` for an operation that spent its time like this: the operation itself
/// took the end of that time, and what it had waited behind has the rest, in proportion.
pub(crate) fn behind(spent: &Spent, waited: Dur) -> Spent {
    const WAITS: [Cause; 2] = [Cause::Suspend, Cause::Buffer];
    const OWN: [Cause; 3] = [Cause::Bus, Cause::Array, Cause::Ecc];
    let sum = |causes: &[Cause]| causes.iter().map(|cause| spent.causes[*cause]).sum::<Dur>();
    let queued = spent.queue.sum::<Dur>() + sum(&WAITS);
    let before = waited.as_ns().saturating_sub(sum(&OWN).as_ns()).min(queued.as_ns());
    let (mut account, mut rest) = (Spent::default(), waited);
    if before > 0 {
        let mut share = |theirs: Dur| {
            let part = u128::from(theirs.as_ns()) * u128::from(before);
            let ours = Dur::ns((part / u128::from(queued.as_ns())) as u64);
            rest -= ours;
            ours
        };
        account.queue = spent.queue.map(|theirs| share(*theirs));
        for cause in WAITS {
            account.causes[cause] = share(spent.causes[cause]);
        }
    }
    account.queue[Source::Host] += rest;
    account
}

/// One page operation, waiting or running.
#[derive(Clone, Debug)]
pub(crate) struct PageOp {
    pub(crate) owner: Owner,
    pub(crate) work: Work,
    pub(crate) prio: Prio,
    /// Only a part of the page is written.
    pub(crate) partial: bool,
    /// The read of a read-modify-write; the write follows.
    pub(crate) modify: bool,
    /// A write whose page was written over or given up before it had a slot: it is done with the others
    /// of its group.
    pub(crate) rides: bool,
    /// The next of its lane, of the operations merged with it, or of the free list.
    pub(crate) next: u32,
    pub(crate) lpn: Option<Lpn>,
    pub(crate) ppn: Option<Ppn>,
    /// The order in which it came to its die.
    pub(crate) seq: u64,
    /// When a wait outside the dies began.
    pub(crate) since: Time,
    pub(crate) spent: Spent,
}

impl PageOp {
    pub(crate) fn new(owner: Owner, work: Work, prio: Prio, lpn: Option<Lpn>, now: Time) -> Self {
        Self {
            owner,
            work,
            prio,
            partial: false,
            modify: false,
            rides: false,
            next: NONE,
            lpn,
            ppn: None,
            seq: 0,
            since: now,
            spent: Spent::default(),
        }
    }

    /// A wait since `since` is over; it was for `cause`.
    #[inline]
    pub(crate) fn end_wait(&mut self, cause: Source, now: Time) {
        more(&mut self.spent.queue[cause], now - self.since);
    }

    /// Whether it is a job's: nobody waits for that one, and nobody asks for its account of time.
    #[inline(always)]
    pub(crate) fn is_of_job(&self) -> bool {
        matches!(self.owner, Owner::Job(_))
    }

    /// Whether it may share its array time with others of its kind: plain reads and writes of the
    /// host, and what the write buffer sends.
    #[inline]
    pub(crate) fn may_share(&self) -> bool {
        let host = !matches!(self.owner, Owner::Job(_));
        host && !self.modify && self.ppn.is_some()
    }
}

/// All page operations of the drive in one slab; it grows to the most ever in flight.
#[derive(Default)]
pub(crate) struct Ops {
    slots: Vec<PageOp>,
    /// The next of each operation's group: the pages that one program command writes, or the units of
    /// one physical page that a request reads. The first stands for all. A column of its own, as far
    /// as there were groups: most drives have none.
    groups: Vec<u32>,
    free: u32,
    live: u32,
}

impl Ops {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), groups: Vec::new(), free: NONE, live: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, op: PageOp) -> u32 {
        self.live += 1;
        if self.free == NONE {
            self.slots.push(op);
            return self.slots.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.slots[id as usize].next;
        self.slots[id as usize] = op;
        id
    }

    /// Adds the turn of a job, at the job's place in the order of arrival.
    #[inline]
    pub(crate) fn add_job(&mut self, job: JobId, seq: u64, now: Time) -> u32 {
        let new = PageOp::new(Owner::Job(job), Work::Turn, Prio::Normal, None, now);
        self.add(PageOp { seq, ..new })
    }

    /// An operation of a job is over: in its place comes the next one of that job, in no lane yet.
    #[inline]
    pub(crate) fn follow(&mut self, id: u32, work: Work, ppn: Option<Ppn>, seq: u64, now: Time) {
        let op = &mut self[id];
        debug_assert!(op.is_of_job() && op.next == NONE);
        op.work = work;
        op.ppn = ppn;
        op.seq = seq;
        op.since = now;
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: u32) {
        self.live -= 1;
        self.slots[id as usize].next = self.free;
        self.free = id;
    }

    /// An operation and those chained to it.
    pub(crate) fn chain(&self, first: u32) -> impl Iterator<Item = &PageOp> {
        let some = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(some(first), move |&id| some(self[id].next)).map(|id| &self[id])
    }

    /// The next operation of a group.
    #[inline(always)]
    pub(crate) fn also(&self, op: u32) -> u32 {
        self.groups.get(op as usize).map_or(NONE, |next| *next)
    }

    /// Lets another operation be the next of a group.
    pub(crate) fn set_also(&mut self, op: u32, next: u32) {
        let at = op as usize;
        if self.groups.len() <= at {
            self.groups.resize(at + 1, NONE);
        }
        self.groups[at] = next;
    }

    /// The operations of a group, the first of which this is.
    pub(crate) fn group(&self, first: u32) -> impl Iterator<Item = u32> {
        let some = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(some(first), move |&id| some(self.also(id)))
    }

    /// Adds an operation to a group, behind the first.
    pub(crate) fn join(&mut self, first: u32, op: u32) {
        self.set_also(op, self.also(first));
        self.set_also(first, op);
    }

    /// The group of an operation becomes the next of what runs with it.
    #[cold]
    pub(crate) fn line_up(&mut self, first: u32) {
        let rest = self[first].next;
        let mut last = first;
        loop {
            let next = self.also(last);
            if next == NONE {
                break;
            }
            self.set_also(last, NONE);
            self[last].next = next;
            last = next;
        }
        self[last].next = rest;
    }

    pub(crate) fn live(&self) -> u32 {
        self.live
    }
}

impl std::ops::Index<u32> for Ops {
    type Output = PageOp;
    #[inline(always)]
    fn index(&self, id: u32) -> &PageOp {
        &self.slots[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Ops {
    #[inline(always)]
    fn index_mut(&mut self, id: u32) -> &mut PageOp {
        &mut self.slots[id as usize]
    }
}

/// A queue of operations, linked through the slab.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) head: u32,
    /// Of an empty lane nobody asks.
    tail: u32,
}

impl Lane {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// Puts an operation at the end. It comes alone: it is new, or was taken out of a lane.
    #[inline]
    pub(crate) fn push(&mut self, ops: &mut Ops, id: u32) {
        debug_assert_eq!(ops[id].next, NONE);
        if self.head == NONE {
            self.head = id;
        } else {
            ops[self.tail].next = id;
        }
        self.tail = id;
    }

    /// Puts an operation before all others. It comes alone.
    pub(crate) fn push_front(&mut self, ops: &mut Ops, id: u32) {
        debug_assert_eq!(ops[id].next, NONE);
        if self.head == NONE {
            self.tail = id;
        }
        ops[id].next = self.head;
        self.head = id;
    }

    /// The last operation; the lane is not empty.
    #[inline]
    pub(crate) fn last(self) -> u32 {
        self.tail
    }

    /// Puts operations at their places by `seq`, of which they have more than the first here. They come
    /// in order, each alone.
    pub(crate) fn merge(&mut self, ops: &mut Ops, late: impl Iterator<Item = u32>) {
        let mut before = self.head;
        for id in late {
            let seq = ops[id].seq;
            while ops[before].next != NONE && ops[ops[before].next].seq <= seq {
                before = ops[before].next;
            }
            ops[id].next = ops[before].next;
            ops[before].next = id;
            if self.tail == before {
                self.tail = id;
            }
            before = id;
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self, ops: &mut Ops) -> u32 {
        let id = self.head;
        self.head = ops[id].next;
        ops[id].next = NONE;
        id
    }

    /// The operations, first to last.
    pub(crate) fn iter(self, ops: &Ops) -> impl Iterator<Item = &PageOp> {
        ops.chain(self.head)
    }

    /// Takes out the operations that `wanted` accepts, in order.
    pub(crate) fn take_all(&mut self, ops: &mut Ops, wanted: impl Fn(&PageOp) -> bool) -> Vec<u32> {
        let mut taken = Vec::new();
        let mut kept = Self::EMPTY;
        while !self.is_empty() {
            let id = self.pop(ops);
            if wanted(&ops[id]) {
                taken.push(id);
            } else {
                kept.push(ops, id);
            }
        }
        *self = kept;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of 100 ns, with 50 on the bus and 30 for errors, that had waited 400 behind garbage
    /// collection and 200 behind wear levelling: of 300 ns that somebody waited for it 180 are the
    /// host's own, and 120 are shared by what it waited for.
    #[test]
    fn who_waits_for_an_operation_waits_for_what_it_waited_for() {
        let mut spent = Spent::default();
        spent.causes[Cause::Bus] = Dur::ns(50);
        spent.causes[Cause::Array] = Dur::ns(100);
        spent.causes[Cause::Ecc] = Dur::ns(30);
        spent.queue[Source::Gc] = Dur::ns(400);
        spent.queue[Source::Wear] = Dur::ns(200);
        let queue = |waited| {
            let account = behind(&spent, Dur::ns(waited));
            assert_eq!(account.sum::<Dur>(), Dur::ns(waited));
            [Source::Host, Source::Gc, Source::Wear].map(|source| account.queue[source].as_ns())
        };
        assert_eq!(queue(300), [180, 80, 40]);
        assert_eq!(queue(181), [181, 0, 0]);
        assert_eq!(queue(180), [180, 0, 0]);
        // All that it waited, and something before it.
        assert_eq!(queue(800), [200, 400, 200]);
        // A nanosecond cannot be shared, but one source can have it.
        spent.queue[Source::Wear] = Dur::ns(0);
        assert_eq!(behind(&spent, Dur::ns(181)).queue[Source::Gc], Dur::ns(1));
    }

    /// Whoever waited for a buffer or a suspend has the others wait for these too: of 600 ns, 180 are the
    /// operation's own, and 420 are shared by 300, 200 and 100.
    #[test]
    fn waits_that_are_behind_no_source_are_shared_too() {
        let mut spent = Spent::default();
        spent.causes[Cause::Array] = Dur::ns(180);
        spent.causes[Cause::Suspend] = Dur::ns(300);
        spent.causes[Cause::Buffer] = Dur::ns(200);
        spent.queue[Source::Gc] = Dur::ns(100);
        let account = behind(&spent, Dur::ns(600));
        let causes = [Cause::Suspend, Cause::Buffer].map(|cause| account.causes[cause]);
        assert_eq!(causes, [210, 140].map(Dur::ns));
        let queue = [Source::Gc, Source::Host].map(|source| account.queue[source]);
        assert_eq!((queue, account.sum()), ([70, 180].map(Dur::ns), Dur::ns(600)));
    }
}
