//! Merging against sorting everything at once.

use super::*;
use crate::{List, Op, trace::drain};
use kernel::{Rng, Time};

/// A workload of `n` requests; times repeat often, so that ties are common.
fn random(seed: u64, name: &str, n: usize) -> Vec<Request> {
    let mut rng = Rng::named(seed, name);
    let mut at = 0;
    let mut request = |_| {
        at += u64::from(rng.below(3));
        let (offset, len) = (u64::from(rng.below(1 << 22)) * 512, 512 << rng.below(6));
        let op = [Op::Read, Op::Write, Op::WriteFua, Op::Flush][rng.below(4) as usize];
        let (offset, len) = if op == Op::Flush { (0, 0) } else { (offset, len) };
        Request { at: Time::from_ns(at), offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
    };
    let mut requests: Vec<Request> = (0..n).map(&mut request).collect();
    let first = requests[0].at - Time::ZERO;
    for r in &mut requests {
        r.at = Time::ZERO + (r.at - Time::ZERO - first);
    }
    requests
}

fn list(name: &str, requests: &[Request]) -> Box<dyn Workload> {
    Box::new(List::new(name, requests.to_vec()).unwrap())
}

#[test]
fn merging_is_sorting_by_time_and_part_with_every_part_in_its_region() {
    for (seed, sizes) in [(1, &[1, 1, 1][..]), (2, &[9000, 5, 4096]), (3, &[700; 36]), (4, &[8192])]
    {
        let lists: Vec<Vec<Request>> =
            sizes.iter().enumerate().map(|(i, n)| random(seed, &format!("part {i}"), *n)).collect();
        let begins = |i: usize| Dur::ns(1000 + (i as u64 * 37) % 500);
        let prio = |i: usize| if i % 3 == 1 { Some(Prio::High) } else { None };
        let parts = lists.iter().enumerate().map(|(i, requests)| MergedPart {
            workload: list(&format!("part {i}"), requests),
            begins: begins(i),
            prio: prio(i),
            closed: None,
            depth: None,
            flow: Some((format!("flow {}", i % 5), 1)),
        });
        let merged = Merge::new("all", parts.collect()).unwrap();

        // All of it at once, and independently: regions by adding up, order by a stable sort.
        let mut expected = Vec::new();
        let (mut region, mut end) = (0, 0);
        let earliest = (0..lists.len()).map(begins).min().unwrap();
        for (i, requests) in lists.iter().enumerate() {
            expected.extend(requests.iter().map(|r| Request {
                at: r.at + (begins(i) - earliest),
                // A flush is one of the whole drive.
                offset: if r.op == Op::Flush { 0 } else { r.offset + region },
                prio: prio(i).unwrap_or(Prio::Normal),
                flow: (i % 5) as u8,
                ..*r
            }));
            end = region + requests.iter().map(Request::end).max().unwrap();
            region = end.div_ceil(1 << 20) << 20;
        }
        expected.sort_by_key(|r| r.at);

        assert_eq!(drain(&mut *merged.open().unwrap()).unwrap(), expected, "seed {seed}");
        assert_eq!(drain(&mut *merged.open().unwrap()).unwrap(), expected, "a second opening");
        assert_eq!(merged.about().requests, Some(expected.len() as u64));
        assert_eq!(merged.about().span, Some(end));
    }
}

#[test]
fn a_merged_workload_is_known_by_the_digests_of_its_parts() {
    let trace = |text: &str| {
        crate::open_bytes("t", text.as_bytes().into(), &crate::ReadOptions::default()).unwrap()
    };
    let (one, two) = ("0 0 16 8 0\n", "0 0 16 8 1\n");
    let merged = |texts: &[&str]| {
        let parts = texts.iter().map(|text| MergedPart::new(trace(text))).collect();
        Merge::new("m", parts).unwrap().about().clone()
    };
    let about = merged(&[one, two]);
    assert_eq!((about.format.as_str(), about.timed), ("ssdsim-ascii", true));
    let of = |text: &str| trace(text).about().sha256.clone().unwrap();
    let digest = Sha256::digest(format!("{}\n{}\n", of(one), of(two)));
    assert_eq!(about.sha256, Some(kernel::hexadecimal(&digest)));
    assert_ne!(about.sha256, merged(&[two, one]).sha256);

    // A part without a digest leaves the whole without one, and another format is said.
    let requests = random(1, "p", 3);
    let parts = vec![MergedPart::new(trace(one)), MergedPart::new(list("l", &requests))];
    let about = Merge::new("m", parts).unwrap().about().clone();
    assert_eq!((about.sha256, about.format.as_str()), (None, "mixed"));
}

#[test]
fn a_stand_in_among_the_parts_is_not_forgotten() {
    struct Stood(List, About);
    impl Workload for Stood {
        fn about(&self) -> &About {
            &self.1
        }
        fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
            self.0.open_pass(pass)
        }
    }
    let requests = random(1, "p", 3);
    let stood = List::new("s", requests.clone()).unwrap();
    let stand_in = crate::StandIn {
        model: "profile".into(),
        version: "1".into(),
        fitted_to: "a table".into(),
    };
    let about = About { stand_in: Some(stand_in.clone()), span: None, ..stood.about().clone() };
    let parts =
        vec![MergedPart::new(list("l", &requests)), MergedPart::new(Box::new(Stood(stood, about)))];
    let merged = Merge::new("m", parts).unwrap();
    assert_eq!(merged.about().stand_in, Some(stand_in));
    // The part that does not know its address space was read through.
    let end = requests.iter().map(Request::end).max().unwrap();
    assert_eq!(merged.about().span, Some(end.next_multiple_of(1 << 20) + end));
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let far = |n: u64| {
        let request = Request {
            at: Time::ZERO,
            offset: n,
            len: 512,
            op: Op::Read,
            prio: Prio::Normal,
            flow: 0,
            hint: 0,
        };
        MergedPart::new(list("far", &[request]))
    };
    for (parts, word) in
        [(vec![], "nothing to merge"), (vec![far((1 << 62) - 1024), far(1 << 20)], "pass 4 EiB")]
    {
        let error = Merge::new("m", parts).err().unwrap().to_string();
        assert!(error.contains(word), "{error}");
    }
}
