//! One enum for each family: dispatch is a match that the compiler sees through, and a boxed
//! variant takes a user's own policy.

use crate::{coding, cost, disturb, order, page_choice, placement, throttle, victim, wear};
use ftl::{
    Access, Balance, Coding, Cost, Dest, FreePick, FtlView, Future, HostDest, InOrder, Interests,
    Kit, LevelTimes, Life, Load, Lpn, NextLife, NoRefresh, NoThrottle, NoWear, OpView, Order,
    PageChoice, Pick, Placement, Plain, Plan, PlaneView, Pool, Queues, ReadDisturb, Role, StreamId,
    StreamSpec, Throttle, Victim, Watch, Wear, WriteCtx, WritePoint,
};
use kernel::{Dur, Prio, Rng, Time};
use nand::{BlockId, DieId, Geometry, Level, Mode, Nothing, PlaneId, Ppn, Store, Tag};
use std::marker::PhantomData;
use std::sync::Arc;

/// Declares a family's enum, a match over it, and the watching that every family shares.
macro_rules! family {
    ($d:tt $(#[$doc:meta])* $name:ident: $trait:ident, $each:ident
        { $($variant:ident($policy:ty)),+ $(,)? }) => {
        $(#[$doc])*
        #[allow(missing_docs)] // each variant is documented where its policy is
        pub enum $name {
            $($variant($policy),)+
            /// A user's own.
            Custom(Box<dyn $trait>),
        }

        macro_rules! $each {
            ($d this:expr, $d policy:ident => $d answer:expr) => {
                match $d this {
                    $($name::$variant($d policy) => $d answer,)+
                    $name::Custom($d policy) => $d answer,
                }
            };
        }

        impl Watch for $name {
            fn interests(&self) -> Interests {
                $each!(self, p => p.interests())
            }

            fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
                $each!(self, p => p.attach(geometry, logical_pages));
            }

            fn on_access(&mut self, access: &Access) {
                $each!(self, p => p.on_access(access));
            }

            fn on_program(&mut self, lpn: Lpn, ppn: Ppn, level: Level, tag: Tag, now: Time) {
                $each!(self, p => p.on_program(lpn, ppn, level, tag, now));
            }

            fn on_invalidate(&mut self, block: BlockId, gain: u32, now: Time) {
                $each!(self, p => p.on_invalidate(block, gain, now));
            }

            fn on_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag) {
                $each!(self, p => p.on_move(lpn, from, to, tag));
            }

            fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {
                $each!(self, p => p.on_open(block, stream, role));
            }

            fn on_close(&mut self, block: BlockId, now: Time) {
                $each!(self, p => p.on_close(block, now));
            }

            fn on_erase(&mut self, block: BlockId, now: Time) {
                $each!(self, p => p.on_erase(block, now));
            }

            fn next_timer(&self) -> Option<Time> {
                $each!(self, p => p.next_timer())
            }

            fn on_timer(&mut self, view: &FtlView<'_>, now: Time, plan: &mut Plan) {
                $each!(self, p => p.on_timer(view, now, plan));
            }

            fn counters(&self) -> Vec<(&'static str, f64)> {
                $each!(self, p => p.counters())
            }
        }
    };
}

family! { $
    /// Family cost.
    CostPolicy: Cost, each_cost {
        Fixed(cost::fixed::Fixed),
        Conflict(cost::conflict::Conflict),
        Wu(cost::wu::Wu),
        Agcr(cost::agcr::Agcr),
        Expected(Box<cost::expected::Expected>),
        Oracle(cost::oracle::Oracle),
        Ideal(cost::ideal::Ideal),
    }
}

family! { $
    /// Family throttle.
    ThrottlePolicy: Throttle, each_throttle {
        None(NoThrottle),
        Gate(Box<throttle::Gate>),
    }
}

family! { $
    /// Family read-disturb.
    ReadDisturbPolicy: ReadDisturb, each_read_disturb {
        None(NoRefresh),
        Refresh(disturb::refresh::Refresh),
        Shadows(Box<disturb::Shadows>),
        HotLowDensity(Box<disturb::hot_low_density::HotLowDensity>),
        Ipr(Box<disturb::ipr::Ipr>),
    }
}

family! { $
    /// Family page-choice.
    PageChoicePolicy: PageChoice, each_page_choice {
        InOrder(InOrder),
        Mango(Box<page_choice::mango::Mango>),
    }
}

family! { $
    /// Family coding.
    CodingPolicy: Coding, each_coding { Plain(Plain), Wom(coding::wom::Wom) }
}

family! { $
    /// Family victim.
    VictimPolicy: Victim, each_victim {
        Greedy(victim::greedy::Greedy),
        Fifo(victim::fifo::Fifo),
        Random(victim::random::Random),
        DChoices(victim::d_choices::DChoices),
        StableGreedy(victim::stable_greedy::StableGreedy),
    }
}

family! { $
    /// Family placement.
    PlacementPolicy: Placement, each_placement {
        Dynamic(placement::dynamic::Dynamic),
        Static(placement::fixed::Static),
    }
}

family! { $
    /// Family wear.
    WearPolicy: Wear, each_wear {
        None(NoWear),
        Static(wear::cold_swap::StaticWear),
        HotColdSwap(wear::hot_cold_swap::HotColdSwap),
    }
}

family! { $
    /// Family order.
    OrderPolicy: Order, each_order {
        Fifo(order::fifo::Fifo),
        ReadFirst(order::read_first::ReadFirst),
        Priority(order::priority::Priority),
        CollectionFirst(order::collection_first::CollectionFirst),
    }
}

impl Cost for CostPolicy {
    fn constant(&self) -> Option<Level> {
        each_cost!(self, p => p.constant())
    }

    fn initial(&self) -> Level {
        each_cost!(self, p => p.initial())
    }

    #[inline]
    fn level(&mut self, w: &WriteCtx) -> Level {
        each_cost!(self, p => p.level(w))
    }

    fn queues(&self) -> Queues {
        each_cost!(self, p => p.queues())
    }

    fn learn_times(&mut self, times: &LevelTimes) {
        each_cost!(self, p => p.learn_times(times));
    }

    fn is_ideal(&self) -> bool {
        each_cost!(self, p => p.is_ideal())
    }

    fn wants_future(&self) -> bool {
        each_cost!(self, p => p.wants_future())
    }

    fn foresee(&mut self, future: Arc<Future>) {
        each_cost!(self, p => p.foresee(future));
    }

    fn follow(&mut self, access: &Access, stored: Option<Level>) {
        each_cost!(self, p => p.follow(access, stored));
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        each_cost!(self, p => p.rewrite(die, view))
    }

    fn dram_bits_per_page(&self) -> u32 {
        each_cost!(self, p => p.dram_bits_per_page())
    }
}

impl Throttle for ThrottlePolicy {
    fn learn_life(&mut self, life: &Life) {
        each_throttle!(self, p => p.learn_life(life));
    }

    fn dram_bytes(&self) -> u64 {
        each_throttle!(self, p => p.dram_bytes())
    }

    fn admit(&mut self, now: Time, bytes: u64) -> Time {
        each_throttle!(self, p => p.admit(now, bytes))
    }

    fn active(&self) -> bool {
        each_throttle!(self, p => p.active())
    }
}

impl ReadDisturb for ReadDisturbPolicy {
    fn limit(&self, mode: Mode) -> Option<u32> {
        each_read_disturb!(self, p => p.limit(mode))
    }

    fn streams(&self) -> Vec<StreamSpec> {
        each_read_disturb!(self, p => p.streams())
    }

    fn keeps(&self) -> Option<(Pool, u32)> {
        each_read_disturb!(self, p => p.keeps())
    }

    fn role_names(&self) -> &'static [&'static str] {
        each_read_disturb!(self, p => p.role_names())
    }

    fn on_read(&mut self, view: &FtlView<'_>, ppn: Ppn, now: Time, plan: &mut Plan) {
        each_read_disturb!(self, p => p.on_read(view, ppn, now, plan));
    }

    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan) {
        each_read_disturb!(self, p => p.on_limit(view, block, now, plan));
    }

    fn on_reclaim(&mut self, view: &FtlView<'_>, block: BlockId, why: Tag) -> Dest {
        each_read_disturb!(self, p => p.on_reclaim(view, block, why))
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        each_read_disturb!(self, p => p.spare_slots(geometry))
    }

    fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool {
        each_read_disturb!(self, p => p.protects(view, block))
    }

    fn may_reprogram(&mut self, view: &FtlView<'_>, block: BlockId) -> bool {
        each_read_disturb!(self, p => p.may_reprogram(view, block))
    }

    fn on_reset(&mut self, block: BlockId, now: Time) {
        each_read_disturb!(self, p => p.on_reset(block, now));
    }

    fn on_reprogrammed(&mut self, block: BlockId, now: Time) {
        each_read_disturb!(self, p => p.on_reprogrammed(block, now));
    }

    fn on_erased(&mut self, block: BlockId, role: Role, reads: u32, why: Tag, now: Time) {
        each_read_disturb!(self, p => p.on_erased(block, role, reads, why, now));
    }

    fn dram_bytes(&self) -> u64 {
        each_read_disturb!(self, p => p.dram_bytes())
    }
}

impl PageChoice for PageChoicePolicy {
    fn in_order(&self) -> bool {
        each_page_choice!(self, p => p.in_order())
    }

    fn learn_times(&mut self, program: &[Dur; 4]) {
        each_page_choice!(self, p => p.learn_times(program));
    }

    fn streams(&self) -> Vec<StreamSpec> {
        each_page_choice!(self, p => p.streams())
    }

    fn learn_streams(&mut self, first: StreamId) {
        each_page_choice!(self, p => p.learn_streams(first));
    }

    fn urgent_stream(&self) -> Option<StreamId> {
        each_page_choice!(self, p => p.urgent_stream())
    }

    fn gc_pick(&self) -> Option<FreePick> {
        each_page_choice!(self, p => p.gc_pick())
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        each_page_choice!(self, p => p.spare_slots(geometry))
    }

    fn stream(&mut self, to: StreamId, tag: Tag) -> StreamId {
        each_page_choice!(self, p => p.stream(to, tag))
    }

    fn pick(&mut self, view: &FtlView<'_>, at: &WritePoint, w: &WriteCtx) -> Pick {
        each_page_choice!(self, p => p.pick(view, at, w))
    }
}

impl Coding for CodingPolicy {
    fn plain(&self) -> bool {
        each_coding!(self, p => p.plain())
    }

    fn first_life(&self, block: BlockId) -> Mode {
        each_coding!(self, p => p.first_life(block))
    }

    fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife {
        each_coding!(self, p => p.next_life(view, block))
    }
}

impl Victim for VictimPolicy {
    fn choose(&mut self, plane: &PlaneView<'_>, why: Tag, rng: &mut Rng) -> Option<BlockId> {
        each_victim!(self, p => p.choose(plane, why, rng))
    }
}

impl Placement for PlacementPolicy {
    #[inline]
    fn place(&mut self, load: &Load<'_>, lpn: Lpn, prio: Prio) -> Option<HostDest> {
        each_placement!(self, p => p.place(load, lpn, prio))
    }

    #[inline]
    fn spread(&mut self, lpn: Lpn) -> PlaneId {
        each_placement!(self, p => p.spread(lpn))
    }

    fn is_free(&self) -> bool {
        each_placement!(self, p => p.is_free())
    }
}

impl Wear for WearPolicy {
    fn learn_life(&mut self, life: &Life) {
        each_wear!(self, p => p.learn_life(life));
    }

    fn active(&self) -> bool {
        each_wear!(self, p => p.active())
    }

    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan) {
        each_wear!(self, p => p.balance(balance, plan));
    }
}

impl Order for OrderPolicy {
    #[inline]
    fn pick(&mut self, heads: &[OpView], now: Time) -> usize {
        each_order!(self, p => p.pick(heads, now))
    }

    fn uses_priority(&self) -> bool {
        each_order!(self, p => p.uses_priority())
    }
}

/// The built-in policies over cells that remember `S`.
pub struct BuiltinWith<S>(PhantomData<fn() -> S>);

/// The built-in policies over cells that remember nothing: the engine that people run.
pub type Builtin = BuiltinWith<Nothing>;

impl<S: Store + 'static> Kit for BuiltinWith<S> {
    type Store = S;
    type Cost = CostPolicy;
    type Throttle = ThrottlePolicy;
    type ReadDisturb = ReadDisturbPolicy;
    type PageChoice = PageChoicePolicy;
    type Coding = CodingPolicy;
    type Victim = VictimPolicy;
    type Placement = PlacementPolicy;
    type Wear = WearPolicy;
    type Order = OrderPolicy;
}
