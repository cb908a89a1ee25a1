//! Everything in which modes differ, besides their layouts.
//!
//! [`ModeSpec::of_modes`] gives each mode all of it. Its match has no arm for modes that nobody
//! thought of, so a mode without times, energies, endurance or an error model does not compile.

use crate::{Each, Energies, Mode, Timing};

/// A thousandth of the wear that a block has from one program/erase cycle at full density.
pub const CYCLE: u32 = 1_000;

/// How the errors of a page depend on the mode of its block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ErrorModel {
    /// All levels of the cells are used.
    Dense,
    /// Guard levels lie between the levels: reads disturb such a page a tenth as much.
    Guarded,
    /// One bit in a cell. The model of the cells has no constants for such blocks, so a drive with
    /// both is refused.
    Single,
}

/// The properties of a mode.
#[derive(Clone, PartialEq, Debug)]
pub struct ModeSpec {
    /// The times of its operations.
    pub timing: Timing,
    /// Their energies, if the drive gives them.
    pub energy: Option<Energies>,
    /// The wear of a cycle in thousandths of a cycle at full density, at least 1: 1000 times the
    /// endurance at full density over that in this mode.
    pub wear: u32,
    /// The errors of its pages.
    pub errors: ErrorModel,
}

impl ModeSpec {
    /// Blocks at full density.
    pub fn full(timing: Timing, energy: Option<Energies>) -> Self {
        Self { timing, energy, wear: CYCLE, errors: ErrorModel::Dense }
    }

    /// Blocks whose cells hold one bit. A block endures `full` cycles at full density and
    /// `single` cycles with one bit in a cell, both at least 1.
    pub fn single(timing: Timing, energy: Option<Energies>, full: u32, single: u32) -> Self {
        let wear = u64::from(CYCLE) * u64::from(full) / u64::from(single.max(1));
        let wear = u32::try_from(wear.max(1)).unwrap_or(u32::MAX);
        Self { timing, energy, wear, errors: ErrorModel::Single }
    }

    /// The properties of every mode of a drive. `single` is present if the drive uses blocks with
    /// one bit in a cell.
    pub fn of_modes(full: &Self, single: Option<&Self>) -> Each<Mode, Self> {
        Each::from_fn(|mode| match mode {
            Mode::Full | Mode::Wom1 | Mode::Wom2 => full.clone(),
            Mode::LowDensity => Self { errors: ErrorModel::Guarded, ..full.clone() },
            Mode::Slc => single.unwrap_or(full).clone(),
        })
    }
}
