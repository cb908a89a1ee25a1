//! How and when a run ended.

use super::SectionAbout;
use crate::config::capacity;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use crate::sim::WorkLeft;
use ftl::PolicyTypes;
use kernel::Time;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "How and when the run ended. It ends with the last request, or with the last program of the \
     data in the write buffer. All counts are up to this time. An operation that is under way \
     counts with the time it has taken.",
);

pub(crate) type Section = EndOfRun;

table! {
    /// The end of a run.
    struct EndOfRun {
        /// `completed`; `worn-out` for a drive whose life ended; or `out-of-time` if simulated time
        /// ended first, 146 years after the start.
        state: &'static str;
        /// The time of the end.
        at_ns: u64, "ns";
        /// The reason why the run ended before all requests were done. Null for a completed run.
        reason: Option<String>;
        /// The work that the drive still had to do, measured by doing it. No other number of the
        /// result includes it. Null unless the run was completed.
        work_left: Option<LeftToDo>, later null;
    }
}

table! {
    /// Work that a drive still has to do.
    struct LeftToDo {
        /// Pages to move.
        moves: u64, "pages";
        /// Blocks to erase.
        erases: u64, "blocks";
        /// The time that this takes, of all dies together.
        die_seconds: f64, "s";
    }
}

impl LeftToDo {
    pub(crate) fn of(left: WorkLeft) -> Self {
        let WorkLeft { moves, erases, die_time } = left;
        Self { moves, erases, die_seconds: die_time.as_secs_f64() }
    }
}

/// The remaining work is added once the drive has done it.
pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let (state, reason) = match (e.sim.worn_out_at(), e.sim.cut_at()) {
        (Some(_), _) => ("worn-out", Some(why(e))),
        (None, Some(_)) => ("out-of-time", Some(why_out_of_time(e))),
        (None, None) => ("completed", None),
    };
    let at_ns = e.sim.cut_at().map_or_else(|| e.end_ns(), Time::as_ns);
    EndOfRun { state, at_ns, reason, work_left: None }
}

/// Why the requests that remain are not served.
fn why_out_of_time<K: PolicyTypes>(e: &Evidence<'_, K>) -> String {
    let inside = e.sim.inside();
    let held = match e.sim.held_back() {
        0 => String::new(),
        held => format!(", and the throttle holds {held} of them back until then"),
    };
    format!(
        "the next event would come more than 146 years after the start, where simulated time \
         ends; {inside} requests are not done{held}"
    )
}

/// Why the life of the drive ended.
fn why<K: PolicyTypes>(e: &Evidence<'_, K>) -> String {
    let (drive, counts) = (e.drive, e.counts);
    let blocks = drive.geometry.flash_blocks();
    let (worn, lost) = (counts.retired - counts.marked_bad, counts.marked_bad);
    let cycles = drive.reliability.endurance;
    let why = match (worn.get(), lost.get()) {
        (_, 0) => format!("{worn} of {blocks} blocks reached their {cycles} P/E cycles and were"),
        (0, lost) => {
            format!("{lost} of {blocks} blocks held pages that could not be read and were")
        }
        (_, lost) => format!(
            "of {blocks} blocks {worn} reached their {cycles} P/E cycles and {lost} held pages \
             that could not be read; these were"
        ),
    };
    format!(
        "{why} retired; what is left cannot hold the drive's {} and the space that garbage \
         collection needs",
        capacity(drive),
    )
}
