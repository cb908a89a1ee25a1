//! A run whose requests come one by one from outside, as those of a live drive do.
//!
//! It comes to the same as [`Sim::run`] over the requests that came, to the bit. For that, a request
//! never arrives at an instant at which something else happens: whether it came before or after would
//! depend on when its arrival was planned, and here nobody plans it. And the last request must be the
//! last thing that the drive is told, because a run goes on differently once nothing more can come.

use crate::config::Drive;
use crate::precondition::Preconditioned;
use crate::progress::{Progress, Stage};
use crate::record::Sink;
use crate::result::{Report, report};
use crate::sim::{Completion, PROGRESS_EVERY, Safe, Sim, Turn};
use kernel::{Dur, Time, TimeSum};
use nand::Source;
use policies::Builtin;
use std::collections::VecDeque;
use workload::{About, Alignment, Request};

/// The drive's life has ended: it takes no more requests.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WornOut;

/// How a drive stands, counted from the start of the session; of blocks, those that it has.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct SessionState {
    /// Pages programmed for the host, and for whatever reason.
    pub programs: (u64, u64),
    /// Bytes of a page.
    pub page_bytes: u64,
    /// P/E cycles of blocks in this session: least, mean, most.
    pub erases: (u32, f64, u32),
    /// The mean of what cycles wore, in cycles.
    pub wear: f64,
    /// Time that all dies together were busy.
    pub die_busy: TimeSum,
    /// Dies.
    pub dies: usize,
    /// Blocks that may be written.
    pub free_blocks: usize,
    /// The share of the spare space that retired blocks have taken.
    pub spare_lost: f64,
    /// Requests inside, integrated over time.
    pub inside: TimeSum,
}

/// A drive whose requests come one by one.
pub struct Session {
    drive: Drive,
    sim: Sim<Builtin>,
    state: Preconditioned,
    used_before: u64,
    alignment: Alignment,
    done: VecDeque<Completion>,
    /// When the last request arrived.
    arrived: Option<Time>,
    /// Whether anything has happened since.
    moved: bool,
    mark_at: u64,
}

impl Session {
    pub(crate) fn new(
        drive: Drive,
        mut sim: Sim<Builtin>,
        state: Preconditioned,
        used_before: u64,
    ) -> Self {
        sim.post_timer();
        Self {
            drive,
            sim,
            state,
            used_before,
            alignment: Alignment::new(),
            done: VecDeque::new(),
            arrived: None,
            moved: false,
            mark_at: 1,
        }
    }

    /// The drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The drive in simulated time.
    pub fn sim(&self) -> &Sim<Builtin> {
        &self.sim
    }

    /// How it stands now.
    pub fn standing(&self) -> SessionState {
        let (sim, geometry) = (&self.sim, &self.drive.geometry);
        let (ftl, counts) = (sim.ftl(), sim.ftl().counts());
        let erases = ftl.array().erases().as_slice();
        let wear = ftl.array().wear().as_slice();
        let mean = |column: &[u32]| {
            column.iter().map(|&n| f64::from(n)).sum::<f64>() / column.len() as f64
        };
        let ends = erases.iter().copied().min().zip(erases.iter().copied().max());
        let (least, most) = ends.expect("a drive has blocks");
        let spare = geometry.pages() as u64 - u64::from(self.drive.logical_pages);
        let lost = counts.retired * u64::from(geometry.pages_per_block());
        SessionState {
            programs: (counts.program[Source::Host], counts.program.total()),
            page_bytes: geometry.page_size().get(),
            erases: (least, mean(erases), most),
            wear: mean(wear) * 1e-3,
            die_busy: sim.die_time(),
            dies: geometry.dies(),
            free_blocks: geometry.plane_ids().map(|plane| ftl.free_blocks(plane)).sum(),
            spare_lost: (lost as f64 / spare as f64).min(1.0),
            inside: sim.occupancy(),
        }
    }

    /// Records what follows, as the drive's settings say.
    pub fn record(&mut self, sink: Sink) {
        self.sim.record(self.drive.recording, sink);
    }

    /// From now on [`Session::take_safe`] tells which data survive a loss of power.
    pub fn report_safe(&mut self) {
        self.sim.report_safe();
    }

    /// The next page whose data became safe.
    #[inline]
    pub fn take_safe(&mut self) -> Option<Safe> {
        self.sim.take_safe()
    }

    /// The next request that is done.
    #[inline]
    pub fn take_done(&mut self) -> Option<Completion> {
        self.done.pop_front()
    }

    /// Whether there is room for another request.
    pub fn has_room(&self) -> bool {
        self.sim.inside() < self.drive.host.queue_limit
    }

    /// A request arrives as soon as an arrival has an instant of its own; its `at` says nothing. The
    /// first comes at zero, and those that come before anything happens, together. Returns when it arrived.
    ///
    /// # Errors
    /// The drive's life has ended.
    pub fn arrive(&mut self, request: &Request, token: u32) -> Result<Time, WornOut> {
        let at = self.place()?;
        self.take_in(&Request { at, ..*request }, token);
        Ok(at)
    }

    /// A request arrives that came at its `at` in an earlier session, of which all that came before has
    /// come again.
    ///
    /// # Errors
    /// The drive's life has ended.
    pub fn repeat(&mut self, request: &Request, token: u32) -> Result<(), WornOut> {
        while self.sim.now() < request.at {
            match self.turn(Some(request.at)) {
                Turn::WornOut => return Err(WornOut),
                Turn::Reached | Turn::Done | Turn::Idle => {}
            }
        }
        self.take_in(request, token);
        Ok(())
    }

    fn take_in(&mut self, request: &Request, token: u32) {
        let at = request.at;
        self.alignment.observe(&[*request]);
        self.sim.note_arrival(at);
        self.sim.submit(request, token);
        (self.arrived, self.moved) = (Some(at), false);
        self.collect();
    }

    /// Lets time pass until an arrival has an instant of its own, and returns that.
    fn place(&mut self) -> Result<Time, WornOut> {
        match self.arrived {
            None => return Ok(self.sim.now()),
            Some(at) if !self.moved => return Ok(at),
            Some(_) => {}
        }
        loop {
            let at = self.sim.now() + Dur::ns(1);
            let until = self.sim.next_at().filter(|next| *next <= at);
            match self.turn(Some(until.unwrap_or(at))) {
                Turn::WornOut => return Err(WornOut),
                Turn::Reached if until.is_none() => return Ok(at),
                Turn::Reached | Turn::Done | Turn::Idle => {}
            }
        }
    }

    /// Lets time pass until `until`, or until something is done.
    pub fn advance(&mut self, until: Option<Time>) -> Turn {
        if !self.done.is_empty() {
            return Turn::Done;
        }
        self.turn(until)
    }

    fn turn(&mut self, until: Option<Time>) -> Turn {
        self.mark_at = self.sim.mark(self.mark_at);
        self.moved = true;
        let turn = self.sim.advance(until);
        self.collect();
        turn
    }

    fn collect(&mut self) {
        while let Some(done) = self.sim.take_done() {
            self.done.push_back(done);
        }
    }

    /// Nothing more comes: serves what is inside and empties the buffer.
    /// Says how far it has come now and then; it ends as the run does, whatever is answered.
    pub fn close(&mut self, progress: &mut dyn FnMut(Progress)) {
        if self.sim.worn_out_at().is_some() {
            return;
        }
        self.sim.close();
        let mut report_at = 0;
        loop {
            let (done, now) = (self.sim.stats().served, self.sim.now());
            if done >= report_at {
                report_at = done + PROGRESS_EVERY;
                progress(Progress { stage: Stage::Running, done, total: None, now });
            }
            if matches!(self.turn(None), Turn::Idle | Turn::WornOut) {
                return;
            }
        }
    }

    /// The result, after [`Session::close`]. `about` says where the requests came from.
    pub fn report(mut self, about: &About) -> Report {
        self.sim.finish();
        // Whoever takes the record may have had enough; the result is whole all the same.
        let _ = self.sim.end_record();
        let Self { drive, mut sim, state, used_before, alignment, .. } = self;
        report(&drive, about, 0, &alignment, &state, used_before, &mut sim)
    }
}
