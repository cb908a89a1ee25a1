//! Commands and answers of a running drive beside its data: a line of JSON each way.

use crate::core::Core;
use crate::listen::SocketStream;
use serde_json::{Map, Value, json};
use ssd::kernel::Histogram;
use ssd::sim::Class;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

/// The schema of answers.
pub(crate) const SCHEMA: &str = "floatgate.live/1";
/// The greatest length of a line.
const LONGEST: usize = 4096;
/// Spare below this share of the initial spare, in percent, is a warning.
const SPARE_THRESHOLD: u64 = 10;

/// The command.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum ControlRequest {
    Status,
    Smart,
    /// Reads that touch a range fail from now on.
    Fault {
        offset: u64,
        bytes: u64,
    },
    /// None fail any more.
    Heal,
    PowerCut,
}

impl ControlRequest {
    pub(crate) fn read(line: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(line).map_err(|e| format!("no JSON: {e}"))?;
        let number = |key: &str| {
            let n = value[key].as_u64();
            n.ok_or_else(|| format!("`{key}` is to be a number of bytes"))
        };
        match value["do"].as_str() {
            Some("status") => Ok(Self::Status),
            Some("smart") => Ok(Self::Smart),
            Some("fault") => Ok(Self::Fault { offset: number("offset")?, bytes: number("bytes")? }),
            Some("heal") => Ok(Self::Heal),
            Some("power-cut") => Ok(Self::PowerCut),
            _ => Err("`do` is to be one of status, smart, fault, heal, power-cut".into()),
        }
    }
}

/// A connection to the control socket.
pub(crate) struct Line {
    pub(crate) stream: SocketStream,
    input: Vec<u8>,
    out: Vec<u8>,
    over: bool,
}

impl Line {
    pub(crate) fn new(stream: SocketStream) -> Self {
        Self { stream, input: Vec::new(), out: Vec::new(), over: false }
    }

    /// Whether a whole line has already come, so that no wait is needed.
    pub(crate) fn is_ready(&self) -> bool {
        self.input.contains(&b'\n')
    }

    /// The next complete line.
    pub(crate) fn hear(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.input.iter().position(|&b| b == b'\n') {
                let rest = self.input.split_off(end + 1);
                return Some(std::mem::replace(&mut self.input, rest));
            }
            if self.input.len() > LONGEST {
                self.over = true;
                return None;
            }
            let mut piece = [0; 512];
            match self.stream.read(&mut piece) {
                Ok(0) => {
                    self.over = true;
                    return None;
                }
                Ok(n) => self.input.extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    self.over = e.kind() != ErrorKind::WouldBlock;
                    return None;
                }
            }
        }
    }

    pub(crate) fn say(&mut self, answer: &Value) {
        self.out.extend(answer.to_string().bytes());
        self.out.push(b'\n');
    }

    pub(crate) fn unsent(&self) -> bool {
        !self.out.is_empty()
    }

    pub(crate) fn send(&mut self) {
        while !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(n) if n > 0 => drop(self.out.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                _ => {
                    self.over = true;
                    return;
                }
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }
}

fn latency(histogram: &Histogram) -> Value {
    let p = histogram.percentiles();
    json!({ "mean": p.mean, "p50": p.p50, "p99": p.p99, "p99_9": p.p99_9, "max": p.max })
}

/// The status of the drive. Everything counts from the start of the server.
pub(crate) fn status(core: &Core, wall: Duration) -> Value {
    let (sim, drive) = (core.session().sim(), core.session().drive());
    let (stats, standing) = (sim.stats(), core.session().standing());
    let written = stats.classes[Class::Write].bytes;
    let programmed = standing.programs.1 * standing.page_bytes;
    let waf = (written > 0).then(|| programmed as f64 / written as f64);
    let class = |class: Class| {
        let c = &stats.classes[class];
        let what =
            json!({ "requests": c.requests, "bytes": c.bytes, "latency_ns": latency(&c.latency) });
        (class.name().to_owned(), what)
    };
    let host: Map<String, Value> = Class::ALL.into_iter().map(class).collect();
    let (min, mean, max) = standing.erases;
    json!({
        "schema": SCHEMA,
        "drive": drive.name,
        "state": if core.is_worn_out() { "worn-out" } else { "serving" },
        "now_ns": sim.now().as_ns(),
        "wall_seconds": wall.as_secs_f64(),
        "inside": sim.inside(),
        "inside_ns": standing.inside.as_ns() as f64,
        "host": host,
        "waf": waf,
        "erases": { "min": min, "mean": mean, "max": max },
        "endurance": drive.reliability.endurance,
        "die_busy_ns": u64::try_from(standing.die_busy.as_ns()).unwrap_or(u64::MAX),
        "dies": standing.dies,
        "free_blocks": standing.free_blocks,
        "unsafe_bytes": core.versions.waiting(),
        "power_cuts": core.health.power_cuts,
        "media_errors": core.health.media_errors,
        "host_full": core.health.host_full,
    })
}

/// The page on a drive's health, under the names that nvme-cli prints as JSON.
pub(crate) fn smart(core: &Core) -> Value {
    let (sim, drive) = (core.session().sim(), core.session().drive());
    let (stats, standing) = (sim.stats(), core.session().standing());
    let class = |class: Class| &stats.classes[class];
    // Thousands of units of 512 bytes, rounded up.
    let units = |bytes: u64| bytes.div_ceil(512_000);
    let used = match drive.reliability.endurance {
        0 => 0.0,
        endurance => 100.0 * standing.wear / f64::from(endurance),
    };
    let uncorrectable = sim.uncorrectable_reads();
    let spare = (100.0 * (1.0 - standing.spare_lost)).floor() as u64;
    // Bit 0: spare is below its threshold; bit 3: the media only read.
    let warning = u64::from(spare < SPARE_THRESHOLD) | u64::from(core.is_worn_out()) << 3;
    json!({
        "critical_warning": warning,
        "avail_spare": spare,
        "spare_thresh": SPARE_THRESHOLD,
        "percent_used": (used as u64).min(255),
        "data_units_read": units(class(Class::Read).bytes),
        "data_units_written": units(class(Class::Write).bytes),
        "host_read_commands": class(Class::Read).requests,
        "host_write_commands": class(Class::Write).requests,
        "power_cycles": 1 + core.health.power_cuts,
        "power_on_hours": sim.now().as_ns() / 3_600_000_000_000,
        "unsafe_shutdowns": core.health.power_cuts,
        "media_errors": core.health.media_errors + uncorrectable,
        "num_err_log_entries": core.health.media_errors + uncorrectable,
        "warning_temp_time": 0,
        "critical_comp_time": 0,
    })
}
