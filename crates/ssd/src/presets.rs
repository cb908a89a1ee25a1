//! The drives and chips that are included in floatgate, and the defaults of every drive.

/// The values of a drive that does not give its own.
pub(crate) const DEFAULTS: &str = include_str!("../../../presets/defaults.toml");

/// Declares presets by the name of their file.
macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../../../presets/", $folder, "/", $name, ".toml")),
        ),)*]
    };
}

/// The built-in drives: name and drive file.
pub fn presets() -> &'static [(&'static str, &'static str)] {
    files!("drives":
        "agcr",
        "agcr-128g",
        "agcr-physics",
        "ready-32g",
        "ready-128g",
        "read-disturb",
        "c-mlc64",
        "modern-tlc",
        "modern-tlc-small",
        "modern-qlc",
        "modern-qlc-coarse",
        "samsung-970-pro",
    )
}

/// The built-in chips: name and chip file.
pub fn chips() -> &'static [(&'static str, &'static str)] {
    files!("chips":
        "a-slc2",
        "a-slc4",
        "a-slc8",
        "b-slc2",
        "b-slc4",
        "e-slc8",
        "b-mlc8",
        "b-mlc32",
        "c-mlc64",
        "d-mlc32",
        "e-mlc8",
        "modern-tlc",
        "modern-qlc",
    )
}

/// The text of a preset.
pub(crate) fn named(all: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    all.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
