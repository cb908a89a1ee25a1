//! `dynamic`: the next idle die, or the one with the least to do.
//!
//! Going round the dies (neighbouring numbers lie on different channels) spreads bursts over
//! channels first; planes of a die take turns. Planes without space are passed over, so that a
//! plane whose data happens to have grown does not stop the drive.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Load, Lpn, Placement, Watch};
use kernel::Prio;
use nand::{DieId, Geometry, PlaneId};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "dynamic",
    summary: "Writes go to the next idle die, or to the one with the least waiting.",
    paper: "folklore; Tavakkol et al., ACM TECS 2016, compare allocation strategies",
    ..PolicyInfo::of(Family::Placement)
};

/// The next idle die, or the one with the least to do.
#[derive(Clone, Default, Debug)]
pub struct Dynamic {
    next_die: usize,
    /// The plane of each die whose turn it is.
    next_plane: Vec<u8>,
    planes_per_die: usize,
}

pub(crate) fn new(_: &Params) -> Dynamic {
    Dynamic::default()
}

impl Dynamic {
    /// A plane of `die` with space; the plane whose turn it is comes first.
    #[inline]
    fn plane_of(&mut self, load: &Load<'_>, die: usize) -> Option<PlaneId> {
        let planes = self.planes_per_die;
        let turn = self.next_plane[die] as usize;
        for i in 0..planes {
            let mut index = turn + i;
            if index >= planes {
                index -= planes;
            }
            let plane = die * planes + index;
            if load.writable.get(plane) {
                self.next_plane[die] = if index + 1 == planes { 0 } else { index as u8 + 1 };
                return Some(PlaneId::from_u32(plane as u32));
            }
        }
        None
    }

    /// The die with the least waiting, counting from the turn; `None` when no plane has space.
    fn least_loaded(&mut self, load: &Load<'_>) -> Option<PlaneId> {
        let turn = self.next_die.min(load.waiting.len() - 1);
        let planes = self.planes_per_die;
        let has_room =
            |die: usize| (die * planes..(die + 1) * planes).any(|plane| load.writable.get(plane));
        let die = load.waiting.least(turn, has_room)?;
        self.next_die = die + 1;
        self.plane_of(load, die)
    }
}

impl Watch for Dynamic {
    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.next_plane = vec![0; geometry.dies()];
        self.planes_per_die = geometry.planes_per_die();
    }
}

impl Placement for Dynamic {
    #[inline]
    fn place(&mut self, load: &Load<'_>, _: Lpn, _: Prio) -> Option<PlaneId> {
        let mut from = self.next_die;
        // An idle die whose planes are all full is rare: a few tries, then the general search.
        for _ in 0..4 {
            let Some(die) = load.idle.next_cyclic(from) else { break };
            if let Some(plane) = self.plane_of(load, die) {
                self.next_die = die + 1;
                return Some(plane);
            }
            from = die + 1;
        }
        self.least_loaded(load)
    }

    #[inline]
    fn spread(&mut self, _: Lpn) -> PlaneId {
        let dies = self.next_plane.len();
        let die = if self.next_die >= dies { 0 } else { self.next_die };
        self.next_die = die + 1;
        let turn = self.next_plane[die];
        self.next_plane[die] =
            if usize::from(turn) + 1 == self.planes_per_die { 0 } else { turn + 1 };
        let die = DieId::from_u32(die as u32);
        PlaneId::from_u32(die.as_u32() * self.planes_per_die as u32 + u32::from(turn))
    }

    fn is_free(&self) -> bool {
        true
    }
}
