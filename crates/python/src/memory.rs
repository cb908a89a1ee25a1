//! Checks that the memory of a run is available. The check comes before the run, because a shortage
//! in the middle would end the process.

use pyo3::PyResult;
use ssd::Drive;

use crate::error::{code, input};

/// Refuses a drive for which the system gives no memory.
pub(crate) fn check(drive: &Drive) -> PyResult<()> {
    let bytes = ssd::memory(drive);
    let mut probe: Vec<u8> = Vec::new();
    // Requested and given back: nothing is written, so no memory is really used.
    let given = usize::try_from(bytes).is_ok_and(|n| probe.try_reserve_exact(n).is_ok());
    if given {
        return Ok(());
    }
    let said = format!(
        "a drive of {} pages takes up to {:.1} GB of memory to simulate, and the system does not \
         give it. Fewer blocks (geometry.blocks-per-plane) or larger pages (geometry.page-size) \
         need less",
        drive.geometry.pages(),
        bytes as f64 * 1e-9,
    );
    Err(input(code::MEMORY, said))
}
