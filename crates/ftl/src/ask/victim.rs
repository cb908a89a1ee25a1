//! Family **victim**: which block is reclaimed?

use super::watch::Watch;
use crate::view::PlaneView;
use kernel::Rng;
use nand::{BlockId, Tag};

/// Family **victim**: which block is reclaimed?
pub trait Victim: Watch {
    /// A candidate of the plane. The FTL checks it, and gives up when the plane has nothing to
    /// gain. Asked once for each block reclaimed, never for each page.
    fn choose(&mut self, plane: &PlaneView<'_>, why: Tag, rng: &mut Rng) -> Option<BlockId>;
}
