//! The drive that a run for years simulates: all of a small one, some dies of a large one.
//!
//! Dies of a drive work in parallel, and each affects write amplification on its own: each is
//! written in turn, and collects within its own planes. So some of them, with their share of the
//! capacity, the buffer and the load, have the write amplification of the whole. A superblock lies on
//! dies of one part, or a part has a smaller superblock that is large enough.

use crate::config::{Drive, HostMode, Years, capacity};
use kernel::Bytes;
use nand::{Geometry, Shape};
use serde_json::Value;
use std::num::NonZeroU32;

/// A drive of more pages is simulated in part, if some of its dies can be left out.
const PAGES: usize = 1 << 21;

/// The fewest mapping units for data that a superblock of a part may have if it is smaller than that
/// of the drive. In mean-field theory, greedy collection takes superblocks of b units when m are
/// valid. Exported pages fill a share ρ, where ρ·b·(H(b) − H(m)) = b − m. H(n) is nearly ln n + 1/2n,
/// so a write amplification W is about W/b of itself below that of endless superblocks.
const LARGE: u32 = 4096;

/// The fewest spare superblocks, after the reserve, of a drive with smaller ones in its parts. The
/// number of dies decides when collection begins, by up to one superblock, and write amplification is
/// nearly the inverse of the spare (`docs/lifetime.md`).
const SPARE: f64 = 50.0;

impl Drive {
    /// The drive that is simulated to give years of this one. `unmodelled` is the reason for
    /// results without a model of its cells.
    #[must_use]
    pub fn for_years(self, unmodelled: Option<String>) -> Self {
        self.in_parts(PAGES, unmodelled)
    }

    /// The same, for a drive that is divided until a part has at most `enough` pages.
    #[must_use]
    pub fn in_parts(self, pages: usize, unmodelled: Option<String>) -> Self {
        let (of, shape) = self.part(pages);
        let units = self.geometry.units();
        let order = self.geometry.order();
        let geometry = Geometry::new(shape)
            .and_then(|flash| flash.with_order(order).expect("it was so").with_units(units))
            .expect("a part of a legal drive is one");
        let superblocks = self.geometry.superblocks();
        let geometry = if superblocks.planes() == 1 {
            geometry
        } else {
            let together = self.superblock_of_part(&shape);
            geometry.with_superblocks(together.expect("the shape was chosen for it"))
        };
        let geometry = geometry.with_layers(superblocks.layers()).with_parity(superblocks.parity());
        let logical_pages = self.logical_pages / of.get();
        let (physical, logical) = (geometry.data_slots() as f64, f64::from(logical_pages));
        let mut part = Self {
            geometry,
            logical_pages,
            over_provisioning: (physical - logical) / logical,
            spare_factor: (physical - logical) / physical,
            ..self.clone()
        };
        if of.get() > 1 {
            let page = geometry.page_size().get();
            let size = part.buffer.size.map_or(0, Bytes::get);
            if size > 0 {
                let share = size / u64::from(of.get()) / page * page;
                part.buffer.size = Some(Bytes::new(share.max(page)));
            }
            part.buffer.rate = part.buffer.rate.map(|rate| rate.part(of));
            part.link.rate = part.link.rate.map(|rate| rate.part(of));
            part.host.queue_depth = (part.host.queue_depth / of.get()).max(1);
            part.echo_part(shape);
        }
        part.years = Some(Years { whole: Box::new(self), of, load: None, unmodelled });
        part
    }

    /// The number of parts of the drive, and the shape of one. It is the fewest that make a part
    /// small enough and, among those, the shape with most channels.
    fn part(&self, enough: usize) -> (NonZeroU32, Shape) {
        let own = self.geometry.flash();
        let pages = self.geometry.pages();
        let whole = (NonZeroU32::MIN, own);
        // Flows have depths and places of their own, and a closed loop its queue.
        let closed = self.host.mode != HostMode::Timestamps;
        let most = if closed { self.host.queue_depth } else { u32::MAX };
        if pages <= enough || !self.host.flow.is_empty() {
            return whole;
        }
        let divisors = |n: u32| (1..=n).filter(move |d| n.is_multiple_of(*d));
        let mut parts = Vec::new();
        for channels in divisors(own.channels) {
            for chips in divisors(own.chips_per_channel) {
                for dies in divisors(own.dies_per_chip) {
                    let of = channels * chips * dies;
                    let shape = Shape {
                        channels: own.channels / channels,
                        chips_per_channel: own.chips_per_channel / chips,
                        dies_per_chip: own.dies_per_chip / dies,
                        ..own
                    };
                    if of <= most && self.superblock_of_part(&shape).is_some() {
                        parts.push((of, shape));
                    }
                }
            }
        }
        parts.sort_by_key(|(of, shape)| (*of, shape.channels));
        let found = parts.iter().find(|(of, _)| pages / *of as usize <= enough);
        found
            .or(parts.last())
            .map_or(whole, |(of, shape)| (NonZeroU32::new(*of).expect("a divisor"), *shape))
    }

    /// The dies of a superblock of a part: as many as in the drive, or all dies of the part if they
    /// are fewer. `None`: the part cannot have superblocks like those of the drive.
    fn superblock_of_part(&self, shape: &Shape) -> Option<u32> {
        let superblocks = self.geometry.superblocks();
        let (together, left) = (superblocks.dies(), dies(shape));
        if left.is_multiple_of(together) {
            return Some(together);
        }
        let slots = self.geometry.data_slots_per_superblock() / together * left;
        // A stripe with parity lies on dies of one part.
        let like = superblocks.parity() == 0 && slots >= LARGE && self.free_spare() >= SPARE;
        (together.is_multiple_of(left) && like).then_some(left)
    }

    /// Notes in the resolved configuration the state of a part that differs from the whole drive.
    fn echo_part(&mut self, shape: Shape) {
        let exported = capacity(self);
        let together = self.geometry.superblocks().dies();
        let mut put = |section: &str, key: &str, value: Value| {
            self.resolved[section][key] = value;
        };
        put("geometry", "channels", shape.channels.into());
        put("geometry", "chips-per-channel", shape.chips_per_channel.into());
        put("geometry", "dies-per-chip", shape.dies_per_chip.into());
        put("ftl", "logical-capacity", format!("{}B", exported.get()).into());
        if self.resolved["ftl"]["superblock"].is_number() {
            self.resolved["ftl"]["superblock"] = together.into();
        }
    }
}

/// The dies of a shape.
fn dies(shape: &Shape) -> u32 {
    shape.channels * shape.chips_per_channel * shape.dies_per_chip
}
