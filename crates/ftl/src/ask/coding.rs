//! Family **coding**: how do bits lie on cells, and may a block be programmed again before an erase?

use super::watch::Watch;
use crate::view::FtlView;
use nand::{BlockId, Geometry, Layouts, Mode};

/// What becomes of a block whose data has moved away.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NextLife {
    /// It is erased and starts in this mode.
    Erase(Mode),
    /// It is written a second time as it is (a write-once-memory code's second generation).
    SecondGeneration,
}

/// Family **coding**: how do bits lie on cells, and may a block be programmed again before an
/// erase?
pub trait Coding: Watch {
    /// Whether every block is and stays plain; then it is never asked.
    fn plain(&self) -> bool {
        false
    }
    /// Where slots lie in the blocks of an array, for the modes that it uses.
    fn layouts(&self, geometry: &Geometry) -> Layouts {
        Layouts::new(geometry.pages_per_block())
    }
    /// Slots of each plane that it keeps from data.
    fn spare_slots(&self, _: &Geometry) -> u64 {
        0
    }
    /// The mode of a block that was never written.
    fn first_life(&self, block: BlockId) -> Mode;
    /// What becomes of this block. Asked when it closes (to rank it, by what an erase would gain)
    /// and when it is reclaimed: for a second generation its pages outside the slots of
    /// [`Mode::Wom2`] stay where they are.
    fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife;
}

/// Coding: bits as the host gave them.
#[derive(Copy, Clone, Default, Debug)]
pub struct Plain;

impl Watch for Plain {}

impl Coding for Plain {
    fn plain(&self) -> bool {
        true
    }

    fn first_life(&self, _: BlockId) -> Mode {
        Mode::Full
    }

    fn next_life(&mut self, _: &FtlView<'_>, _: BlockId) -> NextLife {
        NextLife::Erase(Mode::Full)
    }
}
