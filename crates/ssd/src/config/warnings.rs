//! Settings of a drive that have no effect, or that limit the rest of it. They are known before a
//! run.

use super::drive::{BufferKind, Drive};
use super::resolve::{at_once, reserve};
use super::scale::{LATENCY_WITHIN, Scale, WAF_WITHIN};
use super::{Layers, load};
use crate::presets;
use ftl::ReadDisturb;
use kernel::Bytes;
use nand::Level;
use policies::{DriveParts, Family, Idle};

/// The share of the spare blocks above which the reserve of garbage collection is worth a warning.
const MOST_RESERVED: f64 = 0.25;

/// The greatest spare factor that is advised.
const MOST_SPARE: f64 = 0.5;

impl Drive {
    /// Policies, and parts of them, that change nothing in a run of the drive, each with the reason.
    pub(crate) fn idle_policies(&self) -> Vec<String> {
        let timing = &self.timing;
        let parts = DriveParts {
            geometry: &self.geometry,
            levels: self.levels_differ(),
            program: timing.program[Level::MediumCost],
            endurance: self.endurance_left(),
            // A run retires a block at its rated cycles, however long it rested.
            recovery: false,
            roles: !self.policies.build().read_disturb.role_names().is_empty(),
            handles: self.ftl.fdp.is_some(),
        };
        let said = |(name, idle)| match idle {
            Idle::All(why) => format!("`{name}` changes nothing on this drive: {why}"),
            Idle::Part(why) => format!("a part of `{name}` has no use on this drive: {why}"),
            Idle::Nothing => unreachable!("it is not listed"),
        };
        self.policies.idle(&parts).into_iter().map(said).collect()
    }

    /// Whether a read or a program takes another time at another cost level.
    pub(crate) fn levels_differ(&self) -> bool {
        [self.timing.read, self.timing.program]
            .iter()
            .any(|at| at.values().any(|t| *t != at[Level::MediumCost]))
    }

    /// The drive's policies that a fast-forward without simulation does not ask.
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

    /// The reserve of garbage collection does not shrink with the planes. In a plane of few blocks
    /// it takes much of the spare, and write amplification is that of a drive with less spare.
    pub(crate) fn spare_in_reserve(&self) -> Option<String> {
        if self.scale.is_some() {
            // Scaling has left as much of the share.
            return None;
        }
        let (spare, kept) = (self.spare_blocks(), self.reserved_blocks());
        if kept <= MOST_RESERVED * spare {
            return None;
        }
        let blocks = self.geometry.superblocks_per_set() as f64;
        let left = |of: f64| 100.0 * (self.spare_factor - kept / of);
        let nominal = 100.0 * self.spare_factor;
        let (share, now) = (100.0 * kept / spare, left(blocks));
        let larger = self.as_included().filter(|of| *of > blocks);
        let other = larger.map_or_else(
            || "nearly all on a drive with many blocks".to_owned(),
            |of| format!("{:.1} % with the {of} blocks of {}", left(of), self.name),
        );
        let same = self.spare_factor + kept / blocks - larger.map_or(0.0, |of| kept / of);
        let advice = if same < MOST_SPARE {
            format!("`ftl.spare-factor = {same:.3}` leaves as much as there")
        } else {
            "give each plane more blocks".to_owned()
        };
        Some(format!(
            "garbage collection reserves {kept} of the {blocks} blocks of each plane, which is {share:.0} % \
             of the spare. Of a spare factor of {nominal:.1} % that leaves {now:.1} %, and {other}. Write \
             amplification is higher than there; {advice}"
        ))
    }

    /// A scaled drive whose write amplification may differ from that of the whole one.
    pub(crate) fn scaled_too_far(&self, skewed: bool) -> Option<String> {
        let scale = self.scale.as_ref()?;
        let error = scale.waf_error(skewed);
        let of_blocks = scale.waf_error_of_blocks(skewed);
        if error > WAF_WITHIN && of_blocks <= WAF_WITHIN {
            let varies = scale.sampled.map_or(0.0, |sample| sample.written_varies);
            return Some(format!(
                "some extents of the trace are written more than others, and a sample has few of them: the bytes \
                 written vary by {:.1} % between samples (standard deviation). So write amplification may \
                 differ by up to {:.1} % from that of the whole drive; scale less, or compare several \
                 values of `--seed`",
                100.0 * varies,
                100.0 * error,
            ));
        }
        if error <= WAF_WITHIN {
            let [ours, theirs] = scale.retains_too_few().filter(|_| skewed)?;
            return Some(format!(
                "the write buffer retains {ours} pages of the {theirs} of the whole drive, too few for as many \
                 hits. So write amplification may differ from that of the whole drive; scale less, or compare \
                 with `buffer.flush-above = 0`"
            ));
        }
        let (idle, known) = scale.idle;
        let advice =
            scale_within(scale, 1, |other| other.waf_error_of_blocks(skewed) <= WAF_WITHIN);
        let by = if error < 1.0 { format!("{:.1} %", 100.0 * error) } else { "any factor".into() };
        let hot = if skewed {
            "With few blocks, hot pages die between two collections that are valid with many. "
        } else {
            ""
        };
        Some(format!(
            "of each plane {} of {} blocks are simulated. As on the whole drive, {idle:.1} of them (± {known:.1}) \
             take no part in garbage collection. {hot}Write amplification may differ by up to {by} from that \
             of the whole drive; {advice}",
            scale.blocks, scale.whole_blocks,
        ))
    }

    /// A scaled drive whose latencies may differ from those of the whole one.
    pub(crate) fn scaled_latencies(&self) -> Option<String> {
        let scale = self.scale.as_ref()?;
        let error = scale.latency_error();
        if error <= LATENCY_WITHIN {
            return None;
        }
        let advice = scale_within(scale, 5, |other| other.latency_error() <= LATENCY_WITHIN);
        Some(format!(
            "the planes' shares of the data vary more on a scaled drive, because each plane has fewer pages. \
             A busy plane is read more, so latencies under load may be {:.0} % longer than those of the whole \
             drive; {advice}",
            100.0 * error,
        ))
    }

    /// Blocks of a plane beyond those for the exported capacity.
    fn spare_blocks(&self) -> f64 {
        self.spare_factor * self.geometry.superblocks_per_set() as f64
    }

    /// Blocks of a plane that neither hold old data nor are exported.
    fn reserved_blocks(&self) -> f64 {
        let (kept, _) = self.policies.spare_slots(&self.geometry);
        let kept = kept.div_ceil(self.geometry.data_slots_per_superblock().into());
        (reserve(self.ftl.gc.stop) + kept) as f64
    }

    /// Spare blocks of a plane beyond the reserve.
    pub(crate) fn free_spare(&self) -> f64 {
        self.spare_blocks() - self.reserved_blocks()
    }

    /// The blocks of a plane of the included drive of this name.
    fn as_included(&self) -> Option<f64> {
        let text = presets::named(presets::presets(), &self.name)?;
        let file = (&*self.name, text);
        let layers = Layers { file, library: &|_| None, set: &[], policy: &[], seed: None };
        let included = load(&layers).expect("an included drive is right");
        Some(included.geometry.superblocks_per_set() as f64)
    }

    /// A write keeps its place in the buffer until it is programmed. With fewer places than all
    /// dies program at once, some dies have nothing to program.
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

/// The advice to scale less.
fn scale_within(scale: &Scale, percent: u32, fits: impl Fn(&Scale) -> bool) -> String {
    match scale.most(fits) {
        1 => format!("no scale keeps that within {percent} %"),
        most => format!("`--scale 1/{most}` keeps that within {percent} %"),
    }
}
