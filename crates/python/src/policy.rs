//! A policy written in Python as the FTL sees it: each question is a call, with the interpreter
//! held for its length. An invalid answer or an exception ends the run as the user's mistake. Until
//! the engine stops, the policy gives harmless answers.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use ssd::policies::Family;
use ssd::policies::external::{
    Access, AccessKind, Arbitration, Balance, BlockId, CacheSpec, Coding, Cost, Deaths, Dest,
    DieId, Dur, Each, FreePick, FtlView, Future, Geometry, HandleSpec, HeadView, Idx, Interests,
    Layouts, Level, LevelTimes, Life, Load, Lpn, Mode, NextLife, OpView, Order, PageChoice,
    PageCtx, Pick, Placement, Plan, PlaneId, PlaneView, Pool, Ppn, Prio, Queues, ReadDisturb, Rng,
    Role, Separation, SlcCache, Source, State, Step, StreamClass, StreamId, StreamSpec, Tag,
    Throttle, Time, Victim, Waited, Watch, Wear, WriteCtx, WritePoint,
};

use crate::answers::{
    self, Planner, Read, Trouble, lasting, one_of, optional, shown, truth, whole, wrong,
};
use crate::error;
use crate::outside::Outside;
use crate::views;

/// One policy in Python.
pub(crate) struct Policy {
    outside: Arc<Outside>,
    family: Family,
    name: String,
    thread: u64,
    /// The methods that it has, by name; `python/floatgate/policy` describes them.
    methods: BTreeMap<String, Py<PyAny>>,
    random: Option<Py<views::Random>>,
    /// The drive, once it is attached.
    geometry: Option<Geometry>,
    /// The numbers of its own streams: the first, and the one after the last.
    own: Cell<(u8, u8)>,
    /// The one of these streams that is only for urgent writes.
    urgent: Cell<Option<StreamId>>,
    /// The number of its own roles.
    roles: Cell<usize>,
    write_once: OnceCell<bool>,
    marked: Marked,
    passed: Passed,
}

impl Policy {
    /// Makes the Python side: `make` returns the methods by name.
    pub(crate) fn new(
        outside: Arc<Outside>,
        family: Family,
        name: String,
        make: &Py<PyAny>,
    ) -> Self {
        let first = StreamId::BUILT_IN as u8;
        let (methods, random, geometry, roles, write_once) = Default::default();
        let (marked, passed, urgent) = Default::default();
        let thread = Python::try_attach(|py| {
            py.import("threading")?.call_method0("get_ident")?.extract::<u64>()
        });
        let thread = thread.and_then(Result::ok).unwrap_or_default();
        let own = Cell::new((first, first));
        let mut policy = Self {
            outside,
            family,
            name,
            thread,
            methods,
            random,
            geometry,
            own,
            urgent,
            roles,
            write_once,
            marked,
            passed,
        };
        let made = policy.call(make, "__init__", |make| {
            Ok((make.call0()?.extract()?, Py::new(make.py(), views::Random::empty())?))
        });
        if let Some((methods, random)) = made {
            (policy.methods, policy.random) = (methods, Some(random));
        }
        policy
    }

    fn has(&self, method: &str) -> bool {
        self.methods.contains_key(method)
    }

    /// Calls a method; `None` if that went wrong, or the run is over.
    fn call<T>(
        &self,
        hook: &Py<PyAny>,
        method: &str,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> Read<T>,
    ) -> Option<T> {
        self.outside.enter(self.thread, |py| match call(hook.bind(py)) {
            Ok(answer) => Some(answer),
            Err(trouble) => {
                self.outside.fail(self.describe(py, method, trouble));
                None
            }
        })?
    }

    /// Asks the policy, if it has the method; `None` too if there is no answer.
    fn ask<A, T>(
        &self,
        method: &str,
        what: impl FnOnce() -> A,
        read: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> Read<T>,
    ) -> Option<T>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.call(self.methods.get(method)?, method, |f| read(&f.call1(what())?))
    }

    /// Tells the policy something, if it has the method.
    fn notify<A>(&self, method: &str, what: impl FnOnce() -> A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.ask(method, what, |_| Ok(()));
    }

    fn describe(&self, py: Python<'_>, method: &str, trouble: Trouble) -> PyErr {
        let name = &self.name;
        match trouble {
            Trouble::Wrong(what) => {
                error::PolicyError::new_err(format!("`{method}` of the policy `{name}` {what}"))
            }
            Trouble::Raised(cause) => {
                let message = format!("`{method}` of the policy `{name}` raised {cause}");
                let error = error::PolicyError::new_err(message);
                error.set_cause(py, Some(cause));
                error
            }
        }
    }

    /// Asks the questions that do not depend on the drive, so that a mistake there is reported
    /// before a run.
    pub(crate) fn introduce(&self) {
        match self.family {
            Family::Cost => {
                let _ = (self.initial(), self.queues(), self.is_ideal(), self.dram_bits_per_page());
            }
            Family::Coding => drop(self.is_write_once()),
            Family::Separation => {
                let _ = (Separation::streams(self), self.isolates());
            }
            Family::Placement => drop(self.is_free()),
            Family::Order => drop(self.uses_priority()),
            _ => {}
        }
    }

    /// Whether blocks may hold a write-once code.
    pub(crate) fn is_write_once(&self) -> bool {
        *self.write_once.get_or_init(|| self.ask("write_once", || (), truth).unwrap_or(false))
    }

    fn drive(&self) -> &Geometry {
        self.geometry.as_ref().expect("a policy is attached first")
    }

    /// Streams of its own.
    fn own_streams(&self, geometry: &Geometry) -> Vec<StreamSpec> {
        let by_reads = self.family == Family::ReadDisturb;
        let roles = if by_reads { self.role_words().len() } else { 0 };
        self.roles.set(roles);
        let ask = || (views::Drive::new(geometry, 0),);
        // Those of the family read-disturb begin at a number that they know.
        let streams = self.ask("streams", ask, |a| answers::streams(a, by_reads, roles));
        streams.unwrap_or_default()
    }

    fn role_words(&self) -> Vec<String> {
        self.ask("role_names", || (), answers::words).unwrap_or_default()
    }

    /// Slots of each plane that it keeps from data; by default a block for each stream.
    fn kept(&self, geometry: &Geometry) -> u64 {
        let most = (geometry.blocks_per_plane() * geometry.pages_per_block() as usize) as u64;
        let ask = || (views::Drive::new(geometry, 0),);
        let kept = self.ask("spare_slots", ask, |a| whole(a, 0, most, "slots of a plane"));
        kept.unwrap_or_else(|| {
            let streams = self.own_streams(geometry).len();
            streams as u64 * u64::from(geometry.pages_per_block())
        })
    }

    fn planner<'a>(&self, view: &FtlView<'a>) -> Planner<'a> {
        // Only streams of the family read-disturb are for moved data: a block whose pages are
        // written by the host and by jobs would see them in any order.
        let own = if self.family == Family::ReadDisturb { self.own() } else { 0..0 };
        let roles = (self.family == Family::ReadDisturb).then_some(self.roles.get());
        Planner { geometry: view.geometry, blocks: view.blocks, own, roles }
    }

    fn own(&self) -> Range<u8> {
        let (first, end) = self.own.get();
        first..end
    }

    /// Reads a plan, all of it or nothing.
    fn plan(&self, view: &FtlView<'_>, answer: &Bound<'_, PyAny>, plan: &mut Plan) -> Read<()> {
        self.planner(view).read(answer, plan)
    }
}

/// Methods of a trait that ask the policy. `as` is the value for Python, `=>` is the reading of its
/// answer, and `else` is the default without such a method or answer.
macro_rules! asked {
    () => {};
    (fn $name:ident(&$this:ident $(, $arg:ident: $type:ty)* $(,)?) $(-> $answer:ty)?
        as $what:expr => $read:expr, else $none:expr; $($rest:tt)*) => {
        #[allow(unused_variables)]
        fn $name(&$this $(, $arg: $type)*) $(-> $answer)? {
            $this.ask(stringify!($name), || $what, $read).unwrap_or_else(|| $none)
        }
        asked! { $($rest)* }
    };
    (fn $name:ident(&mut $this:ident $(, $arg:ident: $type:ty)* $(,)?) $(-> $answer:ty)?
        as $what:expr => $read:expr, else $none:expr; $($rest:tt)*) => {
        #[allow(unused_variables)]
        fn $name(&mut $this $(, $arg: $type)*) $(-> $answer)? {
            $this.ask(stringify!($name), || $what, $read).unwrap_or_else(|| $none)
        }
        asked! { $($rest)* }
    };
    // The facts that a policy receives.
    (fn $name:ident(&mut $this:ident $(, $arg:ident: $type:ty)* $(,)?) as $what:expr; $($rest:tt)*) => {
        fn $name(&mut $this $(, $arg: $type)*) {
            $this.notify(stringify!($name), || $what);
        }
        asked! { $($rest)* }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Watch for Policy {
    fn interests(&self) -> Interests {
        let any = |methods: &[&str], interest| {
            if methods.iter().any(|m| self.has(m)) { interest } else { Interests::NONE }
        };
        let of_family = match self.family {
            Family::ReadDisturb => Interests::READ,
            Family::PageChoice => Interests::BLOCK,
            _ => Interests::NONE,
        };
        any(&["on_access"], Interests::ACCESS)
            .with(any(&["follow"], Interests::ACCESS.with(Interests::IDLE)))
            .with(any(&["on_program"], Interests::PROGRAM))
            .with(any(&["on_invalidate"], Interests::INVALIDATE))
            .with(any(&["on_move"], Interests::MOVE))
            .with(any(&["on_open", "on_close", "on_erase"], Interests::BLOCK))
            .with(any(&["next_timer"], Interests::TIMER))
            .with(of_family)
    }

    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        self.geometry = Some(*geometry);
        if self.family == Family::PageChoice {
            self.passed = Passed::new(geometry, logical_pages);
        }
        let drive = views::Drive::new(geometry, logical_pages);
        self.notify("attach", || (drive,));
        if self.family == Family::ReadDisturb {
            // The policy of a run finds its streams set up, and is not asked for them.
            ReadDisturb::streams(self);
        }
    }

    fn on_erase(&mut self, block: BlockId, now: Time) {
        self.passed.erased(block);
        self.notify("on_erase", || (block.as_u32(), now.as_ns()));
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let counters = self.ask("counters", || (), answers::numbers);
        counters.into_iter().flatten().map(|(name, n)| (lasting(name), n)).collect()
    }

    fn on_timer(&mut self, view: &FtlView<'_>, now: Time, plan: &mut Plan) {
        let all = || {
            let planes = (0..view.geometry.planes()).map(PlaneId::new);
            planes.map(|plane| views::Plane::all(view, plane, now)).collect::<Vec<_>>()
        };
        self.ask("on_timer", || (all(), now.as_ns()), |a| self.plan(view, a, plan));
        if self.next_timer().is_some_and(|at| at <= now) {
            let later = format!("after {}: `on_timer` has been called", now.as_ns());
            self.ask("next_timer", || (), |a| Err::<(), _>(wrong(a, &later)));
        }
    }

    asked! {
        fn on_access(&mut self, access: &Access) as (views::Access::new(access),);
        fn on_program(&mut self, lpn: Lpn, ppn: Ppn, level: Level, tag: Tag, now: Time)
            as (lpn.as_u32(), ppn.as_u32(), level.name(), tag.source.name(), now.as_ns());
        fn on_invalidate(&mut self, block: BlockId, gain: u32, now: Time)
            as (block.as_u32(), gain, now.as_ns());
        fn on_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag)
            as (lpn.as_u32(), from.as_u32(), to.as_u32(), tag.source.name());
        fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role)
            as (block.as_u32(), stream.0, role.0);
        fn on_close(&mut self, block: BlockId, now: Time) as (block.as_u32(), now.as_ns());
        fn next_timer(&self) -> Option<Time> as ()
            => |a| optional(a, |a| answers::not_before(a, Time::ZERO)), else None;
    }
}

#[deny(clippy::missing_trait_methods)]
impl Victim for Policy {
    fn choose(&mut self, plane: &PlaneView<'_>, why: Tag, rng: &mut Rng) -> Option<BlockId> {
        let best = plane.most_gain().filter(|best| plane.ftl.blocks.gain(*best) > 0)?;
        let (Some(random), Some(choose)) = (&self.random, self.methods.get("choose")) else {
            return Some(best);
        };
        let chosen = self.call(choose, "choose", |choose| {
            let py = choose.py();
            let view = Py::new(py, views::Plane::candidates(plane))?;
            let arguments = (&view, why.demand.name(), random);
            let answer = random.get().lend(rng, || choose.call1(arguments))?;
            victim_of(&answer, view.get())
        });
        Some(chosen.unwrap_or(best))
    }
}

/// The candidate that Python named.
fn victim_of(answer: &Bound<'_, PyAny>, plane: &views::Plane) -> Result<BlockId, Trouble> {
    let candidates = plane.rows();
    let number = answer.extract::<u32>();
    if let Ok(number) = number
        && candidates.binary_search_by_key(&number, |c| c.block).is_ok()
    {
        return Ok(BlockId::from_u32(number));
    }
    let hint = match number {
        Ok(n) if (n as usize) < candidates.len() => {
            format!(": if it is a position, return `plane.blocks[{n}]`")
        }
        _ => String::new(),
    };
    let (what, n) = (shown(answer), candidates.len());
    Err(Trouble::Wrong(format!(
        "returned {what}, which is not among the {n} numbers in `plane.blocks`{hint}"
    )))
}

#[deny(clippy::missing_trait_methods)]
impl Cost for Policy {
    /// For a level that never changes there is `fixed`.
    fn constant(&self) -> Option<Level> {
        None
    }

    fn wants_future(&self) -> bool {
        self.has("foresee")
    }

    fn follow(&mut self, access: &Access, stored: Option<Level>) {
        if access.kind != AccessKind::Read {
            return;
        }
        let what = || (views::Access::new(access), stored.map(Level::name));
        if self.ask("follow", what, truth) == Some(true) {
            self.marked.add(access.lpn);
        }
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        loop {
            let lpn = self.marked.next_on(die, view)?;
            if self.ask("rewrite", || (lpn.as_u32(),), truth) != Some(false) {
                return Some(lpn);
            }
        }
    }

    asked! {
        fn initial(&self) -> Level as () => answers::level, else Level::default();
        fn level(&mut self, w: &WriteCtx) -> Level
            as (views::Write::new(w),) => answers::level, else Level::default();
        fn queues(&self) -> Queues as () => answers::queues, else Queues::All;
        fn learn_times(&mut self, times: &LevelTimes)
            as (by_level(times.program), by_level(times.read));
        fn is_ideal(&self) -> bool as () => truth, else false;
        fn foresee(&mut self, future: Arc<Future>) as (views::Future(future),);
        fn dram_bits_per_page(&self) -> u32
            as () => |a| one_of(a, 65, "bits"), else 0;
    }
}

/// Times in ns by the names of levels.
fn by_level(times: Each<Level, Dur>) -> BTreeMap<&'static str, u64> {
    times.iter().map(|(level, time)| (level.name(), time.as_ns())).collect()
}

#[deny(clippy::missing_trait_methods)]
impl Throttle for Policy {
    fn active(&self) -> bool {
        true
    }

    asked! {
        fn learn_life(&mut self, life: &Life) as (views::Life::new(life),);
        fn dram_bytes(&self) -> u64 as () => bytes, else 0;
        fn admit(&mut self, now: Time, bytes: u64) -> Time
            as (now.as_ns(), bytes) => |a| answers::not_before(a, now), else now;
    }
}

/// A size in bytes.
fn bytes(answer: &Bound<'_, PyAny>) -> Read<u64> {
    whole(answer, 0, i64::MAX as u64, "a size in bytes")
}

#[deny(clippy::missing_trait_methods)]
impl Order for Policy {
    asked! {
        fn uses_priority(&self) -> bool as () => truth, else false;
        fn may_suspend(&mut self, running: &OpView, waited: Waited, read: &OpView, now: Time) -> bool
            as (
                views::Waiting::new((running, &waited)),
                views::Waiting::new((read, &Waited { since: now, passed: 0 })),
                now.as_ns()
            )
            => truth, else false;
    }

    fn pick(&mut self, heads: &[OpView], now: Time) -> usize {
        self.pick_by_waits(heads, &vec![Waited::default(); heads.len()], now)
    }

    fn pick_by_waits(&mut self, heads: &[OpView], waits: &[Waited], now: Time) -> usize {
        let views = || heads.iter().zip(waits).map(views::Waiting::new).collect::<Vec<_>>();
        let answer =
            |a: &Bound<'_, PyAny>| Ok(one_of(a, heads.len(), "a position in `heads`")? as usize);
        self.ask("pick", || (views(), now.as_ns()), answer).unwrap_or(0)
    }

    /// A policy from outside is always asked.
    fn is_first_come(&self) -> bool {
        false
    }

    /// A policy from outside is told how long operations have waited, whether it uses that or not.
    fn watches_waits(&self) -> bool {
        true
    }
}

#[deny(clippy::missing_trait_methods)]
impl Arbitration for Policy {
    asked! {
        fn pick(&mut self, heads: &[HeadView], now: Time) -> usize
            as (heads.iter().map(views::Head::new).collect::<Vec<_>>(), now.as_ns())
            => |a| Ok(one_of(a, heads.len(), "a position in `heads`")? as usize), else 0;
    }

    /// A policy from outside has queues, whether it uses them or not.
    fn merges(&self) -> bool {
        false
    }
}

#[deny(clippy::missing_trait_methods)]
impl Separation for Policy {
    /// One from outside hears of all that it chose for.
    fn follows(&self) -> bool {
        true
    }

    fn wants_future(&self) -> bool {
        self.has("foresee")
    }

    /// A drive with placement handles has the policy `fdp`, which alone protects streams.
    fn learn_handles(&mut self, _: &HandleSpec) {}

    fn may_protect(&self) -> bool {
        false
    }

    fn protects(&self, _: u8) -> bool {
        false
    }

    asked! {
        fn streams(&self) -> Vec<StreamSpec> as () => answers::separate_streams,
            else vec![StreamSpec::of(StreamClass::Both, "all")];
        fn isolates(&self) -> bool as () => truth, else false;
        fn on_placed(&mut self, page: &PageCtx, stream: u8)
            as (views::NewPage::new(page), stream);
        fn on_opened(&mut self, block: BlockId, stream: u8, clock: u32)
            as (block.as_u32(), stream, clock);
        fn on_collected(&mut self, block: BlockId, stream: u8, clock: u32)
            as (block.as_u32(), stream, clock);
        fn foresee(&mut self, future: Arc<Deaths>) as (views::Deaths(future),);
        fn dram_bytes(&self) -> u64 as () => bytes, else 0;
    }

    fn stream(&mut self, page: &PageCtx) -> u8 {
        let streams = Separation::streams(self);
        let fits = |s: &StreamSpec| {
            if page.moves { s.class.takes_moves() } else { s.class.takes_host() }
        };
        let usual = streams.iter().position(fits).unwrap_or_default() as u8;
        let read = |a: &Bound<'_, PyAny>| {
            let stream = one_of(a, streams.len(), "a stream, by its place in `streams`")? as usize;
            if fits(&streams[stream]) {
                return Ok(stream as u8);
            }
            let takes = if page.moves { "pages that move" } else { "writes of the host" };
            Err(wrong(a, &format!("a stream that takes {takes}")))
        };
        self.ask("stream", || (views::NewPage::new(page),), read).unwrap_or(usual)
    }
}

#[deny(clippy::missing_trait_methods)]
impl Placement for Policy {
    asked! {
        fn place(&mut self, load: &Load<'_>, lpn: Lpn, prio: Prio) -> Option<PlaneId>
            as (views::Load::new(load), lpn.as_u32(), prio == Prio::High)
            => |a| place_of(a, load), else (0..load.geometry.planes())
                .find(|plane| load.writable.get(*plane))
                .map(PlaneId::new);
        fn spread(&mut self, lpn: Lpn) -> PlaneId as (lpn.as_u32(),)
            => |a| Ok(PlaneId::from_u32(one_of(a, self.drive().planes(), "a plane")?)),
            else PlaneId::new(lpn.index() % self.drive().planes());
        fn is_free(&self) -> bool as () => truth, else true;
    }
}

/// A plane with room, or none of them.
fn place_of(answer: &Bound<'_, PyAny>, load: &Load<'_>) -> Read<Option<PlaneId>> {
    let planes = load.geometry.planes();
    let plane = optional(answer, |a| one_of(a, planes, "a plane"))?;
    let room = |plane: usize| load.writable.get(plane);
    match plane {
        Some(plane) if !room(plane as usize) => {
            Err(wrong(answer, "a plane with room (`load.writable`), or None to wait"))
        }
        None if (0..planes).all(room) => {
            Err(wrong(answer, "a plane: all have room, so waiting would never end"))
        }
        _ => Ok(plane.map(PlaneId::from_u32)),
    }
}

#[deny(clippy::missing_trait_methods)]
impl Wear for Policy {
    fn active(&self) -> bool {
        true
    }

    asked! {
        fn learn_life(&mut self, life: &Life) as (views::Life::new(life),);
        fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan)
            as {
                let Balance { plane, erased } = balance;
                let all = views::Plane::all(&plane.ftl, plane.plane, plane.now);
                (views::Plane::candidates(plane), all, erased.as_u32())
            } => |a| self.plan(&balance.plane.ftl, a, plan), else ();
    }
}

#[deny(clippy::missing_trait_methods)]
impl Coding for Policy {
    /// For a policy that never writes a block in a code there is `plain`.
    fn plain(&self) -> bool {
        false
    }

    fn layouts(&self, geometry: &Geometry) -> Layouts {
        if self.is_write_once() { Layouts::write_once(geometry) } else { Layouts::of(geometry) }
    }

    /// The slots that all blocks lack in the code's first generation.
    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        if !self.is_write_once() {
            return 0;
        }
        let lost = geometry.pages_per_block() - Layouts::write_once(geometry).slots(Mode::Wom1);
        u64::from(lost) * geometry.blocks_per_plane() as u64
    }

    asked! {
        fn first_life(&self, block: BlockId) -> Mode as (block.as_u32(),)
            => |a| answers::mode(a, self.is_write_once(), false), else Mode::Full;
        fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife
            as (views::Block::new(view, block),) => |a| {
                let again = views::Block::may_be_written_again(view, block);
                Ok(match answers::mode(a, self.is_write_once(), again)? {
                    Mode::Wom2 => NextLife::SecondGeneration,
                    mode => NextLife::Erase(mode),
                })
            }, else NextLife::Erase(Mode::Full);
    }
}

#[deny(clippy::missing_trait_methods)]
impl SlcCache for Policy {
    asked! {
        fn learn_scale(&mut self, of: u32) as (of,);
        fn cache(&self, geometry: &Geometry) -> Option<CacheSpec>
            as (views::Drive::new(geometry, 0),)
            => |a| answers::optional(a, answers::cache), else None;
    }
}

#[deny(clippy::missing_trait_methods)]
impl PageChoice for Policy {
    /// For a policy that always takes the next page there is `in-order`.
    fn in_order(&self) -> bool {
        false
    }

    fn streams(&self) -> Vec<StreamSpec> {
        self.own_streams(self.drive())
    }

    fn learn_streams(&mut self, first: StreamId) {
        let own = self.own_streams(self.drive()).len() as u8;
        self.own.set((first.0, first.0 + own));
        self.notify("learn_streams", || (first.0,));
        // The policy of a run is not asked for it again.
        self.urgent.set(self.urgent_stream());
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        self.kept(geometry)
    }

    /// Only the host may pass over pages: collection that wastes as many as it wins has no end.
    fn pick(&mut self, view: &FtlView<'_>, at: &WritePoint, w: &WriteCtx) -> Pick {
        let next = Pick::Slot(at.next);
        if w.tag.source != Source::Host {
            return next;
        }
        let plane = view.geometry.plane_of(at.block);
        let room = self.passed.room(plane);
        let what = || (views::Write::new(w), views::Point::new(at, room));
        let picked = self.ask("pick", what, |a| pick_of(a, view, at, room));
        let Some((pick, passed)) = picked else { return next };
        self.passed.add(plane, at.block, passed);
        pick
    }

    /// Only the host's writes may go to a stream of its own: see `planner`.
    fn stream(&mut self, to: StreamId, tag: Tag) -> StreamId {
        if tag.source != Source::Host {
            return to;
        }
        let urgent = tag.prio == Prio::High;
        let read = |a: &Bound<'_, PyAny>| {
            if a.extract().is_ok_and(|n: u8| n == to.0) {
                return Ok(to);
            }
            let own = answers::own_stream(a, &self.own(), "")?;
            if self.urgent.get() == Some(own) && !urgent {
                return Err(wrong(a, "another stream: this one is for urgent writes alone"));
            }
            Ok(own)
        };
        self.ask("stream", || (to.0, urgent), read).unwrap_or(to)
    }

    asked! {
        fn learn_times(&mut self, program: &[Dur; 4]) as (program.map(Dur::as_ns),);
        fn urgent_stream(&self) -> Option<StreamId>
            as () => |a| optional(a, |a| answers::own_stream(a, &self.own(), "")), else None;
        fn gc_pick(&self) -> Option<FreePick>
            as () => |a| optional(a, answers::pick), else None;
    }
}

/// The page that Python named, or the next block; and how many pages are passed over.
fn pick_of(
    answer: &Bound<'_, PyAny>,
    view: &FtlView<'_>,
    at: &WritePoint,
    room: u32,
) -> Read<(Pick, u32)> {
    let pages = view.geometry.pages_per_block();
    let page = optional(answer, |a| {
        Ok(whole(a, at.next.into(), u64::from(pages) - 1, "a page of the block")? as u32)
    })?;
    let passed = page.unwrap_or(pages) - at.next;
    if passed > room {
        let must = format!("a page that passes over {room} pages at most (`point.may_pass`)");
        return Err(wrong(answer, &must));
    }
    match page {
        None if !at.may_open => Err(wrong(answer, "a page: no block is free (`point.may_open`)")),
        None => Ok((Pick::NextBlock, passed)),
        Some(page) if page % view.geometry.slots_per_program() != 0 => {
            let unit = view.geometry.slots_per_program();
            Err(wrong(answer, &format!("the first page of a program: a multiple of {unit}")))
        }
        Some(page) if !view.layouts.is_slot(view.modes[at.block], page) => {
            Err(wrong(answer, "a page that the block's mode has"))
        }
        Some(page) => Ok((Pick::Slot(page), passed)),
    }
}

/// Pages that were passed over and not erased yet: at most half of a plane's spare ones.
#[derive(Default)]
struct Passed {
    most: u32,
    in_block: Vec<u32>,
    in_plane: Vec<u32>,
    blocks_per_plane: usize,
}

impl Passed {
    fn new(geometry: &Geometry, logical_pages: u32) -> Self {
        let spare = geometry.pages().saturating_sub(logical_pages as usize);
        Self {
            most: (spare / 2 / geometry.planes()) as u32,
            in_block: vec![0; geometry.blocks()],
            in_plane: vec![0; geometry.planes()],
            blocks_per_plane: geometry.blocks_per_plane(),
        }
    }

    fn room(&self, plane: PlaneId) -> u32 {
        self.most - self.in_plane[plane.index()]
    }

    fn add(&mut self, plane: PlaneId, block: BlockId, pages: u32) {
        self.in_plane[plane.index()] += pages;
        self.in_block[block.index()] += pages;
    }

    fn erased(&mut self, block: BlockId) {
        let Some(passed) = self.in_block.get_mut(block.index()) else { return };
        let passed = std::mem::take(passed);
        self.in_plane[block.index() / self.blocks_per_plane] -= passed;
    }
}

#[deny(clippy::missing_trait_methods)]
impl ReadDisturb for Policy {
    fn streams(&self) -> Vec<StreamSpec> {
        let streams = self.own_streams(self.drive());
        let (first, _) = self.own.get();
        self.own.set((first, first + streams.len() as u8));
        streams
    }

    fn role_names(&self) -> &'static [&'static str] {
        static LISTS: Mutex<BTreeSet<&'static [&'static str]>> = Mutex::new(BTreeSet::new());
        let words: Vec<_> = self.role_words().into_iter().map(lasting).collect();
        let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
        if !lists.contains(words.as_slice()) {
            lists.insert(words.clone().leak());
        }
        lists.get(words.as_slice()).expect("it was there or is now")
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        self.kept(geometry)
    }

    /// Blocks lose pages in place only by the plans of policies on the list. These make sure that
    /// the pages hold no data, and that the drive can spare them. So these three answer as for a
    /// policy without such plans.
    fn keeps(&self) -> Option<(Pool, u32)> {
        None
    }

    fn may_reprogram(&mut self, _: &FtlView<'_>, _: BlockId) -> bool {
        false
    }

    fn on_reprogrammed(&mut self, _: BlockId, _: Time) {}

    asked! {
        fn limit(&self, mode: Mode) -> Option<u32> as (mode.name(),)
            => |a| Ok(optional(a, |a| whole(a, 1, MOST_READS, "host reads"))?.map(|n| n as u32)),
            else None;
        fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool
            as (views::Block::new(view, block),) => truth, else false;
        fn on_reset(&mut self, block: BlockId, now: Time) as (block.as_u32(), now.as_ns());
        fn on_erased(&mut self, block: BlockId, role: Role, reads: u32, why: Tag, now: Time)
            as (block.as_u32(), role.0, reads, why.source.name(), now.as_ns());
        fn dram_bytes(&self) -> u64 as () => bytes, else 0;
        fn on_read(&mut self, view: &FtlView<'_>, ppn: Ppn, now: Time, plan: &mut Plan)
            as {
                let (block, page) = view.geometry.split(ppn);
                (views::Block::new(view, block), page, now.as_ns())
            } => |a| self.plan(view, a, plan), else ();
        fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan)
            as {
                let plane = view.geometry.plane_of(block);
                (views::Block::new(view, block), views::Plane::all(view, plane, now))
            } => |a| {
                self.plan(view, a, plan)?;
                if ends_limit(view, block, plan) {
                    return Ok(());
                }
                plan.steps.clear();
                let must = format!(
                    "a plan that reclaims block {block} or resets its reads, because reads of it wait"
                );
                Err(wrong(a, &must))
            }, else if !ends_limit(view, block, plan) {
                plan.push(Step::Reclaim { block, to: Dest::Stream(StreamId::GC) });
            };
        fn on_reclaim(&mut self, view: &FtlView<'_>, block: BlockId, why: Tag) -> Dest
            as (views::Block::new(view, block), why.demand.name())
            => |a| Ok(Dest::Stream(self.planner(view).stream(a)?)), else Dest::Stream(StreamId::GC);
    }
}

/// Host reads that a block may endure.
const MOST_READS: u64 = u32::MAX as u64 - 1;

/// Whether a block that has reached its limit will leave it.
fn ends_limit(view: &FtlView<'_>, block: BlockId, plan: &Plan) -> bool {
    let ends = |step: &Step| {
        matches!(step, Step::Reclaim { block: b, .. } | Step::ReclaimAtLimit { block: b, .. }
            | Step::ResetReads(b) if *b == block)
    };
    view.blocks.state(block) == State::Moving || plan.steps.iter().any(ends)
}

/// Pages that are worth writing anew, oldest first, sorted by the die that they lie on when a die
/// is idle. A page is marked once.
#[derive(Default)]
struct Marked {
    all: BTreeSet<Lpn>,
    fresh: Vec<Lpn>,
    by_die: Vec<VecDeque<Lpn>>,
}

impl Marked {
    fn add(&mut self, lpn: Lpn) {
        if self.all.insert(lpn) {
            self.fresh.push(lpn);
        }
    }

    /// Takes the first page that lies on this die.
    fn next_on(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        if self.all.is_empty() {
            return None;
        }
        self.by_die.resize_with(view.geometry.dies(), VecDeque::new);
        for lpn in std::mem::take(&mut self.fresh) {
            self.sort_in(lpn, view);
        }
        while let Some(lpn) = self.by_die[die.as_u32() as usize].pop_front() {
            // The page may have moved to another die since, or hold nothing any more.
            if home(lpn, view) == Some(die) {
                self.all.remove(&lpn);
                return Some(lpn);
            }
            self.sort_in(lpn, view);
        }
        None
    }

    fn sort_in(&mut self, lpn: Lpn, view: &FtlView<'_>) {
        match home(lpn, view) {
            Some(die) => self.by_die[die.as_u32() as usize].push_back(lpn),
            None => {
                self.all.remove(&lpn);
            }
        }
    }
}

/// The die that a page lies on, if it holds anything.
fn home(lpn: Lpn, view: &FtlView<'_>) -> Option<DieId> {
    let block = view.geometry.block_of(view.map.lookup(lpn)?);
    Some(view.geometry.die_of_plane(view.geometry.plane_of(block)))
}
