//! Whether the rate at which a run wore the drive will last.
//!
//! Years extrapolate that rate. So three conditions must hold. The state of the drive must be the
//! one that the workload itself produces. Collection must have been seen often enough for a mean.
//! Write amplification must have been level.

use super::sections::warnings::{Warn, codes};
use crate::config::{Age, Drive};
use crate::precondition::Preconditioned;
use crate::sim::{Class, Sim, Stats, Stretch};
use ftl::{Counts, PolicyTypes};
use nand::Source;
use workload::{About, Pattern};

/// Write amplifications that differ by more than this are not of one state.
const STEADY: f64 = 0.05;
/// Blocks that collection must have reclaimed in each half of a run. Moved pages of single victims
/// vary by a few tenths of their mean, so the mean over this number is accurate to one in twenty.
const ENOUGH: u64 = 16;
/// How often each plane must have collected in each half, so that its first time does not count for
/// much.
const BOUTS: u64 = 4;
/// From this many host pages in each half on, a difference between the halves is worth a warning.
const PAGES: u64 = 1 << 14;

/// The write amplification that a run showed.
pub(crate) struct Steadiness<'a> {
    drive: &'a Drive,
    state: &'a Preconditioned,
    /// The age that the drive has in fact. Without pages to overwrite it was not aged.
    age: Age,
    whole: Stretch,
    halves: Option<[Stretch; 2]>,
    /// Bytes of pages that the host's writes took, for each byte that it wrote; 1 where it wrote nothing.
    inflation: f64,
    /// Pages programmed for each that the host wrote, without those that collection moves.
    padded: f64,
    remedy: Remedy,
}

/// How a user gives more evidence.
struct Remedy {
    /// The requests of a generator; `None`: it is a record of requests, which can be repeated.
    requests: Option<u64>,
    /// The number of times that it is repeated so far.
    repeated: u64,
}

impl Remedy {
    fn of(about: &About, requests: u64) -> Self {
        let generated = about.stand_in.is_some() || Pattern::from_name(&about.format).is_some();
        let said = about.reading.as_deref().unwrap_or_default();
        let repeat = said.split(' ').find_map(|word| word.strip_prefix("repeat="));
        Self {
            requests: generated.then_some(requests),
            repeated: repeat.and_then(|n| n.parse().ok()).unwrap_or(1),
        }
    }

    /// The option that makes the run longer by a factor.
    fn option(&self, times: f64) -> String {
        match self.requests {
            Some(n) if self.repeated == 1 => {
                format!("`--set workload.requests={}`", rounded_up(n as f64 * times))
            }
            _ => format!("`--repeat {}`", rounded_up(self.repeated as f64 * times)),
        }
    }
}

/// To two digits.
fn rounded_up(n: f64) -> u64 {
    let unit = 10_f64.powf((n.log10().floor() - 1.0).max(0.0));
    ((n / unit - 1e-9).ceil() * unit) as u64
}

/// Pages that random writes program for each host page, on a drive of `physical` pages that is full
/// of `logical` ones and reclaims its oldest block. A policy that chooses a block with fewer valid
/// pages has less to move.
fn random_waf(physical: f64, logical: f64) -> f64 {
    // Of the pages written a whole round ago, e^-(host writes per page) are still valid.
    let round = (physical / logical).max(1.0 + 1e-3);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let valid = f64::midpoint(low, high);
        if f64::exp(-(1.0 - valid) * round) > valid {
            low = valid;
        } else {
            high = valid;
        }
    }
    1.0 / (1.0 - low)
}

/// Idle collection acts as if this many times `background-stop` blocks of each plane were absent.
/// On small and large sets of hot pages the measured number was smaller.
const EARLY: u32 = 4;
/// It never costs more than this.
const IDLE_MOST: f64 = 1.75;

/// Other workloads may leave more valid pages in victims than random writes do.
const BEYOND_RANDOM: f64 = 1.25;

/// Whether a run's rate may be extrapolated; if not, why.
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
    pub(crate) fn of<K: PolicyTypes>(
        drive: &'a Drive,
        state: &'a Preconditioned,
        counts: &Counts,
        stats: &Stats,
        about: &About,
        sim: &Sim<K>,
    ) -> Self {
        let size = drive.geometry.page_size().get();
        let written = stats.classes[Class::Write].bytes;
        let pages = counts.host_pages as f64;
        let load = drive.years.as_ref().and_then(|years| years.load);
        Self {
            drive,
            state,
            age: if state.aged == 0 { Age::None } else { drive.precondition.age },
            whole: Stretch::of(counts),
            halves: sim.halves(),
            inflation: if written == 0 {
                1.0
            } else {
                (counts.host_pages * size) as f64 / written as f64
            },
            padded: (pages + counts.padding[Source::Host] as f64) / pages,
            remedy: Remedy::of(about, load.map_or(stats.generated, |load| load.requests)),
        }
    }

    /// The bounds of write amplification in the long run, as ageing and the run showed; `None` if
    /// nothing was written.
    pub(crate) fn range(&self) -> Option<[f64; 2]> {
        if self.whole.host_pages == 0 {
            return None;
        }
        let [mut low, mut high] = self.by_ageing().unwrap_or([1.0, self.most()]);
        let mut widen = |waf: f64| (low, high) = (low.min(waf), high.max(waf));
        if self.hardly_overwrites() {
            // Pages may become invalid in any order, and among other data.
            widen(self.most());
        }
        low *= self.padded * (1.0 - STEADY);
        high = (high * self.in_idle_time()).min(self.most().max(high));
        high *= self.padded * (1.0 + STEADY);
        let halves = self.halves.unwrap_or_default();
        // A steady measurement in time is evidence, too.
        if self.collected() {
            for waf in halves.map(|half| half.waf_pages()) {
                low = low.min(waf * (1.0 - STEADY));
                high = high.max(waf * (1.0 + STEADY));
            }
        }
        // No drive programs less than the host writes.
        Some([low.max(self.padded), high].map(|waf| self.in_bytes(waf)))
    }

    /// Whether each half of the run has the mean of several collections of each plane. Planes that
    /// are written in turn collect at the same time.
    pub(crate) fn collected(&self) -> bool {
        let bouts = ENOUGH.max(BOUTS * self.drive.geometry.planes() as u64);
        self.halves.is_some_and(|halves| halves.iter().all(|half| half.reclaimed >= bouts))
    }

    /// The same from ageing by the workload, in pages.
    fn by_ageing(&self) -> Option<[f64; 2]> {
        let course = self.state.course;
        if self.age != Age::Workload || !course.is_known() {
            return None;
        }
        let [low, high] = course.last;
        if self.state.steady {
            return Some([low, high]);
        }
        // Each third is nearer to the end than the one before. If the distance shrinks by a
        // constant ratio, that ratio gives the end. Twice that distance is considered possible.
        let [first, middle, last] = course.thirds;
        let (before, now) = (middle - first, last - middle);
        let most = self.most().max(high);
        let ratio = now / before;
        let end = if ratio > 0.0 && ratio < 1.0 {
            last + 2.0 * now * ratio / (1.0 - ratio)
        } else if ratio >= 1.0 {
            if now < 0.0 { 1.0 } else { most }
        } else {
            last + now
        };
        let end = end.clamp(1.0, most);
        Some([low.min(end), high.max(end)])
    }

    /// The most that a workload programs for each page that is written, in pages.
    fn most(&self) -> f64 {
        let seen = self.state.waf.max(self.whole.waf_pages());
        (self.random_without(0) * BEYOND_RANDOM).max(seen)
    }

    /// Pages that random writes over the whole drive program for each page, if `blocks` more blocks
    /// of each plane are kept free.
    fn random_without(&self, blocks: u32) -> f64 {
        let geometry = &self.drive.geometry;
        // Blocks that are kept free or open in each plane.
        let apart = f64::from(self.drive.ftl.gc.stop + 2 + blocks) * geometry.sets() as f64;
        let apart = apart * f64::from(geometry.data_slots_per_superblock());
        let physical = geometry.data_slots() as f64 - apart;
        let with_parity = geometry.pages() as f64 / geometry.data_slots() as f64;
        random_waf(physical, f64::from(self.drive.logical_pages)) * with_parity
    }

    /// The factor by which programs may increase if blocks are collected in idle time: as soon as
    /// they are full, and before their pages are invalid. Ageing has no time.
    fn in_idle_time(&self) -> f64 {
        let blocks = EARLY * self.drive.ftl.gc.background_stop;
        (self.random_without(blocks) / self.random_without(0)).min(IDLE_MOST)
    }

    /// The factor by which a longer run would bring the drive to a state of its own and reclaim
    /// enough.
    fn times(&self) -> f64 {
        let turns = 2.2 * self.drive.geometry.pages() as f64 / self.whole.programs as f64;
        let blocks = 3.0 * ENOUGH as f64 / self.whole.reclaimed.max(1) as f64;
        turns.max(if self.whole.reclaimed > 0 { blocks } else { 0.0 }).max(2.0)
    }

    /// Converts write amplification in pages to bytes, with this workload's bytes per page. The
    /// halves of a run then lie on both sides of the whole. Other request sizes in one half do not
    /// look like another state of the drive.
    fn in_bytes(&self, waf_pages: f64) -> f64 {
        waf_pages * self.inflation
    }

    fn level(&self) -> bool {
        self.halves.is_some_and(|[a, b]| near(b.waf_pages(), a.waf_pages()))
    }

    /// Whether the run continued at the write amplification at which ageing ended.
    fn goes_on(&self) -> bool {
        self.state.steady && near(self.whole.waf_pages(), self.state.waf)
    }

    /// Whether every page of flash was written in the first half, so that nothing is left of the
    /// state before.
    fn turned_over(&self) -> bool {
        self.halves.is_some_and(|[first, _]| first.programs >= self.drive.geometry.pages() as u64)
    }

    /// The share of page writes in one pass that overwrite a page of the same pass.
    fn overwritten(&self) -> f64 {
        let (written, different) = self.state.pass;
        if written == 0 { 1.0 } else { 1.0 - different as f64 / written as f64 }
    }

    /// Whether most pages that the workload writes become invalid only when it is repeated.
    fn hardly_overwrites(&self) -> bool {
        self.age == Age::Workload && self.overwritten() < 0.5
    }

    /// The same as a reason.
    fn hardly_overwritten(&self) -> String {
        format!(
            "only {:.1} % of the workload's page writes overwrite a page of its own, so \
             most pages die only by repetition (take more of it, or, if it does repeat, {})",
            self.overwritten() * 100.0,
            self.remedy.option(2.0)
        )
    }

    pub(crate) fn verdict(&self, seconds: f64) -> Verdict {
        use Verdict::{Moving, Steady, TooLittle};
        if self.whole.programs == 0 {
            return TooLittle("nothing was written, so nothing wears".into());
        }
        if self.whole.host_pages == 0 {
            return TooLittle(
                "the host wrote nothing, so the writes of the drive have no rate".into(),
            );
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
            let besides =
                self.hardly_overwrites().then(|| format!("; {}", self.hardly_overwritten()));
            return TooLittle(format!("{ran}: {}{}", self.more(), besides.unwrap_or_default()));
        }
        // Data that was filled in order and never written again is still in order.
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
                Age::Workload if !self.state.steady => Some(format!(
                    "ageing stopped before write amplification was flat ({} is enough)",
                    self.remedy.option(2.0 * self.times())
                )),
                Age::Workload if self.hardly_overwrites() => Some(self.hardly_overwritten()),
                Age::Workload => None,
            };
            if let Some(why) = moving {
                return Moving(why);
            }
        }
        // A trace may vary over its length: one pass that equals those before it is enough.
        if self.level() || self.age == Age::Workload && self.goes_on() {
            return Steady;
        }
        let mut why =
            format!("write amplification was still moving: {}", self.moved([first, second]));
        if self.drive.years.is_some() {
            why += &format!(" ({} is enough)", self.remedy.option(self.times()));
        }
        Moving(why)
    }

    fn moved(&self, halves: [Stretch; 2]) -> String {
        let [first, second] = halves.map(|half| self.in_bytes(half.waf_pages()));
        format!("{first:.3} over the first half of the writes, {second:.3} over the second")
    }

    /// The changes that make collection run, or run longer.
    fn more(&self) -> String {
        match (self.age, self.drive.precondition.age) {
            (Age::None, Age::None) => {
                "the drive was new (see precondition.age), or the run is too short".into()
            }
            (Age::None, _) => {
                "precondition.age found no pages to overwrite (see precondition.fill)".into()
            }
            _ => format!(
                "the run is too short for a drive of this size ({} is enough)",
                self.remedy.option(self.times())
            ),
        }
    }

    pub(super) fn warn(&self, put: Warn<'_>) {
        if self.whole.host_pages > 0 && self.whole.reclaimed == 0 {
            put(
                codes::GC_NEVER_RAN,
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
            put(codes::NOT_STEADY, text);
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
                codes::WAF_NOT_STEADY,
                format!("write amplification was still moving: {} ({why})", self.moved(halves)),
            );
        }
    }
}
