//! A policy written in Python as the FTL sees it: each question is a call, with the interpreter
//! held for its length. An answer that cannot be, or an exception, ends the run as the user's
//! mistake; until the engine has heard of that, the policy gives answers that do no harm.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use ssd::policies::external::{
    Access, AccessKind, BlockId, Cost, DieId, FtlView, Geometry, Interests, Level, Lpn, PlaneView,
    Ppn, Rng, Role, StreamId, Tag, Time, Victim, Watch, WriteCtx,
};

use crate::error;
use crate::outside::{Outside, level};
use crate::views;

/// A method, if the policy has it.
type Hook = Option<Py<PyAny>>;

/// The methods that a policy may have; `python/floatgate/policy` describes them.
#[derive(Default)]
struct Hooks {
    attach: Hook,
    on_access: Hook,
    on_program: Hook,
    on_invalidate: Hook,
    on_move: Hook,
    on_open: Hook,
    on_close: Hook,
    on_erase: Hook,
    counters: Hook,
    choose: Hook,
    level: Hook,
    follow: Hook,
    rewrite: Hook,
}

/// Why a call gave no answer.
enum Trouble {
    /// Python raised.
    Raised(PyErr),
    /// The answer is none to this question.
    Wrong(String),
}

impl From<PyErr> for Trouble {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// One policy in Python.
pub(crate) struct Policy {
    outside: Arc<Outside>,
    name: String,
    thread: u64,
    hooks: Hooks,
    random: Option<Py<views::Random>>,
    initial: Level,
    dram_bits_per_page: u32,
    marked: Marked,
}

impl Policy {
    /// A policy that has no methods yet.
    pub(crate) fn new(
        outside: Arc<Outside>,
        name: String,
        initial: Level,
        dram_bits_per_page: u32,
    ) -> Self {
        let (thread, hooks, random, marked) = Default::default();
        Self { outside, name, thread, hooks, random, initial, dram_bits_per_page, marked }
    }

    /// Makes the Python side: `make` returns the methods by name.
    pub(crate) fn begin(&mut self, make: &Py<PyAny>) {
        let thread = Python::try_attach(|py| {
            py.import("threading")?.call_method0("get_ident")?.extract::<u64>()
        });
        self.thread = thread.and_then(Result::ok).unwrap_or_default();
        let made = self.call(Some(make), "__init__", |make| {
            let methods = make.call0()?;
            let methods = methods.cast::<PyDict>().map_err(PyErr::from)?;
            let hook = |name| PyResult::Ok(methods.get_item(name)?.map(Bound::unbind));
            let hooks = Hooks {
                attach: hook("attach")?,
                on_access: hook("on_access")?,
                on_program: hook("on_program")?,
                on_invalidate: hook("on_invalidate")?,
                on_move: hook("on_move")?,
                on_open: hook("on_open")?,
                on_close: hook("on_close")?,
                on_erase: hook("on_erase")?,
                counters: hook("counters")?,
                choose: hook("choose")?,
                level: hook("level")?,
                follow: hook("follow")?,
                rewrite: hook("rewrite")?,
            };
            Ok((hooks, Py::new(make.py(), views::Random::empty())?))
        });
        if let Some((hooks, random)) = made {
            (self.hooks, self.random) = (hooks, Some(random));
        }
    }

    /// Calls a method, if there is one; `None` too if that went wrong, or the run is over.
    fn call<T>(
        &self,
        hook: Option<&Py<PyAny>>,
        method: &str,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> Result<T, Trouble>,
    ) -> Option<T> {
        let hook = hook?;
        self.outside.enter(self.thread, |py| match call(hook.bind(py)) {
            Ok(answer) => Some(answer),
            Err(trouble) => {
                self.outside.fail(self.describe(py, method, trouble));
                None
            }
        })?
    }

    /// Tells the policy something.
    fn tell<A>(&self, hook: &Hook, method: &str, what: A)
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        self.call(hook.as_ref(), method, |f| Ok(f.call1(what).map(drop)?));
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
}

/// A level that Python named.
fn level_of(answer: &Bound<'_, PyAny>) -> Result<Level, Trouble> {
    let word = answer.cast::<PyString>().ok().and_then(|word| level(word.to_str().ok()?));
    word.ok_or_else(|| {
        Trouble::Wrong(format!("returned {}; it must be 'high', 'medium' or 'low'", shown(answer)))
    })
}

/// Yes or no.
fn truth_of(answer: &Bound<'_, PyAny>) -> Result<bool, Trouble> {
    answer
        .extract::<bool>()
        .map_err(|_| Trouble::Wrong(format!("returned {}; it must be a bool", shown(answer))))
}

/// A value as Python prints it, not too long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl Watch for Policy {
    fn interests(&self) -> Interests {
        let hooks = &self.hooks;
        let any = |wanted: &[&Hook], interest| {
            if wanted.iter().any(|hook| hook.is_some()) { interest } else { Interests::NONE }
        };
        any(&[&hooks.on_access], Interests::ACCESS)
            .with(any(&[&hooks.follow], Interests::ACCESS.with(Interests::IDLE)))
            .with(any(&[&hooks.on_program], Interests::PROGRAM))
            .with(any(&[&hooks.on_invalidate], Interests::INVALIDATE))
            .with(any(&[&hooks.on_move], Interests::MOVE))
            .with(any(&[&hooks.on_open, &hooks.on_close, &hooks.on_erase], Interests::BLOCK))
    }

    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        self.tell(&self.hooks.attach, "attach", (views::Drive::new(geometry, logical_pages),));
    }

    fn on_access(&mut self, access: &Access) {
        self.tell(&self.hooks.on_access, "on_access", (views::Access::new(access),));
    }

    fn on_program(&mut self, lpn: Lpn, ppn: Ppn, level: Level, tag: Tag, now: Time) {
        let what = (lpn.as_u32(), ppn.as_u32(), level.name(), tag.source.name(), now.as_ns());
        self.tell(&self.hooks.on_program, "on_program", what);
    }

    fn on_invalidate(&mut self, block: BlockId, gain: u32, now: Time) {
        let what = (block.as_u32(), gain, now.as_ns());
        self.tell(&self.hooks.on_invalidate, "on_invalidate", what);
    }

    fn on_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag) {
        let what = (lpn.as_u32(), from.as_u32(), to.as_u32(), tag.source.name());
        self.tell(&self.hooks.on_move, "on_move", what);
    }

    fn on_open(&mut self, block: BlockId, _: StreamId, _: Role) {
        self.tell(&self.hooks.on_open, "on_open", (block.as_u32(),));
    }

    fn on_close(&mut self, block: BlockId, now: Time) {
        self.tell(&self.hooks.on_close, "on_close", (block.as_u32(), now.as_ns()));
    }

    fn on_erase(&mut self, block: BlockId, now: Time) {
        self.tell(&self.hooks.on_erase, "on_erase", (block.as_u32(), now.as_ns()));
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let counters = self.call(self.hooks.counters.as_ref(), "counters", |f| {
            let answer = f.call0()?;
            let wrong = || {
                let what = shown(&answer);
                Trouble::Wrong(format!("returned {what}; it must map names to finite numbers"))
            };
            let items = answer.cast::<PyMapping>().map_err(|_| wrong())?.items()?;
            let read = |item: Bound<'_, PyAny>| item.extract::<(String, f64)>().ok();
            let pairs: Option<Vec<_>> = items.iter().map(read).collect();
            pairs.filter(|pairs| pairs.iter().all(|(_, n)| n.is_finite())).ok_or_else(wrong)
        });
        counters.into_iter().flatten().map(|(name, n)| (lasting(name), n)).collect()
    }
}

/// A name that outlives everything: the names of counters are few, and used again in every run.
fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name = name.leak();
    names.insert(name);
    name
}

impl Victim for Policy {
    fn choose(&mut self, plane: &PlaneView<'_>, why: Tag, rng: &mut Rng) -> Option<BlockId> {
        let best = plane.most_gain().filter(|best| plane.ftl.blocks.gain(*best) > 0)?;
        let Some(random) = &self.random else { return Some(best) };
        let chosen = self.call(self.hooks.choose.as_ref(), "choose", |choose| {
            let py = choose.py();
            let view = Py::new(py, views::Plane::new(plane))?;
            let arguments = (&view, why.demand.name(), random);
            let answer = random.get().lend(rng, || choose.call1(arguments))?;
            victim_of(&answer, view.get())
        });
        Some(chosen.unwrap_or(best))
    }
}

/// The candidate that Python named.
fn victim_of(answer: &Bound<'_, PyAny>, plane: &views::Plane) -> Result<BlockId, Trouble> {
    let candidates = plane.candidates();
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
        "returned {what}, which is none of the {n} numbers in `plane.blocks`{hint}"
    )))
}

impl Cost for Policy {
    fn constant(&self) -> Option<Level> {
        None
    }

    fn initial(&self) -> Level {
        self.initial
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        let level = self.call(self.hooks.level.as_ref(), "level", |level| {
            level_of(&level.call1((views::Write::new(w),))?)
        });
        level.unwrap_or(self.initial)
    }

    fn follow(&mut self, access: &Access, stored: Option<Level>) {
        if access.kind != AccessKind::Read {
            return;
        }
        let worth = self.call(self.hooks.follow.as_ref(), "follow", |follow| {
            truth_of(&follow.call1((views::Access::new(access), stored.map(Level::name)))?)
        });
        if worth == Some(true) {
            self.marked.add(access.lpn);
        }
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        loop {
            let lpn = self.marked.next_on(die, view)?;
            let worth = self.call(self.hooks.rewrite.as_ref(), "rewrite", |rewrite| {
                truth_of(&rewrite.call1((lpn.as_u32(),))?)
            });
            if worth != Some(false) {
                return Some(lpn);
            }
        }
    }

    fn dram_bits_per_page(&self) -> u32 {
        self.dram_bits_per_page
    }
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
            // It may have moved to another die since, or hold nothing any more.
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
