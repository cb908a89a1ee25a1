//! Several workloads at once, as devices side by side in one address space.

use std::sync::Arc;

use kernel::{Bytes, Dur, Prio, Time, hexadecimal};
use sha2::{Digest, Sha256};

use crate::error::{Spot, detail};
use crate::{About, BATCH, Draws, Flow, Flows, Loop, Request, RequestSource, TraceError, Workload};

/// Each part begins at a multiple of this, like the devices of one trace.
const ALIGN: u64 = 1 << 20;
/// All parts together end here, so that addresses can be moved and added.
const FARTHEST: u64 = 1 << 62;

/// One of the workloads that are merged.
pub struct MergedPart {
    /// Its requests.
    pub workload: Box<dyn Workload>,
    /// Its beginning after that of the earliest part. The least value of all parts counts as zero.
    pub begins: Dur,
    /// The priority of its requests; `None`: each has its own.
    pub prio: Option<Prio>,
    /// Present if its requests come when earlier ones of it are answered.
    pub closed: Option<ClosedLoop>,
    /// The owner of these requests: a name, which several parts may share, and its weight. Without
    /// a flow in any part there are no flows. A part with flows of its own keeps them.
    pub flow: Option<(String, u32)>,
    /// The greatest number of requests of its flow inside the drive. If a flow has several parts,
    /// the first gives it.
    pub depth: Option<u32>,
}

/// The rule by which a part sends its requests when it waits for answers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ClosedLoop {
    /// Requests outstanding, at least 1.
    pub depth: u32,
    /// No request arrives at this time or later. `None`: the last request is the end.
    pub until: Option<Dur>,
}

impl MergedPart {
    /// A workload that begins at once, its requests as they are.
    pub fn new(workload: Box<dyn Workload>) -> Self {
        Self { workload, begins: Dur::ZERO, prio: None, closed: None, flow: None, depth: None }
    }
}

/// Workloads side by side. Requests are in the order of time; at equal times those of the earlier
/// part come first. The addresses of each part are moved to a region of its own, so they never
/// meet.
pub struct Merge {
    parts: Vec<Placed>,
    about: About,
}

struct Placed {
    part: MergedPart,
    /// First byte of its region.
    region: u64,
    /// The flows of its requests, as places among all flows; empty: the requests have their own.
    flows: Vec<u8>,
}

impl Merge {
    /// Merges at least one part. A part without a known address space is read through
    /// once.
    pub fn new(name: &str, parts: Vec<MergedPart>) -> Result<Self, TraceError> {
        let whole = |found: String, expected: &str, hint: &str| {
            let name: Arc<str> = name.into();
            TraceError::Parameter(detail(&name, Spot::Whole, found, expected, hint))
        };
        let Some(earliest) = parts.iter().map(|p| p.begins).min() else {
            return Err(whole("nothing to merge".into(), "at least one workload", ""));
        };
        let mut placed = Vec::with_capacity(parts.len());
        let mut flows: Vec<Flow> = Vec::new();
        let (mut region, mut end) = (0, 0);
        for mut part in parts {
            part.begins -= earliest;
            let span = span(&*part.workload)?;
            let own = flows_of(&part, region, span);
            let mut place = |own: Flow| {
                if let Some(at) = flows.iter().position(|f| f.name == own.name) {
                    let (from, to) = &mut flows[at].region;
                    (*from, *to) = ((*from).min(own.region.0), (*to).max(own.region.1));
                    return at as u8;
                }
                flows.push(own);
                (flows.len() - 1) as u8
            };
            let numbers = own.into_iter().map(&mut place).collect();
            placed.push(Placed { part, region, flows: numbers });
            if flows.len() > Flow::MOST {
                let found = format!(
                    "more than {} flows; `{}` is one too many",
                    Flow::MOST,
                    flows[Flow::MOST].name
                );
                return Err(whole(found, "at most 256 flows", "give several parts one name"));
            }
            end =
                u64::checked_add(region, span).filter(|end| *end <= FARTHEST).ok_or_else(|| {
                    let hint = "`host.out-of-range` can pack a part before it is merged";
                    whole("the parts together pass 4 EiB".into(), "parts that fit 62 bits", hint)
                })?;
            region = end.next_multiple_of(ALIGN);
        }
        let loops = || placed.iter().filter_map(|p| p.part.closed);
        let closed: Vec<u32> = loops().map(|l| l.depth).collect();
        let endless = loops().any(|l| l.until.is_some());
        let abouts: Vec<&About> = placed.iter().map(|p| p.part.workload.about()).collect();
        let mut notes = Vec::new();
        if placed.len() > 1 {
            notes.push(format!(
                "{} parts, each in a region of its own (in this order, starting at multiples of \
                 1 MiB); together they span {}",
                placed.len(),
                Bytes::new(end).rounded()
            ));
        }
        for about in &abouts {
            notes.extend(about.notes.iter().map(|note| format!("{}: {note}", about.name)));
        }
        let about = About {
            name: name.into(),
            format: common(abouts.iter().map(|a| a.format.as_str())),
            sha256: digest_of_digests(&abouts),
            reading: readings(&abouts),
            requests: abouts.iter().map(|a| a.requests).sum::<Option<u64>>().filter(|_| !endless),
            span: Some(end),
            timed: abouts.iter().all(|a| a.timed),
            closed,
            flows,
            stand_in: abouts.iter().find_map(|a| a.stand_in.clone()),
            notes,
        };
        Ok(Self { parts: placed, about })
    }
}

/// The flows of a part whose addresses begin at `region`.
fn flows_of(part: &MergedPart, region: u64, span: u64) -> Vec<Flow> {
    let own = &part.workload.about().flows;
    if let (true, Some((name, weight))) = (own.is_empty(), &part.flow) {
        let (name, weight, region) = (name.clone(), *weight, (region, region + span));
        return vec![Flow { name, weight, depth: part.depth, region }];
    }
    let moved = own.iter().map(|flow| {
        let (from, to) = flow.region;
        Flow { region: (from + region, to + region), ..flow.clone() }
    });
    moved.collect()
}

/// The end of a workload's addresses.
fn span(workload: &dyn Workload) -> Result<u64, TraceError> {
    if let Some(span) = workload.about().span {
        return Ok(span);
    }
    let (mut source, mut batch, mut span) = (workload.open()?, Vec::new(), 0);
    loop {
        source.fill(&mut batch)?;
        let Some(end) = batch.iter().map(Request::end).max() else { return Ok(span) };
        span = span.max(end);
    }
}

/// The common value of all, or `mixed`.
fn common<'a>(mut formats: impl Iterator<Item = &'a str>) -> String {
    let first = formats.next().unwrap_or_default();
    if formats.all(|format| format == first) { first.into() } else { "mixed".into() }
}

/// The reading options of the parts, in their order, each once.
fn readings(abouts: &[&About]) -> Option<String> {
    let mut ways: Vec<&str> = Vec::new();
    for way in abouts.iter().filter_map(|about| about.reading.as_deref()) {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    (!ways.is_empty()).then(|| ways.join("; "))
}

/// The SHA-256 of the parts' digests in their order; `None` if a part has none.
pub(crate) fn digest_of_digests(abouts: &[&About]) -> Option<String> {
    let mut digest = Sha256::new();
    for about in abouts {
        digest.update(about.sha256.as_ref()?);
        digest.update("\n");
    }
    Some(hexadecimal(&digest.finalize()))
}

impl Workload for Merge {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        merged(pass, self.parts.iter())
    }

    fn draws(&self) -> Draws {
        Draws::of(self.parts.iter().map(|placed| &*placed.part.workload))
    }

    fn flows(&self) -> Result<Flows, TraceError> {
        let open = merged(0, self.parts.iter().filter(|p| p.part.closed.is_none()))?;
        let mut closed = Vec::with_capacity(self.about.closed.len());
        for placed in &self.parts {
            if let Some(ClosedLoop { depth, until }) = placed.part.closed {
                let until = until.map_or(Time::MAX, |until| Time::ZERO + until);
                let flow = placed.flows.first().copied().unwrap_or_default();
                closed.push(Loop { source: merged(0, [placed].into_iter())?, depth, until, flow });
            }
        }
        Ok(Flows { open, closed })
    }
}

/// The requests of some parts in a pass, in order.
fn merged<'a>(
    pass: u64,
    parts: impl Iterator<Item = &'a Placed>,
) -> Result<Box<dyn RequestSource>, TraceError> {
    let lane = |Placed { part, region, flows }: &Placed| {
        let mut lane = Lane {
            source: part.workload.open_pass(pass)?,
            batch: Vec::with_capacity(BATCH),
            next: 0,
            begins: part.begins,
            region: *region,
            prio: part.prio,
            flows: flows.clone(),
        };
        lane.refill()?;
        Ok(lane)
    };
    let lanes = parts.map(lane).collect::<Result<_, TraceError>>()?;
    Ok(Box::new(Merged { lanes }))
}

/// One opening of merged workloads.
struct Merged {
    lanes: Vec<Lane>,
}

/// The next requests of one part, already moved in time and place.
struct Lane {
    source: Box<dyn RequestSource>,
    batch: Vec<Request>,
    next: usize,
    begins: Dur,
    region: u64,
    prio: Option<Prio>,
    flows: Vec<u8>,
}

impl Lane {
    fn refill(&mut self) -> Result<(), TraceError> {
        self.source.fill(&mut self.batch)?;
        self.next = 0;
        for r in &mut self.batch {
            r.at += self.begins;
            if r.has_extent() {
                r.offset += self.region;
            }
            r.prio = self.prio.unwrap_or(r.prio);
            r.flow = self.flows.get(usize::from(r.flow)).copied().unwrap_or(r.flow);
        }
        Ok(())
    }
}

impl RequestSource for Merged {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while batch.len() < BATCH {
            // The earliest part goes on until the second earliest would be earlier. Within a run of
            // one part, only its own times are compared.
            let waiting = self.lanes.iter().enumerate();
            let mut heads = waiting.filter_map(|(i, l)| Some((l.batch.get(l.next)?.at, i)));
            let Some(mut first) = heads.next() else { break };
            let mut second = None;
            for head in heads {
                if head < first {
                    second = Some(first);
                    first = head;
                } else if second.is_none_or(|s| head < s) {
                    second = Some(head);
                }
            }
            let lane = &mut self.lanes[first.1];
            let room = BATCH - batch.len();
            let run = lane.batch[lane.next..].iter().take(room);
            let run = run.take_while(|r| second.is_none_or(|s| (r.at, first.1) < s)).count();
            batch.extend_from_slice(&lane.batch[lane.next..lane.next + run]);
            lane.next += run;
            if lane.next == lane.batch.len() {
                lane.refill()?;
            }
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.source.skipped()).sum()
    }
}

#[cfg(test)]
mod tests;
