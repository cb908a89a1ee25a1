//! Against labrador-ldpc, which has CCSDS codes, encoders and a min-sum decoder of its own.

use floatgate_ldpc::{
    Channel, Circulant, Code, Decoder, Quantised, Reader, Reference, Rule, Schedule, Settings,
    Spacing,
};
use kernel::Rng;
use labrador_ldpc::LDPCCode;

/// A code of CCSDS, bit by bit, by the checks that the oracle lists.
fn ours(theirs: LDPCCode) -> Code {
    let all = theirs.n() + theirs.punctured_bits();
    let mut rows = vec![Vec::new(); all - theirs.k()];
    for (check, bit) in theirs.iter_paritychecks() {
        rows[check].push(Circulant { column: bit as u32, shift: 0 });
    }
    Code::of_rows(1, all as u32, theirs.k() as u32, rows)
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| (0..8).map(move |i| byte >> (7 - i) & 1)).collect()
}

fn encoded(theirs: LDPCCode, rng: &mut Rng) -> Vec<u8> {
    let data: Vec<u8> = (0..theirs.k() / 8).map(|_| rng.bits() as u8).collect();
    let mut word = vec![0_u8; theirs.n() / 8];
    theirs.copy_encode(&data, &mut word);
    bits(&word)
}

#[test]
fn their_codewords_keep_our_checks() {
    let mut rng = Rng::named(1, "ldpc/oracle");
    for theirs in [LDPCCode::TC128, LDPCCode::TC256, LDPCCode::TC512] {
        let code = ours(theirs);
        assert_eq!(code.data_bits(), theirs.k());
        for _ in 0..20 {
            let mut word = encoded(theirs, &mut rng);
            assert!(code.holds(&word));
            let wrong = rng.below(word.len() as u32) as usize;
            word[wrong] ^= 1;
            assert!(!code.holds(&word));
        }
    }
}

/// How many frames the oracle, our decoder and the sum-product rule fail, given the same numbers.
///
/// If two of them find a word that keeps the checks, it is the same word unless one was misled; the
/// fourth number counts frames in which they differ.
fn failures(theirs: LDPCCode, rber: f64, sensings: u32, frames: u64) -> [u64; 4] {
    let code = ours(theirs);
    let channel = Channel::boundary(rber, sensings, Spacing::Even);
    let quantised = Quantised::DEFAULT;
    let table = channel.table(quantised.unit, quantised.largest);
    let mut reader = Reader::new(&channel);
    let mut rng = Rng::named(1, &format!("ldpc/oracle/{rber}/{sensings}"));
    let settings = Settings { rounds: 50, ..Settings::DEFAULT };
    let mut fast = Decoder::new(&code, settings);
    let mut exact = Reference::new(&code, Rule::SumProduct, Schedule::Flooding, 50);
    let mut counts = [0; 4];
    for _ in 0..frames {
        let word = encoded(theirs, &mut rng);
        let mut ranges = vec![0; word.len()];
        reader.read(&word, &mut rng, &mut ranges);
        let mut read: Vec<i8> = ranges.iter().map(|r| table[*r as usize]).collect();
        let mut output = vec![0; theirs.output_len()];
        let mut working = vec![0_i8; theirs.decode_ms_working_len()];
        let mut more = vec![0; theirs.decode_ms_working_u8_len()];
        let (done, _) = theirs.decode_ms(&read, &mut output, &mut working, &mut more, 50);
        let output = bits(&output);
        let k = theirs.k();
        let oracle = output[..k] == word[..k];
        counts[0] += u64::from(!oracle);
        // Nothing is known of bits that are not stored.
        read.resize(code.bits(), 0);
        let outcome = fast.decode(&read);
        counts[1] += u64::from(!fast.data_are(&word[..k]));
        let ratios: Vec<f64> = read.iter().map(|r| f64::from(*r) * quantised.unit).collect();
        exact.decode(&ratios);
        counts[2] += u64::from((0..k).any(|i| exact.bit(i) != word[i]));
        if done && outcome.holds {
            counts[3] += u64::from((0..k).any(|i| fast.bit(i) != output[i]));
        }
    }
    counts
}

#[test]
#[ignore = "slow: run by `make verify`"]
fn our_failure_rates_are_those_of_the_oracle() {
    // Codes of rate 1/2 and 4/5 at error rates where some tenth of the frames fail.
    let cases = [
        (LDPCCode::TC256, 0.05, 1, 400),
        (LDPCCode::TC512, 0.09, 3, 400),
        (LDPCCode::TM1280, 0.036, 7, 200),
    ];
    for (theirs, rber, sensings, frames) in cases {
        let [oracle, fast, exact, differ] = failures(theirs, rber, sensings, frames);
        let says = format!("{theirs:?} {rber} {sensings}: {oracle} {fast} {exact} {differ}");
        println!("{says}");
        assert!(oracle >= 20 && oracle <= frames / 2, "{says}: too few or too many to tell");
        // Three deviations of the difference of two counts, if the frames had been different ones.
        let noise = |other: u64| 3.0 * ((oracle + other) as f64).sqrt();
        for found in [fast, exact] {
            // Never worse than the oracle. Its rule is min-sum that forgets messages that change
            // their sign. It is about as good if ranges differ in reliability. With one sensing,
            // all ranges are alike: it overrates them, and fails more than twice as often.
            let (found_f, oracle_f) = (found as f64, oracle as f64);
            assert!(found_f <= oracle_f + noise(found), "{says}");
            if sensings > 1 {
                assert!(found_f >= 0.8 * oracle_f - noise(found), "{says}");
            }
        }
        // Words that keep all checks are the same; a decoder is misled very rarely.
        assert!(differ <= 1, "{says}");
    }
}
