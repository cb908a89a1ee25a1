//! Slots: where logical pages lie in a block of each mode.
//!
//! A slot is named by a page index of its block. So a block that changes mode in place (guard
//! levels by in-place reprogramming) keeps the names of the slots that it keeps. Modes repeat a
//! small group of pages. A table of the group lists which offsets are slots and which pages each
//! uses. A last group that would be cut short is not used.

use crate::{Each, Geometry, Mode, PageRange};

/// The pages of one slot, relative to its group.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SlotSpan {
    /// The slot's name: its offset in the group.
    pub offset: u16,
    /// First page read, and how many.
    pub read: (u16, u16),
    /// First page that writing this slot completes, and how many: `(offset, 2)` for the second slot
    /// of a group whose slots share a page.
    pub program: (u16, u16),
    /// The distance between the pages that are read, and between those that are programmed.
    pub steps: (u16, u16),
}

impl SlotSpan {
    /// A slot on neighbouring pages.
    pub const fn new(offset: u16, read: (u16, u16), program: (u16, u16)) -> Self {
        Self { offset, read, program, steps: (1, 1) }
    }
}

/// The slots of one mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Slots of a group, whether this mode has them or not.
    group: u16,
    slots: Vec<SlotSpan>,
    /// The first slot at or after each offset of the group; `slots.len()` if there is none.
    next: Vec<u16>,
}

impl Layout {
    /// Every page is a slot.
    pub fn plain() -> Self {
        Self::new(1, vec![SlotSpan::new(0, (0, 1), (0, 1))])
    }

    /// Groups of `group` pages with the given slots, in ascending order of offset and page.
    pub fn new(group: u16, slots: Vec<SlotSpan>) -> Self {
        assert!(group > 0 && !slots.is_empty(), "a layout needs slots");
        let mut next = 0;
        for slot in &slots {
            assert!(slot.program.0 >= next && slot.offset < group, "slots must ascend");
            assert!(slot.program.1 > 0 && slot.read.1 > 0, "slots must fit");
            next = slot.program.0 + (slot.program.1 - 1) * slot.steps.1 + 1;
            assert!(next <= group, "slots must fit");
        }
        let first = |offset| slots.partition_point(|s| s.offset < offset) as u16;
        let next = (0..=group).map(first).collect();
        Self { group, slots, next }
    }

    /// The same layout for pages of several slots.
    fn in_rows(&self, row: u16) -> Self {
        let each = |span: &SlotSpan| {
            let span = *span;
            (0..row).map(move |i| SlotSpan { offset: span.offset * row + i, ..span })
        };
        let (group, slots) =
            (self.group * row, self.slots.iter().flat_map(each).collect::<Vec<_>>());
        let first = |offset| slots.partition_point(|s| s.offset < offset) as u16;
        let next = (0..=group).map(first).collect();
        Self { group, slots, next }
    }

    /// Guard levels on three bits: the page of the most significant bit holds no data but is
    /// programmed with the page before it, which completes the guard levels.
    pub fn guard_levels() -> Self {
        Self::new(3, vec![SlotSpan::new(0, (0, 1), (0, 1)), SlotSpan::new(1, (1, 1), (1, 2))])
    }

    /// A code of rate two thirds: two logical pages on three physical ones, the middle one shared.
    pub fn two_thirds() -> Self {
        Self::new(3, vec![SlotSpan::new(0, (0, 2), (0, 1)), SlotSpan::new(1, (1, 2), (1, 2))])
    }

    /// A block of a write-once code of rate two thirds, in its first and in its second generation.
    ///
    /// Pages whose second program would destroy others (Grupp 3.5) hold one logical page each. Of
    /// the others, in order of address, each three hold two: the first and the second share the
    /// middle page, whose program waits for both. Pages left over by groups of three hold plain
    /// data. A third page that lies further on is programmed on the way, with the next slot. The
    /// second generation has only the slots of the groups of three.
    pub fn write_once(geometry: &Geometry) -> (Self, Self) {
        let pages = geometry.pages_per_block();
        let safe: Vec<u32> =
            (0..pages).filter(|p| geometry.disturbed_by_reprogram(*p).count == 0).collect();
        let groups = safe.as_chunks::<3>().0;
        let part = |page: u32| {
            let place = groups.iter().flatten().position(|p| *p == page)?;
            Some((groups[place / 3], place % 3))
        };
        let short = |page: u32| page as u16;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut done = 0;
        for page in 0..pages {
            let own = part(page);
            if let Some((_, 2)) = own {
                continue; // completed with the slot before it or the one after
            }
            let mut end = page + 1;
            let mut read = (page, 1, 1);
            let mut again = (page, 1, 1);
            match own {
                None | Some((_, 2..)) => {}
                Some(([a, b, _], 0)) => read = (a, 2, b - a),
                Some(([_, b, c], _)) => {
                    read = (b, 2, c - b);
                    again = read;
                    end += u32::from(c == b + 1);
                }
            }
            if (end..pages).all(|p| part(p).is_some_and(|(_, place)| place == 2)) {
                end = pages; // no other slot comes
            }
            let span = |program: (u32, u32, u32)| SlotSpan {
                offset: short(page),
                read: (short(read.0), short(read.1)),
                program: (short(program.0), short(program.1)),
                steps: (short(read.2), short(program.2)),
            };
            first.push(span((done, end - done, 1)));
            if own.is_some() {
                second.push(span(again));
            }
            done = end;
        }
        (Self::new(short(pages), first), Self::new(short(pages), second))
    }
}

/// The layout of every mode, for blocks of a given number of pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layouts {
    /// Slots of a plain block.
    pages: u32,
    /// Slots of a block with one bit in a cell: its first ones, each on a wordline.
    single: u32,
    /// Slots of a page.
    row: u32,
    modes: Each<Mode, Layout>,
}

impl Layouts {
    /// The layouts of a drive with `pages` pages in a block, whose cells hold one bit.
    pub fn new(pages: u32) -> Self {
        let modes = Each::from_fn(|mode| match mode {
            Mode::Full | Mode::Slc => Layout::plain(),
            Mode::LowDensity => Layout::guard_levels(),
            Mode::Wom1 | Mode::Wom2 => Layout::two_thirds(),
        });
        Self { pages, single: pages, row: 1, modes }
    }

    /// The layouts of a drive, whose pages may have several slots.
    pub fn of(geometry: &Geometry) -> Self {
        let single = geometry.single_slots_per_block();
        let plain = Self { single, ..Self::new(geometry.pages_per_block()) };
        let row = geometry.slots_per_page();
        if row == 1 {
            return plain;
        }
        let modes = Each::from_fn(|mode| match mode {
            Mode::Full | Mode::Slc => Layout::plain(),
            other => plain.modes[other].in_rows(row as u16),
        });
        Self { row, modes, ..plain }
    }

    /// The same with the two generations of [`Layout::write_once`].
    pub fn write_once(geometry: &Geometry) -> Self {
        let (first, second) = Layout::write_once(geometry);
        let layouts = Self::new(geometry.pages_per_block());
        layouts.with(Mode::Wom1, first).with(Mode::Wom2, second)
    }

    /// Replaces the layout of one mode.
    #[must_use]
    pub fn with(mut self, mode: Mode, layout: Layout) -> Self {
        self.modes[mode] = layout;
        self
    }

    /// The number of slots that groups of a mode are made of.
    #[inline]
    fn end(&self, mode: Mode) -> u32 {
        if mode == Mode::Slc { self.single } else { self.pages }
    }

    /// How many slots a block of this mode has.
    pub fn slots(&self, mode: Mode) -> u32 {
        let layout = &self.modes[mode];
        self.end(mode) / u32::from(layout.group) * layout.slots.len() as u32
    }

    /// How many slots of this mode lie before page index `end`.
    pub fn slots_before(&self, mode: Mode, end: u32) -> u32 {
        let layout = &self.modes[mode];
        let (groups, rest) = (end / u32::from(layout.group), end % u32::from(layout.group));
        let begun = u32::from(layout.next[rest as usize]);
        (groups * layout.slots.len() as u32 + begun).min(self.slots(mode))
    }

    /// The first slot at or after page index `from`, if there is one.
    pub fn slot_from(&self, mode: Mode, from: u32) -> Option<u32> {
        let layout = &self.modes[mode];
        let size = u32::from(layout.group);
        let (mut group, offset) = (from / size, from % size);
        let found = layout.slots.get(layout.next[offset as usize] as usize);
        let slot = found.unwrap_or_else(|| {
            group += 1;
            &layout.slots[0]
        });
        ((group + 1) * size <= self.end(mode)).then(|| group * size + u32::from(slot.offset))
    }

    /// Whether `slot` names a slot of this mode.
    pub fn is_slot(&self, mode: Mode, slot: u32) -> bool {
        self.slot_from(mode, slot) == Some(slot)
    }

    /// Whether a slot of the first generation keeps its place and its data when a block begins its
    /// second.
    pub fn is_kept(&self, mode: Mode, slot: u32) -> bool {
        mode == Mode::Wom2 && !self.is_slot(mode, slot) && self.is_slot(Mode::Wom1, slot)
    }

    /// The pages that reading a slot senses.
    pub fn read(&self, mode: Mode, slot: u32) -> PageRange {
        let mode = if self.is_kept(mode, slot) { Mode::Wom1 } else { mode };
        let (group, span) = self.span(mode, slot);
        let group = group / self.row;
        let step = span.steps.0.into();
        PageRange { first: group + u32::from(span.read.0), count: span.read.1.into(), step }
    }

    /// The pages that writing a slot programs.
    pub fn program(&self, mode: Mode, slot: u32) -> PageRange {
        let (group, span) = self.span(mode, slot);
        let group = group / self.row;
        let step = span.steps.1.into();
        PageRange { first: group + u32::from(span.program.0), count: span.program.1.into(), step }
    }

    fn span(&self, mode: Mode, slot: u32) -> (u32, SlotSpan) {
        let layout = &self.modes[mode];
        let size = u32::from(layout.group);
        let offset = slot % size;
        let span = layout.slots.get(layout.next[offset as usize] as usize);
        let span = span.filter(|s| u32::from(s.offset) == offset);
        (slot - offset, *span.expect("a page index that is a slot of this mode"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PageOrder, Shape};
    use kernel::Bytes;

    fn names(layouts: &Layouts, mode: Mode) -> Vec<u32> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(slot) = layouts.slot_from(mode, from) {
            found.push(slot);
            from = slot + 1;
        }
        found
    }

    #[test]
    fn slots_of_every_mode() {
        let l = Layouts::new(7);
        assert_eq!(names(&l, Mode::Full), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(names(&l, Mode::LowDensity), [0, 1, 3, 4]);
        assert_eq!(names(&l, Mode::Wom1), [0, 1, 3, 4]);
        for mode in Mode::ALL {
            assert_eq!(l.slots(mode) as usize, names(&l, mode).len(), "{mode:?}");
            for end in 0..=7 {
                let before = names(&l, mode).iter().filter(|slot| **slot < end).count();
                assert_eq!(l.slots_before(mode, end) as usize, before, "{mode:?} before {end}");
            }
        }
    }

    /// Two units to a page and two planes: four slots wherever there was one.
    #[test]
    fn a_page_of_several_slots_lies_where_it_lay() {
        let flash = chip(7, 3, PageOrder::Cyclic);
        let shape = Shape { planes_per_die: 2, ..*flash.shape() };
        let units = crate::UnitSizes { per_page: 2, planes: 2, ..crate::UnitSizes::PAGE };
        let rows = Layouts::of(&Geometry::new(shape).unwrap().with_units(units).unwrap());
        let pages = Layouts::new(7);
        for mode in Mode::ALL.into_iter().filter(|mode| *mode != Mode::Slc) {
            assert_eq!(names(&Layouts::of(&flash), mode), names(&pages, mode));
        }
        for mode in [Mode::Full, Mode::LowDensity] {
            let expected: Vec<u32> =
                names(&pages, mode).into_iter().flat_map(|page| page * 4..page * 4 + 4).collect();
            assert_eq!(names(&rows, mode), expected, "{mode:?}");
            assert_eq!(rows.slots(mode), pages.slots(mode) * 4);
            for slot in expected {
                assert_eq!(rows.read(mode, slot), pages.read(mode, slot / 4));
                assert_eq!(rows.program(mode, slot), pages.program(mode, slot / 4));
            }
        }
    }

    /// With one bit in a cell, a block has as many pages as wordlines, in whole program units and
    /// whole stripes of parity.
    #[test]
    fn a_block_with_one_bit_in_a_cell_has_a_page_on_each_wordline() {
        for (pages, bits, units, parity, slots) in [
            (12, 3, crate::UnitSizes::PAGE, 0, 4),
            (13, 3, crate::UnitSizes::PAGE, 0, 4),
            (16, 4, crate::UnitSizes::PAGE, 0, 4),
            (12, 1, crate::UnitSizes::PAGE, 0, 12),
            (24, 3, crate::UnitSizes { pages: 3, ..crate::UnitSizes::PAGE }, 0, 6),
            (12, 3, crate::UnitSizes { per_page: 2, ..crate::UnitSizes::PAGE }, 0, 8),
            (24, 3, crate::UnitSizes::PAGE, 3, 6),
        ] {
            let mut geometry = chip(pages, bits, PageOrder::Cyclic).with_units(units).unwrap();
            if parity > 0 {
                geometry = geometry.with_parity(parity);
            }
            let layouts = Layouts::of(&geometry);
            assert_eq!(layouts.slots(Mode::Slc), slots, "{pages} pages of {bits} bits");
            assert_eq!(names(&layouts, Mode::Slc), (0..slots).collect::<Vec<_>>());
            let row = geometry.slots_per_page();
            for slot in 0..slots {
                let page = PageRange::new(slot / row, 1);
                assert_eq!(layouts.read(Mode::Slc, slot), page);
                assert_eq!(layouts.program(Mode::Slc, slot), page);
            }
        }
    }

    #[test]
    fn every_page_is_programmed_once_and_in_ascending_order() {
        let l = Layouts::new(9);
        for mode in Mode::ALL {
            let programmed: Vec<u32> =
                names(&l, mode).into_iter().flat_map(|s| l.program(mode, s).iter()).collect();
            assert_eq!(programmed, (0..9).collect::<Vec<_>>(), "{mode:?}");
        }
    }

    fn chip(pages: u32, bits: u32, order: PageOrder) -> Geometry {
        let shape = Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 1,
            pages_per_block: pages,
            page_size: Bytes::kib(8),
            bits_per_cell: bits,
        };
        Geometry::new(shape).unwrap().with_order(order).unwrap()
    }

    /// In every order of pages, the first generation programs each page once and in ascending
    /// order. The second programs only pages that endure it.
    #[test]
    fn write_once_blocks_keep_the_rules_of_flash() {
        let orders = [
            (PageOrder::Shadow, 2, vec![4, 6, 10, 64, 128]),
            (PageOrder::ShadowPairs, 2, vec![4, 8, 12, 128]),
            (PageOrder::Cyclic, 1, vec![1, 2, 3, 4, 5, 64, 66]),
            (PageOrder::Cyclic, 2, vec![1, 4, 5, 6, 7, 128]),
            (PageOrder::Cyclic, 3, vec![3, 9, 10, 11, 12, 1152]),
        ];
        let mut cases = 0;
        for (order, bits, sizes) in orders {
            for pages in sizes {
                let geometry = chip(pages, bits, order);
                let safe = |p: u32| geometry.disturbed_by_reprogram(p).count == 0;
                if (0..pages).filter(|p| safe(*p)).count() < 3 {
                    continue;
                }
                cases += 1;
                let l = Layouts::write_once(&geometry);
                let all = |mode| names(&l, mode).into_iter();
                let once: Vec<u32> =
                    all(Mode::Wom1).flat_map(|s| l.program(Mode::Wom1, s).iter()).collect();
                assert_eq!(once, (0..pages).collect::<Vec<_>>(), "{order:?} {bits} {pages}");
                let again: Vec<u32> =
                    all(Mode::Wom2).flat_map(|s| l.program(Mode::Wom2, s).iter()).collect();
                assert!(again.is_sorted_by(|a, b| a < b), "{again:?}");
                assert!(again.iter().all(|p| safe(*p)), "{again:?}");
                for slot in all(Mode::Wom1) {
                    let kept = l.is_kept(Mode::Wom2, slot);
                    let read = l.read(Mode::Wom1, slot);
                    assert_eq!(l.read(Mode::Wom2, slot), read, "a slot stays where it is");
                    assert_eq!(kept, read.count == 1, "plain slots are kept, coded ones not");
                    // A second program never writes the page from which a kept slot is read.
                    assert!(!kept || !again.contains(&read.first));
                }
            }
        }
        assert!(cases > 15);
    }

    /// Grupp 4.2: 1.16 times as many bytes for an erase on two bits, 1.33 on one. One page of 64 is
    /// left over from the groups of three.
    #[test]
    fn bytes_for_an_erase() {
        for (order, bits, pages, slots) in [
            (PageOrder::Shadow, 2, 128, (64 + 1 + 42, 42)),
            (PageOrder::ShadowPairs, 2, 128, (64 + 1 + 42, 42)),
            (PageOrder::Cyclic, 1, 64, (1 + 42, 42)),
        ] {
            let l = Layouts::write_once(&chip(pages, bits, order));
            assert_eq!((l.slots(Mode::Wom1), l.slots(Mode::Wom2)), slots);
            let gain = f64::from(slots.0 + slots.1) / f64::from(pages);
            let published: f64 = if bits == 1 { 1.33 } else { 1.16 };
            assert!((gain - published).abs() < 0.006, "{gain}");
        }
        // The pages of chip C-MLC64 that the paper names: all odd ones, but for the last, which
        // disturbs page 125; page 0 is in its place.
        let shadow = Layouts::write_once(&chip(128, 2, PageOrder::Shadow));
        let written = names(&shadow, Mode::Wom2).into_iter();
        let again: Vec<u32> = written.flat_map(|s| shadow.program(Mode::Wom2, s).iter()).collect();
        assert_eq!(again[..4], [0, 1, 3, 5]);
        assert_eq!((again.len(), again[62]), (63, 123));
    }

    #[test]
    fn reading_a_straddling_slot_senses_both_its_pages() {
        let l = Layouts::new(6);
        assert_eq!(l.read(Mode::Wom1, 3), PageRange::new(3, 2));
        assert_eq!(l.read(Mode::Wom1, 4), PageRange::new(4, 2));
        assert_eq!(l.read(Mode::LowDensity, 4), PageRange::new(4, 1));
        assert!(!l.is_slot(Mode::LowDensity, 2));
    }
}
