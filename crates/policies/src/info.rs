//! The description of a policy and of a family, for lists.

use crate::params::{ParamInfo, Params};
use kernel::Dur;
use nand::Geometry;

/// A family of policies: a question.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// At which cost level is a page programmed?
    Cost,
    /// How long must a write wait?
    Throttle,
    /// What moves when a block nears its read limit?
    ReadDisturb,
    /// Which page of the open block takes a write?
    PageChoice,
    /// How do bits lie on cells?
    Coding,
    /// Which blocks take writes at one bit in a cell?
    SlcCache,
    /// Which block is reclaimed?
    Victim,
    /// To which stream does a page go?
    Separation,
    /// Which plane takes the next page?
    Placement,
    /// Which cold data moves to which worn block?
    Wear,
    /// Which flash operation goes next?
    Order,
    /// Whose request goes into the drive next?
    Arbitration,
}

impl Family {
    /// All families, in the order of drive files.
    pub const ALL: [Self; 12] = [
        Self::Cost,
        Self::Throttle,
        Self::ReadDisturb,
        Self::PageChoice,
        Self::Coding,
        Self::SlcCache,
        Self::Victim,
        Self::Separation,
        Self::Placement,
        Self::Wear,
        Self::Order,
        Self::Arbitration,
    ];

    /// The name in drive files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Throttle => "throttle",
            Self::ReadDisturb => "read-disturb",
            Self::PageChoice => "page-choice",
            Self::Coding => "coding",
            Self::SlcCache => "slc-cache",
            Self::Victim => "victim",
            Self::Separation => "separation",
            Self::Placement => "placement",
            Self::Wear => "wear",
            Self::Order => "order",
            Self::Arbitration => "arbitration",
        }
    }

    /// The question it answers.
    pub const fn question(self) -> &'static str {
        match self {
            Self::Cost => "at which cost level is a page programmed?",
            Self::Throttle => "how long must a write wait before the FTL sees it?",
            Self::ReadDisturb => "what moves where when a block nears its read limit?",
            Self::PageChoice => "which page of the open block takes a write?",
            Self::SlcCache => {
                "which blocks take writes at one bit in a cell, and when are they folded?"
            }
            Self::Coding => "how do bits lie on cells, and may a block be written twice?",
            Self::Victim => "which block is reclaimed?",
            Self::Separation => "to which stream does a page go?",
            Self::Placement => "which plane takes the next page?",
            Self::Wear => "which cold data moves to which worn block?",
            Self::Order => "which flash operation goes next on a free die?",
            Self::Arbitration => "whose request goes into the drive next?",
        }
    }

    /// Whether a policy of the family can shape the state before the run, and so is part of that
    /// state's name. Drives are filled and aged without time and without a queue. So nothing there
    /// asks for the level of a program, the length of a wait, or the next operation.
    pub const fn shapes_state(self) -> bool {
        !matches!(self, Self::Cost | Self::Throttle | Self::Order | Self::Arbitration)
    }
}

/// One policy as it is registered.
#[derive(Copy, Clone, Debug)]
pub struct PolicyInfo {
    /// The family it belongs to.
    pub family: Family,
    /// Its name, kebab-case.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// Its effect, in one sentence.
    pub summary: &'static str,
    /// The publication that proposed it, or "folklore".
    pub paper: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Policies of other families, as `family=name`, that it does not work without.
    pub needs: &'static [&'static str],
    /// Policies of other families, as `family=name`, that it does not work with.
    pub forbids: &'static [&'static str],
    /// Why it does not work on an array, if it does not.
    pub misfit: fn(&Geometry) -> Option<String>,
    /// The parts that change nothing on a drive, with these parameters.
    pub idle: fn(&DriveParts<'_>, &Params) -> Idle,
    /// The requests that it needs, or it changes nothing on an array.
    pub wants: fn(&Geometry) -> Option<Wanted>,
}

/// The parts of a drive that a policy may need.
#[derive(Copy, Clone, Debug)]
pub struct DriveParts<'a> {
    /// The array.
    pub geometry: &'a Geometry,
    /// Whether a read or a program takes another time at another cost level.
    pub levels: bool,
    /// The time of a program by page type, at the medium level.
    pub program: [Dur; 4],
    /// Cycles that a block endures in the run.
    pub endurance: u32,
    /// Whether cells recover in rest.
    pub recovery: bool,
    /// Whether the read-disturb policy gives blocks a role.
    pub roles: bool,
    /// Whether it has placement handles.
    pub handles: bool,
}

/// A part of a policy that changes nothing on a drive, and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Idle {
    /// Nothing: all of it has a use.
    Nothing,
    /// A part of it.
    Part(String),
    /// All of it: results are those of the family's default policy.
    All(String),
}

/// Something that requests must have for a policy to change a result.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Requests of high priority.
    Urgent,
    /// Several flows, or a flow with a depth of its own.
    Flows,
    /// Writes with hints.
    Hints,
}

impl PolicyInfo {
    /// A policy of a family that works everywhere and has no parameters: the base of an entry.
    pub const fn of(family: Family) -> Self {
        Self {
            family,
            name: "",
            aliases: &[],
            summary: "",
            paper: "",
            params: &[],
            needs: &[],
            forbids: &[],
            misfit: |_| None,
            idle: |_, _| Idle::Nothing,
            wants: |_| None,
        }
    }
}
