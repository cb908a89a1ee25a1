//! Saving a quiet drive as bytes, and getting it back: preconditioning is paid for once.
//!
//! Little-endian columns behind a short header. What is kept is what decides the future of a plain
//! drive: the owner of every valid slot, the state of every block, the order of free blocks, the
//! frontiers. L2P, counts and validity follow from it. A digest ends it: most damage would make
//! another state that is as sound as the one that was saved. What passes it is still checked whole
//! (`check.rs`): a state is taken only if a drive can be in it, and if saving it again gives the
//! same bytes.

use super::{Space, State};
use crate::{Lpn, Map, StreamId};
use nand::{BlockId, Ppn, Store};

const MAGIC: u32 = 0x5347_4c46; // "FLGS"
const VERSION: u32 = 7;
const NOBODY: u32 = u32::MAX;

/// The bytes are not a saved state of this drive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Damaged;

type Intact<T> = Result<T, Damaged>;

impl<S: Store> Space<S> {
    /// A quiet state as bytes.
    pub(crate) fn save(&self, map: &Map) -> Vec<u8> {
        let pages = self.geometry.pages();
        let mut out = Vec::with_capacity(pages * 4 + self.geometry.blocks() * 20);
        let mut put = |n: u32| out.extend_from_slice(&n.to_le_bytes());
        self.header(map).into_iter().for_each(&mut put);
        put(self.blocks.closings());
        for b in self.geometry.block_ids() {
            let (state, written) = (self.blocks.state(b), self.blocks.written(b));
            // What a free block was, and when an open one was closed before, matters to nobody.
            let stream = if state == State::Free { 0 } else { self.blocks.stream(b).0 };
            put(state as u32 | u32::from(stream) << 8);
            put(written);
            put(if state == State::Closed { self.blocks.closed_at(b) } else { 0 });
        }
        // Most streams of policies have no blocks before the run, and a drive with other policies may
        // begin with this state: those at the end that have none are left out.
        let is_open = |s: &StreamId| {
            self.geometry.plane_ids().any(|p| self.planes.share(p, *s).frontier.is_some())
        };
        let last = self.stream_ids().filter(is_open).last();
        let saved = last.map_or(0, |s| s.index() + 1);
        put(saved as u32);
        for p in self.geometry.plane_ids() {
            for stream in self.stream_ids().take(saved) {
                put(self.planes.share(p, stream).frontier.map_or(NOBODY, BlockId::as_u32));
            }
        }
        for p in self.geometry.plane_ids() {
            let plane = &self.planes.each[p];
            put(plane.free.len() as u32 | u32::from(plane.starved) << 31);
            for b in &plane.free {
                put(b.as_u32());
            }
        }
        for b in self.geometry.block_ids() {
            for slot in 0..self.geometry.pages_per_block() {
                let owner = map.owner(self.geometry.ppn(b, slot));
                let valid = map.is_valid(b, slot);
                put(owner.filter(|_| valid).map_or(NOBODY, Lpn::as_u32));
            }
        }
        seal(&mut out);
        out
    }

    /// Puts an empty space and map into a saved state. Whoever calls checks it.
    pub(crate) fn restore(&mut self, bytes: &[u8], map: &mut Map) -> Intact<()> {
        let (bytes, kept) = bytes.split_last_chunk().ok_or(Damaged)?;
        if u64::from_le_bytes(*kept) != digest(bytes) {
            return Err(Damaged);
        }
        let (words, []) = bytes.as_chunks() else { return Err(Damaged) };
        let mut words = words.iter();
        let mut next = || words.next().map(|word| u32::from_le_bytes(*word)).ok_or(Damaged);
        for expected in self.header(map) {
            if next()? != expected {
                return Err(Damaged);
            }
        }
        let closings = next()?;
        let closed = self.restore_blocks(&mut next)?;
        self.restore_planes(&mut next)?;
        self.restore_map(map, words.as_slice())?;
        for (closed_at, b) in closed {
            self.blocks.close(b, 0);
            self.blocks.closed_at[b] = closed_at;
        }
        self.blocks.closings = closings;
        self.geometry.plane_ids().for_each(|p| self.update_writable(p));
        Ok(())
    }

    /// The blocks, and when which were closed: they close when their valid slots are known.
    fn restore_blocks(
        &mut self,
        mut next: impl FnMut() -> Intact<u32>,
    ) -> Intact<Vec<(u32, BlockId)>> {
        let mut closed = Vec::new();
        for b in self.geometry.block_ids() {
            let (word, written, closed_at) = (next()?, next()?, next()?);
            let stream = StreamId((word >> 8) as u8);
            let whole = written.is_multiple_of(self.unit());
            if written > self.geometry.pages_per_block() || !whole || word >> 16 != 0 {
                return Err(Damaged);
            }
            let is_closed = match word as u8 {
                0 if (word, written, closed_at) == (0, 0, 0) => continue,
                1 if closed_at == 0 => false,
                3 => true,
                _ => return Err(Damaged),
            };
            let Some(spec) = self.demands.streams.get(stream.index()) else { return Err(Damaged) };
            self.blocks.open(b, stream, spec.role);
            self.planes.share_mut(self.geometry.plane_of(b), stream).held += 1;
            self.blocks.written[b] = written;
            // Nothing was on its way: what was given away was programmed.
            self.array.adopt(b, written);
            if is_closed {
                closed.push((closed_at, b));
            }
        }
        Ok(closed)
    }

    /// Frontiers and free blocks.
    fn restore_planes(&mut self, mut next: impl FnMut() -> Intact<u32>) -> Intact<()> {
        let blocks = self.geometry.blocks() as u32;
        let block = |n: u32| (n < blocks).then(|| BlockId::from_u32(n)).ok_or(Damaged);
        let saved = next()? as usize;
        if saved > self.demands.streams.len() {
            return Err(Damaged);
        }
        let mut last = 0;
        for p in self.geometry.plane_ids() {
            for stream in self.stream_ids().take(saved) {
                let frontier = match next()? {
                    NOBODY => None,
                    n => Some(block(n)?),
                };
                if frontier.is_some() {
                    last = last.max(stream.index() + 1);
                }
                self.planes.share_mut(p, stream).frontier = frontier;
            }
        }
        if last != saved {
            return Err(Damaged);
        }
        for p in self.geometry.plane_ids() {
            let word = next()?;
            let (n, starved) = (word & !(1 << 31), word >> 31 != 0);
            self.planes.set_starved(p, starved);
            if n as usize > self.geometry.blocks_per_plane() {
                return Err(Damaged);
            }
            let free = (0..n).map(|_| block(next()?)).collect::<Result<_, _>>()?;
            self.planes.each[p].free = free;
        }
        Ok(())
    }

    /// The owners of valid slots. The map and its inverse agree, for both are made from one list, in
    /// which no page may be twice.
    fn restore_map(&mut self, map: &mut Map, owners: &[[u8; 4]]) -> Intact<()> {
        let (logical, pages) = (map.logical_pages(), self.geometry.pages_per_block());
        if map.mapped() > 0 || owners.len() != self.geometry.pages() {
            return Err(Damaged);
        }
        let mut near = Near::new(logical);
        let mut owners = owners.iter().map(|word| u32::from_le_bytes(*word));
        for b in self.geometry.block_ids() {
            for (slot, owner) in (0..pages).zip(&mut owners) {
                if owner == NOBODY {
                    continue;
                }
                if owner >= logical || slot >= self.blocks.written(b) {
                    return Err(Damaged);
                }
                let (lpn, ppn) = (Lpn::from_u32(owner), self.geometry.ppn(b, slot));
                map.own(lpn, ppn, b, slot);
                near.add(lpn, ppn, map)?;
                self.blocks.add_valid(b);
                // Cells that remember get back what a page's owner would have written.
                self.array.adopt_data(ppn, S::stamp(owner, 0));
            }
        }
        near.point_all(map)
    }

    fn header(&self, map: &Map) -> [u32; 11] {
        let (shape, units) = (self.geometry.shape(), self.geometry.units());
        [
            MAGIC,
            VERSION,
            self.geometry.blocks() as u32,
            shape.pages_per_block,
            shape.planes_per_die,
            self.geometry.planes() as u32,
            map.logical_pages(),
            StreamId::BUILT_IN as u32,
            units.per_page,
            units.pages,
            units.planes,
        ]
    }
}

/// Pages that are to point to their slots, by where they lie in the map: one after the other they would
/// lie anywhere, and each would miss the caches.
struct Near {
    /// Of each region.
    pages: Vec<Vec<(Lpn, Ppn)>>,
    waiting: usize,
}

impl Near {
    /// Pages of a region: their entries in the map fit a cache.
    const REGION: u32 = 1 << 18;
    /// So many pages wait at most.
    const MOST: usize = 1 << 24;

    fn new(logical: u32) -> Self {
        Self { pages: vec![Vec::new(); logical.div_ceil(Self::REGION) as usize], waiting: 0 }
    }

    fn add(&mut self, lpn: Lpn, ppn: Ppn, map: &mut Map) -> Intact<()> {
        self.pages[(lpn.as_u32() / Self::REGION) as usize].push((lpn, ppn));
        self.waiting += 1;
        if self.waiting == Self::MOST { self.point_all(map) } else { Ok(()) }
    }

    /// Lets all that wait point to their slots, unless one of them does so already.
    fn point_all(&mut self, map: &mut Map) -> Intact<()> {
        self.waiting = 0;
        let mut all = self.pages.iter_mut().flat_map(|region| region.drain(..));
        let twice = all.any(|(lpn, ppn)| map.point(lpn, ppn).is_some());
        if twice { Err(Damaged) } else { Ok(()) }
    }
}

/// Ends the bytes of a state with their digest, as [`crate::Ftl::save`] does: for tests that forge states.
pub fn seal(bytes: &mut Vec<u8>) {
    let digest = digest(bytes);
    bytes.extend_from_slice(&digest.to_le_bytes());
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
