//! Family **cost**: at which level is a page programmed, and is a page worth a re-write?

use super::watch::{Access, Watch};
use crate::Lpn;
use crate::view::FtlView;
use kernel::{Dur, Time};
use nand::{DieId, Level, Tag};
use std::sync::Arc;

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
    /// Requests of the host inside the drive besides this one's, waiting or in service.
    pub requests_inside: u32,
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
