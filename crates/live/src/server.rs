//! Sockets around a drive: one loop, one thread. Commands of clients are decoded and go in, and
//! answers go back. In between the clock decides how far simulated time may go.

use crate::clock::{TimePace, WallClock};
use crate::control::{self, Line};
use crate::core::{Core, Finished, Who};
use crate::habit::Habit;
use crate::listen::{Listener, SocketStream};
use crate::wire::{CommandKind, Decoder, Errno, Export, WireStep};
use crate::{Progress, ServeError, Stage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as OsError;
use serde_json::{Value, json};
use slab::Slab;
use ssd::sim::Turn;
use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time that a client has for its handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Connections at once, of each kind.
const MOST_CLIENTS: usize = 64;
/// The bytes that a connection may have inside and unsent before its next command is taken: one
/// command of the greatest size.
const MOST_BYTES: u64 = 32 << 20;
/// The least number of bytes that a command counts as.
const LEAST_BYTES: u64 = 4096;
/// A wait for work ends after this time, to check whether the server is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// The time that clients have at the end to take their answers.
const FAREWELL: Duration = Duration::from_secs(5);
/// The system wakes a thread late by up to this time. For the rest of a wait the loop stays awake.
const AWAKE: Duration = Duration::from_micros(120);
/// The lines of a connection to the control socket that are answered in a turn of the loop. A
/// client of it that sends more waits, and clients of the drive do not.
const LINES: usize = 8;
/// An answer is late if it left later than this share of its latency, in wall time.
const LATE: f64 = 0.05;

/// A client.
struct Client {
    stream: SocketStream,
    decoder: Decoder,
    number: u32,
    out: Vec<u8>,
    sent: usize,
    /// Commands inside the drive, and the bytes of data that they move.
    inside: u32,
    bytes: u64,
    habit: Habit,
    /// When the handshake must be over.
    deadline: Option<Instant>,
    /// Nothing more is heard.
    deaf: bool,
    /// It goes without an answer.
    broken: bool,
}

impl Client {
    fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Whether it may have another command inside.
    fn may_ask(&self) -> bool {
        let held = self.bytes + self.unsent() as u64;
        !self.deaf && !self.broken && held < MOST_BYTES
    }

    /// Requests that the drive has not accepted are refused, as the server ends.
    fn refuse_the_rest(&mut self, export: &Export) {
        while !self.deaf {
            match self.decoder.next(export, &mut self.out) {
                WireStep::Said => {}
                WireStep::Command(command) if command.kind != CommandKind::Disconnect => {
                    let as_read =
                        matches!(command.kind, CommandKind::Read | CommandKind::Status { .. });
                    let (cookie, errno) = (command.cookie, Errno::Shutdown);
                    self.decoder.put_error(&mut self.out, cookie, as_read, errno);
                }
                WireStep::Refused(cookie, as_read, errno) => {
                    self.decoder.put_error(&mut self.out, cookie, as_read, errno);
                }
                WireStep::More | WireStep::Close | WireStep::Command(_) => self.deaf = true,
            }
        }
    }

    /// Until when it may be about to ask again.
    fn awaited(&self) -> Option<Instant> {
        self.habit.awaited(self.inside).filter(|_| self.may_ask())
    }

    fn is_over(&self) -> bool {
        self.broken || self.deaf && self.inside == 0 && self.unsent() == 0
    }

    fn send(&mut self) {
        while self.sent < self.out.len() && !self.broken {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(0) => self.broken = true,
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.broken = true,
            }
        }
        self.out.clear();
        self.sent = 0;
        if self.out.capacity() > 1 << 20 {
            self.out = Vec::new();
        }
    }
}

/// The result of a read from a socket.
enum Heard {
    Something(usize),
    Nothing,
    End,
}

fn hear(stream: &mut SocketStream, into: &mut [u8]) -> Heard {
    loop {
        return match stream.read(into) {
            Ok(0) => Heard::End,
            Ok(n) => Heard::Something(n),
            Err(e) if e.kind() == ErrorKind::WouldBlock => Heard::Nothing,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(_) => Heard::End,
        };
    }
}

/// How answers kept up with the wall clock.
#[derive(Default)]
struct Punctuality {
    answers: u64,
    late: u64,
    sum: Duration,
    most: Duration,
}

/// A server.
pub(crate) struct NbdServer<'a> {
    core: Core,
    export: Export,
    clock: WallClock,
    listener: Listener,
    control: Listener,
    clients: Slab<Client>,
    lines: Slab<Line>,
    number: u32,
    /// The client of the last command.
    latest: usize,
    stop: &'a AtomicBool,
    punctual: Punctuality,
    /// Waits for clients that did not ask again, and whether no command has come since the last of them.
    expired: u64,
    in_vain: bool,
    scratch: Vec<u8>,
    started: Instant,
}

/// The owner of a place in the list of polled sockets.
#[derive(Copy, Clone)]
enum Place {
    Listener,
    Control,
    Client(usize),
    Line(usize),
}

impl<'a> NbdServer<'a> {
    pub(crate) fn new(
        core: Core,
        export: Export,
        pace: TimePace,
        listener: Listener,
        control: Listener,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            core,
            export,
            clock: WallClock::new(pace),
            listener,
            control,
            clients: Slab::new(),
            lines: Slab::new(),
            number: 0,
            latest: 0,
            stop,
            punctual: Punctuality::default(),
            expired: 0,
            in_vain: false,
            scratch: vec![0; 256 << 10],
            started: Instant::now(),
        }
    }

    /// Serves until it is told to stop; `report` is called with its progress now and then.
    pub(crate) fn run(
        mut self,
        report: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(ssd::Report, Value), ServeError> {
        let mut looked = Instant::now();
        let mut report = |core: &Core| {
            let (done, now) = (core.served(), core.now());
            report(Progress { stage: Stage::Serving, done, total: None, now })
        };
        report(&self.core);
        while !self.stop.load(Ordering::Relaxed) {
            let heard = self.listen()?;
            let began = self.take_commands();
            if self.clock.is_real() {
                self.catch_up();
            } else if !heard && !began && self.core.is_busy() && self.grace().is_zero() {
                self.note_expired();
                self.advance_once();
            }
            self.deliver();
            self.part();
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if !report(&self.core) {
                    break;
                }
            }
        }
        self.end()
    }

    // ── Waiting and hearing ─────────────────────────────────────────────────────────────────────

    /// How long the loop may wait for clients.
    fn patience(&self) -> Duration {
        if !self.clock.is_real() {
            return if self.core.is_busy() { self.grace() } else { LOOK };
        }
        let next = self.core.session().sim().next_at().filter(|_| !self.core.is_worn_out());
        match next.and_then(|at| self.clock.wall_of(at)) {
            Some(at) => {
                at.saturating_duration_since(Instant::now()).saturating_sub(AWAKE).min(LOOK)
            }
            None => LOOK,
        }
    }

    /// How long simulated time still waits for clients that may be about to ask again. One wait in vain is
    /// enough until something comes.
    fn grace(&self) -> Duration {
        if self.in_vain {
            return Duration::ZERO;
        }
        let awaited = self.clients.iter().filter_map(|(_, client)| client.awaited()).max();
        awaited.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Simulated time goes on. The awaited clients have not asked.
    fn note_expired(&mut self) {
        if self.in_vain {
            return;
        }
        for (_, client) in &mut self.clients {
            if client.awaited().is_some() {
                client.habit.let_expire(client.inside);
                self.in_vain = true;
            }
        }
        self.expired += u64::from(self.in_vain);
    }

    /// Waits for clients as long as there is time, and takes in their messages. Returns whether
    /// they sent anything.
    fn listen(&mut self) -> Result<bool, ServeError> {
        let waiting = |line: &Line| line.is_ready() && !line.unsent();
        let pending: Vec<usize> =
            self.lines.iter().filter(|(_, line)| waiting(line)).map(|(key, _)| key).collect();
        let patience = if pending.is_empty() { self.patience() } else { Duration::ZERO };
        let (mut places, mut fds) = (Vec::new(), Vec::new());
        // If there is no space for more, others wait outside.
        if self.clients.len() < MOST_CLIENTS {
            places.push(Place::Listener);
            fds.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        if self.lines.len() < MOST_CLIENTS {
            places.push(Place::Control);
            fds.push(PollFd::new(&self.control, PollFlags::IN));
        }
        for (key, client) in &self.clients {
            let mut flags = PollFlags::empty();
            if client.may_ask() && client.decoder.room() > 0 {
                flags |= PollFlags::IN;
            }
            if client.unsent() > 0 {
                flags |= PollFlags::OUT;
            }
            places.push(Place::Client(key));
            fds.push(PollFd::new(&client.stream, flags));
        }
        for (key, line) in &self.lines {
            places.push(Place::Line(key));
            let flags = if line.unsent() { PollFlags::OUT } else { PollFlags::IN };
            fds.push(PollFd::new(&line.stream, flags));
        }
        let timeout = Timespec {
            tv_sec: patience.as_secs().cast_signed(),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) if pending.is_empty() => return Ok(false),
            Err(OsError::INTR) => return Ok(false),
            Ok(_) => {}
            Err(e) => return Err(ServeError::Socket(e.into())),
        }
        let ready: Vec<(Place, PollFlags)> = places
            .into_iter()
            .zip(fds.iter().map(PollFd::revents))
            .filter(|(_, events)| !events.is_empty())
            .collect();
        drop(fds);
        let mut heard = false;
        for (place, events) in ready {
            match place {
                Place::Listener => self.welcome(),
                Place::Control => self.welcome_line(),
                Place::Client(key) => heard |= self.hear_client(key, events),
                Place::Line(key) => self.hear_line(key),
            }
        }
        // After the clients, whose connections a power cut ends.
        for key in pending {
            self.hear_line(key);
        }
        Ok(heard)
    }

    fn welcome(&mut self) {
        while self.clients.len() < MOST_CLIENTS
            && let Some(stream) = self.listener.accept()
        {
            self.number += 1;
            let mut out = Vec::new();
            Decoder::greet(&mut out);
            self.clients.insert(Client {
                stream,
                decoder: Decoder::new(),
                number: self.number,
                out,
                sent: 0,
                inside: 0,
                bytes: 0,
                habit: Habit::default(),
                deadline: Some(Instant::now() + HANDSHAKE),
                deaf: false,
                broken: false,
            });
        }
    }

    fn welcome_line(&mut self) {
        while self.lines.len() < MOST_CLIENTS
            && let Some(stream) = self.control.accept()
        {
            self.lines.insert(Line::new(stream));
        }
    }

    fn hear_client(&mut self, key: usize, events: PollFlags) -> bool {
        let client = &mut self.clients[key];
        if events.contains(PollFlags::OUT) {
            client.send();
        }
        if events.intersects(PollFlags::ERR | PollFlags::NVAL) {
            client.broken = true;
        }
        if !events.intersects(PollFlags::IN | PollFlags::HUP) || client.deaf || client.broken {
            // A client that has hung up takes no answer.
            client.broken |= events.contains(PollFlags::HUP);
            return false;
        }
        let most = self.scratch.len().min(client.decoder.room());
        if most == 0 {
            return false;
        }
        match hear(&mut client.stream, &mut self.scratch[..most]) {
            Heard::Something(n) => {
                client.decoder.feed(&self.scratch[..n]);
                true
            }
            Heard::Nothing => false,
            Heard::End => {
                client.deaf = true;
                // Its requests are carried out all the same; nobody takes the answer.
                client.broken = true;
                false
            }
        }
    }

    // ── Commands ────────────────────────────────────────────────────────────────────────────────

    /// Takes in the complete commands of all clients, one of each in turn, so that none of them has
    /// all the places in the drive. Returns whether there was any.
    fn take_commands(&mut self) -> bool {
        let mut keys: Vec<usize> = self
            .clients
            .iter()
            .filter(|(_, c)| c.decoder.pending() > 0 || c.unsent() > 0)
            .map(|(key, _)| key)
            .collect();
        let after = keys.iter().position(|&key| key > self.latest).unwrap_or(0);
        keys.rotate_left(after);
        let mut began = false;
        let mut left = keys.clone();
        while !left.is_empty() {
            left.retain(|&key| self.take_command(key, &mut began));
        }
        for key in keys {
            self.clients[key].send();
        }
        began
    }

    /// Takes in the next command of a client. Returns whether there may be another.
    fn take_command(&mut self, key: usize, began: &mut bool) -> bool {
        let client = &mut self.clients[key];
        while client.may_ask() && (self.core.has_room() || !client.decoder.is_ready()) {
            match client.decoder.next(&self.export, &mut client.out) {
                WireStep::More => return false,
                WireStep::Said => {
                    if client.decoder.is_ready() {
                        client.deadline = None;
                    }
                }
                WireStep::Close => client.deaf = true,
                WireStep::Refused(cookie, as_read, errno) => {
                    client.decoder.put_error(&mut client.out, cookie, as_read, errno);
                }
                WireStep::Command(command) if command.kind == CommandKind::Disconnect => {
                    client.deaf = true;
                }
                WireStep::Command(command) => {
                    client.inside += 1;
                    client.bytes += carried(command.kind, command.len);
                    client.habit.asks(client.inside, Instant::now());
                    self.in_vain = false;
                    let (number, hint) = (client.number, client.decoder.hint());
                    let who = Who { key, number, hint };
                    if self.clock.is_real() {
                        self.catch_up();
                    }
                    self.core.begin(who, command);
                    self.begin_clock();
                    self.latest = key;
                    *began = true;
                    return true;
                }
            }
        }
        false
    }

    /// The wall clock begins with the first request: at zero, as in a run of the recording.
    fn begin_clock(&mut self) {
        let wall = Instant::now();
        if self.clock.is_real() && self.clock.now(wall).is_none() && self.core.has_begun() {
            self.clock.set(wall, self.core.now());
        }
    }

    // ── Time ────────────────────────────────────────────────────────────────────────────────────

    /// Lets simulated time pass up to the wall clock.
    fn catch_up(&mut self) {
        let Some(until) = self.clock.now(Instant::now()) else { return };
        while self.core.now() < until {
            match self.core.advance(Some(until)) {
                Turn::Reached | Turn::Idle | Turn::WornOut => return,
                Turn::Done => {}
            }
        }
    }

    /// Lets simulated time pass until something is done.
    fn advance_once(&mut self) {
        while self.core.is_busy() && self.core.finished.is_empty() {
            let turn = self.core.advance(None);
            assert!(
                turn != Turn::Idle || !self.core.is_busy() || !self.core.finished.is_empty(),
                "commands are inside the drive, and nothing happens any more"
            );
        }
    }

    // ── Answers ─────────────────────────────────────────────────────────────────────────────────

    fn deliver(&mut self) {
        if self.core.finished.is_empty() {
            return;
        }
        let (mut to_send, now) = (Vec::new(), Instant::now());
        while let Some(finished) = self.core.finished.pop_front() {
            if let Some(key) = self.answer(&finished, now)
                && to_send.last() != Some(&key)
            {
                to_send.push(key);
            }
        }
        for key in to_send {
            if let Some(client) = self.clients.get_mut(key) {
                client.send();
            }
        }
    }

    fn answer(&mut self, finished: &Finished, now: Instant) -> Option<usize> {
        let Finished { who, command, outcome, at } = finished;
        let client = self.clients.get_mut(who.key).filter(|c| c.number == who.number)?;
        client.inside -= 1;
        client.bytes -= carried(command.kind, command.len);
        client.habit.is_answered(now);
        if client.broken {
            return None;
        }
        let as_read = matches!(command.kind, CommandKind::Read | CommandKind::Status { .. });
        let (core, out) = (&self.core, &mut client.out);
        let cookie = command.cookie;
        let failed = match (outcome, command.kind) {
            (Err(errno), _) => Some(*errno),
            (Ok(()), CommandKind::Read) => {
                let fill = |into: &mut [u8]| core.versions.read(command.offset, into);
                client.decoder.put_data(out, command, fill).err().map(|_| Errno::Io)
            }
            (Ok(()), CommandKind::Status { one }) => {
                let most = if one { 1 } else { 256 };
                let ranges = core.versions.status(command.offset, command.len, most);
                Decoder::put_status(out, cookie, &ranges);
                None
            }
            (Ok(()), _) => {
                Decoder::put_done(out, cookie);
                None
            }
        };
        if let Some(errno) = failed {
            client.decoder.put_error(&mut client.out, cookie, as_read, errno);
        }
        if let Some((done, arrived)) = *at
            && let Some(due) = self.clock.wall_of(done)
        {
            let behind = Instant::now().saturating_duration_since(due);
            let latency = self.clock.wall(done - arrived);
            let punctual = &mut self.punctual;
            punctual.answers += 1;
            punctual.late += u64::from(behind.as_secs_f64() > LATE * latency.as_secs_f64());
            punctual.sum += behind;
            punctual.most = punctual.most.max(behind);
        }
        Some(who.key)
    }

    /// Drops clients that have finished, and those whose handshake takes too long.
    fn part(&mut self) {
        if self.clients.is_empty() && self.lines.is_empty() {
            return;
        }
        let now = Instant::now();
        self.clients.retain(|_, client| {
            let overdue = client.deadline.is_some_and(|deadline| now > deadline);
            !overdue && !client.is_over()
        });
        self.lines.retain(|_, line| !line.is_over());
    }

    // ── Control ─────────────────────────────────────────────────────────────────────────────────

    fn hear_line(&mut self, key: usize) {
        self.lines[key].send();
        for _ in 0..LINES {
            // A client that takes no answers is not read from, so that these are bounded too.
            if self.lines[key].unsent() {
                return;
            }
            let Some(asked) = self.lines[key].hear() else { return };
            let answer = match control::ControlRequest::read(&asked) {
                Ok(request) => self.carry_out(request),
                Err(what) => json!({ "schema": control::SCHEMA, "error": what }),
            };
            self.lines[key].say(&answer);
            self.lines[key].send();
        }
    }

    fn carry_out(&mut self, request: control::ControlRequest) -> Value {
        if self.clock.is_real() {
            self.catch_up();
        }
        match request {
            control::ControlRequest::Status => {
                let mut status = control::status(&self.core, self.started.elapsed());
                status["clients"] = self.clients.len().into();
                status
            }
            control::ControlRequest::Smart => control::smart(&self.core),
            control::ControlRequest::Fault { offset, bytes } => {
                self.core.faults.push(offset..offset.saturating_add(bytes));
                self.core.note(&format!("fault {offset} {bytes}"));
                json!({ "schema": control::SCHEMA, "faults": self.core.faults.len() })
            }
            control::ControlRequest::Heal => {
                self.core.faults.clear();
                self.core.note("heal");
                json!({ "schema": control::SCHEMA, "faults": 0 })
            }
            control::ControlRequest::PowerCut => {
                self.clients.clear();
                self.core.cut_power();
                if self.clock.is_real() {
                    self.clock.set(Instant::now(), self.core.now());
                }
                json!({ "schema": control::SCHEMA, "power_cuts": self.core.health.power_cuts })
            }
        }
    }

    // ── The end ─────────────────────────────────────────────────────────────────────────────────

    fn end(mut self) -> Result<(ssd::Report, Value), ServeError> {
        for (_, client) in &mut self.clients {
            client.refuse_the_rest(&self.export);
        }
        while self.core.is_busy() && !self.core.is_worn_out() {
            self.core.advance(None);
        }
        self.deliver();
        let farewell = Instant::now() + FAREWELL;
        while self.clients.iter().any(|(_, c)| !c.broken && c.unsent() > 0) {
            if Instant::now() > farewell {
                break;
            }
            self.listen()?;
            self.clients.iter_mut().for_each(|(_, client)| client.send());
        }
        let lost = self.core.shut_down().err();
        let Punctuality { answers, late, sum, most } = self.punctual;
        let real = self.clock.is_real();
        let per = |n: f64| if answers == 0 { Value::Null } else { json!(n / answers as f64) };
        let power_cuts = self.core.health.power_cuts;
        let (report, unrecorded) = self.core.report();
        let live = json!({
            "late_share": if real { per(late as f64) } else { Value::Null },
            "late_mean_ns": if real { per(sum.as_nanos() as f64) } else { Value::Null },
            "late_max_ns": if real { json!(most.as_nanos() as u64) } else { Value::Null },
            "expired_waits": if real { Value::Null } else { json!(self.expired) },
            "connections": self.number,
            "power_cuts": power_cuts,
            "recording_error": unrecorded.map(|e| e.to_string()),
            "store_error": lost.map(|e| e.to_string()),
        });
        Ok((report, live))
    }
}

/// The bytes of data that a command moves, or keeps in memory; at least a few thousand, so that their
/// number is bounded too.
fn carried(kind: CommandKind, len: u32) -> u64 {
    let bytes = match kind {
        CommandKind::Read | CommandKind::Write => len.into(),
        CommandKind::Zero { no_hole: true } => u64::from(len).min(MOST_BYTES),
        _ => 0,
    };
    bytes.max(LEAST_BYTES)
}
