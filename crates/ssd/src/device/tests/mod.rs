//! Dies by themselves, against the laws of queues and against times computed by hand.

mod copyback;
mod suspend;

use super::{Device, LaneId, Manner};
use crate::clock::Clock;
use crate::config::{Drive, Interruptible, Suspend, chip_drive};
use crate::ops::{Owner, PageOp};
use ftl::HostTag;
use kernel::{Bytes, Dur, Rng, Time};
use nand::{Bus, DieId, Geometry, Shape, Timing, Verb};

const READ: Dur = Dur::us(50);
const PROGRAM: Dur = Dur::us(600);
const ERASE: Dur = Dur::ms(3);

/// A device of one channel with `dies` dies of one plane, and its clock.
fn device(dies: u32, bus: Bus, suspend: Option<Suspend>) -> (Device, Clock) {
    let shape = Shape {
        channels: 1,
        chips_per_channel: dies,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 16,
        page_size: Bytes::kib(4),
        bits_per_cell: 1,
    };
    let geometry = Geometry::new(shape).expect("a legal geometry");
    let timing = Timing::uniform(READ, PROGRAM, ERASE, bus);
    let chip = chip_drive("a-slc2").expect("a built-in chip");
    let drive = Drive { geometry, timing, suspend, ..chip };
    let manner = Manner { ideal: false, first_come: true, watches_waits: false, mixes: false };
    let device = Device::new(&drive, &drive.policies.layouts(&geometry), manner);
    let clock = Clock::new(geometry.dies(), false);
    (device, clock)
}

/// Suspends of everything at any time, as often as reads come.
const FREE: Suspend = Suspend {
    operations: Interruptible::All,
    pause: Dur::ZERO,
    resume: Dur::ZERO,
    limit: u32::MAX,
    min_progress: Dur::ZERO,
    erase_loops: None,
};

/// An operation of the host that has just come.
fn operation(device: &mut Device, verb: Verb, now: Time) -> u32 {
    device.ops.add(PageOp::new(Owner::Host(0), verb, HostTag::default(), None, now))
}

const DIE: DieId = DieId::from_u32(0);

/// A job's operation that came first need not pass through a lane, unless something may be before
/// all lanes. The command of an interrupted die is an example.
#[test]
fn who_comes_first_is_asked_of_the_lanes_alone_where_nothing_stands_before_them() {
    let [(mut plain, _), (mut interruptible, _)] =
        [None, Some(FREE)].map(|suspend| device(1, Bus::Included, suspend));
    assert!(plain.goes_by_arrival() && !interruptible.goes_by_arrival());
    (plain.first_come, interruptible.first_come) = (false, false);
    assert!(!plain.goes_by_arrival() && !interruptible.goes_by_arrival());
    let [early, op, late] = [3, 5, 7].map(|seq| {
        let op = operation(&mut plain, Verb::Read, Time::ZERO);
        plain.ops[op].seq = seq;
        op
    });
    assert!(plain.is_first(DIE, op));
    plain.insert(DIE, LaneId::Idle, early);
    plain.insert(DIE, LaneId::Write, late);
    assert!(plain.is_first(DIE, op));
    assert!(!plain.is_first(DIE, late));
}

/// Operations that came in any order, to any lanes, are served in that order, and no policy is
/// asked; work for idle time goes last.
#[test]
fn what_came_first_goes_first_whatever_its_lane() {
    let lanes = [LaneId::ReadHigh, LaneId::WriteHigh, LaneId::Read, LaneId::Write, LaneId::Job];
    let mut rng = Rng::named(1, "test/first");
    let (mut device, _) = device(1, Bus::Included, None);
    for _ in 0..100 {
        let mut came: Vec<u64> = (0..=rng.below(12).into()).collect();
        rng.shuffle(&mut came);
        let idle = operation(&mut device, Verb::Read, Time::ZERO);
        device.insert(DIE, LaneId::Idle, idle);
        for &seq in &came {
            let op = operation(&mut device, Verb::Read, Time::ZERO);
            device.ops[op].seq = seq + 1;
            device.insert(DIE, lanes[rng.below(5) as usize], op);
        }
        let mut served = Vec::new();
        while let Some(lane) = device.next_lane(DIE, |_| unreachable!("nobody is asked")) {
            let op = device.pop(DIE, lane);
            served.push(device.ops[op].seq);
            device.ops.remove(op);
        }
        let in_order: Vec<u64> = (1..=came.len() as u64).chain([0]).collect();
        assert_eq!(served, in_order);
    }
}
