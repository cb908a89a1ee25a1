//! `fdp`: the placement handles of NVMe's flexible data placement, as `ftl.fdp` declares them.
//!
//! Each handle has an open reclaim unit for writes. Moved data go to a unit of their own for all
//! handles (*initially isolated*), or to one for each handle (*persistently isolated*). Firmware
//! without a unit for moved data is `spill`: they go to the open unit of handle 0.
//!
//! Isolation as in: Song et al., Characterizing and emulating FDP SSDs with WARP, FAST 2026, 4.2. They
//! measured that drives reclaim long sequential streams too early, although such data would soon be
//! overwritten (5.2, "Save Sequential"). `keep-sequential` is firmware that avoids this.

use super::hints::NAMES;
use crate::info::{Family, Idle, PolicyInfo, Wanted};
use crate::params::Params;
use ftl::{
    Access, AccessKind, HandleSpec, Interests, PageCtx, Separation, StreamClass, StreamSpec, Watch,
};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "fdp",
    summary: "Each placement handle of `ftl.fdp` has reclaim units of its own; chosen by that key.",
    paper: "NVM Express, Flexible Data Placement (TP4146), 2022; Song et al., Characterizing and \
            emulating FDP SSDs with WARP, FAST 2026",
    idle: |drive, _| {
        if drive.handles {
            return Idle::Nothing;
        }
        Idle::All(
            "the drive has no placement handles: `ftl.fdp = { handles = 4 }` declares some".into(),
        )
    },
    wants: |_| Some(Wanted::Hints),
    ..PolicyInfo::of(Family::Separation)
};

/// The greatest number of handles.
pub const MOST: u32 = NAMES.len() as u32;

/// Pages that the host writes through a handle between two looks at their order.
const WINDOW: u32 = 256;

/// How many of them must lie behind the page before, or in it, so that the handle is written in sequence.
const IN_SEQUENCE: u32 = WINDOW / 16 * 15;

/// The order of the writes of a handle.
#[derive(Copy, Clone, Default, Debug)]
struct Order {
    /// The page behind the last one that was written.
    next: u32,
    /// Pages of this window.
    pages: u32,
    /// Of these, the ones that lie behind the page before, or in it.
    in_sequence: u32,
    /// The last full window was in sequence.
    is_sequential: bool,
}

/// Streams by handle: those for writes, then those for moved data.
#[derive(Clone, Debug)]
pub struct Fdp {
    handles: HandleSpec,
    orders: Vec<Order>,
}

pub(crate) fn new(_: &Params) -> Fdp {
    let handles = HandleSpec { count: 1, persistent: false, spill: false, keep_sequential: false };
    Fdp { handles, orders: vec![Order::default()] }
}

impl Watch for Fdp {
    fn interests(&self) -> Interests {
        if self.handles.keep_sequential { Interests::ACCESS } else { Interests::NONE }
    }

    fn on_access(&mut self, access: &Access) {
        if access.kind != AccessKind::Write {
            return;
        }
        let order = &mut self.orders[usize::from(self.handles.of(access.host.hint))];
        order.pages += 1;
        // A page may be written in parts.
        let next = access.lpn.as_u32() + 1;
        order.in_sequence += u32::from(next == order.next || next == order.next + 1);
        order.next = next;
        if order.pages == WINDOW {
            let is_sequential = order.in_sequence >= IN_SEQUENCE;
            *order = Order { next: order.next, is_sequential, ..Order::default() };
        }
    }
}

impl Separation for Fdp {
    fn learn_handles(&mut self, handles: &HandleSpec) {
        self.handles = *handles;
        self.orders = vec![Order::default(); handles.count.into()];
    }

    fn streams(&self) -> Vec<StreamSpec> {
        let names = NAMES.into_iter().take(self.handles.count.into());
        let mut streams: Vec<_> =
            names.map(|name| StreamSpec::of(StreamClass::Host, name)).collect();
        if self.handles.spill {
            streams[0].class = StreamClass::Both;
        } else if self.handles.persistent {
            let moves = streams.clone().into_iter();
            streams.extend(moves.map(|own| StreamSpec::of(StreamClass::Moves, own.name)));
        } else {
            streams.push(StreamSpec::of(StreamClass::Moves, "moved"));
        }
        streams
    }

    fn stream(&mut self, page: &PageCtx) -> u8 {
        let HandleSpec { count, persistent, spill, .. } = self.handles;
        if page.tag.source == nand::Source::Host {
            return self.handles.of(page.hint);
        }
        // Data without a place in a unit of a handle came through none.
        let from = page.from.map_or(0, |stream| stream % count);
        match (persistent, page.moves) {
            (true, true) => count + from,
            (true, false) => from,
            (false, true) if !spill => count,
            (false, _) => 0,
        }
    }

    fn isolates(&self) -> bool {
        self.handles.persistent
    }

    fn may_protect(&self) -> bool {
        self.handles.keep_sequential
    }

    fn protects(&self, stream: u8) -> bool {
        self.orders.get(usize::from(stream)).is_some_and(|order| order.is_sequential)
    }
}
