//! The names that publishers give their files.

use std::cmp::Reverse;

/// The beginning and end of a file's name, and whether a time is between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamePattern {
    text: String,
    /// In lower case.
    sought: String,
}

/// The place of a file's start time in a pattern.
const START: &str = "{start}";

/// Compressed files are read as they are; so are names with these endings.
const READ: [&str; 4] = ["", ".gz", ".zst", ".xz"];
/// Compressed files that must be unpacked first.
const NOT_READ: [&str; 2] = [".bz2", ".zip"];

/// The facts in the name of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TraceName {
    /// When the file starts, for traces of many files.
    pub(super) start: Option<Start>,
    /// Whether it can be read as it is.
    pub(super) readable: bool,
}

impl NamePattern {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), sought: text.to_ascii_lowercase() }
    }

    /// The file whose name in lower case is `name`, if it is one of these.
    pub(super) fn read(&self, name: &str) -> Option<TraceName> {
        let endings = READ.map(|e| (e, true)).into_iter().chain(NOT_READ.map(|e| (e, false)));
        for (ending, readable) in endings {
            let Some(name) = name.strip_suffix(ending) else { continue };
            let Some((before, after)) = self.sought.split_once(START) else {
                if name == self.sought {
                    return Some(TraceName { start: None, readable });
                }
                continue;
            };
            let between = name.strip_prefix(before).and_then(|n| n.strip_suffix(after));
            if let Some(start) = between.and_then(Start::read) {
                return Some(TraceName { start: Some(start), readable });
            }
        }
        None
    }

    /// The pattern as a person writes it, the time as a star.
    pub fn shown(&self) -> String {
        self.text.replace(START, "*")
    }
}

/// The minute in which a file starts, as far as its name says.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Start {
    /// Days since an arbitrary one.
    day: i64,
    /// Minutes since midnight; of a clock of 12 hours, minutes since midnight or noon.
    minute: u32,
    clock: Clock,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Clock {
    /// AM or PM is given, or the hour shows it.
    Certain,
    /// 1 to 12 without AM or PM.
    HalfDay,
}

impl Start {
    /// Reads `12-12-2007.02-39-PM`, `2008-03-10.01-01`, and `7` for the seventh day.
    fn read(text: &str) -> Option<Self> {
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            if digits { part.parse::<i64>().ok() } else { None }
        };
        if let Some(day @ 1..1000) = number(text) {
            return Some(Self { day, minute: 0, clock: Clock::Certain });
        }
        let (date, time) = text.split_once('.')?;
        let date: Vec<i64> = date.split('-').map(number).collect::<Option<_>>()?;
        let (year, month, day) = match date[..] {
            [y, m, d] if y > 1000 => (y, m, d),
            [m, d, y] if y > 1000 => (y, m, d),
            _ => return None,
        };
        let mut parts = time.split('-');
        let hour = number(parts.next()?)?;
        let minute = number(parts.next()?)?;
        let half = parts.next();
        if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let (hour, clock) = match half {
            Some("am") if (1..=12).contains(&hour) => (hour % 12, Clock::Certain),
            Some("pm") if (1..=12).contains(&hour) => (hour % 12 + 12, Clock::Certain),
            None if (1..=12).contains(&hour) => (hour % 12, Clock::HalfDay),
            None if (0..24).contains(&hour) => (hour, Clock::Certain),
            _ => return None,
        };
        if !(0..60).contains(&minute) {
            return None;
        }
        Some(Self { day: days(year, month, day), minute: (hour * 60 + minute) as u32, clock })
    }
}

/// Days from an arbitrary one to a date of the Gregorian calendar (years counted from March, so
/// that the leap day is the last).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day
}

const HALF_DAY: i64 = 12 * 60;

/// The order of files: for each, its index and the minutes from the first.
///
/// Without AM and PM, the files of a day are put on the dial of the clock. They begin after its
/// widest gap, so a day may have up to eleven hours of them. `None`: the names leave the order
/// open.
pub(super) fn in_order(starts: &[Start]) -> Option<Vec<(usize, u32)>> {
    // A single hour beyond 12 says that the clock has 24.
    let full_day = starts.iter().any(|s| s.clock == Clock::Certain);
    let mut order: Vec<(i64, usize)> = Vec::with_capacity(starts.len());
    let mut days: Vec<i64> = starts.iter().map(|s| s.day).collect();
    days.sort_unstable();
    days.dedup();
    for day in days {
        let of_day = starts.iter().enumerate().filter(|(_, s)| s.day == day);
        let mut of_day: Vec<(i64, usize)> = of_day
            .map(|(i, s)| {
                let noon = full_day && s.clock == Clock::HalfDay && s.minute < 60;
                (i64::from(s.minute) + if noon { HALF_DAY } else { 0 }, i)
            })
            .collect();
        of_day.sort_unstable();
        if !full_day {
            let begin = after_widest_gap(&of_day)?;
            for entry in &mut of_day[..begin] {
                entry.0 += HALF_DAY;
            }
            of_day.rotate_left(begin);
            // The half of the day before is open until the next day shows that it was the second.
            let midnight = day * 24 * 60;
            if order.last().is_some_and(|last| midnight + of_day[0].0 - last.0 > HALF_DAY) {
                for entry in &mut order {
                    entry.0 += HALF_DAY;
                }
            }
        }
        order.extend(of_day.into_iter().map(|(minute, i)| (day * 24 * 60 + minute, i)));
    }
    let first = order.first()?.0;
    order.into_iter().map(|(at, i)| Some((i, u32::try_from(at - first).ok()?))).collect()
}

/// The index at which a dial begins if it begins after its widest gap. `None` if that is less than
/// an hour or not clearly the widest, or if two files start together.
fn after_widest_gap(dial: &[(i64, usize)]) -> Option<usize> {
    if dial.len() == 1 {
        return Some(0);
    }
    let gap = |i: usize| {
        let before = dial[(i + dial.len() - 1) % dial.len()].0;
        (dial[i].0 + HALF_DAY - before) % HALF_DAY
    };
    let mut gaps: Vec<(Reverse<i64>, usize)> =
        (0..dial.len()).map(|i| (Reverse(gap(i)), i)).collect();
    gaps.sort_unstable();
    let ((Reverse(widest), begin), (Reverse(second), _)) = (gaps[0], gaps[1]);
    let (Reverse(narrowest), _) = gaps[gaps.len() - 1];
    (narrowest > 0 && widest >= 60 && widest >= 2 * second).then_some(begin)
}
