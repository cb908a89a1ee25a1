//! Family page-choice: which page of the open block takes this write?

use ftl::{FreePick, FtlView, PageChoice, Pick, StreamId, StreamSpec, WriteCtx, WritePoint};
use kernel::Dur;
use nand::{Geometry, Tag};

crate::family::family! { $
    /// Family page-choice.
    PageChoicePolicy: PageChoice {
        in_order: in_order::InOrder,
        mango: Box<mango::Mango>,
    }
    fn in_order(&self) -> bool;
    fn learn_times(&mut self, program: &[Dur; 4]);
    fn streams(&self) -> Vec<StreamSpec>;
    fn learn_streams(&mut self, first: StreamId);
    fn urgent_stream(&self) -> Option<StreamId>;
    fn gc_pick(&self) -> Option<FreePick>;
    fn spare_slots(&self, geometry: &Geometry) -> u64;
    fn stream(&mut self, to: StreamId, tag: Tag) -> StreamId;
    fn pick(&mut self, view: &FtlView<'_>, at: &WritePoint, w: &WriteCtx) -> Pick;
}
