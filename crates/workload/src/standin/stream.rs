//! The requests of the classes: where they go, and how large they are.

use kernel::Rng;

use super::draw::Draw;
use super::place::{Lanes, PAGE_SECTORS, SECTOR, StandInSpace};
use super::profile::{Profile, ProfileClass, RUNS, SizeShare, Stream};
use super::ring::{Ring, Starts};

/// The operation of a request; the index of its stream in a class.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;

/// A stream of a profile, ready to draw from.
#[derive(Debug)]
struct Plan {
    pages: f64,
    follow: f64,
    proceed: f64,
    runs: Draw<usize>,
    fresh: f64,
    inside: f64,
    same_size: f64,
    follow_same_size: f64,
    /// In sectors.
    sizes: Draw<u32>,
    again_sizes: Draw<u32>,
    follow_sizes: Draw<u32>,
    run_sizes: Draw<u32>,
    begins: Draw<u32>,
    after_read: f64,
    ages: [Option<Draw<u32>>; 2],
}

fn sizes(shares: &[SizeShare]) -> Draw<u32> {
    let items: Vec<(u32, f64)> =
        shares.iter().map(|s| (s.0.div_ceil(SECTOR) as u32, s.1)).collect();
    Draw::new(&items)
}

fn numbered(shares: &[f64]) -> Vec<(u32, f64)> {
    (0..).zip(shares.iter().copied()).collect()
}

impl Plan {
    fn new(stream: &Stream) -> Self {
        let or_first = |shares: &[f64]| if shares.is_empty() { vec![1.0] } else { shares.to_vec() };
        let ages = |shares: &Vec<f64>| (!shares.is_empty()).then(|| Draw::new(&numbered(shares)));
        let runs: Vec<(usize, f64)> = or_first(&stream.runs).into_iter().enumerate().collect();
        Self {
            pages: stream.pages as f64,
            follow: stream.follow,
            proceed: stream.proceed,
            runs: Draw::new(&runs),
            fresh: stream.fresh,
            inside: stream.inside,
            same_size: stream.same_size,
            follow_same_size: stream.follow_same_size,
            sizes: sizes(&stream.sizes),
            again_sizes: sizes(&stream.again_sizes),
            follow_sizes: sizes(&stream.follow_sizes),
            run_sizes: sizes(&stream.run_sizes),
            begins: Draw::new(&numbered(&or_first(&stream.begins))),
            after_read: stream.after_read,
            ages: [ages(&stream.ages_after_read), ages(&stream.ages_after_write)],
        }
    }
}

/// The number of earlier requests that are tried for one that is large enough to go back to.
const LOOKS: usize = 3;

/// The factor by which the touched pages may exceed their growth before runs are kept off new ones.
const SLACK: f64 = 1.05;

/// The ends of the runs of a stream, the latest first.
#[derive(Clone, Default, Debug)]
pub(super) struct SequentialRuns {
    ends: [u64; RUNS],
    known: usize,
}

impl SequentialRuns {
    /// The run that ended at `at`.
    pub(super) fn find(&self, at: u64) -> Option<usize> {
        self.ends[..self.known].iter().position(|&end| end == at)
    }

    pub(super) fn get(&self, rank: usize) -> Option<(usize, u64)> {
        let rank = rank.min(self.known.checked_sub(1)?);
        Some((rank, self.ends[rank]))
    }

    /// Notes that run `rank`, or a new one, ends at `end` now.
    pub(super) fn note(&mut self, rank: Option<usize>, end: u64) {
        let place = rank.unwrap_or_else(|| {
            self.known = (self.known + 1).min(RUNS);
            self.known - 1
        });
        self.ends.copy_within(..place, 1);
        self.ends[0] = end;
    }
}

/// The reads or writes of a class on their way.
#[derive(Debug)]
struct Lane {
    plan: Plan,
    runs: SequentialRuns,
    ring: Ring,
    /// The request whose address the latest one used: its stream and number.
    from: Option<(usize, u64)>,
    /// Pages that it was the first to touch.
    touched: u64,
}

/// A class on its way.
#[derive(Debug)]
pub(super) struct ClassPages {
    streams: [Option<Lane>; 2],
    starts: Starts,
    lanes: Lanes,
    gap: u64,
    /// Requests of the whole trace, and how the touched pages grow with them.
    requests: f64,
    growth: f64,
    made: u64,
    /// The part of the pages that should have been touched by now.
    grown: f64,
}

impl ClassPages {
    pub(super) fn new(class: &ProfileClass, profile: &Profile) -> Self {
        let lane = |stream: &Option<Stream>| {
            stream.as_ref().map(|stream| Lane {
                plan: Plan::new(stream),
                runs: SequentialRuns::default(),
                ring: Ring::default(),
                from: None,
                touched: 0,
            })
        };
        let of =
            |stream: &Option<Stream>, n: u64| stream.as_ref().map_or(0.0, |s| s.share * n as f64);
        Self {
            streams: [lane(&class.reads), lane(&class.writes)],
            starts: Starts::default(),
            lanes: Lanes::default(),
            gap: (2.0 * profile.gap_pages).round() as u64 + 1,
            requests: of(&class.reads, profile.reads) + of(&class.writes, profile.writes),
            growth: class.growth,
            made: 0,
            grown: 0.0,
        }
    }

    /// The next request of this class: first sector and sectors.
    #[inline]
    pub(super) fn next(
        &mut self,
        op: usize,
        rng: &mut Rng,
        space: &mut StandInSpace,
    ) -> (u64, u64) {
        self.made += 1;
        // At first it changes with every request, later hardly.
        if self.made < 256 || self.made.is_multiple_of(64) {
            self.grown = (self.made as f64 / self.requests).min(1.0).powf(self.growth);
        }
        let (at, len, rank, went_back) = self
            .followed(op, rng)
            .or_else(|| self.proceeded(op, rng, space))
            .unwrap_or_else(|| self.jumped(op, rng, space));
        let mut len = space.cut(at, len);
        if self.is_past() {
            len = space.known(at, len);
        }
        self.lane(op).touched += space.touch(at, len);
        let lane = self.lane(op);
        lane.runs.note(rank, at + len);
        let number = lane.ring.push(at, len);
        let before = self.starts.note(at, op, number);
        if let Some((source, number)) = before {
            self.lane(source).ring.outdate(number);
        }
        self.lane(op).from = before.filter(|_| went_back);
        (at, len)
    }

    fn lane(&mut self, op: usize) -> &mut Lane {
        self.streams[op].as_mut().expect("only streams of the profile are drawn")
    }

    /// Takes the address of the request that came after the one that was gone back to.
    #[inline]
    fn followed(&mut self, op: usize, rng: &mut Rng) -> Option<Choice> {
        let lane = self.streams[op].as_ref()?;
        let (source, number) = lane.from?;
        if rng.unit() >= lane.plan.follow {
            return None;
        }
        let (at, len) = self.streams[source].as_ref()?.ring.get(number + 1)?;
        let rank = lane.runs.find(at);
        let same = rng.unit() < lane.plan.follow_same_size;
        let len = if same { len } else { u64::from(lane.plan.follow_sizes.draw(rng)) };
        Some((at, len, rank, true))
    }

    #[inline]
    fn proceeded(&mut self, op: usize, rng: &mut Rng, space: &mut StandInSpace) -> Option<Choice> {
        let lane = self.streams[op].as_ref()?;
        if rng.unit() >= lane.plan.proceed {
            return None;
        }
        let (rank, end) = lane.runs.get(lane.plan.runs.draw(rng))?;
        let len = u64::from(lane.plan.run_sizes.draw(rng));
        // No request goes on to untouched pages more often than the growth allows.
        if !space.is_touched(end) {
            let behind = SLACK * self.behind(op);
            if behind < 1.0 && rng.unit() > behind.powi(16) {
                return None;
            }
        }
        let at = space.proceed(&mut self.lanes, end, len);
        // A run over known pages ends with their extent.
        (at != end || !space.is_edge(at)).then_some((at, len, Some(rank), false))
    }

    /// Whether the requests of the profile have all been made: nothing new is touched any more.
    fn is_past(&self) -> bool {
        self.made as f64 > self.requests.ceil()
    }

    /// The pages that should have been touched by now ÷ those that have been.
    fn behind(&mut self, op: usize) -> f64 {
        if self.is_past() {
            return 0.0;
        }
        let grown = self.grown;
        let lane = self.lane(op);
        lane.plan.pages * grown / lane.touched.max(1) as f64
    }

    fn jumped(&mut self, op: usize, rng: &mut Rng, space: &mut StandInSpace) -> Choice {
        let fresh = self.lane(op).plan.fresh;
        // The odds of the profile, moved so that the touched pages grow as they should.
        let push = self.behind(op).clamp(0.5, 2.0).powi(8);
        let fresh = fresh * push / (fresh * push + 1.0 - fresh);
        if rng.unit() >= fresh
            && let Some((at, len, wish)) = self.earlier(op, rng)
        {
            let behind = self.behind(op);
            let lane = self.lane(op);
            if wish < len && rng.unit() < lane.plan.inside {
                let pages = (len - wish) / PAGE_SECTORS;
                let at = at + PAGE_SECTORS * rng.below_u64(pages + 1);
                return (at, wish, lane.runs.find(at), true);
            }
            // If enough has been touched, no request is longer than the one before it.
            let same = rng.unit() < lane.plan.same_size || wish > len && SLACK * behind < 1.0;
            let len = if same { len } else { wish };
            return (at, len, lane.runs.find(at), true);
        }
        let gap = rng.below_u64(self.gap);
        let lane = self.lane(op);
        let len = u64::from(lane.plan.sizes.draw(rng));
        let begin = u64::from(lane.plan.begins.draw(rng)) % PAGE_SECTORS;
        let at = space.fresh(&mut self.lanes, gap, begin, len);
        (at, len, None, false)
    }

    /// An earlier request of the class: its first sector, its sectors, and the size of the request
    /// that goes back to it. Several are tried until one is as large as that.
    fn earlier(&mut self, op: usize, rng: &mut Rng) -> Option<(u64, u64, u64)> {
        let wish = u64::from(self.streams[op].as_ref()?.plan.again_sizes.draw(rng));
        let mut largest: Option<(u64, u64)> = None;
        for _ in 0..LOOKS {
            let (at, len) = self.one_of_earlier(op, wish, rng)?;
            if largest.is_none_or(|(_, known)| len > known) {
                largest = Some((at, len));
            }
            if len >= wish {
                break;
            }
        }
        largest.map(|(at, len)| (at, len, wish))
    }

    /// A request of that size near one of the age that the profile gives.
    fn one_of_earlier(&self, op: usize, wish: u64, rng: &mut Rng) -> Option<(u64, u64)> {
        let have =
            |source: usize| self.streams[source].as_ref().is_some_and(|lane| lane.ring.len() > 0);
        let plan = &self.streams[op].as_ref()?.plan;
        let read_first = if rng.unit() < plan.after_read { READ } else { WRITE };
        let source = if have(read_first) { read_first } else { 1 - read_first };
        if !have(source) {
            return None;
        }
        let ring = &self.streams[source].as_ref()?.ring;
        let end = ring.len();
        let class = plan.ages[source].as_ref().map_or(u32::MAX, |ages| ages.draw(rng));
        let age = match 1_u64.checked_shl(class) {
            Some(least) if least <= end => least + rng.below_u64(least),
            _ => u64::MAX,
        };
        // An age beyond all requests means any request.
        let age = if age <= end { age } else { 1 + rng.below_u64(end) };
        ring.get(ring.latest_near(end - age, wish))
    }
}

/// First sector, sectors, the run that it goes on with, and whether it goes where an earlier one had.
type Choice = (u64, u64, Option<usize>, bool);
