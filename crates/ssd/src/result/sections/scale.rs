//! The parts that were scaled down, and the whole drive.

use super::SectionAbout;
use crate::config::capacity;
use crate::host::ClassStats;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use crate::sim::Class;
use ftl::PolicyTypes;
use kernel::{Bytes, TimeSum};
use nand::Each;
use workload::{About, Pattern};

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "The relation of a drive that was scaled down (`scale`) to the whole drive. All other sections but the \
     years and bytes of `lifetime` report the scaled drive. Null without `scale`.",
)
.later();

pub(crate) type Section = Option<ScaledDrive>;

table! {
    /// A drive that was scaled down.
    struct ScaledDrive {
        /// The divisor: "1/N" has N.
        of: u32;
        /// Blocks of each plane.
        blocks_per_plane: ScaledNumber, "blocks";
        /// Blocks of each plane that take no part in garbage collection. They are the same on both drives.
        blocks_not_scaled: f64, "blocks";
        /// The size of the flash.
        physical_bytes: ScaledNumber, "bytes";
        /// The capacity for the host.
        logical_bytes: ScaledNumber, "bytes";
        /// The size of the write buffer.
        buffer_bytes: ScaledNumber, "bytes";
        /// The requests of the workload, and those of a trace that touch the sample. Null if they are
        /// scaled with `workload.requests`.
        requests: Option<ScaledNumber>, "requests";
        /// The part of the trace that was simulated. Null for a generator.
        sample: Option<SampleOfTrace>;
        /// How far write amplification may be from that of the whole drive, as computed from the number
        /// of blocks and, for a trace, from the bytes that samples write. Null if nothing limits it.
        waf_error: Option<f64>, "share";
        /// How far latencies of a busy drive may be from those of the whole drive, as computed from the number
        /// of pages in a plane. Null if nothing limits it.
        latency_error: Option<f64>, "share";
    }
}

table! {
    /// A number of the simulated drive and of the whole one.
    struct ScaledNumber {
        /// Of the drive that was simulated.
        simulated: u64;
        /// Of the whole drive.
        whole: u64;
    }
}

table! {
    /// The sample of a trace.
    struct SampleOfTrace {
        /// How many times faster its requests arrive.
        faster: f64, "x";
        /// The share of the written bytes that it has, times the requests of all for each of it. At 1 it
        /// writes as much as the trace.
        written: f64, "x";
        /// Requests of the trace that arrive at most a millisecond after the one before.
        soon: f64, "share";
        /// The same of the sample.
        soon_in_sample: f64, "share";
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let drive = e.drive.years.as_ref().map_or(e.drive, |years| &years.whole);
    // Only the drive that ran has the sample.
    let scale = e.drive.scale.as_ref()?;
    let flash = drive.geometry.pages() as u64 * drive.geometry.page_size().get();
    let pair = |simulated: u64, whole: u64| ScaledNumber { simulated, whole };
    let error = scale.waf_error(is_skewed(e.about));
    Some(ScaledDrive {
        of: scale.of,
        blocks_per_plane: pair(scale.blocks.into(), scale.whole_blocks.into()),
        blocks_not_scaled: scale.idle.0,
        physical_bytes: pair(flash, scale.whole_flash().get()),
        logical_bytes: pair(capacity(drive).get(), scale.whole_capacity().get()),
        buffer_bytes: pair(drive.buffer.size.map_or(0, Bytes::get), scale.whole_buffer.get()),
        requests: scale.sampled.map(|sample| pair(sample.kept, sample.requests)),
        sample: scale.sampled.map(|sample| SampleOfTrace {
            faster: sample.faster(),
            written: sample.written_share * sample.faster(),
            soon: sample.soon[0],
            soon_in_sample: sample.soon[1],
        }),
        waf_error: error.is_finite().then_some(error),
        latency_error: Some(scale.latency_error()).filter(|error| error.is_finite()),
    })
}

/// Whether some pages of a workload may be written more often than others.
pub(super) fn is_skewed(about: &About) -> bool {
    let even = [
        Pattern::RandomWrite,
        Pattern::RandomRead,
        Pattern::SequentialWrite,
        Pattern::SequentialRead,
    ];
    about.stand_in.is_some() || !even.iter().any(|pattern| pattern.name() == about.format)
}

/// Why latencies of a sample may differ from those of the trace.
pub(super) fn sampled<K: PolicyTypes>(e: &Evidence<'_, K>) -> Vec<String> {
    let Some(sample) = e.drive.scale.as_ref().and_then(|scale| scale.sampled) else {
        return Vec::new();
    };
    let [all, kept] = sample.soon.map(|share| 100.0 * share);
    let written = sample.written_share * sample.faster();
    let waiting = waiting(&e.stats.classes);
    let mut why = Vec::new();
    if e.about.timed && waiting > MOST_WAITING {
        why.push(format!(
            "{:.0} % of the latencies is waiting behind other operations, and a backlog of the sample is \
             over {:.1} times as soon",
            100.0 * waiting,
            sample.faster()
        ));
    }
    if (all - kept).abs() > 100.0 * TRUE_TO {
        why.push(format!(
            "{all:.1} % of its requests arrive at most 1 ms after the one before, and {kept:.1} % in the \
             sample, so they queue differently"
        ));
    }
    if sample.written_share > 0.0 && (written - 1.0).abs() > TRUE_TO {
        why.push(format!("the sample writes {written:.2} times as many bytes a request"));
    }
    why
}

/// The share of waiting behind flash operations in all latencies.
fn waiting(classes: &Each<Class, ClassStats>) -> f64 {
    let (mut waited, mut all) = (0.0, 0.0);
    for class in classes.values() {
        let delays = class.delays.all();
        waited += delays.parts.queue.sum::<TimeSum>().as_ns() as f64;
        all += delays.total().as_ns() as f64;
    }
    if all > 0.0 { waited / all } else { 0.0 }
}

/// Latencies with a larger share of waiting depend on how requests coincide.
const MOST_WAITING: f64 = 0.05;

/// A sample that differs from its trace by more than this has a warning.
const TRUE_TO: f64 = 0.01;
