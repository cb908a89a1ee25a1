//! The host interface: the controller, whose cores take commands, and the link, which carries data.
//! Both serve in order of arrival.
//!
//! A command goes through a core before anything else happens to it. Data of a write then go over
//! the link, page by page, before their pages enter; data of a read go over it as each page is
//! there. If a command has no data, the link carries the command itself.

use super::Class;
use crate::config;
use crate::ops::Spent;
use crate::server::{Server, assert_within};
use kernel::{Bytes, Dur, Rng, Time};
use nand::Cause;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The bytes of a command without data: an entry in a submission queue of NVM Express.
pub(crate) const COMMAND: Bytes = Bytes::new(64);

/// The work that has come through.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Passed {
    /// The controller has taken the command of this request.
    Command(u32),
    /// The link has carried the command of this request, which has no data.
    Bare(u32),
    /// The link has carried the data of this page operation to the drive.
    In(u32),
    /// The link has carried the data of this page operation to the host.
    Out(u32),
}

/// A passing command or its data: when it is through, its place among those that are through at the
/// same time, its kind, and when it came.
type OnItsWay = Reverse<(Time, u64, Passed, Time)>;

/// Time of a command.
#[derive(Copy, Clone, Default)]
struct OfCommand {
    controller: Dur,
    link: Dur,
}

/// The controller and the link of a drive that has one of them.
pub(crate) struct HostInterface {
    controller: Controller,
    link: Link,
    on_their_way: BinaryHeap<OnItsWay>,
    /// How many have come.
    came: u64,
    /// By request.
    commands: Vec<OfCommand>,
    /// By page operation: the time of its data on the link.
    data: Vec<Dur>,
}

/// The cores.
struct Controller {
    settings: config::Controller,
    takes_time: bool,
    cores: Vec<Server>,
    /// Of reads, and of all others.
    jitter: [Option<Jitter>; 2],
}

/// Draws of a log-normal time, from a stream of their own: one for each command, in the order in
/// which commands come. So the same request has the same draw, whatever else the drive has.
struct Jitter {
    /// In nanoseconds.
    median: f64,
    /// The standard deviation of the logarithm.
    spread: f64,
    rng: Rng,
}

/// The link.
struct Link {
    settings: config::LinkSettings,
    takes_time: bool,
    /// The way to the drive, and the way to the host; half duplex, both are the first.
    ways: [Server; 2],
}

impl HostInterface {
    /// The interface of a drive; none if neither part takes time.
    pub(crate) fn new(
        link: config::LinkSettings,
        controller: config::Controller,
        seed: u64,
    ) -> Option<Self> {
        let config::Controller { read, write, rate, read_latency, cores, .. } = controller;
        let jitter = [("read", controller.read_jitter), ("write", controller.write_jitter)]
            .map(|(of, known)| known.map(|known| Jitter::new(known, seed, of)));
        let always = read + write + read_latency > Dur::ZERO;
        let controller = Controller {
            settings: controller,
            takes_time: rate.is_some() || always || jitter.iter().any(Option::is_some),
            cores: vec![Server::default(); cores as usize],
            jitter,
        };
        let takes_time = link.rate.is_some() || link.latency > Dur::ZERO;
        let link = Link { settings: link, takes_time, ways: Default::default() };
        (controller.takes_time || takes_time).then(|| Self {
            controller,
            link,
            on_their_way: BinaryHeap::new(),
            came: 0,
            commands: Vec::new(),
            data: Vec::new(),
        })
    }

    /// Whether data take time between host and drive.
    #[inline]
    pub(crate) fn has_link(&self) -> bool {
        self.link.takes_time
    }

    /// Whether commands take time in the controller.
    pub(crate) fn has_controller(&self) -> bool {
        self.controller.takes_time
    }

    /// The command of a request comes to the controller.
    pub(crate) fn command(&mut self, id: u32, class: Class, bytes: Bytes, now: Time) {
        let at = self.controller.take(class, bytes, now);
        self.add(at, Passed::Command(id), now);
    }

    /// The command of a request without data comes to the link.
    pub(crate) fn bare(&mut self, id: u32, now: Time) {
        let at = self.link.carry(false, self.link.time(COMMAND), now);
        self.add(at, Passed::Bare(id), now);
    }

    /// `bytes` come to the link, for the drive.
    pub(crate) fn bring(&mut self, op: u32, bytes: Bytes, now: Time) {
        let at = self.link.carry(false, self.link.time(bytes), now);
        self.add(at, Passed::In(op), now);
    }

    /// `bytes` come to the link, for the host.
    pub(crate) fn send(&mut self, op: u32, bytes: Bytes, now: Time) {
        let at = self.link.carry(true, self.link.time(bytes), now);
        self.add(at, Passed::Out(op), now);
    }

    fn add(&mut self, at: Time, what: Passed, now: Time) {
        self.came += 1;
        self.on_their_way.push(Reverse((at, self.came, what, now)));
    }

    /// When the first of all transfers is through.
    pub(crate) fn next(&self) -> Option<Time> {
        self.on_their_way.peek().map(|Reverse((at, ..))| *at)
    }

    /// The first of all transfers is through now.
    pub(crate) fn pass(&mut self) -> Passed {
        let Reverse((at, _, what, came)) = self.on_their_way.pop().expect("something is planned");
        let took = at - came;
        match what {
            Passed::Command(id) => {
                *place(&mut self.commands, id) = OfCommand { controller: took, link: Dur::ZERO };
            }
            Passed::Bare(id) => place(&mut self.commands, id).link = took,
            Passed::In(op) | Passed::Out(op) => *place(&mut self.data, op) = took,
        }
        what
    }

    /// The run is over.
    ///
    /// # Panics
    /// A core or a way of the link was busy for longer than the run lasted.
    pub(crate) fn check_busy(&self, now: Time) {
        let all = [("core", self.controller.cores.as_slice()), ("link", &self.link.ways)];
        for (what, servers) in all {
            for (at, server) in servers.iter().enumerate() {
                assert_within(server.busy_until(now), now, what, at);
            }
        }
    }

    /// Adds the time that a request spent before its pages to the account of its time. Returns that
    /// time.
    pub(crate) fn book(&self, id: u32, spent: &mut Spent) -> Dur {
        let OfCommand { controller, link } =
            self.commands.get(id as usize).copied().unwrap_or_default();
        spent.causes[Cause::Controller] += controller;
        spent.causes[Cause::Link] += link;
        controller + link
    }

    /// A page of a request is answered. The link time of its last page replaces that of the others.
    pub(crate) fn add_data(&mut self, id: u32, op: u32) {
        let data = self.data.get(op as usize).copied().unwrap_or_default();
        place(&mut self.commands, id).link = data;
    }
}

/// The place of a number in a list, which grows as needed.
fn place<T: Default + Clone>(list: &mut Vec<T>, at: u32) -> &mut T {
    let at = at as usize;
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    &mut list[at]
}

impl Controller {
    /// The core that is free first takes a command. Returns when the command leaves it.
    fn take(&mut self, class: Class, bytes: Bytes, now: Time) -> Time {
        let &config::Controller { read, write, rate, read_latency, .. } = &self.settings;
        let is_read = class == Class::Read;
        let (busy, fixed) = if is_read { (read, read_latency) } else { (write, Dur::ZERO) };
        let jitter = self.jitter[usize::from(!is_read)].as_mut();
        let more = fixed + jitter.map_or(Dur::ZERO, Jitter::draw);
        let has_data = matches!(class, Class::Read | Class::Write);
        let data = rate.filter(|_| has_data).map_or(Dur::ZERO, |rate| rate.time(bytes));
        // Only a write is sure to need flash.
        let none = class != Class::Write && busy + data + more == Dur::ZERO;
        let at_all = if none { Dur::ns(1) } else { Dur::ZERO };
        let core = self.cores.iter_mut().min_by_key(|core| core.free_at());
        core.expect("a controller has a core").take(now, busy + data + at_all) + more
    }
}

impl Jitter {
    /// The 99th percentile of the standard normal distribution.
    const Z99: f64 = 2.326_347_874_040_841;

    fn new(known: config::Jitter, seed: u64, of: &str) -> Self {
        let [median, rare] = [known.p50, known.p99].map(|time| time.as_ns() as f64);
        let rng = Rng::named(seed, &format!("controller/{of}-jitter"));
        Self { median, spread: (rare / median).ln() / Self::Z99, rng }
    }

    fn draw(&mut self) -> Dur {
        let time = self.median * (self.spread * self.rng.normal()).exp();
        Dur::ns(time.round() as u64).min(config::OPERATION_LIMIT)
    }
}

impl Link {
    fn time(&self, bytes: Bytes) -> Dur {
        self.settings.rate.map_or(Dur::ZERO, |rate| rate.time(bytes).max(Dur::ns(1)))
    }

    /// Carries a transfer of length `takes`. Returns when it ends.
    fn carry(&mut self, to_host: bool, takes: Dur, now: Time) -> Time {
        let full = self.settings.duplex == config::Duplex::Full;
        self.ways[usize::from(to_host && full)].take(now, takes) + self.settings.latency
    }
}
