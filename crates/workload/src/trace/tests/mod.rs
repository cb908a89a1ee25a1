//! The readers: exact formats, slices, real traces, and input that is wrong in every way.

mod bad;
mod formats;
mod hints;
mod kinds;
mod mutated;
mod real;
mod slices;
mod sniffing;

use std::io::Write as _;

use super::samples::{COLUMNS, Piece, SAMPLES, has_devices, has_op, is_text, pieces, write};
use super::*;
use crate::{Op, Request};

const NO_OPTIONS: ReadOptions = ReadOptions {
    format: None,
    time_unit: None,
    columns: None,
    event: None,
    devices: Vec::new(),
    process: None,
    flow_by: None,
    skip_bad: false,
    tally: ReadTally::NONE,
};

#[expect(clippy::needless_pass_by_value, reason = "options are written where they are used")]
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

/// The options that a sample needs: a table needs its columns.
fn options_of(format: &str) -> ReadOptions {
    let columns = (format == "csv").then(|| COLUMNS.parse().unwrap());
    ReadOptions { columns, ..NO_OPTIONS }
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

/// A trace that is too long to be kept in memory.
fn long() -> Vec<u8> {
    FAR_AND_NEAR.repeat(FEW_ENOUGH + packed::PLAIN)
}

const RECORD: &[u8] = b"5 0 64 8 0\n";
/// Two records that take 18 bytes in memory: each a head of two, six of an address and one of a length.
const FAR_AND_NEAR: &[u8] = b"5 0 0 8 0\n5 0 2000000000000 16 0\n";
/// The number of these pairs that are kept: of each piece of memory some bytes are left.
const FEW_ENOUGH: usize = packed::MOST / 18;

/// A small file may hold very many records: its progress counts the records read.
#[test]
fn what_is_read_is_counted() {
    let text = long();
    let lines = text.split(|&byte| byte == b'\n').count() as u64 - 1;
    let options = ReadOptions { tally: ReadTally::new(), ..NO_OPTIONS };
    let trace = open_bytes("t", text.into(), &options).unwrap();
    let surveyed = options.tally.records();
    assert!(surveyed > lines / 2 && surveyed <= lines, "{surveyed} of {lines}");
    drain(&mut *trace.open().unwrap()).unwrap();
    assert!(options.tally.records() > surveyed + lines / 2);
    assert_eq!(options, NO_OPTIONS, "it decides nothing");
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
fn what_follows_the_end_of_a_gzip_file_is_passed_over_and_told() {
    // So much that members and what follows end anywhere in the reader's buffers.
    let text = lines(30_000, |i| format!("{i}000 0 {} 8 1", i * 7919 % 100_003));
    let plain = read_with(text.as_bytes(), NO_OPTIONS).unwrap();
    let whole = gzip(text.as_bytes());
    let members: Vec<u8> = text.as_bytes().chunks(97).flat_map(gzip).collect();
    let told = |packed: &[u8]| {
        let trace = trace(packed, NO_OPTIONS).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(drain(&mut *trace.open().unwrap()).unwrap(), plain);
        let notes = trace.about().notes.clone();
        notes.into_iter().filter(|note| note.contains("after the end")).collect::<Vec<_>>()
    };
    for packed in [&whole, &members] {
        assert!(told(packed).is_empty());
        let long = vec![0x8b; 300_000];
        let tails = [&b"\0"[..], &[0; 512], b"\x1f", b"\x1f\x1f\x8b", b"\x8b", &long];
        for tail in tails {
            let n = tail.len();
            let note = format!("{n} bytes after the end of the gzip data were passed over");
            assert_eq!(told(&[packed, tail].concat()), [note]);
        }
        // Data that begins as a member is one, and is damaged or cut.
        for (tail, words) in
            [(&b"\x1f\x8band no header"[..], "damaged"), (&whole[..12], "in the middle")]
        {
            let e = read_with(&[packed, tail].concat(), NO_OPTIONS).unwrap_err().to_string();
            assert!(e.contains(words), "{e}");
        }
    }
}

#[test]
fn compression_that_is_not_read_is_named() {
    // The first as `printf '0 0 16 8 1\n' | bzip2` begins, the second as `bzip2 < /dev/null` does.
    let cases: [(&[u8], &str); 4] = [
        (b"BZh91AY&SY\xf0\xa1\xb2\xc3", "bzip2; expected"),
        (b"BZh9\x17rE8P\x90\0\0\0\0", "bzip2; expected"),
        (b"\x04\x22\x4d\x18\x64\x40\xa7", "lz4; expected"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "7z; expected"),
    ];
    for (bytes, words) in cases {
        for format in [None, Some(Format::Msr)] {
            let e = trace(bytes, ReadOptions { format, ..NO_OPTIONS }).err().unwrap();
            assert_eq!(e.code(), "trace::compression");
            let said = e.to_string();
            assert!(said.contains(words) && said.contains("gzip, zstd or xz"), "{said}");
        }
    }
    assert_eq!(read_with(b"BZh9 is no trace\n", NO_OPTIONS).unwrap_err().code(), "trace::format");
}

#[test]
fn a_compressed_file_with_a_damaged_beginning_is_called_damaged() {
    let text = lines(50, |i| format!("{i}000 0 {i} 8 1"));
    for (name, mut packed) in
        [("t.gz", gzip(text.as_bytes())), ("t.ZST", zstd(text.as_bytes())), ("t.xz", XZ.to_vec())]
    {
        let open = |name: &str, bytes: &[u8], format| {
            open_bytes(name, bytes.into(), &ReadOptions { format, ..NO_OPTIONS })
        };
        packed[1] ^= 0x80;
        for format in [None, Some(Format::Ssdsim), Some(Format::Vscsi)] {
            let e = open(name, &packed, format).err().unwrap();
            assert_eq!(e.code(), "trace::compression", "{e}");
            let said = e.to_string();
            assert!(said.contains("is named like a") && said.contains("copy it again"), "{said}");
        }
        assert_eq!(open("t", &packed, None).err().unwrap().code(), "trace::format");
        // The name promises, the bytes decide.
        assert_eq!(open(name, text.as_bytes(), None).unwrap().about().requests, Some(50));
        let later = format!("{text}\nnot a record\n");
        assert_eq!(open(name, later.as_bytes(), None).err().unwrap().code(), "trace::record");
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

#[test]
fn files_that_cannot_be_opened() {
    let fail = |path: &Path| {
        let said = open_trace(path, &NO_OPTIONS).err().unwrap().to_string();
        assert_eq!(glance(path, &NO_OPTIONS).unwrap_err().to_string(), said, "a glance is enough");
        said
    };
    let dir = std::env::temp_dir();
    assert!(fail(&dir.join("floatgate-no-such-file")).contains("there is no such file"));
    let own = dir.join(format!("floatgate-hint-{}", std::process::id()));
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("mine.csv"), "").unwrap();
    let meant = fail(&own.join("mnie.csv"));
    let near = own.join("mine.csv").display().to_string();
    assert!(meant.contains(&format!("did you mean `{near}`?")), "{meant}");
    assert!(fail(&own.join("quite-another")).contains("check the path"));
    std::fs::remove_dir_all(own).unwrap();
    assert!(fail(&dir).contains("this is a directory"));
    #[cfg(unix)]
    assert!(fail(Path::new("/dev/null")).contains("a pipe or a device"));
    let path = dir.join(format!("floatgate-test-{}.trace", std::process::id()));
    std::fs::write(&path, "no trace at all\n").unwrap();
    fail(&path);
    std::fs::write(&path, format!("{}not a record\n", "0 0 16 8 1\n".repeat(10_000))).unwrap();
    assert!(glance(&path, &NO_OPTIONS).is_ok(), "it does not read to the end");
    assert!(open_trace(&path, &NO_OPTIONS).is_err());
    std::fs::write(&path, RECORD).unwrap();
    let trace = open_trace(&path, &NO_OPTIONS).unwrap();
    assert_eq!(trace.about().name, path.file_name().unwrap().to_string_lossy());
    std::fs::remove_file(&path).unwrap();
}

/// A file that changes after it was looked at: what was kept of it is what has its digest, and what is read
/// anew is refused.
#[test]
fn a_file_that_changes_is_not_read_as_another() {
    let path = std::env::temp_dir().join(format!("floatgate-change-{}.trace", std::process::id()));
    let opened = |records: &[u8]| {
        std::fs::write(&path, records).unwrap();
        let trace = open_trace(&path, &NO_OPTIONS).unwrap();
        std::fs::write(&path, RECORD.repeat(2)).unwrap();
        trace.open()
    };
    assert_eq!(drain(&mut *opened(&RECORD.repeat(5)).unwrap()).unwrap().len(), 5);
    let long = long();
    let e = opened(&long).err().unwrap().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(e.contains(&format!("the file has changed from {} to 22 bytes", long.len())), "{e}");
}

/// Files of one device each, and one after the other of the same: devices are moved aside as soon as there are two.
#[test]
fn slices_agree_where_devices_are() {
    let folder = std::env::temp_dir().join(format!("floatgate-slices-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let file = |name: &str, device: u32| {
        let path = folder.join(name);
        std::fs::write(&path, format!("0 {device} 16 8 1\n5 {device} 64 8 0\n")).unwrap();
        path
    };
    let (first, again, second) = (file("a", 0), file("b", 0), file("c", 1));
    let starts = |paths: &[PathBuf]| -> Vec<u64> {
        let slices = open_slices(paths, &NO_OPTIONS).unwrap();
        slices.iter().map(|s| drain(&mut *s.open().unwrap()).unwrap()[0].offset).collect()
    };
    assert_eq!(starts(&[first.clone(), again.clone()]), [8192, 8192]);
    assert_eq!(starts(&[first, second, again]), [8192, (1 << 20) + 8192, 8192]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Requests that are kept are those that reading the trace again would give, in every format; where they
/// would be others they are not kept.
#[test]
fn what_is_kept_is_what_is_read() {
    let again = |bytes: &[u8], options: &ReadOptions| {
        let stored = Stored::memory("t", bytes.into()).unwrap();
        let trace = open(stored, options).unwrap();
        let Trace { stored, format, known, options, regions, flow_of_owner, .. } = &trace;
        let mut read =
            reading(stored, (*format, *known), options, regions, flow_of_owner.clone()).unwrap();
        let opened = drain(&mut *trace.open().unwrap()).unwrap();
        assert_eq!(opened, drain(&mut *read).unwrap());
        assert_eq!(Some(opened.len() as u64), trace.about().requests);
        trace.kept.is_some()
    };
    for (name, format) in SAMPLES {
        let mut all = pieces(name, 300);
        let options = options_of(format);
        let several = has_devices(name);
        assert_eq!(again(&write(name, &all), &options), !several, "{name}");
        if several {
            let first = all[0].device;
            all.retain(|piece| piece.device == first);
            assert!(again(&write(name, &all), &options), "{name}");
        }
    }
    let by_device = ReadOptions { flow_by: Some(FlowBy::Device), ..NO_OPTIONS };
    assert!(!again(RECORD, &by_device));
    assert!(again(&FAR_AND_NEAR.repeat(FEW_ENOUGH * 99 / 100), &NO_OPTIONS));
    assert!(!again(&long(), &NO_OPTIONS));
    let bad = [RECORD, b"not a record\n", RECORD].concat();
    let skip = ReadOptions { skip_bad: true, format: Some(Format::Ssdsim), ..NO_OPTIONS };
    assert!(!again(&bad, &skip));
}

#[test]
fn names_of_formats_and_units_read_back() {
    for &format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("cvs".parse::<Format>().unwrap_err().contains("did you mean `csv`?"));
    assert!("pcap".parse::<Format>().unwrap_err().contains("there are ssdsim-ascii"));
    assert!("sec".parse::<TimeUnit>().is_err());
    for event in [Event::Queued, Event::Issued, Event::Completed] {
        assert_eq!(event.letter().to_string().parse(), Ok(event));
    }
    assert!("q".parse::<Event>().unwrap_err().contains("Q (queued)"));
}
