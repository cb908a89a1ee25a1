//! Policy types whose cells remember their data, so that a lost or mixed-up page is seen.

use super::cells::{Cells, Remembering};
use ftl::{Coding, Config, Cost, GcMarks, Policies, PolicyTypes, ReadDisturb, Watch, WriteCtx};
use nand::{Geometry, Layouts, Level, Shape};
pub(crate) use policies::coding::plain::Plain;
pub(crate) use policies::read_disturb::none::NoRefresh;
use policies::{
    CodingPolicy, CostPolicy, OrderPolicy, PageChoicePolicy, PlacementPolicy, PolicySet,
    ReadDisturbPolicy, SeparationPolicy, SlcCachePolicy, ThrottlePolicy, VictimPolicy, WearPolicy,
};
use std::marker::PhantomData;

/// A test's own policy against read disturb, into which the test looks, beside listed and boxed ones.
///
/// Each such type compiles the whole FTL once more, so a test that needs only the counts of its policy
/// takes [`policies_of`].
pub(crate) struct Mix<R>(PhantomData<fn() -> R>);

impl<R: ReadDisturb + 'static> PolicyTypes for Mix<R> {
    type Store = Cells;
    type Cost = CostPolicy;
    type Throttle = ThrottlePolicy;
    type ReadDisturb = R;
    type PageChoice = PageChoicePolicy;
    type Coding = CodingPolicy;
    type SlcCache = SlcCachePolicy;
    type Victim = VictimPolicy;
    type Separation = SeparationPolicy;
    type Placement = PlacementPolicy;
    type Wear = WearPolicy;
    type Order = OrderPolicy;
}

/// The set's policies over cells that remember.
pub(crate) fn builtin(set: &PolicySet) -> Policies<Remembering> {
    set.build_over()
}

/// The same with a test's own policies of three families.
pub(crate) fn policies_of(
    set: &PolicySet,
    cost: impl Cost + 'static,
    read_disturb: impl ReadDisturb + 'static,
    coding: impl Coding + 'static,
) -> Policies<Remembering> {
    Policies {
        cost: CostPolicy::Custom(Box::new(cost)),
        read_disturb: ReadDisturbPolicy::Custom(Box::new(read_disturb)),
        coding: CodingPolicy::Custom(Box::new(coding)),
        ..builtin(set)
    }
}

/// The same with a policy against read disturb into which the test looks.
pub(crate) fn policies_with<R: ReadDisturb + 'static>(
    set: &PolicySet,
    cost: impl Cost + 'static,
    read_disturb: R,
    coding: impl Coding + 'static,
) -> Policies<Mix<R>> {
    let p = builtin(set);
    Policies {
        cost: CostPolicy::Custom(Box::new(cost)),
        throttle: p.throttle,
        read_disturb,
        page_choice: p.page_choice,
        coding: CodingPolicy::Custom(Box::new(coding)),
        slc_cache: p.slc_cache,
        victim: p.victim,
        separation: p.separation,
        placement: p.placement,
        wear: p.wear,
        order: p.order,
    }
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
