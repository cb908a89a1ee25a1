//! The blocks at the end of the run, and the drive at some instants. An instant has the blocks that
//! changed since the one before, and how long dies and channels were busy meanwhile.
//!
//! Instants begin close together. When there are [`SNAPSHOTS`], every second one is removed, its
//! changes are joined with those of the next one, and the distance doubles. So a run of any length
//! has between half this number and all of it. If nothing happened between two instants, the second
//! one is skipped.

use super::{Column, DriveView};
use crate::device::Busy;
use ftl::{Ftl, PolicyTypes, ReadDisturb, Role, State};
use kernel::{Dur, Idx, Time};
use nand::{BlockId, Cause, Each, Geometry, Mode, Source};

/// The most instants that are kept, after the first.
const SNAPSHOTS: usize = 128;

/// The first length between two.
const FIRST: Dur = Dur::ms(1);

/// The state of a block that can change.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Block {
    valid: u32,
    written: u32,
    erases: u32,
    /// `u32::MAX` if reads are not counted.
    reads: u32,
    state: u8,
    role: u8,
    mode: Mode,
}

/// One instant.
struct Snapshot {
    at: Time,
    /// Blocks that differ from the instant before, in order.
    changed: Vec<(u32, Block)>,
    /// The busy time of each die since the run began.
    dies: Vec<Busy>,
    /// Of each channel, in ns.
    channels: Vec<u64>,
}

/// The instants so far.
pub(super) struct Snapshots {
    length: Dur,
    next: Time,
    taken: Vec<Snapshot>,
    latest: Vec<Block>,
    /// Events of the run at the last look.
    events: u64,
}

impl Snapshots {
    /// Nothing yet; the first instant is that of [`Snapshots::take`].
    pub(super) fn new() -> Self {
        Self {
            length: FIRST,
            next: Time::ZERO + FIRST,
            taken: Vec::new(),
            latest: Vec::new(),
            events: 0,
        }
    }

    /// The time of the next snapshot.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// The instant is over; the next one follows.
    pub(super) fn advance(&mut self) {
        if self.taken.len() > SNAPSHOTS {
            self.merge();
        }
        self.next += self.length;
    }

    /// Looks at the drive.
    pub(super) fn take<K: PolicyTypes>(&mut self, drive_view: &DriveView<'_>, ftl: &Ftl<K>) {
        let mut changed = Vec::new();
        if self.taken.is_empty() || drive_view.stats.events != self.events {
            for (b, part) in (0..).zip(Part::all(ftl.geometry())) {
                let now = block(ftl, part);
                match self.latest.get_mut(b as usize) {
                    None => self.latest.push(now),
                    Some(before) if *before == now => continue,
                    Some(before) => *before = now,
                }
                changed.push((b, now));
            }
        }
        self.events = drive_view.stats.events;
        self.taken.push(Snapshot {
            at: drive_view.at,
            changed,
            dies: drive_view.dies.iter().map(|die| die.busy_until(drive_view.at)).collect(),
            channels: drive_view
                .channels
                .iter()
                .map(|channel| channel.busy_until(drive_view.at).as_ns())
                .collect(),
        });
    }

    /// Every second instant goes, apart from the first.
    fn merge(&mut self) {
        let mut snapshots = std::mem::take(&mut self.taken).into_iter();
        self.taken.extend(snapshots.next());
        while let (Some(first), Some(second)) = (snapshots.next(), snapshots.next()) {
            let changed = join(&first.changed, second.changed);
            self.taken.push(Snapshot { changed, ..second });
        }
        self.length = self.length * 2;
    }

    /// A row for each block of the first instant, and for each that changed of every other.
    pub(super) fn blocks(&self, words: &Words) -> Vec<Column> {
        let rows = || self.taken.iter().flat_map(|s| s.changed.iter().map(move |row| (s.at, row)));
        let mut columns = vec![
            Column::u64("at_ns", rows().map(|(at, _)| at.as_ns()).collect()),
            Column::u32("block", rows().map(|(_, (b, _))| *b).collect()),
        ];
        columns.extend(of_blocks(|| rows().map(|(_, (_, block))| block), words));
        columns
    }

    /// A row for each die and each channel between every two instants.
    pub(super) fn occupancy(&self) -> Vec<Column> {
        let mut rows = Rows::default();
        for pair in self.taken.windows(2) {
            let (from, to) = (&pair[0], &pair[1]);
            for (number, (before, after)) in from.dies.iter().zip(&to.dies).enumerate() {
                let busy = Busy {
                    by_source: after.by_source.zip(&before.by_source, |after, b| *after - *b),
                    suspend: after.suspend - before.suspend,
                };
                rows.push(from.at, to.at, 0, number as u32, busy.sum().as_ns(), Some(busy));
            }
            for (number, (before, after)) in from.channels.iter().zip(&to.channels).enumerate() {
                rows.push(from.at, to.at, 1, number as u32, after - before, None);
            }
        }
        rows.columns()
    }
}

/// Blocks that changed twice have their state of the second time.
fn join(first: &[(u32, Block)], second: Vec<(u32, Block)>) -> Vec<(u32, Block)> {
    let mut joined = Vec::with_capacity(first.len().max(second.len()));
    let mut first = first.iter().peekable();
    for row in second {
        while let Some(before) = first.next_if(|before| before.0 < row.0) {
            joined.push(*before);
        }
        first.next_if(|before| before.0 == row.0);
        joined.push(row);
    }
    joined.extend(first);
    joined
}

/// The rows of the occupancy.
#[derive(Default)]
struct Rows {
    start_ns: Vec<u64>,
    width_ns: Vec<u64>,
    part: Vec<u8>,
    number: Vec<u32>,
    busy_ns: Vec<u64>,
    /// Null for channels.
    by_source: Each<Source, Vec<u64>>,
    suspend: Vec<u64>,
}

impl Rows {
    fn push(&mut self, from: Time, to: Time, part: u8, number: u32, busy: u64, by: Option<Busy>) {
        self.start_ns.push(from.as_ns());
        self.width_ns.push((to - from).as_ns());
        self.part.push(part);
        self.number.push(number);
        self.busy_ns.push(busy);
        let ns = |time: Option<Dur>| time.map_or(u64::MAX, Dur::as_ns);
        for (source, column) in self.by_source.iter_mut() {
            column.push(ns(by.map(|by| by.by_source[source])));
        }
        self.suspend.push(ns(by.map(|by| by.suspend)));
    }

    fn columns(self) -> Vec<Column> {
        let mut columns = vec![
            Column::u64("start_ns", self.start_ns),
            Column::u64("width_ns", self.width_ns),
            Column::words("part", self.part, &["die", "channel"]),
            Column::u32("number", self.number),
            Column::u64("busy_ns", self.busy_ns),
        ];
        let column = |name: &str, ns| Column::u64(format!("busy_{name}_ns"), ns).optional();
        let by_source = self.by_source.into_iter();
        columns.extend(by_source.map(|(source, ns)| column(source.name(), ns)));
        columns.push(column(Cause::Suspend.name(), self.suspend));
        columns
    }
}

/// Meanings of the codes of a [`Block`] on this drive.
pub(super) struct Words {
    states: Vec<&'static str>,
    roles: Vec<&'static str>,
}

/// Every state and role that there can be.
pub(super) fn words<K: PolicyTypes>(ftl: &Ftl<K>) -> Words {
    let mut roles = vec!["regular"];
    roles.extend(ftl.policies.read_disturb.role_names());
    // A role that its policy has not named.
    roles.push("other");
    Words { states: State::ALL.map(State::name).to_vec(), roles }
}

/// A block of the flash: the part of a block of the FTL in one plane.
#[derive(Copy, Clone)]
struct Part {
    of: BlockId,
    plane: u32,
}

impl Part {
    /// All of them, plane by plane.
    fn all(geometry: &Geometry) -> impl Iterator<Item = Self> + use<> {
        let planes = geometry.units().planes;
        let groups: Vec<_> = geometry.plane_ids().map(|p| geometry.blocks_of(p)).collect();
        groups.into_iter().flat_map(move |blocks| {
            (0..planes).flat_map(move |plane| {
                blocks.clone().map(move |b| Self { of: BlockId::new(b), plane })
            })
        })
    }
}

/// A block as it is now. Its role is a number, possibly one without a name.
#[inline]
fn block<K: PolicyTypes>(ftl: &Ftl<K>, part: Part) -> Block {
    let (blocks, array) = (ftl.blocks(), ftl.array());
    let (b, geometry) = (part.of, ftl.geometry());
    let Role(role) = blocks.role(b);
    let units = geometry.units();
    let planes = units.planes;
    let written = array.layouts().slots_before(array.mode(b), array.next_page(b));
    Block {
        valid: if planes == 1 {
            blocks.valid(b)
        } else {
            ftl.map().count_valid_in(geometry, b, part.plane)
        },
        written: written * units.across / planes,
        erases: array.erases()[b],
        reads: ftl.reads().get(b.as_u32() as usize).copied().unwrap_or(u32::MAX),
        state: blocks.state(b) as u8,
        role,
        mode: array.mode(b),
    }
}

/// The columns of blocks that both tables have.
fn of_blocks<'a, I>(blocks: impl Fn() -> I, words: &Words) -> [Column; 7]
where
    I: Iterator<Item = &'a Block>,
{
    let u32s =
        |name: &str, value: fn(&Block) -> u32| Column::u32(name, blocks().map(value).collect());
    let codes = |name: &str, words: &[&'static str], code: fn(&Block) -> u8| {
        let last = words.len() as u8 - 1;
        Column::words(name, blocks().map(|b| code(b).min(last)).collect(), words)
    };
    let (modes, mode_names) = nand::words(blocks().map(|b| b.mode));
    [
        codes("state", &words.states, |b| b.state),
        codes("role", &words.roles, |b| b.role),
        Column::words("mode", modes, &mode_names),
        u32s("erases", |b| b.erases),
        u32s("valid_slots", |b| b.valid),
        u32s("written_slots", |b| b.written),
        u32s("reads_since_erase", |b| b.reads).optional(),
    ]
}

/// The blocks as they are now.
pub(super) fn columns<K: PolicyTypes>(ftl: &Ftl<K>) -> Vec<Column> {
    let (array, geometry) = (ftl.array(), ftl.geometry());
    let parts: Vec<Part> = Part::all(geometry).collect();
    let blocks: Vec<Block> = parts.iter().map(|part| block(ftl, *part)).collect();
    let chip = |b| geometry.chip_of(geometry.die_of(b));
    let u32s = |name: &str, value: &dyn Fn(BlockId) -> u32| {
        Column::u32(name, parts.iter().map(|part| value(part.of)).collect())
    };
    let planes = geometry.units().planes;
    let plane = |part: &Part| {
        let group = geometry.plane_of(part.of).as_u32() % geometry.planes_per_die() as u32;
        group * planes + part.plane
    };
    let mut columns = vec![
        u32s("channel", &|b| geometry.channel_of(geometry.die_of(b)).as_u32()),
        u32s("chip", &|b| chip(b).0),
        u32s("die", &|b| chip(b).1),
        Column::u32("plane", parts.iter().map(plane).collect()),
        u32s("block", &|b| geometry.index_in_plane(b)),
        u32s("group", &BlockId::as_u32),
    ];
    columns.extend(of_blocks(|| blocks.iter(), &words(ftl)));
    let cycles = parts.iter().map(|part| f64::from(array.wear()[part.of]) * 1e-3);
    columns.insert(10, Column::f64("effective_cycles", cycles.collect()));
    columns
}
