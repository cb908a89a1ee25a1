//! The sections of a result: a list, in the order of the JSON.
//!
//! A section is a file here and its name in the list below. The name is the key of the result. The
//! file has `ABOUT`, the description of the section; `Section`, the type of its value; and `of`, a
//! function of the evidence that makes it.

use super::evidence::Evidence;
use super::shape::{Declared, KeyDecl, Since, Written};
use ftl::PolicyTypes;
use serde_json::{Map, Value, json};

/// The subject of a section.
pub(super) struct SectionAbout {
    text: &'static str,
    /// The unit of a section that is a single number.
    unit: &'static str,
    since: Since,
}

impl SectionAbout {
    const fn section(text: &'static str) -> Self {
        Self { text, unit: "", since: Since::Start }
    }

    const fn number(unit: &'static str, text: &'static str) -> Self {
        Self { unit, ..Self::section(text) }
    }

    /// For a section that results of earlier versions lack; it is null there.
    const fn later(self) -> Self {
        Self { since: Since::LaterNull, ..self }
    }
}

macro_rules! sections {
    ($($section:ident,)+) => {
        $(pub(super) mod $section;)+

        /// All sections of a run, in order.
        pub(super) fn all<K: PolicyTypes>(evidence: &Evidence<'_, K>) -> Map<String, Value> {
            let mut all = Map::new();
            $($section::of(evidence).put(stringify!($section), &mut all);)+
            all
        }

        /// The declarations of all sections.
        fn declared() -> Vec<KeyDecl> {
            vec![$(KeyDecl {
                name: stringify!($section),
                unit: $section::ABOUT.unit,
                about: $section::ABOUT.text,
                kind: <$section::Section as Declared>::kind(),
                since: $section::ABOUT.since,
            },)+]
        }
    };
}

sections! {
    provenance,
    end,
    host,
    flash,
    waf,
    waf_pages,
    wear,
    capacity,
    scale,
    buffer,
    fdp,
    slc_cache,
    energy_joules,
    energy_split,
    lifetime,
    policies,
    checks,
    warnings,
    simulated_seconds,
    timing,
}

/// The declarations of a result as JSON: `sections`, then the `tables` and lists of `names` that
/// they refer to.
pub(super) fn shape() -> Value {
    let mut written = Written::default();
    let sections: Vec<Value> = declared().into_iter().map(|field| written.field(field)).collect();
    let (tables, names) = written.met();
    json!({ "sections": sections, "tables": tables, "names": names })
}
