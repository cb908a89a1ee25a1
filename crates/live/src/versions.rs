//! Data that the host has written and the drive may still lose. By page, each write waits here in order until
//! the drive says that it survives; then it goes to the store. Reads see the newest of all.
//!
//! After a power cut the store has, of each sector, a version that was safe. The waiting data are gone.

use crate::store::ByteStore;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// One write, or a trim, after which a range reads as zero.
#[derive(Debug)]
struct Newer {
    /// Its place among all commands.
    serial: u64,
    /// First byte in the page.
    from: u32,
    to: u32,
    /// Nothing: zeroes.
    data: Option<Box<[u8]>>,
}

/// The data of a drive: those that are safe in a store, and newer ones in memory.
pub struct DriveData {
    store: Box<dyn ByteStore>,
    page: u64,
    newer: FxHashMap<u32, VecDeque<Newer>>,
    /// Bytes that wait.
    waiting: u64,
    /// Pages whose safe data the store would not take, and the last command of that data.
    owed: FxHashMap<u32, u64>,
    /// Whether the store has changed since it was last synchronised.
    unsynced: bool,
    /// Whether synchronising failed. It is then unknown which of the changes the store has.
    broken: bool,
}

/// The pages of a range: number, first byte and end in the page, and where it lies in the range.
fn pages(page: u64, offset: u64, len: u64) -> impl Iterator<Item = (u32, u32, u32, usize)> {
    let end = offset + len;
    (offset / page..end.div_ceil(page)).map(move |n| {
        let (from, to) = (offset.max(n * page), end.min((n + 1) * page));
        (n as u32, (from - n * page) as u32, (to - n * page) as u32, (from - offset) as usize)
    })
}

impl DriveData {
    /// The data of a drive with pages of this size.
    pub fn new(store: Box<dyn ByteStore>, page: u64) -> Self {
        let (newer, owed) = (FxHashMap::default(), FxHashMap::default());
        Self { store, page, newer, waiting: 0, owed, unsynced: false, broken: false }
    }

    /// Bytes that wait to be safe.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// A write, the `serial`th command.
    pub fn write(&mut self, serial: u64, offset: u64, data: &[u8]) {
        for (page, from, to, at) in pages(self.page, offset, data.len() as u64) {
            let data = data[at..at + (to - from) as usize].into();
            self.waiting += u64::from(to - from);
            self.add(page, Newer { serial, from, to, data: Some(data) });
        }
    }

    /// A write of zeroes.
    pub fn zero(&mut self, serial: u64, offset: u64, len: u64) {
        for (page, from, to, _) in pages(self.page, offset, len) {
            self.add(page, Newer { serial, from, to, data: None });
        }
    }

    /// The drive has given a range up, by the `serial`th command. Data of whole pages is gone at
    /// once, as the map survives. A part of a page goes with the next safe data of the page.
    pub fn trim(&mut self, serial: u64, offset: u64, len: u64) -> io::Result<()> {
        let end = offset + len;
        let (first, last) = (offset.next_multiple_of(self.page), end / self.page * self.page);
        if first >= last {
            self.zero(serial, offset, len);
            return Ok(());
        }
        self.forget(first, last - first, |newer| newer.serial <= serial);
        self.unsynced = true;
        let result = self.store.zero(first, last - first);
        if first > offset {
            self.zero(serial, offset, first - offset);
        }
        if end > last {
            self.zero(serial, last, end - last);
        }
        result
    }

    fn add(&mut self, page: u32, newer: Newer) {
        let waiting = self.newer.entry(page).or_default();
        let at = waiting.partition_point(|other| other.serial <= newer.serial);
        waiting.insert(at, newer);
    }

    /// Drops the waiting data of the pages that a range touches, where `gone` is true.
    fn forget(&mut self, offset: u64, len: u64, gone: impl Fn(&Newer) -> bool) {
        let range = (offset / self.page) as u32..(offset + len).div_ceil(self.page) as u32;
        let touched: Vec<u32> = if range.len() > self.newer.len() {
            self.newer.keys().copied().filter(|page| range.contains(page)).collect()
        } else {
            range.filter(|page| self.newer.contains_key(page)).collect()
        };
        for page in touched {
            let waiting = self.newer.get_mut(&page).expect("it was there");
            waiting.retain(|newer| {
                let goes = gone(newer);
                if goes && newer.data.is_some() {
                    self.waiting -= u64::from(newer.to - newer.from);
                }
                !goes
            });
            if waiting.is_empty() {
                self.newer.remove(&page);
            }
        }
    }

    /// The newest of all.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.store.read(offset, into)?;
        if self.newer.is_empty() {
            return Ok(());
        }
        for (page, from, to, at) in pages(self.page, offset, into.len() as u64) {
            for newer in self.newer.get(&page).into_iter().flatten() {
                let (low, high) = (newer.from.max(from), newer.to.min(to));
                if low >= high {
                    continue;
                }
                let into = &mut into[at + (low - from) as usize..at + (high - from) as usize];
                match &newer.data {
                    Some(data) => into.copy_from_slice(
                        &data[(low - newer.from) as usize..(high - newer.from) as usize],
                    ),
                    None => into.fill(0),
                }
            }
        }
        Ok(())
    }

    /// Notes that the writes of a page up to the `upto`th command are safe. Data that the store
    /// does not accept stays here, and is owed to it.
    pub fn promote(&mut self, page: u32, upto: u64) -> io::Result<()> {
        let Some(waiting) = self.newer.get_mut(&page) else { return Ok(()) };
        let mut result = Ok(());
        while let Some(first) = waiting.front().filter(|first| first.serial <= upto) {
            let offset = u64::from(page) * self.page + u64::from(first.from);
            let len = u64::from(first.to - first.from);
            self.unsynced = true;
            result = match &first.data {
                Some(data) => self.store.write(offset, data),
                None => self.store.zero(offset, len),
            };
            if result.is_err() {
                break;
            }
            self.waiting -= if first.data.is_some() { len } else { 0 };
            waiting.pop_front();
        }
        if waiting.is_empty() {
            self.newer.remove(&page);
        }
        if result.is_err() {
            let owed = self.owed.entry(page).or_default();
            *owed = upto.max(*owed);
        }
        result
    }

    /// Stores the data that the store refused before. Returns an error if it still refuses.
    pub fn settle(&mut self) -> io::Result<()> {
        while let Some((&page, &upto)) = self.owed.iter().next() {
            self.promote(page, upto)?;
            self.owed.remove(&page);
        }
        Ok(())
    }

    /// The same of all pages.
    pub fn promote_all(&mut self, upto: u64) -> io::Result<()> {
        let mut pages: Vec<u32> = self.newer.keys().copied().collect();
        pages.sort_unstable();
        pages.into_iter().try_for_each(|page| self.promote(page, upto))?;
        self.settle()
    }

    /// Takes back writes that were refused, so that they change nothing.
    pub fn take_back(&mut self, serials: Range<u64>, offset: u64, len: u64) {
        self.forget(offset, len, |newer| serials.contains(&newer.serial));
    }

    /// Unsafe data are lost.
    pub fn lose(&mut self) {
        self.newer.clear();
        self.owed.clear();
        self.waiting = 0;
    }

    /// Returns when the store is on its medium. After a failure the system may have dropped data,
    /// yet a second attempt would succeed. So it fails from then on.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("written data did not reach the disk before"));
        }
        if std::mem::take(&mut self.unsynced) {
            self.store.sync().inspect_err(|_| self.broken = true)?;
        }
        Ok(())
    }

    /// Ranges from `offset` to its end, at most `most` of them: length, and whether it holds data.
    pub fn status(&self, offset: u64, len: u32, most: usize) -> Vec<(u32, bool)> {
        let (mut at, end) = (offset, offset + u64::from(len));
        let mut ranges: Vec<(u32, bool)> = Vec::new();
        while at < end {
            let (mut n, mut holds) = self.store.extent(at, end);
            if !holds {
                // Newer data may lie in the hole: it ends there, or begins with them.
                let page = |at: u64| (at / self.page) as u32;
                let waits = |page: u32| self.newer.contains_key(&page);
                if waits(page(at)) {
                    holds = true;
                    n = (u64::from(page(at)) + 1) * self.page - at;
                } else if !self.newer.is_empty() {
                    let inside = page(at)..=page(at + n - 1);
                    let first = self.newer.keys().filter(|page| inside.contains(page)).min();
                    n = first.map_or(n, |page| u64::from(*page) * self.page - at);
                }
                n = n.min(end - at);
            }
            let full = ranges.len() == most;
            match ranges.last_mut().filter(|last| last.1 == holds) {
                Some(last) => last.0 += n as u32,
                None if full => break,
                None => ranges.push((n as u32, holds)),
            }
            at += n;
        }
        ranges
    }
}
