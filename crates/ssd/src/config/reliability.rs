//! Endurance and the model of the cells, from settings as written.

use super::drive::{Model, Reliability};
use super::error::{ConfigError, Kind};
use super::field::At;
use super::keys::{Limits, ReliabilityKeys};
use super::resolve::{Work, keys_of, place_of, written};
use kernel::{Bytes, Dur};
use nand::Geometry;
use nand::physics::Ldpc;

/// The least and the most data in a codeword.
const CODEWORD: (Bytes, Bytes) = (Bytes::new(64), Bytes::kib(64));
/// The least and the greatest code rate.
const CODE_RATE: (f64, f64) = (0.5, 1.0);
/// The least and the greatest promise of uncorrectable errors.
const UBER: (f64, f64) = (1e-30, 1e-3);
/// Times up to which the equations of the cells are asked: beyond, nothing is known.
const LONGEST: Dur = Dur::secs(100 * 365 * 86_400);

impl Work<'_> {
    pub(crate) fn reliability(&mut self, geometry: Option<&Geometry>) -> Option<Reliability> {
        let keys: ReliabilityKeys = keys_of(self.written.reliability.as_ref());
        let model = self.need("reliability.model", keys.model);
        let endurance_place = place_of(keys.endurance.as_ref());
        let endurance = self.need("reliability.endurance", keys.endurance);
        let recovery = self.need("reliability.recovery", keys.recovery);
        let ldpc = self.ldpc(keys.correctable);
        let codeword = self.within("codeword", keys.codeword, CODEWORD);
        let code_rate = self.within("code-rate", keys.code_rate, CODE_RATE);
        let uber = self.within("uber", keys.uber, UBER);
        let read_start = self.need("reliability.read-start", keys.read_start);
        let program_speed = self.need("reliability.program-speed", keys.program_speed);
        let uncorrectable = self.need("reliability.uncorrectable", keys.uncorrectable);
        let cycles_place = place_of(keys.initial_cycles.as_ref());
        let initial_cycles = self.need("reliability.initial-cycles", keys.initial_cycles);
        let up_to = (Dur::ZERO, LONGEST);
        let initial_rest = self.within("initial-rest", keys.initial_rest, up_to);
        let initial_retention = self.within("initial-retention", keys.initial_retention, up_to);
        let target = self.within("target", keys.target, (Dur::secs(86_400), LONGEST));
        if let (Some(cycles), Some(endurance)) = (initial_cycles, endurance)
            && cycles >= endurance.get()
        {
            let message = format!(
                "`reliability.initial-cycles` is {cycles}, and blocks endure {endurance}: the \
                 drive would be worn out before the run"
            );
            let error = ConfigError::new(Kind::Conflict, message)
                .at_some(written(cycles_place.as_ref()), "cycles before the run")
                .at_some(written(endurance_place.as_ref()), "cycles that a block endures");
            self.log.fail("reliability.initial-cycles", error);
        }
        let page = geometry.map(Geometry::page_size);
        Some(Reliability {
            model_on: model? == Model::On,
            endurance: endurance?.get(),
            recovery: recovery?,
            ldpc: ldpc?,
            codeword: codeword?.min(page.unwrap_or(CODEWORD.1)),
            code_rate: code_rate?,
            uber: uber?,
            read_start: read_start?,
            program_speed: program_speed?,
            uncorrectable: uncorrectable?,
            initial_cycles: initial_cycles?,
            initial_rest: initial_rest?,
            initial_retention: initial_retention?,
            target: target?,
        })
    }

    /// What the code corrects.
    fn ldpc(&mut self, limits: Option<At<Limits>>) -> Option<Ldpc> {
        let place = place_of(limits.as_ref());
        let Limits(limits) = self.need("reliability.correctable", limits)?;
        let ldpc = Ldpc::new(Ldpc::DEFAULT.all_sensings(), limits);
        if ldpc.is_none() {
            let message = format!("`reliability.correctable` is {limits:?}");
            let label = "three numbers that rise, above 0 and below 0.5";
            self.fail("reliability.correctable", Kind::Value, message, &place?, label);
        }
        ldpc
    }

    /// A setting of the section within a range.
    fn within<T: PartialOrd + Copy + std::fmt::Display>(
        &mut self,
        key: &str,
        value: Option<At<T>>,
        (least, most): (T, T),
    ) -> Option<T> {
        let path = format!("reliability.{key}");
        let place = place_of(value.as_ref());
        let value = self.need(&path, value)?;
        if value < least || value > most {
            let message = format!("`{path}` is {value}");
            let label = format!("{least} to {most}");
            self.fail(&path, Kind::Value, message, &place?, &label);
            return None;
        }
        Some(value)
    }
}
