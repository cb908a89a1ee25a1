//! Everything that went into a run.

use super::SectionAbout;
use crate::config::Word;
use crate::result::evidence::Evidence;
use crate::result::shape::{Only, table};
use ftl::PolicyTypes;
use serde_json::Value as Json;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "Everything that determines the result. Runs with the same build, drive, workload and seed give \
     the same bytes.",
);

pub(crate) type Section = Provenance;

table! {
    /// The inputs of a run.
    struct Provenance {
        /// The version of floatgate.
        version: &'static str;
        /// A digest of the code: the sources of the engine and the Python files that shape a run.
        /// Null in results of the first versions.
        build: String, later null;
        /// The resolved drive. It is a complete drive file.
        config: Json;
        /// A digest of `config`.
        config_hash: String;
        /// The seed of all random streams.
        seed: u64;
        /// The workload.
        workload: WorkloadRead;
        /// How much of the drive was simulated. Present only in results of `floatgate lifetime`.
        years: Only<Simulated>;
    }
}

table! {
    /// A workload as it was read.
    struct WorkloadRead {
        /// The name of the file or of the generator.
        name: String;
        /// The format of the trace, or the generator.
        format: String;
        /// The SHA-256 of the file as it is stored. Null for a generator.
        sha256: Option<String>;
        /// The options that say how the trace is read. Null without any.
        reading: Option<String>;
        /// The requests that the drive received.
        requests: u64, "requests";
        /// Records of the trace that were left out.
        skipped: u64, "records";
        /// Facts that were found when the workload was opened.
        notes: Vec<String>;
        /// The model behind a stand-in for a trace that is not available. Null for other workloads.
        stand_in: Option<StandInModel>;
        /// The setting `host.out-of-range`.
        out_of_range: &'static str;
        /// The distance by which addresses were moved.
        shift_bytes: i64, "bytes";
    }
}

table! {
    /// A stand-in for a trace.
    struct StandInModel {
        /// The model that generates the requests.
        model: String;
        /// The version of the model.
        version: String;
        /// The statistics that it reproduces.
        fitted_to: String;
    }
}

table! {
    /// The part of a drive that was simulated to estimate its lifetime.
    struct Simulated {
        /// The part.
        part: EqualParts;
        /// The reason why the cells have no model. Null if they have one.
        not_modelled: Option<String>;
    }
}

table! {
    /// One of several equal parts.
    struct EqualParts {
        /// The number of equal parts. The run simulated one of them.
        of: u32, "parts";
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let (drive, about) = (e.drive, e.about);
    let years = drive.years.as_ref();
    let asked = years.map_or(drive, |years| &years.whole);
    Provenance {
        version: env!("CARGO_PKG_VERSION"),
        build: drive.build.clone(),
        config: asked.resolved.clone(),
        config_hash: asked.hash(),
        seed: drive.seed,
        workload: WorkloadRead {
            name: about.name.clone(),
            format: about.format.clone(),
            sha256: about.sha256.clone(),
            reading: about.reading.clone(),
            requests: e.stats.generated,
            skipped: e.skipped,
            notes: about.notes.clone(),
            stand_in: about.stand_in.as_ref().map(|stand_in| StandInModel {
                model: stand_in.model.clone(),
                version: stand_in.version.clone(),
                fitted_to: stand_in.fitted_to.clone(),
            }),
            out_of_range: drive.host.out_of_range.said(),
            shift_bytes: drive.workload.shift,
        },
        years: Only(years.map(|years| Simulated {
            part: EqualParts { of: years.of.get() },
            not_modelled: years.unmodelled.clone(),
        })),
    }
}
