//! Cells that hold bits.
//!
//! The rest of this crate counts pages. In this module a page consists of bits, a bit is the
//! position of a cell's level among the references, and programming can only raise levels.
//!
//! The module shows that the assumptions of the simulator are possible:
//!
//! * In-place reprogramming keeps the lower bits (Wu et al., "Flash Read Disturb Management Using
//!   Adaptive Cell Bit-Density with In-Place Reprogramming", called IPR).
//! * Two generations fit between two erases (Grupp et al., MICRO 2009, called Grupp, Table 5).
//! * The right pages suffer when one is programmed again.
//! * The error rates of [`crate::physics`] are those of cells.
//!
//! | what | where |
//! |---|---|
//! | which bits a level means, which levels can be reached, guard levels | [`GrayMap`] |
//! | wordlines of cells: program, sense, reprogram in place, drift | [`Wordlines`] |
//! | two bits in three cells, twice | [`wom`] |
//! | bit errors at a rate | [`flip`], [`errors`] |
//! | threshold voltages of a whole block | [`Voltages`] |
//! | the bits of a drive in a run | [`Bits`] |

mod bits;
mod errors;
mod gray;
mod voltages;
pub mod wom;
mod wordlines;

pub use bits::Bits;
pub use errors::{errors, flip};
pub use gray::{GrayMap, LEVELS};
pub use voltages::{History, Voltages};
pub use wordlines::{TooLow, Wordlines};
