//! The fast decoder against the plain ones, frame by frame.

use floatgate_ldpc::{
    Channel, Code, Decoder, Quantised, Reference, Rule, Schedule, Settings, Shape, Spacing, Trial,
};
use kernel::Rng;

const SMALL: Shape = Shape { z: 32, data: 48, parity: 8, weight: 4 };

fn trial<'a>(code: &'a Code, channel: &Channel) -> Trial<'a> {
    Trial::new(code, Settings::DEFAULT, channel, channel, Quantised::DEFAULT)
}

#[test]
fn lanes_decode_as_one_check_after_the_other() {
    // Circulants of less than a group of lanes, of several, and of several and a rest.
    let shapes = [SMALL, Shape { z: 100, data: 40, ..SMALL }, Shape::FLASH];
    for (shape, rber, frames) in
        [(shapes[0], 0.024, 60), (shapes[1], 0.024, 30), (shapes[2], 0.0185, 4)]
    {
        let code = Code::build(shape, 1);
        let unfolded = code.unfolded();
        assert_eq!((unfolded.bits(), unfolded.z()), (code.bits(), 1));
        let channel = Channel::boundary(rber, 3, Spacing::Even);
        let mut trial = trial(&code, &channel);
        let mut lanes = Decoder::new(&code, Settings::DEFAULT);
        let mut single = Decoder::new(&unfolded, Settings::DEFAULT);
        let mut rng = Rng::named(1, "ldpc/agreement");
        let mut rounds = 0;
        for _ in 0..frames {
            trial.draw(&mut rng);
            let outcome = lanes.decode(trial.read());
            assert_eq!(outcome, single.decode(trial.read()), "{shape:?}");
            assert!((0..code.bits()).all(|i| lanes.bit(i) == single.bit(i)));
            rounds += outcome.rounds;
        }
        assert!(rounds > 3 * frames, "too easy to tell anything: {rounds}");
    }
}

#[test]
#[ignore = "slow: run by `make verify`"]
fn bytes_lose_little_and_the_sum_product_rule_gains_little() {
    let code = Code::build(SMALL, 1);
    let frames = 120;
    for (rber, sensings) in [(0.011, 1), (0.022, 3), (0.025, 7)] {
        let channel = Channel::boundary(rber, sensings, Spacing::Even);
        let mut trial = trial(&code, &channel);
        let mut bytes = Decoder::new(&code, Settings::DEFAULT);
        let rules = [
            (Rule::MinSum(0.75), Schedule::Layered),
            (Rule::SumProduct, Schedule::Layered),
            (Rule::SumProduct, Schedule::Flooding),
        ];
        let mut plain = rules.map(|(rule, schedule)| {
            let rounds = if schedule == Schedule::Layered { 20 } else { 40 };
            Reference::new(&code, rule, schedule, rounds)
        });
        let ratios = channel.ratios();
        let mut rng = Rng::named(1, "ldpc/agreement");
        let mut failed = [0_i32; 4];
        for _ in 0..frames {
            trial.draw(&mut rng);
            let (word, ranges) = trial.drawn();
            let read: Vec<f64> = ranges.iter().map(|r| ratios[*r as usize]).collect();
            bytes.decode(trial.read());
            failed[0] += i32::from(!bytes.data_are(&word[..code.data_bits()]));
            for (plain, failed) in plain.iter_mut().zip(&mut failed[1..]) {
                plain.decode(&read);
                *failed += i32::from((0..code.data_bits()).any(|i| plain.bit(i) != word[i]));
            }
        }
        let says = format!("{rber} {sensings}: {failed:?} of {frames}");
        println!("{says}");
        assert!(failed.iter().all(|f| *f >= 8 && *f <= frames / 2), "{says}: too few or too many");
        // The frames are the same, so that counts differ far less than by chance. In bytes as in
        // double precision; no rule and no order is better by more than a third.
        assert!((failed[0] - failed[1]).abs() <= 5, "{says}");
        for other in &failed[2..] {
            assert!((failed[0] - other).abs() <= 3 + failed[0] / 3, "{says}");
        }
    }
}
