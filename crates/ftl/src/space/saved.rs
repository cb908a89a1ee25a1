//! Saving a quiet drive as bytes, and loading it, so that preconditioning runs once.
//!
//! Little-endian columns behind a short header. They contain everything that decides the future of
//! a plain drive:
//!
//! * the owner of every valid slot and the slot of every page,
//! * the state of every block,
//! * the order of free blocks, and the frontiers.
//!
//! * the placement handle of every slot, on a drive with handles.
//!
//! Counts and validity follow from it. The slot of a page follows from the owners, too, but pages
//! lie anywhere. Looking each up would take most of the time.
//!
//! A digest is at the end, because most damage would give another valid state. A state with the
//! right digest is still checked as a whole (`check.rs`). It is accepted only if a drive can be in
//! it, and if saving it again gives the same bytes.

use super::{Space, State};
use crate::{Lpn, Map, StreamId};
use kernel::IndexVec;
use nand::{BlockId, Ppn, Store};
use std::io::{self, Read, Write};
use std::ops::Range;

const MAGIC: u32 = 0x5347_4c46; // "FLGS"
const VERSION: u32 = 10;
const NOBODY: u32 = u32::MAX;

/// The bytes are not a saved state of this drive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Damaged;

type Intact<T> = Result<T, Damaged>;

impl<S: Store> Space<S> {
    /// Writes a quiet state.
    pub(crate) fn save(&self, map: &Map, handles: &[u8], to: &mut dyn Write) -> io::Result<()> {
        let mut out = Out::new(to);
        let mut put = |n: u32| out.put(n);
        self.header(map).into_iter().for_each(&mut put);
        put(self.blocks.closings());
        for b in self.geometry.block_ids() {
            let (state, written) = (self.blocks.state(b), self.blocks.written(b));
            // The former stream of a free block, and the closing time of an open one, do not
            // matter.
            let stream = if state == State::Free { 0 } else { self.blocks.stream(b).0 };
            put(state as u32 | u32::from(stream) << 8);
            put(written);
            put(if state == State::Closed { self.blocks.closed_at(b) } else { 0 });
        }
        // Most streams of policies have no blocks before the run, and a drive with other policies
        // may begin with this state. So streams without blocks at the end are left out.
        let is_open = |s: &StreamId| {
            self.geometry.set_ids().any(|p| self.planes.share(p, *s).frontier.is_some())
        };
        let last = self.stream_ids().filter(is_open).last();
        let saved = last.map_or(0, |s| s.index() + 1);
        put(saved as u32);
        for p in self.geometry.set_ids() {
            for stream in self.stream_ids().take(saved) {
                put(self.planes.share(p, stream).frontier.map_or(NOBODY, BlockId::as_u32));
            }
        }
        for p in self.geometry.set_ids() {
            let plane = &self.planes.each[p];
            put(plane.free.len() as u32 | u32::from(plane.no_victim) << 31);
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
        for lpn in (0..map.logical_pages()).map(Lpn::from_u32) {
            put(map.lookup(lpn).map_or(NOBODY, Ppn::as_u32));
        }
        for four in handles.chunks(4) {
            let mut word = [0; 4];
            word[..four.len()].copy_from_slice(four);
            out.put(u32::from_le_bytes(word));
        }
        out.seal()
    }

    /// Puts an empty space and map into a saved state. The caller checks it.
    pub(crate) fn restore(
        &mut self,
        from: &mut dyn Read,
        map: &mut Map,
        handles: Option<(&mut [u8], u8)>,
    ) -> Intact<()> {
        let mut words = Words::new(from);
        for expected in self.header(map) {
            if words.next()? != expected {
                return Err(Damaged);
            }
        }
        let closings = words.next()?;
        let closed = self.restore_blocks(&mut words)?;
        self.restore_planes(&mut words)?;
        if map.mapped() > 0
            || self.restore_owners(map, &mut words)? != self.restore_map(map, &mut words)?
        {
            return Err(Damaged);
        }
        if let Some((handles, count)) = handles {
            for four in handles.chunks_mut(4) {
                let word = words.next()?.to_le_bytes();
                let (known, padding) = word.split_at(four.len());
                if known.iter().any(|handle| *handle >= count) || padding.iter().any(|n| *n > 0) {
                    return Err(Damaged);
                }
                four.copy_from_slice(known);
            }
        }
        words.end()?;
        for (closed_at, b) in closed {
            self.blocks.close(b, 0);
            self.blocks.closed_at[b] = closed_at;
        }
        self.blocks.closings = closings;
        self.geometry.set_ids().for_each(|p| self.update_writable(p));
        if !self.garbage.is_empty() {
            self.count_garbage();
        }
        Ok(())
    }

    /// The blocks, and their times of closing: they close when their valid slots are known.
    fn restore_blocks(&mut self, words: &mut Words<'_>) -> Intact<Vec<(u32, BlockId)>> {
        let mut closed = Vec::new();
        let mut common = IndexVec::filled((0, 0), self.geometry.blocks());
        for b in self.geometry.block_ids() {
            let (word, written, closed_at) = (words.next()?, words.next()?, words.next()?);
            let stream = StreamId((word >> 8) as u8);
            let whole = written.is_multiple_of(self.unit());
            if written > self.geometry.pages_per_block() || !whole || word >> 16 != 0 {
                return Err(Damaged);
            }
            let first = self.geometry.superblock_of(b);
            // The blocks of a superblock are in one state, and closed at one time.
            if first != b && (word, closed_at) != common[first] {
                return Err(Damaged);
            }
            common[b] = (word, closed_at);
            let is_closed = match word as u8 {
                0 if (word, written, closed_at) == (0, 0, 0) => continue,
                1 if closed_at == 0 => false,
                3 => true,
                _ => return Err(Damaged),
            };
            let Some(spec) = self.demands.streams.get(stream.index()) else { return Err(Damaged) };
            if first == b {
                self.blocks.open(b, stream, spec.role);
                *self.planes.held_mut(self.set_of(b), stream) += 1;
            }
            self.blocks.written[b] = written;
            // Nothing was on its way: all slots given away were programmed.
            self.array.adopt(b, written);
            if is_closed && first == b {
                closed.push((closed_at, b));
            }
        }
        Ok(closed)
    }

    /// Frontiers and free blocks.
    fn restore_planes(&mut self, words: &mut Words<'_>) -> Intact<()> {
        let blocks = self.geometry.blocks() as u32;
        let block = |n: u32| (n < blocks).then(|| BlockId::from_u32(n)).ok_or(Damaged);
        let saved = words.next()? as usize;
        if saved > self.demands.streams.len() {
            return Err(Damaged);
        }
        let mut last = 0;
        for p in self.geometry.set_ids() {
            for stream in self.stream_ids().take(saved) {
                let frontier = match words.next()? {
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
        for p in self.geometry.set_ids() {
            let word = words.next()?;
            let (n, no_victim) = (word & !(1 << 31), word >> 31 != 0);
            self.planes.set_no_victim(p, no_victim);
            if n as usize > self.geometry.blocks_per_plane() {
                return Err(Damaged);
            }
            let free = (0..n).map(|_| block(words.next()?)).collect::<Result<_, _>>()?;
            self.planes.each[p].free = free;
        }
        Ok(())
    }

    /// The owners of valid slots.
    fn restore_owners(&mut self, map: &mut Map, words: &mut Words<'_>) -> Intact<Pairs> {
        let (logical, pages) = (map.logical_pages(), self.geometry.pages_per_block());
        let mut pairs = Pairs::default();
        for b in self.geometry.block_ids() {
            let (written, mut slot, mut valid) = (self.blocks.written(b), 0, 0);
            while slot < pages {
                for word in words.some(pages - slot)? {
                    let owner = u32::from_le_bytes(*word);
                    if owner != NOBODY {
                        if owner >= logical || slot >= written {
                            return Err(Damaged);
                        }
                        let (lpn, ppn) = (Lpn::from_u32(owner), self.geometry.ppn(b, slot));
                        map.own(lpn, ppn, b, slot);
                        // Cells that keep data get back the data that a page's owner would have
                        // written.
                        self.array.adopt_data(ppn, S::stamp(owner, 0));
                        pairs.add(lpn, ppn);
                        valid += 1;
                    }
                    slot += 1;
                }
            }
            self.blocks.add_valid_pages(b, valid);
        }
        Ok(pairs)
    }

    /// The slots of pages. Each page has one slot here, and each slot one owner in the columns
    /// before, so equal pairs are inverse maps.
    fn restore_map(&self, map: &mut Map, words: &mut Words<'_>) -> Intact<Pairs> {
        let (logical, slots) = (map.logical_pages(), self.geometry.pages() as u32);
        let mut pairs = Pairs::default();
        let mut page = 0;
        while page < logical {
            for word in words.some(logical - page)? {
                let slot = u32::from_le_bytes(*word);
                if slot != NOBODY {
                    if slot >= slots {
                        return Err(Damaged);
                    }
                    let (lpn, ppn) = (Lpn::from_u32(page), Ppn::from_u32(slot));
                    map.point(lpn, ppn);
                    pairs.add(lpn, ppn);
                }
                page += 1;
            }
        }
        Ok(pairs)
    }

    fn header(&self, map: &Map) -> [u32; 15] {
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
            units.across,
            units.pages,
            units.planes,
            self.geometry.superblocks().members(),
            self.geometry.superblocks().layers(),
            self.geometry.superblocks().parity(),
        ]
    }
}

/// Pages with their slots, in any order: their number, and a sum that hardly ever equals that of
/// others.
#[derive(Default, PartialEq, Eq)]
struct Pairs {
    pairs: u32,
    sum: u64,
}

impl Pairs {
    #[inline]
    fn add(&mut self, lpn: Lpn, ppn: Ppn) {
        let page = u64::from(lpn.as_u32()) ^ 0x9e37_79b9_7f4a_7c15;
        let slot = u64::from(ppn.as_u32()) ^ 0xe703_7ed1_a0b4_28db;
        let product = u128::from(page) * u128::from(slot);
        self.sum = self.sum.wrapping_add(product as u64 ^ (product >> 64) as u64);
        self.pairs += 1;
    }
}

/// A sum over words and their places that any change of one word changes.
#[derive(Default)]
struct Digest {
    sum: u64,
    /// Grows with each word.
    place: u64,
}

impl Digest {
    #[inline]
    fn add(&mut self, word: [u8; 4]) {
        self.place = self.place.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed =
            (self.place ^ u64::from(u32::from_le_bytes(word))).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.sum = self.sum.wrapping_add(mixed ^ mixed >> 32);
    }
}

/// Bytes that are read or written at a time.
const PART: usize = 1 << 18;

/// Words on their way out.
struct Out<'a> {
    to: &'a mut dyn Write,
    part: Vec<u8>,
    digest: Digest,
    /// The result of the parts before.
    written: io::Result<()>,
}

impl<'a> Out<'a> {
    fn new(to: &'a mut dyn Write) -> Self {
        Self { to, part: Vec::with_capacity(PART), digest: Digest::default(), written: Ok(()) }
    }

    #[inline]
    fn put(&mut self, word: u32) {
        let word = word.to_le_bytes();
        self.digest.add(word);
        self.part.extend_from_slice(&word);
        if self.part.len() == PART {
            self.write();
        }
    }

    fn write(&mut self) {
        if self.written.is_ok() {
            self.written = self.to.write_all(&self.part);
        }
        self.part.clear();
    }

    /// Ends them with their digest.
    fn seal(mut self) -> io::Result<()> {
        self.part.extend_from_slice(&self.digest.sum.to_le_bytes());
        self.write();
        self.written
    }
}

/// Words on their way in.
struct Words<'a> {
    from: &'a mut dyn Read,
    part: Vec<u8>,
    /// The words of the part that are still to come.
    rest: Range<usize>,
    digest: Digest,
}

impl<'a> Words<'a> {
    fn new(from: &'a mut dyn Read) -> Self {
        Self { from, part: vec![0; PART], rest: 0..0, digest: Digest::default() }
    }

    /// Reads at least `least` bytes of the part, or all if there are fewer.
    fn fetch(&mut self, least: usize) -> Intact<()> {
        self.part.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        while self.rest.len() < least {
            match self.from.read(&mut self.part[self.rest.end..]) {
                Ok(0) => return Err(Damaged),
                Ok(n) => self.rest.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Damaged),
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Intact<u32> {
        self.some(1).map(|words| u32::from_le_bytes(words[0]))
    }

    /// Returns at least one of the next words, and at most this number.
    #[inline]
    fn some(&mut self, most: u32) -> Intact<&[[u8; 4]]> {
        if self.rest.len() < 4 {
            self.fetch(4)?;
        }
        let first = self.rest.start;
        self.rest.start += 4 * (self.rest.len() / 4).min(most as usize);
        let (words, _) = self.part[first..self.rest.start].as_chunks();
        for word in words {
            self.digest.add(*word);
        }
        Ok(words)
    }

    /// Only their digest comes after them.
    fn end(mut self) -> Intact<()> {
        self.fetch(8)?;
        let kept = &self.part[self.rest.clone()];
        let whole = kept == self.digest.sum.to_le_bytes() && self.fetch(9).is_err();
        if whole { Ok(()) } else { Err(Damaged) }
    }
}

/// Ends the words of a state with their digest, as [`crate::Ftl::save`] does: for tests that forge states.
///
/// # Panics
///
/// If the bytes are not whole words.
pub fn seal(bytes: &mut Vec<u8>) {
    let (words, []) = bytes.as_chunks() else { panic!("a state has whole words") };
    let mut digest = Digest::default();
    for word in words {
        digest.add(*word);
    }
    bytes.extend_from_slice(&digest.sum.to_le_bytes());
}
