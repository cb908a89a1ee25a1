//! Generators: workloads made from a few numbers.
//!
//! The user writes a [`Generator`]. [`Generator::with_span`] checks it against a drive and gives a
//! [`Synthetic`] workload in which nothing is left open. Addresses, sizes, operations, writes that
//! bypass volatile memory and arrivals each draw from a random stream of their own, so changing one
//! leaves the others as they were. Flushes come on top of the other requests, which stay as they
//! are without.

mod arrivals;
mod config;
mod conversations;
mod permutation;
mod sizes;
mod spread;
mod zipf;

use std::sync::Arc;

use kernel::{Bytes, Prio, Rng};

use self::arrivals::ArrivalClock;
use self::conversations::{Conversations, Offload};
use self::sizes::SizePicker;
use self::spread::SlotSpread;
use crate::clock::in_time;
use crate::error::{Spot, detail};
use crate::{About, BATCH, Draws, Op, Request, RequestSource, TraceError, Workload};

pub use arrivals::Arrivals;
pub use config::{Generator, Pattern};
pub use conversations::Eviction;
pub use permutation::PassOrder;
pub use sizes::{MixShare, Size};

/// A percentage is answered with the share.
fn expected_share(found: f64) -> String {
    let share = "a share from 0 to 1";
    if found > 1.0 && found <= 100.0 {
        format!("{share}: {found} % is {}", found / 100.0)
    } else {
        share.to_owned()
    }
}

/// Shares closer than this are equal: adding a few decimal fractions can lose as much.
const ROUNDING: f64 = 1e-9;

/// A generated workload with nothing left open.
#[derive(Clone, Debug)]
pub struct Synthetic {
    about: About,
    plan: Arc<GeneratorPlan>,
}

/// The resolved generator.
#[derive(Debug)]
struct GeneratorPlan {
    name: Arc<str>,
    requests: u64,
    span: u64,
    align: u64,
    sizes: SizePicker,
    spread: SlotSpread,
    /// Below the first: read; below the second: trim; else write. In units of 2^-64.
    read_below: u64,
    trim_below: u64,
    /// Set when every request does the same, but for flushes and FUA.
    only: Option<Op>,
    /// A flush after this number of writes.
    flush_every: Option<u64>,
    /// A write bypasses volatile memory below this, in units of 2^-64.
    fua_below: u128,
    arrivals: Arrivals,
    seed: u64,
}

impl Generator {
    /// Checks the generator and settles its open values: the address space (the whole `drive`
    /// unless it has its own) and the seed (that of the run, `seed`, likewise).
    pub fn with_span(&self, drive: Bytes, seed: u64) -> Result<Synthetic, TraceError> {
        let bad = |key: &str, found: String, expected: &str| {
            let hint = format!("set `workload.{key}`");
            let place = Arc::from(self.pattern.name());
            TraceError::Parameter(detail(&place, Spot::Whole, found, expected, hint))
        };
        if self.requests == 0 {
            return Err(bad("requests", "no requests".into(), "at least one"));
        }
        if let Some(duration) = self.duration {
            let found = format!("`duration = {duration}` for {}", self.pattern.name());
            let expected = "it for stand-ins of traces; a generator goes by its number of requests";
            return Err(bad("requests", found, expected));
        }
        if let Some(share) = self.created_reads {
            let found = format!("`created-reads = {share}` for {}", self.pattern.name());
            return Err(bad("created-reads", found, "it for stand-ins of traces"));
        }
        let size = self.size.clone().unwrap_or_else(|| self.pattern.size());
        let sizes = SizePicker::new(&size).map_err(|found| {
            bad("size", found, "sizes from 1 B to 1 GiB with shares that add up to 1")
        })?;
        let align = self.alignment(&size).get();
        if align == 0 {
            return Err(bad("align", "an alignment of 0".into(), "at least one byte"));
        }
        let span = self.span.unwrap_or(drive).get();
        if self.span.is_some() && span > drive.get() {
            let found = format!("a span of {}", Bytes::new(span));
            return Err(bad("span", found, &format!("at most the drive's {drive}")));
        }
        if span < u64::from(sizes.largest()).max(align) {
            let found = format!("a span of {}", Bytes::new(span));
            return Err(bad("span", found, "room for the largest request and one aligned place"));
        }
        let seed = self.seed.unwrap_or(seed);
        let spread = self
            .spread(span / align, seed)
            .map_err(|(key, found, expected)| bad(key, found, expected))?;
        let own = self.prefix_hits.unwrap_or_else(|| self.pattern.read_share());
        let read = self.read_share.unwrap_or(own);
        let (trim, fua) = (self.trim_share, self.fua_share);
        for (key, share) in [("read-share", read), ("trim-share", trim), ("fua-share", fua)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(bad(key, format!("a share of {share}"), &expected_share(share)));
            }
        }
        if read + trim > 1.0 + ROUNDING {
            let found = format!("reads and trims are {} of all requests", read + trim);
            return Err(bad("trim-share", found, "read-share + trim-share of at most 1"));
        }
        let (key, arrivals) = match (self.rate, self.arrivals) {
            (None, arrivals) => ("arrivals", arrivals.unwrap_or_else(|| self.pattern.arrivals())),
            (Some(iops), None) => ("rate", Arrivals::Poisson { iops }),
            (Some(_), Some(_)) => {
                return Err(bad("rate", "`arrivals` and `rate`".into(), "one of them"));
            }
        };
        arrivals
            .check()
            .map_err(|found| bad(key, found, "a rate above 0 and at most 1e9 per second"))?;
        let only = match (read, trim) {
            (0.0, 0.0) => Some(Op::Write),
            (1.0, _) => Some(Op::Read),
            (_, 1.0) => Some(Op::Trim),
            _ => None,
        };
        if self.flush_every == Some(0) {
            return Err(bad("flush-every", "a flush after 0 writes".into(), "at least 1"));
        }
        if only.is_some_and(|op| op != Op::Write) {
            let expected = "it for a generator that writes";
            let given = [("flush-every", self.flush_every.is_some()), ("fua-share", fua > 0.0)];
            if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
                return Err(bad(key, format!("`{key}` where nothing is written"), expected));
            }
        }
        let plan = GeneratorPlan {
            name: self.pattern.name().into(),
            requests: self.requests,
            span,
            align,
            sizes,
            spread,
            read_below: below(read),
            trim_below: below(read + trim),
            only,
            flush_every: self.flush_every,
            fua_below: below_or_all(fua),
            arrivals,
            seed,
        };
        let about = About {
            name: self.pattern.name().into(),
            format: self.pattern.name().into(),
            sha256: None,
            reading: None,
            requests: plan.flushes().and_then(|flushes| self.requests.checked_add(flushes)),
            span: Some(span),
            timed: arrivals != Arrivals::AsFastAsPossible,
            closed: Vec::new(),
            flows: Vec::new(),
            stand_in: None,
            notes: Vec::new(),
        };
        Ok(Synthetic { about, plan: Arc::new(plan) })
    }
}

/// The stream of random numbers that says which requests read, write and trim.
const OPERATIONS: &str = "workload/operations";
/// Nobody waits until the flushes among more requests are counted: about a second's worth.
const MANY: u64 = 1 << 29;

/// The share of writes and trims among the requests of a generator, from 0 to 1, below which it takes
/// too long to write anything much. Such a workload does not age a drive with other draws.
pub const HARDLY_WRITES: f64 = 1e-3;

/// A share in units of 2^-64, so that a draw of 64 bits is compared without a division.
fn below(share: f64) -> u64 {
    (share * 2.0_f64.powi(64)) as u64
}

/// As [`below`], but a share of 1 is above every draw.
fn below_or_all(share: f64) -> u128 {
    (share * 2.0_f64.powi(64)) as u128
}

impl Workload for Synthetic {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(Box::new(self.making(if self.draws() == Draws::Nothing { 0 } else { pass })))
    }

    fn draws(&self) -> Draws {
        // A stand-in is repeated, as its trace would be.
        if self.about.stand_in.is_some() { Draws::Nothing } else { Draws::All }
    }

    fn writes_whole_pages(&self, page: Bytes) -> bool {
        let whole = |bytes: u64| bytes.is_multiple_of(page.get());
        self.plan.only == Some(Op::Write)
            && whole(self.plan.align)
            && self.plan.sizes.all().all(|size| whole(size.into()))
    }

    fn endless(&self) -> Option<Box<dyn RequestSource>> {
        let hardly_writes = match self.plan.only {
            Some(op) => op != Op::Write,
            None => self.plan.trim_below > below(1.0 - HARDLY_WRITES),
        };
        if hardly_writes || self.draws() == Draws::Nothing {
            return None;
        }
        let mut making = self.making(1);
        making.left = u64::MAX;
        // The times of this number of requests would not fit.
        let unused = Rng::named(self.plan.seed, "workload/arrivals");
        making.clock = ArrivalClock::new(Arrivals::AsFastAsPossible, unused);
        Some(Box::new(making))
    }
}

impl Synthetic {
    /// The requests of a pass. One in order begins where the pass before has ended, the first pass
    /// after the run's at the start.
    fn making(&self, pass: u64) -> Making {
        let seed = match pass {
            0 => self.plan.seed,
            1 => Rng::named(self.plan.seed, "precondition/workload").bits(),
            n => Rng::named(self.plan.seed, &format!("precondition/workload {n}")).bits(),
        };
        let mut making = Making::of(&self.plan, seed);
        let before = |passes: u64| self.plan.requests.saturating_mul(passes);
        match &self.plan.spread {
            SlotSpread::Passes(passes) => making.next = passes.first_after(before(pass)),
            SlotSpread::Sequential => {
                let bytes = before(pass.saturating_sub(1)) as f64 * self.plan.sizes.mean();
                let at = bytes as u64 % self.plan.span;
                making.next = at - at % self.plan.align;
            }
            _ => {}
        }
        making
    }
}

impl Making {
    /// `seed`: that of what is drawn for each request. Popular places follow the plan.
    fn of(plan: &Arc<GeneratorPlan>, seed: u64) -> Self {
        let plan = Arc::clone(plan);
        let stream = |name| Rng::named(seed, name);
        Self {
            left: plan.requests,
            clock: ArrivalClock::new(plan.arrivals, stream("workload/arrivals")),
            places: stream("workload/places"),
            sizes: stream("workload/sizes"),
            ops: stream(OPERATIONS),
            fua: stream("workload/fua"),
            unflushed: 0,
            next: 0,
            conversations: match &plan.spread {
                SlotSpread::Offload(offload) => {
                    Some(Conversations::new(offload, &mut stream("workload/conversations")))
                }
                _ => None,
            },
            plan,
        }
    }
}

/// A generated workload in the making.
struct Making {
    plan: Arc<GeneratorPlan>,
    left: u64,
    clock: ArrivalClock,
    places: Rng,
    sizes: Rng,
    ops: Rng,
    fua: Rng,
    /// Writes since the last flush.
    unflushed: u64,
    /// The next address of a sequential stream, or the number of places that were taken.
    next: u64,
    /// Those of `kv-offload`.
    conversations: Option<Conversations>,
}

impl RequestSource for Making {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        // With flushes there may be as many again.
        let most = if self.plan.flush_every.is_some() { BATCH / 2 } else { BATCH };
        let n = self.left.min(most as u64);
        self.left -= n;
        let plan = Arc::clone(&self.plan);
        // The pattern is asked for once per batch, not per request.
        match &plan.spread {
            SlotSpread::Uniform { slots } => {
                self.make(batch, n, &plan, |rng, _, len| {
                    (plan.place(rng.below_u64(*slots), len), len)
                });
            }
            // The last request before the end is as short as it must be: no byte is left out.
            SlotSpread::Sequential => self.make(batch, n, &plan, |_, next, len| {
                let at = if *next == plan.span { 0 } else { *next };
                let len = u64::from(len).min(plan.span - at);
                *next = at + len;
                (at, len as u32)
            }),
            SlotSpread::Zones(zones) => {
                self.make(batch, n, &plan, |rng, _, len| (plan.place(zones.draw(rng), len), len));
            }
            SlotSpread::Zipf(zipf) => {
                self.make(batch, n, &plan, |rng, _, len| (plan.place(zipf.draw(rng), len), len));
            }
            SlotSpread::Passes(passes) => self.make(batch, n, &plan, |_, next, len| {
                let place = passes.place(*next);
                *next += 1;
                (plan.place(place, len), len)
            }),
            SlotSpread::Offload(offload) => self.converse(batch, n, &plan, offload),
        }
        in_time(batch, &plan.name, "let them arrive more often, or make fewer requests")
    }
}

impl Making {
    #[inline(always)]
    fn make(
        &mut self,
        batch: &mut Vec<Request>,
        n: u64,
        plan: &GeneratorPlan,
        place: impl Fn(&mut Rng, &mut u64, u32) -> (u64, u32),
    ) {
        let Self { sizes, places, next, ops, fua, clock, unflushed, .. } = self;
        plan.push(batch, n, fua, unflushed, || {
            let wish = plan.sizes.draw(sizes);
            let (offset, len) = place(places, next, wish);
            let op = match plan.only {
                Some(op) => op,
                None => plan.op(ops.bits()),
            };
            Request { at: clock.tick(), offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
        });
    }

    /// Requests of conversations.
    fn converse(
        &mut self,
        batch: &mut Vec<Request>,
        n: u64,
        plan: &GeneratorPlan,
        offload: &Offload,
    ) {
        let Self { places, ops, fua, clock, unflushed, conversations, .. } = self;
        let Some(conversations) = conversations else { return };
        plan.push(batch, n, fua, unflushed, || {
            let (op, offset, len, hint) = conversations.next(offload, places, ops);
            Request { at: clock.tick(), offset, len, op, prio: Prio::Normal, flow: 0, hint }
        });
    }
}

impl GeneratorPlan {
    /// Appends `n` requests with their flushes, some writes with FUA.
    #[inline(always)]
    fn push(
        &self,
        batch: &mut Vec<Request>,
        n: u64,
        fua: &mut Rng,
        unflushed: &mut u64,
        mut one: impl FnMut() -> Request,
    ) {
        if self.flush_every.is_none() && self.fua_below == 0 {
            batch.extend((0..n).map(|_| one()));
            return;
        }
        for _ in 0..n {
            let mut request = one();
            if request.op == Op::Write {
                *unflushed += 1;
                if u128::from(fua.bits()) < self.fua_below {
                    request.op = Op::WriteFua;
                }
            }
            batch.push(request);
            if self.flush_every == Some(*unflushed) {
                *unflushed = 0;
                batch.push(Request { offset: 0, len: 0, op: Op::Flush, ..request });
            }
        }
    }

    /// How many flushes there will be, if that is soon known. Operations are drawn from a stream of
    /// their own, so that nothing else need be made to know.
    fn flushes(&self) -> Option<u64> {
        let Some(every) = self.flush_every else { return Some(0) };
        if matches!(self.spread, SlotSpread::Offload(_)) {
            return None;
        }
        let writes = match self.only {
            Some(_) => self.requests,
            None if self.requests > MANY => return None,
            None => {
                let mut ops = Rng::named(self.seed, OPERATIONS);
                (0..self.requests).filter(|_| self.op(ops.bits()) == Op::Write).count() as u64
            }
        };
        Some(writes / every)
    }

    #[inline]
    fn op(&self, bits: u64) -> Op {
        if bits < self.read_below {
            Op::Read
        } else if bits < self.trim_below {
            Op::Trim
        } else {
            Op::Write
        }
    }

    /// The address of a slot; a request that would pass the end is moved back to the last slot
    /// where it fits.
    #[inline(always)]
    fn place(&self, slot: u64, len: u32) -> u64 {
        let at = slot * self.align;
        let room = self.span - u64::from(len);
        if at <= room { at } else { room / self.align * self.align }
    }
}

#[cfg(test)]
mod tests;
