//! The scheduler: which operation goes next on a die, how long it takes, what follows.

use super::Sim;
use super::cells::{Sensed, Target};
use super::die::{Die, LaneId, Phase};
use super::op::{NONE, PageOp, Work};
use crate::config::MultiPlane;
use ftl::{Action, Hold, JobId, Kit, Order, Queues, WriteCtx};
use kernel::{Dur, Idx, Prio, Time};
use nand::{Bus, DieId, Mode, Source, Store, Tag};

/// Waiting operations of other requests are counted up to this many.
const COUNTED: usize = 64;

impl<K: Kit> Sim<K> {
    // ── Arrival at a die ────────────────────────────────────────────────────────────────────────

    /// A host operation comes to a die.
    #[inline]
    pub(crate) fn enqueue(&mut self, die: DieId, lane: LaneId, op: u32) {
        self.waiting[die] += 1;
        self.waiting_total += 1;
        self.seq += 1;
        self.ops[op].seq = self.seq;
        self.join(die, lane, op);
    }

    /// An operation starts at once if the die is free, and waits otherwise.
    #[inline]
    fn join(&mut self, die: DieId, lane: LaneId, op: u32) {
        let d = &mut self.dies[die];
        if d.phase == Phase::Idle && d.mask == 0 && self.settings.multi_plane == MultiPlane::Off {
            self.begin(die, op);
            return;
        }
        d.begin_wait(&mut self.ops[op].spent, self.now);
        d.queue(&mut self.ops, lane, op);
        // Operations of the same instant may share the array: gather them first.
        self.wait_for_instant(die);
    }

    /// A read of a page whose program is still on its way waits apart until it is done.
    pub(crate) fn park(&mut self, die: DieId, op: u32) {
        self.waiting[die] += 1;
        self.waiting_total += 1;
        self.seq += 1;
        self.ops[op].seq = self.seq;
        let d = &mut self.dies[die];
        d.begin_wait(&mut self.ops[op].spent, self.now);
        d.parked.push(&mut self.ops, op);
        self.stats.parked_reads += 1;
    }

    /// Puts parked reads whose pages are there now into their lanes, at their old places.
    #[cold]
    fn unpark(&mut self, die: DieId) {
        let ftl = &self.ftl;
        let there = |op: &PageOp| op.ppn.is_some_and(|ppn| ftl.is_written(ppn));
        let released = self.dies[die].parked.take_all(&mut self.ops, there);
        for op in released {
            let high = self.ops[op].prio == Prio::High;
            let lane = if high { LaneId::ReadHigh } else { LaneId::Read };
            self.dies[die].insert(&mut self.ops, lane, op);
        }
    }

    // ── Jobs ────────────────────────────────────────────────────────────────────────────────────

    /// Queues every job that wants to start or to go on.
    #[inline]
    pub(crate) fn start_jobs(&mut self) {
        while let Some(id) = self.ftl.take_ready() {
            self.seq += 1;
            let seq = self.seq;
            self.remember_job(id, seq);
            let job = self.ftl.job(id);
            let (die, background) = (job.home(), job.is_background());
            self.queue_start(die, background, id, seq);
        }
        while let Some(id) = self.ftl.take_promoted() {
            self.promote(id);
        }
    }

    fn remember_job(&mut self, id: JobId, seq: u64) {
        let at = id.as_u32() as usize;
        if self.job_seq.len() <= at {
            self.job_seq.resize(at + 1, 0);
        }
        self.job_seq[at] = seq;
    }

    /// Queues a job's start. The job is asked what it does when its turn comes, so a die that is
    /// free looks round once more instead of beginning.
    fn queue_start(&mut self, die: DieId, background: bool, id: JobId, seq: u64) {
        self.add_start(die, background, id, seq);
        self.wait_for_instant(die);
    }

    fn add_start(&mut self, die: DieId, background: bool, id: JobId, seq: u64) {
        let op = self.ops.add_job(Work::JobStart(id), None, seq, self.now);
        let lane = if background { LaneId::Idle } else { LaneId::Job };
        self.dies[die].queue(&mut self.ops, lane, op);
    }

    /// A free die with something in its lanes looks round at the end of this instant.
    #[inline]
    fn wait_for_instant(&mut self, die: DieId) {
        let d = &mut self.dies[die];
        if d.phase == Phase::Idle {
            d.phase = Phase::Gathering;
            d.started = self.now;
            d.source = Source::Host;
            self.idle.clear(die.index());
            self.agenda.set(die.index(), self.now);
        }
    }

    /// A background job has become urgent: what it has in an idle lane moves to the jobs.
    #[cold]
    fn promote(&mut self, id: JobId) {
        for die in 0..self.dies.len() {
            let d = &mut self.dies[DieId::new(die)];
            let taken =
                d.take_all(&mut self.ops, LaneId::Idle as usize, |op| job_of(op.work) == Some(id));
            for op in taken {
                d.insert(&mut self.ops, LaneId::Job, op);
            }
        }
    }

    /// Asks a job for its next action. If that is on `here`, which is free, it starts; otherwise
    /// it is queued where it belongs. Returns whether `here` is busy now.
    fn step_job(&mut self, here: DieId, id: JobId) -> bool {
        let job = self.ftl.job(id);
        let (background, hold) = (job.is_background(), job.hold());
        let action = self.ftl.advance(id, self.now);
        let (die, work, ppn) = match action {
            Action::Done | Action::Wait => return false,
            Action::Yield => {
                // Behind everything that waits here now. This die is choosing: it finds the job.
                self.seq += 1;
                let seq = self.seq;
                self.remember_job(id, seq);
                // It may have become work for idle time.
                self.add_start(here, self.ftl.job(id).is_background(), id, seq);
                return false;
            }
            Action::Read(ppn) => {
                let die = self.ftl.geometry().die_of(self.ftl.geometry().block_of(ppn));
                (die, Work::JobRead(id), Some(ppn))
            }
            Action::Program { ppn, .. } => {
                let die = self.ftl.geometry().die_of(self.ftl.geometry().block_of(ppn));
                (die, Work::JobProgram(id), Some(ppn))
            }
            Action::Erase(block) => {
                (self.ftl.geometry().die_of(block), Work::JobErase(id, block), None)
            }
            Action::Reprogram { block, wordlines, known } => {
                let work = Work::JobReprogram(id, wordlines as u16, known as u16);
                (self.ftl.geometry().die_of(block), work, None)
            }
        };
        if hold == Hold::Nothing {
            self.seq += 1;
            let seq = self.seq;
            self.remember_job(id, seq);
        }
        let seq = self.job_seq[id.as_u32() as usize];
        let op = self.ops.add_job(work, ppn, seq, self.now);
        if die == here && (self.dies[here].mask == 0 || (hold == Hold::Die && self.is_next(op))) {
            self.begin(here, op);
            return true;
        }
        let lane = if background { LaneId::Idle } else { LaneId::Job };
        if die == here {
            self.dies[here].insert(&mut self.ops, lane, op);
            return false;
        }
        self.join(die, lane, op);
        false
    }

    // ── Choice ──────────────────────────────────────────────────────────────────────────────────

    /// A free die takes its next operation, or goes idle.
    pub(crate) fn look_for_work(&mut self, die: DieId) {
        loop {
            let mask = self.dies[die].mask;
            let foreground = mask & !(1 << LaneId::Idle as u8);
            let lane = if foreground == 0 {
                if mask != 0 {
                    LaneId::Idle as usize
                } else if let Some(id) = self.idle_work(die) {
                    if self.step_job(die, id) {
                        return;
                    }
                    self.follow_up(die, false, false);
                    continue;
                } else {
                    self.idle.set(die.index());
                    self.agenda.clear(die.index());
                    return;
                }
            } else if foreground.is_power_of_two() {
                foreground.trailing_zeros() as usize
            } else {
                let (heads, lanes, n) = self.dies[die].heads(&self.ops);
                let picked = self.ftl.policies.order.pick(&heads[..n], self.now);
                usize::from(lanes[..n][picked])
            };
            let op = self.dies[die].pop(&mut self.ops, lane);
            if let Work::JobStart(id) = self.ops[op].work {
                self.ops.remove(op);
                if self.step_job(die, id) {
                    return;
                }
                self.follow_up(die, false, false);
                continue;
            }
            let (lane, op) = self.in_block_order(die, lane, op);
            self.dies[die].end_wait(&mut self.ops[op].spent);
            if self.settings.multi_plane != MultiPlane::Off {
                self.gather(die, lane, op);
            }
            self.begin(die, op);
            return;
        }
    }

    /// Pages of a block are programmed in order, and several jobs may write one block: a program
    /// whose turn has come lets the one go first that holds the place before it.
    #[inline]
    fn in_block_order(&mut self, die: DieId, lane: usize, op: u32) -> (usize, u32) {
        let shared = match self.ops[op].work {
            Work::JobProgram(_) => true,
            // Host writes come in order; only jobs in idle time write to the same blocks.
            Work::Write => self.dies[die].mask & 1 << LaneId::Idle as u8 != 0,
            _ => false,
        };
        if !shared {
            return (lane, op);
        }
        let (block, slot) =
            self.ftl.geometry().split(self.ops[op].ppn.expect("a program has a slot"));
        if self.ftl.array().next_page(block) == slot {
            return (lane, op);
        }
        self.first_of_block(die, lane, op)
    }

    /// The program of the least slot of the same block that waits on this die, and its lane; `op`
    /// itself goes back to its lane, unless it is that.
    #[cold]
    fn first_of_block(&mut self, die: DieId, lane: usize, op: u32) -> (usize, u32) {
        let geometry = *self.ftl.geometry();
        let ppn = self.ops[op].ppn.expect("a program has a slot");
        let block = geometry.block_of(ppn);
        let d = &mut self.dies[die];
        let mut first: Option<(usize, nand::Ppn)> = None;
        for (at, waiting) in d.lanes.iter().enumerate() {
            for o in waiting.iter(&self.ops) {
                let Some(slot) = o.ppn else { continue };
                let program = matches!(o.work, Work::Write | Work::JobProgram(_));
                let earlier = slot < first.map_or(ppn, |(_, least)| least);
                if program && earlier && geometry.block_of(slot) == block {
                    first = Some((at, slot));
                }
            }
        }
        let Some((from, slot)) = first else { return (lane, op) };
        d.insert_at(&mut self.ops, lane, op);
        let taken = d.take_all(&mut self.ops, from, |o| {
            o.ppn == Some(slot) && matches!(o.work, Work::Write | Work::JobProgram(_))
        });
        let [first] = taken[..] else { unreachable!("a slot is programmed once") };
        (from, first)
    }

    /// Whether an operation may go before all others of its die: programs of a block keep the order
    /// of its pages.
    fn is_next(&self, op: u32) -> bool {
        let PageOp { work, ppn, .. } = self.ops[op];
        let Work::JobProgram(_) = work else { return true };
        let (block, slot) = self.ftl.geometry().split(ppn.expect("a program has a slot"));
        self.ftl.array().next_page(block) == slot
    }

    fn idle_work(&mut self, die: DieId) -> Option<JobId> {
        if !self.ftl.offers_idle_work() || self.host_is_done() {
            return None;
        }
        let id = self.ftl.idle_job(die)?;
        self.seq += 1;
        let seq = self.seq;
        self.remember_job(id, seq);
        Some(id)
    }

    /// Takes from the lane what can share the array time of `op`: the same kind of operation on
    /// other planes, as long as the lane's order is kept, and that of each block's pages.
    #[inline(never)]
    fn gather(&mut self, die: DieId, lane: usize, op: u32) {
        if !matches!(self.ops[op].work, Work::Read | Work::Write) {
            return;
        }
        let geometry = *self.ftl.geometry();
        let place = |o: &PageOp| geometry.split(o.ppn.expect("a mapped host operation has a slot"));
        let plane_bit =
            |block| 1_u32 << (geometry.plane_of(block).index() % geometry.planes_per_die());
        // Only a re-write in idle time can hold a place before a host write in the same block.
        let contested =
            self.dies[die].mask & 1 << LaneId::Idle as u8 != 0 && self.ops[op].work == Work::Write;
        let mut last = op;
        let (block, slot) = place(&self.ops[op]);
        let mut planes = plane_bit(block);
        for _ in 1..geometry.planes_per_die() {
            let head = self.dies[die].lanes[lane].head;
            if head == NONE || self.ops[head].work != self.ops[op].work {
                break;
            }
            let (block, at) = place(&self.ops[head]);
            let bit = plane_bit(block);
            let aligned = self.settings.multi_plane == MultiPlane::Any || at == slot;
            let overtakes = contested && self.ftl.array().next_page(block) != at;
            if planes & bit != 0 || !aligned || overtakes {
                break;
            }
            planes |= bit;
            let next = self.dies[die].pop(&mut self.ops, lane);
            self.dies[die].end_wait(&mut self.ops[next].spent);
            self.ops[last].next = next;
            self.ops[next].next = NONE;
            last = next;
            self.stats.merged += 1;
        }
        if last != op {
            self.show_referee(op);
        }
    }

    /// The slots that one command works on, for the referee to see together.
    fn show_referee(&self, op: u32) {
        let ops = &self.ops;
        let after = |&at: &u32| Some(ops[at].next).filter(|&next| next != NONE);
        let slots = std::iter::successors(Some(op), after).filter_map(|at| ops[at].ppn);
        self.ftl.array().check_command(slots);
    }

    // ── Execution ───────────────────────────────────────────────────────────────────────────────

    /// Starts an operation (and those chained to it) on a free die.
    fn begin(&mut self, die: DieId, op: u32) {
        let work = self.ops[op].work;
        let (source, array, pages_in, reads) = match work {
            Work::Read | Work::ReadModify | Work::ReadUnmapped => {
                (Source::Host, self.read_time(die, op, Source::Host), 0, true)
            }
            Work::JobRead(id) => {
                let source = self.ftl.job(id).tag().source;
                (source, self.read_time(die, op, source), 0, true)
            }
            Work::Write => {
                let (array, pages) = self.programs_time(die, op, Tag::of(Source::Host));
                (Source::Host, array, pages, false)
            }
            Work::JobProgram(id) => {
                let tag = self.ftl.job(id).tag();
                let (array, pages) = self.programs_time(die, op, tag);
                (tag.source, array, pages, false)
            }
            Work::JobErase(id, _) => {
                (self.ftl.job(id).tag().source, self.settings.timing.erase, 0, false)
            }
            Work::JobReprogram(id, wordlines, known) => {
                let source = self.ftl.job(id).tag().source;
                (source, self.reprogram_time(source, wordlines.into(), known.into()), 0, false)
            }
            Work::JobStart(_) => unreachable!("a job's start is no flash operation"),
        };
        self.idle.clear(die.index());
        let d = &mut self.dies[die];
        d.running = op;
        d.source = source;
        d.started = self.now;
        d.array = array;
        let end = match self.settings.timing.bus {
            Bus::Included => {
                d.phase = Phase::Finishing;
                self.now + array
            }
            Bus::Modelled { command, page } => {
                d.phase = if reads { Phase::Sensing } else { Phase::Finishing };
                let turn = command + page * u64::from(pages_in);
                self.take_channel(die, turn) + array
            }
        };
        self.agenda.set(die.index(), end);
    }

    /// Array time of reading a chain of slots. Where errors decide on it, the die keeps the share of
    /// plain reads.
    #[inline]
    fn read_time(&mut self, die: DieId, op: u32, source: Source) -> Dur {
        if self.cells.is_some() {
            return self.soft_reads_time(die, op, source);
        }
        self.reads_time(op, source)
    }

    /// The same where errors decide how finely pages are sensed: as long as the longest.
    #[inline(never)]
    fn soft_reads_time(&mut self, die: DieId, op: u32, source: Source) -> Dur {
        let Some(cells) = &mut self.cells else { unreachable!("there is a model of the cells") };
        let (mut plain, mut longest, mut planes) = (Dur::ZERO, Dur::ZERO, 0);
        let mut at = op;
        while at != NONE {
            let sensed = if let Some(slot) = self.ops[at].ppn {
                let level = self.ftl.level_of(slot);
                self.stats.read_by_level[level as usize] += 1;
                let block = self.ftl.geometry().block_of(slot);
                let guarded = self.ftl.array().mode(block) == Mode::Low;
                let counts = &mut self.stats.sensed[source as usize];
                let mut sensed = Sensed::default();
                for page in self.ftl.read_pages(slot).iter() {
                    let page_type = self.ftl.geometry().page_type(page);
                    let target = Target { slot, block, page_type, level, guarded };
                    sensed = sensed.then(cells.read(&target, source, self.now, counts));
                }
                sensed
            } else {
                // There is nothing that could be wrong.
                let level = self.ftl.initial_level();
                self.stats.read_by_level[level as usize] += 1;
                self.stats.sensed[source as usize][0][0] += 1;
                cells.nothing()
            };
            plain = plain.max(sensed.plain);
            longest = longest.max(sensed.array);
            planes += sensed.planes;
            at = self.ops[at].next;
        }
        let d = &mut self.dies[die];
        d.plain = plain;
        d.planes = planes;
        longest
    }

    /// Array time of reading a chain of slots: planes sense together.
    fn reads_time(&mut self, op: u32, source: Source) -> Dur {
        let mut longest = Dur::ZERO;
        let mut at = op;
        while at != NONE {
            let level = match self.ops[at].ppn {
                Some(ppn) => self.ftl.level_of(ppn),
                None => self.ftl.initial_level(),
            };
            self.stats.read_by_level[level as usize] += 1;
            let sensed = &mut self.stats.sensed[source as usize][level as usize];
            let timing = &self.settings.timing;
            let mut time = Dur::ZERO;
            let mut sense = |page_type: usize| {
                sensed[page_type] += 1;
                time += timing.read(level, page_type);
            };
            match self.ops[at].ppn.map(|ppn| (ppn, self.ftl.page_of(ppn))) {
                Some((_, Some(page))) => sense(self.ftl.geometry().page_type(page)),
                Some((ppn, None)) => {
                    let pages = self.ftl.read_pages(ppn).iter();
                    pages.for_each(|page| sense(self.ftl.geometry().page_type(page)));
                }
                None => sense(0),
            }
            longest = longest.max(time);
            at = self.ops[at].next;
        }
        longest
    }

    /// Array time of programming a chain of slots, and the pages to be transferred. Decides the
    /// level of each.
    fn programs_time(&mut self, die: DieId, op: u32, tag: Tag) -> (Dur, u32) {
        let mut longest = Dur::ZERO;
        let mut transfers = 0;
        let mut at = op;
        let by_wear = self.by_wear.is_some();
        while at != NONE {
            let ppn = self.ops[at].ppn.expect("a program has a slot");
            let level = self.decide_level(die, at, ppn, tag);
            self.stats.program_by_level[level as usize] += 1;
            let (mut time, before, pages) = match self.ftl.page_of(ppn) {
                Some(page) => (self.program_time(page, level, tag.source), Dur::ZERO, 1),
                None => self.slot_time(ppn, level, tag.source),
            };
            if by_wear {
                time = self.quicker(ppn, time);
            }
            time += before;
            transfers += pages;
            longest = longest.max(time);
            at = self.ops[at].next;
        }
        (longest, transfers)
    }

    /// Array time of programming a page.
    #[inline]
    fn program_time(&mut self, page: u32, level: nand::Level, source: Source) -> Dur {
        let page_type = self.ftl.geometry().page_type(page);
        self.stats.programmed[source as usize][level as usize][page_type] += 1;
        self.settings.timing.program(level, page_type)
    }

    /// Array time of programming a slot that may have several pages, that of reading them before,
    /// and how many there are. A second generation is written over cells that must be known: those
    /// whose value stays must stay as they are.
    #[cold]
    fn slot_time(&mut self, ppn: nand::Ppn, level: nand::Level, source: Source) -> (Dur, Dur, u32) {
        let block = self.ftl.geometry().block_of(ppn);
        let again = self.ftl.array().mode(block) == Mode::Wom2;
        let pages = self.ftl.program_pages(ppn);
        let (mut time, mut before) = (Dur::ZERO, Dur::ZERO);
        for page in pages.iter() {
            time += self.program_time(page, level, source);
            if again {
                let page_type = self.ftl.geometry().page_type(page);
                self.stats.read_by_level[level as usize] += 1;
                self.stats.sensed[source as usize][level as usize][page_type] += 1;
                before += self.settings.timing.read(level, page_type);
            }
        }
        (time, before, pages.count)
    }

    /// A program time, in a block that is worn.
    #[cold]
    fn quicker(&self, ppn: nand::Ppn, time: Dur) -> Dur {
        let Some(factors) = &self.by_wear else { return time };
        let block = self.ftl.geometry().block_of(ppn);
        let cycles = self.ftl.array().wear()[block] / 1_000;
        let at = (cycles as usize).min(factors.len() - 1);
        Dur::ns((time.as_ns() as f64 * factors[at]).round() as u64)
    }

    #[inline]
    fn decide_level(&mut self, die: DieId, op: u32, ppn: nand::Ppn, tag: Tag) -> nand::Level {
        if let Some(level) = self.ftl.constant_level() {
            return level;
        }
        let o = &self.ops[op];
        let stored = match o.work {
            Work::JobProgram(id) => self.ftl.job(id).copied_from().map(|p| self.ftl.level_of(p)),
            _ => None,
        };
        let lpn = o.lpn.or_else(|| self.ftl.map().owner(ppn));
        let lpn = lpn.expect("what is programmed has an owner");
        let (now, request) = (self.now, o.request);
        let channel = self.ftl.geometry().channel_of(die).index();
        let channels = self.ftl.geometry().channels();
        let (dies, ops, stalled) = (&self.dies, &self.ops, &self.stalled);
        let queues = self.queues;
        // A policy asks for a few at most, so counting stops early.
        let others = |dies: &mut dyn Iterator<Item = &Die>| {
            let waiting = dies.flat_map(|d| d.host_operations(ops));
            waiting.filter(|o| o.request != request).take(COUNTED).count() as u32
        };
        let elsewhere = |dies: &mut dyn Iterator<Item = &Die>| {
            if queues == Queues::All {
                others(&mut dies.filter(|d| d.has_host_operations()))
            } else {
                0
            }
        };
        self.ftl.decide_level(ppn, || WriteCtx {
            now,
            lpn,
            die,
            tag,
            stored,
            waiting_die: if queues == Queues::None {
                0
            } else {
                others(&mut std::iter::once(&dies[die]))
            },
            waiting_channel: elsewhere(&mut dies.as_slice().iter().skip(channel).step_by(channels)),
            waiting_device: match queues {
                Queues::All => (elsewhere(&mut dies.as_slice().iter()) + stalled.len() as u32)
                    .min(COUNTED as u32),
                Queues::None | Queues::Die => 0,
            },
        })
    }

    /// In-place reprogramming, wordline by wordline: every page is read, unless it is a top page
    /// that is known, and the top one written.
    fn reprogram_time(&mut self, source: Source, wordlines: u64, known: u64) -> Dur {
        let top = self.ftl.geometry().shape().bits_per_cell as usize - 1;
        let level = nand::Level::Medium;
        let mut time = self.settings.timing.program(level, top) * wordlines;
        for page_type in 0..=top {
            let reads = if page_type == top { wordlines - known } else { wordlines };
            self.stats.sensed[source as usize][level as usize][page_type] += reads;
            self.stats.read_by_level[level as usize] += reads;
            time += self.settings.timing.read(level, page_type) * reads;
        }
        time
    }

    // ── Completion ──────────────────────────────────────────────────────────────────────────────

    /// A die's time has come.
    pub(crate) fn die_event(&mut self, die: DieId) {
        match self.dies[die].phase {
            Phase::Gathering => {
                self.dies[die].phase = Phase::Idle;
                self.look_for_work(die);
            }
            Phase::Sensing => self.ask_to_send(die),
            Phase::Finishing => self.finish_operation(die),
            Phase::Idle | Phase::Sensed => unreachable!("a die that waits plans nothing"),
        }
    }

    /// Gives a die the next turn on its channel; when that will be through.
    fn take_channel(&mut self, die: DieId, length: Dur) -> Time {
        self.channels[self.ftl.geometry().channel_of(die)].take(self.now, length)
    }

    /// Sensing is over: the data asks for the channel.
    fn ask_to_send(&mut self, die: DieId) {
        if self.channels[self.ftl.geometry().channel_of(die)].ask_to_send(die) {
            self.send(die);
        } else {
            self.dies[die].phase = Phase::Sensed;
            self.agenda.clear(die.index());
        }
    }

    /// A die's data goes over the channel.
    fn send(&mut self, die: DieId) {
        let Bus::Modelled { page, .. } = self.settings.timing.bus else {
            unreachable!("without a bus there is no transfer");
        };
        let mut pages = 0;
        let mut at = self.dies[die].running;
        while at != NONE {
            pages += self.ops[at].ppn.map_or(1, |ppn| self.ftl.read_pages(ppn).count);
            at = self.ops[at].next;
        }
        pages += self.dies[die].planes;
        let end = self.take_channel(die, page * u64::from(pages));
        self.dies[die].phase = Phase::Finishing;
        self.agenda.set(die.index(), end);
    }

    fn finish_operation(&mut self, die: DieId) {
        let now = self.now;
        self.dies[die].finish(now);
        if self.cells.is_some() {
            self.age_cells(die);
        }
        let Die { running: op, started, array, .. } = self.dies[die];
        let work = self.ops[op].work;
        // Other dies may act on what follows; this one must not start anything before it chooses.
        self.dies[die].phase = Phase::Gathering;
        self.dies[die].started = now;
        let next_job = match work {
            Work::Read | Work::ReadModify | Work::ReadUnmapped | Work::Write => {
                self.finish_host(die, op, started, array);
                None
            }
            Work::JobRead(id)
            | Work::JobProgram(id)
            | Work::JobErase(id, _)
            | Work::JobReprogram(id, ..) => {
                let programmed = matches!(work, Work::JobProgram(_));
                let awaited = !self.barred.is_empty() && programmed && self.is_awaited(op);
                self.ops.remove(op);
                Some((id, programmed, awaited))
            }
            Work::JobStart(_) => unreachable!("a job's start is no flash operation"),
        };
        self.dies[die].phase = Phase::Idle;
        let mut busy = false;
        if let Some((id, programmed, awaited)) = next_job {
            busy = self.step_job(die, id);
            if programmed && !self.dies[die].parked.is_empty() {
                self.unpark(die);
            }
            self.follow_up(die, busy, awaited);
        } else {
            self.start_ready(die, false);
        }
        if !busy {
            self.look_for_work(die);
        }
        // Its next command, if there is one, goes before the data that other dies have to send.
        let sent =
            matches!(work, Work::Read | Work::ReadModify | Work::ReadUnmapped | Work::JobRead(_));
        if sent && self.settings.timing.bus != Bus::Included {
            let channel = self.ftl.geometry().channel_of(die);
            if let Some(next) = self.channels[channel].next_sender() {
                self.send(next);
            }
        }
    }

    /// A job has gone on, with a flash operation or without one: whoever waited for what it did tries
    /// again. `awaited`: a read waits for the page that it has programmed.
    #[inline]
    fn follow_up(&mut self, die: DieId, busy: bool, awaited: bool) {
        if !self.barred.is_empty() && (self.ftl.take_relieved() || awaited) {
            self.hold(die, busy, Self::retry_barred);
        }
        self.start_ready(die, busy);
        if self.ftl.take_freed() && !self.stalled.is_empty() {
            self.hold(die, busy, Self::retry_stalled);
            self.start_ready(die, busy);
        }
    }

    #[inline]
    fn start_ready(&mut self, die: DieId, busy: bool) {
        if self.ftl.has_ready() {
            self.hold(die, busy, Self::start_jobs);
        }
    }

    /// An operation is done, of which the cells take note before the FTL does; and blocks that could
    /// not be read are taken out of service. What correcting errors took goes to the account of the
    /// reads; the rest of the time is then that of plain ones.
    #[inline(never)]
    fn age_cells(&mut self, die: DieId) {
        let Some(cells) = &mut self.cells else { unreachable!("there is a model of the cells") };
        let d = &mut self.dies[die];
        let mut at = d.running;
        match self.ops[at].work {
            Work::Read | Work::ReadModify | Work::ReadUnmapped | Work::JobRead(_) => {
                let more = match self.settings.timing.bus {
                    Bus::Included => Dur::ZERO,
                    Bus::Modelled { page, .. } => page * u64::from(d.planes),
                };
                let ecc = d.array - d.plain + more;
                d.array = d.plain;
                d.started += ecc;
                while at != NONE {
                    self.ops[at].spent.ecc += ecc.as_ns();
                    at = self.ops[at].next;
                }
            }
            Work::Write | Work::JobProgram(_) => {
                while at != NONE {
                    let slot = self.ops[at].ppn.expect("a program has a slot");
                    cells.programmed(slot, self.now);
                    at = self.ops[at].next;
                }
            }
            Work::JobErase(_, block) => {
                let array = self.ftl.array();
                let (erases, wear) = (array.erases()[block] + 1, array.wear_after_erase(block));
                let healed = cells.erased(block, erases, wear, self.now);
                self.ftl.set_healed(healed);
            }
            Work::JobReprogram(..) | Work::JobStart(_) => {}
        }
        while let Some(block) = cells.take_failed() {
            self.ftl.condemn(block);
        }
    }

    /// Whether a read waits for the page that a job's program has just written.
    #[cold]
    fn is_awaited(&self, program: u32) -> bool {
        let lpn = self.ops[program].ppn.and_then(|ppn| self.ftl.map().owner(ppn));
        lpn.is_some() && self.barred.iter().any(|&op| self.ops[op].lpn == lpn)
    }

    /// Does something that may queue operations, keeping a die that is about to choose from
    /// starting the first that comes.
    fn hold(&mut self, die: DieId, busy: bool, what: fn(&mut Self)) {
        if busy {
            what(self);
            return;
        }
        self.dies[die].phase = Phase::Gathering;
        self.dies[die].started = self.now;
        what(self);
        self.dies[die].phase = Phase::Idle;
    }

    /// Host operations are done.
    #[inline]
    fn finish_host(&mut self, die: DieId, op: u32, started: Time, array: Dur) {
        let now = self.now;
        let bus = ((now - started) - array).as_ns();
        let mut at = op;
        let mut programmed = false;
        while at != NONE {
            let next = self.ops[at].next;
            self.waiting[die] -= 1;
            self.waiting_total -= 1;
            let o = &mut self.ops[at];
            o.next = NONE;
            o.spent.array += array.as_ns();
            o.spent.bus += bus;
            match o.work {
                Work::Write => {
                    let (lpn, ppn, prio) = (o.lpn.expect("a page"), o.ppn.expect("a slot"), o.prio);
                    let tag = Tag { source: Source::Host, demand: Source::Host, prio };
                    let data = K::Store::stamp(lpn.as_u32(), o.seq);
                    self.ftl.program_done(lpn, ppn, data, tag, now);
                    programmed = true;
                    self.page_done(at);
                }
                Work::Read => {
                    let (lpn, ppn) = (o.lpn.expect("a page"), o.ppn.expect("a slot"));
                    let data = self.ftl.read_done(ppn);
                    assert!(
                        K::Store::is_of(data, lpn.as_u32()),
                        "the read of page {lpn} got another page's data from slot {ppn}"
                    );
                    self.page_done(at);
                }
                Work::ReadModify => {
                    let ppn = o.ppn.expect("a slot");
                    self.ftl.read_done(ppn);
                    self.modify(at);
                }
                _ => {
                    self.ftl.unmapped_read_done();
                    self.page_done(at);
                }
            }
            at = next;
        }
        if programmed && !self.dies[die].parked.is_empty() {
            self.unpark(die);
        }
    }
}

/// The job that an operation belongs to.
fn job_of(work: Work) -> Option<JobId> {
    match work {
        Work::JobStart(id)
        | Work::JobRead(id)
        | Work::JobProgram(id)
        | Work::JobErase(id, _)
        | Work::JobReprogram(id, ..) => Some(id),
        _ => None,
    }
}
