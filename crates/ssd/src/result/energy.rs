//! From counts of operations to energy: the part of the report that multiplies.

use crate::config::Drive;
use crate::device::{CellCounts, DeviceStats};
use ftl::Counts;
use kernel::{Energy, TimeSum};
use nand::{Each, Energies, FlashBlocks, Level, Source, Timing, Units};

/// Joules of a run, by operation, source and page type.
#[derive(Default)]
pub(crate) struct EnergyUse {
    pub(super) read: f64,
    pub(super) program: f64,
    pub(super) erase: f64,
    pub(super) reprogram: f64,
    /// `None`: the drive does not specify this energy.
    pub(super) transfer: Option<f64>,
    pub(super) idle: Option<f64>,
    pub(super) by_source: Each<Source, f64>,
    /// Sensing.
    pub(super) read_by_type: [f64; 4],
    pub(super) program_by_type: [f64; 4],
}

/// Pages of one type: the type, their number, and the joules of each.
type Pages = (usize, u64, f64);

impl EnergyUse {
    /// The energy of a run; `None` if the drive does not give the energy of its operations.
    ///
    /// `span_seconds` is the time until the last operation was done. A chip idles while its dies
    /// do: each die counts for its share of the chip's idle power.
    pub(crate) fn of(
        drive: &Drive,
        (counts, erased_single): (&Counts, &Each<Source, FlashBlocks>),
        stats: &DeviceStats,
        reads: Option<&CellCounts>,
        span_seconds: f64,
    ) -> Option<Self> {
        let energy = drive.energy.as_ref()?;
        let (timing, geometry) = (&drive.timing, &drive.geometry);
        let single = drive.single.as_ref().and_then(|single| single.energy.as_ref());
        let mut used = Self::default();
        for source in Source::ALL {
            let mut pages = 0;
            let full = sensed(drive, energy, stats, reads.is_some(), source);
            let single = single.map(|of| (0, stats.single.sensed[source], of.read[0].as_joules()));
            for (page_type, n, each) in full.chain(single) {
                pages += n;
                let joules = n as f64 * each;
                used.read += joules;
                used.read_by_type[page_type] += joules;
                used.by_source[source] += joules;
            }
            let sent = pages as f64 - geometry.pages_of(stats.unsent[source]);
            used.transfer(source, sent, energy.transfer_out);
        }
        for source in Source::ALL {
            let mut pages = 0;
            let full = programmed(energy, timing, stats, source);
            let single =
                single.map(|of| (0, stats.single.programmed[source], of.program[0].as_joules()));
            for (page_type, n, each) in full.chain(single) {
                pages += n;
                let joules = n as f64 * each;
                used.program += joules;
                used.program_by_type[page_type] += joules;
                used.by_source[source] += joules;
            }
            let taken_in = pages as f64 - stats.stayed[source].as_f64();
            used.transfer(source, taken_in, energy.transfer_in);
        }
        // The transfers for error correction, beyond plain reads.
        for (source, units) in reads.into_iter().flat_map(|reads| reads.extra_planes.iter()) {
            used.transfer(source, geometry.pages_of(Units::new(*units)), energy.transfer_out);
        }
        for source in Source::ALL {
            let of_single = erased_single[source].as_f64();
            let full = (counts.erase[source].as_f64() - of_single, energy.erase);
            let single = single.map(|of| (of_single, of.erase));
            let modes = std::iter::once(full).chain(single);
            let joules: f64 = modes.map(|(blocks, each)| blocks * each.as_joules()).sum();
            used.erase += joules;
            used.by_source[source] += joules;
        }
        if let Some(suspend) = drive.suspend {
            // The power of the interrupted command, for as long as the suspend takes.
            let each = (suspend.pause + suspend.resume).as_secs_f64();
            let erasing = energy.erase.as_joules() / timing.erase.as_secs_f64();
            for source in Source::ALL {
                let joules = stats.suspends.erase[source] as f64 * each * erasing;
                used.erase += joules;
                used.by_source[source] += joules;
                let pages = &stats.programmed[source];
                let joules = stats.suspends.program[source] as f64
                    * each
                    * programming(energy, timing, pages, geometry.units().planes);
                used.program += joules;
                used.by_source[source] += joules;
            }
        }
        let each = energy.reprogram_joules(geometry.shape().bits_per_cell as usize);
        for source in Source::ALL {
            let joules = counts.reprogrammed_pages[source].as_f64() * each;
            used.reprogram += joules;
            used.by_source[source] += joules;
        }
        let dies = geometry.dies() as f64 * span_seconds;
        let busy = (stats.busy.sum::<TimeSum>() + stats.suspending).as_secs_f64();
        let share = f64::from(geometry.shape().dies_per_chip);
        used.idle = energy.idle.map(|power| power.as_watts() / share * (dies - busy).max(0.0));
        Some(used)
    }

    /// Pages cross the channel.
    fn transfer(&mut self, source: Source, pages: f64, each: Option<Energy>) {
        let Some(each) = each else { return };
        let joules = pages * each.as_joules();
        *self.transfer.get_or_insert(0.0) += joules;
        self.by_source[source] += joules;
    }

    /// The sum. It leaves out quantities that the drive does not give.
    pub(super) fn total(&self) -> f64 {
        let operations = self.read + self.program + self.erase + self.reprogram;
        operations + self.transfer.unwrap_or(0.0) + self.idle.unwrap_or(0.0)
    }
}

/// The pages sensed for a source. With the model of the cells, energy follows the time of each attempt.
fn sensed(
    drive: &Drive,
    energy: &Energies,
    stats: &DeviceStats,
    by_cells: bool,
    source: Source,
) -> impl Iterator<Item = Pages> {
    let (pages, attempts) = (&stats.sensed[source], &stats.attempts[source]);
    Level::ALL.into_iter().zip(attempts).enumerate().flat_map(move |(way, (level, attempts))| {
        (0..4).map(move |page_type| {
            let each = if by_cells {
                let time = drive.soft_reads.array[way][page_type];
                energy.sense_joules(&drive.timing, time, page_type)
            } else {
                energy.read_joules(&drive.timing, level, page_type)
            };
            (page_type, pages[level][page_type] + attempts[page_type], each)
        })
    })
}

/// The pages programmed for a source.
fn programmed(
    energy: &Energies,
    timing: &Timing,
    stats: &DeviceStats,
    source: Source,
) -> impl Iterator<Item = Pages> {
    stats.programmed[source].into_iter().flat_map(move |(level, pages)| {
        let each = move |page_type| energy.program_joules(timing, level, page_type);
        pages.into_iter().enumerate().map(move |(page_type, n)| (page_type, n, each(page_type)))
    })
}

/// Mean power in watts of programming these pages, several planes at once.
fn programming(
    energy: &Energies,
    timing: &Timing,
    pages: &Each<Level, [u64; 4]>,
    planes: u32,
) -> f64 {
    let (mut joules, mut seconds) = (0.0, 0.0);
    for (level, pages) in pages.iter() {
        for (page_type, &n) in pages.iter().enumerate() {
            joules += n as f64 * energy.program_joules(timing, level, page_type);
            seconds += n as f64 * timing.program(level, page_type).as_secs_f64();
        }
    }
    if seconds > 0.0 { joules / seconds * f64::from(planes) } else { 0.0 }
}
