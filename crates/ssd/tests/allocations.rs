//! Honest? Requests take no memory of their own from the system: a run twice as long allocates no
//! more often. Alone in its binary: an allocator is that of a whole process.

#![allow(unsafe_code, reason = "an allocator that counts passes calls on, and nothing else")]

mod common;

use common::{drive, read, write};
use floatgate_ssd::{NoCache, run};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use workload::{ClosedLoop, List, Merge, MergedPart, Request};

static CALLS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of a run of two flows with `requests` requests each, half of them reads.
fn allocations(settings: &[&str], requests: u64, depth: Option<u32>) -> u64 {
    let list = |flow: u64| -> Vec<Request> {
        let one = |i: u64| if i % 2 == 0 { read(0, i * 7 % 200) } else { write(0, i * 3 % 200) };
        (flow..requests + flow).map(one).collect()
    };
    let parts = (0..2).map(|flow| MergedPart {
        flow: Some((format!("flow {flow}"), 1)),
        closed: Some(ClosedLoop { depth: 16, until: None }),
        depth,
        ..MergedPart::new(Box::new(List::new("list", list(flow)).unwrap()))
    });
    let workload = Box::new(Merge::new("both", parts.collect()).unwrap());
    let room = ["geometry.channels=4", "geometry.pages-per-block=64", "precondition.fill=full"];
    let drive = drive(&[&room[..], settings].concat());
    let before = CALLS.load(Ordering::Relaxed);
    run(&drive, workload, &mut NoCache, &mut |_| true).unwrap();
    CALLS.load(Ordering::Relaxed) - before
}

#[test]
fn requests_allocate_nothing() {
    const N: u64 = 20_000;
    let front = ["link.rate=1GB/s", "controller.read=1us", "controller.write=1us"];
    let buffer = ["buffer.size=64KiB", "buffer.latency=1us"];
    for (settings, depth) in [
        (&["policy arbitration=merge"][..], None),
        (&["policy arbitration=round-robin", "host.queue-limit=8"], None),
        (&["policy arbitration=weighted", "host.queue-limit=8"], Some(3)),
        (&["policy arbitration=fair", "host.queue-limit=8"], None),
        (&front, None),
        (&buffer, None),
    ] {
        let [few, many] = [N, 2 * N].map(|n| allocations(settings, n, depth));
        println!("{settings:?}: {few} allocations, {many} for twice as many requests");
        // Lists that grow with how much waits at once, and marks along the way.
        assert!(many < few + N / 50, "{settings:?}: {few} became {many}");
    }
}
