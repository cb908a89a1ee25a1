//! Ranges of pages of a block.

/// Some pages of a block, at equal distances.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PageRange {
    /// The first page.
    pub first: u32,
    /// How many pages.
    pub count: u32,
    /// The distance from one page to the next; 1: neighbours.
    pub step: u32,
}

impl PageRange {
    /// Neighbouring pages.
    #[inline]
    pub const fn new(first: u32, count: u32) -> Self {
        Self { first, count, step: 1 }
    }

    /// The page after the last.
    #[inline]
    pub fn end(self) -> u32 {
        self.first + self.count.saturating_sub(1) * self.step + u32::from(self.count > 0)
    }

    /// The pages.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..self.count).map(move |i| self.first + i * self.step)
    }
}
