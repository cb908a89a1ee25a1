//! Every reader on the exact format.

use super::*;

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
    assert!(notes.contains("1 records hold no request"), "{notes}");
}

/// What a sample must give, computed from its pieces: times from the first, devices side by side.
fn expected(pieces: &[Piece]) -> Vec<(u64, u64, u32, Op)> {
    let end =
        |d| pieces.iter().filter(move |p| p.device == d).map(|p| (p.sector + p.sectors) * 512);
    let mut starts = [0_u64; 3];
    for d in 1..3 {
        let used = end(d - 1).max().unwrap_or(0);
        starts[d as usize] = (starts[d as usize - 1] + used).next_multiple_of(1 << 20);
    }
    let op = |p: &Piece| match p.op {
        'R' => Op::Read,
        'W' => Op::Write,
        _ => Op::Trim,
    };
    pieces
        .iter()
        .map(|p| {
            let offset = starts[p.device as usize] + p.sector * 512;
            ((p.seconds - pieces[0].seconds) * 1_000_000_000, offset, p.sectors as u32 * 512, op(p))
        })
        .collect()
}

#[test]
fn every_format_gives_back_what_was_written_in_it() {
    for (name, format) in SAMPLES {
        let pieces = pieces(name, 100);
        assert_eq!(pieces.iter().any(|p| p.op == 'D'), has_trims(name));
        assert_eq!(pieces.iter().any(|p| p.device == 2), has_devices(name));
        let bytes = write(name, &pieces);
        for packed in [bytes.clone(), gzip(&bytes), zstd(&bytes)] {
            let trace =
                trace(&packed, options_of(format)).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((trace.about().format.as_str(), trace.about().timed), (format, true));
            let all = drain(&mut *trace.open().unwrap()).unwrap();
            let all: Vec<_> = all.iter().map(|r| (r.at.as_ns(), r.offset, r.len, r.op)).collect();
            assert_eq!(all, expected(&pieces), "{name}");
        }
        // Lines end as elsewhere, and a mark stands in front.
        if let Ok(text) = String::from_utf8(bytes) {
            let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
            let all = read_with(windows.as_bytes(), options_of(format)).unwrap();
            assert_eq!(all.len(), pieces.len(), "{name}");
        }
    }
}

#[test]
fn msps_times_are_completions_less_the_elapsed_time() {
    let line = |us: u64, offset: u64, elapsed: u64| {
        format!("DiskWrite, {us}, a (1), 2, 0x3, {offset:#x}, 0x1000, {elapsed}, 0, 0x4\n")
    };
    // Done in the order of the lines; begun at 500, -200 and 690.
    let text = [line(600, 0, 100), line(650, 4096, 850), line(700, 8192, 10)].concat();
    let seen: Vec<_> = read(&text).iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(seen, [(0, 4096), (700_000, 0), (890_000, 8192)]);
    assert!(about(&text).notes.iter().any(|n| n.starts_with("1 records stand later")));
}

#[test]
fn msps_columns_are_where_the_header_says() {
    let header = "BeginHeader\n\
        DiskRead,  TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, \
        ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName\n\
        CSwitch, TimeStamp, New Process Name ( PID), New TID\nEndHeader\n";
    let events = "CSwitch, 100, Idle (0), 0\n\
        DiskRead, 8612, xperf.exe (3984), 11844, 1, 0xffffe288b23f1b20, 0x018f0b8000, 0x00001000, \
        283, 3, 0x060043, 283, 3, Original, 0xffffe288272d0d20, \"C:\\$Mft\"\n\
        CSwitch, 9000, Idle (0), 0\nFileIoRead, 9001, x (1), 2\n";
    let text = format!("{header}{events}");
    assert_eq!(read(&text), [(0, 0x01_8f0b_8000, 4096, Op::Read)]);
    let about = about(&text);
    assert_eq!(about.format, "msps");
    let note = "3 events of 2 other kinds: 2 CSwitch, 1 FileIoRead";
    assert!(about.notes.iter().any(|n| n == note), "{:?}", about.notes);
}

#[test]
fn blkparse_passes_over_what_is_no_request() {
    let q = |what: &str| format!("8,0 1 1 0.5 9 {what}\n");
    let pass = [
        "Q FN [jbd2]",
        "Q FWS [jbd2]",
        "Q N 0 (12 00) [sg]",
        "D R 36 (12 00 00 00) [sg]",
        "Q W 8 + 0 [x]",
        "m N cfq workload slice:300",
        "UT N [x] 1",
        "X W 8 / 16 [x]",
        "A W 8 + 8 <- (8,2) 0",
    ];
    let text: String = pass.iter().map(|what| q(what)).collect();
    let text = text + &q("Q FWFS 8 + 8 [x]") + &q("Q DS 16 + 4194304 [x]") + &q("Q RA 8 + 1 [a b]");
    let (mib, gib) = (1 << 20, 1 << 30);
    let seen: Vec<_> = read(&text).iter().map(|r| (r.1, u64::from(r.2), r.3)).collect();
    let want = [(4096, 4096, Op::Write), (8192, 2 * gib, Op::Trim), (4096, 512, Op::Read)];
    assert_eq!(seen, want);
    assert!(about(&text).notes.iter().any(|n| n.starts_with("9 records hold no request")));
    // With `-t` the time that passed stands before the process.
    assert_eq!(read("8,0 1 1 0.5 9 Q W 2048 + 8 (   120) [x]\n")[0].1, mib);
    // Everything behind the events is a summary, unless it is events again.
    let (summary, again) = ("CPU0 (sda):\n Reads Queued: 1\nTotal (sda):\n", q("Q R 0 + 8 [x]"));
    assert_eq!(read(&format!("{again}{summary}{again}7z (77)\n Read: 5\n")).len(), 2);
}

#[test]
fn fio_without_times_arrives_as_fast_as_it_is_taken() {
    let text = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 4096\n\
                /dev/a datasync 0 0\n/dev/a read 0 512\n";
    let about = about(text);
    assert_eq!((about.timed, about.requests, about.format.as_str()), (false, Some(2), "fio"));
    assert!(!about.notes.iter().any(|n| n.contains("queue-depth")), "{:?}", about.notes);
    let waits =
        text.replace("/dev/a datasync", "/dev/a wait 40\n/dev/a wait 90 0\n/dev/a datasync");
    assert_eq!(read(&waits)[1].0, 130_000);
    assert!(self::about(&waits).timed);
}

#[test]
fn csv_columns_stand_anywhere_between_anything() {
    let all = |text: &str, columns: &str| {
        let options = ReadOptions { columns: Some(columns.parse().unwrap()), ..NO_OPTIONS };
        let all = read_with(text.as_bytes(), options).unwrap_or_else(|e| panic!("{e}"));
        all.iter().map(|r| (r.at.as_ns(), r.offset, r.len, r.op)).collect::<Vec<_>>()
    };
    let want = [(0, 4096, 512, Op::Read), (1_500_000, 8192, 1024, Op::Write)];
    let plain = "time=1:us,op=2,offset=3,size=4";
    for separator in [",", ";", "\t", " ", "  ", " \t", ", "] {
        let line = |words: [&str; 4]| words.join(separator) + "\n";
        let lines = line(["1000", "R", "4096", "512"]) + &line(["2500", "write", "8192", "1024"]);
        assert_eq!(all(&lines, plain), want, "{separator:?}");
        let headed = line(["t", "op", "where", "bytes"]) + &lines;
        assert_eq!(all(&headed, plain), want, "{separator:?}");
    }
    let text = "x,1,8,0,0.001\n\n# note\nx,2,16,1,0.0025\n";
    assert_eq!(all(text, "time=5:s,op=4:0/1,offset=3:sectors,size=2:sectors"), want);
    let text = "4096 512 get\n8192 1024 put\n0 4096 drop\n";
    let untimed = all(text, "offset=1,size=2,op=3:get/put/drop");
    assert_eq!(untimed[2], (0, 0, 4096, Op::Trim));
    let options = ReadOptions {
        columns: Some("offset=1,size=2,op=3:get/put/drop".parse().unwrap()),
        ..NO_OPTIONS
    };
    assert!(!trace(text.as_bytes(), options).unwrap().about().timed);
}

#[test]
fn columns_that_cannot_be_meant_are_refused_with_a_reason() {
    let cases = [
        ("", "has no `=`"),
        ("time", "`time` in the columns has no `=`"),
        ("time=1:us,op=2,offset=3", "no `size`"),
        ("op=0,offset=3,size=4", "from 1 to 256"),
        ("op=257,offset=3,size=4", "from 1 to 256"),
        ("op=x,offset=3,size=4", "from 1 to 256"),
        ("op=1,offset=1,size=4", "`offset=1` in the columns: this column is taken"),
        ("op=1,op=2,offset=3,size=4", "`op` stands in the columns twice"),
        ("op=1,offset=2:pages,size=3", "known are bytes and sectors"),
        ("op=1,offset=2,size=3,device=4:us", "a device has no unit"),
        ("time=1:min,op=2,offset=3,size=4", "`min` is not a unit of time"),
        ("op=1:0,offset=2,size=3", "expected such as `op=2:0/1`"),
        ("op=1:0/0,offset=2,size=3", "the words must differ"),
        ("lba=1,op=2,offset=3,size=4", "known are time, op, offset, size and device"),
    ];
    for (text, words) in cases {
        let e = text.parse::<Columns>().unwrap_err();
        assert!(e.contains(words), "{text}: {e}");
    }
    let unit = |columns: &str, time_unit| {
        let options =
            ReadOptions { columns: Some(columns.parse().unwrap()), time_unit, ..NO_OPTIONS };
        trace(b"1 r 0 512\n", options).map(|_| ()).map_err(|e| e.to_string())
    };
    let (bare, us) = ("time=1,op=2,offset=3,size=4", "time=1:us,op=2,offset=3,size=4");
    assert!(unit(bare, None).unwrap_err().contains("the time has no unit"));
    assert!(unit(us, Some(TimeUnit::Ms)).unwrap_err().contains("two units"));
    let untimed = unit("op=2,offset=3,size=4", Some(TimeUnit::Ms));
    assert!(untimed.unwrap_err().contains("no column has the time"));
    assert_eq!((unit(bare, Some(TimeUnit::Ms)), unit(us, Some(TimeUnit::Us))), (Ok(()), Ok(())));
}
