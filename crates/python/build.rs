//! Tells the crate which sources it is built from itself; the engine knows its own.

#![allow(clippy::disallowed_methods, reason = "a build script reads files")]

#[path = "../ssd/build/sources.rs"]
mod sources;

fn main() {
    let crates = sources::root().join("crates");
    sources::export(&[crates.join("live/src"), crates.join("python/src")]);
}
