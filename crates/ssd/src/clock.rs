//! Simulated time, and the next actor.
//!
//! The actors are fixed:
//!
//! * every die, and its cache register if it has one,
//! * the alarm of the client that submits requests, the gate of the throttle, and the timer of the
//!   policies,
//! * the write buffer's port, the link and the controller,
//! * the program buffers in which writes wait for others.
//!
//! Each waits for at most one event, so the agenda has one place for each ([`kernel::Agenda`]).

use kernel::{Agenda, Idx, Time};
use nand::DieId;

/// An actor.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Actor {
    Die(DieId),
    /// The client that submits requests wants to be called.
    Alarm,
    /// The throttle lets its earliest write through.
    Gate,
    /// A policy has asked for this time.
    Timer,
    /// A transfer into or out of the write buffer ends, or the link or the controller in front of
    /// it has finished something.
    Port,
    /// Writes have waited long enough for others to be programmed with.
    ProgramBuffers,
    /// The cache register of a die, where there is one.
    Register(DieId),
}

/// Actors outside the dies.
const OTHERS: usize = 5;

/// The simulated time.
pub(crate) struct Clock {
    pub(crate) now: Time,
    agenda: Agenda,
    dies: usize,
}

impl Clock {
    /// The clock of `dies` dies, and of as many cache registers if `registers`.
    pub(crate) fn new(dies: usize, registers: bool) -> Self {
        let places = dies + OTHERS + if registers { dies } else { 0 };
        Self { now: Time::ZERO, agenda: Agenda::new(places), dies }
    }

    #[inline]
    fn place(&self, actor: Actor) -> usize {
        match actor {
            Actor::Die(die) => die.index(),
            Actor::Alarm => self.dies,
            Actor::Gate => self.dies + 1,
            Actor::Timer => self.dies + 2,
            Actor::Port => self.dies + 3,
            Actor::ProgramBuffers => self.dies + 4,
            Actor::Register(die) => self.dies + OTHERS + die.index(),
        }
    }

    /// The next actor, and its time. The actor stays planned until it is planned anew or cleared.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, Actor)> {
        let (at, place) = self.agenda.peek()?;
        let actor = match place.checked_sub(self.dies) {
            None => Actor::Die(DieId::new(place)),
            Some(0) => Actor::Alarm,
            Some(1) => Actor::Gate,
            Some(2) => Actor::Timer,
            Some(3) => Actor::Port,
            Some(4) => Actor::ProgramBuffers,
            Some(beyond) => Actor::Register(DieId::new(beyond - OTHERS)),
        };
        Some((at, actor))
    }

    /// Lets an actor act at `at`, in place of its earlier plan.
    #[inline]
    pub(crate) fn plan(&mut self, actor: Actor, at: Time) {
        self.agenda.set(self.place(actor), at);
    }

    /// Lets an actor act at `at` or, without one, not at all.
    #[inline]
    pub(crate) fn plan_or_clear(&mut self, actor: Actor, at: Option<Time>) {
        match at {
            Some(at) => self.plan(actor, at),
            None => self.clear(actor),
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self, actor: Actor) {
        self.agenda.clear(self.place(actor));
    }

    /// When an actor acts next, if it does.
    pub(crate) fn planned(&self, actor: Actor) -> Option<Time> {
        self.agenda.at(self.place(actor))
    }
}
