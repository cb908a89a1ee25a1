//! Hints of a workload: one for all of its requests, or one for each region of its addresses.

use std::fmt;

use kernel::{Bytes, Hint};
use toml::Value;

use crate::{About, Draws, Request, RequestSource, TraceError, Workload};

const EXPECTED: &str = "expected a hint from 0 (none) to 255, or regions in the order of their ends \
                        such as [{ below = \"1GiB\", hint = 1 }, { hint = 2 }]";

/// The hint of each region of addresses: the end of the region, and its hint. Beyond the last one
/// requests have the hints that they had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RegionHints(Box<[(u64, Hint)]>);

impl RegionHints {
    /// Reads `3`, or `[{ below = "1GiB", hint = 1 }, { hint = 2 }]`.
    ///
    /// # Errors
    /// The fault, and the expected form.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        let regions = match value {
            Value::Integer(_) => vec![(u64::MAX, hint(value)?)],
            Value::Array(regions) if !regions.is_empty() => {
                regions.iter().map(region).collect::<Result<_, _>>()?
            }
            _ => return Err(format!("{value} is not a hint; {EXPECTED}")),
        };
        match regions.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            Some(pair) => {
                let end = Bytes::new(pair[1].0);
                Err(format!("the region below {end} lies within the one before it; {EXPECTED}"))
            }
            None => Ok(Self(regions.into())),
        }
    }

    /// The hint of a request; `None`: it keeps its own.
    fn of(&self, request: &Request) -> Option<Hint> {
        let at = self.0.partition_point(|(end, _)| *end <= request.offset);
        self.0.get(at).map(|(_, hint)| *hint)
    }
}

/// Such as `hint 3`, or `hints 1 below 1GiB, 2`.
impl fmt::Display for RegionHints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.len() == 1 { "hint " } else { "hints " })?;
        for (i, (end, hint)) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{hint}")?;
            if *end < u64::MAX {
                write!(f, " below {}", Bytes::new(*end))?;
            }
        }
        Ok(())
    }
}

fn hint(value: &Value) -> Result<Hint, String> {
    let hint = value.as_integer().and_then(|hint| Hint::try_from(hint).ok());
    hint.ok_or_else(|| format!("{value} is not a hint; {EXPECTED}"))
}

fn region(value: &Value) -> Result<(u64, Hint), String> {
    let wrong = || format!("{value} is not a region; {EXPECTED}");
    let table = value.as_table().ok_or_else(wrong)?;
    if table.keys().any(|key| !matches!(key.as_str(), "below" | "hint")) {
        return Err(wrong());
    }
    let end = match table.get("below") {
        None => u64::MAX,
        Some(below) => {
            let size = below.as_str().ok_or_else(wrong)?.parse::<Bytes>();
            let size = size.map_err(|what| format!("`below`: {what}; {EXPECTED}"))?.get();
            if size == 0 {
                return Err(wrong());
            }
            size
        }
    };
    Ok((end, hint(table.get("hint").ok_or_else(wrong)?)?))
}

/// A workload whose requests have the hints of their regions.
pub(crate) struct Hinted {
    inner: Box<dyn Workload>,
    hints: RegionHints,
}

impl Hinted {
    pub(crate) fn new(inner: Box<dyn Workload>, hints: RegionHints) -> Self {
        Self { inner, hints }
    }
}

impl Workload for Hinted {
    fn about(&self) -> &About {
        self.inner.about()
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        let source = self.inner.open_pass(pass)?;
        Ok(Box::new(Hinting { source, hints: self.hints.clone() }))
    }

    fn draws(&self) -> Draws {
        self.inner.draws()
    }
}

struct Hinting {
    source: Box<dyn RequestSource>,
    hints: RegionHints,
}

impl RequestSource for Hinting {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.source.fill(batch)?;
        for r in batch.iter_mut().filter(|r| r.has_extent()) {
            r.hint = self.hints.of(r).unwrap_or(r.hint);
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.source.skipped()
    }
}
