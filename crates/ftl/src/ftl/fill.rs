//! Filling and ageing: pages are written at once, without time. If one command programs several
//! pages, the written ones wait for others.

use crate::{Ftl, HostTag, Interests, Lpn, Placement, PolicyTypes, StreamId};
use kernel::{IndexVec, Time};
use nand::{PlaneId, Source, Store, Tag};

type Page<K> = <<K as PolicyTypes>::Store as Store>::Page;

/// Pages with a plane and without a slot yet.
struct Later {
    /// Of each plane.
    pages: IndexVec<PlaneId, Vec<Lpn>>,
    /// The number of further pages that may wait for each plane, if known.
    room: IndexVec<PlaneId, Option<u32>>,
    /// Planes for which some wait.
    planes: Vec<PlaneId>,
    waiting: usize,
}

impl Later {
    /// The most pages that wait. Their facts fit a cache.
    const MOST: usize = 1 << 16;

    fn new(planes: usize) -> Self {
        Self {
            pages: IndexVec::filled(Vec::new(), planes),
            room: IndexVec::filled(None, planes),
            planes: Vec::new(),
            waiting: 0,
        }
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// Gives a page its slot in a plane that the placement policy chooses, regardless of load, and
    /// programs it at once. Returns `false` if there is no space.
    #[inline(always)] // every page that is aged comes by
    pub fn write_now(&mut self, lpn: Lpn, data: Page<K>, now: Time) -> bool {
        self.write_tagged_now(lpn, HostTag::default(), data, now)
    }

    /// The same for a page of a request.
    #[inline(always)] // as `write_now`
    pub fn write_tagged_now(&mut self, lpn: Lpn, host: HostTag, data: Page<K>, now: Time) -> bool {
        debug_assert!(K::Store::is_of(data, lpn.as_u32()), "data of another page");
        self.jobs.side_by_side = false;
        let written = if self.space.unit() > 1 {
            self.buffer_page(lpn, host, data, now)
        } else {
            let home = self.spread(lpn);
            self.write_home(home, lpn, host, data, now)
        };
        self.jobs.side_by_side = true;
        written
    }

    /// The plane of a page before the run, or its set of planes.
    #[inline]
    pub(crate) fn spread(&mut self, lpn: Lpn) -> PlaneId {
        let plane = self.policies.placement.spread(lpn);
        self.space.geometry.superblocks().set_of(plane)
    }

    #[inline]
    fn write_home(
        &mut self,
        home: PlaneId,
        lpn: Lpn,
        host: HostTag,
        data: Page<K>,
        now: Time,
    ) -> bool {
        let tag = Tag::of(Source::Host);
        let (_, stream) = self.host_stream(lpn, host, now);
        for plane in self.planes_from(home) {
            if let Some((ppn, block, slot)) = self.allocate(plane, stream, lpn, tag, now) {
                if self.answers.notes_writes {
                    self.note_write(block, slot, [(lpn, host)].into_iter(), now);
                }
                self.bind_host(lpn, ppn, block, slot, now);
                self.program_done(lpn, ppn, data, tag, now);
                if self.space.striped {
                    self.settle_parity(now);
                }
                if self.has_ready() {
                    self.settle(now);
                }
                return true;
            }
        }
        false
    }

    /// Writes different pages that hold nothing yet. The result is that of [`Ftl::write_now`] for
    /// one after the other. Returns the page for which there is no space as `Err`.
    ///
    /// Planes take turns, so neighbouring pages lie far apart. Pages that neither open nor close a
    /// block change only their own slots, so they may be written in any order. The pages of a plane
    /// are written one after the other, because their memory is near.
    pub fn write_all_now(
        &mut self,
        pages: impl Iterator<Item = Lpn>,
        data: impl Fn(Lpn) -> Page<K>,
        now: Time,
    ) -> Result<(), Lpn> {
        let alone = self.space.unit() == 1
            && self.space.plain
            && !self.space.striped
            && self.answers.in_order
            && !self.answers.separation.asks_host
            && !self.answers.notes_writes
            && !self.answers.interests.has(Interests::PROGRAM);
        let mut later = Later::new(if alone { self.space.geometry.planes() } else { 0 });
        for lpn in pages {
            if !alone {
                if !self.write_now(lpn, data(lpn), now) {
                    return Err(lpn);
                }
                continue;
            }
            debug_assert!(self.find(lpn).is_none(), "page {lpn} holds something");
            let home = self.spread(lpn);
            let room = later.room[home].unwrap_or_else(|| self.room_within_block(home));
            if room > 0 {
                later.room[home] = Some(room - 1);
                let pages = &mut later.pages[home];
                if pages.is_empty() {
                    later.planes.push(home);
                }
                pages.push(lpn);
                later.waiting += 1;
                if later.waiting == Later::MOST {
                    self.write_later(&mut later, &data);
                }
                continue;
            }
            self.write_later(&mut later, &data);
            if !self.write_home(home, lpn, HostTag::default(), data(lpn), now) {
                return Err(lpn);
            }
            later.room.as_mut_slice().fill(None);
        }
        self.write_later(&mut later, &data);
        Ok(())
    }

    /// How many pages of the host a plane takes without opening or closing a block.
    fn room_within_block(&self, plane: PlaneId) -> u32 {
        let open = self.space.frontier(plane, StreamId::HOST, Tag::of(Source::Host));
        open.map_or(0, |b| self.space.geometry.pages_per_block() - self.space.blocks.written(b) - 1)
    }

    fn write_later(&mut self, later: &mut Later, data: &impl Fn(Lpn) -> Page<K>) {
        later.waiting = 0;
        for plane in later.planes.drain(..) {
            let open = self.space.frontier(plane, StreamId::HOST, Tag::of(Source::Host));
            let block = open.expect("pages wait for a plane with an open block");
            let pages = &mut later.pages[plane];
            let slot = self.space.blocks.written(block);
            for (slot, lpn) in (slot..).zip(pages.iter().copied()) {
                self.map.bind(lpn, self.space.geometry.ppn(block, slot), block, slot);
            }
            let data = pages.iter().map(|lpn| data(*lpn));
            self.space.program_next(block, data, Source::Host);
            self.host_pages += pages.len() as u64;
            pages.clear();
        }
    }

    // ── Several pages by one command ────────────────────────────────────────────────────────────

    /// Takes a page into its buffer. Returns `false` if the buffer is full and flash has no space
    /// for it.
    fn buffer_page(&mut self, lpn: Lpn, host: HostTag, data: Page<K>, now: Time) -> bool {
        let (home, unit) = (self.program_buffer_of(lpn), self.space.unit());
        let at = home + self.program_buffers() * self.host_stream(lpn, host, now).0;
        if self.answers.separation.hosts > 1 && !self.buffered[at].has(lpn) {
            self.forget_buffered(lpn);
        }
        let known = self.buffered[at].write(lpn, data);
        let flushed =
            known.is_some() || !self.buffered[at].fills(unit) || self.flush_buffered(at, now);
        if !flushed {
            self.buffered[at].remove(lpn);
        }
        flushed
    }

    /// Forgets a page that was trimmed. Returns whether it was there.
    pub(crate) fn forget_buffered(&mut self, lpn: Lpn) -> bool {
        let (home, apart) = (self.program_buffer_of(lpn), self.program_buffers());
        let mut all = self.buffered.iter_mut().skip(home).step_by(apart);
        all.any(|buffer| buffer.remove(lpn).is_some())
    }

    /// Programs the pages that wait when filling or ageing ends. Missing pages are padding.
    ///
    /// # Panics
    ///
    /// If there is no room.
    pub fn flush_buffered_pages(&mut self, now: Time) {
        for at in 0..self.buffered.len() {
            self.jobs.side_by_side = false;
            let flushed = self.flush_buffered(at, now);
            self.jobs.side_by_side = true;
            assert!(flushed, "a legal drive has room for what was written before the run");
        }
    }

    fn flush_buffered(&mut self, at: usize, now: Time) -> bool {
        let mut buffer = std::mem::take(&mut self.buffered[at]);
        // Their old slots lie anywhere, so one after the other each would miss the caches.
        buffer.pages().for_each(|lpn| self.map.prefetch_slot(lpn, &self.space.geometry));
        let tag = Tag::of(Source::Host);
        let stream = self.space.demands.hosts[at / self.program_buffers()];
        let given = buffer.pages().next().map(|first| {
            let home = self.spread(first);
            let mut planes = self.planes_from(home);
            planes.find_map(|plane| self.allocate(plane, stream, first, tag, now))
        });
        if let Some(Some((first, block, slot))) = given {
            if self.answers.notes_writes {
                let pages = buffer.pages().map(|lpn| (lpn, HostTag::default()));
                self.note_write(block, slot, pages, now);
            }
            self.bind_unit(buffer.pages(), block, slot, now);
            self.unit_done(first, buffer.take(self.space.unit()), tag, now);
            self.settle_parity(now);
            if self.has_ready() {
                self.settle(now);
            }
        }
        let flushed = buffer.is_empty();
        self.buffered[at] = buffer;
        flushed
    }
}
