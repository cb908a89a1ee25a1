//! Packs the touched parts of an address space: extents of 1 MiB in the order of first touch.
//!
//! A request is never split, so extents that one request crosses stay neighbours: such a chain
//! moves as one, placed by the first touch of any of its extents.

pub(super) const EXTENT_SHIFT: u32 = 20;
const LEAF_SHIFT: u32 = 10;
const LEAF: usize = 1 << LEAF_SHIFT;
/// Set on an extent that some request shares with the next one.
const LINKED: u32 = 1 << 31;
const NONE: u32 = 0;
/// More touched extents (64 TiB) are only counted up to here: this bounds the memory that a
/// trace of misread addresses can take.
pub(crate) const MOST: u64 = 1 << 26;

/// The touched extents of an address space. Memory follows the touched addresses, 4 bytes an extent
/// in leaves of 1 GiB, not the highest address.
#[derive(Default, Debug)]
pub(crate) struct Extents {
    /// Leaves by their number, ascending. While touching: 1 + order of first touch, with the
    /// link bit; once settled: 1 + place.
    leaves: Vec<(u64, Box<[u32; LEAF]>)>,
    touched: u32,
    last: usize,
}

impl Extents {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Notes a request for the bytes from `start` to `end`.
    pub(crate) fn touch(&mut self, start: u64, end: u64) {
        let (first, last) = (start >> EXTENT_SHIFT, (end - 1) >> EXTENT_SHIFT);
        if u64::from(self.touched) > MOST {
            return;
        }
        for extent in first..=last {
            let next = self.touched + 1;
            let cell = self.cell(extent);
            let new = *cell & !LINKED == NONE;
            if new {
                *cell |= next;
            }
            if extent < last {
                *cell |= LINKED;
            }
            self.touched += u32::from(new);
        }
    }

    fn cell(&mut self, extent: u64) -> &mut u32 {
        let leaf = extent >> LEAF_SHIFT;
        if self.leaves.get(self.last).is_none_or(|l| l.0 != leaf) {
            self.last = match self.leaves.binary_search_by_key(&leaf, |l| l.0) {
                Ok(i) => i,
                Err(i) => {
                    self.leaves.insert(i, (leaf, Box::new([NONE; LEAF])));
                    i
                }
            };
        }
        &mut self.leaves[self.last].1[extent as usize % LEAF]
    }

    /// Gives every chain its place. Returns the bytes that they take together.
    pub(crate) fn settle(&mut self) -> u64 {
        // Chains as (earliest touch, leaf and cell of the first extent, length).
        let mut chains: Vec<(u32, u64, u32)> = Vec::new();
        let mut linked_to = None;
        for (leaf, cells) in &self.leaves {
            for (i, &cell) in cells.iter().enumerate() {
                let touch = cell & !LINKED;
                if touch == NONE {
                    continue;
                }
                let extent = (leaf << LEAF_SHIFT) + i as u64;
                if linked_to == Some(extent) {
                    let chain = chains.last_mut().expect("a link starts in a chain");
                    chain.0 = chain.0.min(touch);
                    chain.2 += 1;
                } else {
                    chains.push((touch, extent, 1));
                }
                linked_to = (cell & LINKED != 0).then_some(extent + 1);
            }
        }
        chains.sort_unstable();
        let mut place = 0;
        for (_, first, len) in chains {
            for extent in first..first + u64::from(len) {
                place += 1;
                *self.cell(extent) = place;
            }
        }
        u64::from(self.touched) << EXTENT_SHIFT
    }

    /// Reads places; only once settled.
    pub(crate) fn lookup(&self) -> Lookup<'_> {
        Lookup { extents: self, last: 0 }
    }
}

/// Reads places, remembering the leaf used last.
pub(crate) struct Lookup<'a> {
    extents: &'a Extents,
    last: usize,
}

impl Lookup<'_> {
    /// The packed address of a byte of a touched extent.
    #[inline]
    pub(crate) fn place(&mut self, offset: u64) -> u64 {
        let extent = offset >> EXTENT_SHIFT;
        let leaf = extent >> LEAF_SHIFT;
        let leaves = &self.extents.leaves;
        if leaves[self.last].0 != leaf {
            self.last = leaves.partition_point(|l| l.0 < leaf);
        }
        let place = leaves[self.last].1[extent as usize % LEAF];
        debug_assert!(place != NONE, "the same requests came by in the first pass");
        (u64::from(place - 1) << EXTENT_SHIFT) | (offset & ((1 << EXTENT_SHIFT) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn packed(requests: &[(u64, u64)]) -> (u64, Vec<u64>) {
        let mut extents = Extents::new();
        for &(at, len) in requests {
            extents.touch(at, at + len);
        }
        let used = extents.settle();
        let mut lookup = extents.lookup();
        (used, requests.iter().map(|r| lookup.place(r.0)).collect())
    }

    #[test]
    fn extents_come_in_the_order_of_first_touch() {
        let far = 5000 * 1024 * MIB;
        let (used, at) = packed(&[(far + 700, 100), (3 * MIB, 4096), (far, 1), (9 * MIB + 5, 1)]);
        assert_eq!(used, 3 * MIB);
        assert_eq!(at, [700, MIB, 0, 2 * MIB + 5]);
    }

    #[test]
    fn extents_that_one_request_crosses_stay_neighbours() {
        // 8 first, then 7; then a request across 7 and 8: the chain goes where 8 was first.
        let (used, at) = packed(&[
            (8 * MIB, 512),
            (2 * MIB, 512),
            (7 * MIB, 512),
            (8 * MIB - 512, 1024),
            (1023 * MIB, 2 * MIB), // across two leaves
        ]);
        assert_eq!(used, 5 * MIB);
        assert_eq!(at, [MIB, 2 * MIB, 0, MIB - 512, 3 * MIB]);
    }
}
