//! Page operations: flash operations with their owners, and the parts of their time.

use ftl::{HostTag, JobId, Lpn};
use kernel::{Dur, Hint, Prio, Time};
use nand::{Cause, Level, Operation, Outcome, Parts, Ppn, Source, Tag, Verb};

/// The end of a chain of operations.
pub(crate) const NONE: u32 = u32::MAX;

/// The owner of an operation, which is told when it is done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// A request of the host.
    Host(u32),
    /// A place of the write buffer, whose page goes to flash.
    Buffer(u32),
    /// A job of the FTL.
    Job(JobId),
}

/// The parts of the time of one page operation. Waits are kept as differences of the die's running
/// totals ([`more`], [`less`]). So they may wrap in between and are right at the end. The whole
/// time lies between the arrival of one request and its end.
pub(crate) type Spent = Parts<Dur>;

/// Adds a time to one that may have wrapped.
#[inline(always)]
pub(crate) fn more(of: &mut Dur, time: Dur) {
    *of = Dur::ns(of.as_ns().wrapping_add(time.as_ns()));
}

/// Takes a time off another, which may wrap.
#[inline(always)]
pub(crate) fn less(of: &mut Dur, time: Dur) {
    *of = Dur::ns(of.as_ns().wrapping_sub(time.as_ns()));
}

/// The time of a request up to its end: it waited for its place, behind others, and then it was
/// served.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Course {
    /// The wait for a place inside the drive, or in the write buffer.
    pub(crate) line: Spent,
    /// The time from then on.
    pub(crate) spent: Spent,
}

/// The account of the time `waited` that a request spent in line behind another, up to the end of
/// the other.
///
/// A wait for an operation is a wait for the causes of its delay. Backwards from the end, this time has three
/// parts. The first is the other's own operation, which is the host's. The second is the other's waits, in
/// proportion. The third is the other's time in line. Time before all these has the same shares.
pub(crate) fn behind(other: &Course, waited: Dur) -> Spent {
    const OWN: [Cause; 3] = [Cause::Bus, Cause::Array, Cause::Ecc];
    let own = OWN.iter().map(|cause| other.spent.causes[*cause]).sum::<Dur>();
    let mut waits = other.spent;
    for cause in OWN {
        waits.causes[cause] = Dur::ZERO;
    }
    let mut account = Spent::default();
    let mut rest = waited.as_ns().saturating_sub(own.as_ns());
    for of in [&waits, &other.line] {
        let part = rest.min(of.sum::<Dur>().as_ns());
        account += &share(part, of);
        rest -= part;
    }
    complete(&mut account, Dur::ns(waited.as_ns() - rest));
    let before = share(rest, &account);
    account += &before;
    complete(&mut account, waited);
    account
}

/// Time without a cause in the account counts for the host.
fn complete(account: &mut Spent, time: Dur) {
    let missing = time - account.sum::<Dur>();
    account.queue[Source::Host] += missing;
}

/// A time by the parts of another, in proportion and rounded down.
fn share(time: u64, of: &Spent) -> Spent {
    let all = of.sum::<Dur>().as_ns();
    if time == 0 || all == 0 {
        return Spent::default();
    }
    if time == all {
        return *of;
    }
    // Times of up to four seconds need no wide division.
    if u32::try_from(time.max(all)).is_ok() {
        return of.map(|part| Dur::ns(part.as_ns() * time / all));
    }
    of.map(|part| Dur::ns((u128::from(part.as_ns()) * u128::from(time) / u128::from(all)) as u64))
}

/// One page operation, waiting or running.
#[derive(Clone, Debug)]
pub(crate) struct PageOp {
    pub(crate) owner: Owner,
    /// The flash operation. Until the FTL has given it a place, it has only its verb and its
    /// priority.
    pub(crate) operation: Operation,
    /// Its outcome.
    pub(crate) outcome: Outcome,
    /// No operation yet: a job has not started, or was woken, and is asked when its turn comes.
    pub(crate) turn: bool,
    /// Only a part of the page is written.
    pub(crate) partial: bool,
    /// The read of a read-modify-write; the write follows.
    pub(crate) modify: bool,
    /// A write whose page was overwritten or trimmed before it had a slot. It is done with the
    /// others of its group.
    pub(crate) superseded: bool,
    /// The flow and the hint of its request.
    pub(crate) flow: u8,
    pub(crate) hint: Hint,
    /// The next operation of its lane, of those merged with it, or of the free list.
    pub(crate) next: u32,
    pub(crate) lpn: Option<Lpn>,
    /// The order in which it came to its die.
    pub(crate) seq: u64,
    /// When a wait outside the dies began.
    pub(crate) since: Time,
}

impl PageOp {
    /// An operation of the host, or of the write buffer, that has just come.
    pub(crate) fn new(
        owner: Owner,
        verb: Verb,
        host: HostTag,
        lpn: Option<Lpn>,
        now: Time,
    ) -> Self {
        let HostTag { prio, flow, hint } = host;
        let tag = Tag { prio, ..Tag::of(Source::Host) };
        Self {
            owner,
            operation: Operation::new(verb, None, tag, Level::MediumCost),
            outcome: Outcome::Done,
            turn: false,
            partial: false,
            modify: false,
            superseded: false,
            flow,
            hint,
            next: NONE,
            lpn,
            seq: 0,
            since: now,
        }
    }

    /// How urgent it is.
    #[inline(always)]
    pub(crate) fn prio(&self) -> Prio {
        self.operation.tag.prio
    }

    /// The priority, flow and hint of its request.
    #[inline(always)]
    pub(crate) fn host(&self) -> HostTag {
        HostTag { prio: self.prio(), flow: self.flow, hint: self.hint }
    }

    /// The place where it reads or writes: the first slot, once the FTL has given it.
    #[inline(always)]
    pub(crate) fn slot(&self) -> Option<Ppn> {
        self.operation.slot()
    }

    /// Whether it programs, or is going to.
    #[inline(always)]
    pub(crate) fn programs(&self) -> bool {
        self.operation.verb == Verb::Program
    }

    /// Whether it belongs to a job: no request waits for it, and its account of time is not needed.
    #[inline(always)]
    pub(crate) fn is_of_job(&self) -> bool {
        matches!(self.owner, Owner::Job(_))
    }

    /// Whether it may share its array time with others of its kind: plain reads and writes of the
    /// host, and writes from the write buffer.
    #[inline]
    pub(crate) fn may_share(&self) -> bool {
        let host = !matches!(self.owner, Owner::Job(_));
        host && !self.modify && self.operation.slots.is_some()
    }
}

/// The kind of a finished operation, and its outcome.
#[derive(Copy, Clone)]
pub(crate) struct DoneOp {
    pub(crate) owner: Owner,
    pub(crate) operation: Operation,
    pub(crate) outcome: Outcome,
    pub(crate) modify: bool,
    pub(crate) superseded: bool,
    pub(crate) lpn: Option<Lpn>,
    pub(crate) seq: u64,
}

/// All page operations of the drive in one slab; it grows to the most ever in flight.
#[derive(Default)]
pub(crate) struct Ops {
    slots: Vec<PageOp>,
    /// The account of each operation of the host or the buffer. A column of its own, since it takes two
    /// lines of the processor's cache and most operations are of jobs, which have none.
    spent: Vec<Spent>,
    /// The next of each operation's group: the pages that one program command writes, or the units
    /// of one physical page that a request reads. The first stands for all. A column of its own,
    /// which is empty on most drives because they have no groups.
    groups: Vec<u32>,
    free: u32,
    live: u32,
    /// The order of arrival at the dies.
    seq: u64,
    /// The place of each running job in that order.
    job_places: Vec<u64>,
}

impl Ops {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            spent: Vec::new(),
            groups: Vec::new(),
            free: NONE,
            live: 0,
            seq: 0,
            job_places: Vec::new(),
        }
    }

    // ── The order of arrival ────────────────────────────────────────────────────────────────────

    /// Returns the next place in the order of arrival.
    #[inline]
    pub(crate) fn next_place(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Gives a job the next place in that order, which it keeps from one operation to the next.
    #[inline]
    pub(crate) fn place_job(&mut self, id: JobId) -> u64 {
        let seq = self.next_place();
        let at = id.as_u32() as usize;
        if self.job_places.len() <= at {
            self.job_places.resize(at + 1, 0);
        }
        self.job_places[at] = seq;
        seq
    }

    /// The place that a job has.
    #[inline]
    pub(crate) fn place_of(&self, id: JobId) -> u64 {
        self.job_places[id.as_u32() as usize]
    }

    // ── Operations ──────────────────────────────────────────────────────────────────────────────

    /// Adds an operation of the host or the buffer, with an empty account.
    #[inline]
    pub(crate) fn add(&mut self, op: PageOp) -> u32 {
        let id = self.add_entry(op);
        self.spent[id as usize] = Spent::default();
        id
    }

    #[inline]
    fn add_entry(&mut self, op: PageOp) -> u32 {
        self.live += 1;
        if self.free == NONE {
            self.slots.push(op);
            self.spent.push(Spent::default());
            return self.slots.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.slots[id as usize].next;
        self.slots[id as usize] = op;
        id
    }

    /// The account of an operation of the host or the buffer.
    #[inline(always)]
    pub(crate) fn spent(&self, id: u32) -> &Spent {
        &self.spent[id as usize]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn spent_mut(&mut self, id: u32) -> &mut Spent {
        &mut self.spent[id as usize]
    }

    /// A wait of an operation outside the dies, since [`PageOp::since`], is over; it was for `cause`.
    #[inline]
    pub(crate) fn end_wait(&mut self, id: u32, cause: Source, now: Time) {
        let waited = now - self[id].since;
        more(&mut self.spent_mut(id).queue[cause], waited);
    }

    /// Adds the turn of a job, at the job's place in the order of arrival.
    #[inline]
    pub(crate) fn add_job(&mut self, job: JobId, seq: u64, now: Time) -> u32 {
        let new = PageOp::new(Owner::Job(job), Verb::Read, HostTag::default(), None, now);
        self.add_entry(PageOp { turn: true, seq, ..new })
    }

    /// An operation of a job is over, and the job's next one takes its entry, in no lane yet.
    /// `None`: the entry is the job's turn to be asked.
    #[inline]
    pub(crate) fn follow(&mut self, id: u32, next: Option<&Operation>, seq: u64, now: Time) {
        let op = &mut self[id];
        debug_assert!(op.is_of_job() && op.next == NONE);
        op.turn = next.is_none();
        if let Some(operation) = next {
            op.operation = *operation;
        } else {
            (op.operation.verb, op.operation.slots) = (Verb::Read, None);
        }
        op.outcome = Outcome::Done;
        op.seq = seq;
        op.since = now;
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: u32) {
        self.live -= 1;
        self.slots[id as usize].next = self.free;
        self.free = id;
    }

    /// Takes the first operation off a list of completed ones. Returns that operation, and the
    /// rest.
    #[inline]
    pub(crate) fn take_done(&mut self, first: u32) -> (DoneOp, u32) {
        let op = &mut self[first];
        let rest = std::mem::replace(&mut op.next, NONE);
        let &mut PageOp { owner, operation, outcome, modify, superseded, lpn, seq, .. } = op;
        (DoneOp { owner, operation, outcome, modify, superseded, lpn, seq }, rest)
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

    /// The operations of a group, of which this is the first.
    pub(crate) fn group(&self, first: u32) -> impl Iterator<Item = u32> {
        let some = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(some(first), move |&id| some(self.also(id)))
    }

    /// Adds an operation to a group, behind the first.
    pub(crate) fn join(&mut self, first: u32, op: u32) {
        self.set_also(op, self.also(first));
        self.set_also(first, op);
    }

    /// The group of an operation becomes the next of the operations that run with it.
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

    /// A die reports that these operations have failed, when they are over.
    pub(crate) fn fail(&mut self, which: impl Fn(&Operation) -> bool) {
        let failing = self.slots.iter_mut().filter(|op| !op.turn && which(&op.operation));
        failing.for_each(|op| op.outcome = Outcome::Failed);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of 100 ns has 50 on the bus and 30 for errors. It had waited 400 behind garbage
    /// collection and 200 behind wear levelling. Of 300 ns that a request waited for it, 180 are
    /// the host's own, and its waits share 120.
    #[test]
    fn who_waits_for_an_operation_waits_for_what_it_waited_for() {
        let mut spent = Spent::default();
        spent.causes[Cause::Bus] = Dur::ns(50);
        spent.causes[Cause::Array] = Dur::ns(100);
        spent.causes[Cause::Ecc] = Dur::ns(30);
        spent.queue[Source::Gc] = Dur::ns(400);
        spent.queue[Source::Wear] = Dur::ns(200);
        let queue = |waited| {
            let other = Course { spent, ..Course::default() };
            let account = behind(&other, Dur::ns(waited));
            assert_eq!(account.sum::<Dur>(), Dur::ns(waited));
            [Source::Host, Source::Gc, Source::Wear].map(|source| account.queue[source].as_ns())
        };
        assert_eq!(queue(300), [180, 80, 40]);
        assert_eq!(queue(181), [181, 0, 0]);
        assert_eq!(queue(180), [180, 0, 0]);
        // All of its wait, and an earlier time of which nothing is known: that time gets the same
        // shares.
        assert_eq!(queue(780), [180, 400, 200]);
        assert_eq!(queue(1_560), [360, 800, 400]);
        // A nanosecond cannot be shared, but one source can have it.
        spent.queue[Source::Wear] = Dur::ns(0);
        let other = Course { spent, ..Course::default() };
        assert_eq!(behind(&other, Dur::ns(181)).queue[Source::Gc], Dur::ns(1));
    }

    /// An operation took 100 ns and waited 300 behind garbage collection before that. Before that
    /// it waited 600 in line, two thirds of them because of wear levelling. A wait behind it has
    /// the end of that time.
    #[test]
    fn who_stands_in_line_waits_for_what_those_before_it_waited_for() {
        let mut other = Course::default();
        other.spent.causes[Cause::Array] = Dur::ns(100);
        other.spent.queue[Source::Gc] = Dur::ns(300);
        other.line.queue[Source::Wear] = Dur::ns(400);
        other.line.queue[Source::Host] = Dur::ns(200);
        for (waited, expected) in [
            (60, [60, 0, 0]),
            (250, [100, 150, 0]),
            (400, [100, 300, 0]),
            (700, [200, 300, 200]),
            (1_000, [300, 300, 400]),
            (2_000, [600, 600, 800]),
        ] {
            let account = behind(&other, Dur::ns(waited));
            let of = [Source::Host, Source::Gc, Source::Wear].map(|of| account.queue[of].as_ns());
            assert_eq!((of, account.sum()), (expected, Dur::ns(waited)), "{waited}");
        }
        assert_eq!(behind(&Course::default(), Dur::ns(7)).queue[Source::Host], Dur::ns(7));
    }

    /// A line before one server, each of whose operations takes 100 ns and waits 300 behind collection.
    /// Three quarters of each wait in a line of any length are due to collection.
    #[test]
    fn a_long_line_has_the_shares_of_what_it_waits_for() {
        let mut served = Spent::default();
        served.causes[Cause::Array] = Dur::ns(100);
        served.queue[Source::Gc] = Dur::ns(300);
        let mut other = Course { spent: served, ..Course::default() };
        for place in 1..2_000 {
            let waited = Dur::ns(400 * place);
            let line = behind(&other, waited);
            let gc = line.queue[Source::Gc].as_ns() as f64 / waited.as_ns() as f64;
            assert!((gc - 0.75).abs() < 0.01, "place {place}: {gc}");
            other.line = line;
        }
    }

    /// A request behind an operation that waited for a buffer or a suspend waits for these, too. Of
    /// 600 ns, 180 are the operation's own, and 300, 200 and 100 share 420.
    #[test]
    fn waits_that_are_behind_no_source_are_shared_too() {
        let mut spent = Spent::default();
        spent.causes[Cause::Array] = Dur::ns(180);
        spent.causes[Cause::Suspend] = Dur::ns(300);
        spent.causes[Cause::Buffer] = Dur::ns(200);
        spent.queue[Source::Gc] = Dur::ns(100);
        let account = behind(&Course { spent, ..Course::default() }, Dur::ns(600));
        let causes = [Cause::Suspend, Cause::Buffer].map(|cause| account.causes[cause]);
        assert_eq!(causes, [210, 140].map(Dur::ns));
        let queue = [Source::Gc, Source::Host].map(|source| account.queue[source]);
        assert_eq!((queue, account.sum()), ([70, 180].map(Dur::ns), Dur::ns(600)));
    }
}
