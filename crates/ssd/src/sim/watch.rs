//! What is watched of a run and changes nothing in it: the record, marks along the way, whether a
//! read met what the run wrote, and when the drive's life ended.

use super::Sim;
use super::course::Course;
use super::fresh::Fresh;
use super::wait::Waits;
use crate::config::Recording;
use crate::device::{Device, Spent};
use crate::host::Requests;
use crate::record::{Completed, Look, Recorder, Sink};
use crate::sim::Interrupted;
use ftl::{Ftl, Kit};
use kernel::{Dur, Time};

/// Who watches.
pub(super) struct Watch {
    /// When so many blocks were retired that the drive ended.
    pub(super) worn_out_at: Option<Time>,
    /// What the FTL had counted, every so many requests.
    pub(super) course: Course,
    /// Present until a read meets a page that was programmed in this run.
    pub(super) unmet: Option<Fresh>,
    recorder: Option<Box<Recorder>>,
    /// The last instant of the recorder's current row; never, if there is no recorder.
    row_end: Time,
}

impl Watch {
    pub(super) fn new<K: Kit>(ftl: &Ftl<K>) -> Self {
        Self {
            worn_out_at: None,
            course: Course::new(),
            unmet: Some(Fresh::since(ftl)),
            recorder: None,
            row_end: Time::MAX,
        }
    }

    pub(super) fn record<K: Kit>(
        &mut self,
        recording: Recording,
        sink: Sink,
        look: &Look<'_>,
        ftl: &Ftl<K>,
    ) {
        let mut recorder = Recorder::new(recording, sink);
        recorder.begin(look, ftl);
        self.row_end = recorder.row_end();
        self.recorder = Some(Box::new(recorder));
    }

    #[inline]
    pub(super) fn row_end(&self) -> Time {
        self.row_end
    }

    /// Whether whoever takes the record has had enough.
    pub(super) fn is_stopped(&self) -> bool {
        self.recorder.as_ref().is_some_and(|r| r.is_stopped())
    }

    /// A request is about to leave.
    #[inline]
    pub(super) fn complete(&mut self, requests: &Requests, id: u32, spent: &Spent, latency: Dur) {
        if let Some(recorder) = &mut self.recorder {
            let request = requests.get(id);
            recorder.complete(&Completed {
                arrived: request.arrived,
                latency,
                class: request.class,
                offset: request.offset,
                bytes: request.bytes,
                prio: request.prio,
                throttle_ns: request.throttle,
                spent,
            });
        }
    }
}

/// What the recorder sees at an instant after which nothing has happened.
pub(super) fn look<'a>(
    requests: &'a Requests,
    waits: &Waits,
    device: &'a Device,
    at: Time,
) -> Look<'a> {
    Look {
        at,
        stalled: waits.stats().stalled_writes,
        stats: &requests.stats,
        inside_ns: requests.inside_ns(at),
        dies: device.dies(),
        channels: device.channels(),
    }
}

impl<K: Kit> Sim<K> {
    /// Ends the rows of the series that are over before `now`.
    #[cold]
    pub(super) fn end_rows(&mut self, now: Time) {
        while now > self.watch.row_end {
            let Some(recorder) = &mut self.watch.recorder else { return };
            recorder.end_row(
                &look(&self.requests, &self.waits, &self.device, self.watch.row_end),
                &self.ftl,
            );
            self.watch.row_end = recorder.row_end();
        }
    }

    /// Hands over the end of the record.
    pub(super) fn end_record(&mut self) -> Result<(), Interrupted> {
        let Some(recorder) = self.watch.recorder.take() else { return Ok(()) };
        self.watch.row_end = Time::MAX;
        if recorder
            .finish(&look(&self.requests, &self.waits, &self.device, self.clock.now), &self.ftl)
        {
            return Ok(());
        }
        Err(Interrupted::Stopped)
    }
}
