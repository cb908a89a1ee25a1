//! `agcr`: costs by how a page is accessed.
//!
//! The last few accesses of a logical page, the upcoming one included, decide its character. All
//! reads: read-only; all writes: write-only; otherwise interleaved.
//!
//! Write-only pages are written at low cost, interleaved ones at medium, and pages without any
//! history at high cost. A read of a read-only page that was written at low cost requests a
//! re-write at high cost, which an idle die does. The request is dropped when the page is written
//! or trimmed first. Moves have the cost of the page's character. The policy is good if pages keep
//! their character; a page that alternates gains nothing.

use super::rewrites::Rewrites;
use crate::info::{Family, Idle, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Access, AccessKind, Cost, FtlView, Interests, Lpn, Queues, Watch, WriteCtx};
use kernel::IndexVec;
use nand::{DieId, Geometry, Level, Source};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "agcr",
    summary: "Costs by the page's access history: low writes for pages that are only written, \
              re-writes in idle time for pages that are only read.",
    paper: "Li et al., AGCR, FAST 2016, section 3",
    params: &[
        ParamInfo {
            name: "window",
            kind: ParamKind::Int { min: 1, max: 3 },
            default: "2",
            doc: "accesses that characterise a page, the upcoming one included",
        },
        ParamInfo {
            name: "initial-level",
            kind: ParamKind::Word(&["high", "medium", "low"]),
            default: "high",
            doc: "the level of data that was there before the run",
        },
        ParamInfo {
            name: "first-write",
            kind: ParamKind::Word(&["high", "medium", "low"]),
            default: "high",
            doc: "the level of pages without history; the paper has high",
        },
        ParamInfo {
            name: "rewrite-from",
            kind: ParamKind::Word(&["low", "low-medium", "none"]),
            default: "low",
            doc: "levels of copies that are worth a re-write; none: nothing is re-written",
        },
        ParamInfo {
            name: "moves",
            kind: ParamKind::Word(&["class", "preserve", "medium"]),
            default: "class",
            doc: "the level of moved pages: by the page's character, as they were, or medium",
        },
    ],
    idle: |drive, params| match super::needs_levels(drive, params) {
        Idle::All(why) if params.word("rewrite-from") != "none" => Idle::Part(format!(
            "{why}; it still writes pages anew, which wears the flash for no gain"
        )),
        idle => idle,
    },
    ..PolicyInfo::of(Family::Cost)
};

/// The common character of a page's recent accesses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Character {
    /// There is no access but the upcoming one.
    Unknown,
    ReadOnly,
    WriteOnly,
    Interleaved,
}

/// The history of a page in one byte, with two bits for each of four values. They are the number of
/// past accesses, the writes among the last two, its character at the last access, and the
/// character of its last write.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
struct History(u8);

impl History {
    const NEWEST: u8 = 1 << 2;

    fn known(self) -> u8 {
        self.0 & 3
    }

    fn character(self) -> Character {
        decode(self.0 >> 4 & 3)
    }

    fn written_as(self) -> Character {
        decode(self.0 >> 6)
    }

    /// The character with the upcoming access, by at most `past` accesses before it.
    fn judge(self, write: bool, past: u8) -> Character {
        if self.known() == 0 {
            return Character::Unknown;
        }
        let all = if write { u8::MAX } else { 0 };
        let seen = self.known().min(past);
        let mask = ((1 << seen) - 1) << 2;
        match ((self.0 ^ all) & mask == 0, write) {
            (true, true) => Character::WriteOnly,
            (true, false) => Character::ReadOnly,
            (false, _) => Character::Interleaved,
        }
    }

    /// The history after the access.
    fn after(self, write: bool, character: Character) -> Self {
        let known = (self.known() + 1).min(2);
        let past = (self.0 << 1 & Self::NEWEST << 1) | u8::from(write) << 2;
        let written = if write { character } else { self.written_as() };
        Self(known | past | (character as u8) << 4 | (written as u8) << 6)
    }
}

fn decode(code: u8) -> Character {
    match code {
        0 => Character::Unknown,
        1 => Character::ReadOnly,
        2 => Character::WriteOnly,
        _ => Character::Interleaved,
    }
}

/// The level of moved pages.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Moves {
    Class,
    Preserve,
    Medium,
}

/// Costs by access history.
pub struct Agcr {
    past: u8,
    initial: Level,
    first: Level,
    worth: fn(Level) -> bool,
    rewrites: bool,
    moves: Moves,
    pages: IndexVec<Lpn, History>,
    queue: Rewrites,
    /// Accesses by the character that the page had at that moment.
    characters: [u64; 4],
}

pub(crate) fn new(params: &Params) -> Agcr {
    let worth: fn(Level) -> bool = match params.word("rewrite-from") {
        "low-medium" => |level| level != Level::HighCost,
        _ => |level| level == Level::LowCost,
    };
    Agcr {
        past: params.int("window") as u8 - 1,
        initial: super::level_of(params.word("initial-level")),
        first: super::level_of(params.word("first-write")),
        worth,
        rewrites: params.word("rewrite-from") != "none",
        moves: match params.word("moves") {
            "class" => Moves::Class,
            "preserve" => Moves::Preserve,
            _ => Moves::Medium,
        },
        pages: IndexVec::filled(History::default(), 0),
        queue: Rewrites::default(),
        characters: [0; 4],
    }
}

impl Agcr {
    fn level_of(&self, character: Character) -> Level {
        match character {
            Character::Unknown => self.first,
            Character::ReadOnly => Level::HighCost,
            Character::WriteOnly => Level::LowCost,
            Character::Interleaved => Level::MediumCost,
        }
    }
}

impl Watch for Agcr {
    fn interests(&self) -> Interests {
        if self.rewrites { Interests::ACCESS.with(Interests::IDLE) } else { Interests::ACCESS }
    }

    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        self.pages = IndexVec::filled(History::default(), logical_pages as usize);
        self.queue = Rewrites::new(geometry, logical_pages);
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let [unknown, read_only, write_only, interleaved] = self.characters.map(|n| n as f64);
        let mut all = vec![
            ("first_accesses", unknown),
            ("read_only_accesses", read_only),
            ("write_only_accesses", write_only),
            ("interleaved_accesses", interleaved),
        ];
        all.extend(self.queue.counters());
        all
    }
}

impl Cost for Agcr {
    fn initial(&self) -> Level {
        self.initial
    }

    fn queues(&self) -> Queues {
        Queues::None
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        let page = self.pages[w.lpn];
        match (w.tag.source, self.moves) {
            (Source::Host, _) => self.level_of(page.written_as()),
            (Source::Rewrite, _) => Level::HighCost,
            (_, Moves::Class) => self.level_of(page.character()),
            (_, Moves::Preserve) => w.stored.unwrap_or(Level::MediumCost),
            (_, Moves::Medium) => Level::MediumCost,
        }
    }

    fn follow(&mut self, access: &Access, stored: Option<Level>) {
        let lpn = access.lpn;
        let write = match access.kind {
            AccessKind::Trim => {
                // The old data are gone; the next write is a first one.
                self.pages[lpn] = History::default();
                self.queue.forget(lpn);
                return;
            }
            kind => kind == AccessKind::Write,
        };
        let page = self.pages[lpn];
        let character = page.judge(write, self.past);
        self.pages[lpn] = page.after(write, character);
        self.characters[character as usize] += 1;
        if write {
            self.queue.forget(lpn);
        } else if self.rewrites
            && character == Character::ReadOnly
            && stored.is_some_and(self.worth)
        {
            self.queue.ask(lpn);
        }
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        self.queue.next(die, view)
    }

    fn dram_bits_per_page(&self) -> u32 {
        // The accesses before the upcoming one, and the tag of low-cost writes.
        u32::from(self.past) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's Figure 3 for a window of 2, and its definition for 1 and 3.
    #[test]
    fn characters_follow_the_definition() {
        let run = |accesses: &str, window: u8| -> String {
            let mut page = History::default();
            let judge = |access: char| {
                let write = access == 'w';
                let character = page.judge(write, window - 1);
                page = page.after(write, character);
                match character {
                    Character::Unknown => '-',
                    Character::ReadOnly => 'R',
                    Character::WriteOnly => 'W',
                    Character::Interleaved => 'I',
                }
            };
            accesses.chars().map(judge).collect()
        };
        assert_eq!(run("rrrr", 2), "-RRR");
        assert_eq!(run("wwww", 2), "-WWW");
        assert_eq!(run("rwrrwwrw", 2), "-IIRIWII");
        assert_eq!(run("rwrrwwrw", 1), "-WRRWWRW");
        assert_eq!(run("rwrrwwrwww", 3), "-IIIIIIIIW");
        assert_eq!(run("rrwwwrrr", 3), "-RIIWIIR");
    }

    #[test]
    fn a_history_keeps_what_the_last_write_was() {
        let page = History::default();
        let page = page.after(true, Character::WriteOnly);
        let page = page.after(false, Character::Interleaved);
        assert_eq!(page.written_as(), Character::WriteOnly);
        assert_eq!(page.character(), Character::Interleaved);
    }
}
