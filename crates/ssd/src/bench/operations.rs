//! Times, bandwidth, power and energy (Grupp Fig. 2 to 4 and Table 3).

use super::sample::Sample;
use super::{Bench, Spread};
use kernel::Dur;
use serde_json::{Value, json};

/// Ten erase–program–read cycles on every block of every sample. Long because of the loops of the
/// protocol, whose order is that of the draws.
pub(super) fn measure(bench: &Bench<'_>) -> Value {
    let pages = bench.pages();
    let [mut read, mut program, mut erase] = [Spread::default(); 3];
    let mut by_type = vec![Spread::default(); bench.types()];
    let mut by_page = vec![Spread::default(); pages as usize];
    // Time on the bench and energy of each phase, and energy in the array alone.
    let (mut time, mut joules, mut array) = ([0.0; 3], [0.0; 3], [0.0; 3]);
    let mut array_of_type = vec![Spread::default(); bench.types()];
    for chip in 0..bench.plan.chips {
        let mut sample = Sample::new(bench, chip);
        for _ in 0..bench.plan.cycles {
            for block in sample.blocks() {
                for phase in 0..3 {
                    let (clock, meter) = (sample.clock, sample.joules);
                    if phase == 0 {
                        let (took, energy) = sample.erase(block);
                        erase.add(micros(took));
                        array[0] += energy;
                    }
                    for page in (0..pages).filter(|_| phase > 0) {
                        let page_type = bench.geometry.page_type(page);
                        if phase == 1 {
                            let (took, energy) = sample.program(block, page);
                            program.add(micros(took));
                            by_type[page_type].add(micros(took));
                            by_page[page as usize].add(micros(took));
                            array_of_type[page_type].add(energy);
                            array[1] += energy;
                        } else {
                            let (took, energy) = sample.read(block, page);
                            read.add(micros(took));
                            array[2] += energy;
                        }
                    }
                    time[phase] += (sample.clock - clock).as_secs_f64();
                    joules[phase] += sample.joules - meter;
                }
            }
        }
    }
    let blocks = f64::from(bench.plan.chips * bench.plan.blocks * bench.plan.cycles);
    let bits = blocks * f64::from(pages) * bench.page_bits() as f64;
    let metered = bench.energy.is_some();
    let per_bit = |joules: f64| metered.then_some(joules / bits * 1e9);
    let of_types: Vec<_> = array_of_type
        .iter()
        .map(|e| metered.then_some(e.mean() / bench.page_bits() as f64 * 1e9))
        .collect();
    let power = |phase: usize| metered.then_some(joules[phase] / time[phase] * 1e3);
    let mb_per_s = |phase: usize| bits / 8.0 / time[phase] / 1e6;
    json!({
        "read_us": read.json(),
        "program_us": program.json(),
        "erase_us": erase.json(),
        "program_us_of_types": by_type.iter().map(Spread::json).collect::<Vec<_>>(),
        "program_us_of_pages": by_page.iter().map(Spread::mean).collect::<Vec<_>>(),
        "read_mb_per_s": mb_per_s(2),
        "program_mb_per_s": mb_per_s(1),
        "read_nj_per_bit": per_bit(array[2]),
        "program_nj_per_bit": per_bit(array[1]),
        "program_nj_per_bit_of_types": of_types,
        "erase_nj_per_bit": per_bit(array[0]),
        "average_read_mw": power(2),
        "average_program_mw": power(1),
        "average_erase_mw": power(0),
        "idle_mw": bench.energy.as_ref().and_then(|e| e.idle).map(|p| p.as_watts() * 1e3),
    })
}

fn micros(time: Dur) -> f64 {
    time.as_ns() as f64 / 1e3
}
