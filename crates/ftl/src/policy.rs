//! The questions that the mechanism asks, one trait for each family, and the steps with which a
//! policy may answer.
//!
//! A policy sees read-only views and returns choices; only the FTL changes the map. Every family
//! may also watch ([`Watch`]), own columns of its own, and ask for a timer. What a policy does not
//! ask for costs nothing: the FTL reads its [`Interests`] once.

use crate::Lpn;
use crate::view::{FtlView, Load, PlaneView};
use kernel::{Dur, Prio, Rng, Time};
use nand::physics::Recovery;
use nand::{BlockId, DieId, Geometry, Level, Mode, PlaneId, Ppn, Source, Store, Tag};
use std::sync::Arc;

/// A sequence of blocks that one kind of data is written to; each plane has its own frontier.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Host writes.
    pub const HOST: Self = Self(0);
    /// Data moved by garbage collection.
    pub const GC: Self = Self(1);
    /// Cold data moved by wear levelling, onto the most worn free blocks.
    pub const WEAR: Self = Self(2);
    /// Host writes of high priority, where an order policy serves them first.
    pub const HOST_HIGH: Self = Self(3);
    /// Streams that always exist; those of a policy follow.
    pub const BUILT_IN: usize = 4;

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// What a block is used for; the numbers above `REGULAR` belong to the read-disturb policy.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Role(pub u8);

impl Role {
    /// An ordinary block.
    pub const REGULAR: Self = Self(0);
}

/// A set of blocks by address.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pool {
    /// Every block.
    All,
    /// The highest thousandths of the block indices of each plane.
    Highest(u16),
}

impl Pool {
    /// The first block index (in each plane) that belongs to the pool.
    pub fn first_index(self, geometry: &Geometry) -> u32 {
        let blocks = geometry.blocks_per_plane() as u32;
        match self {
            Self::All => 0,
            Self::Highest(thousandths) => {
                blocks - (u64::from(blocks) * u64::from(thousandths) / 1_000) as u32
            }
        }
    }
}

/// Which free block a stream opens.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FreePick {
    /// The one that has been free longest.
    Oldest,
    /// The one with the least effective wear.
    LeastWorn,
    /// The one with the most effective wear.
    MostWorn,
    /// The one outside this pool that has been free longest; if there is none, the one in it.
    OutsideFirst(Pool),
}

/// How a stream's blocks are chosen and used.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StreamSpec {
    /// The role its blocks take on.
    pub role: Role,
    /// The mode they are opened in, if they are erased blocks of another.
    pub mode: Mode,
    /// Where they come from.
    pub pool: Pool,
    /// Which free block is opened.
    pub pick: FreePick,
    /// Where its data goes when the pool has no block to lend; `None`: it waits, and so may jobs
    /// for as long as nobody frees a block of the pool.
    pub fallback: Option<StreamId>,
    /// How many blocks of a plane may hold its data at a time; `None`: any number. A stream that
    /// has as many has no block to lend.
    pub cap: Option<u32>,
}

impl StreamSpec {
    /// Regular blocks from everywhere.
    pub const REGULAR: Self = Self {
        role: Role::REGULAR,
        mode: Mode::Full,
        pool: Pool::All,
        pick: FreePick::Oldest,
        fallback: None,
        cap: None,
    };
}

/// Where moved pages go.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Dest {
    /// The frontier of a stream, in the plane of the block that they leave.
    Stream(StreamId),
    /// Behind what a partly written block already holds.
    Block(BlockId),
    /// A block opened for this step from the stream's pool, which stays partly written and is
    /// reported by [`Watch::on_open`]; the pages that do not fit go to the stream's frontier, and
    /// so do all of them when the stream has no block to lend.
    Fresh(StreamId),
}

/// Pages of a block, by slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pages {
    /// Every valid one.
    All,
    /// These, in ascending order; those no longer valid when their turn comes are skipped.
    Some(Vec<u16>),
}

/// One thing that a policy wants done. The FTL runs plans as resumable jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Moves pages of a block.
    Copy {
        /// The block they leave.
        from: BlockId,
        /// Which of them.
        pages: Pages,
        /// Where they go.
        to: Dest,
    },
    /// Moves what is valid, then erases (or re-uses) the block.
    Reclaim {
        /// The block.
        block: BlockId,
        /// Where its valid pages go.
        to: Dest,
    },
    /// In-place reprogramming to low density. The pages that it loses must have been copied by the
    /// step before. The step is dropped if some are valid when its turn comes, or if
    /// [`ReadDisturb::may_reprogram`] says no.
    Reprogram {
        /// The block.
        block: BlockId,
        /// Extra wear of this life, in thousandths of a cycle.
        surcharge: u16,
        /// The role that it has afterwards.
        role: Role,
        /// Whether its read counter goes on, instead of beginning anew.
        keep_reads: bool,
    },
    /// [`Step::Reclaim`], if the block is at its read limit still: what a plan ends with whose
    /// steps may be dropped, so that the reads which wait for it are served.
    ReclaimAtLimit {
        /// The block.
        block: BlockId,
        /// Where its valid pages go.
        to: Dest,
    },
    /// Gives the block another role.
    SetRole(BlockId, Role),
    /// Sets the block's read counter to zero.
    ResetReads(BlockId),
    /// Makes a partly written block complete: its remaining slots are given up, and the plan waits
    /// until what was given away before is programmed.
    Seal(BlockId),
}

/// How a job in the foreground shares its die.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub enum Hold {
    /// It keeps the place in the line at which it came; the order policy chooses between two of
    /// its operations.
    #[default]
    Place,
    /// It keeps the die from one operation to the next, until it needs another or has to wait.
    Die,
    /// After each operation it goes to the end of the line.
    Nothing,
}

/// The steps that a policy returns, and how they are to be run.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Only in idle time, giving way to everything else between two flash operations.
    pub background: bool,
    /// How it shares its die, if it is not for idle time only.
    pub hold: Hold,
}

impl Plan {
    /// Appends a step.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// What the host does to one logical page.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write, whole or part.
    Write,
    /// Deallocation.
    Trim,
}

/// One host access, as policies see it, in order of arrival.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// When it arrived at the FTL.
    pub now: Time,
    /// What it does.
    pub kind: AccessKind,
    /// To which page.
    pub lpn: Lpn,
    /// How urgent it is.
    pub prio: Prio,
    /// Page operations of the host in the drive, waiting or running.
    pub waiting_device: u32,
}

/// The circumstances of one page program, known when it is dispatched.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WriteCtx {
    /// The simulated time.
    pub now: Time,
    /// The page.
    pub lpn: Lpn,
    /// Where it is written.
    pub die: DieId,
    /// Who writes it, and why.
    pub tag: Tag,
    /// For a move: the level of the copy that it is made from. `None` for host writes.
    pub stored: Option<Level>,
    /// Page operations of other requests waiting for the same die; counts end at 64.
    pub waiting_die: u32,
    /// The same for the channel.
    pub waiting_channel: u32,
    /// The same for the whole drive.
    pub waiting_device: u32,
}

/// What a policy wants to be told. The FTL reads this once, before the run.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Interests(pub u16);

impl Interests {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// [`Watch::on_access`].
    pub const ACCESS: Self = Self(1);
    /// [`Watch::on_program`].
    pub const PROGRAM: Self = Self(2);
    /// [`Watch::on_invalidate`].
    pub const INVALIDATE: Self = Self(4);
    /// [`Watch::on_move`].
    pub const MOVE: Self = Self(8);
    /// [`Watch::on_open`], [`Watch::on_close`] and [`Watch::on_erase`].
    pub const BLOCK: Self = Self(16);
    /// [`Watch::on_timer`].
    pub const TIMER: Self = Self(32);
    /// [`Cost::rewrite`] when a die is idle.
    pub const IDLE: Self = Self(64);
    /// [`ReadDisturb::on_read`] and the read counters of blocks.
    pub const READ: Self = Self(128);

    /// Whether `other` is among them.
    #[inline(always)]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What every family may observe. All methods default to nothing.
#[allow(unused_variables)]
pub trait Watch: Send {
    /// What it wants to be told.
    fn interests(&self) -> Interests {
        Interests::NONE
    }

    /// Called once, before anything else: the place to size columns.
    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {}

    /// A host access, in order of arrival.
    fn on_access(&mut self, access: &Access) {}

    /// A slot was programmed at a level.
    fn on_program(&mut self, lpn: Lpn, ppn: Ppn, level: Level, tag: Tag, now: Time) {}

    /// A slot lost its data to a newer copy, a move or a trim; `gain` is the block's now.
    fn on_invalidate(&mut self, block: BlockId, gain: u32, now: Time) {}

    /// A page was moved.
    fn on_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag) {}

    /// A block was opened.
    fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {}

    /// A block became complete.
    fn on_close(&mut self, block: BlockId, now: Time) {}

    /// A block was erased, or begins its next life without an erase.
    fn on_erase(&mut self, block: BlockId, now: Time) {}

    /// When the policy wants to be woken.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time asked for has come.
    fn on_timer(&mut self, view: &FtlView<'_>, now: Time, plan: &mut Plan) {}

    /// What the policy did, as named counts for the report.
    fn counters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// What the levels of a drive cost: means over the page types.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct LevelTimes {
    /// Array time of a program at each level, in the order of `Level::ALL`.
    pub program: [Dur; 3],
    /// Array time of a read of a page written at each level.
    pub read: [Dur; 3],
}

/// How often each page will be read between two writes: what no drive can know. For each page in
/// order, the reads before its first write, after that write, after the next, and so on; counts
/// end at 255.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Future {
    /// Where each page's counts begin, and behind the last page their number.
    pub first: Vec<u32>,
    /// The counts.
    pub reads: Vec<u8>,
}

impl Future {
    /// The reads of a page after so many writes.
    pub fn reads(&self, lpn: Lpn, writes: u32) -> u8 {
        let lpn = lpn.as_u32() as usize;
        let at = self.first[lpn] + writes;
        if at < self.first[lpn + 1] { self.reads[at as usize] } else { 0 }
    }
}

/// Which waiting operations a cost policy looks at; counting others would be a waste of time.
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
    fn constant(&self) -> Option<Level>;
    /// The level of data that was there before the run.
    fn initial(&self) -> Level;
    /// The level of this program. Called at dispatch, for moves too.
    fn level(&mut self, w: &WriteCtx) -> Level;
    /// Which queues it looks at.
    fn queues(&self) -> Queues {
        Queues::All
    }
    /// What the levels cost on this drive. Called once, before anything else.
    fn learn_times(&mut self, _: &LevelTimes) {}
    /// Whether every read and every write takes the time of its cheapest level, which no device
    /// can do: a bound.
    fn is_ideal(&self) -> bool {
        false
    }
    /// Whether it has to be told the future.
    fn wants_future(&self) -> bool {
        false
    }
    /// The future, where it was asked for, before the run.
    fn foresee(&mut self, _: Arc<Future>) {}
    /// A host access in order of arrival (with [`Interests::ACCESS`]); `stored` is the level of
    /// the page's current copy.
    fn follow(&mut self, _: &Access, _stored: Option<Level>) {}
    /// A die is idle: a page on it to write anew, if any. The FTL drops it if it is unmapped.
    fn rewrite(&mut self, _die: DieId, _view: &FtlView<'_>) -> Option<Lpn> {
        None
    }
    /// Memory that the policy needs for each logical page.
    fn dram_bits_per_page(&self) -> u32 {
        0
    }
}

/// What a throttle plans a life with.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Life {
    /// All flash, in bytes: what one program/erase cycle of every block programs.
    pub raw_bytes: u64,
    /// A page, in bytes.
    pub page_bytes: u64,
    /// The cycles that the flash is rated for.
    pub cycles: u32,
    /// How it recovers between cycles.
    pub recovery: Recovery,
    /// Whether the host sends later requests later by what earlier ones were held back. If not,
    /// they arrive as they would have without a throttle.
    pub pushes_back: bool,
}

/// Family **throttle**: how long must a write wait before the FTL sees it?
pub trait Throttle: Watch {
    /// What there is to plan with. Called once, before anything else.
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

/// Family **read-disturb**: what moves where when a block nears its read limit?
#[allow(unused_variables)]
pub trait ReadDisturb: Watch {
    /// Host reads that a block of this mode endures; `None`: no limit. Asked once for each mode,
    /// before the run. Reads count when they are let in: one that comes to a block at its limit
    /// waits until the counter begins anew or the page has moved, so a plan that
    /// [`ReadDisturb::on_limit`] makes must come to one or the other.
    fn limit(&self, mode: Mode) -> Option<u32> {
        None
    }
    /// Streams of its own; they get the ids from [`StreamId::BUILT_IN`] on.
    fn streams(&self) -> Vec<StreamSpec> {
        Vec::new()
    }
    /// A pool, and how many free blocks of it each plane keeps for this policy: host writes and
    /// garbage collection take blocks of the pool last, and collection sees to it that as many are
    /// free beside those that are kept as without. Wear levelling takes any.
    fn keeps(&self) -> Option<(Pool, u32)> {
        None
    }
    /// What results call the roles above [`Role::REGULAR`], in order.
    fn role_names(&self) -> &'static [&'static str] {
        &[]
    }
    /// Slots of each plane that its blocks keep from data: what a legal drive needs as spare beside
    /// what garbage collection needs.
    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        0
    }
    /// Whether garbage collection leaves a block alone as long as others gain. Asked of blocks with
    /// a role of the policy's own, which wear levelling leaves alone in any case.
    fn protects(&self, view: &FtlView<'_>, block: BlockId) -> bool {
        false
    }
    /// Whether a block may be reprogrammed now; if so it will be.
    fn may_reprogram(&mut self, view: &FtlView<'_>, block: BlockId) -> bool {
        true
    }
    /// A block's read counter begins anew, because [`Step::ResetReads`] said so.
    fn on_reset(&mut self, block: BlockId, now: Time) {}
    /// A block was reprogrammed in place.
    fn on_reprogrammed(&mut self, block: BlockId, now: Time) {}
    /// A block was erased after so many host reads (since its reprogramming, if it was
    /// reprogrammed). `role` is what it was used for.
    fn on_erased(&mut self, block: BlockId, role: Role, reads: u32, why: Tag, now: Time) {}
    /// Memory that the policy needs, in bytes. Asked after [`Watch::attach`].
    fn dram_bytes(&self) -> u64 {
        0
    }
    /// A page of a block with a role of the policy's own is read by the host.
    fn on_read(&mut self, view: &FtlView<'_>, ppn: Ppn, now: Time, plan: &mut Plan) {}
    /// A block has reached its limit.
    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan) {}
    /// Where the valid pages of a block reclaimed for someone else go.
    fn on_reclaim(&mut self, view: &FtlView<'_>, block: BlockId, why: Tag) -> Dest {
        Dest::Stream(StreamId::GC)
    }
}

/// The page that a write takes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pick {
    /// This slot of the open block, at or after its pointer; slots passed over are given up.
    Slot(u32),
    /// One of a block opened in this one's place, whose remaining slots are given up. Only where
    /// [`WritePoint::may_open`].
    NextBlock,
}

/// Where a write goes if nobody looks further.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WritePoint {
    /// The open block.
    pub block: BlockId,
    /// Its next slot.
    pub next: u32,
    /// Whether the plane can lend another block without its reserve.
    pub may_open: bool,
    /// Whether the plane has its reserve: without it, what garbage collection is about to move
    /// needs every slot of the open block.
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
    /// That of them which only urgent writes go to, if there is one. Asked after
    /// [`PageChoice::learn_streams`].
    fn urgent_stream(&self) -> Option<StreamId> {
        None
    }
    /// Which free block garbage collection opens, if that matters.
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

/// What becomes of a block whose data has moved away.
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
    /// The mode of a block that was never written.
    fn first_life(&self, block: BlockId) -> Mode;
    /// What becomes of this block. Asked when it closes (to rank it, by what an erase would gain)
    /// and when it is reclaimed: for a second generation its pages outside the slots of
    /// [`Mode::Wom2`] stay where they are.
    fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife;
}

/// Family **victim**: which block is reclaimed?
pub trait Victim: Watch {
    /// A candidate of the plane. The FTL checks it, and gives up when the plane has nothing to
    /// gain. Asked once for each block reclaimed, never for each page.
    fn choose(&mut self, plane: &PlaneView<'_>, why: Tag, rng: &mut Rng) -> Option<BlockId>;
}

/// The plane and stream of a host write.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HostDest {
    /// The plane.
    pub plane: PlaneId,
    /// The stream.
    pub stream: StreamId,
}

/// Family **placement**: which plane takes the next page?
pub trait Placement: Watch {
    /// A plane with room (`load.writable`) for this page; `None` when the page must wait.
    fn place(&mut self, load: &Load<'_>, lpn: Lpn, prio: Prio) -> Option<HostDest>;
    /// A plane for data that was there before the run: spread evenly, without looking at load.
    fn spread(&mut self, lpn: Lpn) -> PlaneId;
    /// Whether a page may go to any plane, or only to the one that its number says.
    fn is_free(&self) -> bool;
}

/// What a wear leveller may do after an erase.
pub struct Balance<'a> {
    /// The plane whose block was erased.
    pub plane: PlaneView<'a>,
    /// The block.
    pub erased: BlockId,
}

/// Family **wear**: which cold data moves to which worn block?
pub trait Wear: Watch {
    /// What the flash stands. Called once, before anything else.
    fn learn_life(&mut self, _: &Life) {}
    /// Whether it ever moves anything; if not it is never asked.
    fn active(&self) -> bool;
    /// Asked after every erase that garbage collection or refresh caused.
    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan);
}

/// One kind of waiting operation on a die: the first of its lane.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct OpView {
    /// What it does.
    pub op: Op,
    /// How urgent it is.
    pub prio: Prio,
    /// The order in which operations (or the jobs they belong to) came to the die.
    pub seq: u64,
}

/// The lanes of a die, by what waits in them.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Op {
    /// A host read.
    Read,
    /// A host write.
    Write,
    /// A foreground job: garbage collection, wear levelling, refresh.
    Job,
}

/// Family **order**: which flash operation goes next on a free die?
pub trait Order: Watch {
    /// The position in `heads` of the lane to serve. `heads` holds the first operation of each
    /// lane that is not empty; never empty itself. Hazards stay with the scheduler.
    fn pick(&mut self, heads: &[OpView], now: Time) -> usize;
    /// Whether high-priority requests have lanes and a write stream of their own.
    fn uses_priority(&self) -> bool {
        false
    }
}

/// The policies of one drive as types: static where they are built in, with a variant for a
/// user's own. The constants say which seams exist at all; a bench builds engines without them to
/// know what each costs when it is switched off.
pub trait Kit: 'static {
    /// What cells remember.
    type Store: Store;
    /// Family cost.
    type Cost: Cost;
    /// Family throttle.
    type Throttle: Throttle;
    /// Family read-disturb.
    type ReadDisturb: ReadDisturb;
    /// Family page-choice.
    type PageChoice: PageChoice;
    /// Family coding.
    type Coding: Coding;
    /// Family victim.
    type Victim: Victim;
    /// Family placement.
    type Placement: Placement;
    /// Family wear.
    type Wear: Wear;
    /// Family order.
    type Order: Order;
    /// Blocks may have modes other than full, and pages be chosen out of order.
    const SLOTS: bool = true;
    /// Policies may watch.
    const WATCH: bool = true;
    /// Idle time is offered to jobs.
    const IDLE: bool = true;
    /// Levels may vary.
    const LEVELS: bool = true;
    /// Reads may be counted and tracked.
    const READS: bool = true;
}

/// One policy of each family.
pub struct Policies<K: Kit> {
    /// At which level pages are programmed.
    pub cost: K::Cost,
    /// How long writes wait.
    pub throttle: K::Throttle,
    /// What is done about read disturb.
    pub read_disturb: K::ReadDisturb,
    /// Which page takes a write.
    pub page_choice: K::PageChoice,
    /// How bits lie on cells.
    pub coding: K::Coding,
    /// Which block is reclaimed.
    pub victim: K::Victim,
    /// Which plane takes a page.
    pub placement: K::Placement,
    /// Which data moves to even out wear.
    pub wear: K::Wear,
    /// Which operation goes next.
    pub order: K::Order,
}

impl<K: Kit> Policies<K> {
    /// Calls `f` for the watcher of every family, in a fixed order.
    pub fn each(&mut self, mut f: impl FnMut(&mut dyn Watch)) {
        f(&mut self.cost);
        f(&mut self.throttle);
        f(&mut self.read_disturb);
        f(&mut self.page_choice);
        f(&mut self.coding);
        f(&mut self.victim);
        f(&mut self.placement);
        f(&mut self.wear);
        f(&mut self.order);
    }

    /// The same policies in another kit: other cells, or other seams.
    pub fn into_kit<L>(self) -> Policies<L>
    where
        L: Kit<
                Cost = K::Cost,
                Throttle = K::Throttle,
                ReadDisturb = K::ReadDisturb,
                PageChoice = K::PageChoice,
                Coding = K::Coding,
                Victim = K::Victim,
                Placement = K::Placement,
                Wear = K::Wear,
                Order = K::Order,
            >,
    {
        Policies {
            cost: self.cost,
            throttle: self.throttle,
            read_disturb: self.read_disturb,
            page_choice: self.page_choice,
            coding: self.coding,
            victim: self.victim,
            placement: self.placement,
            wear: self.wear,
            order: self.order,
        }
    }

    /// The interests of all families together.
    pub fn interests(&mut self) -> Interests {
        let mut all = Interests::NONE;
        self.each(|w| all = all.with(w.interests()));
        all
    }
}

// ── The answers that do nothing ─────────────────────────────────────────────────────────────────

/// Cost: everything at the medium level.
#[derive(Copy, Clone, Default, Debug)]
pub struct Traditional;

impl Watch for Traditional {}

impl Cost for Traditional {
    fn constant(&self) -> Option<Level> {
        Some(Level::Medium)
    }

    fn initial(&self) -> Level {
        Level::Medium
    }

    fn level(&mut self, _: &WriteCtx) -> Level {
        Level::Medium
    }
}

/// Throttle: nothing waits.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoThrottle;

impl Watch for NoThrottle {}

impl Throttle for NoThrottle {
    fn admit(&mut self, now: Time, _: u64) -> Time {
        now
    }

    fn active(&self) -> bool {
        false
    }
}

/// Read-disturb: reads are not counted.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoRefresh;

impl Watch for NoRefresh {}
impl ReadDisturb for NoRefresh {}

/// Page-choice: the next page.
#[derive(Copy, Clone, Default, Debug)]
pub struct InOrder;

impl Watch for InOrder {}

impl PageChoice for InOrder {
    fn in_order(&self) -> bool {
        true
    }

    fn pick(&mut self, _: &FtlView<'_>, at: &WritePoint, _: &WriteCtx) -> Pick {
        Pick::Slot(at.next)
    }
}

/// Coding: bits as the host gave them.
#[derive(Copy, Clone, Default, Debug)]
pub struct Plain;

impl Watch for Plain {}

impl Coding for Plain {
    fn plain(&self) -> bool {
        true
    }

    fn first_life(&self, _: BlockId) -> Mode {
        Mode::Full
    }

    fn next_life(&mut self, _: &FtlView<'_>, _: BlockId) -> NextLife {
        NextLife::Erase(Mode::Full)
    }
}

/// Wear: nothing is moved.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoWear;

impl Watch for NoWear {}

impl Wear for NoWear {
    fn active(&self) -> bool {
        false
    }

    fn balance(&mut self, _: &Balance<'_>, _: &mut Plan) {}
}

/// The source of the operations of a job that a family's plan starts.
pub(crate) const fn plan_source(family: PlanFamily) -> Source {
    match family {
        PlanFamily::Wear => Source::Wear,
        PlanFamily::ReadDisturb => Source::Refresh,
    }
}

/// Families whose plans become jobs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum PlanFamily {
    Wear,
    ReadDisturb,
}
