//! The flash side in time: dies with their lanes, channels, and the times of a command.
//!
//! A page operation costs one event. A read over a modelled bus costs two, because its transfer can
//! only be scheduled when the data is there. Commands and programs have their turn on the channel
//! fixed when they start: nothing can come between. The device has no access to host, map or
//! policies. It is given operations to carry out, and returns a list of those that are done, with
//! their outcomes.

mod begun;
mod cells;
mod channel;
mod choose;
mod die;
mod lane;
mod register;
mod suspend;
#[cfg(test)]
mod tests;
mod time;

pub(crate) use cells::{CellCounts, Cells, effective, steps};
pub(crate) use channel::Channel;
pub(crate) use die::{Busy, Die, LANES, LaneId};
pub(crate) use lane::Lane;
pub(crate) use register::Turned;
pub(crate) use suspend::Suspends;

use crate::clock::{Actor, Clock};
use crate::config::{ChannelFirst, Drive, MultiPlane};
use crate::ops::{NONE, Ops, Owner};
use crate::server::assert_within;
use die::{PassedOver, Phase};
use kernel::{BitSet, Dur, Idx, IndexVec, Time, TimeSum};
use nand::{
    Bus, Cause, ChannelId, Command, DieId, Each, FlashPages, Geometry, Layouts, Level, Mode,
    ModeSpec, Source, Timing, UnitSizes, Units, Verb,
};
use register::Registers;
use rustc_hash::FxHashSet;
use suspend::Suspension;
use time::program_by_wear;

/// Physical pages by source, by the level at which they are written, and by page type.
pub type PageCounts = Each<Source, Each<Level, [u64; 4]>>;

/// Pages of blocks whose cells hold one bit, by source.
#[derive(Clone, Default, Debug)]
pub struct SinglePages {
    /// Pages sensed.
    pub sensed: Each<Source, u64>,
    /// Pages programmed.
    pub programmed: Each<Source, u64>,
}

/// The work of dies and channels.
#[derive(Clone, Default, Debug)]
pub struct DeviceStats {
    /// Page reads by the level at which the page was written.
    pub read_by_level: Each<Level, u64>,
    /// Page programs by level.
    pub program_by_level: Each<Level, u64>,
    /// Pages sensed, besides those of `attempts`.
    pub sensed: PageCounts,
    /// With the model of the cells, each attempt to read a page: by source, way of sensing and page type.
    pub attempts: Each<Source, [[u64; 4]; 3]>,
    /// Pages programmed.
    pub programmed: PageCounts,
    /// Pages of blocks whose cells hold one bit. `sensed` and `programmed` leave them out.
    pub single: Box<SinglePages>,
    /// Mapping units of sensed pages that were not requested, and that no channel carried, by
    /// source.
    pub unsent: Each<Source, Units>,
    /// Programs and erases that were interrupted, counted each time.
    pub suspends: Suspends,
    /// Pages that were programmed with data that stayed in the die during a move, by source.
    pub stayed: Each<Source, FlashPages>,
    /// Operations that shared their array time with others on other planes.
    pub merged: u64,
    /// Time that each source kept all dies busy.
    pub busy: Each<Source, TimeSum>,
    /// Time that dies were busy with suspending operations and resuming them.
    pub suspending: TimeSum,
    /// Time that channels were busy.
    pub channel: TimeSum,
}

/// Dies, channels, and the operations that wait for them or run.
pub(crate) struct Device {
    pub(crate) ops: Ops,
    geometry: Geometry,
    pub(crate) dies: IndexVec<DieId, Die>,
    pub(crate) channels: IndexVec<ChannelId, Channel>,
    /// Dies that do nothing.
    pub(crate) idle: BitSet,
    /// The times of blocks at full density.
    timing: Timing,
    /// The times and errors of all modes.
    modes: Box<Each<Mode, ModeSpec>>,
    /// The layout of slots in each mode.
    layouts: Layouts,
    /// A command reads and programs single pages, each is mapped as a whole, and its data go over
    /// the channel. The time depends only on its type and level (and, for reads, on the cells, if
    /// they are modelled).
    plain: bool,
    /// Data goes over a channel before commands.
    data_first: bool,
    /// If pages move inside their planes: the raw bit error rate of the last such read of each die.
    copied_rber: Vec<f32>,
    multi_plane: MultiPlane,
    /// Jobs program blocks to which the host writes: parity, or pages that move into them.
    mixes: bool,
    /// For each die the reads that went before others, if the order of operations depends on it.
    passed: Vec<PassedOver>,
    /// Present if dies can be interrupted.
    suspension: Option<Box<Suspension>>,
    /// Dies can be interrupted, or take in the data of their next program.
    attends: bool,
    /// There may be more operations to choose from than the waiting ones, or the choice needs more
    /// facts.
    apart: bool,
    /// Operations are always served in order of arrival.
    first_come: bool,
    /// Present if dies have a cache register.
    registers: Option<Box<Registers>>,
    /// Program time of a block by cycles, as a share of the time when new. Beyond the last entry it
    /// is constant. `None`: it does not change.
    by_wear: Option<Vec<f64>>,
    /// Present if the cells are modelled.
    pub(crate) cells: Option<Box<Cells>>,
    /// Page reads of the host that found more errors than the code corrects and are not done yet.
    /// Present if the client wants to know.
    pub(crate) unread: Option<FxHashSet<u32>>,
    pub(crate) stats: DeviceStats,
}

/// A command that is done.
pub(crate) struct Finished {
    pub(crate) verb: Verb,
    /// The first of its operations, as a list: [`Device::take_done`] returns the next.
    pub(crate) first: u32,
    /// Its owner.
    pub(crate) owner: Owner,
}

/// The facts about policies that a device has to know.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Manner {
    /// Every read and every program takes the time of its cheapest level.
    pub(crate) ideal: bool,
    /// Operations are always served in order of arrival.
    pub(crate) first_come: bool,
    /// The order of operations goes by how long they have waited.
    pub(crate) watches_waits: bool,
    /// Pages that move share blocks with writes of the host.
    pub(crate) mixes: bool,
}

impl Device {
    /// The device of a drive on which nothing runs.
    pub(crate) fn new(drive: &Drive, layouts: &Layouts, manner: Manner) -> Self {
        let Manner { ideal, first_come, watches_waits, mixes } = manner;
        let geometry = drive.geometry;
        let copyback = drive.ftl.copyback.is_some();
        let by_wear = program_by_wear(drive);
        let dies = geometry.dies();
        let modes = drive.modes().map(|spec| {
            let timing = if ideal { spec.timing.ideal() } else { spec.timing.clone() };
            ModeSpec { timing, ..spec.clone() }
        });
        let mut idle = BitSet::new(dies);
        (0..dies).for_each(|d| idle.set(d));
        Self {
            ops: Ops::new(),
            geometry,
            dies: IndexVec::filled(Die::new(), dies),
            channels: IndexVec::filled(Channel::default(), geometry.channels()),
            idle,
            timing: modes[Mode::Full].timing.clone(),
            modes: Box::new(modes),
            layouts: layouts.clone(),
            plain: geometry.units() == UnitSizes::PAGE && by_wear.is_none() && !copyback,
            copied_rber: vec![0.0; if copyback { dies } else { 0 }],
            data_first: drive.channel_first == ChannelFirst::Data,
            multi_plane: drive.ftl.multi_plane,
            mixes: mixes || geometry.superblocks().parity() > 0,
            suspension: drive.suspend.map(|settings| Box::new(Suspension::new(settings, dies))),
            attends: drive.suspend.is_some() || drive.cache.is_some(),
            apart: drive.suspend.is_some() || drive.cache.is_some() || watches_waits,
            first_come,
            registers: drive.cache.map(|cached| Box::new(Registers::new(cached, dies))),
            passed: if watches_waits { vec![PassedOver::default(); dies] } else { Vec::new() },
            by_wear,
            cells: Cells::of(drive, ideal),
            unread: None,
            stats: DeviceStats::default(),
        }
    }

    /// The run is over at `now`: brings the sums over dies and channels up to date.
    ///
    /// # Panics
    /// A die or a channel was busy for longer than the run lasted.
    pub(crate) fn sum_up(&mut self, now: Time) {
        (self.stats.busy, self.stats.suspending) = Default::default();
        for (at, die) in self.dies.as_slice().iter().enumerate() {
            let busy = die.busy_until(now);
            assert_within(busy.sum(), now, "die", at);
            self.stats.busy += &busy.by_source.map(|time| TimeSum::from(*time));
            self.stats.suspending += busy.suspend;
        }
        self.check_suspended();
        self.stats.channel = TimeSum::ZERO;
        for (at, channel) in self.channels.as_slice().iter().enumerate() {
            let busy = channel.busy_until(now);
            assert_within(busy, now, "channel", at);
            self.stats.channel += busy;
        }
    }

    /// Time that all dies together were busy, up to an instant after which nothing has happened.
    pub(crate) fn busy_until(&self, at: Time) -> TimeSum {
        self.dies.as_slice().iter().map(|die| die.busy_until(at).sum()).sum()
    }

    // ── Arrival ─────────────────────────────────────────────────────────────────────────────────

    /// Whether an operation that comes now can start at once. If operations of one instant may
    /// share the array, they are gathered first.
    #[inline]
    pub(crate) fn starts_at_once(&self, die: DieId) -> bool {
        let d = &self.dies[die];
        d.phase == Phase::Idle && d.mask == 0 && self.multi_plane == MultiPlane::Off
    }

    /// An operation waits for a die.
    #[inline]
    pub(crate) fn queue(&mut self, clock: &mut Clock, die: DieId, lane: LaneId, op: u32) {
        self.begin_wait(die, op, clock.now);
        let d = &mut self.dies[die];
        d.queue(&mut self.ops, lane, op);
        self.look_round(clock, die);
    }

    /// An operation goes to its place in a lane, without an account of its wait, or with an account
    /// that has begun.
    pub(crate) fn insert(&mut self, die: DieId, lane: LaneId, op: u32) {
        self.dies[die].insert(&mut self.ops, lane as usize, op);
    }

    /// A wait for a die begins, of an operation and its group: in a lane, or elsewhere.
    #[inline]
    pub(crate) fn begin_wait(&mut self, die: DieId, op: u32, now: Time) {
        let d = &self.dies[die];
        d.begin_wait(self.ops.spent_mut(op), now);
        let mut at = self.ops.also(op);
        while at != NONE {
            d.begin_wait(self.ops.spent_mut(at), now);
            at = self.ops.also(at);
        }
    }

    /// A free die with operations in its lanes chooses at the end of this instant.
    #[inline]
    pub(crate) fn look_round(&mut self, clock: &mut Clock, die: DieId) {
        let d = &mut self.dies[die];
        if d.phase == Phase::Idle {
            d.choose(clock.now);
            d.phase = Phase::Gathering;
            self.idle.clear(die.index());
            clock.plan(Actor::Die(die), clock.now);
        }
    }

    /// Background work of a job has become urgent: its waiting operations move to the jobs' lane.
    #[cold]
    pub(crate) fn promote(&mut self, owner: Owner) {
        for die in 0..self.dies.len() {
            let d = &mut self.dies[DieId::new(die)];
            let taken = d.take_all(&mut self.ops, LaneId::Idle as usize, |op| op.owner == owner);
            for op in taken {
                d.insert(&mut self.ops, LaneId::Job as usize, op);
            }
        }
    }

    // ── Execution ───────────────────────────────────────────────────────────────────────────────

    /// Starts a command on a free die, for an operation and those chained to it.
    #[inline(always)] // every command comes by
    pub(crate) fn start(&mut self, clock: &mut Clock, die: DieId, op: u32, command: Command) {
        self.idle.clear(die.index());
        let d = &mut self.dies[die];
        d.start(op, command, clock.now);
        if self.timing.bus == Bus::Included {
            d.phase = Phase::Finishing;
            clock.plan(Actor::Die(die), clock.now + command.array);
        } else if self.registers.is_some() {
            if !self.holds_back(clock, die) {
                self.begin_at_once(clock, die);
            }
        } else if self.data_first {
            self.ask_to_begin(clock, die);
        } else {
            d.phase = if command.pages_out > 0 { Phase::Sensing } else { Phase::Finishing };
            let parts = self.timing.bus.segments(&command);
            let end = self.channel_of(die).take(clock.now, parts.before) + parts.array;
            clock.plan(Actor::Die(die), end);
        }
    }

    /// The command of a die with a cache register begins.
    fn begin_at_once(&mut self, clock: &mut Clock, die: DieId) {
        let command = self.dies[die].command;
        let parts = self.timing.bus.segments(&command);
        let array = self.channel_of(die).take(clock.now, parts.before);
        self.dies[die].phase = match command.pages_out {
            0 => Phase::Finishing,
            _ if self.caches_reads() => Phase::SensingBeside,
            _ => Phase::Sensing,
        };
        clock.plan(Actor::Die(die), array + parts.array);
        self.empties(clock, die, array);
    }

    /// Whether there is something to do when an operation comes to a die that is busy.
    #[inline]
    pub(crate) fn attends(&self) -> bool {
        self.attends
    }

    /// A die's time has come. Returns its command if that is done. Otherwise the die may have to
    /// choose ([`Device::is_choosing`]), or goes on.
    #[inline]
    pub(crate) fn act(&mut self, clock: &mut Clock, die: DieId) -> Option<Finished> {
        // Nearly always. A jump by a table costs more than a comparison.
        if self.dies[die].phase == Phase::Finishing {
            return Some(self.finish(die, clock.now));
        }
        match self.dies[die].phase {
            Phase::Gathering => self.dies[die].choose(clock.now),
            Phase::SensingBeside => self.sensed(clock, die),
            Phase::Sensing => {
                if self.channel_of(die).ask_to_send(die) {
                    self.send(clock, die);
                } else {
                    self.dies[die].phase = Phase::Sensed;
                    clock.clear(Actor::Die(die));
                }
            }
            Phase::Beginning => {
                let d = &mut self.dies[die];
                d.phase = if d.command.pages_out > 0 { Phase::Sensing } else { Phase::Finishing };
                let end = clock.now + d.command.array;
                self.array_begins(clock, die, end);
                self.give_turn(clock, die);
            }
            Phase::Pausing | Phase::Suspending | Phase::Resuming => self.act_on_paused(clock, die),
            Phase::Idle | Phase::Choosing | Phase::Asking | Phase::Sensed | Phase::Finishing => {
                unreachable!("a die that waits plans nothing")
            }
        }
        None
    }

    /// A command is done: the accounts of time of its operations are final. The die is about to
    /// choose.
    #[inline(always)] // from one place
    fn finish(&mut self, die: DieId, now: Time) -> Finished {
        let d = &mut self.dies[die];
        let ran = d.finish(now);
        let (command, first) = (d.command, d.running);
        let owner = self.book(first, &command, ran);
        Finished { verb: command.verb, first, owner }
    }

    /// Counts the time of a finished command for its operations, and returns the owner of the
    /// first. Error correction goes to an account of its own; the rest of the time is then that of
    /// plain reads. The operation of a job comes alone, and its account is not needed.
    #[inline(always)]
    fn book(&mut self, first: u32, command: &Command, ran: Dur) -> Owner {
        let owner = self.ops[first].owner;
        if let Owner::Job(_) = owner {
            return owner;
        }
        let mut corrected = command.array - command.plain;
        if command.extra_out > 0
            && let Bus::Modelled { page, .. } = self.timing.bus
        {
            corrected += page * u64::from(command.extra_out);
        }
        let array = command.plain;
        let bus = ran - corrected - array;
        let mut at = first;
        while at != NONE {
            if self.ops.also(at) != NONE {
                self.ops.line_up(at);
            }
            let causes = &mut self.ops.spent_mut(at).causes;
            causes[Cause::Array] += array;
            causes[Cause::Bus] += bus;
            causes[Cause::Ecc] += corrected;
            at = self.ops[at].next;
        }
        owner
    }

    /// Whether the die waits to choose.
    #[inline]
    pub(crate) fn is_choosing(&self, die: DieId) -> bool {
        self.dies[die].phase == Phase::Choosing
    }

    // ── The channel ─────────────────────────────────────────────────────────────────────────────

    fn channel_of(&mut self, die: DieId) -> &mut Channel {
        &mut self.channels[self.geometry.channel_of(die)]
    }

    /// Data goes first: the command of a die begins when no data waits.
    #[cold]
    fn ask_to_begin(&mut self, clock: &mut Clock, die: DieId) {
        if self.channel_of(die).ask_to_begin(die) {
            self.begin(clock, die);
        } else {
            self.dies[die].phase = Phase::Asking;
            clock.clear(Actor::Die(die));
        }
    }

    /// A die's command goes over the channel.
    fn begin(&mut self, clock: &mut Clock, die: DieId) {
        let parts = self.timing.bus.segments(&self.dies[die].command);
        let end = self.channel_of(die).take(clock.now, parts.before);
        self.dies[die].phase = Phase::Beginning;
        clock.plan(Actor::Die(die), end);
    }

    /// A die's turn on the channel is over: gives the next.
    fn give_turn(&mut self, clock: &mut Clock, die: DieId) {
        match self.channel_of(die).pass_on() {
            Some(next) if self.caches_reads() => self.send_register(clock, next),
            Some(next) if self.dies[next].phase == Phase::Asking => self.begin(clock, next),
            Some(next) => self.send(clock, next),
            None => {}
        }
    }

    /// A die's data goes over the channel.
    fn send(&mut self, clock: &mut Clock, die: DieId) {
        let parts = self.timing.bus.segments(&self.dies[die].command);
        let end = self.channel_of(die).take(clock.now, parts.after);
        self.dies[die].phase = Phase::Finishing;
        clock.plan(Actor::Die(die), end);
    }

    /// A die has sent its data: gives the next turn on its channel.
    #[inline]
    pub(crate) fn pass_channel_on(&mut self, clock: &mut Clock, die: DieId, done: Verb) {
        if done != Verb::Read || self.timing.bus == Bus::Included {
            return;
        }
        self.give_turn(clock, die);
    }
}
