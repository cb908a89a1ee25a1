//! The answers to the FTL's questions: one file for each policy, grouped by family, and the one
//! list ([`POLICIES`]) that registers them all.
//!
//! To add a policy, write its file and add its line to `list.rs`. Policies for trying may come
//! from outside ([`external`]).

mod builtin;
pub mod coding;
mod list;
mod params;

pub mod cost;
pub mod disturb;
pub mod external;
pub mod order;
pub mod page_choice;
pub mod placement;
pub mod throttle;
pub mod victim;
pub mod wear;

pub use builtin::{
    Builtin, BuiltinWith, CodingPolicy, CostPolicy, OrderPolicy, PageChoicePolicy, PlacementPolicy,
    ReadDisturbPolicy, ThrottlePolicy, VictimPolicy, WearPolicy,
};
pub use list::{Family, POLICIES, PolicyInfo, PolicySet};
pub use params::{Kind, ParamInfo, Params, PolicyError};
