//! A workload, as its reader sees it.

use std::sync::Arc;

use kernel::{Bytes, Time, hexadecimal};
use sha2::{Digest, Sha256};

use crate::{BATCH, Request, TraceError};

/// A stream of requests in time order, read in batches so that dispatch is paid once per batch.
pub trait RequestSource: Send {
    /// Clears `batch` and fills it with the next requests, up to [`BATCH`](crate::BATCH) of them.
    /// An empty batch is the end, and stays so.
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError>;

    /// The number of records that were skipped so far because they could not be read and the user
    /// allowed that.
    fn skipped(&self) -> u64 {
        0
    }
}

/// Requests that are held in memory.
pub(crate) struct Listed {
    requests: Arc<[Request]>,
    done: usize,
}

impl Listed {
    pub(crate) fn new(requests: &Arc<[Request]>) -> Self {
        Self { requests: Arc::clone(requests), done: 0 }
    }
}

impl RequestSource for Listed {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        let end = self.requests.len().min(self.done + BATCH);
        batch.extend_from_slice(&self.requests[self.done..end]);
        self.done = end;
        Ok(())
    }
}

/// A workload that can be opened more than once: preconditioning reads it before the run does.
/// Every opening of one pass yields the same requests.
pub trait Workload: Send + Sync {
    /// Facts that are known without reading requests.
    fn about(&self) -> &About;

    /// A stream from the first request on. Pass 0 is the run's. In other passes, what a generator
    /// draws for each request is drawn anew; a record of requests is the same in every pass.
    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError>;

    /// The requests of the run.
    fn open(&self) -> Result<Box<dyn RequestSource>, TraceError> {
        self.open_pass(0)
    }

    /// How much of it differs between passes.
    fn draws(&self) -> Draws {
        Draws::Nothing
    }

    /// The same requests as a run takes them in: those that come at their times, and the closed
    /// loops, each of which asks when one of its own is answered.
    fn flows(&self) -> Result<Flows, TraceError> {
        Ok(Flows { open: self.open()?, closed: Vec::new() })
    }

    /// The same process without an end and with other draws: a run that repeated the requests that
    /// aged its drive would not be like what comes later. `None`: it has passes only.
    fn endless(&self) -> Option<Box<dyn RequestSource>> {
        None
    }

    /// Whether it is known, without reading it, that it has no reads and that its writes cover
    /// whole pages of `page` bytes. The drive then needs no earlier data. `false`: it is not so, or
    /// not known.
    fn writes_whole_pages(&self, _page: Bytes) -> bool {
        false
    }

    /// The time of the first request in its trace, in nanoseconds since the origin of its format.
    /// `None`: it was not recorded.
    fn origin(&self) -> Option<u64> {
        None
    }
}

impl dyn Workload + '_ {
    /// Reads through all requests, batch by batch, as long as `see` returns no error.
    pub fn each_batch<E: From<TraceError>>(
        &self,
        mut see: impl FnMut(&[Request]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_batch_of(0, &mut see)
    }

    /// The same for another pass.
    pub fn each_batch_of<E: From<TraceError>>(
        &self,
        pass: u64,
        mut see: impl FnMut(&[Request]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut source, mut batch) = (self.open_pass(pass)?, Vec::with_capacity(BATCH));
        loop {
            source.fill(&mut batch)?;
            if batch.is_empty() {
                return Ok(());
            }
            see(&batch)?;
        }
    }
}

/// How much of a workload is drawn anew in each pass.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Draws {
    /// Nothing: it is a record of requests.
    Nothing,
    /// Some of its parts.
    Partly,
    /// Everything.
    All,
}

impl Draws {
    /// Those of a workload of several.
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a dyn Workload>) -> Self {
        let both = |a, b| if a == b { a } else { Self::Partly };
        parts.into_iter().map(Workload::draws).reduce(both).unwrap_or(Self::Nothing)
    }
}

/// The streams of a workload.
pub struct Flows {
    /// Requests that come by the rule of the host.
    pub open: Box<dyn RequestSource>,
    /// Requests that come when others are answered, in the order of [`About::closed`].
    pub closed: Vec<Loop>,
}

/// A closed loop: a stream that keeps a number of its requests inside the drive.
pub struct Loop {
    /// Its requests, whose times have no meaning.
    pub source: Box<dyn RequestSource>,
    /// How many are outstanding.
    pub depth: u32,
    /// No request arrives at this time or later.
    pub until: Time,
    /// The flow of its requests.
    pub flow: u8,
}

/// The facts of a workload before it runs.
#[derive(Clone, PartialEq, Debug)]
pub struct About {
    /// File name or generator name, as shown in results.
    pub name: String,
    /// `vscsi`, `ssdsim-ascii`, `random-write`, …
    pub format: String,
    /// SHA-256 of the file's bytes as stored (compressed ones as compressed), in hexadecimal.
    pub sha256: Option<String>,
    /// The user's reading options, such as `time-unit=us device=3`. Together with the bytes they
    /// determine the requests.
    pub reading: Option<String>,
    /// The number of requests, if it is known.
    pub requests: Option<u64>,
    /// The address space in bytes: all requests end at or below it.
    pub span: Option<u64>,
    /// Whether requests carry times of their own. Without, they are meant to arrive as fast as the
    /// drive takes them.
    pub timed: bool,
    /// The depth of each closed loop in it ([`Workload::flows`]).
    pub closed: Vec<u32>,
    /// The owners of the requests, if there are several: [`Request::flow`] is a place in this list.
    pub flows: Vec<Flow>,
    /// Present if this was generated to represent a trace whose files are missing.
    pub stand_in: Option<StandIn>,
    /// Findings and decisions at the opening, in words for the user.
    pub notes: Vec<String>,
}

/// One of those whose requests a workload has: a tenant, a device, a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Its name in results.
    pub name: String,
    /// Its share beside others, for arbiters that use weights.
    pub weight: u32,
    /// The greatest number of its requests inside the drive; `None`: as many as the drive has
    /// places.
    pub depth: Option<u32>,
    /// Its addresses: from the first byte to the one after the last.
    pub region: (u64, u64),
}

impl Flow {
    /// The greatest number of flows in a workload.
    pub const MOST: usize = 256;
    /// The greatest weight; the least is 1.
    pub const HEAVIEST: u32 = 256;
}

/// The model and the source of a stand-in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandIn {
    /// The name of the generating model.
    pub model: String,
    /// The version of the model; its numbers may move between versions.
    pub version: String,
    /// The published statistics that it reproduces, and their source.
    pub fitted_to: String,
}

/// A workload with other facts than its own; its requests are the same.
pub struct Named {
    inner: Box<dyn Workload>,
    about: About,
}

impl Named {
    /// `about` has these facts.
    pub fn new(inner: Box<dyn Workload>, about: About) -> Self {
        Self { inner, about }
    }
}

impl Workload for Named {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        self.inner.open_pass(pass)
    }

    fn draws(&self) -> Draws {
        self.inner.draws()
    }

    fn flows(&self) -> Result<Flows, TraceError> {
        self.inner.flows()
    }

    fn endless(&self) -> Option<Box<dyn RequestSource>> {
        self.inner.endless()
    }

    fn writes_whole_pages(&self, page: Bytes) -> bool {
        self.inner.writes_whole_pages(page)
    }

    fn origin(&self) -> Option<u64> {
        self.inner.origin()
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text))
}
