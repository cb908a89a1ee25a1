//! Policies from outside: the caller of a run supplies them by name. Nothing here knows their
//! language.
//!
//! The module also has the words that such a policy is written with.

pub use crate::arbitration::{Arbitration, HeadView};
use crate::info::{Family, PolicyInfo};
use crate::params::PolicyError;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

pub use ftl::{
    Access, AccessKind, Balance, Blocks, CacheSpec, Coding, Cost, Deaths, Dest, FoldWhen, FreePick,
    FtlView, Future, HandleSpec, Hold, Interests, LevelTimes, Life, Load, Lpn, NextLife, OpKind,
    OpView, Order, PageChoice, PageCtx, Pages, Pick, Placement, Plan, PlaneView, Pool, Queues,
    ReadDisturb, Role, Separation, SlcCache, State, Step, StreamClass, StreamId, StreamSpec,
    Throttle, Victim, Waited, Watch, Wear, WhenFull, WriteCtx, WritePoint,
};
pub use kernel::{Dur, Idx, Prio, Rng, Time};
pub use nand::{BlockId, DieId, Each, Geometry, Layouts, Level, Mode, PlaneId, Ppn, Source, Tag};

/// Finds policies that are not on the list.
pub trait Supplier {
    /// The names of its policies begin with this word and a colon.
    fn scheme(&self) -> &'static str;

    /// The policy of a family that has this name, the scheme included; `params` are as written.
    fn find(
        &self,
        family: Family,
        name: &str,
        params: &Map<String, Value>,
    ) -> Result<External, PolicyError>;

    /// Whether a name is one of its policies'.
    fn supplies(&self, name: &str) -> bool {
        name.strip_prefix(self.scheme()).is_some_and(|rest| rest.starts_with(':'))
    }
}

macro_rules! made {
    ($($family:ident),+) => {
        /// A policy that was made outside.
        pub enum Made {
            $(
                #[doc = concat!("Of family [`Family::", stringify!($family), "`].")]
                $family(Box<dyn $family>),
            )+
        }
    };
}

made!(
    Cost,
    Throttle,
    ReadDisturb,
    PageChoice,
    Coding,
    SlcCache,
    Victim,
    Separation,
    Placement,
    Wear,
    Order,
    Arbitration
);

/// A policy from outside, found and checked.
#[derive(Clone)]
pub struct External {
    /// Its parameters, complete.
    pub params: Map<String, Value>,
    /// The digest of its code. A drive file keeps it beside the name, as `source`, and
    /// [`Supplier::find`] gets it back with the parameters.
    pub source: String,
    /// Whether name, parameters and source are enough to find it again.
    pub repeatable: bool,
    /// A policy on the list that does no less to a drive. This one works on the same drives, and
    /// together with the same policies.
    pub like: Option<&'static PolicyInfo>,
    /// Makes it in its first state, of the family that it was found for.
    pub make: Arc<dyn Fn() -> Made + Send + Sync>,
}

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("External").field("source", &self.source).finish_non_exhaustive()
    }
}
