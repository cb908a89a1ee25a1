//! What is counted while the drive runs. Nothing here divides: reports do.

use super::op::Spent;
use kernel::{Dur, Histogram};

/// The kinds of host request that are counted apart.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Class {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Deallocations.
    Trim,
}

/// The host requests of one class.
#[derive(Clone, Default, Debug)]
pub struct ClassStats {
    /// Requests completed.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latencies: completion minus arrival.
    pub latency: Histogram,
    /// Total delay by the throttle, in ns.
    pub throttle_ns: u128,
    /// Total wait behind each source, in ns, in the order of `Source::ALL`.
    pub queue_ns: [u128; 6],
    /// Total time on or waiting for the channel, in ns.
    pub bus_ns: u128,
    /// Total time in the array, in ns.
    pub array_ns: u128,
    /// Total time of correcting errors: what sensing and sending took beyond a plain read, in ns.
    pub ecc_ns: u128,
}

impl ClassStats {
    #[inline]
    pub(crate) fn complete(&mut self, bytes: u64, latency: Dur, throttle: u64, spent: &Spent) {
        self.requests += 1;
        self.bytes += bytes;
        self.latency.record(latency);
        self.throttle_ns += u128::from(throttle);
        for (sum, ns) in self.queue_ns.iter_mut().zip(spent.queue) {
            *sum += u128::from(ns);
        }
        self.bus_ns += u128::from(spent.bus);
        self.array_ns += u128::from(spent.array);
        if spent.ecc > 0 {
            self.ecc_ns += u128::from(spent.ecc);
        }
    }

    /// The sum of the parts, which must equal the sum of the latencies.
    pub fn parts_ns(&self) -> u128 {
        let waits = self.throttle_ns + self.queue_ns.iter().sum::<u128>();
        waits + self.bus_ns + self.array_ns + self.ecc_ns
    }
}

/// Latency of single page operations of the host: from the request's arrival to the page's end.
#[derive(Copy, Clone, Default, Debug)]
pub struct PageStats {
    /// Operations.
    pub count: u64,
    /// Their total latency in ns.
    pub sum_ns: u128,
}

/// Physical pages by source, by the level at which they are written, and by page type.
pub type PageCounts = [[[u64; 4]; 3]; 6];

/// Everything counted in one run, beside what the FTL counts.
#[derive(Clone, Default, Debug)]
pub struct Stats {
    /// Reads, writes, trims.
    pub classes: [ClassStats; 3],
    /// Of these, those of high priority, if there were any.
    pub urgent: Option<Box<[ClassStats; 3]>>,
    /// Requests taken from the workload.
    pub generated: u64,
    /// Requests completed.
    pub served: u64,
    /// Host page reads and writes.
    pub pages: [PageStats; 2],
    /// Page reads by the level at which the page was written.
    pub read_by_level: [u64; 3],
    /// Page programs by level.
    pub program_by_level: [u64; 3],
    /// Pages sensed; with the model of the cells by way of sensing instead of level, and each
    /// attempt.
    pub sensed: PageCounts,
    /// Pages programmed.
    pub programmed: PageCounts,
    /// Reads of read-modify-write.
    pub rmw_reads: u64,
    /// Host reads of pages that the map does not know, answered by flash or not.
    pub unmapped_reads: u64,
    /// Host page reads in all.
    pub host_page_reads: u64,
    /// Host page writes that waited for a free block.
    pub stalled_writes: u64,
    /// Host page reads that waited for the refresh of their block.
    pub barred_reads: u64,
    /// Host page operations that waited for a read-modify-write of their page.
    pub locked: u64,
    /// Host page reads that waited for a program on its way.
    pub parked_reads: u64,
    /// Write requests that the throttle held back.
    pub held: u64,
    /// Requests that arrived while the drive had `queue-limit` requests inside.
    pub limited: u64,
    /// Requests inside, integrated over time, in request-nanoseconds.
    pub occupancy_ns: u128,
    /// Total time that requests waited outside before the drive took them in, in ns.
    pub outside_ns: u128,
    /// Operations that shared their array time with others on other planes.
    pub merged: u64,
    /// Time that each source kept all dies busy, in ns.
    pub busy_ns: [u128; 6],
    /// Time that channels were busy, in ns.
    pub channel_ns: u128,
    /// When the last request completed, in ns.
    pub end_ns: u64,
    /// When the last page of the write buffer was in flash, in ns.
    pub emptied_ns: u64,
    /// Events processed.
    pub events: u64,
}
