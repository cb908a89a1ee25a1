//! The normal distribution, and the solver of equations.

use std::f64::consts::{FRAC_2_SQRT_PI, PI, SQRT_2};

/// The complementary error function for `x` ≥ 0, with a relative error below 1e-11.
///
/// Below 2.5 it is one minus the series 7.1.6, above it the continued fraction 7.1.14 of Abramowitz
/// & Stegun, *Handbook of Mathematical Functions*. All terms are positive, so the series loses
/// digits only when it is subtracted from one: four at 2.5.
fn erfc(x: f64) -> f64 {
    debug_assert!(x >= 0.0);
    if x < 2.5 {
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term > sum * 1e-17 {
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        return 1.0 - FRAC_2_SQRT_PI * (-x * x).exp() * sum;
    }
    // 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))), from its 60th step: more steps than x = 2.5 needs.
    let fraction = (1..=60).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-x * x).exp() / (PI.sqrt() * fraction)
}

/// The probability that a standard normal variable exceeds `z`.
pub fn upper_tail(z: f64) -> f64 {
    if z < 0.0 { 1.0 - upper_tail(-z) } else { 0.5 * erfc(z / SQRT_2) }
}

/// The integral of [`upper_tail`] from `z` to infinity: φ(z) − z·Q(z). Its relative error is below
/// 1e-8 for `z` up to 10.
fn upper_tail_integral(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
    (density - z * upper_tail(z)).max(0.0)
}

/// The mean of [`upper_tail`] over `z` to `z + width`: the probability that a normal variable
/// exceeds a threshold that lies anywhere in that range with equal probability.
pub fn mean_upper_tail(z: f64, width: f64) -> f64 {
    if width < 1e-9 {
        return upper_tail(z);
    }
    ((upper_tail_integral(z) - upper_tail_integral(z + width)) / width).clamp(0.0, 1.0)
}

/// The least argument at or above `from` at which a rising function reaches `target`, to twelve
/// digits, by doubling and bisection; infinite if it does not by 1e15.
pub(super) fn where_reaches(target: f64, from: f64, rising: impl Fn(f64) -> f64) -> f64 {
    if rising(from) >= target {
        return from;
    }
    let (mut low, mut step) = (from, 1.0);
    while rising(from + step) < target {
        low = from + step;
        step *= 2.0;
        if step > 1e15 {
            return f64::INFINITY;
        }
    }
    let mut high = from + step;
    while high - low > 1e-12 * high.abs() {
        let middle = f64::midpoint(low, high);
        // The bracket cannot shrink for ever: two neighbouring numbers have none between them.
        if middle <= low || middle >= high {
            break;
        }
        if rising(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's rule, for expectations that owe nothing to the closed forms.
    fn integral(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
        let n = 20_000;
        let h = (to - from) / f64::from(n);
        let inner = (1..n).map(|i| {
            let weight = if i % 2 == 1 { 4.0 } else { 2.0 };
            weight * f(from + f64::from(i) * h)
        });
        (f(from) + f(to) + inner.sum::<f64>()) * h / 3.0
    }

    fn density(x: f64) -> f64 {
        (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
    }

    #[test]
    fn the_tail_is_the_integral_of_the_density() {
        for z in [-3.0, -0.5, 0.0, 0.7, 2.0, 3.5, 3.6, 5.0, 8.0, 12.0] {
            let expected = integral(z, z.max(0.0) + 14.0, density);
            let error = upper_tail(z) / expected - 1.0;
            assert!(error.abs() < 1e-10, "{z}: {error}");
        }
        // Printed values (Abramowitz & Stegun, Table 26.1).
        assert!((upper_tail(1.0) - 0.158_655_253_931).abs() < 1e-12);
        assert!((upper_tail(3.0) - 0.001_349_898_032).abs() < 1e-12);
    }

    #[test]
    fn the_mean_tail_is_the_mean_of_the_tail() {
        for (z, width) in [(0.3, 0.5), (1.0, 2.0), (3.0, 4.0), (-1.0, 0.1), (6.0, 1.0)] {
            let expected = integral(z, z + width, upper_tail) / width;
            let error = mean_upper_tail(z, width) / expected - 1.0;
            assert!(error.abs() < 1e-6, "{z} {width}: {error}");
        }
        assert!((mean_upper_tail(2.0, 0.0) - upper_tail(2.0)).abs() < 1e-15);
    }

    #[test]
    fn a_rising_function_is_inverted() {
        for target in [1.0, 2.0, 1e4, 1e9] {
            let x = where_reaches(target, 0.0, |x| x * x);
            assert!((x * x / target - 1.0).abs() < 1e-10, "{target}");
        }
        assert!(where_reaches(1.0, 3.0, |x| x) <= 3.0);
        assert!(where_reaches(2.0, 0.0, |x| x / (1.0 + x)).is_infinite());
    }
}
