//! Structural checks: everything that must hold between two calls.

use super::{Blocks, Space, State};
use crate::{Lpn, Map, Role, StreamId};
use kernel::{BitSet, Idx};
use nand::{BlockId, Mode, Store};

/// Prefetches the slot of a page this number of pages ahead.
const AHEAD: u32 = 32;

macro_rules! ensure {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}
impl<S: Store> Space<S> {
    /// Checks that L2P and P2L are inverse, that counts equal bits, that every block is in exactly
    /// one place, and that the array agrees.
    pub(crate) fn check(&self, map: &Map) -> Result<(), String> {
        self.check_but_map(map)?;
        self.check_map(map)
    }

    /// The same without L2P and P2L.
    pub(crate) fn check_but_map(&self, map: &Map) -> Result<(), String> {
        self.check_blocks(map)?;
        self.check_planes()
    }

    fn check_map(&self, map: &Map) -> Result<(), String> {
        let mut mapped = 0;
        for lpn in (0..map.logical_pages()).map(Lpn::from_u32) {
            // Slots lie anywhere, and each would miss the caches one after the other.
            if lpn.as_u32() + AHEAD < map.logical_pages() {
                let later = Lpn::from_u32(lpn.as_u32() + AHEAD);
                map.prefetch_owner(later);
                map.prefetch_slot(later, &self.geometry);
            }
            let Some(ppn) = map.lookup(lpn) else { continue };
            mapped += 1;
            let (block, slot) = self.geometry.split(ppn);
            ensure!(map.owner(ppn) == Some(lpn), "L2P({lpn}) = {ppn}, whose owner is another");
            ensure!(map.is_valid(block, slot), "L2P({lpn}) = {ppn}, which is not valid");
        }
        ensure!(mapped == map.mapped(), "{mapped} pages are mapped, counted {}", map.mapped());
        // Mapped pages lie in different slots, for each is its slot's owner. So as many valid slots
        // as mapped pages means that no other slot is valid.
        let valid: u32 = self.geometry.superblock_ids().map(|b| self.blocks.valid(b)).sum();
        ensure!(mapped == valid, "{mapped} pages are mapped, {valid} slots are valid");
        Ok(())
    }

    fn check_blocks(&self, map: &Map) -> Result<(), String> {
        let blocks: &Blocks = &self.blocks;
        for b in self.geometry.superblock_ids() {
            let (members, valid) = (self.geometry.superblocks().blocks_of(b), blocks.valid(b));
            let counted: u32 = members.map(|b| map.count_valid(b)).sum();
            ensure!(valid == counted, "block {b}: {counted} valid slots, counted {valid}");
            if self.striped {
                self.check_stripes(map, b)?;
            }
        }
        for b in self.geometry.block_ids() {
            let (state, valid) = (blocks.state(b), map.count_valid(b));
            let written = blocks.written(b);
            let whole = written.is_multiple_of(self.unit());
            ensure!(whole, "block {b}: {written} slots given away, a part of a program unit");
            let next = self.array.next_page(b);
            let collected = state == State::Closed && !self.is_cached(b);
            let candidate = blocks.is_candidate(b) == collected;
            ensure!(candidate, "block {b} is {state:?} and a candidate");
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
                ensure!(!map.is_valid(b, slot), "block {b}: slot {slot} valid, never written");
            }
        }
        Ok(())
    }

    /// Units of a superblock are given away in stripe order, and those of parity hold no page.
    fn check_stripes(&self, map: &Map, superblock: BlockId) -> Result<(), String> {
        let (superblocks, unit) = (self.geometry.superblocks(), self.unit());
        let rows = self.rows(superblock);
        let given = |b: BlockId| self.blocks.written(b) / unit;
        let all: u32 = superblocks.blocks_of(superblock).map(given).sum();
        for (position, b) in (0..).zip(superblocks.blocks_of(superblock)) {
            let before = |row: &u32| superblocks.unit(position, *row, rows) < all;
            let (has, should) = (given(b), (0..rows).filter(before).count() as u32);
            ensure!(has == should, "block {b}: {has} units given away, in stripe order {should}");
            for row in 0..has {
                let holds = (row * unit..(row + 1) * unit).any(|slot| map.is_valid(b, slot));
                let parity = superblocks.is_parity(superblocks.unit(position, row, rows));
                ensure!(!parity || !holds, "block {b}: unit {row} is parity and holds a page");
            }
        }
        if self.is_frontier(superblock) {
            let (plane, stream) = (self.set_of(superblock), self.blocks.stream(superblock));
            let turn = self.planes.share(plane, stream).frontier;
            let next = superblocks.member(superblock, superblocks.position_of(all, rows));
            ensure!(
                turn == Some(next),
                "superblock {superblock}: {turn:?} has its turn, not {next}"
            );
        }
        Ok(())
    }

    fn check_planes(&self) -> Result<(), String> {
        let mut listed = BitSet::new(self.geometry.blocks());
        for p in self.geometry.set_ids() {
            if let Some(garbage) = self.garbage.get(p.index()) {
                let counted = self.garbage_by_block(p);
                ensure!(
                    *garbage == counted,
                    "plane {p}: {counted} slots of garbage, not {garbage}"
                );
            }
            let plane = &self.planes.each[p];
            for stream in self.stream_ids() {
                let Some(b) = self.planes.share(p, stream).frontier else { continue };
                let (state, owner) = (self.blocks.state(b), self.blocks.stream(b));
                ensure!(state == State::Open, "frontier {b} is {state:?}");
                ensure!(owner == stream, "frontier {b} of {stream:?} belongs to {owner:?}");
                ensure!(self.set_of(b) == p, "frontier {b} lies outside plane {p}");
                ensure!(self.next_slot(b).is_some(), "frontier {b} has no slot left");
            }
            for b in plane.free.iter().copied().chain(self.own_free(p)) {
                let b = &b;
                ensure!(self.geometry.plane_of(*b) == p, "block {b} is free in the wrong plane");
                ensure!(self.blocks.state(*b) == State::Free, "block {b} is listed as free");
                ensure!(!listed.get(b.index()), "block {b} is listed as free twice");
                listed.set(b.index());
            }
            let blocks = || self.geometry.superblocks_of(p);
            let free = blocks().filter(|b| self.blocks.state(*b) == State::Free).count();
            let listed = plane.free.len() + self.own_free(p).count();
            self.check_cache(p)?;
            ensure!(free == listed, "plane {p}: {free} free blocks, listed {listed}");
            for stream in self.stream_ids() {
                let in_use = |b: &BlockId| {
                    let out = matches!(self.blocks.state(*b), State::Free | State::Bad);
                    !out && self.blocks.stream(*b) == stream
                };
                let (has, held) = (blocks().filter(in_use).count(), self.planes.held(p, stream));
                ensure!(
                    has == held as usize,
                    "plane {p}: {stream:?} has {has} blocks, counted {held}"
                );
            }
            for (stream, writable) in self.demands.hosts.iter().zip(&self.writable) {
                let room = self.has_room(p, *stream);
                let noted = writable.get(p.index()) == room;
                ensure!(noted, "plane {p}: writable is not {room} for {stream:?}");
            }
        }
        let without_victim = self.geometry.set_ids().filter(|p| self.has_no_victim(*p)).count();
        let counted = self.planes.without_victim;
        ensure!(
            without_victim == counted as usize,
            "{without_victim} planes without a victim, counted {counted}"
        );
        Ok(())
    }

    /// Checks the further rules for a drive at rest in which every block is plain: the state is one
    /// that can be saved and restored. `whole`: blocks close when they are full, and not before;
    /// `in_use`: streams that may have been written; `mark`: as in [`Space::is_short`].
    pub(crate) fn check_quiet(
        &self,
        whole: bool,
        in_use: impl Fn(StreamId) -> bool,
        mark: u32,
    ) -> Result<(), String> {
        let blocks: &Blocks = &self.blocks;
        let mut closed_at = Vec::new();
        for b in self.geometry.block_ids() {
            let (state, written) = (blocks.state(b), blocks.written(b));
            let (mode, role, next) = (self.array.mode(b), blocks.role(b), self.array.next_page(b));
            ensure!(mode == Mode::Full && role == Role::REGULAR, "block {b} is {mode:?}, {role:?}");
            ensure!(blocks.pins(b) == 0, "block {b} has reads on their way");
            ensure!(next == written, "block {b}: {next} pages programmed, {written} given away");
            if state == State::Free {
                continue;
            }
            // An open superblock has blocks whose turn has not come.
            let first = self.geometry.superblock_of(b) == b;
            ensure!(written > 0 || !first, "block {b} is {state:?} and empty");
            let stream = blocks.stream(b);
            let may = in_use(stream) && self.may_hold(stream, b);
            ensure!(may, "block {b} may not be of {stream:?}");
            match state {
                State::Open => {
                    ensure!(self.is_frontier(b), "open block {b} is not a frontier");
                }
                State::Closed => {
                    let full = written == self.geometry.pages_per_block();
                    ensure!(full || !whole, "block {b} was closed before it was full");
                    closed_at.extend(first.then(|| blocks.closed_at(b)));
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
        self.check_spare(mark)
    }

    /// Whether a stream may have written a block, as long as blocks are plain.
    fn may_hold(&self, stream: StreamId, b: BlockId) -> bool {
        let spec = &self.demands.streams[stream.index()];
        let held = self.planes.held(self.set_of(b), stream);
        spec.mode == Mode::Full
            && spec.cap.is_none_or(|cap| held <= cap)
            && self.geometry.index_in_plane(b) >= spec.pool.first_index(&self.geometry)
    }

    /// Checks that no plane waits for a collection that nobody has begun.
    fn check_spare(&self, mark: u32) -> Result<(), String> {
        for p in self.geometry.set_ids() {
            let no_victim = self.has_no_victim(p);
            let mut blocks = self.geometry.blocks_of(p).map(BlockId::new);
            ensure!(self.reserves(p), "plane {p} has no free block for what is collected");
            let served = no_victim || !self.is_short(p, mark);
            ensure!(served, "plane {p} is short of free blocks, and nothing is collected");
            let gains = blocks.any(|b| self.blocks.is_candidate(b) && self.gains(b));
            ensure!(
                !no_victim || !gains,
                "plane {p} is marked as without a victim, but a block has something to gain"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::SMALL;
    use crate::space::{Demands, RESERVE};
    use crate::{Config, GcMarks, StreamClass, StreamSpec};
    use kernel::Rng;
    use nand::{Array, Geometry, Layouts, Nothing, PlaneId, Ppn, Source, Tag};

    const PLANE: PlaneId = PlaneId::from_u32(0);

    /// Space and a map without an FTL: no policy is asked.
    struct Drive {
        space: Space<Nothing>,
        map: Map,
    }

    impl Drive {
        /// A plane of eight blocks of four pages.
        fn new() -> Self {
            let (geometry, layouts) = (Geometry::new(SMALL).expect("a drive"), Layouts::new(4));
            let gc =
                GcMarks { start: 2, stop: 2, background_stop: 0, one_by_one: false, paced: false };
            let array = Array::new(geometry, layouts.clone());
            let config = Config { geometry, layouts, logical_pages: 16, gc, endurance: 0, seed: 1 };
            let mut streams = vec![StreamSpec::REGULAR; StreamId::BUILT_IN];
            streams[StreamId::HOST.index()].class = StreamClass::Host;
            streams[StreamId::GC.index()].class = StreamClass::Moves;
            let demands = Demands {
                streams,
                hosts: vec![StreamId::HOST],
                reserve: RESERVE,
                least: 0,
                isolates: false,
                keeps: None,
                plain: true,
                charged: true,
                pages: 24,
                cache: None,
            };
            Self { space: Space::new(&config, array, demands), map: Map::new(&geometry, 16) }
        }

        /// Fourteen pages have been written, and the first three again: four blocks are closed, and
        /// one has a page.
        fn used() -> Self {
            let mut drive = Self::new();
            for lpn in (0..14).chain(0..3) {
                drive.write(lpn, StreamId::HOST, Source::Host).expect("there is room");
            }
            drive
        }

        /// Gives a page a slot and programs it. Returns its block.
        fn write(&mut self, lpn: u32, stream: StreamId, source: Source) -> Option<BlockId> {
            let (space, tag) = (&mut self.space, Tag::of(source));
            let open = space.frontier(PLANE, stream, tag).or_else(|| {
                let block = space.open(PLANE, stream, tag)?;
                space.set_frontier(block);
                Some(block)
            });
            let block = open?;
            let (slot, last) = space.next_slot(block)?;
            let ppn = space.give(block, slot, last);
            space.blocks.add_valid(block);
            if let Some(old) = self.map.bind(Lpn::from_u32(lpn), ppn, block, slot) {
                self.drop_copy(old);
            }
            if self.space.program(block, ppn, (), source) {
                self.space.close(block, Mode::Full);
            }
            Some(block)
        }

        fn drop_copy(&mut self, ppn: Ppn) {
            let (block, slot) = self.space.geometry.split(ppn);
            self.map.invalidate(block, slot);
            self.space.blocks.drop_valid(block);
        }

        fn trim(&mut self, block: BlockId, slot: u32) {
            let ppn = self.space.geometry.ppn(block, slot);
            self.map.unbind(self.map.owner(ppn).expect("written"));
            self.drop_copy(ppn);
        }

        fn check(&self) -> Result<(), String> {
            self.space.check(&self.map)
        }

        fn block_in(&self, state: State) -> BlockId {
            let mut blocks = self.space.geometry.block_ids();
            blocks.find(|b| self.space.blocks.state(*b) == state).expect("a block in that state")
        }
    }

    #[test]
    fn the_last_free_block_is_for_what_collection_moves() {
        let mut drive = Drive::new();
        for lpn in (0..16).cycle() {
            drive.check().unwrap();
            if drive.write(lpn, StreamId::HOST, Source::Host).is_none() {
                break;
            }
        }
        assert_eq!(drive.space.free_blocks(PLANE), RESERVE);
        assert!(!drive.space.writable[0].get(PLANE.index()));
        assert_eq!(drive.write(0, StreamId::WEAR, Source::Wear), None);
        assert_eq!(drive.write(0, StreamId::GC, Source::Host), None);
        let block = drive.write(0, StreamId::GC, Source::Gc).expect("the reserve");
        // Its frontier is part of the reserve.
        let frontier = |source| drive.space.frontier(PLANE, StreamId::GC, Tag::of(source));
        assert_eq!((frontier(Source::Wear), frontier(Source::Gc)), (None, Some(block)));
        drive.check().unwrap();
    }

    /// Space is sound after every order of operations.
    #[test]
    fn random_lives_of_blocks_leave_it_sound() {
        let sources = [Source::Host, Source::Gc, Source::Wear, Source::Refresh];
        let (mut drive, mut rng) = (Drive::new(), Rng::named(1, "test"));
        for _ in 0..20_000 {
            let source = sources[rng.below(4) as usize];
            let b = BlockId::from_u32(rng.below(8));
            let space = &mut drive.space;
            match (rng.below(4), space.blocks.state(b)) {
                (0, State::Closed) => {
                    space.blocks.begin_move(b);
                    while let Some(slot) = drive.map.next_valid(b, 0) {
                        drive.trim(b, slot);
                    }
                    drive.space.erase(b, Mode::Full, source);
                    drive.space.free(b, source);
                }
                (1, State::Open) => {
                    let given = space.blocks.written(b);
                    assert_eq!(space.complete(b), u64::from(4 - given));
                    space.close(b, Mode::Full);
                }
                (2, State::Closed) if space.blocks.gain(b) == 0 => {
                    space.note_no_victim(PLANE);
                    assert_eq!((space.note_victim(b), space.any_has_no_victim()), (None, true));
                    drive.trim(b, 0);
                    let space = &mut drive.space;
                    assert_eq!(
                        (space.note_victim(b), space.any_has_no_victim()),
                        (Some(PLANE), false)
                    );
                }
                _ => {
                    drive.write(rng.below(16), StreamId(rng.below(4) as u8), source);
                }
            }
            drive.check().unwrap();
        }
        let counts = &drive.space.counts;
        assert!(counts.erase.total() > 500 && counts.no_victim > 100, "{counts:?}");
    }

    /// Each line of the check finds the damage that it is for; the test is as long as that table.
    #[test]
    fn every_kind_of_damage_is_found() {
        type Damage<'a> = &'a dyn Fn(&mut Drive);
        let (a, b) = (Lpn::from_u32(10), Lpn::from_u32(12));
        let at = |d: &Drive, lpn| {
            let ppn = d.map.lookup(lpn).expect("mapped");
            let (block, slot) = d.space.geometry.split(ppn);
            (ppn, block, slot)
        };
        let damages: [(&str, Damage<'_>); 17] = [
            ("valid slots, counted", &|d| {
                let (_, block, slot) = at(d, a);
                d.map.invalidate(block, slot);
            }),
            ("valid slots, counted", &|d| {
                d.space.blocks.add_valid(d.block_in(State::Closed));
            }),
            ("whose owner is another", &|d| {
                let (ppn, block, slot) = at(d, a);
                d.map.bind(b, ppn, block, slot);
            }),
            ("pages are mapped, ", &|d| {
                d.map.unbind(a);
            }),
            ("which is not valid", &|d| {
                // The stale slot of an overwritten page takes the place of a valid one.
                d.drop_copy(at(d, a).0);
                let stale = Ppn::from_u32(0);
                let (block, slot) = d.space.geometry.split(stale);
                assert!(!d.map.is_valid(block, slot) && d.map.owner(stale).is_some());
                d.map.bind(Lpn::from_u32(15), stale, block, slot);
                d.space.blocks.add_valid(block);
            }),
            ("slot 3 valid, never written", &|d| {
                let closed = d.block_in(State::Closed);
                d.space.blocks.written[closed] = 3;
            }),
            ("has programs on their way", &|d| {
                d.space.array.adopt(d.block_in(State::Closed), 2);
            }),
            ("are programmed, before", &|d| d.space.array.adopt(d.block_in(State::Open), 4)),
            ("is not erased", &|d| d.space.array.adopt(d.block_in(State::Free), 1)),
            ("holds data", &|d| {
                let free = d.block_in(State::Free);
                d.space.blocks.written[free] = 1;
            }),
            ("free blocks, listed", &|d| {
                d.space.planes.each[PLANE].free.pop_front();
            }),
            ("is listed as free", &|d| {
                let closed = d.block_in(State::Closed);
                d.space.planes.each[PLANE].free.push_back(closed);
            }),
            ("listed as free twice", &|d| {
                let free = &mut d.space.planes.each[PLANE].free;
                free[0] = free[1];
            }),
            ("is Full", &|d| {
                let open = d.block_in(State::Open);
                d.space.blocks.state[open] = State::Full;
            }),
            ("writable is not", &|d| {
                d.space.planes.share_mut(PLANE, StreamId::HOST).frontier = None;
                for block in std::mem::take(&mut d.space.planes.each[PLANE].free) {
                    d.space.blocks.set_bad(block);
                }
            }),
            ("planes without a victim, counted", &|d| d.space.planes.each[PLANE].no_victim = true),
            ("StreamId(0) has 5 blocks, counted 6", &|d| {
                *d.space.planes.held_mut(PLANE, StreamId::HOST) += 1;
            }),
        ];
        Drive::used().check().unwrap();
        for (n, (words, damage)) in damages.iter().enumerate() {
            let mut drive = Drive::used();
            damage(&mut drive);
            let fault = drive.check().expect_err(words);
            assert!(fault.contains(words), "damage {n} should be {words:?}, and is {fault:?}");
        }
    }
}
