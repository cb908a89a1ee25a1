//! Slices of a trace: devices, processes, events.

use super::*;

/// The requests, and the report about them.
fn slice(text: &str, options: &ReadOptions) -> Result<(Vec<Request>, About), String> {
    let trace = trace(text.as_bytes(), options.clone()).map_err(|e| e.to_string())?;
    let all = drain(&mut *trace.open().unwrap()).unwrap();
    assert_eq!(trace.about().requests, Some(all.len() as u64));
    Ok((all, trace.about().clone()))
}

fn devices(names: &[&str]) -> ReadOptions {
    ReadOptions { devices: names.iter().map(|n| (*n).to_string()).collect(), ..NO_OPTIONS }
}

#[test]
fn devices_are_chosen_by_number_or_by_name() {
    // In every format: its names for the devices of the samples.
    let names = [
        ("ssdsim", ["0", "2"]),
        ("disksim", ["0", "2"]),
        ("msr", ["hm_0", "hm_2"]),
        ("msps", ["0", "2"]),
        ("spc", ["0", "2"]),
        ("alibaba", ["0", "2"]),
        ("tencent", ["0", "2"]),
        ("systor", ["0", "2"]),
        ("blkparse", ["8:16", "8:48"]),
        ("fio 2", ["/dev/a", "/dev/c"]),
        ("fio 3", ["/dev/a", "/dev/c"]),
        ("csv", ["sda", "sdc"]),
    ];
    for (name, wanted) in names {
        let format = SAMPLES.iter().find(|s| s.0 == name).unwrap().1;
        let all = pieces(name, 60);
        let text = String::from_utf8(write(name, &all)).unwrap();
        let of = |device| all.iter().filter(|p| p.device == device).count();
        for (chosen, count) in
            [(&wanted[..1], of(0)), (&wanted[1..], of(2)), (&wanted[..], of(0) + of(2))]
        {
            let options = ReadOptions { devices: devices(chosen).devices, ..options_of(format) };
            let (read, about) = slice(&text, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(read.len(), count, "{name} {chosen:?}");
            assert_eq!(read[0].at.as_ns(), 0, "{name}: times begin with the first that is read");
            let note = format!("{} to other devices", all.len() - count);
            assert!(about.notes.iter().any(|n| n.contains(&note)), "{name}: {:?}", about.notes);
            if chosen.len() == 1 {
                // Alone on its drive, a device keeps its addresses.
                let last = all.iter().filter(|p| wanted[..1] == *chosen || p.device == 2);
                let end = last
                    .filter(|p| p.device == if wanted[..1] == *chosen { 0 } else { 2 })
                    .map(|p| (p.sector + p.sectors) * 512)
                    .max();
                assert_eq!(about.span, end, "{name}");
            }
        }
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_with_some_that_are() {
    let text = lines(30, |i| format!("{i} {} 16 8 1", 2 * i));
    let e = slice(&text, &devices(&["4", "7"])).unwrap_err();
    assert!(e.contains("no request to the device `7`"), "{e}");
    assert!(e.contains("such as 0, 2, 4") && !e.contains("58"), "ten are enough: {e}");
    let trace = trace(text.as_bytes(), devices(&["99"])).err().unwrap();
    assert_eq!(trace.code(), "workload::parameter");
}

#[test]
fn many_devices_are_read_and_too_many_are_a_misread_column() {
    let some = 5584;
    let text = lines(some, |i| format!("1538323200,0,8,0,{}", i * 7));
    let (read, about) = slice(&text, &NO_OPTIONS).unwrap();
    assert_eq!(read.len() as u64, some);
    // Each device has 4 KiB and takes a mebibyte.
    assert_eq!(about.span, Some((some - 1) * (1 << 20) + 4096));
    let text = lines(70_000, |i| format!("{i} {i} 0 8 0"));
    let e = slice(&text, &NO_OPTIONS).unwrap_err();
    assert!(e.contains("request 65537: more than 65536 devices"), "{e}");
    // One slice of it can be had, in bounded memory.
    assert_eq!(slice(&text, &devices(&["69999"])).unwrap().0.len(), 1);
    // A misread name column is stopped by the parser.
    let text = lines(70_000, |i| format!("{i},h{i},0,Read,0,512,1"));
    let e = slice(&text, &NO_OPTIONS).unwrap_err();
    assert!(e.contains("t:65537: more than 65536 names"), "{e}");
    let text = lines(8000, |i| format!("{i} {i} 2199000000000 8 0"));
    let e = slice(&text, &NO_OPTIONS).unwrap_err();
    assert!(e.contains("8000 devices that together pass 4 EiB"), "{e}");
}

const BLKPARSE: &str = "  8,16   0        1     0.000000000   700  Q   W 8 + 8 [my app]\n\
    \x20 8,16   0        2     0.000001000   700  D   W 8 + 16 [my app]\n\
    \x20 8,16   0        3     0.000002000   701  Q   R 24 + 8 [other]\n\
    \x20 8,16   0        4     0.000009000     0  C   W 8 + 16 [0]\n";

#[test]
fn events_are_chosen_or_the_first_that_the_trace_has() {
    let sizes = |text: &str, event: Option<Event>| {
        let (read, about) = slice(text, &ReadOptions { event, ..NO_OPTIONS }).unwrap();
        let note = about.notes.iter().find(|n| n.contains("arrive with the event")).unwrap();
        (read.iter().map(|r| r.len).collect::<Vec<_>>(), note.clone())
    };
    let (queued, note) = sizes(BLKPARSE, None);
    assert_eq!(queued, [4096, 4096]);
    assert!(note.contains("event Q (queued), of 2 Q (queued), 1 D (issued), 1 C"), "{note}");
    assert_eq!(sizes(BLKPARSE, Some(Event::Issued)).0, [8192]);
    assert_eq!(sizes(BLKPARSE, Some(Event::Completed)).0, [8192]);
    let without = |letter: &str| -> String {
        let lines: Vec<_> = BLKPARSE.lines().filter(|l| !l.contains(letter)).collect();
        lines.join("\n")
    };
    let (issued, note) = sizes(&without("  Q  "), None);
    assert_eq!(issued, [8192]);
    assert!(note.contains("event D (issued), of 0 Q"), "{note}");
    let only_completed: String = BLKPARSE.lines().skip(3).collect();
    assert_eq!(sizes(&only_completed, None).0, [8192]);
    // Said is said.
    let e = slice(&without("  Q  "), &ReadOptions { event: Some(Event::Queued), ..NO_OPTIONS });
    assert!(e.unwrap_err().contains("no request at all"));
    let wiscsee = "7 D write 0 4096 0.5 0 False\n0 C write 0 8192 0.6 0.1 False\n";
    assert_eq!(sizes(wiscsee, None).0, [4096]);
    assert_eq!(sizes(wiscsee, Some(Event::Completed)).0, [8192]);
    assert_eq!(sizes(&wiscsee.replace(" D ", " Q "), None).0, [4096], "Q comes before C");
}

#[test]
fn a_process_is_chosen_by_name_or_number() {
    let count = |text: &str, process: &str| {
        let options = ReadOptions { process: Some(process.into()), ..NO_OPTIONS };
        slice(text, &options).map(|(read, _)| read.len())
    };
    for (process, requests) in [("my app", 1), ("700", 1), ("other", 1), ("701", 1)] {
        assert_eq!(count(BLKPARSE, process), Ok(requests), "{process}");
    }
    for nobody in ["my", "app", "0", "70", ""] {
        let e = count(BLKPARSE, nobody).unwrap_err();
        assert!(e.contains(&format!("no request of the process `{nobody}`")), "{e}");
    }
    let wiscsee = "7 D write 0 4096 0.5 0 False\n8 D write 0 8192 0.6 0.1 False\n";
    assert_eq!(count(wiscsee, "8"), Ok(1));
    assert!(count(wiscsee, "write").is_err());
    let msps = "DiskRead, 5, System (   4), 1, 0x1, 0x0, 0x1000, 1, 0, 0x1\n\
                DiskRead, 6, a (b) (77), 1, 0x1, 0x0, 0x1000, 1, 0, 0x1\n";
    for (process, requests) in [("System", 1), ("4", 1), ("a (b)", 1), ("77", 1)] {
        assert_eq!(count(msps, process), Ok(requests), "{process}");
    }
    assert!(count(msps, "a").is_err());
    let e = count(&msps.replace("(77)", "77"), "77").unwrap_err();
    assert!(e.contains("t:2:") && e.contains("a name with a number in parentheses"), "{e}");
}

/// Each flow's name, region, and the requests that bear its number: time and offset.
type Told = Vec<(String, (u64, u64), Vec<(u64, u64)>)>;

fn told(text: &str, by: FlowBy, options: ReadOptions) -> Result<Told, String> {
    let (read, about) = slice(text, &ReadOptions { flow_by: Some(by), ..options })?;
    let of = |at: usize| {
        let mine = read.iter().filter(|r| usize::from(r.flow) == at);
        mine.map(|r| (r.at.as_ns(), r.offset)).collect()
    };
    let flows = about.flows.iter().enumerate();
    Ok(flows.map(|(at, flow)| (flow.name.clone(), flow.region, of(at))).collect())
}

#[test]
fn devices_are_flows_in_regions_of_their_own() {
    let mib = 1 << 20;
    // Two volumes of 4 and 8 KiB side by side: the second from a mebibyte on.
    let msr = "10,hm,1,Read,4096,4096,1\n20,hm,0,Read,0,4096,1\n30,hm,1,Write,0,4096,1\n";
    let expected = vec![
        ("hm_1".to_owned(), (0, 8192), vec![(0, 4096), (2000, 0)]),
        ("hm_0".to_owned(), (mib, mib + 4096), vec![(1000, mib)]),
    ];
    assert_eq!(told(msr, FlowBy::Device, NO_OPTIONS).unwrap(), expected);
    // Owners in the order of their first requests; a flush belongs to its device, and has no
    // address.
    let columns = Some("time=1:ns,op=2,offset=3,size=4,device=5".parse().unwrap());
    let table = "0,r,512,512,7\n1,w,0,512,3\n2,f,,,7\n";
    let expected = vec![
        ("3".to_owned(), (0, 512), vec![(1, 0)]),
        ("7".to_owned(), (mib, mib + 1024), vec![(0, mib + 512), (2, 0)]),
    ];
    assert_eq!(told(table, FlowBy::Device, ReadOptions { columns, ..NO_OPTIONS }), Ok(expected));
    // In every format that has devices, those of the sample.
    let mut formats = 0;
    for (name, format) in SAMPLES.iter().filter(|s| is_text(s.0) && has_devices(s.0)) {
        let all = pieces(name, 60);
        let text = String::from_utf8(write(name, &all)).unwrap();
        let flows = told(&text, FlowBy::Device, options_of(format)).unwrap();
        let of = |device| all.iter().filter(|p| p.device == device).count();
        let mut counted: Vec<usize> = flows.iter().map(|flow| flow.2.len()).collect();
        let mut expected = [of(0), of(1), of(2)];
        counted.sort_unstable();
        expected.sort_unstable();
        assert_eq!(counted, expected, "{name}");
        formats += 1;
    }
    assert_eq!(formats, 14);
}

#[test]
fn processes_are_flows_on_the_addresses_that_they_share() {
    // By name, in the order of first appearance; issued and completed requests do not count twice.
    let flows = told(BLKPARSE, FlowBy::Process, NO_OPTIONS).unwrap();
    let expected = vec![
        ("my app".to_owned(), (4096, 8192), vec![(0, 4096)]),
        ("other".to_owned(), (12_288, 16_384), vec![(2000, 12_288)]),
    ];
    assert_eq!(flows, expected);
    let wiscsee = "8 D write 8192 4096 0.5 0 False\n7 D write 0 8192 0.6 0.1 False\n\
                   8 D write 0 4096 0.7 0.1 False\n";
    let expected = vec![
        ("8".to_owned(), (0, 12_288), vec![(0, 8192), (200_000_000, 0)]),
        ("7".to_owned(), (0, 8192), vec![(100_000_000, 0)]),
    ];
    assert_eq!(told(wiscsee, FlowBy::Process, NO_OPTIONS), Ok(expected));
    let msps = "DiskRead, 5, System (   4), 1, 0x1, 0x0, 0x1000, 1, 0, 0x1\n\
                DiskRead, 6, a (b) (77), 1, 0x1, 0x0, 0x1000, 1, 1, 0x1\n";
    let mib = 1 << 20;
    let expected = vec![
        ("System".to_owned(), (0, 4096), vec![(0, 0)]),
        ("a (b)".to_owned(), (mib, mib + 4096), vec![(1000, mib)]),
    ];
    assert_eq!(told(msps, FlowBy::Process, NO_OPTIONS), Ok(expected));
    // A table's own column; it also chooses one of them.
    let columns: Option<Columns> = Some("op=2,offset=3,size=4,process=1".parse().unwrap());
    let of = |process: Option<&str>| ReadOptions {
        columns: columns.clone(),
        process: process.map(Into::into),
        ..NO_OPTIONS
    };
    let table = "db,r,512,512\n7,w,0,512\ndb,w,0,512\n";
    let expected = vec![
        ("db".to_owned(), (0, 1024), vec![(0, 512), (0, 0)]),
        ("7".to_owned(), (0, 512), vec![(0, 0)]),
    ];
    assert_eq!(told(table, FlowBy::Process, of(None)), Ok(expected));
    for (process, requests) in [("db", 2), ("7", 1)] {
        assert_eq!(slice(table, &of(Some(process))).unwrap().0.len(), requests, "{process}");
    }
    let e = slice("db,r,0,512\n,r,0,512\n", &of(None)).unwrap_err();
    assert!(e.contains("t:2:1: column 1, the process, is missing"), "{e}");
    // The process that was running is not the one that asked.
    let completed: String = BLKPARSE.lines().skip(3).collect();
    for (text, event) in [(BLKPARSE, Some(Event::Completed)), (&completed, None)] {
        let e = told(text, FlowBy::Process, ReadOptions { event, ..NO_OPTIONS }).unwrap_err();
        assert!(e.contains("arrive with C (completed)"), "{e}");
    }
}

#[test]
fn flows_that_nobody_can_tell_apart_are_refused() {
    let columns = || Some("op=2,offset=3,size=4".parse().unwrap());
    let process = || Some("op=2,offset=3,size=4,process=1".parse().unwrap());
    let cases = [
        (
            "0 0 16 8 1\n",
            FlowBy::Process,
            None,
            "ssdsim-ascii, which names no processes",
            "one of msps, blkparse, fiu, wiscsee, csv",
            "it names devices: `--flow-by device`",
        ),
        (
            "7 D write 0 4096 0.5 0 False\n",
            FlowBy::Device,
            None,
            "wiscsee, which names no devices",
            "one of ssdsim-ascii, disksim-ascii, msr, msps",
            "it names processes: `--flow-by process`",
        ),
        (
            "1,r,0,512\n",
            FlowBy::Device,
            columns(),
            "`--columns` that name no devices",
            "one of",
            "`device=5`",
        ),
        (
            "1,r,0,512\n",
            FlowBy::Process,
            columns(),
            "`--columns` that name no processes",
            "one of",
            "`process=5`",
        ),
        (
            "1,r,0,512\n",
            FlowBy::Device,
            process(),
            "`--columns` that name no devices",
            "one of",
            "it names processes",
        ),
    ];
    for (text, by, columns, found, expected, hint) in cases {
        let e = told(text, by, ReadOptions { columns, ..NO_OPTIONS }).unwrap_err();
        assert!([found, expected, hint].iter().all(|words| e.contains(words)), "{e}");
    }
    let text = lines(257, |i| format!("{i} {i} 16 8 1"));
    let e = told(&text, FlowBy::Device, NO_OPTIONS).unwrap_err();
    assert!(e.contains("257 devices; expected at most 256 flows"), "{e}");
    assert_eq!(told(&text, FlowBy::Device, devices(&["3", "4"])).unwrap().len(), 2);
}

#[test]
fn an_option_that_means_nothing_is_refused() {
    let text = "0 0 16 8 1\n";
    let columns: Option<Columns> = Some("op=2,offset=3,size=4".parse().unwrap());
    let cases = [
        (
            ReadOptions { process: Some("sh".into()), ..NO_OPTIONS },
            "`--process` with the format ssdsim-ascii, which names no processes",
        ),
        (ReadOptions { event: Some(Event::Issued), ..NO_OPTIONS }, "`--event` with the format"),
        (
            ReadOptions { columns, format: Some(Format::Ssdsim), ..NO_OPTIONS },
            "`--columns` with the format ssdsim-ascii",
        ),
        (ReadOptions { format: Some(Format::Csv), ..NO_OPTIONS }, "csv without `--columns`"),
    ];
    for (options, words) in cases {
        let e = trace(text.as_bytes(), options).err().unwrap();
        assert_eq!(e.code(), "workload::parameter");
        assert!(e.to_string().contains(words), "{e}");
    }
}

#[test]
fn what_was_said_is_part_of_what_was_read() {
    let about = |options: ReadOptions| trace(b"0 0 16 8 1\n", options).unwrap().about().clone();
    assert_eq!(about(NO_OPTIONS).reading, None);
    let options = ReadOptions {
        format: Some(Format::Ssdsim),
        time_unit: Some(TimeUnit::Us),
        devices: vec!["0".into()],
        skip_bad: true,
        ..NO_OPTIONS
    };
    let said = about(options).reading;
    assert_eq!(said.as_deref(), Some("format=ssdsim-ascii time-unit=us device=0 skip-bad"));
}
