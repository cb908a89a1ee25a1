//! The ground under the simulator: time, sizes, energy, typed indices, the event agenda, named
//! random streams, latency histograms, misspelt words. Nothing here knows what flash is.

mod agenda;
mod bits;
mod energy;
mod hint;
mod hist;
mod index;
mod prio;
mod rng;
mod size;
mod time;
mod word;

pub use agenda::Agenda;
pub use bits::BitSet;
pub use energy::{Energy, ParseEnergyError, Power};
pub use hint::prefetch;
pub use hist::{Histogram, Percentiles};
pub use index::{Divisor, Idx, IndexVec};
pub use prio::Prio;
pub use rng::Rng;
pub use size::{Bytes, ParseBytesError};
pub use time::{Dur, ParseDurError, Time};
pub use word::nearest;
