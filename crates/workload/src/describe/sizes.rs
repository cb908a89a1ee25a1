//! How large requests are.

use std::collections::BTreeMap;

use serde::Serialize;

use super::share;
use crate::Request;

/// Sizes of requests.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RequestSizes {
    /// The smallest request in bytes.
    pub least_bytes: u32,
    /// The largest request in bytes.
    pub most_bytes: u32,
    /// Different sizes.
    pub distinct: usize,
    /// By power of two, ascending, without gaps from the smallest to the largest.
    pub histogram: Vec<SizeClass>,
    /// The most frequent sizes, at most ten of them, the most frequent first.
    pub frequent: Vec<FrequentSize>,
}

/// Requests whose size lies in one power of two.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct SizeClass {
    /// The least size in bytes, a power of two.
    pub from_bytes: u64,
    /// Sizes are smaller than this.
    pub below_bytes: u64,
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
    /// Trims.
    pub trim: u64,
}

/// One size that many requests have.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct FrequentSize {
    /// The size.
    pub bytes: u32,
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
    /// Trims.
    pub trim: u64,
    /// Share of all requests.
    pub share: Option<f64>,
}

const FREQUENT: usize = 10;
const SECTOR: u32 = 512;
/// Whole sectors up to 2 MiB are counted in a column.
const COLUMN: usize = 4097;
/// Other sizes are remembered one by one, up to this number. A workload with more of them has no
/// frequent one. Further sizes only count in their power of two.
const ODD: usize = 1 << 16;

type ByOp = [u64; 3];

pub(super) struct Counter {
    powers: [ByOp; 32],
    sectors: Vec<ByOp>,
    odd: BTreeMap<u32, ByOp>,
    least: u32,
    most: u32,
}

impl Counter {
    pub(super) fn new() -> Self {
        Self {
            powers: [[0; 3]; 32],
            sectors: vec![[0; 3]; COLUMN],
            odd: BTreeMap::new(),
            least: u32::MAX,
            most: 0,
        }
    }

    pub(super) fn observe(&mut self, batch: &[Request]) {
        for r in batch {
            let op = r.op as usize;
            self.powers[r.len.ilog2() as usize][op] += 1;
            self.least = self.least.min(r.len);
            self.most = self.most.max(r.len);
            let sectors = (r.len / SECTOR) as usize;
            if r.len % SECTOR == 0 && sectors < COLUMN {
                self.sectors[sectors][op] += 1;
            } else if self.odd.len() < ODD || self.odd.contains_key(&r.len) {
                self.odd.entry(r.len).or_default()[op] += 1;
            }
        }
    }

    pub(super) fn finish(self) -> RequestSizes {
        let sum = |by_op: &ByOp| by_op.iter().sum::<u64>();
        let all = self.powers.iter().map(sum).sum();
        let sectors = self.sectors.iter().enumerate().map(|(n, &by_op)| (n as u32 * SECTOR, by_op));
        let mut sizes: Vec<(u32, ByOp)> =
            sectors.filter(|(_, by_op)| sum(by_op) > 0).chain(self.odd).collect();
        let distinct = sizes.len();
        sizes.sort_by_key(|(bytes, by_op)| (u64::MAX - sum(by_op), *bytes));
        sizes.truncate(FREQUENT);
        let frequent = sizes.into_iter().map(|(bytes, by_op)| {
            let [read, write, trim] = by_op;
            FrequentSize { bytes, read, write, trim, share: share(sum(&by_op), all) }
        });
        let seen = |power: &usize| sum(&self.powers[*power]) > 0;
        let (first, end) = match ((0..32).find(seen), (0..32).rfind(seen)) {
            (Some(first), Some(last)) => (first, last + 1),
            _ => (0, 0),
        };
        let histogram = (first..end).map(|power| {
            let [read, write, trim] = self.powers[power];
            SizeClass { from_bytes: 1 << power, below_bytes: 2 << power, read, write, trim }
        });
        RequestSizes {
            least_bytes: if all > 0 { self.least } else { 0 },
            most_bytes: self.most,
            distinct,
            histogram: histogram.collect(),
            frequent: frequent.collect(),
        }
    }
}
