//! Accesses of the host: reads, writes and trims, and the policies that observe them.

use super::cache::Cached;
use super::job::JobCondition;
use crate::{
    Access, Cost, Ftl, FtlView, HostTag, Interests, Load, Lpn, Placement, Plan, PolicyTypes,
    ReadDisturb, Role, StreamId, Waiting, Watch, WriteCtx,
};
use kernel::{BitSet, Idx, Prio, Time};
use nand::{BlockId, Level, Operation, Outcome, Ppn, Slots, Source, Store, Tag, Verb};

/// The interests that need to hear of each program.
const PROGRAMS: Interests =
    Interests::PROGRAM.with(Interests::HANDLES).with(Interests::LEVELS).with(Interests::TURNS);

impl<K: PolicyTypes> Ftl<K> {
    /// Gives a host write its slot and points the map there. Returns the program, which comes back
    /// through [`Ftl::concluded`]. Returns `None` if no plane that may take the page has space; the
    /// write then waits for [`Ftl::take_freed`].
    #[inline(always)] // every write of the host comes by
    pub fn write(
        &mut self,
        lpn: Lpn,
        host: HostTag,
        waiting: &Waiting,
        idle: &BitSet,
        now: Time,
    ) -> Option<Operation> {
        let (ppn, block, slot) = self.place(lpn, 1, host, waiting, idle, now)?;
        if self.answers.notes_writes {
            self.note_write(block, slot, [(lpn, host)].into_iter(), now);
        }
        self.bind_host(lpn, ppn, block, slot, now);
        Some(self.host_operation(Verb::Program, Slots::one(ppn), host.prio))
    }

    /// The same for different pages that one command programs, at most
    /// [`Ftl::slots_per_program`]: their slots follow one another. [`Ftl::concluded`] is called for each in
    /// this order, with an operation on its slot alone.
    pub fn write_unit(
        &mut self,
        pages: &[(Lpn, HostTag)],
        waiting: &Waiting,
        idle: &BitSet,
        now: Time,
    ) -> Option<Operation> {
        let (lpn, host) = pages[0];
        let count = pages.len() as u32;
        let (first, block, slot) = self.place(lpn, count, host, waiting, idle, now)?;
        if self.answers.notes_writes {
            self.note_write(block, slot, pages.iter().copied(), now);
        }
        self.bind_unit(pages.iter().map(|(lpn, _)| *lpn), block, slot, now);
        Some(self.host_operation(Verb::Program, Slots::run(first, count), host.prio))
    }

    /// Points pages that one command programs to their slots, from one on. Missing pages are padding.
    pub(crate) fn bind_unit(
        &mut self,
        lpns: impl ExactSizeIterator<Item = Lpn>,
        block: BlockId,
        slot: u32,
        now: Time,
    ) {
        self.space.pad(block, lpns.len() as u32, Source::Host);
        for (slot, lpn) in (slot..).zip(lpns) {
            self.bind_host(lpn, self.space.geometry.ppn(block, slot), block, slot, now);
        }
    }

    /// An operation of the host on slots of a block.
    #[inline(always)] // every operation of the host comes by
    fn host_operation(&self, verb: Verb, slots: Slots, prio: Prio) -> Operation {
        let tag = Tag { prio, ..Tag::of(Source::Host) };
        Operation::new(verb, Some(slots), tag, self.levels.usual)
    }

    /// The slots of one command for `pages` pages, of which `lpn` is the first.
    #[inline(always)] // a call costs more than it does
    fn place(
        &mut self,
        lpn: Lpn,
        pages: u32,
        host: HostTag,
        waiting: &Waiting,
        idle: &BitSet,
        now: Time,
    ) -> Option<(Ppn, BlockId, u32)> {
        let prio = host.prio;
        if self.answers.caches {
            match self.place_cached((lpn, pages), host, waiting, idle, now) {
                Cached::Given(given) => return given,
                Cached::Direct => {}
            }
        }
        let (at, stream) = self.host_stream(lpn, host, now);
        let (geometry, writable) = (&self.space.geometry, &self.space.writable[at]);
        let load = Load { geometry, writable, waiting, idle };
        let Some(plane) = self.policies.placement.place(&load, lpn, prio) else {
            self.jobs.await_space(None);
            if self.answers.caches {
                self.await_full_density();
            }
            return None;
        };
        let tag = Tag { source: Source::Host, demand: Source::Host, prio };
        let plane = self.space.geometry.superblocks().set_of(plane);
        let given = self.allocate(plane, stream, lpn, tag, now);
        if given.is_none() {
            self.jobs.await_space(Some(plane));
        } else if self.jobs.pace.is_kept() {
            self.jobs.earn(plane, pages);
        }
        if self.answers.caches {
            match given {
                Some(_) => self.note_direct(pages),
                None => self.await_full_density(),
            }
        }
        given
    }

    /// The program buffer of a page, among those of its priority, if one command programs several
    /// pages. All pages of a program buffer may go to one plane.
    pub fn program_buffer_of(&mut self, lpn: Lpn) -> usize {
        if self.answers.anywhere {
            return 0;
        }
        self.spread(lpn).index() / self.space.geometry.superblocks().planes() as usize
    }

    /// The number of program buffers for writes of one kind.
    pub fn program_buffers(&self) -> usize {
        self.buffered.len() / self.answers.separation.hosts
    }

    /// The number of kinds of writes that have program buffers of their own: those of each stream of the
    /// host. Urgent ones are the last kind, if they lie in blocks of their own.
    pub fn kinds_of_writes(&self) -> usize {
        self.answers.separation.hosts + usize::from(self.answers.priority)
    }

    /// Whether urgent writes lie in blocks of their own.
    pub fn separates_urgent(&self) -> bool {
        self.answers.priority
    }

    /// The kind of a write, which numbers its program buffer.
    pub fn kind_of_write(&mut self, lpn: Lpn, host: HostTag, now: Time) -> usize {
        if self.is_urgent_write(host.prio) {
            return self.answers.separation.hosts;
        }
        self.host_stream(lpn, host, now).0
    }

    /// Whether a page that is written again leaves the program buffer of another kind.
    pub fn sorts_writes(&self) -> bool {
        self.answers.separation.hosts > 1
    }

    /// Whether host writes of a stream may overtake others: blocks of this one hold nothing else.
    #[inline]
    pub fn is_urgent(&self, stream: StreamId) -> bool {
        stream == StreamId::HOST_HIGH
            || (self.answers.priority && self.answers.urgent == Some(stream))
    }

    /// The block at its read limit that holds a logical page, which is not read there.
    /// [`Ftl::take_relieved`] reports that the block begins anew. The page may also get another
    /// place, when a job has written it elsewhere.
    #[inline]
    pub fn blocked(&self, lpn: Lpn) -> Option<BlockId> {
        if !self.reads.are_counted() {
            return None;
        }
        let block = self.space.geometry.block_of(self.find(lpn)?);
        self.is_at_limit(block).then_some(block)
    }

    /// Whether the host may not read a block any more.
    pub fn is_at_limit(&self, block: BlockId) -> bool {
        self.reads.is_at_limit(block, self.space.array().mode(block))
    }

    /// Whether a block has left its limit since the last call: reads that wait may try again.
    #[inline]
    pub fn take_relieved(&mut self) -> bool {
        std::mem::take(&mut self.reads.unblocked)
    }

    /// From now on [`Ftl::take_left`] collects pages, or collects none.
    #[cold]
    pub fn await_limits(&mut self, awaited: bool) {
        self.reads.awaited = awaited;
        self.reads.left.clear();
    }

    /// The pages that were in a block at its read limit and may have left it. They have another
    /// place, or none, or the block has left its limit. A page may be listed more than once.
    #[cold]
    pub fn take_left(&mut self) -> Vec<Lpn> {
        std::mem::take(&mut self.reads.left)
    }

    /// A page has left its slot.
    #[cold]
    pub(crate) fn note_left(&mut self, ppn: Ppn, block: BlockId) {
        if self.is_at_limit(block) {
            self.reads.left.extend(self.map.owner(ppn));
        }
    }

    /// A block is about to leave its limit with all its pages.
    #[cold]
    pub(crate) fn note_relief(&mut self, block: BlockId) {
        let mut slot = self.map.next_valid(block, 0).filter(|_| self.reads.awaited);
        while let Some(at) = slot {
            self.reads.left.extend(self.map.owner(self.space.geometry.ppn(block, at)));
            slot = self.map.next_valid(block, at + 1);
        }
    }

    /// Lets in a host read. Returns `None` if the page is not mapped. Its block is not erased
    /// before [`Ftl::concluded`]. The page must not be [`Ftl::blocked`].
    #[inline(always)] // every read of the host comes by
    pub fn read(&mut self, lpn: Lpn, prio: Prio, now: Time) -> Option<Operation> {
        let ppn = self.pin(lpn)?;
        if self.reads.are_counted() {
            let block = self.space.geometry.block_of(ppn);
            let at_limit = self.reads.count(block, self.space.array().mode(block));
            if at_limit || self.space.blocks.role(block) != Role::REGULAR {
                self.watch_read(ppn, block, at_limit, now);
            }
        }
        Some(self.host_operation(Verb::Read, Slots::one(ppn), prio))
    }

    /// The same for a page that is read together with another of its physical page: both are one
    /// read of the block.
    #[inline]
    pub fn read_along(&mut self, lpn: Lpn, prio: Prio) -> Option<Operation> {
        let ppn = self.pin(lpn)?;
        Some(self.host_operation(Verb::Read, Slots::one(ppn), prio))
    }

    /// A flash read of a page that the map does not know (`unmapped-read = "flash"`).
    pub fn read_unmapped(&self, prio: Prio) -> Operation {
        let tag = Tag { prio, ..Tag::of(Source::Host) };
        Operation::new(Verb::Read, None, tag, self.policies.cost.initial())
    }

    /// The slot of a page that is about to be read. Its block is not erased before the read is
    /// done.
    #[inline(always)] // as `read`
    fn pin(&mut self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.find(lpn)?;
        self.space.blocks.pin(self.space.geometry.block_of(ppn));
        Some(ppn)
    }

    /// Gives an operation that begins the mode of its block and the level of its page. They are
    /// known only now, because the block may have been reprogrammed since the operation was built.
    pub fn bring_up_to_date(&self, operation: &mut Operation) {
        if let (Verb::Read | Verb::Program, Some(slot)) = (operation.verb, operation.slot()) {
            operation.mode = self.space.array().mode(self.space.geometry.block_of(slot));
            operation.level = self.level_of(slot);
        }
    }

    /// Whether all pages are programmed at one level and each lies in a page of its own: no operation needs
    /// [`Ftl::bring_up_to_date`].
    #[inline]
    pub fn is_uniform(&self) -> bool {
        self.levels.constant.is_some() && self.space.plain
    }

    /// Takes back a finished operation on a page of the host or of the write buffer. `data`: the
    /// data of a program. Returns the data of a read.
    ///
    /// # Panics
    ///
    /// The operation has failed: the FTL has no reaction to failed operations yet.
    #[inline(always)] // every operation of the host comes by
    pub fn concluded(
        &mut self,
        lpn: Lpn,
        data: impl FnOnce() -> <K::Store as Store>::Page,
        operation: &Operation,
        outcome: Outcome,
        now: Time,
    ) -> Option<<K::Store as Store>::Page> {
        if outcome == Outcome::Failed {
            self.failed(operation);
        }
        match (operation.verb, operation.slot()) {
            (Verb::Program, Some(ppn)) => self.program_done(lpn, ppn, data(), operation.tag, now),
            (Verb::Read, Some(ppn)) => {
                let found = self.space.read(ppn, Source::Host);
                self.unpin(ppn);
                return Some(found);
            }
            (Verb::Read, None) => self.space.counts.read[Source::Host] += 1,
            _ => unreachable!("the host reads and programs pages"),
        }
        None
    }

    #[cold]
    #[inline(never)]
    pub(super) fn failed(&self, operation: &Operation) -> ! {
        let &Operation { verb, tag, .. } = operation;
        let place = operation.slot().map_or_else(
            || "a page without a place".to_owned(),
            |ppn| {
                let (block, slot) = self.space.geometry.split(ppn);
                format!("slot {slot} of block {block}")
            },
        );
        panic!(
            "the die reports that an operation failed, and the FTL has no answer to that: {verb:?} of {place} \
             for {}",
            tag.source.name()
        );
    }

    /// A read of a slot has come back.
    #[inline]
    pub(crate) fn unpin(&mut self, ppn: Ppn) {
        let block = self.space.geometry.block_of(ppn);
        if self.space.blocks.unpin(block) {
            self.jobs.release(JobCondition::Pins(block));
        }
    }

    /// A slot has been programmed.
    #[inline]
    pub(crate) fn program_done(
        &mut self,
        lpn: Lpn,
        ppn: Ppn,
        data: <K::Store as Store>::Page,
        tag: Tag,
        now: Time,
    ) {
        let block = self.space.geometry.block_of(ppn);
        if self.space.program(block, ppn, data, tag.source) {
            self.close(block, now);
        }
        if self.jobs.any_waits() {
            let superblock = self.space.geometry.superblock_of(block);
            self.jobs.release(JobCondition::Program(superblock));
        }
        if self.answers.interests.has(PROGRAMS) {
            self.note_program(lpn, ppn, tag, now);
        }
    }

    /// A slot has been programmed, and somebody wants to know.
    #[cold]
    #[inline(never)]
    fn note_program(&mut self, lpn: Lpn, ppn: Ppn, tag: Tag, now: Time) {
        if let Some(handles) = &mut self.handles {
            handles.programmed(ppn, tag.source);
        }
        if self.answers.interests.has(Interests::TURNS) {
            self.take_turn(ppn);
        }
        if self.answers.interests.has(Interests::LEVELS) {
            self.note_level(ppn, now);
        }
        if self.answers.interests.has(Interests::PROGRAM) {
            let level = self.level_of(ppn);
            self.policies.each(|w| w.on_program(lpn, ppn, level, tag, now));
        }
    }

    /// A slot has been programmed, and its block may endure fewer reads from now on. If it has had
    /// as many, its policy is asked as after the last read.
    fn note_level(&mut self, ppn: Ppn, now: Time) {
        let (block, level) = (self.space.geometry.block_of(ppn), self.level_of(ppn));
        let was_at_limit = self.is_at_limit(block);
        self.reads.limits.add_level(block, level);
        if !was_at_limit && self.is_at_limit(block) {
            self.plan_at_limit(block, now);
        }
    }

    /// A parity unit has been programmed, and somebody wants to know its level.
    #[cold]
    pub(crate) fn note_parity_level(&mut self, first: Ppn, now: Time) {
        if self.answers.interests.has(Interests::LEVELS) {
            self.note_level(first, now);
        }
    }

    /// The same for pages that one command programs, in slots from one on.
    pub(crate) fn unit_done(
        &mut self,
        first: Ppn,
        pages: impl Iterator<Item = (Lpn, <K::Store as Store>::Page)>,
        tag: Tag,
        now: Time,
    ) {
        let listens = self.answers.interests.has(PROGRAMS);
        let mut ppn = first;
        for (lpn, data) in pages {
            if ppn == first {
                self.program_done(lpn, ppn, data, tag, now);
            } else {
                self.space.program_along(ppn, data, tag.source);
                if listens {
                    self.note_program(lpn, ppn, tag, now);
                }
            }
            ppn = Ppn::from_u32(ppn.as_u32() + 1);
        }
        let programmed = ppn.as_u32() - first.as_u32();
        assert!(programmed <= self.space.unit(), "a command programmed {programmed} slots");
    }

    /// A host access, in order of arrival, for policies that watch. The argument is evaluated only
    /// if some do.
    #[inline]
    pub fn host_access(&mut self, access: impl FnOnce() -> Access) {
        if self.answers.interests.has(Interests::ACCESS) {
            self.watch_access(&access());
        }
    }

    #[cold]
    #[inline(never)]
    fn watch_access(&mut self, access: &Access) {
        self.policies.each(|w| w.on_access(access));
        let stored = self.find(access.lpn).map(|ppn| self.level_of(ppn));
        self.policies.cost.follow(access, stored);
    }

    /// Tells the policies about an event. Cold, so that a drive on which no policy watches has one
    /// test here and no code.
    #[cold]
    #[inline(never)]
    pub(crate) fn notify(&mut self, what: &mut dyn FnMut(&mut dyn Watch)) {
        self.policies.each(what);
    }

    #[cold]
    #[inline(never)]
    fn watch_read(&mut self, ppn: Ppn, block: BlockId, at_limit: bool, now: Time) {
        let mut plan = Plan::of(Source::Refresh);
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        let policy = &mut self.policies.read_disturb;
        if self.space.blocks.role(block) != Role::REGULAR {
            policy.on_read(&view, ppn, now, &mut plan);
        }
        if at_limit {
            policy.on_limit(&view, block, now, &mut plan);
        }
        self.spawn_plan(plan);
    }

    /// A collector has given a victim back. If a block of it reached its limit meanwhile, its policy
    /// left it to the collector, and reads of it wait. So the policy is asked again.
    #[cold]
    pub(crate) fn ask_at_limit(&mut self, victim: BlockId, now: Time) {
        if !self.reads.are_counted() {
            return;
        }
        let superblocks = *self.space.geometry.superblocks();
        for block in superblocks.blocks_of(superblocks.first_of(victim)) {
            if self.is_at_limit(block) {
                self.plan_at_limit(block, now);
            }
        }
    }

    /// Asks the policy for the plan of a block at its limit.
    fn plan_at_limit(&mut self, block: BlockId, now: Time) {
        let mut plan = Plan::of(Source::Refresh);
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        self.policies.read_disturb.on_limit(&view, block, now, &mut plan);
        self.spawn_plan(plan);
    }

    /// The earliest time at which a policy wants to be woken.
    pub fn next_timer(&mut self) -> Option<Time> {
        if !self.answers.interests.has(Interests::TIMER) {
            return None;
        }
        let mut earliest: Option<Time> = None;
        self.policies.each(|w| earliest = earliest.into_iter().chain(w.next_timer()).min());
        earliest
    }

    /// Wakes the policies whose time has come.
    pub fn on_timer(&mut self, now: Time) {
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        let mut plans = Vec::new();
        self.policies.each_as(|source, w| {
            if w.next_timer().is_some_and(|at| at <= now) {
                let mut plan = Plan::of(source);
                w.on_timer(&view, now, &mut plan);
                plans.push(plan);
            }
        });
        for plan in plans {
            self.spawn_plan(plan);
        }
    }

    // ── Levels ──────────────────────────────────────────────────────────────────────────────────

    /// The level at which a slot was programmed.
    #[inline]
    pub fn level_of(&self, ppn: Ppn) -> Level {
        self.levels.get(ppn)
    }

    /// The level of every program, if there is one for all.
    #[inline]
    pub fn constant_level(&self) -> Option<Level> {
        self.levels.constant
    }

    /// A slot that holds no page of the host is programmed at the level of data from before the run.
    pub fn set_usual_level(&mut self, ppn: Ppn) {
        if self.levels.constant.is_none() {
            self.levels.set(ppn, self.levels.usual);
        }
    }

    /// Decides the level of a program when it is dispatched, and remembers it. `circumstances` is
    /// only evaluated if levels vary.
    #[inline]
    pub fn decide_level(&mut self, ppn: Ppn, circumstances: impl FnOnce() -> WriteCtx) -> Level {
        if let Some(level) = self.levels.constant {
            return level;
        }
        let level = self.policies.cost.level(&circumstances());
        let (block, slot) = self.space.geometry.split(ppn);
        let unit = self.space.unit();
        if unit == 1 {
            self.levels.set(ppn, level);
            return level;
        }
        // The finest level requested for any page holds for all pages that the command programs.
        let (first, asked) = (slot - slot % unit, level);
        let level = if slot == first { level } else { level.min(self.levels.get(ppn)) };
        for slot in first..first + unit {
            self.levels.set(self.space.geometry.ppn(block, slot), level);
        }
        asked
    }
}
