//! The C interface: it agrees with its header, wrong calls are errors, and programs in C use it.

#![allow(unsafe_code, reason = "it calls what C calls")]

mod calls;
mod header;
mod programs;
