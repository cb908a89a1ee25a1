//! The requests of the host: how many there were, how long they took, and why.

use super::About;
use crate::device::SUSPEND;
use crate::host::{ClassStats, Delays, begin_of_cell};
use crate::result::evidence::Evidence;
use crate::result::names::{Operations, Sources, of_sources};
use crate::result::shape::{ByName, Called, Each, table};
use crate::sim::Class;
use ftl::Kit;
use kernel::{Histogram, TimeSum};
use nand::Source;
use workload::Flow;

pub(crate) const ABOUT: About = About::section(
    "The requests of the host, by operation. Latency is the time from arrival to completion, and \
     includes the delay of a throttle. A request completes with its last page, and its causes are \
     those of that page.",
);

pub(crate) type Value = Host;

table! {
    /// The requests of a run.
    struct Host {
        /// Reads.
        read: OfOperation;
        /// Writes.
        write: OfOperation;
        /// Trims, by which the host discards data. Their bytes are the addresses that they discard.
        trim: OfOperation;
        /// Flushes, after which all earlier writes survive a loss of power.
        flush: OfOperation, later 0;
        /// All operations. Their bytes are those of reads and writes.
        all: OfOperation;
        /// The requests of high priority, by operation. Null if there were none.
        high: Option<Each<Operations, OfOperation>>;
        /// The requests of each [flow](flows.md). Null for a workload that is one flow.
        flows: Option<ByName<Flows, OfFlow>>, later null;
    }
}

/// Flows have names of their own.
pub(crate) struct Flows;

impl Called for Flows {
    const OF: &'static str = "flow";
}

table! {
    /// The requests of one flow.
    struct OfFlow {
        /// Reads.
        read: OfOperation;
        /// Writes.
        write: OfOperation;
        /// Trims.
        trim: OfOperation;
        /// Flushes.
        flush: OfOperation;
        /// All operations.
        all: OfOperation;
        /// The share of the flow for an arbiter that uses weights.
        weight: u32;
        /// The most requests of the flow inside the drive. Null without a limit of its own.
        queue_depth: Option<u32>, "requests";
        /// The addresses of the flow: its first byte, and the byte after its last.
        region_bytes: Vec<u64>, "bytes";
    }
}

table! {
    /// Requests of one operation.
    struct OfOperation {
        /// Requests that completed.
        requests: u64, "requests";
        /// Their bytes.
        bytes: u64, "bytes";
        /// Their latency. All values are 0 without requests.
        latency_ns: Latency, "ns";
        /// The mean latency by cause. The parts add up to `latency_ns.mean`. Null in results of the
        /// first versions.
        delay_ns_by_cause: Causes, "ns", later null;
        /// The slowest requests, which show why p99 is high. Null in results of earlier versions.
        slowest: Slowest, later null;
    }
}

table! {
    /// Latencies. Percentiles have three digits. The mean and both ends are exact.
    struct Latency {
        /// The mean.
        mean: f64;
        /// The shortest.
        min: u64;
        /// The median.
        p50: u64;
        /// The 90th percentile.
        p90: u64;
        /// The 99th percentile.
        p99: u64;
        /// The 99.9th percentile.
        p99_9: u64;
        /// The 99.99th percentile.
        p99_99: u64;
        /// The longest.
        max: u64;
    }
}

table! {
    /// The mean time of a request by cause. A cause that the drive does not have is 0.
    struct Causes {
        /// Held back by the throttle.
        throttle: f64, "ns";
        /// Waiting for a die, behind operations of each source.
        queue: Each<Sources, f64>, "ns";
        /// On the channel, or waiting for it.
        bus: f64, "ns";
        /// In the flash array, for the time of a plain read, a program or an erase.
        array: f64, "ns";
        /// Sensing and transfers beyond a plain read, to correct errors.
        ecc: f64, "ns";
        /// Into or out of the write buffer, or waiting for it.
        buffer: f64, "ns", later 0;
        /// On the link to the host, or waiting for it.
        link: f64, "ns", later 0;
        /// In the controller, or waiting for one of its cores.
        controller: f64, "ns", later 0;
        /// While a die suspends or resumes an operation.
        suspend: f64, "ns", later 0;
        /// Reading the map from flash. No drive does this yet.
        map: f64, "ns", later 0;
    }
}

table! {
    /// The requests whose latency is `from_ns` or more: the slowest 1 %, and those that are as slow.
    struct Slowest {
        /// How many there are.
        requests: u64, "requests";
        /// The least latency among them: p99, or up to 3 % less.
        from_ns: u64, "ns";
        /// Their mean latency by cause.
        delay_ns_by_cause: Causes, "ns";
    }
}

pub(crate) fn of<K: Kit>(e: &Evidence<'_, K>) -> Value {
    let [read, write, trim, flush, all] = operations(&e.stats.classes);
    let flows = e.about.flows.iter().zip(&e.stats.flows);
    let flows: Vec<_> = flows.map(|(flow, counts)| of_flow(flow, counts)).collect();
    Host {
        read,
        write,
        trim,
        flush,
        all,
        high: e.stats.urgent.as_deref().map(|urgent| Each::new(operations(urgent))),
        flows: (!flows.is_empty()).then(|| ByName::new(flows)),
    }
}

fn of_flow(flow: &Flow, counts: &[ClassStats; 4]) -> (String, OfFlow) {
    let [read, write, trim, flush, all] = operations(counts);
    let (weight, queue_depth) = (flow.weight, flow.depth);
    let region_bytes = vec![flow.region.0, flow.region.1];
    let of = OfFlow { read, write, trim, flush, all, weight, queue_depth, region_bytes };
    (flow.name.clone(), of)
}

/// Requests by operation, and all of them.
fn operations(classes: &[ClassStats; 4]) -> [OfOperation; 5] {
    let [read, write, trim, flush] = Class::ALL.map(|class| {
        let of = &classes[class as usize];
        requests(&[of], of.bytes)
    });
    // Trims have addresses and carry no data: their bytes are none of the drive's throughput.
    let data = classes[Class::Read as usize].bytes + classes[Class::Write as usize].bytes;
    [read, write, trim, flush, requests(&classes.each_ref(), data)]
}

/// Requests of some classes together, and their bytes.
fn requests(of: &[&ClassStats], bytes: u64) -> OfOperation {
    let mut times = Histogram::new();
    for c in of {
        times.merge(&c.latency);
    }
    let delays = |ns: u64| of.iter().map(|c| c.delays.since(ns)).sum::<Delays>();
    let p99 = times.quantile_ns(0.99);
    let (all, slowest) = (delays(0), delays(p99));
    OfOperation {
        requests: all.requests,
        bytes,
        latency_ns: latency(&times),
        delay_ns_by_cause: causes(&all),
        slowest: Slowest {
            requests: slowest.requests,
            from_ns: begin_of_cell(p99),
            delay_ns_by_cause: causes(&slowest),
        },
    }
}

/// The mean delay of a request, by cause.
fn causes(delays: &Delays) -> Causes {
    let n = delays.requests;
    let mean = |sum: TimeSum| sum.mean_ns(n);
    let waits = |s: Source| mean(delays.queue[s as usize]);
    Causes {
        throttle: mean(delays.throttle),
        queue: of_sources(|s| if s == SUSPEND { 0.0 } else { waits(s) }),
        bus: mean(delays.bus),
        array: mean(delays.array),
        ecc: mean(delays.ecc),
        buffer: mean(delays.buffer),
        link: mean(delays.link),
        controller: mean(delays.controller),
        suspend: waits(SUSPEND),
        map: 0.0,
    }
}

fn latency(times: &Histogram) -> Latency {
    let p = times.percentiles();
    Latency {
        mean: p.mean,
        min: p.min,
        p50: p.p50,
        p90: p.p90,
        p99: p.p99,
        p99_9: p.p99_9,
        p99_99: p.p99_99,
        max: p.max,
    }
}
