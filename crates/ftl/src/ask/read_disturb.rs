//! Family **read-disturb**: what moves where when a block nears its read limit?

use super::watch::Watch;
use crate::plan::{Dest, Plan};
use crate::stream::{Pool, Role, StreamId, StreamSpec};
use crate::view::FtlView;
use kernel::Time;
use nand::{BlockId, Geometry, Mode, Ppn, Tag};

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

/// Read-disturb: reads are not counted.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoRefresh;

impl Watch for NoRefresh {}
impl ReadDisturb for NoRefresh {}
