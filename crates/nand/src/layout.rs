//! Slots: where logical pages lie in a block of each mode.
//!
//! A slot is named by a page index of its block, so that a block which changes mode in place
//! (guard levels by in-place reprogramming) keeps the names of the slots it keeps. Modes repeat a
//! small group of pages; within it a table says which offsets are slots and which pages each
//! touches. A block whose last group would be cut short does not use it.

use crate::Mode;

/// Some neighbouring pages of a block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PageRange {
    /// The first page.
    pub first: u32,
    /// How many pages.
    pub count: u32,
}

impl PageRange {
    /// The page after the last.
    #[inline]
    pub fn end(self) -> u32 {
        self.first + self.count
    }

    /// The pages.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        self.first..self.end()
    }
}

/// The pages of one slot, relative to its group.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SlotSpan {
    /// The slot's name: its offset in the group.
    pub offset: u16,
    /// First page read, and how many.
    pub read: (u16, u16),
    /// First page that writing this slot completes, and how many: `(offset, 2)` for the second
    /// slot of a group whose pages straddle.
    pub program: (u16, u16),
}

/// The slots of one mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    group: u16,
    slots: Vec<SlotSpan>,
}

impl Layout {
    /// Every page is a slot.
    pub fn plain() -> Self {
        Self { group: 1, slots: vec![SlotSpan { offset: 0, read: (0, 1), program: (0, 1) }] }
    }

    /// Groups of `group` pages with the given slots, in ascending order of offset and page.
    pub fn new(group: u16, slots: Vec<SlotSpan>) -> Self {
        assert!(group > 0 && !slots.is_empty(), "a layout needs slots");
        let mut next = 0;
        for slot in &slots {
            assert!(slot.program.0 >= next && slot.offset < group, "slots must ascend");
            next = slot.program.0 + slot.program.1;
            assert!(next <= group && slot.program.1 > 0 && slot.read.1 > 0, "slots must fit");
        }
        Self { group, slots }
    }

    /// Guard levels on three bits: the page of the most significant bit holds no data but is
    /// programmed with the page before it, which completes the guard levels.
    pub fn guard_levels() -> Self {
        Self::new(
            3,
            vec![
                SlotSpan { offset: 0, read: (0, 1), program: (0, 1) },
                SlotSpan { offset: 1, read: (1, 1), program: (1, 2) },
            ],
        )
    }

    /// A code of rate two thirds: two logical pages on three physical ones, the middle one shared.
    pub fn two_thirds() -> Self {
        Self::new(
            3,
            vec![
                SlotSpan { offset: 0, read: (0, 2), program: (0, 1) },
                SlotSpan { offset: 1, read: (1, 2), program: (1, 2) },
            ],
        )
    }
}

/// The layout of every mode, for blocks of a given number of pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layouts {
    pages: u32,
    modes: [Layout; 4],
}

impl Layouts {
    /// The layouts of a drive with `pages` pages in a block.
    pub fn new(pages: u32) -> Self {
        let modes =
            [Layout::plain(), Layout::guard_levels(), Layout::two_thirds(), Layout::two_thirds()];
        Self { pages, modes }
    }

    /// Replaces the layout of one mode.
    #[must_use]
    pub fn with(mut self, mode: Mode, layout: Layout) -> Self {
        self.modes[mode as usize] = layout;
        self
    }

    /// How many slots a block of this mode has.
    pub fn slots(&self, mode: Mode) -> u32 {
        let layout = &self.modes[mode as usize];
        self.pages / u32::from(layout.group) * layout.slots.len() as u32
    }

    /// How many slots of this mode lie before page index `end`.
    pub fn slots_before(&self, mode: Mode, end: u32) -> u32 {
        let layout = &self.modes[mode as usize];
        let (groups, rest) = (end / u32::from(layout.group), end % u32::from(layout.group));
        let begun = layout.slots.iter().filter(|s| u32::from(s.offset) < rest).count() as u32;
        (groups * layout.slots.len() as u32 + begun).min(self.slots(mode))
    }

    /// The first slot at or after page index `from`, if there is one.
    pub fn slot_from(&self, mode: Mode, from: u32) -> Option<u32> {
        let layout = &self.modes[mode as usize];
        let size = u32::from(layout.group);
        let (mut group, offset) = (from / size, from % size);
        let found = layout.slots.iter().find(|s| u32::from(s.offset) >= offset);
        let slot = found.unwrap_or_else(|| {
            group += 1;
            &layout.slots[0]
        });
        ((group + 1) * size <= self.pages).then(|| group * size + u32::from(slot.offset))
    }

    /// Whether `slot` names a slot of this mode.
    pub fn is_slot(&self, mode: Mode, slot: u32) -> bool {
        self.slot_from(mode, slot) == Some(slot)
    }

    /// The pages that reading a slot senses.
    pub fn read(&self, mode: Mode, slot: u32) -> PageRange {
        let (group, span) = self.span(mode, slot);
        PageRange { first: group + u32::from(span.read.0), count: span.read.1.into() }
    }

    /// The pages that writing a slot programs.
    pub fn program(&self, mode: Mode, slot: u32) -> PageRange {
        let (group, span) = self.span(mode, slot);
        PageRange { first: group + u32::from(span.program.0), count: span.program.1.into() }
    }

    fn span(&self, mode: Mode, slot: u32) -> (u32, SlotSpan) {
        let layout = &self.modes[mode as usize];
        let size = u32::from(layout.group);
        let offset = slot % size;
        let span = layout.slots.iter().find(|s| u32::from(s.offset) == offset);
        (slot - offset, *span.expect("a page index that is a slot of this mode"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(names(&l, Mode::Low), [0, 1, 3, 4]);
        assert_eq!(names(&l, Mode::Wom1), [0, 1, 3, 4]);
        for mode in Mode::ALL {
            assert_eq!(l.slots(mode) as usize, names(&l, mode).len(), "{mode:?}");
            for end in 0..=7 {
                let before = names(&l, mode).iter().filter(|slot| **slot < end).count();
                assert_eq!(l.slots_before(mode, end) as usize, before, "{mode:?} before {end}");
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

    #[test]
    fn reading_a_straddling_slot_senses_both_its_pages() {
        let l = Layouts::new(6);
        assert_eq!(l.read(Mode::Wom1, 3), PageRange { first: 3, count: 2 });
        assert_eq!(l.read(Mode::Wom1, 4), PageRange { first: 4, count: 2 });
        assert_eq!(l.read(Mode::Low, 4), PageRange { first: 4, count: 1 });
        assert!(!l.is_slot(Mode::Low, 2));
    }
}
