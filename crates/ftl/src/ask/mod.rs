//! The questions that the mechanism asks, one trait for each family.
//!
//! A policy sees read-only views and returns choices; only the FTL changes the map. Every family
//! may also watch ([`Watch`]), own columns of its own, and ask for a timer. Unused interests cost
//! nothing, because the FTL reads the [`Interests`] of a policy once.

mod families;

pub use families::*;

use crate::{FtlView, Lpn, Plan, Role, StreamId};
use kernel::{Hint, Prio, Time};
use nand::{BlockId, Geometry, Level, Ppn, Source, Store, Tag};

/// The policies of one drive as types. Built-in policies are static, with a variant for a user's
/// own.
pub trait PolicyTypes: 'static {
    /// The memory of the cells.
    type Store: Store;
    /// Family cost.
    type Cost: Cost;
    /// Family throttle.
    type Throttle: Throttle;
    /// Family read-disturb.
    type ReadDisturb: ReadDisturb;
    /// Family page-choice.
    type PageChoice: PageChoice;
    /// Family coding.
    type Coding: Coding;
    /// Family SLC cache.
    type SlcCache: SlcCache;
    /// Family victim.
    type Victim: Victim;
    /// Family separation.
    type Separation: Separation;
    /// Family placement.
    type Placement: Placement;
    /// Family wear.
    type Wear: Wear;
    /// Family order.
    type Order: Order;
}

/// One policy of each family.
pub struct Policies<K: PolicyTypes> {
    /// The level of programmed pages.
    pub cost: K::Cost,
    /// How long writes wait.
    pub throttle: K::Throttle,
    /// The policy against read disturb.
    pub read_disturb: K::ReadDisturb,
    /// The policy that chooses the page of a write.
    pub page_choice: K::PageChoice,
    /// How bits lie on cells.
    pub coding: K::Coding,
    /// The policy that says which blocks cache writes.
    pub slc_cache: K::SlcCache,
    /// The policy that chooses the block to reclaim.
    pub victim: K::Victim,
    /// The policy that chooses the stream of a page.
    pub separation: K::Separation,
    /// The policy that chooses the plane of a page.
    pub placement: K::Placement,
    /// The policy that chooses which data moves to even out wear.
    pub wear: K::Wear,
    /// The policy that chooses the next operation of a die.
    pub order: K::Order,
}

impl<K: PolicyTypes> Policies<K> {
    /// Calls `f` for the watcher of every family, in a fixed order.
    pub fn each(&mut self, mut f: impl FnMut(&mut dyn Watch)) {
        self.each_as(|_, w| f(w));
    }

    /// The same, with the source under which the operations of a family's plans are counted.
    /// Families without a source of their own count as re-writes.
    pub fn each_as(&mut self, mut f: impl FnMut(Source, &mut dyn Watch)) {
        f(Source::Rewrite, &mut self.cost);
        f(Source::Rewrite, &mut self.throttle);
        f(Source::Refresh, &mut self.read_disturb);
        f(Source::Rewrite, &mut self.page_choice);
        f(Source::Rewrite, &mut self.coding);
        f(Source::Fold, &mut self.slc_cache);
        f(Source::Rewrite, &mut self.victim);
        f(Source::Rewrite, &mut self.separation);
        f(Source::Rewrite, &mut self.placement);
        f(Source::Wear, &mut self.wear);
        f(Source::Rewrite, &mut self.order);
    }

    /// The interests of all families together.
    pub fn interests(&mut self) -> Interests {
        let mut all = Interests::NONE;
        self.each(|w| all = all.with(w.interests()));
        all
    }
}

/// The facts about the pages of a request of the host, beside their addresses.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct HostTag {
    /// How urgent it is.
    pub prio: Prio,
    /// The flow that it belongs to; 0 where there are none.
    pub flow: u8,
    /// A hint about the data of a write; 0: none.
    pub hint: Hint,
}

impl HostTag {
    /// A request that says no more than its priority.
    pub const fn of(prio: Prio) -> Self {
        Self { prio, flow: 0, hint: 0 }
    }
}

/// An access of the host to one logical page.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write, whole or part.
    Write,
    /// Deallocation.
    Trim,
}

/// One host access, as policies see it, in order of arrival.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// When it arrived at the FTL.
    pub now: Time,
    /// The kind of access.
    pub kind: AccessKind,
    /// The page.
    pub lpn: Lpn,
    /// The priority, flow and hint of the request.
    pub host: HostTag,
    /// Page operations of the host in the drive, waiting or running.
    pub waiting_device: u32,
}

/// The events that a policy observes. The FTL reads this once, before the run.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Interests(pub u16);

impl Interests {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// [`Watch::on_access`].
    pub const ACCESS: Self = Self(1);
    /// [`Watch::on_program`].
    pub const PROGRAM: Self = Self(2);
    /// [`Watch::on_invalidate`].
    pub const INVALIDATE: Self = Self(4);
    /// [`Watch::on_move`].
    pub const MOVE: Self = Self(8);
    /// [`Watch::on_open`], [`Watch::on_close`] and [`Watch::on_erase`].
    pub const BLOCK: Self = Self(16);
    /// [`Watch::on_timer`].
    pub const TIMER: Self = Self(32);
    /// [`Cost::rewrite`] when a die is idle.
    pub const IDLE: Self = Self(64);
    /// [`ReadDisturb::on_read`] and the read counters of blocks.
    pub const READ: Self = Self(128);
    /// Not of a policy: the drive has placement handles, whose pages are counted.
    pub(crate) const HANDLES: Self = Self(256);
    /// Not of a policy: the read limits of blocks follow the levels of their pages.
    pub(crate) const LEVELS: Self = Self(512);
    /// Not of a policy: folding takes turns with programs of the SLC cache.
    pub(crate) const TURNS: Self = Self(1024);

    /// Whether `other` is among them.
    #[inline(always)]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The events that every family may observe. All methods default to nothing.
#[allow(unused_variables)]
pub trait Watch: Send {
    /// The events that the policy observes.
    fn interests(&self) -> Interests {
        Interests::NONE
    }

    /// Called once, before anything else: the place to size columns.
    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {}

    /// A host access, in order of arrival.
    fn on_access(&mut self, access: &Access) {}

    /// A slot was programmed at a level.
    fn on_program(&mut self, lpn: Lpn, ppn: Ppn, level: Level, tag: Tag, now: Time) {}

    /// A slot lost its data to a newer copy, a move or a trim. `gain` is the block's gain
    /// afterwards.
    fn on_invalidate(&mut self, block: BlockId, gain: u32, now: Time) {}

    /// A page was moved.
    fn on_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag) {}

    /// A block was opened.
    fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {}

    /// A block became complete.
    fn on_close(&mut self, block: BlockId, now: Time) {}

    /// A block was erased, or begins its next life without an erase.
    fn on_erase(&mut self, block: BlockId, now: Time) {}

    /// The time at which the policy wants to be woken.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time of [`Watch::next_timer`] has come.
    fn on_timer(&mut self, view: &FtlView<'_>, now: Time, plan: &mut Plan) {}

    /// The actions of the policy, as named counts for the report.
    fn counters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
