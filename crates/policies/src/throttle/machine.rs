//! Any throttle as a state machine over periods, and how its settings become one.

use super::cells::RatedCells;
use super::fixed_rate::FixedRate;
use super::regulator::{Capacity, Enforcement, Grant, Regulator, Rules};
use super::windows::Difference;
use crate::params::Params;
use ftl::Life;
use kernel::Dur;
use nand::physics::Recovery;

/// A throttle's settings, before it knows the drive.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Settings {
    /// The life to reach.
    pub target: Dur,
    /// The length of a period.
    pub period: Dur,
    /// How it throttles.
    pub pace: ThrottlePace,
}

/// How a throttle works.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum ThrottlePace {
    /// A fixed rate.
    Fixed,
    /// Dynamically; `cells` says which recovery it counts on, and the rules' target and period
    /// follow from the settings.
    Dynamic {
        /// The constants of recovery.
        cells: CountedRecovery,
        /// The thresholds.
        rules: Rules,
    },
}

/// The recovery that a throttle counts on.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum CountedRecovery {
    /// None: the cycles that the flash is rated for.
    Rated,
    /// The drive's.
    Drive,
    /// This one.
    Given(Recovery),
}

impl Settings {
    /// A fixed rate.
    pub(super) fn fixed(params: &Params) -> Self {
        Self {
            target: params.dur("target"),
            period: params.dur("period"),
            pace: ThrottlePace::Fixed,
        }
    }

    /// The common part of throttles that foresee demand; they differ in the cycles that they count
    /// on.
    pub(super) fn dynamic(params: &Params, cells: CountedRecovery, capacity: Capacity) -> Self {
        let (target, period) = (params.dur("target"), params.dur("period"));
        let periods = |length: Dur| (length.as_ns() as f64 / period.as_ns() as f64).round() as u64;
        let window = periods(params.dur("window")).max(1);
        let rules = Rules {
            target: periods(target).max(1),
            period: period.as_secs_f64(),
            enforcement: match params.word("enforcement") {
                "pessimistic" => Enforcement::Pessimistic,
                _ => Enforcement::Optimistic,
            },
            capacity,
            spare: params.real("spare"),
            average: params.int("average") as usize,
            window,
            selects: params.word("epoch") == "selected",
            history: (periods(params.dur("history")) / window).clamp(2, 1 << 16) as usize,
            difference: match params.word("difference") {
                "first" => Difference::First,
                _ => Difference::Least,
            },
            miss: params.real("miss"),
            misses: params.int("misses") as u32,
            nand_pages: params.word("pages") == "nand",
        };
        Self { target, period, pace: ThrottlePace::Dynamic { cells, rules } }
    }

    /// The same settings with longer steps, if the target has more periods or windows than these.
    #[must_use]
    pub fn within(self, periods: u64, windows: u64) -> Self {
        let times = |least: f64| least.ceil().max(1.0) as u64;
        let coarser =
            times(self.target.as_ns() as f64 / self.period.as_ns() as f64 / periods as f64);
        let period = self.period * coarser;
        let ThrottlePace::Dynamic { cells, mut rules } = self.pace else {
            return Self { period, ..self };
        };
        let target = (rules.target as f64 / coarser as f64).round().max(1.0) as u64;
        let window = rules.window.div_ceil(coarser).max(target.div_ceil(windows));
        let longer = (window * coarser) as f64 / rules.window as f64;
        rules.history = ((rules.history as f64 / longer) as usize).max(2);
        rules.period *= coarser as f64;
        (rules.target, rules.window) = (target, window);
        Self { period, pace: ThrottlePace::Dynamic { cells, rules }, ..self }
    }

    /// The machine for a drive.
    pub fn machine(&self, life: &Life) -> Machine {
        let raw = life.raw_bytes as f64;
        match self.pace {
            ThrottlePace::Fixed => {
                let periods = self.target.as_ns() as f64 / self.period.as_ns() as f64;
                Machine::Fixed(FixedRate::new(raw * f64::from(life.cycles) / periods))
            }
            ThrottlePace::Dynamic { cells, rules } => {
                let of = |recovery| RatedCells::new(f64::from(life.cycles), recovery);
                let cells = match cells {
                    CountedRecovery::Rated => of(None),
                    CountedRecovery::Drive => of(Some(life.recovery)),
                    CountedRecovery::Given(recovery) => of(Some(recovery)),
                };
                let page = life.page_bytes as f64;
                Machine::Dynamic(Box::new(Regulator::new(rules, cells, raw, page)))
            }
        }
    }
}

/// A throttle as a state machine over periods.
#[derive(Clone, Debug)]
pub enum Machine {
    /// Nothing is throttled.
    Free,
    /// A fixed rate.
    Fixed(FixedRate),
    /// Dynamic throttling.
    Dynamic(Box<Regulator>),
}

impl Machine {
    /// The bytes that may be programmed in the rest of the current period.
    #[inline]
    pub fn grant(&self) -> Grant {
        match self {
            Self::Free => Grant::FREE,
            Self::Fixed(m) => m.grant(),
            Self::Dynamic(m) => m.grant(),
        }
    }

    /// Counts the programs of the current period, and the host pages that caused them.
    #[inline]
    pub fn spend(&mut self, bytes: f64, pages: f64) {
        match self {
            Self::Free => {}
            Self::Fixed(m) => m.spend(bytes),
            Self::Dynamic(m) => m.spend(bytes, pages),
        }
    }

    /// Notes demand, in bytes to be programmed, at the instant at which it would have come without
    /// delays, in seconds.
    #[inline]
    pub fn demand(&mut self, at: f64, bytes: f64) {
        if let Self::Dynamic(m) = self {
            m.demand(at, bytes);
        }
    }

    /// Ends the current period; `at` is the instant of its end without delays, in seconds.
    #[inline]
    pub fn next(&mut self, at: f64) {
        match self {
            Self::Free => {}
            Self::Fixed(m) => m.next(0),
            Self::Dynamic(m) => m.next(at),
        }
    }

    /// Ends the current period, to which nothing is added, and those after it: `periods` in all.
    pub fn skip(&mut self, periods: u64, at: f64) {
        match self {
            Self::Fixed(m) if periods > 0 => m.next(periods - 1),
            Self::Free | Self::Fixed(_) => {}
            Self::Dynamic(m) => m.skip(periods, at),
        }
    }

    /// Periods, after the current one, until something may be programmed again; `left` is the rest
    /// of the current one, zero or negative.
    pub fn periods_until_more(&self, left: f64) -> u64 {
        match self {
            Self::Free => 0,
            Self::Fixed(m) => m.periods_until_more(left),
            Self::Dynamic(m) => m.periods_until_more(left),
        }
    }

    /// The same, to be changed.
    pub fn regulator_mut(&mut self) -> Option<&mut Regulator> {
        if let Self::Dynamic(m) = self { Some(m) } else { None }
    }

    /// The dynamic throttle, if it is one.
    pub fn regulator(&self) -> Option<&Regulator> {
        if let Self::Dynamic(m) = self { Some(m) } else { None }
    }
}
