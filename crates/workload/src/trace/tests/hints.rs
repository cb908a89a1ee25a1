//! Hints about data, in the formats that have them.

use super::*;
use kernel::{Prio, Rng, Time};

/// A row of a table, and the request that it stands for.
struct Row {
    request: Request,
    word: String,
}

/// Requests at random, with hints that stay for a while or change with each request. A flush has none,
/// whatever its row says.
fn rows(seed: u64, n: u64) -> Vec<Row> {
    let mut rng = Rng::named(seed, "hints");
    let mut hint = 0;
    let row = |i: u64| {
        if rng.below(4) == 0 {
            hint = [0, 1, 9, 255, rng.below(256) as u8][rng.below(5) as usize];
        }
        let (op, word) = [
            (Op::Read, "read"),
            (Op::Write, "write"),
            (Op::Trim, "trim"),
            (Op::WriteFua, "write-fua"),
            (Op::Flush, "flush"),
        ][rng.below(5) as usize];
        let has_extent = op != Op::Flush;
        let len = if has_extent { 512 * (1 + rng.below(64)) } else { 0 };
        let offset = if has_extent { 4096 * u64::from(rng.below(1 << 20)) } else { 0 };
        let said = if hint == 0 && rng.below(2) == 0 { String::new() } else { hint.to_string() };
        let hint = if has_extent { hint } else { 0 };
        let at = Time::from_ns(1_000 * i);
        let request = Request { at, offset, len, op, prio: Prio::Normal, flow: 0, hint };
        Row { request, word: format!("{word}|{said}") }
    };
    (0..n).map(row).collect()
}

/// The hint may be any column, between any separators, in quotes or not; and long traces, which are
/// packed, have it too.
#[test]
fn a_table_in_text_has_the_hints_of_its_column() {
    let orders =
        ["time,op,offset,size,hint", "hint,time,op,offset,size", "op,size,hint,offset,time"];
    for (seed, (order, separator)) in
        orders.iter().flat_map(|order| [",", ";", "\t"].map(|s| (order, s))).enumerate()
    {
        let n = if seed == 0 { 3 * packed::PLAIN as u64 } else { 300 };
        let rows = rows(seed as u64, n);
        let names: Vec<&str> = order.split(',').collect();
        let mut text = names.join(separator) + "\n";
        for Row { request: r, word } in &rows {
            let (word, hint) = word.split_once('|').unwrap();
            let field = |name: &&str| match *name {
                "time" => r.at.as_ns().to_string(),
                "op" => word.to_owned(),
                "offset" => r.offset.to_string(),
                "size" => r.len.to_string(),
                _ if seed % 2 == 1 => format!("\"{hint}\""),
                _ => hint.to_owned(),
            };
            text += &(names.iter().map(field).collect::<Vec<_>>().join(separator) + "\n");
        }
        let numbered = |(i, name): (usize, &&str)| {
            let unit = if *name == "time" { ":ns" } else { "" };
            format!("{name}={}{unit}", i + 1)
        };
        let by_number = names.iter().enumerate().map(numbered).collect::<Vec<_>>().join(",");
        let by_name = names.iter().map(|n| format!("{n}={n}")).collect::<Vec<_>>().join(",");
        let by_name = by_name.replace("time=time", "time=time:ns");
        for columns in [by_number, by_name] {
            let options = ReadOptions { columns: Some(columns.parse().unwrap()), ..NO_OPTIONS };
            let trace = trace(text.as_bytes(), options).unwrap_or_else(|e| panic!("{e}"));
            for _ in 0..2 {
                let all = drain(&mut *trace.open().unwrap()).unwrap();
                assert!(all.iter().eq(rows.iter().map(|row| &row.request)), "{columns}");
            }
        }
    }
}

/// A flush that goes before a write has no hint, and all parts of a large write have its own.
#[test]
fn a_row_that_is_several_requests_has_its_hint_with_its_data() {
    let columns = "time=1:us,op=2,offset=3,size=4,hint=5";
    let options = || ReadOptions { columns: Some(columns.parse().unwrap()), ..NO_OPTIONS };
    let all = read_with(b"0,FWS,0,4096,7\n1,w,0,3221225472,8\n", options()).unwrap();
    let seen: Vec<_> = all.iter().map(|r| (r.op, r.hint)).collect();
    let write = |hint| (Op::Write, hint);
    assert_eq!(seen, [(Op::Flush, 0), write(7), write(8), write(8), write(8)]);
}

#[test]
fn a_wrong_hint_is_an_error_with_its_place() {
    let columns = "time=1:us,op=2,offset=3,size=4,hint=5";
    let options = || ReadOptions { columns: Some(columns.parse().unwrap()), ..NO_OPTIONS };
    for (hint, what) in [
        ("256", "is out of bounds"),
        ("65536", "is out of bounds"),
        ("-1", "is negative"),
        ("1.5", "is not understood"),
        ("hot", "is not understood"),
        ("99999999999999999999", "is out of bounds"),
    ] {
        for skip_bad in [false, true] {
            let text = format!("0,w,0,4096,1\n1,w,4096,4096,{hint}\n2,r,0,512,\n");
            let read = read_with(text.as_bytes(), ReadOptions { skip_bad, ..options() });
            if skip_bad {
                assert_eq!(read.unwrap().iter().map(|r| r.hint).collect::<Vec<_>>(), [1, 0]);
                continue;
            }
            let e = read.unwrap_err().to_string();
            let place = format!("t:2:15: `{hint}` in the hint {what}");
            assert!(e.starts_with(&place) && e.contains("from 0 to 255"), "{e}");
        }
    }
    // Other forms of whole numbers are read, as everywhere.
    for (hint, number) in [("0", 0), ("255", 255), ("0x1f", 31), ("3.0", 3), (" 7 ", 7)] {
        let text = format!("0,w,0,4096,{hint}\n");
        assert_eq!(read_with(text.as_bytes(), options()).unwrap()[0].hint, number, "{hint}");
    }
    // Formats with columns of their own have no hint, and do not pretend to.
    let e = read_with(
        b"0 0 16 8 1\n",
        ReadOptions { format: "ssdsim-ascii".parse().ok(), ..options() },
    );
    assert!(e.unwrap_err().to_string().contains("`--columns` with the format csv only"));
}

#[test]
fn names_of_columns_suggest_hints() {
    let text = "time_us,op,offset,size,stream_id\n0,r,0,4096,1\n1,w,4096,4096,2\n";
    let e = read_with(text.as_bytes(), NO_OPTIONS).unwrap_err().to_string();
    assert!(e.contains("hint=stream_id"), "{e}");
}
