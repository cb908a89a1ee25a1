//! Every step against doing the same to a plain list.

use super::*;
use crate::trace::drain;
use crate::{List, Op};
use kernel::{Prio, Rng};

const MIB: u64 = 1 << 20;

fn random(seed: u64, n: usize) -> Vec<Request> {
    let mut rng = Rng::named(seed, "steps");
    let mut at = 0;
    let requests = (0..n).map(|i| {
        at += if i == 0 { 0 } else { u64::from(rng.below(4)) * 1000 };
        let (offset, len) = (u64::from(rng.below(1 << 22)) * 512, 512 << rng.below(13));
        let op = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua][rng.below(5) as usize];
        let (offset, len) = if op == Op::Flush { (0, 0) } else { (offset, len) };
        Request { at: Time::from_ns(at), offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
    });
    requests.collect()
}

fn list(requests: &[Request]) -> Box<dyn Workload> {
    Box::new(List::new("list", requests.to_vec()).unwrap())
}

/// The same by plain means, one step after the other over whole lists.
fn model(requests: &[Request], steps: &Steps) -> Vec<Request> {
    let mut all = requests.to_vec();
    if let Some(Slice { from, to }) = steps.slice {
        all.retain(|r| r.at.as_ns() >= from.as_ns());
        all.retain(|r| to.is_none_or(|to| r.at.as_ns() < to.as_ns()));
        let first = all[0].at.as_ns();
        for r in &mut all {
            r.at = Time::from_ns(r.at.as_ns() - first);
        }
    }
    if let Some(n) = steps.first {
        all.truncate(n as usize);
    }
    if let Some(f) = steps.footprint {
        for r in &mut all {
            r.offset = (((r.offset / MIB) as f64) * f).floor() as u64 * MIB + r.offset % MIB;
        }
    }
    if let Some(speed) = steps.speed {
        for r in &mut all {
            r.at = Time::from_ns((r.at.as_ns() as f64 * 1e-9 / speed * 1e9).round() as u64);
        }
    }
    if let Some(n) = steps.repeat {
        let last = all.last().unwrap().at.as_ns();
        let period = if all.len() > 1 { last + last / (all.len() as u64 - 1) } else { 0 };
        let round = all.clone();
        for k in 1..n {
            all.extend(round.iter().map(|r| Request { at: r.at + Dur::ns(k * period), ..*r }));
        }
    }
    all
}

#[test]
fn every_combination_is_what_it_does_to_a_plain_list() {
    let slices = [None, Some("2ms.."), Some("..9ms"), Some("3ms..5500us")];
    let mut tried = 0;
    for (seed, n) in [(1, 1), (2, 5), (3, 4096), (4, 9001)] {
        let requests = random(seed, n);
        for slice in slices {
            for first in [None, Some(1), Some(700), Some(4096), Some(100_000)] {
                for (footprint, speed) in
                    [(None, None), (Some(0.3), None), (Some(1.5), Some(3.0)), (None, Some(0.1))]
                {
                    for repeat in [None, Some(1), Some(3)] {
                        let slice = slice.map(|s| s.parse().unwrap());
                        let steps = Steps { slice, first, footprint, speed, repeat };
                        let Ok(changed) = steps.apply(list(&requests)) else {
                            // Only a slice beyond the end leaves nothing.
                            let last = requests.last().unwrap().at.as_ns();
                            assert!(slice.is_some_and(|s: Slice| s.from.as_ns() > last));
                            continue;
                        };
                        let expected = model(&requests, &steps);
                        for _ in 0..2 {
                            let ours = drain(&mut *changed.open().unwrap()).unwrap();
                            assert_eq!(ours, expected, "{steps:?}, {n} requests");
                        }
                        let about = changed.about();
                        assert_eq!(about.requests, Some(expected.len() as u64), "{steps:?}");
                        let end = expected.iter().map(Request::end).max().unwrap();
                        assert!(about.span.is_some_and(|span| span >= end), "{steps:?}");
                        assert_eq!(about.reading, steps.said());
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 500);
}

#[test]
fn a_smaller_footprint_keeps_what_lies_within_extents() {
    let requests = random(7, 30_000);
    let steps = Steps { footprint: Some(0.25), ..Steps::default() };
    let changed = drain(&mut *steps.apply(list(&requests)).unwrap().open().unwrap()).unwrap();
    let extents = |all: &[Request]| {
        let mut extents: Vec<u64> = all.iter().map(|r| r.offset / MIB).collect();
        extents.sort_unstable();
        extents.dedup();
        extents.len()
    };
    assert!((extents(&changed) as f64 / extents(&requests) as f64 - 0.25).abs() < 0.01);
    for pair in requests.iter().zip(&changed).collect::<Vec<_>>().windows(2) {
        let ((a, a2), (b, b2)) = (pair[0], pair[1]);
        assert_eq!(a.offset % MIB, a2.offset % MIB);
        assert_eq!((a.len, a.op, a.at), (a2.len, a2.op, a2.at));
        if a.offset / MIB == b.offset / MIB {
            assert_eq!(a.offset.abs_diff(b.offset), a2.offset.abs_diff(b2.offset));
        }
        let in_order = a.offset / MIB <= b.offset / MIB || a2.offset / MIB >= b2.offset / MIB;
        assert!(in_order);
    }
}

/// Only reads, writes and trims have an address that moves; a flush between stays where it is.
#[test]
fn flushes_stay_flushes_whatever_is_done() {
    let flush =
        |ns| Request { at: Time::from_ns(ns), offset: 0, len: 0, op: Op::Flush, ..write(0, 0) };
    let all = [flush(0), write(1000, 7 * MIB), flush(1000), write(5000, 9 * MIB), flush(9000)];
    let steps = |text: &str| {
        let (key, value) = text.split_once('=').unwrap();
        let mut steps = Steps::default();
        match key {
            "slice" => steps.slice = Some(value.parse().unwrap()),
            "first" => steps.first = value.parse().ok(),
            "footprint" => steps.footprint = value.parse().ok(),
            "speed" => steps.speed = value.parse().ok(),
            _ => steps.repeat = value.parse().ok(),
        }
        let changed = steps.apply(list(&all)).unwrap();
        (drain(&mut *changed.open().unwrap()).unwrap(), changed.about().span)
    };
    // From the flush at 1000 ns, which came second, on; the rest begins at zero.
    let some = [write(0, 7 * MIB), flush(0), write(4000, 9 * MIB)];
    assert_eq!(steps("slice=1us..9us").0, some);
    assert_eq!(steps("first=3").0, all[..3]);
    let (moved, span) = steps("footprint=10");
    assert_eq!(
        moved,
        [flush(0), write(1000, 70 * MIB), flush(1000), write(5000, 90 * MIB), flush(9000)]
    );
    assert_eq!(span, Some(90 * MIB + 512));
    assert_eq!(steps("speed=2").0[2..], [flush(500), write(2500, 9 * MIB), flush(4500)]);
    // The mean distance is 9000 / 4.
    assert_eq!(steps("repeat=2").0[5..7], [flush(11_250), write(12_250, 7 * MIB)]);
}

fn write(ns: u64, offset: u64) -> Request {
    Request {
        at: Time::from_ns(ns),
        offset,
        len: 512,
        op: Op::Write,
        prio: Prio::Normal,
        flow: 0,
        hint: 0,
    }
}

#[test]
fn what_was_said_reads_back_and_says_the_order() {
    for text in ["10min..2h", "..2h", "90s..", "1500ns..1h"] {
        assert_eq!(text.parse::<Slice>().unwrap().to_string(), text);
    }
    let steps = Steps {
        slice: Some("10min..".parse().unwrap()),
        first: Some(7),
        footprint: Some(0.5),
        speed: Some(2.0),
        repeat: Some(3),
    };
    let said = steps.said().unwrap();
    assert_eq!(said, "slice=10min.. first=7 footprint=0.5 speed=2 repeat=3");
    assert_eq!(Steps::default().said(), None);
}

#[test]
fn what_cannot_be_meant_says_why() {
    for (text, word) in [
        ("10min", "no `..`"),
        ("2h..1h", "before it begins"),
        ("1h..1h", "before it begins"),
        ("10..20", "unit"),
        ("1h..soon", "expected"),
    ] {
        let e = text.parse::<Slice>().unwrap_err();
        assert!(e.contains(word), "{e}");
    }
    let some = random(1, 10);
    let none = Steps::default();
    for (steps, word) in [
        (Steps { footprint: Some(0.0), ..none.clone() }, "`footprint`"),
        (Steps { footprint: Some(1e6), ..none.clone() }, ""),
        (Steps { speed: Some(f64::NAN), ..none.clone() }, "`speed`"),
        (Steps { speed: Some(-1.0), ..none.clone() }, "0 < speed"),
        (Steps { first: Some(0), ..none.clone() }, "`first`"),
        (Steps { repeat: Some(0), ..none.clone() }, "`repeat`"),
        (
            Steps { slice: Some("9h..".parse().unwrap()), ..none.clone() },
            "no request in slice=9h..",
        ),
    ] {
        match steps.apply(list(&some)) {
            Err(e) => assert!(e.to_string().contains(word), "{e}"),
            Ok(_) => assert_eq!(word, "", "{steps:?}"),
        }
    }
    let far = Request { offset: 1 << 61, ..some[0] };
    let e = Steps { footprint: Some(1e6), ..none }.apply(list(&[far])).err().unwrap();
    assert!(e.to_string().contains("too far"), "{e}");
}

/// 2^62 ns are 146 years. A request that would come later is refused, and repetitions as soon as
/// one round is known.
#[test]
fn what_the_clock_does_not_reach_is_refused() {
    let last = |steps: Steps, ns: u64| -> Result<u64, TraceError> {
        let mut source = steps.apply(list(&[write(0, 0), write(ns, 0)])).unwrap().open().unwrap();
        let (mut batch, mut last) = (Vec::new(), 0);
        loop {
            source.fill(&mut batch)?;
            match batch.last() {
                Some(request) => last = request.at.as_ns(),
                None => return Ok(last),
            }
        }
    };
    let speed = |speed: f64| Steps { speed: Some(speed), ..Steps::default() };
    // Fractions of a second have 53 bits.
    assert!(last(speed(0.25), (1 << 60) - (1 << 12)).unwrap().abs_diff(1 << 62) < 1 << 15);
    for ns in [1 << 60, 1 << 62, u64::MAX] {
        let e = last(speed(0.25), ns).unwrap_err();
        assert!(e.code() == "trace::clock" && e.to_string().contains("146 years"), "{e}");
    }
    // Two requests: the next round begins two gaps after the first.
    let repeat = |n: u64| Steps { repeat: Some(n), ..Steps::default() };
    assert_eq!(last(repeat(4), (1 << 59) - 1).unwrap(), 7 * ((1 << 59) - 1));
    for n in [5, 1 << 40, u64::MAX] {
        let e = last(repeat(n), 1 << 59).unwrap_err();
        assert!(e.code() == "trace::clock" && e.to_string().contains("repetitions"), "{e}");
    }
}

#[test]
fn a_workload_without_times_has_no_slice_and_no_speed() {
    let text = b"w,0,4096\nr,4096,4096\n".to_vec();
    let options = crate::ReadOptions {
        columns: Some("op=1,offset=2,size=3".parse().unwrap()),
        ..crate::ReadOptions::default()
    };
    let open = || crate::open_bytes("t.csv", text.clone().into(), &options).unwrap();
    for steps in [
        Steps { slice: Some("1s..".parse().unwrap()), ..Steps::default() },
        Steps { speed: Some(2.0), ..Steps::default() },
    ] {
        let e = steps.apply(open()).err().unwrap().to_string();
        assert!(e.contains("have no times"), "{e}");
    }
    let twice = Steps { repeat: Some(2), ..Steps::default() }.apply(open()).unwrap();
    assert_eq!(drain(&mut *twice.open().unwrap()).unwrap().len(), 4);
    assert!(!twice.about().timed);
    let reading = twice.about().reading.as_deref();
    assert_eq!(reading, Some("columns=op=1,offset=2,size=3 repeat=2"));
}
