//! Family placement: which plane takes the next page?

use ftl::{Load, Lpn, Placement};
use kernel::Prio;
use nand::PlaneId;

crate::family::family! { $
    /// Family placement.
    PlacementPolicy: Placement {
        dynamic: dynamic::Dynamic,
        fixed: fixed::Static,
    }
    #[inline]
    fn place(&mut self, load: &Load<'_>, lpn: Lpn, prio: Prio) -> Option<PlaneId>;
    #[inline]
    fn spread(&mut self, lpn: Lpn) -> PlaneId;
    fn is_free(&self) -> bool;
}
