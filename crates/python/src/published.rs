//! The facts of published drives, and the values that are assumed for them: `presets/published`.

/// Names of files, and their texts.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../../../presets/published/", $name, ".toml")),
        )),*]
    };
}

/// Every file by its name, `assumed` first.
pub(crate) const FILES: Files = files![
    "assumed",
    "intel-p4500",
    "intel-p5500",
    "intel-s3700",
    "intel-s4500",
    "micron-9550",
    "samsung-845dc",
    "samsung-860-qvo",
    "samsung-870-qvo",
    "samsung-970-evo",
    "samsung-970-pro",
    "samsung-980",
    "samsung-980-pro",
    "samsung-pm9a3",
    "samsung-pm9d3a",
    "wd-zn540",
];
