//! From counts of operations to energy: the part of the report that multiplies.

use crate::config::Drive;
use crate::device::{CellCounts, DeviceStats, PageCounts};
use ftl::Counts;
use kernel::TimeSum;
use nand::{Energies, Level, Source, Timing};

/// Joules of a run, by operation, source and page type.
pub(crate) struct EnergyUse {
    pub(super) read: f64,
    pub(super) program: f64,
    pub(super) erase: f64,
    pub(super) reprogram: f64,
    pub(super) transfer: Option<f64>,
    pub(super) idle: Option<f64>,
    pub(super) by_source: [f64; 6],
    /// Sensing and programming, by page type.
    pub(super) by_type: [[f64; 4]; 2],
}

impl EnergyUse {
    /// What a run took; `None` if the drive does not say what its operations take.
    ///
    /// `span_seconds` is how long it lasted, until the last operation was done. A chip idles while
    /// its dies do: each die for its share of the chip's idle power.
    // Long for its sums, which go to the same totals by source.
    pub(crate) fn of(
        drive: &Drive,
        counts: &Counts,
        stats: &DeviceStats,
        reads: Option<&CellCounts>,
        span_seconds: f64,
    ) -> Option<Self> {
        let energy = drive.energy.as_ref()?;
        let (timing, geometry) = (&drive.timing, &drive.geometry);
        let per_page = f64::from(geometry.units().per_page);
        let mut by_source = [0.0; 6];
        let mut by_type = [[0.0; 4]; 2];
        let mut transfer = None;
        let mut sum = |pages: &PageCounts, which: usize, each: &dyn Fn(Level, usize) -> f64| {
            let moved = [energy.transfer_out, energy.transfer_in][which];
            let mut all = 0.0;
            for (source, levels) in pages.iter().enumerate() {
                for level in Level::ALL {
                    for (page_type, n) in levels[level as usize].into_iter().enumerate() {
                        let joules = n as f64 * each(level, page_type);
                        all += joules;
                        by_type[which][page_type] += joules;
                        by_source[source] += joules;
                    }
                }
                if let Some(moved) = moved {
                    let mut pages = levels.as_flattened().iter().sum::<u64>() as f64;
                    pages -= match which {
                        0 => stats.unsent[source] as f64 / per_page,
                        _ => stats.stayed[source] as f64,
                    };
                    let joules = pages * moved.as_joules();
                    *transfer.get_or_insert(0.0) += joules;
                    by_source[source] += joules;
                }
            }
            all
        };
        // With the model of the cells, counts are by way of sensing, and energy follows its time.
        let attempt = |step: Level, page_type: usize| {
            let time = drive.soft_reads.array[step as usize][page_type];
            energy.sense_joules(timing, time, page_type)
        };
        let read = match reads {
            Some(_) => sum(&stats.sensed, 0, &attempt),
            None => sum(&stats.sensed, 0, &|l, t| energy.read_joules(timing, l, t)),
        };
        let mut program = sum(&stats.programmed, 1, &|l, t| energy.program_joules(timing, l, t));
        if let (Some(reads), Some(moved)) = (reads, energy.transfer_out) {
            // What correcting errors sends beyond plain reads.
            for (source, planes) in reads.extra_planes.into_iter().enumerate() {
                let joules = planes as f64 / per_page * moved.as_joules();
                *transfer.get_or_insert(0.0) += joules;
                by_source[source] += joules;
            }
        }
        let mut erase = 0.0;
        for source in Source::ALL {
            let joules = counts.erase[source] as f64 * energy.erase.as_joules();
            erase += joules;
            by_source[source as usize] += joules;
        }
        if let Some(suspend) = drive.suspend {
            // The power of what is interrupted, for as long as that takes.
            let each = (suspend.pause + suspend.resume).as_secs_f64();
            let erasing = energy.erase.as_joules() / timing.erase.as_secs_f64();
            for source in Source::ALL.map(|source| source as usize) {
                let joules = stats.suspends.erase[source] as f64 * each * erasing;
                erase += joules;
                by_source[source] += joules;
                let pages = &stats.programmed[source];
                let joules = stats.suspends.program[source] as f64
                    * each
                    * programming(energy, timing, pages, geometry.units().planes);
                program += joules;
                by_source[source] += joules;
            }
        }
        let bits = geometry.shape().bits_per_cell as usize;
        let reprogram = counts.reprogrammed_pages as f64 * energy.reprogram_joules(bits);
        by_source[Source::Refresh as usize] += reprogram;
        let dies = geometry.dies() as f64 * span_seconds;
        let busy = stats.busy.into_iter().sum::<TimeSum>().as_secs_f64();
        let share = f64::from(geometry.shape().dies_per_chip);
        let idle = energy.idle.map(|power| power.as_watts() / share * (dies - busy).max(0.0));
        Some(Self { read, program, erase, reprogram, transfer, idle, by_source, by_type })
    }

    /// The sum; what the drive does not give is not in it.
    pub(super) fn total(&self) -> f64 {
        let operations = self.read + self.program + self.erase + self.reprogram;
        operations + self.transfer.unwrap_or(0.0) + self.idle.unwrap_or(0.0)
    }
}

/// Mean power in watts of programming these pages, so many planes at once.
fn programming(energy: &Energies, timing: &Timing, pages: &[[u64; 4]; 3], planes: u32) -> f64 {
    let (mut joules, mut seconds) = (0.0, 0.0);
    for level in Level::ALL {
        for (page_type, &n) in pages[level as usize].iter().enumerate() {
            joules += n as f64 * energy.program_joules(timing, level, page_type);
            seconds += n as f64 * timing.program(level, page_type).as_secs_f64();
        }
    }
    if seconds > 0.0 { joules / seconds * f64::from(planes) } else { 0.0 }
}
