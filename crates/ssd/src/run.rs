//! One run: from a resolved drive and a workload to a report.

use crate::config::{
    Age, Drive, Fill, Foreground, FreeBlock, GcPacing, GcTrigger, HostMode, WorkloadDemand,
    before_run, capacity,
};
use crate::host::RunFlows;
use crate::precondition::{AgeingState, Checkpoints, Preconditioned, precondition, resumably};
use crate::presets::presets;
use crate::progress::{Interrupted, Progress, Stage};
use crate::record::Sink;
use crate::result::{Report, pages_in_use, report};
use crate::session::Session;
use crate::sim::Sim;
use ftl::{
    Config, Cost, Deaths, Ftl, Future, GcMarks, LevelTimes, Life, PageChoice, Policies,
    PolicyTypes, Separation, Throttle, Watch, Wear,
};
use kernel::{Bytes, Dur, Time, hexadecimal};
use policies::{Arbitration, Builtin, Family};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};
use std::sync::Arc;
use workload::{
    About, AddressWrap, Alignment, Flow, Flows, Generator, Op, OutOfRange, Pattern, Portion,
    Request, RequestSource, TraceError, Workload,
};

/// The store of preconditioned drives between runs. The binding decides whether to keep one, and
/// where. A stored state is checked before it is used.
pub trait StateCache {
    /// The content stored under a key, if there is any.
    fn load(&mut self, key: &str) -> Option<Box<dyn Read + '_>>;
    /// Keeps the written bytes under a key, unless that fails.
    fn store(&mut self, key: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>);
    /// The entry under a key will not be needed again.
    fn forget(&mut self, _key: &str) {}
}

/// Keeps nothing.
pub struct NoCache;

impl StateCache for NoCache {
    fn load(&mut self, _: &str) -> Option<Box<dyn Read + '_>> {
        None
    }

    fn store(&mut self, _: &str, _: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {}
}

/// Why a run gave no report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The workload does not fit or cannot be read.
    #[error("{0}")]
    Workload(#[from] TraceError),
    /// There is no such workload.
    #[error("{0}")]
    Unknown(String),
    /// A generator's settings are wrong.
    #[error("{0}")]
    Generator(String),
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
}

impl From<Interrupted> for RunError {
    fn from(e: Interrupted) -> Self {
        match e {
            Interrupted::Stopped => Self::Stopped,
            Interrupted::Workload(e) => Self::Workload(e),
        }
    }
}

/// Watches a source's requests go by, for the report's section on the workload.
struct Observed {
    inner: Box<dyn RequestSource>,
    alignment: Alignment,
}

impl RequestSource for Observed {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.inner.fill(batch)?;
        self.alignment.observe(batch);
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.inner.skipped()
    }
}

/// The generator called `pattern`, with the settings of the drive's `[workload]`.
pub fn generator(drive: &Drive, pattern: &str) -> Result<Box<dyn Workload>, RunError> {
    generator_within(drive, pattern, drive.addresses())
}

/// As [`generator`], for a look at the workload alone: a span of its own may exceed the drive.
pub fn generator_alone(drive: &Drive, pattern: &str) -> Result<Box<dyn Workload>, RunError> {
    let own = drive.workload.generator.contains_key("span");
    generator_within(drive, pattern, if own { LARGEST_SPAN } else { drive.addresses() })
}

/// Addresses of workloads end here.
const LARGEST_SPAN: Bytes = Bytes::new(1 << 62);

fn generator_within(
    drive: &Drive,
    pattern: &str,
    largest: Bytes,
) -> Result<Box<dyn Workload>, RunError> {
    let Some(known) = Pattern::from_name(pattern) else {
        if presets().iter().any(|(name, _)| *name == pattern) {
            return Err(RunError::Unknown(format!(
                "`{pattern}` is a drive, and stands in the place of a workload, such as random-write; \
                 several drives are compared with `floatgate compare DRIVE,{pattern} WORKLOAD`"
            )));
        }
        let hint = kernel::hint(pattern, Pattern::ALL.iter().map(|p| p.name()));
        return Err(RunError::Unknown(format!(
            "`{pattern}` is neither a file nor a generator; {hint}"
        )));
    };
    let mut settings: Map<String, Value> = drive.workload.generator.clone();
    settings.insert("pattern".into(), known.name().into());
    let mut generator: Generator = serde_json::from_value(Value::Object(settings))
        .map_err(|e| RunError::Generator(format!("[workload]: {e}")))?;
    let Some(scale) = &drive.scale else {
        return Ok(Box::new(generator.with_span(largest, drive.seed)?));
    };
    // A workload that does not fit the whole drive is refused with the numbers of the whole drive.
    generator.with_span(largest, drive.seed)?;
    let page = drive.geometry.page_size().get();
    let span = |span: Bytes| Bytes::new((scale.share(span.get()) / page).max(1) * page);
    generator.span = generator.span.map(span);
    generator.requests = (generator.requests / u64::from(scale.of)).max(1);
    generator.scale = scale.of.into();
    Ok(Box::new(generator.with_span(capacity(drive), drive.seed)?))
}

/// The FTL of a drive, empty.
pub fn ftl_of<K: PolicyTypes>(drive: &Drive, policies: Policies<K>) -> Ftl<K> {
    let config = Config {
        geometry: drive.geometry,
        layouts: drive.policies.layouts(&drive.geometry),
        logical_pages: drive.logical_pages,
        gc: GcMarks {
            start: drive.ftl.gc.start,
            stop: drive.ftl.gc.stop,
            background_stop: drive.ftl.gc.background_stop,
            one_by_one: drive.ftl.gc.foreground == Foreground::One,
            paced: drive.ftl.gc.pace == GcPacing::PerWrite,
        },
        endurance: drive.endurance_left(),
        seed: drive.seed,
    };
    let mut ftl = Ftl::new(config, policies);
    ftl.set_cycle_wear(drive.modes().map(|spec| spec.wear));
    if let Some(GcTrigger::Garbage(share)) = drive.ftl.gc.trigger {
        ftl.collect_garbage_above(share);
    }
    if drive.ftl.free_block == Some(FreeBlock::LeastWorn) {
        ftl.open_least_worn();
    }
    if drive.levels_differ() {
        ftl.limit_reads_by_level();
    }
    if let Some(fdp) = drive.ftl.fdp {
        ftl.count_by_handle(fdp.spec());
    }
    ftl
}

/// Runs a workload on a drive.
///
/// `progress` is called now and then; if it returns `false`, the run stops. The report is complete
/// except for its wall-clock figures, which the caller fills in ([`Report::set_timing`]): nothing
/// here reads a clock.
pub fn run(
    drive: &Drive,
    workload: Box<dyn Workload>,
    cache: &mut dyn StateCache,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Report, RunError> {
    run_recorded(drive, workload, cache, progress, None)
}

/// The same; a `sink` takes the data that the drive's [`Recording`](crate::config::Recording)
/// keeps.
pub fn run_recorded(
    drive: &Drive,
    workload: Box<dyn Workload>,
    cache: &mut dyn StateCache,
    progress: &mut dyn FnMut(Progress) -> bool,
    sink: Option<Sink>,
) -> Result<Report, RunError> {
    let mut drive = closed_if_untimed(drive, workload.about());
    let workload = &*folded(&mut drive, workload)?;
    let drive = &drive;
    let future = future_of(drive, workload)?;
    let deaths = deaths_of(drive, workload)?;
    let policies = || policies_of(drive, future.as_ref());
    let (mut ftl, state) = prepare::<Builtin>(drive, workload, &policies, cache, progress)?;
    let before = pages_in_use(&ftl);
    let mut policies = policies();
    if let Some(deaths) = deaths {
        // The state before the run must not depend on its requests.
        policies.separation.foresee(deaths);
    }
    ftl.begin_run(policies);

    let total = workload.about().requests;
    let start = Progress { stage: Stage::Running, done: 0, total, now: Time::ZERO };
    if !progress(start) {
        return Err(RunError::Stopped);
    }
    let mut arbiter = drive.policies.arbiter();
    let run_flows = RunFlows::of(&drive.host, workload.about(), arbiter.merges())
        .map_err(RunError::Generator)?;
    let Flows { open, closed } = run_flows.heard(workload.flows()?);
    let mut source = Observed { inner: open, alignment: Alignment::new() };
    let mut sim = Sim::new(drive, ftl);
    sim.count_flows(run_flows.flows.len());
    arbiter.attach(&drive.geometry, drive.logical_pages);
    if arbiter.merges() {
        sim.close_loops(closed);
    } else {
        sim.arbitrate(&drive.host, arbiter, &run_flows.shares(), closed);
    }
    if let Some(sink) = sink {
        sim.record_by(drive.recording, sink, run_flows.names());
    }
    sim.run(&mut source, total, progress)?;
    let mut alignment = source.alignment.clone();
    let mut skipped = source.skipped();
    for closed in sim.closed_loops() {
        alignment.add(closed.alignment());
        skipped += closed.skipped();
    }
    let about = About { flows: run_flows.flows, ..workload.about().clone() };
    Ok(report(drive, &about, skipped, &alignment, &state, before, &mut sim))
}

/// Folds a workload into a drive, and into the part of it that is simulated.
fn folded(drive: &mut Drive, workload: Box<dyn Workload>) -> Result<Box<dyn Workload>, TraceError> {
    let whole = drive.years.as_ref().map_or(&*drive, |years| &years.whole);
    let (pages, rule) = (whole.logical_pages, drive.host.out_of_range);
    let (seed, page) = (drive.seed, drive.geometry.page_size());
    let generated = is_generated(workload.about());
    let within = if generated { capacity(whole) } else { whole.addresses() };
    let sizes = [within, capacity(whole)];
    let fold = AddressWrap::new(workload, rule, drive.workload.shift, within)?;
    let fold: Box<dyn Workload> = match &mut drive.scale {
        Some(scale) if !generated => {
            let part = Portion::scaled(Box::new(fold), seed, page, sizes)?;
            scale.sampled = Some(part.sample());
            Box::new(part)
        }
        _ => Box::new(fold),
    };
    let Some(years) = drive.years.as_mut().filter(|years| years.of.get() > 1) else {
        return Ok(fold);
    };
    let part = Portion::new(fold, years.of.get(), seed, page, pages)?;
    years.load = Some(WorkloadDemand { written: part.written(), requests: part.requests() });
    Ok(Box::new(part))
}

/// The client of a session.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Client<'a> {
    /// Programs that use a block device: its requests are of whole sectors, and of one flow.
    BlockDevice,
    /// A program that submits requests of these flows; an empty list: of one flow without a name.
    Program(&'a [String]),
}

/// A drive that is ready for requests that are not known yet. Its settings must not need them.
///
/// # Errors
/// A setting needs future requests, or sets their arrival times; or flows do not fit.
pub fn open_session(
    drive: &Drive,
    client: Client<'_>,
    cache: &mut dyn StateCache,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Session, RunError> {
    let names = match client {
        Client::BlockDevice => &[],
        Client::Program(names) => names,
    };
    let mut wrong = unfit_for_session(drive);
    if client == Client::BlockDevice {
        wrong.extend(unfit_for_block_device(drive));
    }
    wrong.extend(wrong_flows(names));
    let unknown = Unknown::new(names, capacity(drive));
    let mut arbiter = drive.policies.arbiter();
    arbiter.attach(&drive.geometry, drive.logical_pages);
    let tenants = RunFlows::of(&drive.host, &unknown.0, arbiter.merges());
    let tenants = tenants.map_err(|what| wrong.push(what));
    let Some(tenants) = tenants.ok().filter(|_| wrong.is_empty()) else {
        return Err(RunError::Generator(wrong.join("\n")));
    };
    let policies = || policies_of(drive, None);
    let (mut ftl, state) = prepare::<Builtin>(drive, &unknown, &policies, cache, progress)?;
    let before = pages_in_use(&ftl);
    ftl.begin_run(policies());
    Ok(Session::new(drive.clone(), Sim::new(drive, ftl), tenants, state, before))
}

/// The mistake in the names of flows.
fn wrong_flows(names: &[String]) -> Option<String> {
    let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
    if names.len() > Flow::MOST {
        Some(format!("{} flows are more than {}", names.len(), Flow::MOST))
    } else if names.iter().any(String::is_empty) {
        Some("the name of a flow is empty".into())
    } else {
        twice.map(|(_, name)| format!("the flow `{name}` is named twice"))
    }
}

/// The rules that a drive breaks.
fn broken<const N: usize>(rules: [(bool, &str); N]) -> impl Iterator<Item = String> {
    rules.into_iter().filter(|(wrong, _)| *wrong).map(|(_, what)| what.to_owned())
}

/// The settings of a drive that need future requests, each by its name.
fn unfit_for_session(drive: &Drive) -> Vec<String> {
    let rules = [
        (
            drive.precondition.fill == Fill::Touched,
            "`precondition.fill = \"touched\"` fills what will be read, which nobody knows of a \
             session; `--set precondition.fill=full` or `none`",
        ),
        (
            drive.precondition.age == Age::Workload,
            "`precondition.age = \"workload\"` repeats requests that nobody knows of a session; \
             `--set precondition.age=random` or `none`",
        ),
        (
            drive.host.mode != HostMode::Timestamps,
            "`host.mode` is not `timestamps`: requests of a session arrive when they come; `--set \
             host.mode=timestamps`",
        ),
        (
            (drive.host.speed - 1.0).abs() > 0.0,
            "`host.speed` is not 1: requests of a session arrive when they come; `--set host.speed=1`",
        ),
        (
            drive.workload.shift != 0,
            "`workload.shift`: a session moves no addresses; `--set workload.shift=0`",
        ),
        (
            drive.host.out_of_range == OutOfRange::Compact,
            "`host.out-of-range = \"compact\"` moves addresses in the order of a whole workload, and a \
             session moves none; `--set host.out-of-range=refuse`",
        ),
        (
            drive.scale.is_some(),
            "`scale`: a session moves no addresses, and its requests are for the whole drive; leave it \
             out, or describe a smaller drive",
        ),
        (
            drive.host.only.is_some(),
            "`host.only`: a session hears every flow; leave it out, and submit requests of one flow",
        ),
    ];
    let built = drive.policies.build();
    let seers = [
        (built.cost.wants_future(), Family::Cost, "fixed"),
        (built.separation.wants_future(), Family::Separation, Family::Separation.default()),
    ];
    let future = seers.into_iter().filter(|(wants, ..)| *wants).map(|(_, family, other)| {
        let (family, (name, _)) = (family.name(), drive.policies.get(family));
        format!(
            "the {family} policy `{name}` must know the requests to come, and nobody knows those of a \
             session; `--policy {family}={other}` does not"
        )
    });
    broken(rules).chain(future).collect()
}

/// Settings that a block device does not allow.
fn unfit_for_block_device(drive: &Drive) -> impl Iterator<Item = String> {
    let sector = drive.host.sector.get();
    let mut arbiter = drive.policies.arbiter();
    arbiter.attach(&drive.geometry, drive.logical_pages);
    broken([
        (
            !arbiter.merges() || !drive.host.flow.is_empty(),
            "a live drive is one flow; `--policy arbitration=merge`, and no `host.flow`",
        ),
        (
            !sector.is_power_of_two() || !(512..=65536).contains(&sector),
            "sectors of a live drive have 512 bytes or a multiple; `--set host.sector=512B`",
        ),
    ])
}

/// A workload whose requests are not known.
struct Unknown(About);

impl Unknown {
    /// With flows of these names, whose requests lie anywhere.
    fn new(flows: &[String], capacity: Bytes) -> Self {
        let flow = |name: &String| Flow {
            name: name.clone(),
            weight: 1,
            depth: None,
            region: (0, capacity.get()),
        };
        Self(About {
            name: "a session".into(),
            format: "session".into(),
            sha256: None,
            reading: None,
            requests: None,
            span: None,
            timed: true,
            closed: Vec::new(),
            flows: flows.iter().map(flow).collect(),
            stand_in: None,
            notes: Vec::new(),
        })
    }
}

impl Workload for Unknown {
    fn about(&self) -> &About {
        &self.0
    }

    fn open_pass(&self, _pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(Box::new(Nothing))
    }
}

struct Nothing;

impl RequestSource for Nothing {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        Ok(())
    }
}

/// The drive's policies in their first state, with the facts that they must know.
fn policies_of(drive: &Drive, future: Option<&Arc<Future>>) -> Policies<Builtin> {
    let mut policies = drive.policies.build();
    DriveInfo::of(drive).configure(&mut policies);
    if let Some(future) = future {
        policies.cost.foresee(Arc::clone(future));
    }
    policies
}

/// The facts about a drive that policies are given, besides their views.
struct DriveInfo {
    levels: LevelTimes,
    program: [Dur; 4],
    life: Life,
}

impl DriveInfo {
    fn of(drive: &Drive) -> Self {
        let types = drive.geometry.shape().bits_per_cell;
        let mean = |times: &[Dur; 4]| {
            times[..types as usize].iter().copied().sum::<Dur>() / u64::from(types)
        };
        Self {
            levels: LevelTimes {
                program: drive.timing.program.map(mean),
                read: drive.timing.read.map(mean),
            },
            program: drive.timing.program[nand::Level::MediumCost],
            life: life_of(drive),
        }
    }

    fn configure(&self, policies: &mut Policies<Builtin>) {
        policies.cost.learn_times(&self.levels);
        policies.page_choice.learn_times(&self.program);
        policies.throttle.learn_life(&self.life);
        policies.wear.learn_life(&self.life);
    }

    /// The facts that may shape a state: those given to policies that act while a drive is filled
    /// and aged.
    fn shaping(&self, policies: &Policies<Builtin>) -> Value {
        // No field is left out by `..`, so the author of a new field decides here.
        let Self { levels: _, program, life } = self;
        let program = (!policies.page_choice.in_order()).then(|| format!("{program:?}"));
        let life = policies.wear.active().then(|| format!("{life:?}"));
        json!([program, life])
    }
}

/// The facts from which policies plan a drive's life.
pub(crate) fn life_of(drive: &Drive) -> Life {
    let page_bytes = drive.geometry.page_size().get();
    Life {
        raw_bytes: drive.geometry.pages() as u64 * page_bytes,
        page_bytes,
        cycles: drive.reliability.endurance,
        recovery: drive.reliability.equations(),
        pushes_back: drive.host.mode != HostMode::Timestamps,
    }
}

/// The future accesses, for a policy that needs them. The workload is read twice.
fn future_of(drive: &Drive, workload: &dyn Workload) -> Result<Option<Arc<Future>>, TraceError> {
    if !drive.policies.build().cost.wants_future() {
        return Ok(None);
    }
    let size = drive.geometry.page_size().get();
    let pages = |f: &mut dyn FnMut(Op, usize)| -> Result<(), TraceError> {
        workload.each_batch(|batch| {
            for request in batch.iter().filter(|r| r.has_extent()) {
                let pages = request.offset / size..=(request.end() - 1) / size;
                pages.for_each(|page| f(request.op, page as usize));
            }
            Ok(())
        })
    };
    // Each page has one count more than writes: the reads before the first.
    let mut first = vec![0_u32; drive.logical_pages as usize + 1];
    pages(&mut |op, page| first[page + 1] += u32::from(op.writes()))?;
    for page in 1..first.len() {
        first[page] += first[page - 1] + 1;
    }
    let mut reads = vec![0_u8; first[first.len() - 1] as usize];
    let mut at: Vec<u32> = first[..first.len() - 1].to_vec();
    pages(&mut |op, page| match op {
        Op::Write | Op::WriteFua => at[page] += 1,
        Op::Read => {
            let count = &mut reads[at[page] as usize];
            *count = count.saturating_add(1);
        }
        Op::Trim | Op::Flush => {}
    })?;
    Ok(Some(Arc::new(Future { first, reads })))
}

/// When each copy of each page ends, for a policy that asks for it. The workload is read twice.
fn deaths_of(drive: &Drive, workload: &dyn Workload) -> Result<Option<Arc<Deaths>>, TraceError> {
    if !drive.policies.build().separation.wants_future() {
        return Ok(None);
    }
    let size = drive.geometry.page_size().get();
    // Each change of a page, with the pages that the host has written before.
    let changes = |f: &mut dyn FnMut(usize, u32)| -> Result<(), TraceError> {
        let mut clock = 0_u32;
        workload.each_batch(|batch| {
            for request in batch.iter().filter(|r| r.has_extent()) {
                let pages = match request.op {
                    Op::Write | Op::WriteFua => request.offset / size..request.end().div_ceil(size),
                    // Only whole pages can be given up.
                    Op::Trim => request.offset.div_ceil(size)..request.end() / size,
                    Op::Read | Op::Flush => continue,
                };
                for page in pages {
                    f(page as usize, clock);
                    clock = clock.wrapping_add(u32::from(request.op.writes()));
                }
            }
            Ok(())
        })
    };
    let mut first = vec![0_u32; drive.logical_pages as usize + 1];
    changes(&mut |page, _| first[page + 1] += 1)?;
    for page in 1..first.len() {
        first[page] += first[page - 1];
    }
    let mut at = vec![0_u32; first[first.len() - 1] as usize];
    let mut next: Vec<u32> = first[..first.len() - 1].to_vec();
    changes(&mut |page, clock| {
        at[next[page] as usize] = clock;
        next[page] += 1;
    })?;
    Ok(Some(Arc::new(Deaths { first, at })))
}

/// Requests without times of their own arrive in a closed loop, unless the settings insist on an
/// open one. If all arrived at time zero, they would measure only the length of the queue.
fn closed_if_untimed(drive: &Drive, about: &About) -> Drive {
    let mut drive = drive.clone();
    let untimed = !about.timed && about.closed.is_empty();
    if drive.host.mode == HostMode::Timestamps && untimed && !drive.insists_on_mode {
        let whole = drive.years.as_mut().map(|years| &mut years.whole.resolved);
        for resolved in [Some(&mut drive.resolved), whole].into_iter().flatten() {
            resolved["host"]["mode"] = HostMode::QueueDepth.name().into();
        }
        drive.host.mode = HostMode::QueueDepth;
    }
    drive
}

/// Preconditions an empty drive, or loads its preconditioned state.
fn prepare<K: PolicyTypes>(
    drive: &Drive,
    workload: &dyn Workload,
    policies: &dyn Fn() -> Policies<K>,
    cache: &mut dyn StateCache,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<(Ftl<K>, Preconditioned), RunError> {
    let empty = || ftl_of(drive, policies());
    let mut ftl = empty();
    let repeatable = drive.policies.unrepeatable().next().is_none();
    if drive.precondition.age == Age::None || !repeatable {
        // Filling is as quick as loading, and a state without a key cannot be stored.
        let state = precondition(drive, workload, &mut ftl, progress)?;
        return Ok((ftl, state));
    }
    let key = state_key(drive, workload)?;
    if let Some(mut kept) = cache.load(&key) {
        ftl.expect_many_writes();
        let mut summary = [0; Preconditioned::BYTES];
        if kept.read_exact(&mut summary).is_ok()
            && let Some(state) = Preconditioned::from_bytes(&summary)
            && ftl.restore(&mut *kept).is_ok()
            && state.is_of(drive, &ftl)
        {
            return Ok((ftl, state));
        }
        // Damaged, or a state of another drive: ignored.
        ftl = empty();
    }
    // Its name has the form of a state's name, so a full cache may delete it.
    let unfinished = hexadecimal(&Sha256::digest(format!("unfinished {key}")));
    let mut checkpoints = Unfinished { cache, key: &unfinished, empty: &empty, policies };
    let state = resumably(drive, workload, &mut ftl, progress, Some(&mut checkpoints))?;
    if ftl.can_be_saved() {
        cache.store(&key, &mut |to| {
            to.write_all(&state.to_bytes())?;
            ftl.save(to)
        });
    }
    cache.forget(&unfinished);
    Ok((ftl, state))
}

/// The state of an interrupted ageing, in the cache.
struct Unfinished<'a, K: PolicyTypes> {
    cache: &'a mut dyn StateCache,
    key: &'a str,
    empty: &'a dyn Fn() -> Ftl<K>,
    policies: &'a dyn Fn() -> Policies<K>,
}

impl<K: PolicyTypes> Checkpoints<K> for Unfinished<'_, K> {
    fn resume(&mut self, ftl: &mut Ftl<K>) -> Option<AgeingState> {
        let mut kept = self.cache.load(self.key)?;
        ftl.expect_many_writes();
        if let Some(standing) = AgeingState::read(&mut *kept)
            && ftl.restore(&mut *kept).is_ok()
        {
            ftl.begin_afresh((self.policies)());
            return Some(standing);
        }
        *ftl = (self.empty)();
        None
    }

    fn keep(&mut self, ftl: &mut Ftl<K>, standing: &AgeingState) {
        self.cache.store(self.key, &mut |to| {
            to.write_all(&standing.to_bytes())?;
            ftl.save(to)
        });
        // So that it continues exactly as if it had been read from the cache.
        ftl.begin_afresh((self.policies)());
    }
}

/// The digest of everything that a preconditioned state depends on.
fn state_key(drive: &Drive, workload: &dyn Workload) -> Result<String, TraceError> {
    let unnamed = if by_workload(drive) { unnamed_requests(workload)? } else { None };
    Ok(state_digest(drive, &named_requests(drive, workload.about(), unnamed.as_deref())))
}

/// A run before it starts.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// The resolved configuration that its report will have.
    pub config: Value,
    /// The name of the preconditioned state. Runs with equal names that share a [`StateCache`]
    /// share the state. It is the key in the cache if a digest or settings identify the requests.
    /// `None` if a state is not worth storing, or cannot be stored.
    pub state: Option<String>,
}

/// The most bytes for each physical page; the next constant has everything else.
const BYTES_PER_PAGE: u64 = 12;
const BYTES_BESIDE: u64 = 64 << 20;

/// The memory in bytes that simulating a drive takes at most.
pub fn memory(drive: &Drive) -> u64 {
    BYTES_PER_PAGE * drive.geometry.pages() as u64 + BYTES_BESIDE
}

/// The facts about a run of a drive once its workload is known.
pub fn planned(drive: &Drive, about: &About) -> Planned {
    let drive = &closed_if_untimed(drive, about);
    let repeatable = drive.policies.unrepeatable().next().is_none();
    let kept = repeatable && drive.precondition.age != Age::None;
    let state = kept.then(|| state_digest(drive, &named_requests(drive, about, None)));
    Planned { config: drive.resolved.clone(), state }
}

/// The name of the requests in a preconditioned state; null if the state does not depend on any.
fn named_requests(drive: &Drive, about: &About, unnamed: Option<&str>) -> Value {
    if by_workload(drive) {
        json!([about.name, about.sha256, about.reading, about.requests, unnamed])
    } else {
        Value::Null
    }
}

/// Whether a preconditioned state depends on the workload's requests.
fn by_workload(drive: &Drive) -> bool {
    drive.precondition.age == Age::Workload || drive.precondition.fill == Fill::Touched
}

/// The digest of everything that a preconditioned state depends on. `requests` names those
/// requests; null if the state does not depend on any. Every fact of the drive is part of it,
/// unless its declaration rules out that it shapes a state. Settings declare that in
/// `config/keys.rs`, and families of policies by [`Family::shapes_state`].
fn state_digest(drive: &Drive, requests: &Value) -> String {
    let mut policies = drive.policies.to_json();
    for family in Family::ALL.into_iter().filter(|family| !family.shapes_state()) {
        policies.remove(family.name());
    }
    let mut parts = json!({
        "build": drive.build,
        "drive": before_run(&drive.resolved, !requests.is_null()),
        "policies": policies,
        "told": DriveInfo::of(drive).shaping(&drive.policies.build()),
        "requests": requests,
    });
    if drive.years.is_some() {
        // Its ageing may end sooner.
        parts["years"] = true.into();
    }
    hexadecimal(&Sha256::digest(parts.to_string()))
}

/// Whether a workload is one generator, whose settings are in the configuration.
fn is_generated(about: &About) -> bool {
    about.stand_in.is_none() && Pattern::from_name(&about.format).is_some()
}

/// The digest of a workload's requests, if nothing else identifies them. A trace has the digest of
/// its file, and a generator its settings in the configuration.
fn unnamed_requests(workload: &dyn Workload) -> Result<Option<String>, TraceError> {
    let about = workload.about();
    if about.sha256.is_some() || is_generated(about) {
        return Ok(None);
    }
    let mut digest = Sha256::new();
    digest.update([workload.draws() as u8]); // other passes of a record are the same
    workload.each_batch(|batch| -> Result<(), TraceError> {
        for request in batch {
            digest.update(request.offset.to_le_bytes());
            digest.update(request.len.to_le_bytes());
            digest.update([request.op as u8]);
            if request.hint > 0 {
                digest.update([u8::MAX, request.hint]);
            }
        }
        Ok(())
    })?;
    Ok(Some(hexadecimal(&digest.finalize())))
}
