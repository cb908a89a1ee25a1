//! The ground under the simulator: time, sizes, energy, rates, typed indices, the event agenda,
//! named random streams, latency histograms, misspelt words, digits of digests. Nothing here knows about flash.

mod agenda;
mod bits;
mod energy;
mod hex;
mod hint;
mod hist;
mod index;
mod prio;
mod quantity;
mod rate;
mod rng;
mod size;
mod time;
mod word;

pub use agenda::Agenda;
pub use bits::BitSet;
pub use energy::{Energy, Power};
pub use hex::hexadecimal;
pub use hint::{ask_for_large_pages, prefetch};
pub use hist::{Histogram, Percentiles};
pub use index::{Divisor, Idx, IndexVec, OptionVec};
pub use prio::{Hint, Prio};
pub use quantity::QuantityError;
pub use rate::{Bandwidth, Rate};
pub use rng::Rng;
pub use size::Bytes;
pub use time::{Dur, Time, TimeSum};
pub use word::{hint, nearest};
