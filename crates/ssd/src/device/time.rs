//! The time of a command: the array time of reads, programs, erases and reprogramming, by level,
//! page type, wear and errors, and the pages that cross the channel.

use super::Device;
use super::cells::{Attempts, Sensed, Target};
use crate::config::{Drive, ProgramSpeed};
use crate::ops::{NONE, Owner, PageOp};
use kernel::{Dur, Idx, Time};
use nand::physics::program_time_factor;
use nand::{
    BlockStates, Command, Each, ErrorModel, FlashPages, Level, Mode, ModeSpec, Operation,
    PageRange, Ppn, Route, Slots, Source, Timing, UnitSizes, Units, Verb,
};

/// The times of a mode. Those of full density need no second look-up.
#[inline]
fn times_of<'a>(full: &'a Timing, modes: &'a Each<Mode, ModeSpec>, mode: Mode) -> &'a Timing {
    if mode == Mode::Full { full } else { &modes[mode].timing }
}

impl Device {
    /// The same as [`Device::command`] for one page that is one mapping unit: most commands of most
    /// drives. `None`: the command is of another kind.
    #[inline(always)] // every command comes by
    pub(crate) fn plain_command(&mut self, op: u32) -> Option<Command> {
        let PageOp { operation, next, .. } = &self.ops[op];
        if !self.plain || *next != NONE || operation.mode != Mode::Full {
            return None;
        }
        let &Operation { verb, tag, level, .. } = operation;
        let (slot, source) = (operation.slot()?, tag.source);
        let page_type = self.geometry.page_type(self.geometry.split(slot).1);
        match verb {
            Verb::Read if self.cells.is_none() => {
                self.stats.read_by_level[level] += 1;
                self.stats.sensed[source][level][page_type] += 1;
                let time = self.timing.read(level, page_type);
                Some(Command { pages_out: 1, ..Command::new(Verb::Read, source, time) })
            }
            Verb::Program => {
                self.stats.program_by_level[level] += 1;
                let time = self.page_time(page_type, level, source, 1);
                Some(Command { pages_in: 1, ..Command::new(Verb::Program, source, time) })
            }
            _ => None,
        }
    }

    /// The command for an operation, and those chained to it, that starts now.
    pub(crate) fn command(&mut self, states: &BlockStates, op: u32, now: Time) -> Command {
        let Operation { verb, slots, known, tag, .. } = self.ops[op].operation;
        let source = tag.source;
        match verb {
            Verb::Read if self.cells.is_some() && self.asks_cells(op) => {
                self.soft_read(op, source, now)
            }
            Verb::Read => self.read(op, source, now),
            Verb::Program => self.program(states, op, source),
            Verb::Erase => {
                // The operation has the mode that follows; the one until now decides.
                let block = slots.map(|slots| self.geometry.block_of(slots.first));
                let mode = block.map_or(Mode::Full, |block| states.mode(block));
                let erase = times_of(&self.timing, &self.modes, mode).erase;
                Command::new(verb, source, erase)
            }
            Verb::Reprogram => {
                let wordlines = slots.map_or(0, Slots::count);
                let time = self.reprogram_time(source, wordlines.into(), known.into());
                Command::new(verb, source, time)
            }
        }
    }

    /// Whether the cells, if they are modelled, decide how long an operation takes. They do for a
    /// read whose data leave the die.
    pub(super) fn asks_cells(&self, op: u32) -> bool {
        let Operation { verb, route, .. } = self.ops[op].operation;
        verb == Verb::Read && route != Route::Copyback
    }

    /// The pages that reading a slot of a block in a mode senses.
    #[inline]
    fn read_pages(&self, slot: Ppn, mode: Mode) -> PageRange {
        let slot = self.geometry.split(slot).1;
        if mode == Mode::Full {
            return PageRange::new(self.geometry.page_of(slot), 1);
        }
        self.layouts.read(mode, slot)
    }

    /// Reading a chain of slots: planes sense together. Data that stay in the die cross no channel.
    #[inline(never)]
    fn read(&mut self, op: u32, source: Source, now: Time) -> Command {
        let (mut longest, mut out) = (Dur::ZERO, 0);
        let UnitSizes { per_page, across, .. } = self.geometry.units();
        let mut at = op;
        while at != NONE {
            let Operation { slots, mode, level, .. } = self.ops[at].operation;
            let asked = Asked::by(self, at);
            let (units, (planes, whole)) = (asked.units(), asked.planes());
            self.stats.read_by_level[level] += u64::from(planes);
            let pages = slots.map(|slots| self.read_pages(slots.first, mode));
            let timing = times_of(&self.timing, &self.modes, mode);
            let single = mode == Mode::Slc;
            let sensed = &mut self.stats.sensed[source][level];
            let mut time = Dur::ZERO;
            let mut sense = |page_type: usize| {
                let sensed = if single {
                    &mut self.stats.single.sensed[source]
                } else {
                    &mut sensed[page_type]
                };
                *sensed += u64::from(planes);
                self.stats.unsent[source] +=
                    Units::new(u64::from(planes * per_page - units * across));
                time += if whole {
                    timing.read(level, page_type)
                } else {
                    timing.read_part(level, page_type)
                };
                out += units;
            };
            match pages {
                Some(pages) => {
                    pages.iter().for_each(|page| sense(self.geometry.type_of_page(page)));
                }
                None => sense(0),
            }
            longest = longest.max(time);
            at = self.ops[at].next;
        }
        if self.ops[op].operation.route == Route::Copyback {
            self.stats.unsent[source] += Units::new(out.into());
            out = 0;
            self.keep_errors(op, now);
        }
        Command { pages_out: out, ..Command::new(Verb::Read, source, longest) }
    }

    /// A page is read and stays in the die: its errors are not corrected.
    #[cold]
    fn keep_errors(&mut self, op: u32, now: Time) {
        let Operation { slots, mode, level, .. } = self.ops[op].operation;
        let slot = slots.expect("a page that stays in the die has a place").first;
        let page = self.read_pages(slot, mode).iter().next().unwrap_or(0);
        if let Some(cells) = &mut self.cells {
            let (block, page_type) =
                (self.geometry.block_of(slot), self.geometry.type_of_page(page));
            let guarded = self.modes[mode].errors == ErrorModel::Guarded;
            let target = Target { slot, block, page_type, level, guarded, units: 1 };
            self.copied_rber[self.geometry.die_of(block).index()] = cells.sense(&target, now);
        }
    }

    /// A read for which errors decide how finely pages are sensed. It takes as long as its slowest
    /// page.
    #[inline(never)]
    fn soft_read(&mut self, op: u32, source: Source, now: Time) -> Command {
        let mut begun = false;
        let (mut plain, mut longest, mut extra, mut out) = (Dur::ZERO, Dur::ZERO, 0, 0);
        let UnitSizes { per_page, planes: of_block, .. } = self.geometry.units();
        let mut at = op;
        while at != NONE {
            let PageOp { owner, modify, operation: Operation { slots, mode, level, .. }, .. } =
                self.ops[at];
            let asked = Asked::by(self, at);
            let pages = slots.map(|slots| self.read_pages(slots.first, mode));
            let Some(cells) = &mut self.cells else { unreachable!("the cells are modelled") };
            let unsent = &mut self.stats.unsent[source];
            let attempts = &mut self.stats.attempts[source];
            self.stats.read_by_level[level] += 1;
            let sensed = if let (Some(slots), Some(pages)) = (slots, pages) {
                let slot = slots.first;
                let block = self.geometry.block_of(slot);
                if !std::mem::replace(&mut begun, true) {
                    cells.begin(self.geometry.die_of(block), op);
                }
                let guarded = self.modes[mode].errors == ErrorModel::Guarded;
                let failed = cells.counts().uncorrectable[source];
                let mut sensed = Sensed::default();
                for page in pages.iter() {
                    let page_type = self.geometry.type_of_page(page);
                    let mut planes = Sensed::default();
                    for units in (0..of_block).map(|plane| asked.of_plane(plane)) {
                        let target = Target { slot, block, page_type, level, guarded, units };
                        if units > 0 {
                            let read = cells.read(&target, source, now, attempts);
                            *unsent += Units::new(u64::from((per_page - units) * read.attempts));
                            planes = planes.beside(read);
                        }
                    }
                    sensed = sensed.then(planes);
                    out += asked.units();
                }
                if let Some(unread) = &mut self.unread
                    && cells.counts().uncorrectable[source] > failed
                    && matches!(owner, Owner::Host(_))
                    && !modify
                {
                    unread.insert(at);
                }
                sensed
            } else {
                // An empty page has no errors.
                attempts[0][0] += 1;
                *unsent += Units::new(u64::from(per_page - asked.units()));
                out += asked.units();
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
    pub(super) fn count_attempts(&mut self, op: u32, all: &[Attempts]) {
        let per_page = self.geometry.units().per_page;
        let mut at = op;
        while at != NONE {
            let PageOp { operation: Operation { slots, tag, level, .. }, next, .. } = self.ops[at];
            self.stats.read_by_level[level] += 1;
            if slots.is_none() {
                let source = tag.source;
                self.stats.attempts[source][0][0] += 1;
                let rest = per_page - Asked::by(self, at).units();
                self.stats.unsent[source] += Units::new(rest.into());
            }
            at = next;
        }
        for &Attempts { source, steps: (first, last), page_type, units, .. } in all {
            for step in first..=last {
                self.stats.attempts[source][usize::from(step)][usize::from(page_type)] += 1;
                self.stats.unsent[source] += Units::new(u64::from(per_page - units));
            }
        }
    }

    /// Programming a chain of slots. Data that stay in the die cross no channel; data of another
    /// page in a register leaves it first.
    #[inline(never)]
    fn program(&mut self, states: &BlockStates, op: u32, source: Source) -> Command {
        let (mut longest, mut pages_in) = (Dur::ZERO, 0);
        let unit = self.geometry.slots_per_program();
        let mut at = op;
        while at != NONE {
            let Operation { slots, mode, level, .. } = self.ops[at].operation;
            let slot = slots.expect("a program has a slot").first;
            let UnitSizes { pages, .. } = self.geometry.units();
            self.stats.program_by_level[level] += self.geometry.flash_pages_per_program().get();
            let (mut time, before, pages) = if mode == Mode::Full {
                // The pages of one wordline: the cells pass through the levels of all of them.
                let first = self.geometry.page_of(self.geometry.split(slot).1);
                let mut time = Dur::ZERO;
                for page in first..first + pages {
                    let page_type = self.geometry.type_of_page(page);
                    time += self.program_time(page_type, mode, level, source);
                }
                (time, Dur::ZERO, unit)
            } else if mode == Mode::Slc {
                // As many wordlines one after the other.
                let planes = self.geometry.flash_pages_per_page().get();
                self.stats.single.programmed[source] += planes * u64::from(pages);
                let each = self.modes[mode].timing.program(level, 0);
                (each * u64::from(pages), Dur::ZERO, unit)
            } else {
                self.slot_time(slot, mode, level, source)
            };
            if let Some(factors) = &self.by_wear {
                let cycles = states.wear()[self.geometry.block_of(slot)] / 1_000;
                let factor = factors[(cycles as usize).min(factors.len() - 1)];
                time = Dur::ns((time.as_ns() as f64 * factor).round() as u64);
            }
            pages_in += pages;
            longest = longest.max(time + before);
            at = self.ops[at].next;
        }
        let Operation { route, slots, .. } = self.ops[op].operation;
        match route {
            Route::Channel => {}
            Route::DataOut => pages_in += unit,
            Route::Copyback => {
                pages_in = 0;
                self.stats.stayed[source] += FlashPages::new(1);
                if let (Some(cells), Some(slots)) = (&mut self.cells, slots) {
                    let die = self.geometry.die_of_slot(slots.first);
                    cells.inherit(slots.first, unit, self.copied_rber[die.index()]);
                }
            }
        }
        Command { pages_in, ..Command::new(Verb::Program, source, longest) }
    }

    /// Array time of programming a page of a type, in planes that work together.
    #[inline]
    fn program_time(&mut self, page_type: usize, mode: Mode, level: Level, source: Source) -> Dur {
        let planes = self.geometry.flash_pages_per_page().get();
        if mode == Mode::Full {
            return self.page_time(page_type, level, source, planes);
        }
        self.stats.programmed[source][level][page_type] += planes;
        self.modes[mode].timing.program(level, page_type)
    }

    /// The same, in `planes` planes.
    #[inline(always)]
    fn page_time(&mut self, page_type: usize, level: Level, source: Source, planes: u64) -> Dur {
        self.stats.programmed[source][level][page_type] += planes;
        self.timing.program(level, page_type)
    }

    /// Array time of programming a slot that may have several pages, the time of reading these
    /// pages before, and their number. A second generation is written over cells whose values must
    /// be known, because some of them must stay as they are.
    #[cold]
    fn slot_time(
        &mut self,
        slot: Ppn,
        mode: Mode,
        level: Level,
        source: Source,
    ) -> (Dur, Dur, u32) {
        let pages = self.layouts.program(mode, self.geometry.split(slot).1);
        let (mut time, mut before) = (Dur::ZERO, Dur::ZERO);
        for page in pages.iter() {
            let page_type = self.geometry.type_of_page(page);
            time += self.program_time(page_type, mode, level, source);
            if mode == Mode::Wom2 {
                self.stats.read_by_level[level] += 1;
                self.stats.sensed[source][level][page_type] += 1;
                before += self.modes[mode].timing.read(level, page_type);
            }
        }
        (time, before, pages.count * self.geometry.slots_per_page())
    }

    /// In-place reprogramming, wordline by wordline. Every page is read, except a top page whose
    /// data is known; then the top page is written.
    fn reprogram_time(&mut self, source: Source, wordlines: u64, known: u64) -> Dur {
        let top = self.geometry.shape().bits_per_cell as usize - 1;
        let level = Level::MediumCost;
        let mut time = self.timing.program(level, top) * wordlines;
        for page_type in 0..=top {
            let reads = if page_type == top { wordlines - known } else { wordlines };
            let planes = self.geometry.flash_pages_per_page().get();
            self.stats.sensed[source][level][page_type] += reads * planes;
            self.stats.read_by_level[level] += reads * planes;
            time += self.timing.read(level, page_type) * reads;
        }
        time
    }
}

/// The mapping units that a read and its group request from a page in each plane of its block.
struct Asked {
    /// Bit 0: the first unit of the page in the first plane; the planes follow one another.
    bits: u64,
    units: UnitSizes,
}

impl Asked {
    #[inline]
    fn by(device: &Device, op: u32) -> Self {
        let (geometry, ops) = (&device.geometry, &device.ops);
        let of = |op: u32| {
            // An unmapped page is read alone, like the first unit of a page.
            ops[op].operation.slots.map_or(1, |slots| {
                slots.bits() << (geometry.split(slots.first).1 % geometry.slots_per_page())
            })
        };
        let bits = ops.group(op).fold(0, |bits, op| bits | of(op));
        Self { bits, units: geometry.units() }
    }

    /// All units.
    #[inline]
    fn units(&self) -> u32 {
        self.bits.count_ones()
    }

    /// The units of one plane. A unit with pages in several planes counts in each.
    #[inline]
    fn of_plane(&self, plane: u32) -> u32 {
        let UnitSizes { per_page, across, .. } = self.units;
        let page = u64::MAX >> (u64::BITS - per_page);
        (self.bits >> (plane / across * per_page) & page).count_ones()
    }

    /// The number of planes in which something is read, and whether a whole page is read in any.
    fn planes(&self) -> (u32, bool) {
        let asked = (0..self.units.planes).map(|plane| self.of_plane(plane));
        asked.fold((0, false), |(planes, whole), n| {
            (planes + u32::from(n > 0), whole || n == self.units.per_page)
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
