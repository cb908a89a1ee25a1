//! The content of a drive file, its mistakes, and their messages.

mod chips;
mod errors;
mod inherit;
mod mutate;
mod presets;
mod resolved;

use floatgate_ssd::config::{ConfigError, ConfigErrorKind, Drive, Layers, load, render};
use floatgate_ssd::presets::{chips, presets};

/// A small drive with nothing wrong.
const GOOD: &str = r#"
[geometry]
channels = 2
chips-per-channel = 2
dies-per-chip = 1
planes-per-die = 2
blocks-per-plane = 64
pages-per-block = 16
page-size = "4KiB"
bits-per-cell = 2

[timing]
bus = "included"
erase = "3ms"
read = "50us"
program = "600us"

[reliability]
endurance = 3000

[ftl]
spare-factor = 0.25
"#;

/// A drive file, a library and a command line.
#[derive(Default)]
struct Case<'a> {
    file: String,
    library: &'a [(&'a str, &'a str)],
    set: &'a [&'a str],
    policy: &'a [&'a str],
    seed: Option<u64>,
}

impl Case<'_> {
    fn load(&self) -> Result<Drive, Vec<ConfigError>> {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        load(&Layers {
            file: ("drive.toml", &self.file),
            library: &|name| {
                let (name, text) = self.library.iter().find(|(n, _)| *n == name)?;
                Some((format!("{name}.toml"), (*text).to_owned()))
            },
            set: &owned(self.set),
            policy: &owned(self.policy),
            seed: self.seed,
        })
    }

    #[track_caller]
    fn drive(&self) -> Drive {
        match self.load() {
            Ok(drive) => drive,
            Err(errors) => panic!("a good drive is refused:\n{}", render(&errors, false)),
        }
    }

    #[track_caller]
    fn errors(&self) -> Vec<ConfigError> {
        self.load().expect_err("a bad drive is taken")
    }

    #[track_caller]
    fn shows(&self, expected: &str) {
        let shown = render(&self.errors(), false);
        assert_eq!(shown.trim_end(), expected.trim(), "\n{shown}");
    }
}

/// The good drive with one piece of its text replaced.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old:?} is not in the good drive");
    GOOD.replacen(old, new, 1)
}

fn file(text: impl Into<String>) -> Case<'static> {
    Case { file: text.into(), ..Case::default() }
}

fn kinds(errors: &[ConfigError]) -> Vec<ConfigErrorKind> {
    errors.iter().map(|e| e.kind).collect()
}
