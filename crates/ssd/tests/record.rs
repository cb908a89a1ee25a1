//! Right number? The rows that a run leaves: made by hand where that is possible, otherwise
//! computed from each other and compared with the report, which is counted apart.

#![allow(clippy::float_cmp)] // what must be exact is compared exactly

use crate::common::{
    self, bytes, class_of, count, drive, number, policies_of, read, trim, urgent, without_timing,
    write,
};
use floatgate_ssd::config::Recording;
use floatgate_ssd::record::{CHUNK, Column, RunTable, Sink, Values};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{Drive, NoCache, RunError, ftl_of, generator, run, run_recorded};
use ftl::{Balance, FtlView, Interests, Plan, Role, Step, Watch, Wear};
use kernel::Time;
use nand::BlockId;
use policies::WearPolicy;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use workload::{List, Op, Request, Workload};

const OPERATIONS: [&str; 3] = ["read", "write", "trim"];
const SOURCES: [&str; 8] = ["host", "gc", "wear", "refresh", "rewrite", "map", "parity", "fold"];
const PARTS: [&str; 12] = [
    "throttle_ns",
    "queue_host_ns",
    "queue_gc_ns",
    "queue_wear_ns",
    "queue_refresh_ns",
    "queue_rewrite_ns",
    "queue_map_ns",
    "queue_parity_ns",
    "queue_fold_ns",
    "bus_ns",
    "array_ns",
    "ecc_ns",
];

/// Rows that a run handed over.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<BTreeMap<RunTable, Vec<Vec<Column>>>>>);

impl Rows {
    fn sink(&self) -> Sink {
        let rows = self.0.clone();
        Box::new(move |table, columns| {
            let lengths: BTreeSet<usize> = columns.iter().map(|c| c.values.len()).collect();
            assert_eq!(lengths.len(), 1, "columns of one length");
            rows.lock().unwrap().entry(table).or_default().push(columns);
            true
        })
    }

    fn tables(&self) -> Vec<RunTable> {
        self.0.lock().unwrap().keys().copied().collect()
    }

    /// Rows of each part of a table.
    fn parts(&self, table: RunTable) -> Vec<usize> {
        self.0.lock().unwrap()[&table].iter().map(|columns| columns[0].values.len()).collect()
    }

    fn of<T>(&self, table: RunTable, name: &str, values: impl Fn(&Column) -> Vec<T>) -> Vec<T> {
        let parts = &self.0.lock().unwrap()[&table];
        let column = |columns: &Vec<Column>| {
            let found = columns.iter().find(|c| c.name == name);
            values(found.unwrap_or_else(|| panic!("no column {name}")))
        };
        parts.iter().flat_map(column).collect()
    }

    /// A column of whole numbers.
    fn whole(&self, table: RunTable, name: &str) -> Vec<u64> {
        self.of(table, name, |column| match &column.values {
            Values::U32(v) => v.iter().map(|&n| n.into()).collect(),
            Values::U64(v) => v.clone(),
            Values::Zeros(n) => vec![0; *n],
            _ => panic!("{name} has no whole numbers"),
        })
    }

    fn fractions(&self, table: RunTable, name: &str) -> Vec<f64> {
        self.of(table, name, |column| match &column.values {
            Values::F64(v) => v.clone(),
            _ => panic!("{name} has no fractions"),
        })
    }

    fn words(&self, table: RunTable, name: &str) -> Vec<String> {
        self.of(table, name, |column| match &column.values {
            Values::Words(codes, words) => {
                codes.iter().map(|&c| words[c as usize].clone()).collect()
            }
            _ => panic!("{name} has no words"),
        })
    }

    /// Everything, so that it can be compared: a mean of nothing equals no other.
    fn text(&self) -> String {
        format!("{:?}", self.0.lock().unwrap())
    }

    /// The exact sum of a column.
    fn sum(&self, table: RunTable, name: &str) -> u128 {
        self.whole(table, name).into_iter().map(u128::from).sum()
    }
}

fn record(drive: &Drive, workload: Box<dyn Workload>) -> (Value, Rows) {
    let rows = Rows::default();
    let sink = Some(rows.sink());
    let report = run_recorded(drive, workload, &mut NoCache, &mut |_| true, sink);
    (report.unwrap_or_else(|e| panic!("{e}")).value().clone(), rows)
}

fn record_list(drive: &Drive, requests: Vec<Request>) -> (Value, Rows) {
    record(drive, Box::new(List::new("list", requests).expect("the list is in order")))
}

/// Drives on which everything is recorded: waits of every kind, wear, a bus, open and closed loops,
/// the end of a drive's life, a write buffer.
const BUSY: [(&[&str], &str); 5] = [
    (&[], "random-write"),
    (&["policy wear=static:threshold=3", "policy order=priority"], "hot-cold"),
    (&["host.mode=timestamps", "timing.bus={ rate = \"333MT/s\", command = \"300ns\" }"], "zipf"),
    (&["reliability.endurance=12"], "random-write"),
    (&["buffer.size=256KiB"], "hot-cold"),
];

fn busy(own: &[&str]) -> Drive {
    let settings = [
        "geometry.channels=2",
        "geometry.chips-per-channel=3",
        "geometry.dies-per-chip=2",
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=20",
        "ftl.spare-factor=0.25",
        "ftl.gc.stop=3",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "workload.requests=40000",
        "workload.read-share=0.3",
        "workload.trim-share=0.05",
        "workload.size=[{ size = \"4KiB\", share = 0.7 }, { size = \"20KiB\", share = 0.3 }]",
        "workload.align=512B",
        "workload.arrivals={ poisson = { iops = 3000 } }",
    ];
    drive(&[&settings, own].concat())
}

fn record_busy(case: usize, more: &[&str]) -> (Value, Rows) {
    let (own, pattern) = BUSY[case];
    let drive = busy(&[own, more].concat());
    let made = generator(&drive, pattern).expect("a known generator");
    let (value, rows) = record(&drive, made);
    let worn_out = value["end"]["state"] == "worn-out";
    assert_eq!(worn_out, case == 3, "the last drive wears out");
    assert!(count(&value["flash"]["erase"]["gc"]) > 100, "garbage is collected");
    (value, rows)
}

// ── Requests ────────────────────────────────────────────────────────────────────────────────────

#[test]
fn rows_made_by_hand() {
    // One die: a program takes 600 us, a read 50 us, and nothing else is in the way.
    let requests = vec![
        write(0, 3),
        urgent(read(100_000, 3)),
        bytes(200_000, Op::Read, 5 * 4096 + 512, 1024),
        trim(900_000, 3),
    ];
    let (_, rows) = record_list(&drive(&["precondition.fill=full"]), requests);
    let r = RunTable::Requests;
    assert_eq!(rows.whole(r, "arrival_ns"), [0, 100_000, 200_000, 900_000]);
    // The reads wait for the end of the program, and the second for the first.
    assert_eq!(rows.whole(r, "latency_ns"), [600_000, 550_000, 500_000, 0]);
    assert_eq!(rows.whole(r, "queue_host_ns"), [0, 500_000, 450_000, 0]);
    assert_eq!(rows.whole(r, "array_ns"), [600_000, 50_000, 50_000, 0]);
    assert_eq!(rows.words(r, "operation"), ["write", "read", "read", "trim"]);
    assert_eq!(rows.words(r, "priority"), ["normal", "high", "normal", "normal"]);
    assert_eq!(rows.whole(r, "offset_bytes"), [12_288, 12_288, 20_992, 12_288]);
    assert_eq!(rows.whole(r, "size_bytes"), [4096, 4096, 1024, 4096]);
    for nothing in ["throttle_ns", "bus_ns", "queue_gc_ns", "queue_wear_ns", "queue_map_ns"] {
        assert_eq!(rows.whole(r, nothing), [0; 4], "{nothing}");
    }
}

#[test]
fn addresses_are_those_that_the_drive_sees() {
    let drive = drive(&["host.out-of-range=wrap", "workload.shift=-512B"]);
    let capacity = u64::from(drive.logical_pages) * 4096;
    let requests = vec![read(0, 1), bytes(1_000_000, Op::Read, capacity + 8704, 4096)];
    let (_, rows) = record_list(&drive, requests);
    assert_eq!(rows.whole(RunTable::Requests, "offset_bytes"), [3584, 8192]);
}

#[test]
fn the_parts_of_each_request_add_up_to_its_latency() {
    for case in 0..BUSY.len() {
        let (_, rows) = record_busy(case, &[]);
        let parts = PARTS.map(|part| rows.whole(RunTable::Requests, part));
        let latencies = rows.whole(RunTable::Requests, "latency_ns");
        for (row, latency) in latencies.iter().enumerate() {
            let sum: u64 = parts.iter().map(|part| part[row]).sum();
            assert_eq!(sum, *latency, "case {case}, row {row}");
        }
        assert!(latencies.len() > 1_000);
    }
}

#[test]
fn requests_come_in_order_of_completion_and_make_up_the_report() {
    for case in 0..BUSY.len() {
        let (value, rows) = record_busy(case, &[]);
        let r = RunTable::Requests;
        let latencies = rows.whole(r, "latency_ns");
        let ends: Vec<u64> =
            rows.whole(r, "arrival_ns").iter().zip(&latencies).map(|(at, ns)| at + ns).collect();
        assert!(ends.is_sorted(), "case {case}");
        let (operations, sizes) = (rows.words(r, "operation"), rows.whole(r, "size_bytes"));
        for operation in OPERATIONS {
            let class = class_of(&value, operation);
            let mine: Vec<usize> =
                (0..ends.len()).filter(|&i| operations[i] == operation).collect();
            assert_eq!(mine.len() as u64, class.requests);
            assert_eq!(mine.iter().map(|&i| sizes[i]).sum::<u64>(), class.bytes);
            assert_eq!(mine.iter().map(|&i| latencies[i]).max(), Some(class.max));
            assert_eq!(mine.iter().map(|&i| latencies[i]).min(), Some(class.min));
            let parts = PARTS.map(|part| rows.whole(r, part));
            let means = parts
                .map(|part| mine.iter().map(|&i| part[i]).sum::<u64>() as f64 / mine.len() as f64);
            let [throttle, queue @ .., bus, array, ecc] = means;
            assert_eq!((throttle, queue), (class.throttle, class.queue), "{operation}");
            assert_eq!((bus, array, ecc), (class.bus, class.array, class.ecc), "{operation}");
        }
    }
}

#[test]
fn the_slowest_are_the_rows_that_took_as_long_as_p99() {
    for case in 0..BUSY.len() {
        let (value, rows) = record_busy(case, &[]);
        let r = RunTable::Requests;
        let (operations, latencies) = (rows.words(r, "operation"), rows.whole(r, "latency_ns"));
        let parts = PARTS.map(|part| rows.whole(r, part));
        for operation in [&OPERATIONS[..], &["all"]].concat() {
            let class = &value["host"][operation];
            let slowest = &class["slowest"];
            if count(&class["requests"]) == 0 {
                assert!(slowest.is_null());
                continue;
            }
            let (from, p99) = (count(&slowest["from_ns"]), count(&class["latency_ns"]["p99"]));
            assert!(from <= p99 && p99 - from <= p99 / 32, "from {from}, p99 {p99}");
            let of = |i: usize| operation == "all" || operations[i] == operation;
            let slow: Vec<usize> =
                (0..latencies.len()).filter(|&i| of(i) && latencies[i] >= from).collect();
            assert_eq!(slow.len() as u64, count(&slowest["requests"]), "{operation}");
            assert!(slow.len() as u64 * 100 >= count(&class["requests"]));
            let delay = &slowest["delay_ns_by_cause"];
            for (name, part) in PARTS.iter().zip(&parts) {
                let mean = slow.iter().map(|&i| part[i]).sum::<u64>() as f64 / slow.len() as f64;
                let cause = name.strip_suffix("_ns").unwrap();
                let told = match cause.strip_prefix("queue_") {
                    Some(source) => &delay["queue"][source],
                    None => &delay[cause],
                };
                assert_eq!(common::number(told), mean, "case {case}, {operation}, {cause}");
            }
        }
    }
}

#[test]
fn percentiles_of_the_rows_are_those_of_the_histogram() {
    let (value, rows) = record_busy(0, &[]);
    let operations = rows.words(RunTable::Requests, "operation");
    let latencies = rows.whole(RunTable::Requests, "latency_ns");
    for operation in ["read", "write"] {
        let mut all: Vec<u64> = (0..latencies.len())
            .filter(|&i| operations[i] == operation)
            .map(|i| latencies[i])
            .collect();
        all.sort_unstable();
        for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)] {
            let rank = (share * all.len() as f64).ceil() as usize;
            let theirs = count(&value["host"][operation]["latency_ns"][name]) as f64;
            // The histogram has three digits.
            common::close(name, theirs, all[rank - 1] as f64, 1e-3);
        }
    }
}

// ── Series ──────────────────────────────────────────────────────────────────────────────────────

#[test]
fn rows_follow_one_another_and_their_number_does_not_grow() {
    for requests in ["2000", "40000", "80000"] {
        let (_, rows) = record_busy(0, &[&format!("workload.requests={requests}")]);
        let starts = rows.whole(RunTable::Series, "start_ns");
        let widths = rows.whole(RunTable::Series, "width_ns");
        assert!((1024..=2048).contains(&starts.len()), "{requests}: {} rows", starts.len());
        assert_eq!(starts[0], 0);
        for i in 1..starts.len() {
            assert_eq!(starts[i], starts[i - 1] + widths[i - 1]);
        }
        let (last, full) = widths.split_last().unwrap();
        assert!(full.iter().all(|width| *width == full[0]) && *last <= full[0] && *last > 0);
        // One microsecond, doubled as often as it takes.
        assert!(full[0] % 1000 == 0 && (full[0] / 1000).is_power_of_two());
    }
}

#[test]
fn sums_over_the_series_are_the_totals_of_the_report() {
    for case in 0..BUSY.len() {
        for interval in ["run.series-interval=auto", "run.series-interval=700us"] {
            let (value, rows) = record_busy(case, &[interval]);
            let sum = |name: &str| rows.sum(RunTable::Series, name);
            let all = class_of(&value, "all");
            for operation in OPERATIONS {
                let class = class_of(&value, operation);
                assert_eq!(sum(&format!("{operation}_requests")), class.requests.into());
                assert_eq!(sum(&format!("{operation}_bytes")), class.bytes.into());
                let latency = sum(&format!("{operation}_latency_sum_ns"));
                assert_eq!(latency as f64 / class.requests as f64, class.mean);
                let greatest = rows.whole(RunTable::Series, &format!("{operation}_latency_max_ns"));
                let greatest = greatest.into_iter().filter(|&ns| ns != u64::MAX).max();
                assert_eq!(greatest, Some(class.max));
            }
            let mean = |part: &str| sum(part) as f64 / all.requests as f64;
            assert_eq!(PARTS.map(sum), PARTS.map(|part| rows.sum(RunTable::Requests, part)));
            assert_eq!((mean("bus_ns"), mean("array_ns")), (all.bus, all.array));
            let flash = &value["flash"];
            for source in SOURCES {
                for (kind, unit) in [("read", "pages"), ("program", "pages"), ("erase", "blocks")] {
                    let name = format!("flash_{kind}_{source}_{unit}");
                    assert_eq!(sum(&name), count(&flash[kind][source]).into(), "{name}");
                }
            }
            let for_refresh = count(&flash["gc_erase_by_demand"]["refresh"]);
            assert_eq!(sum("gc_erase_blocks_for_refresh"), for_refresh.into());
            assert_eq!(sum("flash_reprogram_pages"), count(&flash["reprogram"]["total"]).into());
            let stalled = &value["policies"]["placement"]["counters"]["stalled"];
            assert_eq!(sum("stalled_writes"), count(stalled).into());
            let free = *rows.whole(RunTable::Series, "free_blocks").last().unwrap();
            assert_eq!(free, count(&value["capacity"]["free_blocks"]));
        }
    }
}

#[test]
fn a_row_has_the_requests_that_completed_in_its_time() {
    for interval in ["run.series-interval=auto", "run.series-interval=3ms"] {
        let (_, rows) = record_busy(2, &[interval]);
        let (r, s) = (RunTable::Requests, RunTable::Series);
        let starts = rows.whole(s, "start_ns");
        // A row ends with its last instant; the first begins with zero.
        let row_of = |end: u64| starts.partition_point(|start| *start < end).max(1) - 1;
        let mut sums = vec![[(0, 0, 0); 3]; starts.len()];
        let operations = rows.words(r, "operation");
        let (arrivals, latencies) = (rows.whole(r, "arrival_ns"), rows.whole(r, "latency_ns"));
        for i in 0..arrivals.len() {
            let class = OPERATIONS.iter().position(|o| *o == operations[i]).unwrap();
            let (n, sum, most) = &mut sums[row_of(arrivals[i] + latencies[i])][class];
            (*n, *sum, *most) = (*n + 1, *sum + latencies[i], latencies[i].max(*most));
        }
        let mut empty = 0;
        for (class, operation) in OPERATIONS.into_iter().enumerate() {
            let column = |name: &str| rows.whole(s, &format!("{operation}_{name}"));
            let (n, sum) = (column("requests"), column("latency_sum_ns"));
            let most = column("latency_max_ns");
            let means = rows.fractions(s, &format!("{operation}_latency_mean_ns"));
            for (row, expected) in sums.iter().enumerate() {
                assert_eq!((n[row], sum[row]), (expected[class].0, expected[class].1));
                if n[row] == 0 {
                    assert!(means[row].is_nan() && most[row] == u64::MAX);
                    empty += 1;
                } else {
                    assert_eq!(most[row], expected[class].2);
                    assert_eq!(means[row], sum[row] as f64 / n[row] as f64);
                }
            }
        }
        assert!(empty > 0, "some rows have no trims");
    }
}

#[test]
fn the_requests_inside_are_those_that_have_come_and_not_gone() {
    for case in [0, 2] {
        let (_, rows) = record_busy(case, &["host.queue-limit=1000000"]);
        let (r, s) = (RunTable::Requests, RunTable::Series);
        let (starts, widths) = (rows.whole(s, "start_ns"), rows.whole(s, "width_ns"));
        let mut inside = vec![0; starts.len()];
        let arrivals = rows.whole(r, "arrival_ns").into_iter();
        for (from, latency) in arrivals.zip(rows.whole(r, "latency_ns")) {
            let to = from + latency;
            let first = starts.partition_point(|start| *start <= from) - 1;
            for row in first..starts.len() {
                if starts[row] >= to {
                    break;
                }
                inside[row] += to.min(starts[row] + widths[row]) - from.max(starts[row]);
            }
        }
        let ours = rows.fractions(s, "requests_inside");
        for row in 0..starts.len() {
            let mean = inside[row] as f64 / widths[row] as f64;
            assert!((ours[row] - mean).abs() < 1e-9, "row {row}: {} for {mean}", ours[row]);
        }
        if case == 0 {
            // A closed loop: as many as the queue is deep, while requests last.
            let half = &ours[..ours.len() / 2];
            assert!(half.iter().all(|inside| (inside - 32.0).abs() < 1e-9));
        }
    }
}

#[test]
fn a_year_in_which_nothing_happens_is_one_row() {
    const YEAR: u64 = 365 * 86_400 * 1_000_000_000;
    const WIDTH: u64 = 1_000_000;
    // A second has 1000 rows. A year has one, until the last row that ends before a request.
    let times = [0, WIDTH / 2, 1000 * WIDTH, YEAR, YEAR + 3 * WIDTH, 2 * YEAR + WIDTH / 3];
    let requests = times.iter().enumerate().map(|(i, &at)| write(at, i as u64)).collect();
    let (_, rows) = record_list(&drive(&["run.series-interval=1ms"]), requests);
    let column = |name: &str| rows.whole(RunTable::Series, name);
    let (starts, widths) = (column("start_ns"), column("width_ns"));
    let done = column("write_requests");
    assert_eq!(done.iter().sum::<u64>(), times.len() as u64);
    assert_eq!(starts[0], 0);
    for i in 1..starts.len() {
        assert_eq!(starts[i], starts[i - 1] + widths[i - 1]);
        assert_eq!(starts[i] % WIDTH, 0, "rows begin at multiples of their length");
    }
    let long: Vec<usize> = (0..starts.len()).filter(|&i| widths[i] > WIDTH).collect();
    assert_eq!(long.len(), 2, "one for each year: {} rows", starts.len());
    assert!(long.iter().all(|&i| done[i] == 0 && widths[i] > YEAR - 2000 * WIDTH));
    assert!((1000..1100).contains(&starts.len()), "{} rows", starts.len());
    let (full, last) = (&widths[..widths.len() - 1], starts.len() - 1);
    assert!(full.iter().enumerate().all(|(i, &w)| w == WIDTH || long.contains(&i)));
    assert!(done[last] > 0, "the run ends with its last request");
}

#[test]
fn rows_of_a_fixed_length_come_in_parts_and_may_be_empty() {
    // Half a second between two requests: 5000 rows of 100 us, most of them empty.
    let requests = vec![write(0, 1), write(500_000_000, 2)];
    let (_, rows) = record_list(&drive(&["run.series-interval=100us"]), requests);
    assert_eq!(rows.parts(RunTable::Series), [2048, 2048, 910]);
    let programs = rows.whole(RunTable::Series, "flash_program_host_pages");
    let busy: Vec<usize> = (0..programs.len()).filter(|&row| programs[row] > 0).collect();
    // The sixth row ends with the instant at which the first program does.
    assert_eq!(busy, [5, 5005]);
    assert!(rows.whole(RunTable::Series, "width_ns").iter().all(|width| *width == 100_000));
    let inside = rows.fractions(RunTable::Series, "requests_inside");
    assert_eq!(inside.iter().sum::<f64>(), 12.0);
    assert_eq!((inside[5], inside[6], inside[4999], inside[5000]), (1.0, 0.0, 0.0, 1.0));
}

#[test]
fn long_pauses_are_quickly_over() {
    // Five years between two requests.
    let requests = vec![write(0, 1), write(157_680_000_000_000_000, 2)];
    let (_, rows) = record_list(&drive::<&str>(&[]), requests);
    let programs = rows.whole(RunTable::Series, "flash_program_host_pages");
    assert!((1024..=2048).contains(&programs.len()));
    assert_eq!((programs[0], *programs.last().unwrap()), (1, 1));
    assert_eq!(rows.sum(RunTable::Series, "width_ns"), 157_680_000_000_600_000);
}

// ── Blocks ──────────────────────────────────────────────────────────────────────────────────────

#[test]
fn blocks_are_what_the_report_says_of_them() {
    for case in 0..BUSY.len() {
        let (value, rows) = record_busy(case, &[]);
        let b = RunTable::Blocks;
        let erases = rows.whole(b, "erases");
        let n = erases.len();
        assert_eq!(n, 2 * 3 * 2 * 2 * 20);
        assert_eq!(erases.iter().sum::<u64>(), count(&value["flash"]["erase"]["total"]));
        let wear = &value["wear"]["erases"];
        assert_eq!(erases.iter().min(), Some(&count(&wear["min"])));
        assert_eq!(erases.iter().max(), Some(&count(&wear["max"])));
        let cycles = rows.fractions(b, "effective_cycles");
        assert!(cycles.iter().zip(&erases).all(|(c, e)| (c - *e as f64).abs() < 1e-9));
        assert_eq!(rows.sum(b, "valid_slots"), u128::from(count(&value["checks"]["valid"])));

        let states = rows.words(b, "state");
        let with = |state: &str| states.iter().filter(|s| **s == state).count() as u64;
        assert_eq!(with("free"), count(&value["capacity"]["free_blocks"]));
        assert_eq!(with("bad"), count(&value["capacity"]["bad_blocks"]));
        assert!(with("closed") > 0 && with("open") > 0);
        let (valid, written) = (rows.whole(b, "valid_slots"), rows.whole(b, "written_slots"));
        for i in 0..n {
            let expected = match states[i].as_str() {
                "free" => 0..=0,
                "closed" => 8..=8,
                _ => 0..=8,
            };
            assert!(expected.contains(&written[i]), "{} with {} slots", states[i], written[i]);
            // One page of each plane may be on its way as the run ends; a drive's life ends amid requests.
            assert!(case == 3 || valid[i] <= written[i] + 1);
        }
        assert!(rows.words(b, "mode").iter().all(|mode| *mode == "full"));
        assert!(rows.words(b, "role").iter().all(|role| *role == "regular"));
        let reads = rows.whole(b, "reads_since_erase");
        assert!(reads.iter().all(|reads| *reads == u64::from(u32::MAX)), "nobody counts");

        let mut places = BTreeSet::new();
        let columns = ["channel", "chip", "die", "plane", "block"].map(|name| rows.whole(b, name));
        for i in 0..n {
            let place = columns.each_ref().map(|column| column[i]);
            let limits = [2, 3, 2, 2, 20];
            assert!(place.iter().zip(limits).all(|(at, limit)| *at < limit));
            assert!(places.insert(place), "two blocks at {place:?}");
        }
    }
}

// ── The run itself ──────────────────────────────────────────────────────────────────────────────

#[test]
fn a_recorded_run_is_the_same_run() {
    for (case, (own, pattern)) in BUSY.into_iter().enumerate() {
        let drive = busy(own);
        let plain = run(&drive, generator(&drive, pattern).unwrap(), &mut NoCache, &mut |_| true);
        let (recorded, rows) = record_busy(case, &[]);
        assert_eq!(without_timing(plain.unwrap().value()), without_timing(&recorded));
        let (_, again) = record_busy(case, &[]);
        assert!(rows.text() == again.text(), "case {case}: the same rows every time");
    }
}

#[test]
fn requests_can_be_left_out() {
    let (all, rows) = record_busy(0, &[]);
    assert_eq!(rows.tables(), [RunTable::Requests, RunTable::Series, RunTable::Blocks]);
    let (fewer, without) = record_busy(0, &["run.keep-requests=false"]);
    assert_eq!(without.tables(), [RunTable::Series, RunTable::Blocks]);
    assert_eq!(all["host"], fewer["host"]);
    rows.0.lock().unwrap().remove(&RunTable::Requests);
    assert!(rows.text() == without.text(), "the other tables are the same");
}

#[test]
fn many_requests_come_in_parts() {
    for extra in [0, 1, CHUNK] {
        let n = CHUNK + extra;
        // Trims take no time: all complete in one event.
        let requests = (0..n).map(|_| trim(0, 1)).collect();
        let (value, rows) = record_list(&drive::<&str>(&[]), requests);
        let expected = if extra == 0 { vec![CHUNK] } else { vec![CHUNK, extra] };
        assert_eq!(rows.parts(RunTable::Requests), expected);
        assert_eq!(class_of(&value, "trim").requests, n as u64);
        // A run that takes no time has one row without any.
        assert_eq!(rows.whole(RunTable::Series, "width_ns"), [0]);
        assert_eq!(rows.whole(RunTable::Series, "trim_requests"), [n as u64]);
        assert_eq!(rows.fractions(RunTable::Series, "requests_inside"), [0.0]);
    }
}

#[test]
fn a_run_without_requests_has_all_tables() {
    struct Nothing;
    impl workload::RequestSource for Nothing {
        fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), workload::TraceError> {
            batch.clear();
            Ok(())
        }
    }
    let drive = drive::<&str>(&[]);
    let rows = Rows::default();
    let mut sim = Sim::new(&drive, ftl_of(&drive, policies_of(&drive)));
    sim.record(drive.recording, rows.sink());
    sim.run(&mut Nothing, None, &mut |_| true).unwrap();
    assert_eq!(rows.parts(RunTable::Requests), [0]);
    assert_eq!(rows.parts(RunTable::Series), [1]);
    assert_eq!(rows.parts(RunTable::Blocks), [16]);
}

/// A number that the policy for read disturb has no name for is told from a regular block's, in both
/// tables of blocks.
#[test]
fn a_role_without_a_name_is_another() {
    struct Giver(Option<Time>);
    impl Watch for Giver {
        fn interests(&self) -> Interests {
            Interests::TIMER
        }

        fn next_timer(&self) -> Option<Time> {
            self.0
        }

        fn on_timer(&mut self, _: &FtlView<'_>, _: Time, plan: &mut Plan) {
            self.0 = None;
            plan.push(Step::SetRole(BlockId::from_u32(3), Role(9)));
        }
    }
    impl Wear for Giver {
        fn active(&self) -> bool {
            false
        }

        fn balance(&mut self, _: &Balance<'_>, _: &mut Plan) {}
    }
    let drive = drive::<&str>(&[]);
    let mut policies = policies_of(&drive);
    policies.wear = WearPolicy::Custom(Box::new(Giver(Some(Time::from_ns(1_000)))));
    let rows = Rows::default();
    let mut sim = Sim::new(&drive, ftl_of(&drive, policies));
    sim.record(Recording { snapshots: true, ..drive.recording }, rows.sink());
    let list = List::new("list", vec![write(0, 0), write(2_000, 1)]).unwrap();
    sim.run(&mut *list.open().unwrap(), None, &mut |_| true).unwrap();
    let others = |table| {
        let (blocks, roles) = (rows.whole(table, "block"), rows.words(table, "role"));
        let both = blocks.into_iter().zip(roles).filter(|(_, role)| *role != "regular");
        both.map(|(block, role)| (block, role.clone())).collect::<Vec<_>>()
    };
    assert_eq!(others(RunTable::Blocks), [(3, "other".to_owned())]);
    assert_eq!(others(RunTable::Snapshots), [(3, "other".to_owned())]);
}

#[test]
fn a_sink_that_has_had_enough_stops_the_run() {
    for (stops_at, setting) in [
        (RunTable::Requests, "run.keep-requests=true"),
        (RunTable::Series, "run.series-interval=1us"),
        (RunTable::Blocks, "run.keep-requests=false"),
    ] {
        let drive = busy(&["workload.requests=1000000", setting]);
        let calls = Arc::new(Mutex::new(0));
        let seen = calls.clone();
        let sink: Sink = Box::new(move |table, _| {
            *seen.lock().unwrap() += 1;
            table != stops_at
        });
        let made = generator(&drive, "random-write").unwrap();
        let mut furthest = 0;
        let mut watch = |p: floatgate_ssd::Progress| {
            furthest = p.done;
            true
        };
        let end = run_recorded(&drive, made, &mut NoCache, &mut watch, Some(sink));
        assert!(matches!(end, Err(RunError::Stopped)), "{stops_at:?}");
        assert!(*calls.lock().unwrap() <= 2, "{stops_at:?}: it is not asked again");
        assert!(stops_at == RunTable::Blocks || furthest < 300_000, "{stops_at:?}: at {furthest}");
    }
}

#[test]
fn queues_outside_the_drive_are_not_inside() {
    // Ten writes at once to a drive that takes two: the others wait outside.
    let requests = (0..10).map(|page| write(0, page)).collect();
    let limited = ["host.queue-limit=2", "run.series-interval=600us"];
    let (value, rows) = record_list(&drive(&limited), requests);
    let inside = rows.fractions(RunTable::Series, "requests_inside");
    assert_eq!(inside, [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0]);
    assert_eq!(rows.sum(RunTable::Series, "queue_host_ns"), 600_000 * (1..10).sum::<u128>());
    assert!(number(&value["checks"]["little_law_error"]).abs() < 1e-12);
}

#[test]
fn the_series_goes_on_until_the_buffer_is_empty() {
    let own = ["buffer.size=64KiB", "buffer.flush-above=1.0", "precondition.fill=none"];
    let (value, rows) = record_list(&drive(&own), (0..10).map(|page| write(0, page)).collect());
    assert_eq!(rows.sum(RunTable::Series, "width_ns"), 10 * 600_000);
    assert_eq!(rows.sum(RunTable::Series, "width_ns"), count(&value["end"]["at_ns"]).into());
    assert_eq!(rows.sum(RunTable::Series, "flash_program_host_pages"), 10);
    let starts = rows.whole(RunTable::Series, "start_ns");
    let programs = rows.whole(RunTable::Series, "flash_program_host_pages");
    assert!(starts.iter().zip(programs).any(|(at, n)| *at > 5_000_000 && n > 0), "to the last row");
}

// ── Snapshots ───────────────────────────────────────────────────────────────────────────────────

/// The drive as the instants have it: for each the time, and every block's values by column.
fn replay(rows: &Rows) -> Vec<(u64, BTreeMap<&'static str, Vec<u64>>)> {
    let s = RunTable::Snapshots;
    let (at, block) = (rows.whole(s, "at_ns"), rows.whole(s, "block"));
    let columns = ["erases", "valid_slots", "written_slots", "reads_since_erase"];
    let values = columns.map(|name| rows.whole(s, name));
    let blocks = at.iter().filter(|&&t| t == at[0]).count();
    let mut now: BTreeMap<_, _> = columns.map(|name| (name, vec![u64::MAX; blocks])).into();
    let mut instants: Vec<(u64, BTreeMap<_, _>)> = Vec::new();
    for row in 0..at.len() {
        if row > 0 && at[row] != at[row - 1] {
            instants.push((at[row - 1], now.clone()));
            assert!(at[row] > at[row - 1], "instants follow one another");
        }
        for (name, column) in columns.iter().zip(&values) {
            now.get_mut(name).expect("a column")[block[row] as usize] = column[row];
        }
    }
    instants.push((at[at.len() - 1], now));
    instants
}

fn with_snapshots(mut drive: Drive) -> Drive {
    drive.recording.snapshots = true;
    drive
}

#[test]
fn dies_are_busy_when_they_work() {
    // Programs of 600 us from 0, from 0.7 ms over the end of the first row, and from 5 ms.
    let requests = vec![write(0, 3), write(700_000, 3), write(5_000_000, 3)];
    let (_, rows) = record_list(&with_snapshots(drive(&["precondition.fill=full"])), requests);
    let o = RunTable::Occupancy;
    let starts = rows.whole(o, "start_ns");
    let of = |part: &str, column: &str| -> BTreeMap<u64, u64> {
        let (parts, busy) = (rows.words(o, "part"), rows.whole(o, column));
        (0..starts.len()).filter(|&i| parts[i] == part).map(|i| (starts[i], busy[i])).collect()
    };
    let expected = [(0, 900_000), (1, 300_000), (2, 0), (3, 0), (4, 0), (5, 600_000)];
    let expected: BTreeMap<u64, u64> = expected.map(|(ms, ns)| (ms * 1_000_000, ns)).into();
    assert_eq!(of("die", "busy_ns"), expected);
    assert_eq!(of("die", "busy_host_ns"), expected);
    assert!(of("die", "busy_gc_ns").values().all(|&ns| ns == 0));
    assert!(of("channel", "busy_ns").values().all(|&ns| ns == 0), "it is in the table's time");
    let widths = rows.whole(o, "width_ns");
    assert_eq!(starts.last().zip(widths.last()).map(|(at, width)| at + width), Some(5_600_000));
}

/// A turn that lasts beyond an instant counts before it as far as it lies before it.
#[test]
fn channels_are_busy_when_they_send() {
    // A page takes 2,048,000 ns at 2 MT/s and 300 ns for its command, and is sent at once. The first
    // goes over from the first row to the third.
    let bus = "timing.bus={ rate = \"2MT/s\", width-bits = 8, command = \"300ns\" }";
    let drive = with_snapshots(drive(&["precondition.fill=full", bus]));
    let (_, rows) = record_list(&drive, vec![write(0, 3), write(6_000_000, 3)]);
    let o = RunTable::Occupancy;
    let (starts, busy) = (rows.whole(o, "start_ns"), rows.whole(o, "busy_ns"));
    let parts = rows.words(o, "part");
    let found: BTreeMap<u64, u64> = (0..starts.len())
        .filter(|&i| parts[i] == "channel")
        .map(|i| (starts[i] / 1_000_000, busy[i]))
        .collect();
    let turn = 2_048_300;
    let rest = turn - 2_000_000;
    let expected = [1_000_000, 1_000_000, rest, 0, 0, 0, 1_000_000, 1_000_000, rest];
    assert_eq!(found.into_values().take(9).collect::<Vec<_>>(), expected);
}

#[test]
fn snapshots_follow_the_drive_to_its_end() {
    for (case, (own, pattern)) in BUSY.into_iter().enumerate() {
        let drive = with_snapshots(busy(&[own, &["run.series-interval=1ms"]].concat()));
        let made = generator(&drive, pattern).expect("a known generator");
        let (value, rows) = record(&drive, made);
        let instants = replay(&rows);
        let (blocks, series, o) = (RunTable::Blocks, RunTable::Series, RunTable::Occupancy);
        assert_eq!(instants[0].0, 0);
        let last = &instants[instants.len() - 1].1;
        for (name, column) in last {
            assert_eq!(*column, rows.whole(blocks, name), "{name}");
        }
        // Blocks erased meanwhile are counted separately, in a series whose rows end at each
        // instant.
        let (start, width) = (rows.whole(series, "start_ns"), rows.whole(series, "width_ns"));
        let by_source = SOURCES.map(|s| rows.whole(series, &format!("flash_erase_{s}_blocks")));
        let before: u64 = instants[0].1["erases"].iter().sum();
        let mut moved = 0;
        for (at, values) in &instants {
            let rows = (0..start.len()).filter(|&row| start[row] + width[row] <= *at);
            let erased: u64 =
                rows.map(|row| by_source.iter().map(|counts| counts[row]).sum::<u64>()).sum();
            assert_eq!(values["erases"].iter().sum::<u64>(), before + erased, "at {at} ns");
            moved += u64::from(erased > 0);
            // Slots count as valid from the instant at which they are given away.
            assert!(values["valid_slots"].iter().all(|&valid| valid <= 64));
        }
        assert!(moved > 10, "the drive is seen at work");
        // Times lie apart by a power of two of a millisecond, apart from the last.
        let (starts, widths) = (rows.whole(o, "start_ns"), rows.whole(o, "width_ns"));
        let times: BTreeSet<u64> = starts.iter().copied().collect();
        assert!((64..=129).contains(&times.len()), "{} instants", times.len());
        let busy = rows.whole(o, "busy_ns");
        assert!(busy.iter().zip(&widths).all(|(busy, width)| busy <= width));
        let parts = rows.words(o, "part");
        for source in SOURCES {
            let sum = rows.whole(o, &format!("busy_{source}_ns"));
            let dies: u64 = (0..parts.len()).filter(|&i| parts[i] == "die").map(|i| sum[i]).sum();
            let worked = ["read", "program", "erase"]
                .map(|what| count(&value["flash"][what][source]))
                .iter()
                .any(|&n| n > 0);
            assert_eq!(dies > 0, worked, "{source}");
        }
        let channels: u64 =
            (0..parts.len()).filter(|&i| parts[i] == "channel").map(|i| busy[i]).sum();
        assert_eq!(channels > 0, case == 2, "one drive has a bus of its own");
    }
}

#[test]
fn snapshots_change_nothing_and_stand_for_themselves() {
    let drive = busy(&[]);
    let made = || generator(&drive, "random-write").expect("a known generator");
    let (plain, without) = record(&drive, made());
    let (seen, with) = record(&with_snapshots(drive.clone()), made());
    assert_eq!(without_timing(&plain), without_timing(&seen));
    assert!(!without.tables().contains(&RunTable::Snapshots));
    for table in without.tables() {
        assert_eq!(
            format!("{:?}", without.0.lock().unwrap()[&table]),
            format!("{:?}", with.0.lock().unwrap()[&table])
        );
    }
}
