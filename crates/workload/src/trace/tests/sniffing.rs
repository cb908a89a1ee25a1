//! The format that is detected for a file.

use super::*;

#[test]
fn one_decimal_point_decides_for_the_whole_file() {
    assert_eq!(about("0 0 16 8 1\n1 0 16 8 1\n1.5 0 16 8 1\n").format, "disksim-ascii");
    let skip = ReadOptions { skip_bad: true, ..NO_OPTIONS };
    let garbage = trace(b"0 0 16 8 1\nwhat. is this\n1 0 16 8 1\n", skip).unwrap();
    assert_eq!(garbage.about().format, "ssdsim-ascii", "a point in garbage decides nothing");
    let us = ReadOptions { time_unit: Some(TimeUnit::Us), ..NO_OPTIONS };
    let all = read_with(b"5 0 16 8 1\n7 0 16 8 1\n", us.clone()).unwrap();
    assert_eq!(all[1].at.as_ns(), 2000, "the unit is the user's to say");
    let all = read_with(b"5.5 0 16 8 1\n7.0 0 16 8 1\n", us).unwrap();
    assert_eq!(all[1].at.as_ns(), 1500);
}

#[test]
fn no_sample_is_taken_for_another_format() {
    for (name, format) in SAMPLES.into_iter().filter(|s| s.1 != "csv") {
        let bytes = write(name, &pieces(name, 60));
        for &other in Format::ALL {
            let options = ReadOptions { format: Some(other), ..options_of(other.name()) };
            let read = trace(&bytes, options);
            if other.name() == format {
                assert!(read.is_ok(), "{name}");
                continue;
            }
            // The two ASCII forms agree on all but the meaning; the point decides.
            let ascii = format.ends_with("-ascii") && other.name().ends_with("-ascii");
            assert!(ascii || read.is_err(), "{name} reads as {other}");
        }
        // One line is enough, with and without its heading.
        let all = write(name, &pieces(name, 1));
        let about = trace(&all, NO_OPTIONS).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(about.about().format, format, "{name}");
        // A third of garbage does not change the answer.
        let garbage = "rubbish, in a line\n".repeat(20);
        let damaged = [&bytes[..], garbage.as_bytes()].concat();
        let skip = ReadOptions { skip_bad: true, ..NO_OPTIONS };
        if is_text(name) {
            assert_eq!(trace(&damaged, skip).unwrap().about().format, format, "{name}");
        }
    }
}

/// Two tables that differ in one column only are told apart by it, or refused.
#[test]
fn lookalikes_are_told_apart() {
    let cases = [
        ("0,4096,8,0,7\n", "tencent"),
        ("0,4096,8,r,7\n", "spc"),
        ("0,R,4096,8,7\n", "alibaba"),
        ("0.5,0.1,R,0,4096,512\n", "systor"),
        ("0,0,R,0,4096,512\n", "systor"),
        ("0,h,0,Read,4096,512,7\n", "msr"),
        ("0 0 8 8 1\n", "ssdsim-ascii"),
        ("0.0 0 8 8 1\n", "disksim-ascii"),
        ("0 D read 0 4096 0.0 0 True\n", "wiscsee"),
        ("8,0 0 1 0.0 1 Q R 0 + 8 [x]\n", "blkparse"),
        ("8,0 0 1 0.0 1 P N [x]\n8,0 0 1 0.0 1 C R 0 + 8 [0]\n", "blkparse"),
        ("fio version 2 iolog\na add\na read 0 8\n", "fio"),
        ("DiskRead, 5, a (1), 1, 0x1, 0x0, 0x1000, 1, 0, 0x1\n", "msps"),
    ];
    for (text, format) in cases {
        assert_eq!(about(text).format, format, "{text}");
    }
    for text in ["0,4096,8,2,7\n", "1,2,3\n", "0,X,4096,8,7\n", "0;R;4096;8;7\n", "0 R 0 8\n"] {
        let e = trace(text.as_bytes(), NO_OPTIONS).err().unwrap();
        assert_eq!(e.code(), "trace::format", "{text}");
        assert!(e.to_string().contains("--columns"), "{e}");
    }
    // Half of each: nobody can tell.
    let both = "0,4096,8,0,7\n".repeat(20) + &"0,4096,8,r,7\n".repeat(20);
    let e = trace(both.as_bytes(), NO_OPTIONS).err().unwrap();
    let text = e.to_string();
    assert_eq!(e.code(), "trace::format");
    assert!(text.contains("each of spc, tencent") && text.contains("--format"), "{text}");
}

#[test]
fn the_finding_is_said() {
    for (name, format) in SAMPLES.into_iter().filter(|s| s.1 != "csv") {
        let trace = trace(&write(name, &pieces(name, 30)), NO_OPTIONS).unwrap();
        let first = &trace.about().notes[0];
        assert!(first.starts_with(&format!("read as {format}: ")), "{name}: {first}");
    }
}

#[test]
fn what_is_known_by_sight_is_said_with_advice() {
    let mut tar = vec![b'x'; 600];
    tar[257..262].copy_from_slice(b"ustar");
    let cases: [(&[u8], &str); 4] = [
        (&tar, "an archive (tar); take the trace out of it"),
        (b"PK\x03\x04rest", "an archive (zip)"),
        (b"\x07tae\0\0\0\0more", "let blkparse print it"),
        (b"\xff\xfe0\0 \x000\0", "UTF-16; convert it"),
    ];
    for (bytes, words) in cases {
        let e = trace(bytes, NO_OPTIONS).err().unwrap().to_string();
        assert!(e.contains(words), "{e}");
        let e = trace(&gzip(bytes), NO_OPTIONS).err().unwrap().to_string();
        assert!(e.contains(words), "{e}");
    }
}

#[test]
fn the_lines_in_the_documents_read_as_they_say() {
    let page = include_str!("../../../../../docs/reference/trace-formats.md");
    let mut read = Vec::new();
    for section in page.split("\n## `").skip(1) {
        let (name, rest) = section.split_once('`').unwrap();
        let format: Format = name.parse().unwrap();
        read.push(format);
        if let Some((_, block)) = rest.split_once("```text\n") {
            let (text, _) = block.split_once("```").unwrap();
            assert_eq!(about(text).format, name, "{text}");
        }
        if let Some((_, command)) = rest.split_once("--columns ") {
            assert!(command.lines().next().unwrap().parse::<Columns>().is_ok(), "{command}");
        }
    }
    assert_eq!(read, Format::ALL, "every format has its section, in the order of the list");
}
