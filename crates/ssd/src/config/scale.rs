//! A drive scaled down: fewer blocks in each plane, and all that must shrink with them.
//!
//! Free and open blocks do not shrink with a plane. So only the blocks that take part in garbage
//! collection are divided, and the exported pages keep their share of those. In mean-field theory,
//! the size of a plane has no other effect, so write amplification stays. Four sources of error
//! are left. The number of blocks that take no part is known to a fraction of a block. With few
//! blocks, collection chooses less often, which matters if some pages are hotter than others. And
//! the planes' shares of the data vary more if there are fewer pages, which makes latencies longer.
//! Of a trace a sample is simulated, and samples differ.

use super::drive::{BufferKind, Foreground, GcPacing};
use super::keys::{BufferSettings, GcSettings};
use kernel::Bytes;
use nand::Geometry;
use workload::SampleFacts;

/// Write amplification and latencies of a scaled drive must be within these shares of those of the
/// whole drive. Otherwise the result has a warning.
pub(crate) const WAF_WITHIN: f64 = 0.01;
pub(crate) const LATENCY_WITHIN: f64 = 0.05;

/// The accuracy of the number of blocks that take no part in collection, in blocks.
const KNOWN_TO: f64 = 0.1;

/// Collection chooses as often as the host opens a block. In a plane of few blocks more time passes
/// between two choices. Meanwhile hot pages become invalid that are still valid in a plane of many
/// blocks, as if fewer blocks took no part. The effect is greatest for pages that live as long as
/// blocks do. They are hotter than the mean by the inverse of the spare. This constant is the
/// effect in blocks, from runs of skewed writes on planes of 32 to 2048 blocks.
const HOT: f64 = 0.6;

/// The fewest mapping units that a scaled write buffer may retain, so that its hits are like those
/// of the whole buffer.
const LEAST_RETAINED: u64 = 8;

/// A drive of which a part of the blocks of each plane is simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct Scale {
    /// The requested divisor.
    pub of: u32,
    /// Simulated blocks of each plane, in groups that are erased together.
    pub blocks: u32,
    /// The same of the whole drive.
    pub whole_blocks: u32,
    /// Mapping units that the part exports.
    pub logical_pages: u64,
    /// The same of the whole drive.
    pub whole_logical_pages: u64,
    /// Mapping units of the flash of the whole drive.
    pub whole_pages: u64,
    /// Bytes in a mapping unit.
    pub page: Bytes,
    /// The write buffer of the whole drive.
    pub whole_buffer: Bytes,
    /// Mapping units of writes that it retains.
    pub(crate) whole_retained: u64,
    /// Blocks of each plane that take no part in collection, and the accuracy of that number.
    pub(crate) idle: (f64, f64),
    /// Mapping units for data in blocks of one index, of all planes together.
    row: u64,
    /// Program units of a block or superblock, if each is written to a plane drawn anew; `None`:
    /// there is one set of planes.
    drawn: Option<f64>,
    /// The sample of a workload that is not generated, once it is known.
    pub(crate) sampled: Option<SampleFacts>,
}

impl Scale {
    /// A drive of `whole_blocks` in each plane that exports `logical` mapping units, divided. `one` is
    /// the array with one block in each plane.
    pub(crate) fn new(
        of: u32,
        one: &Geometry,
        whole_blocks: u32,
        logical: u64,
        gc: &GcSettings,
        open_loop: bool,
    ) -> Self {
        let row = one.data_slots();
        let whole = f64::from(whole_blocks);
        let spare = 1.0 - logical as f64 / (row as f64 * whole);
        let idle = idle_blocks(gc, spare, open_loop);
        let units = f64::from(one.slots_per_superblock()) / f64::from(one.slots_per_program());
        let mut scale = Self {
            of,
            blocks: 0,
            whole_blocks,
            logical_pages: 0,
            whole_logical_pages: logical,
            whole_pages: one.pages() as u64 * u64::from(whole_blocks),
            page: one.page_size(),
            whole_buffer: Bytes::new(0),
            whole_retained: 0,
            idle,
            row,
            drawn: (one.sets() > 1).then_some(units),
            sampled: None,
        };
        scale.divide(of);
        scale
    }

    /// Takes another divisor.
    fn divide(&mut self, of: u32) {
        let (whole, idle) = (f64::from(self.whole_blocks), self.idle.0);
        self.of = of;
        self.blocks = ((whole - idle) / f64::from(of) + idle).ceil().clamp(1.0, whole) as u32;
        let share = (f64::from(self.blocks) - idle).max(0.0) / (whole - idle).max(1.0);
        self.logical_pages = (self.whole_logical_pages as f64 * share.min(1.0)) as u64;
    }

    /// The greatest divisor below this one that a condition allows; 1 if there is none.
    pub(crate) fn most(&self, allows: impl Fn(&Self) -> bool) -> u32 {
        let (mut low, mut high) = (1, self.of);
        while high - low > 1 {
            let middle = low.midpoint(high);
            let mut other = self.clone();
            other.divide(middle);
            if allows(&other) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// A number of the whole drive, scaled as its exported pages are.
    pub fn share(&self, of: u64) -> u64 {
        let scaled = u128::from(of) * u128::from(self.logical_pages);
        (scaled / u128::from(self.whole_logical_pages.max(1))) as u64
    }

    /// The bytes that the whole drive exports.
    pub fn whole_capacity(&self) -> Bytes {
        Bytes::new(self.whole_logical_pages * self.page.get())
    }

    /// The bytes of flash of the whole drive.
    pub fn whole_flash(&self) -> Bytes {
        Bytes::new(self.whole_pages * self.page.get())
    }

    /// Of the pages that take part in collection, the share that holds data, if `off` more blocks
    /// take no part.
    fn rho(&self, blocks: u32, logical: u64, off: f64) -> f64 {
        logical as f64 / self.row as f64 / (f64::from(blocks) - self.idle.0 - off)
    }

    /// That of the whole drive.
    fn whole_rho(&self) -> f64 {
        self.rho(self.whole_blocks, self.whole_logical_pages, 0.0)
    }

    /// How much the planes' shares of the data vary, as a share of the data of a plane: each
    /// program goes to a plane that is free.
    fn variation(&self, blocks: u32) -> f64 {
        self.drawn
            .map_or(0.0, |units| (self.whole_rho() * f64::from(blocks) * units).sqrt().recip())
    }

    /// How far write amplification may be from that of the whole drive, as a share of it. `skewed`: some pages
    /// are written more often than others.
    pub(crate) fn waf_error(&self, skewed: bool) -> f64 {
        self.waf_error_of_blocks(skewed) + self.waf_error_of_sample()
    }

    /// The part of it that comes from drawing a sample of a trace: in 95 of 100 samples it is less.
    ///
    /// Moved pages are a sum over the extents, as written pages are, and vary as those. Of the write
    /// amplification W they are the share 1 - 1/W. The W of even writes is an upper limit.
    pub(crate) fn waf_error_of_sample(&self) -> f64 {
        let varies = self.sampled.map_or(0.0, |sample| sample.written_varies);
        2.0 * varies * (1.0 - waf(self.whole_rho()).recip())
    }

    /// The part of it that comes from the number of blocks.
    pub(crate) fn waf_error_of_blocks(&self, skewed: bool) -> f64 {
        let rho = self.whole_rho();
        let of = |off: f64| {
            let ours = waf(self.rho(self.blocks, self.logical_pages, off));
            (ours / waf(self.rho(self.whole_blocks, self.whole_logical_pages, off)) - 1.0).abs()
        };
        let (known, hot) = (self.idle.1, if skewed { HOT / (1.0 - rho) } else { 0.0 });
        of(known).max(of(-known - hot))
    }

    /// The pages of writes that the buffers of the part and of the whole drive retain, if the part
    /// retains too few to have the hits of the whole.
    pub(crate) fn retains_too_few(&self) -> Option<[u64; 2]> {
        let pages = [self.share(self.whole_retained), self.whole_retained];
        (pages[1] > pages[0] && pages[0] < LEAST_RETAINED).then_some(pages)
    }

    /// How far latencies of a busy drive may be from those of the whole drive, as a share of them.
    /// A plane with more data has less spare, collects more and is read more, so its reads wait
    /// longer. On drives of 2 to 32 parts the wait varied 1.5 times as much as the spare.
    pub(crate) fn latency_error(&self) -> f64 {
        let rho = self.whole_rho();
        let spare = |blocks: u32| self.variation(blocks) * rho / (1.0 - rho).max(f64::EPSILON);
        1.5 * (spare(self.blocks) - spare(self.whole_blocks))
    }

    /// Notes the buffer of the whole drive.
    pub(crate) fn take_in(&mut self, buffer: &BufferSettings) {
        self.whole_buffer = buffer.size.unwrap_or(Bytes::new(0));
        if buffer.kind != BufferKind::None {
            let pages = self.whole_buffer.get() / self.page.get();
            self.whole_retained = (pages as f64 * buffer.flush_above) as u64;
        }
    }

    /// The buffer of the part. Its retained writes are a cache, and they shrink. Its other places
    /// keep dies busy, and do not shrink.
    pub(crate) fn buffer(&self, whole: BufferSettings) -> BufferSettings {
        let size = whole.size.map_or(0, Bytes::get);
        let page = self.page.get();
        if whole.kind == BufferKind::None || size < page || whole.flush_above <= 0.0 {
            return whole;
        }
        let kept = (size as f64 * whole.flush_above) as u64;
        let cache = self.share(kept);
        let size = (size - kept + cache).div_ceil(page) * page;
        let flush_above = cache as f64 / size as f64;
        BufferSettings { size: Some(Bytes::new(size)), flush_above, ..whole }
    }
}

/// Blocks of a plane that take no part in garbage collection while it chooses a victim, and the
/// accuracy of that number. `spare`: the share of the flash that is not exported.
///
/// The host's block has just been opened. The block of moved pages is half written, with pages as
/// valid as any. The number of free blocks varies from `start` - 1 to `stop` - 1, as collection
/// frees blocks and the host takes them. At the pace of the host, collection takes its victim when
/// it is needed, and its block is free when the last is opened. The fractions were measured on
/// planes of 16 to 512 blocks and do not depend on their number.
fn idle_blocks(gc: &GcSettings, spare: f64, open_loop: bool) -> (f64, f64) {
    let (start, stop) = (f64::from(gc.start), f64::from(gc.stop));
    let free = f64::midpoint(start - 1.0, stop - 1.0);
    let busy = match (gc.pace, gc.foreground) {
        (GcPacing::PerWrite, _) => 1.67,
        (GcPacing::Burst, Foreground::All) => free + 1.5 + spare,
        (GcPacing::Burst, Foreground::One) => start + 0.75 + spare,
    };
    let (mut low, mut high) = (busy, busy);
    if gc.pace == GcPacing::Burst && gc.start > 2 {
        // A host that is faster than collection takes free blocks meanwhile, up to the last one.
        low = 1.0 + 1.5 + spare;
    }
    if gc.background_stop > 0 && open_loop {
        // In idle time collection goes on until this many are free.
        let rested = f64::from(gc.background_stop) - 1.0 + 1.5 + spare;
        (low, high) = (low.min(rested), high.max(rested));
    }
    // The speed of the host and the amount of idle time are not known.
    (f64::midpoint(low, high), KNOWN_TO + (high - low) / 2.0)
}

/// Write amplification of greedy collection of long blocks under uniform writes: a page survives its block
/// with probability x = exp(-(1 - x) / ρ).
fn waf(rho: f64) -> f64 {
    if !(0.0..1.0).contains(&rho) {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0 - 1e-12);
    for _ in 0..60 {
        let x = f64::midpoint(low, high);
        if (-(1.0 - x) / rho).exp() > x {
            low = x;
        } else {
            high = x;
        }
    }
    1.0 / (1.0 - low)
}
