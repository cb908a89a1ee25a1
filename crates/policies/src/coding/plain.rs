//! `plain`: bits as they came.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Coding, FtlView, NextLife, Watch};
use nand::{BlockId, Mode};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "plain",
    summary: "Bits as the host gave them.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Coding)
};

/// Coding: bits as the host gave them.
#[derive(Copy, Clone, Default, Debug)]
pub struct Plain;

impl Watch for Plain {}

impl Coding for Plain {
    fn plain(&self) -> bool {
        true
    }

    fn first_life(&self, block: BlockId) -> Mode {
        unreachable!("{block:?} is and stays plain")
    }

    fn next_life(&mut self, _: &FtlView<'_>, block: BlockId) -> NextLife {
        unreachable!("{block:?} is and stays plain")
    }
}

pub(crate) fn new(_: &Params) -> Plain {
    Plain
}
