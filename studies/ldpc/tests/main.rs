//! All integration tests of the code in one binary: it links the libraries once.

mod agreement;
mod oracle;
