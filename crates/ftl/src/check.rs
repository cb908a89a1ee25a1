//! Structural checks: everything that must hold between two calls.

use crate::ask::Kit;
use crate::ftl::Ftl;
use crate::map::Lpn;
use crate::stream::{Role, StreamId};
use crate::{Blocks, Map, State};
use kernel::{BitSet, Idx};
use nand::{BlockId, Mode, PlaneId};

/// What a check found wrong.
pub(crate) type Fault = String;

macro_rules! ensure {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}

impl<K: Kit> Ftl<K> {
    /// Checks that L2P and P2L are inverse, that counts equal bits, that every block is in exactly
    /// one place, and that the referee agrees. Takes time in proportion to the drive: for tests,
    /// and once at the end of a run.
    pub fn check(&self) -> Result<(), Fault> {
        self.check_blocks()?;
        self.check_map()?;
        self.check_planes()?;
        self.check_starving()
    }

    fn check_map(&self) -> Result<(), Fault> {
        let map: &Map = &self.map;
        let mut mapped = 0;
        for lpn in (0..map.logical_pages()).map(Lpn::from_u32) {
            let Some(ppn) = map.lookup(lpn) else { continue };
            mapped += 1;
            let (block, slot) = self.geometry.split(ppn);
            ensure!(map.owner(ppn) == Some(lpn), "L2P({lpn}) = {ppn}, whose owner is another");
            ensure!(map.is_valid(block, slot), "L2P({lpn}) = {ppn}, which is not valid");
        }
        ensure!(mapped == map.mapped(), "{mapped} pages are mapped, counted {}", map.mapped());
        // Mapped pages lie in different slots, for each is its slot's owner. So as many valid slots
        // as mapped pages means that no other slot is valid.
        let valid: u32 = self.all_blocks().map(|b| self.blocks.valid(b)).sum();
        ensure!(mapped == valid, "{mapped} pages are mapped, {valid} slots are valid");
        Ok(())
    }

    pub(crate) fn check_blocks(&self) -> Result<(), Fault> {
        let blocks: &Blocks = &self.blocks;
        for b in self.all_blocks() {
            let (state, valid) = (blocks.state(b), blocks.valid(b));
            let counted = self.map.count_valid(b);
            ensure!(valid == counted, "block {b}: {counted} valid slots, counted {valid}");
            let written = blocks.written(b);
            let next = self.array.next_page(b);
            let candidate = blocks.is_candidate(b);
            ensure!(
                candidate == (state == State::Closed),
                "block {b} is {state:?} and a candidate"
            );
            match state {
                State::Free => {
                    let again = self.array.mode(b) == Mode::Wom2;
                    ensure!((valid == 0 || again) && written == 0, "free block {b} holds data");
                    ensure!(next == 0, "free block {b} is not erased");
                }
                State::Open | State::Full => {
                    // A slot's program may end pages beyond it, so slots are compared, not pages.
                    let mode = self.array.mode(b);
                    let to_program = self.layouts.slot_from(mode, next).unwrap_or(u32::MAX);
                    let to_give = self.layouts.slot_from(mode, written).unwrap_or(u32::MAX);
                    ensure!(
                        to_program <= to_give,
                        "block {b}: slots before {to_program} are programmed, before {to_give} given"
                    );
                }
                State::Closed => {
                    ensure!(next >= written, "closed block {b} has programs on their way");
                }
                State::Moving | State::Bad => {}
            }
            let kept = |slot: &u32| self.layouts.is_kept(self.array.mode(b), *slot);
            for slot in (written..self.geometry.pages_per_block()).filter(|slot| !kept(slot)) {
                ensure!(!self.map.is_valid(b, slot), "block {b}: slot {slot} valid, never written");
            }
        }
        Ok(())
    }

    pub(crate) fn check_planes(&self) -> Result<(), Fault> {
        let mut listed = BitSet::new(self.geometry.blocks());
        for p in (0..self.geometry.planes() as u32).map(PlaneId::from_u32) {
            let plane = self.planes.get(p);
            for stream in (0..self.streams.len()).map(|s| StreamId(s as u8)) {
                let Some(b) = self.planes.frontier(p, stream) else { continue };
                let (state, owner) = (self.blocks.state(b), self.blocks.stream(b));
                ensure!(state == State::Open, "frontier {b} is {state:?}");
                ensure!(owner == stream, "frontier {b} of {stream:?} belongs to {owner:?}");
                ensure!(self.geometry.plane_of(b) == p, "frontier {b} lies outside plane {p}");
                ensure!(self.next_slot(b).is_some(), "frontier {b} has no slot left");
            }
            for b in &plane.free {
                ensure!(self.geometry.plane_of(*b) == p, "block {b} is free in the wrong plane");
                ensure!(self.blocks.state(*b) == State::Free, "block {b} is listed as free");
                ensure!(!listed.get(b.index()), "block {b} is listed as free twice");
                listed.set(b.index());
            }
            let free = self
                .geometry
                .blocks_of(p)
                .filter(|i| self.blocks.state(BlockId::new(*i)) == State::Free)
                .count();
            ensure!(
                free == plane.free.len(),
                "plane {p}: {free} free blocks, listed {}",
                plane.free.len()
            );
            for stream in (0..self.streams.len()).map(|s| StreamId(s as u8)) {
                let in_use = |b: &BlockId| {
                    let out = matches!(self.blocks.state(*b), State::Free | State::Bad);
                    !out && self.blocks.stream(*b) == stream
                };
                let blocks = self.geometry.blocks_of(p).map(BlockId::new).filter(in_use).count();
                let held = self.held[self.held_at(p, stream)] as usize;
                ensure!(
                    held == blocks,
                    "plane {p}: {stream:?} has {blocks} blocks, counted {held}"
                );
            }
            let room = self.has_room(p);
            ensure!(self.writable().get(p.index()) == room, "plane {p}: writable is not {room}");
        }
        Ok(())
    }

    /// Checks what holds beside all that when nothing is on its way and every block is plain: the
    /// drive is one that [`Ftl::save`] keeps, and that [`Ftl::restore`] may make.
    pub(crate) fn check_quiet(&self) -> Result<(), Fault> {
        ensure!(self.coding_plain, "blocks may have several lives");
        let blocks: &Blocks = &self.blocks;
        // Blocks close when they are full, unless a policy passes pages over or completes blocks.
        let whole = self.in_order && self.reads.is_empty();
        let mut closed_at = Vec::new();
        for b in self.all_blocks() {
            let (state, written) = (blocks.state(b), blocks.written(b));
            let (mode, role, next) = (self.array.mode(b), blocks.role(b), self.array.next_page(b));
            ensure!(mode == Mode::Full && role == Role::REGULAR, "block {b} is {mode:?}, {role:?}");
            ensure!(blocks.pins(b) == 0, "block {b} has reads on their way");
            ensure!(next == written, "block {b}: {next} pages programmed, {written} given away");
            if state == State::Free {
                continue;
            }
            ensure!(written > 0, "block {b} is {state:?} and empty");
            let (plane, stream) = (self.geometry.plane_of(b), blocks.stream(b));
            ensure!(self.may_hold(stream, b), "block {b} may not be of {stream:?}");
            match state {
                State::Open => {
                    let frontier = self.planes.frontier(plane, stream);
                    ensure!(frontier == Some(b), "open block {b} is no frontier");
                }
                State::Closed => {
                    let full = written == self.geometry.pages_per_block();
                    ensure!(full || !whole, "block {b} was closed before it was full");
                    closed_at.push(blocks.closed_at(b));
                }
                _ => return Err(format!("block {b} is {state:?}")),
            }
        }
        // Two blocks never close at once. A clock that has gone round is not kept.
        closed_at.sort_unstable();
        let apart = closed_at.windows(2).all(|pair| pair[0] < pair[1]);
        let past = closed_at.first().is_none_or(|first| *first > 0)
            && closed_at.last().is_none_or(|last| *last <= blocks.closings());
        ensure!(apart && past, "blocks closed at the same time, or not yet");
        self.check_space()
    }

    /// Whether a stream may have written a block, as long as blocks are plain.
    fn may_hold(&self, stream: StreamId, b: BlockId) -> bool {
        let spec = &self.streams[stream.index()];
        let written_to = match stream {
            StreamId::WEAR => self.wear_active,
            StreamId::HOST_HIGH => self.priority,
            _ => true,
        };
        let held = self.held[self.held_at(self.geometry.plane_of(b), stream)];
        written_to
            && spec.mode == Mode::Full
            && spec.cap.is_none_or(|cap| held <= cap)
            && self.geometry.index_in_plane(b) >= spec.pool.first_index(&self.geometry)
    }

    /// Checks that no plane waits for a collection that nobody has begun.
    fn check_space(&self) -> Result<(), Fault> {
        for p in (0..self.geometry.planes() as u32).map(PlaneId::from_u32) {
            let starved = self.planes.get(p).starved;
            let mut blocks = self.geometry.blocks_of(p).map(BlockId::new);
            ensure!(self.reserves(p), "plane {p} has no free block for what is collected");
            ensure!(
                starved || !self.is_short(p, self.config.gc.start),
                "plane {p} is short of free blocks, and nothing is collected"
            );
            ensure!(
                !starved || !blocks.any(|b| self.blocks.is_candidate(b) && self.blocks.gain(b) > 0),
                "plane {p} starves, and has something to gain"
            );
        }
        Ok(())
    }

    fn check_starving(&self) -> Result<(), Fault> {
        let planes = (0..self.geometry.planes() as u32).map(PlaneId::from_u32);
        let starved = planes.filter(|p| self.planes.get(*p).starved).count();
        ensure!(
            starved == self.starved_planes as usize,
            "{starved} planes starve, counted {}",
            self.starved_planes
        );
        Ok(())
    }

    fn all_blocks(&self) -> impl Iterator<Item = BlockId> {
        (0..self.geometry.blocks() as u32).map(BlockId::from_u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{HostDest, OpView, Order, Placement, Policies, Victim, Watch};
    use crate::{Config, GcMarks, InOrder, Load, NoRefresh, NoThrottle, NoWear, PlaneView};
    use crate::{Plain, Traditional};
    use kernel::{Bytes, Prio, Rng, Time};
    use nand::{Geometry, Layouts, Nothing, Ppn, Shape, Tag};

    struct Simple;
    impl Watch for Simple {}
    impl Victim for Simple {
        fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
            plane.most_gain()
        }
    }
    impl Placement for Simple {
        fn place(&mut self, _: &Load<'_>, lpn: Lpn, _: Prio) -> Option<HostDest> {
            Some(HostDest { plane: self.spread(lpn), stream: StreamId::HOST })
        }
        fn spread(&mut self, lpn: Lpn) -> PlaneId {
            PlaneId::from_u32(lpn.as_u32() % 2)
        }
        fn is_free(&self) -> bool {
            false
        }
    }
    impl Order for Simple {
        fn pick(&mut self, _: &[OpView], _: Time) -> usize {
            0
        }
    }
    impl Kit for Simple {
        type Store = Nothing;
        type Cost = Traditional;
        type Throttle = NoThrottle;
        type ReadDisturb = NoRefresh;
        type PageChoice = InOrder;
        type Coding = Plain;
        type Victim = Self;
        type Placement = Self;
        type Wear = NoWear;
        type Order = Self;
    }
    type Drive = Ftl<Simple>;
    type Damage<'a> = &'a dyn Fn(&mut Drive);

    /// A drive of two planes of eight blocks of four pages, half full, with pages overwritten.
    fn drive() -> Drive {
        let geometry = Geometry::new(Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: Bytes::kib(4),
            bits_per_cell: 1,
        })
        .unwrap();
        let config = Config {
            geometry,
            layouts: Layouts::new(4),
            logical_pages: 32,
            gc: GcMarks { start: 2, stop: 2, background_stop: 0, one_by_one: false },
            endurance: 0,
            seed: 1,
        };
        let policies = Policies {
            cost: Traditional,
            throttle: NoThrottle,
            read_disturb: NoRefresh,
            page_choice: InOrder,
            coding: Plain,
            victim: Simple,
            placement: Simple,
            wear: NoWear,
            order: Simple,
        };
        let mut ftl = Ftl::new(config, policies);
        for n in (0..28).chain(0..6) {
            assert!(ftl.write_now(Lpn::from_u32(n), (), Time::ZERO));
        }
        ftl
    }

    fn block_in(ftl: &Drive, state: State) -> BlockId {
        ftl.all_blocks().find(|b| ftl.blocks.state(*b) == state).expect("a block in that state")
    }

    /// Each line of the check finds what it is there for.
    #[test]
    fn every_kind_of_damage_is_found() {
        let (a, b) = (Lpn::from_u32(10), Lpn::from_u32(12));
        let at = |ftl: &Drive, lpn| {
            let ppn = ftl.map.lookup(lpn).expect("mapped");
            let (block, slot) = ftl.geometry.split(ppn);
            (ppn, block, slot)
        };
        let damages: [(&str, Damage<'_>); 17] = [
            ("valid slots, counted", &|f| {
                let (_, block, slot) = at(f, a);
                f.map.invalidate(block, slot);
            }),
            ("valid slots, counted", &|f| f.blocks.add_valid(block_in(f, State::Closed))),
            ("whose owner is another", &|f| {
                let (ppn, block, slot) = at(f, a);
                f.map.bind(b, ppn, block, slot);
            }),
            ("pages are mapped, ", &|f| {
                f.map.unbind(a);
            }),
            ("which is not valid", &|f| {
                // The stale slot of an overwritten page takes the place of a valid one.
                let (_, block, slot) = at(f, a);
                f.map.invalidate(block, slot);
                f.blocks.drop_valid(block);
                let stale = (0..64).map(Ppn::from_u32).find(|p| {
                    let (block, slot) = f.geometry.split(*p);
                    f.map.owner(*p).is_some() && !f.map.is_valid(block, slot)
                });
                let (ppn, lpn) = (stale.expect("a stale slot"), Lpn::from_u32(31));
                let (block, slot) = f.geometry.split(ppn);
                f.map.bind(lpn, ppn, block, slot);
                f.blocks.add_valid(block);
            }),
            ("slot 3 valid, never written", &|f| {
                f.blocks.set_written(block_in(f, State::Closed), 3);
            }),
            ("has programs on their way", &|f| f.array.adopt(block_in(f, State::Closed), 2)),
            ("are programmed, before", &|f| f.array.adopt(block_in(f, State::Open), 4)),
            ("is not erased", &|f| f.array.adopt(block_in(f, State::Free), 1)),
            ("holds data", &|f| f.blocks.set_written(block_in(f, State::Free), 1)),
            ("free blocks, listed", &|f| {
                f.planes.get_mut(PlaneId::from_u32(0)).free.pop_front();
            }),
            ("is listed as free", &|f| {
                let closed = block_in(f, State::Closed);
                f.planes.get_mut(PlaneId::from_u32(0)).free.push_back(closed);
            }),
            ("listed as free twice", &|f| {
                let free = &mut f.planes.get_mut(PlaneId::from_u32(0)).free;
                free[0] = free[1];
            }),
            ("is Full", &|f| f.blocks.set_full(block_in(f, State::Open))),
            ("writable is not", &|f| {
                f.planes.set_frontier(PlaneId::from_u32(0), StreamId::HOST, None);
                f.planes.get_mut(PlaneId::from_u32(0)).free.clear();
                for block in f.geometry.blocks_of(PlaneId::from_u32(0)).map(BlockId::new) {
                    if f.blocks.state(block) == State::Free {
                        f.blocks.set_bad(block);
                    }
                }
            }),
            ("planes starve, counted", &|f| f.starved_planes += 1),
            ("StreamId(0) has 5 blocks, counted 6", &|f| f.held[0] += 1),
        ];
        drive().check().unwrap();
        for (n, (words, damage)) in damages.iter().enumerate() {
            let mut ftl = drive();
            damage(&mut ftl);
            let fault = ftl.check().expect_err(words);
            assert!(fault.contains(words), "damage {n} should be {words:?}, and is {fault:?}");
        }
    }
}
