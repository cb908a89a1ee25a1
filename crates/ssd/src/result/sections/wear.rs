//! How worn the blocks are.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout =
    SectionAbout::section("Wear of the blocks in this run, over all blocks.");

pub(crate) type Section = BlockWear;

table! {
    /// Wear of the blocks.
    struct BlockWear {
        /// Erases of a block.
        erases: EraseSpread, "erases";
        /// Wear of a block in cycles at full density.
        effective: CycleSpread, "cycles";
    }
}

table! {
    /// How erases are spread over the blocks.
    struct EraseSpread {
        /// The least.
        min: u32;
        /// The mean.
        mean: f64;
        /// The most.
        max: u32;
        /// The standard deviation.
        stddev: f64;
    }
}

table! {
    /// How cycles are spread over the blocks.
    struct CycleSpread {
        /// The least.
        min: f64;
        /// The mean.
        mean: f64;
        /// The most.
        max: f64;
        /// The standard deviation.
        stddev: f64;
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let array = e.sim.ftl().array();
    let (erases, thousandths) = (array.erases().as_slice(), array.wear().as_slice());
    BlockWear {
        erases: {
            let [mean, stddev] = spread(erases, 1.0);
            let [min, max] = ends(erases);
            EraseSpread { min, mean, max, stddev }
        },
        effective: {
            let [mean, stddev] = spread(thousandths, 1e-3);
            let [min, max] = ends(thousandths).map(|n| f64::from(n) * 1e-3);
            CycleSpread { min, mean, max, stddev }
        },
    }
}

/// Mean and deviation of a column in `unit`.
fn spread(column: &[u32], unit: f64) -> [f64; 2] {
    let n = column.len() as f64;
    let mean = column.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let square = column.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
    [mean * unit, square.sqrt() * unit]
}

/// The least and the greatest of a column.
fn ends(column: &[u32]) -> [u32; 2] {
    let (least, greatest) = (column.iter().min(), column.iter().max());
    [least, greatest].map(|end| *end.expect("a drive has blocks"))
}
