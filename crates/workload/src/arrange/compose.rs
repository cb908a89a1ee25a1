//! Workloads that a file puts together from others:
//!
//! ```toml
//! schema = "floatgate.workload/1"
//!
//! [[part]]
//! workload = "msr:web_0"          # a trace, a generator, another file of this kind
//! slice = "10min..2h"
//!
//! [[part]]
//! workload = "swap.parquet"
//! priority = "high"
//! share = 0.1                     # of all requests
//! hint = 3                        # of its data
//! ```
//!
//! `priority = "switching"` makes requests urgent in stretches: a mobile device that runs on its
//! battery and on the wall by turns.

use std::fmt::{Display, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use kernel::{Bytes, Dur, Prio, Rng, Time};
use serde::de::{Deserialize, Deserializer, Error as _};
use toml::Spanned;

use super::hints::{Hinted, RegionHints};
use super::steps::{Slice, Steps};
use crate::error::{Spot, detail};
use crate::source::digest;
use crate::{
    About, AddressWrap, BATCH, ClosedLoop, Draws, Flow, FlowBy, Merge, MergedPart, Named,
    OutOfRange, Request, RequestSource, TraceError, Workload,
};

const SCHEMA: &str = "floatgate.workload/1";

/// A file of parts, as written.
#[derive(Clone, Debug)]
pub struct Composition {
    name: String,
    /// The line on which each part names its workload, and the part.
    parts: Vec<(usize, PartText)>,
    /// The requests that a part without times has outstanding, unless the part gives a number.
    depth: Option<u32>,
}

/// One part, as written.
#[derive(Clone, Debug)]
pub struct PartText {
    /// The user's name of the workload.
    pub workload: String,
    /// The format of its trace.
    pub format: Option<String>,
    /// The same.
    pub time_unit: Option<String>,
    /// The same.
    pub columns: Option<String>,
    /// The same.
    pub event: Option<String>,
    /// The same.
    pub devices: Vec<String>,
    /// The same.
    pub process: Option<String>,
    /// The same.
    pub flow_by: Option<FlowBy>,
    /// The same.
    pub skip_bad: bool,
    /// Its changes.
    pub steps: Steps,
    wrap: Option<Bytes>,
    begins: Dur,
    prio: Option<Prio>,
    switching: Option<Switching>,
    hints: Option<RegionHints>,
    share: Option<f64>,
    closed: Option<ClosedLoop>,
    /// When its closed loop ends.
    until: Option<Dur>,
    flow: Option<String>,
    weight: Option<u32>,
    /// The greatest number of requests of its flow inside the drive.
    depth: Option<u32>,
}

/// When requests are urgent and when they are not.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Switching {
    /// The number of stretches of each kind. They alternate, and an urgent one is first.
    stretches: u64,
    seed: u64,
}

impl Switching {
    const STRETCHES: u64 = 20;
    const SEED: u64 = 1;

    /// For each stretch the number of the request at which it ends. Half of `requests` are urgent,
    /// to within one; the borders of stretches are drawn evenly.
    fn ends(self, requests: u64) -> Vec<u64> {
        let mut rng = Rng::named(self.seed, "workload/switching");
        let urgent = requests / 2;
        let mut lengths = [urgent, requests - urgent].map(|sum| {
            let mut cuts: Vec<u64> = (1..self.stretches).map(|_| rng.below_u64(sum + 1)).collect();
            cuts.extend([0, sum]);
            cuts.sort_unstable();
            cuts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>().into_iter()
        });
        let mut end = 0;
        let mut ends = Vec::with_capacity(2 * self.stretches as usize);
        for i in 0..2 * self.stretches as usize {
            end += lengths[i % 2].next().expect("as many of each kind");
            ends.push(end);
        }
        ends
    }
}

/// A file as TOML has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct FileToml {
    schema: Spanned<String>,
    part: Vec<Spanned<PartToml>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct PartToml {
    workload: Spanned<String>,
    format: Option<String>,
    time_unit: Option<String>,
    columns: Option<String>,
    event: Option<String>,
    device: Option<Devices>,
    process: Option<Word>,
    flow_by: Option<Text<FlowBy>>,
    #[serde(default)]
    skip_bad: bool,
    slice: Option<Text<Slice>>,
    first: Option<u64>,
    footprint: Option<f64>,
    speed: Option<f64>,
    repeat: Option<u64>,
    wrap: Option<Text<Bytes>>,
    queue_depth: Option<u32>,
    until: Option<Text<Dur>>,
    begins: Option<Text<Dur>>,
    priority: Option<Priority>,
    hint: Option<toml::Value>,
    stretches: Option<u64>,
    seed: Option<u64>,
    share: Option<f64>,
    flow: Option<String>,
    weight: Option<u32>,
    depth: Option<u32>,
}

/// A name, or a number that is one.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Number(u64),
}

impl Word {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Devices {
    One(Word),
    Several(Vec<Word>),
}

#[derive(Copy, Clone, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Priority {
    Normal,
    High,
    Switching,
}

/// A value that is written as text.
struct Text<T>(T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map(Self).map_err(D::Error::custom)
    }
}

impl Composition {
    /// Reads the text of a file called `name`. `None` if it is not of this kind.
    ///
    /// # Errors
    /// All that is wrong, each with its line.
    pub fn read(name: &str, text: &str) -> Option<Result<Self, String>> {
        let table: toml::Table = text.parse().ok()?;
        let ours = table.get("schema").and_then(toml::Value::as_str) == Some(SCHEMA);
        (ours || table.contains_key("part")).then(|| Self::parsed(name, text, false))
    }

    /// Reads the text of parts that a command line names, without times as loops of `depth`.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn of_flows(name: &str, text: &str, depth: u32) -> Result<Self, String> {
        Ok(Self { depth: Some(depth), ..Self::parsed(name, text, true)? })
    }

    fn parsed(name: &str, text: &str, loops: bool) -> Result<Self, String> {
        let file: FileToml = toml::from_str(text).map_err(|e| format!("{name}: {e}"))?;
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let mut wrong = Vec::new();
        if file.schema.get_ref() != SCHEMA {
            let (at, found) = (line(file.schema.span().start), file.schema.get_ref());
            wrong.push(format!("{name}:{at}: the schema `{found}`; expected `{SCHEMA}`"));
        }
        if file.part.is_empty() {
            wrong.push(format!("{name}: no part; expected at least one `[[part]]`"));
        }
        let mut parts = Vec::with_capacity(file.part.len());
        // The span of a part is that of its heading; it ends where the next one begins.
        let heads = file.part.iter().skip(1).map(|part| part.span().start);
        let ends: Vec<usize> = heads.chain([text.len()]).collect();
        for (i, part) in file.part.into_iter().enumerate() {
            let range = part.span().start..ends[i];
            let at = |key: &str| {
                // The key as it is written in the part, to find its line.
                let is_it = |l: &str| {
                    let rest = l.trim_start().strip_prefix(key);
                    rest.is_some_and(|rest| rest.trim_start().starts_with('='))
                };
                line(range.start) + text[range.clone()].lines().position(is_it).unwrap_or(0)
            };
            let part = part.into_inner();
            let place = line(part.workload.span().start);
            let part = part.checked(loops, &mut |key, what| {
                wrong.push(format!("{name}:{}: `{key}` of part {}: {what}", at(key), i + 1));
            });
            parts.push((place, part));
        }
        let shares: f64 = parts.iter().filter_map(|(_, part)| part.share).sum();
        if !parts.is_empty() && parts.iter().all(|(_, part)| part.share.is_some()) {
            wrong.push(format!(
                "{name}: every part has a `share`; expected one without, which the others follow"
            ));
        } else if shares > 0.0 && parts.iter().any(|(_, part)| part.closed.is_some()) {
            wrong.push(format!(
                "{name}: a `share` beside a `queue-depth`; expected one of them, since nobody knows \
                 how many requests a closed loop will have made by then"
            ));
        } else if shares >= 1.0 && wrong.is_empty() {
            wrong.push(format!("{name}: the shares add up to {shares}; expected less than 1"));
        }
        if wrong.is_empty() {
            Ok(Self { name: name.into(), parts, depth: None })
        } else {
            Err(wrong.join("\n"))
        }
    }

    /// The names of the flows, as far as parts say them.
    pub fn flows(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|(_, part)| part.flow.as_deref())
    }

    /// Opens every part with `open` and puts them together under the name `shown`.
    ///
    /// # Errors
    /// The mistakes of any of the parts, each with its line.
    pub fn open(
        &self,
        shown: &str,
        open: &mut dyn FnMut(&PartText) -> Result<Box<dyn Workload>, String>,
    ) -> Result<Box<dyn Workload>, String> {
        let (mut opened, mut wrong) = (Vec::new(), Vec::new());
        for (i, (line, part)) in self.parts.iter().enumerate() {
            let workload = open(part)
                .and_then(|w| part.steps.apply(w).map_err(|e| e.to_string()))
                .and_then(|w| part.fitting(w))
                .and_then(|w| part.wrapped(w).map_err(|e| e.to_string()));
            match workload {
                Ok(workload) => opened.push(workload),
                Err(e) => wrong.push(format!("{}:{line}: part {}: {e}", self.name, i + 1)),
            }
        }
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        let mut parts = self.clone();
        for ((_, part), workload) in parts.parts.iter_mut().zip(&opened) {
            if let (None, false, Some(depth)) = (part.closed, workload.about().timed, self.depth) {
                part.closed = Some(ClosedLoop { depth, until: part.until });
            }
        }
        parts.together(shown, opened).map_err(|e| format!("{}: {e}", self.name))
    }

    fn together(
        &self,
        shown: &str,
        mut opened: Vec<Box<dyn Workload>>,
    ) -> Result<Box<dyn Workload>, TraceError> {
        let parts = || self.parts.iter().map(|(_, part)| part);
        let open = || parts().zip(&opened).filter(|(part, _)| part.closed.is_none());
        if parts().any(|part| part.closed.is_some())
            && let Some((_, untimed)) = open().find(|(_, workload)| !workload.about().timed)
        {
            let name = Arc::from(untimed.about().name.as_str());
            return Err(TraceError::Parameter(detail(
                &name,
                Spot::Whole,
                "a part without times beside one with a `queue-depth`".to_owned(),
                "times, or a `queue-depth` of its own",
                "give this part a `queue-depth` too",
            )));
        }
        if parts().any(|part| part.share.is_some()) {
            let shares: f64 = parts().filter_map(|part| part.share).sum();
            let (mut others, mut length) = (0, Dur::ZERO);
            for (part, workload) in parts().zip(&opened) {
                if part.share.is_none() {
                    let (requests, latest) = measured(&**workload, u64::MAX)?;
                    others += requests;
                    length = length.max(part.begins + (latest - Time::ZERO));
                }
            }
            let all = others as f64 / (1.0 - shares);
            opened = parts()
                .zip(opened)
                .map(|(part, workload)| match part.share {
                    None => Ok(workload),
                    Some(share) => Paced::new(workload, (share * all).round() as u64, length),
                })
                .collect::<Result<_, _>>()?;
        }
        let digest = self.digest(&opened);
        let mut notes = Vec::new();
        for (i, (part, workload)) in parts().zip(&opened).enumerate() {
            let about = workload.about();
            let reading = about.reading.as_deref().map_or(String::new(), |r| format!(" ({r})"));
            notes.push(format!("part {} is {}{reading}{}", i + 1, about.name, part.said()));
        }
        let names = self.names(&opened);
        let merged = parts().zip(opened).zip(names).map(|((part, workload), flow)| {
            let workload = match part.switching {
                None => workload,
                Some(switching) => Switched::new(workload, switching)?,
            };
            let workload: Box<dyn Workload> = match &part.hints {
                None => workload,
                Some(hints) => Box::new(Hinted::new(workload, hints.clone())),
            };
            let flow = flow.map(|name| (name, part.weight.unwrap_or(1)));
            let PartText { begins, prio, closed, depth, .. } = *part;
            Ok(MergedPart { workload, begins, prio, closed, flow, depth })
        });
        let merged = Merge::new(shown, merged.collect::<Result<_, TraceError>>()?)?;
        notes.extend(merged.about().notes.iter().cloned());
        let about = About { sha256: Some(digest), reading: None, notes, ..merged.about().clone() };
        Ok(Box::new(Named::new(Box::new(merged), about)))
    }

    /// The name of each part's flow: the one that the part gives, or its workload. The part's
    /// number is added if two parts would share a name. A single part is not a flow.
    fn names(&self, opened: &[Box<dyn Workload>]) -> Vec<Option<String>> {
        let said = self.parts.iter().map(|(_, part)| part.flow.as_deref());
        let said: Vec<Option<&str>> = said.collect();
        let own = said.iter().zip(opened);
        let own: Vec<&str> =
            own.map(|(said, workload)| said.unwrap_or(&workload.about().name)).collect();
        let name = |i: usize| {
            let alone = own.iter().filter(|name| **name == own[i]).count() == 1;
            let plain = said[i].is_some() || alone;
            let name = if plain { own[i].to_owned() } else { format!("{} {}", own[i], i + 1) };
            (opened.len() > 1 || said[i].is_some()).then_some(name)
        };
        (0..opened.len()).map(name).collect()
    }

    /// The digest of the requests of the whole, as far as the drive's settings do not determine
    /// them.
    fn digest(&self, opened: &[Box<dyn Workload>]) -> String {
        let parts = self.parts.iter().zip(opened).map(|((_, part), workload)| {
            let about = workload.about();
            let stand_in = about.stand_in.as_ref().map(|s| (&s.model, &s.version, &s.fitted_to));
            let what = (&about.name, &about.sha256, &about.reading, about.requests, stand_in);
            format!("{what:?}{}\n", part.said())
        });
        digest(&parts.collect::<String>())
    }
}

/// Checks the name of a flow.
fn name_of_flow(name: &str) -> Result<(), String> {
    let bad = name.trim().is_empty() || name.chars().any(char::is_control);
    if bad { Err("a flow needs a name of one line".into()) } else { Ok(()) }
}

/// A rule for the keys of a part: the key, whether the part breaks the rule, and the message.
type Rule = (&'static str, bool, String);

impl PartToml {
    /// `loops`: without times, it is a closed loop anyway.
    // Long for its rules: an entry for each.
    fn rules(&self, loops: bool) -> Vec<Rule> {
        let rule = |key, broken, message: &str| (key, broken, message.to_owned());
        let given = |value: Option<u64>| value.map_or(String::new(), |n| n.to_string());
        let [speed, begins] = [self.speed.is_some(), self.begins.is_some()];
        let shared = self.share.is_some();
        let closed = self.queue_depth.is_some();
        let by_flow = self.flow_by.is_some();
        let switches = matches!(self.priority, Some(Priority::Switching));
        let no_share = self.share.filter(|share| !(*share > 0.0 && *share < 1.0));
        let no_weight = self.weight.filter(|weight| !(1..=Flow::HEAVIEST).contains(weight));
        let no_stretches = self.stretches.filter(|n| !(1..=1_000_000).contains(n));
        let settled = "`share` settles this too; expected one of them";
        let answered = "with a `queue-depth` requests come when others are answered; expected one of \
                        them";
        let of_drive = "beside `flow-by`; `[[host.flow]]` of a drive gives each its own";
        let not_switching = "only `priority = \"switching\"` has it";
        vec![
            (
                "share",
                no_share.is_some(),
                format!("{} is not a share; expected 0 < share < 1", no_share.unwrap_or_default()),
            ),
            rule("speed", shared && speed, settled),
            rule("repeat", shared && self.repeat.is_some(), settled),
            rule("begins", shared && begins, settled),
            rule(
                "queue-depth",
                self.queue_depth == Some(0),
                "nothing would ever arrive; expected at least 1",
            ),
            rule(
                "wrap",
                self.wrap.as_ref().is_some_and(|wrap| wrap.0.get() == 0),
                "no address is left; expected a size above 0",
            ),
            rule(
                "until",
                self.until.is_some() && !closed && !loops,
                "only a part with a `queue-depth` has it; `slice` cuts recorded times",
            ),
            rule("speed", closed && speed, answered),
            rule("begins", closed && begins, answered),
            rule("share", closed && shared, answered),
            {
                let name = self.flow.as_deref().map_or(Ok(()), name_of_flow);
                ("flow", name.is_err(), name.err().unwrap_or_default())
            },
            (
                "weight",
                no_weight.is_some(),
                format!(
                    "{} is not a weight; expected 1 to {}",
                    given(no_weight.map(u64::from)),
                    Flow::HEAVIEST
                ),
            ),
            rule("depth", self.depth == Some(0), "nothing would ever go in; expected at least 1"),
            rule(
                "flow",
                by_flow && self.flow.is_some(),
                "beside `flow-by`; each of its flows has a name of its own",
            ),
            rule("weight", by_flow && self.weight.is_some(), of_drive),
            rule("depth", by_flow && self.depth.is_some(), of_drive),
            rule("queue-depth", by_flow && closed, "beside `flow-by`; a closed loop is one flow"),
            rule("stretches", self.stretches.is_some() && !switches, not_switching),
            rule("seed", self.seed.is_some() && !switches, not_switching),
            (
                "stretches",
                no_stretches.is_some(),
                format!("{} of each kind; expected 1 to 1000000", given(no_stretches)),
            ),
        ]
    }

    /// Reports its errors to `wrong`; `loops` as for the rules.
    fn checked(self, loops: bool, wrong: &mut dyn FnMut(&'static str, String)) -> PartText {
        let steps = Steps {
            slice: self.slice.as_ref().map(|t| t.0),
            first: self.first,
            footprint: self.footprint,
            speed: self.speed,
            repeat: self.repeat,
        };
        if let Err((key, what)) = steps.check() {
            wrong(key, what);
        }
        let broken = self.rules(loops).into_iter().filter(|(_, broken, _)| *broken);
        broken.for_each(|(key, _, message)| wrong(key, message));
        let hints = self.hint.as_ref().map(RegionHints::parse).transpose();
        if let Err(what) = &hints {
            wrong("hint", what.clone());
        }
        let switches = matches!(self.priority, Some(Priority::Switching));
        let switching = switches.then(|| Switching {
            stretches: self.stretches.unwrap_or(Switching::STRETCHES),
            seed: self.seed.unwrap_or(Switching::SEED),
        });
        let devices = match self.device {
            None => Vec::new(),
            Some(Devices::One(one)) => one.text().split(',').map(str::to_owned).collect(),
            Some(Devices::Several(several)) => several.into_iter().map(Word::text).collect(),
        };
        PartText {
            workload: self.workload.into_inner(),
            format: self.format,
            time_unit: self.time_unit,
            columns: self.columns,
            event: self.event,
            devices,
            process: self.process.map(Word::text),
            flow_by: self.flow_by.map(|t| t.0),
            skip_bad: self.skip_bad,
            steps,
            begins: self.begins.map_or(Dur::ZERO, |t| t.0),
            prio: self.priority.and_then(|priority| match priority {
                Priority::Normal => Some(Prio::Normal),
                Priority::High => Some(Prio::High),
                Priority::Switching => None,
            }),
            switching,
            hints: hints.unwrap_or_default(),
            share: self.share,
            flow: self.flow,
            weight: self.weight,
            depth: self.depth,
            until: self.until.as_ref().map(|t| t.0),
            wrap: self.wrap.map(|t| t.0),
            closed: self.queue_depth.map(|depth| {
                let until = self.until.map(|t| t.0);
                ClosedLoop { depth, until }
            }),
        }
    }
}

impl PartText {
    /// The other keys of the part.
    fn said(&self) -> String {
        let mut said = String::new();
        if self.begins > Dur::ZERO {
            write!(said, ", from {} on", self.begins).expect("a string takes every text");
        }
        if let Some(prio) = self.prio {
            let prio = if prio == Prio::High { "high" } else { "normal" };
            write!(said, ", priority {prio}").expect("a string takes every text");
        }
        if let Some(Switching { stretches, seed }) = self.switching {
            let said = &mut said;
            write!(
                said,
                ", priority high in {stretches} stretches and normal in as many, seed {seed}"
            )
            .expect("a string takes every text");
        }
        if let Some(hints) = &self.hints {
            write!(said, ", {hints}").expect("a string takes every text");
        }
        if let Some(wrap) = self.wrap {
            write!(said, ", addresses modulo {wrap}").expect("a string takes every text");
        }
        if let Some(ClosedLoop { depth, until }) = self.closed {
            write!(said, ", {depth} outstanding").expect("a string takes every text");
            if let Some(until) = until {
                write!(said, " until {until}").expect("a string takes every text");
            }
        }
        if let Some(share) = self.share {
            write!(said, ", {share} of all requests").expect("a string takes every text");
        }
        if let Some(flow) = &self.flow {
            write!(said, ", flow {flow}").expect("a string takes every text");
        }
        if let Some(weight) = self.weight {
            write!(said, ", weight {weight}").expect("a string takes every text");
        }
        if let Some(depth) = self.depth {
            write!(said, ", {depth} inside at most").expect("a string takes every text");
        }
        said
    }

    /// The workload, unless it has no times and needs them.
    fn fitting(&self, workload: Box<dyn Workload>) -> Result<Box<dyn Workload>, String> {
        if !workload.about().closed.is_empty() {
            let name = &workload.about().name;
            return Err(format!("{name}: its parts have queue depths; expected them here instead"));
        }
        let needs = self.share.is_some() || self.begins > Dur::ZERO;
        if needs && !workload.about().timed {
            let key = if self.share.is_some() { "share" } else { "begins" };
            let name = &workload.about().name;
            return Err(format!("{name}: `{key}` needs a workload whose requests have times"));
        }
        Ok(workload)
    }

    /// The workload within its allowed addresses.
    fn wrapped(&self, workload: Box<dyn Workload>) -> Result<Box<dyn Workload>, TraceError> {
        let Some(wrap) = self.wrap else { return Ok(workload) };
        Ok(Box::new(AddressWrap::new(workload, OutOfRange::Wrap, 0, wrap)?))
    }
}

/// Returns the number of requests of a workload, up to `most`, and the arrival of the last of them.
fn measured(workload: &dyn Workload, most: u64) -> Result<(u64, Time), TraceError> {
    let (mut source, mut batch) = (workload.open()?, Vec::with_capacity(BATCH));
    let (mut requests, mut latest) = (0, Time::ZERO);
    while requests < most {
        source.fill(&mut batch)?;
        let n = (batch.len() as u64).min(most - requests);
        if n == 0 {
            break;
        }
        requests += n;
        latest = batch[n as usize - 1].at;
    }
    Ok((requests, latest))
}

/// A workload repeated and cut to a number of requests, the last of which arrives at a given time.
struct Paced {
    inner: Box<dyn Workload>,
    factor: f64,
    about: About,
}

impl Paced {
    #[expect(clippy::new_ret_no_self, reason = "made to be used as any workload")]
    fn new(
        inner: Box<dyn Workload>,
        requests: u64,
        length: Dur,
    ) -> Result<Box<dyn Workload>, TraceError> {
        let requests = requests.max(1);
        let (has, _) = measured(&*inner, requests)?;
        let repeat = requests.div_ceil(has.max(1));
        let repeat = Steps { repeat: (repeat > 1).then_some(repeat), ..Steps::default() };
        let reading = inner.about().reading.clone();
        let inner =
            Steps { first: Some(requests), ..Steps::default() }.apply(repeat.apply(inner)?)?;
        let (_, latest) = measured(&*inner, requests)?;
        let latest = (latest - Time::ZERO).as_ns();
        let factor = if latest == 0 { 0.0 } else { length.as_ns() as f64 / latest as f64 };
        let about = About { requests: Some(requests), reading, ..inner.about().clone() };
        Ok(Box::new(Self { inner, factor, about }))
    }
}

impl Workload for Paced {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(Box::new(Pacing { source: self.inner.open_pass(pass)?, factor: self.factor }))
    }

    fn draws(&self) -> Draws {
        self.inner.draws()
    }
}

/// A workload whose requests are urgent in some stretches.
struct Switched {
    inner: Box<dyn Workload>,
    ends: Arc<[u64]>,
}

impl Switched {
    #[expect(clippy::new_ret_no_self, reason = "made to be used as any workload")]
    fn new(
        inner: Box<dyn Workload>,
        switching: Switching,
    ) -> Result<Box<dyn Workload>, TraceError> {
        let (requests, _) = measured(&*inner, u64::MAX)?;
        Ok(Box::new(Self { inner, ends: switching.ends(requests).into() }))
    }
}

impl Workload for Switched {
    fn about(&self) -> &About {
        self.inner.about()
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        let ends = Arc::clone(&self.ends);
        let source = self.inner.open_pass(pass)?;
        Ok(Box::new(Switcher { source, ends, stretch: 0, at: 0 }))
    }

    fn draws(&self) -> Draws {
        self.inner.draws()
    }
}

struct Switcher {
    source: Box<dyn RequestSource>,
    ends: Arc<[u64]>,
    stretch: usize,
    /// Requests so far.
    at: u64,
}

impl RequestSource for Switcher {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.source.fill(batch)?;
        for r in batch {
            while self.ends.get(self.stretch).is_some_and(|end| *end <= self.at) {
                self.stretch += 1;
            }
            r.prio = if self.stretch % 2 == 0 { Prio::High } else { Prio::Normal };
            self.at += 1;
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.source.skipped()
    }
}

struct Pacing {
    source: Box<dyn RequestSource>,
    factor: f64,
}

impl RequestSource for Pacing {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.source.fill(batch)?;
        for r in batch {
            let at = (r.at - Time::ZERO).as_ns() as f64 * self.factor;
            r.at = Time::from_ns(at.round() as u64);
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.source.skipped()
    }
}

#[cfg(test)]
mod tests;
