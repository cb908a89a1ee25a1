//! The virtual test bench: the procedures by which Grupp et al. ("Characterizing Flash Memory",
//! MICRO 2009) measured chips, run on simulated ones.
//!
//! A *sample* is one chip in its socket. It has a plane of some blocks in an array that checks the
//! rules of flash, a clock and a power meter. Bit errors are drawn at the rates of `nand::physics`.
//! The procedures have no other access to it. They erase, program and read pages, and read the
//! clock, the meter and the errors.
//!
//! Not all results are of one kind. `docs/bench.md` marks every number as an *input* of the model
//! or as its *output*.

mod disturb;
mod operations;
mod sample;
mod wear;

use crate::config::chip_drive;
use nand::Geometry;
use nand::physics::{Cell, STEP_VOLTS};
use serde_json::{Value, json};

/// How much to measure.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BenchPlan {
    /// Samples of the chip.
    pub chips: u32,
    /// Blocks of each.
    pub blocks: u32,
    /// Erase–program–read cycles of each measurement.
    pub cycles: u32,
    /// Erases from one measurement of wear to the next, those of the measurement included.
    pub stress: u32,
    /// The seed of all random draws.
    pub seed: u64,
}

impl BenchPlan {
    /// The plan of the paper: 16 blocks on each of two chips, ten cycles, then 990 without reads.
    pub const PAPER: Self = Self { chips: 2, blocks: 16, cycles: 10, stress: 1_000, seed: 1 };
}

/// The chip on the bench.
struct Bench<'a> {
    name: &'a str,
    plan: BenchPlan,
    geometry: Geometry,
    timing: nand::Timing,
    energy: Option<nand::Energies>,
    cell: Cell,
    rated: u32,
}

impl Bench<'_> {
    fn page_bits(&self) -> u64 {
        self.geometry.page_size().get() * 8
    }

    fn pages(&self) -> u32 {
        self.geometry.pages_per_block()
    }

    fn types(&self) -> usize {
        self.cell.bits() as usize
    }

    /// The raw bit error rate of a page type at some cycles, read at once.
    fn rber(&self, page_type: usize, cycles: f64) -> f64 {
        self.cell.rber(page_type, STEP_VOLTS, cycles, 0.0)
    }
}

/// Everything that the bench finds out about a built-in chip, as JSON; `None` if there is none of
/// that name. `tick` is given the name of the next step, its number and the number of steps. If it
/// returns `false`, the bench stops and returns `None` too.
// Long for its steps, one after the other.
pub fn bench(
    name: &str,
    plan: &BenchPlan,
    tick: &mut dyn FnMut(&'static str, u64, u64) -> bool,
) -> Option<Value> {
    let drive = chip_drive(name)?;
    let one_plane = nand::Shape {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: plan.blocks,
        ..*drive.geometry.shape()
    };
    let geometry = Geometry::new(one_plane).ok()?.with_order(drive.geometry.order())?;
    let bits = one_plane.bits_per_cell;
    // A chip without a rating gets the stress of the rating that others of its kind have.
    let rated = match drive.reliability.endurance {
        0 => [100_000, 10_000, 3_000, 1_000][bits as usize - 1],
        cycles => cycles,
    };
    let bench = Bench {
        name,
        plan: *plan,
        geometry,
        timing: drive.timing,
        energy: drive.energy,
        cell: Cell::new(bits, rated.into()),
        rated,
    };
    let mut done = 0;
    let mut part = |what: &'static str, measure: &dyn Fn(&Bench<'_>) -> Value| {
        let go_on = tick(what, done, 5);
        done += 1;
        go_on.then(|| measure(&bench))
    };
    let operations = part("operations", &operations::measure)?;
    let wear = part("wear", &wear::measure)?;
    let cells = part("cells", &wear::of_cells)?;
    let program_disturb = part("program disturb", &disturb::programs)?;
    let read_disturb = part("read disturb", &disturb::reads)?;
    Some(json!({
        "chip": name,
        "plan": {
            "chips": plan.chips,
            "blocks": plan.blocks,
            "cycles": plan.cycles,
            "stress": plan.stress,
            "seed": plan.seed,
        },
        "bits_per_cell": bits,
        "rated_cycles": rated,
        "page_bytes": geometry.page_size().get(),
        "pages_per_block": geometry.pages_per_block(),
        "page_types": (0..geometry.pages_per_block()).map(|p| geometry.page_type(p)).collect::<Vec<_>>(),
        "operations": operations,
        "wear": wear,
        "cells": cells,
        "program_disturb": program_disturb,
        "read_disturb": read_disturb,
    }))
}

/// Mean and standard deviation of the added values.
#[derive(Copy, Clone, Default, Debug)]
struct Spread {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, x: f64) {
        self.n += 1.0;
        self.sum += x;
        self.squares += x * x;
    }

    fn mean(&self) -> f64 {
        if self.n > 0.0 { self.sum / self.n } else { 0.0 }
    }

    fn deviation(&self) -> f64 {
        let mean = self.mean();
        if self.n > 0.0 { (self.squares / self.n - mean * mean).max(0.0).sqrt() } else { 0.0 }
    }

    fn json(&self) -> Value {
        json!({ "mean": self.mean(), "deviation": self.deviation() })
    }
}
