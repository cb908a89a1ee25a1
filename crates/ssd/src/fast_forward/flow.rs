//! The fluid model itself.

use super::demand::Demand;
use super::ledger::{Bin, Ledger};
use crate::config::Drive;
use crate::run::life_of;
use ftl::Life;
use kernel::Dur;
use policies::throttle::{Epoch, Machine, RatedCells, Rests, Settings, ThrottleCounts};

/// The state to advance, and the target.
#[derive(Clone, Debug)]
pub struct ForwardPlan<'a> {
    /// The writes of the host.
    pub demand: &'a Demand,
    /// Bytes programmed for each byte of the host.
    pub waf: f64,
    /// The flash.
    pub life: Life,
    /// How long the flash lasts.
    pub cells: RatedCells,
    /// The throttle; `None`: nothing is throttled.
    pub throttle: Option<Settings>,
    /// The end: the life to reach. A throttle's own target should be the same.
    pub target: Dur,
    /// Bins of the series.
    pub bins: usize,
    /// Epochs of the table, at most.
    pub epochs: usize,
    /// The first period to be kept by itself, and the number of such periods.
    pub periods: (u64, usize),
}

/// A drive's plan up to the target of its throttle, or five years if it has none.
pub fn plan_of<'a>(drive: &Drive, demand: &'a Demand, waf: f64) -> ForwardPlan<'a> {
    let life = life_of(drive);
    let throttle = drive.policies.build().throttle.settings().copied();
    ForwardPlan {
        demand,
        waf,
        life,
        cells: RatedCells::of(&life),
        throttle,
        target: throttle.map_or(FIVE_YEARS, |t| t.target),
        bins: 1000,
        epochs: 1000,
        periods: (0, 0),
    }
}

/// The life that is assumed if nothing else is set.
const FIVE_YEARS: Dur = Dur::secs(5 * 365 * 86_400);

/// How it went.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// When the flash was worn out, in seconds, and the bytes that had been programmed by then. The
    /// model goes on to the target all the same, as if the drive did.
    pub worn_out: Option<(f64, f64)>,
    /// The same if each cycle counts by the rest that came before it, and the mean rest does not
    /// matter.
    pub worn_out_locally: Option<(f64, f64)>,
    /// These rests.
    pub rests: Rests,
    /// Bytes programmed up to the target.
    pub programmed: f64,
    /// Bytes that the host wrote.
    pub host_bytes: f64,
    /// The demand's own time that was served, in seconds: less than the target by all delay.
    pub served_seconds: f64,
    /// Periods computed one by one; the others had no writes.
    pub computed_periods: u64,
    /// All periods.
    pub periods: u64,
    /// Sums, series and delays.
    pub ledger: Ledger,
    /// The counts of a dynamic throttle.
    pub tally: Option<ThrottleCounts>,
    /// Its first epochs.
    pub epochs: Vec<Epoch>,
}

/// The greatest number of periods and windows of a life, which is seconds of computing. If a
/// throttle would have more, its periods or windows are longer.
const MOST_PERIODS: u64 = 400_000_000;
const MOST_WINDOWS: u64 = 4_000_000;

/// Periods between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 22;

/// The position in the demand.
struct Position {
    step: usize,
    /// The part of that step that has been served, in seconds.
    done: f64,
    /// Whole steps served.
    passed: u64,
    /// The length of a step, in seconds.
    length: f64,
}

impl Position {
    #[inline]
    fn at(&self) -> f64 {
        self.passed as f64 * self.length + self.done
    }

    #[inline]
    fn next_step(&mut self, steps: usize) {
        self.done = 0.0;
        self.passed += 1;
        self.step += 1;
        if self.step == steps {
            self.step = 0;
        }
    }
}

/// Advances a plan from a new drive to its target. `progress` gets the periods done and their
/// total; if it returns `false`, the result is `None`. Long because of its loop, which runs up to
/// 10^8 times: with its parts as functions it takes a fifth longer.
pub fn fast_forward(
    plan: &ForwardPlan<'_>,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Option<Forecast> {
    // Without a throttle nothing happens within a step of the demand.
    let throttle = plan.throttle.map(|t| t.within(MOST_PERIODS, MOST_WINDOWS));
    let period = throttle.map_or(plan.demand.step, |t| t.period.as_secs_f64());
    let periods = (plan.target.as_secs_f64() / period).round().max(1.0) as u64;
    let mut machine = throttle.map_or(Machine::Free, |t| t.machine(&plan.life));
    if let Some(regulator) = machine.regulator_mut() {
        regulator.keep_epochs(plan.epochs);
    }
    let (steps, length) = (&plan.demand.steps, plan.demand.step);
    let (first, most) = plan.periods;
    let most = most.min(periods.saturating_sub(first) as usize);
    let mut ledger = Ledger::new(periods as f64 * period, plan.bins, first, most);
    let mut wear = Wear::new(plan);
    let mut p = Position { step: 0, done: 0.0, passed: 0, length };
    let (mut now, mut computed, mut report) = (0_u64, 0_u64, PROGRESS_EVERY);
    let (mut programmed, mut host_bytes) = (0.0, 0.0);

    while now < periods {
        let quiet = steps[p.step].quiet;
        if quiet > 1 && now >= first.saturating_add(most as u64) {
            let still = f64::from(quiet) * length - p.done;
            let skipped = ((still / period) as u64).min(periods - now);
            if skipped > 0 {
                let served = p.done + skipped as f64 * period;
                let whole = (served / length) as usize;
                p.step = (p.step + whole) % steps.len();
                p.passed += whole as u64;
                p.done = (served - whole as f64 * length).max(0.0);
                now += skipped;
                machine.skip(skipped, p.at());
                continue;
            }
        }
        let grant = machine.grant();
        let (mut room, mut left) = (period, grant.bytes.max(0.0));
        let mut bin = Bin::default();
        while room > 0.0 {
            let step = &steps[p.step];
            let rest = length - p.done;
            if step.quiet > 0 {
                if rest > room {
                    p.done += room;
                    break;
                }
                room -= rest;
                p.next_step(steps.len());
                continue;
            }
            let rate = step.bytes * plan.waf;
            let slow = 1.0 + grant.delay * step.pages;
            let ends = rest * slow <= room;
            let served = if ends { rest } else { room / slow };
            if rate * served > left {
                // The capacity ends first: the rest of the period is a stop.
                let served = left / rate;
                machine.demand(p.at(), left);
                bin.programmed += left;
                bin.pages += served * step.pages;
                host_bytes += served * step.bytes;
                p.done += served;
                bin.stop = (room - served * slow).max(0.0);
                break;
            }
            machine.demand(p.at(), rate * served);
            left -= rate * served;
            bin.programmed += rate * served;
            bin.pages += served * step.pages;
            host_bytes += served * step.bytes;
            if ends {
                room -= rest * slow;
                p.next_step(steps.len());
            } else {
                p.done += served;
                break;
            }
        }
        bin.delay = bin.pages * grant.delay;
        programmed += bin.programmed;
        machine.spend(bin.programmed, bin.pages);
        ledger.period(now, now as f64 * period, grant.delay, &bin);
        now += 1;
        computed += 1;
        wear.add(bin.programmed, programmed, now as f64 * period, period);
        machine.next(p.at());
        if computed >= report {
            report += PROGRESS_EVERY;
            if !progress(now, periods) {
                return None;
            }
        }
    }
    ledger.close();
    Some(Forecast {
        worn_out: wear.out,
        worn_out_locally: wear.out_locally,
        rests: wear.rests,
        programmed,
        host_bytes,
        served_seconds: p.at(),
        computed_periods: computed,
        periods,
        ledger,
        tally: machine.regulator().map(policies::throttle::Regulator::tally),
        epochs: machine.regulator().map_or(Vec::new(), |r| r.ended_epochs().to_vec()),
    })
}

/// Whether the flash is worn out. The limit grows with time, so bytes below it stay below it until
/// more are programmed. It is solved anew only when the bytes reach it.
struct Wear {
    cells: RatedCells,
    raw_bytes: f64,
    /// The number of bytes up to which nothing can be worn out.
    safe: f64,
    out: Option<(f64, f64)>,
    rests: Rests,
    out_locally: Option<(f64, f64)>,
}

impl Wear {
    fn new(plan: &ForwardPlan<'_>) -> Self {
        let raw_bytes = plan.life.raw_bytes as f64;
        Self {
            cells: plan.cells,
            raw_bytes,
            safe: raw_bytes * plan.cells.limit(0.0),
            out: None,
            rests: Rests::new(plan.cells),
            out_locally: None,
        }
    }

    /// A period ended at `seconds`. It programmed `bytes`, and all periods so far `programmed`.
    #[inline]
    fn add(&mut self, bytes: f64, programmed: f64, seconds: f64, period: f64) {
        if programmed >= self.safe {
            self.look(programmed, seconds);
        }
        let (from, to) = ((seconds - period) / 3600.0, seconds / 3600.0);
        let _ = self.rests.add(bytes / self.raw_bytes, from, to);
        if self.rests.used() > 1.0 + 1e-9 && self.out_locally.is_none() {
            self.out_locally = Some((seconds, programmed));
        }
    }

    #[cold]
    fn look(&mut self, programmed: f64, seconds: f64) {
        self.safe = self.raw_bytes * self.cells.limit(seconds / 3600.0);
        // A life that ends exactly at the limit, except for rounding, has reached its target.
        if programmed > self.safe * (1.0 + 1e-9) {
            self.out = Some((seconds, programmed));
            self.safe = f64::INFINITY;
        }
    }
}
