//! Answers of Python, read and checked: values, and the plans of policies.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyString};
use ssd::policies::external::{
    BlockId, Blocks, CacheSpec, Dest, FoldWhen, FreePick, Geometry, Hold, Level, Mode, Pages, Plan,
    Queues, Role, Step, StreamClass, StreamId, StreamSpec, Time, WhenFull,
};

/// Why a call gave no answer.
pub(crate) enum Trouble {
    /// Python raised.
    Raised(PyErr),
    /// The answer does not fit this question.
    Wrong(String),
}

impl From<PyErr> for Trouble {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

pub(crate) type Read<T> = Result<T, Trouble>;

/// A value that is not an answer, and the allowed answers.
pub(crate) fn wrong(answer: &Bound<'_, PyAny>, must: &str) -> Trouble {
    Trouble::Wrong(format!("returned {}; it must be {must}", shown(answer)))
}

/// A value as Python prints it, not too long.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Yes or no.
pub(crate) fn truth(answer: &Bound<'_, PyAny>) -> Read<bool> {
    answer.extract().map_err(|_| wrong(answer, "a bool"))
}

/// A whole number from `least` to `most`; `what` names it.
pub(crate) fn whole(answer: &Bound<'_, PyAny>, least: u64, most: u64, what: &str) -> Read<u64> {
    let number = answer.extract().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| wrong(answer, &format!("{what}, a whole number from {least} to {most}")))
}

/// The number of one of `n` things.
pub(crate) fn one_of(answer: &Bound<'_, PyAny>, n: usize, what: &str) -> Read<u32> {
    Ok(whole(answer, 0, n as u64 - 1, what)? as u32)
}

/// None, or the value that `read` makes of the answer.
pub(crate) fn optional<T>(
    answer: &Bound<'_, PyAny>,
    read: impl FnOnce(&Bound<'_, PyAny>) -> Read<T>,
) -> Read<Option<T>> {
    if answer.is_none() { Ok(None) } else { read(answer).map(Some) }
}

/// The value that one of these words means.
fn word<T: Copy>(answer: &Bound<'_, PyAny>, words: &[(&str, T)]) -> Read<T> {
    let given = answer.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
    let found = given.and_then(|given| words.iter().find(|(word, _)| *word == given));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
        let (last, others) = quoted.split_last().expect("there are words");
        wrong(answer, &format!("{} or {last}", others.join(", ")))
    })
}

/// A level that Python named.
pub(crate) fn level(answer: &Bound<'_, PyAny>) -> Read<Level> {
    word(answer, &Level::ALL.map(|level| (level.name(), level)))
}

/// The queues that a policy looks at.
pub(crate) fn queues(answer: &Bound<'_, PyAny>) -> Read<Queues> {
    word(answer, &[("none", Queues::None), ("die", Queues::Die), ("all", Queues::All)])
}

/// A mode in which blocks begin, or begin again.
pub(crate) fn mode(answer: &Bound<'_, PyAny>, written_once: bool, again: bool) -> Read<Mode> {
    let all = [Mode::Full, Mode::Wom1, Mode::Wom2].map(|mode| (mode.name(), mode));
    let found = word(answer, &all)?;
    if found != Mode::Full && !written_once {
        return Err(wrong(answer, "'full' where `write_once` does not return True"));
    }
    if found == Mode::Wom2 && !again {
        let must = "'full' or 'wom1': only a block complete in mode 'wom1' can be written again";
        return Err(wrong(answer, must));
    }
    Ok(found)
}

/// The free block to open.
pub(crate) fn pick(answer: &Bound<'_, PyAny>) -> Read<FreePick> {
    let all = [
        ("oldest", FreePick::Oldest),
        ("least-worn", FreePick::LeastWorn),
        ("most-worn", FreePick::MostWorn),
    ];
    word(answer, &all)
}

/// Named numbers.
pub(crate) fn numbers(answer: &Bound<'_, PyAny>) -> Read<Vec<(String, f64)>> {
    let wrong = || {
        Trouble::Wrong(format!("returned {}; it must map names to finite numbers", shown(answer)))
    };
    let items = answer.cast::<PyMapping>().map_err(|_| wrong())?.items()?;
    let pairs: Option<Vec<(String, f64)>> = items.iter().map(|item| item.extract().ok()).collect();
    pairs.filter(|pairs| pairs.iter().all(|(_, n)| n.is_finite())).ok_or_else(wrong)
}

/// A list of words.
pub(crate) fn words(answer: &Bound<'_, PyAny>) -> Read<Vec<String>> {
    let all = answer.extract::<Vec<String>>();
    all.map_err(|_| wrong(answer, "a sequence of words"))
}

/// An instant not before `now`.
pub(crate) fn not_before(answer: &Bound<'_, PyAny>, now: Time) -> Read<Time> {
    // So far ahead that nothing added to it overflows: 146 years.
    let at = whole(answer, now.as_ns(), u64::MAX / 4, "a time in ns that has not passed")?;
    Ok(Time::from_ns(at))
}

/// The streams of a separation policy.
pub(crate) fn separate_streams(answer: &Bound<'_, PyAny>) -> Read<Vec<StreamSpec>> {
    let list: Vec<Bound<'_, PyAny>> =
        answer.extract().map_err(|_| wrong(answer, "a sequence of streams"))?;
    let stream = |stream: &Bound<'_, PyAny>| {
        let (name, takes): Two<'_> = parts(stream, "DataStream")?;
        let class = match takes.extract::<String>().as_deref() {
            Ok("host") => StreamClass::Host,
            Ok("moves") => StreamClass::Moves,
            Ok("both") => StreamClass::Both,
            _ => return Err(wrong(&takes, "\"host\", \"moves\" or \"both\"")),
        };
        let name: String = name.extract().map_err(|_| wrong(&name, "the name of a stream"))?;
        Ok(StreamSpec::of(class, lasting(name)))
    };
    let streams: Vec<StreamSpec> = list.iter().map(stream).collect::<Read<_>>()?;
    let takes = |fits: fn(StreamClass) -> bool| streams.iter().any(|s| fits(s.class));
    if streams.len() > 100 || !(takes(StreamClass::takes_host) && takes(StreamClass::takes_moves)) {
        let must = "at most 100 streams, of which one takes writes of the host and one moves";
        return Err(wrong(answer, must));
    }
    Ok(streams)
}

/// The blocks of an SLC cache.
pub(crate) fn cache(answer: &Bound<'_, PyAny>) -> Read<CacheSpec> {
    let (own, most, least, fold, full): Five<'_> = parts(answer, "CacheBlocks")?;
    let blocks =
        |n: &Bound<'_, PyAny>| whole(n, 0, u32::MAX.into(), "a number of blocks").map(|n| n as u32);
    let when = |idle, pressure| FoldWhen { idle, pressure };
    let fold = word(
        &fold,
        &[("idle", when(true, false)), ("pressure", when(false, true)), ("both", when(true, true))],
    )?;
    let full = word(
        &full,
        &[("direct", WhenFull::Direct), ("wait", WhenFull::Wait), ("around", WhenFull::Around)],
    )?;
    let (own, most, least) = (blocks(&own)?, blocks(&most)?, blocks(&least)?);
    if least > most || full == WhenFull::Wait && !fold.pressure {
        let must =
            "a cache with `least` up to `most`, which folds under pressure if writes wait for it";
        return Err(wrong(answer, must));
    }
    Ok(CacheSpec { own, most, least, fold, full })
}

/// Streams of a policy's own: for moved data, of the family read-disturb, or for host writes.
pub(crate) fn streams(
    answer: &Bound<'_, PyAny>,
    moved: bool,
    roles: usize,
) -> Read<Vec<StreamSpec>> {
    let list: Vec<Bound<'_, PyAny>> =
        answer.extract().map_err(|_| wrong(answer, "a sequence of streams"))?;
    if list.len() > 100 {
        return Err(wrong(answer, "at most 100 streams"));
    }
    let stream = |(at, stream): (usize, &Bound<'_, PyAny>)| {
        let (role, pick_, fallback, cap): Four<'_> = parts(stream, "Stream")?;
        let first = StreamId::BUILT_IN as u8;
        // Host writes and moved data never share a block, and the search for one ends.
        let fallback = match (fallback.is_none(), moved) {
            (true, true) => StreamId::GC,
            (_, true) if fallback.extract().is_ok_and(|n| MOVED.contains(&StreamId(n))) => {
                StreamId(fallback.extract()?)
            }
            (_, true) => own_stream(&fallback, &(first..first + at as u8), "1, 2, ")?,
            (true, _) => StreamId::HOST,
            _ => return Err(wrong(&fallback, "None: these are streams of the host's writes")),
        };
        Ok(StreamSpec {
            role: Role(one_of(&role, roles + 1, "a role")? as u8),
            pick: pick(&pick_)?,
            fallback: Some(fallback),
            cap: optional(&cap, |n| whole(n, 0, u32::MAX.into(), "a number of blocks"))?
                .map(|n| n as u32),
            ..StreamSpec::REGULAR
        })
    };
    list.iter().enumerate().map(stream).collect()
}

/// The parts of a named tuple of this class.
fn parts<'py, T>(value: &Bound<'py, PyAny>, class: &str) -> Read<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    value.extract().map_err(|_| wrong(value, &format!("a floatgate.policy.{class}")))
}

type One<'py> = (Bound<'py, PyAny>,);
type Two<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);
type Four<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
type Five<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
type Three<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The plans that each family may make.
pub(crate) struct Planner<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) blocks: &'a Blocks,
    /// The policy's own streams.
    pub(crate) own: Range<u8>,
    /// Its own roles; `None`: it may not give roles, nor begin to count reads anew.
    pub(crate) roles: Option<usize>,
}

impl Planner<'_> {
    /// Reads a plan; a failure leaves `plan` unchanged.
    pub(crate) fn read(&self, answer: &Bound<'_, PyAny>, plan: &mut Plan) -> Read<()> {
        if answer.is_none() {
            return Ok(());
        }
        let (list, background, hold): Three<'_> = parts(answer, "Plan")?;
        let list: Vec<Bound<'_, PyAny>> =
            list.extract().map_err(|_| wrong(&list, "a sequence of steps"))?;
        let background = truth(&background)?;
        let holds = [("place", Hold::Place), ("die", Hold::Die), ("nothing", Hold::Nothing)];
        let hold = word(&hold, &holds)?;
        let mut home = None;
        let steps: Vec<Step> =
            list.iter().map(|step| self.step(step, &mut home)).collect::<Read<_>>()?;
        (plan.background, plan.hold) = (background, hold);
        plan.steps.extend(steps);
        Ok(())
    }

    /// A step; `home` is the plane of those before it.
    fn step(&self, step: &Bound<'_, PyAny>, home: &mut Option<u32>) -> Read<Step> {
        let class = step.get_type().name()?.to_string();
        let counted = || {
            let only = "a step that every policy may plan (roles and counters of reads belong to \
                        the family read-disturb)";
            self.roles.ok_or_else(|| wrong(step, only))
        };
        let mut block = |number: &Bound<'_, PyAny>| self.block(number, home);
        Ok(match class.as_str() {
            "Copy" => {
                let (from, to, pages): Three<'_> = parts(step, &class)?;
                let from = block(&from)?;
                let to = match to.get_type().name()?.to_string().as_str() {
                    "Append" => {
                        let number = parts::<One<'_>>(&to, "Append")?.0;
                        let to = block(&number)?;
                        // The rest goes to the block's stream, where only jobs may write.
                        if !self.own.contains(&self.blocks.stream(to).0) {
                            let must = "a block that was opened for a stream of the policy's own";
                            return Err(wrong(&number, must));
                        }
                        Dest::Block(to)
                    }
                    "Fresh" => {
                        Dest::Fresh(own_stream(&parts::<One<'_>>(&to, "Fresh")?.0, &self.own, "")?)
                    }
                    _ => Dest::Stream(self.stream(&to)?),
                };
                let pages = optional(&pages, |pages| self.pages(pages))?;
                Step::Copy { from, pages: pages.map_or(Pages::All, Pages::Some), to }
            }
            "Reclaim" => {
                let (number, to, at_limit): Three<'_> = parts(step, &class)?;
                let (block, to) = (block(&number)?, Dest::Stream(self.stream(&to)?));
                if truth(&at_limit)? {
                    counted()?;
                    Step::ReclaimAtLimit { block, to }
                } else {
                    Step::Reclaim { block, to }
                }
            }
            "SetRole" => {
                let (number, role): Two<'_> = parts(step, &class)?;
                let role = one_of(&role, counted()? + 1, "a role")? as u8;
                Step::SetRole(block(&number)?, Role(role))
            }
            "ResetReads" => {
                counted()?;
                Step::ResetReads(block(&parts::<One<'_>>(step, &class)?.0)?)
            }
            "Seal" => Step::Seal(block(&parts::<One<'_>>(step, &class)?.0)?),
            _ => return Err(wrong(step, "a step of a plan: Copy, Reclaim, Seal, …")),
        })
    }

    fn block(&self, number: &Bound<'_, PyAny>, home: &mut Option<u32>) -> Read<BlockId> {
        let block = BlockId::from_u32(one_of(number, self.geometry.blocks(), "a block")?);
        let plane = self.geometry.plane_of(block).as_u32();
        if *home.get_or_insert(plane) != plane {
            return Err(wrong(number, "a block of the plane that the plan's first step is about"));
        }
        Ok(block)
    }

    fn pages(&self, pages: &Bound<'_, PyAny>) -> Read<Vec<u32>> {
        let most = self.geometry.pages_per_block();
        let list = pages.extract::<Vec<u32>>().ok();
        let ascending = |list: &Vec<u32>| {
            list.is_sorted_by(|a, b| a < b) && list.last().is_none_or(|n| *n < most)
        };
        list.filter(ascending)
            .ok_or_else(|| wrong(pages, &format!("pages from 0 to {}, ascending", most - 1)))
    }

    /// A stream that moved pages may go to.
    pub(crate) fn stream(&self, number: &Bound<'_, PyAny>) -> Read<StreamId> {
        let found = number.extract().ok().map(StreamId).filter(|s| MOVED.contains(s));
        found.map_or_else(|| own_stream(number, &self.own, "1, 2, "), Ok)
    }
}

/// The streams of every drive that moved pages may go to.
const MOVED: [StreamId; 2] = [StreamId::GC, StreamId::WEAR];

/// A stream of a policy's own; `others` could be named too.
pub(crate) fn own_stream(
    number: &Bound<'_, PyAny>,
    own: &Range<u8>,
    others: &str,
) -> Read<StreamId> {
    let found = number.extract().ok().filter(|n| own.contains(n));
    found.map(StreamId).ok_or_else(|| {
        let own = match own.len() {
            0 => "and the policy has none of its own".to_owned(),
            _ => format!("{} to {}", own.start, own.end - 1),
        };
        wrong(number, &format!("the number of a stream ({others}{own})"))
    })
}

/// A name that outlives everything: the names of counters are few, and used again in every run.
pub(crate) fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name = name.leak();
    names.insert(name);
    name
}
