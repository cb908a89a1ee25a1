//! Dies: running and waiting operations, and how long each source has kept the dies busy.

use super::lane::Lane;
use crate::ops::{NONE, Ops, PageOp, Spent, less, more};
use kernel::{Dur, Prio, Time};
use nand::{Cause, Command, Each, OpKind, OpView, Source, Verb};
use std::collections::BTreeMap;

/// The lanes of a die, in the order of `Die::lanes`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum LaneId {
    ReadHigh,
    WriteHigh,
    Read,
    Write,
    Job,
    /// Background jobs that go on when nothing else waits.
    Idle,
}

pub(crate) const LANES: usize = 6;
/// The number of lanes in a mask.
const BITS: usize = u8::BITS as usize;

/// The place of a command that was interrupted, behind the lanes.
pub(crate) const PAUSED_LANE: usize = LANES;
/// Its bit in the mask of lanes.
pub(super) const PAUSED: u8 = 1 << PAUSED_LANE;
/// The bits of the lanes of reads.
pub(super) const READS: u8 = 1 << LaneId::ReadHigh as u8 | 1 << LaneId::Read as u8;

/// The first operations of a die's foreground lanes, among which the order policy picks. Filled in
/// place: by value they would be copied through memory at every choice.
pub(super) struct Heads {
    views: [OpView; Self::MOST],
    lanes: [u8; Self::MOST],
    n: usize,
}

impl Heads {
    pub(super) const MOST: usize = LaneId::Idle as usize;
    pub(super) const NONE: Self = Self {
        views: [OpView { op: OpKind::Job, prio: Prio::Normal, seq: 0 }; Self::MOST],
        lanes: [0; Self::MOST],
        n: 0,
    };

    #[inline(always)]
    pub(super) fn views(&self) -> &[OpView] {
        &self.views[..self.n]
    }

    /// A command that was interrupted is among them.
    pub(super) fn add_paused(&mut self, view: OpView) {
        self.views[self.n] = view;
        self.lanes[self.n] = PAUSED_LANE as u8;
        self.n += 1;
    }

    /// The lane of one of them.
    #[inline(always)]
    pub(super) fn lane(&self, at: usize) -> usize {
        usize::from(self.lanes[..self.n][at])
    }
}

/// How many reads went before the first waiting operation of a die that is not a read.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct PassedOver {
    /// Its place, and the start of its wait: operations of a job share a place.
    seq: u64,
    since: Time,
    pub(super) reads: u32,
}

impl PassedOver {
    /// The number of reads that went before this operation.
    pub(super) fn of(&self, seq: u64, since: Time) -> u32 {
        if (self.seq, self.since) == (seq, since) { self.reads } else { 0 }
    }

    /// This is now the first operation. The die serves a read or another operation.
    pub(super) fn goes(&mut self, seq: u64, since: Time, read: bool) {
        let before = self.of(seq, since);
        *self = Self { seq, since, reads: if read { before + 1 } else { 0 } };
    }
}

/// How long a die was busy, by source.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Busy {
    /// With commands of each source.
    pub(crate) by_source: Each<Source, Dur>,
    /// With suspending commands and resuming them.
    pub(crate) suspend: Dur,
}

impl Busy {
    /// All of it.
    pub(crate) fn sum(&self) -> Dur {
        self.by_source.sum::<Dur>() + self.suspend
    }

    /// The time for a source; `None`: suspends.
    fn of(&mut self, source: Option<Source>) -> &mut Dur {
        match source {
            Some(source) => &mut self.by_source[source],
            None => &mut self.suspend,
        }
    }
}

/// The activity of a die.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing.
    Idle,
    /// Nothing yet: it chooses once everything of this instant has arrived.
    Gathering,
    /// Nothing at this instant. The consequences of its last command come first, and then it
    /// chooses. Operations that come now wait in its lanes.
    Choosing,
    /// If data goes first: it waits for a turn on the channel. With a cache register: it waits for
    /// the register.
    Asking,
    /// The same: its command, and data on the way in.
    Beginning,
    /// The channel and the array; the data goes out afterwards.
    Sensing,
    /// The same for data that goes to a cache register afterwards.
    SensingBeside,
    /// Has sensed, and waits for its turn on the channel, or for the cache register.
    Sensed,
    /// The last part of the command.
    Finishing,
    /// The same, but it will be interrupted before it is done.
    Pausing,
    /// Has interrupted a command, and cannot take another yet.
    Suspending,
    /// Takes up a command that was interrupted.
    Resuming,
}

/// One die.
#[derive(Clone, Debug)]
pub(crate) struct Die {
    /// One for each bit of `mask`; those from [`LANES`] on stay empty.
    pub(super) lanes: [Lane; BITS],
    /// Operations that came to a lane behind some that must go after them, by lane and `seq`. The
    /// first of a lane is never among them.
    late: BTreeMap<(usize, u64), u32>,
    /// Bit `i`: lane `i` is not empty.
    pub(super) mask: u8,
    pub(super) phase: Phase,
    /// The operation that runs, and those merged with it.
    pub(super) running: u32,
    pub(super) command: Command,
    pub(super) started: Time,
    /// Up to the start of the running command.
    pub(super) busy: Busy,
}

impl Die {
    pub(super) fn new() -> Self {
        Self {
            lanes: [Lane::EMPTY; BITS],
            late: BTreeMap::new(),
            mask: 0,
            phase: Phase::Idle,
            running: NONE,
            command: Command::new(Verb::Read, Source::Host, Dur::ZERO),
            started: Time::ZERO,
            busy: Busy::default(),
        }
    }

    /// A command begins.
    #[inline]
    pub(super) fn start(&mut self, op: u32, command: Command, now: Time) {
        self.running = op;
        self.command = command;
        self.started = now;
    }

    /// The running command is done. Returns how long it was on the die.
    #[inline]
    pub(super) fn finish(&mut self, now: Time) -> Dur {
        let ran = now - self.started;
        self.busy.by_source[self.command.source] += ran;
        self.choose(now);
        ran
    }

    /// The die changes its activity, and its command continues. Counts the time so far, and returns
    /// it.
    pub(super) fn close(&mut self, now: Time) -> Dur {
        let ran = now - self.started;
        *self.busy.of(self.works_for()) += ran;
        self.started = now;
        ran
    }

    /// The source for which a die that is not idle works; `None` while it suspends a command or
    /// resumes one.
    #[inline]
    fn works_for(&self) -> Option<Source> {
        let suspends = matches!(self.phase, Phase::Suspending | Phase::Resuming);
        (!suspends).then_some(self.command.source)
    }

    /// From now on the die is about to choose.
    #[inline]
    pub(super) fn choose(&mut self, now: Time) {
        self.phase = Phase::Choosing;
        self.started = now;
    }

    /// Queues an operation: host operations come in order, and jobs keep their place.
    #[inline]
    pub(super) fn queue(&mut self, ops: &mut Ops, lane: LaneId, id: u32) {
        if matches!(lane, LaneId::Job | LaneId::Idle) {
            self.insert(ops, lane as usize, id);
            return;
        }
        self.mask |= 1 << lane as u8;
        self.lanes[lane as usize].push(ops, id);
    }

    /// Whether there are any in the host's lanes.
    #[inline]
    pub(crate) fn has_host_operations(&self) -> bool {
        const HOST: u8 = (1 << LaneId::Job as u8) - 1;
        self.mask & HOST != 0
    }

    /// The operations in the host's lanes, in no order.
    pub(crate) fn host_operations<'a>(&'a self, ops: &'a Ops) -> impl Iterator<Item = &'a PageOp> {
        let host = [LaneId::ReadHigh, LaneId::WriteHigh, LaneId::Read, LaneId::Write];
        let lanes = host.map(|lane| self.lanes[lane as usize]);
        let late = self.late.range(..(LaneId::Job as usize, 0)).map(|(_, &op)| &ops[op]);
        lanes.into_iter().flat_map(move |lane| lane.iter(ops)).chain(late)
    }

    /// An operation goes to its place in a lane.
    #[inline]
    pub(super) fn insert(&mut self, ops: &mut Ops, lane: usize, id: u32) {
        self.mask |= 1 << lane;
        let (of, seq) = (&mut self.lanes[lane], ops[id].seq);
        if of.is_empty() || ops[of.last()].seq <= seq {
            of.push(ops, id);
        } else if seq < ops[of.head].seq {
            of.push_front(ops, id);
        } else {
            self.comes_late(lane, seq, id);
        }
    }

    // Keeps the operation in order, outside the lane: to find its place in the lane would need a
    // search.
    #[cold]
    fn comes_late(&mut self, lane: usize, seq: u64, id: u32) {
        let other = self.late.insert((lane, seq), id);
        debug_assert!(other.is_none(), "two operations have one place");
    }

    /// The first operation of a lane is gone: the next may be one that came late.
    #[cold]
    fn let_late_in(&mut self, ops: &mut Ops, lane: usize) {
        let of = &mut self.lanes[lane];
        let next = if of.is_empty() { u64::MAX } else { ops[of.head].seq };
        if let Some((&at, &id)) = self.late.range((lane, 0)..(lane, next)).next() {
            self.late.remove(&at);
            of.push_front(ops, id);
        }
    }

    /// Puts all operations into their lanes, for a caller that reads all of them.
    #[cold]
    pub(super) fn line_up(&mut self, ops: &mut Ops) {
        let late = std::mem::take(&mut self.late);
        for (lane, of) in self.lanes.iter_mut().enumerate() {
            of.merge(ops, late.range((lane, 0)..(lane + 1, 0)).map(|(_, id)| *id));
        }
    }

    /// Takes the operations that `requested` accepts out of a lane, in order.
    pub(super) fn take_all(
        &mut self,
        ops: &mut Ops,
        lane: usize,
        requested: impl Fn(&PageOp) -> bool,
    ) -> Vec<u32> {
        self.line_up(ops);
        let taken = self.lanes[lane].take_all(ops, requested);
        if self.lanes[lane].is_empty() {
            self.mask &= !(1 << lane);
        }
        taken
    }

    #[inline]
    pub(super) fn pop(&mut self, ops: &mut Ops, lane: usize) -> u32 {
        let id = self.lanes[lane].pop(ops);
        if !self.late.is_empty() {
            self.let_late_in(ops, lane);
        }
        if self.lanes[lane].is_empty() {
            self.mask &= !(1 << lane);
        }
        id
    }

    /// The lanes of a mask, each with the arrival number of its first operation.
    #[inline(always)]
    pub(super) fn heads_of(&self, ops: &Ops, mask: u8) -> impl Iterator<Item = (usize, u64)> {
        let mut rest = mask;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let lane = rest.trailing_zeros() as usize % BITS;
            rest &= rest - 1;
            Some((lane, ops[self.lanes[lane].head].seq))
        })
    }

    /// Of these lanes, which are not empty: the one whose first operation came first.
    #[inline(always)]
    pub(super) fn first_come(&self, ops: &Ops, mask: u8) -> usize {
        let first = self.heads_of(ops, mask).min_by_key(|(_, seq)| *seq);
        first.map_or(0, |(lane, _)| lane)
    }

    /// Finds the first operation of each of these foreground lanes, which are not empty.
    #[inline(always)]
    pub(super) fn heads(&self, ops: &Ops, mask: u8, heads: &mut Heads) {
        const KINDS: [(OpKind, Prio); Heads::MOST] = [
            (OpKind::Read, Prio::High),
            (OpKind::Write, Prio::High),
            (OpKind::Read, Prio::Normal),
            (OpKind::Write, Prio::Normal),
            (OpKind::Job, Prio::Normal),
        ];
        for (lane, (op, prio)) in KINDS.into_iter().enumerate() {
            if mask & 1 << lane != 0 {
                heads.views[heads.n] = OpView { op, prio, seq: ops[self.lanes[lane].head].seq };
                heads.lanes[heads.n] = lane as u8;
                heads.n += 1;
            }
        }
    }

    /// An operation begins to wait here: the busy time of the die so far comes off its account,
    /// including the running operation's part.
    #[inline]
    pub(super) fn begin_wait(&self, spent: &mut Spent, now: Time) {
        let Busy { by_source, suspend } = &self.busy;
        for (s, b) in spent.queue.values_mut().zip(by_source.values()) {
            less(s, *b);
        }
        less(&mut spent.causes[Cause::Suspend], *suspend);
        if self.phase != Phase::Idle {
            let elapsed = now - self.started;
            match self.works_for() {
                Some(source) => less(&mut spent.queue[source], elapsed),
                None => less(&mut spent.causes[Cause::Suspend], elapsed),
            }
        }
    }

    /// The wait is over: the busy time of the die since its start goes to the account.
    #[inline]
    pub(super) fn end_wait(&self, spent: &mut Spent) {
        let Busy { by_source, suspend } = &self.busy;
        for (s, b) in spent.queue.values_mut().zip(by_source.values()) {
            more(s, *b);
        }
        more(&mut spent.causes[Cause::Suspend], *suspend);
    }

    /// The same for an operation and its group.
    #[inline]
    pub(super) fn end_waits(&self, ops: &mut Ops, op: u32) {
        self.end_wait(ops.spent_mut(op));
        let mut at = ops.also(op);
        while at != NONE {
            self.end_wait(ops.spent_mut(at));
            at = ops.also(at);
        }
    }

    /// How long it was busy up to an instant after which nothing has happened, including the
    /// running operation.
    pub(crate) fn busy_until(&self, at: Time) -> Busy {
        let mut busy = self.busy;
        if self.phase != Phase::Idle {
            *busy.of(self.works_for()) += at - self.started;
        }
        busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Owner;
    use ftl::HostTag;
    use kernel::Rng;
    use std::collections::BTreeMap;

    /// The lanes are compared with a sorted map of waiting operations, by random steps. The first
    /// of each lane is always the one that came first, and operations leave a lane in order.
    #[test]
    fn a_lane_keeps_its_order_whatever_comes_late() {
        let mut late = 0;
        for seed in 0..200 {
            let mut rng = Rng::named(seed, "test/lanes");
            let (mut die, mut ops) = (Die::new(), Ops::new());
            let mut model: BTreeMap<(usize, u64), u32> = BTreeMap::new();
            let mut seq = 1000;
            for step in 0..300 {
                let lane = rng.below(LANES as u32) as usize;
                let place = match rng.below(8) {
                    0..=2 => {
                        seq += 1;
                        seq
                    }
                    3 | 4 => u64::from(rng.below(seq as u32)),
                    5 => {
                        let even = |op: &PageOp| op.seq.is_multiple_of(2);
                        let taken = die.take_all(&mut ops, lane, even);
                        let all =
                            model.extract_if((lane, 0)..(lane + 1, 0), |(_, s), _| s % 2 == 0);
                        assert_eq!(taken, all.map(|(_, id)| id).collect::<Vec<_>>());
                        for id in taken {
                            ops.remove(id);
                        }
                        continue;
                    }
                    _ => {
                        let first = model.range((lane, 0)..).next().map(|(at, id)| (*at, *id));
                        let first = first.filter(|((of, _), _)| *of == lane);
                        assert_eq!(die.mask & 1 << lane != 0, first.is_some());
                        if let Some((at, id)) = first {
                            assert_eq!(die.pop(&mut ops, lane), id, "seed {seed}, step {step}");
                            model.remove(&at);
                            ops.remove(id);
                        }
                        continue;
                    }
                };
                if model.keys().all(|(_, other)| *other != place) {
                    let new = PageOp::new(
                        Owner::Host(0),
                        Verb::Read,
                        HostTag::default(),
                        None,
                        Time::ZERO,
                    );
                    let id = ops.add(PageOp { seq: place, ..new });
                    die.insert(&mut ops, lane, id);
                    model.insert((lane, place), id);
                    late = late.max(die.late.len());
                }
                let host = model.keys().filter(|(lane, _)| *lane < LaneId::Job as usize).count();
                assert_eq!(die.host_operations(&ops).count(), host);
            }
        }
        assert!(late > 3, "{late}");
    }
}
