//! Measurements of the LDPC code: from a request in JSON to counts in JSON. One caller writes the
//! requests (`python/floatgate/reproduce/studies/ldpc`), so mistakes in them are ours.

use ldpc::physics::{Cell, Ldpc, MARGIN_VOLTS, ReadCost, STEP_VOLTS, program_us};
use ldpc::{
    Channel, Code, Quantised, Reference, Rule, Schedule, Settings, Shape, Spacing, Trial, Worn,
    interval,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error::{InternalError, of_ours};

/// A year, in hours.
const YEAR: f64 = 8760.0;

/// A request, field by field.
struct Request(Value);

impl Request {
    fn parse(text: &str) -> PyResult<Self> {
        Ok(Self(serde_json::from_str(text).map_err(of_ours)?))
    }

    fn number(&self, key: &str) -> PyResult<f64> {
        let missing = || InternalError::new_err(format!("the request has no number `{key}`"));
        self.0[key].as_f64().ok_or_else(missing)
    }

    fn whole(&self, key: &str) -> PyResult<u32> {
        Ok(self.number(key)? as u32)
    }

    fn word(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    fn code(&self) -> PyResult<Code> {
        let shape = Shape {
            z: self.whole("z")?,
            data: self.whole("data")?,
            parity: self.whole("parity")?,
            weight: self.whole("weight")?,
        };
        Ok(Code::build(shape, u64::from(self.whole("code_seed")?)))
    }

    /// The channel at a raw bit error rate, after hours or after cycles, and that rate: of a plain
    /// read.
    fn channel(&self) -> PyResult<(Channel, f64)> {
        let (sensings, at) = (self.whole("sensings")?, self.number("at")?);
        let spacing = if self.word("spacing") == "free" { Spacing::Free } else { Spacing::Even };
        if self.word("model") == "boundary" {
            let design = self.0["design"].as_f64().unwrap_or(at);
            return Ok((Channel::boundary_designed(at, design, sensings, spacing), at));
        }
        let (cycles, hours) =
            if self.word("model") == "page-worn" { (at, 0.0) } else { (3000.0, at) };
        let cell = Cell::new(2, 3000.0);
        let worn = Worn { cell, page_type: 1, step_volts: STEP_VOLTS, cycles, hours };
        let rber = Channel::page(&worn, 1, spacing, 0.0).error_rate();
        let channel = if self.word("model") == "page-tracked" {
            Channel::page_tracked(&worn, sensings, spacing).0
        } else {
            Channel::page(&worn, sensings, spacing, 0.0)
        };
        Ok((channel, rber))
    }

    /// The channel that the decoder assumes: the true one, or that of the design.
    fn known(&self, channel: &Channel) -> PyResult<Channel> {
        let Some(design) = self.0["design"].as_f64() else { return Ok(channel.clone()) };
        Ok(Channel::boundary(design, self.whole("sensings")?, Spacing::Even))
    }

    fn settings(&self) -> PyResult<(Settings, Quantised)> {
        let settings = Settings {
            rounds: self.whole("rounds")?,
            sixteenths: self.whole("sixteenths")? as u8,
            largest: self.whole("largest")? as u8,
        };
        let largest = self.whole("largest_read")? as i8;
        Ok((settings, Quantised { unit: self.number("unit")?, largest }))
    }
}

/// The result of a number of frames from the first on.
pub(crate) fn frames(py: Python<'_>, request: &str, first: u64, count: u64) -> PyResult<String> {
    let request = Request::parse(request)?;
    let seed = u64::from(request.whole("seed")?);
    let (settings, quantised) = request.settings()?;
    let (code, (channel, rber)) = (request.code()?, request.channel()?);
    let known = request.known(&channel)?;
    let counts = py.detach(|| {
        let mut trial = Trial::new(&code, settings, &channel, &known, quantised);
        let (name, frames) = (request.word("name"), first..first + count);
        match request.word("decoder") {
            "sum-product" => {
                let rule = Rule::SumProduct;
                let mut plain = Reference::new(&code, rule, Schedule::Layered, settings.rounds);
                trial.run_plain(&mut plain, seed, name, frames)
            }
            _ => trial.run(seed, name, frames),
        }
    });
    Ok(json!({
        "rber": rber,
        "frames": counts.frames,
        "failed": counts.failed,
        "undetected": counts.undetected,
        "raw_errors": counts.raw_errors,
        "rounds": counts.rounds,
    })
    .to_string())
}

/// Facts of a code and a channel without reading a frame.
pub(crate) fn facts(request: &str) -> PyResult<String> {
    let request = Request::parse(request)?;
    let code = request.code()?;
    let (channel, rber) = request.channel()?;
    let (settings, quantised) = request.settings()?;
    let (four, six) = code.short_cycles();
    Ok(json!({
        "bits": code.bits(),
        "data_bits": code.data_bits(),
        "rate": code.rate(),
        "cycles": { "4": four, "6": six },
        "rounds": settings.rounds,
        "rber": rber,
        "information": channel.information(),
        "ratios": channel.ratios(),
        "table": channel.table(quantised.unit, quantised.largest),
    })
    .to_string())
}

/// The exact interval of 95 % of a share.
pub(crate) fn share(hits: u64, trials: u64) -> (f64, f64) {
    interval(hits, trials)
}

/// AGCR's levels under limits of 1, 3 and 7 sensings, by Eq. 1 and 2 and the model of its
/// cell: data of a year at the end of the rated life.
pub(crate) fn levels(limits: [f64; 3]) -> PyResult<String> {
    let ldpc = Ldpc::new([1, 3, 7], limits);
    let ldpc = ldpc.ok_or_else(|| InternalError::new_err(format!("{limits:?} do not rise")))?;
    let cell = Cell::new(2, 3000.0);
    let gamma = 600.0 * STEP_VOLTS;
    let pairs = [0.75, 1.0, 4.0 / 3.0].map(|factor| {
        let step = factor * STEP_VOLTS;
        let rber = cell.worst_rber(step, 3000.0, YEAR);
        let needed = ldpc.step_for(rber);
        let read = needed.map(|n| ReadCost::AGCR.read_us(ldpc.sensings(n)));
        json!({
            "step_volts": step,
            "write_us": program_us(gamma, step),
            "rber": rber,
            "sensings": needed.map(|n| ldpc.sensings(n)),
            "read_us": read,
        })
    });
    // The other way round: the widest step whose data each way of sensing still reads.
    let widest = [0, 1, 2].map(|n| {
        let (mut low, mut high) = (0.01, MARGIN_VOLTS);
        for _ in 0..60 {
            let step = f64::midpoint(low, high);
            let reads = cell.worst_rber(step, 3000.0, YEAR) <= limits[n];
            if reads { low = step } else { high = step }
        }
        json!({
            "sensings": ldpc.sensings(n),
            "read_us": ReadCost::AGCR.read_us(ldpc.sensings(n)),
            "step_volts": low,
            "write_us": program_us(gamma, low),
        })
    });
    let default = [0, 1, 2].map(|n| Ldpc::DEFAULT.correctable(n));
    Ok(json!({ "pairs": pairs, "widest": widest, "table": default }).to_string())
}
