//! Observations of a run that change nothing in it: the record, marks along the way, and the end of
//! the drive's life. They also note whether a read met data that the run wrote.

use super::Sim;
use super::wait::Waits;
use crate::config::Recording;
use crate::device::Device;
use crate::host::{Inside, Requests};
use crate::ops::Spent;
use crate::progress::Interrupted;
use crate::record::{DriveView, Recorder, Sink};
use ftl::{Counts, Ftl, PolicyTypes};
use kernel::{BitSet, Idx, Time};
use nand::{BlockId, Source};

/// The observers.
pub(super) struct RunWatch {
    /// When the drive's life ended, because too many blocks were retired.
    pub(super) worn_out_at: Option<Time>,
    /// The last event, if the next one would come after the last instant of simulated time.
    pub(super) out_of_time_at: Option<Time>,
    /// When no more requests could come and all requests of the host were done.
    pub(super) over_at: Option<Time>,
    /// The counts of the FTL at intervals of requests.
    pub(super) course: RunCourse,
    /// Present until a read meets a page that was programmed in this run.
    pub(super) unmet: Option<Fresh>,
    recorder: Option<Box<Recorder>>,
    /// The last instant of the recorder's current row; that of simulated time, if there is none.
    row_end: Time,
}

impl RunWatch {
    pub(super) fn new<K: PolicyTypes>(ftl: &Ftl<K>) -> Self {
        Self {
            worn_out_at: None,
            out_of_time_at: None,
            over_at: None,
            course: RunCourse::new(),
            unmet: Some(Fresh::since(ftl)),
            recorder: None,
            row_end: Time::LAST,
        }
    }

    pub(super) fn record<K: PolicyTypes>(
        &mut self,
        recording: Recording,
        sink: Sink,
        flows: Vec<String>,
        drive_view: &DriveView<'_>,
        ftl: &Ftl<K>,
    ) {
        let mut recorder = Recorder::new(recording, sink, flows);
        recorder.begin(drive_view, ftl);
        self.row_end = recorder.row_end().min(Time::LAST);
        self.recorder = Some(Box::new(recorder));
    }

    #[inline]
    pub(super) fn row_end(&self) -> Time {
        self.row_end
    }

    /// Whether the receiver of the record has stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.recorder.as_ref().is_some_and(|r| r.is_stopped())
    }

    /// A request is about to leave.
    #[inline]
    pub(super) fn complete(&mut self, request: &Inside, now: Time, spent: &Spent) {
        if let Some(recorder) = &mut self.recorder {
            recorder.complete(request, now - request.arrived, spent);
        }
    }
}

/// The recorder's view at an instant after which nothing has happened.
pub(super) fn drive_view<'a>(
    requests: &'a Requests,
    waits: &Waits,
    device: &'a Device,
    at: Time,
) -> DriveView<'a> {
    DriveView {
        at,
        stalled: waits.stats.space,
        stats: &requests.stats,
        inside: requests.occupancy_until(at),
        dies: device.dies.as_slice(),
        channels: device.channels.as_slice(),
    }
}

impl<K: PolicyTypes> Sim<K> {
    /// Ends the rows of the series that are over before `now`. Returns whether `now` is after the
    /// last instant of simulated time.
    #[cold]
    pub(super) fn end_rows(&mut self, now: Time) -> bool {
        if now > Time::LAST {
            return true;
        }
        while now > self.watch.row_end {
            let Some(recorder) = &mut self.watch.recorder else { break };
            recorder.end_row(
                &drive_view(&self.requests, &self.waits, &self.device, self.watch.row_end),
                &self.ftl,
            );
            recorder.pass_quiet(now);
            self.watch.row_end = recorder.row_end().min(Time::LAST);
        }
        false
    }

    /// Hands over the end of the record.
    pub(crate) fn end_record(&mut self) -> Result<(), Interrupted> {
        let Some(recorder) = self.watch.recorder.take() else { return Ok(()) };
        self.watch.row_end = Time::LAST;
        if recorder.finish(
            &drive_view(&self.requests, &self.waits, &self.device, self.clock.now),
            &self.ftl,
        ) {
            return Ok(());
        }
        Err(Interrupted::Stopped)
    }
}

/// The state of the drive when the run began: it shows which pages the run has programmed.
pub(crate) struct Fresh {
    /// Blocks that were complete.
    complete: BitSet,
    /// The blocks that were partly written, in order, and their written slots.
    open: Vec<(BlockId, u32)>,
}

impl Fresh {
    pub(crate) fn since<K: PolicyTypes>(ftl: &Ftl<K>) -> Self {
        let mut fresh = Self { complete: BitSet::new(ftl.geometry().blocks()), open: Vec::new() };
        for block in (0..ftl.geometry().blocks()).map(BlockId::new) {
            match ftl.array().next_page(block) {
                0 => {}
                next if next < ftl.geometry().pages_per_block() => fresh.open.push((block, next)),
                _ => fresh.complete.set(block.index()),
            }
        }
        fresh
    }

    /// Whether a slot of a block was programmed since. Most reads are of blocks that were complete
    /// before.
    #[inline]
    pub(crate) fn has<K: PolicyTypes>(&self, ftl: &Ftl<K>, block: BlockId, slot: u32) -> bool {
        let stands = self.complete.get(block.index()) && !ftl.has_erased();
        !stands && self.is_since(ftl, block, slot)
    }

    #[inline(never)]
    fn is_since<K: PolicyTypes>(&self, ftl: &Ftl<K>, block: BlockId, slot: u32) -> bool {
        if ftl.array().erases()[block] > 0 {
            return true;
        }
        match self.open.binary_search_by_key(&block, |(b, _)| *b) {
            Ok(at) => slot >= self.open[at].1,
            Err(_) => !self.complete.get(block.index()),
        }
    }
}

/// Part of a run, as the FTL counts it.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Stretch {
    /// Pages that the host wrote.
    pub host_pages: u64,
    /// Pages programmed, for any reason.
    pub programs: u64,
    /// Blocks that garbage collection made writable again.
    pub reclaimed: u64,
}

impl Stretch {
    /// From the beginning of the run until now.
    pub(crate) fn of(counts: &Counts) -> Self {
        Self {
            host_pages: counts.host_pages,
            programs: counts.program.total(),
            reclaimed: counts.erase[Source::Gc].get() + counts.second_lives,
        }
    }

    /// Pages programmed for each page of the host.
    pub fn waf_pages(&self) -> f64 {
        self.programs as f64 / self.host_pages as f64
    }

    fn without(self, first: Self) -> Self {
        Self {
            host_pages: self.host_pages - first.host_pages,
            programs: self.programs - first.programs,
            reclaimed: self.reclaimed - first.reclaimed,
        }
    }
}

/// Marks that are kept, at most.
const MOST: usize = 4096;
/// Requests between the first of them.
const FIRST: u64 = 64;

/// Marks along a run, in memory that does not grow with it.
pub(crate) struct RunCourse {
    marks: Vec<Stretch>,
    step: u64,
}

impl RunCourse {
    pub(crate) fn new() -> Self {
        Self { marks: Vec::with_capacity(MOST), step: FIRST }
    }

    /// Sets a mark. Returns the number of requests at which the next is due.
    pub(crate) fn mark(&mut self, counts: &Counts) -> u64 {
        if self.marks.len() == MOST {
            // Every second one goes, beginning with the first; the others are twice as far apart.
            let mut odd = true;
            self.marks.retain(|_| {
                odd = !odd;
                odd
            });
            self.step *= 2;
        }
        self.marks.push(Stretch::of(counts));
        self.step
    }

    /// The halves of `whole`, by pages of the host; `None` if one half has none.
    pub(crate) fn halves(&self, whole: Stretch) -> Option<[Stretch; 2]> {
        let first = *self.marks.iter().find(|mark| mark.host_pages * 2 >= whole.host_pages)?;
        let second = whole.without(first);
        // The first half has at least half of them: if the second has any, the first has some, too.
        (second.host_pages > 0).then_some([first, second])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nand::FlashBlocks;

    /// A run of a million requests, a page each, every other one moving a page.
    #[test]
    fn halves_are_halves_however_long_the_run() {
        for requests in [200_u64, 5_000, 1_000_000] {
            let mut course = RunCourse::new();
            let mut counts = Counts::default();
            let mut due = FIRST;
            for n in 1..=requests {
                counts.host_pages = n;
                counts.program[Source::Host] = n;
                counts.program[Source::Gc] = n / 2;
                counts.erase[Source::Gc] = FlashBlocks::new(n / 10);
                if n >= due {
                    due = n + course.mark(&counts);
                }
            }
            assert!(course.marks.len() <= MOST);
            // They are as far apart as intended, and closer only before the distance grew.
            let gaps = course.marks.windows(2).map(|m| m[1].host_pages - m[0].host_pages);
            gaps.for_each(|gap| assert!((course.step / 2..=course.step).contains(&gap), "{gap}"));
            let [first, second] = course.halves(Stretch::of(&counts)).unwrap();
            assert_eq!(first.host_pages + second.host_pages, requests);
            let off = first.host_pages.abs_diff(requests / 2);
            assert!(off <= FIRST.max(requests / MOST as u64 * 4), "{requests}: {off}");
            assert!((first.waf_pages() - 1.5).abs() < 0.01, "{requests}");
            assert!(first.reclaimed.abs_diff(second.reclaimed) <= off / 5 + 1);
        }
        // Nothing happened; nothing was written; all was written before the first mark.
        let mut course = RunCourse::new();
        assert_eq!(course.halves(Stretch::default()), None);
        let _ = course.mark(&Counts::default());
        assert_eq!(course.halves(Stretch::default()), None);
        let _ = course.mark(&Counts { host_pages: 9, ..Counts::default() });
        assert_eq!(course.halves(Stretch { host_pages: 9, ..Stretch::default() }), None);
    }
}
