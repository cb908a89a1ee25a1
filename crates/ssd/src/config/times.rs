//! The times of a drive, from settings as written.

use super::drive::{Cache, ChannelFirst};
use super::error::ConfigErrorKind;
use super::field::Word;
use super::keys::{BusField, BusSettings, OPERATION_LIMIT, Physics, Reliability, TimingSettings};
use super::resolve::Work;
use kernel::Dur;
use nand::physics::{ReadCost, STEP_VOLTS, program_us};
use nand::{Each, Geometry, Level, SoftReads, Timing};

/// Times by level and page type.
type Times = Each<Level, [Dur; 4]>;

/// Values by page type from one for all, or one for each.
pub(crate) fn spread<T: Copy>(values: &[T]) -> [T; 4] {
    std::array::from_fn(|i| values[i.min(values.len() - 1)])
}

impl Work<'_> {
    /// The times, and the time of a read with more sensings.
    pub(crate) fn timing(&self, reliability: Option<&Reliability>) -> Option<(Timing, SoftReads)> {
        let given = |path| self.tree.at(path).is_some() || self.log.is_broken(path);
        if !given("timing.levels") && !given("timing.physics") {
            for path in ["timing.read", "timing.program"] {
                if self.tree.at(path).is_none() {
                    self.log.miss(path);
                }
            }
        }
        if let (Some(_), Some(Some(_))) =
            (self.tree.at("timing.physics"), self.get::<BusField>("timing.bus"))
        {
            let message = "the times of `timing.physics` contain the transfer of bit planes";
            let marks = [("timing.bus", "must be \"included\""), ("timing.physics", "")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
        let (keys, geometry) = (self.take::<TimingSettings>("timing")?, &self.geometry?);
        let reliability = reliability?;
        if !self.log.is_sound("timing") {
            return None;
        }
        let bus = match &keys.bus {
            Some(bus) => self.bus(bus, geometry)?,
            None => nand::Bus::Included,
        };
        self.partial_reads(geometry);
        self.cache(&keys);
        self.copyback();
        let cell = reliability.cell(geometry);
        if let Some(physics) = &keys.physics {
            let (read, program, soft_reads) = self.physics(physics, &cell, reliability)?;
            let timing = Timing { read, read_partial: None, program, erase: keys.erase, bus };
            return Some((timing, soft_reads));
        }
        let times = match (&keys.levels, &keys.read, &keys.program) {
            (Some(all), ..) => Each::from_fn(|level| {
                let times = match level {
                    Level::HighCost => &all.high,
                    Level::MediumCost => &all.medium,
                    Level::LowCost => &all.low,
                };
                [&times.read, &times.program]
            }),
            (None, Some(read), Some(program)) => Each::filled([read, program]),
            _ => return None,
        };
        let [read, program] = [0, 1].map(|which| times.map(|of| spread(of[which])));
        let read_partial = keys.read_partial.as_ref().map(|times| spread(times));
        let timing = Timing { read, read_partial, program, erase: keys.erase, bus };
        if keys.levels.is_none() {
            let soft_reads = SoftReads::of_plain(&timing, &cell, &reliability.ldpc());
            return Some((timing, soft_reads));
        }
        let rising = SoftReads::of_levels(&timing);
        if rising.is_none() && reliability.model_on() {
            let message = "with the model of the cells the read times of `timing.levels` are those \
                           of 1, 3 and 7 sensings, and these fall from one level to the next";
            let label = "high must read no slower than medium, and that no slower than low";
            self.fail(ConfigErrorKind::Conflict, message, &[("timing.levels", label)]);
        }
        let array = || Level::ALL.map(|level| timing.read[level]);
        let soft_reads =
            rising.unwrap_or_else(|| SoftReads { array: array(), planes: [[0; 4]; 3] });
        Some((timing, soft_reads))
    }

    /// The requirements of moves inside a plane.
    pub(crate) fn copyback(&self) {
        let path = "ftl.copyback";
        if self.tree.at(path).is_none() {
            return;
        }
        let Some(geometry) = &self.geometry else { return };
        let units = geometry.units();
        if let Some(None) = self.get::<BusField>("timing.bus") {
            let message = format!("`{path}` spares the channel, and the array times contain it");
            let label = "must be { rate, command }";
            self.fail(ConfigErrorKind::Conflict, message, &[(path, ""), ("timing.bus", label)]);
        } else if units.pages * units.planes > 1 {
            let message = format!(
                "`{path}` moves one page, and a command programs {}",
                units.pages * units.planes
            );
            let marks = [
                (path, ""),
                ("pages.program", "must be \"page\""),
                ("ftl.program-planes", "must be 1"),
            ];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
    }

    /// The requirements of a cache register.
    fn cache(&self, keys: &TimingSettings) {
        let (path, Some(cache)) = ("timing.cache", keys.cache) else { return };
        let data_first = |bus: BusSettings| bus.first == ChannelFirst::Data;
        if keys.bus.is_none_or(data_first) {
            let message = format!(
                "`{path}` needs a channel that is modelled, on which commands go before data: a die \
                 gets its next command before it sends what it has sensed"
            );
            let label = "{ rate, command }, and `first` \"commands\"";
            self.fail(ConfigErrorKind::Conflict, message, &[(path, ""), ("timing.bus", label)]);
        } else if cache != Cache::Reads && keys.suspend.is_some_and(|s| s.operations.programs()) {
            let message = format!(
                "`{path}` \"{}\" keeps the data of the next program in the register that reads need \
                 while a program is interrupted",
                cache.said(),
            );
            let marks =
                [(path, "\"reads\""), ("timing.suspend.operations", "\"erases\" or \"none\"")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
    }

    /// Whether anything could use a time for parts of pages.
    fn partial_reads(&self, geometry: &Geometry) {
        let path = "timing.read-partial";
        if self.tree.at(path).is_none() {
            return;
        }
        let conflict =
            ["timing.levels", "timing.physics"].into_iter().find(|p| self.tree.at(p).is_some());
        let model = self.get::<super::drive::Model>("reliability.model");
        if let Some(other) = conflict {
            let message = format!("`{path}` is one time, and `{other}` gives one for each level");
            self.fail(ConfigErrorKind::Conflict, message, &[(path, ""), (other, "")]);
        } else if model == Some(super::drive::Model::On) {
            let message = format!(
                "`{path}` is the time of a plain read, and with `reliability.model` \"on\" errors \
                 decide how long a read takes"
            );
            self.fail(ConfigErrorKind::Conflict, message, &[(path, ""), ("reliability.model", "")]);
        } else if geometry.units().per_page == 1 {
            let message = format!(
                "`{path}` is for reads of a part of a page, and `ftl.mapping-unit` is a whole page or more"
            );
            self.fail(ConfigErrorKind::Conflict, message, &[(path, ""), ("ftl.mapping-unit", "")]);
        }
    }

    /// Times of reads and programs by level from the equations of the cells.
    fn physics(
        &self,
        physics: &Physics,
        cell: &nand::physics::Cell,
        reliability: &Reliability,
    ) -> Option<(Times, Times, SoftReads)> {
        let Physics { steps, retention, .. } = *physics;
        if !steps.is_sorted_by(|a, b| a < b) {
            let message = format!("`timing.physics.steps` is {steps:?}, and steps must rise");
            let label = "fine steps are written at high cost, coarse ones at low";
            self.fail(ConfigErrorKind::Value, message, &[("timing.physics.steps", label)]);
            return None;
        }
        let micro = |time: Dur| time.as_ns() as f64 * 1e-3;
        let cost = ReadCost {
            sense_us: micro(physics.sense),
            transfer_us: micro(physics.transfer),
            boundaries: (1 << cell.bits()) - 1,
        };
        let soft_reads = SoftReads::of_equation(&cost, &reliability.ldpc());
        let hours = retention.as_secs_f64() / 3600.0;
        let (mut read, mut program) = (Times::default(), Times::default());
        for (level, step) in Level::ALL.into_iter().zip(steps) {
            let volts = STEP_VOLTS * f64::from(step) / f64::from(steps[1]);
            let rber = cell.worst_rber(volts, cell.rated_cycles(), hours);
            let Some(needed) = reliability.ldpc().step_for(rber) else {
                let message = format!(
                    "data written with step {step} at {} cycles have {rber:.2e} wrong bits after \
                     {retention}, more than any sensing corrects",
                    reliability.endurance
                );
                let label =
                    "finer steps, shorter `retention`, or more in `reliability.correctable`";
                self.fail(ConfigErrorKind::Conflict, message, &[("timing.physics.steps", label)]);
                return None;
            };
            let usual = micro(physics.program) * f64::from(steps[1]);
            let write = Dur::from_secs_f64(program_us(usual, f64::from(step)) * 1e-6);
            (read[level], program[level]) = (soft_reads.array[needed], [write; 4]);
        }
        let all = read.values().chain(program.values()).flatten();
        let long = all.copied().find(|time| *time > OPERATION_LIMIT);
        if let Some(long) = long {
            let message = format!("`timing.physics` is {long}, longer than any flash takes");
            self.fail(ConfigErrorKind::Value, message, &[("timing.physics", "at most a minute")]);
            return None;
        }
        Some((read, program, soft_reads))
    }

    /// The bus, with the time of a page.
    fn bus(&self, bus: &BusSettings, geometry: &Geometry) -> Option<nand::Bus> {
        let BusSettings { rate, width_bits, command, .. } = *bus;
        let bits = u128::from(geometry.page_size().get()) * 8;
        let per_second = u128::from(rate.per_second()) * u128::from(width_bits);
        let page = (bits * 1_000_000_000 + per_second / 2) / per_second;
        let page = Dur::ns(u64::try_from(page).unwrap_or(u64::MAX));
        if page > OPERATION_LIMIT {
            let message = format!("a page takes {page} on this bus, longer than any flash takes");
            self.fail(ConfigErrorKind::Value, message, &[("timing.bus.rate", "at most a minute")]);
            return None;
        }
        Some(nand::Bus::Modelled { command, page })
    }
}
