//! The parts that decide the engine's speed, each against its alternatives.
//!
//! `cargo bench -p floatgate-ssd --bench micro`. Compare rows of one call only.

use ftl::Lpn;
use kernel::{Agenda, IndexVec, Rng, Time, prefetch};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

fn main() {
    divan::main();
}

/// The hold model: take the earliest, plan it anew, at a constant number of pending events.
#[divan::bench_group(name = "next_event")]
mod next_event {
    use super::{Agenda, BinaryHeap, Reverse, Rng, Time};
    use divan::{Bencher, counter::ItemsCount};

    const EVENTS: u64 = 10_000;

    #[divan::bench(args = [8, 64, 256, 1024])]
    fn agenda(bencher: Bencher<'_, '_>, actors: usize) {
        let mut agenda = Agenda::new(actors);
        let mut rng = Rng::named(1, "bench");
        (0..actors).for_each(|a| agenda.set(a, Time::from_ns(rng.below_u64(1_000_000))));
        bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
            for _ in 0..EVENTS {
                let (now, actor) = agenda.peek().expect("all actors have plans");
                let later = Time::from_ns(now.as_ns() + rng.below_u64(1_000_000));
                agenda.set(actor, later);
            }
        });
    }

    #[divan::bench(args = [8, 64, 256, 1024])]
    fn binary_heap(bencher: Bencher<'_, '_>, pending: usize) {
        let mut rng = Rng::named(1, "bench");
        let mut heap: BinaryHeap<Reverse<u128>> = (0..pending)
            .map(|a| Reverse(u128::from(rng.below_u64(1_000_000)) << 64 | a as u128))
            .collect();
        bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
            for _ in 0..EVENTS {
                let Reverse(key) = heap.pop().expect("it never empties");
                let later = (key >> 64) + u128::from(rng.below_u64(1_000_000));
                heap.push(Reverse(later << 64 | key & 0xff_ffff));
            }
        });
    }
}

/// Updating the map of a 64 GiB drive (16 Mi entries of four bytes) at random.
#[divan::bench_group(name = "random_map_update")]
mod random_map_update {
    use super::{IndexVec, Lpn, Rng, prefetch};
    use divan::{Bencher, black_box, counter::ItemsCount};

    const ENTRIES: u32 = 16 << 20;
    const UPDATES: u64 = 100_000;

    #[divan::bench]
    fn as_it_comes(bencher: Bencher<'_, '_>) {
        let mut map: IndexVec<Lpn, u32> = IndexVec::filled(0, ENTRIES as usize);
        let mut rng = Rng::named(1, "bench");
        bencher.counter(ItemsCount::new(UPDATES)).bench_local(|| {
            let mut sum = 0;
            for i in 0..UPDATES {
                let entry = &mut map[Lpn::from_u32(rng.below(ENTRIES))];
                sum += std::mem::replace(entry, i as u32);
            }
            black_box(sum)
        });
    }

    #[divan::bench]
    fn fetched_one_request_ahead(bencher: Bencher<'_, '_>) {
        let mut map: IndexVec<Lpn, u32> = IndexVec::filled(0, ENTRIES as usize);
        let mut rng = Rng::named(1, "bench");
        bencher.counter(ItemsCount::new(UPDATES)).bench_local(|| {
            let mut sum = 0;
            let mut next = Lpn::from_u32(rng.below(ENTRIES));
            for i in 0..UPDATES {
                let lpn = next;
                next = Lpn::from_u32(rng.below(ENTRIES));
                prefetch(&map[next]);
                sum += std::mem::replace(&mut map[lpn], i as u32);
            }
            black_box(sum)
        });
    }
}

/// Finding the block that gains most: a scan of the plane's ranks, once for each victim, against
/// keeping blocks in buckets by valid count, once for each page that dies.
#[divan::bench_group(name = "greedy_victim")]
mod greedy_victim {
    use super::Rng;
    use divan::{Bencher, black_box, counter::ItemsCount};

    /// As it was while a block had at most 65,535 slots.
    #[divan::bench(args = [512, 2048, 16384])]
    fn scan_of_16_bits(bencher: Bencher<'_, '_>, blocks: usize) {
        let mut rng = Rng::named(1, "bench");
        let ranks: Vec<u16> = (0..blocks).map(|_| rng.below(64) as u16 + 1).collect();
        bencher.counter(ItemsCount::new(1_u64)).bench_local(|| {
            let ranks = black_box(&ranks[..]);
            let least = ranks.iter().fold(i16::MAX, |a, &r| a.min(r.cast_signed()));
            ranks.iter().position(|&r| r == least.cast_unsigned())
        });
    }

    #[divan::bench(args = [512, 2048, 16384])]
    fn scan_once(bencher: Bencher<'_, '_>, blocks: usize) {
        let mut rng = Rng::named(1, "bench");
        let ranks: Vec<u32> = (0..blocks).map(|_| rng.below(64) + 1).collect();
        bencher.counter(ItemsCount::new(1_u64)).bench_local(|| {
            let ranks = black_box(&ranks[..]);
            let least = ranks.iter().fold(i32::MAX, |a, &r| a.min(r.cast_signed()));
            ranks.iter().position(|&r| r == least.cast_unsigned())
        });
    }

    /// One list for each count, linked through columns: the memory that an invalidated page
    /// touches.
    #[divan::bench(args = [512, 2048, 16384])]
    fn move_between_buckets(bencher: Bencher<'_, '_>, blocks: usize) {
        const DEATHS: u64 = 10_000;
        let mut rng = Rng::named(1, "bench");
        let none = u32::MAX;
        let mut next = vec![none; blocks];
        let mut previous = vec![none; blocks];
        let mut count = vec![64_u32; blocks];
        let mut heads = vec![none; 65];
        for b in 0..blocks as u32 {
            next[b as usize] = heads[64];
            if heads[64] != none {
                previous[heads[64] as usize] = b;
            }
            heads[64] = b;
        }
        bencher.counter(ItemsCount::new(DEATHS)).bench_local(|| {
            for _ in 0..DEATHS {
                let b = rng.below(blocks as u32) as usize;
                let (before, after, bucket) = (previous[b], next[b], count[b]);
                match before {
                    u32::MAX => heads[bucket as usize] = after,
                    p => next[p as usize] = after,
                }
                if after != none {
                    previous[after as usize] = before;
                }
                let bucket = if bucket == 0 { 64 } else { bucket - 1 };
                count[b] = bucket;
                previous[b] = none;
                next[b] = heads[bucket as usize];
                if next[b] != none {
                    previous[next[b] as usize] = b as u32;
                }
                heads[bucket as usize] = b as u32;
            }
        });
    }
}

/// Cells that hold bits: a page of 8 KiB, a block of 64 wordlines of it, and a page of a run.
#[divan::bench_group(name = "cells")]
mod cells {
    use super::Rng;
    use divan::{Bencher, counter::ItemsCount};
    use kernel::Bytes;
    use nand::cells::{Bits, History, Voltages, Wordlines};
    use nand::physics::{Cell, STEP_VOLTS};
    use nand::{BlockId, Geometry, Layouts, Mode, Ppn, Shape, Store};

    const WORDS: usize = 1024;

    fn page(rng: &mut Rng) -> Vec<u64> {
        (0..WORDS).map(|_| rng.bits()).collect()
    }

    #[divan::bench(args = [1, 2, 3, 4])]
    fn program_a_wordline(bencher: Bencher<'_, '_>, bits: u32) {
        let mut rng = Rng::named(1, "bench");
        let pages: Vec<_> = (0..bits).map(|_| page(&mut rng)).collect();
        let mut cells = Wordlines::new(bits, 1, WORDS);
        bencher.counter(ItemsCount::new(WORDS * 64)).bench_local(|| {
            cells.erase(0..1);
            for (t, data) in pages.iter().enumerate() {
                cells.program(0, t as u32, data).expect("erased cells can be programmed");
            }
        });
    }

    #[divan::bench(args = [1, 2, 3, 4])]
    fn sense_a_page(bencher: Bencher<'_, '_>, bits: u32) {
        let mut rng = Rng::named(1, "bench");
        let mut cells = Wordlines::new(bits, 1, WORDS);
        for t in 0..bits {
            cells.program(0, t, &page(&mut rng)).expect("erased cells can be programmed");
        }
        let mut out = page(&mut rng);
        bencher.counter(ItemsCount::new(WORDS * 64)).bench_local(|| {
            cells.sense(0, bits - 1, &mut out);
        });
    }

    #[divan::bench(args = [2, 3], sample_count = 10)]
    fn write_a_block_of_voltages(bencher: Bencher<'_, '_>, bits: u32) {
        let mut rng = Rng::named(1, "bench");
        let mut data = Rng::named(2, "bench");
        let mut block = Voltages::new(Cell::new(bits, 3e3), 64, WORDS);
        let history = History { step_volts: STEP_VOLTS, cycles: 3e3, hours: 24.0 };
        bencher.counter(ItemsCount::new(WORDS * 64 * 64)).bench_local(|| {
            block.write(&history, &mut rng, |_, _, page| {
                for word in page.iter_mut() {
                    *word = data.bits();
                }
            });
        });
    }

    #[divan::bench]
    fn write_and_read_a_page_of_a_run(bencher: Bencher<'_, '_>) {
        let shape = Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 1,
            pages_per_block: 192,
            page_size: Bytes::kib(4),
            bits_per_cell: 3,
        };
        let geometry = Geometry::new(shape).expect("a shape");
        let mut bits = Bits::new(&geometry, &Layouts::new(192));
        bencher.counter(ItemsCount::new(192_u32)).bench_local(|| {
            bits.erase(BlockId::from_u32(0), Mode::Full);
            (0..192).for_each(|p| bits.write(Ppn::from_u32(p), u64::from(p)));
            (0..192).map(|p| bits.read(Ppn::from_u32(p))).sum::<u64>()
        });
    }
}
