//! The write buffer: pages that the host has written and that flash does not hold yet.
//!
//! A page that the host writes gets a *place*. Its data *arrive* there over the port, and from then
//! on it may be *sent* to flash. It keeps its place until its program is done. A page that was not
//! sent may be overwritten in place, and the old version then never reaches flash. The least
//! recently written page is sent first. Some pages are awaited, by a flush or by a write that is
//! done only when it is safe. Such a page is sent as soon as it has arrived, and takes no more
//! writes: the next one gets a place of its own. Once the host has no more requests, everything is
//! sent. So a run ends with all its writes in flash.

use super::port::Port;
use crate::config::{self, BufferKind};
use crate::ops::Spent;
use ftl::{HostTag, Lpn};
use kernel::Bytes;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The end of the list of unsent pages, or of the free places.
const END: u32 = u32::MAX;

/// The 128ths of a page that a write covers: sectors of 512 bytes in up to 64 KiB.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct PageParts(u128);

impl PageParts {
    pub(crate) const ALL: Self = Self(u128::MAX);

    /// The parts of a page of `size` bytes that lie wholly within a range of it: those that a write
    /// provides.
    pub(crate) fn within(from: u64, to: u64, size: u64) -> Self {
        Self::range((from * 128).div_ceil(size), to * 128 / size)
    }

    /// The parts that a range touches: those that a read needs.
    pub(crate) fn touched(from: u64, to: u64, size: u64) -> Self {
        Self::range(from * 128 / size, (to * 128).div_ceil(size))
    }

    fn range(first: u64, end: u64) -> Self {
        let below = |n: u64| if n >= 128 { u128::MAX } else { (1 << n) - 1 };
        Self(below(end) & !below(first))
    }
}

/// A page to be written to flash.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Flush {
    /// Its place in the buffer.
    pub(crate) place: u32,
    pub(crate) lpn: Lpn,
    pub(crate) host: HostTag,
    /// Some of the page's old content is needed.
    pub(crate) partial: bool,
}

/// The counts, in pages.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct BufferCounts {
    /// Places.
    pub places: u32,
    /// Writes over a page that was still unsent.
    pub absorbed: u64,
    /// Reads answered from the buffer.
    pub read_hits: u64,
    /// Pages sent to flash.
    pub flushed: u64,
    /// Places taken at most.
    pub most: u32,
    /// Places taken in the end: none, unless the drive's life ended.
    pub left: u32,
}

/// How far a page is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    /// The data of this number of writes still come over the port.
    Arriving(u32),
    /// It may be sent.
    Unsent,
    /// It is on its way to flash.
    Sent,
}

#[derive(Copy, Clone, Debug)]
struct Entry {
    lpn: Lpn,
    parts: PageParts,
    host: HostTag,
    state: State,
    /// The host trimmed it before it was sent.
    dropped: bool,
    /// It is to be sent as soon as it has arrived.
    awaited: bool,
    /// The write that is done when it is safe.
    answers: Option<u32>,
    /// The epoch of writes that it belongs to (see [`Barrier`](super::Barrier)).
    epoch: u32,
    /// The token of its last write.
    token: u32,
    before: u32,
    after: u32,
}

/// A write of the host to a page.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Data {
    pub(crate) parts: PageParts,
    pub(crate) bytes: Bytes,
}

/// A write that needs a place.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Write {
    pub(crate) lpn: Lpn,
    pub(crate) parts: PageParts,
    pub(crate) host: HostTag,
    /// The epoch of writes that it belongs to.
    pub(crate) epoch: u32,
    /// It is done only when it survives a loss of power.
    pub(crate) forced: bool,
    /// The token with which it was submitted.
    pub(crate) token: u32,
}

/// The place of a write.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    pub(crate) place: u32,
    /// The page was not in the buffer, or could not be overwritten there.
    pub(crate) new: bool,
}

/// The next state of a page whose data have arrived.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Arrived {
    /// It stays, or more of its data comes.
    Stays,
    /// It is to be sent now.
    Sends(Flush),
    /// The host has trimmed it. It was of this epoch, and its place is free.
    Dropped(u32),
}

/// A page that flash holds now.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Flushed {
    /// The host trimmed the page meanwhile.
    pub(crate) dead: bool,
    /// The write that is done with it.
    pub(crate) answers: Option<u32>,
    pub(crate) epoch: u32,
    /// The token of its last write.
    pub(crate) token: u32,
}

/// The buffer.
pub(crate) struct Buffer {
    entries: Vec<Entry>,
    /// The latest place of each page.
    places: FxHashMap<Lpn, u32>,
    /// The wait of the write that took each place. The list is as long as the highest such place.
    lines: Vec<Spent>,
    capacity: u32,
    /// Unsent pages that may stay.
    keep: u32,
    free: u32,
    taken: u32,
    unsent: u32,
    arriving: u32,
    oldest: u32,
    newest: u32,
    /// Pages that the host trimmed while copies of them were on their way.
    dead: FxHashSet<Lpn>,
    /// Places of pages whose data still come, though the page has a later place or none.
    passed: BTreeSet<(Lpn, u32)>,
    /// Writes whose data have arrived and that are done when flash has them.
    unanswered: u32,
    write_through: bool,
    /// Its pages do not survive a loss of power.
    volatile: bool,
    pub(crate) port: Port,
    counts: BufferCounts,
}

impl Buffer {
    /// The buffer of a drive with pages of this size; `None` if it is smaller than a page.
    pub(crate) fn new(settings: &config::BufferSettings, page: Bytes) -> Option<Self> {
        let size = settings.size.map_or(0, Bytes::get);
        let capacity = (size / page.get()) as u32;
        let there = capacity > 0 && settings.kind != BufferKind::None;
        there.then(|| Self {
            entries: Vec::with_capacity(capacity as usize),
            places: FxHashMap::with_capacity_and_hasher(capacity as usize, FxBuildHasher),
            lines: Vec::new(),
            capacity,
            keep: (f64::from(capacity) * settings.flush_above) as u32,
            free: END,
            taken: 0,
            unsent: 0,
            arriving: 0,
            oldest: END,
            newest: END,
            dead: FxHashSet::default(),
            passed: BTreeSet::new(),
            unanswered: 0,
            write_through: settings.kind == BufferKind::WriteThrough,
            volatile: !settings.power_loss_protected,
            port: Port::new(settings),
            counts: BufferCounts { places: capacity, ..BufferCounts::default() },
        })
    }

    /// Whether its data is lost with the power.
    pub(crate) fn is_volatile(&self) -> bool {
        self.volatile
    }

    /// Whether a write may be done before flash has its page.
    pub(crate) fn answers_early(&self) -> bool {
        !(self.write_through && self.volatile)
    }

    /// Whether a flush or a write waits for a page to be in flash.
    pub(crate) fn is_awaited(&self, place: u32) -> bool {
        self.entries[place as usize].awaited
    }

    /// Pages on their way to flash.
    pub(crate) fn sent(&self) -> u32 {
        self.taken - self.unsent - self.arriving
    }

    /// Whether all that it holds is on its way to flash.
    pub(crate) fn sends_all(&self) -> bool {
        self.unsent == 0 && self.arriving == 0
    }

    /// Takes a page that the host writes, if there is space. `came_before`: writes wait for it.
    pub(crate) fn write(&mut self, write: Write, came_before: bool) -> Option<Placed> {
        let Write { lpn, parts, host, forced, epoch, token } = write;
        let awaited = self.volatile && (forced || self.write_through);
        let mut passed = None;
        if let Some(&place) = self.places.get(&lpn) {
            let entry = &mut self.entries[place as usize];
            let takes_more = !entry.awaited && (entry.epoch == epoch || !self.volatile);
            if takes_more && entry.state != State::Sent {
                entry.parts.0 |= parts.0;
                entry.host = HostTag { prio: entry.host.prio.max(host.prio), ..host };
                entry.awaited = awaited;
                entry.token = token;
                self.counts.absorbed += 1;
                if let State::Arriving(writes) = &mut entry.state {
                    *writes += 1;
                } else {
                    self.unlink(place);
                    self.entries[place as usize].state = State::Arriving(1);
                    self.arriving += 1;
                }
                return Some(Placed { place, new: false });
            }
            passed = matches!(entry.state, State::Arriving(_)).then_some(place);
        }
        if came_before || self.taken == self.capacity {
            return None;
        }
        // A page that is written again is no longer trimmed: older copies get their slots before
        // this one.
        if !self.dead.is_empty() {
            self.dead.remove(&lpn);
        }
        self.passed.extend(passed.map(|place| (lpn, place)));
        let entry = Entry {
            lpn,
            parts,
            host,
            state: State::Arriving(1),
            dropped: false,
            awaited,
            answers: None,
            epoch,
            token,
            before: END,
            after: END,
        };
        let place = self.free;
        if place == END {
            self.entries.push(entry);
        } else {
            self.free = self.entries[place as usize].after;
            self.entries[place as usize] = entry;
        }
        let place = if place == END { self.entries.len() as u32 - 1 } else { place };
        if let Some(line) = self.lines.get_mut(place as usize) {
            *line = Spent::default();
        }
        self.places.insert(lpn, place);
        self.arriving += 1;
        self.taken += 1;
        self.counts.most = self.counts.most.max(self.taken);
        Some(Placed { place, new: true })
    }

    /// The data of a write have arrived at its place; new data is written in `epoch`. Returns first
    /// whether the write, `op`, is done with that.
    pub(crate) fn arrived(&mut self, place: u32, op: u32, epoch: u32) -> (bool, Arrived) {
        let volatile = self.volatile;
        let entry = &mut self.entries[place as usize];
        let State::Arriving(writes) = &mut entry.state else { unreachable!("it was arriving") };
        *writes -= 1;
        if *writes > 0 {
            // The last write of a page waits for its program.
            return (true, Arrived::Stays);
        }
        self.arriving -= 1;
        if !self.passed.is_empty() {
            self.passed.remove(&(entry.lpn, place));
        }
        if entry.dropped {
            let of = entry.epoch;
            self.give_back(place);
            return (true, Arrived::Dropped(of));
        }
        if entry.awaited {
            entry.answers = Some(op);
            self.unanswered += 1;
            return (false, Arrived::Sends(self.send(place)));
        }
        if volatile && entry.epoch != epoch {
            return (true, Arrived::Sends(self.send(place)));
        }
        self.link(place);
        (true, Arrived::Stays)
    }

    /// Whether the buffer can answer a read of these parts of a page.
    pub(crate) fn read(&mut self, lpn: Lpn, parts: PageParts) -> bool {
        let place = self.places.get(&lpn);
        let hit = place.is_some_and(|&p| parts.0 & !self.entries[p as usize].parts.0 == 0);
        self.counts.read_hits += u64::from(hit);
        hit
    }

    /// The host trimmed a page: data of it that was not sent never will be. Returns the epoch of a
    /// page that left.
    pub(crate) fn trim(&mut self, lpn: Lpn) -> Option<u32> {
        let place = self.places.remove(&lpn)?;
        // Also earlier copies that take no more writes.
        while let Some(&(_, before)) = self.passed.range((lpn, 0)..=(lpn, END)).next() {
            self.passed.remove(&(lpn, before));
            self.entries[before as usize].dropped = true;
        }
        let entry = &mut self.entries[place as usize];
        entry.dropped = matches!(entry.state, State::Arriving(_));
        let entry = *entry;
        (entry.state == State::Unsent).then(|| {
            self.unlink(place);
            self.give_back(place);
            entry.epoch
        })
    }

    /// The host trimmed a page of which a sent copy has no slot yet. When the copy gets its slot,
    /// the page must be trimmed again.
    #[cold]
    pub(crate) fn bury(&mut self, lpn: Lpn) {
        self.dead.insert(lpn);
    }

    /// The next page to be sent, while `waiting` writes wait for space.
    pub(crate) fn next_flush(&mut self, waiting: usize) -> Option<Flush> {
        if self.unsent <= self.keep && self.sent() as usize >= waiting {
            return None;
        }
        self.next_unsent()
    }

    /// The least recently written page that was not sent, to be sent now.
    pub(crate) fn next_unsent(&mut self) -> Option<Flush> {
        let place = (self.oldest != END).then_some(self.oldest)?;
        self.unlink(place);
        Some(self.send(place))
    }

    fn send(&mut self, place: u32) -> Flush {
        let entry = &mut self.entries[place as usize];
        entry.state = State::Sent;
        self.counts.flushed += 1;
        let partial = entry.parts != PageParts::ALL;
        Flush { place, lpn: entry.lpn, host: entry.host, partial }
    }

    /// A page has reached flash.
    pub(crate) fn flushed(&mut self, place: u32) -> Flushed {
        let Entry { lpn, answers, epoch, token, .. } = self.entries[place as usize];
        if self.places.get(&lpn) == Some(&place) {
            self.places.remove(&lpn);
        }
        self.give_back(place);
        self.unanswered -= u32::from(answers.is_some());
        let dead = !self.dead.is_empty() && self.dead.contains(&lpn);
        Flushed { dead, answers, epoch, token }
    }

    /// From now on every page is sent.
    pub(crate) fn keep_nothing(&mut self) {
        self.keep = 0;
    }

    /// The wait of the write that took a place.
    pub(crate) fn line(&self, place: u32) -> Spent {
        self.lines.get(place as usize).copied().unwrap_or_default()
    }

    /// Notes the wait of the write that took a place.
    pub(crate) fn set_line(&mut self, place: u32, line: Spent) {
        let at = place as usize;
        if self.lines.len() <= at {
            self.lines.resize(at + 1, Spent::default());
        }
        self.lines[at] = line;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken == 0
    }

    /// Writes whose only wait is for their data to be in flash.
    pub(crate) fn unanswered(&self) -> usize {
        self.unanswered as usize
    }

    pub(crate) fn counts(&self) -> BufferCounts {
        BufferCounts { left: self.taken, ..self.counts }
    }

    fn give_back(&mut self, place: u32) {
        self.entries[place as usize].after = self.free;
        self.entries[place as usize].state = State::Unsent;
        self.free = place;
        self.taken -= 1;
    }

    /// Makes an unsent page the most recent.
    fn link(&mut self, place: u32) {
        let entry = &mut self.entries[place as usize];
        entry.state = State::Unsent;
        (entry.before, entry.after) = (self.newest, END);
        match self.newest {
            END => self.oldest = place,
            newest => self.entries[newest as usize].after = place,
        }
        self.newest = place;
        self.unsent += 1;
    }

    fn unlink(&mut self, place: u32) {
        let Entry { before, after, .. } = self.entries[place as usize];
        match before {
            END => self.oldest = after,
            before => self.entries[before as usize].after = after,
        }
        match after {
            END => self.newest = before,
            after => self.entries[after as usize].before = before,
        }
        self.unsent -= 1;
    }
}
