//! Program buffers: if one command programs several pages, a page waits in memory for others.
//!
//! Three kinds of pages wait so: writes of the host, pages that a job moves, and pages that filling
//! and ageing write. The owner decides when a buffer is programmed before it is full. Missing pages
//! are then padding.

use std::vec::Drain;

/// Pages that wait to be programmed together, in the order in which they came. `P` identifies a page,
/// and `T` is kept with it.
#[derive(Clone, Debug)]
pub struct ProgramBuffer<P, T> {
    pages: Vec<(P, T)>,
}

impl<P, T> Default for ProgramBuffer<P, T> {
    fn default() -> Self {
        Self { pages: Vec::new() }
    }
}

impl<P: Copy + PartialEq, T> ProgramBuffer<P, T> {
    /// How many pages wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Whether a command that programs `unit` pages has no padding.
    #[inline]
    pub fn fills(&self, unit: u32) -> bool {
        self.pages.len() >= unit as usize
    }

    /// The pages, in order.
    pub fn pages(&self) -> impl ExactSizeIterator<Item = P> {
        self.pages.iter().map(|(page, _)| *page)
    }

    /// The pages with what is kept with them, in order.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = &(P, T)> {
        self.pages.iter()
    }

    /// Brings the first `pages` pages to the front for which `is` holds. All others keep their order.
    pub(crate) fn bring_forward(&mut self, pages: u32, is: impl Fn(&T) -> bool) {
        let mut front = 0;
        for at in 0..self.pages.len() {
            if front < pages as usize && is(&self.pages[at].1) {
                self.pages[front..=at].rotate_right(1);
                front += 1;
            }
        }
    }

    fn position(&self, page: P) -> Option<usize> {
        // A page is rarely in the buffer: several are compared at a time.
        let holds = |some: &[(P, T)]| some.iter().filter(|(known, _)| *known == page).count() > 0;
        if !self.pages.chunks(16).any(holds) {
            return None;
        }
        self.pages.iter().position(|(known, _)| *known == page)
    }

    /// Whether a page waits.
    #[inline]
    pub fn has(&self, page: P) -> bool {
        self.position(page).is_some()
    }

    /// Adds a page that the buffer does not hold.
    #[inline]
    pub fn push(&mut self, page: P, of: T) {
        self.pages.push((page, of));
    }

    /// Writes a page. A page that waits already keeps its place, and its former value is returned.
    pub fn write(&mut self, page: P, of: T) -> Option<T> {
        let Some(at) = self.position(page) else {
            self.push(page, of);
            return None;
        };
        Some(std::mem::replace(&mut self.pages[at].1, of))
    }

    /// A page is trimmed. Returns the value that was kept with it, if the buffer held it.
    pub fn remove(&mut self, page: P) -> Option<T> {
        self.position(page).map(|at| self.pages.remove(at).1)
    }

    /// Drops the pages for which `holds` is false. Returns their number.
    #[inline]
    pub fn retain(&mut self, mut holds: impl FnMut(P) -> bool) -> u64 {
        let before = self.pages.len();
        self.pages.retain(|(page, _)| holds(*page));
        (before - self.pages.len()) as u64
    }

    /// Takes the pages of the next command that programs `unit` pages.
    #[inline]
    pub fn take(&mut self, unit: u32) -> Drain<'_, (P, T)> {
        let most = self.pages.len().min(unit as usize);
        self.pages.drain(..most)
    }

    /// Appends all pages of another buffer, which is empty afterwards.
    pub fn append(&mut self, other: &mut Self) {
        self.pages.append(&mut other.pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_place_when_it_is_written_again() {
        let mut buffer = ProgramBuffer::default();
        for page in 0..40 {
            assert!(!buffer.fills(40));
            assert_eq!(buffer.write(page, 10 * page), None);
        }
        assert!(buffer.fills(40) && buffer.has(39) && !buffer.has(40));
        for page in [0, 15, 16, 39] {
            assert_eq!(buffer.write(page, 7), Some(10 * page), "page {page}");
        }
        assert_eq!(buffer.pages().collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
        assert_eq!((buffer.remove(16), buffer.remove(16), buffer.len()), (Some(7), None, 39));
    }

    #[test]
    fn a_command_takes_the_first_pages_and_the_rest_waits() {
        let mut buffer = ProgramBuffer::default();
        (0..10).for_each(|page| buffer.push(page, ()));
        assert_eq!(buffer.retain(|page| page % 2 == 0), 5);
        let taken: Vec<_> = buffer.take(3).map(|(page, ())| page).collect();
        assert_eq!((taken, buffer.fills(3)), (vec![0, 2, 4], false));
        assert_eq!(buffer.take(3).map(|(page, ())| page).collect::<Vec<_>>(), [6, 8]);
        assert!(buffer.is_empty());
    }
}
