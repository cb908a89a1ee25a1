//! Settings of a drive that have no effect, or that limit the rest of it. They are known before a
//! run.

use super::drive::{BufferKind, Drive};
use super::resolve::at_once;
use ftl::ReadDisturb;
use kernel::Bytes;
use nand::Level;
use policies::{DriveParts, Family, Idle};

impl Drive {
    /// Policies, and parts of them, that change nothing in a run of the drive, each with the reason.
    pub(crate) fn idle_policies(&self) -> Vec<String> {
        let timing = &self.timing;
        let parts = DriveParts {
            geometry: &self.geometry,
            levels: [timing.read, timing.program]
                .iter()
                .any(|at| at.values().any(|t| *t != at[Level::MediumCost])),
            program: timing.program[Level::MediumCost],
            endurance: self.endurance_left(),
            // A run retires a block at its rated cycles, however long it rested.
            recovery: false,
            roles: !self.policies.build().read_disturb.role_names().is_empty(),
        };
        let said = |(name, idle)| match idle {
            Idle::All(why) => format!("`{name}` changes nothing on this drive: {why}"),
            Idle::Part(why) => format!("a part of `{name}` has no use on this drive: {why}"),
            Idle::Nothing => unreachable!("it is not listed"),
        };
        self.policies.idle(&parts).into_iter().map(said).collect()
    }

    /// Policies that a fast-forward which simulates nothing does not ask, where the drive has them.
    pub(crate) fn unasked(&self) -> Option<String> {
        let asked = |family: &Family| *family == Family::Throttle;
        let chosen = |family: Family| {
            let (name, params) = self.policies.get(family);
            let same = self.policies.with_default(family).get(family) == (name, params);
            (!same).then(|| format!("`{}={name}`", family.name()))
        };
        let all: Vec<String> =
            Family::ALL.into_iter().filter(|f| !asked(f)).filter_map(chosen).collect();
        let text = format!(
            "{} changed nothing: without a workload to simulate only the throttle is asked; what \
             others do is in `waf` and `page_write`",
            all.join(", ")
        );
        (!all.is_empty()).then_some(text)
    }

    /// A write keeps its place in the buffer until it is programmed: with fewer places than all dies
    /// program at once, some dies have nothing to program.
    pub(crate) fn small_buffer(&self) -> Option<String> {
        let size = self.buffer.size.map_or(0, Bytes::get);
        let needed = at_once(&self.geometry, self.ftl.multi_plane).get();
        let warns = self.buffer.kind != BufferKind::None && (1..needed).contains(&size);
        let dies = self.geometry.dies();
        warns.then(|| {
            format!(
                "the write buffer of {} is smaller than the {} that {dies} dies program at once ({} \
                 each). Writes keep at most {:.0} % of the dies busy. With `buffer.units-per-die = \
                 2` instead of a size, it holds two programs for each die",
                Bytes::new(size),
                Bytes::new(needed),
                Bytes::new(needed / dies as u64),
                100.0 * size as f64 / needed as f64,
            )
        })
    }
}
