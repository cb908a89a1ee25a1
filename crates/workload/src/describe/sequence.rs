//! How often requests begin where others ended.

use serde::Serialize;

use super::share;
use crate::{Op, Request};

/// A drive's prefetcher follows about this number of streams; so do we.
const STREAMS: usize = 32;

/// Order of addresses.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sequence {
    /// Share of requests that start where the request before them ended, of any operation.
    pub after_previous: Option<f64>,
    /// The number of streams that are followed: of one operation each, those that went on last.
    pub streams: usize,
    /// Share of requests that go on one of these streams. Devices of a trace have addresses of
    /// their own, so streams of different devices never mix.
    pub in_stream: Option<f64>,
    /// Share of the reads that do.
    pub reads_in_stream: Option<f64>,
    /// Share of the writes that do.
    pub writes_in_stream: Option<f64>,
    /// A run is a stream from its first request to its last, a lone request a run of one.
    pub runs: u64,
    /// Mean requests of a run.
    pub mean_requests: Option<f64>,
    /// Mean bytes of a run.
    pub mean_bytes: Option<f64>,
    /// The longest run in bytes.
    pub longest_bytes: u64,
    /// By length in requests and power of two, ascending, without gaps.
    pub histogram: Vec<RunLengths>,
}

/// Runs whose number of requests lies in one power of two.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct RunLengths {
    /// The least number of requests, a power of two.
    pub from_requests: u64,
    /// Numbers of requests are smaller than this.
    pub below_requests: u64,
    /// Runs.
    pub runs: u64,
    /// Their requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

#[derive(Copy, Clone)]
struct Stream {
    end: u64,
    op: Op,
    requests: u64,
    bytes: u64,
}

pub(super) struct Streams {
    /// The stream that went on last comes first.
    open: Vec<Stream>,
    previous_end: Option<u64>,
    after_previous: u64,
    requests: [u64; 3],
    in_stream: [u64; 3],
    longest: u64,
    /// Runs, requests and bytes by power of two of the requests.
    closed: Vec<[u64; 3]>,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self {
            open: Vec::with_capacity(STREAMS),
            previous_end: None,
            after_previous: 0,
            requests: [0; 3],
            in_stream: [0; 3],
            longest: 0,
            closed: Vec::new(),
        }
    }

    pub(super) fn observe(&mut self, batch: &[Request]) {
        for r in batch {
            self.after_previous += u64::from(self.previous_end == Some(r.offset));
            self.previous_end = Some(r.end());
            self.requests[r.op as usize] += 1;
            let len = u64::from(r.len);
            let goes_on = |s: &Stream| s.end == r.offset && s.op == r.op;
            let place = if let Some(place) = self.open.iter().position(goes_on) {
                self.in_stream[r.op as usize] += 1;
                let stream = &mut self.open[place];
                stream.end = r.end();
                stream.requests += 1;
                stream.bytes += len;
                place
            } else {
                if self.open.len() == STREAMS {
                    self.close();
                }
                self.open.push(Stream { end: r.end(), op: r.op, requests: 1, bytes: len });
                self.open.len() - 1
            };
            self.open[..=place].rotate_right(1);
        }
    }

    /// Ends the stream that has waited longest.
    fn close(&mut self) {
        let Some(stream) = self.open.pop() else { return };
        let power = stream.requests.ilog2() as usize;
        if self.closed.len() <= power {
            self.closed.resize(power + 1, [0; 3]);
        }
        for (sum, more) in self.closed[power].iter_mut().zip([1, stream.requests, stream.bytes]) {
            *sum += more;
        }
        self.longest = self.longest.max(stream.bytes);
    }

    pub(super) fn finish(mut self) -> Sequence {
        while !self.open.is_empty() {
            self.close();
        }
        let all = self.requests.iter().sum();
        let of = |op: Op| share(self.in_stream[op as usize], self.requests[op as usize]);
        let total = |column: usize| self.closed.iter().map(|row| row[column]).sum::<u64>();
        let histogram = self.closed.iter().enumerate().map(|(power, row)| RunLengths {
            from_requests: 1 << power,
            below_requests: 2 << power,
            runs: row[0],
            requests: row[1],
            bytes: row[2],
        });
        Sequence {
            after_previous: share(self.after_previous, all),
            streams: STREAMS,
            in_stream: share(self.in_stream.iter().sum(), all),
            reads_in_stream: of(Op::Read),
            writes_in_stream: of(Op::Write),
            runs: total(0),
            mean_requests: share(total(1), total(0)),
            mean_bytes: share(total(2), total(0)),
            longest_bytes: self.longest,
            histogram: histogram.collect(),
        }
    }
}
