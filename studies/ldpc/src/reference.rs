//! A decoder that is plain to see: no lanes, no bytes. The fast one is measured against it, and it
//! shows how much quantising and the min-sum rule cost.

use crate::{Code, Outcome};

/// How a check answers.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Rule {
    /// Exactly the other bits' message about this one: tanh(x/2) of the answer is the product of
    /// theirs.
    SumProduct,
    /// The least magnitude of the others, times a factor.
    MinSum(f64),
}

/// The order of messages.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Every check takes in the messages of the checks before it in this round.
    Layered,
    /// All checks answer at once.
    Flooding,
}

/// A decoder in double precision over the checks one by one.
#[derive(Clone, Debug)]
pub struct Reference {
    checks: Vec<Vec<u32>>,
    rule: Rule,
    schedule: Schedule,
    rounds: u32,
    belief: Vec<f64>,
}

impl Reference {
    /// A decoder of a code.
    pub fn new(code: &Code, rule: Rule, schedule: Schedule, rounds: u32) -> Self {
        let unfolded = code.unfolded();
        let bits = |row: &Vec<crate::Circulant>| row.iter().map(|one| one.column).collect();
        let checks = unfolded.rows().iter().map(bits).collect();
        Self { checks, rule, schedule, rounds, belief: vec![0.0; code.bits()] }
    }

    /// Decodes a word of log-likelihood ratios, positive for 0. The sum-product rule wants them in
    /// natural units.
    pub fn decode(&mut self, read: &[f64]) -> Outcome {
        self.belief.copy_from_slice(read);
        let mut said: Vec<Vec<f64>> = self.checks.iter().map(|c| vec![0.0; c.len()]).collect();
        let mut answers = Vec::new();
        for rounds in 0..=self.rounds {
            if rounds > 0 {
                let before = self.belief.clone();
                for (check, said) in self.checks.iter().zip(&mut said) {
                    let belief =
                        if self.schedule == Schedule::Layered { &self.belief } else { &before };
                    let heard: Vec<f64> = check
                        .iter()
                        .zip(&*said)
                        .map(|(bit, s)| belief[*bit as usize] - s)
                        .collect();
                    answer(self.rule, &heard, &mut answers);
                    for ((bit, said), answer) in check.iter().zip(said).zip(&answers) {
                        self.belief[*bit as usize] += answer - *said;
                        *said = *answer;
                    }
                }
            }
            if self.holds() {
                return Outcome { holds: true, rounds };
            }
        }
        Outcome { holds: false, rounds: self.rounds }
    }

    /// A bit of the word.
    pub fn bit(&self, i: usize) -> u8 {
        u8::from(self.belief[i] < 0.0)
    }

    fn holds(&self) -> bool {
        let odd = |check: &Vec<u32>| {
            check.iter().filter(|bit| self.belief[**bit as usize] < 0.0).count() % 2 == 1
        };
        !self.checks.iter().any(odd)
    }
}

/// φ(x) = −ln tanh(x/2), its own inverse.
fn phi(x: f64) -> f64 {
    -(x.clamp(1e-12, 40.0) / 2.0).tanh().ln()
}

/// The answer to each bit from the messages of the others.
fn answer(rule: Rule, heard: &[f64], answers: &mut Vec<f64>) {
    answers.clear();
    let negative = heard.iter().filter(|x| **x < 0.0).count() % 2 == 1;
    let sign = |x: f64| if (x < 0.0) == negative { 1.0 } else { -1.0 };
    match rule {
        Rule::SumProduct => {
            answers.extend(heard.iter().map(|x| phi(x.abs())));
            let sum: f64 = answers.iter().sum();
            let others = answers.iter_mut().zip(heard);
            others.for_each(|(answer, x)| *answer = sign(*x) * phi(sum - *answer));
        }
        Rule::MinSum(factor) => {
            let least = heard.iter().map(|x| x.abs()).fold(f64::INFINITY, f64::min);
            let at = heard.iter().position(|x| x.abs() <= least);
            let others = heard.iter().enumerate().filter(|(i, _)| Some(*i) != at);
            let second = others.map(|(_, x)| x.abs()).fold(f64::INFINITY, f64::min);
            let size = |i: usize| if Some(i) == at { second } else { least };
            answers.extend(heard.iter().enumerate().map(|(i, x)| factor * size(i) * sign(*x)));
        }
    }
}
