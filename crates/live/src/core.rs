//! The drive and its data: commands go in, and come out with their outcome.

use crate::record::{Earlier, RequestRecording, SERVER};
use crate::versions::DriveData;
use crate::wire::{CommandKind, Errno, MAX_PAYLOAD, NbdCommand};
use rustc_hash::FxHashMap;
use slab::Slab;
use ssd::kernel::{Hint, Time};
use ssd::sim::Turn;
use ssd::workload::{Op, Request};
use ssd::{RunError, Session};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// The client of the command.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Who {
    /// The place of the connection.
    pub(crate) key: usize,
    /// Its number, which no other has.
    pub(crate) number: u32,
    /// The hint of its requests about their data.
    pub(crate) hint: Hint,
}

/// A command that is done.
pub(crate) struct Finished {
    pub(crate) who: Who,
    pub(crate) command: NbdCommand,
    pub(crate) outcome: Result<(), Errno>,
    /// When it was done and when it came, in simulated time. `None` if no time passed for it.
    pub(crate) at: Option<(Time, Time)>,
}

/// A command inside the drive.
struct Job {
    who: Who,
    command: NbdCommand,
    /// The numbers of its requests.
    serials: Range<u64>,
    /// Requests that are not done.
    left: u32,
    arrived: Time,
    /// The data could not be corrected.
    failed: bool,
}

/// Counts beside those of the drive.
#[derive(Default)]
pub(crate) struct Health {
    /// Reads that failed because a fault was planted.
    pub(crate) media_errors: u64,
    pub(crate) power_cuts: u64,
    /// Commands for which the host had no space.
    pub(crate) host_full: u64,
}

pub(crate) struct Core {
    session: Session,
    pub(crate) versions: DriveData,
    recording: RequestRecording,
    /// Why the recording could not be continued; it then ends before the run does.
    pub(crate) unrecorded: Option<io::Error>,
    jobs: Slab<Job>,
    /// Requests inside the drive, by the low half of their numbers, and the job of each.
    parts: FxHashMap<u32, usize>,
    /// Requests so far.
    serial: u64,
    pub(crate) finished: VecDeque<Finished>,
    /// Ranges whose reads fail.
    pub(crate) faults: Vec<Range<u64>>,
    pub(crate) health: Health,
    worn: bool,
}

fn errno(e: &io::Error) -> Errno {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match e.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => Errno::NoSpace,
        _ => Errno::Io,
    }
}

impl Core {
    pub(crate) fn new(
        mut session: Session,
        versions: DriveData,
        recording: RequestRecording,
    ) -> Self {
        session.report_safe();
        Self {
            session,
            versions,
            recording,
            unrecorded: None,
            jobs: Slab::new(),
            parts: FxHashMap::default(),
            serial: 0,
            finished: VecDeque::new(),
            faults: Vec::new(),
            health: Health::default(),
            worn: false,
        }
    }

    /// Brings the drive to its state at the end of an earlier server by replaying the requests.
    /// `report` is called now and then with the number of requests so far, and stops the replay by
    /// answering `false`. Returns the number of requests.
    pub(crate) fn recover(
        &mut self,
        earlier: &Earlier,
        report: &mut dyn FnMut(u64, Time) -> bool,
    ) -> Result<u64, RunError> {
        let before = self.serial;
        earlier.each_batch(&mut |batch| {
            for request in batch {
                self.serial += 1;
                if !self.worn && self.session.repeat(request, self.serial as u32).is_err() {
                    self.worn = true;
                }
                while self.session.take_safe().is_some() {}
                while self.session.take_done().is_some() {}
            }
            let wanted = report(self.serial - before, self.now());
            if wanted { Ok(()) } else { Err(RunError::Stopped) }
        })?;
        Ok(self.serial - before)
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Whether the drive's life has ended.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.worn
    }

    /// Whether commands are inside.
    pub(crate) fn is_busy(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Whether there is space for another command.
    pub(crate) fn has_room(&self) -> bool {
        self.session.has_room() || self.worn
    }

    /// Whether a request has come, in this session or in one that it goes on with.
    pub(crate) fn has_begun(&self) -> bool {
        self.serial > 0
    }

    /// Requests that the drive has taken in.
    pub(crate) fn served(&self) -> u64 {
        self.session.sim().stats().served
    }

    pub(crate) fn now(&self) -> Time {
        self.session.sim().now()
    }

    /// A command comes.
    pub(crate) fn begin(&mut self, who: Who, mut command: NbdCommand) {
        let op = match (command.kind, command.fua) {
            (CommandKind::Read, _) => Op::Read,
            (CommandKind::Write | CommandKind::Zero { no_hole: true }, false) => Op::Write,
            (CommandKind::Write | CommandKind::Zero { no_hole: true }, true) => Op::WriteFua,
            (CommandKind::Trim | CommandKind::Zero { no_hole: false }, _) => Op::Trim,
            (CommandKind::Flush, _) => Op::Flush,
            (CommandKind::Status { .. } | CommandKind::Disconnect, _) => {
                self.finished.push_back(Finished { who, command, outcome: Ok(()), at: None });
                return;
            }
        };
        if self.worn {
            self.answer_worn(who, command);
            return;
        }
        // Else a client that goes on writing to a full host would fill its memory.
        if (op.writes() || op == Op::Trim)
            && let Err(e) = self.versions.settle()
        {
            self.health.host_full += 1;
            let outcome = Err(errno(&e));
            self.finished.push_back(Finished { who, command, outcome, at: None });
            return;
        }
        let (data, first) = (std::mem::take(&mut command.data), self.serial + 1);
        let (offset, len) = (command.offset, command.len);
        let no_data = matches!(command.kind, CommandKind::Zero { no_hole: true });
        let arrived = self.now();
        let job = Job { who, command, serials: first..first, left: 0, arrived, failed: false };
        let key = self.jobs.insert(job);
        // Zeroes may be more than a drive takes at once.
        let most = if op == Op::Trim { u64::from(u32::MAX) } else { u64::from(MAX_PAYLOAD) };
        let mut done = 0;
        while done < u64::from(len) || op == Op::Flush {
            let part = most.min(u64::from(len) - done);
            let at = offset + done;
            self.serial += 1;
            if no_data {
                self.versions.zero(self.serial, at, part);
            } else if op.writes() {
                self.versions.write(self.serial, at, &data[done as usize..][..part as usize]);
            }
            self.jobs[key].serials.end = self.serial + 1;
            self.jobs[key].left += 1;
            self.parts.insert(self.serial as u32, key);
            let hint = if op == Op::Flush { 0 } else { who.hint };
            let request = Request { offset: at, len: part as u32, op, hint, ..Request::FLUSH };
            let Ok(at) = self.session.arrive(&request, self.serial as u32) else {
                self.settle();
                self.wear_out();
                return;
            };
            self.jobs[key].arrived = at;
            self.record(at, &request, who.number);
            done += part;
            if op == Op::Flush {
                break;
            }
        }
        self.settle();
    }

    fn record(&mut self, at: Time, request: &Request, connection: u32) {
        if self.unrecorded.is_none()
            && let Err(e) = self.recording.put(at, request, connection)
        {
            self.unrecorded = Some(e);
        }
    }

    /// Lets simulated time pass until `until` or until something is done.
    pub(crate) fn advance(&mut self, until: Option<Time>) -> Turn {
        if self.worn {
            return Turn::WornOut;
        }
        let turn = self.session.advance(until);
        self.settle();
        if turn == Turn::WornOut {
            self.wear_out();
        }
        turn
    }

    /// Takes note of data that has become safe, then of commands that are done.
    fn settle(&mut self) {
        while let Some(safe) = self.session.take_safe() {
            let behind = (self.serial as u32).wrapping_sub(safe.token);
            // Data that the store does not take waits for it, and no write succeeds meanwhile.
            let _ = self.versions.promote(safe.page, self.serial - u64::from(behind));
        }
        while let Some(done) = self.session.take_done() {
            let Some(key) = self.parts.remove(&done.token) else { continue };
            self.jobs[key].left -= 1;
            self.jobs[key].failed |= done.failed;
            if self.jobs[key].left == 0 {
                let job = self.jobs.remove(key);
                let outcome = self.conclude(&job);
                let at = Some((self.now(), job.arrived));
                let (who, command) = (job.who, job.command);
                self.finished.push_back(Finished { who, command, outcome, at });
            }
        }
    }

    /// The completion of a command that the drive has carried out.
    fn conclude(&mut self, job: &Job) -> Result<(), Errno> {
        let Job { command: NbdCommand { kind, offset, len, fua, .. }, serials, .. } = job;
        let (offset, len) = (*offset, u64::from(*len));
        let last = serials.end - 1;
        let result = match kind {
            CommandKind::Read if job.failed => return Err(Errno::Io),
            CommandKind::Read => return self.readable(offset, len),
            CommandKind::Write | CommandKind::Zero { no_hole: true } => self
                .versions
                .settle()
                .and_then(|()| if *fua { self.versions.sync() } else { Ok(()) })
                .map_err(|e| errno(&e)),
            CommandKind::Trim | CommandKind::Zero { no_hole: false } => self
                .versions
                .trim(last, offset, len)
                .and_then(|()| if *fua { self.make_safe(last) } else { Ok(()) })
                .map_err(|e| errno(&e)),
            CommandKind::Flush => {
                let kept = self.make_safe(last).map_err(|e| errno(&e));
                if self.unrecorded.is_none()
                    && let Err(e) = self.recording.hand_over()
                {
                    self.unrecorded = Some(e);
                }
                return kept.inspect_err(|_| self.health.host_full += 1);
            }
            CommandKind::Status { .. } | CommandKind::Disconnect => Ok(()),
        };
        result.inspect_err(|_| {
            self.health.host_full += 1;
            self.versions.take_back(serials.clone(), offset, len);
        })
    }

    fn make_safe(&mut self, upto: u64) -> io::Result<()> {
        self.versions.promote_all(upto)?;
        self.versions.sync()
    }

    fn readable(&mut self, offset: u64, len: u64) -> Result<(), Errno> {
        let hit = |fault: &Range<u64>| fault.start < offset + len && offset < fault.end;
        if self.faults.iter().any(hit) {
            self.health.media_errors += 1;
            return Err(Errno::Io);
        }
        Ok(())
    }

    // ── The end of its life ─────────────────────────────────────────────────────────────────────

    fn wear_out(&mut self) {
        self.worn = true;
        self.parts.clear();
        let inside = std::mem::take(&mut self.jobs);
        let mut inside: Vec<Job> = inside.into_iter().map(|(_, job)| job).collect();
        inside.sort_unstable_by_key(|job| job.serials.start);
        for job in inside {
            let NbdCommand { offset, len, .. } = job.command;
            self.versions.take_back(job.serials, offset, len.into());
            self.answer_worn(job.who, job.command);
        }
    }

    /// A drive whose life has ended refuses commands that would change it, and still reads.
    fn answer_worn(&mut self, who: Who, command: NbdCommand) {
        let outcome = match command.kind {
            CommandKind::Read => self.readable(command.offset, command.len.into()),
            CommandKind::Flush => match self.versions.settle() {
                Err(e) => Err(errno(&e)),
                // The content of a volatile buffer never reached flash.
                Ok(()) if self.versions.waiting() > 0 => Err(Errno::Io),
                Ok(()) => self.versions.sync().map_err(|e| errno(&e)),
            },
            CommandKind::Status { .. } | CommandKind::Disconnect => Ok(()),
            _ => Err(Errno::NoSpace),
        };
        self.finished.push_back(Finished { who, command, outcome, at: None });
    }

    // ── Power ───────────────────────────────────────────────────────────────────────────────────

    /// The power fails and comes back: nothing inside is answered, and data that were not safe are
    /// gone. The map survives; map and wear are as if a flush had come at the cut.
    pub(crate) fn cut_power(&mut self) {
        self.jobs.clear();
        self.parts.clear();
        self.finished.clear();
        self.versions.lose();
        self.health.power_cuts += 1;
        if self.unrecorded.is_none()
            && let Err(e) = self.recording.note(self.now(), "power-cut")
        {
            self.unrecorded = Some(e);
        }
        self.flush_alone();
        while !self.worn && self.session.sim().inside() > 0 {
            self.advance(None);
        }
    }

    /// A flush that no client asked for.
    fn flush_alone(&mut self) {
        if self.worn {
            return;
        }
        self.serial += 1;
        match self.session.arrive(&Request::FLUSH, self.serial as u32) {
            Ok(at) => self.record(at, &Request::FLUSH, SERVER),
            Err(ssd::WornOut) => self.wear_out(),
        }
        self.settle();
    }

    /// Records that a fault was planted or removed.
    pub(crate) fn note(&mut self, what: &str) {
        if self.unrecorded.is_none()
            && let Err(e) = self.recording.note(self.now(), what)
        {
            self.unrecorded = Some(e);
        }
    }

    // ── The end ─────────────────────────────────────────────────────────────────────────────────

    /// An orderly end: everything is done, data are on the disk, and the recording ends with a flush.
    pub(crate) fn shut_down(&mut self) -> io::Result<()> {
        while !self.worn && self.session.sim().inside() > 0 {
            self.advance(None);
        }
        self.flush_alone();
        if !self.worn {
            self.session.close(&mut |_| {});
            self.settle();
        }
        self.versions.promote_all(self.serial)?;
        self.versions.sync()
    }

    /// The result, and why the recording is not whole if it is not.
    pub(crate) fn report(self) -> (ssd::Report, Option<io::Error>) {
        let Self { session, recording, mut unrecorded, .. } = self;
        let nameless = RequestRecording::of_none();
        let about = recording.finish().unwrap_or_else(|e| {
            unrecorded.get_or_insert(e);
            nameless.finish().expect("it writes nothing")
        });
        (session.report(&about), unrecorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{ByteStore, Memory};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    const PAGE: u64 = 4096;
    const NOTHING: u64 = u64::MAX;

    /// A store that has no space for one page, as long as `full` names it.
    struct Tight {
        pages: Memory,
        full: Arc<AtomicU64>,
    }

    impl ByteStore for Tight {
        fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
            self.pages.read(offset, into)
        }
        fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
            match self.full.load(Ordering::Relaxed) {
                page if page == offset / PAGE => Err(io::ErrorKind::StorageFull.into()),
                _ => self.pages.write(offset, data),
            }
        }
        fn zero(&mut self, offset: u64, len: u64) -> io::Result<()> {
            self.pages.zero(offset, len)
        }
        fn sync(&mut self) -> io::Result<()> {
            self.pages.sync()
        }
        fn extent(&self, offset: u64, end: u64) -> (u64, bool) {
            self.pages.extent(offset, end)
        }
    }

    /// One die: the pages of a write become safe one after the other.
    fn core(settings: &[&str], full: &Arc<AtomicU64>) -> Core {
        let text = r#"
            name = "tight"
            [geometry]
            channels = 1
            chips-per-channel = 1
            dies-per-chip = 1
            planes-per-die = 1
            blocks-per-plane = 64
            pages-per-block = 8
            page-size = "4KiB"
            bits-per-cell = 1
            [timing]
            bus = "included"
            erase = "3ms"
            read = "50us"
            program = "600us"
            [reliability]
            endurance = 1000000
            [ftl]
            spare-factor = 0.5
            unmapped-read = "zero"
            [ftl.gc]
            start = 2
            stop = 2
            [precondition]
            fill = "none"
        "#;
        let set: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
        let layers = ssd::config::Layers {
            file: ("tight.toml", text),
            library: &|_| None,
            set: &set,
            policy: &[],
            seed: None,
        };
        let drive = ssd::config::load(&layers)
            .unwrap_or_else(|errors| panic!("{}", ssd::config::render(&errors, false)));
        let session =
            ssd::open_session(&drive, ssd::Client::BlockDevice, &mut ssd::NoCache, &mut |_| true)
                .unwrap();
        let store = Tight { pages: Memory::default(), full: Arc::clone(full) };
        Core::new(session, DriveData::new(Box::new(store), PAGE), RequestRecording::of_none())
    }

    fn ask(
        core: &mut Core,
        kind: CommandKind,
        page: u64,
        pages: u32,
        fua: bool,
    ) -> Result<(), Errno> {
        let len = if kind == CommandKind::Flush { 0 } else { pages * PAGE as u32 };
        let data =
            if kind == CommandKind::Write { vec![page as u8 + 1; len as usize] } else { vec![] };
        let command = NbdCommand { cookie: 0, kind, offset: page * PAGE, len, fua, data };
        core.begin(Who { key: 0, number: 1, hint: 0 }, command);
        while core.finished.is_empty() {
            core.advance(None);
        }
        core.finished.pop_front().expect("it is done").outcome
    }

    /// A write succeeds only if all of its pages are in their place, even those that found no space
    /// at first.
    #[test]
    fn a_write_fails_whichever_of_its_pages_finds_no_room() {
        for page in 0..4 {
            let full = Arc::new(AtomicU64::new(NOTHING));
            let mut core = core(&[], &full);
            full.store(page, Ordering::Relaxed);
            let outcome = ask(&mut core, CommandKind::Write, 0, 4, true);
            assert_eq!(outcome, Err(Errno::NoSpace), "page {page}");
            full.store(NOTHING, Ordering::Relaxed);
            assert_eq!(ask(&mut core, CommandKind::Write, 0, 4, true), Ok(()));
            assert_eq!(core.health.host_full, 1);
        }
    }

    /// Data that a buffer has accepted is kept until there is space; meanwhile writes are refused
    /// before the drive sees them, so that nothing piles up.
    #[test]
    fn what_the_host_has_no_room_for_waits_and_does_not_grow() {
        let full = Arc::new(AtomicU64::new(3));
        let settings = ["buffer.size=64KiB", "buffer.power-loss-protected=false"];
        let mut core = core(&settings, &full);
        assert_eq!(ask(&mut core, CommandKind::Write, 3, 1, false), Ok(()), "it is in the buffer");
        assert_eq!(ask(&mut core, CommandKind::Flush, 0, 0, false), Err(Errno::NoSpace));
        let (waiting, served) = (core.versions.waiting(), core.served());
        for page in 0..100 {
            assert_eq!(ask(&mut core, CommandKind::Write, page, 1, false), Err(Errno::NoSpace));
        }
        assert_eq!((core.versions.waiting(), core.served()), (waiting, served));
        let mut data = vec![0; PAGE as usize];
        assert_eq!(ask(&mut core, CommandKind::Read, 3, 1, false), Ok(()));
        core.versions.read(3 * PAGE, &mut data).unwrap();
        assert_eq!(data, [4; PAGE as usize]);
        // There is space again, and acknowledged data is kept.
        full.store(NOTHING, Ordering::Relaxed);
        assert_eq!(ask(&mut core, CommandKind::Write, 5, 1, false), Ok(()));
        assert_eq!(ask(&mut core, CommandKind::Flush, 0, 0, false), Ok(()));
        assert_eq!(core.versions.waiting(), 0);
        core.versions.lose();
        core.versions.read(3 * PAGE, &mut data).unwrap();
        assert_eq!(data, [4; PAGE as usize]);
    }
}
