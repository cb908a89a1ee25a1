//! The parts of a result that only divide what was counted.

use crate::config::Drive;
use crate::device::Cells;
use crate::host::ClassStats;
use crate::run::capacity;
use crate::sim::{Class, DeviceStats, Sim, Stats};
use ftl::{Counts, Ftl, Kit, State};
use kernel::{Histogram, IndexVec};
use nand::{BlockId, BySource, Level, Mode, Source};
use serde_json::{Map, Value, json};

pub(super) fn end<K: Kit>(drive: &Drive, sim: &Sim<K>, end_ns: u64, counts: &Counts) -> Value {
    let Some(at) = sim.worn_out_at() else {
        return json!({ "state": "completed", "at_ns": end_ns, "reason": null });
    };
    let blocks = drive.geometry.blocks();
    let worn = counts.retired - counts.condemned;
    let cycles = drive.reliability.endurance;
    let why = match (worn, counts.condemned) {
        (_, 0) => format!("{worn} of {blocks} blocks reached their {cycles} P/E cycles and were"),
        (0, lost) => {
            format!("{lost} of {blocks} blocks held pages that could not be read and were")
        }
        (_, lost) => format!(
            "of {blocks} blocks {worn} reached their {cycles} P/E cycles and {lost} held pages \
             that could not be read; these were"
        ),
    };
    json!({
        "state": "worn-out",
        "at_ns": at.as_ns(),
        "reason": format!(
            "{why} retired; what is left cannot hold the drive's {} and the space that garbage \
             collection needs",
            capacity(drive),
        ),
    })
}

pub(super) fn host(stats: &Stats) -> Value {
    let mut all = classes(&stats.classes);
    all["high"] = stats.urgent.as_deref().map_or(Value::Null, classes);
    all
}

/// Requests by what they do, and all of them.
fn classes(classes: &[ClassStats; 3]) -> Value {
    let mut all = ClassStats::default();
    for class in classes {
        all.requests += class.requests;
        all.bytes += class.bytes;
        all.latency.merge(&class.latency);
        all.throttle_ns += class.throttle_ns;
        for (sum, ns) in all.queue_ns.iter_mut().zip(class.queue_ns) {
            *sum += ns;
        }
        all.bus_ns += class.bus_ns;
        all.array_ns += class.array_ns;
        all.ecc_ns += class.ecc_ns;
    }
    json!({
        "read": class(&classes[Class::Read as usize]),
        "write": class(&classes[Class::Write as usize]),
        "trim": class(&classes[Class::Trim as usize]),
        "all": class(&all),
    })
}

fn class(c: &ClassStats) -> Value {
    let mean = |ns: u128| if c.requests == 0 { 0.0 } else { ns as f64 / c.requests as f64 };
    let queue: Map<String, Value> = Source::ALL
        .into_iter()
        .map(|s| (s.name().to_owned(), json!(mean(c.queue_ns[s as usize]))))
        .collect();
    json!({
        "requests": c.requests,
        "bytes": c.bytes,
        "latency_ns": latency(&c.latency),
        "delay_ns_by_cause": {
            "throttle": mean(c.throttle_ns),
            "queue": queue,
            "bus": mean(c.bus_ns),
            "array": mean(c.array_ns),
            "ecc": mean(c.ecc_ns),
        },
    })
}

fn latency(h: &Histogram) -> Value {
    let p = h.percentiles();
    json!({
        "mean": p.mean, "min": p.min, "p50": p.p50, "p90": p.p90, "p99": p.p99,
        "p99_9": p.p99_9, "p99_99": p.p99_99, "max": p.max,
    })
}

fn by_source(counts: &BySource<u64>) -> Value {
    let mut map: Map<String, Value> =
        Source::ALL.into_iter().map(|s| (s.name().to_owned(), counts[s].into())).collect();
    map.insert("total".into(), counts.total().into());
    Value::Object(map)
}

fn by_level(counts: &[u64; 3]) -> Value {
    Level::ALL.into_iter().map(|l| (l.name().to_owned(), json!(counts[l as usize]))).collect()
}

pub(super) fn flash(
    counts: &Counts,
    stats: &Stats,
    device: &DeviceStats,
    cells: Option<&Cells>,
) -> Value {
    let demand = &counts.gc_erase_by_demand;
    let mut demands: Map<String, Value> =
        [Source::Host, Source::Wear, Source::Refresh, Source::Rewrite, Source::Map]
            .into_iter()
            .map(|s| (s.name().to_owned(), demand[s].into()))
            .collect();
    demands.insert("total".into(), demand.total().into());
    let mut reprogram = BySource::default();
    reprogram[Source::Refresh] = counts.reprogrammed_pages;
    let page = |class: Class| {
        let p = stats.pages[class as usize];
        let mean = if p.count == 0 { 0.0 } else { p.sum_ns as f64 / p.count as f64 };
        json!({ "mean": mean })
    };
    json!({
        "read": by_source(&counts.read),
        "program": by_source(&counts.program),
        "erase": by_source(&counts.erase),
        "reprogram": by_source(&reprogram),
        "gc_erase_by_demand": demands,
        "page_latency_ns": { "read": page(Class::Read), "write": page(Class::Write) },
        "unmapped_reads": stats.unmapped_reads,
        "by_level": {
            "read": by_level(&device.read_by_level),
            "program": by_level(&device.program_by_level),
        },
        "rmw_reads": stats.rmw_reads,
        "skipped_pages": counts.skipped,
        "uncorrectable": cells.map_or(0, |c| c.counts().uncorrectable.iter().sum::<u64>()),
    })
}

pub(super) fn buffer<K: Kit>(sim: &Sim<K>) -> Value {
    sim.buffer().map_or(Value::Null, |b| {
        json!({
            "pages": b.places, "absorbed": b.absorbed, "read_hits": b.read_hits,
            "flushed": b.flushed, "waited": sim.wait_stats().buffer, "most": b.most, "left": b.left,
            "drain_ns": sim.drain().as_ns(),
        })
    })
}

fn moments(column: &IndexVec<BlockId, u32>) -> (f64, f64) {
    let n = column.len() as f64;
    let mean = column.as_slice().iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let square = column.as_slice().iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
    (mean, square.sqrt())
}

pub(super) fn spread(column: &IndexVec<BlockId, u32>, unit: f64) -> Value {
    let (mean, stddev) = moments(column);
    let (min, max) = (column.as_slice().iter().min(), column.as_slice().iter().max());
    json!({ "min": min, "mean": mean * unit, "max": max, "stddev": stddev * unit })
}

pub(super) fn spread_f64(column: &IndexVec<BlockId, u32>, unit: f64) -> Value {
    let (mean, stddev) = moments(column);
    let least = column.as_slice().iter().min().map_or(0.0, |&x| f64::from(x) * unit);
    let most = column.as_slice().iter().max().map_or(0.0, |&x| f64::from(x) * unit);
    json!({ "min": least, "mean": mean * unit, "max": most, "stddev": stddev * unit })
}

pub(super) fn capacity_of<K: Kit>(drive: &Drive, ftl: &Ftl<K>) -> Value {
    let blocks = || (0..drive.geometry.blocks() as u32).map(BlockId::from_u32);
    let in_state = |s: State| blocks().filter(|&b| ftl.blocks().state(b) == s).count();
    let low = blocks().filter(|&b| ftl.array().mode(b) == Mode::Low).count();
    let physical = drive.geometry.pages() as u64 * drive.geometry.page_size().get();
    json!({
        "physical_bytes": physical,
        "logical_bytes": capacity(drive).get(),
        "over_provisioning": drive.over_provisioning,
        "spare_factor": drive.spare_factor,
        "free_blocks": in_state(State::Free),
        "low_density_blocks": low,
        "bad_blocks": in_state(State::Bad),
    })
}
