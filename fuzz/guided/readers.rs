//! One program for all readers: `FLOATGATE_FUZZ` names which.
#![no_main]

use std::env;
use std::sync::OnceLock;

use floatgate_fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;

static READ: OnceLock<fn(&[u8]) -> bool> = OnceLock::new();

fuzz_target!(
    init: {
        let name = env::var("FLOATGATE_FUZZ").unwrap_or_default();
        let target = TARGETS.iter().find(|t| t.name == name);
        let known: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
        let read = target.unwrap_or_else(|| panic!("FLOATGATE_FUZZ names one of {known:?}")).read;
        READ.set(read).expect("this is the first time");
    },
    |bytes: &[u8]| {
        READ.get().expect("it was chosen")(bytes);
    }
);
