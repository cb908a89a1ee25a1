//! The bytes that a workload writes in each second, or in each longer step, of one cycle. The cycle
//! repeats.

use kernel::Dur;
use workload::{TraceError, Workload};

/// One step of demand: a second, unless another length is set.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub(super) struct DemandStep {
    /// Bytes that the host writes in a second.
    pub(super) bytes: f64,
    /// Pages that these touch, request by request.
    pub(super) pages: f64,
    /// Steps without writes from this one on, to the end of the cycle at most.
    pub(super) quiet: u32,
}

/// The bytes that the host writes in each step of a cycle.
#[derive(Clone, PartialEq, Debug)]
pub struct Demand {
    pub(super) steps: Vec<DemandStep>,
    /// The length of a step, in seconds.
    pub(super) step: f64,
    bytes: f64,
    pages: f64,
}

/// Why a demand cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum DemandError {
    /// The workload cannot be read.
    #[error("{0}")]
    Workload(#[from] TraceError),
    /// It says nothing about time.
    #[error(
        "the requests of `{0}` have no times, so there is no demand per second; give a generator \
         an arrival rate, or take a trace"
    )]
    Untimed(String),
    /// Nothing is written.
    #[error("nothing is written, so nothing wears out")]
    NoWrites,
    /// A number that cannot be a demand.
    #[error("a demand of {0} bytes in a second: it must be a number from 0 to 10^15")]
    Number(f64),
    /// The two columns of numbers do not belong together.
    #[error("{0} seconds with bytes, and {1} with pages: give as many of either")]
    Columns(usize, usize),
    /// The cycle is too long for a second each.
    #[error("a cycle of {0} s: at most 100 million are kept")]
    Length(u64),
}

/// The longest cycle, in seconds: three years.
const LONGEST: u64 = 100_000_000;

impl Demand {
    /// The demand of given numbers of bytes in each second, in whole pages.
    pub fn of_bytes(bytes: &[f64], page_bytes: u64) -> Result<Self, DemandError> {
        let pages: Vec<f64> = bytes.iter().map(|bytes| bytes / page_bytes as f64).collect();
        Self::of_numbers(bytes, &pages)
    }

    /// The demand of given numbers of bytes in each second, and of the pages that these touch. It
    /// is the inverse of [`Demand::columns`].
    pub fn of_numbers(bytes: &[f64], pages: &[f64]) -> Result<Self, DemandError> {
        if bytes.len() != pages.len() {
            return Err(DemandError::Columns(bytes.len(), pages.len()));
        }
        if let Some(wrong) = bytes.iter().chain(pages).find(|b| !(0.0..=1e15).contains(*b)) {
            return Err(DemandError::Number(*wrong));
        }
        let step = |(&bytes, &pages): (&f64, &f64)| DemandStep { bytes, pages, quiet: 0 };
        Self::new(bytes.iter().zip(pages).map(step).collect())
    }

    /// The same numbers, each for a step of this length.
    #[must_use]
    pub fn with_step(mut self, step: Dur) -> Self {
        let longer = step.as_secs_f64() / self.step;
        for s in &mut self.steps {
            s.bytes /= longer;
            s.pages /= longer;
        }
        self.step *= longer;
        self
    }

    /// Bytes that the host writes in each step, and the pages that these touch.
    pub fn columns(&self) -> (Vec<f64>, Vec<f64>) {
        self.steps.iter().map(|s| (s.bytes * self.step, s.pages * self.step)).unzip()
    }

    /// The demand of a workload, gone through once. Its cycle lasts to the end of the second of its
    /// last request.
    pub fn of(workload: &dyn Workload, page_bytes: u64, speed: f64) -> Result<Self, DemandError> {
        let watched = Self::watched(workload, page_bytes, speed, &mut |_| true)?;
        Ok(watched.expect("nobody stopped it"))
    }

    /// As [`Demand::of`]. After every batch `progress` gets the number of requests so far; if it
    /// returns `false`, the result is `None`.
    pub fn watched(
        workload: &dyn Workload,
        page_bytes: u64,
        speed: f64,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Self>, DemandError> {
        if !workload.about().timed {
            return Err(DemandError::Untimed(workload.about().name.clone()));
        }
        let (mut source, mut batch) = (workload.open()?, Vec::new());
        let mut seconds: Vec<DemandStep> = Vec::new();
        let mut requests = 0;
        loop {
            source.fill(&mut batch)?;
            if batch.is_empty() {
                return Self::new(seconds).map(Some);
            }
            requests += batch.len() as u64;
            if !progress(requests) {
                return Ok(None);
            }
            for request in &batch {
                let at = request.at.as_secs_f64() / speed;
                if at >= LONGEST as f64 {
                    return Err(DemandError::Length(at as u64));
                }
                let at = at as usize;
                if at >= seconds.len() {
                    seconds.resize(at + 1, DemandStep::default());
                }
                if request.op.writes() {
                    let pages = (request.end() - 1) / page_bytes - request.offset / page_bytes + 1;
                    seconds[at].bytes += f64::from(request.len);
                    seconds[at].pages += pages as f64;
                }
            }
        }
    }

    fn new(mut steps: Vec<DemandStep>) -> Result<Self, DemandError> {
        let mut quiet = 0;
        for step in steps.iter_mut().rev() {
            quiet = if step.bytes > 0.0 { 0 } else { quiet + 1 };
            step.quiet = quiet;
        }
        let bytes = steps.iter().map(|s| s.bytes).sum();
        let pages = steps.iter().map(|s| s.pages).sum();
        if bytes > 0.0 {
            Ok(Self { steps, step: 1.0, bytes, pages })
        } else {
            Err(DemandError::NoWrites)
        }
    }

    /// The length of the cycle.
    pub fn length(&self) -> Dur {
        Dur::from_secs_f64(self.steps.len() as f64 * self.step)
    }

    /// Bytes that the host writes in a cycle.
    pub fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Pages that it writes in a cycle.
    pub fn pages(&self) -> f64 {
        self.pages
    }

    /// The largest demand of a step over the mean.
    pub fn peak_to_mean(&self) -> f64 {
        let peak = self.steps.iter().map(|s| s.bytes).fold(0.0, f64::max);
        peak * self.length().as_secs_f64() / self.bytes
    }
}
