//! Files of parts: their contents, their errors, their results.

use super::*;
use crate::trace::drain;
use crate::{List, Op};

fn list(name: &str, n: u64, gap: u64) -> Box<dyn Workload> {
    let requests = (0..n).map(|i| Request {
        at: Time::from_ns(i * gap),
        offset: i % 50 * 4096,
        len: 4096,
        op: Op::Write,
        prio: Prio::Normal,
        flow: 0,
        hint: 0,
    });
    Box::new(List::new(name, requests.collect()).unwrap())
}

/// Opens parts called `N/GAP`: N requests at a distance of GAP ns.
fn open(text: &str) -> Result<Box<dyn Workload>, String> {
    let composition = Composition::read("mix.toml", text).expect("a file of parts")?;
    composition.open("mix.toml", &mut |part| {
        let numbers = part.workload.split_once('/');
        let (n, gap) = numbers.ok_or_else(|| format!("{}: no such list", part.workload))?;
        Ok(list(&part.workload, n.parse().unwrap(), gap.parse().unwrap()))
    })
}

const HEAD: &str = "schema = \"floatgate.workload/1\"\n";

#[test]
fn parts_are_changed_and_merged_with_their_priorities() {
    let text = format!(
        "{HEAD}[[part]]\nworkload = \"100/10\"\nslice = \"100ns..400ns\"\nspeed = 0.5\n\
         [[part]]\nworkload = \"3/1000\"\npriority = \"high\"\nbegins = \"1us\"\nrepeat = 2\n"
    );
    let mixed = open(&text).unwrap();
    let all = drain(&mut *mixed.open().unwrap()).unwrap();
    let (high, normal): (Vec<_>, Vec<_>) = all.iter().partition(|r| r.prio == Prio::High);
    let times = |some: &[&Request]| some.iter().map(|r| r.at.as_ns()).collect::<Vec<_>>();
    assert_eq!(times(&normal), (0..30).map(|i| i * 20).collect::<Vec<_>>());
    assert_eq!(times(&high), [1000, 2000, 3000, 4000, 5000, 6000]);
    assert!(high.iter().all(|r| r.offset >= 1 << 20), "a region of its own");
    let about = mixed.about();
    assert_eq!((about.name.as_str(), about.requests), ("mix.toml", Some(36)));
    assert!(about.notes[0].contains("part 1 is 100/10 (slice=100ns..400ns speed=0.5)"));
    assert!(about.notes[1].contains("priority high"));
}

#[test]
fn parts_are_flows_by_their_names() {
    let flows = |text: &str| {
        let mixed = open(&format!("{HEAD}{text}")).unwrap();
        let all = drain(&mut *mixed.open().unwrap()).unwrap();
        let of = |flow: u8| all.iter().filter(|r| r.flow == flow).count();
        let about = mixed.about();
        let flow = |(i, f): (usize, &Flow)| {
            // Every request with the tag lies in its region.
            let mine = || all.iter().filter(|r| usize::from(r.flow) == i);
            assert!(mine().all(|r| f.region.0 <= r.offset && r.end() <= f.region.1), "{f:?}");
            (f.name.clone(), f.weight, of(i as u8))
        };
        about.flows.iter().enumerate().map(flow).collect::<Vec<_>>()
    };
    let named = |name: &str, weight, n| (name.to_owned(), weight, n);
    let two =
        "[[part]]\nworkload = \"40/10\"\nflow = \"db\"\nweight = 4\n[[part]]\nworkload = \"3/1\"\n";
    assert_eq!(flows(two), [named("db", 4, 40), named("3/1", 1, 3)]);
    // Parts of one name are one flow; equal workloads are told apart by the number of the part.
    let shared =
        "[[part]]\nworkload = \"5/1\"\nflow = \"a\"\n[[part]]\nworkload = \"6/1\"\nflow = \"a\"\n";
    assert_eq!(flows(shared), [named("a", 1, 11)]);
    let alike = "[[part]]\nworkload = \"5/1\"\n[[part]]\nworkload = \"5/1\"\n";
    assert_eq!(flows(alike), [named("5/1 1", 1, 5), named("5/1 2", 1, 5)]);
    // One part without a name is not a flow.
    assert_eq!(flows("[[part]]\nworkload = \"5/1\"\n"), []);
    // A file within a file keeps its flows.
    let composition = Composition::read("outer.toml", &format!("{HEAD}{alike}")).unwrap().unwrap();
    let outer = composition.open("outer.toml", &mut |_| open(&format!("{HEAD}{two}"))).unwrap();
    let names: Vec<_> = outer.about().flows.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["db", "3/1"], "the same names are the same flows");
    assert_eq!(outer.about().flows[0].region, (0, (2 << 20) + 40 * 4096));
    for (wrong, said) in [("flow = \" \"\n", "`flow` of part 1"), ("weight = 0\n", "1 to 256")] {
        let error = open(&format!("{HEAD}[[part]]\nworkload = \"5/1\"\n{wrong}")).err().unwrap();
        assert!(error.contains(said), "{error}");
    }
}

/// Flushes are requests of their part: among its share, urgent with it, in its closed loop.
#[test]
fn flushes_belong_to_their_part() {
    let with_flushes = |text: &str| {
        let composition = Composition::read("mix.toml", text).unwrap().unwrap();
        composition.open("mix.toml", &mut |part| {
            let n: u64 = part.workload.parse().unwrap();
            let request = |i: u64| {
                let at = Time::from_ns(i * 10);
                // Every third is a flush, beginning with the first.
                let (op, offset, len) =
                    if i % 3 == 0 { (Op::Flush, 0, 0) } else { (Op::WriteFua, 4096 * i, 512) };
                Request { at, offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
            };
            let list = List::new(&part.workload, (0..n).map(request).collect()).unwrap();
            Ok(Box::new(list) as Box<dyn Workload>)
        })
    };
    let text = format!(
        "{HEAD}[[part]]\nworkload = \"90\"\n\
         [[part]]\nworkload = \"7\"\npriority = \"high\"\nshare = 0.1\n"
    );
    let mixed = with_flushes(&text).unwrap();
    let all = drain(&mut *mixed.open().unwrap()).unwrap();
    assert_eq!(mixed.about().requests, Some(100));
    let count = |prio, op| all.iter().filter(|r| r.prio == prio && r.op == op).count();
    assert_eq!((count(Prio::Normal, Op::Flush), count(Prio::Normal, Op::WriteFua)), (30, 60));
    // 7, then 3 of the second round: the flushes 0, 3, 6 and 0.
    assert_eq!((count(Prio::High, Op::Flush), count(Prio::High, Op::WriteFua)), (4, 6));
    assert!(all.iter().all(|r| r.has_extent() || r.end() == 0));
    let switching = format!("{HEAD}[[part]]\nworkload = \"60\"\npriority = \"switching\"\n");
    let all = drain(&mut *with_flushes(&switching).unwrap().open().unwrap()).unwrap();
    assert_eq!(all.iter().filter(|r| r.prio == Prio::High).count(), 30);
    let closed = format!("{HEAD}[[part]]\nworkload = \"30\"\nqueue-depth = 2\nwrap = \"64KiB\"\n");
    let mut flows = with_flushes(&closed).unwrap().flows().unwrap();
    let all = drain(&mut *flows.closed[0].source).unwrap();
    assert_eq!(all.iter().filter(|r| r.op == Op::Flush && r.end() == 0).count(), 10);
}

#[test]
fn a_part_is_folded_into_the_addresses_that_it_may_have() {
    // Pages 0 to 49 of 4 KiB, modulo 20 of them; the other part lies from 1 MiB on all the same.
    let text = format!(
        "{HEAD}[[part]]\nworkload = \"100/10\"\nwrap = \"80KiB\"\n\
         [[part]]\nworkload = \"3/1\"\n"
    );
    let mixed = open(&text).unwrap();
    let all = drain(&mut *mixed.open().unwrap()).unwrap();
    let (near, far): (Vec<&Request>, Vec<_>) = all.iter().partition(|r| r.offset < 1 << 20);
    assert_eq!((near.len(), far.len()), (100, 3));
    let expected = (0..100).map(|i| i % 50 % 20 * 4096);
    assert_eq!(near.iter().map(|r| r.offset).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert!(mixed.about().notes[0].contains("modulo 80KiB"), "{:?}", mixed.about().notes);
}

/// A part of 50 pages of 4 KiB has one hint, or one for each region of its own addresses. All that
/// changes or repeats a part, and all that merges it, keeps them.
#[test]
fn a_part_has_hints_by_region() {
    let hints = |keys: &str| {
        let text =
            format!("{HEAD}[[part]]\nworkload = \"3/1\"\n[[part]]\nworkload = \"100/10\"\n{keys}");
        let mixed = open(&text).unwrap();
        let all = drain(&mut *mixed.open().unwrap()).unwrap();
        assert!(all.iter().all(|r| r.offset >= 1 << 20 || r.hint == 0), "another part has none");
        let far = all.into_iter().filter(|r| r.offset >= 1 << 20);
        far.map(|r| ((r.offset - (1 << 20)) / 4096, r.hint)).collect::<Vec<_>>()
    };
    let pages = |n: u64| (0..n).map(|i| i % 50);
    let all = |n, hint: fn(u64) -> u8| pages(n).map(|p| (p, hint(p))).collect::<Vec<_>>();
    assert_eq!(hints(""), all(100, |_| 0));
    assert_eq!(hints("hint = 255\n"), all(100, |_| 255));
    assert_eq!(hints("hint = 7\nqueue-depth = 4\n"), all(100, |_| 7));
    let regions = "hint = [{ below = \"40KiB\", hint = 1 }, { below = \"80KiB\", hint = 9 }]\n";
    let by_region = |p: u64| [1, 9, 0][(p / 10).min(2) as usize];
    assert_eq!(hints(regions), all(100, by_region));
    assert_eq!(hints(&format!("{regions}repeat = 2\n")), all(200, by_region));
    // A region is one of the addresses that are left.
    let wrapped = hints(&format!("{regions}wrap = \"60KiB\"\n"));
    assert!(wrapped.iter().all(|(p, hint)| *p < 15 && *hint == [1, 9][usize::from(*p >= 10)]));
    let rest = "hint = [{ below = \"40KiB\", hint = 1 }, { hint = 2 }]\n";
    assert_eq!(hints(rest), all(100, |p| if p < 10 { 1 } else { 2 }));
}

/// Other passes draw what a generator draws, through all that changes, repeats and merges it, and
/// leave a record as it is.
#[test]
fn other_passes_of_generated_parts_have_other_draws() {
    let parts = |text: &str| {
        let composition = Composition::read("mix.toml", text).expect("a file of parts").unwrap();
        composition.open("mix.toml", &mut |part| {
            if let Some((n, gap)) = part.workload.split_once('/') {
                return Ok(list(&part.workload, n.parse().unwrap(), gap.parse().unwrap()));
            }
            let pattern = &part.workload;
            let timed = "arrivals = { constant = { iops = 1000 } }";
            let text = format!("pattern = '{pattern}'\nrequests = 400\n{timed}");
            let made: crate::Generator = toml::from_str(&text).unwrap();
            Ok(Box::new(made.with_span(kernel::Bytes::mib(64), 1).unwrap()))
        })
    };
    let own = [
        "",
        "slice = \"100ms..300ms\"\n",
        "first = 300\n",
        "footprint = 0.5\n",
        "speed = 2.0\n",
        "repeat = 2\n",
        "wrap = \"48MiB\"\n",
        "priority = \"switching\"\n",
        "begins = \"1ms\"\n",
        "share = 0.5\n",
        "hint = 3\n",
        "hint = [{ below = \"8MiB\", hint = 1 }, { hint = 2 }]\n",
        "queue-depth = 4\n",
    ];
    for own in own {
        for pattern in ["random-write", "zipf", "400/1000000"] {
            let text = format!(
                "{HEAD}[[part]]\nworkload = \"{pattern}\"\n{own}\
                 [[part]]\nworkload = \"100/1000000\"\n"
            );
            let mixed = parts(&text).unwrap_or_else(|e| panic!("{own}{e}"));
            let pass = |n| drain(&mut *mixed.open_pass(n).unwrap()).unwrap();
            let (run, first, second) = (pass(0), pass(1), pass(2));
            assert_eq!(run, drain(&mut *mixed.open().unwrap()).unwrap());
            assert_eq!(first, pass(1), "a pass is the same each time");
            let drawn = pattern != "400/1000000";
            let what = format!("{pattern} {own}");
            assert_eq!(mixed.draws(), if drawn { Draws::Partly } else { Draws::Nothing }, "{what}");
            // The list is behind the other part.
            let start = run.iter().map(|r| r.offset).max().unwrap() & !((1 << 20) - 1);
            for other in [&first, &second] {
                assert_eq!(other.len(), run.len(), "{what}");
                let listed = |all: &[Request]| {
                    all.iter().filter(|r| r.offset >= start).map(|r| r.offset).collect::<Vec<_>>()
                };
                assert_eq!(listed(other), listed(&run), "{what}");
                assert_eq!(listed(other).len(), 100, "{what}");
                let same = other.iter().zip(&run).filter(|(a, b)| a.offset == b.offset).count();
                assert_eq!(same < 200, drawn, "{what}: {same} of {} are alike", run.len());
            }
            assert_eq!(first != second, drawn, "{what}");
        }
    }
    let alone = |own: &str| parts(&format!("{HEAD}[[part]]\nworkload = \"zipf\"\n{own}")).unwrap();
    assert_eq!(alone("").draws(), Draws::All);
    assert_eq!(alone("repeat = 2\nhint = 1\n").draws(), Draws::All);
}

#[test]
fn a_wrong_hint_is_named_with_its_line() {
    for (hint, words) in [
        ("256", "256 is not a hint"),
        ("-1", "-1 is not a hint"),
        ("1.0", "1.0 is not a hint"),
        ("\"1\"", "is not a hint"),
        ("[]", "[] is not a hint"),
        ("[1]", "1 is not a region"),
        ("[{ below = \"1MiB\" }]", "is not a region"),
        ("[{ below = 4096, hint = 1 }]", "is not a region"),
        ("[{ below = \"0B\", hint = 1 }]", "is not a region"),
        ("[{ below = \"1 foot\", hint = 1 }]", "`below`"),
        ("[{ below = \"1MiB\", hint = 256 }]", "256 is not a hint"),
        ("[{ above = \"1MiB\", hint = 1 }]", "is not a region"),
        (
            "[{ below = \"2MiB\", hint = 1 }, { below = \"2MiB\", hint = 2 }]",
            "below 2MiB lies within",
        ),
        ("[{ hint = 1 }, { hint = 2 }]", "lies within"),
    ] {
        let e = open(&format!("{HEAD}[[part]]\nworkload = \"9/9\"\n\nhint = {hint}\n")).err();
        let e = e.unwrap_or_else(|| panic!("{hint} is accepted"));
        assert!(e.contains("mix.toml:5: `hint` of part 1") && e.contains(words), "{hint}: {e}");
        assert!(e.contains("expected a hint from 0 (none) to 255"), "{e}");
    }
}

#[test]
fn parts_with_queue_depths_are_streams_of_their_own() {
    let text = format!(
        "{HEAD}[[part]]\nworkload = \"100/10\"\nqueue-depth = 16\nuntil = \"10s\"\n\
         [[part]]\nworkload = \"30/1\"\n\
         [[part]]\nworkload = \"50/7\"\nqueue-depth = 2\npriority = \"high\"\n"
    );
    let mixed = open(&text).unwrap();
    assert_eq!(mixed.about().closed, [16, 2]);
    assert_eq!(mixed.about().requests, None, "the time decides, and nobody knows how many it is");
    let mut flows = mixed.flows().unwrap();
    assert_eq!(drain(&mut *flows.open).unwrap().len(), 30);
    let untils: Vec<_> = flows.closed.iter().map(|l| l.until).collect();
    assert_eq!(untils, [Time::from_ns(10_000_000_000), Time::MAX]);
    let last = drain(&mut *flows.closed[1].source).unwrap();
    assert_eq!(last.len(), 50);
    assert!(last.iter().all(|r| r.prio == Prio::High && r.offset >= 2 << 20));
    // A reader that does not open it sees all of them.
    assert_eq!(drain(&mut *mixed.open().unwrap()).unwrap().len(), 180);
    // A step on the whole would lose the loops.
    let first = Steps { first: Some(5), ..Steps::default() };
    let fault = first.apply(open(&text).unwrap()).err().unwrap().to_string();
    assert!(fault.contains("queue depths") && fault.contains("first=5"), "{fault}");
}

#[test]
fn a_share_is_kept_in_number_and_over_the_whole_time() {
    for (n, share) in [(1000_u64, 0.1), (1000, 0.5), (999, 0.9), (5000, 0.001)] {
        for swap in ["7/13", "1/5", "40000/1000000"] {
            let text = format!(
                "{HEAD}[[part]]\nworkload = \"{n}/1000\"\n\
                 [[part]]\nworkload = \"{swap}\"\npriority = \"high\"\nshare = {share}\n"
            );
            let mixed = open(&text).unwrap();
            let all = drain(&mut *mixed.open().unwrap()).unwrap();
            let high: Vec<_> = all.iter().filter(|r| r.prio == Prio::High).collect();
            let expected = (share * n as f64 / (1.0 - share)).round() as usize;
            assert_eq!(high.len(), expected, "{share} of {n} and {swap}");
            assert_eq!(mixed.about().requests, Some(all.len() as u64));
            // The last of them comes with the last of the others, unless there is only one.
            let last = if expected > 1 && swap != "1/5" { (n - 1) * 1000 } else { 0 };
            assert_eq!(high.last().unwrap().at.as_ns(), last, "{share} of {n} and {swap}");
            assert!(all.windows(2).all(|w| w[0].at <= w[1].at));
            // Each half of the time has its share too.
            if swap == "7/13" && expected > 100 {
                let half = all.len() / 2;
                let here = all[..half].iter().filter(|r| r.prio == Prio::High).count();
                assert!((here as f64 / half as f64 - share).abs() < 0.05);
            }
        }
    }
}

#[test]
fn other_parts_other_digests() {
    let digest = |parts: &str| open(&format!("{HEAD}{parts}")).unwrap().about().sha256.clone();
    let base = "[[part]]\nworkload = \"9/9\"\n";
    let texts = [
        base.to_owned(),
        "[[part]]\nworkload = \"9/8\"\n".into(),
        format!("{base}first = 3\n"),
        format!("{base}speed = 2\n"),
        format!("{base}begins = \"1s\"\n"),
        format!("{base}priority = \"high\"\n"),
        format!("{base}wrap = \"64KiB\"\n"),
        format!("{base}hint = 1\n"),
        format!("{base}hint = 2\n"),
        format!("{base}hint = [{{ below = \"8KiB\", hint = 1 }}]\n"),
        format!("{base}hint = [{{ below = \"8KiB\", hint = 1 }}, {{ hint = 2 }}]\n"),
        format!("{base}queue-depth = 4\n"),
        format!("{base}queue-depth = 4\nuntil = \"1s\"\n"),
        format!("{base}{base}"),
        format!("{base}{base}first = 3\n"),
        format!("{base}first = 3\n{base}"),
        format!("{base}{base}share = 0.5\n"),
        format!("{base}{base}share = 0.4\n"),
    ];
    let mut all: Vec<_> = texts.iter().map(|text| digest(text).unwrap()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), texts.len());
    assert_eq!(digest(base), digest(&format!("# a comment\n{base}")), "words change nothing");
}

#[test]
fn mistakes_come_with_their_lines_and_all_at_once() {
    for (text, words) in [
        ("[[part]]\nworkload = \"9/9\"\n", &["schema"][..]),
        (
            "schema = \"floatgate.workload/2\"\n[[part]]\nworkload = \"9/9\"\n",
            &["mix.toml:1", "/1"],
        ),
        (HEAD, &["part"]),
        (&format!("{HEAD}part = []\n"), &["at least one"]),
        (&format!("{HEAD}[[part]]\nspeed = 2\n"), &["workload"]),
        (
            &format!("{HEAD}[[part]]\nworkload = \"9/9\"\nspeeed = 2\n"),
            &["line 4", "speeed", "`speed`"],
        ),
        (&format!("{HEAD}[[part]]\nworkload = \"9/9\"\nslice = \"1h\"\n"), &["line 4", "no `..`"]),
        (&format!("{HEAD}[[part]]\nworkload = \"9/9\"\npriority = \"top\"\n"), &["line 4", "high"]),
        (
            &format!(
                "{HEAD}[[part]]\nworkload = \"9/9\"\n\nspeed = -1\n[[part]]\nworkload = \"9/9\"\nshare = 2\n"
            ),
            &["mix.toml:5: `speed` of part 1", "mix.toml:8: `share` of part 2"],
        ),
        (
            &format!(
                "{HEAD}[[part]]\nworkload = \"9/9\"\n[[part]]\nworkload = \"9/9\"\nshare=0.5\nrepeat=2\n"
            ),
            &["mix.toml:7: `repeat` of part 2", "one of them"],
        ),
        (&format!("{HEAD}[[part]]\nworkload = \"9/9\"\nshare = 0.5\n"), &["every part"]),
        (
            &format!("{HEAD}[[part]]\nworkload = \"9/9\"\nflow-by = \"host\"\n"),
            &["line 4", "expected device or process"],
        ),
        (
            &format!(
                "{HEAD}[[part]]\nworkload = \"9/9\"\nflow-by = \"device\"\nflow = \"a\"\n\
                 weight = 2\nqueue-depth = 1\ndepth = 0\n"
            ),
            &[
                "mix.toml:5: `flow` of part 1: beside `flow-by`",
                "mix.toml:6: `weight` of part 1",
                "mix.toml:7: `queue-depth` of part 1",
                "mix.toml:8: `depth` of part 1: nothing would ever go in",
            ],
        ),
        (
            &format!(
                "{HEAD}[[part]]\nworkload = \"9/9\"\nqueue-depth = 2\n\
                 [[part]]\nworkload = \"9/9\"\nshare = 0.5\n"
            ),
            &["`share` beside a `queue-depth`"],
        ),
        (
            &format!(
                "{HEAD}[[part]]\nworkload = \"9/9\"\nqueue-depth = 0\nwrap = \"0B\"\n\
                 [[part]]\nworkload = \"9/9\"\nuntil = \"1s\"\n\
                 [[part]]\nworkload = \"9/9\"\nqueue-depth = 4\nspeed = 2\nbegins = \"1s\"\n"
            ),
            &[
                "mix.toml:4: `queue-depth` of part 1",
                "mix.toml:5: `wrap` of part 1",
                "mix.toml:8: `until` of part 2",
                "mix.toml:12: `speed` of part 3",
                "mix.toml:13: `begins` of part 3",
            ],
        ),
        (
            &format!(
                "{HEAD}[[part]]\nworkload = \"a\"\n[[part]]\nworkload = \"9/9\"\n[[part]]\nworkload = \"b\"\n"
            ),
            &["mix.toml:3: part 1: a: no such", "mix.toml:7: part 3: b: no such"],
        ),
        (
            &format!("{HEAD}[[part]]\nworkload = \"9/9\"\nslice = \"1h..\"\n"),
            &["mix.toml:3: part 1: 9/9: no request in slice=1h.."],
        ),
    ] {
        let e = open(text).err().unwrap_or_else(|| panic!("{text} is accepted"));
        for word in words {
            assert!(e.contains(word), "{word}: {e}");
        }
    }
    assert!(Composition::read("g.toml", "pattern = \"zipf\"\n").is_none());
    assert!(Composition::read("g.toml", "no toml").is_none());
}

#[test]
fn a_switching_part_is_urgent_for_half_of_its_requests_in_irregular_stretches() {
    let mut seen = std::collections::BTreeSet::new();
    for (n, stretches, seed) in
        [(1000_u64, 20_u64, 1_u64), (1000, 20, 2), (999, 3, 1), (50_001, 1, 7)]
    {
        let text = format!(
            "{HEAD}[[part]]\nworkload = \"{n}/1000\"\npriority = \"switching\"\n\
             stretches = {stretches}\nseed = {seed}\n"
        );
        let mixed = open(&text).unwrap();
        let all = drain(&mut *mixed.open().unwrap()).unwrap();
        assert_eq!(all.len() as u64, n);
        let urgent: Vec<bool> = all.iter().map(|r| r.prio == Prio::High).collect();
        assert_eq!(urgent.iter().filter(|u| **u).count() as u64, n / 2, "half of {n}");
        let switches = urgent.windows(2).filter(|w| w[0] != w[1]).count() as u64;
        // Two cuts at the same place make a stretch of nothing.
        assert!(switches < 2 * stretches && switches >= stretches, "{switches} of {stretches}");
        assert!(seen.insert(urgent), "another seed makes other stretches");
        assert!(mixed.about().notes[0].contains("stretches"));
    }
    let wrong = [
        "priority = \"high\"\nstretches = 3\n",
        "seed = 3\n",
        "priority = \"switching\"\nstretches = 0\n",
    ];
    for keys in wrong {
        let fault = open(&format!("{HEAD}[[part]]\nworkload = \"9/9\"\n{keys}")).err().unwrap();
        assert!(fault.contains("stretches") || fault.contains("seed"), "{fault}");
    }
}
