//! How an operation waits, apart from the lanes of a die: for a condition, in the order in which it
//! came, at somebody's cost.
//!
//! Whoever makes a condition true asks [`Waits`] for those who waited for it, and lets them try
//! again. A wait ends with [`Waits::release`] or one of its kin, which books the time.

use crate::device::{Lane, NONE, Ops};
use crate::host::Data;
use ftl::Lpn;
use kernel::{Dur, IndexVec, Time};
use nand::{DieId, Source};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// What an operation waits for.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Condition {
    /// A free block: a write without a slot. Garbage collection makes it.
    Space,
    /// The refresh of the block that a page lies in, which is at its read limit.
    Refresh,
    /// The end of a read-modify-write of its page.
    Page(Lpn),
    /// A place in the write buffer, for what is written of a page.
    Room(Data),
    /// A program on its way, of the page that a read wants. The time is accounted for by what the
    /// die does meanwhile.
    Program(DieId),
}

/// How often something waited, by what for.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct WaitStats {
    /// Host page writes for a free block.
    pub space: u64,
    /// The longest of these waits, in ns.
    pub space_longest: u64,
    /// The longest that a page which the host wrote waited behind collection, whatever it waited for, in
    /// ns.
    pub gc_longest: u64,
    /// Host page reads for the refresh of their block.
    pub refresh: u64,
    /// Host page operations for read-modify-writes of their page, however many go before.
    pub page: u64,
    /// Host page writes for a place in the write buffer.
    pub buffer: u64,
    /// Host page reads for a program on its way.
    pub program: u64,
    /// Write requests for the throttle.
    pub throttle: u64,
    /// Jobs for space, for reads on their way, for a program.
    pub job: u64,
}

/// Everything that waits outside the lanes.
pub(crate) struct Waits {
    space: VecDeque<u32>,
    refresh: Vec<u32>,
    room: VecDeque<(u32, Data)>,
    /// Pages being read for a modification, each with the operations that wait for it.
    pages: BTreeMap<Lpn, VecDeque<u32>>,
    programs: IndexVec<DieId, Lane>,
    /// Requests that the throttle holds back: until when, in which order, which.
    held: BinaryHeap<Reverse<(Time, u64, u32)>>,
    /// Jobs are not among them.
    pub(crate) stats: WaitStats,
}

impl Waits {
    pub(crate) fn new(dies: usize) -> Self {
        Self {
            space: VecDeque::new(),
            refresh: Vec::new(),
            room: VecDeque::new(),
            pages: BTreeMap::new(),
            programs: IndexVec::filled(Lane::EMPTY, dies),
            held: BinaryHeap::new(),
            stats: WaitStats::default(),
        }
    }

    /// An operation waits from now on, behind those that wait for the same.
    pub(crate) fn park(&mut self, ops: &mut Ops, op: u32, on: Condition, now: Time) {
        ops[op].since = now;
        match on {
            Condition::Space => {
                self.stats.space += 1;
                self.space.push_back(op);
            }
            Condition::Refresh => {
                self.stats.refresh += 1;
                self.refresh.push(op);
            }
            Condition::Page(lpn) => {
                self.stats.page += 1;
                self.pages.get_mut(&lpn).expect("the page is locked").push_back(op);
            }
            Condition::Room(data) => {
                self.stats.buffer += 1;
                self.room.push_back((op, data));
            }
            Condition::Program(die) => {
                self.stats.program += 1;
                self.programs[die].push(ops, op);
            }
        }
    }

    /// Operations that wait here and are on no die: all but those for a program.
    pub(crate) fn apart(&self, ops: &Ops) -> usize {
        let locked: usize = self.pages.values().map(VecDeque::len).sum();
        let for_space: usize = self.space.iter().map(|&op| ops.group(op).count()).sum();
        for_space + self.refresh.len() + self.room.len() + locked
    }

    // ── Space ───────────────────────────────────────────────────────────────────────────────────

    /// Writes that wait for a free block.
    #[inline]
    pub(crate) fn for_space(&self) -> usize {
        self.space.len()
    }

    /// The first of them.
    #[inline]
    pub(crate) fn first_for_space(&self) -> Option<u32> {
        self.space.front().copied()
    }

    /// The first of them has its slot: it waited for garbage collection.
    pub(crate) fn release_first_for_space(&mut self, ops: &mut Ops, now: Time) {
        let op = self.space.pop_front().expect("it was the first");
        let since = ops[op].since;
        self.stats.space_longest = self.stats.space_longest.max((now - since).as_ns());
        let mut at = op;
        while at != NONE {
            let o = &mut ops[at];
            o.since = since;
            o.end_wait(Source::Gc, now);
            at = ops.also(at);
        }
    }

    // ── Refresh ─────────────────────────────────────────────────────────────────────────────────

    /// Reads that wait for the refresh of a block.
    #[inline]
    pub(crate) fn for_refresh(&self) -> &[u32] {
        &self.refresh
    }

    /// All of them try again, in order: each ends its wait or stays.
    pub(crate) fn take_for_refresh(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.refresh)
    }

    /// A read that has tried again goes on waiting.
    pub(crate) fn stay_for_refresh(&mut self, op: u32) {
        self.refresh.push(op);
    }

    // ── Pages ───────────────────────────────────────────────────────────────────────────────────

    /// Nobody else touches the page until [`Waits::unlock`].
    pub(crate) fn lock(&mut self, lpn: Lpn) {
        self.pages.insert(lpn, VecDeque::new());
    }

    #[inline]
    pub(crate) fn is_locked(&self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&lpn)
    }

    pub(crate) fn locked_pages(&self) -> usize {
        self.pages.len()
    }

    /// The page is free again: those who waited for it, in order.
    pub(crate) fn unlock(&mut self, lpn: Lpn) -> VecDeque<u32> {
        self.pages.remove(&lpn).unwrap_or_default()
    }

    /// The page is locked again, by the first of those who waited: the others do as before.
    pub(crate) fn keep(&mut self, lpn: Lpn, waiters: VecDeque<u32>) {
        let queue = self.pages.get_mut(&lpn).expect("the page is locked");
        debug_assert!(queue.is_empty(), "who came later stands before who waited");
        *queue = waiters;
    }

    /// Whether a write of the page waits for its slot.
    pub(crate) fn has_for_space(&self, ops: &Ops, lpn: Lpn) -> bool {
        let mut groups = self.space.iter().flat_map(|&op| ops.group(op));
        groups.any(|op| ops[op].lpn == Some(lpn))
    }

    /// Whether a write of the page waits for its lock or its slot.
    pub(crate) fn holds_write(&self, ops: &Ops, lpn: Lpn) -> bool {
        self.pages.contains_key(&lpn) || self.has_for_space(ops, lpn)
    }

    // ── Room ────────────────────────────────────────────────────────────────────────────────────

    /// Writes that wait for a place in the buffer.
    #[inline]
    pub(crate) fn for_room(&self) -> usize {
        self.room.len()
    }

    /// The first of them, and what it writes of its page.
    pub(crate) fn first_for_room(&self) -> Option<(u32, Data)> {
        self.room.front().copied()
    }

    /// The first of them has its place; how long it waited, which is accounted for by what the page
    /// went through whose place it takes.
    pub(crate) fn release_first_for_room(&mut self, ops: &Ops, now: Time) -> Dur {
        let (op, _) = self.room.pop_front().expect("it was the first");
        now - ops[op].since
    }

    // ── Programs ────────────────────────────────────────────────────────────────────────────────

    /// Reads that wait for a program on a die.
    #[inline]
    pub(crate) fn for_program(&self, die: DieId) -> Lane {
        self.programs[die]
    }

    /// Those of them whose page `is_there`, in order.
    #[cold]
    pub(crate) fn release_for_program(
        &mut self,
        ops: &mut Ops,
        die: DieId,
        is_there: impl Fn(nand::Ppn) -> bool,
    ) -> Vec<u32> {
        self.programs[die].take_all(ops, |op| op.ppn.is_some_and(&is_there))
    }

    // ── The throttle ────────────────────────────────────────────────────────────────────────────

    /// A write request waits until the throttle lets it through. Returns when the first of all
    /// goes.
    pub(crate) fn hold(&mut self, request: u32, until: Time) -> Time {
        self.stats.throttle += 1;
        self.held.push(Reverse((until, self.stats.throttle, request)));
        let Reverse((first, ..)) = *self.held.peek().expect("one was just pushed");
        first
    }

    /// The request that goes first, and when the next one does.
    pub(crate) fn release_held(&mut self) -> (Option<u32>, Option<Time>) {
        let first = self.held.pop().map(|Reverse((_, _, request))| request);
        (first, self.held.peek().map(|Reverse((until, ..))| *until))
    }
}
