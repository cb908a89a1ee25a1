//! Every measure by hand on a few requests, then against formulas and plain recomputation.

use std::collections::BTreeMap;

use kernel::{Prio, Rng, Time};

use super::*;
use crate::{Arrivals, Generator, List, Op, Pattern, Workload};

const S: u64 = 1_000_000_000;
const PAGE: u64 = 4096;

fn request(at: u64, op: Op, offset: u64, len: u32) -> Request {
    Request { at: Time::from_ns(at), offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
}

/// `R7` reads page 7, `W2` writes page 2, one a second.
fn pages(story: &str) -> Vec<Request> {
    let touch = |(i, word): (usize, &str)| {
        let op = if word.starts_with('R') { Op::Read } else { Op::Write };
        let page: u64 = word[1..].parse().unwrap();
        request(i as u64 * S, op, page * PAGE, PAGE as u32)
    };
    story.split_whitespace().enumerate().map(touch).collect()
}

fn described(requests: Vec<Request>, options: &Options) -> Description {
    let list = List::new("list", requests).unwrap();
    describe(&mut *list.open().unwrap(), options).unwrap()
}

fn usual(requests: Vec<Request>) -> Description {
    described(requests, &Options::default())
}

fn generated(generator: &Generator, span: &str, options: &Options) -> Description {
    let made = generator.with_span(span.parse().unwrap(), 7).unwrap();
    describe(&mut *made.open().unwrap(), options).unwrap()
}

fn near(ours: impl Into<Option<f64>>, expected: f64, tolerance: f64) {
    let ours = ours.into().expect("there is a value");
    assert!((ours - expected).abs() <= tolerance, "{ours}, expected {expected} +- {tolerance}");
}

#[test]
fn requests_sizes_and_alignment_by_hand() {
    let d = usual(vec![
        request(0, Op::Read, 0, 4096),
        request(0, Op::Write, 4096 + 512, 4096),
        request(5, Op::Write, 8192, 8192),
        request(9, Op::Trim, 1 << 20, 65536),
        request(9, Op::Read, 63 * 512, 700),
    ]);
    assert_eq!(d.span_ns, 9);
    assert_eq!((d.requests.read.requests, d.requests.read.bytes), (2, 4796));
    assert_eq!((d.requests.write.requests, d.requests.write.bytes), (2, 12288));
    assert_eq!((d.requests.all.requests, d.requests.all.bytes), (5, 4796 + 12288));
    assert_eq!(d.requests.write.mean_bytes, Some(6144.0));
    assert_eq!(d.requests.trim.requests_share, Some(0.2));
    // A trim carries no data: its bytes are addresses.
    assert_eq!((d.requests.trim.bytes, d.requests.trim.bytes_share), (65536, None));
    assert_eq!(d.requests.read.bytes_share, Some(4796.0 / 17084.0));
    assert_eq!(d.requests.all.mean_bytes, Some(17084.0 / 4.0));
    assert_eq!((d.sizes.least_bytes, d.sizes.most_bytes, d.sizes.distinct), (700, 65536, 4));
    let histogram = d.sizes.histogram.iter().map(|c| [c.from_bytes, c.read, c.write, c.trim]);
    assert_eq!(
        histogram.collect::<Vec<_>>(),
        [
            [512, 1, 0, 0],
            [1024, 0, 0, 0],
            [2048, 0, 0, 0],
            [4096, 1, 1, 0],
            [8192, 0, 1, 0],
            [16384, 0, 0, 0],
            [32768, 0, 0, 0],
            [65536, 0, 0, 1],
        ]
    );
    let frequent: Vec<_> = d.sizes.frequent.iter().map(|s| (s.bytes, s.share)).collect();
    let fifth = Some(0.2);
    assert_eq!(frequent, [(4096, Some(0.4)), (700, fifth), (8192, fifth), (65536, fifth)]);
    // Starts at sectors 0, 1, 0, 0 and 7 of a page: 3 of 5; no shift does better.
    assert_eq!((d.alignment.at_4k, d.alignment.at_4k_shifted), (Some(0.6), Some(0.6)));
    assert_eq!(d.alignment.best_shift_bytes, 0);
    assert_eq!(d.alignment.whole_pages, Some(0.6));
    // Page 0; 1 and 2; 2 and 3; the trim none; 7 and 8.
    assert_eq!((d.footprint.pages, d.footprint.bytes), (6, 6 * PAGE));
    assert_eq!((d.footprint.read_touches, d.footprint.write_touches), (3, 4));
    assert_eq!((d.footprint.read_pages, d.footprint.written_pages), (3, 3));
    assert_eq!(d.footprint.writes_per_written_page, Some(4.0 / 3.0));
    assert_eq!(d.footprint.overwrites, Some(0.25));
}

#[test]
fn streams_by_hand() {
    // Two interleaved reading streams of three, a write at the end of one, a lone read.
    let d = usual(vec![
        request(0, Op::Read, 0, 512),
        request(1, Op::Read, 1 << 20, 512),
        request(2, Op::Read, 512, 512),
        request(3, Op::Read, (1 << 20) + 512, 1024),
        request(4, Op::Read, 1024, 512),
        request(5, Op::Write, 1536, 512),
        request(6, Op::Read, (1 << 20) + 1536, 512),
        request(7, Op::Read, 9 << 20, 4096),
    ]);
    let s = &d.sequence;
    assert_eq!(s.after_previous, Some(1.0 / 8.0), "only the write starts where one just ended");
    assert_eq!(s.in_stream, Some(4.0 / 8.0));
    assert_eq!((s.reads_in_stream, s.writes_in_stream), (Some(4.0 / 7.0), Some(0.0)));
    assert_eq!((s.runs, s.longest_bytes), (4, 4096));
    assert_eq!(
        (s.mean_requests, s.mean_bytes),
        (Some(2.0), Some((1536.0 + 2048.0 + 4608.0) / 4.0))
    );
    let runs: Vec<_> = s.histogram.iter().map(|r| [r.from_requests, r.runs, r.bytes]).collect();
    assert_eq!(runs, [[1, 2, 4608], [2, 2, 3584]]);

    // Thirty-three streams in turn: each is given up just before it would go on.
    let turns = |streams: u64| -> Vec<Request> {
        let places = (0..4).flat_map(|turn| (0..streams).map(move |s| (turn, s)));
        places.map(|(turn, s)| request(0, Op::Read, (s << 30) + turn * 512, 512)).collect()
    };
    assert_eq!(usual(turns(32)).sequence.in_stream, Some(0.75));
    assert_eq!(usual(turns(33)).sequence.in_stream, Some(0.0));
}

#[test]
fn rate_by_hand() {
    // Seconds 0 to 4 have 3, 0, 0, 1, 2 requests; the last one, at 5 s, is in no whole second.
    let times = [0, S / 4, S / 2, 3 * S, 4 * S, 4 * S + S / 2, 5 * S];
    let ops = [Op::Read, Op::Write, Op::Trim, Op::Read, Op::Write, Op::Write, Op::Read];
    let requests = times.iter().zip(ops).map(|(&at, op)| request(at, op, 0, 1000));
    let d = usual(requests.collect());
    let rate = d.rate.unwrap();
    near(rate.requests_per_second, 7.0 / 5.0, 1e-12);
    near(rate.read_bytes_per_second, 600.0, 1e-9);
    near(rate.written_bytes_per_second, 600.0, 1e-9);
    let second = rate.peaks[0];
    assert_eq!((second.window_ns, second.most_requests, second.most_bytes), (S, 3, 2000));
    near(second.peak_to_mean, 3.0 / 1.4, 1e-12);
    // Mean 6/5; squares of the deviations 3.24 + 1.44 + 1.44 + 0.04 + 0.64, over 4.
    near(second.dispersion, 6.8 / 4.0 / 1.2, 1e-12);
    let minute = rate.peaks[1];
    assert_eq!((minute.most_requests, minute.dispersion), (7, None));
    // Gaps of 1/4, 1/4, 5/2, 1, 1/2 and 1/2 s.
    let squares = (2.0 * 0.0625 + 6.25 + 1.0 + 2.0 * 0.25) / 6.0;
    near(rate.gaps.mean_ns, 5e9 / 6.0, 1.0);
    near(rate.gaps.variation, (squares - 25.0 / 36.0_f64).sqrt() / (5.0 / 6.0), 1e-9);
    assert_eq!(rate.gaps.max_ns, 5 * S / 2);
    assert!(rate.hours.is_none());
    // 5 s in rows of 4 ms are 1251 rows.
    assert_eq!((rate.series.width_ns, rate.series.reads.len()), (4_000_000, 1251));
    let at = |ns: u64| (ns / 4_000_000) as usize;
    assert_eq!((rate.series.writes[at(S / 4)], rate.series.written_bytes[at(S / 4)]), (1, 1000));
    assert_eq!((rate.series.trims[at(S / 2)], rate.series.read_bytes[at(S / 2)]), (1, 0));
    let rows = [&rate.series.reads, &rate.series.writes, &rate.series.trims];
    assert_eq!(rows.map(|row| row.iter().sum::<u64>()), [3, 3, 1]);
}

/// The span goes to the flush; counts per window, epoch or second know of the time after the last
/// of the others.
#[test]
fn a_flush_after_all_others_lets_time_pass() {
    let flush = |at| request(at, Op::Flush, 0, 0);
    let times = [0, S / 4, S / 2, 3 * S, 4 * S, 4 * S + S / 2, 5 * S];
    let mut requests: Vec<_> = times.map(|at| request(at, Op::Write, 0, 1000)).to_vec();
    requests.extend([flush(6 * S), flush(9 * S + S / 2)]);
    let options = Options::new(Bytes::kib(4), Options::MEMORY, vec![Dur::secs(3)]).unwrap();
    let d = described(requests, &options);
    assert_eq!((d.span_ns, d.requests.flushes, d.requests.all.requests), (9 * S + S / 2, 2, 7));
    let rate = d.rate.unwrap();
    near(rate.requests_per_second, 7.0 / 9.5, 1e-12);
    // Seconds 0 to 8 have 3, 0, 0, 1, 2, 1, 0, 0, 0: their squares add up to 15.
    near(rate.peaks[0].dispersion, (15.0 - 49.0 / 9.0) / 8.0 / (7.0 / 9.0), 1e-12);
    near(rate.gaps.mean_ns, 5e9 / 6.0, 1.0);
    // 9.5 s in rows of 8 ms are 1188 rows.
    assert_eq!((rate.series.width_ns, rate.series.writes.len()), (8_000_000, 1188));
    assert_eq!(rate.series.writes.iter().sum::<u64>(), 7);
    // Three whole epochs of 3, 4 and 0 writes: the second differs by a third, the third by all of it.
    let demand = &d.epochs[0];
    assert_eq!((demand.epochs, demand.pairs, demand.unpredicted), (3, 2, 0));
    near(demand.mean_percent, 200.0 / 3.0, 1e-9);
    // Flushes have no rate of their own, nor does one write between two.
    let few = usual(vec![flush(0), request(S, Op::Write, 0, 512), flush(3 * S)]);
    assert_eq!((few.span_ns, few.rate), (3 * S, None));
    let none = usual(vec![flush(0), flush(S)]);
    assert_eq!((none.span_ns, none.requests.flushes, none.requests.all.requests), (S, 2, 0));
    assert_eq!((none.footprint.pages, none.alignment.at_4k, none.rate), (0, None, None));
}

/// All but their counts is as if there were none, and as if writes that bypass the cache did not.
#[test]
fn flushes_and_fua_change_nothing_else() {
    for seed in 0..6 {
        let mut rng = Rng::named(seed, "test/flushes");
        let plain = arbitrary(&mut rng, 5000);
        let (mut mixed, mut flushes, mut fua) = (Vec::new(), 0, 0);
        for (i, r) in plain.iter().enumerate() {
            let bypasses = r.op == Op::Write && rng.below(3) == 0;
            fua += u64::from(bypasses);
            mixed.push(Request { op: if bypasses { Op::WriteFua } else { r.op }, ..*r });
            let after = if i + 1 < plain.len() { rng.below(3) * rng.below(2) } else { 0 };
            flushes += u64::from(after);
            mixed.extend((0..after).map(|_| request(r.at.as_ns(), Op::Flush, 0, 0)));
        }
        let mut ours = usual(mixed);
        assert_eq!((ours.requests.flushes, ours.requests.fua_writes), (flushes, fua));
        assert!(flushes > 1000 && fua > 300, "{flushes}, {fua}");
        (ours.requests.flushes, ours.requests.fua_writes) = (0, 0);
        assert_eq!(ours, usual(plain), "seed {seed}");
    }
}

#[test]
fn arrivals_at_random_have_dispersion_one_and_even_ones_none() {
    let poisson = Generator {
        arrivals: Some(Arrivals::Poisson { iops: 100.0 }),
        ..Generator::new(Pattern::RandomWrite)
    };
    let rate = generated(&poisson, "1GiB", &Options::default()).rate.unwrap();
    near(rate.requests_per_second, 100.0, 0.5);
    near(rate.gaps.variation, 1.0, 0.01);
    // 10,000 whole seconds: the standard error of a variance over mean is sqrt(2 / n).
    near(rate.peaks[0].dispersion, 1.0, 4.0 * (2.0_f64 / 1e4).sqrt());
    assert!(rate.series.reads.len() <= 2048 && rate.series.reads.len() > 1024);
    assert_eq!(rate.series.writes.iter().sum::<u64>(), 1_000_000);
    let even = Generator { arrivals: Some(Arrivals::Constant { iops: 100.0 }), ..poisson };
    let rate = generated(&even, "1GiB", &Options::default()).rate.unwrap();
    near(rate.peaks[0].dispersion, 0.0, 1e-9);
    near(rate.gaps.variation, 0.0, 1e-6);
}

#[test]
fn the_hours_of_two_and_a_half_days() {
    // One write every half hour, and ten reads in hour 3 of each day.
    let mut requests: Vec<Request> =
        (0..=120).map(|i| request(i * 1800 * S, Op::Write, 0, 512)).collect();
    for day in 0..3 {
        let at = (day * 86_400 + 3 * 3600 + 900) * S;
        let place = requests.partition_point(|r| r.at.as_ns() < at);
        requests.splice(place..place, (0..10).map(|i| request(at + i, Op::Read, 0, 1024)));
    }
    let hours = usual(requests).rate.unwrap().hours.unwrap();
    assert_eq!(hours.len(), 24);
    assert_eq!(hours.iter().map(|h| h.covered_ns).sum::<u64>(), 60 * 3600 * S);
    assert_eq!(hours[3].covered_ns, 3 * 3600 * S);
    assert_eq!(hours[12].covered_ns, 2 * 3600 * S);
    near(hours[3].reads_per_second, 30.0 / 10_800.0, 1e-12);
    near(hours[3].read_bytes_per_second, 30.0 * 1024.0 / 10_800.0, 1e-9);
    near(hours[2].reads_per_second, 0.0, 0.0);
    near(hours[20].writes_per_second, 2.0 / 3600.0, 1e-12);
}

#[test]
fn write_demand_by_hand() {
    // Minutes write 100, 95, 190, 0, 0, 0, 50 KiB; the eighth is cut short.
    let kib = [100, 95, 190, 0, 0, 0, 50, 7];
    let mut requests = vec![request(0, Op::Read, 0, 1 << 20)];
    for (minute, kib) in kib.into_iter().enumerate().filter(|(_, kib)| *kib > 0) {
        requests.push(request((minute as u64 * 60 + 7) * S, Op::Write, 0, kib << 10));
    }
    let options = Options {
        epochs: vec![Dur::secs(60), Dur::secs(120), Dur::secs(3600)],
        ..Options::default()
    };
    let d = described(requests, &options);
    let minute = &d.epochs[0];
    assert_eq!((minute.epochs, minute.pairs, minute.unpredicted), (7, 6, 1));
    // 5 %, 100 %, 100 %, 0, 0, and one without bound.
    near(minute.mean_percent, 205.0 / 5.0, 1e-9);
    let within = |e: &Epochs, percent: usize| e.within_percent[percent];
    let sixths = [(0, 2), (4, 2), (5, 3), (99, 3), (100, 5), (200, 5)];
    for (percent, pairs) in sixths {
        near(within(minute, percent), f64::from(pairs) / 6.0, 1e-12);
    }
    // Two minutes: 195, 190, 0, and half an epoch. Differences 5/195 and 100 %.
    let two = &d.epochs[1];
    assert_eq!((two.epochs, two.pairs, two.unpredicted), (3, 2, 0));
    near(two.mean_percent, f64::midpoint(500.0 / 195.0, 100.0), 1e-9);
    for (percent, expected) in [(2, 0.0), (3, 0.5), (99, 0.5), (100, 1.0)] {
        near(within(two, percent), expected, 1e-12);
    }
    let hour = &d.epochs[2];
    assert_eq!((hour.epochs, hour.pairs, hour.mean_percent), (0, 0, None));
    assert!(hour.within_percent.is_empty());
}

#[test]
fn characters_by_hand() {
    // 1: three reads. 2: two writes. 3: write, read. 4: one read.
    let d = usual(pages("R1 W2 R1 W3 R3 R1 W2 R4"));
    let c = d.characters;
    assert_eq!((c.pages.read_only, c.pages.write_only, c.pages.interleaved), (2, 1, 1));
    assert_eq!((c.reads.read_only, c.reads.write_only, c.reads.interleaved), (4, 0, 1));
    assert_eq!((c.writes.read_only, c.writes.write_only, c.writes.interleaved), (0, 2, 1));
    assert_eq!((c.reads_on_read_only, c.writes_on_write_only), (Some(0.8), Some(2.0 / 3.0)));
    assert_eq!((c.on_interleaved, c.minority), (Some(0.25), Some(0.0)));
    assert_eq!(
        (d.footprint.pages, d.footprint.both_pages, d.footprint.read_first_pages),
        (4, 1, 2)
    );
    // Four touches have a history: two of page 1, one of page 2, the read of page 3.
    let i = &d.identification;
    assert_eq!((i.judged, i.without_history), (4, Some(0.5)));
    let right: Vec<_> = i.windows.iter().map(|w| (w.window, w.right)).collect();
    assert_eq!(right, [(1, 3), (2, 4), (3, 4)]);
    assert_eq!(i.windows[0].accuracy, Some(0.75));
}

/// Twenty reads of a page after its one write make it read-only, and created here. A page that was
/// read first, one with too few reads, and one that is only written are not created.
#[test]
fn created_pages_by_hand() {
    let reads = |page: u32, n: usize| vec![format!("R{page}"); n].join(" ");
    let text = [
        format!("W1 {}", reads(1, 20)),
        format!("R2 W2 {}", reads(2, 19)),
        format!("W3 {}", reads(3, 19)),
        "W4 W4".into(),
    ];
    let d = usual(pages(&text.join(" ")));
    assert_eq!(d.characters.reads_on_created, Some(20.0 / 59.0));
    assert_eq!(usual(pages("W1 W1")).characters.reads_on_created, None);
}

/// The example of AGCR's Figure 3(c): a page with interleaved accesses is at times taken for
/// something else, and less so by a longer window.
#[test]
fn interleaved_pages_are_mistaken_less_by_longer_windows() {
    let i = usual(pages("W0 W0 R0 R0 W0 W0 W0 R0")).identification;
    // Judged are W R R W W W R: a window of 2 sees WW WR RR RW WW WW WR.
    assert_eq!(i.judged, 7);
    // Of 3: WW WWR WRR RRW RWW WWW WWR.
    let right: Vec<_> = i.windows.iter().map(|w| w.right).collect();
    assert_eq!(right, [0, 3, 5]);
}

#[test]
fn reuse_distances_by_hand() {
    let reuse = usual(pages("R1 R1 R2 R3 W1 R3 R2")).reuse;
    // 1 again at once (0), 1 after 2 and 3 (2), 3 after 1 (1), 2 after 3 and 1 (2).
    assert_eq!((reuse.first, reuse.again), (3, 4));
    assert_eq!(reuse.below_pages, [1, 2, 3]);
    assert_eq!(reuse.share, [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0]);
    assert_eq!(reuse.median_below_pages, Some(2));
}

/// Distances of requests for many pages, from a list that keeps the page touched last in front.
fn plain_reuse(requests: &[Request], page: u64) -> (u64, BTreeMap<u64, u64>) {
    let (mut stack, mut first, mut distances) = (Vec::new(), 0, BTreeMap::new());
    for r in requests.iter().filter(|r| r.op != Op::Trim) {
        for page in r.offset / page..=(r.end() - 1) / page {
            match stack.iter().rposition(|&p| p == page) {
                Some(at) => {
                    *distances.entry((stack.len() - 1 - at) as u64).or_default() += 1;
                    stack.remove(at);
                }
                None => first += 1,
            }
            stack.push(page);
        }
    }
    (first, distances)
}

fn arbitrary(rng: &mut Rng, n: u64) -> Vec<Request> {
    let mut at = 0;
    let mut requests = Vec::new();
    for _ in 0..n {
        at += rng.below_u64(2 * S);
        let op = [Op::Read, Op::Read, Op::Write, Op::Trim][rng.below(4) as usize];
        let far = if rng.below(3) == 0 { 1 << 40 } else { 0 };
        let offset = far + u64::from(rng.below(900) + rng.below(900)) * 512;
        let largest = 1 << rng.below(9);
        requests.push(request(at, op, offset, 512 * (1 + rng.below(largest))));
    }
    requests
}

#[test]
fn reuse_distances_are_those_of_a_plain_list() {
    let mut rng = Rng::named(3, "test/describe");
    for (page_size, slots) in [(512, 4096), (4096, 1 << 22), (65536, 4096)] {
        let requests = arbitrary(&mut rng, 2500);
        let mut touches = Touches::with_slots(Bytes::new(page_size), Bytes::mib(16), slots);
        requests.chunks(700).for_each(|batch| touches.observe(batch));
        let found = touches.finish();
        let (first, distances) = plain_reuse(&requests, page_size);
        let again: u64 = distances.values().sum();
        assert_eq!((found.reuse.first, found.reuse.again), (first, again));
        assert_eq!(found.footprint.pages, first);
        assert!(again > 1000);
        for (bound, share) in found.reuse.below_pages.iter().zip(&found.reuse.share) {
            let below: u64 = distances.range(..bound).map(|d| d.1).sum();
            near(*share, below as f64 / (first + again) as f64, 1e-12);
        }
        let greatest = *distances.keys().last().unwrap();
        let bounds = &found.reuse.below_pages;
        assert!(bounds.last().unwrap() > &greatest && bounds[bounds.len() - 2] <= greatest);
    }
}

#[test]
fn concentration_by_hand() {
    // Ten pages are read: one 11 times, one 5 times, eight once. Page 20 is only written.
    let story = ["R3 ".repeat(11), "R7 ".repeat(5), "R10 R11 R12 R13 R14 R15 R16 R17 W20".into()];
    let reads = usual(pages(&story.concat())).reads;
    assert_eq!((reads.most, reads.mean), (11, Some(2.4)));
    near(reads.on_top_1_percent, 1.1 / 24.0, 1e-12);
    near(reads.on_top_10_percent, 11.0 / 24.0, 1e-12);
    near(reads.on_top_20_percent, 16.0 / 24.0, 1e-12);
    assert_eq!(reads.pages_by_touches, [[1, 8], [2, 0], [4, 1], [8, 1]]);
    let top: Vec<_> = reads.top.iter().map(|t| (t.offset / PAGE, t.touches)).collect();
    assert_eq!(top[..3], [(3, 11), (7, 5), (10, 1)]);
    assert_eq!(top.len(), 10);
    assert_eq!(reads.curve.pages, [0.1, 0.2, 0.5, 1.0]);
    for (ours, by_hand) in reads.curve.touches.iter().zip([11.0, 16.0, 19.0, 24.0]) {
        near(*ours, by_hand / 24.0, 1e-12);
    }
}

#[test]
fn hot_data_is_found_as_hot_as_it_was_made() {
    let generator = Generator {
        hot_data: Some(0.1),
        hot_writes: Some(0.7),
        ..Generator::new(Pattern::HotCold)
    };
    // 1000 pages with 7000 and 333 writes each: no cold page is as hot as a hot one.
    let d = generated(&generator, "4000KiB", &Options::default());
    near(d.writes.on_top_10_percent, 0.7, 0.005);
    near(d.writes.on_top_20_percent, 0.7 + 0.3 / 9.0, 0.01);
    assert_eq!(d.footprint.written_pages, 1000);
    assert_eq!(d.reads.mean, None);
    assert!(d.reads.curve.pages.is_empty());
}

/// Under uniform random touches of `n` pages every place in the order of last touches is hit with
/// probability `1 / n`. So an LRU cache of `c` pages hits `min(c, k) / n` once `k` pages are
/// touched.
#[test]
fn uniform_touches_hit_in_proportion_to_the_cache_sampled_or_not() {
    let (pages, touches) = (262_144.0, 2_000_000);
    let generator = Generator { requests: touches, ..Generator::new(Pattern::RandomRead) };
    let touched = |t: u64| pages * (1.0 - (-(t as f64) / pages).exp());
    for (memory, rate) in [(Options::MEMORY, 1.0), (Bytes::mib(4), 0.25)] {
        let options = Options { memory, ..Options::default() };
        let d = generated(&generator, "1GiB", &options);
        near(d.sampling.rate, rate, 0.0);
        assert_eq!(d.footprint.read_touches, touches);
        // Three standard errors, as the documentation of `Sampling` has them.
        let tolerance = 3.0 * ((1.0 - rate) / d.sampling.groups as f64).sqrt() + 0.002;
        near(d.footprint.pages as f64 / touched(touches), 1.0, tolerance);
        for (&bound, share) in d.reuse.below_pages.iter().zip(&d.reuse.share) {
            let hits: f64 = (0..touches).step_by(100).map(|t| touched(t).min(bound as f64)).sum();
            near(*share, hits / pages / (touches / 100) as f64, tolerance);
        }
        assert!(d.reuse.below_pages.len() > 50);
    }
}

#[test]
fn a_sample_says_what_all_pages_say() {
    let generator = Generator {
        requests: 400_000,
        read_share: Some(0.5),
        theta: Some(0.6),
        ..Generator::new(Pattern::Zipf)
    };
    let with = |memory| {
        let options = Options { memory, ..Options::default() };
        generated(&generator, "1GiB", &options)
    };
    let (whole, sample) = (with(Options::MEMORY), with(Bytes::mib(1)));
    near(whole.sampling.rate, 1.0, 0.0);
    assert!(sample.sampling.rate <= 0.25 && sample.sampling.rate >= 1.0 / 32.0);
    assert!(sample.sampling.pages < whole.sampling.pages / 3);
    let tolerance = 4.0 / (sample.sampling.groups as f64).sqrt();
    assert!(tolerance < 0.15, "{:?}", sample.sampling);
    let about = |part: u64, of: u64| near(part as f64 / of as f64, 1.0, tolerance);
    about(sample.footprint.pages, whole.footprint.pages);
    about(sample.footprint.written_pages, whole.footprint.written_pages);
    about(sample.characters.reads.interleaved, whole.characters.reads.interleaved);
    about(sample.identification.judged, whole.identification.judged);
    about(sample.reuse.first, whole.reuse.first);
    let close = |a: Option<f64>, b: Option<f64>| near(a, b.unwrap(), 0.02);
    close(sample.characters.writes_on_write_only, whole.characters.writes_on_write_only);
    close(sample.identification.windows[1].accuracy, whole.identification.windows[1].accuracy);
    close(sample.reads.on_top_20_percent, whole.reads.on_top_20_percent);
    // Values that do not concern pages are the same to the last bit.
    assert_eq!(sample.requests, whole.requests);
    assert_eq!(sample.sizes, whole.sizes);
    assert_eq!(sample.sequence, whole.sequence);
    let errors = whole.reuse.below_pages.iter().zip(&whole.reuse.share).map(|(bound, share)| {
        let place = sample.reuse.below_pages.iter().position(|b| b == bound);
        place.map_or(0.0, |place| (sample.reuse.share[place] - share).abs())
    });
    let errors: Vec<f64> = errors.collect();
    near(errors.iter().sum::<f64>() / errors.len() as f64, 0.0, 0.01);
}

#[test]
fn laws_that_hold_for_every_workload() {
    let mut rng = Rng::named(5, "test/laws");
    for _ in 0..20 {
        let requests = arbitrary(&mut rng, 800);
        let moved = 3 << 30;
        let d = usual(requests.clone());
        let ops = [d.requests.read, d.requests.write, d.requests.trim];
        near(ops.iter().filter_map(|op| op.requests_share).sum::<f64>(), 1.0, 1e-12);
        near(ops.iter().filter_map(|op| op.bytes_share).sum::<f64>(), 1.0, 1e-12);
        let (c, f) = (d.characters, d.footprint);
        let all = |of: OfClasses| of.read_only + of.write_only + of.interleaved;
        assert_eq!((all(c.reads), all(c.writes)), (f.read_touches, f.write_touches));
        assert_eq!(all(c.pages), f.pages);
        assert_eq!(f.read_pages + f.written_pages - f.both_pages, f.pages);
        assert_eq!(d.identification.judged + f.pages, f.read_touches + f.write_touches);
        assert_eq!((d.reuse.first, d.reuse.again), (f.pages, d.identification.judged));
        near(
            d.reuse.share.last().copied(),
            d.reuse.again as f64 / (f.read_touches + f.write_touches) as f64,
            1e-12,
        );
        for (gathered, touched) in [(&d.reads, f.read_pages), (&d.writes, f.written_pages)] {
            assert_eq!(gathered.pages_by_touches.iter().map(|p| p[1]).sum::<u64>(), touched);
            near(gathered.curve.touches.last().copied(), 1.0, 1e-12);
            assert!(gathered.curve.touches.windows(2).all(|w| w[0] <= w[1]));
        }
        assert_eq!(d.sequence.histogram.iter().map(|r| r.requests).sum::<u64>(), 800);
        // Moved by whole groups, or cut into batches at will, nothing changes but the places.
        let shifted = |r: &Request| Request { offset: r.offset + moved, ..*r };
        let mut describer = Describer::new(&Options::default());
        let there: Vec<Request> = requests.iter().map(shifted).collect();
        there.chunks(37).for_each(|batch| describer.observe(batch));
        let mut there = describer.finish();
        for gathered in [&mut there.reads, &mut there.writes] {
            gathered.top.iter_mut().for_each(|page| page.offset -= moved);
        }
        assert_eq!(there, d);
    }
}

#[test]
fn what_happens_all_at_once_has_no_rate_and_nothing_has_no_shares() {
    let d = generated(&Generator::new(Pattern::RandomWrite), "1GiB", &Options::default());
    assert!(d.rate.is_none());
    assert_eq!(d.span_ns, 0);
    assert!(d.epochs.iter().all(|e| e.epochs == 0 && e.within_percent.is_empty()));
    let nothing = Describer::new(&Options::default()).finish();
    assert_eq!(nothing.requests.all.requests_share, None);
    assert_eq!(nothing.reuse.median_below_pages, None);
    assert!(nothing.sizes.histogram.is_empty());
    let trims = usual(vec![request(0, Op::Trim, 0, 4096), request(S, Op::Trim, 0, 4096)]);
    assert_eq!((trims.footprint.pages, trims.characters.on_interleaved), (0, None));
}

#[test]
fn options_that_cannot_be_are_refused() {
    let with = |page: &str, memory: &str, epoch| {
        let (page, memory) = (page.parse().unwrap(), memory.parse().unwrap());
        Options::new(page, memory, vec![epoch]).map_err(|e| e.to_string())
    };
    let minute = Dur::secs(60);
    assert!(with("16KiB", "64KiB", minute).is_ok());
    for (options, words) in [
        (with("3KiB", "1GiB", minute), "a page size of 3KiB; expected a power of two"),
        (with("256B", "1GiB", minute), "from 512B to 16MiB"),
        (with("32MiB", "1GiB", minute), "from 512B to 16MiB"),
        (with("4KiB", "4KiB", minute), "at least 64KiB"),
        (with("4KiB", "1GiB", Dur::ZERO), "length 0"),
    ] {
        let message = options.unwrap_err();
        assert!(message.contains(words), "{message}");
    }
}
