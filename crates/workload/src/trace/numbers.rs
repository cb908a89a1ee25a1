//! Numbers and times as programs write them, beyond plain digits: cold paths of [`Fields`].
//!
//! [`Fields`]: super::fields::Fields

use super::quotes;

/// A number times a power of ten.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scaled {
    /// Cut to a whole number.
    pub(crate) value: u64,
    /// Nothing was cut.
    pub(crate) exact: bool,
    /// Digits after the point or comma.
    pub(crate) places: u32,
    /// Whether the decimal mark is a comma.
    pub(crate) comma: bool,
}

/// Longer fields are not numbers.
const LONGEST: usize = 64;

/// `5.0`, `+5`, `4.096e3`, `5,25` or `0x1f` times 10^`power`.
pub(crate) fn scaled(text: &[u8], power: u32) -> Option<Scaled> {
    let text = text.trim_ascii();
    if let Some(value) = hexadecimal(text) {
        let value = value.checked_mul(10_u64.checked_pow(power)?)?;
        return Some(Scaled { value, exact: true, places: 0, comma: false });
    }
    let text = text.strip_prefix(b"+").unwrap_or(text);
    if text.len() > LONGEST {
        return None;
    }
    let at = text.iter().position(|b| matches!(b, b'e' | b'E'));
    let (mantissa, exponent) = at.map_or((text, &b""[..]), |at| (&text[..at], &text[at + 1..]));
    let exponent: i32 = match at {
        None => 0,
        Some(_) => std::str::from_utf8(exponent).ok()?.parse().ok()?,
    };
    let mark = mantissa.iter().position(|b| matches!(b, b'.' | b',' | &quotes::COMMA));
    let (whole, fraction) =
        mark.map_or((mantissa, &b""[..]), |at| (&mantissa[..at], &mantissa[at + 1..]));
    let comma = mark.is_some_and(|at| mantissa[at] != b'.');
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Digits beyond those that 128 bits hold have no weight in a number that fits 64.
    let (mut digits, mut behind, mut lost) = (0_u128, 0_i32, false);
    for (i, byte) in whole.iter().chain(fraction).enumerate() {
        let digit = u128::from(byte.checked_sub(b'0').filter(|d| *d < 10)?);
        match digits.checked_mul(10).and_then(|d| d.checked_add(digit)) {
            Some(more) => {
                digits = more;
                behind += i32::from(i >= whole.len());
            }
            None if i < whole.len() => return None,
            None => lost |= digit > 0,
        }
    }
    let shift = exponent.checked_add_unsigned(power)?.checked_sub(behind)?;
    let scale = 10_u128.checked_pow(shift.unsigned_abs());
    let (value, rest) = match (shift < 0, scale) {
        (false, _) if digits == 0 => (0, 0),
        (false, scale) => (digits.checked_mul(scale?)?, 0),
        (true, Some(scale)) => (digits / scale, digits % scale),
        (true, None) => (0, digits),
    };
    let value = u64::try_from(value).ok()?;
    Some(Scaled { value, exact: rest == 0 && !lost, places: fraction.len() as u32, comma })
}

/// A whole number in any of these forms. A comma before three digits may separate thousands, so it
/// is refused.
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    let number = scaled(text, 0).filter(|n| n.exact)?;
    (!number.comma || number.places != 3).then_some(number.value)
}

/// `0x1000`, of at most 16 digits beside leading zeros.
pub(crate) fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))?;
    let zeros = digits.iter().take_while(|b| **b == b'0').count();
    if digits.is_empty() || digits.len() - zeros > 16 {
        return None;
    }
    digits
        .iter()
        .try_fold(0_u64, |value, byte| Some(value << 4 | u64::from((*byte as char).to_digit(16)?)))
}

/// `2008-01-02T03:04:05.25Z` or `2008-01-02 03:04:05+01:00` in nanoseconds since 1970, and whether
/// its second has a fraction.
pub(crate) fn iso(text: &[u8]) -> Option<(u64, bool)> {
    let mut rest = text.trim_ascii();
    let year = take(&mut rest, 4)?;
    let mark = *rest.first()?;
    (mark == b'-' || mark == b'/').then_some(())?;
    let month = take_behind(&mut rest, mark)?;
    let day = take_behind(&mut rest, mark)?;
    let (&between, after) = rest.split_first()?;
    matches!(between, b'T' | b't' | b' ' | quotes::BLANK_INSIDE).then_some(())?;
    rest = after;
    let hour = take(&mut rest, 2)?;
    let minute = take_behind(&mut rest, b':')?;
    let second = take_behind(&mut rest, b':').unwrap_or(0);
    let mut nanoseconds = 0;
    if let [b'.' | b',' | quotes::COMMA, digits @ ..] = rest {
        let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        (count > 0).then_some(())?;
        let digit = |i: usize| if i < count { u64::from(digits[i] - b'0') } else { 0 };
        nanoseconds = (0..9).fold(0, |sum, i| sum * 10 + digit(i));
        rest = &digits[count..];
    }
    let west = match rest.trim_ascii() {
        b"" | b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), zone @ ..] => {
            let mut zone = zone;
            let hours = take(&mut zone, 2)?;
            zone = zone.strip_prefix(b":").unwrap_or(zone);
            let minutes = if zone.is_empty() { 0 } else { take(&mut zone, 2)? };
            zone.is_empty().then_some(())?;
            let seconds = (hours * 60 + minutes).cast_signed() * 60;
            if *sign == b'+' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let sound = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    sound.then_some(())?;
    let seconds =
        days(year, month, day) * 86_400 + (hour * 3600 + minute * 60 + second).cast_signed() + west;
    let whole = u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?;
    Some((whole.checked_add(nanoseconds)?, nanoseconds > 0))
}

/// The number of digits.
fn take(rest: &mut &[u8], count: usize) -> Option<u64> {
    let (digits, after) = rest.split_at_checked(count)?;
    *rest = after;
    super::fields::number(digits)
}

/// Two digits behind a mark.
fn take_behind(rest: &mut &[u8], mark: u8) -> Option<u64> {
    let after = rest.strip_prefix(&[mark])?;
    let mut after = after;
    let value = take(&mut after, 2)?;
    *rest = after;
    Some(value)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar; the year begins in March, so that the
/// day that leap years have is its last.
fn days(year: u64, month: u64, day: u64) -> i64 {
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.saturating_sub(1), month + 9) };
    let leap = year / 4 - year / 100 + year / 400;
    let before = (153 * month + 2) / 5 + day - 1;
    (365 * year + leap + before).cast_signed() - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_in_every_form() {
        let same = [
            "4096",
            "4096.0",
            "4096.",
            "+4096",
            "4.096e3",
            "4.096E+03",
            "40960e-1",
            "0x1000",
            "0X1000",
            "0x00000000000000000001000",
            "4096,0",
            "4096,00",
            " 4096.000000 ",
            "4096.00000000000000000000000000000000000000000000",
        ];
        for text in same {
            assert_eq!(whole(text.as_bytes()), Some(4096), "{text}");
        }
        let none = [
            "",
            ".",
            "4096.5",
            "4,096",
            "1,024,000",
            "4096e",
            "4.0961e3",
            "0x",
            "0xg",
            "-1",
            "1e20",
            "nan",
            "99999999999999999999",
            "1e-1",
            "4096 0",
            "++1",
            "0x10000000000000000",
            "1e99",
            "1e999999999999",
            "4096.00000000000000000000000000000000000000000001",
        ];
        for text in none {
            assert_eq!(whole(text.as_bytes()), None, "{text}");
        }
        assert_eq!(whole(b"18446744073709551615.0"), Some(u64::MAX));
        assert_eq!(whole(b"0e99"), Some(0));
    }

    #[test]
    fn decimals_are_cut_behind_the_power() {
        let value = |text: &str, power| scaled(text.as_bytes(), power).map(|n| n.value);
        assert_eq!(value("0,551706", 9), Some(551_706_000));
        assert_eq!(value("1.5e-05", 9), Some(15_000));
        assert_eq!(value("1.8784e-05", 9), Some(18_784));
        assert_eq!(value("1e-30", 9), Some(0));
        assert_eq!(value("1e-99", 9), Some(0));
        assert_eq!(value("0.1000000000000000055511151231257827", 9), Some(100_000_000));
        assert_eq!(value("1e10", 9), Some(10_000_000_000_000_000_000));
        assert_eq!(value("1e11", 9), None);
    }

    /// Against `date -u -d TEXT +%s%N`.
    #[test]
    fn times_of_the_calendar() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29 23:59:59.5", 951_868_799_500_000_000),
            ("2008-01-02T03:04:05", 1_199_243_045_000_000_000),
            ("2008-01-02T03:04:05,000000001", 1_199_243_045_000_000_001),
            ("2008/01/02 03:04", 1_199_243_040_000_000_000),
            ("2008-01-02 03:04:05.123456+00:00", 1_199_243_045_123_456_000),
            ("2008-01-02T03:04:05+0100", 1_199_239_445_000_000_000),
            ("2008-01-02T03:04:05-05", 1_199_261_045_000_000_000),
            ("2100-03-01T00:00:00Z", 4_107_542_400_000_000_000),
        ];
        for (text, ns) in cases {
            assert_eq!(iso(text.as_bytes()).map(|t| t.0), Some(ns), "{text}");
        }
        let none = [
            "2008-01-02",
            "2008-13-02 00:00:00",
            "2008-01-32 00:00:00",
            "2008-01-02 24:00:00",
            "02-01-2008 00:00:00",
            "2008-01-02T00:00:00.",
            "2008-01-02T00:00:00 later",
            "1969-12-31T00:00:00",
            "9999-01-01T00:00:00",
            "2008-01-02T00:00:00+1",
        ];
        for text in none {
            assert_eq!(iso(text.as_bytes()), None, "{text}");
        }
    }
}
