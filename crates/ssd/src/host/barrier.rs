//! The set that a flush waits for: every write that came before it and could still be lost.
//!
//! Flushes cut the writes into *epochs*. Each write, and each page of a volatile buffer, is counted
//! in the epoch in which it came, until it is safe. A flush ends an epoch, and is done when nothing
//! is left in its own and in those before. So a write costs two additions, however many flushes wait.

use std::collections::VecDeque;

/// The writes that could still be lost, by epoch.
#[derive(Default)]
pub(crate) struct Barrier {
    /// The number of the current epoch.
    current: u32,
    /// Its writes that are not safe.
    open: u32,
    /// The earlier epochs that are not all safe, oldest first: the number of unsafe writes, and the
    /// flush that waits for them.
    ended: VecDeque<(u32, u32)>,
}

impl Barrier {
    /// The epoch of data that comes now.
    #[inline]
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// A write comes that is not safe. Returns its epoch.
    #[inline]
    pub(crate) fn enter(&mut self) -> u32 {
        self.open += 1;
        self.current
    }

    /// A copy of data in an epoch comes, and is itself not safe.
    #[inline]
    pub(crate) fn join(&mut self, epoch: u32) {
        *self.left(epoch) += 1;
    }

    /// A write is safe. Returns whether a flush may be done.
    #[inline]
    pub(crate) fn leave(&mut self, epoch: u32) -> bool {
        if epoch == self.current {
            self.open -= 1;
            return false;
        }
        *self.left(epoch) -= 1;
        true
    }

    #[cold]
    fn left(&mut self, epoch: u32) -> &mut u32 {
        let behind = self.current.wrapping_sub(epoch) as usize;
        let Some(at) = self.ended.len().checked_sub(behind).filter(|_| behind > 0) else {
            return &mut self.open;
        };
        &mut self.ended[at].0
    }

    /// A flush ends the current epoch. Returns whether it is done at once.
    pub(crate) fn end(&mut self, flush: u32) -> bool {
        if self.open == 0 && self.ended.is_empty() {
            return true;
        }
        self.ended.push_back((self.open, flush));
        self.open = 0;
        self.current = self.current.wrapping_add(1);
        false
    }

    /// Whether a flush waits.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Takes the oldest flush, if it is done.
    pub(crate) fn take_done(&mut self) -> Option<u32> {
        let &(left, flush) = self.ended.front()?;
        (left == 0).then(|| {
            self.ended.pop_front();
            flush
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with a list of every write and every flush, by random steps.
    #[test]
    fn a_flush_is_done_when_all_before_it_are_safe() {
        for seed in 0..200 {
            let mut rng = kernel::Rng::named(seed, "barrier");
            let mut barrier = Barrier::default();
            let mut unsafe_: Vec<(u64, u32)> = Vec::new();
            let mut waiting: Vec<(u64, u32)> = Vec::new();
            for step in 0..300_u64 {
                match rng.below(4) {
                    0 => unsafe_.push((step, barrier.enter())),
                    1 if !unsafe_.is_empty() => {
                        let (came, epoch) = unsafe_[rng.below(unsafe_.len() as u32) as usize];
                        barrier.join(epoch);
                        unsafe_.push((came, epoch));
                    }
                    2 if !unsafe_.is_empty() => {
                        let at = rng.below(unsafe_.len() as u32) as usize;
                        let (_, epoch) = unsafe_.swap_remove(at);
                        if barrier.leave(epoch) {
                            while let Some(flush) = barrier.take_done() {
                                let (came, id) = waiting.remove(0);
                                assert_eq!(id, flush);
                                assert!(unsafe_.iter().all(|&(at, _)| at > came));
                            }
                        }
                    }
                    3 => {
                        let done = barrier.end(step as u32);
                        assert_eq!(done, unsafe_.is_empty() && waiting.is_empty());
                        if !done {
                            waiting.push((step, step as u32));
                        }
                    }
                    _ => {}
                }
                let oldest = waiting.first().map(|&(came, _)| came);
                let due = oldest.is_some_and(|came| unsafe_.iter().all(|&(at, _)| at > came));
                assert!(!due, "seed {seed}: a flush that waits for nothing");
            }
        }
    }
}
