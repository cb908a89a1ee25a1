//! Generators against their formulas. The seeds are fixed, so a bound of four or five standard
//! deviations either holds for ever or shows a fault.

use super::*;
use crate::List;
use crate::trace::drain;

/// The requests of the TOML text on a drive of 64 MiB (16,384 pages).
fn make(toml: &str) -> Vec<Request> {
    let generator: Generator = toml::from_str(toml).unwrap();
    drain(&mut *generator.with_span(Bytes::mib(64), 1).unwrap().open().unwrap()).unwrap()
}

fn refused(toml: &str) -> String {
    match toml::from_str::<Generator>(toml) {
        Err(e) => e.to_string(),
        Ok(g) => g.with_span(Bytes::mib(64), 1).unwrap_err().to_string(),
    }
}

fn share(all: &[Request], hit: impl Fn(&Request) -> bool) -> f64 {
    all.iter().filter(|r| hit(r)).count() as f64 / all.len() as f64
}

/// `got` within `sigmas` standard deviations of a share `p` over `n` draws.
fn near(got: f64, p: f64, n: usize) {
    let sigma = (p * (1.0 - p) / n as f64).sqrt();
    assert!((got - p).abs() <= 4.5 * sigma, "{got} against {p} ± {sigma}");
}

#[test]
fn random_write_is_uniform_over_all_pages() {
    let all = make("pattern = 'random-write'\nrequests = 819200");
    assert_eq!(all.len(), 819_200);
    let mut seen = vec![0_u32; 16_384];
    for r in &all {
        assert_eq!((r.op, r.len, r.offset % 4096, r.at), (Op::Write, 4096, 0, kernel::Time::ZERO));
        seen[(r.offset / 4096) as usize] += 1;
    }
    // Chi-square over 16,383 degrees of freedom: mean that, variance twice that.
    let chi: f64 = seen.iter().map(|&s| (f64::from(s) - 50.0).powi(2) / 50.0).sum();
    let df = 16_383.0_f64;
    assert!((chi - df).abs() < 4.5 * (2.0 * df).sqrt(), "{chi}");
}

/// 2^62 ns are 4.6e9 s, after which no clock goes.
#[test]
fn requests_that_come_too_seldom_are_refused() {
    for (arrivals, requests, comes) in [
        ("arrivals = { constant = { iops = 1e-9 } }", 5, true),
        ("arrivals = { constant = { iops = 1e-9 } }", 6, false),
        ("rate = 1e-10", 1000, false),
        ("rate = 1e-300", 2, false),
    ] {
        let text =
            format!("pattern = 'random-write'\nspan = '1GiB'\nrequests = {requests}\n{arrivals}");
        let generator: Generator = toml::from_str(&text).unwrap();
        let workload = generator.with_span(Bytes::gib(1), 7).unwrap();
        let all = drain(&mut *workload.open().unwrap());
        match all {
            Ok(all) => assert!(comes && all.len() == requests, "{text}"),
            Err(e) => assert!(!comes && e.code() == "trace::clock", "{text}: {e}"),
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_gives_others() {
    let text = |seed| format!("pattern = 'zipf'\nrequests = 5000\nread-share = 0.3\nseed = {seed}");
    assert_eq!(make(&text(7)), make(&text(7)));
    assert_ne!(make(&text(7)), make(&text(8)));
    let g = Generator { requests: 10, ..Generator::new(Pattern::RandomWrite) };
    let of_run =
        |seed| drain(&mut *g.with_span(Bytes::gib(1), seed).unwrap().open().unwrap()).unwrap();
    assert_ne!(of_run(1), of_run(2), "without a seed of its own it follows the run's");
}

/// The stream that ages a drive is the same process with other draws. Equal shares of writes and of
/// bytes go to equal pages; only patterns that draw nothing begin alike.
#[test]
fn an_endless_stream_is_the_same_process_with_other_draws() {
    const MANY: usize = 40_000;
    let of = |toml: &str| {
        toml::from_str::<Generator>(toml).unwrap().with_span(Bytes::mib(64), 1).unwrap()
    };
    for pattern in
        ["random-write", "zipf", "hot-cold", "kv-offload", "jesd219-enterprise", "permutation"]
    {
        let text = |n: usize| {
            let timed = "arrivals = { constant = { iops = 50 } }";
            format!(
                "pattern = '{pattern}'\nrequests = {n}\n{timed}\nflush-every = 3\nfua-share = 0.5"
            )
        };
        let (mut source, mut batch) = (of(&text(5)).endless().expect(pattern), Vec::new());
        let mut all = Vec::new();
        while all.len() < MANY {
            source.fill(&mut batch).unwrap();
            all.extend_from_slice(&batch);
        }
        all.truncate(MANY);
        let mut made = make(&text(MANY));
        made.truncate(MANY);
        let same = all.iter().zip(&made).filter(|(a, b)| (a.op, a.offset) == (b.op, b.offset));
        let writes = |r: &&Request| matches!(r.op, Op::Write | Op::WriteFua);
        let drawn = made.iter().filter(writes).count();
        assert!(same.filter(|(a, _)| writes(a)).count() < drawn / 4, "{pattern}");

        let sums = [&all, &made].map(|requests| {
            let bytes: u64 = requests.iter().filter(writes).map(|r| u64::from(r.len)).sum();
            (requests.iter().filter(writes).count() as f64, bytes as f64)
        });
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.05;
        assert!(near(sums[0].0, sums[1].0) && near(sums[0].1, sums[1].1), "{pattern}: {sums:?}");
        // The share of its writes that go to the tenth of the chunks that the other one writes most.
        let counts = [&all, &made].map(|requests| {
            let mut counts = vec![0_u32; 1024];
            for r in requests.iter().filter(writes) {
                counts[(r.offset >> 16) as usize] += 1;
            }
            counts
        });
        let mut order: Vec<usize> = (0..1024).collect();
        order.sort_by_key(|at| std::cmp::Reverse(counts[1][*at]));
        let share = |of: &[u32]| {
            let top: u32 = order[..102].iter().map(|at| of[*at]).sum();
            f64::from(top) / f64::from(of.iter().sum::<u32>())
        };
        let [theirs, own] = [share(&counts[0]), share(&counts[1])];
        // Few writes have no shares to speak of.
        let near = drawn < 2_000 || (theirs - own).abs() < 0.08;
        assert!(near, "{pattern}: {theirs} beside {own}");
    }
    let first = |toml: &str| make(toml)[..100].iter().map(|r| r.offset).collect::<Vec<_>>();
    let sequential = "pattern = 'sequential-write'\nrequests = 100";
    let (mut source, mut batch) = (of(sequential).endless().unwrap(), Vec::new());
    source.fill(&mut batch).unwrap();
    assert_eq!(batch[..100].iter().map(|r| r.offset).collect::<Vec<_>>(), first(sequential));
    // A pass goes on where the one before has ended: 300 of the 16,384 places are in no pass twice.
    let made = of("pattern = 'sequential-write'\nsize = '4KiB'\nrequests = 300");
    for pass in 1..60 {
        let all = drain(&mut *made.open_pass(pass).unwrap()).unwrap();
        let expected = (0..300).map(|i| (300 * (pass - 1) + i) % 16_384 * 4096);
        assert!(all.iter().map(|r| r.offset).eq(expected), "pass {pass}");
    }
    for quiet in ["read-share = 1.0", "read-share = 0.9995", "read-share = 0.4\ntrim-share = 0.6"] {
        let made = of(&format!("pattern = 'random-write'\nrequests = 5\n{quiet}"));
        assert!(made.endless().is_none(), "{quiet}: it would take for ever to write anything");
    }
    let list = List::new("record", make("pattern = 'zipf'\nrequests = 5")).unwrap();
    assert!(list.endless().is_none(), "a record can only be repeated");
}

#[test]
fn one_purpose_one_stream() {
    let plain = make("pattern = 'random-write'\nrequests = 1000");
    let timed = make(
        "pattern = 'random-write'\nrequests = 1000\nread-share = 0.5\narrivals = { poisson = { iops = 1e4 } }",
    );
    let places = |all: &[Request]| all.iter().map(|r| r.offset).collect::<Vec<_>>();
    assert_eq!(places(&plain), places(&timed), "operations and arrivals move no address");
}

/// The draws for flushes and FUA move nothing else: all other requests are as they are without.
#[test]
fn flushes_come_on_top_and_fua_is_a_write() {
    let base = "pattern = 'jesd219-enterprise'\nrequests = 50000\ntrim-share = 0.1\nrate = 1000\n";
    let plain = make(base);
    for every in [1, 7, 4096, 29_000, 60_000] {
        let text = format!("{base}flush-every = {every}\nfua-share = 0.25");
        let all = make(&text);
        let (flushes, others): (Vec<Request>, Vec<Request>) =
            all.iter().partition(|r| r.op == Op::Flush);
        assert_eq!(others.len(), 50_000, "`requests` counts all but flushes");
        for (r, without) in others.iter().zip(&plain) {
            let as_write = if r.op == Op::WriteFua { Op::Write } else { r.op };
            assert_eq!(Request { op: as_write, ..*r }, *without);
        }
        let writes: Vec<_> = others.iter().filter(|r| r.op.writes()).collect();
        near(share(&others, |r| r.op == Op::WriteFua), 0.25 * 0.5, others.len());
        assert_eq!(flushes.len(), writes.len() / every, "every {every}");
        // Each at the time of the write that it follows at once, and without an address.
        let mut seen = 0;
        for pair in all.windows(2) {
            seen += usize::from(pair[0].op.writes());
            let due = pair[0].op.writes() && seen % every == 0;
            assert_eq!(pair[1].op == Op::Flush, due);
            assert!(!due || (pair[1].at, pair[1].end()) == (pair[0].at, 0));
        }
        let generator: Generator = toml::from_str(&text).unwrap();
        let made = generator.with_span(Bytes::mib(64), 1).unwrap();
        assert_eq!(made.about().requests, Some(all.len() as u64), "known beforehand");
        let (mut source, mut batch) = (made.open().unwrap(), Vec::new());
        source.fill(&mut batch).unwrap();
        assert!(batch.len() <= BATCH && batch.len() >= BATCH / 2, "{}", batch.len());
    }
    // Of very many nobody counts them beforehand, unless every request is a write.
    for (read, known) in [(0.0, Some(1_100_000_000_000)), (0.5, None)] {
        let g = Generator {
            requests: 1_000_000_000_000,
            flush_every: Some(10),
            read_share: Some(read),
            ..Generator::new(Pattern::RandomWrite)
        };
        assert_eq!(g.with_span(Bytes::mib(64), 1).unwrap().about().requests, known);
    }
    let all = make("pattern = 'random-write'\nrequests = 1000\nfua-share = 1.0\nflush-every = 10");
    assert!(all.iter().all(|r| matches!(r.op, Op::WriteFua | Op::Flush)));
    assert_eq!(all.len(), 1100);
    let none = make("pattern = 'random-write'\nrequests = 1000\nfua-share = 0.0");
    assert_eq!(none, make("pattern = 'random-write'\nrequests = 1000"));
    // How the writes are spread that bypass: independent of where they go.
    let all = make("pattern = 'random-write'\nrequests = 200000\nfua-share = 0.1");
    near(share(&all, |r| r.op == Op::WriteFua), 0.1, all.len());
    let near_zero: Vec<_> = all.iter().filter(|r| r.offset < 32 << 20).copied().collect();
    near(share(&near_zero, |r| r.op == Op::WriteFua), 0.1, near_zero.len());
}

#[test]
fn sequential_covers_every_byte_and_starts_over() {
    let all = make("pattern = 'sequential-write'\nrequests = 12\nspan = '1000KiB'");
    let (mut at, mut total) = (0, 0);
    for r in &all[..8] {
        assert_eq!(r.offset, at);
        at = r.end();
        total += r.len;
    }
    assert_eq!((total, all[7].len, all[8].offset), (1000 << 10, 104 << 10, 0));
}

#[test]
fn hot_data_takes_its_share() {
    let all = make("pattern = 'hot-cold'\nrequests = 400000");
    let hot_end = 3277 * 4096; // 20 % of 16,384 pages, rounded
    near(share(&all, |r| r.offset < hot_end), 0.8, all.len());
    let all = make("pattern = 'hot-cold'\nrequests = 400000\nhot-data = 0.05\nhot-writes = 0.95");
    let hot_end = 819 * 4096;
    near(share(&all, |r| r.offset < hot_end), 0.95, all.len());
    // Uniform on either side.
    near(share(&all, |r| r.offset < hot_end / 2), 0.95 * 409.5 / 819.0, all.len());
}

#[test]
fn zipf_ranks_have_their_weights() {
    for theta in [0.5, 0.99, 1.0, 1.2] {
        let n = 16_384;
        let all = make(&format!("pattern = 'zipf'\nrequests = 400000\ntheta = {theta}"));
        let zipf = zipf::Zipf::new(n, theta);
        let total: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
        for rank in [1, 2, 3, 10, 100, 1000] {
            let p = (rank as f64).powf(-theta) / total;
            let place = zipf.place(rank) * 4096;
            near(share(&all, |r| r.offset == place), p, all.len());
        }
        // The less popular half of the ranks, together.
        let p: f64 = (n / 2 + 1..=n).map(|k| (k as f64).powf(-theta)).sum::<f64>() / total;
        let rare: std::collections::BTreeSet<_> = (n / 2 + 1..=n).map(|k| zipf.place(k)).collect();
        assert_eq!(rare.len() as u64, n / 2, "places are a permutation of ranks");
        near(share(&all, |r| rare.contains(&(r.offset / 4096))), p, all.len());
    }
}

/// A place of a drive scaled down has the accesses of its ranks, so each share of the places has that of the
/// whole drive.
#[test]
fn zipf_scaled_down_has_the_same_shares() {
    const DRAWS: u32 = 400_000;
    let (places, scale) = (1000, 16);
    let zipf = zipf::Zipf::scaled(places, scale, 0.99);
    let weight = |rank: u64| (rank as f64).powf(-0.99);
    let all: f64 = (1..=places * scale).map(weight).sum();
    let mut rng = Rng::named(3, "scaled");
    let mut counts = vec![0_u32; places as usize];
    (0..DRAWS).for_each(|_| counts[zipf.draw(&mut rng) as usize] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    for most in [1, 10, 100, 500] {
        let found = f64::from(counts[..most].iter().sum::<u32>()) / f64::from(DRAWS);
        let law = (1..=most as u64 * scale).map(weight).sum::<f64>() / all;
        // Sorted counts are a little more uneven than those that they are drawn from.
        assert!((found - law).abs() < 0.006, "{most}: {found} and {law}");
    }
}

#[test]
fn zipf_reaches_every_corner() {
    for n in [1, 2, 3, 10, (1 << 32) + 7, 1 << 40] {
        for theta in [1e-9, 0.99, 1.0 + 1e-12, 10.0] {
            let zipf = zipf::Zipf::new(n, theta);
            let mut rng = Rng::named(1, "corner");
            let ranks = (0..1000).map(|_| zipf.rank(&mut rng));
            assert!(
                ranks.into_iter().all(|k| (1..=n).contains(&k) && zipf.place(k) < n),
                "{n} {theta}"
            );
        }
    }
}

#[test]
fn jesd219_has_the_sizes_and_zones_of_the_standard() {
    let all = make("pattern = 'jesd219-enterprise'\nrequests = 1000000");
    near(share(&all, |r| r.op == Op::Read), 0.4, all.len());
    let sizes: [(u32, f64); 12] = [
        (512, 0.04),
        (1024, 0.01),
        (1536, 0.01),
        (2048, 0.01),
        (2560, 0.01),
        (3072, 0.01),
        (3584, 0.01),
        (4096, 0.67),
        (8192, 0.10),
        (16384, 0.07),
        (32768, 0.03),
        (65536, 0.03),
    ];
    for (size, p) in sizes {
        near(share(&all, |r| r.len == size), p, all.len());
    }
    for (end, p) in [(0.05, 0.5), (0.2, 0.8), (1.0, 1.0)] {
        let end = (end * 16_384.0_f64).round() as u64 * 4096;
        near(share(&all, |r| r.offset < end), p, all.len());
    }
    assert!(all.iter().all(|r| r.offset % 4096 == 0 && r.end() <= 64 << 20));
}

#[test]
fn operations_have_their_shares() {
    let all =
        make("pattern = 'random-write'\nrequests = 200000\nread-share = 0.3\ntrim-share = 0.1");
    near(share(&all, |r| r.op == Op::Read), 0.3, all.len());
    near(share(&all, |r| r.op == Op::Trim), 0.1, all.len());
}

#[test]
fn poisson_gaps_have_mean_and_variance_of_the_exponential() {
    let all = make(
        "pattern = 'random-read'\nrequests = 500001\narrivals = { poisson = { iops = 20000 } }",
    );
    let gaps: Vec<f64> = all.windows(2).map(|w| (w[1].at - w[0].at).as_ns() as f64).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
    // Standard errors: mean/sqrt(n), and variance * sqrt(8/n) (the fourth moment is 9).
    assert!((mean / 50_000.0 - 1.0).abs() < 4.5 / n.sqrt(), "{mean}");
    assert!((variance / 2.5e9 - 1.0).abs() < 4.5 * (8.0 / n).sqrt(), "{variance}");
    assert_eq!(all[0].at, kernel::Time::ZERO);
    // Memoryless: the share of gaps above the mean is 1/e.
    near(gaps.iter().filter(|g| **g > 50_000.0).count() as f64 / n, (-1.0_f64).exp(), gaps.len());
}

#[test]
fn a_rate_is_short_for_poisson() {
    let requests = |when: &str| make(&format!("pattern = 'random-read'\nrequests = 1000\n{when}"));
    let short = requests("rate = 20000");
    assert_eq!(short, requests("arrivals = { poisson = { iops = 20000 } }"));
    assert_ne!(short, requests("rate = 20001"));
}

#[test]
fn constant_arrivals_do_not_drift() {
    let all =
        make("pattern = 'random-write'\nrequests = 30001\narrivals = { constant = { iops = 3 } }");
    assert_eq!(all[30_000].at.as_ns(), 10_000_000_000_000);
    assert_eq!(all[1].at.as_ns(), 333_333_333);
}

#[test]
fn a_generator_survives_being_written_and_read() {
    let text = "pattern = 'random-write'\nrequests = 5\nsize = [{ size = '4KiB', share = 0.5 }, { size = '16KiB', share = 0.5 }]\nspan = '1MiB'\narrivals = { constant = { iops = 10 } }\nflush-every = 8\nfua-share = 0.5";
    let generator: Generator = toml::from_str(text).unwrap();
    let again: Generator =
        serde_json::from_str(&serde_json::to_string(&generator).unwrap()).unwrap();
    assert_eq!(generator, again);
    let least: Generator = toml::from_str("pattern = 'zipf'").unwrap();
    assert_eq!(least, Generator::new(Pattern::Zipf));
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    for (toml, words) in [
        ("pattern = 'random-write'\nrequests = 0", "workload.requests"),
        ("pattern = 'random-write'\nspan = '2KiB'", "workload.span"),
        ("pattern = 'random-write'\nspan = '1GiB'", "at most the drive's 64MiB"),
        ("pattern = 'random-write'\nsize = 4096", "a size such as \"4KiB\""),
        ("pattern = 'random-write'\nsize = '4096'", "a size needs a unit"),
        ("pattern = 'random-write'\nsize = '0B'", "workload.size"),
        ("pattern = 'random-write'\nsize = [{ size = '4KiB', share = 0.5 }]", "add up to 0.5"),
        ("pattern = 'random-write'\nsize = []", "add up to 0"),
        ("pattern = 'random-write'\nread-share = 1.5", "a share from 0 to 1"),
        ("pattern = 'random-write'\nread-share = 30", "a share from 0 to 1: 30 % is 0.3"),
        ("pattern = 'random-write'\ntrim-share = 100", "a share from 0 to 1: 100 % is 1"),
        ("pattern = 'random-write'\nread-share = 0.6\ntrim-share = 0.6", "at most 1"),
        ("pattern = 'random-write'\nfua-share = -0.1", "`workload.fua-share`"),
        ("pattern = 'random-write'\nfua-share = nan", "a share from 0 to 1"),
        (
            "pattern = 'random-write'\nflush-every = 0",
            "a flush after 0 writes; expected at least 1",
        ),
        ("pattern = 'random-write'\nflush-every = -1", "flush-every"),
        ("pattern = 'random-read'\nflush-every = 5", "`flush-every` where nothing is written"),
        ("pattern = 'random-read'\nfua-share = 0.5", "`fua-share` where nothing is written"),
        ("pattern = 'random-write'\narrivals = { poisson = { iops = 0 } }", "a rate above 0"),
        ("pattern = 'random-write'\nrate = -1.0", "`workload.rate`"),
        (
            "pattern = 'random-write'\nrate = 1\narrivals = { constant = { iops = 1 } }",
            "`arrivals` and `rate`",
        ),
        ("pattern = 'random-write'\ntheta = 1.0", "`theta` is given for random-write"),
        ("pattern = 'hot-cold'\nhot-data = 1.0", "0 < hot-data < 1"),
        ("pattern = 'zipf'\ntheta = nan", "0 < theta <= 10"),
        (
            "pattern = 'jesd219-enterprise'\nsize = '4KiB'\nspan = '16KiB'",
            "at least one place in every zone",
        ),
        ("pattern = 'random-write'\nrequest = 5", "unknown field `request`"),
        ("pattern = 'random-writes'", "random-write"),
    ] {
        let message = refused(toml);
        assert!(message.contains(words), "{toml}\n  gave {message}\n  without {words}");
    }
}

// ── Conversations ───────────────────────────────────────────────────────────────────────────────

fn bytes_of(all: &[Request], op: Op) -> f64 {
    all.iter().filter(|r| r.op == op).map(|r| f64::from(r.len)).sum()
}

/// The traffic that was measured (CHEOPS 2025): 128 KiB requests, 2.0 GiB/s reads, 11.0 MiB/s
/// writes. The standard deviation of written bytes is that of the objects among lookups.
#[test]
fn conversations_have_the_measured_traffic() {
    let all = make("pattern = 'kv-offload'\nrequests = 4000000");
    assert!(all.iter().all(|r| r.len == 128 << 10 && r.hint == 0));
    let seconds = all.last().unwrap().at.as_ns() as f64 / 1e9;
    let rate = |op| bytes_of(&all, op) / seconds / f64::from(1 << 20);
    let objects = 4e6 / 16.0 * 11.0 / 2059.0;
    let (read, written) = (rate(Op::Read), rate(Op::Write));
    assert!((read / 2048.0 - 1.0).abs() < 0.003, "{read} MiB/s");
    assert!((written / 11.0 - 1.0).abs() < 4.5 / f64::sqrt(objects), "{written} MiB/s");
}

/// Bytes read and written are as h to 1 - h, for every size of objects and requests. Objects are
/// read and written whole and in order, at multiples of their size.
#[test]
fn prefix_hits_and_object_size_decide_the_ratio_of_reads_to_writes() {
    for (object, size, parts) in
        [("1MiB", "128KiB", 8), ("300KiB", "128KiB", 3), ("64KiB", "1MiB", 1)]
    {
        for hits in [0.0, 0.3, 0.9, 1.0] {
            let all = make(&format!(
                "pattern = 'kv-offload'\nrequests = 120000\nsessions = 7\nobject-size = '{object}'\n\
                 size = '{size}'\nprefix-hits = {hits}"
            ));
            let (read, written) = (bytes_of(&all, Op::Read), bytes_of(&all, Op::Write));
            near(read / (read + written), hits, 120_000 / parts);
            let object: Bytes = object.parse().unwrap();
            for one in all.chunks(parts) {
                assert_eq!(one[0].offset % object.get(), 0);
                let joined = |w: &[Request]| w[0].end() == w[1].offset && w[0].op == w[1].op;
                assert!(one.windows(2).all(joined));
                assert_eq!(one.iter().map(|r| u64::from(r.len)).sum::<u64>(), object.get());
            }
        }
    }
}

/// An independent account of the objects. A read finds only live ones, and a conversation is read
/// from its first object on. It has (q + 1)/2 of at most q objects in the mean.
#[test]
fn conversations_read_what_they_wrote_and_trim_what_ended() {
    for eviction in ["overwrite", "trim"] {
        let all = make(&format!(
            "pattern = 'kv-offload'\nrequests = 300000\nsessions = 4\nobject-size = '1MiB'\n\
             size = '1MiB'\nprefix-hits = 0.5\neviction = '{eviction}'\ntenants = 3"
        ));
        let room = 16;
        let mut live = vec![None::<Vec<u64>>; 4];
        let mut last_read = [None::<u64>; 4];
        let (mut held, mut looks, mut ends) = (0_usize, 0_usize, 0);
        for r in &all {
            let (object, mib) = (r.offset >> 20, 1 << 20);
            assert_eq!((r.len, r.offset % mib), (1 << 20, 0));
            let (session, index) = ((object / room) as usize, object % room);
            assert_eq!(usize::from(r.hint), session % 3 + 1);
            match r.op {
                Op::Trim => {
                    assert_eq!(eviction, "trim");
                    if let Some(live) = &mut live[session] {
                        assert_eq!(live.first(), Some(&index), "first to last");
                        live.remove(0);
                    }
                    continue;
                }
                Op::Write if index == 0 => {
                    ends += 1;
                    if eviction == "trim" {
                        assert!(live[session].as_ref().is_none_or(Vec::is_empty), "all trimmed");
                    }
                    live[session] = Some(vec![0]);
                    last_read[session] = None;
                }
                Op::Write => {
                    if let Some(live) = &mut live[session] {
                        assert_eq!(live.len() as u64, index, "behind the last");
                        live.push(index);
                    }
                }
                _ => {
                    if let Some(live) = &live[session] {
                        assert!(live.contains(&index), "only live objects are found");
                        let next = last_read[session].map_or(0, |last| last + 1);
                        assert_eq!(index, next % live.len() as u64);
                        last_read[session] = Some(index);
                    }
                }
            }
            if let Some(live) = &live[session] {
                held += live.len();
                looks += 1;
            }
        }
        assert!(ends > 4_000, "{ends}");
        // After each lookup of a session, its number of objects is one of 1 to q, as likely each.
        let mean = held as f64 / looks as f64;
        assert!((mean / 8.5 - 1.0).abs() < 0.02, "{mean}");
        let trims = all.iter().filter(|r| r.op == Op::Trim).count() as f64;
        let writes = all.iter().filter(|r| r.op == Op::Write).count() as f64;
        let per_object = if eviction == "trim" { 1.0 } else { 0.0 };
        assert!((trims / writes - per_object).abs() < 0.002, "{trims} trims of {writes} objects");
    }
}

#[test]
fn conversations_refuse_settings_that_do_not_fit() {
    let of = |more: &str| refused(&format!("pattern = 'kv-offload'\n{more}"));
    for (more, part) in [
        ("read-share = 0.5", "`read-share` is given for kv-offload"),
        ("trim-share = 0.5", "`trim-share` is given"),
        ("align = '4KiB'", "`align` is given"),
        ("prefix-hits = 1.5", "prefix-hits = 1.5"),
        ("prefix-hits = nan", "prefix-hits"),
        ("sessions = 0", "0 sessions"),
        ("sessions = 33", "room for 32 objects of 2MiB"),
        ("object-size = '2GiB'", "span of 64MiB"),
        ("object-size = '0B'", "alignment of 0"),
        ("tenants = 17", "17 tenants and 16 sessions"),
        ("sessions = 32\ntenants = 256", "256 tenants"),
        ("size = [{ size = '4KiB', share = 1.0 }]", "a mix of sizes"),
        ("rate = 5\narrivals = 'as-fast-as-possible'", "one of them"),
    ] {
        let error = of(more);
        assert!(error.contains(part), "{more}: {error}");
    }
    for key in [
        "sessions = 3",
        "object-size = '1MiB'",
        "prefix-hits = 0.5",
        "eviction = 'trim'",
        "tenants = 1",
    ] {
        let error = refused(&format!("pattern = 'zipf'\n{key}"));
        assert!(error.contains("is given for zipf"), "{error}");
    }
}
