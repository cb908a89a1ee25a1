//! Saving a quiet drive as bytes, and getting it back: preconditioning is paid for once.
//!
//! Little-endian columns behind a short header. What is kept is what decides the future of a plain
//! drive: the owner of every valid slot, the state of every block, the order of free blocks, the
//! frontiers. L2P, counts and validity follow from it. A digest ends it: most damage would make
//! another state that is as sound as the one that was saved. What passes it is still checked whole
//! (`check.rs`): a state is taken only if a drive can be in it, and if saving it again gives the
//! same bytes.

use crate::Map;
use crate::ask::Kit;
use crate::ftl::Ftl;
use crate::map::Lpn;
use crate::stream::StreamId;

const MAGIC: u32 = 0x5347_4c46; // "FLGS"
const VERSION: u32 = 6;
/// No page, no block.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The bytes are not a saved state of this drive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Damaged;

impl<K: Kit> Ftl<K> {
    /// The state as bytes; `None` when something is on its way or blocks are not plain.
    pub fn save(&self) -> Option<Vec<u8>> {
        if self.jobs.running() > 0 || self.check_quiet().is_err() {
            return None;
        }
        let geometry = &self.space.geometry;
        let mut out = Vec::with_capacity(geometry.pages() * 4 + geometry.blocks() * 16);
        let mut put = |n: u32| out.extend_from_slice(&n.to_le_bytes());
        for n in self.header() {
            put(n);
        }
        self.space.save(&mut put);
        for b in self.space.block_ids() {
            for slot in 0..geometry.pages_per_block() {
                let owner = self.map.owner(geometry.ppn(b, slot));
                let valid = self.map.is_valid(b, slot);
                put(owner.filter(|_| valid).map_or(NOBODY, Lpn::as_u32));
            }
        }
        seal(&mut out);
        Some(out)
    }

    /// Puts an empty drive into a saved state. After an error it is of no use any more.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let (bytes, kept) = bytes.split_last_chunk().ok_or(Damaged)?;
        if u64::from_le_bytes(*kept) != digest(bytes) || !self.answers.coding_plain {
            return Err(Damaged);
        }
        let (words, []) = bytes.as_chunks() else { return Err(Damaged) };
        let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
        let mut next = || words.next().ok_or(Damaged);
        for expected in self.header() {
            if next()? != expected {
                return Err(Damaged);
            }
        }
        let ages = self.space.restore(&mut next)?;
        let (geometry, logical) = (self.space.geometry, self.map.logical_pages());
        self.map = Map::new(&geometry, logical);
        for b in self.space.block_ids() {
            for slot in 0..geometry.pages_per_block() {
                let owner = next()?;
                if owner == NOBODY {
                    continue;
                }
                if owner >= logical || slot >= self.space.blocks.written(b) {
                    return Err(Damaged);
                }
                let (lpn, ppn) = (Lpn::from_u32(owner), geometry.ppn(b, slot));
                if self.map.bind(lpn, ppn, b, slot).is_some() {
                    return Err(Damaged);
                }
                self.space.refill(b, ppn, owner);
            }
        }
        if words.next().is_some() {
            return Err(Damaged);
        }
        self.space.close_restored(ages);
        // The map and its inverse agree, for both were made from one list.
        let checked = self.check_quiet().and_then(|()| self.check_valid());
        checked.and_then(|()| self.space.check()).map_err(|_| Damaged)
    }

    fn header(&self) -> [u32; 8] {
        let geometry = &self.space.geometry;
        let shape = geometry.shape();
        [
            MAGIC,
            VERSION,
            geometry.blocks() as u32,
            shape.pages_per_block,
            shape.planes_per_die,
            geometry.planes() as u32,
            self.map.logical_pages(),
            StreamId::BUILT_IN as u32,
        ]
    }
}

/// Ends the bytes of a state with their digest, as [`Ftl::save`] does: for tests that forge states.
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
