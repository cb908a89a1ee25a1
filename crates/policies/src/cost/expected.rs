//! `expected`: the level of least expected time.
//!
//! A page's *life* runs from one write to the next. Each page remembers the number of its reads in
//! its last life and in this one (a few bits). Over all pages the drive counts how often a page
//! with as many reads is read once more before it is written. That gives the expected reads. A
//! write takes the level at which its program and those reads take least time together. The program
//! counts once more for each operation that waits for its die.
//!
//! The reads count once. The queue at the time of a burst tells little about the time at which the
//! page will be read. Weighting reads with the mean queue made programs slow in just those bursts
//! (half as long again on a trace at sixteen times its speed). A page that is read is re-written in
//! idle time when the expected reads save enough.
//!
//! Each copy is also read when collection moves it. The number of copies moved for each copy
//! written gives the reads that this adds. If collection is busy, copies do not live long, and
//! quick programs are worth less.
//!
//! It needs more than `agcr`: six bits a page against two, and the queue of the die. With `bits=3`
//! it needs three, which tell only whether a life had none, one or more reads, and whether this one
//! has had any. Costs replace a rule. So a first write is not of high cost for reads that never
//! come, and one read does not make a page expensive to write.

use super::rewrites::Rewrites;
use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Access, AccessKind, Cost, FtlView, Interests, LevelTimes, Lpn, Queues, Watch, WriteCtx};
use kernel::IndexVec;
use nand::{DieId, Each, Geometry, Level, Source};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "expected",
    summary: "The level at which a program and the reads expected before the next write take least \
              time, learnt from how pages were read so far.",
    paper: "floatgate; after Li et al., AGCR, FAST 2016",
    params: &[
        ParamInfo {
            name: "rewrite-gain",
            kind: ParamKind::Int { min: 0, max: 10_000 },
            default: "50",
            doc: "expected saving that makes a re-write worth it, in percent of its own time",
        },
        ParamInfo {
            name: "initial-level",
            kind: ParamKind::Word(&["high", "medium", "low"]),
            default: "high",
            doc: "the level of data that was there before the run",
        },
        ParamInfo {
            name: "bits",
            kind: ParamKind::Word(&["6", "3"]),
            default: "6",
            doc: "memory for each page, in bits",
        },
        ParamInfo {
            name: "read-weight",
            kind: ParamKind::Int { min: 1, max: 100_000 },
            default: "100",
            doc: "weight of the time of an expected read of the host against that of a program, in \
                  percent",
        },
    ],
    idle: super::needs_levels,
    ..PolicyInfo::of(Family::Cost)
};

/// Reads of one life are distinguished up to this number.
const READS: usize = 8;
/// The class of a page's life, by the one before: data from before the run, no life yet, none, one,
/// or more reads.
const KINDS: usize = 5;
const BEFORE_THE_RUN: u8 = 0;
const FIRST: u8 = 1;

/// The classes of a page's lives.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Form {
    /// Bits for each page.
    bits: u32,
    /// Reads of one life are distinguished below this number.
    reads: u8,
    /// The class of the first life.
    first: u8,
}

const WHOLE: Form = Form { bits: 6, reads: READS as u8, first: FIRST };
/// Four kinds of life, and whether there was a read.
const NARROW: Form = Form { bits: 3, reads: 2, first: BEFORE_THE_RUN };

/// How often a page in each state was read once more.
#[derive(Copy, Clone, Default, Debug)]
struct Chance {
    visits: u32,
    read: u32,
}

/// The kind of a page's life (three bits), and its reads in this life (three bits).
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
struct PageLife(u8);

impl PageLife {
    fn new(kind: u8, reads: u8) -> Self {
        Self(kind << 3 | reads)
    }

    fn kind(self) -> u8 {
        self.0 >> 3
    }

    fn reads(self) -> u8 {
        self.0 & 7
    }

    /// The life that a write begins.
    fn next(self, form: Form) -> Self {
        let kind = if self.kind() == BEFORE_THE_RUN && self.reads() == 0 {
            form.first
        } else {
            2 + self.reads().min(2)
        };
        Self::new(kind, 0)
    }

    fn after_read(self, form: Form) -> Self {
        Self::new(self.kind(), (self.reads() + 1).min(form.reads - 1))
    }
}

/// Levels by the reads to be expected.
pub struct Expected {
    form: Form,
    initial: Level,
    /// As a fraction.
    rewrite_gain: f64,
    /// Of reads of the host, as a factor.
    read_weight: f64,
    /// In ns.
    program: Each<Level, f64>,
    read: Each<Level, f64>,
    pages: IndexVec<Lpn, PageLife>,
    chances: [[Chance; READS]; KINDS],
    /// Reads to be expected in each state; brought up to date now and then.
    reads: [[f64; READS]; KINDS],
    until_update: u32,
    /// Recent copies: those written for the host, and those for other sources.
    copies: [u32; 2],
    /// The reads to expect for each copy because it is moved on.
    moves: f64,
    queue: Rewrites,
    levels: Each<Level, u64>,
}

/// Accesses between two updates of the expectations.
const UPDATE: u32 = 1 << 10;

pub(crate) fn new(params: &Params) -> Expected {
    let mut new = Expected {
        form: if params.word("bits") == "3" { NARROW } else { WHOLE },
        initial: super::level_of(params.word("initial-level")),
        rewrite_gain: params.int("rewrite-gain") as f64 / 100.0,
        read_weight: params.int("read-weight") as f64 / 100.0,
        program: Each::default(),
        read: Each::default(),
        pages: IndexVec::filled(PageLife::default(), 0),
        chances: [[Chance::default(); READS]; KINDS],
        reads: [[0.0; READS]; KINDS],
        until_update: UPDATE,
        copies: [0; 2],
        moves: 0.0,
        queue: Rewrites::default(),
        levels: Each::default(),
    };
    new.update();
    new
}

impl Expected {
    /// Works the expectations out anew. A page that is in a state counts as one that was not read
    /// again, which is true in the end for most.
    fn update(&mut self) {
        self.until_update = UPDATE;
        for (reads, chances) in self.reads.iter_mut().zip(&mut self.chances) {
            let chance = |c: &Chance| f64::from(c.read + 1) / f64::from(c.visits + 2);
            let end = usize::from(self.form.reads) - 1;
            let last = chance(&chances[end]);
            reads[end] = last / (1.0 - last);
            for r in (0..end).rev() {
                reads[r] = chance(&chances[r]) * (1.0 + reads[r + 1]);
            }
            // The distant past counts less and less.
            if chances.iter().any(|c| c.visits > 1 << 16) {
                for c in chances {
                    *c = Chance { visits: c.visits / 2, read: c.read / 2 };
                }
            }
        }
    }

    /// Counts a copy that is written. Moved copies are made of others, which are read for it.
    fn count_copy(&mut self, moved: bool) {
        self.copies[usize::from(moved)] += 1;
        let [host, moves] = self.copies;
        let all = host + moves;
        if all.is_multiple_of(UPDATE) {
            self.moves = f64::from(moves) / f64::from(all);
        }
        if all > 1 << 16 {
            self.copies = [host / 2, moves / 2];
        }
    }

    fn reads_of(&self, life: PageLife) -> f64 {
        self.reads[usize::from(life.kind())][usize::from(life.reads())]
    }

    fn visit(&mut self, life: PageLife) {
        self.chances[usize::from(life.kind())][usize::from(life.reads())].visits += 1;
    }
}

impl Watch for Expected {
    fn interests(&self) -> Interests {
        Interests::ACCESS.with(Interests::IDLE)
    }

    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        self.pages = IndexVec::filled(PageLife::default(), logical_pages as usize);
        self.queue = Rewrites::new(geometry, logical_pages);
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let mut all = super::written(&self.levels);
        all.extend(self.queue.counters());
        all
    }
}

impl Cost for Expected {
    fn initial(&self) -> Level {
        self.initial
    }

    fn queues(&self) -> Queues {
        Queues::Die
    }

    fn learn_times(&mut self, times: &LevelTimes) {
        self.program = times.program.map(|t| t.as_ns() as f64);
        self.read = times.read.map(|t| t.as_ns() as f64);
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        self.count_copy(w.tag.source != Source::Host);
        let reads = self.reads_of(self.pages[w.lpn]) * self.read_weight + self.moves;
        let waiting = 1.0 + f64::from(w.waiting_die);
        let total = |l: Level| self.program[l] * waiting + self.read[l] * reads;
        let level = match w.tag.source {
            Source::Rewrite => Level::HighCost,
            _ => Level::ALL
                .into_iter()
                .min_by(|a, b| total(*a).total_cmp(&total(*b)))
                .expect("three levels"),
        };
        self.levels[level] += 1;
        level
    }

    fn follow(&mut self, access: &Access, stored: Option<Level>) {
        self.until_update -= 1;
        if self.until_update == 0 {
            self.update();
        }
        let life = self.pages[access.lpn];
        match access.kind {
            AccessKind::Trim => {
                self.pages[access.lpn] = PageLife::default();
                self.queue.forget(access.lpn);
            }
            AccessKind::Write => {
                let next = life.next(self.form);
                self.visit(next);
                self.pages[access.lpn] = next;
                self.queue.forget(access.lpn);
            }
            AccessKind::Read => {
                self.chances[usize::from(life.kind())][usize::from(life.reads())].read += 1;
                let next = life.after_read(self.form);
                self.visit(next);
                self.pages[access.lpn] = next;
                let Some(stored) = stored.filter(|level| *level != Level::HighCost) else { return };
                let (slow, quick) = (self.read[stored], self.read[Level::HighCost]);
                let saved = self.reads_of(next) * self.read_weight * (slow - quick);
                let own = slow + self.program[Level::HighCost];
                if saved > own * self.rewrite_gain {
                    self.queue.ask(access.lpn);
                }
            }
        }
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        self.queue.next(die, view)
    }

    fn dram_bits_per_page(&self) -> u32 {
        self.form.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn lives_are_called_by_the_one_before() {
        let kinds = |form: Form, accesses: &str| -> Vec<u8> {
            let mut life = PageLife::default();
            let step = |access: char| {
                life = if access == 'w' { life.next(form) } else { life.after_read(form) };
                life.kind()
            };
            accesses.chars().map(step).collect()
        };
        assert_eq!(kinds(WHOLE, "wwrwrrwrrrrw"), [1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4]);
        assert_eq!(kinds(WHOLE, "rrw"), [0, 0, 4]);
        // In three bits a first life is as if there had been none, and a read is a read.
        assert_eq!(kinds(NARROW, "wwrwrrw"), [0, 0, 0, 3, 3, 3, 3]);
        for (form, most) in [(WHOLE, 7), (NARROW, 1)] {
            let many = (0..20).fold(PageLife::new(form.first, 0), |life, _| life.after_read(form));
            assert_eq!((many.kind(), many.reads()), (form.first, most));
        }
    }

    /// Pages that are read n times in every life: the expectation comes to n.
    #[test]
    fn the_expectation_is_what_happens() {
        let info =
            crate::PolicySet::resolve(&[("cost".into(), "expected".into(), Map::new())], None);
        let set = info.unwrap();
        for n in [0_u8, 1, 2, 5] {
            let mut policy = new(set.get(Family::Cost).1);
            policy.pages = IndexVec::filled(PageLife::default(), 1);
            let mut life = PageLife::default();
            for _ in 0..2_000 {
                life = life.next(WHOLE);
                policy.visit(life);
                for _ in 0..n {
                    let at = &mut policy.chances[usize::from(life.kind())];
                    at[usize::from(life.reads())].read += 1;
                    life = life.after_read(WHOLE);
                    policy.visit(life);
                }
            }
            policy.update();
            let kind = 2 + n.min(2);
            let expected = policy.reads_of(PageLife::new(kind, 0));
            assert!((expected - f64::from(n)).abs() < 0.02, "{n}: {expected}");
        }
    }

    /// The distant past counts less and less: of more than 65,536 copies half are remembered. So
    /// after 65,537 for the host, 32,768 that are moved are half of them; then 16,384 of each are
    /// remembered, and of 65,536 with more for the host a quarter were moved.
    #[test]
    fn copies_of_long_ago_are_forgotten_by_halves() {
        let set =
            crate::PolicySet::resolve(&[("cost".into(), "expected".into(), Map::new())], None);
        let mut policy = new(set.unwrap().get(Family::Cost).1);
        let mut share_after = |copies: u32, moved: bool| {
            (0..copies).for_each(|_| policy.count_copy(moved));
            policy.moves
        };
        let shares = [(65_537, false), (32_768, true), (1, true), (32_768, false)]
            .map(|(copies, moved)| share_after(copies, moved));
        assert_eq!(shares.map(|share| (share * 4.0) as u32), [0, 2, 2, 1]);
    }

    /// One read costs 450 + 310 at low and 600 + 170 at medium cost. If half of the copies are
    /// moved on, the extra half read makes medium cost the better one. A read that counts four times
    /// makes it high cost: 800 + 280 against 600 + 680 and 450 + 1240.
    #[test]
    fn what_collection_reads_is_charged_and_a_read_may_count_more() {
        let level_after = |moved: bool, weight: &str| {
            let params = Map::from_iter([("read-weight".to_owned(), weight.into())]);
            let choice = [("cost".into(), "expected".into(), params)];
            let set = crate::PolicySet::resolve(&choice, None).unwrap();
            let mut policy = new(set.get(Family::Cost).1);
            policy.pages = IndexVec::filled(PageLife::new(3, 0), 1);
            let us = |high, medium, low| {
                Each::from_fn(|level| match level {
                    Level::HighCost => kernel::Dur::us(high),
                    Level::MediumCost => kernel::Dur::us(medium),
                    Level::LowCost => kernel::Dur::us(low),
                })
            };
            policy.learn_times(&LevelTimes { program: us(800, 600, 450), read: us(70, 170, 310) });
            // A life that had one read has one again.
            policy.reads[3][0] = 1.0;
            let mut write = |source| {
                let tag = nand::Tag::of(source);
                let (now, die, lpn) = (kernel::Time::ZERO, DieId::from_u32(0), Lpn::from_u32(0));
                let (stored, requests_inside) = (None, 0);
                let (waiting_die, waiting_channel, waiting_device) = (0, 0, 0);
                policy.level(&WriteCtx {
                    now,
                    lpn,
                    die,
                    tag,
                    stored,
                    waiting_die,
                    waiting_channel,
                    waiting_device,
                    requests_inside,
                })
            };
            for i in 0..UPDATE {
                write(if moved && i % 2 == 0 { Source::Gc } else { Source::Host });
            }
            write(Source::Host)
        };
        let levels = [(false, "100"), (true, "100"), (false, "400")]
            .map(|(moved, weight)| level_after(moved, weight));
        assert_eq!(levels, [Level::LowCost, Level::MediumCost, Level::HighCost]);
    }
}
