//! Multi-plane operations, one by one: which operations share an array time, and how long that is.
//! The rates of long runs are in `numbers.rs`.

use crate::common::{class_of, count, drive, number, read, serve, write};
use floatgate_ssd::Drive;
use serde_json::Value;
use workload::Request;

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const LATER: u64 = 1_000_000_000;

/// One die of two planes: even pages lie in the first, odd ones in the second.
fn two_planes(own: &[&str]) -> Drive {
    let base = ["geometry.planes-per-die=2", "policy placement=static:order=pcwd"];
    drive(&[&base, own].concat())
}

fn merged(value: &Value) -> u64 {
    number(&value["policies"]["order"]["counters"]["merged"]) as u64
}

#[test]
fn a_plane_does_one_thing_at_a_time() {
    // Pages that are requested at the same instant, and the commands that they take. The first
    // count is for planes that may work together on any pages. The second is for the same page of a
    // block: pages 2 n and 2 n + 1.
    for (pages, any, aligned) in [
        (&[0, 1][..], 1, 1),
        (&[0, 2], 2, 2),
        (&[1, 3, 5], 3, 3),
        (&[0, 2, 1], 2, 3),
        (&[0, 1, 2, 3], 2, 2),
        (&[0, 1, 3, 2], 2, 2),
    ] {
        let all = pages.len() as u64;
        for (how, commands) in [("any", any), ("aligned", aligned), ("off", all)] {
            let drive = two_planes(&[&format!("ftl.multi-plane={how}")]);
            let of = |kind: fn(u64, u64) -> Request| {
                let value = serve(&drive, pages.iter().map(|&page| kind(0, page)).collect());
                (count(&value["end"]["at_ns"]), merged(&value))
            };
            let along = all - commands;
            assert_eq!(of(read), (commands * READ, along), "{how}: reads of {pages:?}");
            assert_eq!(of(write), (commands * PROGRAM, along), "{how}: writes of {pages:?}");
        }
    }
}

/// On two bits in a cell the pages of a block are by turns quick and slow. The first plane is one page
/// ahead, so that the next two writes are a slow page there and a quick one in the second plane.
#[test]
fn planes_that_work_together_take_as_long_as_the_slowest() {
    let (quick, slow) = ((300_000, 40_000), (1_200_000, 60_000));
    let drive = two_planes(&[
        "geometry.bits-per-cell=2",
        "timing.program=[\"300us\", \"1200us\"]",
        "timing.read=[\"40us\", \"60us\"]",
        "precondition.fill=none",
        "ftl.multi-plane=any",
    ]);
    for order in [[2, 1], [1, 2]] {
        let at = |at, kind: fn(u64, u64) -> Request| order.map(|page| kind(at, page));
        let mut script = vec![write(0, 0)];
        script.extend(at(LATER, write));
        script.extend(at(2 * LATER, read));
        let value = serve(&drive, script);
        assert_eq!(merged(&value), 2, "{order:?}");
        let (r, w) = (class_of(&value, "read"), class_of(&value, "write"));
        let programs = quick.0 + 2 * slow.0;
        assert_eq!(w.totals(), (programs, 0, 0, 0, programs), "{order:?}");
        assert_eq!((r.min, r.max), (slow.1, slow.1), "{order:?}");
        assert_eq!(r.totals(), (2 * slow.1, 0, 0, 0, 2 * slow.1), "{order:?}");
    }
}
