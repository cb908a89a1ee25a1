//! Family **placement**: which plane takes the next page?

use super::watch::Watch;
use crate::Lpn;
use crate::stream::StreamId;
use crate::view::Load;
use kernel::Prio;
use nand::PlaneId;

/// The plane and stream of a host write.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HostDest {
    /// The plane.
    pub plane: PlaneId,
    /// The stream.
    pub stream: StreamId,
}

/// Family **placement**: which plane takes the next page?
pub trait Placement: Watch {
    /// A plane with room (`load.writable`) for this page; `None` when the page must wait.
    fn place(&mut self, load: &Load<'_>, lpn: Lpn, prio: Prio) -> Option<HostDest>;
    /// A plane for data that was there before the run: spread evenly, without looking at load.
    fn spread(&mut self, lpn: Lpn) -> PlaneId;
    /// Whether a page may go to any plane, or only to the one that its number says.
    fn is_free(&self) -> bool;
}
