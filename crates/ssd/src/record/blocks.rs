//! A row for each block.

use super::Column;
use ftl::{Ftl, Kit, ReadDisturb, Role, State};
use nand::{BlockId, Geometry, Mode};

/// The blocks as they are now.
pub(super) fn columns<K: Kit>(ftl: &Ftl<K>) -> Vec<Column> {
    let all = All(ftl.geometry());
    let (blocks, array, geometry) = (ftl.blocks(), ftl.array(), ftl.geometry());
    let chip = |b| geometry.chip_of(geometry.die_of(b));
    let modes = Mode::ALL.map(Mode::name);
    let states = State::ALL.map(State::name);
    let mut roles = vec!["regular"];
    roles.extend(ftl.policies.read_disturb.role_names());
    // A role that its policy has not named.
    roles.push("other");
    let role = |Role(n)| n.min(roles.len() as u8 - 1);
    let written = |b| array.layouts().slots_before(array.mode(b), array.next_page(b));
    let reads = |b: BlockId| ftl.reads().get(b.as_u32() as usize).copied().unwrap_or(u32::MAX);
    vec![
        all.u32("channel", |b| geometry.channel_of(geometry.die_of(b)).as_u32()),
        all.u32("chip", |b| chip(b).0),
        all.u32("die", |b| chip(b).1),
        all.u32("plane", |b| geometry.plane_of(b).as_u32() % geometry.planes_per_die() as u32),
        all.u32("block", |b| geometry.index_in_plane(b)),
        all.words("state", &states, |b| blocks.state(b) as u8),
        all.words("role", &roles, |b| role(blocks.role(b))),
        all.words("mode", &modes, |b| array.mode(b) as u8),
        all.u32("erases", |b| array.erases()[b]),
        all.f64("effective_cycles", |b| f64::from(array.wear()[b]) * 1e-3),
        all.u32("valid_slots", |b| blocks.valid(b)),
        all.u32("written_slots", written),
        all.u32("reads_since_erase", reads).optional(),
    ]
}

/// Every block.
struct All<'a>(&'a Geometry);

impl All<'_> {
    fn map<T>(&self, value: impl Fn(BlockId) -> T) -> Vec<T> {
        (0..self.0.blocks() as u32).map(|b| value(BlockId::from_u32(b))).collect()
    }

    fn u32(&self, name: &str, value: impl Fn(BlockId) -> u32) -> Column {
        Column::u32(name, self.map(value))
    }

    fn f64(&self, name: &str, value: impl Fn(BlockId) -> f64) -> Column {
        Column::f64(name, self.map(value))
    }

    fn words(&self, name: &str, words: &[&'static str], code: impl Fn(BlockId) -> u8) -> Column {
        Column::words(name, self.map(code), words)
    }
}
