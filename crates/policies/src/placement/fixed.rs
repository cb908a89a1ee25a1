//! `static`: the plane follows from the logical page number.
//!
//! Neighbouring pages lie on neighbouring units in a given order. With `cwdp` the channel changes
//! first, then the way (chip), the die, the plane. A page always returns to its plane. So
//! sequential reads use the parallelism of the order, but random writes may queue on one die while
//! others are idle. If one command programs several pages, those of an aligned run of that length
//! go together.

use crate::info::{Family, Idle, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Load, Lpn, Placement, Watch};
use kernel::{Divisor, Prio};
use nand::{Geometry, PlaneId};

/// All orders of channel, way, die and plane.
const ORDERS: &[&str] = &[
    "cwdp", "cwpd", "cdwp", "cdpw", "cpwd", "cpdw", "wcdp", "wcpd", "wdcp", "wdpc", "wpcd", "wpdc",
    "dcwp", "dcpw", "dwcp", "dwpc", "dpcw", "dpwc", "pcwd", "pcdw", "pwcd", "pwdc", "pdcw", "pdwc",
];

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "static",
    summary: "The plane follows from the page number, in a fixed order of channel, way, die, plane.",
    paper: "Hu et al., ICS 2011; Tavakkol et al., ACM TECS 2016",
    params: &[ParamInfo {
        name: "order",
        kind: ParamKind::Word(ORDERS),
        default: "cwdp",
        doc: "which unit changes first, second, third, last: c channel, w way, d die, p plane",
    }],
    idle: |drive, params| {
        let shape = drive.geometry.shape();
        let units =
            [shape.channels, shape.chips_per_channel, shape.dies_per_chip, shape.planes_per_die];
        match units.into_iter().filter(|unit| *unit > 1).count() {
            0 => Idle::All("the drive has one plane".into()),
            1 if params.word("order") != ORDERS[0] => Idle::Part(
                "every `order` is the same where only one kind of unit is there twice".into(),
            ),
            _ => Idle::Nothing,
        }
    },
    ..PolicyInfo::of(Family::Placement)
};

/// The plane follows from the logical page number.
#[derive(Clone, Debug)]
pub struct Static {
    order: [u8; 4],
    /// The plane of each remainder of the page number by the number of planes.
    planes: Vec<PlaneId>,
    by_planes: Divisor,
    /// Pages that one command programs: they go together.
    run: Divisor,
}

pub(crate) fn new(params: &Params) -> Static {
    Static::in_order(params.word("order"))
}

impl Static {
    /// In an order such as `"cwdp"`.
    pub fn in_order(order: &str) -> Self {
        let order = order.as_bytes().try_into().expect("an order has four letters");
        Self { order, planes: Vec::new(), by_planes: Divisor::new(1), run: Divisor::new(1) }
    }

    #[inline]
    fn plane_of(&self, lpn: Lpn) -> PlaneId {
        self.planes[self.by_planes.rem(self.run.div(lpn.as_u32())) as usize]
    }
}

impl Watch for Static {
    fn attach(&mut self, geometry: &Geometry, _: u32) {
        let shape = geometry.shape();
        let size = |unit: u8| match unit {
            b'c' => shape.channels,
            b'w' => shape.chips_per_channel,
            b'd' => shape.dies_per_chip,
            _ => shape.planes_per_die,
        };
        let plane = |mut n: u32| {
            let mut at = [0; 4]; // channel, way, die, plane
            for unit in self.order {
                let slot = b"cwdp".iter().position(|u| *u == unit).expect("one of the letters");
                at[slot] = n % size(unit);
                n /= size(unit);
            }
            let [channel, way, die, plane] = at;
            let die = (way * shape.dies_per_chip + die) * shape.channels + channel;
            PlaneId::from_u32(die * shape.planes_per_die + plane)
        };
        let planes = (0..geometry.planes() as u32).map(plane).collect();
        self.planes = planes;
        self.by_planes = Divisor::new(geometry.planes() as u32);
        self.run = Divisor::new(geometry.slots_per_program());
    }
}

impl Placement for Static {
    #[inline]
    fn place(&mut self, load: &Load<'_>, lpn: Lpn, _: Prio) -> Option<PlaneId> {
        let plane = self.plane_of(lpn);
        load.writable.get(plane.as_u32() as usize).then_some(plane)
    }

    fn spread(&mut self, lpn: Lpn) -> PlaneId {
        self.plane_of(lpn)
    }

    fn is_free(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Bytes;
    use nand::Shape;

    #[test]
    fn every_order_reaches_every_plane_and_varies_its_first_unit_first() {
        let geometry = Geometry::new(Shape {
            channels: 2,
            chips_per_channel: 3,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: Bytes::kib(4),
            bits_per_cell: 2,
        })
        .unwrap();
        assert_eq!(ORDERS.len(), 24);
        for order in ORDERS {
            let mut placement = Static::in_order(order);
            placement.attach(&geometry, 1000);
            let mut seen: Vec<u32> =
                (0..24).map(|n| placement.plane_of(Lpn::from_u32(n)).as_u32()).collect();
            let (a, b) = (seen[0], seen[1]);
            let channel = |p| geometry.channel_of(geometry.die_of_plane(PlaneId::from_u32(p)));
            assert_eq!(channel(a) != channel(b), order.starts_with('c'), "{order}");
            seen.sort_unstable();
            assert_eq!(seen, (0..24).collect::<Vec<_>>(), "{order}");
        }
    }
}
