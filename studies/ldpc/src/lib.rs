//! A low-density parity-check code of flash size and its soft decoder, run over the channel of a
//! sensed cell. It measures the raw bit error rate that can be corrected, by the amount of sensing.
//!
//! `docs/ldpc.md` has the measured values. Nothing of a simulated drive uses this crate: a drive
//! looks up limits ([`nand::physics::Ldpc`]), and here is where such limits come from.
//!
//! ```
//! use floatgate_ldpc::{Channel, Code, Quantised, Settings, Shape, Spacing, Trial};
//!
//! let code = Code::build(Shape::FLASH, 1);
//! let channel = Channel::boundary(7e-3, 3, Spacing::Even);
//! let mut trial = Trial::new(&code, Settings::DEFAULT, &channel, &channel, Quantised::DEFAULT);
//! let counts = trial.run(1, "example", 0..3);
//! assert_eq!((counts.frames, counts.failed), (3, 0));
//! ```

mod channel;
mod code;
mod decoder;
mod reference;
mod trial;

/// The parts of the crates below that the binding may use.
pub use nand::physics;

pub use channel::{Channel, Reader, Spacing, Worn};
pub use code::{Circulant, Code, Shape};
pub use decoder::{Decoder, Outcome, Settings};
pub use reference::{Reference, Rule, Schedule};
pub use trial::{Counts, Quantised, Trial, interval};
