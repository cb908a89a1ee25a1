//! The write buffer: pages that the host has written and that flash does not hold yet.
//!
//! A write is done for the host when all its pages are in the buffer; that takes no time of its
//! own. Pages that are still unsent may be written over in place, and then never reach flash; the
//! least recently written is sent first. A page keeps its place until its program is done. Once the
//! host has nothing more to ask, everything is sent: a run ends with what it wrote in flash.

use crate::config;
use ftl::Lpn;
use kernel::{Bytes, Prio};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The end of the list of unsent pages, or of the free places.
const END: u32 = u32::MAX;

/// Which 64ths of a page are meant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parts(u64);

impl Parts {
    pub(crate) const ALL: Self = Self(u64::MAX);

    /// The parts of a page of `size` bytes that lie wholly within a range of it: what a write gives.
    pub(crate) fn within(from: u64, to: u64, size: u64) -> Self {
        Self::range((from * 64).div_ceil(size), to * 64 / size)
    }

    /// The parts that a range touches: what a read needs.
    pub(crate) fn touched(from: u64, to: u64, size: u64) -> Self {
        Self::range(from * 64 / size, (to * 64).div_ceil(size))
    }

    fn range(first: u64, end: u64) -> Self {
        let below = |n: u64| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
        Self(below(end) & !below(first))
    }
}

/// A page to be written to flash.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Flush {
    /// Its place in the buffer.
    pub(crate) place: u32,
    pub(crate) lpn: Lpn,
    pub(crate) prio: Prio,
    /// Some of the page's old content is needed.
    pub(crate) partial: bool,
}

/// What was counted, in pages.
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

#[derive(Copy, Clone, Debug)]
struct Entry {
    lpn: Lpn,
    parts: Parts,
    prio: Prio,
    sent: bool,
    before: u32,
    after: u32,
}

/// The buffer.
pub(crate) struct Buffer {
    entries: Vec<Entry>,
    /// The latest place of each page.
    places: FxHashMap<Lpn, u32>,
    capacity: u32,
    /// Unsent pages that may stay.
    keep: u32,
    free: u32,
    taken: u32,
    unsent: u32,
    oldest: u32,
    newest: u32,
    /// Places of pages that the host gave up while they were on their way.
    dead: Vec<u32>,
    counts: BufferCounts,
}

impl Buffer {
    /// The buffer of a drive with pages of this size; none, if it has no room for one.
    pub(crate) fn new(settings: &config::Buffer, page: Bytes) -> Option<Self> {
        let capacity = (settings.size.get() / page.get()) as u32;
        (capacity > 0).then(|| Self {
            entries: Vec::with_capacity(capacity as usize),
            places: FxHashMap::with_capacity_and_hasher(capacity as usize, FxBuildHasher),
            capacity,
            keep: (f64::from(capacity) * settings.flush_above) as u32,
            free: END,
            taken: 0,
            unsent: 0,
            oldest: END,
            newest: END,
            dead: Vec::new(),
            counts: BufferCounts { places: capacity, ..BufferCounts::default() },
        })
    }

    /// Takes a page that the host writes; whether there was room. `came_before`: writes wait for it.
    pub(crate) fn write(&mut self, lpn: Lpn, parts: Parts, prio: Prio, came_before: bool) -> bool {
        if let Some(&place) = self.places.get(&lpn)
            && !self.entries[place as usize].sent
        {
            let entry = &mut self.entries[place as usize];
            entry.parts.0 |= parts.0;
            entry.prio = entry.prio.max(prio);
            self.counts.absorbed += 1;
            self.unlink(place);
            self.link(place);
            return true;
        }
        if came_before || self.taken == self.capacity {
            return false;
        }
        // What is written anew is not given up; older copies are placed before this one.
        let entries = &self.entries;
        self.dead.retain(|&place| entries[place as usize].lpn != lpn);
        let entry = Entry { lpn, parts, prio, sent: false, before: END, after: END };
        let place = self.free;
        if place == END {
            self.entries.push(entry);
        } else {
            self.free = self.entries[place as usize].after;
            self.entries[place as usize] = entry;
        }
        let place = if place == END { self.entries.len() as u32 - 1 } else { place };
        self.places.insert(lpn, place);
        self.link(place);
        self.taken += 1;
        self.counts.most = self.counts.most.max(self.taken);
        true
    }

    /// Whether the buffer can answer a read of these parts of a page.
    pub(crate) fn read(&mut self, lpn: Lpn, parts: Parts) -> bool {
        let place = self.places.get(&lpn);
        let hit = place.is_some_and(|&p| parts.0 & !self.entries[p as usize].parts.0 == 0);
        self.counts.read_hits += u64::from(hit);
        hit
    }

    /// The host gave a page up: what is unsent of it never will be.
    pub(crate) fn trim(&mut self, lpn: Lpn) {
        if let Some(place) = self.places.remove(&lpn)
            && !self.entries[place as usize].sent
        {
            self.unlink(place);
            self.give_back(place);
        }
    }

    /// The host gave a page up of which a copy was sent and has no slot yet: when it gets there,
    /// it is to be given up again.
    #[cold]
    pub(crate) fn bury(&mut self, lpn: Lpn) {
        let sent = |e: &Entry| e.sent && e.lpn == lpn;
        let places = (0..).zip(&self.entries).filter(|(_, e)| sent(e)).map(|(place, _)| place);
        self.dead.extend(places);
        self.dead.sort_unstable();
        self.dead.dedup();
    }

    /// The next page to be sent, with `waiting` writes in want of room.
    pub(crate) fn next_flush(&mut self, waiting: usize) -> Option<Flush> {
        let on_their_way = (self.taken - self.unsent) as usize;
        if self.unsent <= self.keep && on_their_way >= waiting {
            return None;
        }
        let place = (self.oldest != END).then_some(self.oldest)?;
        self.unlink(place);
        let entry = &mut self.entries[place as usize];
        entry.sent = true;
        self.counts.flushed += 1;
        let partial = entry.parts != Parts::ALL;
        Some(Flush { place, lpn: entry.lpn, prio: entry.prio, partial })
    }

    /// A page has reached flash; whether the host had given it up meanwhile.
    pub(crate) fn flushed(&mut self, place: u32) -> bool {
        let lpn = self.entries[place as usize].lpn;
        if self.places.get(&lpn) == Some(&place) {
            self.places.remove(&lpn);
        }
        self.give_back(place);
        let dead = self.dead.iter().position(|&d| d == place);
        dead.map(|at| self.dead.remove(at)).is_some()
    }

    /// From now on no page stays unsent.
    pub(crate) fn keep_nothing(&mut self) {
        self.keep = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken == 0
    }

    pub(crate) fn counts(&self) -> BufferCounts {
        BufferCounts { left: self.taken, ..self.counts }
    }

    fn give_back(&mut self, place: u32) {
        let entry = &mut self.entries[place as usize];
        (entry.sent, entry.after) = (false, self.free);
        self.free = place;
        self.taken -= 1;
    }

    /// Makes an unsent page the most recent.
    fn link(&mut self, place: u32) {
        let entry = &mut self.entries[place as usize];
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
