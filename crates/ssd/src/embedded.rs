//! A drive inside another program: a [`Session`] with every argument checked, for simulators in
//! Python or in C. Requests have tokens of 64 bits. They may be kept as a table, and a run of that
//! table gives the same result.

use crate::Report;
use crate::config::capacity;
use crate::record::{ArrivalRows, CHUNK, described};
use crate::session::Session;
use crate::sim::Turn;
use kernel::{Dur, Hint, Prio, Time};
use serde_json::json;
use std::collections::VecDeque;
use std::io::{self, Write};
use tables::Writer;
use workload::{About, Op, Request};

/// The schema of a table of requests.
const TABLE: &str = "floatgate.requests/1";
/// The key under which a table describes its contents.
const METADATA: &str = "floatgate";

/// The most bytes of a read or a write. A trim may have up to 2^32 - 1.
pub const LONGEST: u64 = 1 << 30;
/// Simulated time ends before this, in ns: 146 years.
pub const LATEST: u64 = Time::LAST.as_ns() + 1;

/// A request that a program submits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Submission {
    /// The operation.
    pub op: Op,
    /// The first byte; 0 for a flush.
    pub offset: u64,
    /// Bytes; 0 for a flush alone.
    pub length: u64,
    /// The earliest arrival in ns; `None`: as soon as possible.
    pub at: Option<u64>,
    /// The completion has it.
    pub token: u64,
    /// A hint about the data of a write; 0: none.
    pub hint: Hint,
    /// The number of its flow; 0 if there are none.
    pub flow: u8,
    /// How urgent it is, unless `host.flow` gives its flow a priority.
    pub prio: Prio,
}

/// A request is done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Answered {
    /// The token with which it was submitted.
    pub token: u64,
    /// The time of completion.
    pub at: Time,
    /// From its arrival until then.
    pub latency: Dur,
}

/// Why a call was refused. The session is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A time that has passed.
    #[error("{what} {at} ns has passed: the drive is at {now} ns")]
    Past {
        /// The argument.
        what: &'static str,
        /// The rejected time.
        at: u64,
        /// The time of the drive.
        now: u64,
    },
    /// A time beyond the longest simulated time.
    #[error("{what} {at} ns is beyond {LATEST} ns, where simulated time ends")]
    Late {
        /// The argument.
        what: &'static str,
        /// The rejected time.
        at: u64,
    },
    /// A request ends behind the last byte of the drive.
    #[error("offset {offset} and length {length}: the drive has {capacity} bytes")]
    Beyond {
        /// The first byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// Those of the drive.
        capacity: u64,
    },
    /// A request of no bytes or too many, or a flush with bytes.
    #[error("length {length}: {expected}")]
    Length {
        /// Bytes.
        length: u64,
        /// The rule.
        expected: &'static str,
    },
    /// There is no such flow.
    #[error("flow {flow}: the session has {flows} flow{}, counted from 0", if *flows == 1 { "" } else { "s" })]
    Flow {
        /// The number.
        flow: u8,
        /// How many there are.
        flows: usize,
    },
    /// There is no such placement handle.
    #[error(
        "handle {handle}: the drive has {handles} placement handle{}{}",
        if *handles == 1 { "" } else { "s" },
        if *handles == 0 { "; `ftl.fdp = { handles = 4 }` declares some" } else { ", counted from 0" }
    )]
    Handle {
        /// The number.
        handle: u64,
        /// How many there are.
        handles: u8,
    },
    /// The drive's life has ended.
    #[error("the drive wore out at {at} ns: it takes no more requests; the result says why")]
    WornOut {
        /// When, in ns.
        at: u64,
    },
    /// The table of requests cannot be written.
    #[error("the requests cannot be recorded ({0})")]
    Record(#[from] io::Error),
}

/// The table of requests.
struct Trace {
    writer: Writer<Box<dyn Write + Send>>,
    rows: ArrivalRows,
}

/// A drive inside another program.
pub struct Embedded {
    session: Session,
    capacity: u64,
    flows: usize,
    /// The tokens of requests that are not done, and the free entries.
    tokens: Vec<u64>,
    free: Vec<u32>,
    done: VecDeque<Answered>,
    trace: Option<Trace>,
    /// The number of requests, and the end of the last address.
    came: u64,
    span: u64,
}

impl Embedded {
    /// A session in which nothing has happened yet.
    pub fn new(session: Session) -> Self {
        let capacity = capacity(session.drive()).get();
        let flows = session.flows().len().max(1);
        Self {
            session,
            capacity,
            flows,
            tokens: Vec::new(),
            free: Vec::new(),
            done: VecDeque::new(),
            trace: None,
            came: 0,
            span: 0,
        }
    }

    /// Keeps the requests as a Parquet file, which [`Embedded::finish`] ends.
    pub fn record(&mut self, to: Box<dyn Write + Send>) {
        self.trace = Some(Trace { writer: Writer::new(to), rows: ArrivalRows::default() });
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Bytes of the drive.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The simulated time in ns.
    #[inline]
    pub fn now(&self) -> u64 {
        self.session.sim().now().as_ns()
    }

    /// The time of the next event in the drive, in ns, if no request comes before. No request is
    /// done earlier.
    #[inline]
    pub fn next_at(&self) -> Option<u64> {
        self.session.next_at().map(Time::as_ns)
    }

    /// Requests that are not done.
    pub fn outstanding(&self) -> usize {
        self.session.outstanding()
    }

    /// When the drive's life ended, in ns, if it has ended.
    pub fn worn_out_at(&self) -> Option<u64> {
        self.session.sim().worn_out_at().map(Time::as_ns)
    }

    /// Submits a request. It arrives at the first instant, from its `at` on, at which nothing else
    /// happens; time passes until then. Returns that instant in ns.
    ///
    /// # Errors
    /// An argument is wrong, or the drive is worn out. It may also wear out while time
    /// passes.
    pub fn submit(&mut self, request: &Submission) -> Result<u64, Refusal> {
        let now = self.now();
        let from = request.at.unwrap_or(now);
        self.check(request, from, now)?;
        let token = self.free.pop().unwrap_or_else(|| {
            self.tokens.push(0);
            self.tokens.len() as u32 - 1
        });
        self.tokens[token as usize] = request.token;
        let mut taken = Request {
            at: Time::ZERO,
            offset: request.offset,
            len: request.length as u32,
            op: request.op,
            prio: request.prio,
            flow: request.flow,
            hint: request.hint,
        };
        let arrived = self.session.arrive_from(Time::from_ns(from), &taken, token);
        self.collect();
        let Ok(at) = arrived else {
            self.free.push(token);
            return Err(self.worn_out());
        };
        taken.at = at;
        self.note(&taken)?;
        Ok(at.as_ns())
    }

    #[inline]
    fn check(&self, request: &Submission, from: u64, now: u64) -> Result<(), Refusal> {
        let Submission { op, offset, length, flow, .. } = *request;
        let most = if op == Op::Trim { u64::from(u32::MAX) } else { LONGEST };
        let wrong_length = |expected| Err(Refusal::Length { length, expected });
        if op == Op::Flush {
            if length > 0 || offset > 0 {
                return wrong_length("a flush has neither an offset nor a length");
            }
        } else if length == 0 {
            return wrong_length("a request that is not a flush has at least one byte");
        } else if length > most {
            return wrong_length("a read or a write has at most 1 GiB, a trim less than 4 GiB");
        } else if offset > self.capacity || length > self.capacity - offset {
            return Err(Refusal::Beyond { offset, length, capacity: self.capacity });
        }
        if usize::from(flow) >= self.flows {
            return Err(Refusal::Flow { flow, flows: self.flows });
        }
        check_time("at", from, now)
    }

    /// Updates a placement handle at `at` in ns, or now: time passes until then, including the events at
    /// that time. The open reclaim unit of the handle is closed. Writes that the drive has not begun to place by
    /// then, and later ones, go to a new unit. Returns the time.
    ///
    /// # Errors
    /// There is no such handle, the time has passed, or the drive is worn out. It may also wear out
    /// while time passes.
    pub fn update_handle(&mut self, handle: u64, at: Option<u64>) -> Result<u64, Refusal> {
        let handles = self.session.sim().ftl().handles().map_or(0, |all| all.spec().count);
        let Some(known) = u8::try_from(handle).ok().filter(|handle| *handle < handles) else {
            return Err(Refusal::Handle { handle, handles });
        };
        if let Some(at) = at {
            self.advance(Some(at), &mut || true)?;
        }
        if self.worn_out_at().is_some() {
            return Err(self.worn_out());
        }
        self.session.update_handle(known);
        Ok(self.now())
    }

    fn worn_out(&self) -> Refusal {
        Refusal::WornOut { at: self.worn_out_at().unwrap_or_else(|| self.now()) }
    }

    fn note(&mut self, request: &Request) -> io::Result<()> {
        self.came += 1;
        self.span = self.span.max(request.end());
        let Some(trace) = &mut self.trace else { return Ok(()) };
        trace.rows.push(&[*request]);
        if trace.rows.len() == CHUNK {
            let rows = std::mem::take(&mut trace.rows);
            trace.writer.write(&rows.columns(self.session.flows()))?;
        }
        Ok(())
    }

    /// Lets time pass until `until` in ns, including the events at that time. Without `until`, time
    /// passes until every submitted request is done, or the drive is worn out. `look` is called now
    /// and then; if it returns `false`, this ends.
    ///
    /// # Errors
    /// `until` has passed.
    pub fn advance(
        &mut self,
        until: Option<u64>,
        look: &mut dyn FnMut() -> bool,
    ) -> Result<(), Refusal> {
        if let Some(until) = until {
            check_time("until", until, self.now())?;
        }
        let turn = self.session.pass(until.map(Time::from_ns), look);
        debug_assert!(turn != Turn::Done, "all that is done is kept");
        self.collect();
        Ok(())
    }

    fn collect(&mut self) {
        while let Some((at, done)) = self.session.take_done_at() {
            let token = self.tokens[done.token as usize];
            self.free.push(done.token);
            self.done.push_back(Answered { token, at, latency: done.latency });
        }
    }

    /// The requests that were done, in order of completion. The caller empties the queue.
    pub fn done(&mut self) -> &mut VecDeque<Answered> {
        &mut self.done
    }

    /// The end: serves the requests that are inside. Some drives would have acted differently, had
    /// they known with the last request that no more come. For these a flush is added, which is
    /// recorded as well. `name`: the name of the requests in results.
    ///
    /// # Errors
    /// The table of requests cannot be written.
    pub fn finish(mut self, name: &str) -> Result<Report, Refusal> {
        let mut last = None;
        self.session.end(&mut |flush| last = Some(*flush), &mut |_| {});
        if let Some(flush) = last {
            self.note(&flush)?;
        }
        let about = About {
            name: name.into(),
            format: "session".into(),
            sha256: None,
            reading: None,
            requests: Some(self.came),
            span: Some(self.span),
            timed: true,
            closed: Vec::new(),
            flows: self.session.flows().to_vec(),
            stand_in: None,
            notes: Vec::new(),
        };
        if let Some(Trace { mut writer, rows }) = self.trace {
            // An empty table has its columns, too.
            writer.write(&rows.columns(&about.flows))?;
            let mut said = json!({ "schema": TABLE, "version": env!("CARGO_PKG_VERSION") });
            let more = described(&about, (self.came, self.span), 0, 0, Some(0));
            if let (Some(said), Some(more)) = (said.as_object_mut(), more.as_object()) {
                said.extend(more.clone());
            }
            writer.finish(&[(METADATA.to_owned(), said.to_string())])?.flush()?;
        }
        Ok(self.session.report(&about))
    }
}

#[inline]
fn check_time(what: &'static str, at: u64, now: u64) -> Result<(), Refusal> {
    if at < now {
        return Err(Refusal::Past { what, at, now });
    }
    if at >= LATEST {
        return Err(Refusal::Late { what, at });
    }
    Ok(())
}
