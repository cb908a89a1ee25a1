//! The questions that the mechanism asks, one trait for each family.
//!
//! A policy sees read-only views and returns choices; only the FTL changes the map. Every family
//! may also watch ([`Watch`]), own columns of its own, and ask for a timer. What a policy does not
//! ask for costs nothing: the FTL reads its [`Interests`] once.

mod coding;
mod cost;
mod order;
mod page_choice;
mod placement;
mod read_disturb;
mod throttle;
mod victim;
mod watch;
mod wear;

pub use coding::{Coding, NextLife, Plain};
pub use cost::{Cost, Future, LevelTimes, Queues, Traditional, WriteCtx};
pub use order::{Op, OpView, Order};
pub use page_choice::{InOrder, PageChoice, Pick, WritePoint};
pub use placement::{HostDest, Placement};
pub use read_disturb::{NoRefresh, ReadDisturb};
pub use throttle::{Life, NoThrottle, Throttle};
pub use victim::Victim;
pub use watch::{Access, AccessKind, Interests, Watch};
pub use wear::{Balance, NoWear, Wear};

use nand::{Source, Store};

/// The policies of one drive as types: static where they are built in, with a variant for a
/// user's own.
pub trait Kit: 'static {
    /// What cells remember.
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
    /// Family victim.
    type Victim: Victim;
    /// Family placement.
    type Placement: Placement;
    /// Family wear.
    type Wear: Wear;
    /// Family order.
    type Order: Order;
}

/// One policy of each family.
pub struct Policies<K: Kit> {
    /// At which level pages are programmed.
    pub cost: K::Cost,
    /// How long writes wait.
    pub throttle: K::Throttle,
    /// What is done about read disturb.
    pub read_disturb: K::ReadDisturb,
    /// Which page takes a write.
    pub page_choice: K::PageChoice,
    /// How bits lie on cells.
    pub coding: K::Coding,
    /// Which block is reclaimed.
    pub victim: K::Victim,
    /// Which plane takes a page.
    pub placement: K::Placement,
    /// Which data moves to even out wear.
    pub wear: K::Wear,
    /// Which operation goes next.
    pub order: K::Order,
}

impl<K: Kit> Policies<K> {
    /// Calls `f` for the watcher of every family, in a fixed order.
    pub fn each(&mut self, mut f: impl FnMut(&mut dyn Watch)) {
        self.each_as(|_, w| f(w));
    }

    /// The same, with the source that the operations of a family's plans count as. The families
    /// without a source of their own want data written elsewhere, as the cost policy does.
    pub fn each_as(&mut self, mut f: impl FnMut(Source, &mut dyn Watch)) {
        f(Source::Rewrite, &mut self.cost);
        f(Source::Rewrite, &mut self.throttle);
        f(Source::Refresh, &mut self.read_disturb);
        f(Source::Rewrite, &mut self.page_choice);
        f(Source::Rewrite, &mut self.coding);
        f(Source::Rewrite, &mut self.victim);
        f(Source::Rewrite, &mut self.placement);
        f(Source::Wear, &mut self.wear);
        f(Source::Rewrite, &mut self.order);
    }

    /// The same policies on other cells.
    pub fn into_kit<L>(self) -> Policies<L>
    where
        L: Kit<
                Cost = K::Cost,
                Throttle = K::Throttle,
                ReadDisturb = K::ReadDisturb,
                PageChoice = K::PageChoice,
                Coding = K::Coding,
                Victim = K::Victim,
                Placement = K::Placement,
                Wear = K::Wear,
                Order = K::Order,
            >,
    {
        Policies {
            cost: self.cost,
            throttle: self.throttle,
            read_disturb: self.read_disturb,
            page_choice: self.page_choice,
            coding: self.coding,
            victim: self.victim,
            placement: self.placement,
            wear: self.wear,
            order: self.order,
        }
    }

    /// The interests of all families together.
    pub fn interests(&mut self) -> Interests {
        let mut all = Interests::NONE;
        self.each(|w| all = all.with(w.interests()));
        all
    }
}
