//! The cost of reading a page with finer sensing.

use crate::physics::{Cell, Ldpc, ReadCost, planes};
use crate::{Bus, Level, Timing};
use kernel::Dur;

/// One attempt to read a page with each way of sensing, by page type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SoftReads {
    /// Time in the array: `[way of sensing][page type]`, from quick to fine.
    pub array: [[Dur; 4]; 3],
    /// Bit planes beyond those of a plain read that cross a modelled bus, each as large as a page.
    pub planes: [[u32; 4]; 3],
}

impl SoftReads {
    /// The costs for a drive whose times depend on the write level. Its table has the times of 1, 3
    /// and 7 sensings, because pages written at high, medium and low cost need those (AGCR 2.2).
    /// `None` if the times do not rise.
    pub fn of_levels(timing: &Timing) -> Option<Self> {
        let [high, medium, low] = Level::ALL.map(|level| timing.read[level]);
        let rise = |a: &[Dur; 4], b: &[Dur; 4]| a.iter().zip(b).all(|(a, b)| a <= b);
        let array = [high, medium, low];
        (rise(&high, &medium) && rise(&medium, &low)).then_some(Self { array, planes: [[0; 4]; 3] })
    }

    /// A drive with one read time for each page type: that of sensing once at each of the type's
    /// boundaries. Finer sensing costs the time of AGCR's Eq. 2.
    ///
    /// With a modelled bus the read time is α·N of Eq. 2, and the bus adds the bit planes. Without,
    /// the read time contains both, and β is taken to be 2·α as in AGCR's Table 1.
    pub fn of_plain(timing: &Timing, cell: &Cell, ldpc: &Ldpc) -> Self {
        let types = 0..cell.bits() as usize;
        let mut reads = Self { array: [[Dur::ZERO; 4]; 3], planes: [[0; 4]; 3] };
        for page_type in types {
            let once = timing.read(Level::MediumCost, page_type);
            let boundaries = cell.boundaries(page_type).count() as u32;
            for step in 0..3 {
                let n = boundaries * ldpc.sensings(step);
                let more = planes(n) - planes(boundaries);
                let (times, over) = if timing.bus == Bus::Included {
                    (n + 2 * planes(n), boundaries + 2 * planes(boundaries))
                } else {
                    reads.planes[step][page_type] = more;
                    (n, boundaries)
                };
                reads.array[step][page_type] = times_over(once, times, over);
            }
        }
        reads
    }

    /// A drive whose times come from AGCR's Eq. 2, with all boundaries of a cell sensed for every
    /// page type, as its Table 1 has them.
    pub fn of_equation(cost: &ReadCost, ldpc: &Ldpc) -> Self {
        let time = |step| Dur::from_secs_f64(cost.read_us(ldpc.sensings(step)) * 1e-6);
        Self { array: [0, 1, 2].map(|step| [time(step); 4]), planes: [[0; 4]; 3] }
    }

    /// The same costs with every read as quick as the quickest, which no device can do.
    #[must_use]
    pub fn ideal(&self) -> Self {
        Self { array: [self.array[0]; 3], planes: [[0; 4]; 3] }
    }
}

/// A time multiplied by `times` and divided by `over`, to the nearest nanosecond.
fn times_over(time: Dur, times: u32, over: u32) -> Dur {
    let over = u64::from(over);
    Dur::ns((time.as_ns() * u64::from(times) + over / 2) / over)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(bus: Bus) -> Timing {
        Timing::uniform(Dur::us(70), Dur::us(600), Dur::ms(3), bus)
    }

    #[test]
    fn eq_2_from_agcrs_plain_read_gives_its_table() {
        let all = ReadCost::AGCR;
        let reads = SoftReads::of_equation(&all, &Ldpc::DEFAULT);
        assert_eq!(reads.array.map(|a| a[1]), [70, 170, 310].map(Dur::us));
        // Upper pages of an MLC sense at two boundaries: 2 + 2·2 = 6 parts of 70 µs, then 6 + 2·3 and
        // 14 + 2·4; lower pages at one: 1 + 2·1 = 3 parts, then 3 + 2·2 and 7 + 2·3.
        let reads = SoftReads::of_plain(&plain(Bus::Included), &Cell::new(2, 3e3), &Ldpc::DEFAULT);
        let ns = |parts: u64, of: u64| Dur::ns((70_000 * parts + of / 2) / of);
        assert_eq!(reads.array.map(|a| a[0]), [ns(3, 3), ns(7, 3), ns(13, 3)]);
        assert_eq!(reads.array.map(|a| a[1]), [ns(6, 6), ns(12, 6), ns(22, 6)]);
        assert_eq!(reads.planes, [[0; 4]; 3]);
    }

    #[test]
    fn a_bus_takes_the_bit_planes() {
        let bus = Bus::Modelled { command: Dur::ns(300), page: Dur::us(10) };
        let reads = SoftReads::of_plain(&plain(bus), &Cell::new(3, 3e3), &Ldpc::DEFAULT);
        // Sensing alone: 1, 3, 7 times as long.
        for t in 0..3 {
            assert_eq!(reads.array.map(|a| a[t]), [70, 210, 490].map(Dur::us));
        }
        // 1, 3, 7 references need 1, 2, 3 planes; 4, 12, 28 need 3, 4, 5.
        assert_eq!(reads.planes.map(|p| p[0]), [0, 1, 2]);
        assert_eq!(reads.planes.map(|p| p[2]), [0, 1, 2]);
    }

    #[test]
    fn a_table_that_falls_is_none() {
        let mut timing = plain(Bus::Included);
        assert!(SoftReads::of_levels(&timing).is_some());
        timing.read[Level::LowCost] = [Dur::us(60); 4];
        assert_eq!(SoftReads::of_levels(&timing), None);
    }
}
