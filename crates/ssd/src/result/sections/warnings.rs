//! Numbers that should not be trusted, and settings that had no effect: a list, in the order of
//! the result. A new warning is a code in [`codes`], a function, and its place in [`rules`].

use super::{SectionAbout, lifetime, scale};
use crate::config::{Drive, HostMode, MOST_UNITS};
use crate::host::Overload;
use crate::result::evidence::Evidence;
use crate::result::shape::{Declared, table};
use crate::sim::{Class, Stats, WorkLeft};
use ftl::PolicyTypes;
use kernel::{Bytes, Time, TimeSum};
use policies::{Family, Wanted};
use serde_json::{Value as Json, json};

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "Numbers that should not be trusted, and settings that had no effect in this run.",
);

pub(crate) type Section = Vec<Warning>;

table! {
    /// A warning.
    struct Warning {
        /// The code, for `floatgate explain CODE`.
        code: &'static str;
        /// The warning.
        text: String;
    }
}

/// The numbers of a run that a warning puts in doubt: by these, no run may be called better.
#[derive(Copy, Clone)]
pub(crate) enum InDoubt {
    None,
    /// All numbers.
    Everything,
    /// Latencies and rates of the host.
    Host,
    /// All numbers but those of the host.
    Flash,
    /// Latencies of reads.
    Reads,
    /// Requests per second.
    Rate,
    /// Percentiles and means of too few requests or pages.
    Few,
}

impl InDoubt {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Everything => "everything",
            Self::Host => "host",
            Self::Flash => "flash",
            Self::Reads => "reads",
            Self::Rate => "rate",
            Self::Few => "few",
        }
    }
}

/// A kind of warning.
#[derive(Copy, Clone)]
pub(crate) struct Code {
    name: &'static str,
    doubt: InDoubt,
    /// The reason for the doubt, as a part of a sentence.
    reason: &'static str,
}

/// Declares the codes of warnings, and the list of them all.
macro_rules! codes {
    ($($code:ident: $name:literal, $doubt:ident $(, $reason:literal)?;)+) => {
        /// Every code of a warning, with the numbers that it puts in doubt and the reason.
        pub(crate) mod codes {
            use super::{Code, InDoubt};

            $(pub(crate) const $code: Code =
                Code { name: $name, doubt: InDoubt::$doubt, reason: concat!($($reason)?) };)+

            pub(super) const ALL: &[Code] = &[$($code),+];
        }
    };
}

codes! {
    WAF_NOT_STEADY: "waf-not-steady", Everything, "write amplification was still moving";
    NOT_STEADY: "not-steady", Everything, "ageing stopped before write amplification was flat";
    NO_TIME: "no-time", Everything, "the run took no time";
    OVERLOADED: "overloaded", Host, "requests arrived faster than the drive serves them";
    SCALED_TOO_FAR: "scaled-too-far", Everything,
        "write amplification may not be that of the whole drive";
    SCALED_LATENCIES: "scaled-latencies", Host,
        "latencies may not be those of the whole drive";
    SCALED_TRACE: "scaled-trace", Host, "the sample of the trace is not like the trace";
    GC_NEVER_RAN: "gc-never-ran", Flash, "garbage collection never ran";
    UNMAPPED_READS: "unmapped-reads", Reads, "reads met pages that hold nothing";
    BUFFER_DRAINED: "buffer-drained", Rate,
        "the rate includes the time in which the write buffer emptied";
    FEW_SAMPLES: "few-samples", Few, "too few requests";
    SMALL_BUFFER: "small-buffer", None;
    SPARE_IN_RESERVE: "spare-in-reserve", None;
    IDLE_POLICY: "idle-policy", None;
    NO_READ_OF_WRITTEN: "no-read-of-written", None;
    BUFFER_NEVER_FILLED: "buffer-never-filled", None;
    NOT_REPEATABLE: "not-repeatable", None;
    VICTIM_OVERRIDDEN: "victim-overridden", None;
    CELLS_NOT_MODELLED: "cells-not-modelled", None;
    ERRORS_NEVER_MATTERED: "errors-never-mattered", None;
    UNCORRECTABLE: "uncorrectable", None;
    ENDURANCE_FAR: "endurance-far", None;
    RECOVERY_EXTRAPOLATED: "recovery-extrapolated", None;
    PARTIAL_WRITES: "partial-writes", None;
    QUEUE_LIMIT: "queue-limit", None;
    CLOSED_LOOP: "closed-loop", None;
    MISALIGNED: "misaligned", None;
    WORK_LEFT: "work-left", None;
}

/// The codes, as JSON.
pub(crate) fn declared() -> Json {
    let code = |code: &Code| {
        let Code { name, doubt, reason } = *code;
        json!({ "code": name, "doubt": doubt.name(), "reason": reason })
    };
    codes::ALL.iter().map(code).collect()
}

/// The run counts to its last program. If the write buffer alone takes more than this share of it,
/// after the last request was done, the run's rates differ from those that the host saw.
const SHARE_OF_DRAINING: f64 = 0.01;

/// Work that is left after a run, as a share of the time of all dies. Above it, the run's rates are
/// higher than the drive can sustain.
const SHARE_OF_WORK_LEFT: f64 = 0.01;

/// The number of slower samples that a percentile needs to be trusted.
const SAMPLES_BEHIND: u64 = 10;

/// Takes a warning: its code and its text.
pub(crate) type Warn<'a> = &'a mut dyn FnMut(Code, String);

/// Warns about the evidence, if it finds a reason; mostly it finds none.
type Rule<K> = fn(&Evidence<'_, K>, Warn<'_>);

fn rules<K: PolicyTypes>() -> [Rule<K>; 20] {
    [
        |e, warn| scaled(e.drive, scale::is_skewed(e.about), warn),
        |e, warn| of_the_drive(e.drive, warn),
        policies_without_requests,
        |e, warn| e.steadiness.warn(warn),
        read_nothing_written,
        buffer_never_filled,
        buffer_drained,
        no_time,
        not_repeatable,
        victim_overridden,
        |e, warn| lifetime::warn(e.drive, e.stats, e.sim, warn),
        scaled_trace,
        unmapped_reads,
        partial_writes,
        queue_limit,
        overloaded,
        closed_loop,
        misaligned,
        |e, warn| few_samples(e.stats, Class::Read, "reads", warn),
        |e, warn| few_samples(e.stats, Class::Write, "writes", warn),
    ]
}

/// Every warning of a run, except that of the work left, which the drive has yet to do.
pub(crate) fn of<K: PolicyTypes>(evidence: &Evidence<'_, K>) -> Section {
    listed(|warn| rules().into_iter().for_each(|rule| rule(evidence, warn)))
}

fn listed(all: impl FnOnce(Warn<'_>)) -> Section {
    let mut list = Vec::new();
    all(&mut |code, text| list.push(Warning { code: code.name, text }));
    list
}

impl Drive {
    /// Warnings known before a run: settings that change nothing in it, or limit the rest of the
    /// drive. A list, as results have it.
    pub fn warnings(&self) -> Json {
        let all = |warn: Warn<'_>| {
            scaled(self, false, warn);
            of_the_drive(self, warn);
        };
        listed(all).value()
    }

    /// The warnings of a fast-forward that simulates nothing.
    pub(crate) fn warnings_unsimulated(&self) -> Json {
        let unasked = |warn: Warn<'_>| {
            self.unasked().into_iter().for_each(|text| warn(codes::IDLE_POLICY, text));
        };
        listed(unasked).value()
    }
}

/// A drive that is scaled down too far. `skewed`: some pages are written more often than others.
fn scaled(drive: &Drive, skewed: bool, warn: Warn<'_>) {
    if let Some(text) = drive.scaled_too_far(skewed) {
        warn(codes::SCALED_TOO_FAR, text);
    }
    if let Some(text) = drive.scaled_latencies() {
        warn(codes::SCALED_LATENCIES, text);
    }
}

fn of_the_drive(drive: &Drive, warn: Warn<'_>) {
    if let Some(text) = drive.small_buffer() {
        warn(codes::SMALL_BUFFER, text);
    }
    if let Some(text) = drive.spare_in_reserve() {
        warn(codes::SPARE_IN_RESERVE, text);
    }
    for text in drive.idle_policies() {
        warn(codes::IDLE_POLICY, text);
    }
}

/// Policies that change nothing without requests of a certain kind, of which the run had none.
fn policies_without_requests<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    if e.stats.served == 0 {
        return;
    }
    let host = &e.drive.host;
    let depths = e.about.flows.iter().any(|flow| flow.depth.is_some())
        || host.flow.iter().any(|flow| flow.queue_depth.is_some());
    let one_flow = (e.about.flows.len() < 2 || host.only.is_some()) && !depths;
    for (name, wanted) in e.drive.policies.wanting(&e.drive.geometry) {
        let why = match wanted {
            Wanted::Urgent if e.stats.urgent.is_none() => "no request had high priority",
            Wanted::Flows if one_flow => "all requests were of one flow",
            Wanted::Hints if !e.stats.hinted => "no write had a hint",
            Wanted::Urgent | Wanted::Flows | Wanted::Hints => continue,
        };
        warn(codes::IDLE_POLICY, format!("`{name}` changed nothing in this run: {why}"));
    }
}

/// The warning of a run that left more work than its dies can do in passing.
pub(crate) fn of_work_left(left: WorkLeft, drive: &Drive, end: Time) -> Section {
    let seconds = left.die_time.as_secs_f64();
    let had = end.as_secs_f64() * drive.geometry.dies() as f64;
    listed(|warn| {
        if seconds > SHARE_OF_WORK_LEFT * had {
            warn(
                codes::WORK_LEFT,
                format!(
                    "when the run ended, the drive still had to move {} pages and erase {} blocks. \
                     That took another {seconds:.3} s of die time, and the run had {had:.3} s. It is \
                     not counted: write amplification is too low, and the drive cannot sustain these \
                     rates",
                    left.moves, left.erases,
                ),
            );
        }
    })
}

fn read_nothing_written<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let of = |class: Class| e.stats.classes[class].requests;
    if of(Class::Write) > 0 && of(Class::Read) > 0 && !e.sim.read_what_it_wrote() {
        warn(
            codes::NO_READ_OF_WRITTEN,
            "no read met a page that was written during the run: where and how pages are written \
             had no effect on a read, other than by waiting"
                .into(),
        );
    }
}

fn buffer_never_filled<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let writes = &e.stats.classes[Class::Write];
    if let Some(buffer) = e.sim.buffer()
        && buffer.most < buffer.places
        && writes.requests > 0
    {
        let took = writes.latency.sum() > TimeSum::ZERO;
        warn(
            codes::BUFFER_NEVER_FILLED,
            format!(
                "the write buffer never filled: {} of its {} pages were taken at most, so no \
                 write ever waited for flash{}",
                buffer.most,
                buffer.places,
                if took {
                    ""
                } else {
                    ", and every write took 0 ns, as a buffer takes no time of its own"
                }
            ),
        );
    }
}

fn buffer_drained<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let (drain, end) = (e.sim.drain().as_secs_f64(), e.sim.end().as_secs_f64());
    if drain > SHARE_OF_DRAINING * end {
        warn(
            codes::BUFFER_DRAINED,
            format!(
                "the last request was done after {:.3} s, and the write buffer was empty after \
                 {end:.3} s. The run counts to its last program, so requests and bytes per second \
                 are those of the flash below the buffer, not those that the host saw",
                end - drain
            ),
        );
    }
}

fn no_time<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    if e.sim.end() == Time::ZERO && e.stats.served > 0 {
        warn(
            codes::NO_TIME,
            "the run took no time, because no request needed flash. So it has no rates and no \
             lifetime (see precondition.fill and ftl.unmapped-read)"
                .into(),
        );
    }
}

fn not_repeatable<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    for (family, name) in e.drive.policies.unrepeatable() {
        warn(
            codes::NOT_REPEATABLE,
            format!(
                "the policy `{}={name}` ran from memory, not from a file as it is now. So the \
                 configuration alone cannot reproduce this result, and the state before the run was \
                 not stored",
                family.name()
            ),
        );
    }
}

fn victim_overridden<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    if e.counts.overridden > 0 {
        let (name, _) = e.drive.policies.get(Family::Victim);
        warn(
            codes::VICTIM_OVERRIDDEN,
            format!(
                "{} times `{name}` chose so many blocks in a row that free nothing that the block \
                 with the most to gain was taken in its place",
                e.counts.overridden
            ),
        );
    }
}

/// A trace whose simulated sample differs from it.
fn scaled_trace<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let why = scale::sampled(e);
    if !why.is_empty() {
        let text = format!("a sample of the trace was simulated (`scale`): {}", why.join("; "));
        warn(codes::SCALED_TRACE, text);
    }
}

fn unmapped_reads<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let stats = e.stats;
    if stats.host_page_reads > 0 && stats.unmapped_reads * 100 > stats.host_page_reads {
        warn(
            codes::UNMAPPED_READS,
            format!(
                "{:.1} % of the page reads met pages that hold nothing (see precondition.fill and \
                 ftl.unmapped-read)",
                stats.unmapped_reads as f64 * 100.0 / stats.host_page_reads as f64
            ),
        );
    }
}

/// Writes of parts of mapped pages, each with a read before it.
fn partial_writes<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let (reads, writes) = (e.stats.rmw_reads, e.counts.host_pages);
    if reads * 100 <= writes {
        return;
    }
    let geometry = &e.drive.geometry;
    let page = geometry.flash().page_size.get();
    let unit = 1_u64 << e.stats.partial_bounds.trailing_zeros().min(62);
    let share = reads as f64 * 100.0 / writes as f64;
    let fits = page.is_multiple_of(unit)
        && page / unit <= MOST_UNITS
        && unit.is_multiple_of(e.drive.host.sector.get());
    let advice = if fits {
        format!("with `--set ftl.mapping-unit={}` there would be none", Bytes::new(unit))
    } else {
        format!("they begin and end at multiples of {}", Bytes::new(unit))
    };
    warn(
        codes::PARTIAL_WRITES,
        format!(
            "{share:.1} % of the page writes were read-modify-writes: the host wrote a part of {}, \
             and the rest had to be read; {advice}",
            geometry.page_size()
        ),
    );
}

fn queue_limit<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    if e.stats.limited > 0 {
        warn(
            codes::QUEUE_LIMIT,
            format!(
                "{} requests arrived while {} were inside the drive, and waited outside",
                e.stats.limited, e.drive.host.queue_limit
            ),
        );
    }
}

fn overloaded<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    if let Some(over) = e.sim.overload() {
        warn(codes::OVERLOADED, could_not_keep_up(&over));
    }
}

/// The message about a drive that could not keep up.
fn could_not_keep_up(over: &Overload) -> String {
    let (arriving, behind) = (over.arriving.as_secs_f64(), over.behind.as_secs_f64());
    let n = over.arrivals as f64;
    let rate = |seconds: f64| match n / seconds {
        rate if rate.is_infinite() => "all at once".into(),
        rate if rate >= 10.0 => format!("{rate:.1} a second"),
        rate => format!("{rate:.4} a second"),
    };
    format!(
        "requests arrived faster than the drive serves them (arrivals: {}; completions: {}). {} were \
         outstanding as the last arrived ({:.0} on average over the first quarter), and the \
         drive worked for {behind:.3} s more. Latency grew as long as they arrived, so it depends \
         on the length of the run rather than on the drive (see host.speed)",
        rate(arriving),
        rate(arriving + behind),
        over.outstanding,
        over.at_first,
    )
}

fn closed_loop<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let asked_again = !e.about.timed && e.about.closed.is_empty();
    if e.drive.host.mode == HostMode::QueueDepth && asked_again {
        warn(
            codes::CLOSED_LOOP,
            format!(
                "the workload has no arrival times: a request arrives as one of the {} places in \
                 the queue becomes free (host.mode = \"queue-depth\")",
                e.drive.host.queue_depth
            ),
        );
    }
}

fn misaligned<K: PolicyTypes>(e: &Evidence<'_, K>, warn: Warn<'_>) {
    let (shift, best) = e.alignment.best_shift();
    let (aligned, total) = (e.alignment.aligned(), e.alignment.total());
    if shift > 0 && best * 2 > total && best > aligned {
        warn(
            codes::MISALIGNED,
            format!(
                "{:.0} % of the requests start {} bytes past a 4 KiB boundary; `--set \
                 workload.shift={shift}B` would align them",
                best as f64 * 100.0 / total as f64,
                4096 - shift,
            ),
        );
    }
}

fn few_samples(stats: &Stats, class: Class, name: &str, warn: Warn<'_>) {
    let latency = &stats.classes[class].latency;
    let n = latency.count();
    if n > 0 && n < SAMPLES_BEHIND * 10_000 {
        let trusted = match n {
            0..100 => "no percentile",
            100..1_000 => "nothing above p90",
            1_000..10_000 => "nothing above p99",
            _ => "nothing above p99.9",
        };
        warn(
            codes::FEW_SAMPLES,
            format!("{n} {name}: {trusted} has {SAMPLES_BEHIND} samples beyond it"),
        );
    }
}
