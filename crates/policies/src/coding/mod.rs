//! Family coding: how do bits lie on cells, and may a block be programmed again before an erase?

use ftl::{Coding, FtlView, NextLife};
use nand::{BlockId, Geometry, Layouts, Mode};

crate::family::family! { $
    /// Family coding.
    CodingPolicy: Coding {
        plain: plain::Plain,
        wom: wom::Wom,
    }
    fn plain(&self) -> bool;
    fn layouts(&self, geometry: &Geometry) -> Layouts;
    fn spare_slots(&self, geometry: &Geometry) -> u64;
    fn first_life(&self, block: BlockId) -> Mode;
    fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife;
}
