//! Input that is wrong in every way.

use super::*;

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
        (&after("5 0 16 8"), &["t:3:9:", "column 5, the operation, is missing", "5 columns"]),
        (&after("5 0 16 8 1 9"), &["t:3:12:", "more than 5 columns (`9`)"]),
        (&after("-5 0 16 8 1"), &["t:3:1:", "`-5` in the time is negative"]),
        (&after("99999999999999999999 0 16 8 1"), &["t:3:1:", "out of bounds"]),
        (&after("5 0 16 -8 1"), &["t:3:8:", "`-8` in the size is negative"]),
        (&after("5 0 16 0 1"), &["t:3:", "size 0"]),
        (&after("5 0 16 99999999 1"), &["t:3:", "51199999488 bytes", "at most 4 GiB"]),
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
        (vscsi(0x83, 512, 63, 5), "SCSI operation 0x83"),
        (vscsi(0x28, 0, 63, 5), "size 0"),
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
    // A gigabyte of addresses trimmed in each millisecond is 1 TB of no data.
    let trims = lines(2000, |i| format!("{i} d trim {} 1073741824", i << 30));
    let iolog = format!("fio version 3 iolog\n0 d add\n0 d open\n{trims}\n");
    assert_eq!(read_with(iolog.as_bytes(), NO_OPTIONS).unwrap().len(), 2000);
    let written = read_with(iolog.replace("trim", "write").as_bytes(), NO_OPTIONS).unwrap_err();
    assert_eq!(written.code(), "trace::clock");
    // Requests that all come at one instant have no rate.
    let still = about(&"7 0 16 8 1\n".repeat(5000));
    assert!(still.notes.iter().any(|n| n.contains("queue-depth")), "{:?}", still.notes);
}

#[test]
fn skipping_counts_and_remembers_the_first_reasons() {
    let text = "0 0 16 8 1\nx\n5 0 16 8 1\n4 0 16 8 1\n6 0 16 0 1\n6 0 16 8 9\n9 0 16 8 0\n";
    let skip = ReadOptions { skip_bad: true, ..NO_OPTIONS };
    let ssdsim = ReadOptions { format: Some(Format::Ssdsim), ..skip.clone() };
    let trace = trace(text.as_bytes(), ssdsim).unwrap();
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

/// A record of every format in text, its separator, and the content of each column. `n` is a number
/// and `w` a certain word, so that nothing else is valid; `d` is a number of any size; `h` anything
/// but nothing. `b` is a certain word or nothing; `e` the end of the line; `x` anything.
const RECORDS: [(&str, &str, char, &str); 14] = [
    ("ssdsim", "90000000000 0 16 8 1", ' ', "nnnnn"),
    ("disksim", "90000.5 0 16 8 1", ' ', "nnnnw"),
    ("msr", "900000000,hm,0,Read,512,4096,7", ',', "nhnwnnn"),
    (
        "msps",
        "DiskRead, 90000000, a (4), 480, 0xf8, 0x200, 0x1000, 283, 0, 0x06, 283, 3, O, 0xf, \"C\"",
        ',',
        "wnxxxnnnnhxxxxx",
    ),
    ("spc", "0,8,4096,r,90.5,more", ',', "nnnwnx"),
    ("alibaba", "0,R,512,4096,90000000", ',', "nwnnn"),
    ("tencent", "1538323290,8,8,0,1", ',', "nnnwn"),
    ("systor", "1456135290.5,0.1,R,0,512,4096", ',', "nxbnnn"),
    ("blkparse", "  8,16  0  9999  90.000000000  7  Q  W 8 + 8 [app]", ' ', "nnnnnwwnwne"),
    ("fiu", "90000000000 7 app 8 8 R 6 1 56f11b711d91a065", ' ', "nnhnnwnnx"),
    ("wiscsee", "7 D read 512 4096 90.5 0.1 True", ' ', "nwwnnndw"),
    ("fio 2", "/dev/a read 512 4096", ' ', "wwnn"),
    ("fio 3", "90000000 /dev/a read 512 4096", ' ', "nwwnn"),
    ("csv", "90000000;r;512;8;sda", ';', "nwnnh"),
];

/// The begin and end of the fields of a line.
fn places(line: &str, separator: char) -> Vec<(usize, usize)> {
    let mut at = 0;
    let mut places = Vec::new();
    for piece in line.split(separator) {
        let text = piece.trim_start();
        if separator != ' ' || !text.is_empty() {
            let from = at + piece.len() - text.len();
            places.push((from, from + text.len()));
        }
        at += piece.len() + 1;
    }
    places
}

#[test]
fn whatever_a_column_must_not_hold_is_an_error_with_its_place() {
    let mut refused = 0;
    for (name, line, separator, kinds) in RECORDS {
        let format = SAMPLES.iter().find(|s| s.0 == name).unwrap().1;
        let good = String::from_utf8(write(name, &pieces(name, 20))).unwrap();
        let number = good.lines().count() + 1;
        let read = |line: &str| {
            let text = format!("{good}{line}\n");
            read_with(text.as_bytes(), options_of(format)).map_err(|e| e.to_string())
        };
        assert_eq!(read(line).unwrap_or_else(|e| panic!("{e}")).len(), 21, "{name}");
        let places = places(line, separator);
        assert!(places.len() >= kinds.len(), "{name}");
        for (&(from, to), kind) in places.iter().zip(kinds.chars()) {
            for bad in ["", "?", "-1", "99999999999999999999"] {
                let damaged = [&line[..from], bad, &line[to..]].concat();
                let may = match kind {
                    'x' => true,
                    'h' => !bad.is_empty(),
                    'd' => bad.starts_with('9'),
                    'b' => bad.is_empty(),
                    _ => false,
                };
                let answer = read(&damaged);
                if may {
                    assert!(answer.is_ok(), "{damaged}: {answer:?}");
                    continue;
                }
                let message = answer.expect_err(&damaged);
                refused += 1;
                assert!(message.starts_with(&format!("t:{number}:")), "{damaged}: {message}");
                assert!(message.contains("; expected "), "{message}");
                if kind != 'e' && !bad.is_empty() {
                    let place = format!("t:{number}:{}: `{bad}`", from + 1);
                    assert!(message.starts_with(&place), "{damaged}: {message}");
                }
            }
        }
        // Cut anywhere before its last column, a line is refused.
        let needed = places[kinds.rfind(|k| !matches!(k, 'x' | 'b')).unwrap()].0;
        for cut in places[0].0 + 1..needed {
            assert!(read(&line[..cut]).is_err(), "{name} cut: {}", &line[..cut]);
        }
    }
    assert!(refused > 200, "{refused}");
}

/// Other mistakes of each format, beyond a column by itself.
#[test]
fn each_format_has_mistakes_of_its_own() {
    let cases: &[(&str, &str, &str)] = &[
        ("ssdsim", "90000000000 0 16 8 1 9", "more than 5 columns (`9`)"),
        ("alibaba", "0,R,512,4096,90000000,1", "more than 5 columns (`,1`)"),
        ("alibaba", "0,R,512,0,90000000", "size 0"),
        ("alibaba", "0,r,512,4096,90000000", "`r` in the operation"),
        ("alibaba", "4294967296,R,512,4096,90000000", "in the device is out of bounds"),
        ("tencent", "1538323290,8,8,0,1,1", "more than 5 columns"),
        ("tencent", "1538323290,8,8,2,1", "`2` in the type is out of bounds"),
        ("tencent", "1538323290,8,8,0,4294967296", "the volume"),
        ("systor", "1456135290.5,0.1,X,0,512,4096", "`R`, `W` or nothing"),
        ("systor", "1456135290.5,0.1,R,4294967296,512,4096", "the LUN"),
        ("systor", "1456135290.5,0.1,R,0,512,4096,1", "more than 6 columns"),
        ("blkparse", "  8,16 0 99 90.0 7 Q W 8 + 8 [my a", "the line may be cut"),
        ("blkparse", "  8,16 0 99 90.0 7 Q W 8 - 8 [x]", "what follows the sector"),
        ("blkparse", "  8,9999999 0 99 90.0 7 Q W 8 + 8 [x]", "major and minor"),
        ("blkparse", "  8,16 0 99 90.0 7 Q ZX 8 + 8 [x]", "`ZX` in the type"),
        ("blkparse", "  8,16 0 99 90.0 7 Q X 8 + 8 [x]", "`X` in the type"),
        ("blkparse", "  8,16 0 99 90.0 7 Q FX [x]", "`FX` in the type"),
        ("blkparse", "  8,16 0 99 90.0 7 Q FWS [my a", "the line may be cut"),
        ("blkparse", "  8,16 0 99 90.0 7 Q W 8 + 8388616 [x]", "at most 4 GiB"),
        ("blkparse", "  8,16 0 99 90.0 7 Q D 8 + 2199023255560 [x]", "1 PiB in one trim"),
        ("blkparse", "rubbish after the summary", "`rubbish` in the device"),
        ("fiu", "90000000000 7 app 8 8 X 6 1", "`R` or `W`"),
        ("fiu", "90000000000 7 app 8 0 R 6 1", "size 0"),
        ("fiu", "90000000000 7 app 8 8 R 4096 1", "the major number"),
        ("fiu", "90000000000 7 app 8 8 R 6 1048576", "the minor number"),
        ("wiscsee", "7 D erase 512 4096 90.5 0.1 True", "`read`, `write` or `discard`"),
        ("wiscsee", "7 D read 512 4096 90.5 0.1 True 1", "more than 8 columns"),
        ("fio 2", "/dev/x read 0 512", "`/dev/x` was not added"),
        ("fio 2", "/dev/x open", "`/dev/x` was not added"),
        ("fio 2", "/dev/x sync 0 0", "`/dev/x` was not added"),
        ("fio 2", "/dev/a add twice", "more than 2 columns"),
        ("fio 2", "/dev/a read 0 0", "size 0"),
        ("fio 2", "/dev/a wait x", "the wait"),
        ("fio 2", "/dev/a wait 18446744073709551", "the wait"),
        ("fio 2", "fio version 2 iolog", "a second log begins"),
        ("fio 3", "90000000 /dev/a wait 5", "no `wait` in version 3"),
        ("fio 3", "90000000 /dev/a read 0 512 9", "more than 5 columns"),
        (
            "msps",
            "DiskRead, 5, a (4), 1, 0xf, 0x0, 0x1000, 3600000001, 0, 0x6",
            "less than an hour",
        ),
        ("msps", "DiskRead, 5, a (4), 1, 0xf, 0, 0x1000, 1, 0, 0x6", "hexadecimal"),
        ("msps", "DiskRead, 5, a (4), 1, 0xf, 0x, 0x1000, 1, 0, 0x6", "hexadecimal"),
        ("msps", "DiskRead, 5, a (4), 1, 0xf, 0x1g, 0x1000, 1, 0, 0x6", "hexadecimal"),
        (
            "msps",
            "DiskRead, 5, a (4), 1, 0xf, 0x10000000000000000, 0x1000, 1, 0, 0x6",
            "the offset",
        ),
        ("msps", "DiskRead, 5, a (4), 1, 0xf, 0x0, 0x0, 1, 0, 0x6", "size 0"),
        ("msps", "DiskRead, 5, a (4), 1, 0xf, 0x0, 0x1000, 1, 4294967296, 0x6", "the disk"),
        ("msps", "CSwitch", "column 2, the time, is missing"),
        ("msps", "CSwitch, soon", "`soon` in the time"),
        ("msps", "DiskFlush, 5, a (4), 1, 0xf, 3600000001, 0, 0x0, 0x6", "less than an hour"),
        ("msps", "DiskFlush, 5, a (4), 1, 0xf, 1, 4294967296, 0x6", "the disk"),
        ("msps", "DiskFlush, 5, a (4), 1, 0xf, 1, 0", "further columns"),
        ("csv", "90000000;r;512;8;", "column 5, the device, is missing"),
        ("csv", "90000000;r;;8;sda", "column 3, the offset, is missing"),
        ("csv", "90000000;wf;512;;sda", "column 4, the size, is missing"),
        ("csv", "90000000;r;512;0;sda", "size 0"),
        ("csv", "90000000;f;0;8;sda", "a flush with a size"),
        ("csv", "90000000;f;0;x;sda", "`x` in the size"),
        ("csv", "90000000;f;;;", "column 5, the device, is missing"),
        ("csv", "90000000;x;512;8;sda", "`--columns op=2:0/1`"),
        ("csv", "90000000;1;512;8;sda", "`--columns op=2:0/1`"),
        ("csv", "90000000,r,512,8,sda", "the time is not understood"),
        ("csv", "90000000;r;512;36028797018963968;sda", "beyond 64 bits"),
    ];
    for (name, line, words) in cases {
        let format = SAMPLES.iter().find(|s| s.0 == *name).unwrap().1;
        let good = write(name, &pieces(name, 20));
        let number = good.split(|b| *b == b'\n').count();
        let text = [&good, line.as_bytes(), b"\n"].concat();
        let message = read_with(&text, options_of(format)).expect_err(line).to_string();
        assert!(message.starts_with(&format!("t:{number}")), "{line}: {message}");
        assert!(message.contains(words), "{line}: {message}");
    }
}

#[test]
fn a_wrong_beginning_is_an_error() {
    let said = |format| ReadOptions { format: Some(format), ..NO_OPTIONS };
    let cases = [
        ("/dev/a read 0 512\n", said(Format::Fio), "`fio version 2 iolog` or"),
        ("fio version 1 iolog\n0, 1, 2\n", NO_OPTIONS, "version 1 is not read"),
        ("BeginHeader\nDiskRead, TimeStamp, IOSize\n", NO_OPTIONS, "has no column `Process"),
        ("a;b\n1;r\n", options_of("csv"), "t:1: fewer than 5 columns"),
        ("BeginHeader\nEndHeader\n", NO_OPTIONS, "no request at all"),
        ("fio version 3 iolog\n0 /dev/a add\n", NO_OPTIONS, "no request at all"),
    ];
    for (text, options, words) in cases {
        let e = read_with(text.as_bytes(), options).unwrap_err().to_string();
        assert!(e.contains(words), "{text}: {e}");
    }
}

#[test]
fn binary_garbage_and_cut_files_are_errors_in_every_format() {
    let garbage: Vec<u8> =
        (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (name, format) in SAMPLES {
        let said = ReadOptions { format: format.parse().ok(), ..options_of(format) };
        let e = read_with(&garbage, said.clone()).unwrap_err().to_string();
        assert!(e.starts_with("t:") && e.contains("expected"), "{name}: {e}");
        let good = write(name, &pieces(name, 400));
        let both = [&good[..], &garbage].concat();
        assert!(read_with(&both, said.clone()).is_err(), "{name}");
        for packed in [gzip(&good), zstd(&good)] {
            for keep in [packed.len() - 1, packed.len() / 2] {
                let e = read_with(&packed[..keep], said.clone()).unwrap_err();
                assert_eq!(e.code(), "trace::compression", "{name}: {e}");
            }
        }
    }
}
