//! Policy types whose cells remember their data, so that a lost or mixed-up page is seen.

use ftl::{Coding, Config, Cost, GcMarks, Policies, PolicyTypes, ReadDisturb, Watch, WriteCtx};
use nand::{Geometry, Layouts, Level, Shape, Store, Versions};
pub(crate) use policies::coding::plain::Plain;
pub(crate) use policies::page_choice::in_order::InOrder;
pub(crate) use policies::read_disturb::none::NoRefresh;
pub(crate) use policies::throttle::none::NoThrottle;
use policies::{
    BuiltinWith, OrderPolicy, PlacementPolicy, PolicySet, SeparationPolicy, SlcCachePolicy,
    VictimPolicy, WearPolicy,
};
use std::marker::PhantomData;

/// The built-in victim, placement, wear and order policies beside a test's own policies.
pub(crate) struct Mix<C, R, D, S = Versions>(PhantomData<fn() -> (C, R, D, S)>);

impl<C, R, D, S> PolicyTypes for Mix<C, R, D, S>
where
    C: Cost + 'static,
    R: ReadDisturb + 'static,
    D: Coding + 'static,
    S: Store + 'static,
{
    type Store = S;
    type Cost = C;
    type Throttle = NoThrottle;
    type ReadDisturb = R;
    type PageChoice = InOrder;
    type Coding = D;
    type SlcCache = SlcCachePolicy;
    type Victim = VictimPolicy;
    type Separation = SeparationPolicy;
    type Placement = PlacementPolicy;
    type Wear = WearPolicy;
    type Order = OrderPolicy;
}

/// The set's policies over cells that remember `S`.
pub(crate) fn builtin<S: Store + 'static>(set: &PolicySet) -> Policies<BuiltinWith<S>> {
    set.build_over()
}

/// The set's victim, placement, wear and order policies beside those given.
pub(crate) fn policies_of<C, R, D>(
    set: &PolicySet,
    cost: C,
    read_disturb: R,
    coding: D,
) -> Policies<Mix<C, R, D>>
where
    C: Cost + 'static,
    R: ReadDisturb + 'static,
    D: Coding + 'static,
{
    policies_over(set, cost, read_disturb, coding)
}

/// The same over cells that remember `S`.
pub(crate) fn policies_over<C, R, D, S>(
    set: &PolicySet,
    cost: C,
    read_disturb: R,
    coding: D,
) -> Policies<Mix<C, R, D, S>>
where
    C: Cost + 'static,
    R: ReadDisturb + 'static,
    D: Coding + 'static,
    S: Store + 'static,
{
    let p = set.build();
    Policies {
        cost,
        throttle: NoThrottle,
        read_disturb,
        page_choice: InOrder,
        coding,
        slc_cache: p.slc_cache,
        victim: p.victim,
        separation: p.separation,
        placement: p.placement,
        wear: p.wear,
        order: p.order,
    }
}

/// The set's policies over cells of a test's own.
pub(crate) fn of_store<S: Store + 'static>(
    set: &PolicySet,
) -> Policies<Mix<Traditional, NoRefresh, Plain, S>> {
    policies_over(set, Traditional, NoRefresh, Plain)
}

/// Cost: everything at the medium level.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Traditional;

impl Watch for Traditional {}

impl Cost for Traditional {
    fn constant(&self) -> Option<Level> {
        Some(Level::MediumCost)
    }

    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn level(&mut self, _: &WriteCtx) -> Level {
        Level::MediumCost
    }
}

/// A drive of this shape whose collection keeps `free` blocks free.
pub(crate) fn small_config(shape: Shape, logical_pages: u32, free: u32) -> Config {
    Config {
        geometry: Geometry::new(shape).expect("a drive"),
        layouts: Layouts::new(shape.pages_per_block),
        logical_pages,
        gc: GcMarks {
            start: free,
            stop: free,
            background_stop: 0,
            one_by_one: false,
            paced: false,
        },
        endurance: 0,
        seed: 1,
    }
}
