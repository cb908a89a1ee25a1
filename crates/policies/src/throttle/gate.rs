//! A throttle in an event simulation: periods pass as events come, programs of every source are
//! counted as they end, and each write is told when it may enter.

use super::Paced;
use super::machine::{Machine, Settings};
use super::regulator::Regulator;
use ftl::{Interests, Life, Lpn, Throttle, Watch};
use kernel::{Dur, Time, TimeSum};
use nand::{Level, Ppn, Tag};
use std::collections::VecDeque;

/// A write that was told to enter later, and its expected programs.
#[derive(Copy, Clone, Debug)]
struct Expected {
    entry: Time,
    bytes: f64,
    pages: u64,
}

/// A throttle at the host's side of a drive.
///
/// A period's grant is charged with the expected programs of a write: its pages, times the programs
/// of a page of the host so far. At the end of the period the actual programs of all sources count,
/// so an error of the expectation lasts one period. A write enters whole if anything is left; later
/// periods lack its excess.
pub struct Gate {
    settings: Settings,
    machine: Machine,
    period: u64,
    page_bytes: u64,
    pushes_back: bool,
    /// The current period, and its end.
    now: u64,
    ends: Time,
    /// The expected programs of writes that entered in this period.
    charged: f64,
    /// Writes that have not entered, in order.
    outside: VecDeque<Expected>,
    expected: f64,
    /// When the last write enters: writes pass in order.
    open: Time,
    /// The time for which writes were held back in all, with those at the same time counted once.
    /// The host runs late by this time.
    shift: Dur,
    delay: TimeSum,
    /// Programmed, and host pages that entered, in this period and in all.
    programmed: u64,
    pages: u64,
    programmed_total: u64,
    pages_total: u64,
    writes: u64,
    delayed: u64,
    stopped: u64,
    stop: TimeSum,
}

impl Gate {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            machine: Machine::Free,
            period: settings.period.as_ns(),
            page_bytes: 1,
            pushes_back: true,
            now: 0,
            ends: Time::from_ns(settings.period.as_ns()),
            charged: 0.0,
            outside: VecDeque::new(),
            expected: 0.0,
            open: Time::ZERO,
            shift: Dur::ZERO,
            delay: TimeSum::ZERO,
            programmed: 0,
            pages: 0,
            programmed_total: 0,
            pages_total: 0,
            writes: 0,
            delayed: 0,
            stopped: 0,
            stop: TimeSum::ZERO,
            settings,
        }
    }

    /// An instant as it would be without delays, in seconds.
    fn undelayed(&self, at: Time) -> f64 {
        let shift = if self.pushes_back { self.shift } else { Dur::ZERO };
        at.since(Time::ZERO + shift).as_secs_f64()
    }

    /// Lets the periods up to `now` end.
    #[inline]
    fn advance(&mut self, now: Time) {
        if now >= self.ends {
            self.end_periods(now);
        }
    }

    #[cold]
    fn end_periods(&mut self, now: Time) {
        self.machine.spend(self.programmed as f64, self.pages as f64);
        (self.programmed, self.pages) = (0, 0);
        let periods = (now - self.ends).as_ns() / self.period + 1;
        let end = |period: u64| Time::from_ns((period + 1).saturating_mul(self.period));
        self.machine.next(self.undelayed(self.ends));
        let last = end(self.now + periods - 1);
        self.machine.skip(periods - 1, self.undelayed(last));
        self.now += periods;
        self.ends = end(self.now);
        self.charged = 0.0;
        while let Some(first) = self.outside.front().filter(|w| w.entry < self.ends) {
            // Writes of an earlier period are being programmed, and count as programmed.
            if first.entry >= last {
                self.charged += first.bytes;
            }
            self.expected -= first.bytes;
            // Pages count once they enter: in an open loop many wait outside, and would make a page
            // seem to program less than it does.
            self.pages += first.pages;
            self.pages_total += first.pages;
            self.outside.pop_front();
        }
        if self.outside.is_empty() {
            self.expected = 0.0;
        }
    }

    /// The expected programs of a host page, in bytes.
    fn bytes_per_page(&self) -> f64 {
        if self.pages_total == 0 || self.programmed_total == 0 {
            return self.page_bytes as f64;
        }
        self.programmed_total as f64 / self.pages_total as f64
    }
}

impl Paced for Gate {
    fn settings(&self) -> Option<&Settings> {
        Some(&self.settings)
    }
}

impl Watch for Gate {
    fn interests(&self) -> Interests {
        Interests::PROGRAM
    }

    fn on_program(&mut self, _: Lpn, _: Ppn, _: Level, _: Tag, now: Time) {
        self.advance(now);
        self.programmed += self.page_bytes;
        self.programmed_total += self.page_bytes;
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let mut all = vec![
            ("writes", self.writes as f64),
            ("delayed_writes", self.delayed as f64),
            ("stopped_writes", self.stopped as f64),
            ("delay_seconds", self.delay.as_secs_f64()),
            ("stop_seconds", self.stop.as_secs_f64()),
            ("programmed_bytes", self.programmed_total as f64),
        ];
        if let Machine::Fixed(m) = &self.machine {
            all.push(("period_bytes", m.per_period()));
        }
        if let Some(m) = self.machine.regulator() {
            let (tally, epoch) = (m.tally(), m.epoch());
            all.extend([
                ("capacity_bytes", m.total_bytes()),
                ("epochs", tally.epochs as f64),
                ("epoch_seconds", epoch.length as f64 * self.settings.period.as_secs_f64()),
                ("selections", tally.selections as f64),
                ("predictions", tally.predictions as f64),
                ("predictions_held", tally.hits as f64),
                ("borrowing_epochs", tally.borrowed as f64),
                ("page_delay_seconds", epoch.delay),
            ]);
        }
        all
    }
}

impl Throttle for Gate {
    fn learn_life(&mut self, life: &Life) {
        self.machine = self.settings.machine(life);
        self.page_bytes = life.page_bytes;
        self.pushes_back = life.pushes_back;
    }

    fn admit(&mut self, now: Time, bytes: u64) -> Time {
        self.advance(now);
        let pages = bytes.div_ceil(self.page_bytes);
        let expected = pages as f64 * self.bytes_per_page();
        self.writes += 1;
        self.machine.demand(self.undelayed(now), expected);

        let grant = self.machine.grant();
        // The machine does not know yet of the programs of this period: the charges represent them.
        let left = grant.bytes - self.charged - self.expected;
        let from = now.max(self.open);
        // Nothing is held back beyond the target.
        let last = Time::ZERO + self.settings.target;
        let later =
            |at: Time, ns: u64| Time::from_ns(at.as_ns().saturating_add(ns)).min(last.max(from));
        let mut entry = from;
        if left <= 0.0 {
            let wait = self.machine.periods_until_more(left) - 1;
            let begin = later(self.ends, wait.saturating_mul(self.period));
            if begin > entry {
                self.stopped += 1;
                self.stop += begin - entry;
                entry = begin;
            }
        }
        entry = later(entry, Dur::from_secs_f64(grant.delay).as_ns().saturating_mul(pages));
        self.open = entry;
        if entry >= self.ends {
            self.outside.push_back(Expected { entry, bytes: expected, pages });
            self.expected += expected;
        } else {
            self.charged += expected;
            self.pages += pages;
            self.pages_total += pages;
        }
        if entry > now {
            self.delayed += 1;
            self.delay += entry - now;
            self.shift += entry - from;
        }
        entry
    }

    fn active(&self) -> bool {
        true
    }

    fn dram_bytes(&self) -> u64 {
        64 + self.machine.regulator().map_or(0, Regulator::dram_bytes)
    }
}
