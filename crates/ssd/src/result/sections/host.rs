//! The requests of the host: how many there were, how long they took, and why.

use super::SectionAbout;
use crate::host::{ClassStats, Delays, begin_of_cell};
use crate::result::evidence::Evidence;
use crate::result::names::{OperationNames, SourceNames, listed, names};
use crate::result::shape::{
    ByName, Called, Declared, EachName, Flat, KeyDecl, NameDecl, Since, TableDecl, TypeDecl,
    ValueShape, table,
};
use crate::sim::Class;
use ftl::PolicyTypes;
use kernel::Histogram;
use nand::{Cause, Each, Part, Parts, Source};
use serde_json::{Map, Value as Json};
use std::iter;
use workload::Flow;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "The requests of the host, by operation. Latency is the time from arrival to completion, and \
     includes the delay of a throttle. A request completes with its last page, and its causes are \
     those of that page.",
);

pub(crate) type Section = HostRequests;

table! {
    /// The requests of a run.
    struct HostRequests {
        /// The operations.
        operations: Flat<OperationNames, OperationRequests>;
        /// The requests of high priority, by operation. Null if there were none.
        high: Option<EachName<OperationNames, OperationRequests>>;
        /// The requests of each [flow](flows.md). Null for a workload that is one flow.
        flows: Option<ByName<FlowNames, FlowRequests>>, later null;
    }
}

/// Flows have names of their own.
pub(crate) struct FlowNames;

impl Called for FlowNames {
    const OF: &'static str = "flow";
}

table! {
    /// The requests of one flow.
    struct FlowRequests {
        /// The operations.
        operations: Flat<OperationNames, OperationRequests>;
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
    struct OperationRequests {
        /// Requests that completed.
        requests: u64, "requests";
        /// Their bytes.
        bytes: u64, "bytes";
        /// Their latency. All values are 0 without requests.
        latency_ns: LatencyTimes, "ns";
        /// The mean latency by cause. The parts add up to `latency_ns.mean`. Null in results of the
        /// first versions.
        delay_ns_by_cause: CauseMeans, "ns", later null;
        /// The slowest requests, which show why p99 is high. Null in results of earlier versions.
        slowest: SlowestRequests, later null;
    }
}

table! {
    /// Latencies. Percentiles have three digits. The mean and both ends are exact.
    struct LatencyTimes {
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

/// The mean time of a request, by cause.
pub(crate) struct CauseMeans(Parts<f64>);

/// The causes of `floatgate.run/1`. Earlier results lack all others.
const OF_THE_FIRST: [&str; 4] = ["throttle", "bus", "array", "ecc"];

impl CauseMeans {
    fn fields() -> Vec<KeyDecl> {
        let field = |name: NameDecl| KeyDecl {
            name: name.key,
            unit: "ns",
            about: name.about,
            kind: f64::kind(),
            since: Since::unless(OF_THE_FIRST.contains(&name.key)),
        };
        let queue = || KeyDecl {
            name: "queue",
            unit: "ns",
            about: "Waiting for a die, behind operations of each source.",
            kind: EachName::<SourceNames, f64>::kind(),
            since: Since::Start,
        };
        let before_queue = |name: &str| name == Part::BEFORE_QUEUE.name();
        let fields = names::<Cause>().flat_map(|name| {
            let queue = before_queue(name.key).then(queue);
            iter::once(field(name)).chain(queue)
        });
        fields.collect()
    }
}

impl Declared for CauseMeans {
    fn kind() -> TypeDecl {
        TypeDecl::of(ValueShape::TableDecl(TableDecl {
            name: "Causes",
            about: "The mean time of a request by cause. A request that waits in line, for a place inside the \
                    drive or in its write buffer, waits for what those before it wait for. A cause that \
                    the drive does not have is 0.",
            fields: Self::fields,
        }))
    }

    fn value(self) -> Json {
        let Parts { queue, causes } = self.0;
        let mut queue = Some(listed::<SourceNames, Source, f64>(|source| queue[source]));
        let mut all = Map::new();
        for field in Self::fields() {
            let known = Cause::ALL.into_iter().find(|cause| cause.name() == field.name);
            let value = match (known, field.name) {
                (Some(cause), _) => causes[cause].value(),
                (None, "queue") => queue.take().expect("it stands there once").value(),
                (None, _) => 0.0.value(),
            };
            all.insert(field.name.to_owned(), value);
        }
        all.into()
    }
}

table! {
    /// The requests whose latency is `from_ns` or more: the slowest 1 %, and those that are as slow.
    struct SlowestRequests {
        /// How many there are.
        requests: u64, "requests";
        /// The least latency among them: p99, or up to 3 % less.
        from_ns: u64, "ns";
        /// Their mean latency by cause.
        delay_ns_by_cause: CauseMeans, "ns";
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let flows = e.about.flows.iter().zip(&e.stats.flows);
    let flows: Vec<_> = flows.map(|(flow, counts)| of_flow(flow, counts)).collect();
    HostRequests {
        operations: Flat(operations(&e.stats.classes)),
        high: e.stats.urgent.as_deref().map(operations),
        flows: (!flows.is_empty()).then(|| ByName::new(flows)),
    }
}

fn of_flow(flow: &Flow, counts: &Each<Class, ClassStats>) -> (String, FlowRequests) {
    let of = FlowRequests {
        operations: Flat(operations(counts)),
        weight: flow.weight,
        queue_depth: flow.depth,
        region_bytes: vec![flow.region.0, flow.region.1],
    };
    (flow.name.clone(), of)
}

/// Requests by operation, and all of them.
fn operations(classes: &Each<Class, ClassStats>) -> EachName<OperationNames, OperationRequests> {
    // Trims have addresses and carry no data, so their bytes do not count for throughput.
    let data = classes[Class::Read].bytes + classes[Class::Write].bytes;
    let all = requests(&classes.values().collect::<Vec<_>>(), data);
    let each = classes.values().map(|class| requests(&[class], class.bytes));
    EachName::new(each.chain([all]))
}

/// Requests of some classes together, and their bytes.
fn requests(of: &[&ClassStats], bytes: u64) -> OperationRequests {
    let mut times = Histogram::new();
    for c in of {
        times.merge(&c.latency);
    }
    let delays = |ns: u64| of.iter().map(|c| c.delays.since(ns)).sum::<Delays>();
    let p99 = times.quantile_ns(0.99);
    let (all, slowest) = (delays(0), delays(p99));
    OperationRequests {
        requests: all.requests,
        bytes,
        latency_ns: latency(&times),
        delay_ns_by_cause: causes(&all),
        slowest: SlowestRequests {
            requests: slowest.requests,
            from_ns: begin_of_cell(p99),
            delay_ns_by_cause: causes(&slowest),
        },
    }
}

/// The mean delay of a request, by cause.
fn causes(delays: &Delays) -> CauseMeans {
    CauseMeans(delays.parts.map(|sum| sum.mean_ns(delays.requests)))
}

fn latency(times: &Histogram) -> LatencyTimes {
    let p = times.percentiles();
    LatencyTimes {
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
