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
    bytes.extend(vscsi(0x12, 0, 0, 5_000_001)); // an inquiry
    bytes.extend(vscsi(0x88, 4096, 64, 5_000_002));
    let all = read_with(&bytes, NO_OPTIONS).unwrap();
    assert_eq!((all[0].at.as_ns(), all[0].offset, all[0].op), (0, 63 * 512, Op::Write));
    assert_eq!((all[1].at.as_ns(), all[1].len, all[1].op), (2000, 4096, Op::Read));
    let notes = trace(&bytes, NO_OPTIONS).unwrap().about().notes.join("\n");
    assert!(notes.contains("1 records hold no request"), "{notes}");
}

/// The expected content of a sample, computed from its pieces: times from the first, devices side
/// by side.
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
        'F' => Op::Flush,
        'U' => Op::WriteFua,
        _ => Op::Trim,
    };
    pieces
        .iter()
        .map(|p| {
            let region = if p.op == 'F' { 0 } else { starts[p.device as usize] };
            let offset = region + p.sector * 512;
            ((p.seconds - pieces[0].seconds) * 1_000_000_000, offset, p.sectors as u32 * 512, op(p))
        })
        .collect()
}

#[test]
fn every_format_gives_back_what_was_written_in_it() {
    for (name, format) in SAMPLES {
        let pieces = pieces(name, 100);
        for op in ['D', 'F', 'U'] {
            assert_eq!(pieces.iter().any(|p| p.op == op), has_op(name, op));
        }
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
        "Q N 0 (12 00) [sg]",
        "D R 36 (12 00 00 00) [sg]",
        "D W 36 (2a 00 00 00) [sg]",
        "D W 4096 [sg]",
        "C W (2a 00 00 00) [0]",
        "Q R 8 + 0 [x]",
        "Q RA [x]",
        "m N cfq workload slice:300",
        "UT N [x] 1",
        "X W 8 / 16 [x]",
        "A W 8 + 8 <- (8,2) 0",
    ];
    let text: String = pass.iter().map(|what| q(what)).collect();
    let text = text + &q("Q WS 8 + 8 [x]") + &q("Q DS 16 + 4194304 [x]") + &q("Q RA 8 + 1 [a b]");
    let (mib, gib) = (1 << 20, 1 << 30);
    let seen: Vec<_> = read(&text).iter().map(|r| (r.1, u64::from(r.2), r.3)).collect();
    let want = [(4096, 4096, Op::Write), (8192, 2 * gib, Op::Trim), (4096, 512, Op::Read)];
    assert_eq!(seen, want);
    assert!(about(&text).notes.iter().any(|n| n.starts_with("11 records hold no request")));
    // With `-t` the time that passed stands before the process.
    assert_eq!(read("8,0 1 1 0.5 9 Q W 2048 + 8 (   120) [x]\n")[0].1, mib);
    // Everything behind the events is a summary, unless it is events again.
    let (summary, again) = ("CPU0 (sda):\n Reads Queued: 1\nTotal (sda):\n", q("Q R 0 + 8 [x]"));
    assert_eq!(read(&format!("{again}{summary}{again}7z (77)\n Read: 5\n")).len(), 2);
}

/// The letters of `blk_fill_rwbs`: PREFLUSH, the operation, FUA, then AHEAD, SYNC, META.
#[test]
fn blkparse_flushes_stand_where_the_kernel_writes_them() {
    let (write, fua) = (Op::Write, Op::WriteFua);
    let flush = (0, 0, Op::Flush);
    let at = |op| (4096, 4096, op);
    let cases: &[(&str, &[(u64, u32, Op)])] = &[
        // Queued: a write of nothing that asks for a flush; what sync(2) ends with.
        ("Q FW [a]", &[flush]),
        ("Q FWS [a]", &[flush]),
        ("Q FWS (   120) [a]", &[flush]),
        // The commit of a journal: flush, then a write that bypasses the cache.
        ("Q FWFSM 8 + 8 [jbd2/sdb1-8]", &[flush, at(fua)]),
        ("Q FWS 8 + 8 [a]", &[flush, at(write)]),
        ("Q WFS 8 + 8 [a]", &[at(fua)]),
        ("Q WSM 8 + 8 [a]", &[at(write)]),
        // Reads and trims carry no data that could bypass.
        ("Q RF 8 + 8 [a]", &[at(Op::Read)]),
        ("Q DFS 8 + 8 [a]", &[at(Op::Trim)]),
        ("Q FDS 8 + 8 [a]", &[flush, at(Op::Trim)]),
        // The command as the driver gets it, and as the kernel's own tracer names it.
        ("D FN [kworker/0:1H]", &[flush]),
        ("D FF [kworker/0:1H]", &[flush]),
        ("D F [a]", &[flush]),
        ("D WFS 8 + 8 [a]", &[at(fua)]),
        // A barrier of an old kernel, and invalid sectors.
        ("Q WS [a]", &[flush]),
        ("Q W 8 + 0 [a]", &[flush]),
        ("D FWS 8 + 0 [a]", &[flush]),
        ("C FN 0 [0]", &[flush]),
        ("C FN 0 (   120) [0]", &[flush]),
        ("C WFS 8 + 8 [0]", &[at(fua)]),
    ];
    for (what, expected) in cases {
        let seen = read(&format!("8,0 1 1 0.5 9 {what}\n"));
        assert!(seen.iter().all(|r| r.0 == 0), "{what}: at one time");
        assert_eq!(seen.iter().map(|r| (r.1, r.2, r.3)).collect::<Vec<_>>(), *expected, "{what}");
    }
    // The end of the write of nothing, which was issued as `FN`; and one of data that came to none.
    let completed = ["C WS 0 [0]", "C WSM 488441326 [0]"];
    let text = completed.map(|what| format!("8,0 1 1 0.5 9 {what}\n")).concat();
    assert_eq!(read(&format!("{text}8,0 1 2 0.6 9 C FN 0 [0]\n")).len(), 1);
    // Each line that asks for a flush and data is one line, and two requests.
    let about = about("8,0 1 1 0.5 9 Q FWFS 8 + 8 [a]\n8,0 1 2 0.6 9 Q FWS [a]\n");
    assert_eq!((about.requests, about.span), (Some(3), Some(8192)));
    let note = "of 2 Q (queued), 0 D (issued), 0 C (completed)";
    assert!(about.notes.iter().any(|n| n.contains(note)), "{:?}", about.notes);
}

/// A flush is one of the whole drive: it has no address on it, so none on a device of its own either.
#[test]
fn flushes_have_no_address() {
    let text = "8,0 1 1 0.1 9 Q FWS [a]\n8,0 1 2 0.2 9 Q W 8 + 8 [a]\n\
                8,32 1 3 0.3 9 Q FWS [a]\n8,16 1 4 0.4 9 Q FWS 2040 + 8 [b]\n\
                8,16 1 5 0.5 9 Q FWS [b]\n";
    let (mib, ms) = (1 << 20, 1_000_000);
    let flush = |at| (at * ms, 0, 0, Op::Flush);
    let moved = mib + 2040 * 512;
    let (one, two) = ((100 * ms, 4096, 4096, Op::Write), (300 * ms, moved, 4096, Op::Write));
    assert_eq!(read(text), [flush(0), one, flush(200), flush(300), two, flush(400)]);
    // The device that is only flushed takes no room.
    let about = about(text);
    assert_eq!((about.requests, about.span), (Some(6), Some(mib + 2048 * 512)));
    assert!(about.notes.iter().any(|n| n.starts_with("2 devices")), "{:?}", about.notes);
    // Its flushes go with it, as those of another process do.
    let of = |options: ReadOptions| {
        let all = read_with(text.as_bytes(), options).unwrap();
        all.iter().map(|r| (r.at.as_ns() / ms, r.offset, r.op)).collect::<Vec<_>>()
    };
    let device = ReadOptions { devices: vec!["8:16".into()], ..NO_OPTIONS };
    let alone = [(0, 0, Op::Flush), (0, 2040 * 512, Op::Write), (100, 0, Op::Flush)];
    assert_eq!(of(device), alone);
    assert_eq!(of(ReadOptions { process: Some("b".into()), ..NO_OPTIONS }), alone);
    // Nothing but flushes is a workload, too.
    let only = self::about("8,0 1 1 0.1 9 Q FWS [a]\n8,0 1 2 0.2 9 Q FWS [a]\n");
    assert_eq!((only.requests, only.span), (Some(2), Some(0)));
}

/// `--skip-bad` counts records, even if one would have been two requests.
#[test]
fn a_flush_and_its_write_are_put_in_order_and_skipped_together() {
    let line = |i: u64, ms: u64, what: &str| format!("8,0 1 {i} 0.{ms:03} 9 Q {what} [a]\n");
    let late = line(1, 2, "W 8 + 8") + &line(2, 5, "W 16 + 8") + &line(3, 3, "FWS 24 + 8");
    let seen: Vec<_> = read(&late).iter().map(|r| (r.1, r.3)).collect();
    let want = [(4096, Op::Write), (0, Op::Flush), (12288, Op::Write), (8192, Op::Write)];
    assert_eq!(seen, want);
    assert!(about(&late).notes.iter().any(|n| n.starts_with("1 records stand later")));
    // Later than the window: the record is refused, or skipped, once.
    let many: String = (0..5000).map(|i| line(i, 900, "W 8 + 8")).collect();
    let text = many + &line(5001, 1, "FWS 24 + 8");
    let e = read_with(text.as_bytes(), NO_OPTIONS).unwrap_err().to_string();
    assert!(e.starts_with("t:5001: time runs backwards"), "{e}");
    let skip = ReadOptions { skip_bad: true, ..NO_OPTIONS };
    let trace = trace(text.as_bytes(), skip).unwrap();
    let mut source = trace.open().unwrap();
    assert_eq!(drain(&mut *source).unwrap().len(), 5000);
    assert_eq!((source.skipped(), trace.about().requests), (1, Some(5000)));
}

#[test]
fn batches_of_pairs_are_no_longer_than_others() {
    let line = |i: u64| format!("8,0 1 {i} 0.{i:06} 9 Q FWS {} + 8 [a]", 8 * i);
    let text = lines(5000, line) + "\n8,0 1 1 0.9 9 Q W 8 + 8 [a]\n";
    let trace = trace(text.as_bytes(), NO_OPTIONS).unwrap();
    let (mut source, mut batch, mut sizes) = (trace.open().unwrap(), Vec::new(), Vec::new());
    loop {
        source.fill(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        sizes.push(batch.len());
    }
    assert_eq!(sizes, [crate::BATCH, crate::BATCH, 10_001 - 2 * crate::BATCH]);
}

#[test]
fn vscsi_flushes_whatever_blocks_they_name() {
    let mut bytes = vscsi(0x2a, 512, 63, 5_000_000);
    bytes.extend(vscsi(0x35, 0, 0, 5_000_001));
    bytes.extend(vscsi(0x91, 4096, 1 << 52, 5_000_002));
    let all = read_with(&bytes, NO_OPTIONS).unwrap();
    let seen: Vec<_> = all.iter().map(|r| (r.at.as_ns(), r.offset, r.len, r.op)).collect();
    let want = [(0, 63 * 512, 512, Op::Write), (1000, 0, 0, Op::Flush), (2000, 0, 0, Op::Flush)];
    assert_eq!(seen, want);
    assert_eq!(trace(&bytes, NO_OPTIONS).unwrap().about().span, Some(64 * 512));
    let late = [bytes, vscsi(0x35, 0, 0, u64::MAX)].concat();
    let e = read_with(&late, NO_OPTIONS).unwrap_err().to_string();
    assert!(e.contains("584 years"), "{e}");
}

/// A flush began at its end less its duration, as others do.
#[test]
fn msps_flushes_have_columns_of_their_own() {
    let header = "BeginHeader\n\
        DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, \
        ElapsedTime, DiskNum, IrpFlags\n\
        DiskFlush, TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ElapsedTime, DiskNum, \
        IrpFlags, DiskSvcTime, I/O Pri\nEndHeader\n";
    let write = "DiskWrite, 600, a (1), 2, 0x3, 0x1000, 0x1000, 100, 0, 0x4\n";
    let flush = |cpu: &str| format!("DiskFlush, 900, a (1), 2,{cpu} 0x3, 150, 0, 0x4, 150, 3\n");
    let want = [(0, 4096, 4096, Op::Write), (250_000, 0, 0, Op::Flush)];
    assert_eq!(read(&format!("{header}{write}{}", flush(" 1,"))), want);
    // Without a header they are those of the published traces.
    assert_eq!(read(&format!("{write}{}", flush(""))), want);
    let cut = header.replace("ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri", "DiskNum");
    let e = read_with(cut.as_bytes(), NO_OPTIONS).unwrap_err().to_string();
    assert!(e.starts_with("t:3:") && e.contains("no column `ElapsedTime`"), "{e}");
}

#[test]
fn fio_without_times_arrives_as_fast_as_it_is_taken() {
    let text = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 4096\n\
                /dev/a datasync 0 0\n/dev/a read 0 512\n";
    let about = about(text);
    assert_eq!((about.timed, about.requests, about.format.as_str()), (false, Some(3), "fio"));
    assert!(!about.notes.iter().any(|n| n.contains("queue-depth")), "{:?}", about.notes);
    let waits =
        text.replace("/dev/a datasync", "/dev/a wait 40\n/dev/a wait 90 0\n/dev/a datasync");
    assert_eq!(read(&waits)[1].0, 130_000);
    assert!(self::about(&waits).timed);
}

#[test]
fn fio_syncs_are_flushes_if_they_reach_the_drive() {
    let text = "fio version 3 iolog\n0 /dev/a add\n0 /dev/a open\n5 /dev/a write 0 4096\n\
                7 /dev/a sync 0 0\n8 /dev/a datasync 8192 4096\n9 /dev/a syncfs\n\
                10 /dev/a sync_file_range 0 4096\n11 /dev/a close\n";
    let flush = |us: u64| (us * 1000, 0, 0, Op::Flush);
    assert_eq!(read(text), [(0, 0, 4096, Op::Write), flush(2), flush(3), flush(4)]);
    let about = about(text);
    assert_eq!((about.requests, about.span), (Some(4), Some(4096)));
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
    // A flush may have anything in the columns that it does not need, or lack them.
    let flush = |at| (at, 0, 0, Op::Flush);
    let fua = (2_000_000, 4096, 512, Op::WriteFua);
    let text = "0;F;;;\n1000;flush;7;0;\n2000;WF;4096;512;\n3000;Flush\n";
    assert_eq!(all(text, plain), [flush(0), flush(1_000_000), fua, flush(3_000_000)]);
    let text = "0;write-fua;4096;512\n1000;f;99999999999999;0\n";
    assert_eq!(all(text, plain), [(0, 4096, 512, Op::WriteFua), flush(1_000_000)]);
    let text = "0;0;4096;512\n0;1;0;512\n0;3;0;0\n0;4;8192;1024\n";
    let ops = |columns| all(text, columns).iter().map(|r| r.3).collect::<Vec<_>>();
    let want_ops = [Op::Read, Op::Write, Op::Flush, Op::WriteFua];
    assert_eq!(ops("time=1:us,op=2:0/1/2/3/4,offset=3,size=4"), want_ops);
    assert_eq!(ops("time=1:us,op=2:0/1//3/4,offset=3,size=4"), want_ops);
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
        ("op=1,offset=1,size=4", "`offset=1` in the columns: this column is taken"),
        ("op=1,op=2,offset=3,size=4", "`op` stands in the columns twice"),
        ("op=1,offset=2:pages,size=3", "known are bytes, sectors and sizes such as 4KiB"),
        (
            "op=1,offset=2,size=3,device=4:us",
            "a device, a process, a hint or a priority has no unit",
        ),
        ("time=1:min,op=2,offset=3,size=4", "`min` is not a unit of time"),
        ("op=1:0,offset=2,size=3", "expected such as `op=2:0/1`"),
        ("op=1:0/0,offset=2,size=3", "the words must differ"),
        ("op=1:0/1/2/1,offset=2,size=3", "the words must differ"),
        ("op=1:0//2,offset=2,size=3", "the words must differ"),
        ("op=1:0/1/2/3/4/5,offset=2,size=3", "expected such as `op=2:0/1`"),
        (
            "lba=1,op=2,offset=3,size=4",
            "`lba` is not one of time, op, offset, size, device, process, hint and prio",
        ),
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
