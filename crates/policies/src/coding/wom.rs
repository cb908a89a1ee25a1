//! `wom`: a write-once-memory code, two generations between two erases.
//!
//! Grupp et al., MICRO 2009, 4.2, after Rivest and Shamir (1982). Two bits lie on three cells, and
//! can be written over once by programming further cells only.
//!
//! Pages that endure a second program hold data in this code, three pages for two. These are all
//! pages of single-bit cells, and those of first bits if cells hold several, because programming
//! them again disturbs no other page. The others hold plain data.
//!
//! When garbage collection reclaims a block of the first generation, it moves the valid data of the
//! coded pages away and writes these pages a second time. Valid data on the others stays. After the
//! second generation the block is erased.
//!
//! So more is written for each erase (7/6 for two bits, 4/3 for one), and less fits into the flash
//! at a time (5/6 and 2/3). The erases that the code saves come from the spare space, and a lack of
//! spare space costs copies.
//!
//! The second generation has to be worth its copies. If too many of the coded pages are still
//! valid, the block is erased instead.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Coding, FtlView, Interests, NextLife, State, Watch};
use kernel::Time;
use nand::{BlockId, Geometry, Layouts, Mode, UnitSizes};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "wom",
    aliases: &["write-once"],
    summary: "Pages that endure it are written twice between two erases, in a code of two bits on \
              three cells.",
    paper: "Grupp, Caulfield, Coburn, Swanson, Yaakobi, Siegel and Wolf, Characterizing flash \
            memory: anomalies, observations, and applications, MICRO 2009; the code: Rivest and \
            Shamir, How to reuse a write-once memory, 1982",
    params: &[ParamInfo {
        name: "least-gain",
        kind: ParamKind::Real { min: 0.0, max: 1.0 },
        default: "0.5",
        doc: "The share of the slots of a second generation that must hold no valid page for it; \
              otherwise the block is erased.",
    }],
    needs: &["read-disturb=none"],
    forbids: &["page-choice=mango"],
    misfit: |geometry| {
        if geometry.units() != UnitSizes::PAGE {
            return Some(
                "it codes pages one by one, and this drive maps parts of pages or programs several \
                 together: its mapping unit must be a page, and a program one page"
                    .into(),
            );
        }
        let safe = safe_pages(geometry);
        (safe < 3).then(|| {
            format!(
                "it needs three pages of a block that endure a second program, and blocks of this \
                 drive have {safe}"
            )
        })
    },
    ..PolicyInfo::of(Family::Coding)
};

/// Two generations between two erases.
#[derive(Clone, Debug)]
pub struct Wom {
    least_gain: f64,
    refused: u64,
    ended: u64,
}

pub(crate) fn new(params: &Params) -> Wom {
    Wom { least_gain: params.real("least-gain"), refused: 0, ended: 0 }
}

/// Pages of a block that endure a second program.
fn safe_pages(geometry: &Geometry) -> usize {
    let safe = |page: &u32| geometry.disturbed_by_reprogram(*page).count == 0;
    (0..geometry.pages_per_block()).filter(safe).count()
}

impl Watch for Wom {
    fn interests(&self) -> Interests {
        Interests::BLOCK
    }

    fn on_erase(&mut self, _: BlockId, _: Time) {
        self.ended += 1;
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("generations_ended", self.ended as f64), ("refused", self.refused as f64)]
    }
}

impl Coding for Wom {
    fn layouts(&self, geometry: &Geometry) -> Layouts {
        Layouts::write_once(geometry)
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        let lost = geometry.pages_per_block() - self.layouts(geometry).slots(Mode::Wom1);
        u64::from(lost) * geometry.blocks_per_plane() as u64
    }

    fn first_life(&self, _: BlockId) -> Mode {
        Mode::Wom1
    }

    fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife {
        let (layouts, mode) = (view.layouts, view.modes[block]);
        let complete = layouts.slot_from(mode, view.blocks.written(block)).is_none();
        if mode != Mode::Wom1 || !complete {
            return NextLife::Erase(Mode::Wom1);
        }
        let (mut slots, mut valid, mut at) = (0_u32, 0_u32, 0);
        while let Some(slot) = layouts.slot_from(Mode::Wom2, at) {
            slots += 1;
            valid += u32::from(view.map.is_valid(block, slot));
            at = slot + 1;
        }
        let won = slots - valid;
        if won > 0 && f64::from(won) >= self.least_gain * f64::from(slots) {
            return NextLife::SecondGeneration;
        }
        self.refused += u64::from(view.blocks.state(block) == State::Moving);
        NextLife::Erase(Mode::Wom1)
    }
}
