//! The number of requests of each operation, and their bytes.

use serde::Serialize;

use super::share;
use crate::{Op, Request};

/// Requests and bytes of one operation.
#[derive(Copy, Clone, Default, PartialEq, Debug, Serialize)]
pub struct RequestCounts {
    /// Reads.
    pub read: OfOp,
    /// Writes.
    pub write: OfOp,
    /// Trims.
    pub trim: OfOp,
    /// All of these. Bytes are those of reads and writes, which carry data.
    pub all: OfOp,
    /// Flushes, which are not among these.
    pub flushes: u64,
    /// Those of the writes that bypass volatile memory (FUA).
    pub fua_writes: u64,
}

/// Counts of one operation.
#[derive(Copy, Clone, Default, PartialEq, Debug, Serialize)]
pub struct OfOp {
    /// Requests.
    pub requests: u64,
    /// Their bytes: data of reads and writes, addresses of trims.
    pub bytes: u64,
    /// Their share of all requests.
    pub requests_share: Option<f64>,
    /// Their share of the data; none of trims, which carry no data.
    pub bytes_share: Option<f64>,
    /// Mean size in bytes, of requests that carry data or of trims.
    pub mean_bytes: Option<f64>,
}

/// Requests and bytes so far, by [`Op`].
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Mix {
    pub(super) requests: [u64; 3],
    pub(super) bytes: [u64; 3],
    pub(super) flushes: u64,
    pub(super) fua_writes: u64,
}

impl Mix {
    pub(super) fn observe(&mut self, batch: &[Request]) {
        for r in batch {
            self.requests[r.op as usize] += 1;
            self.bytes[r.op as usize] += u64::from(r.len);
        }
    }

    /// The same requests without flushes, which are counted apart, and with writes for writes.
    pub(super) fn plain(&mut self, batch: &[Request]) -> Vec<Request> {
        let fua = batch.iter().filter(|r| r.op == Op::WriteFua).count();
        self.fua_writes += fua as u64;
        let plain =
            |r: &Request| Request { op: if r.op.writes() { Op::Write } else { r.op }, ..*r };
        let kept: Vec<_> = batch.iter().filter(|r| r.has_extent()).map(plain).collect();
        self.flushes += (batch.len() - kept.len()) as u64;
        kept
    }

    pub(super) fn requests(&self) -> RequestCounts {
        let all = self.requests.iter().sum();
        let carrying = [Op::Read, Op::Write].map(|op| op as usize);
        let [requests, data] = [&self.requests, &self.bytes]
            .map(|counts| carrying.iter().map(|at| counts[*at]).sum::<u64>());
        let op = |op: Op| {
            let (requests, bytes) = (self.requests[op as usize], self.bytes[op as usize]);
            let bytes_share = if op == Op::Trim { None } else { share(bytes, data) };
            let requests_share = share(requests, all);
            OfOp {
                requests,
                bytes,
                requests_share,
                bytes_share,
                mean_bytes: share(bytes, requests),
            }
        };
        RequestCounts {
            read: op(Op::Read),
            write: op(Op::Write),
            trim: op(Op::Trim),
            all: OfOp {
                requests: all,
                bytes: data,
                requests_share: share(all, all),
                bytes_share: share(data, data),
                mean_bytes: share(data, requests),
            },
            flushes: self.flushes,
            fua_writes: self.fua_writes,
        }
    }
}
