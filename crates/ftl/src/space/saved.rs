//! The part of a saved state that is space: blocks, frontiers, free blocks. See [`crate::Ftl::save`].

use super::{Space, State};
use crate::saved::{Damaged, NOBODY};
use crate::stream::StreamId;
use nand::{BlockId, Ppn, Store};

/// When blocks closed, in closings.
pub(crate) struct Ages {
    closings: u32,
    closed: Vec<(u32, BlockId)>,
}

impl<S: Store> Space<S> {
    pub(crate) fn save(&self, put: &mut impl FnMut(u32)) {
        put(self.blocks.closings());
        for b in self.block_ids() {
            let (state, written) = (self.blocks.state(b), self.blocks.written(b));
            // What a free block was, and when an open one was closed before, matters to nobody.
            let stream = if state == State::Free { 0 } else { self.blocks.stream(b).0 };
            put(state as u32 | u32::from(stream) << 8 | written << 16);
            put(if state == State::Closed { self.blocks.closed_at(b) } else { 0 });
        }
        // Most streams of policies have no blocks before the run, and a drive with other policies may
        // begin with this state: those at the end that have none are left out.
        let is_open =
            |s: &StreamId| self.plane_ids().any(|p| self.planes.frontier(p, *s).is_some());
        let last = self.stream_ids().filter(is_open).last();
        let saved = last.map_or(0, |s| s.index() + 1);
        put(saved as u32);
        for p in self.plane_ids() {
            for stream in self.stream_ids().take(saved) {
                put(self.planes.frontier(p, stream).map_or(NOBODY, BlockId::as_u32));
            }
        }
        for p in self.plane_ids() {
            let plane = self.planes.get(p);
            put(plane.free.len() as u32 | u32::from(plane.starved) << 31);
            for b in &plane.free {
                put(b.as_u32());
            }
        }
    }

    /// Puts an empty space into a saved state. Closed blocks close when their valid slots are known
    /// ([`Space::close_restored`]).
    pub(crate) fn restore(
        &mut self,
        next: &mut impl FnMut() -> Result<u32, Damaged>,
    ) -> Result<Ages, Damaged> {
        let closings = next()?;
        let blocks = self.geometry.blocks() as u32;
        let block = |n: u32| (n < blocks).then(|| BlockId::from_u32(n)).ok_or(Damaged);
        let mut closed = Vec::new();
        for b in self.block_ids() {
            let (word, closed_at) = (next()?, next()?);
            let (written, stream) = (word >> 16, StreamId((word >> 8) as u8));
            if written > self.geometry.pages_per_block() {
                return Err(Damaged);
            }
            let state = match word as u8 {
                0 if (word, closed_at) == (0, 0) => continue,
                1 if closed_at == 0 => State::Open,
                3 => State::Closed,
                _ => return Err(Damaged),
            };
            let Some(spec) = self.streams.get(stream.index()) else { return Err(Damaged) };
            self.blocks.open(b, stream, spec.role);
            *self.planes.held_mut(self.geometry.plane_of(b), stream) += 1;
            self.blocks.set_written(b, written);
            // Nothing was on its way: what was given away was programmed.
            self.array.adopt(b, written);
            if state == State::Closed {
                closed.push((closed_at, b));
            }
        }
        let saved = next()? as usize;
        if saved > self.streams.len() {
            return Err(Damaged);
        }
        let mut last = 0;
        for p in self.plane_ids() {
            for stream in self.stream_ids().take(saved) {
                let frontier = match next()? {
                    NOBODY => None,
                    n => Some(block(n)?),
                };
                if frontier.is_some() {
                    last = last.max(stream.index() + 1);
                }
                self.planes.set_frontier(p, stream, frontier);
            }
        }
        if last != saved {
            return Err(Damaged);
        }
        for p in self.plane_ids() {
            let word = next()?;
            let (n, starved) = (word & !(1 << 31), word >> 31 != 0);
            self.planes.set_starved(p, starved);
            if n as usize > self.geometry.blocks_per_plane() {
                return Err(Damaged);
            }
            let free = (0..n).map(|_| block(next()?)).collect::<Result<_, _>>()?;
            self.planes.get_mut(p).free = free;
        }
        Ok(Ages { closings, closed })
    }

    /// Cells that remember get back what a valid page's owner would have written.
    #[inline]
    pub(crate) fn refill(&mut self, block: BlockId, ppn: Ppn, owner: u32) {
        self.blocks.add_valid(block);
        self.array.adopt_data(ppn, S::stamp(owner, 0));
    }

    /// Closes the blocks that were closed, as old as they were.
    pub(crate) fn close_restored(&mut self, ages: Ages) {
        for (closed_at, b) in ages.closed {
            self.blocks.close(b, 0);
            self.blocks.set_age(b, closed_at);
        }
        self.blocks.set_closings(ages.closings);
        for p in self.plane_ids() {
            self.update_writable(p);
        }
    }
}
