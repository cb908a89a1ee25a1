//! Policies from outside: whoever assembles a run supplies them by name. Nothing here knows what
//! they are written in.
//!
//! The module also has the words that such a policy is written with.

use crate::info::Family;
use crate::params::PolicyError;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

pub use ftl::{
    Access, AccessKind, Cost, FtlView, Interests, Lpn, PlaneView, Role, StreamId, Victim, Watch,
    WriteCtx,
};
pub use kernel::{Prio, Rng, Time};
pub use nand::{BlockId, DieId, Geometry, Level, Ppn, Tag};

/// Finds policies that are not on the list.
pub trait Supplier {
    /// The names of its policies begin with this word and a colon.
    fn scheme(&self) -> &'static str;

    /// The policy of a family in [`External::FAMILIES`] that has this name, the scheme included;
    /// `params` are as written.
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

/// A policy that was made outside, of one of [`External::FAMILIES`].
pub enum Made {
    /// Of family cost.
    Cost(Box<dyn Cost>),
    /// Of family victim.
    Victim(Box<dyn Victim>),
}

/// A policy from outside, found and checked.
#[derive(Clone)]
pub struct External {
    /// Its parameters, complete.
    pub params: Map<String, Value>,
    /// What tells its code from any other. A drive file keeps it beside the name, as `source`, and
    /// [`Supplier::find`] gets it back with the parameters.
    pub source: String,
    /// Whether name, parameters and source are enough to find it again.
    pub repeatable: bool,
    /// Makes it in its first state, of the family that it was found for.
    pub make: Arc<dyn Fn() -> Made + Send + Sync>,
}

impl External {
    /// The families whose policies may come from outside.
    pub const FAMILIES: [Family; 2] = [Family::Cost, Family::Victim];

    pub(crate) fn find(
        supplier: &dyn Supplier,
        family: Family,
        name: &str,
        params: &Map<String, Value>,
    ) -> Result<Self, PolicyError> {
        if Self::FAMILIES.contains(&family) {
            return supplier.find(family, name, params);
        }
        Err(PolicyError {
            family: family.name().to_owned(),
            name: name.to_owned(),
            key: None,
            message: format!(
                "`{name}` cannot be a policy of family `{}`: only those of {} may come from outside",
                family.name(),
                Self::FAMILIES.map(Family::name).join(" and "),
            ),
            suggestion: None,
        })
    }
}

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("External").field("source", &self.source).finish_non_exhaustive()
    }
}
