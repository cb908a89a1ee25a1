//! The turns on a channel: a few operations, and times by hand.

use crate::common::{class_of, data_of, drive, policies_of, read, serve};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{Drive, ftl_of};
use ftl::{FtlView, Interests, Lpn, Plan, PlaneView, Role, Step, Victim, Watch};
use kernel::{Rng, Time};
use nand::{BlockId, Tag};
use policies::VictimPolicy;
use workload::{List, Workload};

/// Three dies on one channel. A command takes 1 us of it, a page 10 us: 4096 transfers at 409.6 MT/s.
/// Reads sense for 20 us. Page `i` lies on die `i` modulo 3. Blocks have two wordlines of three pages.
fn three_dies(first: &str) -> Drive {
    drive(&[
        "geometry.bits-per-cell=3",
        "geometry.pages-per-block=6",
        "geometry.chips-per-channel=3",
        "timing.read=20us",
        "policy placement=static:order=cwdp",
        &format!("timing.bus={{ rate = \"409.6MT/s\", command = \"1us\"{first} }}"),
    ])
}

#[test]
fn commands_or_data_go_first() {
    // a and b are read at 0 from dies 0 and 1, c from die 0 when it is free, d at 12 us from die 2.
    //
    // Either way, in us: a's command 0-1, b's 1-2; sensed at 21 and 22; a sends 21-31 and is done. b
    // waits, and so does d from 33 on, whose command took 12-13.
    //
    // Commands first: c's 31-32, b sends 32-42, d 42-52; c has sensed at 52 and sends until 62.
    //   a 31, b 42, c 62, d 52 - 12 = 40.
    // Data first: b sends 31-41, d, which came after c's command but is data, 41-51; c's command 51-52,
    // sensed at 72, sent until 82.
    //   a 31, b 41, c 82, d 51 - 12 = 39.
    // First come, first served, c would have its command at 41-42 and d would end at 52.
    let commands = (31 + 42 + 62 + 40, 62);
    let data = (31 + 41 + 82 + 39, 82);
    for (first, (all, longest)) in
        [("", commands), (", first = \"commands\"", commands), (", first = \"data\"", data)]
    {
        let script = vec![read(0, 0), read(0, 1), read(0, 3), read(12_000, 2)];
        let value = serve(&three_dies(first), script);
        let reads = class_of(&value, "read");
        // c waits 31 us for its die; the rest is the bus and waiting for it.
        let parts = [all, 31, 0, all - 31 - 80, 80].map(|us: u64| us * 1000);
        assert_eq!(reads.totals(), parts.into(), "{first}");
        assert_eq!(reads.max, longest * 1000, "{first}");
    }
}

/// Has the first block reprogrammed in place after a millisecond.
struct Once(bool);

impl Watch for Once {
    fn interests(&self) -> Interests {
        Interests::TIMER
    }

    fn next_timer(&self) -> Option<Time> {
        (!self.0).then_some(Time::from_ns(1_000_000))
    }

    fn on_timer(&mut self, _: &FtlView<'_>, _: Time, plan: &mut Plan) {
        let (block, role) = (BlockId::from_u32(0), Role::REGULAR);
        plan.push(Step::Reprogram { block, surcharge: 0, role, keep_reads: false });
        self.0 = true;
    }
}

impl Victim for Once {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        plane.most_gain()
    }
}

/// A reprogram sends nothing, so its end does not end a turn.
#[test]
fn reprogramming_has_no_turn_to_pass_on() {
    // On die 0, in us: a command 1000-1001, then six pages are sensed and two programmed, until 2321. A
    // page of die 1 is read at 2295: sensed at 2316, sent until 2326. A page of die 2 is read at 2296,
    // sensed at 2317, and waits. A page of die 0 that is asked for at 2322 has its command before that
    // data, at 2326-2327, is sensed at 2347 and sent until 2357. Were the turn passed on at 2321, the
    // data would go first, and the command at 2336.
    let drive = three_dies("");
    let mut policies = policies_of(&drive);
    policies.victim = VictimPolicy::Custom(Box::new(Once(false)));
    let mut ftl = ftl_of(&drive, policies);
    for lpn in (0..drive.logical_pages).map(Lpn::from_u32) {
        assert!(ftl.write_now(lpn, data_of(lpn), Time::ZERO));
    }
    // Nothing valid is lost.
    (0..6).for_each(|n| assert!(ftl.trim(Lpn::from_u32(3 * n), Time::ZERO)));
    let mut sim = Sim::new(&drive, ftl);
    let script = vec![read(0, 1), read(2_295_000, 1), read(2_296_000, 2), read(2_322_000, 18)];
    let list = List::new("list", script).expect("it is in order");
    sim.run(&mut *list.open().expect("a list opens"), None, &mut |_| true).expect("it ends");
    assert_eq!(sim.ftl().counts().reprogrammed_pages.total(), 2);
    assert_eq!(sim.stats().end_ns, 2_357_000);
}
