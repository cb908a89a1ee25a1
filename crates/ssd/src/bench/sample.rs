//! One chip in its socket.

use super::Bench;
use kernel::{Dur, Rng};
use nand::physics::{Variation, program_time_factor};
use nand::{Array, BlockId, Layouts, Level, Mode, Nothing};

/// A chip behind the rules of the array, with a clock and a meter.
pub(super) struct Sample<'a> {
    bench: &'a Bench<'a>,
    array: Array<Nothing>,
    /// Cycles that each block had before, all the same.
    before: u32,
    /// Time on the bench: bus and array.
    pub clock: Dur,
    /// Energy of operations and transfers, in joules.
    pub joules: f64,
    /// Its errors relative to others of its kind, page by page.
    pub variation: Variation,
    pub rng: Rng,
}

impl<'a> Sample<'a> {
    pub(super) fn new(bench: &'a Bench<'a>, chip: u32) -> Self {
        let layouts = Layouts::new(bench.pages());
        let stream = format!("bench/{}/{chip}", bench.name);
        Self {
            bench,
            array: Array::new(bench.geometry, layouts),
            before: 0,
            clock: Dur::ZERO,
            joules: 0.0,
            variation: Variation::draw(
                &mut Rng::named(bench.plan.seed, &format!("{stream}/variation")),
                bench.pages(),
            ),
            rng: Rng::named(bench.plan.seed, &stream),
        }
    }

    /// The blocks of the sample.
    pub(super) fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.bench.plan.blocks).map(BlockId::from_u32)
    }

    /// Puts every block through cycles whose times and errors are not recorded.
    pub(super) fn stress(&mut self, cycles: u32) {
        self.before += cycles;
    }

    /// Program/erase cycles of a block so far.
    pub(super) fn cycles(&self, block: BlockId) -> u32 {
        self.before + self.array.erases()[block]
    }

    fn spend(&mut self, array: Dur, transfer: Dur, joules: f64) {
        self.clock += self.bench.timing.bus.parts().0 + transfer + array;
        self.joules += joules;
    }

    /// Erases a block. Returns its time and energy in the array.
    pub(super) fn erase(&mut self, block: BlockId) -> (Dur, f64) {
        self.array.erase(block, Mode::Full);
        let time = self.bench.timing.erase;
        let joules = self.bench.energy.as_ref().map_or(0.0, |e| e.erase.as_joules());
        self.spend(time, Dur::ZERO, joules);
        (time, joules)
    }

    /// Programs a page. Returns its time and energy in the array.
    pub(super) fn program(&mut self, block: BlockId, page: u32) -> (Dur, f64) {
        let bench = self.bench;
        self.array.program(bench.geometry.ppn(block, page), ());
        let page_type = bench.geometry.page_type(page);
        let fresh = bench.timing.program(Level::MediumCost, page_type);
        let share = f64::from(self.cycles(block)) / f64::from(bench.rated);
        let factor = program_time_factor(bench.cell.bits(), share);
        let time = Dur::from_secs_f64(fresh.as_secs_f64() * factor);
        // Power is constant (Grupp 3.4), so energy falls with time.
        let energy = bench.energy.as_ref();
        let joules = energy.map_or(0.0, |e| e.program[page_type].as_joules() * factor);
        let transfer = energy.and_then(|e| e.transfer_in).map_or(0.0, kernel::Energy::as_joules);
        self.spend(time, bench.timing.bus.parts().1, joules + transfer);
        (time, joules)
    }

    /// Reads a page. Returns its time and energy in the array, and its errors.
    pub(super) fn read(&mut self, block: BlockId, page: u32) -> (Dur, f64) {
        let bench = self.bench;
        self.array.read(bench.geometry.ppn(block, page));
        let page_type = bench.geometry.page_type(page);
        let time = bench.timing.read(Level::MediumCost, page_type);
        let energy = bench.energy.as_ref();
        let joules = energy.map_or(0.0, |e| e.read[page_type].as_joules());
        let transfer = energy.and_then(|e| e.transfer_out).map_or(0.0, kernel::Energy::as_joules);
        self.spend(time, bench.timing.bus.parts().1, joules + transfer);
        (time, joules)
    }

    /// The mean error rate of the pages of a type, as a multiple of the rate for their kind.
    pub(super) fn factor_of_type(&self, page_type: usize) -> f64 {
        let bench = self.bench;
        let mut of_type = super::Spread::default();
        for (page, factor) in self.variation.of_pages().iter().enumerate() {
            if bench.geometry.page_type(page as u32) == page_type {
                of_type.add(*factor);
            }
        }
        of_type.mean()
    }
}
