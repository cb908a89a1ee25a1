use super::*;
use crate::trace::drain;
use crate::{List, ReadOptions, open_bytes};

const MIB: u64 = 1 << 20;

/// A trace of `(offset, length)` in bytes, folded.
fn fold(
    requests: &[(u64, u64)],
    rule: OutOfRange,
    shift: i64,
    capacity: u64,
) -> Result<Vec<(u64, u32)>, TraceError> {
    let line = |(i, (at, len)): (usize, &(u64, u64))| format!("{i} 0 {} {} 0", at / 512, len / 512);
    let text = requests.iter().enumerate().map(line).collect::<Vec<_>>().join("\n");
    let trace = open_bytes("t", text.into_bytes().into(), &ReadOptions::default())?;
    let folded = AddressWrap::new(trace, rule, shift, Bytes::new(capacity))?;
    let all = drain(&mut *folded.open()?)?;
    let span = folded.about().span;
    assert!(all.iter().all(|r| r.end() <= capacity && span.is_none_or(|span| r.end() <= span)));
    Ok(all.iter().map(|r| (r.offset, r.len)).collect())
}

#[test]
fn refuse_names_record_address_capacity_and_the_ways_out() {
    let inside = [(0, 4096), (MIB - 4096, 4096)];
    assert_eq!(fold(&inside, OutOfRange::Refuse, 0, MIB).unwrap(), [(0, 4096), (MIB - 4096, 4096)]);
    let e = fold(&[(0, 512), (MIB - 512, 1024)], OutOfRange::Refuse, 0, MIB).unwrap_err();
    let text = e.to_string();
    for word in ["request 2", "1048064", "1048576 bytes", "compact", "wrap"] {
        assert!(text.contains(word), "{text}");
    }
    assert_eq!(e.code(), "trace::range");
    // Two extents of 1 MiB do not fit: packing is not offered, but the sizes at which it would do.
    assert!(!text.contains("packs") && text.contains("touch 2 MiB"), "{text}");
}

/// The advice against requests outside the drive depends on the addresses of all of them.
#[test]
fn compact_is_tried_before_it_is_offered() {
    let hint = |requests: &[(u64, u64)], capacity: u64| {
        let refused = fold(requests, OutOfRange::Refuse, 0, capacity).unwrap_err();
        assert!(refused.to_string().contains("request 2"), "{refused}");
        let packed = fold(requests, OutOfRange::Compact, 0, capacity).map(|_| ());
        (refused.detail().hint.clone(), packed)
    };
    let scattered = [(0, 512), (7 * MIB - 512, 512), (3 * MIB, 4096), (7 * MIB, 512)];
    // Extents 0, 6, 3 and 7.
    let (text, packed) = hint(&scattered, 4 * MIB);
    assert_eq!(packed, Ok(()));
    assert!(text.contains("packs the 4 MiB") && text.contains("drive of at least 8 MiB"), "{text}");
    let (text, packed) = hint(&scattered, 4 * MIB - 512);
    assert!(packed.unwrap_err().to_string().contains("at least 4 MiB"));
    assert!(!text.contains("packs"), "{text}");
    for word in ["touch 4 MiB", "`\"refuse\"` one of 8 MiB", "wrap"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // The sizes that are named are enough.
    assert!(fold(&scattered, OutOfRange::Refuse, 0, 8 * MIB).is_ok());
    assert!(fold(&scattered, OutOfRange::Compact, 0, 4 * MIB).is_ok());
}

/// A workload that can be read to its second request and no further.
struct Cut(About);

impl Workload for Cut {
    fn about(&self) -> &About {
        &self.0
    }

    fn open_pass(&self, _pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(Box::new(CutSource(0)))
    }
}

struct CutSource(u32);

impl RequestSource for CutSource {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.0 += 1;
        if self.0 > 1 {
            let place = (&Arc::from("cut"), Spot::Record { record: 3, byte: 96 });
            let damaged = detail(place.0, place.1, "half a record", "a whole one", "");
            return Err(TraceError::Record(damaged));
        }
        batch.clear();
        batch.extend([0, 9 * MIB].map(bytes_at));
        Ok(())
    }
}

/// A sector is read.
fn bytes_at(offset: u64) -> Request {
    let (at, prio) = (kernel::Time::ZERO, kernel::Prio::Normal);
    Request { at, offset, len: 512, op: Op::Read, prio, flow: 0, hint: 0 }
}

#[test]
fn what_cannot_be_read_to_its_end_is_not_promised_a_place() {
    let one = bytes_at(0);
    let about = List::new("cut", vec![one]).unwrap().about().clone();
    let cut = Box::new(Cut(About { span: None, ..about }));
    let e = AddressWrap::new(cut, OutOfRange::Refuse, 0, Bytes::new(4 * MIB)).err().unwrap();
    let text = e.to_string();
    for word in ["request 2", "wrap", "not known", "record 3", "half a record"] {
        assert!(text.contains(word), "{text}");
    }
    assert!(!text.contains("packs"), "{text}");
}

#[test]
fn wrap_is_modulo_and_keeps_requests_whole() {
    let all = fold(
        &[(5 * MIB + 8192, 4096), (3 * MIB - 1024, 2048), (2 * MIB, 512)],
        OutOfRange::Wrap,
        0,
        MIB,
    );
    // The second crosses the end: it starts over, 3 KiB into a page as before.
    assert_eq!(all.unwrap(), [(8192, 4096), (3072, 2048), (0, 512)]);
    let e = fold(&[(0, 2 * MIB)], OutOfRange::Wrap, 0, MIB).unwrap_err();
    assert!(e.to_string().contains("request 1") && !e.to_string().contains("compact"), "{e}");
}

#[test]
fn compact_packs_and_keeps_order_within_an_extent() {
    let far = 700 * 1024 * MIB;
    let all =
        fold(&[(far + 4096, 4096), (3 * MIB, 512), (far, 512)], OutOfRange::Compact, 0, 2 * MIB);
    assert_eq!(all.unwrap(), [(4096, 4096), (MIB, 512), (0, 512)]);
    let e = fold(&[(0, 512), (MIB, 512), (9 * MIB, 512)], OutOfRange::Compact, 0, 2 * MIB);
    assert!(e.unwrap_err().to_string().contains("3 extents of 1 MiB"));
}

#[test]
fn shift_moves_and_never_below_zero() {
    let refuse = OutOfRange::Refuse;
    assert_eq!(fold(&[(32256, 4096)], refuse, 512, MIB).unwrap(), [(32768, 4096)]);
    assert_eq!(fold(&[(32256, 4096)], refuse, -32256, MIB).unwrap(), [(0, 4096)]);
    let e = fold(&[(32256, 512), (0, 512)], refuse, -32256, MIB).unwrap_err();
    assert!(e.to_string().contains("request 2"), "{e}");
    assert_eq!(fold(&[(0, 512)], OutOfRange::Wrap, -512, MIB).unwrap(), [(MIB - 512, 512)]);
    assert!(fold(&[(MIB - 512, 512)], refuse, 512, MIB).is_err());
}

/// A flush has no address: none to move, to fold, to pack or to refuse, and none that is touched.
#[test]
fn flushes_pass_whatever_happens_to_addresses() {
    let flush = Request { len: 0, op: Op::Flush, ..bytes_at(0) };
    let fua = |offset| Request { op: Op::WriteFua, ..bytes_at(offset) };
    let all = vec![flush, fua(5 * MIB), flush, bytes_at(9 * MIB), flush];
    let folded = |rule, shift, capacity| {
        let list = Box::new(List::new("l", all.clone()).unwrap());
        let folded = AddressWrap::new(list, rule, shift, Bytes::new(capacity))?;
        let requests = drain(&mut *folded.open()?)?;
        for (r, before) in requests.iter().zip(&all) {
            assert_eq!((r.op, r.len, r.at), (before.op, before.len, before.at));
        }
        Ok((requests.iter().map(|r| r.offset).collect::<Vec<_>>(), folded.about().span))
    };
    let (refuse, wrap, compact) = (OutOfRange::Refuse, OutOfRange::Wrap, OutOfRange::Compact);
    let down = -(4 << 20);
    for (rule, shift, capacity, offsets, span) in [
        (refuse, 0, 10 * MIB, [0, 5 * MIB, 0, 9 * MIB, 0], 9 * MIB + 512),
        (refuse, 4096, 10 * MIB, [0, 5 * MIB + 4096, 0, 9 * MIB + 4096, 0], 9 * MIB + 4608),
        (wrap, 0, 4 * MIB, [0, MIB, 0, MIB, 0], 4 * MIB),
        (wrap, down, 4 * MIB, [0, MIB, 0, MIB, 0], 4 * MIB),
        // A flush does not touch the first extent.
        (compact, 0, 2 * MIB, [0, 0, 0, MIB, 0], 2 * MIB),
    ] {
        let (seen, ends) =
            folded(rule, shift, capacity).unwrap_or_else(|e: TraceError| panic!("{e}"));
        assert_eq!((seen, ends), (offsets.to_vec(), Some(span)), "{rule:?} {shift} {capacity}");
    }
    // Below zero a flush does not lie; and the request that is refused has its number among all.
    assert_eq!(folded(refuse, down, 10 * MIB).unwrap().0, [0, MIB, 0, 5 * MIB, 0]);
    let e = folded(refuse, 0, 9 * MIB).unwrap_err().to_string();
    assert!(e.contains("request 4"), "{e}");
    let e = folded(wrap, 0, 256).unwrap_err().to_string();
    assert!(e.contains("request 2") && e.contains("a write of 512 bytes"), "{e}");
    let mut alignment = Alignment::new();
    alignment.observe(&all);
    assert_eq!((alignment.total(), alignment.aligned()), (2, 2));
}

#[test]
fn alignment_finds_the_partition_of_63_sectors() {
    let mut seen = Alignment::new();
    let at = |sector: u64| Request {
        at: kernel::Time::ZERO,
        offset: sector * 512,
        len: 512,
        op: Op::Read,
        prio: kernel::Prio::Normal,
        flow: 0,
        hint: 0,
    };
    seen.observe(&[at(63), at(63 + 8), at(63 + 800), at(0), at(5)]);
    seen.observe(&[Request { offset: 100, ..at(0) }]);
    assert_eq!((seen.total(), seen.aligned(), seen.best_shift()), (6, 1, (512, 3)));
    assert_eq!(Alignment::new().best_shift(), (0, 0));
}

/// The promise of whole pages holds only for whole pages; an unchanged trace makes it if its
/// requests are whole pages.
#[test]
fn whole_pages_are_promised_of_whole_pages() {
    let is_so = |workload: &dyn Workload, page: u64| {
        let whole = |bytes: u64| bytes.is_multiple_of(page);
        let all = drain(&mut *workload.open().unwrap()).unwrap();
        all.iter().all(|r| match r.op {
            Op::Read => false,
            Op::Write | Op::WriteFua => whole(r.offset) && whole(r.len.into()),
            Op::Trim | Op::Flush => true,
        })
    };
    let mut rng = kernel::Rng::named(25, "whole pages");
    let (mut promised, mut broken) = (0, 0);
    for _ in 0..2000 {
        let sectors = 1 << rng.below(6);
        let devices = 1 + rng.below(8) / 7;
        let line = |at: u32, rng: &mut kernel::Rng| {
            let part = u32::from(rng.below(16) == 0);
            let (lba, len) = (sectors * rng.below(256) + part, sectors * (1 + rng.below(4)));
            let read = u32::from(rng.below(12) == 0);
            format!("{at} {} {lba} {len} {read}\n", rng.below(devices))
        };
        let text: String = (0..=rng.below(6)).map(|at| line(at, &mut rng)).collect();
        let trace =
            || open_bytes("t", text.clone().into_bytes().into(), &ReadOptions::default()).unwrap();
        let rule = [OutOfRange::Refuse, OutOfRange::Wrap, OutOfRange::Compact];
        let rule = rule[rng.below(3) as usize];
        let shift = [0, 512, 4096, 16384][rng.below(4) as usize];
        let sizes = [MIB << 13, 2 * MIB, 2 * MIB + 4096, 2 * MIB + 512];
        let capacity = Bytes::new(sizes[rng.below(4) as usize]);
        for page in [512, 4096, 8192, 16384] {
            let plain = trace();
            let so = is_so(&*plain, page);
            let said = plain.writes_whole_pages(Bytes::new(page));
            assert_eq!(said, so, "{page}: {text}");
            (promised, broken) = (promised + u32::from(said), broken + u32::from(!so));
            let Ok(folded) = AddressWrap::new(plain, rule, shift, capacity) else { continue };
            let said = folded.writes_whole_pages(Bytes::new(page));
            assert!(!said || is_so(&folded, page), "{rule:?} {shift} {capacity} {page}: {text}");
            promised += u32::from(said);
        }
    }
    assert!(promised > 1000 && broken > 1000, "{promised} and {broken}");
    let sized = |size| Some(crate::Size::One(Bytes::new(size)));
    let writes =
        || crate::Generator { requests: 99, ..crate::Generator::new(crate::Pattern::Zipf) };
    for (generator, pages) in [
        (writes(), 2),
        (crate::Generator { fua_share: 0.5, flush_every: Some(3), ..writes() }, 2),
        (crate::Generator { size: sized(512), ..writes() }, 1),
        (crate::Generator { size: sized(8192), ..writes() }, 3),
        (crate::Generator { size: sized(8192), align: Some(Bytes::kib(4)), ..writes() }, 2),
        (crate::Generator { read_share: Some(0.5), ..writes() }, 0),
        (crate::Generator { trim_share: 0.5, ..writes() }, 0),
        (crate::Generator::new(crate::Pattern::Jesd219Enterprise), 0),
    ] {
        let made = generator.with_span(Bytes::mib(64), 1).unwrap();
        let said = [512, 4096, 8192].map(|page| made.writes_whole_pages(Bytes::new(page)));
        assert_eq!(said, [pages > 0, pages > 1, pages > 2], "{generator:?}");
        assert!(said.iter().zip([512, 4096, 8192]).all(|(&s, page)| !s || is_so(&made, page)));
    }
}
