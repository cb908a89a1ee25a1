//! What must hold in space between two calls.

use super::{Blocks, Space, State};
use crate::check::{Fault, ensure};
use crate::stream::{Role, StreamId};
use kernel::{BitSet, Idx};
use nand::{BlockId, Mode, Store};

impl<S: Store> Space<S> {
    /// Checks that every block is in exactly one place, that counts are what they count, and that the
    /// referee agrees.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        self.check_blocks()?;
        self.check_planes()
    }

    fn check_blocks(&self) -> Result<(), Fault> {
        let blocks: &Blocks = &self.blocks;
        for b in self.block_ids() {
            let (state, valid) = (blocks.state(b), blocks.valid(b));
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
        }
        Ok(())
    }

    fn check_planes(&self) -> Result<(), Fault> {
        let mut listed = BitSet::new(self.geometry.blocks());
        for p in self.plane_ids() {
            let plane = self.planes.get(p);
            for stream in self.stream_ids() {
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
            for stream in self.stream_ids() {
                let in_use = |b: &BlockId| {
                    let out = matches!(self.blocks.state(*b), State::Free | State::Bad);
                    !out && self.blocks.stream(*b) == stream
                };
                let blocks = self.geometry.blocks_of(p).map(BlockId::new).filter(in_use).count();
                let held = self.planes.held(p, stream) as usize;
                ensure!(
                    held == blocks,
                    "plane {p}: {stream:?} has {blocks} blocks, counted {held}"
                );
            }
            let room = self.has_room(p);
            ensure!(self.writable.get(p.index()) == room, "plane {p}: writable is not {room}");
        }
        let starving = self.plane_ids().filter(|p| self.is_starved(*p)).count();
        let counted = self.planes.starving();
        ensure!(starving == counted as usize, "{starving} planes starve, counted {counted}");
        Ok(())
    }

    /// Checks what holds beside all that when nothing is on its way and every block is plain.
    /// `whole`: blocks close when they are full, and not before; `in_use`: streams that may have been
    /// written; `mark`: as in [`Space::is_short`].
    pub(crate) fn check_quiet(
        &self,
        whole: bool,
        in_use: impl Fn(StreamId) -> bool,
        mark: u32,
    ) -> Result<(), Fault> {
        let blocks: &Blocks = &self.blocks;
        let mut closed_at = Vec::new();
        for b in self.block_ids() {
            let (state, written) = (blocks.state(b), blocks.written(b));
            let (mode, role, next) = (self.array.mode(b), blocks.role(b), self.array.next_page(b));
            ensure!(mode == Mode::Full && role == Role::REGULAR, "block {b} is {mode:?}, {role:?}");
            ensure!(blocks.pins(b) == 0, "block {b} has reads on their way");
            ensure!(next == written, "block {b}: {next} pages programmed, {written} given away");
            if state == State::Free {
                continue;
            }
            ensure!(written > 0, "block {b} is {state:?} and empty");
            let stream = blocks.stream(b);
            ensure!(
                in_use(stream) && self.may_hold(stream, b),
                "block {b} may not be of {stream:?}"
            );
            match state {
                State::Open => {
                    ensure!(self.is_frontier(b), "open block {b} is no frontier");
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
        self.check_spare(mark)
    }

    /// Whether a stream may have written a block, as long as blocks are plain.
    fn may_hold(&self, stream: StreamId, b: BlockId) -> bool {
        let spec = &self.streams[stream.index()];
        let held = self.planes.held(self.geometry.plane_of(b), stream);
        spec.mode == Mode::Full
            && spec.cap.is_none_or(|cap| held <= cap)
            && self.geometry.index_in_plane(b) >= spec.pool.first_index(&self.geometry)
    }

    /// Checks that no plane waits for a collection that nobody has begun.
    fn check_spare(&self, mark: u32) -> Result<(), Fault> {
        for p in self.plane_ids() {
            let starved = self.is_starved(p);
            let mut blocks = self.geometry.blocks_of(p).map(BlockId::new);
            ensure!(self.reserves(p), "plane {p} has no free block for what is collected");
            ensure!(
                starved || !self.is_short(p, mark),
                "plane {p} is short of free blocks, and nothing is collected"
            );
            ensure!(
                !starved || !blocks.any(|b| self.blocks.is_candidate(b) && self.blocks.gain(b) > 0),
                "plane {p} starves, and has something to gain"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::small;
    use crate::space::{Demands, RESERVE};
    use crate::stream::StreamSpec;
    use kernel::Rng;
    use nand::{Array, Nothing, PlaneId, Source, Tag};

    const PLANE: PlaneId = PlaneId::from_u32(0);

    /// Space that no FTL stands above: whoever calls asks no policy.
    fn empty() -> Space<Nothing> {
        let config = small();
        let array = Array::new(config.geometry, config.layouts.clone());
        let streams = vec![StreamSpec::REGULAR; StreamId::BUILT_IN];
        let demands = Demands { streams, keeps: None, plain: true, owed: true, pages: 40 };
        Space::new(&config, array, demands)
    }

    /// Gives a slot to a page and programs it; where.
    fn write(space: &mut Space<Nothing>, stream: StreamId, source: Source) -> Option<BlockId> {
        let tag = Tag::of(source);
        let open = space.frontier(PLANE, stream, tag).or_else(|| {
            let block = space.open(PLANE, stream, tag)?;
            space.set_frontier(block);
            Some(block)
        });
        let block = open?;
        let (slot, last) = space.next_slot(block)?;
        let ppn = space.give(block, slot, last);
        space.add_valid(block);
        if space.program(ppn, (), source) {
            space.close(block, Mode::Full);
        }
        Some(block)
    }

    /// Four blocks are closed, and one has a page.
    fn used() -> Space<Nothing> {
        let mut space = empty();
        for _ in 0..17 {
            write(&mut space, StreamId::HOST, Source::Host).expect("there is room");
        }
        space
    }

    fn block_in(space: &Space<Nothing>, state: State) -> BlockId {
        space.block_ids().find(|b| space.blocks.state(*b) == state).expect("a block in that state")
    }

    #[test]
    fn the_last_free_block_is_for_what_collection_moves() {
        let mut space = empty();
        while write(&mut space, StreamId::HOST, Source::Host).is_some() {
            space.check().unwrap();
        }
        assert_eq!(space.free_blocks(PLANE), RESERVE);
        assert!(!space.writable().get(PLANE.index()));
        assert_eq!(write(&mut space, StreamId::WEAR, Source::Wear), None);
        assert_eq!(write(&mut space, StreamId::GC, Source::Host), None);
        let block = write(&mut space, StreamId::GC, Source::Gc).expect("the reserve");
        // Its frontier is part of the reserve.
        assert_eq!(space.frontier(PLANE, StreamId::GC, Tag::of(Source::Wear)), None);
        assert_eq!(space.frontier(PLANE, StreamId::GC, Tag::of(Source::Gc)), Some(block));
        space.check().unwrap();
    }

    /// Whatever is done in whatever order, space is sound after it.
    #[test]
    fn random_lives_of_blocks_leave_it_sound() {
        let sources = [Source::Host, Source::Gc, Source::Wear, Source::Refresh];
        let (mut space, mut rng) = (empty(), Rng::named(1, "test"));
        for _ in 0..20_000 {
            let source = sources[rng.below(4) as usize];
            let b = BlockId::from_u32(rng.below(8));
            match (rng.below(4), space.blocks.state(b)) {
                (0, State::Closed) => {
                    space.begin_move(b);
                    while space.blocks.valid(b) > 0 {
                        space.drop_valid(b);
                    }
                    space.erase(b, Mode::Full, source);
                    space.free(b, source);
                }
                (1, State::Open) => {
                    let given = space.blocks.written(b);
                    assert_eq!(space.complete(b), u64::from(4 - given));
                    space.close(b, Mode::Full);
                }
                (2, State::Closed) if space.blocks.gain(b) == 0 => {
                    space.starve(PLANE);
                    space.drop_valid(b);
                    assert_eq!((space.feed(b), space.any_starves()), (Some(PLANE), false));
                }
                _ => drop(write(&mut space, StreamId(rng.below(4) as u8), source)),
            }
            space.check().unwrap();
        }
        let counts = &space.counts;
        assert!(counts.erase.total() > 500 && counts.starved > 500, "{counts:?}");
    }

    /// Each line of the check finds what it is there for.
    #[test]
    fn every_kind_of_damage_is_found() {
        type Damage<'a> = &'a dyn Fn(&mut Space<Nothing>);
        let damages: [(&str, Damage<'_>); 11] = [
            ("has programs on their way", &|s| s.array.adopt(block_in(s, State::Closed), 2)),
            ("are programmed, before", &|s| s.array.adopt(block_in(s, State::Open), 4)),
            ("is not erased", &|s| s.array.adopt(block_in(s, State::Free), 1)),
            ("holds data", &|s| s.blocks.set_written(block_in(s, State::Free), 1)),
            ("free blocks, listed", &|s| {
                s.planes.get_mut(PLANE).free.pop_front();
            }),
            ("is listed as free", &|s| {
                let closed = block_in(s, State::Closed);
                s.planes.get_mut(PLANE).free.push_back(closed);
            }),
            ("listed as free twice", &|s| {
                let free = &mut s.planes.get_mut(PLANE).free;
                free[0] = free[1];
            }),
            ("is Full", &|s| s.blocks.set_full(block_in(s, State::Open))),
            ("writable is not", &|s| {
                s.planes.set_frontier(PLANE, StreamId::HOST, None);
                let free = std::mem::take(&mut s.planes.get_mut(PLANE).free);
                free.into_iter().for_each(|block| s.blocks.set_bad(block));
            }),
            ("planes starve, counted", &|s| s.planes.get_mut(PLANE).starved = true),
            ("StreamId(0) has 5 blocks, counted 6", &|s| {
                *s.planes.held_mut(PLANE, StreamId::HOST) += 1;
            }),
        ];
        used().check().unwrap();
        for (n, (words, damage)) in damages.iter().enumerate() {
            let mut space = used();
            damage(&mut space);
            let fault = space.check().expect_err(words);
            assert!(fault.contains(words), "damage {n} should be {words:?}, and is {fault:?}");
        }
    }
}
