//! Codewords per second of one core: `cargo bench -p floatgate-ldpc`.

use divan::{Bencher, counter::ItemsCount};
use floatgate_ldpc::{Channel, Code, Decoder, Quantised, Settings, Shape, Spacing, Trial};
use kernel::Rng;

fn main() {
    divan::main();
}

/// Words that were read, to be decoded in turn.
fn words(code: &Code, rber: f64, sensings: u32) -> Vec<Vec<i8>> {
    let channel = Channel::boundary(rber, sensings, Spacing::Even);
    let mut trial = Trial::new(code, Settings::DEFAULT, &channel, &channel, Quantised::DEFAULT);
    let mut rng = Rng::named(1, "bench");
    let word = |_| {
        trial.draw(&mut rng);
        trial.read().to_vec()
    };
    (0..32).map(word).collect()
}

/// Decoding alone, at a raw bit error rate in ten-thousandths.
#[divan::bench(args = [(10, 1), (40, 1), (70, 3), (100, 7)])]
fn decode(bencher: Bencher<'_, '_>, (rber, sensings): (u32, u32)) {
    let code = Code::build(Shape::FLASH, 1);
    let words = words(&code, f64::from(rber) * 1e-4, sensings);
    let mut decoder = Decoder::new(&code, Settings::DEFAULT);
    bencher
        .counter(ItemsCount::new(words.len()))
        .bench_local(|| words.iter().filter(|word| decoder.decode(word).holds).count());
}

/// Encoding alone.
#[divan::bench]
fn encode(bencher: Bencher<'_, '_>) {
    let code = Code::build(Shape::FLASH, 1);
    let mut word: Vec<u8> = (0..code.bits()).map(|i| u8::from(i * i % 3 == 1)).collect();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| code.encode(&mut word));
}

/// A frame of the measurement: drawing, encoding, reading and decoding.
#[divan::bench]
fn frame(bencher: Bencher<'_, '_>) {
    let code = Code::build(Shape::FLASH, 1);
    let channel = Channel::boundary(7e-3, 3, Spacing::Even);
    let mut trial = Trial::new(&code, Settings::DEFAULT, &channel, &channel, Quantised::DEFAULT);
    bencher.counter(ItemsCount::new(8_usize)).bench_local(|| trial.run(1, "bench", 0..8));
}
