//! What of a drive could not matter, or holds the rest of it back: known before a run.

use super::drive::{BufferKind, Drive};
use super::resolve::at_once;
use ftl::ReadDisturb;
use kernel::Bytes;
use nand::Level;
use policies::{DriveParts, Family, Idle};
use serde_json::{Value, json};

/// A warning: what `floatgate explain` calls it, and its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Its code.
    pub code: &'static str,
    /// What it says.
    pub text: String,
}

/// Warnings as results have them.
pub fn warnings(all: Vec<Warning>) -> Value {
    all.into_iter().map(|Warning { code, text }| json!({ "code": code, "text": text })).collect()
}

/// The code of a warning about a policy that changes nothing.
pub(crate) const IDLE_POLICY: &str = "idle-policy";

impl Drive {
    /// Where a setting changes nothing in a run of the drive, or holds the rest of it back.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut all: Vec<Warning> = self.small_buffer().into_iter().collect();
        let timing = &self.timing;
        let parts = DriveParts {
            geometry: &self.geometry,
            levels: [timing.read, timing.program].iter().any(|at| at.iter().any(|t| *t != at[0])),
            program: timing.program[Level::Medium as usize],
            endurance: self.endurance_left(),
            // A run retires a block at its rated cycles, however long it rested.
            recovery: false,
            roles: !self.policies.build().read_disturb.role_names().is_empty(),
        };
        all.extend(self.policies.idle(&parts).into_iter().map(|(name, idle)| {
            let text = match idle {
                Idle::All(why) => format!("`{name}` changes nothing on this drive: {why}"),
                Idle::Part(why) => format!("a part of `{name}` has no use on this drive: {why}"),
                Idle::Nothing => unreachable!("it is not listed"),
            };
            Warning { code: IDLE_POLICY, text }
        }));
        all
    }

    /// Policies that a fast-forward which simulates nothing does not ask, where the drive has them.
    pub(crate) fn unasked(&self) -> Vec<Warning> {
        let asked = |family: &Family| *family == Family::Throttle;
        let chosen = |family: Family| {
            let (name, params) = self.policies.get(family);
            let same = self.policies.with_default(family).get(family) == (name, params);
            (!same).then(|| format!("`{}={name}`", family.name()))
        };
        let all: Vec<String> =
            Family::ALL.into_iter().filter(|f| !asked(f)).filter_map(chosen).collect();
        if all.is_empty() {
            return Vec::new();
        }
        let text = format!(
            "{} changed nothing: without a workload to simulate only the throttle is asked; what \
             others do is in `waf` and `page_write`",
            all.join(", ")
        );
        vec![Warning { code: IDLE_POLICY, text }]
    }

    /// A write keeps its place in the buffer until it is programmed: with fewer places than all dies
    /// program at once, some dies have nothing to program.
    fn small_buffer(&self) -> Option<Warning> {
        let size = self.buffer.size.map_or(0, Bytes::get);
        let needed = at_once(&self.geometry, self.ftl.multi_plane).get();
        let warns = self.buffer.kind != BufferKind::None && (1..needed).contains(&size);
        let dies = self.geometry.dies();
        warns.then(|| Warning {
            code: "small-buffer",
            text: format!(
                "the write buffer of {} is smaller than the {} that {dies} dies program at once ({} \
                 each): writes keep at most {:.0} % of the dies busy; `buffer.units-per-die = 2` \
                 instead of its size gives it twice what they need",
                Bytes::new(size),
                Bytes::new(needed),
                Bytes::new(needed / dies as u64),
                100.0 * size as f64 / needed as f64,
            ),
        })
    }
}
