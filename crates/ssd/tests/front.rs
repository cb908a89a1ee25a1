//! The link and the controller: latencies to the nanosecond, and who bounds throughput.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    PAGE, bytes, class_of, count, drive, drive_of, flush, generate, number, read, serve, trim,
    urgent, warnings, write,
};
use kernel::Time;
use serde_json::Value;
use workload::{Op, Pattern, Request};

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
/// 4 KiB over a bus of 800 MB/s.
const BUS: u64 = 5_120;
/// 4 KiB, 512 bytes and the command of a trim over a link of 3.36 GB/s.
const LINK: u64 = 1_219;
const SECTOR: u64 = 152;
const BARE: u64 = 19;
/// 4 KiB handled by a core at 8 GB/s.
const HANDLED: u64 = 512;
/// 4 KiB into a buffer of 8.9 GB/s.
const FILLED: u64 = 460;

const BUSY: [&str; 11] = [
    "geometry.pages-per-block=64",
    "timing.bus={ rate = \"800MT/s\", width-bits = 8, command = \"0ns\" }",
    "link.rate=3.36GB/s",
    "link.latency=700ns",
    "controller.read=2us",
    "controller.write=3us",
    "controller.rate=8GB/s",
    "controller.read-latency=21.5us",
    "host.mode=queue-depth",
    "host.queue-depth=1",
    "precondition.fill=full",
];

fn cause(value: &Value, class: &str, cause: &str) -> f64 {
    number(&value["host"][class]["delay_ns_by_cause"][cause])
}

/// One request at a time: its parts, one after the other.
#[test]
fn latencies_add_up_to_the_nanosecond() {
    let link = LINK + 700;
    let taken = |ns: u64, data: u64| ns + data;
    let reads = taken(2_000 + 21_500, HANDLED) + READ + BUS + link;
    let writes = taken(3_000, HANDLED) + link + BUS + PROGRAM;
    let plain = drive(&BUSY);
    let value = serve(&plain, (0..40).map(|page| read(0, page)).collect());
    let all = class_of(&value, "read");
    assert_eq!((all.min, all.max), (reads, reads));
    assert_eq!(cause(&value, "read", "link"), link as f64);
    assert_eq!(cause(&value, "read", "controller"), taken(23_500, HANDLED) as f64);
    assert_eq!((cause(&value, "read", "array"), cause(&value, "read", "bus")), (5e4, 5120.0));
    assert_eq!(count(&value["end"]["at_ns"]), 40 * reads);
    let value = serve(&plain, (0..40).map(|page| write(0, page)).collect());
    let all = class_of(&value, "write");
    assert_eq!((all.min, all.max), (writes, writes));
    // A part of a page: the requested bytes go over the link, and all of the page over the bus.
    let value = serve(&plain, vec![bytes(0, Op::Read, 3 * PAGE + 512, 512)]);
    let part = taken(23_500, 64) + READ + BUS + SECTOR + 700;
    assert_eq!(class_of(&value, "read").max, part);
    // Three pages of one die: data go over the link while the next page is sensed.
    let value = serve(&plain, vec![bytes(0, Op::Read, 0, 3 * PAGE)]);
    let three = taken(23_500, 3 * HANDLED) + 3 * (READ + BUS) + link;
    assert_eq!(class_of(&value, "read").max, three);
    // And to the die: each page begins to be programmed when its data are there.
    let value = serve(&plain, vec![bytes(0, Op::Write, 0, 3 * PAGE)]);
    let three = taken(3_000, 3 * HANDLED) + link + 3 * (BUS + PROGRAM);
    assert_eq!(class_of(&value, "write").max, three);
}

#[test]
fn so_do_those_of_a_buffer_and_of_what_needs_no_flash() {
    let link = LINK + 700;
    let own = ["buffer.size=256KiB", "buffer.latency=4us", "buffer.rate=8.9GB/s"];
    let own = [&BUSY[..], &own, &["ftl.unmapped-read=zero", "precondition.fill=none"]].concat();
    let buffered = drive(&own);
    let value = serve(&buffered, (0..40).map(|page| write(0, page)).collect());
    let writes = 3_000 + HANDLED + link + FILLED + 4_000;
    let all = class_of(&value, "write");
    assert_eq!((all.min, all.max), (writes, writes));
    assert_eq!(cause(&value, "write", "buffer"), (FILLED + 4_000) as f64);
    // A page that holds nothing comes from the drive's memory, and so does a page in the buffer.
    let value = serve(&buffered, vec![write(0, 3), read(0, 3), read(0, 5)]);
    let reads = 23_500 + HANDLED + FILLED + 4_000 + link;
    let all = class_of(&value, "read");
    assert_eq!((all.min, all.max), (reads, reads));
    let value = serve(&buffered, vec![trim(0, 1), flush(0), trim(0, 7)]);
    for class in ["trim", "flush"] {
        let all = class_of(&value, class);
        // 64 bytes into the buffer, too: 7 ns and its latency.
        let parts = 3_000 + BARE + 700 + 7 + 4_000;
        assert_eq!((all.min, all.max), (parts, parts), "{class}");
        assert_eq!(cause(&value, class, "link"), (BARE + 700) as f64);
        assert_eq!(cause(&value, class, "buffer"), 4_007.0);
    }
}

/// A buffer that keeps nothing sends a page to flash when the link has brought it, whether or not anything
/// else comes.
#[test]
fn what_the_link_brings_goes_on_to_flash() {
    let own = [&BUSY[..8], &["precondition.fill=none", "buffer.size=16KiB"]].concat();
    let value = serve(&drive(&own), vec![write(0, 0), write(1_000_000_000, 1)]);
    let taken = 3_000 + HANDLED + LINK + 700;
    assert_eq!(class_of(&value, "write").max, taken);
    // The second has the die for itself.
    assert_eq!(count(&value["end"]["at_ns"]), 1_000_000_000 + taken + BUS + PROGRAM);
}

/// A flush waits for the write before it, which is on the link when it comes.
#[test]
fn a_flush_waits_for_what_is_on_the_link() {
    let own = [&BUSY[..8], &["precondition.fill=none"]].concat();
    let value = serve(&drive(&own), vec![write(0, 3), flush(1)]);
    let written = 3_000 + HANDLED + LINK + 700 + BUS + PROGRAM;
    assert_eq!(class_of(&value, "write").max, written);
    assert_eq!(class_of(&value, "flush").max, written - 1);
    let parts = ["controller", "link"].map(|of| cause(&value, "flush", of));
    // It waits for the only core until the write's command is taken, and for the link behind its data.
    assert_eq!(parts, [(3_000 + HANDLED - 1 + 3_000) as f64, (BARE + 700) as f64]);
}

/// Commands that come together: two cores take them by turns, and the data share one link.
#[test]
fn what_comes_first_goes_first() {
    let own = ["controller.cores=2", "host.queue-depth=64", "ftl.unmapped-read=zero"];
    let own = [&BUSY[..], &own, &["precondition.fill=none"]].concat();
    let value = serve(&drive(&own), (0..4).map(|page| read(0, page)).collect());
    // Taken after 2512 and 5024 ns, two each; then the link, 1219 ns each: the second of a pair waits.
    let done = [2_512, 2_512 + LINK, 5_024, 5_024 + LINK].map(|at| at + 21_500 + LINK + 700);
    let mean = done.iter().sum::<u64>() as f64 / 4.0;
    let all = class_of(&value, "read");
    assert_eq!((all.mean, all.min, all.max), (mean, done[0], done[3]));
    // In half duplex writes and reads wait for each other, in full duplex they do not.
    let both = |duplex: &str| {
        let duplex = format!("link.duplex={duplex}");
        let own = ["link.rate=100MB/s", &duplex, "host.mode=queue-depth", "host.queue-depth=8"];
        let more = ["ftl.unmapped-read=zero", "buffer.size=64KiB", "precondition.fill=none"];
        let mixed = (0..8).map(|i| if i % 2 == 0 { read(0, 40 + i) } else { write(0, i) });
        let value = serve(&drive(&[&own[..], &more].concat()), mixed.collect());
        [class_of(&value, "read").max, class_of(&value, "write").max]
    };
    assert_eq!(both("full"), [4 * 40_960; 2]);
    assert_eq!(both("half"), [7 * 40_960, 8 * 40_960]);
}

/// Requests that two cores finish at one instant continue in the order in which they came. Without
/// a link nothing comes in between: a read finds the write that came before it on its way to flash.
#[test]
fn without_a_link_a_command_goes_on_at_once() {
    let own = ["controller.cores=2", "controller.read=2us", "controller.write=2us"];
    let more = ["ftl.unmapped-read=zero", "precondition.fill=none"];
    let value = serve(&drive(&[&own[..], &more].concat()), vec![write(0, 3), read(0, 3)]);
    assert_eq!(class_of(&value, "write").max, 2_000 + PROGRAM);
    assert_eq!(class_of(&value, "read").max, 2_000 + PROGRAM + READ);
}

/// A page goes into the buffer while the next is on the link: 40,960 ns each on the link, and 4 us more.
/// It is then programmed, before a read that comes while the next is still on the link.
#[test]
fn the_link_and_the_port_of_a_buffer_work_side_by_side() {
    let own = ["link.rate=100MB/s", "buffer.size=64KiB", "buffer.latency=4us"];
    let own = [&own[..], &["precondition.fill=full"]].concat();
    let value = serve(&drive(&own), vec![write(0, 3), write(0, 4), read(60_000, 9)]);
    let all = class_of(&value, "write");
    assert_eq!((all.min, all.max), (40_960 + 4_000, 2 * 40_960 + 4_000));
    assert_eq!(cause(&value, "write", "buffer"), 4_000.0);
    let programmed = 40_960 + 4_000 + PROGRAM;
    assert_eq!(class_of(&value, "read").max, programmed - 60_000 + READ + 40_960);
}

/// An operation without flash takes no time of its own: only a link, a controller or a buffer gives
/// it some. A run that took none says so, and no other run ends when it began.
#[test]
fn a_run_takes_no_time_only_without_link_controller_and_buffer() {
    let own = [
        "ftl.unmapped-read=zero",
        "precondition.fill=none",
        "geometry.pages-per-block=64",
        "workload.requests=100",
        "host.mode=queue-depth",
    ];
    let mixes = [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.5, 0.5), (0.3, 0.3)].map(|(read, trim)| {
        [format!("workload.read-share={read}"), format!("workload.trim-share={trim}")]
    });
    // Prefix hits decide what conversations do.
    let mixed = Pattern::ALL.map(Pattern::name).into_iter().filter(|name| *name != "kv-offload");
    let off = ["", "buffer.size=64KiB", "buffer.size=64KiB buffer.flush-above=1.0"];
    let on = [
        "link.rate=1000GB/s",
        "link.latency=1ns",
        "controller.read=1ns",
        "controller.write=1ns",
        "controller.rate=1000GB/s",
        "controller.read-latency=1ns",
        "buffer.size=64KiB buffer.latency=1ns",
        "buffer.size=64KiB buffer.rate=1000GB/s",
        "buffer.size=64KiB buffer.latency=1ns buffer.kind=write-through",
        "buffer.size=64KiB buffer.rate=1000GB/s buffer.power-loss-protected=false",
    ];
    let (mut timeless, mut runs) = (0, 0);
    for (more, takes_time) in off.map(|o| (o, false)).into_iter().chain(on.map(|o| (o, true))) {
        let mut look = |what: &str, value: &Value| {
            let took = number(&value["simulated_seconds"]) > 0.0;
            assert!(took || !takes_time, "{what} with {more}");
            assert_eq!(took, !warnings(value).contains(&"no-time"), "{what} with {more}");
            let flash = count(&value["flash"]["program"]["total"]);
            assert_eq!(took, takes_time || flash > 0, "{what} with {more}");
            timeless += u32::from(!took);
            runs += 1;
        };
        let own: Vec<&str> = own.into_iter().chain(more.split_whitespace()).collect();
        for pattern in mixed.clone() {
            for mix in &mixes {
                let all = own.iter().copied().chain(mix.iter().map(String::as_str));
                let value = generate(&drive(&all.collect::<Vec<_>>()), pattern);
                look(&format!("{pattern} {mix:?}"), &value);
            }
        }
        look("flush", &serve(&drive(&own), vec![flush(0), flush(0)]));
    }
    assert_eq!(runs, 13 * (mixed.count() * 5 + 1));
    assert!(timeless > 3 * 14, "{timeless}");
}

/// A trim, and a flush that waits for nothing, come to the buffer behind the pages on their way
/// there.
#[test]
fn commands_without_data_pass_the_port() {
    let own = ["buffer.size=64KiB", "buffer.latency=4us", "buffer.rate=100MB/s"];
    let own = [&own[..], &["host.mode=queue-depth", "host.queue-depth=8"]].concat();
    let buffered = drive(&[&own[..], &["precondition.fill=none"]].concat());
    // 4 KiB take 40,960 ns, a command of 64 bytes takes 640.
    let value = serve(&buffered, vec![write(0, 1), trim(0, 1), trim(0, 2)]);
    assert_eq!(class_of(&value, "write").max, 40_960 + 4_000);
    let trims = class_of(&value, "trim");
    assert_eq!((trims.min, trims.max), (41_600 + 4_000, 42_240 + 4_000));
    assert_eq!(cause(&value, "trim", "buffer"), trims.mean);
    // Page 1 was given up while its data came: nothing reaches flash.
    assert_eq!(count(&value["flash"]["program"]["total"]), 0);
    let value = serve(&buffered, vec![flush(0)]);
    assert_eq!(class_of(&value, "flush").max, 4_640);
    // A flush that waits for a write is done with it.
    let kept = drive(&[&own[..], &["buffer.power-loss-protected=true"]].concat());
    let value = serve(&kept, vec![write(0, 1), flush(0)]);
    assert_eq!(class_of(&value, "flush").max, 40_960 + 4_000);
    // A trim takes effect when it comes, so a later write of the page survives.
    let value = serve(&buffered, vec![trim(0, 3), write(0, 3)]);
    assert_eq!(count(&value["flash"]["program"]["total"]), 1);
    assert_eq!(count(&value["checks"]["mapped"]), 1);
}

/// The throttle's delay comes before the controller, and both add up (checked in every run).
#[test]
fn an_urgent_request_is_no_exception() {
    let own = [&BUSY[..], &["policy order=priority"]].concat();
    let value = serve(&drive(&own), (0..10).map(|page| urgent(read(0, page))).collect());
    assert_eq!(class_of(&value, "read").min, 23_500 + HANDLED + READ + BUS + LINK + 700);
    let urgent = &value["host"]["high"]["read"]["delay_ns_by_cause"];
    assert_eq!(number(&urgent["link"]), (LINK + 700) as f64);
    assert_eq!(number(&urgent["controller"]), (23_500 + HANDLED) as f64);
}

/// `NVMeVirt`'s constants of the 970 PRO: 21.5 us of firmware, 35.76 us in the array (6 us less or
/// more by the type of the page). 4 KiB move at 800 MB/s and at 3360 MB/s; the link bounds long
/// reads.
#[test]
fn the_970_pro_is_as_published() {
    let own = ["geometry.blocks-per-plane=24", "ftl.logical-capacity=2GB", "host.mode=queue-depth"];
    let preset =
        |own_too: &[&str]| drive_of("base = \"samsung-970-pro\"", &[&own[..], own_too].concat());
    let one = preset(&["host.queue-depth=1"]);
    // As many lower pages as upper ones: two pages of each of 16 dies, in parts of 4 KiB.
    let value = serve(&one, (0..256).map(|page| read(0, page)).collect());
    let mean = 21_500.0 + 35_760.0 + 5_120.0 + 1_219.0;
    assert_eq!(class_of(&value, "read").mean, mean);
    assert_eq!((mean / 100.0_f64).round(), 636.0, "63.6 us");
    let many = preset(&["host.queue-depth=32"]);
    let chunk = |i: u64| bytes(0, Op::Read, i % 8_000 * (128 << 10), 128 << 10);
    let value = serve(&many, (0..32_000).map(chunk).collect());
    let rate = 32_000.0 * f64::from(128 << 10) / number(&value["simulated_seconds"]);
    assert!((rate / 3.36e9 - 1.0).abs() < 0.001, "{rate} B/s");
    // A die reads one page at a time, for a request of any part of it: 16 of them read at most one
    // each in 35.76 us and the channel's 5.12. The product is sold with 370,000 at random.
    let deep = preset(&["host.queue-depth=128"]);
    let mut rng = kernel::Rng::named(1, "test/970");
    let random: Vec<_> = (0..100_000).map(|_| read(0, rng.below(480_000).into())).collect();
    let value = serve(&deep, random);
    let rate = 100_000.0 / number(&value["simulated_seconds"]);
    assert!(rate < 16.0 / (35.76e-6 + 5.12e-6), "{rate} reads a second");
    assert!((rate / 370_000.0 - 1.0).abs() < 0.05, "{rate} reads a second");
    // A write of 4 KiB: 4 us and 460 ns in the buffer behind the link.
    let value = serve(&one, (0..200).map(|page| write(0, page)).collect());
    assert_eq!(class_of(&value, "write").min, 1_219 + 460 + 4_000);
}

/// The bounds of a drive.
struct Bounds {
    channels: u64,
    dies: u64,
    /// Array time of an operation of 4 KiB, and its transfer; no transfer, no channel.
    array: u64,
    bus: Option<u64>,
    /// In ns for 4 KiB.
    link: Option<u64>,
    cores: Option<(u64, u64)>,
}

impl Bounds {
    /// Operations a second.
    fn least(&self) -> (&'static str, f64) {
        let second = 1e9;
        let die = self.array + self.bus.unwrap_or(0);
        let all = [
            ("array", Some((self.channels * self.dies) as f64 / die as f64)),
            ("channel", self.bus.map(|bus| self.channels as f64 / bus as f64)),
            ("link", self.link.map(|link| 1.0 / link as f64)),
            ("cores", self.cores.map(|(cores, taken)| cores as f64 / taken as f64)),
        ];
        let known = all.into_iter().filter_map(|(name, rate)| Some((name, rate? * second)));
        known.min_by(|a, b| a.1.total_cmp(&b.1)).expect("an array")
    }
}

/// Twenty drives: each has the least of the four throughputs, within 0.1 %.
#[test]
fn throughput_is_that_of_the_narrowest_place() {
    const REQUESTS: u64 = 120_000;
    let all = |channels, dies, array, bus, link, cores| Bounds {
        channels,
        dies,
        array,
        bus,
        link,
        cores,
    };
    let (read, program) = (READ, PROGRAM);
    let table = [
        // Reads.
        (true, all(8, 1, read, None, None, None)),
        (true, all(2, 4, read, None, Some(1_219), None)),
        (true, all(8, 16, read, None, Some(1_219), None)),
        (true, all(8, 16, read, None, Some(585), None)),
        (true, all(8, 16, read, None, Some(585), Some((1, 1_000)))),
        (true, all(8, 16, read, None, Some(585), Some((4, 1_000)))),
        (true, all(8, 16, read, None, None, Some((1, 700)))),
        (true, all(4, 2, read, Some(BUS), None, None)),
        (true, all(1, 32, read, Some(BUS), None, None)),
        (true, all(4, 32, read, Some(BUS), None, None)),
        (true, all(4, 32, read, Some(BUS), Some(1_219), None)),
        (true, all(4, 32, read, Some(BUS), Some(2_000), None)),
        (true, all(4, 32, read, Some(BUS), Some(1_000), Some((2, 5_000)))),
        (true, all(8, 32, read, Some(BUS), Some(1_219), Some((8, 5_000)))),
        // Writes.
        (false, all(8, 1, program, None, Some(1_219), None)),
        (false, all(8, 8, program, None, Some(20_000), None)),
        (false, all(8, 16, program, None, Some(1_219), Some((1, 9_000)))),
        (false, all(1, 64, 20_000, Some(BUS), None, None)),
        (false, all(4, 16, 20_000, Some(BUS), Some(4_096), None)),
        (false, all(4, 16, 20_000, Some(BUS), Some(500), Some((1, 2_500)))),
    ];
    let mut seen = std::collections::BTreeMap::new();
    for (at, (reads, bounds)) in table.iter().enumerate() {
        let Bounds { channels, dies, array, bus, link, cores } = bounds;
        let mut own = vec![
            format!("geometry.channels={channels}"),
            format!("geometry.chips-per-channel={dies}"),
            format!("geometry.blocks-per-plane={}", 120_000 / (channels * dies * 64) * 2 + 24),
            "geometry.pages-per-block=64".into(),
            "ftl.spare-factor=0.2".into(),
            "policy placement=static".into(),
            "host.mode=queue-depth".into(),
            "host.queue-depth=1024".into(),
            format!("timing.{}={array}ns", if *reads { "read" } else { "program" }),
            format!("precondition.fill={}", if *reads { "full" } else { "none" }),
        ];
        own.extend(bus.map(|_| {
            "timing.bus={ rate = \"800MT/s\", width-bits = 8, command = \"0ns\" }".to_owned()
        }));
        // The rate at which 4 KiB take `ns` nanoseconds.
        own.extend(link.map(|ns| format!("link.rate={}kB/s", 4_096_000_000 / ns)));
        if let Some((cores, taken)) = cores {
            own.push(format!("controller.cores={cores}"));
            own.push(format!("controller.{}={taken}ns", if *reads { "read" } else { "write" }));
        }
        let op = if *reads { Op::Read } else { Op::Write };
        let drive = drive(&own);
        let pages = u64::from(drive.logical_pages);
        let request = |i: u64| Request { at: Time::ZERO, ..bytes(0, op, i % pages * PAGE, PAGE) };
        let value = serve(&drive, (0..REQUESTS).map(request).collect());
        let rate = REQUESTS as f64 / number(&value["simulated_seconds"]);
        let (place, least) = bounds.least();
        let off = rate / least - 1.0;
        println!("{at:2} {place:8} {:8.1} MB/s, {off:+.5}", rate * PAGE as f64 / 1e6);
        assert!(off.abs() < 0.001, "{at}: {place} bounds it at {least}, and it does {rate}");
        *seen.entry(place).or_insert(0) += 1;
    }
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), ["array", "channel", "cores", "link"]);
    assert!(table.len() == 20 && seen.values().all(|n| *n >= 3), "{seen:?}");
}
