//! Family separation: to which stream does a page go?

use ftl::{Deaths, HandleSpec, PageCtx, Separation, StreamSpec};
use nand::BlockId;
use std::sync::Arc;

crate::family::family! { $
    /// Family separation.
    SeparationPolicy: Separation {
        sepgc: sepgc::SepGc,
        shared: shared::Shared,
        hints: hints::Hints,
        fdp: fdp::Fdp,
        dac: dac::Dac,
        sepbit: sepbit::SepBit,
        death_time: death_time::DeathTime,
    }
    fn streams(&self) -> Vec<StreamSpec>;
    fn stream(&mut self, page: &PageCtx) -> u8;
    fn learn_handles(&mut self, handles: &HandleSpec);
    fn may_protect(&self) -> bool;
    fn protects(&self, stream: u8) -> bool;
    fn isolates(&self) -> bool;
    fn follows(&self) -> bool;
    fn on_placed(&mut self, page: &PageCtx, stream: u8);
    fn on_opened(&mut self, block: BlockId, stream: u8, clock: u32);
    fn on_collected(&mut self, block: BlockId, stream: u8, clock: u32);
    fn wants_future(&self) -> bool;
    fn foresee(&mut self, future: Arc<Deaths>);
    fn dram_bytes(&self) -> u64;
}

/// A page of the host, or one that moves, of which nothing is known.
#[cfg(test)]
fn page(moves: bool) -> PageCtx {
    let source = if moves { nand::Source::Gc } else { nand::Source::Host };
    PageCtx {
        now: kernel::Time::ZERO,
        lpn: ftl::Lpn::from_u32(0),
        moves,
        tag: nand::Tag::of(source),
        flow: 0,
        hint: 0,
        from: None,
        age: None,
        clock: 0,
    }
}
