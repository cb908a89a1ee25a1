//! Tells the crate which sources it is built from itself; the engine knows its own.

#![allow(clippy::disallowed_methods, reason = "a build script reads files")]

#[path = "../ssd/build/sources.rs"]
mod sources;

fn main() {
    sources::export(&[sources::root().join("crates/python/src")]);
}
