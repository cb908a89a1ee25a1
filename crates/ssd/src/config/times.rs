//! The times of a drive, from settings as written.

use super::error::{ConfigError, Kind};
use super::field::{At, ByPageType, Quantity};
use super::keys::{Bus, BusKeys, LevelKeys, LevelsKeys};
use super::resolve::{Work, keys_of, text};
use super::text::Place;
use kernel::Dur;
use nand::{Geometry, Timing};
use serde_json::{Map, Value as Json, json};
use std::fmt::Display;

/// An operation of the flash takes at most this long: more is a slip of the unit.
const OPERATION_LIMIT: Dur = Dur::secs(60);

/// Times of a read and a program, by page type.
type ReadProgram = [[Dur; 4]; 2];

/// Times, and the section as it is echoed.
pub(crate) struct Times {
    pub(crate) timing: Timing,
    pub(crate) json: Map<String, Json>,
}

impl Work<'_> {
    pub(crate) fn timing(&mut self, geometry: Option<&Geometry>) -> Option<Times> {
        let keys = keys_of(self.written.timing.as_ref());
        let erase = self.operation("timing.erase", keys.erase);
        let bus = self.bus(keys.bus, geometry);
        let mut json = Map::new();
        let times = self.array_times(keys.read, keys.program, keys.levels, geometry, &mut json);
        let ((bus, bus_json), erase, times) = (bus?, erase?, times?);
        json.insert("bus".into(), bus_json);
        json.insert("erase".into(), text(erase));
        let [read, program] = [0, 1].map(|which| times.map(|level| level[which]));
        Some(Times { timing: Timing { read, program, erase, bus }, json })
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
        let keys = match self.need("timing.bus", bus)? {
            Bus::Included => return Some((nand::Bus::Included, "included".into())),
            Bus::Modelled(keys) => *keys,
        };
        let BusKeys { rate, width_bits, command } = keys;
        let width_place = width_bits.as_ref().map(|at| at.place.clone());
        let rate = self.need("timing.bus.rate", rate);
        let command = self.operation("timing.bus.command", command);
        let width = width_bits.map_or(8, |at| at.value.get());
        if width > 64 {
            let message = "`timing.bus.width-bits` must be at most 64";
            self.fail("timing.bus.width-bits", Kind::Value, message, &width_place?, "");
            return None;
        }
        if self.log.is_broken("timing.bus.width-bits") {
            return None;
        }
        let (rate, command) = (rate?, command?);
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
        let json = json!({
            "rate": rate.to_string(),
            "width-bits": width,
            "command": command.to_string(),
        });
        Some((nand::Bus::Modelled { command, page }, json))
    }
}
