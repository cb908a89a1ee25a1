//! Cells that hold bits.
//!
//! The rest of this crate counts pages; here a page is bits, a bit is where the level of a cell lies
//! among the references, and programming can only raise levels. It is there to show that what the
//! simulator takes for granted is possible: that in-place reprogramming keeps the lower bits (Wu et
//! al., "Flash Read Disturb Management Using Adaptive Cell Bit-Density with In-Place
//! Reprogramming", called IPR), that two generations fit between two erases (Grupp et al., MICRO
//! 2009, called Grupp, Table 5), which pages suffer when one is programmed again, and that the
//! error rates of [`crate::physics`] are those of cells.
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
