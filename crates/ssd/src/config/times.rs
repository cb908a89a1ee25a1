//! The times of a drive, from settings as written.

use super::error::{ConfigError, Kind};
use super::field::{At, ByPageType, Quantity, Setting};
use super::keys::Reliability;
use super::keys::{
    Bus, BusKeys, BusSettings, LevelKeys, LevelsKeys, OPERATION_LIMIT, PhysicsKeys, TimingKeys,
};
use super::resolve::{Work, keys_of, place_of, text};
use super::text::Place;
use kernel::Dur;
use nand::physics::{ReadCost, STEP_VOLTS, program_us};
use nand::{Geometry, SoftReads, Timing};
use serde_json::{Map, Value as Json, json};
use std::fmt::Display;

/// Times of a read and a program, by page type.
type ReadProgram = [[Dur; 4]; 2];

/// Times, and the section as it is echoed.
pub(crate) struct Times {
    pub(crate) timing: Timing,
    pub(crate) soft_reads: SoftReads,
    pub(crate) has_levels: bool,
    pub(crate) json: Map<String, Json>,
}

impl Work<'_> {
    pub(crate) fn timing(
        &mut self,
        geometry: Option<&Geometry>,
        reliability: Option<&Reliability>,
    ) -> Option<Times> {
        let keys = keys_of(self.written.timing.as_ref());
        if let Some(physics) = keys.physics.clone() {
            return self.physics(keys, physics, geometry, reliability);
        }
        let levels = keys.levels.as_ref().map(|at| at.place.clone());
        let erase = self.operation("timing.erase", keys.erase);
        let bus = self.bus(keys.bus, geometry);
        let mut json = Map::new();
        let times = self.array_times(keys.read, keys.program, keys.levels, geometry, &mut json);
        let ((bus, bus_json), erase, times) = (bus?, erase?, times?);
        json.insert("bus".into(), bus_json);
        json.insert("erase".into(), text(erase));
        let [read, program] = [0, 1].map(|which| times.map(|level| level[which]));
        let timing = Timing { read, program, erase, bus };
        let reliability = reliability?;
        let Some(place) = &levels else {
            let soft_reads =
                SoftReads::of_plain(&timing, &reliability.cell(geometry?), &reliability.ldpc());
            return Some(Times { timing, soft_reads, has_levels: false, json });
        };
        let rising = SoftReads::of_levels(&timing);
        if rising.is_none() && reliability.model_on() {
            let message = "with the model of the cells the read times of `timing.levels` are those \
                           of 1, 3 and 7 sensings, and these fall from one level to the next";
            let label = "high must read no slower than medium, and that no slower than low";
            self.fail("timing.levels", Kind::Conflict, message, place, label);
        }
        let soft_reads = rising.unwrap_or(SoftReads { array: timing.read, planes: [[0; 4]; 3] });
        Some(Times { timing, soft_reads, has_levels: true, json })
    }

    /// Times by level from the equations of the cells.
    fn physics(
        &mut self,
        keys: TimingKeys,
        At { value: physics, place }: At<PhysicsKeys>,
        geometry: Option<&Geometry>,
        reliability: Option<&Reliability>,
    ) -> Option<Times> {
        let others = [
            keys.levels.map(|at| at.place),
            keys.read.map(|at| at.place),
            keys.program.map(|at| at.place),
        ];
        if let Some(other) = others.into_iter().flatten().next() {
            let message = "`timing.physics` excludes `timing.levels`, `timing.read` and \
                           `timing.program`";
            let error = ConfigError::new(Kind::Conflict, message)
                .at(&place, "times from the physics")
                .at(&other, "times as they are");
            self.log.fail("timing", error);
            return None;
        }
        let erase = self.operation("timing.erase", keys.erase);
        let bus_place = keys.bus.as_ref().map(|at| at.place.clone());
        let bus = self.bus(keys.bus, geometry);
        if let (Some((nand::Bus::Modelled { .. }, _)), Some(bus)) = (&bus, bus_place) {
            let message = "the times of `timing.physics` contain the transfer of bit planes";
            let error = ConfigError::new(Kind::Conflict, message)
                .at(&bus, "must be \"included\"")
                .at(&place, "");
            self.log.fail("timing.bus", error);
            return None;
        }
        let PhysicsKeys { program, steps, sense, transfer, retention } = physics;
        let steps_place = steps.as_ref().map(|at| at.place.clone());
        let program = self.operation("timing.physics.program", program);
        let sense = self.operation("timing.physics.sense", sense);
        let transfer = self.operation("timing.physics.transfer", transfer);
        let retention = self.need("timing.physics.retention", retention);
        let steps = self.need("timing.physics.steps", steps)?.0;
        if !steps.is_sorted_by(|a, b| a < b) {
            let message = format!("`timing.physics.steps` is {steps:?}, and steps must rise");
            let label = "fine steps are written at high cost, coarse ones at low";
            self.fail("timing.physics.steps", Kind::Value, message, &steps_place?, label);
            return None;
        }
        let (program, sense, transfer, retention) = (program?, sense?, transfer?, retention?);
        let (erase, (bus, bus_json), reliability) = (erase?, bus?, reliability?);
        let cell = reliability.cell(geometry?);
        let micro = |time: Dur| time.as_ns() as f64 * 1e-3;
        let cost = ReadCost {
            sense_us: micro(sense),
            transfer_us: micro(transfer),
            boundaries: (1 << cell.bits()) - 1,
        };
        let soft_reads = SoftReads::of_equation(&cost, &reliability.ldpc());
        let hours = retention.as_secs_f64() / 3600.0;
        let mut times = [[[Dur::ZERO; 4]; 2]; 3];
        for (level, step) in times.iter_mut().zip(steps) {
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
                self.fail("timing.physics.steps", Kind::Conflict, message, &steps_place?, label);
                return None;
            };
            let writes = Dur::from_secs_f64(
                program_us(micro(program) * f64::from(steps[1]), f64::from(step)) * 1e-6,
            );
            *level = [soft_reads.array[needed], [writes; 4]];
        }
        if let Some(long) = times.iter().flatten().flatten().find(|t| **t > OPERATION_LIMIT) {
            self.too_long("timing.physics", *long, &place);
            return None;
        }
        let [read, program_times] = [0, 1].map(|which| times.map(|level| level[which]));
        let timing = Timing { read, program: program_times, erase, bus };
        let mut json = Map::new();
        json.insert("bus".into(), bus_json);
        json.insert("erase".into(), text(erase));
        json.insert(
            "physics".into(),
            json!({
                "program": program.to_string(),
                "steps": steps,
                "sense": sense.to_string(),
                "transfer": transfer.to_string(),
                "retention": retention.to_string(),
            }),
        );
        Some(Times { timing, soft_reads, has_levels: true, json })
    }

    /// Read and program times of all levels.
    fn array_times(
        &mut self,
        read: Option<At<ByPageType>>,
        program: Option<At<ByPageType>>,
        levels: Option<At<LevelsKeys>>,
        geometry: Option<&Geometry>,
        json: &mut Map<String, Json>,
    ) -> Option<[ReadProgram; 3]> {
        let plain = [&read, &program].into_iter().flatten().next().map(|at| at.place.clone());
        let Some(At { value: levels, place }) = levels else {
            if plain.is_none() && self.log.is_broken("timing.levels") {
                return None;
            }
            let plain = LevelKeys { program, read };
            return self.level("timing", plain, geometry, json).map(|level| [level; 3]);
        };
        if let Some(plain) = plain {
            let message =
                "`timing.levels` and `timing.read` or `timing.program` exclude each other";
            let error = ConfigError::new(Kind::Conflict, message)
                .at(&place, "times by cost level")
                .at(&plain, "the same time for every level");
            self.log.fail("timing", error);
            return None;
        }
        let mut echo = Map::new();
        let all = [("high", levels.high), ("medium", levels.medium), ("low", levels.low)];
        let all = all.map(|(name, keys)| {
            let path = format!("timing.levels.{name}");
            let keys = self.need(&path, keys)?;
            let mut own = Map::new();
            let times = self.level(&path, keys, geometry, &mut own);
            echo.insert(name.to_owned(), own.into());
            times
        });
        json.insert("levels".into(), echo.into());
        let [high, medium, low] = all;
        Some([high?, medium?, low?])
    }

    /// Read and program times of the level at `path`.
    fn level(
        &mut self,
        path: &str,
        keys: LevelKeys,
        geometry: Option<&Geometry>,
        echo: &mut Map<String, Json>,
    ) -> Option<ReadProgram> {
        let read = self.page_times(path, "read", keys.read, geometry, echo);
        let program = self.page_times(path, "program", keys.program, geometry, echo);
        Some([read?, program?])
    }

    /// One time for each page type.
    fn page_times(
        &mut self,
        section: &str,
        key: &str,
        times: Option<At<ByPageType>>,
        geometry: Option<&Geometry>,
        echo: &mut Map<String, Json>,
    ) -> Option<[Dur; 4]> {
        if let Some(At { value, place }) = &times
            && let Some(long) = value.0.iter().find(|t| **t > OPERATION_LIMIT)
        {
            self.too_long(&format!("{section}.{key}"), *long, place);
            return None;
        }
        self.for_each_type(section, key, times, geometry, echo)
    }

    /// One value for each page type.
    pub(crate) fn for_each_type<T: Quantity + Copy + PartialEq + Display>(
        &mut self,
        section: &str,
        key: &str,
        values: Option<At<ByPageType<T>>>,
        geometry: Option<&Geometry>,
        echo: &mut Map<String, Json>,
    ) -> Option<[T; 4]> {
        let path = &format!("{section}.{key}");
        let place = values.as_ref().map(|at| at.place.clone());
        let values = self.need(path, values)?.0;
        let types = geometry?.shape().bits_per_cell as usize;
        if values.len() != 1 && values.len() != types {
            let cell = if types == 1 { "1 page type" } else { &format!("{types} page types") };
            let message = format!(
                "`{path}` has {} {}, and the cells have {cell} (`geometry.bits-per-cell`)",
                values.len(),
                T::MANY,
            );
            self.fail(path, Kind::Value, message, &place?, "give one for all, or one for each");
            return None;
        }
        let all: [T; 4] = std::array::from_fn(|i| values[i.min(values.len() - 1)]);
        let same = all[..types].iter().all(|t| *t == all[0]);
        let written = if same {
            text(all[0])
        } else {
            all[..types].iter().map(|t| text(*t)).collect::<Vec<_>>().into()
        };
        echo.insert(key.to_owned(), written);
        Some(all)
    }

    /// A time of the flash, within reason.
    fn operation(&mut self, path: &str, time: Option<At<Dur>>) -> Option<Dur> {
        let place = time.as_ref().map(|at| at.place.clone());
        let time = self.need(path, time)?;
        if time > OPERATION_LIMIT {
            self.too_long(path, time, &place?);
            return None;
        }
        Some(time)
    }

    fn too_long(&mut self, path: &str, time: Dur, place: &Place) {
        let message = format!("`{path}` is {time}, longer than any flash takes");
        self.fail(path, Kind::Value, message, place, "at most a minute");
    }

    fn bus(
        &mut self,
        bus: Option<At<Bus>>,
        geometry: Option<&Geometry>,
    ) -> Option<(nand::Bus, Json)> {
        let bus_place = place_of(bus.as_ref());
        let keys = match self.need("timing.bus", bus)? {
            Bus::Included => return Some((nand::Bus::Included, "included".into())),
            Bus::Modelled(keys) => At { value: *keys, place: bus_place? },
        };
        let bus = self.take(Some(&keys), "timing.bus")?;
        let BusSettings { rate, width_bits: width, command } = bus;
        let bits = u128::from(geometry?.page_size().get()) * 8;
        let per_second = u128::from(rate.per_second()) * u128::from(width);
        let page = (bits * 1_000_000_000 + per_second / 2) / per_second;
        let page = Dur::ns(u64::try_from(page).unwrap_or(u64::MAX));
        if page > OPERATION_LIMIT {
            let at = self.written.timing.as_ref().map(|t| t.place.clone())?;
            let message = format!("a page takes {page} on this bus, longer than any flash takes");
            self.fail("timing.bus.rate", Kind::Value, message, &at, "at most a minute");
            return None;
        }
        let json = BusKeys::emit(&bus).unwrap_or_default();
        Some((nand::Bus::Modelled { command, page }, json))
    }
}
