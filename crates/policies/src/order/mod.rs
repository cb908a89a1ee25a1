//! Family order: which flash operation goes next on a free die?

use ftl::{OpView, Order, Waited};
use kernel::Time;

crate::family::family! { $
    /// Family order.
    OrderPolicy: Order {
        fifo: fifo::Fifo,
        read_first: read_first::ReadFirst,
        bounded_read_first: bounded_read_first::BoundedReadFirst,
        priority: priority::Priority,
        collection_first: collection_first::CollectionFirst,
    }
    #[inline]
    fn pick(&mut self, heads: &[OpView], now: Time) -> usize;
    fn is_first_come(&self) -> bool;
    fn uses_priority(&self) -> bool;
    fn pick_by_waits(&mut self, heads: &[OpView], waits: &[Waited], now: Time) -> usize;
    fn watches_waits(&self) -> bool;
    fn may_suspend(
        &mut self, running: &OpView, waited: Waited, read: &OpView, now: Time
    ) -> bool;
}

/// The position of the earliest head that `requested` accepts.
#[inline]
fn first(heads: &[OpView], requested: impl Fn(&OpView) -> bool) -> Option<usize> {
    let eligible = heads.iter().enumerate().filter(|(_, h)| requested(h));
    eligible.min_by_key(|(_, h)| h.seq).map(|(i, _)| i)
}
