//! Read-only pages that the stand-in itself creates: written once, then read again and again.
//!
//! The trace shows no such page if everything that is read was there before. AGCR's gain on reads
//! depends on them, because only a page that is written in the run has the cost of a policy.

use kernel::Rng;

use super::draw::Draw;
use super::place::{Lanes, StandInSpace};

/// Pieces that one burst of writes creates.
const BURST: (u64, u64) = (8, 24);
/// Reads of a piece before nothing reads it again.
const READS: (u64, u64) = (20, 40);
/// With fewer pieces that are still to be read, the next burst begins. Few, so that also a short run
/// reads most of them often enough.
const FEW: usize = 8;

/// A piece of the address space that was written and is to be read.
#[derive(Copy, Clone, Debug)]
struct Piece {
    at: u64,
    len: u64,
    reads: u64,
}

/// The pieces of a stand-in, and the share of its reads that go to them.
#[derive(Debug)]
pub(super) struct Created {
    /// Of all reads.
    share: f64,
    /// Sizes in sectors.
    sizes: Draw<u32>,
    rng: Rng,
    live: Vec<Piece>,
    /// Writes of the current burst that are still to come.
    burst: u64,
    lanes: Lanes,
    /// Reads so far, and those of them that went to such pieces.
    reads: [f64; 2],
}

impl Created {
    pub(super) fn new(share: f64, sizes: Draw<u32>, rng: Rng) -> Self {
        let (live, lanes) = (Vec::with_capacity(FEW + BURST.1 as usize), Lanes::default());
        Self { share, sizes, rng, live, burst: 0, lanes, reads: [0.0; 2] }
    }

    /// The place of the next request, first sector and sectors, if it is to create such a piece or
    /// to read one.
    pub(super) fn next(&mut self, is_read: bool, space: &mut StandInSpace) -> Option<(u64, u64)> {
        if is_read { self.read() } else { self.write(space) }
    }

    /// The share over all reads so far decides, so later reads make up for reads that found no
    /// piece.
    fn read(&mut self) -> Option<(u64, u64)> {
        let [all, ours] = &mut self.reads;
        *all += 1.0;
        if self.live.is_empty() || *ours + self.rng.unit() > self.share * *all {
            return None;
        }
        *ours += 1.0;
        let i = self.rng.below_u64(self.live.len() as u64) as usize;
        let piece = &mut self.live[i];
        let place = (piece.at, piece.len);
        piece.reads -= 1;
        if piece.reads == 0 {
            self.live.swap_remove(i);
        }
        Some(place)
    }

    fn write(&mut self, space: &mut StandInSpace) -> Option<(u64, u64)> {
        if self.burst == 0 {
            if self.live.len() >= FEW {
                return None;
            }
            self.burst = between(&mut self.rng, BURST);
        }
        self.burst -= 1;
        let len = u64::from(self.sizes.draw(&mut self.rng));
        let at = space.fresh(&mut self.lanes, 0, 0, len);
        let len = space.cut(at, len);
        space.touch(at, len);
        self.live.push(Piece { at, len, reads: between(&mut self.rng, READS) });
        Some((at, len))
    }
}

fn between(rng: &mut Rng, (least, most): (u64, u64)) -> u64 {
    least + rng.below_u64(most - least + 1)
}
