//! How an operation waits outside the lanes of a die: for a condition, in the order in which it
//! came, with the time counted for a cause.
//!
//! The code that makes a condition true asks [`Waits`] for the operations that waited for it, and
//! lets them try again. A wait ends with [`Waits::release`] or one of its variants, which count the
//! time.

use super::blocked::BlockedReads;
use crate::device::Lane;
use crate::host::Data;
use crate::ops::{NONE, Ops, PageOp};
use ftl::Lpn;
use kernel::{Dur, IndexVec, Time};
use nand::{DieId, Ppn, Source};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// The condition that an operation waits for.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Condition {
    /// A free block: a write without a slot. Garbage collection makes it.
    Space,
    /// The refresh of the block that a page lies in, which is at its read limit.
    Refresh,
    /// The end of a read-modify-write of its page.
    Page(Lpn),
    /// A place in the write buffer, for the written part of a page.
    Room(Data),
    /// A program on its way, of the page that a read wants. The time is accounted for by the work
    /// of the die meanwhile.
    Program(DieId),
}

/// How often requests waited, by the reason of the wait.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct WaitStats {
    /// Host page writes for a free block.
    pub space: u64,
    /// The longest of these waits, in ns.
    pub space_longest: u64,
    /// The longest that a page which the host wrote waited behind collection, for any reason, in
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
    /// The number of these operations, including those of their groups.
    space_operations: usize,
    /// How many of them write each page, if callers ask for it.
    space_pages: Option<FxHashMap<Lpn, u32>>,
    pub(super) blocked: BlockedReads,
    room: VecDeque<(u32, Data)>,
    /// Pages being read for a modification, each with the operations that wait for it.
    pages: BTreeMap<Lpn, VecDeque<u32>>,
    page_operations: usize,
    /// Reads of each slot whose program is on its way.
    programs: IndexVec<DieId, BTreeMap<Ppn, Lane>>,
    program_operations: usize,
    /// The reads whose slot has been programmed by the command that is being concluded.
    programmed: Vec<u32>,
    /// Requests that the throttle holds back: the end of the delay, the order, the request.
    held: BinaryHeap<Reverse<(Time, u64, u32)>>,
    /// Jobs are not among them.
    pub(crate) stats: WaitStats,
}

impl Waits {
    /// Nothing waits. `by_page`: callers will ask which pages are written by operations that wait
    /// for space.
    pub(crate) fn new(dies: usize, by_page: bool) -> Self {
        Self {
            space: VecDeque::new(),
            space_operations: 0,
            space_pages: by_page.then(FxHashMap::default),
            blocked: BlockedReads::default(),
            room: VecDeque::new(),
            pages: BTreeMap::new(),
            page_operations: 0,
            programs: IndexVec::filled(BTreeMap::new(), dies),
            program_operations: 0,
            programmed: Vec::new(),
            held: BinaryHeap::new(),
            stats: WaitStats::default(),
        }
    }

    /// An operation waits from now on, behind those that wait for the same condition.
    pub(crate) fn park(&mut self, ops: &mut Ops, op: u32, on: Condition, now: Time) {
        ops[op].since = now;
        match on {
            Condition::Space => {
                self.stats.space += 1;
                self.space.push_back(op);
                self.space_operations += ops.group(op).count();
                if let Some(pages) = &mut self.space_pages {
                    let lpns = ops.group(op).filter_map(|op| ops[op].lpn);
                    lpns.for_each(|lpn| *pages.entry(lpn).or_default() += 1);
                }
            }
            Condition::Refresh => {
                self.stats.refresh += 1;
                self.blocked.add(ops[op].lpn.expect("a read has a page"), op);
            }
            Condition::Page(lpn) => {
                self.stats.page += 1;
                self.page_operations += 1;
                self.pages.get_mut(&lpn).expect("the page is locked").push_back(op);
            }
            Condition::Room(data) => {
                self.stats.buffer += 1;
                self.room.push_back((op, data));
            }
            Condition::Program(die) => {
                self.stats.program += 1;
                self.program_operations += 1;
                let slot = ops[op].slot().expect("a page on its way has a slot");
                self.programs[die].entry(slot).or_insert(Lane::EMPTY).push(ops, op);
            }
        }
    }

    /// Operations that wait here and are on no die: all but those for a program.
    pub(crate) fn apart(&self) -> usize {
        self.space_operations + self.blocked.len() + self.room.len() + self.page_operations
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

    /// The first of them has its slot: it waited for the work of `source`.
    pub(crate) fn release_first_for_space(&mut self, ops: &mut Ops, source: Source, now: Time) {
        let op = self.space.pop_front().expect("it was the first");
        let since = ops[op].since;
        self.stats.space_longest = self.stats.space_longest.max((now - since).as_ns());
        let mut at = op;
        while at != NONE {
            ops[at].since = since;
            ops.end_wait(at, source, now);
            let o = &ops[at];
            self.space_operations -= 1;
            if let (Some(pages), Some(lpn)) = (&mut self.space_pages, o.lpn)
                && let Some(writes) = pages.get_mut(&lpn)
            {
                *writes -= 1;
                if *writes == 0 {
                    pages.remove(&lpn);
                }
            }
            at = ops.also(at);
        }
    }

    // ── Refresh ─────────────────────────────────────────────────────────────────────────────────

    /// Whether reads wait for the refresh of a block.
    #[inline]
    pub(crate) fn awaits_refresh(&self) -> bool {
        self.blocked.len() > 0
    }

    /// How many do.
    pub(crate) fn for_refresh(&self) -> usize {
        self.blocked.len()
    }

    // ── Pages ───────────────────────────────────────────────────────────────────────────────────

    /// No other operation uses the page until [`Waits::unlock`].
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

    /// The page is free again: the operations that waited for it, in order.
    pub(crate) fn unlock(&mut self, lpn: Lpn) -> VecDeque<u32> {
        let waiters = self.pages.remove(&lpn).unwrap_or_default();
        self.page_operations -= waiters.len();
        waiters
    }

    /// The page is locked again, by the first of the waiting operations: the others wait as before.
    pub(crate) fn keep(&mut self, lpn: Lpn, waiters: VecDeque<u32>) {
        let queue = self.pages.get_mut(&lpn).expect("the page is locked");
        debug_assert!(queue.is_empty(), "who came later stands before who waited");
        self.page_operations += waiters.len();
        *queue = waiters;
    }

    /// Whether a write of the page waits for its slot.
    ///
    /// # Panics
    /// `by_page` was not set.
    pub(crate) fn has_for_space(&self, lpn: Lpn) -> bool {
        self.space_pages.as_ref().expect("writes are counted by page").contains_key(&lpn)
    }

    /// Whether a write of the page waits for its lock or its slot.
    pub(crate) fn holds_write(&self, lpn: Lpn) -> bool {
        self.pages.contains_key(&lpn) || self.has_for_space(lpn)
    }

    // ── Room ────────────────────────────────────────────────────────────────────────────────────

    /// Writes that wait for a place in the buffer.
    #[inline]
    pub(crate) fn for_room(&self) -> usize {
        self.room.len()
    }

    /// The first of them, and the part of its page that it writes.
    pub(crate) fn first_for_room(&self) -> Option<(u32, Data)> {
        self.room.front().copied()
    }

    /// The first of them has its place. Returns how long it waited; the page that gave up this
    /// place accounts for that time.
    pub(crate) fn release_first_for_room(&mut self, ops: &Ops, now: Time) -> Dur {
        let (op, _) = self.room.pop_front().expect("it was the first");
        now - ops[op].since
    }

    // ── Programs ────────────────────────────────────────────────────────────────────────────────

    /// Whether reads wait for programs.
    #[inline]
    pub(crate) fn awaits_programs(&self) -> bool {
        self.program_operations > 0
    }

    /// Whether reads wait for programs, or for refreshes.
    #[inline]
    pub(crate) fn awaits_slots(&self) -> bool {
        self.program_operations > 0 || self.awaits_refresh()
    }

    /// Whether reads wait for programs on a die.
    pub(crate) fn awaits_programs_on(&self, die: DieId) -> bool {
        !self.programs[die].is_empty()
    }

    /// These reads, in no order.
    pub(crate) fn for_programs_on<'a>(
        &'a self,
        ops: &'a Ops,
        die: DieId,
    ) -> impl Iterator<Item = &'a PageOp> {
        self.programs[die].values().flat_map(|lane| lane.iter(ops))
    }

    /// A slot has been programmed: the reads that wait for it can have it.
    #[cold]
    pub(crate) fn note_programmed(&mut self, ops: &mut Ops, die: DieId, slot: Ppn) {
        let Some(mut lane) = self.programs[die].remove(&slot) else { return };
        while !lane.is_empty() {
            self.programmed.push(lane.pop(ops));
            self.program_operations -= 1;
        }
    }

    /// Whether there are reads whose slot has been programmed.
    #[inline]
    pub(crate) fn has_programmed(&self) -> bool {
        !self.programmed.is_empty()
    }

    /// One of them.
    pub(crate) fn release_programmed(&mut self) -> Option<u32> {
        self.programmed.pop()
    }

    // ── The throttle ────────────────────────────────────────────────────────────────────────────

    /// A write request waits until the throttle lets it through. Returns when the first of all held
    /// requests goes.
    pub(crate) fn hold(&mut self, request: u32, until: Time) -> Time {
        self.stats.throttle += 1;
        self.held.push(Reverse((until, self.stats.throttle, request)));
        let Reverse((first, ..)) = *self.held.peek().expect("one was just pushed");
        first
    }

    /// Requests that the throttle holds back.
    pub(crate) fn held_back(&self) -> usize {
        self.held.len()
    }

    /// The request that goes first, and the time of the next one.
    pub(crate) fn release_held(&mut self) -> (Option<u32>, Option<Time>) {
        let first = self.held.pop().map(|Reverse((_, _, request))| request);
        (first, self.held.peek().map(|Reverse((until, ..))| *until))
    }
}
