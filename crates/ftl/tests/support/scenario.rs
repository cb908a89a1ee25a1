//! Drives and workloads drawn from a seed, and the loop that runs them.

use super::drive::{Drive, Fault, Seen, Taste};
use ftl::{Config, Ftl, GcMarks, Lpn, Policies, PolicyTypes};
use kernel::{Bytes, Prio, Rng};
use nand::{DieId, Geometry, Layouts, PageOrder, Shape, Store, UnitSizes};
use policies::{Family, PolicySet};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The addresses that the host reads and writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Pattern {
    /// Anywhere.
    Uniform,
    /// Nine accesses in ten go to the tenth part of the pages.
    HotCold,
    /// Runs of neighbouring pages, somewhere.
    Runs,
    /// Nearly always the same few pages, so that frontiers fill with stale copies.
    Few,
}

impl Pattern {
    const ALL: [Self; 4] = [Self::Uniform, Self::HotCold, Self::Runs, Self::Few];
}

/// Requirements of a test beyond those of every legal drive.
#[derive(Clone, Debug)]
pub(crate) struct Needs {
    /// Blocks of each plane that its policies keep busy.
    pub(crate) blocks: u32,
    /// Slots of a hundred pages that can be counted on.
    pub(crate) slots_per_cent: u32,
    /// Sizes of a block to draw from.
    pub(crate) pages: &'static [u32],
    /// Pairs to draw from: pages of one map entry, and pages of one command.
    pub(crate) units: &'static [UnitSizes],
    /// Steps of the main phase, in physical pages.
    pub(crate) rounds: u32,
}

impl Needs {
    /// A plain drive. Beyond 64 pages a block has more than one word of validity.
    pub(crate) const PLAIN: Self = Self {
        blocks: 0,
        slots_per_cent: 100,
        pages: &[4, 4, 5, 6, 8, 8, 12, 16, 33, 64, 65, 70],
        units: &[UnitSizes::PAGE],
        rounds: 3,
    };

    /// A drive on which one command programs several pages, or parts of them.
    pub(crate) const UNITS: Self = Self {
        pages: &[4, 6, 8, 9, 12, 16, 33, 64],
        units: &[
            UnitSizes { per_page: 2, pages: 1, planes: 1, ..UnitSizes::PAGE },
            UnitSizes { per_page: 4, pages: 1, planes: 1, ..UnitSizes::PAGE },
            UnitSizes { per_page: 8, pages: 1, planes: 1, ..UnitSizes::PAGE },
            UnitSizes { per_page: 1, pages: 3, planes: 1, ..UnitSizes::PAGE },
            UnitSizes { per_page: 1, pages: 1, planes: 2, ..UnitSizes::PAGE },
            UnitSizes { per_page: 2, pages: 3, planes: 1, ..UnitSizes::PAGE },
            UnitSizes { per_page: 4, pages: 1, planes: 2, ..UnitSizes::PAGE },
            UnitSizes { per_page: 2, pages: 2, planes: 2, ..UnitSizes::PAGE },
            UnitSizes { per_page: 8, pages: 1, planes: 4, ..UnitSizes::PAGE },
            UnitSizes { across: 2, planes: 2, ..UnitSizes::PAGE },
            UnitSizes { across: 2, pages: 3, planes: 4, ..UnitSizes::PAGE },
        ],
        rounds: 6,
        ..Self::PLAIN
    };
}

/// The steps that are followed by a check of the structure, which looks at every page of the drive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Checks {
    /// One in several: the larger the drive, the fewer.
    BySize,
    /// Each, however large the drive is.
    EachStep,
    /// One for each sixteenth of the pages of the drive, so that a step costs the same on any drive.
    /// For tests of many operations: reads are compared as always, and the whole drive at the end.
    Seldom,
}

/// Everything that a run depends on.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    /// That of the flash.
    pub(crate) shape: Shape,
    pub(crate) units: UnitSizes,
    /// Dies whose blocks make superblocks; 0: each block is alone.
    pub(crate) superblock: u32,
    /// One program unit in this number holds parity; 0: none.
    pub(crate) parity: u32,
    pub(crate) logical_pages: u32,
    pub(crate) gc: GcMarks,
    pub(crate) victim: &'static str,
    /// `dynamic`, or a static order.
    pub(crate) placement: Cow<'static, str>,
    /// The threshold of static wear levelling.
    pub(crate) wear: Option<u32>,
    pub(crate) priorities: bool,
    /// Of a hundred writes, those of high priority; `None`: a third, if the order policy looks.
    pub(crate) urgent: Option<u32>,
    /// How the pages of a block are numbered.
    pub(crate) pages: PageOrder,
    pub(crate) pattern: Pattern,
    /// Of a hundred host operations.
    pub(crate) reads: u32,
    pub(crate) trims: u32,
    /// Every logical page is written before the main phase.
    pub(crate) full: bool,
    /// …at once rather than through events.
    pub(crate) filled_at_once: bool,
    /// The main phase works at once too: no two operations are ever on their way together.
    pub(crate) immediate: bool,
    pub(crate) queue_depth: u32,
    pub(crate) taste: Taste,
    /// Of a hundred steps, those that offer idle time.
    pub(crate) idle: u32,
    pub(crate) operations: u32,
    /// P/E cycles after which a block is retired; 0: never. The run ends when the drive is worn out.
    pub(crate) endurance: u32,
    /// Jobs may be left over that wait for a pool.
    pub(crate) jobs_may_wait: bool,
    /// The steps that are followed by a check of the structure.
    pub(crate) checks: Checks,
}

/// Some of the 24 static orders: each unit comes first and last.
const ORDERS: [&str; 6] = ["cwdp", "pdwc", "dpcw", "wcpd", "cpdw", "pcwd"];

fn most_pages(shape: &Shape, units: UnitSizes, gc: GcMarks, needs: &Needs) -> u32 {
    let planes = shape.channels * shape.chips_per_channel * shape.planes_per_die / units.planes;
    let pages = shape.pages_per_block * units.per_page * units.planes / units.across;
    let usable = shape.blocks_per_plane * pages * needs.slots_per_cent / 100;
    let padding = shape.blocks_per_plane * (units.per_program() - 1);
    (usable - (gc.stop + 2 + needs.blocks) * pages - padding) * planes
}

impl Scenario {
    /// A drive of legal settings and a workload.
    pub(crate) fn random(seed: u64, needs: &Needs) -> Self {
        let mut rng = Rng::named(seed, "test/scenario");
        let mut one_of = |n: u32| rng.below(n);
        let start = 2 + one_of(3) / 2;
        let stop = start + one_of(3);
        let background_stop = if one_of(2) == 0 { 0 } else { stop + one_of(3) };
        let gc = GcMarks {
            start,
            stop,
            background_stop,
            one_by_one: seed % 5 == 4,
            paced: seed % 3 == 1,
        };
        // Large drives make slow checks: few planes with large blocks, or many with small ones.
        let shape = loop {
            let (channels, chips) =
                [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (4, 1)][one_of(6) as usize];
            let planes = 1 + one_of(4);
            let pages = needs.pages[one_of(needs.pages.len() as u32) as usize];
            let data = 2 + one_of(6);
            let least = gc.stop + 2 + needs.blocks;
            let units = match needs.units {
                [one] => *one,
                several => several[one_of(several.len() as u32) as usize],
            };
            // Each block but those may give up a program unit.
            let programs = pages / units.pages;
            if pages % units.pages != 0 || !planes.is_multiple_of(units.planes) || programs < 2 {
                continue;
            }
            let blocks = (least * 100).div_ceil(needs.slots_per_cent) + data;
            let blocks = if units == UnitSizes::PAGE {
                blocks
            } else {
                blocks * programs / (programs - 1) + 1
            };
            let shape = Shape {
                channels,
                chips_per_channel: chips,
                dies_per_chip: 1,
                planes_per_die: planes,
                blocks_per_plane: blocks,
                pages_per_block: pages,
                page_size: Bytes::kib(4),
                bits_per_cell: 1 + one_of(3),
            };
            if channels * chips * planes * blocks * pages * units.per_page
                <= 900 * units.per_program()
            {
                break (shape, units);
            }
        };
        let (shape, units) = shape;
        let planes = shape.channels * shape.chips_per_channel * shape.planes_per_die;
        let most = most_pages(&shape, units, gc, needs);
        // Half of the drives have no page more than they need.
        let logical_pages =
            if one_of(2) == 0 { most } else { (most - one_of(most / 2 + 1)).max(1) };
        let full = one_of(4) > 0;
        Self {
            seed,
            shape,
            units,
            superblock: 0,
            parity: 0,
            logical_pages,
            gc,
            victim: ["greedy", "fifo", "random", "d-choices"][one_of(4) as usize],
            placement: if one_of(2) == 0 { "dynamic" } else { ORDERS[one_of(6) as usize] }.into(),
            wear: (one_of(4) == 0).then(|| 1 + one_of(3)),
            priorities: one_of(5) == 0,
            urgent: None,
            pages: PageOrder::Cyclic,
            pattern: Pattern::ALL[one_of(4) as usize],
            reads: [0, 20, 50][one_of(3) as usize],
            trims: if full {
                [0, 0, 3][one_of(3) as usize]
            } else {
                [2, 10, 30][one_of(3) as usize]
            },
            full,
            filled_at_once: one_of(2) == 0,
            immediate: one_of(6) == 0,
            queue_depth: [1, 2, 4, 8, 24][one_of(5) as usize],
            taste: Taste::ALL[one_of(6) as usize],
            idle: [0, 2, 10][one_of(3) as usize],
            operations: (shape.blocks_per_plane * shape.pages_per_block * planes * needs.rounds)
                .min(3_000),
            endurance: 0,
            jobs_may_wait: false,
            checks: Checks::BySize,
        }
    }

    /// The most logical pages that a legal drive of this shape exports.
    pub(crate) fn most_pages(&self, needs: &Needs) -> u32 {
        most_pages(&self.shape, self.units, self.gc, needs)
    }

    pub(crate) fn geometry(&self) -> Geometry {
        Geometry::new(self.shape)
            .ok()
            .and_then(|geometry| geometry.with_order(self.pages)?.with_units(self.units).ok())
            .map(|geometry| match self.superblock {
                0 => geometry,
                dies => geometry.with_superblocks(dies),
            })
            .map(|geometry| geometry.with_parity(self.parity))
            .expect("a scenario's shape is a drive")
    }

    /// The same drive with superblocks of some of its dies, and with parity in some. Half of them have no
    /// page more than they need.
    pub(crate) fn striped(mut self) -> Self {
        let mut rng = Rng::named(self.seed, "test/striped");
        let alone = self.geometry();
        let dies = alone.dies() as u32;
        let fit: Vec<u32> = (0..=dies).filter(|n| *n == 0 || dies.is_multiple_of(*n)).collect();
        self.superblock = fit[rng.below(fit.len() as u32) as usize];
        let geometry = self.geometry();
        let units = if geometry.superblocks().are_blocks() {
            geometry.pages_per_block() / geometry.slots_per_program()
        } else {
            geometry.superblocks().members()
        };
        let fit: Vec<u32> = (2..=units).filter(|n| units.is_multiple_of(*n)).collect();
        let alone = geometry.superblocks().are_blocks();
        if !fit.is_empty() && (alone || rng.below(2) == 0) {
            self.parity = fit[rng.below(fit.len() as u32) as usize];
        }
        // The blocks that reserves and parity take come on top of those that hold data.
        let mut config = Config { logical_pages: 1, ..self.bare_config() };
        while config.geometry.data_slots() <= config.spare_needed() + 4 {
            self.shape.blocks_per_plane += 4;
            config.geometry = self.geometry();
        }
        let most = config.geometry.data_slots() - config.spare_needed();
        let most = (most as u32).min(self.logical_pages);
        self.logical_pages = if rng.below(2) == 0 { most } else { 1 + rng.below(most) };
        self
    }

    fn bare_config(&self) -> Config {
        Config {
            geometry: self.geometry(),
            layouts: Layouts::of(&self.geometry()),
            logical_pages: self.logical_pages,
            gc: self.gc,
            endurance: self.endurance,
            seed: self.seed,
        }
    }

    pub(crate) fn config(&self, layouts: Layouts) -> Config {
        let mut config = self.bare_config();
        if self.units == UnitSizes::PAGE {
            config.layouts = layouts;
        }
        let spare = config.geometry.data_slots() - u64::from(self.logical_pages);
        assert!(spare >= config.spare_needed(), "a scenario is a legal drive");
        config
    }

    /// The built-in policies that it names.
    pub(crate) fn set(&self) -> PolicySet {
        PolicySet::resolve(&self.named(), None).expect("a scenario names policies that exist")
    }

    /// The names of its policies with their parameters.
    pub(crate) fn named(&self) -> Vec<(String, String, Map<String, Value>)> {
        let param = |key: &str, value: Value| Map::from_iter([(key.to_owned(), value)]);
        let entry = |family: Family, name: &str, params: Map<String, Value>| {
            (family.name().to_owned(), name.to_owned(), params)
        };
        let mut named = vec![
            entry(Family::Victim, self.victim, Map::new()),
            entry(Family::Order, if self.priorities { "priority" } else { "fifo" }, Map::new()),
            match &*self.placement {
                "dynamic" => entry(Family::Placement, "dynamic", Map::new()),
                order => entry(Family::Placement, "static", param("order", order.into())),
            },
        ];
        if let Some(threshold) = self.wear {
            named.push(entry(Family::Wear, "static", param("threshold", threshold.into())));
        }
        named
    }
}

/// Draws the pages that the host accesses.
struct Addresses {
    pattern: Pattern,
    pages: u32,
    at: u32,
    left: u32,
}

impl Addresses {
    fn next(&mut self, rng: &mut Rng) -> Lpn {
        let any = rng.below(self.pages);
        let hot = |rng: &mut Rng, n: u32| rng.below(n.max(1));
        Lpn::from_u32(match self.pattern {
            Pattern::Uniform => any,
            Pattern::HotCold if rng.below(10) > 0 => hot(rng, self.pages / 10),
            Pattern::Few if rng.below(50) > 0 => hot(rng, 3.min(self.pages)),
            Pattern::HotCold | Pattern::Few => any,
            Pattern::Runs => {
                if self.left == 0 {
                    self.at = any;
                    self.left = 1 + rng.below(40);
                }
                self.left -= 1;
                self.at = (self.at + 1) % self.pages;
                self.at
            }
        })
    }
}

/// Runs a scenario with the policies that `policies` makes, from an empty drive to a drained one.
pub(crate) fn run<K: PolicyTypes>(
    s: &Scenario,
    layouts: Layouts,
    policies: impl Fn() -> Policies<K>,
) -> Result<Drive<K>, Fault>
where
    K::Store: Store<Page = u64>,
{
    let mut drive = Drive::new(Ftl::new(s.config(layouts), policies()), s);
    drive.jobs_may_wait = s.jobs_may_wait;
    work(s, &mut drive, &policies)?;
    Ok(drive)
}

/// The workload of a scenario on an empty drive.
pub(crate) fn work<K: PolicyTypes>(
    s: &Scenario,
    drive: &mut Drive<K>,
    policies: &impl Fn() -> Policies<K>,
) -> Result<(), Fault>
where
    K::Store: Store<Page = u64>,
{
    if s.full && s.filled_at_once {
        for lpn in 0..s.logical_pages {
            drive.write_now(Lpn::from_u32(lpn))?;
        }
        drive.begin_run(policies());
    } else if s.full {
        for lpn in 0..s.logical_pages {
            drive.write(Lpn::from_u32(lpn), Prio::Normal);
            drive.settle_down()?;
            while drive.inside() >= s.queue_depth as usize && drive.step()? {}
        }
        drive.drain()?;
    }
    main_phase(s, drive)
}

/// The operations of a scenario on a drive in any state.
pub(crate) fn main_phase<K: PolicyTypes>(s: &Scenario, drive: &mut Drive<K>) -> Result<(), Fault>
where
    K::Store: Store<Page = u64>,
{
    let mut rng = Rng::named(s.seed, "test/workload");
    let mut addresses = Addresses { pattern: s.pattern, pages: s.logical_pages, at: 0, left: 0 };
    let dies = s.shape.channels * s.shape.chips_per_channel;
    let mut left = s.operations;
    while left > 0 && !drive.is_dead() {
        if s.idle > 0 && rng.below(100) < s.idle {
            let die = DieId::from_u32(rng.below(dies));
            if s.immediate {
                drive.idle_now(die)?;
            } else {
                drive.offer_idle(die)?;
            }
        }
        // Mostly as many as the queue holds; now and then the drive runs dry.
        let room = drive.inside() < s.queue_depth as usize;
        if !s.immediate && (!room || rng.below(3) == 0) {
            if !drive.step()? && !drive.is_quiet() && !drive.is_dead() {
                drive.drain()?; // says what is stuck
            }
            continue;
        }
        left -= 1;
        let lpn = addresses.next(&mut rng);
        let kind = rng.below(100);
        let urgent = match s.urgent {
            Some(share) => rng.below(100) < share,
            None => s.priorities && rng.below(3) == 0,
        };
        let prio = if urgent { Prio::High } else { Prio::Normal };
        match (kind, s.immediate) {
            (k, false) if k < s.reads => drive.read(lpn)?,
            (k, true) if k < s.reads => drive.read_now(lpn)?,
            (k, _) if k < s.reads + s.trims => drive.trim(lpn)?,
            (_, false) => drive.write(lpn, prio),
            (_, true) => drive.write_now(lpn)?,
        }
        if s.immediate {
            drive.settle_now()?;
        } else {
            drive.settle_down()?;
        }
    }
    if drive.is_dead() {
        return drive.finish_worn_out();
    }
    if s.immediate { drive.finish_at_once() } else { drive.finish_run() }
}

/// Runs one scenario for each seed; a failure is one line that says how to see it again.
///
/// `FLOATGATE_SEED` replaces the seeds: `17`, or `1000..50000` for a longer search; `..4` leaves the
/// first four of them. Then the answer is `None`, for there is nothing to say about coverage.
pub(crate) fn sweep(
    seeds: impl IntoIterator<Item = u64>,
    scenario: impl Fn(u64) -> Scenario,
    run: impl Fn(&Scenario) -> Result<Seen, Fault>,
) -> Option<Seen> {
    sweep_until(seeds, scenario, run, |_| false)
}

/// The same, until `enough` has been seen in all runs together.
pub(crate) fn sweep_until(
    seeds: impl IntoIterator<Item = u64>,
    scenario: impl Fn(u64) -> Scenario,
    run: impl Fn(&Scenario) -> Result<Seen, Fault>,
    enough: impl Fn(&Seen) -> bool,
) -> Option<Seen> {
    // The one setting that a test reads from outside: the seed to replay.
    #[allow(clippy::disallowed_methods)]
    let replayed = std::env::var("FLOATGATE_SEED").ok();
    let number = |s: &str| s.parse::<u64>().expect("FLOATGATE_SEED is a seed or a range of seeds");
    let seeds = seeds.into_iter();
    let all: Box<dyn Iterator<Item = u64>> =
        match replayed.as_ref().map(|s| s.split_once("..").ok_or(s)) {
            None => Box::new(seeds),
            Some(Ok(("", count))) => Box::new(seeds.take(number(count) as usize)),
            Some(Ok((first, end))) => Box::new(number(first)..number(end)),
            Some(Err(one)) => Box::new(std::iter::once(number(one))),
        };
    let mut seen = Seen::default();
    for seed in all {
        if replayed.is_none() && enough(&seen) {
            break;
        }
        let scenario = scenario(seed);
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&scenario)));
        let fault = match outcome {
            Ok(Ok(more)) => {
                seen.add(&more);
                continue;
            }
            Ok(Err(fault)) => fault,
            Err(panic) => panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("a panic without words")
                .to_owned(),
        };
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("").to_owned();
        panic!(
            "{fault}\n  replay: FLOATGATE_SEED={seed} cargo test -p floatgate-ftl --profile fast \
             --test main {test}\n  {scenario:?}",
        );
    }
    replayed.is_none().then_some(seen)
}
