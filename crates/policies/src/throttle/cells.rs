//! The cycles of the flash: as rated, or with the recovery between cycles.

use ftl::Life;
use nand::physics::{MARGIN_VOLTS, Recovery};

/// The cycles for which READY's paper rates the cells whose margin is [`MARGIN_VOLTS`].
const PAPERS_CYCLES: f64 = 3000.0;

/// Beyond this idle time, in hours, no recovery is counted at all, with any constants: a year.
const LONGEST_HOURS: f64 = 8760.0;

/// The cycles that cells of a rating take, with or without recovery.
///
/// A rating other than the paper's 3000 scales the margin. The cells then endure 1.2 % more cycles
/// without rest than their rating, as the paper's do (Eq. 1 reaches its margin at 3036).
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RatedCells {
    rated: f64,
    recovery: Option<Recovery>,
    margin_volts: f64,
    supported: (f64, f64),
}

impl RatedCells {
    /// Cells rated for a number of cycles; without `recovery` they take those and no more.
    pub fn new(rated: f64, recovery: Option<Recovery>) -> Self {
        let margin_volts = recovery.map_or(0.0, |r| {
            let without_rest = r.achievable_cycles(0.0, MARGIN_VOLTS);
            r.trapped_volts(rated / PAPERS_CYCLES * without_rest)
        });
        let (from, to) = recovery.map_or((0.0, 0.0), |r| r.support_hours);
        Self { rated, recovery, margin_volts, supported: (from, to.min(LONGEST_HOURS)) }
    }

    /// The cells of a drive, with the recovery that it has.
    pub fn of(life: &Life) -> Self {
        Self::new(f64::from(life.cycles), Some(life.recovery))
    }

    /// The same cells without recovery.
    #[must_use]
    pub fn rated(&self) -> Self {
        Self { recovery: None, ..*self }
    }

    /// The cycles that they are rated for.
    pub fn rating(&self) -> f64 {
        self.rated
    }

    /// Cycles with a mean of `idle_hours` between two: READY Eq. 1 to 3. Idle times above those
    /// for which the constants have support count as the longest of them.
    pub fn achievable(&self, idle_hours: f64) -> f64 {
        let Some(recovery) = self.recovery else { return self.rated };
        recovery.achievable_cycles(idle_hours.min(self.supported.1), self.margin_volts)
    }

    /// As [`RatedCells::achievable`], with the idle time moved into the supported range at both
    /// ends: the hope of a drive that has hardly been used.
    pub fn hoped_for(&self, idle_hours: f64) -> f64 {
        self.achievable(idle_hours.max(self.supported.0))
    }

    /// Cycles by the equations alone, outside their support too: the belief of a drive that
    /// extrapolates.
    pub fn extrapolated(&self, idle_hours: f64) -> f64 {
        let Some(recovery) = self.recovery else { return self.rated };
        recovery.achievable_cycles(idle_hours.min(LONGEST_HOURS), self.margin_volts)
    }

    /// Cycles at which the cells are worn out if they came within `hours`: N = achievable(`hours`
    /// ÷ N). It grows with time, so that cells below it now can only be worn out by more cycles.
    pub fn limit(&self, hours: f64) -> f64 {
        let Some(recovery) = self.recovery else { return self.rated };
        let spread = recovery.sustainable_cycles(hours, self.margin_volts);
        spread.min(self.achievable(f64::INFINITY))
    }

    /// The shortest and the longest rest that count, in hours. Beyond them cells take as many
    /// cycles as at them.
    pub(super) fn rests(&self) -> (f64, f64) {
        self.recovery.map_or((1.0, 2.0), |r| (r.onset_hours, self.supported.1))
    }

    /// Whether the constants have support at this idle time.
    pub fn supports(&self, idle_hours: f64) -> bool {
        self.recovery.is_none_or(|r| r.supports(idle_hours))
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]
mod tests {
    use super::*;

    const FIVE_YEARS: f64 = 5.0 * 8760.0;

    #[test]
    fn the_papers_cells_are_the_papers() {
        let fitted = RatedCells::new(3000.0, Some(Recovery::FITTED));
        assert!((fitted.limit(FIVE_YEARS) - 8616.0).abs() < 10.0);
        assert!((fitted.achievable(0.0) - 3036.0).abs() < 1.0);
        assert!((fitted.hoped_for(0.0) - fitted.achievable(2.8)).abs() < 1e-9);
        assert!((fitted.achievable(1e6) - fitted.achievable(25.3)).abs() < 1e-9);
        assert!(fitted.extrapolated(240.0) > 2.0 * fitted.achievable(240.0));
        let printed = RatedCells::new(3000.0, Some(Recovery::PRINTED));
        assert!((printed.limit(FIVE_YEARS) - 4020.0).abs() < 1.0);
        assert_eq!(fitted.rated().limit(FIVE_YEARS), 3000.0);
        // Other ratings keep the reserve of the paper's cells.
        let tlc = RatedCells::new(1000.0, Some(Recovery::PRINTED));
        assert!((tlc.achievable(0.0) - 1012.0).abs() < 1.0);
    }

    #[test]
    fn the_limit_grows_with_time_and_is_the_worn_out_point() {
        for recovery in [Recovery::FITTED, Recovery::PRINTED] {
            let cells = RatedCells::new(3000.0, Some(recovery));
            let mut before = 0.0;
            for hours in (0..60).map(|i| 1.2_f64.powi(i)) {
                let limit = cells.limit(hours);
                assert!(limit >= before);
                before = limit;
                let worn = |n: f64| n >= cells.achievable(hours / n);
                assert!(worn(limit * (1.0 + 1e-9)) && !worn(limit * (1.0 - 1e-9)), "{hours} h");
            }
        }
    }
}
