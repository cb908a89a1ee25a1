//! The families of policies: the question that each answers, and the facts that it is given.

use super::{Access, Watch};
use crate::{
    CacheSpec, Dest, FreePick, FtlView, Load, Lpn, Plan, PlaneView, Pool, Role, StreamId,
    StreamSpec,
};
use kernel::{Dur, Hint, Prio, Rng, Time};
use nand::physics::Recovery;
use nand::{
    BlockId, DieId, Each, Geometry, Layouts, Level, Mode, OpView, PlaneId, Ppn, Tag, Waited,
};
use std::sync::Arc;

/// The circumstances of one page program, known when it is dispatched.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WriteCtx {
    /// The simulated time.
    pub now: Time,
    /// The page.
    pub lpn: Lpn,
    /// The die that is written.
    pub die: DieId,
    /// The source of the write, and its reason.
    pub tag: Tag,
    /// For a move: the level of the copy that it is made from. `None` for host writes.
    pub stored: Option<Level>,
    /// Page operations of other requests waiting for the same die; counts end at 64.
    pub waiting_die: u32,
    /// The same for the channel.
    pub waiting_channel: u32,
    /// The same for the whole drive.
    pub waiting_device: u32,
    /// Requests of the host inside the drive besides this one's, waiting or in service.
    pub requests_inside: u32,
}

/// The costs of a drive's levels: means over the page types.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct LevelTimes {
    /// Array time of a program at each level.
    pub program: Each<Level, Dur>,
    /// Array time of a read of a page written at each level.
    pub read: Each<Level, Dur>,
}

/// The reads of each page between two writes, which a real drive cannot know in advance. For each
/// page in order, the reads before its first write, after that write, after the next, and so on;
/// counts end at 255.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Future {
    /// The index of each page's first count, and at the end the number of counts.
    pub first: Vec<u32>,
    /// The counts.
    pub reads: Vec<u8>,
}

impl Future {
    /// The reads of a page after its write number `writes`.
    pub fn reads(&self, lpn: Lpn, writes: u32) -> u8 {
        let lpn = lpn.as_u32() as usize;
        let at = self.first[lpn] + writes;
        if at < self.first[lpn + 1] { self.reads[at as usize] } else { 0 }
    }
}

/// When each copy of each page will be written over or given up: what no drive can know. For each page
/// in order, the time of its first write, of the next, and so on, in pages that the host has written
/// until then; `u32::MAX` at the end.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Deaths {
    /// The index of each page's first entry, and at the end the number of entries.
    pub first: Vec<u32>,
    /// The times.
    pub at: Vec<u32>,
}

impl Deaths {
    /// When the copy of a page ends that has been written or given up `changes` times.
    pub fn of(&self, lpn: Lpn, changes: u32) -> u32 {
        let lpn = lpn.as_u32() as usize;
        let at = self.first[lpn] + changes;
        if at < self.first[lpn + 1] { self.at[at as usize] } else { u32::MAX }
    }
}

/// The waiting operations that a cost policy looks at. Counting others would waste time.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Queues {
    /// None: the counts of [`WriteCtx`] are zero.
    None,
    /// Those that wait for the same die; the other counts are zero.
    Die,
    /// All that there are.
    All,
}

/// Family **cost**: at which level is a page programmed, and is a page worth a re-write?
pub trait Cost: Watch {
    /// The level that never changes, if there is one: then no column is kept and
    /// [`Cost::level`] is never called.
    fn constant(&self) -> Option<Level> {
        None
    }
    /// The level of data that was there before the run.
    fn initial(&self) -> Level;
    /// The level of this program. Called at dispatch, for moves too.
    fn level(&mut self, w: &WriteCtx) -> Level;
    /// The queues that the policy looks at.
    fn queues(&self) -> Queues {
        Queues::All
    }
    /// Tells the policy the costs of the levels on this drive. Called once, before anything else.
    fn learn_times(&mut self, _: &LevelTimes) {}
    /// Whether every read and every write takes the time of its cheapest level. No device can do
    /// this; the result is a bound.
    fn is_ideal(&self) -> bool {
        false
    }
    /// Whether it has to be told the future.
    fn wants_future(&self) -> bool {
        false
    }
    /// The future of the run, given before it to a policy that wants it.
    fn foresee(&mut self, _: Arc<Future>) {}
    /// A host access in order of arrival (with [`Interests::ACCESS`]); `stored` is the level of
    /// the page's current copy.
    fn follow(&mut self, _: &Access, _stored: Option<Level>) {}
    /// Asked when a die is idle: a page on it to write anew, if any. The FTL drops the answer if
    /// the page is unmapped.
    fn rewrite(&mut self, _die: DieId, _view: &FtlView<'_>) -> Option<Lpn> {
        None
    }
    /// Memory that the policy needs for each logical page.
    fn dram_bits_per_page(&self) -> u32 {
        0
    }
}

/// The facts from which a throttle plans a life.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Life {
    /// Size of all flash, in bytes. One program/erase cycle of every block programs this amount.
    pub raw_bytes: u64,
    /// A page, in bytes.
    pub page_bytes: u64,
    /// The cycles that the flash is rated for.
    pub cycles: u32,
    /// How it recovers between cycles.
    pub recovery: Recovery,
    /// Whether the host sends later requests later when the throttle delays earlier ones. If not,
    /// they arrive as they would have without a throttle.
    pub pushes_back: bool,
}

/// Family **throttle**: how long must a write wait before the FTL sees it?
pub trait Throttle: Watch {
    /// Tells the policy the facts for its plan. Called once, before anything else.
    fn learn_life(&mut self, _: &Life) {}
    /// Memory that the policy needs, in bytes.
    fn dram_bytes(&self) -> u64 {
        0
    }
    /// The earliest time at which a write of `bytes` host bytes, arrived at `now`, may enter.
    /// Asked once for each write request, in order of arrival.
    fn admit(&mut self, now: Time, bytes: u64) -> Time;
    /// Whether it ever delays anything; if not it is never asked.
    fn active(&self) -> bool;
}

/// Family **read-disturb**: which pages move, and where to, when a block nears its read limit?
#[allow(unused_variables)]
pub trait ReadDisturb: Watch {
    /// Host reads that a block of this mode endures; `None`: no limit. The FTL asks once for each
    /// mode, before the run. A read counts when it is admitted. A read of a block at its limit
    /// waits until the counter begins anew or the page has moved. So a plan of
    /// [`ReadDisturb::on_limit`] must do one or the other.
    fn limit(&self, mode: Mode) -> Option<u32> {
        None
    }
    /// Streams of its own; they get the ids from [`StreamId::BUILT_IN`] on.
    fn streams(&self) -> Vec<StreamSpec> {
        Vec::new()
    }
    /// A pool, and how many free blocks of it each plane keeps for this policy. Host writes and
    /// garbage collection take blocks of the pool last. Collection keeps as many other blocks free
    /// as it would without the policy. Wear levelling takes any block.
    fn keeps(&self) -> Option<(Pool, u32)> {
        None
    }
    /// The names in results of the roles above [`Role::REGULAR`], in order.
    fn role_names(&self) -> &'static [&'static str] {
        &[]
    }
    /// Slots of each plane that its blocks keep from data. A legal drive needs them as spare, in
    /// addition to the spare for garbage collection.
    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        0
    }
    /// Whether garbage collection leaves a block alone as long as others gain. The FTL asks only
    /// for blocks with a role of the policy's own; wear levelling leaves those alone in any case.
    fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool {
        false
    }
    /// Whether a block may be reprogrammed now. If so, the FTL reprograms it.
    fn may_reprogram(&mut self, view: &FtlView<'_>, block: BlockId) -> bool {
        true
    }
    /// A block's read counter begins anew, because of [`Step::ResetReads`].
    fn on_reset(&mut self, block: BlockId, now: Time) {}
    /// A block was reprogrammed in place.
    fn on_reprogrammed(&mut self, block: BlockId, now: Time) {}
    /// A block was erased after this number of host reads, counted from its reprogramming if there
    /// was one. `role` is the role that it had.
    fn on_erased(&mut self, block: BlockId, role: Role, reads: u32, why: Tag, now: Time) {}
    /// Memory that the policy needs, in bytes. Asked after [`Watch::attach`].
    fn dram_bytes(&self) -> u64 {
        0
    }
    /// A page of a block with a role of the policy's own is read by the host.
    fn on_read(&mut self, view: &FtlView<'_>, ppn: Ppn, now: Time, plan: &mut Plan) {}
    /// A block has reached its limit.
    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan) {}
    /// The destination of valid pages of a block that is reclaimed for another source.
    fn on_reclaim(&mut self, view: &FtlView<'_>, block: BlockId, why: Tag) -> Dest {
        Dest::MOVES
    }
}

/// The page that a write takes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pick {
    /// This slot of the open block, at or after its pointer. The slots before it are given up.
    Slot(u32),
    /// A slot of a new block. The remaining slots of the open block are given up. Allowed only if
    /// [`WritePoint::may_open`].
    NextBlock,
}

/// The next slot that a write takes if the policy makes no choice.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WritePoint {
    /// The open block.
    pub block: BlockId,
    /// Its next slot.
    pub next: u32,
    /// Whether the plane can lend another block without its reserve.
    pub may_open: bool,
    /// Whether the plane has its reserve. Without it, garbage collection needs every slot of the
    /// open block for its next moves.
    pub reserved: bool,
}

/// Family **page-choice**: which page of the open block takes this write?
#[allow(unused_variables)]
pub trait PageChoice: Watch {
    /// Whether it always takes the next slot; then it is never asked.
    fn in_order(&self) -> bool {
        false
    }
    /// How long a program of each page type takes. Called once, before anything else.
    fn learn_times(&mut self, program: &[Dur; 4]) {}
    /// Streams of its own. Asked after [`Watch::attach`].
    fn streams(&self) -> Vec<StreamSpec> {
        Vec::new()
    }
    /// The id of the first of them; the others follow.
    fn learn_streams(&mut self, first: StreamId) {}
    /// The one of them that takes only urgent writes, if there is one. Asked after
    /// [`PageChoice::learn_streams`].
    fn urgent_stream(&self) -> Option<StreamId> {
        None
    }
    /// The rule by which garbage collection opens a free block, if the policy needs one.
    fn gc_pick(&self) -> Option<FreePick> {
        None
    }
    /// Slots of each plane that its streams keep from data.
    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        0
    }
    /// The stream that takes a write meant for `to`.
    fn stream(&mut self, to: StreamId, tag: Tag) -> StreamId {
        to
    }
    /// Chooses among the slots of a block from its next on.
    fn pick(&mut self, view: &FtlView<'_>, at: &WritePoint, w: &WriteCtx) -> Pick;
}

/// The next state of a block whose data has moved away.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NextLife {
    /// It is erased and starts in this mode.
    Erase(Mode),
    /// It is written a second time as it is (a write-once-memory code's second generation).
    SecondGeneration,
}

/// Family **coding**: how do bits lie on cells, and may a block be programmed again before an
/// erase?
pub trait Coding: Watch {
    /// Whether every block is and stays plain; then it is never asked.
    fn plain(&self) -> bool {
        false
    }
    /// The layouts of the slots in the blocks of an array, for the modes that it uses.
    fn layouts(&self, geometry: &Geometry) -> Layouts {
        Layouts::of(geometry)
    }
    /// Slots of each plane that it keeps from data.
    fn spare_slots(&self, _: &Geometry) -> u64 {
        0
    }
    /// The mode of a block that was never written.
    fn first_life(&self, block: BlockId) -> Mode;
    /// The next state of this block. The FTL asks when the block closes (to rank it by the gain of
    /// an erase) and when it is reclaimed. For a second generation, pages outside the slots of
    /// [`Mode::Wom2`] stay in place.
    fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife;
}

/// Family **slc-cache**: which blocks take writes at one bit in a cell, and when are they folded?
pub trait SlcCache: Watch {
    /// Tells the policy that all dies have one of this number of the blocks of the whole drive.
    /// Called once, before anything else, for a drive that is scaled down.
    fn learn_scale(&mut self, _of: u32) {}
    /// The cache; `None`: there is none. Asked once, before the run.
    fn cache(&self, _geometry: &Geometry) -> Option<CacheSpec> {
        None
    }
}

/// Family **victim**: which block is reclaimed?
pub trait Victim: Watch {
    /// A candidate of the plane. The FTL checks it, and gives up when the plane has nothing to
    /// gain. Asked once for each block reclaimed, never for each page.
    fn choose(&mut self, plane: &PlaneView<'_>, why: Tag, rng: &mut Rng) -> Option<BlockId>;
}

/// A page that is about to be written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PageCtx {
    /// The simulated time; zero before the run.
    pub now: Time,
    /// The page.
    pub lpn: Lpn,
    /// Whether it moves. If not, a stream that takes writes of the host is asked for.
    pub moves: bool,
    /// The source of the write, its reason, and its priority.
    pub tag: Tag,
    /// The flow of a host write; 0 where there are none, and for moves.
    pub flow: u8,
    /// The hint of a host write; 0: none, and for moves.
    pub hint: Hint,
    /// The stream in which its copy lies, by its place in the policy's list. `None`: the page has no
    /// copy, or another family chose the stream.
    pub from: Option<u8>,
    /// Host pages written since the host wrote this page last. `None`: that is not known, or the policy does
    /// not ask for ages.
    pub age: Option<u32>,
    /// Host pages written, if the policy asks for ages.
    pub clock: u32,
}

/// The placement handles of a drive, and the way in which it collects their data.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HandleSpec {
    /// Their number, at least 1. Handle 0 takes writes that name none, or one that is not there.
    pub count: u8,
    /// Moved data stay apart by handle, too.
    pub persistent: bool,
    /// Moved data go to the open units of handle 0, behind new writes. Not with `persistent`.
    pub spill: bool,
    /// Collection leaves the units of a handle alone that is written in sequence, as long as others
    /// gain.
    pub keep_sequential: bool,
}

impl HandleSpec {
    /// The handle of a write with this hint.
    pub fn of(&self, hint: Hint) -> u8 {
        if hint < self.count { hint } else { 0 }
    }
}

/// Family **separation**: to which stream does a page go? Pages of different streams never share a
/// block.
#[allow(unused_variables)]
pub trait Separation: Watch {
    /// Its streams, in the order in which its answers number them. At least one takes writes of the host,
    /// and at least one takes moves.
    fn streams(&self) -> Vec<StreamSpec>;
    /// The stream of a page, by its place in that list. It has to take what the page is: a write of the
    /// host, or a move. Never asked if there is only one such stream. The FTL asks again if there was no
    /// room, so what the policy learns of a page belongs into [`Separation::on_placed`].
    fn stream(&mut self, page: &PageCtx) -> u8 {
        0
    }
    /// Tells the policy the placement handles of the drive, if it has some. Called once, before anything
    /// else.
    fn learn_handles(&mut self, handles: &HandleSpec) {}
    /// Whether it ever protects a stream; if not, [`Separation::protects`] is never called.
    fn may_protect(&self) -> bool {
        false
    }
    /// Whether collection leaves blocks of a stream alone that hold valid data, as long as others gain.
    fn protects(&self, stream: u8) -> bool {
        false
    }
    /// Whether pages of two streams never share a block, in any case. The policy is then asked about
    /// all moves, also those of other families, and no page goes to another stream for lack of space.
    fn isolates(&self) -> bool {
        false
    }
    /// Whether it is told what it chose for, block by block and page by page; if not, the three methods
    /// below are never called.
    fn follows(&self) -> bool {
        false
    }
    /// A page has its slot in this stream.
    fn on_placed(&mut self, page: &PageCtx, stream: u8) {}
    /// A block was opened for a stream; `clock` host pages had been written by then.
    fn on_opened(&mut self, block: BlockId, stream: u8, clock: u32) {}
    /// Collection has chosen a block of a stream.
    fn on_collected(&mut self, block: BlockId, stream: u8, clock: u32) {}
    /// Whether it has to be told the future.
    fn wants_future(&self) -> bool {
        false
    }
    /// The future, where it was asked for, before the run.
    fn foresee(&mut self, future: Arc<Deaths>) {}
    /// Memory that the policy needs, in bytes. Asked after [`Watch::attach`].
    fn dram_bytes(&self) -> u64 {
        0
    }
}

/// Family **placement**: which plane takes the next page?
pub trait Placement: Watch {
    /// A plane with room (`load.writable`) for this page; `None` when the page must wait.
    fn place(&mut self, load: &Load<'_>, lpn: Lpn, prio: Prio) -> Option<PlaneId>;
    /// A plane for data that was there before the run. Pages are spread evenly, without regard to
    /// load.
    fn spread(&mut self, lpn: Lpn) -> PlaneId;
    /// Whether a page may go to any plane, or only to the one given by its number.
    fn is_free(&self) -> bool;
}

/// The moves that a wear leveller may make after an erase.
pub struct Balance<'a> {
    /// The plane whose block was erased.
    pub plane: PlaneView<'a>,
    /// The block.
    pub erased: BlockId,
}

/// Family **wear**: which cold data moves to which worn block?
pub trait Wear: Watch {
    /// Tells the policy the endurance of the flash. Called once, before anything else.
    fn learn_life(&mut self, _: &Life) {}
    /// Whether it ever moves anything; if not it is never asked.
    fn active(&self) -> bool;
    /// Asked after every erase that garbage collection or refresh caused.
    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan);
}

/// Family **order**: which flash operation goes next on a free die?
pub trait Order: Watch {
    /// The position in `heads` of the lane to serve. `heads` holds the first operation of each lane
    /// that is not empty, and has at least one. Hazards stay with the scheduler.
    fn pick(&mut self, heads: &[OpView], now: Time) -> usize;
    /// Whether it always serves the operation that came first. Then it is not asked.
    fn is_first_come(&self) -> bool {
        false
    }
    /// Whether high-priority requests have lanes and a write stream of their own.
    fn uses_priority(&self) -> bool {
        false
    }
    /// The same, asked instead if the policy watches waits: `waits` has the wait of each head.
    fn pick_by_waits(&mut self, heads: &[OpView], _waits: &[Waited], now: Time) -> usize {
        self.pick(heads, now)
    }
    /// Whether it needs to know how long operations have waited.
    fn watches_waits(&self) -> bool {
        false
    }
    /// Whether a host read that has come interrupts the program or erase that runs on its die.
    /// `waited` is the wait of the running operation. The policy is asked only if the die can be
    /// interrupted. The running operation is then among the heads, next to reads of the host alone.
    /// The number of reads is counted only if waits are watched.
    fn may_suspend(
        &mut self,
        _running: &OpView,
        _waited: Waited,
        _read: &OpView,
        _now: Time,
    ) -> bool {
        false
    }
}
