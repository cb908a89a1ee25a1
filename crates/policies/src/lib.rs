//! The answers to the FTL's questions: one file for each policy, grouped by family.
//!
//! To add a policy, write its file and add its line to the list in `FAMILY/mod.rs`. Policies for
//! trying may come from outside ([`external`]).

pub mod arbitration;
pub mod coding;
pub mod cost;
pub mod external;
mod family;
mod info;
pub mod order;
pub mod page_choice;
mod params;
pub mod placement;
pub mod read_disturb;
pub mod separation;
mod set;
pub mod slc_cache;
pub mod throttle;
pub mod victim;
pub mod wear;

pub use arbitration::{Arbitration, ArbitrationPolicy, HeadView};
pub use coding::CodingPolicy;
pub use cost::CostPolicy;
pub use info::{DriveParts, Family, Idle, PolicyInfo, Wanted};
pub use order::OrderPolicy;
pub use page_choice::PageChoicePolicy;
pub use params::{ParamInfo, ParamKind, Params, PolicyError};
pub use placement::PlacementPolicy;
pub use read_disturb::ReadDisturbPolicy;
pub use separation::SeparationPolicy;
pub use set::{Builtin, BuiltinWith, PolicySet, all};
pub use slc_cache::SlcCachePolicy;
pub use throttle::ThrottlePolicy;
pub use victim::VictimPolicy;
pub use wear::WearPolicy;
