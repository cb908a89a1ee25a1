use super::*;
use crate::trace::drain;
use crate::{List, Op};
use kernel::{Prio, Rng, Time};

const PAGE: u64 = 4096;

fn request(op: Op, offset: u64, len: u32) -> Request {
    Request { at: Time::ZERO, offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
}

fn portion(all: &[Request], of: u32, seed: u64, pages: u32) -> Portion {
    let list = List::new("list", all.to_vec()).unwrap();
    Portion::new(Box::new(list), of, seed, Bytes::new(PAGE), pages).unwrap()
}

/// Byte for byte: which bytes of the part an operation touches, found page by page.
fn by_page(spec: Spec, r: &Request) -> Vec<(u64, u64)> {
    (r.offset / PAGE..r.end().div_ceil(PAGE))
        .filter(|page| *page < spec.from && spec.drawn(spec.group(*page)) == *page)
        .map(|page| {
            let (start, end) = (r.offset.max(page * PAGE), r.end().min((page + 1) * PAGE));
            let shift = (page - spec.group(page)) * PAGE;
            (start - shift, end - shift)
        })
        .collect()
}

#[test]
fn a_request_keeps_what_it_has_in_the_pages_that_were_drawn() {
    let mut rng = Rng::named(3, "portion");
    let pages = 1003;
    for of in [1, 2, 3, 8, 64] {
        let all: Vec<Request> = (0..4000)
            .map(|_| {
                let most = 1 + (1 << rng.below(9));
                let len = 512 * (1 + rng.below(most));
                let room = u64::from(pages) * PAGE / 512 - u64::from(len / 512);
                let ops = [Op::Read, Op::Write, Op::Trim, Op::WriteFua];
                request(ops[rng.below(4) as usize], rng.below_u64(room) * 512, len)
            })
            .collect();
        let part = portion(&all, of, 7, pages);
        let mut flushes = 0;
        let mut kept = Vec::new();
        for r in &all {
            let pieces = by_page(part.spec, r);
            // Consecutive groups, so one range.
            assert!(pieces.windows(2).all(|w| w[0].1 == w[1].0), "{r:?}: {pieces:?}");
            let found = part.spec.part(r, &mut flushes);
            let range = found.map(|f| (f.offset, f.end()));
            assert_eq!(range, pieces.first().map(|p| (p.0, pieces.last().unwrap().1)), "{r:?}");
            kept.extend(found);
        }
        assert_eq!(drain(&mut *part.open().unwrap()).unwrap(), kept);
        assert_eq!(part.about().requests, Some(kept.len() as u64));
        let written = all.iter().filter(|r| r.op.writes()).map(|r| u64::from(r.len)).sum::<u64>();
        assert_eq!(part.written(), written);
        if of == 1 {
            assert_eq!(kept, all);
        }
    }
}

/// With any alignment of a workload, a part has its share of the pages; of one page it has all or
/// nothing.
#[test]
fn a_part_has_its_share_of_the_pages_and_all_accesses_to_them() {
    let pages = 1 << 16;
    for step in [1_u64, 2, 8, 16, 64] {
        let every = || (0..u64::from(pages)).step_by(step as usize);
        let all: Vec<Request> = every()
            .chain(every())
            .map(|page| request(Op::Write, page * PAGE, PAGE as u32))
            .collect();
        let part = portion(&all, 8, 1, pages);
        let kept = drain(&mut *part.open().unwrap()).unwrap();
        let share = kept.len() as f64 * 8.0 / all.len() as f64;
        let drawn = all.len() as f64 / 16.0; // pages that may be drawn, each with one chance in eight
        assert!((share - 1.0).abs() < 4.0 / drawn.sqrt() * 7_f64.sqrt(), "{step}: {share}");
        assert_eq!(kept[..kept.len() / 2], kept[kept.len() / 2..]);
    }
}

#[test]
fn of_flushes_one_in_so_many_is_left() {
    let flush = request(Op::Flush, 0, 0);
    let part = portion(&[flush; 20], 8, 1, 64);
    assert_eq!(drain(&mut *part.open().unwrap()).unwrap().len(), 2);
}

/// Groups need not be equal: each page of the part is one of its group, and groups follow one another.
#[test]
fn a_scaled_drive_has_one_extent_of_each_group() {
    for (from, to) in [(10, 3), (1000, 999), (4096, 64), (1001, 17), (5, 5)] {
        let inner = Box::new(List::new("list", vec![request(Op::Read, 0, 512)]).unwrap());
        let bytes = [from, to].map(|pages| Bytes::new(pages * PAGE));
        let spec = Portion::scaled(inner, 3, Bytes::new(PAGE), bytes).unwrap().spec;
        assert_eq!((spec.page, spec.from, spec.to), (PAGE, from, to));
        let groups: Vec<u64> = (0..from).map(|page| spec.group(page)).collect();
        assert!(groups.is_sorted() && groups[groups.len() - 1] == to - 1);
        for group in 0..to {
            assert_eq!(spec.group(spec.drawn(group)), group);
            assert_eq!(groups.iter().position(|g| *g == group), Some(spec.first(group) as usize));
        }
    }
}

/// A sample has its share of the requests, whole, in their order, and comes as many times faster.
/// The drive meets as many in a second as the whole drive does of all.
#[test]
fn a_sample_keeps_the_load() {
    let (from, to) = (1_u64 << 32, 1_u64 << 28);
    let mut rng = Rng::named(5, "sample");
    let all: Vec<Request> = (0..80_000)
        .map(|n| {
            let at = Time::from_ns(n * 50_000);
            let place = rng.below_u64((from >> 16) - 1) << 16;
            Request { at, ..request(Op::Write, place, 65_536) }
        })
        .collect();
    let list = Box::new(List::new("list", all.clone()).unwrap());
    let part = Portion::scaled(list, 9, Bytes::new(PAGE), [from, to].map(Bytes::new)).unwrap();
    let kept = drain(&mut *part.open().unwrap()).unwrap();
    let SampleFacts { requests, kept: counted, written_share, soon, .. } = part.sample();
    assert_eq!((requests, counted), (80_000, kept.len() as u64));
    // One in sixteen, within four standard deviations.
    assert!((kept.len() as f64 - 5_000.0).abs() < 4.0 * 5_000_f64.sqrt());
    assert!((written_share * 16.0 - 1.0).abs() < 0.06 && (soon[0] - 1.0).abs() < 1e-4);
    assert!(kept.iter().all(|r| r.len == 65_536 && r.end() <= to));
    assert!(kept.is_sorted_by_key(|r| r.at));
    let rate = |all: &[Request]| all.len() as f64 / all[all.len() - 1].at.as_ns() as f64;
    assert!((rate(&kept) / rate(&all) - 1.0).abs() < 0.01);
}

/// The written bytes of many samples, each of another draw, vary as computed. Some extents are written a hundred
/// times as often as others, and requests cross borders.
#[test]
fn samples_vary_as_computed() {
    let (from, to) = (1_u64 << 26, 3_u64 << 22); // Groups of five and six extents.
    let mut rng = Rng::named(6, "sample");
    let all: Vec<Request> = (0..20_000)
        .map(|_| {
            let hot = rng.below(10) < 9;
            let place = rng.below_u64(if hot { from >> 19 } else { (from >> 12) - 4 });
            let place = if hot { place * 128 } else { place };
            request(Op::Write, place * PAGE + 512, 3 * PAGE as u32)
        })
        .collect();
    let shares: Vec<(f64, f64)> = (0..400)
        .map(|seed| {
            let list = Box::new(List::new("list", all.clone()).unwrap());
            let bytes = [from, to].map(Bytes::new);
            let part = Portion::scaled(list, seed, Bytes::new(PAGE), bytes).unwrap();
            // Each extent stands for all of its group, and groups differ in size.
            let stands = |r: &Request| {
                let extents = r.offset / part.spec.page..r.end().div_ceil(part.spec.page);
                let bytes = |at: u64| {
                    let page = part.spec.page;
                    let size = part.spec.first(at + 1) - part.spec.first(at);
                    size * (r.end().min((at + 1) * page) - r.offset.max(at * page))
                };
                extents.map(bytes).sum::<u64>()
            };
            let kept = drain(&mut *part.open().unwrap()).unwrap();
            let estimate = kept.iter().map(stands).sum::<u64>() as f64;
            (estimate / part.written() as f64, part.sample().written_varies)
        })
        .collect();
    let computed = shares[0].1;
    assert!(
        computed > 0.05 && shares.iter().all(|(_, each)| (each - computed).abs() < 1e-12),
        "no draw counts"
    );
    let mean = shares.iter().map(|(share, _)| share).sum::<f64>() / 400.0;
    let variance = shares.iter().map(|(share, _)| (share - mean).powi(2)).sum::<f64>() / 399.0;
    // Four standard deviations of a mean, and of a deviation, of 400 draws.
    assert!((mean - 1.0).abs() < 4.0 * computed / 20.0, "{mean}");
    assert!((variance.sqrt() / computed - 1.0).abs() < 4.0 / 800_f64.sqrt(), "{computed}");
    // Written alike, all samples have the same bytes.
    let even = (0..from >> 20).map(|at| request(Op::Write, at << 20, 1 << 20)).collect();
    let list = Box::new(List::new("list", even).unwrap());
    let part = Portion::scaled(list, 1, Bytes::new(PAGE), [from, to].map(Bytes::new)).unwrap();
    assert!(part.sample().written_varies.abs() < 1e-12);
}
