//! The stream of a page. This is the one place that decides it, for writes of the host and for moves alike:
//! it asks the separation policy and checks the answers.
//!
//! A drive whose policy has one stream for the host and one for moves is never asked anything. Two
//! choices of other families remain. Urgent writes have blocks of their own where the order policy
//! serves them first, and plans of policies may name streams of their own.

use crate::{
    Dest, Ftl, HostTag, Lpn, PageCtx, PolicyTypes, Separation, StreamClass, StreamId, StreamPages,
    StreamSpec,
};
use kernel::{Prio, Time};
use nand::{BlockId, Geometry, Ppn, Source, Tag};

/// The place of a stream of another family.
const NO_PLACE: u8 = u8::MAX;

/// The answers of the separation policy about its streams, asked for once.
pub(crate) struct Separated {
    /// The id of each of its streams.
    ids: Vec<StreamId>,
    /// The place in its list of each stream of the drive.
    places: Vec<u8>,
    /// How many take writes of the host.
    pub(crate) hosts: usize,
    /// It is asked about pages of the host, or told of them.
    pub(crate) asks_host: bool,
    /// Not everything that moves goes to [`StreamId::GC`].
    pub(crate) asks_moves: bool,
    pub(crate) isolates: bool,
    /// A stream takes writes of the host and moves.
    mixes: bool,
    pub(crate) follows: bool,
    /// It may protect streams from collection.
    pub(crate) protects: bool,
    /// It is asked anything, so pages are counted by stream.
    pub(crate) counts: bool,
    /// Free blocks of each plane that collection needs beside the first of its reserve.
    pub(crate) more_reserve: usize,
}

/// Free blocks of each plane that collection needs beside the first of its reserve. Pages of a victim
/// that go to several streams fill several program units in part, so they may need two blocks.
fn more_reserve(specs: &[StreamSpec], isolates: bool, geometry: &Geometry) -> usize {
    let streams = specs.iter().filter(|spec| spec.class.takes_moves()).count();
    usize::from(streams > 1 && !isolates && geometry.slots_per_program() > 1)
}

/// Slots of each plane, or set of planes, that the open blocks of a separation policy's streams keep
/// from data, beside one of the host and one of moves.
pub fn stream_slots(specs: &[StreamSpec], isolates: bool, geometry: &Geometry) -> u64 {
    let open = specs.len().saturating_sub(2) + 3 * more_reserve(specs, isolates, geometry);
    open as u64 * u64::from(geometry.data_slots_per_superblock())
}

impl Separated {
    /// Adds the streams of a policy to those of a drive. The first for the host and the first for moves
    /// alone are built in.
    pub(crate) fn add(
        policy: &impl Separation,
        streams: &mut Vec<StreamSpec>,
        geometry: &Geometry,
    ) -> Self {
        let (specs, isolates, follows) = (policy.streams(), policy.isolates(), policy.follows());
        let (mut host, mut gc) = (Some(StreamId::HOST), Some(StreamId::GC));
        let regular = streams[StreamId::HOST.index()].pick;
        let mut ids = Vec::new();
        for spec in &specs {
            let built_in = match spec.class {
                StreamClass::Host | StreamClass::Both => host.take(),
                StreamClass::Moves => gc.take(),
                StreamClass::Own => None,
            };
            let id = built_in.unwrap_or_else(|| {
                streams.push(StreamSpec { pick: regular, ..*spec });
                StreamId((streams.len() - 1) as u8)
            });
            let pick = streams[id.index()].pick;
            streams[id.index()] = StreamSpec { pick, ..*spec };
            ids.push(id);
        }
        let count =
            |takes: fn(StreamClass) -> bool| specs.iter().filter(|s| takes(s.class)).count();
        let (hosts, moves) = (count(StreamClass::takes_host), count(StreamClass::takes_moves));
        assert!(
            hosts > 0 && moves > 0,
            "the separation policy has {hosts} streams for the host and {moves} for moves"
        );
        let mut places = vec![NO_PLACE; streams.len()];
        for (place, id) in (0..).zip(&ids) {
            places[id.index()] = place;
        }
        let asks_host = hosts > 1 || follows;
        let asks_moves = moves > 1 || follows || gc.is_some();
        Self {
            hosts,
            asks_host,
            asks_moves,
            counts: asks_host || asks_moves,
            more_reserve: more_reserve(&specs, isolates, geometry),
            ids,
            places,
            isolates,
            mixes: specs.iter().any(|spec| spec.class == StreamClass::Both),
            follows,
            protects: policy.may_protect(),
        }
    }

    /// Whether the policy says where pages go that are to move there.
    pub(crate) fn sorts(&self, to: Dest) -> bool {
        match to {
            Dest::Stream(to) => {
                self.asks_moves && (self.isolates || matches!(to, StreamId::GC | StreamId::HOST))
            }
            Dest::Block(_) | Dest::Fresh(_) => false,
        }
    }

    /// The place of a stream in the policy's list.
    pub(crate) fn place_of(&self, stream: StreamId) -> Option<u8> {
        // The stream of the SLC cache comes after those that it knows.
        self.places.get(stream.index()).copied().filter(|place| *place != NO_PLACE)
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// Whether pages that move share blocks with writes of the host.
    pub fn mixes(&self) -> bool {
        self.answers.separation.mixes
    }

    /// A page as the policy sees it.
    fn page_ctx(&self, lpn: Lpn, moves: bool, tag: Tag, host: HostTag, now: Time) -> PageCtx {
        let separation = &self.answers.separation;
        let block = self.find(lpn).map(|ppn| self.space.geometry.block_of(ppn));
        let from = block.and_then(|b| separation.place_of(self.space.blocks.stream(b)));
        let (age, clock) = (self.ages.of(lpn, moves), self.ages.clock());
        let HostTag { flow, hint, .. } = host;
        PageCtx { now, lpn, moves, tag, flow, hint, from, age, clock }
    }

    fn ask_stream(&mut self, page: &PageCtx) -> StreamId {
        let place = self.policies.separation.stream(page);
        let id = self.answers.separation.ids.get(usize::from(place)).copied();
        let fits = |id: &StreamId| {
            let class = self.space.class_of(*id);
            if page.moves { class.takes_moves() } else { class.takes_host() }
        };
        id.filter(fits).unwrap_or_else(|| {
            panic!("the separation policy chose its stream {place}, which does not take {page:?}")
        })
    }

    /// The stream of a page of the host, and its number among those of the host.
    #[inline]
    pub(crate) fn host_stream(&mut self, lpn: Lpn, host: HostTag, now: Time) -> (usize, StreamId) {
        if self.is_urgent_write(host.prio) {
            return (0, StreamId::HOST_HIGH);
        }
        if self.answers.separation.asks_host {
            return self.ask_host_stream(lpn, host, now);
        }
        (0, StreamId::HOST)
    }

    #[cold]
    #[inline(never)]
    fn ask_host_stream(&mut self, lpn: Lpn, host: HostTag, now: Time) -> (usize, StreamId) {
        let tag = Tag { prio: host.prio, ..Tag::of(Source::Host) };
        let page = self.page_ctx(lpn, false, tag, host, now);
        let stream = self.ask_stream(&page);
        let at = self.space.demands.hosts.iter().position(|s| *s == stream);
        (at.expect("it takes writes of the host"), stream)
    }

    /// Whether a write goes to the blocks of urgent ones.
    #[inline]
    pub(crate) fn is_urgent_write(&self, prio: Prio) -> bool {
        self.answers.priority && prio == Prio::High
    }

    /// The destination of a page that moves to `to`. A page that is written anew where it lies goes where
    /// writes of the host go.
    #[cold]
    pub(crate) fn sorted(&mut self, lpn: Lpn, to: Dest, tag: Tag, now: Time) -> Dest {
        if !self.answers.separation.sorts(to) {
            return to;
        }
        let moves = to.stream() != StreamId::HOST;
        let page = self.page_ctx(lpn, moves, tag, HostTag::default(), now);
        Dest::Stream(self.ask_stream(&page))
    }

    /// The stream with this place in the policy's list.
    pub(crate) fn stream_at(&self, place: u8) -> StreamId {
        self.answers.separation.ids[usize::from(place)]
    }

    /// Pages of the host have slots of a block, from one on, and are about to be bound to them.
    #[cold]
    pub(crate) fn note_write(
        &mut self,
        block: BlockId,
        slot: u32,
        pages: impl Iterator<Item = (Lpn, HostTag)>,
        now: Time,
    ) {
        let (mut prio, mut count) = (Prio::Normal, 0);
        let place = self.place_of(block);
        for (lpn, host) in pages {
            count += 1;
            prio = prio.max(host.prio);
            if let Some(place) = place {
                self.by_stream[place].host += 1;
            }
            if self.answers.separation.follows {
                self.note_placed(lpn, block, host, now);
            }
        }
        if self.handles.is_some() {
            self.own_by_handle(block, slot, count);
        }
        let plane = self.space.set_of(block);
        if self.answers.garbage > 0.0 && self.space.garbage(plane) > self.answers.garbage {
            self.jobs.garbage_due.set(plane.as_u32() as usize);
            self.jobs.collect(plane, Source::Host, prio);
        }
    }

    /// The place of a block's stream in the policy's list.
    fn place_of(&self, block: BlockId) -> Option<usize> {
        let stream = self.space.blocks.stream(block);
        self.answers.separation.place_of(stream).map(usize::from)
    }

    /// A page has moved.
    #[cold]
    pub(crate) fn count_moved(&mut self, from: Ppn, to: Ppn) {
        let [from, to] = [from, to].map(|ppn| self.place_of(self.space.geometry.block_of(ppn)));
        if let Some(place) = from {
            self.by_stream[place].moved_out += 1;
        }
        if let Some(place) = to {
            self.by_stream[place].moved_in += 1;
        }
    }

    /// The streams of the separation policy with their pages since the run began. Empty if the policy
    /// is never asked, because it has one stream of the host and one of moves.
    pub fn streams(&self) -> impl Iterator<Item = (StreamSpec, StreamPages)> {
        let specs = self.policies.separation.streams();
        let counts = self.answers.separation.counts;
        specs.into_iter().zip(self.by_stream.iter().copied()).filter(move |_| counts)
    }

    /// A page of the host has a slot in a block.
    fn note_placed(&mut self, lpn: Lpn, block: BlockId, host: HostTag, now: Time) {
        let tag = Tag { prio: host.prio, ..Tag::of(Source::Host) };
        let page = self.page_ctx(lpn, false, tag, host, now);
        let place = self.answers.separation.place_of(self.space.blocks.stream(block));
        self.policies.separation.on_placed(&page, place.unwrap_or(0));
        self.ages.note(lpn);
    }

    /// A block was opened, or chosen by collection: the policy hears of it if it is of one of its
    /// streams.
    #[cold]
    pub(crate) fn note_block(&mut self, block: BlockId, opened: bool) {
        let stream = self.space.blocks.stream(block);
        let Some(place) = self.answers.separation.place_of(stream) else { return };
        let (policy, clock) = (&mut self.policies.separation, self.ages.clock());
        if opened {
            policy.on_opened(block, place, clock);
        } else {
            policy.on_collected(block, place, clock);
        }
    }
}
