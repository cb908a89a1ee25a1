//! Wear-out stress: errors and program time over life (Grupp Fig. 5 to 7 and 9).

use super::Bench;
use super::sample::Sample;
use kernel::Rng;
use nand::cells::{History, Voltages, errors};
use nand::physics::STEP_VOLTS;
use serde_json::{Value, json};

/// Erases up to which SLC and other chips are stressed (Grupp 3.5).
const LAST: [u32; 2] = [1_000_000, 100_000];

/// Ten cycles in which random data are written and read, then 990 without reads, repeatedly.
///
/// Errors are drawn for each read, for all pages of a type in a block at their mean rate. A sum of
/// binomials has the variance of one at the mean rate, except for a share that is as small as the
/// rates. For single pages errors are drawn over the rated life. Each sample has rates of its own.
// Long for the loops of the protocol, whose order is that of the draws.
pub(super) fn measure(bench: &Bench<'_>) -> Value {
    let plan = &bench.plan;
    let last = LAST[usize::from(bench.types() > 1)];
    let points = last / plan.stress;
    let types = bench.types();
    let of_type =
        |t: usize| (0..bench.pages()).filter(|p| bench.geometry.page_type(*p) == t).count() as u64;
    let pages_of_type: Vec<u64> = (0..types).map(of_type).collect();
    let reads = f64::from(plan.blocks * plan.cycles);
    let mut of_pages = vec![vec![0_u64; bench.pages() as usize]; plan.chips as usize];
    let mut factors = Vec::new();
    let (mut cycles, mut program) = (Vec::new(), Vec::new());
    let mut rber = vec![Vec::new(); plan.chips as usize];
    let mut of_types = vec![Vec::new(); types];
    for chip in 0..plan.chips {
        let mut sample = Sample::new(bench, chip);
        let of_type: Vec<f64> = (0..types).map(|t| sample.factor_of_type(t)).collect();
        factors.push(sample.variation.of_pages().to_vec());
        for point in 0..points {
            let begun = point * plan.stress;
            if chip == 0 {
                cycles.push(begun);
            }
            let mut wrong = vec![0_u64; types];
            let mut took = super::Spread::default();
            for cycle in 1..=plan.cycles {
                for block in sample.blocks() {
                    sample.erase(block);
                    for page in 0..bench.pages() {
                        took.add(sample.program(block, page).0.as_secs_f64() * 1e6);
                    }
                    debug_assert_eq!(sample.cycles(block), begun + cycle);
                }
                for t in 0..types {
                    let rate = bench.rber(t, f64::from(begun + cycle)) * of_type[t];
                    for _ in 0..plan.blocks {
                        let bits = pages_of_type[t] * bench.page_bits();
                        wrong[t] += errors(bits, rate.min(0.5), &mut sample.rng);
                    }
                }
                if begun < bench.rated {
                    for (page, sum) in of_pages[chip as usize].iter_mut().enumerate() {
                        let t = bench.geometry.page_type(page as u32);
                        let factor = sample.variation.of_pages()[page];
                        let rate = bench.rber(t, f64::from(begun + cycle)) * factor;
                        let bits = bench.page_bits() * u64::from(plan.blocks);
                        *sum += errors(bits, rate.min(0.5), &mut sample.rng);
                    }
                }
            }
            let bits = |t: usize| pages_of_type[t] as f64 * bench.page_bits() as f64 * reads;
            let all: f64 = (0..types).map(bits).sum();
            rber[chip as usize].push(wrong.iter().sum::<u64>() as f64 / all);
            if chip == 0 {
                program.push(took.mean());
                for t in 0..types {
                    of_types[t].push(wrong[t] as f64 / bits(t));
                }
            }
            sample.stress(plan.stress - plan.cycles);
        }
    }
    let measured = bench.rated.div_ceil(plan.stress).min(points);
    let read_bits = f64::from(measured * plan.cycles * plan.blocks) * bench.page_bits() as f64;
    let rates = |sums: &Vec<u64>| sums.iter().map(|n| *n as f64 / read_bits).collect::<Vec<_>>();
    json!({
        "cycles": cycles,
        "rber_of_chips": rber,
        "rber_of_types": of_types,
        "program_us": program,
        "rber_of_pages": of_pages.iter().map(rates).collect::<Vec<_>>(),
        "factors_given": factors,
    })
}

/// Error rates of whole blocks of cells, each with a voltage of its own, beside the closed form:
/// fresh, at the rated cycles, and at six times those.
pub(super) fn of_cells(bench: &Bench<'_>) -> Value {
    let words = (bench.page_bits() / 64) as usize;
    let types = bench.types();
    let wordlines = bench.pages() as usize / types;
    let mut block = Voltages::new(bench.cell, wordlines, words);
    let mut page = vec![0; words];
    let states = [0.0, 1.0, 6.0].map(|share| {
        let cycles = share * f64::from(bench.rated);
        let history = History { step_volts: STEP_VOLTS, cycles, hours: 0.0 };
        let mut wrong = vec![0_u64; types];
        let blocks = bench.plan.blocks.div_ceil(4);
        for chip in 0..bench.plan.chips {
            let mut sample = Sample::new(bench, chip);
            let mut draw =
                Rng::named(bench.plan.seed, &format!("bench/{}/{chip}/data", bench.name));
            for _ in 0..blocks {
                let mut data = Vec::new();
                block.write(&history, &mut sample.rng, |_, _, words| {
                    for word in words.iter_mut() {
                        *word = draw.bits();
                    }
                    data.extend_from_slice(words);
                });
                for (i, was) in data.chunks_exact(words).enumerate() {
                    let (wordline, t) = (i / types, i % types);
                    block.sense(wordline, t as u32, 0, &mut page);
                    let apart = page.iter().zip(was).map(|(a, b)| (a ^ b).count_ones());
                    wrong[t] += u64::from(apart.sum::<u32>());
                }
            }
        }
        let bits = (wordlines * words * 64) as f64 * f64::from(blocks * bench.plan.chips);
        let closed: Vec<f64> = (0..types).map(|t| bench.rber(t, cycles)).collect();
        json!({
            "cycles": cycles,
            "bits_of_type": bits,
            "rber_of_types": wrong.iter().map(|n| *n as f64 / bits).collect::<Vec<_>>(),
            "closed_form": closed,
        })
    });
    json!(states)
}
