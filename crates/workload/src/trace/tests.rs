//! Every reader on its exact format, the real traces, and input that is wrong in every way.

use std::fmt::Write as _;
use std::io::Write as _;

use kernel::Rng;

use super::*;
use crate::{Op, Request};

const NO_OPTIONS: ReadOptions = ReadOptions { format: None, time_unit: None, skip_bad: false };

fn trace(bytes: &[u8], options: ReadOptions) -> Result<Box<dyn Workload>, TraceError> {
    open_bytes("t", bytes.into(), &options)
}

fn read_with(bytes: &[u8], options: ReadOptions) -> Result<Vec<Request>, TraceError> {
    drain(&mut *trace(bytes, options)?.open()?)
}

fn read(text: &str) -> Vec<(u64, u64, u32, Op)> {
    let all = read_with(text.as_bytes(), NO_OPTIONS).unwrap_or_else(|e| panic!("{e}"));
    all.iter().map(|r| (r.at.as_ns(), r.offset, r.len, r.op)).collect()
}

fn about(text: &str) -> About {
    trace(text.as_bytes(), NO_OPTIONS).unwrap().about().clone()
}

fn lines(n: u64, line: impl Fn(u64) -> String) -> String {
    (0..n).map(line).collect::<Vec<_>>().join("\n")
}

/// One record of the vscsi format.
fn vscsi(op: u8, len: u32, block: u64, us: u64) -> Vec<u8> {
    let mut record = vec![7, 0, 0, 0];
    record.extend(len.to_le_bytes());
    record.extend([1, 0, 0, 0, op, 0, 0, 1]);
    record.extend(block.to_le_bytes());
    record.extend(us.to_le_bytes());
    record
}

#[test]
fn ssdsim_is_whole_nanoseconds_and_one_is_read() {
    let text = "# a comment\n1000 0 16 8 1\n\n3500\t0   0 1 0 \r\n3500 0 9 1 0";
    let want = [(0, 8192, 4096, Op::Read), (2500, 0, 512, Op::Write), (2500, 4608, 512, Op::Write)];
    assert_eq!(read(text), want);
    let about = about(text);
    assert_eq!(
        (about.format.as_str(), about.requests, about.span),
        ("ssdsim-ascii", Some(3), Some(12288))
    );
    assert!(about.notes[0].contains("whole nanoseconds"), "{:?}", about.notes);
}

#[test]
fn disksim_is_decimal_milliseconds_and_flag_bits() {
    let text = "0.5 0 16 8 1\n26.2140019 0 0 1 a\n27 0 0 1 0x3\n2.7e1 0 0 1 0\n";
    let seen: Vec<_> = read(text).iter().map(|r| (r.0, r.3)).collect();
    let want =
        [(0, Op::Read), (25_714_001, Op::Write), (26_500_000, Op::Read), (26_500_000, Op::Write)];
    assert_eq!(seen, want);
    assert_eq!(about(text).format, "disksim-ascii");
}

#[test]
fn one_decimal_point_decides_for_the_whole_file() {
    assert_eq!(about("0 0 16 8 1\n1 0 16 8 1\n1.5 0 16 8 1\n").format, "disksim-ascii");
    let skip = ReadOptions { skip_bad: true, ..NO_OPTIONS };
    let garbage = trace(b"0 0 16 8 1\nwhat. is this\n1 0 16 8 1\n", skip).unwrap();
    assert_eq!(garbage.about().format, "ssdsim-ascii", "a point in garbage decides nothing");
    let us = ReadOptions { time_unit: Some(TimeUnit::Us), ..NO_OPTIONS };
    let all = read_with(b"5 0 16 8 1\n7 0 16 8 1\n", us).unwrap();
    assert_eq!(all[1].at.as_ns(), 2000, "the unit is the user's to say");
    let all = read_with(b"5.5 0 16 8 1\n7.0 0 16 8 1\n", us).unwrap();
    assert_eq!(all[1].at.as_ns(), 1500);
}

#[test]
fn msr_is_file_time_and_bytes() {
    let text = "128166372003061629,hm,0,Read,9056014336,24576,101842\n\
                128166372016382155,hm,0,Write,2822144,4096,91250\n";
    let want = [(0, 9_056_014_336, 24576, Op::Read), (1_332_052_600, 2_822_144, 4096, Op::Write)];
    assert_eq!(read(text), want);
    assert_eq!(
        read(&format!("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n{text}")),
        want
    );
    assert_eq!(about(text).format, "msr");
}

#[test]
fn msr_is_put_in_order_within_its_window_and_no_further() {
    let line = |t: u64| format!("{t},hm,0,Read,{},512,1\n", t * 512);
    let text: String = [10, 30, 20, 40].map(line).concat();
    let seen: Vec<_> = read(&text).iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(seen, [(0, 5120), (1000, 10240), (2000, 15360), (3000, 20480)]);
    assert!(about(&text).notes.iter().any(|n| n.contains("1 records stand later")));
    let long: String = (100..5000).map(line).chain([line(7)]).collect();
    let e = read_with(long.as_bytes(), NO_OPTIONS).unwrap_err().to_string();
    assert!(e.starts_with("t:4901: time runs backwards"), "{e}");
}

#[test]
fn spc_is_blocks_bytes_and_seconds() {
    let text = "0,100,8192,W,0.551706\n0,200,15872,r,1.250720,extra,columns\n";
    let want = [(0, 51200, 8192, Op::Write), (699_014_000, 102_400, 15872, Op::Read)];
    assert_eq!(read(text), want);
    assert_eq!(about(text).format, "spc");
}

#[test]
fn vscsi_is_binary_with_microseconds() {
    let mut bytes = vscsi(0x2a, 512, 63, 5_000_000);
    bytes.extend(vscsi(0x35, 0, 0, 5_000_001)); // a cache flush
    bytes.extend(vscsi(0x88, 4096, 64, 5_000_002));
    let all = read_with(&bytes, NO_OPTIONS).unwrap();
    assert_eq!((all[0].at.as_ns(), all[0].offset, all[0].op), (0, 63 * 512, Op::Write));
    assert_eq!((all[1].at.as_ns(), all[1].len, all[1].op), (2000, 4096, Op::Read));
    let notes = trace(&bytes, NO_OPTIONS).unwrap().about().notes.join("\n");
    assert!(notes.contains("1 records carry no data"), "{notes}");
}

#[test]
fn devices_lie_side_by_side_in_the_order_of_their_numbers() {
    let text = "0 7 0 8 0\n1 3 100 8 0\n2 7 4000 96 1\n3 12 5 1 0\n";
    // Device 3 ends at 54 KiB and takes the first MiB; 7 ends at 2 MiB exactly; then 12.
    let mib = 1 << 20;
    let seen: Vec<_> = read(text).iter().map(|r| r.1).collect();
    assert_eq!(seen, [mib, 51_200, mib + 2_048_000, 3 * mib + 2560]);
    let about = about(text);
    assert_eq!(about.span, Some(3 * mib + 3072));
    assert!(about.notes.iter().any(|n| n.starts_with("3 devices")), "{:?}", about.notes);
    let spc = "5,0,512,w,0\n4,0,512,w,1\n";
    assert_eq!(read(spc).iter().map(|r| r.1).collect::<Vec<_>>(), [mib, 0]);
    let msr = "10,b,0,Read,0,512,1\n11,a,0,Read,0,512,1\n12,b,0,Read,8,8,1\n";
    assert_eq!(read(msr).iter().map(|r| r.1).collect::<Vec<_>>(), [0, mib, 8]);
}

#[test]
fn opening_again_gives_the_same_requests() {
    let text = lines(20_000, |i| format!("{} {} {} 8 {}", i * 9999, i % 5, i * 13, i % 2));
    let trace = trace(text.as_bytes(), NO_OPTIONS).unwrap();
    let first = drain(&mut *trace.open().unwrap()).unwrap();
    assert_eq!(first.len(), 20_000);
    assert_eq!(first, drain(&mut *trace.open().unwrap()).unwrap());
    let mut source = trace.open().unwrap();
    drain(&mut *source).unwrap();
    let mut batch = vec![first[0]];
    source.fill(&mut batch).unwrap();
    assert!(batch.is_empty(), "the end stays the end");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// The text `0 0 16 8 1\n1000 0 16 8 0\n`, written by `xz -0`.
const XZ: [u8; 84] = include!("xz_sample.in");

#[test]
fn compressed_files_read_like_plain_ones() {
    let text = b"0 0 16 8 1\n1000 0 16 8 0\n";
    let plain = read_with(text, NO_OPTIONS).unwrap();
    let members = [gzip(&text[..11]), gzip(&text[11..])].concat();
    let frames = [zstd(&text[..4]), zstd(&text[4..])].concat();
    for (name, packed) in [("gzip", members), ("zstd", frames), ("xz", XZ.to_vec())] {
        let trace = trace(&packed, NO_OPTIONS).unwrap();
        assert_eq!(drain(&mut *trace.open().unwrap()).unwrap(), plain, "{name}");
        assert!(trace.about().notes.contains(&format!("decompressed from {name}")));
        assert_ne!(trace.about().sha256, self::trace(text, NO_OPTIONS).unwrap().about().sha256);
    }
}

#[test]
fn the_hash_is_that_of_the_stored_bytes() {
    let about = about("0 0 16 8 1\n");
    assert_eq!(
        about.sha256.as_deref(),
        // printf '0 0 16 8 1\n' | sha256sum
        Some("dfb529bf6f4628ab077ece84db0606630c0616647c652c91e527ed0b7b0ec33f")
    );
}

#[test]
fn cut_and_damaged_compression_is_an_error_with_a_place() {
    let text = lines(50_000, |i| format!("{i}000 0 {} 8 1", i * 7919 % 100_003));
    for (name, packed) in
        [("gzip", gzip(text.as_bytes())), ("zstd", zstd(text.as_bytes())), ("xz", XZ.to_vec())]
    {
        for keep in [packed.len() - 1, packed.len() / 2, 20] {
            let e = read_with(&packed[..keep], NO_OPTIONS).unwrap_err();
            assert_eq!(e.code(), "trace::compression", "{name} {keep}: {e}");
            assert!(e.to_string().contains("decompressed bytes"), "{e}");
        }
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 8].fill(0xa5);
        assert!(read_with(&damaged, NO_OPTIONS).is_err(), "{name}");
    }
    let packed = zstd(text.as_bytes());
    let e = read_with(&packed[..packed.len() / 2], NO_OPTIONS).unwrap_err().to_string();
    assert!(e.contains("zstd stream ends in the middle") && e.contains("copy it again"), "{e}");
}

/// Each bad input with words that its message must hold: the place, and what it is about.
#[test]
fn bad_input_says_where_what_and_how() {
    let good = "0 0 16 8 1\n";
    let after = |line: &str| format!("{good}{good}{line}\n{good}");
    let msr = "10,hm,0,Read,0,512,1\n";
    let cases: &[(&str, &[&str])] = &[
        ("", &["t: the file is empty", "at least one request"]),
        ("\n  \n# nothing\n", &["no request at all"]),
        ("hello world\n", &["t:1:", "`hello world`", "ssdsim-ascii", "--format"]),
        ("  8,16   8        1     0.000000000 13213  Q   W 766877144 + 8 [k]\n", &["blkparse"]),
        (&after("5 0 16 8"), &["t:3:9:", "column 5, the operation, is missing", "5 columns"]),
        (&after("5 0 16 8 1 9"), &["t:3:12:", "more than 5 columns (`9`)"]),
        (&after("-5 0 16 8 1"), &["t:3:1:", "`-5` in the time is negative"]),
        (&after("99999999999999999999 0 16 8 1"), &["t:3:1:", "out of bounds"]),
        (&after("5 0 16 -8 1"), &["t:3:8:", "`-8` in the size is negative"]),
        (&after("5 0 16 0 1"), &["t:3:", "size 0"]),
        (&after("5 0 16 99999999 1"), &["t:3:", "51199999488 bytes", "at most 1 GiB"]),
        (&after("5 0 99999999999999 8 1"), &["t:3:", "an address of", "1 PiB"]),
        (&after("5 0 9999999999999999999 8 1"), &["t:3:", "beyond 64 bits"]),
        (&after("5 4294967296 16 8 1"), &["t:3:3:", "the device"]),
        (&after("5 0 16 8 2"), &["t:3:10:", "`2` in the operation", "0 (write) or 1 (read)"]),
        (&after("5 0 16 8 W"), &["t:3:10:", "`W` in the operation is not understood"]),
        (&after("\u{1}\u{2}garbage\u{7f}"), &["t:3:1:", "\\x01\\x02garbage", "whole nanoseconds"]),
        (&format!("9 0 16 8 1\n{good}"), &["t:2: time runs backwards by 9ns", "--skip-bad"]),
        (
            &format!("{msr}11,hm,0,Trim,0,512,1\n"),
            &["t:2:9:", "`Trim` in the type", "`Read` or `Write`"],
        ),
        (
            &format!("{msr}11,hm,0,Read,0,512\n"),
            &["t:2:", "column 7, the response time, is missing", "7 columns"],
        ),
        (&format!("{msr}11,hm,0,Read,0,0,5\n"), &["t:2:", "size 0"]),
        (&format!("{msr}11,,0,Read,0,512,5\n"), &["t:2:4:", "column 2, the host, is missing"]),
        ("0,1,512,w,0.5\n0,1,512,x,0.6\n", &["t:2:9:", "`x` in the operation", "`r` or `w`"]),
        ("0,1,512,w,0.5\n0,1,512,w,.\n", &["t:2:11:", "decimal seconds"]),
        ("0,1,512,w,0.5\n0,1,512,w\n", &["t:2:", "column 5, the time, is missing"]),
    ];
    for (text, words) in cases {
        let message = trace(text.as_bytes(), NO_OPTIONS).err().unwrap().to_string();
        println!("{message}");
        for word in *words {
            assert!(message.contains(word), "{text:?}\n  gave {message}\n  without {word}");
        }
    }
}

#[test]
fn a_decimal_point_beyond_the_first_lines_is_an_error_that_names_the_other_format() {
    let text = "0 0 16 8 1\n".repeat(10_000) + "5.0 0 16 8 1\n";
    let e = read_with(text.as_bytes(), NO_OPTIONS).unwrap_err().to_string();
    assert!(e.contains("t:10001:1:") && e.contains("disksim-ascii"), "{e}");
}

#[test]
fn bad_binary_input_names_the_record() {
    let good = vscsi(0x2a, 512, 63, 5);
    let bad = [
        (vscsi(0x77, 512, 63, 5), "SCSI operation 0x77"),
        (vscsi(0x28, 0, 63, 5), "size 0"),
        (vscsi(0x28, u32::MAX, 63, 5), "at most 1 GiB"),
        (vscsi(0x28, 512, u64::MAX, 5), "below 1 PiB"),
        (vscsi(0x28, 512, 1, u64::MAX), "584 years"),
        (vscsi(0x28, 512, 1, 4), "time runs backwards by 1us"),
        (vec![0; 32], "version field 0x0000"),
        (good[..31].to_vec(), "the file ends after 31 bytes"),
    ];
    for (record, word) in bad {
        let e =
            read_with(&[&good[..], &good, &record].concat(), NO_OPTIONS).unwrap_err().to_string();
        assert!(e.contains(word) && e.contains("t: record 3 (byte 64)"), "{e}");
    }
}

#[test]
fn a_line_without_end_takes_no_memory() {
    let line = vec![b'7'; 3 << 20];
    let e = read_with(&[&b"0 0 16 8 1\n"[..], &line].concat(), NO_OPTIONS).unwrap_err().to_string();
    assert!(e.contains("t:2") && e.contains("64 KiB"), "{e}");
    let e = read_with(&line, ReadOptions { format: Some(Format::Msr), ..NO_OPTIONS });
    assert!(e.unwrap_err().to_string().contains("64 KiB"));
}

#[test]
fn an_absurd_clock_is_refused_and_the_unit_settles_it() {
    // Recorded in whole milliseconds, read as nanoseconds: a million times too fast.
    let fast = lines(2000, |i| format!("{} 0 {} 8 1", i / 4, i * 8));
    let e = read_with(fast.as_bytes(), NO_OPTIONS).unwrap_err();
    assert_eq!(e.code(), "trace::clock");
    let text = e.to_string();
    assert!(text.contains("million requests") && text.contains("--time-unit ms"), "{text}");
    for (unit, ns) in [(TimeUnit::Ms, 499_000_000), (TimeUnit::Ns, 499)] {
        let all = read_with(fast.as_bytes(), ReadOptions { time_unit: Some(unit), ..NO_OPTIONS });
        assert_eq!(all.unwrap()[1999].at.as_ns(), ns);
    }
    // Nanoseconds read as milliseconds: centuries.
    let e = read_with(b"0.0 0 16 8 1\n900000000000.0 0 16 8 1\n", NO_OPTIONS).unwrap_err();
    assert!(e.to_string().contains("28.5 years"), "{e}");
    // All at one instant is no rate at all.
    let still = about(&"7 0 16 8 1\n".repeat(5000));
    assert!(still.notes.iter().any(|n| n.contains("queue-depth")), "{:?}", still.notes);
}

#[test]
fn skipping_counts_and_remembers_the_first_reasons() {
    let text = "0 0 16 8 1\nx\n5 0 16 8 1\n4 0 16 8 1\n6 0 16 0 1\n6 0 16 8 9\n9 0 16 8 0\n";
    let skip = ReadOptions { skip_bad: true, ..NO_OPTIONS };
    let trace =
        trace(text.as_bytes(), ReadOptions { format: Some(Format::SsdsimAscii), ..skip }).unwrap();
    let mut source = trace.open().unwrap();
    assert_eq!(drain(&mut *source).unwrap().len(), 3);
    assert_eq!((source.skipped(), trace.about().requests), (4, Some(3)));
    let note = trace.about().notes.last().unwrap();
    assert!(
        note.starts_with("4 bad records") && note.contains("t:2:1") && note.contains("t:4"),
        "{note}"
    );
    assert!(!note.contains("t:6"), "only the first three: {note}");
    let e = read_with(b"x\ny\n", ReadOptions { format: Some(Format::Spc), ..skip }).unwrap_err();
    assert!(e.to_string().contains("all 2 records were skipped"), "{e}");
}

#[test]
fn files_that_cannot_be_opened() {
    let fail = |path: &Path| open_trace(path, &NO_OPTIONS).err().unwrap().to_string();
    let dir = std::env::temp_dir();
    assert!(fail(&dir.join("floatgate-no-such-file")).contains("there is no such file"));
    assert!(fail(&dir).contains("this is a directory"));
    #[cfg(unix)]
    assert!(fail(Path::new("/dev/null")).contains("a pipe or a device"));
    let path = dir.join(format!("floatgate-test-{}.trace", std::process::id()));
    std::fs::write(&path, "0 0 16 8 1\n").unwrap();
    let trace = open_trace(&path, &NO_OPTIONS).unwrap();
    assert_eq!(trace.about().name, path.file_name().unwrap().to_string_lossy());
    std::fs::write(&path, "0 0 16 8 1\n1 0 16 8 1\n").unwrap();
    let e = trace.open().err().unwrap().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(e.contains("the file has changed from 11 to 22 bytes"), "{e}");
}

#[test]
fn names_of_formats_and_units_read_back() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("csv".parse::<Format>().unwrap_err().contains("ssdsim-ascii"));
    assert!("sec".parse::<TimeUnit>().is_err());
}

/// A small valid file of each format.
fn samples() -> [Vec<u8>; 6] {
    let mut texts = [const { String::new() }; 4];
    let mut binary = Vec::new();
    for i in 0..60_u64 {
        let (t, block, sectors, read) = (i * 1_234_567, i * 7919 % 5003, 1 + i % 9, i % 3 == 0);
        let flag = u8::from(read);
        let kind = if read { "Read" } else { "Write" };
        writeln!(texts[0], "{t} {} {block} {sectors} {flag}", i % 4).unwrap();
        writeln!(texts[1], "{}.{:06} 0 {block} {sectors} {flag}", t / 1_000_000, t % 1_000_000)
            .unwrap();
        writeln!(texts[2], "{},hm,{},{kind},{},{},5", t / 100, i % 2, block * 512, sectors * 512)
            .unwrap();
        writeln!(texts[3], "{},{block},{},{},{}.5", i % 3, sectors * 512, &kind[..1], i).unwrap();
        binary.extend(vscsi(if read { 0x28 } else { 0x2a }, sectors as u32 * 512, block, t));
    }
    let [a, b, c, d] = texts.map(String::into_bytes);
    let packed = zstd(&a);
    [a, b, c, d, binary, packed]
}

/// Bytes flipped, cut, doubled, swapped for telling ones: whatever the file, the answer is
/// requests that keep their promises, or an error with a message; never a panic.
#[test]
fn mutated_files_never_break_a_promise() {
    let telling = b"0123456789 \t,.\n\r-+eExX#\0\xff";
    let (mut errors, mut fine) = (0, 0);
    for seed in 0..12_000 {
        let mut rng = Rng::named(seed, "mutate");
        let samples = samples_once();
        let mut bytes = samples[rng.below(samples.len() as u32) as usize].clone();
        for _ in 0..=rng.below(6) {
            let n = bytes.len().max(1);
            let at = rng.below(n as u32) as usize;
            let to = (at + 1 + rng.below(40) as usize).min(bytes.len());
            match rng.below(6) {
                0 if at < to => bytes[at] = rng.bits() as u8,
                1 if at < to => bytes[at] = telling[rng.below(telling.len() as u32) as usize],
                2 if at < to => drop(bytes.drain(at..to)),
                3 if at < to => {
                    let piece = bytes[at..to].to_vec();
                    bytes.splice(at..at, piece);
                }
                4 => bytes.truncate(at),
                _ => bytes.insert(at.min(bytes.len()), b'9'),
            }
        }
        let pick = rng.below(4 * Format::ALL.len() as u32) as usize;
        let options = ReadOptions {
            format: Format::ALL.get(pick).copied(),
            time_unit: (rng.below(8) == 0).then_some(TimeUnit::S),
            skip_bad: rng.below(2) == 0,
        };
        match trace(&bytes, options) {
            Err(e) => {
                assert!(e.to_string().len() < 1500, "{e}");
                errors += 1;
            }
            Ok(trace) => {
                let all = drain(&mut *trace.open().unwrap()).unwrap();
                assert_eq!(trace.about().requests, Some(all.len() as u64), "seed {seed}");
                let span = trace.about().span.unwrap();
                assert!(all.iter().all(|r| r.len > 0 && r.end() <= span), "seed {seed}");
                assert!(all.windows(2).all(|w| w[0].at <= w[1].at), "seed {seed}");
                assert_eq!(all[0].at, kernel::Time::ZERO, "seed {seed}");
                fine += 1;
            }
        }
    }
    assert!(errors > 1000 && fine > 1000, "the mutations must reach both: {errors}, {fine}");
}

fn samples_once() -> &'static [Vec<u8>; 6] {
    static SAMPLES: std::sync::OnceLock<[Vec<u8>; 6]> = std::sync::OnceLock::new();
    SAMPLES.get_or_init(samples)
}

/// The real traces, where they are at hand: counts, shares and spans as their page gives them.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test's input, not a run's")]
fn real_traces_have_their_published_counts() {
    let Some(dir) = std::env::var_os("FLOATGATE_TRACES").map(std::path::PathBuf::from) else {
        println!("skipped: FLOATGATE_TRACES is not set");
        return;
    };
    // Name, format, requests, % reads, seconds, span in GB.
    let traces = [
        ("msps-dtrs-30000s.trace.zst", Format::SsdsimAscii, 127_043, 89.0, 30_000.0, 164.51),
        ("umass-financial1-10k.ascii.zst", Format::SsdsimAscii, 10_000, 40.8, 259.6, 5.90),
        ("cloudphysics-vm-2h.vscsi.zst", Format::Vscsi, 113_872, 41.3, 7_200.0, 33.58),
    ];
    let mut seen = 0;
    for (name, format, requests, reads, seconds, gigabytes) in traces {
        let path = dir.join(name);
        if !path.is_file() {
            println!("skipped: {name} is not there");
            continue;
        }
        let trace = open_trace(&path, &NO_OPTIONS).unwrap_or_else(|e| panic!("{e}"));
        let all = drain(&mut *trace.open().unwrap()).unwrap();
        assert_eq!((trace.about().format.as_str(), all.len()), (format.name(), requests), "{name}");
        let share = all.iter().filter(|r| r.op == Op::Read).count() as f64 / all.len() as f64;
        assert!((share * 100.0 - reads).abs() < 0.06, "{name}: {share}");
        let length = all[all.len() - 1].at.as_secs_f64();
        assert!((length / seconds - 1.0).abs() < 0.01, "{name}: {length} s");
        let span = trace.about().span.unwrap() as f64 * 1e-9;
        assert!((span / gigabytes - 1.0).abs() < 0.001, "{name}: {span} GB");
        if format == Format::Vscsi {
            let mut alignment = crate::Alignment::new();
            alignment.observe(&all);
            assert_eq!(alignment.best_shift(), (512, 90_572), "a partition 63 sectors in");
        }
        seen += 1;
    }
    println!("{seen} real traces read");
}
