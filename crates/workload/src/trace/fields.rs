//! Numbers and words from one record, without allocation.

use std::borrow::Cow;

use super::{numbers, quotes};

/// A mistake within one record; becomes an error once its place is known.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Byte within the record, from 0; `None`: the record as a whole.
    pub(crate) at: Option<usize>,
    pub(crate) found: String,
    pub(crate) expected: Cow<'static, str>,
    pub(crate) hint: Cow<'static, str>,
}

impl Fault {
    #[cold]
    pub(crate) fn whole(
        found: String,
        expected: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Box<Self> {
        Box::new(Self { at: None, found, expected: expected.into(), hint: hint.into() })
    }
}

/// Up to 40 bytes of a field or line, fit for a message.
#[cold]
pub(crate) fn shown(bytes: &[u8]) -> String {
    let bytes = quotes::restored(&bytes[..bytes.len().min(41)]);
    let cut = &bytes[..bytes.len().min(40)];
    let dots = if cut.len() < bytes.len() { "…" } else { "" };
    format!("`{}{dots}`", cut.escape_ascii())
}

/// Reads the digits at the beginning of some bytes. Returns their value, which is correct for at
/// most nineteen, and their number.
#[inline(always)]
pub(crate) fn leading_number(bytes: &[u8]) -> (u64, usize) {
    let (mut value, mut count) = (0_u64, 0);
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    (value, count)
}

/// Reads a number that fills all bytes, of at most nineteen digits.
#[inline(always)]
pub(crate) fn number(bytes: &[u8]) -> Option<u64> {
    let (value, count) = leading_number(bytes);
    (count == bytes.len() && matches!(count, 1..=19)).then_some(value)
}

/// The separator of fields that have any number of spaces and tabs between them.
pub(crate) const BLANK: u8 = b' ';
/// The separator of fields that have commas between them.
pub(crate) const COMMA: u8 = b',';

/// A walk over the fields of a record, which are separated by `SEPARATOR`s. Blanks around a field
/// do not belong to it.
pub(crate) struct Fields<'a, const SEPARATOR: u8> {
    bytes: &'a [u8],
    at: usize,
    /// The beginning of the last field, for faults in its meaning.
    from: usize,
    count: u32,
    /// The mark of the decimal number read last.
    mark: DecimalMark,
}

/// The digits after the decimal mark of a number, or of several: as bits, which are quickly put
/// together.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct DecimalMark(u64);

impl DecimalMark {
    /// The lowest bits give the numbers of digits, one bit for each number.
    const PLACES: u64 = (1 << 41) - 1;
    /// They were not only zeros.
    const FRACTION: u64 = 1 << 48;
    /// It is a comma.
    const COMMA: u64 = 1 << 49;
    /// The number is a date and a time of day.
    const DATE: u64 = 1 << 50;

    #[inline(always)]
    fn new(places: usize, fraction: bool) -> Self {
        Self((1 << places.min(40)) | (u64::from(fraction) * Self::FRACTION))
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Most digits.
    pub(crate) fn places(self) -> u32 {
        (self.0 & Self::PLACES).checked_ilog2().unwrap_or(0)
    }

    #[inline(always)]
    pub(crate) fn fraction(self) -> bool {
        self.0 & Self::FRACTION > 0
    }

    pub(crate) fn comma(self) -> bool {
        self.0 & Self::COMMA > 0
    }

    pub(crate) fn date(self) -> bool {
        self.0 & Self::DATE > 0
    }
}

/// The name of a field, for messages.
pub(crate) struct FieldName {
    /// Such as "the time".
    pub(crate) name: &'static str,
    /// Such as "a whole number of nanoseconds".
    pub(crate) expected: &'static str,
    pub(crate) hint: &'static str,
}

impl<'a, const SEPARATOR: u8> Fields<'a, SEPARATOR> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, from: 0, count: 0, mark: DecimalMark::default() }
    }

    #[inline(always)]
    fn separates(byte: u8) -> bool {
        byte == SEPARATOR || SEPARATOR == BLANK && byte == b'\t'
    }

    /// Goes over spaces and tabs, unless a tab ends the field.
    #[inline(always)]
    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek()
            && (byte == b' ' || byte == b'\t' && SEPARATOR != b'\t')
        {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Goes to the start of the next field.
    #[inline(always)]
    fn begin(&mut self) {
        if SEPARATOR != BLANK && self.count > 0 && self.peek() == Some(SEPARATOR) {
            self.at += 1;
        }
        self.skip_blanks();
        self.from = self.at;
        self.count += 1;
    }

    /// Goes to the end of the field, which must be here.
    #[inline(always)]
    fn ended(&mut self) -> bool {
        if SEPARATOR != BLANK {
            self.skip_blanks();
        }
        self.peek().is_none_or(Self::separates)
    }

    /// Reads digits from here on; `None` if there are none or they exceed 2^64.
    #[inline(always)]
    fn digits(&mut self) -> Option<u64> {
        let from = self.at;
        let (value, count) = leading_number(&self.bytes[from..]);
        self.at += count;
        match count {
            1..=19 => Some(value),
            _ => self.long_digits(from),
        }
    }

    #[cold]
    fn long_digits(&self, from: usize) -> Option<u64> {
        std::str::from_utf8(&self.bytes[from..self.at]).ok()?.parse().ok()
    }

    /// A whole number that fills the field, in any form that programs write (`4096`, `4096.0`,
    /// `4.096e3`, `0x1000`).
    #[inline(always)]
    pub(crate) fn integer(&mut self, column: &FieldName) -> Result<u64, Box<Fault>> {
        self.begin();
        match self.digits() {
            Some(value) if self.ended() => Ok(value),
            _ => self.unusual_integer(column),
        }
    }

    /// The same, of digits only.
    #[inline(always)]
    pub(crate) fn plain_integer(&mut self, column: &FieldName) -> Result<u64, Box<Fault>> {
        self.begin();
        match self.digits() {
            Some(value) if self.ended() => Ok(value),
            _ => Err(self.fault(column)),
        }
    }

    /// By value, so that a record that reads is walked over in registers.
    #[inline(always)]
    fn unusual_integer(&mut self, column: &FieldName) -> Result<u64, Box<Fault>> {
        let (value, at) = unusual_integer(self.begun(), column)?;
        self.at = at;
        Ok(value)
    }

    /// The same, or nothing at all.
    #[inline(always)]
    pub(crate) fn integer_if_any(&mut self, column: &FieldName) -> Result<Option<u64>, Box<Fault>> {
        self.begin();
        match self.digits() {
            Some(value) if self.ended() => Ok(Some(value)),
            None if self.at == self.from && self.ended() => Ok(None),
            _ => self.unusual_integer(column).map(Some),
        }
    }

    /// A hexadecimal number with `0x` before it that fills the field.
    #[inline]
    pub(crate) fn hexadecimal(&mut self, column: &FieldName) -> Result<u64, Box<Fault>> {
        let word = self.word();
        numbers::hexadecimal(word).ok_or_else(|| self.fault(column))
    }

    /// A decimal number times 10^`power`, cut to a whole number: with power 6, milliseconds
    /// become nanoseconds. An exponent (`1.5e-05`), a decimal comma that separates no fields, and a
    /// date with a time of day (ISO 8601) are understood.
    #[inline(always)]
    pub(crate) fn decimal(&mut self, power: u32, column: &FieldName) -> Result<u64, Box<Fault>> {
        self.begin();
        let whole = if self.peek() == Some(b'.') { Some(0) } else { self.digits() };
        let mut fraction = 0;
        let mut places = 0;
        self.mark = DecimalMark::default();
        if self.peek() == Some(b'.') {
            self.at += 1;
            let behind = self.at;
            if behind == self.from + 1 && !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.fault(column));
            }
            while let Some(byte) = self.peek() {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 {
                    break;
                }
                if places < power {
                    fraction = fraction * 10 + u64::from(digit);
                    places += 1;
                }
                self.at += 1;
            }
            self.mark = DecimalMark::new(self.at - behind, fraction > 0);
        }
        let value = whole.and_then(|whole| {
            let scaled = whole.checked_mul(10_u64.pow(power))?;
            scaled.checked_add(fraction * 10_u64.pow(power - places))
        });
        match value {
            Some(value) if self.ended() => Ok(value),
            _ => self.unusual_decimal(power, column),
        }
    }

    /// The field from its start, in another form than digits and a point.
    #[inline(always)]
    fn unusual_decimal(&mut self, power: u32, column: &FieldName) -> Result<u64, Box<Fault>> {
        let (value, mark, at) = unusual_decimal(self.begun(), power, column)?;
        (self.mark, self.at) = (mark, at);
        Ok(value)
    }

    /// Whether the field that was begun last has digits and a point only.
    #[inline(always)]
    pub(crate) fn is_number(&self) -> bool {
        is_number(self.begun())
    }

    /// The digits after the decimal mark of the last number.
    #[inline(always)]
    pub(crate) fn mark(&self) -> DecimalMark {
        self.mark
    }

    /// The rest of the record, from the separator after the field read last.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The whole field as bytes; may be empty.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.begin();
        while self.peek().is_some_and(|byte| !Self::separates(byte)) {
            self.at += 1;
        }
        self.bytes[self.from..self.at].trim_ascii_end()
    }

    /// The bytes from the start of an earlier field to here.
    #[inline]
    pub(crate) fn since(&self, from: usize) -> &'a [u8] {
        &self.bytes[from..self.at]
    }

    /// The beginning of the last field.
    #[inline]
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// Whether the record is a comment or begins with this word, as a line of column names does.
    #[cold]
    pub(crate) fn is_heading(&self, word: &[u8]) -> bool {
        let begins = self.bytes.get(..word.len()).is_some_and(|b| b.eq_ignore_ascii_case(word));
        begins || self.bytes.starts_with(b"#")
    }

    /// Checks that the record ends here, after `expected` columns.
    #[inline(always)]
    pub(crate) fn end(&mut self, expected: &'static str) -> Result<(), Box<Fault>> {
        self.skip_blanks();
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(surplus(self.bytes, self.at, self.count, expected))
        }
    }

    /// The field that was begun last.
    #[inline(always)]
    fn begun(&self) -> Begun<'a> {
        Begun { bytes: self.bytes, from: self.from, count: self.count, ends: Self::separates }
    }

    /// The field that was begun last is not the expected one.
    #[inline(always)]
    pub(crate) fn fault(&self, column: &FieldName) -> Box<Fault> {
        fault(self.begun(), column)
    }
}

/// A field of a record.
#[derive(Copy, Clone)]
struct Begun<'a> {
    bytes: &'a [u8],
    from: usize,
    count: u32,
    /// Whether a byte ends it.
    ends: fn(u8) -> bool,
}

impl<'a> Begun<'a> {
    fn field(&self) -> &'a [u8] {
        let rest = &self.bytes[self.from..];
        let len = rest.iter().position(|&byte| (self.ends)(byte)).unwrap_or(rest.len());
        &rest[..len]
    }
}

/// A whole number in another form than digits, and where it ends.
#[cold]
#[inline(never)]
fn unusual_integer(begun: Begun<'_>, column: &FieldName) -> Result<(u64, usize), Box<Fault>> {
    let field = begun.field();
    let value = numbers::whole(field).ok_or_else(|| fault(begun, column))?;
    Ok((value, begun.from + field.len()))
}

/// A number or a date in another form than digits and a point, and where it ends.
#[cold]
#[inline(never)]
fn unusual_decimal(
    begun: Begun<'_>,
    power: u32,
    column: &FieldName,
) -> Result<(u64, DecimalMark, usize), Box<Fault>> {
    let field = begun.field();
    let (value, mark) = if let Some(n) = numbers::scaled(field, power) {
        let fraction = n.value % 10_u64.pow(power) > 0;
        let comma = u64::from(n.comma) * DecimalMark::COMMA;
        (n.value, DecimalMark(DecimalMark::new(n.places as usize, fraction).0 | comma))
    } else if let Some((value, fraction)) = numbers::iso(field) {
        (value, DecimalMark(DecimalMark::new(0, fraction).0 | DecimalMark::DATE))
    } else {
        return Err(fault(begun, column));
    };
    Ok((value, mark, begun.from + field.len()))
}

#[cold]
#[inline(never)]
fn is_number(begun: Begun<'_>) -> bool {
    let field = begun.field().trim_ascii();
    field.iter().any(u8::is_ascii_digit) && field.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

#[cold]
#[inline(never)]
fn surplus(bytes: &[u8], at: usize, count: u32, expected: &'static str) -> Box<Fault> {
    let rest = bytes[at..].trim_ascii();
    let found = format!("more than {count} columns ({})", shown(rest));
    Box::new(Fault { at: Some(at), found, expected: expected.into(), hint: "".into() })
}

#[cold]
#[inline(never)]
fn fault(begun: Begun<'_>, column: &FieldName) -> Box<Fault> {
    let (field, name) = (begun.field(), column.name);
    let found = if field.trim_ascii().is_empty() {
        format!("column {}, {name}, is missing", begun.count)
    } else if field.starts_with(b"-") {
        format!("{} in {name} is negative", shown(field))
    } else if !field.iter().all(u8::is_ascii_digit) {
        format!("{} in {name} is not understood", shown(field))
    } else {
        format!("{} in {name} is out of bounds", shown(field))
    };
    let (expected, hint) = (column.expected.into(), column.hint.into());
    Box::new(Fault { at: Some(begun.from), found, expected, hint })
}
