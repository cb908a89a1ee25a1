//! The physics of cells for `floatgate.physics`: the functions of `nand`, with their arguments checked.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ssd::physics;

/// Program/erase cycles that cells take, and how rest heals them (READY Eq. 1 to 3).
#[pyclass(frozen, module = "floatgate.physics")]
pub(crate) struct Recovery(physics::Recovery);

#[pymethods]
impl Recovery {
    #[new]
    fn new(constants: &str) -> PyResult<Self> {
        match constants {
            "printed" => Ok(Self(physics::Recovery::PRINTED)),
            "fitted" => Ok(Self(physics::Recovery::FITTED)),
            _ => Err(wrong(format!("`{constants}` is neither `printed` nor `fitted`"))),
        }
    }

    fn trapped_volts(&self, cycles: f64) -> PyResult<f64> {
        Ok(self.0.trapped_volts(positive("cycles", cycles)?))
    }

    fn remaining(&self, idle_hours: f64) -> PyResult<f64> {
        Ok(self.0.remaining(positive("idle_hours", idle_hours)?))
    }

    fn achievable_cycles(&self, idle_hours: f64) -> PyResult<f64> {
        let idle = positive("idle_hours", idle_hours)?;
        Ok(self.0.achievable_cycles(idle, physics::MARGIN_VOLTS))
    }

    fn sustainable_cycles(&self, life_hours: f64) -> PyResult<f64> {
        let life = positive("life_hours", life_hours)?;
        Ok(self.0.sustainable_cycles(life, physics::MARGIN_VOLTS))
    }

    fn supports(&self, idle_hours: f64) -> bool {
        self.0.supports(idle_hours)
    }
}

/// Cells of one kind and their rated cycles; the raw bit errors of their pages.
#[pyclass(frozen, module = "floatgate.physics")]
pub(crate) struct Cell(physics::Cell);

#[pymethods]
impl Cell {
    #[new]
    fn new(bits: u32, rated_cycles: f64) -> PyResult<Self> {
        if !(1..=4).contains(&bits) {
            return Err(wrong(format!("cells have 1 to 4 bits, not {bits}")));
        }
        if rated_cycles < 1.0 || !rated_cycles.is_finite() {
            return Err(wrong(format!("rated_cycles must be 1 or more, not {rated_cycles}")));
        }
        Ok(Self(physics::Cell::new(bits, rated_cycles)))
    }

    #[pyo3(signature = (page_type, *, step_volts = 0.25, cycles = 0.0, hours = 0.0, reads = 0.0))]
    fn rber(
        &self,
        page_type: usize,
        step_volts: f64,
        cycles: f64,
        hours: f64,
        reads: f64,
    ) -> PyResult<f64> {
        if page_type >= self.0.bits() as usize {
            let most = self.0.bits() - 1;
            return Err(wrong(format!("page_type is 0 to {most} here, not {page_type}")));
        }
        let stress = physics::Stress {
            cycles: positive("cycles", cycles)?,
            hours: positive("hours", hours)?,
            reads: positive("reads", reads)?,
            program_disturb: 0.0,
        };
        Ok(physics::rber(&self.0, page_type, step(step_volts)?, &stress))
    }

    #[pyo3(signature = (*, correctable, step_volts = 0.25, cycles = 0.0))]
    fn retention_limit_hours(
        &self,
        correctable: f64,
        step_volts: f64,
        cycles: f64,
    ) -> PyResult<f64> {
        let cycles = positive("cycles", cycles)?;
        Ok(self.0.retention_limit_hours(
            step(step_volts)?,
            cycles,
            positive("correctable", correctable)?,
        ))
    }

    fn program_time_factor(&self, cycles: f64) -> PyResult<f64> {
        let share = positive("cycles", cycles)? / self.0.rated_cycles();
        Ok(physics::program_time_factor(self.0.bits(), share))
    }
}

/// Time of programming with steps of `volts`, in microseconds (AGCR Eq. 1).
#[pyfunction]
#[pyo3(signature = (step_volts, *, gamma = 150.0))]
pub(crate) fn program_us(step_volts: f64, gamma: f64) -> PyResult<f64> {
    Ok(physics::program_us(gamma, step(step_volts)?))
}

/// Time of reading with `sensings` at each boundary, in microseconds (AGCR Eq. 2).
#[pyfunction]
pub(crate) fn read_us(sensings: u32) -> f64 {
    physics::ReadCost::AGCR.read_us(sensings)
}

/// The raw bit error rate that reading with 1, 3 or 7 sensings at each boundary corrects.
#[pyfunction]
pub(crate) fn correctable() -> Vec<(u32, f64)> {
    let code = physics::Ldpc::DEFAULT;
    (0..code.all_sensings().len()).map(|i| (code.sensings(i), code.correctable(i))).collect()
}

/// Wear of a cycle, in cycles, of blocks of which this share is reprogrammed in place (IPR Fig. 7).
#[pyfunction]
pub(crate) fn reprogram_wear(rate: f64) -> PyResult<f64> {
    if !(0.0..=1.0).contains(&rate) {
        return Err(wrong(format!("rate is a share, 0 to 1, not {rate}")));
    }
    Ok(physics::wear(rate))
}

fn step(volts: f64) -> PyResult<f64> {
    if volts > 0.0 && volts.is_finite() {
        return Ok(volts);
    }
    Err(wrong(format!("step_volts must be more than 0, not {volts}")))
}

fn positive(name: &str, value: f64) -> PyResult<f64> {
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(wrong(format!("{name} must be 0 or more, not {value}")))
}

fn wrong(what: String) -> PyErr {
    PyValueError::new_err(what)
}
