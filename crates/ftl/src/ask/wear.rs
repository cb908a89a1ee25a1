//! Family **wear**: which cold data moves to which worn block?

use super::throttle::Life;
use super::watch::Watch;
use crate::plan::Plan;
use crate::view::PlaneView;
use nand::BlockId;

/// What a wear leveller may do after an erase.
pub struct Balance<'a> {
    /// The plane whose block was erased.
    pub plane: PlaneView<'a>,
    /// The block.
    pub erased: BlockId,
}

/// Family **wear**: which cold data moves to which worn block?
pub trait Wear: Watch {
    /// What the flash stands. Called once, before anything else.
    fn learn_life(&mut self, _: &Life) {}
    /// Whether it ever moves anything; if not it is never asked.
    fn active(&self) -> bool;
    /// Asked after every erase that garbage collection or refresh caused.
    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan);
}

/// Wear: nothing is moved.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoWear;

impl Watch for NoWear {}

impl Wear for NoWear {
    fn active(&self) -> bool {
        false
    }

    fn balance(&mut self, _: &Balance<'_>, _: &mut Plan) {}
}
