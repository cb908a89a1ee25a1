//! Parameters of policies: declared once, checked once.

use kernel::{Bytes, Dur, nearest};
use serde_json::{Map, Value};

/// The values that a parameter takes.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum ParamKind {
    /// A whole number in a range, both ends included.
    Int {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
    },
    /// One of some words.
    Word(&'static [&'static str]),
    /// A number in a range, both ends included.
    Real {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// A length of time with its unit, at least this.
    Dur {
        /// Least value.
        min: Dur,
    },
    /// A size with its unit.
    Bytes,
}

/// One parameter of a policy.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct ParamInfo {
    /// Its name, kebab-case.
    pub name: &'static str,
    /// Its values.
    pub kind: ParamKind,
    /// Its default, as written on a command line.
    pub default: &'static str,
    /// Its effect, with its unit.
    pub doc: &'static str,
}

/// A mistake in a policy as written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// The family as written.
    pub family: String,
    /// The policy as written.
    pub name: String,
    /// The parameter at fault, if it is one.
    pub key: Option<String>,
    /// The mistake, in one sentence.
    pub message: String,
    /// The nearest correct text.
    pub suggestion: Option<String>,
}

/// The parameters of one policy, complete and checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Params(Map<String, Value>);

impl Params {
    /// Checks the given parameters against the declarations and fills in the defaults.
    pub(crate) fn check(
        family: &str,
        policy: &str,
        declared: &[ParamInfo],
        spec: &Map<String, Value>,
        errors: &mut Vec<PolicyError>,
    ) -> Self {
        let mut error = |key: &str, message: String, suggestion: Option<String>| {
            errors.push(PolicyError {
                family: family.to_owned(),
                name: policy.to_owned(),
                key: Some(key.to_owned()),
                message,
                suggestion,
            });
        };
        for key in spec.keys() {
            if !declared.iter().any(|p| p.name == key) {
                let names: Vec<&str> = declared.iter().map(|p| p.name).collect();
                let message = if names.is_empty() {
                    format!("`{policy}` has no parameters, so no `{key}`")
                } else {
                    format!(
                        "`{key}` is not a parameter of `{policy}` (it has {})",
                        names.join(", ")
                    )
                };
                error(key, message, nearest(key, names.iter().copied()).map(ToOwned::to_owned));
            }
        }
        let mut values = Map::new();
        for param in declared {
            let text = spec.get(param.name).map_or_else(|| param.default.to_owned(), plain_text);
            if let Some(value) = param.kind.parse(&text) {
                values.insert(param.name.to_owned(), value);
                continue;
            }
            let suggestion = match param.kind {
                ParamKind::Word(words) => {
                    nearest(&text, words.iter().copied()).map(ToOwned::to_owned)
                }
                ParamKind::Int { .. }
                | ParamKind::Real { .. }
                | ParamKind::Dur { .. }
                | ParamKind::Bytes => None,
            };
            let wanted = param.kind.describe();
            let message = format!("`{}` must be {wanted}, not `{text}`", param.name);
            error(param.name, message, suggestion);
        }
        Self(values)
    }

    /// Parameters that their policy has checked.
    pub(crate) fn complete(values: Map<String, Value>) -> Self {
        Self(values)
    }

    /// A whole number.
    pub(crate) fn int(&self, name: &str) -> u64 {
        self.0[name].as_u64().expect("declared as a whole number, and checked")
    }

    /// A word.
    pub(crate) fn word(&self, name: &str) -> &str {
        self.0[name].as_str().expect("declared as a word, and checked")
    }

    /// A number.
    pub(crate) fn real(&self, name: &str) -> f64 {
        self.0[name].as_f64().expect("declared as a number, and checked")
    }

    /// A length of time.
    pub(crate) fn dur(&self, name: &str) -> Dur {
        self.word(name).parse().expect("declared as a time, and checked")
    }

    /// A size.
    pub(crate) fn bytes(&self, name: &str) -> Bytes {
        self.word(name).parse().expect("declared as a size, and checked")
    }

    /// All parameters with their values.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl ParamKind {
    fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Int { min, max } => {
                let n: u64 = text.parse().ok()?;
                (min..=max).contains(&n).then(|| n.into())
            }
            Self::Word(words) => words.contains(&text).then(|| text.into()),
            Self::Real { min, max } => {
                let x: f64 = text.parse().ok()?;
                (min..=max).contains(&x).then(|| x.into())
            }
            Self::Dur { min } => {
                let length: Dur = text.parse().ok()?;
                (length >= min).then(|| length.to_string().into())
            }
            Self::Bytes => Some(text.parse::<Bytes>().ok()?.to_string().into()),
        }
    }

    /// The values in words.
    pub fn describe(self) -> String {
        match self {
            Self::Int { min, max } if max == u64::MAX => format!("a whole number from {min}"),
            Self::Int { min, max } => format!("a whole number from {min} to {max}"),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Real { min, max } => format!("a number from {min} to {max}"),
            Self::Dur { min } => format!("a time with its unit, at least {min}"),
            Self::Bytes => "a size with its unit".to_owned(),
        }
    }
}

/// The value as a person would type it.
fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
