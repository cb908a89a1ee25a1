//! Family cost: at which level is a page programmed?

pub mod agcr;
pub mod conflict;
pub mod expected;
pub mod fixed;
pub mod ideal;
pub mod oracle;
mod rewrites;
pub mod wu;

use nand::Level;

/// The level that a checked parameter names.
fn level_of(word: &str) -> Level {
    Level::ALL.into_iter().find(|l| l.name() == word).expect("the word was checked")
}
