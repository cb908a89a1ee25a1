//! The records of a fast-forward: sums over equal spans of time, delays by page, and single
//! periods.

use kernel::{Dur, Histogram};

/// One span of time.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Bin {
    /// Bytes programmed.
    pub programmed: f64,
    /// Host pages written.
    pub pages: f64,
    /// Delay of these by the page delay, in seconds.
    pub delay: f64,
    /// Time in which writes were stopped, in seconds.
    pub stop: f64,
}

/// The sums.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The length of a bin, in seconds.
    pub bin_seconds: f64,
    /// Equal spans from the beginning to the target.
    pub bins: Vec<Bin>,
    /// Delay by the throttle of every page written.
    pub delays: Histogram,
    /// Bytes programmed in each period from the first that was asked for.
    pub periods: Vec<f64>,
    /// Stops, each of which holds back one write.
    pub stops: u64,
    from: u64,
    most: usize,
    next_bin: f64,
    bin: usize,
    /// The present delay of pages, in seconds, and the number of pages with it.
    delay: f64,
    pages: f64,
    /// The stop that has not ended, in seconds.
    stop: f64,
}

impl Ledger {
    /// For a life of `seconds` in `bins` bins; keeps `most` periods from period `from` on.
    pub(super) fn new(seconds: f64, bins: usize, from: u64, most: usize) -> Self {
        let bin_seconds = seconds / bins as f64;
        Self {
            bin_seconds,
            bins: vec![Bin::default(); bins],
            delays: Histogram::new(),
            periods: Vec::with_capacity(most),
            stops: 0,
            from,
            most,
            next_bin: bin_seconds,
            bin: 0,
            delay: 0.0,
            pages: 0.0,
            stop: 0.0,
        }
    }

    /// One period that begins at `seconds`, the `index`-th.
    #[inline]
    pub(super) fn period(&mut self, index: u64, seconds: f64, delay: f64, now: &Bin) {
        if seconds >= self.next_bin {
            self.turn(seconds);
        }
        let bin = &mut self.bins[self.bin];
        bin.programmed += now.programmed;
        bin.pages += now.pages;
        bin.delay += now.delay;
        bin.stop += now.stop;
        if now.pages > 0.0 {
            // A stop holds a page back until it is written as a whole, which may take several periods.
            if self.stop > 0.0 && self.pages + now.pages >= 1.0 {
                self.end_stop();
            }
            if (delay - self.delay).abs() > 0.0 {
                self.end_delay(delay);
            }
            self.pages += now.pages;
        }
        self.stop += now.stop;
        if index >= self.from && self.periods.len() < self.most {
            self.keep(index, now.programmed);
        }
    }

    #[cold]
    fn turn(&mut self, seconds: f64) {
        self.bin = ((seconds / self.bin_seconds) as usize).min(self.bins.len() - 1);
        self.next_bin = (self.bin + 1) as f64 * self.bin_seconds;
    }

    #[inline]
    fn end_stop(&mut self) {
        self.stops += 1;
        self.delays.record(Dur::from_secs_f64(self.stop + self.delay));
        // The stopped page is not counted twice; it may not have been counted yet.
        self.pages -= 1.0;
        self.stop = 0.0;
    }

    #[cold]
    fn end_delay(&mut self, delay: f64) {
        let whole = self.pages.floor().max(0.0);
        self.delays.record_many(Dur::from_secs_f64(self.delay), whole as u64);
        self.pages -= whole;
        self.delay = delay;
    }

    #[cold]
    fn keep(&mut self, index: u64, bytes: f64) {
        // Periods that were passed over had no writes.
        let at = (index - self.from) as usize;
        self.periods.resize(at.min(self.most), 0.0);
        if at < self.most {
            self.periods.push(bytes);
        }
    }

    /// The end: counts the stop and the delay that are still open.
    pub(super) fn close(&mut self) {
        if self.stop > 0.0 {
            self.end_stop();
        }
        self.pages = self.pages.round();
        self.end_delay(self.delay);
        self.periods.resize(self.most, 0.0);
    }

    /// The mean delay of a page in nanoseconds. Pages are fractions here, and whole in a count of
    /// single pages, so the sums differ by at most the delay of a page.
    pub fn mean_delay_ns(&self) -> f64 {
        let total = self.total();
        self.delays.between((total.delay + total.stop) * 1e9 / total.pages)
    }

    /// The sum over all bins.
    pub fn total(&self) -> Bin {
        self.bins.iter().fold(Bin::default(), |sum, bin| Bin {
            programmed: sum.programmed + bin.programmed,
            pages: sum.pages + bin.pages,
            delay: sum.delay + bin.delay,
            stop: sum.stop + bin.stop,
        })
    }
}
