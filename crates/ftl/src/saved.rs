//! Saving a quiet drive as bytes, and getting it back: preconditioning is paid for once.
//!
//! Little-endian columns behind a short header. What is kept is what decides the future of a plain
//! drive: the owner of every valid slot, the state of every block, the order of free blocks, the
//! frontiers. L2P, counts and validity follow from it. A digest ends it: most damage would make
//! another state that is as sound as the one that was saved.

use crate::ask::Kit;
use crate::ftl::Ftl;
use crate::map::Lpn;
use crate::stream::{Role, StreamId};
use crate::{Map, State};
use nand::{BlockId, Mode, PlaneId, Ppn, Store};

const MAGIC: u32 = 0x5347_4c46; // "FLGS"
const VERSION: u32 = 5;
const NOBODY: u32 = u32::MAX;

/// The bytes are not a saved state of this drive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Damaged;

impl<K: Kit> Ftl<K> {
    /// The state as bytes; `None` when something is on its way or blocks are not plain.
    pub fn save(&self) -> Option<Vec<u8>> {
        let plain = self.coding_plain
            && self.array.modes().as_slice().iter().all(|m| *m == Mode::Full)
            && self.block_ids().all(|b| self.blocks.role(b) == Role::REGULAR);
        if !plain || !self.is_quiet() {
            return None;
        }
        let mut out = Vec::with_capacity(self.geometry.pages() * 4 + self.geometry.blocks() * 16);
        let mut put = |n: u32| out.extend_from_slice(&n.to_le_bytes());
        for n in self.header() {
            put(n);
        }
        put(self.blocks.closings());
        for b in self.block_ids() {
            let state = self.blocks.state(b);
            put(state as u32
                | u32::from(self.blocks.stream(b).0) << 8
                | self.blocks.written(b) << 16);
            put(self.blocks.closed_at(b));
            put(self.array.next_page(b));
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
        for b in self.block_ids() {
            for slot in 0..self.geometry.pages_per_block() {
                let owner = self.map.owner(self.geometry.ppn(b, slot));
                let valid = self.map.is_valid(b, slot);
                put(owner.filter(|_| valid).map_or(NOBODY, Lpn::as_u32));
            }
        }
        let digest = digest(&out);
        out.extend_from_slice(&digest.to_le_bytes());
        Some(out)
    }

    /// Whether no job runs and no read or program is on its way.
    fn is_quiet(&self) -> bool {
        let mut blocks = self.block_ids();
        self.jobs.running() == 0
            && blocks.all(|b| {
                self.blocks.pins(b) == 0 && self.array.next_page(b) >= self.blocks.written(b)
            })
    }

    /// Puts an empty drive into a saved state.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let (bytes, kept) = bytes.split_last_chunk().ok_or(Damaged)?;
        if u64::from_le_bytes(*kept) != digest(bytes) {
            return Err(Damaged);
        }
        let mut words =
            bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("four")));
        let mut next = || words.next().ok_or(Damaged);
        for expected in self.header() {
            if next()? != expected {
                return Err(Damaged);
            }
        }
        let closings = next()?;
        let blocks = self.geometry.blocks() as u32;
        let block = |n: u32| (n < blocks).then(|| BlockId::from_u32(n)).ok_or(Damaged);
        let mut closed = Vec::new();
        for b in self.block_ids() {
            let (word, closed_at, pages) = (next()?, next()?, next()?);
            let (written, stream) = (word >> 16, StreamId((word >> 8) as u8));
            if written > self.geometry.pages_per_block() || pages > self.geometry.pages_per_block()
            {
                return Err(Damaged);
            }
            self.array.adopt(b, pages);
            match word as u8 {
                0 => {}
                state @ (1 | 3) => {
                    if stream.index() >= self.streams.len() {
                        return Err(Damaged);
                    }
                    self.blocks.open(b, stream, Role::REGULAR);
                    let held = self.held_at(self.geometry.plane_of(b), stream);
                    self.held[held] += 1;
                    self.blocks.set_written(b, written);
                    if state == State::Closed as u8 {
                        closed.push((closed_at, b));
                    }
                }
                _ => return Err(Damaged),
            }
        }
        let saved = next()? as usize;
        if saved > self.streams.len() {
            return Err(Damaged);
        }
        for p in self.plane_ids() {
            for stream in self.stream_ids().take(saved) {
                let frontier = match next()? {
                    NOBODY => None,
                    n => Some(block(n)?),
                };
                self.planes.set_frontier(p, stream, frontier);
            }
        }
        for p in self.plane_ids() {
            let word = next()?;
            let (n, starved) = (word & !(1 << 31), word >> 31 != 0);
            self.planes.get_mut(p).starved = starved;
            self.starved_planes += u32::from(starved);
            let free = (0..n).map(|_| block(next()?)).collect::<Result<_, _>>()?;
            self.planes.get_mut(p).free = free;
        }
        let logical = self.map.logical_pages();
        self.map = Map::new(&self.geometry, logical);
        for b in self.block_ids() {
            for slot in 0..self.geometry.pages_per_block() {
                let owner = next()?;
                if owner == NOBODY {
                    continue;
                }
                if owner >= logical {
                    return Err(Damaged);
                }
                let (lpn, ppn) = (Lpn::from_u32(owner), self.geometry.ppn(b, slot));
                if self.map.bind(lpn, ppn, b, slot).is_some() {
                    return Err(Damaged);
                }
                self.blocks.add_valid(b);
                self.refill(ppn, lpn);
            }
        }
        for (closed_at, b) in closed {
            self.blocks.close(b, 0);
            self.blocks.set_age(b, closed_at);
        }
        self.blocks.set_closings(closings);
        for p in self.plane_ids() {
            self.update_writable(p);
        }
        Ok(())
    }

    /// Cells that remember get back what a page's owner would have written.
    #[inline]
    fn refill(&mut self, ppn: Ppn, lpn: Lpn) {
        self.array.adopt_data(ppn, K::Store::stamp(lpn.as_u32(), 0));
    }

    fn header(&self) -> [u32; 8] {
        let shape = self.geometry.shape();
        [
            MAGIC,
            VERSION,
            self.geometry.blocks() as u32,
            shape.pages_per_block,
            shape.planes_per_die,
            self.geometry.planes() as u32,
            self.map.logical_pages(),
            StreamId::BUILT_IN as u32,
        ]
    }

    fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<K> {
        (0..self.geometry.blocks() as u32).map(BlockId::from_u32)
    }

    fn stream_ids(&self) -> impl Iterator<Item = StreamId> + use<K> {
        (0..self.streams.len() as u8).map(StreamId)
    }

    fn plane_ids(&self) -> impl Iterator<Item = PlaneId> + use<K> {
        (0..self.geometry.planes() as u32).map(PlaneId::from_u32)
    }
}

/// Every change of one word changes it: each step maps the words, and the digests, one to one.
fn digest(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let state = words.by_ref().fold(bytes.len() as u64, |state, word| {
        let word = u32::from_le_bytes(word.try_into().expect("four bytes"));
        let mixed = (state ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    });
    words.remainder().iter().fold(state, |state, byte| state.rotate_left(8) ^ u64::from(*byte))
}
