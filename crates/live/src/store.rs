//! The place of data that survive a loss of power: in memory, or in a sparse file.

use rustc_hash::FxHashMap;
use std::io;

mod file;

pub(crate) use file::KnownPages;
pub use file::{FileStore, Tie};

/// Bytes that survive. Ranges lie within it; bytes that were never written read as zero.
pub trait ByteStore: Send {
    /// Fills `into` with the data at `offset`.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;
    /// Puts bytes at `offset`.
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Lets a range read as zero.
    fn zero(&mut self, offset: u64, len: u64) -> io::Result<()>;
    /// Returns when written data survives a loss of power of the host.
    fn sync(&mut self) -> io::Result<()>;
    /// Returns how far from `offset`, up to `end`, everything is data or everything reads as zero,
    /// and which of the two it is.
    fn extent(&self, offset: u64, end: u64) -> (u64, bool);
}

/// Bytes of a piece of memory.
const PIECE: u64 = 64 << 10;

/// A store in memory, which keeps every write.
#[derive(Default)]
pub struct Memory {
    pieces: FxHashMap<u64, Box<[u8]>>,
}

/// A range in pieces: the number of each, and where the part of it lies in the piece and the range.
fn pieces(offset: u64, len: u64) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let end = offset + len;
    (offset / PIECE..end.div_ceil(PIECE)).map(move |piece| {
        let (from, to) = (offset.max(piece * PIECE), end.min((piece + 1) * PIECE));
        let at = (from - piece * PIECE) as usize;
        (piece, at, (from - offset) as usize..(to - offset) as usize)
    })
}

impl ByteStore for Memory {
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        for (piece, at, range) in pieces(offset, into.len() as u64) {
            let into = &mut into[range];
            match self.pieces.get(&piece) {
                Some(data) => into.copy_from_slice(&data[at..at + into.len()]),
                None => into.fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        for (piece, at, range) in pieces(offset, data.len() as u64) {
            let data = &data[range];
            let new = || vec![0; PIECE as usize].into();
            let piece = self.pieces.entry(piece).or_insert_with(new);
            piece[at..at + data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    fn zero(&mut self, offset: u64, len: u64) -> io::Result<()> {
        for (piece, at, range) in pieces(offset, len) {
            if range.len() as u64 == PIECE {
                self.pieces.remove(&piece);
            } else if let Some(data) = self.pieces.get_mut(&piece) {
                data[at..at + range.len()].fill(0);
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn extent(&self, offset: u64, end: u64) -> (u64, bool) {
        let holds = |piece: u64| self.pieces.contains_key(&piece);
        let first = offset / PIECE;
        let what = holds(first);
        let stop = (first + 1..end.div_ceil(PIECE)).find(|piece| holds(*piece) != what);
        (stop.map_or(end, |piece| piece * PIECE) - offset, what)
    }
}
