//! Whether the rate at which a run wore the drive is one that lasts.
//!
//! Years carry that rate on. So the state of the drive must be the one that the workload itself
//! leaves behind, collection must have been seen often enough for a mean, and write amplification
//! must have been level.

use crate::config::{Age, Drive};
use crate::precondition::Preconditioned;
use crate::sim::{Class, Sim, Stats, Stretch};
use ftl::{Counts, Kit};

/// Write amplifications that differ by more are not of one state.
const STEADY: f64 = 0.05;
/// Blocks that collection must have reclaimed in each half of a run. Moved pages of single victims
/// vary by a few tenths of their mean, so the mean of so many is good to one in twenty.
const ENOUGH: u64 = 16;
/// Host pages of each half from which it is worth a warning that they differ.
const PAGES: u64 = 1 << 14;

/// What a run showed of its write amplification.
pub(crate) struct Steadiness<'a> {
    drive: &'a Drive,
    state: &'a Preconditioned,
    /// How the drive was aged in fact: without pages to overwrite it was not.
    age: Age,
    whole: Stretch,
    halves: Option<[Stretch; 2]>,
    /// Bytes of pages that the host's writes took, for each byte that it wrote.
    inflation: f64,
}

/// Whether a run's rate may be carried on; if not, why.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    Steady,
    Moving(String),
    /// Too little happened to tell.
    TooLittle(String),
}

impl Verdict {
    /// `None`: it cannot be told.
    pub(crate) fn steady(&self) -> Option<bool> {
        match self {
            Self::Steady => Some(true),
            Self::Moving(_) => Some(false),
            Self::TooLittle(_) => None,
        }
    }

    pub(crate) fn why(&self) -> Option<&str> {
        match self {
            Self::Steady => None,
            Self::Moving(why) | Self::TooLittle(why) => Some(why),
        }
    }
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() <= STEADY
}

impl<'a> Steadiness<'a> {
    pub(crate) fn of<K: Kit>(
        drive: &'a Drive,
        state: &'a Preconditioned,
        counts: &Counts,
        stats: &Stats,
        sim: &Sim<K>,
    ) -> Self {
        let size = drive.geometry.page_size().get();
        let written = stats.classes[Class::Write as usize].bytes;
        Self {
            drive,
            state,
            age: if state.aged == 0 { Age::None } else { drive.precondition.age },
            whole: Stretch::of(counts),
            halves: sim.halves(),
            inflation: (counts.host_pages * size) as f64 / written as f64,
        }
    }

    /// A write amplification in pages as one in bytes, at this workload's bytes to a page: the
    /// halves of a run then lie on both sides of the whole, and other sizes of requests in one of
    /// them are not taken for another state of the drive.
    fn in_bytes(&self, waf_pages: f64) -> f64 {
        waf_pages * self.inflation
    }

    fn level(&self) -> bool {
        self.halves.is_some_and(|[a, b]| near(b.waf_pages(), a.waf_pages()))
    }

    /// Whether the run went on at the write amplification at which ageing ended.
    fn goes_on(&self) -> bool {
        self.state.steady && near(self.whole.waf_pages(), self.state.waf)
    }

    /// Whether every page of flash was written in the first half: the state before it is gone.
    fn turned_over(&self) -> bool {
        self.halves.is_some_and(|[first, _]| first.programs >= self.drive.geometry.pages() as u64)
    }

    /// The share of page writes in one pass that overwrite a page of the same pass.
    fn overwritten(&self) -> f64 {
        let (written, different) = self.state.pass;
        if written == 0 { 1.0 } else { 1.0 - different as f64 / written as f64 }
    }

    pub(crate) fn verdict(&self, seconds: f64) -> Verdict {
        use Verdict::{Moving, Steady, TooLittle};
        if self.whole.programs == 0 {
            return TooLittle("nothing was written, so nothing wears".into());
        }
        if self.whole.host_pages == 0 {
            return TooLittle("the host wrote nothing: what the drive wrote is no rate".into());
        }
        if seconds <= 0.0 {
            return TooLittle("the run took no time".into());
        }
        let [first, second] = self.halves.unwrap_or_default();
        if first.reclaimed.min(second.reclaimed) < ENOUGH {
            let ran = if self.whole.reclaimed == 0 {
                "garbage collection never ran".to_owned()
            } else {
                format!(
                    "garbage collection reclaimed {} blocks in the first half of the writes and \
                     {} in the second, too few for a mean (it takes {ENOUGH} in each)",
                    first.reclaimed, second.reclaimed
                )
            };
            return TooLittle(format!("{ran}: {}", self.more()));
        }
        // What was filled in order and never written again is still in order.
        let in_order = self.age == Age::None && self.drive.precondition.fill.is_in_order();
        if in_order || !self.turned_over() {
            let moving = match self.age {
                Age::None => Some(
                    "the drive was new, and what the run does not write stays as it was filled, \
                     not as on a drive in use (see precondition.age)"
                        .to_owned(),
                ),
                Age::Random => Some(
                    "the drive was aged by random writes, and the run was too short to bring it \
                     to the state that this workload leaves (precondition.age = \"workload\" \
                     begins there)"
                        .to_owned(),
                ),
                Age::Workload if !self.state.steady => {
                    Some("ageing stopped before write amplification was flat".to_owned())
                }
                Age::Workload if self.overwritten() < 0.5 => Some(format!(
                    "only {:.1} % of the workload's page writes overwrite a page that it wrote \
                     itself, so when pages die is not in it but in its being repeated",
                    self.overwritten() * 100.0
                )),
                Age::Workload => None,
            };
            if let Some(why) = moving {
                return Moving(why);
            }
        }
        // A trace need not be the same all along: one pass that is as those before it will do.
        if self.level() || self.age == Age::Workload && self.goes_on() {
            return Steady;
        }
        Moving(format!("write amplification was still moving: {}", self.moved([first, second])))
    }

    fn moved(&self, halves: [Stretch; 2]) -> String {
        let [first, second] = halves.map(|half| self.in_bytes(half.waf_pages()));
        format!("{first:.3} over the first half of the writes, {second:.3} over the second")
    }

    /// What makes collection run, or run longer.
    fn more(&self) -> &'static str {
        match (self.age, self.drive.precondition.age) {
            (Age::None, Age::None) => {
                "the drive was new (see precondition.age), or the run is too short"
            }
            (Age::None, _) => {
                "precondition.age found no pages to overwrite (see precondition.fill)"
            }
            _ => {
                "the run is too short for a drive of this size (more requests, or a workload \
                 file with `repeat`)"
            }
        }
    }

    pub(crate) fn warn(&self, put: &mut dyn FnMut(&str, String)) {
        if self.whole.host_pages > 0 && self.whole.reclaimed == 0 {
            put(
                "gc-never-ran",
                format!(
                    "garbage collection never ran, so write amplification and wear say nothing \
                     about the long run: {}",
                    self.more()
                ),
            );
        }
        if self.state.aged > 0 && !self.state.steady {
            let waf = match self.age {
                Age::Workload => self.in_bytes(self.state.waf),
                // It wrote whole pages.
                Age::Random | Age::None => self.state.waf,
            };
            let text = if waf > 0.0 {
                format!(
                    "ageing stopped before write amplification was flat: it was {waf:.3} over the \
                     last stretch"
                )
            } else {
                "ageing stopped before garbage collection ran".to_owned()
            };
            put("not-steady", text);
        }
        let Some(halves) = self.halves else { return };
        let goes_on = self.age == Age::Workload && self.goes_on();
        let long = halves.iter().all(|half| half.host_pages >= PAGES);
        if long && self.whole.reclaimed > 0 && !self.level() && !goes_on {
            let why = match self.age {
                Age::None => "see precondition.age",
                Age::Random => {
                    "the drive was aged by random writes; precondition.age = \"workload\" begins \
                     at this workload's own state"
                }
                Age::Workload => "the workload is not the same all along, or the run is too short",
            };
            put(
                "waf-not-steady",
                format!("write amplification was still moving: {} ({why})", self.moved(halves)),
            );
        }
    }
}
