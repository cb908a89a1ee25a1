//! The energy of flash operations.

use crate::{Level, Timing};
use kernel::{Dur, Energy, Power};

/// The energies of a drive's operations by page type (0 = least significant bit).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Energies {
    /// Sensing a page written at the traditional level.
    pub read: [Energy; 4],
    /// Programming a page at the traditional level.
    pub program: [Energy; 4],
    /// Erasing a block.
    pub erase: Energy,
    /// Sending a page over the channel; `None`: not known, and not counted.
    pub transfer_out: Option<Energy>,
    /// Taking a page in; `None`: not known, and not counted.
    pub transfer_in: Option<Energy>,
    /// The power of an idle chip; `None` if it is not known, and then it is not counted.
    pub idle: Option<Power>,
}

impl Energies {
    /// Joules of sensing a page of this type that was written at this level.
    ///
    /// Power does not depend on the level, as it does not on fast and slow pages (Grupp 3.4), so
    /// energy is in proportion to time.
    pub fn read_joules(&self, timing: &Timing, level: Level, page_type: usize) -> f64 {
        self.sense_joules(timing, timing.read(level, page_type), page_type)
    }

    /// Joules of sensing a page of this type for `time`; see [`Self::read_joules`].
    pub fn sense_joules(&self, timing: &Timing, time: Dur, page_type: usize) -> f64 {
        let usual = timing.read(Level::MediumCost, page_type);
        self.read[page_type].as_joules() * in_proportion(time.as_ns(), usual.as_ns())
    }

    /// Joules of programming a page of this type at this level; see [`Self::read_joules`].
    pub fn program_joules(&self, timing: &Timing, level: Level, page_type: usize) -> f64 {
        let (time, usual) =
            (timing.program(level, page_type), timing.program(Level::MediumCost, page_type));
        self.program[page_type].as_joules() * in_proportion(time.as_ns(), usual.as_ns())
    }

    /// Joules of programming the last page of a wordline in place. The pages that must be known for
    /// it are reads like others.
    pub fn reprogram_joules(&self, bits_per_cell: usize) -> f64 {
        self.program[bits_per_cell - 1].as_joules()
    }
}

fn in_proportion(time: u64, usual: u64) -> f64 {
    if time == usual { 1.0 } else { time as f64 / usual.max(1) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bus;
    use kernel::Dur;

    #[test]
    fn energy_follows_time_across_levels() {
        let energy = |uj: u64| format!("{uj}uJ").parse::<Energy>().unwrap();
        let energies = Energies {
            read: [energy(12); 4],
            program: [energy(43), energy(187), energy(0), energy(0)],
            erase: energy(319),
            transfer_out: None,
            transfer_in: None,
            idle: None,
        };
        let mut timing = Timing::uniform(Dur::us(170), Dur::us(600), Dur::ms(3), Bus::Included);
        timing.program[Level::HighCost] = [Dur::us(800); 4];
        timing.read[Level::LowCost] = [Dur::us(310); 4];
        let near = |found: f64, micro: f64| assert!((found * 1e6 / micro - 1.0).abs() < 1e-12);
        near(energies.program_joules(&timing, Level::MediumCost, 1), 187.0);
        near(energies.program_joules(&timing, Level::HighCost, 1), 187.0 * 800.0 / 600.0);
        near(energies.read_joules(&timing, Level::LowCost, 0), 12.0 * 310.0 / 170.0);
        near(energies.reprogram_joules(2), 187.0);
    }
}
