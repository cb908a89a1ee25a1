//! The column of times: its unit, and the unit that its numbers suggest.

use super::fields::{DecimalMark, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};

/// Reads the times of one trace.
#[derive(Clone, Debug)]
pub(crate) struct TraceClock {
    /// The power of ten that makes them nanoseconds.
    power: u32,
    /// The user said the unit.
    specified: bool,
    /// Whether times of the format have fractions.
    decimal: bool,
    /// The digits after the decimal marks of all of them.
    marks: DecimalMark,
    /// While no time had a fraction: records with one further column of digits after the time, with
    /// no further column, and with anything else.
    further: [u64; 3],
}

impl TraceClock {
    /// The clock of a format whose times have fractions.
    pub(crate) fn decimal(options: &ReadOptions, unit: TimeUnit) -> Self {
        Self { decimal: true, ..Self::whole(options, unit) }
    }

    /// The clock of a format whose times are whole numbers.
    pub(crate) fn whole(options: &ReadOptions, unit: TimeUnit) -> Self {
        Self {
            power: options.time_unit.unwrap_or(unit).power(),
            specified: options.time_unit.is_some(),
            decimal: false,
            marks: DecimalMark::default(),
            further: [0; 3],
        }
    }

    /// The time in the next column, in nanoseconds.
    #[inline(always)]
    pub(crate) fn read<const SEPARATOR: u8>(
        &mut self,
        fields: &mut Fields<'_, SEPARATOR>,
        column: &FieldName,
    ) -> Result<u64, Box<Fault>> {
        let time = match fields.decimal(self.power, column) {
            Ok(time) => time,
            Err(fault) => return Err(self.unit_hint(fault, fields.is_number())),
        };
        self.marks.add(fields.mark());
        Ok(time)
    }

    /// Only a number can be of another unit.
    #[cold]
    fn unit_hint(&self, mut fault: Box<Fault>, is_number: bool) -> Box<Fault> {
        if is_number && !self.specified {
            fault.hint = "`--time-unit` names another unit".into();
        }
        fault
    }

    /// The same for the last column that a record must have: the next one may be its fraction,
    /// after a decimal comma.
    #[inline(always)]
    pub(crate) fn read_last<const SEPARATOR: u8>(
        &mut self,
        fields: &mut Fields<'_, SEPARATOR>,
        column: &FieldName,
    ) -> Result<u64, Box<Fault>> {
        let time = self.read(fields, column)?;
        if !self.marks.fraction() {
            self.look_behind(fields.rest());
        }
        Ok(time)
    }

    #[cold]
    fn look_behind(&mut self, rest: &[u8]) {
        let kind = match rest.trim_ascii() {
            [] => 1,
            [_, digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => 0,
            _ => 2,
        };
        self.further[kind] += 1;
    }

    /// The number of records whose whole times are followed by a column of digits, if these may be
    /// the fractions.
    pub(crate) fn cut_fractions(&self) -> Option<u64> {
        let [digits, nothing, other] = self.further;
        let may_be = !self.specified
            && !self.marks.fraction()
            && !self.marks.date()
            && other == 0
            && digits > nothing;
        may_be.then_some(digits)
    }

    /// Evidence of the times about their unit, in words for the user. `first` and
    /// `last` are in nanoseconds.
    pub(crate) fn notes(&self, first: u64, last: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.marks.comma() {
            notes.push("the comma in the times was read as a decimal mark".into());
        }
        if self.marks.date() || self.specified {
            return notes;
        }
        let unit = self.unit();
        if self.decimal && last > first && !self.marks.fraction() {
            notes.push(format!(
                "every time is a whole number of {unit}, though the format has fractions; \
                 requests with the same number arrive together. If the times are in another unit, \
                 `--time-unit` names it"
            ));
        }
        if self.power < 9 && self.marks.places() > self.power && self.marks.places() >= 6 {
            notes.push(format!(
                "times have {} digits behind the point, which in {unit} is finer than a nanosecond; \
                 if they are seconds, say `--time-unit s`",
                self.marks.places()
            ));
        }
        let scale = 10_u64.pow(self.power);
        if let Some(meant) = since_1970(first / scale)
            && meant.power() != self.power
            && since_1970(last / scale) == Some(meant)
        {
            notes.push(format!(
                "in {} since 1970 all times are dates between 2000 and 2040; they were read in \
                 {unit}. If the former is meant, say `--time-unit {}`",
                meant.word(),
                meant.name()
            ));
        }
        notes
    }

    fn unit(&self) -> &'static str {
        TimeUnit::ALL
            .into_iter()
            .find(|u| u.power() == self.power)
            .map_or("its unit", TimeUnit::word)
    }
}

/// The unit in which a number since 1970 is a date between 2000 and 2040, of which there is one at
/// most.
pub(crate) fn since_1970(number: u64) -> Option<TimeUnit> {
    const YEAR: u64 = 31_556_952;
    TimeUnit::ALL.into_iter().find(|unit| {
        let second = 10_u64.pow(9 - unit.power());
        (30 * YEAR * second..70 * YEAR * second).contains(&number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of two units must not touch: 70 years in one are fewer than 30 in the next.
    #[test]
    fn a_number_is_a_date_in_one_unit_at_most() {
        let now = 1_577_808_000_u64;
        for unit in TimeUnit::ALL {
            let number = now * 10_u64.pow(9 - unit.power());
            assert_eq!(since_1970(number), Some(unit));
        }
        for small in [0, 1, 86_400, 600_000_000, 128_166_372_003_061_629] {
            assert_eq!(since_1970(small), None, "{small}");
        }
    }
}
