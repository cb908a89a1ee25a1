//! A row for each block.

use super::Column;
use super::snapshots::Block;
use ftl::{Ftl, Kit, ReadDisturb, Role, State};
use nand::{BlockId, Geometry, Mode};

/// What the codes of a [`Block`] mean on this drive.
pub(super) struct Words {
    pub(super) states: Vec<&'static str>,
    pub(super) roles: Vec<&'static str>,
    pub(super) modes: Vec<&'static str>,
}

/// Every state, role and mode that there can be.
pub(super) fn words<K: Kit>(ftl: &Ftl<K>) -> Words {
    let mut roles = vec!["regular"];
    roles.extend(ftl.policies.read_disturb.role_names());
    // A role that its policy has not named.
    roles.push("other");
    Words {
        states: State::ALL.map(State::name).to_vec(),
        roles,
        modes: Mode::ALL.map(Mode::name).to_vec(),
    }
}

/// A block as it is now. Its role is a number, which may be beyond those that have a name.
#[inline]
pub(super) fn block<K: Kit>(ftl: &Ftl<K>, b: BlockId) -> Block {
    let (blocks, array) = (ftl.blocks(), ftl.array());
    let Role(role) = blocks.role(b);
    Block {
        valid: blocks.valid(b),
        written: array.layouts().slots_before(array.mode(b), array.next_page(b)),
        erases: array.erases()[b],
        reads: ftl.reads().get(b.as_u32() as usize).copied().unwrap_or(u32::MAX),
        state: blocks.state(b) as u8,
        role,
        mode: array.mode(b) as u8,
    }
}

/// The blocks as they are now.
pub(super) fn columns<K: Kit>(ftl: &Ftl<K>) -> Vec<Column> {
    let all = All(ftl.geometry());
    let (array, geometry) = (ftl.array(), ftl.geometry());
    let chip = |b| geometry.chip_of(geometry.die_of(b));
    let words = words(ftl);
    let last = words.roles.len() as u8 - 1;
    vec![
        all.u32("channel", |b| geometry.channel_of(geometry.die_of(b)).as_u32()),
        all.u32("chip", |b| chip(b).0),
        all.u32("die", |b| chip(b).1),
        all.u32("plane", |b| geometry.plane_of(b).as_u32() % geometry.planes_per_die() as u32),
        all.u32("block", |b| geometry.index_in_plane(b)),
        all.words("state", &words.states, |b| block(ftl, b).state),
        all.words("role", &words.roles, |b| block(ftl, b).role.min(last)),
        all.words("mode", &words.modes, |b| block(ftl, b).mode),
        all.u32("erases", |b| block(ftl, b).erases),
        all.f64("effective_cycles", |b| f64::from(array.wear()[b]) * 1e-3),
        all.u32("valid_slots", |b| block(ftl, b).valid),
        all.u32("written_slots", |b| block(ftl, b).written),
        all.u32("reads_since_erase", |b| block(ftl, b).reads).optional(),
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
