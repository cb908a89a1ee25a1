//! Tells the crate which sources the engine is built from: see `BUILD`.

#![allow(clippy::disallowed_methods, reason = "a build script reads files")]

#[path = "build/sources.rs"]
mod sources;

use std::collections::BTreeSet;
use std::fs;

fn main() {
    let root = sources::root();
    let mut places = vec![root.join("Cargo.lock"), root.join("presets")];
    places.extend(crates().iter().map(|name| root.join("crates").join(name).join("src")));
    sources::export(&places);
}

/// This crate and those of the workspace that it uses, directly or through others.
fn crates() -> BTreeSet<String> {
    let (mut found, mut todo) = (BTreeSet::new(), vec!["ssd".to_owned()]);
    while let Some(name) = todo.pop() {
        let manifest = sources::root().join("crates").join(&name).join("Cargo.toml");
        // Crates outside the workspace are pinned by Cargo.lock.
        let Ok(text) = fs::read_to_string(&manifest) else { continue };
        println!("cargo::rerun-if-changed={}", manifest.display());
        if found.insert(name) {
            let used = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
            let used = used.take_while(|line| !line.starts_with('['));
            todo.extend(used.filter_map(|line| Some(line.split_once(".workspace")?.0.to_owned())));
        }
    }
    found
}
