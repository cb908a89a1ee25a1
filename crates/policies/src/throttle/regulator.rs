//! Dynamic throttling as a state machine over periods (READY 3). It predicts the demand of the next
//! epoch, sets the delay of its writes, and keeps the programmed bytes within the epoch's capacity.
//!
//! It knows no clock. Its driver reports the bytes programmed in a period, and its end: an event
//! loop through [`Gate`](super::Gate), or a fluid model of whole years. All bytes are programmed
//! bytes, from any source.

use super::cells::RatedCells;
use super::rests::Rests;
use super::windows::{Difference, Windows};

/// The rule for demand beyond the allotment.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Enforcement {
    /// Writes wait for the next period.
    Pessimistic,
    /// They may borrow from later epochs first, up to the spare capacity.
    Optimistic,
}

/// How much can be programmed in all.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// The achievable cycles at the mean interval so far, as printed; borrowing starts afresh after
    /// every epoch that borrows nothing.
    Paper,
    /// At most the cycles that are achievable if the target is reached. The borrowed bytes are at
    /// most the spare share of those that an even spread would leave.
    Guarded,
    /// As guarded, and bytes are charged by the rest that cells had before them. The charge equals
    /// the bytes at the rest of an even spread. It is more after less rest, and less after more.
    Local,
}

/// The thresholds of the algorithm.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Rules {
    /// The life to reach, in periods.
    pub target: u64,
    /// A period, in seconds.
    pub period: f64,
    /// The rule at the end of a period's capacity.
    pub enforcement: Enforcement,
    /// How much there is.
    pub capacity: Capacity,
    /// The share of later epochs that may be borrowed.
    pub spare: f64,
    /// The number of epochs whose mean is the prediction for the next.
    pub average: usize,
    /// A unit window of the selection of epochs, in periods.
    pub window: u64,
    /// Whether the length of an epoch is selected; else it is one window.
    pub selects: bool,
    /// Windows that are remembered.
    pub history: usize,
    /// The measure of difference.
    pub difference: Difference,
    /// A prediction that is further off than this is a miss.
    pub miss: f64,
    /// The number of misses in a row that start a new selection.
    pub misses: u32,
    /// Whether Eq. 4 and 5 count programmed pages, as printed, or the host's, which are those that
    /// are delayed.
    pub nand_pages: bool,
}

impl Rules {
    /// The greatest number of epochs whose mean is the prediction.
    pub const AVERAGE: usize = 16;
}

/// This many epochs that only pay debts are counted one by one.
const MANY_EPOCHS: u64 = 1024;

/// The grant of a period.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Grant {
    /// Bytes that may still be programmed in this period. Negative: a debt.
    pub bytes: f64,
    /// The delay of each host page written, in seconds.
    pub delay: f64,
}

impl Grant {
    /// No limit and no delay.
    pub const FREE: Self = Self { bytes: f64::INFINITY, delay: 0.0 };
}

/// One epoch, as it was planned and as it went.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Epoch {
    /// Its first period.
    pub start: u64,
    /// Its length in periods.
    pub length: u64,
    /// Bytes that may be charged in each period, unused ones being carried over.
    pub rate: f64,
    /// Bytes that may be borrowed beyond that.
    pub spare: f64,
    /// Bytes that were predicted; the first epoch has no prediction.
    pub predicted: Option<f64>,
    /// Bytes that were programmed.
    pub used: f64,
    /// Bytes that were charged beyond them, for cells that had rested little; below zero after long
    /// rest.
    pub surcharge: f64,
    /// The delay of each host page written, in seconds.
    pub delay: f64,
}

impl Epoch {
    /// Its capacity in bytes.
    pub fn capacity(&self) -> f64 {
        self.rate * self.length as f64
    }

    /// The charge for the bytes that were programmed.
    pub fn charged(&self) -> f64 {
        self.used + self.surcharge
    }

    /// The first period after it.
    pub fn end(&self) -> u64 {
        self.start + self.length
    }
}

/// The counts.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct ThrottleCounts {
    /// Epochs that ended.
    pub epochs: u64,
    /// Those with a prediction.
    pub predictions: u64,
    /// Predictions that did not miss.
    pub hits: u64,
    /// Times that the length of an epoch was selected.
    pub selections: u64,
    /// Epochs that borrowed.
    pub borrowed: u64,
}

/// Dynamic throttling.
#[derive(Clone, Debug)]
pub struct Regulator {
    rules: Rules,
    cells: RatedCells,
    raw_bytes: f64,
    page_bytes: f64,
    /// Cycles that reach the target exactly, and the interval between them in hours.
    even: (f64, f64),
    now: u64,
    epoch: Epoch,
    /// The rests of cells, if bytes are charged by them.
    rests: Option<Rests>,
    /// The charge for a byte in the last epoch that had any.
    price: f64,
    /// Bytes charged beyond all that earlier epochs were given: programs of a collection after the
    /// last write was let in. The current epoch pays for them first.
    debt: f64,
    /// The part that the last epoch paid; nothing if all is paid.
    paid: f64,
    /// Epochs that ended, as many as are to be kept.
    ended: Vec<Epoch>,
    kept: usize,
    /// The length of epochs, before the last one is cut short by the target.
    length: u64,
    /// Whether the rate was cut because of a loan.
    cut: bool,
    windows: Windows,
    selected: bool,
    misses: u32,
    /// Bytes per period of the last epochs, the newest first.
    recent: [f64; Rules::AVERAGE],
    programmed: f64,
    surcharge: f64,
    pages: f64,
    tally: ThrottleCounts,
}

impl Regulator {
    /// The regulator of a drive that has not been written.
    pub fn new(rules: Rules, cells: RatedCells, raw_bytes: f64, page_bytes: f64) -> Self {
        let hours = rules.target as f64 * rules.period / 3600.0;
        let cycles = cells.limit(hours);
        let window_seconds = rules.window as f64 * rules.period;
        let mut regulator = Self {
            rules,
            cells,
            raw_bytes,
            page_bytes,
            even: (cycles, hours / cycles),
            now: 0,
            epoch: Epoch::default(),
            rests: (rules.capacity == Capacity::Local).then(|| Rests::at_least(cells)),
            price: 1.0,
            debt: 0.0,
            paid: 0.0,
            ended: Vec::new(),
            kept: 0,
            length: rules.window.min(rules.target).max(1),
            cut: false,
            windows: Windows::new(window_seconds, rules.history.max(2)),
            selected: false,
            misses: 0,
            recent: [0.0; Rules::AVERAGE],
            programmed: 0.0,
            surcharge: 0.0,
            pages: 0.0,
            tally: ThrottleCounts::default(),
        };
        regulator.epoch = Epoch { length: regulator.length, ..Epoch::default() };
        regulator.set_rate(false);
        regulator.set_spare(false);
        regulator
    }

    /// The bytes allowed in the rest of the current period.
    #[inline]
    pub fn grant(&self) -> Grant {
        if self.now >= self.rules.target {
            return Grant::FREE;
        }
        let periods = (self.now - self.epoch.start + 1) as f64;
        let bytes = self.epoch.rate * periods + self.epoch.spare - self.epoch.used - self.debt;
        let bytes = if self.rests.is_none() { bytes } else { self.affordable(bytes) };
        Grant { bytes, delay: self.epoch.delay }
    }

    /// Counts the programs of the current period, and the host pages that caused them.
    #[inline]
    pub fn spend(&mut self, bytes: f64, pages: f64) {
        self.epoch.used += bytes;
        self.programmed += bytes;
        self.pages += pages;
        if self.rests.is_some() {
            self.charge(bytes);
        }
    }

    /// Bytes that surely cost no more than the remaining ones, if as many are charged at their
    /// plain number.
    // Apart, as the next, so that those who charge bytes as they are do not pay for it.
    #[cold]
    fn affordable(&self, left: f64) -> f64 {
        let share = (left - self.epoch.surcharge) / self.whole_life();
        self.rests.as_ref().map_or(left, |rests| rests.affordable(share) * self.raw_bytes)
    }

    /// Charges bytes of this period by the rest that cells had before.
    #[cold]
    fn charge(&mut self, bytes: f64) {
        let hours = self.rules.period / 3600.0;
        let from = self.now as f64 * hours;
        let (cycles, whole_life) = (bytes / self.raw_bytes, self.whole_life());
        let Some(rests) = &mut self.rests else { return };
        let more = rests.add(cycles, from, from + hours) * whole_life - bytes;
        self.epoch.surcharge += more;
        self.surcharge += more;
    }

    /// Notes demand, in bytes to be programmed, at the instant (in seconds) at which it would have
    /// come without delays.
    #[inline]
    pub fn demand(&mut self, at: f64, bytes: f64) {
        self.windows.add(at, bytes);
    }

    /// Ends the current period; `at` is the instant of its end without delays, in seconds.
    #[inline]
    pub fn next(&mut self, at: f64) {
        self.now += 1;
        if self.now == self.epoch.end() {
            self.windows.add(at, 0.0);
            self.turn();
        }
    }

    /// Ends `periods` periods in which nothing comes; `at` is the end of the last one without
    /// delays.
    pub fn skip(&mut self, periods: u64, at: f64) {
        let until = self.now + periods;
        while self.now < until && self.now < self.rules.target {
            let left = self.epoch.end() - self.now;
            if left > until - self.now {
                break;
            }
            self.now += left;
            self.windows.add(at - (until - self.now) as f64 * self.rules.period, 0.0);
            self.turn();
            self.pass_quiet(until, at);
        }
        self.now = until;
    }

    /// Passes over epochs in which nothing comes, all but the last one before `until`, if one is as
    /// the other: nothing is expected or to be selected. Only counts change, and the last epoch's
    /// gift to the next follows from the time of that.
    fn pass_quiet(&mut self, until: u64, at: f64) {
        let expects = self.epoch.predicted != Some(0.0) || self.epoch.delay > 0.0;
        let keeps = self.ended.len() < self.kept;
        if keeps || expects || self.recent.iter().any(|bytes| *bytes > 0.0) {
            return;
        }
        let whole = (until.min(self.rules.target) - self.now) / self.length;
        let most = if self.debt > 0.0 {
            self.alike_while_owing()
        } else if self.cut {
            0
        } else {
            u64::MAX
        };
        let passed = whole.saturating_sub(1).min(most).min(self.unselected(until, at));
        if passed == 0 {
            return;
        }
        self.now += passed * self.length;
        self.epoch.start = self.now;
        self.misses = 0;
        self.tally.epochs += passed;
        self.tally.predictions += passed;
        self.tally.hits += passed;
        if self.debt > 0.0 {
            self.debt -= passed as f64 * self.paid;
            self.tally.borrowed += if self.cut { passed } else { 0 };
        }
    }

    /// Epochs that will pay as much of the debt as the last one did, if they are many: few are
    /// counted one by one. Their payment follows the time that has passed, so that a small share of
    /// it changes nothing.
    fn alike_while_owing(&self) -> u64 {
        let pays = self.epoch.capacity() + self.epoch.spare;
        let steady = (pays - self.paid).abs() <= 1e-3 * self.paid;
        let borrows = self.rules.enforcement == Enforcement::Optimistic;
        if !steady || self.paid <= 0.0 || self.cut != borrows {
            return 0;
        }
        // The last of them are counted one by one, too.
        let owing = ((self.debt - self.epoch.capacity()) / self.paid) as u64;
        let epochs = owing.saturating_sub(1).min(self.now / self.length / 256);
        if epochs > MANY_EPOCHS { epochs } else { 0 }
    }

    /// Epochs from now on, at least, until the first length is selected, which is when two windows are
    /// complete. Long delays can hold the instant without delays below that for years. The periods
    /// before `until`, whose end is `at` without delays, have the same delays.
    fn unselected(&self, until: u64, at: f64) -> u64 {
        if self.selected || !self.rules.selects {
            return u64::MAX;
        }
        let from = at - (until - self.now) as f64 * self.rules.period;
        let epoch = self.length as f64 * self.rules.period;
        // The last two are counted one by one, as instants are rounded.
        (((self.windows.completes_two() - from) / epoch) as u64).saturating_sub(2)
    }

    /// Periods, after the current one, until something may be programmed again. `left` is the
    /// number of bytes that the current one may still program, zero or negative. The next epoch is
    /// not known yet, so it is assumed to be like this one.
    pub fn periods_until_more(&self, left: f64) -> u64 {
        let to_target = self.rules.target - self.now.min(self.rules.target);
        let rate = self.epoch.rate;
        if rate <= 0.0 {
            return to_target;
        }
        let price = self.rests.as_ref().map_or(1.0, |rests| rests.price() * self.even.0);
        ((-left * price / rate).floor() as u64).saturating_add(1).min(to_target)
    }

    /// The current epoch.
    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// Keeps the first `most` epochs that end from now on.
    pub fn keep_epochs(&mut self, most: usize) {
        self.kept = most;
    }

    /// The epochs that ended and were kept.
    pub fn ended_epochs(&self) -> &[Epoch] {
        &self.ended
    }

    /// The counts.
    pub fn tally(&self) -> ThrottleCounts {
        self.tally
    }

    /// The bytes that can be programmed in all, as far as is known now.
    pub fn total_bytes(&self) -> f64 {
        self.raw_bytes * self.cycles()
    }

    /// Memory that the state takes in a drive: a number for each window, a few others, and the
    /// memory of rests.
    pub fn dram_bytes(&self) -> u64 {
        8 * (self.rules.history as u64 + 32) + self.rests.as_ref().map_or(0, |_| Rests::DRAM_BYTES)
    }

    /// Achievable cycles, as the rules count them.
    fn cycles(&self) -> f64 {
        let used = self.programmed / self.raw_bytes;
        let hours = self.now as f64 * self.rules.period / 3600.0;
        let interval = if used > 0.0 { hours / used } else { f64::INFINITY };
        match self.rules.capacity {
            Capacity::Paper => self.cells.extrapolated(interval),
            Capacity::Local => self.even.0,
            // Cycles grow with the interval, so the lesser of the two follows from the intervals.
            Capacity::Guarded if interval >= self.even.1 => self.even.0,
            Capacity::Guarded => self.cells.hoped_for(interval).min(self.even.0),
        }
    }

    /// Sets the rate of the epoch that begins. `borrowed`: the last one used more than its own.
    fn set_rate(&mut self, borrowed: bool) {
        let remaining = (self.rules.target - self.now) as f64;
        let even = self.left() / remaining;
        if borrowed && !self.cut {
            self.epoch.rate *= 1.0 - self.rules.spare;
        }
        self.epoch.rate = if borrowed { self.epoch.rate.min(even) } else { even };
        self.cut = borrowed;
    }

    /// Sets the spare capacity of the epoch that begins, whose rate and length are already set. It
    /// is a share of later epochs. After an epoch that borrowed, it is the bytes that no epoch was
    /// given.
    fn set_spare(&mut self, borrowed: bool) {
        if self.rules.enforcement == Enforcement::Pessimistic {
            self.epoch.spare = 0.0;
            return;
        }
        let remaining = (self.rules.target - self.now) as f64;
        let later = remaining - self.epoch.length as f64;
        let left = self.left();
        self.epoch.spare = if borrowed {
            (left - self.epoch.rate * remaining).min(self.rules.spare * left)
        } else {
            self.rules.spare * self.epoch.rate * later
        };
        if self.rules.capacity != Capacity::Paper {
            self.epoch.spare = self.epoch.spare.min(self.lendable(later));
        }
        self.epoch.spare = self.epoch.spare.max(0.0);
    }

    /// Bytes that epochs can still be given.
    fn left(&self) -> f64 {
        (self.total_bytes() - self.given()).max(0.0)
    }

    /// Bytes that epochs were given and that were charged. Owed bytes are not included: the next
    /// grant pays them.
    fn given(&self) -> f64 {
        self.programmed + self.surcharge - self.debt
    }

    /// The bytes of an even spread over the whole life.
    fn whole_life(&self) -> f64 {
        self.raw_bytes * self.even.0
    }

    /// The bytes that can be lent in this epoch. At its beginning and at its end, the programmed
    /// bytes are at most an even spread and the spare share of its rest.
    fn lendable(&self, later: f64) -> f64 {
        let all = self.whole_life();
        let per_period = all * (1.0 - self.rules.spare) / self.rules.target as f64;
        let remaining = later + self.epoch.length as f64;
        let now = all - per_period * remaining - self.given();
        let then = all - per_period * later - self.given() - self.epoch.capacity();
        now.min(then)
    }

    /// An epoch ends, and the next begins.
    #[cold]
    fn turn(&mut self) {
        let ended = self.epoch;
        if self.ended.len() < self.kept {
            self.ended.push(ended);
        }
        self.count(&ended);
        if self.now >= self.rules.target {
            return;
        }
        let remaining = self.rules.target - self.now;
        // A rounding error is not a loan.
        let used = ended.charged() + self.debt;
        let borrowed = used > ended.capacity() * (1.0 + 1e-9);
        let borrowed = borrowed && self.rules.enforcement == Enforcement::Optimistic;
        self.debt = (used - ended.capacity() - ended.spare).max(0.0);
        self.paid = if self.debt > 0.0 { ended.capacity() + ended.spare } else { 0.0 };
        self.tally.borrowed += u64::from(borrowed);
        if ended.used > 0.0 {
            self.price = ended.charged() / ended.used;
        }

        self.epoch = Epoch { start: self.now, used: 0.0, surcharge: 0.0, ..ended };
        let due =
            if self.selected { self.misses >= self.rules.misses } else { self.windows.len() >= 2 };
        let found = if due && self.rules.selects {
            self.windows.select(self.rules.difference)
        } else {
            None
        };
        self.set_rate(borrowed);
        if let Some((windows, demand)) = found {
            self.selected = true;
            self.misses = 0;
            self.tally.selections += 1;
            // This demand is without delays, so Eq. 4 starts from none, and an epoch that needs
            // them takes longer for it.
            let natural = (windows as u64 * self.rules.window) as f64;
            let capacity = self.epoch.rate * natural / self.price;
            let over = if capacity > 0.0 { (demand / capacity).max(1.0) } else { 1.0 };
            self.epoch.delay = self.change(natural, capacity, over);
            self.length = (natural * over).round().min(1e15) as u64;
            self.recent.fill(demand / self.length as f64);
        }
        self.epoch.length = self.length.min(remaining);
        self.set_spare(borrowed);
        let epochs = self.rules.average;
        let mean = self.recent[..epochs].iter().sum::<f64>() / epochs as f64;
        let demand = mean * self.epoch.length as f64;
        self.epoch.predicted = Some(demand);
        if found.is_none() {
            self.adjust(demand);
        }
    }

    /// READY Eq. 4 and 5 for the epoch that begins. They compare the bytes that come with its
    /// capacity in bytes, at the price of the last epoch.
    fn adjust(&mut self, demand: f64) {
        let periods = self.epoch.length as f64;
        let capacity = self.epoch.capacity() / self.price;
        if demand <= 0.0 {
            self.epoch.delay = 0.0;
        } else if capacity > demand {
            let less = self.change(periods, capacity, capacity / demand);
            self.epoch.delay = (self.epoch.delay - less).max(0.0);
        } else if capacity > 0.0 {
            self.epoch.delay += self.change(periods, capacity, demand / capacity);
        }
    }

    /// The delay of a page, in seconds, that lengthens `periods` by `ratio` if all pages of a
    /// capacity get it.
    fn change(&self, periods: f64, capacity: f64, ratio: f64) -> f64 {
        if ratio <= 1.0 {
            return 0.0;
        }
        periods * self.rules.period * (ratio - 1.0) / self.pages_of(capacity)
    }

    /// The number of pages of these bytes, as Eq. 4 counts them.
    fn pages_of(&self, bytes: f64) -> f64 {
        if self.rules.nand_pages || self.pages <= 0.0 || self.programmed <= 0.0 {
            bytes / self.page_bytes
        } else {
            bytes * self.pages / self.programmed
        }
    }

    /// Whether the prediction held.
    fn count(&mut self, ended: &Epoch) {
        self.tally.epochs += 1;
        if let Some(predicted) = ended.predicted {
            let miss = self.rules.difference.of(predicted, ended.used) > self.rules.miss;
            self.tally.predictions += 1;
            self.tally.hits += u64::from(!miss);
            self.misses = if miss { self.misses + 1 } else { 0 };
        }
        let newest = ended.used / ended.length as f64;
        if self.tally.epochs == 1 {
            self.recent.fill(newest);
        }
        self.recent.rotate_right(1);
        self.recent[0] = newest;
    }
}
