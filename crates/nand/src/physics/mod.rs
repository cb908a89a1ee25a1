//! The physics of cells: pure functions of cycles, volts, hours and reads, without state.
//!
//! | matter | file | source |
//! |---|---|---|
//! | charge trapping and self-recovery → achievable cycles | `recovery` | READY Eq. 1–3 |
//! | bytes, rates and years of a number of cycles | `endurance` | READY 2, JESD218 |
//! | step size → program time, spread, errors by wear and time | `ispp` | AGCR Eq. 1; Pan et al. |
//! | sensing → correctable errors, read time | `sensing` | AGCR Eq. 2 |
//! | codewords that cannot be corrected | `codeword` | binomial tail, JESD218 |
//! | read and program disturb | `disturb` | Cai et al., IPR, Grupp |
//! | all errors of a page; a table of them | `rber` | the above, added |
//! | program time and wear | `aging` | Grupp Fig. 5 |
//! | wear of in-place reprogramming | `ipr` | IPR Fig. 7 |
//! | samples and pages that differ | `variation` | Gerardin et al.; assumed |
//!
//! `docs/physics.md` has the equations, the source of each constant, and the assumptions. Nothing
//! is temperature dependent: READY fixes 25 °C, the other sources do not say.
//!
//! ```
//! use floatgate_nand::physics::{Cell, Ldpc, MARGIN_VOLTS, Recovery, STEP_VOLTS};
//!
//! // A block that rests for ten hours between cycles lives on beyond its 3000.
//! let cycles = Recovery::FITTED.achievable_cycles(10.0, MARGIN_VOLTS);
//! assert!(cycles > 10_000.0);
//!
//! // Data of a year in a worn MLC need more than a plain read.
//! let rber = Cell::new(2, 3000.0).worst_rber(STEP_VOLTS, 3000.0, 8760.0);
//! assert_eq!(Ldpc::DEFAULT.step_for(rber), Some(1));
//! ```

mod aging;
mod codeword;
mod disturb;
mod endurance;
mod ipr;
mod ispp;
mod math;
mod rber;
mod recovery;
mod sensing;
mod variation;

pub use aging::{program_time_factor, speed_up_at_rating};
pub use codeword::Codeword;
pub use disturb::{
    GUARDED_READ_LIMIT, HARMLESS_REPROGRAMS, REPROGRAMMED_PAGE, read_limit, read_slope,
    reprogrammed_partner,
};
pub use endurance::{YEAR_SECONDS, drive_writes_per_day, programmable_bytes, static_rate};
pub use ipr::{FLAT, endured_cycles, measured_wear, surcharge, wear};
pub use ispp::{Cell, STEP_VOLTS, Volts, program_us, step_of_time};
pub use math::{mean_upper_tail, upper_tail};
pub use rber::{ErrorTable, Stress, either_wrong, rber};
pub use recovery::{MARGIN_VOLTS, Recovery};
pub use sensing::{Ldpc, ReadCost, planes};
pub use variation::{SPREAD, Variation};
