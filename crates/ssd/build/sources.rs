//! For build scripts: one digest of the sources that a crate is built from.
//!
//! It is that of a list as `sha256sum` prints it, one line for each file, in the order of their
//! paths from the root of the workspace. Line ends count as LF, for any line ends of the checkout.
//! Tests are left out: they change no result. A file can only join by a line in another one (`mod`,
//! `include_str!`, a dependency), so it is enough that Cargo watches the files themselves.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Makes the digest of `places` (files, and folders with all in them) the variable
/// `FLOATGATE_SOURCES` of the crate that is being built.
pub(crate) fn export(places: &[PathBuf]) {
    let mut files = Vec::new();
    for place in places {
        gather(place, &mut files);
    }
    let root = root();
    let mut named: Vec<(String, PathBuf)> = files
        .into_iter()
        .map(|file| {
            let inside = file.strip_prefix(&root).expect("sources lie in the workspace");
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            (parts.join("/"), file)
        })
        .collect();
    named.sort();
    let mut list = String::new();
    for (name, file) in named {
        let content = fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        list += &format!("{}  {name}\n", digest(&with_lf(&content)));
        println!("cargo::rerun-if-changed={}", file.display());
    }
    println!("cargo::rustc-env=FLOATGATE_SOURCES={}", digest(list.as_bytes()));
}

/// The SHA-256 of bytes, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a string takes every text");
    }
    text
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("Cargo says where the crate lies");
    let root = Path::new(&own).ancestors().nth(2);
    root.expect("crates lie two folders below the workspace").to_owned()
}

fn gather(place: &Path, files: &mut Vec<PathBuf>) {
    if place.is_file() {
        files.push(place.to_owned());
        return;
    }
    let inside = fs::read_dir(place).unwrap_or_else(|e| panic!("{}: {e}", place.display()));
    for entry in inside {
        let path = entry.expect("a folder can be listed").path();
        let source = path.extension().is_some_and(|kind| kind == "rs" || kind == "toml");
        if path.file_stem().is_some_and(|name| name != "tests") && (source || path.is_dir()) {
            gather(&path, files);
        }
    }
}

fn with_lf(content: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(content.len());
    for (at, &byte) in content.iter().enumerate() {
        if byte != b'\r' || content.get(at + 1) != Some(&b'\n') {
            text.push(byte);
        }
    }
    text
}
