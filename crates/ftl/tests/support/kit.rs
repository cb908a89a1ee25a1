//! Kits whose cells remember what was written, so that a lost or mixed-up page is seen.

use ftl::{
    Coding, Cost, InOrder, Kit, NoRefresh, NoThrottle, PageChoice, Plain, Policies, ReadDisturb,
    Traditional,
};
use nand::{Store, Versions};
use policies::{BuiltinWith, OrderPolicy, PlacementPolicy, PolicySet, VictimPolicy, WearPolicy};
use std::marker::PhantomData;

/// The built-in victim, placement, wear and order policies beside a test's own policies.
pub(crate) struct Mix<C, R, D, S = Versions>(PhantomData<fn() -> (C, R, D, S)>);

impl<C, R, D, S> Kit for Mix<C, R, D, S>
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
    type Victim = VictimPolicy;
    type Placement = PlacementPolicy;
    type Wear = WearPolicy;
    type Order = OrderPolicy;
}

/// The set's policies over cells that remember `S`.
pub(crate) fn builtin<S: Store + 'static>(set: &PolicySet) -> Policies<BuiltinWith<S>> {
    set.build().into_kit()
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
    let p = set.build();
    Policies {
        cost,
        throttle: NoThrottle,
        read_disturb,
        page_choice: InOrder,
        coding,
        victim: p.victim,
        placement: p.placement,
        wear: p.wear,
        order: p.order,
    }
}

/// The set's policies over cells of a test's own.
pub(crate) fn of_store<S: Store + 'static>(
    set: &PolicySet,
) -> Policies<Mix<Traditional, NoRefresh, Plain, S>> {
    policies_of(set, Traditional, NoRefresh, Plain).into_kit()
}
