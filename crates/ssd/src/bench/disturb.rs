//! Program and read disturb (Grupp Fig. 8, 10 and 11).

use super::sample::Sample;
use super::{Bench, Spread};
use nand::cells::{Wordlines, errors};
use nand::physics::{HARMLESS_REPROGRAMS, read_slope, reprogrammed_partner};
use serde_json::{Value, json};

/// The size of the part of a page from which a test takes its cells, in words.
const WORDS: usize = 16;

/// Reads after which Grupp stopped (Fig. 11).
const MOST_READS: u64 = 10_000_000;

/// For each page of an erased block in turn: half of it is programmed to 0, and programmed again.
/// The result is the pages that then hold bits which no command programmed.
///
/// The cells behave as in chips, which assume that a page is programmed once. Before a page of
/// second bits, chips sense the first bits with the reference of cells that have no second bit yet.
pub(super) fn programs(bench: &Bench<'_>) -> Value {
    let pages = bench.pages();
    let geometry = &bench.geometry;
    let wordlines = (0..pages).map(|p| geometry.wordline(p) as usize + 1).max().unwrap_or(0);
    let mut cells = Wordlines::new(bench.cell.bits(), wordlines, WORDS);
    let half: Vec<u64> = (0..WORDS).map(|w| if w < WORDS / 2 { 0 } else { u64::MAX }).collect();
    let mut disturbed: Vec<Vec<u32>> = Vec::new();
    let (mut onset, mut shares) = (None, Spread::default());
    // Bits of the block that no command programmed, by the number of reprograms, for the worst
    // page.
    let mut curve = vec![0.0_f64; HARMLESS_REPROGRAMS as usize + 1];
    for page in 0..pages {
        cells.erase(0..wordlines);
        let mut found = Vec::new();
        for times in 0..=HARMLESS_REPROGRAMS {
            let (wordline, page_type) =
                (geometry.wordline(page) as usize, geometry.page_type(page));
            cells.program_unaware(wordline, page_type as u32, &half);
            let others = (0..pages).filter(|p| *p != page);
            found = others
                .filter_map(|p| {
                    let share = cleared(&cells, geometry.wordline(p), geometry.page_type(p));
                    (share > 0.0).then_some((p, share))
                })
                .collect();
            if !found.is_empty() {
                onset = Some(onset.map_or(times, |o: u32| o.min(times)));
            }
            let of_block = found.iter().map(|(_, share)| share).sum::<f64>() / f64::from(pages);
            let worst = &mut curve[times as usize];
            *worst = worst.max(of_block);
        }
        for (_, share) in &found {
            shares.add(*share);
        }
        disturbed.push(found.into_iter().map(|(p, _)| p).collect());
    }
    // Damage to cells of one bit does not come from the levels; the model sets when it begins.
    let harmless =
        (1..=HARMLESS_REPROGRAMS + 1).find(|n| reprogrammed_partner(bench.cell.bits(), *n) > 0.0);
    json!({
        "disturbed_pages": disturbed,
        "first_reprogram_with_errors": onset,
        "share_of_disturbed_page": shares.mean(),
        "rber_of_block_by_reprograms": curve,
        "first_reprogram_given": harmless,
        "rber_given": reprogrammed_partner(bench.cell.bits(), HARMLESS_REPROGRAMS + 1),
    })
}

/// The share of an untouched page that reads 0. A wordline that has not been programmed as far as
/// the page's type has a flag that says so, and the page reads as erased.
fn cleared(cells: &Wordlines, wordline: u32, page_type: usize) -> f64 {
    if cells.programmed(wordline as usize) >> page_type == 0 {
        return 0.0;
    }
    let mut page = [0; WORDS];
    cells.sense(wordline as usize, page_type as u32, &mut page);
    let zeros: u32 = page.iter().map(|w| w.count_zeros()).sum();
    f64::from(zeros) / (64 * WORDS) as f64
}

/// A written block is read repeatedly until its first new error appears, for every block of every
/// sample, at some states of wear.
///
/// Reads are checked in batches of a 64th of the reads so far, so the answer has that accuracy.
pub(super) fn reads(bench: &Bench<'_>) -> Value {
    let types = bench.types();
    let bits_of = |t: usize| {
        let pages = (0..bench.pages()).filter(|p| bench.geometry.page_type(*p) == t).count();
        pages as u64 * bench.page_bits()
    };
    let bits: Vec<u64> = (0..types).map(bits_of).collect();
    let states = [0.0, 0.01, 0.03, 0.1, 0.3, 1.0].map(|share| {
        let cycles = (share * f64::from(bench.rated)).max(f64::from(bench.plan.cycles));
        let slopes: Vec<f64> = (0..types).map(|t| read_slope(&bench.cell, t, cycles)).collect();
        let mut first = Vec::new();
        for chip in 0..bench.plan.chips {
            let mut sample = Sample::new(bench, chip);
            for _ in sample.blocks() {
                let (mut reads, mut wrong) = (0_u64, 0);
                while wrong == 0 && reads < MOST_READS {
                    let lot = (reads / 64).max(1);
                    reads += lot;
                    let rate = |t: usize| (slopes[t] * lot as f64).min(0.5);
                    wrong =
                        (0..types).map(|t| errors(bits[t], rate(t), &mut sample.rng)).sum::<u64>();
                }
                first.push(if wrong > 0 { reads } else { u64::MAX });
            }
        }
        first.sort_unstable();
        let within = |reads: &u64| (*reads <= MOST_READS).then_some(*reads);
        json!({
            "cycles": cycles,
            "errors_per_read": (0..types).map(|t| slopes[t] * bits[t] as f64).sum::<f64>(),
            "first_error_after": {
                "least": first.first().and_then(within),
                "median": first.get(first.len() / 2).and_then(within),
                "most": first.last().and_then(within),
            },
        })
    });
    json!({ "most_reads": MOST_READS, "states": states })
}
