//! Requests of a trace in little memory, so that its text need not be read again.

use std::sync::Arc;

use kernel::{Hint, Prio, Time};

use crate::{BATCH, Op, Request, RequestSource, TraceError};

/// The greatest number of bytes that they may take: five to seven million requests of most traces.
/// Reading text takes several times as long as unpacking them, and a run may need three passes.
/// Tests need no such long traces.
pub(crate) const MOST: usize = if cfg!(test) { 4 << 20 } else { 48 << 20 };
/// The number of requests that are kept as they are (6 MiB): most traces have no more, and these
/// need no unpacking.
pub(crate) const PLAIN: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };
/// Bytes of a piece: memory grows by pieces, so nothing is ever copied.
const PIECE: usize = 1 << 20;
/// The greatest number of bytes of a request: its head and three numbers, with a head before it
/// that changes the hint. Each number is written and read as eight bytes.
const LONGEST: usize = 2 + 2 + 3 * 8;

const OPS: [Op; 5] = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua];
const SECTOR_BITS: u32 = 9;

/// Requests of normal priority and of one flow, in order of time.
///
/// Each request after the first ones has a head, its distance in time from the one before, and its
/// distance from the end of that one. The length follows unless it is the same. Numbers have as
/// many bytes as they need. A head of its own says that the hint is another from there on.
#[derive(Clone, Default, Debug)]
pub(crate) struct PackedRequests {
    plain: Vec<Request>,
    pieces: Vec<Piece>,
    last: Last,
}

#[derive(Clone, Debug)]
struct Piece {
    bytes: Box<[u8]>,
    used: usize,
}

/// The request that the next one is compared with.
#[derive(Copy, Clone, Default, Debug)]
struct Last {
    at: u64,
    end: u64,
    len: u32,
    hint: Hint,
}

impl Last {
    fn of(request: &Request) -> Self {
        Self { at: request.at.as_ns(), end: request.end(), len: request.len, hint: request.hint }
    }
}

/// The beginning of a request, from the lowest bit on: its operation (3), whether address and
/// length are in sectors (1), and the number of bytes of time, address and length (4 each).
#[derive(Copy, Clone)]
struct Head(u16);

impl Head {
    fn new(op: Op, sectors: bool, widths: [u32; 3]) -> Self {
        let [time, gap, len] = widths;
        Self((op as u32 | u32::from(sectors) << 3 | time << 4 | gap << 8 | len << 12) as u16)
    }

    /// A head before that of a request: the hint is another from here on. Its number of bytes of
    /// the time is one that no number has.
    fn of_hint(hint: Hint) -> Self {
        Self(u16::from(hint) << 8 | 15 << 4)
    }

    /// The hint that a head changes to, if it is one of those.
    #[inline]
    fn hint(self) -> Option<Hint> {
        (self.width(0) == 15).then_some((self.0 >> 8) as Hint)
    }

    fn op(self) -> Op {
        OPS[usize::from(self.0 & 7)]
    }

    /// The shift of address and length.
    fn shift(self) -> u32 {
        if self.0 & 8 == 0 { 0 } else { SECTOR_BITS }
    }

    fn width(self, nth: u32) -> u32 {
        u32::from(self.0 >> (4 + 4 * nth)) & 15
    }
}

/// The number of bytes of a number; 0 for zero.
#[inline]
fn width(value: u64) -> u32 {
    (u64::BITS - value.leading_zeros()).div_ceil(8)
}

impl PackedRequests {
    /// Adds a request, which does not come before the last one. Returns `false` if it does not fit.
    #[inline]
    pub(crate) fn push(&mut self, request: &Request) -> bool {
        if self.plain.len() < PLAIN {
            self.plain.push(*request);
            return true;
        }
        self.pack(request)
    }

    fn pack(&mut self, request: &Request) -> bool {
        debug_assert_eq!((request.prio, request.flow), (Prio::Normal, 0));
        if self.pieces.last().is_none_or(|piece| piece.used + LONGEST > PIECE) && !self.grow() {
            return false;
        }
        let Piece { bytes, used } = self.pieces.last_mut().expect("there is one");
        let before = std::mem::replace(&mut self.last, Last::of(request));
        if request.hint != before.hint {
            bytes[*used..*used + 2].copy_from_slice(&Head::of_hint(request.hint).0.to_le_bytes());
            *used += 2;
        }
        let (offset, len) = (request.offset, u64::from(request.len));
        let sectors = (offset | len | before.end).is_multiple_of(1 << SECTOR_BITS);
        let shift = if sectors { SECTOR_BITS } else { 0 };
        let gap = offset.wrapping_sub(before.end).cast_signed() >> shift;
        // Small distances are short, forward or backward.
        let gap = (gap << 1 ^ gap >> 63).cast_unsigned();
        let len = if request.len == before.len { 0 } else { len >> shift };
        let numbers = [request.at.as_ns() - before.at, gap, len];
        let widths = numbers.map(width);
        // A length of none, of a flush, is a number of one byte: nothing says that it is as before.
        let [time, gap, mut of_len] = widths;
        if request.len == 0 && before.len != 0 {
            of_len = 1;
        }
        let head = Head::new(request.op, sectors, [time, gap, of_len]);
        bytes[*used..*used + 2].copy_from_slice(&head.0.to_le_bytes());
        *used += 2;
        for (number, width) in numbers.into_iter().zip([time, gap, of_len]) {
            bytes[*used..*used + 8].copy_from_slice(&number.to_le_bytes());
            *used += width as usize;
        }
        true
    }

    /// Adds one more piece, if that is not too much.
    #[cold]
    fn grow(&mut self) -> bool {
        let grows = self.pieces.len() < MOST / PIECE;
        if grows {
            self.pieces.push(Piece { bytes: vec![0; PIECE].into(), used: 0 });
        }
        grows
    }
}

/// One way through them.
pub(crate) struct Unpacking {
    packed: Arc<PackedRequests>,
    /// Of the plain ones.
    done: usize,
    piece: usize,
    /// The beginning of the next request in it.
    at: usize,
    last: Last,
}

impl Unpacking {
    pub(crate) fn new(packed: &Arc<PackedRequests>) -> Self {
        Self { packed: Arc::clone(packed), done: 0, piece: 0, at: 0, last: Last::default() }
    }
}

/// The number of this length in bytes.
#[inline]
fn number(bytes: &[u8], at: usize, width: u32) -> u64 {
    let eight = bytes[at..at + 8].try_into().expect("eight bytes");
    // A number without bytes has no bits left.
    u64::from_le_bytes(eight).unbounded_shl(64 - 8 * width).unbounded_shr(64 - 8 * width)
}

impl RequestSource for Unpacking {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        let plain = &self.packed.plain[self.done..];
        let plain = &plain[..plain.len().min(BATCH)];
        batch.extend_from_slice(plain);
        self.done += plain.len();
        while batch.len() < BATCH {
            let Some(Piece { bytes, used }) = self.packed.pieces.get(self.piece) else { break };
            while batch.len() < BATCH && self.at < *used {
                let mut at = self.at;
                let head = Head(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
                at += 2;
                if let Some(hint) = head.hint() {
                    (self.last.hint, self.at) = (hint, at);
                    continue;
                }
                let [later, gap, len] = [0, 1, 2].map(|nth| {
                    let width = head.width(nth);
                    let value = number(bytes, at, width);
                    at += width as usize;
                    value
                });
                self.at = at;
                let gap = (gap >> 1).cast_signed() ^ -(gap & 1).cast_signed();
                let same = head.width(2) == 0;
                let request = Request {
                    at: Time::from_ns(self.last.at + later),
                    offset: self.last.end.wrapping_add_signed(gap << head.shift()),
                    len: if same { self.last.len } else { (len << head.shift()) as u32 },
                    op: head.op(),
                    prio: Prio::Normal,
                    flow: 0,
                    hint: self.last.hint,
                };
                self.last = Last::of(&request);
                batch.push(request);
            }
            if self.at >= *used {
                (self.piece, self.at) = (self.piece + 1, 0);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    fn unpacked(packed: PackedRequests) -> Vec<Request> {
        let (mut source, mut batch) = (Unpacking::new(&Arc::new(packed)), Vec::new());
        let mut all = Vec::new();
        loop {
            source.fill(&mut batch).unwrap();
            if batch.is_empty() {
                return all;
            }
            all.append(&mut batch);
        }
    }

    /// Numbers of all sizes, in sectors and not, of all operations and hints; enough of them for several
    /// pieces.
    #[test]
    fn what_is_packed_is_unpacked() {
        let mut rng = Rng::named(3, "packed");
        let (mut packed, mut requests, mut at) = (PackedRequests::default(), Vec::new(), 0);
        let mut hint = 0;
        for n in 0..300_000_u64 {
            let any = |rng: &mut Rng, bits: u32| rng.bits() >> (64 - rng.below(bits) - 1);
            at += any(&mut rng, 40);
            let (offset, len) = (any(&mut rng, 61), any(&mut rng, 31) as u32);
            let sectors = if rng.below(2) == 0 { 511 } else { 0 };
            let request = Request {
                at: Time::from_ns(at),
                offset: if rng.below(4) == 0 { n * 4096 } else { offset & !sectors },
                len: match rng.below(8) {
                    0 => 0,
                    1 | 2 => 4096,
                    _ => len & !(sectors as u32),
                },
                op: OPS[rng.below(5) as usize],
                prio: Prio::Normal,
                flow: 0,
                hint: if rng.below(3) == 0 { rng.below(256) as Hint } else { hint },
            };
            hint = request.hint;
            assert!(packed.push(&request));
            requests.push(request);
        }
        assert!(packed.pieces.len() > 3, "{} pieces", packed.pieces.len());
        assert!(unpacked(packed) == requests);
    }

    #[test]
    fn requests_of_a_page_in_order_take_three_bytes() {
        let mut packed = PackedRequests::default();
        for n in 0..1000 + PLAIN as u64 {
            let at = Time::from_ns(100 * n);
            let (offset, len) = (n * 4096, 4096);
            let op = Op::Write;
            assert!(packed.push(&Request {
                at,
                offset,
                len,
                op,
                prio: Prio::Normal,
                flow: 0,
                hint: 0
            }));
        }
        // A head and a time; the first of them has more, since it starts from nothing.
        let more = 2 + 2 + 1;
        assert_eq!(packed.pieces[0].used, 3 * 1000 + more);
        assert!(unpacked(PackedRequests::default()).is_empty());
    }

    #[test]
    fn there_is_an_end_to_the_memory() {
        let far = Request {
            at: Time::ZERO,
            offset: 0,
            len: u32::MAX,
            op: Op::Trim,
            prio: Prio::Normal,
            flow: 0,
            hint: 0,
        };
        let near = Request { offset: 1 << 60, len: 1, ..far };
        let mut packed = PackedRequests::default();
        let kept = (0_u64..).take_while(|n| packed.push(if n % 2 == 0 { &far } else { &near }));
        let kept = kept.count();
        let bytes: usize = packed.pieces.iter().map(|piece| piece.used).sum();
        assert!(bytes <= MOST && bytes > MOST - (MOST / PIECE) * LONGEST, "{bytes} bytes");
        assert_eq!(unpacked(packed).len(), kept);
    }
}
