//! Family order: which flash operation goes next on a free die?

pub mod collection_first;
pub mod fifo;
pub mod priority;
pub mod read_first;

use ftl::OpView;

/// The position of the head that came first among those that `wanted` accepts.
#[inline]
fn first(heads: &[OpView], wanted: impl Fn(&OpView) -> bool) -> Option<usize> {
    let eligible = heads.iter().enumerate().filter(|(_, h)| wanted(h));
    eligible.min_by_key(|(_, h)| h.seq).map(|(i, _)| i)
}
