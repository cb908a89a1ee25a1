//! What a command takes: the array time of reads, programs, erases and reprogramming, by level, page
//! type, wear and errors; and the pages that cross the channel.

use super::cells::{Attempts, Sensed, Target};
use super::{Device, NONE, Ops, Owner, PageOp, Work};
use crate::config::{Drive, ProgramSpeed};
use ftl::{Cost, Ftl, Job, JobId, Kit};
use kernel::{Dur, Idx, Time};
use nand::physics::program_time_factor;
use nand::{Command, Level, Mode, Ppn, Source, Units, Verb};

impl Device {
    /// The same as [`Device::command`] where one page that is one mapping unit is all there is to it: most
    /// commands of most drives. `None`: it is something else.
    #[inline(always)] // every command comes by
    pub(crate) fn plain_command<K: Kit>(&mut self, ftl: &Ftl<K>, op: u32) -> Option<Command> {
        if !self.plain || self.copyback {
            return None;
        }
        self.one_page(ftl, op)
    }

    /// The command for an operation, and those chained to it, that starts now. The levels of
    /// programs are decided.
    pub(crate) fn command<K: Kit>(&mut self, ftl: &Ftl<K>, op: u32, now: Time) -> Command {
        let source = source_of(ftl, self.ops[op].owner);
        if self.copyback
            && let Owner::Job(id) = self.ops[op].owner
            && let Some(command) = self.copy_inside(ftl, ftl.job(id), op, source, now)
        {
            return command;
        }
        if self.plain
            && let Some(command) = self.one_page(ftl, op)
        {
            return command;
        }
        match self.ops[op].work {
            Work::Read if self.cells.is_some() => self.soft_read(ftl, op, source, now),
            Work::Read => self.read(ftl, op, source),
            Work::Program => self.program(ftl, op, source),
            Work::Erase(_) => Command::new(Verb::Erase, source, self.timing.erase),
            Work::Reprogram(wordlines, known) => {
                let time = self.reprogram_time(source, wordlines.into(), known.into());
                Command::new(Verb::Reprogram, source, time)
            }
            Work::Turn => unreachable!("a job's turn is no flash operation"),
        }
    }

    /// The read of a move inside a plane, and every program of a job: of what stays in the die, and of what
    /// crosses the channel, with what has to come out of the register before. `None`: it is none of these.
    #[cold]
    fn copy_inside<K: Kit, D>(
        &mut self,
        ftl: &Ftl<K>,
        job: &Job<D>,
        op: u32,
        source: Source,
        now: Time,
    ) -> Option<Command> {
        let (work, slot) = (self.ops[op].work, self.ops[op].ppn?);
        let die = self.geometry.die_of_slot(slot).index();
        match work {
            Work::Read if job.stays => {
                let mut command = self.read(ftl, op, source);
                self.stats.unsent[source] += u64::from(command.pages_out);
                command.pages_out = 0;
                if let Some(cells) = &mut self.cells {
                    let block = self.geometry.block_of(slot);
                    let (level, guarded) =
                        (ftl.level_of(slot), ftl.array().mode(block) == Mode::Low);
                    let page_type =
                        self.geometry.type_of_page(ftl.read_pages(slot).iter().next().unwrap_or(0));
                    let target = Target { slot, block, page_type, level, guarded, units: 1 };
                    self.copied_rber[die] = cells.sense(&target, now);
                }
                Some(command)
            }
            Work::Program => {
                let mut command = self.program(ftl, op, source);
                if job.stays {
                    self.stats.stayed[source] += 1;
                    command.pages_in = 0;
                    if let Some(cells) = &mut self.cells {
                        cells.inherit(
                            slot,
                            self.geometry.slots_per_program(),
                            self.copied_rber[die],
                        );
                    }
                } else {
                    command.pages_in += job.comes_out;
                }
                Some(command)
            }
            _ => None,
        }
    }

    /// The command for one page that is one mapping unit, if that is all there is to it.
    #[inline(always)]
    fn one_page<K: Kit>(&mut self, ftl: &Ftl<K>, op: u32) -> Option<Command> {
        let PageOp { owner, work, ppn, next, .. } = self.ops[op];
        let slot = ppn?;
        let page_type = self.geometry.page_type(ftl.page_of(slot)?);
        if next != NONE {
            return None;
        }
        let (source, level) = (source_of(ftl, owner), ftl.level_of(slot));
        match work {
            Work::Read if self.cells.is_none() => {
                self.stats.read_by_level[level] += 1;
                self.stats.sensed[source][level][page_type] += 1;
                let time = self.timing.read(level, page_type);
                Some(Command { pages_out: 1, ..Command::new(Verb::Read, source, time) })
            }
            Work::Program => {
                self.stats.program_by_level[level] += 1;
                let time = self.page_time(page_type, level, source, 1);
                Some(Command { pages_in: 1, ..Command::new(Verb::Program, source, time) })
            }
            _ => None,
        }
    }

    /// Reading a chain of slots: planes sense together.
    #[inline(never)]
    fn read<K: Kit>(&mut self, ftl: &Ftl<K>, op: u32, source: Source) -> Command {
        let (mut longest, mut out) = (Dur::ZERO, 0);
        let per_page = self.geometry.units().per_page;
        let mut at = op;
        while at != NONE {
            let slot = self.ops[at].ppn;
            let asks = Asks::of(&self.ops, ftl, at);
            let (pages, whole) = asks.pages(ftl, per_page);
            let units = asks.units;
            let level = slot.map_or_else(|| ftl.policies.cost.initial(), |slot| ftl.level_of(slot));
            self.stats.read_by_level[level] += u64::from(pages);
            let sensed = &mut self.stats.sensed[source][level];
            let mut time = Dur::ZERO;
            let mut sense = |page_type: usize| {
                sensed[page_type] += u64::from(pages);
                self.stats.unsent[source] += u64::from(pages * per_page - units);
                time += if whole {
                    self.timing.read(level, page_type)
                } else {
                    self.timing.read_part(level, page_type)
                };
                out += units;
            };
            match slot.map(|slot| (slot, ftl.page_of(slot))) {
                Some((_, Some(page))) => sense(self.geometry.page_type(page)),
                Some((slot, None)) => {
                    let pages = ftl.read_pages(slot).iter();
                    pages.for_each(|page| sense(self.geometry.type_of_page(page)));
                }
                None => sense(0),
            }
            longest = longest.max(time);
            at = self.ops[at].next;
        }
        Command { pages_out: out, ..Command::new(Verb::Read, source, longest) }
    }

    /// The same where errors decide how finely pages are sensed: as long as the longest.
    #[inline(never)]
    fn soft_read<K: Kit>(&mut self, ftl: &Ftl<K>, op: u32, source: Source, now: Time) -> Command {
        let Some(cells) = &mut self.cells else { unreachable!("there is a model of the cells") };
        let mut begun = false;
        let (mut plain, mut longest, mut extra, mut out) = (Dur::ZERO, Dur::ZERO, 0, 0);
        let per_page = self.geometry.units().per_page;
        let mut at = op;
        while at != NONE {
            let asks = Asks::of(&self.ops, ftl, at);
            let unsent = &mut self.stats.unsent[source];
            let attempts = &mut self.stats.attempts[source];
            let sensed = if let Some(slot) = self.ops[at].ppn {
                let level = ftl.level_of(slot);
                self.stats.read_by_level[level] += 1;
                let block = self.geometry.block_of(slot);
                if !std::mem::replace(&mut begun, true) {
                    cells.begin(self.geometry.die_of(block), op);
                }
                let guarded = ftl.array().mode(block) == Mode::Low;
                let failed = cells.counts().uncorrectable[source];
                let mut sensed = Sensed::default();
                for page in ftl.read_pages(slot).iter() {
                    let page_type = self.geometry.type_of_page(page);
                    let mut planes = Sensed::default();
                    for units in (0..asks.planes).map(|plane| asks.of_plane(ftl, plane)) {
                        let target = Target { slot, block, page_type, level, guarded, units };
                        if units > 0 {
                            let read = cells.read(&target, source, now, attempts);
                            *unsent += u64::from((per_page - units) * read.attempts);
                            planes = planes.beside(read);
                        }
                    }
                    sensed = sensed.then(planes);
                    out += asks.units;
                }
                if let Some(unread) = &mut self.unread
                    && cells.counts().uncorrectable[source] > failed
                    && matches!(self.ops[at].owner, Owner::Host(_))
                    && !self.ops[at].modify
                {
                    unread.insert(at);
                }
                sensed
            } else {
                // There is nothing that could be wrong.
                self.stats.read_by_level[ftl.policies.cost.initial()] += 1;
                attempts[0][0] += 1;
                *unsent += u64::from(per_page - asks.units);
                out += asks.units;
                cells.nothing()
            };
            plain = plain.max(sensed.plain);
            longest = longest.max(sensed.array);
            extra += sensed.planes;
            at = self.ops[at].next;
        }
        let command = Command::new(Verb::Read, source, longest);
        Command { plain, pages_out: out + extra, extra_out: extra, ..command }
    }

    /// Counts the reads of a command, without asking the cells again.
    pub(super) fn count_attempts<K: Kit>(&mut self, ftl: &Ftl<K>, op: u32, all: &[Attempts]) {
        let per_page = self.geometry.units().per_page;
        let mut at = op;
        while at != NONE {
            let PageOp { owner, ppn, next, .. } = self.ops[at];
            let level = ppn.map_or_else(|| ftl.policies.cost.initial(), |slot| ftl.level_of(slot));
            self.stats.read_by_level[level] += 1;
            if ppn.is_none() {
                let source = source_of(ftl, owner);
                self.stats.attempts[source][0][0] += 1;
                self.stats.unsent[source] +=
                    u64::from(per_page - Asks::of(&self.ops, ftl, at).units);
            }
            at = next;
        }
        for &Attempts { source, steps: (first, last), page_type, units, .. } in all {
            for step in first..=last {
                self.stats.attempts[source][usize::from(step)][usize::from(page_type)] += 1;
                self.stats.unsent[source] += u64::from(per_page - units);
            }
        }
    }

    /// Programming a chain of slots.
    #[inline(never)]
    fn program<K: Kit>(&mut self, ftl: &Ftl<K>, op: u32, source: Source) -> Command {
        let (mut longest, mut pages_in) = (Dur::ZERO, 0);
        let unit = self.geometry.slots_per_program();
        let mut at = op;
        while at != NONE {
            let slot = self.ops[at].ppn.expect("a program has a slot");
            let level = ftl.level_of(slot);
            let Units { pages, planes, .. } = self.geometry.units();
            self.stats.program_by_level[level] += u64::from(pages * planes);
            let (mut time, before, pages) = match ftl.page_of(slot) {
                Some(slot) => {
                    // The pages of one wordline: the cells pass the levels of all of them.
                    let first = self.geometry.page_of(slot);
                    let mut time = Dur::ZERO;
                    for page in first..first + pages {
                        let page_type = self.geometry.type_of_page(page);
                        time += self.program_time(page_type, level, source);
                    }
                    (time, Dur::ZERO, unit)
                }
                None => self.slot_time(ftl, slot, level, source),
            };
            if let Some(factors) = &self.by_wear {
                let cycles = ftl.array().wear()[self.geometry.block_of(slot)] / 1_000;
                let factor = factors[(cycles as usize).min(factors.len() - 1)];
                time = Dur::ns((time.as_ns() as f64 * factor).round() as u64);
            }
            pages_in += pages;
            longest = longest.max(time + before);
            at = self.ops[at].next;
        }
        Command { pages_in, ..Command::new(Verb::Program, source, longest) }
    }

    /// Array time of programming a page of a type, in planes that work together.
    #[inline]
    fn program_time(&mut self, page_type: usize, level: Level, source: Source) -> Dur {
        let planes = u64::from(self.geometry.units().planes);
        self.page_time(page_type, level, source, planes)
    }

    /// The same, in so many planes.
    #[inline(always)]
    fn page_time(&mut self, page_type: usize, level: Level, source: Source, planes: u64) -> Dur {
        self.stats.programmed[source][level][page_type] += planes;
        self.timing.program(level, page_type)
    }

    /// Array time of programming a slot that may have several pages, that of reading them before,
    /// and how many there are. A second generation is written over cells that must be known: those
    /// whose value stays must stay as they are.
    #[cold]
    fn slot_time<K: Kit>(
        &mut self,
        ftl: &Ftl<K>,
        slot: Ppn,
        level: Level,
        source: Source,
    ) -> (Dur, Dur, u32) {
        let again = ftl.array().mode(self.geometry.block_of(slot)) == Mode::Wom2;
        let pages = ftl.program_pages(slot);
        let (mut time, mut before) = (Dur::ZERO, Dur::ZERO);
        for page in pages.iter() {
            let page_type = self.geometry.type_of_page(page);
            time += self.program_time(page_type, level, source);
            if again {
                self.stats.read_by_level[level] += 1;
                self.stats.sensed[source][level][page_type] += 1;
                before += self.timing.read(level, page_type);
            }
        }
        (time, before, pages.count * self.geometry.slots_per_page())
    }

    /// In-place reprogramming, wordline by wordline: every page is read, unless it is a top page
    /// that is known, and the top one written.
    fn reprogram_time(&mut self, source: Source, wordlines: u64, known: u64) -> Dur {
        let top = self.geometry.shape().bits_per_cell as usize - 1;
        let level = Level::Medium;
        let mut time = self.timing.program(level, top) * wordlines;
        for page_type in 0..=top {
            let reads = if page_type == top { wordlines - known } else { wordlines };
            let planes = u64::from(self.geometry.units().planes);
            self.stats.sensed[source][level][page_type] += reads * planes;
            self.stats.read_by_level[level] += reads * planes;
            time += self.timing.read(level, page_type) * reads;
        }
        time
    }
}

/// Who asks for an operation of this owner.
#[inline(always)]
fn source_of<K: Kit>(ftl: &Ftl<K>, owner: Owner) -> Source {
    match owner {
        Owner::Job(id) => ftl.job(id).tag.source,
        Owner::Host(_) | Owner::Buffer(_) => Source::Host,
    }
}

/// What a read asks for.
struct Asks {
    /// Mapping units, with its group.
    units: u32,
    /// The planes that it may ask, which work together; several only for a job.
    planes: u32,
    job: Option<JobId>,
}

impl Asks {
    #[inline]
    fn of<K: Kit>(ops: &Ops, ftl: &Ftl<K>, op: u32) -> Self {
        match ops[op].owner {
            Owner::Job(id) => {
                let planes = ftl.geometry().units().planes;
                Self { units: ftl.job(id).asks(), planes, job: Some(id) }
            }
            Owner::Host(_) | Owner::Buffer(_) => {
                Self { units: ops.group(op).count() as u32, planes: 1, job: None }
            }
        }
    }

    /// Mapping units of one plane.
    #[inline]
    fn of_plane<K: Kit>(&self, ftl: &Ftl<K>, plane: u32) -> u32 {
        match self.job {
            Some(id) if self.planes > 1 => ftl.job(id).asks_of(ftl.geometry(), plane),
            _ => self.units,
        }
    }

    /// How many pages it reads, and whether any as a whole.
    fn pages<K: Kit>(&self, ftl: &Ftl<K>, per_page: u32) -> (u32, bool) {
        let asked = (0..self.planes).map(|plane| self.of_plane(ftl, plane));
        asked.fold((0, false), |(pages, whole), n| {
            (pages + u32::from(n > 0), whole || n == per_page)
        })
    }
}

/// Program times by the cycles of a block, those before the run included, as shares of the fresh
/// one; `None`: they do not change.
pub(super) fn program_by_wear(drive: &Drive) -> Option<Vec<f64>> {
    if drive.reliability.program_speed == ProgramSpeed::Fresh {
        return None;
    }
    let (rated, before) = (drive.reliability.endurance, drive.reliability.initial_cycles);
    let bits = drive.geometry.shape().bits_per_cell;
    let factor = |n: u32| program_time_factor(bits, f64::from(before + n) / f64::from(rated));
    Some((0..=rated - before).map(factor).collect())
}
