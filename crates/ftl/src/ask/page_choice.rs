//! Family **page-choice**: which page of the open block takes this write?

use super::cost::WriteCtx;
use super::watch::Watch;
use crate::stream::{FreePick, StreamId, StreamSpec};
use crate::view::FtlView;
use kernel::Dur;
use nand::{BlockId, Geometry, Tag};

/// The page that a write takes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pick {
    /// This slot of the open block, at or after its pointer; slots passed over are given up.
    Slot(u32),
    /// One of a block opened in this one's place, whose remaining slots are given up. Only where
    /// [`WritePoint::may_open`].
    NextBlock,
}

/// Where a write goes if nobody looks further.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WritePoint {
    /// The open block.
    pub block: BlockId,
    /// Its next slot.
    pub next: u32,
    /// Whether the plane can lend another block without its reserve.
    pub may_open: bool,
    /// Whether the plane has its reserve: without it, what garbage collection is about to move
    /// needs every slot of the open block.
    pub reserved: bool,
}

/// Family **page-choice**: which page of the open block takes this write?
#[allow(unused_variables)]
pub trait PageChoice: Watch {
    /// Whether it always takes the next slot; then it is never asked.
    fn in_order(&self) -> bool {
        false
    }
    /// How long a program of each page type takes. Called once, before anything else.
    fn learn_times(&mut self, program: &[Dur; 4]) {}
    /// Streams of its own. Asked after [`Watch::attach`].
    fn streams(&self) -> Vec<StreamSpec> {
        Vec::new()
    }
    /// The id of the first of them; the others follow.
    fn learn_streams(&mut self, first: StreamId) {}
    /// That of them which only urgent writes go to, if there is one. Asked after
    /// [`PageChoice::learn_streams`].
    fn urgent_stream(&self) -> Option<StreamId> {
        None
    }
    /// Which free block garbage collection opens, if that matters.
    fn gc_pick(&self) -> Option<FreePick> {
        None
    }
    /// Slots of each plane that its streams keep from data.
    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        0
    }
    /// The stream that takes a write meant for `to`.
    fn stream(&mut self, to: StreamId, tag: Tag) -> StreamId {
        to
    }
    /// Chooses among the slots of a block from its next on.
    fn pick(&mut self, view: &FtlView<'_>, at: &WritePoint, w: &WriteCtx) -> Pick;
}

/// Page-choice: the next page.
#[derive(Copy, Clone, Default, Debug)]
pub struct InOrder;

impl Watch for InOrder {}

impl PageChoice for InOrder {
    fn in_order(&self) -> bool {
        true
    }

    fn pick(&mut self, _: &FtlView<'_>, at: &WritePoint, _: &WriteCtx) -> Pick {
        Pick::Slot(at.next)
    }
}
