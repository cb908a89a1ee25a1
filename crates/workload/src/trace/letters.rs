//! A request in the letters of the Linux kernel: `blk_fill_rwbs` in `kernel/trace/blktrace.c`
//! writes them, as `fill_rwbs` of blkparse does.
//!
//! An `F` in front asks for a flush. Then comes `R`, `W`, `D` (discard; `DE`: secure erase), `F`
//! (flush), or `Z` with a second letter for zones (`ZA` append, `ZR` reset, `ZO` open, `ZC` close,
//! `ZF` finish). `N` is anything else, without a request for sectors. `WZ` writes zeros. Further
//! letters are `F` (forced unit access), `A` (ahead), `S` (synchronous), `M` (metadata), `B` (a
//! barrier of old kernels) and `U` (untorn).

use crate::Op;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum LetterKind {
    Request(Op),
    /// A flush, then a request.
    FlushAnd(Op),
    /// A write that the drive places in the zone that begins at its address.
    Append(Op),
    /// A command for a whole zone, without data.
    Zone,
    /// No request for sectors.
    Other,
}

/// The first letters decide; the others only add details.
#[inline(always)]
pub(crate) fn kind(letters: &[u8]) -> Option<LetterKind> {
    match letters {
        [b'R' | b'W' | b'D', ..] => Some(LetterKind::Request(op(letters))),
        [b'F', b'R' | b'W' | b'D', ..] => Some(LetterKind::FlushAnd(op(&letters[1..]))),
        _ => seldom(letters),
    }
}

fn seldom(letters: &[u8]) -> Option<LetterKind> {
    match letters {
        [b'F', more @ ..] if more.iter().all(|b| b"FNASMBU".contains(b)) => {
            Some(LetterKind::Request(Op::Flush))
        }
        [b'Z', b'A', ..] => Some(LetterKind::Append(op(&letters[1..]))),
        [b'Z', b'R' | b'O' | b'C' | b'F', ..] => Some(LetterKind::Zone),
        [b'N', ..] => Some(LetterKind::Other),
        _ => None,
    }
}

/// The same for a word that may be any other: all of its letters must be known at their places.
pub(crate) fn word(word: &[u8]) -> Option<LetterKind> {
    let plain = match word {
        [b'F', plain @ ..] if matches!(plain.first(), Some(b'R' | b'W' | b'D')) => plain,
        _ => word,
    };
    let first = match plain {
        [b'Z', b'R', b'A', ..] => 3,
        [b'D', b'E', ..] | [b'W', b'Z', ..] | [b'Z', ..] => 2,
        _ => 1,
    };
    let more = plain.get(first..)?;
    more.iter().all(|b| b"FASMBU".contains(b)).then(|| kind(word))?
}

/// The operation of letters such as those of `WFS`.
#[inline(always)]
fn op(letters: &[u8]) -> Op {
    match letters {
        [b'R', ..] => Op::Read,
        [b'D', ..] => Op::Trim,
        [_, more @ ..] if more.contains(&b'F') => Op::WriteFua,
        _ => Op::Write,
    }
}
