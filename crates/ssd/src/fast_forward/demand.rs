//! What a workload writes in each second of one cycle, which repeats.

use kernel::Dur;
use workload::{Op, TraceError, Workload};

/// One second of demand.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub(super) struct Second {
    /// Bytes that the host writes.
    pub(super) bytes: f64,
    /// Pages that these touch, request by request.
    pub(super) pages: f64,
    /// Seconds without writes from this one on, to the end of the cycle at most.
    pub(super) quiet: u32,
}

/// What the host writes in each second of a cycle.
#[derive(Clone, PartialEq, Debug)]
pub struct Demand {
    pub(super) seconds: Vec<Second>,
    bytes: f64,
    pages: f64,
}

/// Why a demand cannot be had.
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
    /// A number is no demand.
    #[error("a demand of {0} bytes in a second: it must be a number from 0 to 10^15")]
    Number(f64),
    /// The cycle is too long for a second each.
    #[error("a cycle of {0} s: at most 100 million are kept")]
    Length(u64),
}

/// The longest cycle, in seconds: three years.
const LONGEST: u64 = 100_000_000;

impl Demand {
    /// The demand of given numbers of bytes in each second, in whole pages.
    pub fn of_bytes(bytes: &[f64], page_bytes: u64) -> Result<Self, DemandError> {
        if let Some(wrong) = bytes.iter().find(|b| !(0.0..=1e15).contains(*b)) {
            return Err(DemandError::Number(*wrong));
        }
        let second = |&bytes: &f64| Second { bytes, pages: bytes / page_bytes as f64, quiet: 0 };
        Self::new(bytes.iter().map(second).collect())
    }

    /// The demand of a workload, gone through once. Its cycle lasts to the end of the second of its
    /// last request.
    pub fn of(workload: &dyn Workload, page_bytes: u64, speed: f64) -> Result<Self, DemandError> {
        if !workload.about().timed {
            return Err(DemandError::Untimed(workload.about().name.clone()));
        }
        let (mut source, mut batch) = (workload.open()?, Vec::new());
        let mut seconds: Vec<Second> = Vec::new();
        loop {
            source.fill(&mut batch)?;
            if batch.is_empty() {
                return Self::new(seconds);
            }
            for request in &batch {
                let at = request.at.as_secs_f64() / speed;
                if at >= LONGEST as f64 {
                    return Err(DemandError::Length(at as u64));
                }
                let at = at as usize;
                if at >= seconds.len() {
                    seconds.resize(at + 1, Second::default());
                }
                if request.op == Op::Write {
                    let pages = (request.end() - 1) / page_bytes - request.offset / page_bytes + 1;
                    seconds[at].bytes += f64::from(request.len);
                    seconds[at].pages += pages as f64;
                }
            }
        }
    }

    fn new(mut seconds: Vec<Second>) -> Result<Self, DemandError> {
        let mut quiet = 0;
        for second in seconds.iter_mut().rev() {
            quiet = if second.bytes > 0.0 { 0 } else { quiet + 1 };
            second.quiet = quiet;
        }
        let bytes = seconds.iter().map(|s| s.bytes).sum();
        let pages = seconds.iter().map(|s| s.pages).sum();
        if bytes > 0.0 { Ok(Self { seconds, bytes, pages }) } else { Err(DemandError::NoWrites) }
    }

    /// The length of the cycle.
    pub fn length(&self) -> Dur {
        Dur::secs(self.seconds.len() as u64)
    }

    /// Bytes that the host writes in a cycle.
    pub fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Pages that it writes in a cycle.
    pub fn pages(&self) -> f64 {
        self.pages
    }

    /// The largest demand of a second over the mean.
    pub fn peak_to_mean(&self) -> f64 {
        let peak = self.seconds.iter().map(|s| s.bytes).fold(0.0, f64::max);
        peak * self.seconds.len() as f64 / self.bytes
    }
}
