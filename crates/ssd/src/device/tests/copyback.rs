//! A same-plane move without the channel: the page goes from the array to the plane's register and
//! back. Files outside of this one: none.
//!
//! It is two commands of which no page crosses the channel. The law: a move takes a read, a program
//! and their command cycles, whatever goes on beside it; the channel carries those cycles only, so a
//! die that streams reads beside it sends as many pages as if it were alone; and the data is where it
//! was moved to.

use super::{DIE, PROGRAM, READ, device, operation};
use crate::device::{Device, Work};
use crate::sim::{Actor, Clock};
use kernel::{Dur, Time};
use nand::{Array, Bus, Command, DieId, Layouts, Ppn, Source, Store, Verb, Versions};

const CYCLES: Dur = Dur::ns(300);
const PAGE: Dur = Dur::us(10);
const MOVES: u32 = 12;
const STREAMS: DieId = DieId::from_u32(1);

/// Starts a command on a die that nothing waits for.
fn start(device: &mut Device, clock: &mut Clock, die: DieId, work: Work, command: Command) {
    let op = operation(device, work, clock.now);
    device.start(clock, die, op, command);
}

/// Long for its course: each command, and what it leaves of the channel.
#[test]
fn a_move_within_a_plane_leaves_the_channel_to_others() {
    let bus = Bus::Modelled { command: CYCLES, page: PAGE };
    let (mut device, mut clock) = device(2, bus, None);
    let geometry = device.geometry;
    let mut array = Array::<Versions>::new(geometry, Layouts::new(geometry.pages_per_block()));
    let slot = |block: u32, page: u32| geometry.ppn(nand::BlockId::from_u32(block), page);
    for page in 0..MOVES {
        array.program(slot(0, page), Versions::stamp(page, u64::from(page) + 100));
    }
    let sense = Command::new(Verb::Read, Source::Gc, READ);
    let write = Command::new(Verb::Program, Source::Gc, PROGRAM);
    let streamed = Command { pages_out: 1, ..Command::new(Verb::Read, Source::Host, READ) };
    start(&mut device, &mut clock, DIE, Work::Read, sense);
    start(&mut device, &mut clock, STREAMS, Work::Read, streamed);
    let (mut moved, mut sent, mut register) = (0, 0_u32, None);
    let mut moved_at = Time::ZERO;
    while let Some((at, Actor::Die(die))) = clock.next() {
        clock.now = at;
        if !device.act(&mut clock, die) {
            continue;
        }
        let (finished, op) = device.finish(die, at);
        device.ops.remove(op);
        let (from, to): (Ppn, Ppn) = (slot(0, moved), slot(1, moved));
        if die == STREAMS {
            sent += 1;
            if moved < MOVES {
                start(&mut device, &mut clock, die, Work::Read, streamed);
            } else {
                device.rest(&mut clock, die);
            }
            device.pass_channel_on(&mut clock, die, &finished);
        } else if finished.verb == Verb::Read {
            register = Some(array.read(from));
            start(&mut device, &mut clock, die, Work::Program, write);
        } else {
            array.program(to, register.take().expect("the register holds the page"));
            moved += 1;
            moved_at = at;
            if moved < MOVES {
                start(&mut device, &mut clock, die, Work::Read, sense);
            } else {
                device.rest(&mut clock, die);
            }
        }
    }
    for page in 0..MOVES {
        assert_eq!(array.read(slot(1, page)), Versions::stamp(page, u64::from(page) + 100));
    }
    // Cycles may have to wait while a page is on the channel, twice a move and no longer than it is.
    let alone = (READ + PROGRAM + CYCLES * 2) * u64::from(MOVES);
    let taken = moved_at - Time::ZERO;
    assert!(taken >= alone && taken <= alone + PAGE * (2 * u64::from(MOVES)), "{taken:?}");
    device.sum_up();
    let cycles = CYCLES * (2 * u64::from(MOVES) + u64::from(sent));
    let channel = (cycles + PAGE * u64::from(sent)).as_ns();
    assert_eq!(device.stats.channel_ns, u128::from(channel), "no page of a move crossed it");
    // The stream is as long as it would be alone, but for the moves' cycles.
    let each = READ + CYCLES + PAGE;
    let fewest = taken.as_ns() / (each + CYCLES).as_ns();
    assert!(u64::from(sent) >= fewest, "{sent} pages in {taken:?}");
}
