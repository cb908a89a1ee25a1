//! The extension module `floatgate._core`, the only crate that knows Python. It is thin: text comes
//! in, one value goes out as JSON. Users see the package `python/floatgate`.
//!
//! This is the binding: it opens files and reads the clock.

#![allow(clippy::disallowed_methods, reason = "the binding may read the clock")]
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive by value")]

mod answers;
mod cache;
mod catalogue;
mod columns;
mod convert;
mod describe;
mod error;
mod files;
mod finder;
mod forward;
mod known;
mod ldpc;
mod lists;
mod live;
mod located;
mod memory;
mod open;
mod outside;
mod physics;
mod policy;
mod published;
mod session;
mod stopwatch;
mod views;
mod worker;

/// The interface to the package; `python/floatgate/_core.pyi` has the types.
#[pyo3::pymodule]
mod _core {
    use std::path::PathBuf;
    use std::sync::Arc;

    use numpy::{IntoPyArray, PyArray1};
    use pyo3::prelude::*;
    use serde_json::json;
    use sha2::{Digest, Sha256};
    use ssd::bench::BenchPlan;
    use ssd::kernel::hexadecimal;
    use ssd::record::{RunTable, Sink};
    use ssd::workload::ReadTally;
    use ssd::{Progress, Stage, WallTimes};

    use crate::cache::{CacheOptions, StateFolder};
    #[pymodule_export]
    use crate::columns::{Rows, TableFile};
    #[pymodule_export]
    use crate::error::{ConfigError, InputError, InternalError, PolicyError, WorkloadError};
    #[pymodule_export]
    use crate::files::{content_of, settings_of, text_of};
    use crate::known::{self, KnownPlace};
    #[pymodule_export]
    use crate::live::Stop;
    #[pymodule_export]
    use crate::located::located;
    use crate::outside::Outside;
    #[pymodule_export]
    use crate::physics::{Cell, Recovery, correctable, program_us, read_us, reprogram_wear};
    #[pymodule_export]
    use crate::session::PySession;
    use crate::stopwatch::Stopwatch;
    #[pymodule_export]
    use crate::views::{
        Access, Block, Deaths, Drive, Future, Head, Life, Load, NewPage, Plane, Point, Random,
        Waiting, Write,
    };
    use crate::{
        catalogue, convert, describe, error, forward, ldpc, lists, live, memory, open, worker,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        error::name_codes(module)
    }

    /// The version, as Cargo knows it.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// The digests of the sources that the engine and this module are built from, as `sha256sum`
    /// prints them.
    #[pyfunction]
    fn sources() -> String {
        let engine = ssd::BUILD.trim_start_matches("sha256:");
        format!("{engine}  engine\n{}  binding\n", env!("FLOATGATE_SOURCES"))
    }

    /// The SHA-256 of some bytes in hexadecimal. That of Python's library loads OpenSSL, which
    /// takes longer than any digest here.
    #[pyfunction]
    fn sha256(data: &[u8]) -> String {
        hexadecimal(&Sha256::digest(data))
    }

    /// The built-in drives, as name and TOML text.
    #[pyfunction]
    fn presets() -> Vec<(&'static str, &'static str)> {
        ssd::presets().to_vec()
    }

    /// The files about published drives, as name and TOML text.
    #[pyfunction]
    fn published() -> Vec<(&'static str, &'static str)> {
        crate::published::FILES.to_vec()
    }

    /// The generators of workloads: name and summary.
    #[pyfunction]
    fn generators() -> Vec<(&'static str, &'static str)> {
        lists::generators()
    }

    /// The formats of traces: name and summary.
    #[pyfunction]
    fn formats() -> Vec<(&'static str, &'static str)> {
        lists::formats()
    }

    /// The meaning of `--columns`. Each column has its content, its name or number, and its unit in
    /// nanoseconds or bytes (0: dates; None: not given). Operations have words with their numbers.
    #[pyfunction]
    fn columns(text: &str) -> PyResult<Vec<lists::NamedColumn>> {
        lists::columns(text).map_err(InputError::new_err)
    }

    /// The hint for a table whose columns have these names; nothing if they suggest nothing.
    #[pyfunction]
    fn suggested_columns(names: Vec<String>, values: Vec<Vec<String>>) -> Option<String> {
        ssd::workload::suggest_columns(&names, &|i| values.get(i).cloned().unwrap_or_default())
    }

    /// The policies, as JSON.
    #[pyfunction]
    fn policies() -> String {
        lists::policies().to_string()
    }

    /// The lists of names by which results count, as JSON.
    #[pyfunction]
    fn accounts() -> String {
        lists::accounts().to_string()
    }

    /// The catalogue of traces, and which of them lie in or below `folders`, as JSON.
    #[pyfunction]
    fn traces(folders: Vec<PathBuf>) -> PyResult<String> {
        let listed = catalogue::listed(&folders).map_err(|e| error::of_trace(&e))?;
        Ok(listed.to_string())
    }

    /// The built-in chips, as JSON: all of them, or one with every setting and its source; nothing
    /// if there is none of that name.
    #[pyfunction]
    fn chips(name: Option<&str>) -> Option<String> {
        name.map_or_else(|| Some(ssd::config::chips()), ssd::config::chip).map(|c| c.to_string())
    }

    /// The results of the test bench for a built-in chip, with numbers of samples and of blocks of
    /// each, as JSON; None if there is no chip of that name.
    #[pyfunction]
    #[pyo3(signature = (name, *, samples, blocks, seed, progress, finder))]
    fn bench(
        py: Python<'_>,
        name: String,
        samples: u32,
        blocks: u32,
        seed: u64,
        progress: Option<Py<PyAny>>,
        finder: Py<PyAny>,
    ) -> PyResult<Option<String>> {
        let read = ReadTally::NONE;
        worker::run(py, Outside::new(finder), progress, None, read, move |tick, _| {
            let start = Stopwatch::start();
            let plan = BenchPlan { chips: samples, blocks, seed, ..BenchPlan::PAPER };
            let found = ssd::bench::bench(&name, &plan, &mut |stage, done, total| {
                tick(worker::WorkProgress { stage, done, total: Some(total), now_ns: 0 })
            });
            Ok(found.map(|mut value| {
                value["timing"] = start.timing();
                value.to_string()
            }))
        })
    }

    /// The JSON Schema of drive files.
    #[pyfunction]
    fn schema() -> String {
        ssd::config::schema().to_string()
    }

    /// The structure of a result, as JSON: its sections, their fields with unit and meaning, and
    /// the codes of its warnings.
    #[pyfunction]
    fn result_shape() -> String {
        ssd::result_shape().to_string()
    }

    /// A drive as a run would have it: as a drive file (TOML), and as JSON with the source of each
    /// setting.
    #[pyfunction]
    #[pyo3(signature = (drive, *, set, policy, seed, finder))]
    fn resolve(
        drive: &str,
        set: Vec<String>,
        policy: Vec<String>,
        seed: Option<open::WholeNumber>,
        finder: Py<PyAny>,
    ) -> PyResult<(String, String)> {
        let drive = open::drive(drive, &set, &policy, seed, &Outside::new(finder))?;
        let file = toml::to_string(&drive.resolved).map_err(error::of_ours)?;
        let page = drive.geometry.flash().page_size.get();
        let json = json!({
            "config": drive.resolved,
            "sources": drive.sources,
            "capacity": {
                "physical_bytes": drive.geometry.pages() as u64 * drive.geometry.page_size().get(),
                "logical_bytes": ssd::capacity(&drive).get(),
                "page_bytes": page,
            },
            "warnings": drive.warnings(),
        });
        Ok((file, json.to_string()))
    }

    /// The settings that a drive file inherits and that matter, as JSON.
    #[pyfunction]
    #[pyo3(signature = (drive, *, set, policy, finder))]
    fn inherited(
        drive: &str,
        set: Vec<String>,
        policy: Vec<String>,
        finder: Py<PyAny>,
    ) -> PyResult<String> {
        let found = open::inherited(drive, &set, &policy, &Outside::new(finder))?;
        Ok(found.to_string())
    }

    /// The measures of a workload, as JSON. `drive` lends its capacity and seed to a generator.
    #[pyfunction(name = "describe")]
    #[pyo3(signature = (
        workload, *, page_size, epochs, memory, drive, set, reading, progress, finder
    ))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn described(
        py: Python<'_>,
        workload: String,
        page_size: &str,
        epochs: Option<Vec<String>>,
        memory: Option<&str>,
        drive: &str,
        set: Vec<String>,
        reading: open::ReadingOptions,
        progress: Option<Py<PyAny>>,
        finder: Py<PyAny>,
    ) -> PyResult<String> {
        let reading = reading.checked(&workload)?;
        let options = describe::options(page_size, epochs, memory)?;
        let outside = Outside::new(finder);
        let drive = describe::lender(drive, &set, &outside)?;
        worker::run(py, outside, progress, None, reading.tally(), move |tick, _| {
            let start = Stopwatch::start();
            let shift = drive.workload.shift;
            let workload = open::workload_alone(&drive, &workload, &reading)?;
            let mut value = describe::describe(&*workload, shift, &options, tick)?;
            value["timing"] = start.timing();
            Ok(value.to_string())
        })
    }

    /// The profile that a stand-in of a trace is made from, as TOML: measured, or as published if
    /// it is of the catalogue and has no files.
    #[pyfunction]
    #[pyo3(signature = (trace, *, reading, progress, finder))]
    fn fit(
        py: Python<'_>,
        trace: String,
        reading: open::ReadingOptions,
        progress: Option<Py<PyAny>>,
        finder: Py<PyAny>,
    ) -> PyResult<String> {
        let reading = reading.checked(&trace)?;
        let read = reading.tally();
        worker::run(py, Outside::new(finder), progress, None, read, move |tick, _| {
            let profile = open::profile(&trace, &reading, |w| describe::fit(w, tick))?;
            Ok(profile.text())
        })
    }

    /// Hands a workload's requests to `rows`; its facts, as JSON. `drive` lends its capacity and
    /// seed to a generator.
    #[pyfunction(name = "convert")]
    #[pyo3(signature = (workload, *, drive, set, reading, progress, rows, finder))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn converted(
        py: Python<'_>,
        workload: String,
        drive: &str,
        set: Vec<String>,
        reading: open::ReadingOptions,
        progress: Option<Py<PyAny>>,
        rows: Py<PyAny>,
        finder: Py<PyAny>,
    ) -> PyResult<String> {
        let reading = reading.checked(&workload)?;
        let outside = Outside::new(finder);
        let drive = describe::lender(drive, &set, &outside)?;
        worker::run(py, outside, progress, Some(rows), reading.tally(), move |tick, sink| {
            let workload = open::workload_alone(&drive, &workload, &reading)?;
            let sink = sink.expect("there are rows to be taken");
            let shift = drive.workload.shift;
            Ok(convert::convert(&*workload, shift, sink, tick)?.to_string())
        })
    }

    /// Whether a run can start, and its facts, found without starting it, as JSON:
    ///
    /// * `config`: its resolved drive.
    /// * `workload`: its known facts, or null if only a run can find its mistakes.
    /// * `state`: the name of the preconditioned drive that it shares with others, if any.
    /// * `memory`: the greatest number of bytes that simulating it needs.
    /// * `repeatable`: whether its name covers all of its inputs.
    #[pyfunction]
    #[pyo3(signature = (
        drive, workload, *, build, set, policy, seed, reading, cache, progress, finder
    ))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn plan(
        py: Python<'_>,
        drive: &str,
        workload: String,
        build: String,
        set: Vec<String>,
        policy: Vec<String>,
        seed: Option<open::WholeNumber>,
        reading: open::ReadingOptions,
        cache: Option<CacheOptions>,
        progress: Option<Py<PyAny>>,
        finder: Py<PyAny>,
    ) -> PyResult<String> {
        let reading = reading.checked(&workload)?;
        let outside = Outside::new(finder);
        let drive = open::drive(drive, &set, &policy, seed, &outside)?;
        let mut drive = open::set_up(drive, &workload)?;
        let traces = StateFolder::open(cache)?.traces();
        let place = traces.and_then(|folder| KnownPlace::of(folder, &build, &workload, &reading));
        drive.build = build;
        let mut about = place.as_ref().and_then(KnownPlace::load);
        if about.is_none() {
            let is_file = open::is_trace(&workload);
            if is_file {
                open::glance(&workload, &reading)?;
            }
            let drive = drive.clone();
            about = worker::run(py, outside, progress, None, reading.tally(), move |_, _| {
                match open::workload(&drive, &workload, &reading) {
                    Ok(workload) => Ok(Some(workload.about().clone())),
                    // Its beginning is right: its run reports the mistake, and others can go on.
                    Err(_) if is_file => Ok(None),
                    Err(error) => Err(error),
                }
            })?;
            if let (Some(place), Some(about)) = (&place, &about) {
                place.store(about);
            }
        }
        let planned = about.as_ref().map(|about| ssd::planned(&drive, about));
        let value = json!({
            "config": planned.as_ref().map_or(&drive.resolved, |p| &p.config),
            "workload": about.as_ref().map(known::described),
            "state": planned.as_ref().and_then(|p| p.state.as_ref()),
            "memory": ssd::memory(&drive),
            "repeatable": drive.policies.unrepeatable().next().is_none(),
        });
        Ok(value.to_string())
    }

    /// One run; its result as JSON. `cache` names the folder of preconditioned drives, and its
    /// greatest size. `rows` is called with the name of a table, one of `tables`, and some rows of
    /// it. `finder` finds policies in Python. With `years` the run computes a lifetime, on a part
    /// of the drive if that is enough. The text is the reason for having no model of the cells, and
    /// is empty if there is one.
    #[pyfunction]
    #[pyo3(signature = (
        drive, workload, *, build, set, policy, seed, reading, cache, progress, rows, tables, finder,
        years=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn run(
        py: Python<'_>,
        drive: &str,
        workload: String,
        build: String,
        set: Vec<String>,
        policy: Vec<String>,
        seed: Option<open::WholeNumber>,
        reading: open::ReadingOptions,
        cache: Option<CacheOptions>,
        progress: Option<Py<PyAny>>,
        rows: Option<Py<PyAny>>,
        tables: Vec<String>,
        finder: Py<PyAny>,
        years: Option<String>,
    ) -> PyResult<String> {
        let reading = reading.checked(&workload)?;
        let mut cache = StateFolder::open(cache)?;
        let outside = Outside::new(finder);
        let drive = open::drive(drive, &set, &policy, seed, &outside)?;
        let mut drive = open::set_up(drive, &workload)?;
        drive.build = build;
        let wanted = move |table: RunTable| tables.iter().any(|name| name == table.name());
        drive.recording.requests &= wanted(RunTable::Requests);
        drive.recording.snapshots = wanted(RunTable::Snapshots);
        if let Some(why) = years {
            drive = drive.for_years((!why.is_empty()).then_some(why));
        }
        memory::check(&drive)?;
        let read = reading.tally();
        worker::run(py, Arc::clone(&outside), progress, rows, read, move |tick, sink| {
            let whole = drive.years.as_ref().map_or(&drive, |years| &years.whole);
            let workload = open::workload(whole, &workload, &reading)?;
            let start = Stopwatch::start();
            let mut running = start;
            let mut watch = |p: Progress| {
                if p.stage == Stage::Running && p.done == 0 {
                    running = Stopwatch::start();
                }
                tick(p.into())
            };
            let sink = sink.map(|mut sink| -> Sink {
                Box::new(move |table, rows| !wanted(table) || sink(table, rows))
            });
            let report = ssd::run_recorded(&drive, workload, &mut cache, &mut watch, sink);
            outside.verdict()?;
            let mut report = report.map_err(|e| error::of_run(&e))?;
            report.set_timing(WallTimes {
                wall: start.wall(),
                cpu: start.cpu(),
                running: running.wall(),
            });
            Ok(report.value().to_string())
        })
    }

    /// Serves a drive until `stop` is set; the result as JSON. `progress` hears the stage `serving`
    /// as soon as clients can connect.
    #[pyfunction]
    #[pyo3(signature = (
        drive, *, build, set, policy, seed, cache, unix, listen, insecure, control, store, record,
        slowdown, stop, opened, progress, rows, tables, finder
    ))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn serve(
        py: Python<'_>,
        drive: &str,
        build: String,
        set: Vec<String>,
        policy: Vec<String>,
        seed: Option<open::WholeNumber>,
        cache: Option<CacheOptions>,
        unix: Option<PathBuf>,
        listen: Option<String>,
        insecure: bool,
        control: Option<PathBuf>,
        store: Option<PathBuf>,
        record: Option<PathBuf>,
        slowdown: Option<f64>,
        stop: &Stop,
        opened: Py<PyAny>,
        progress: Option<Py<PyAny>>,
        rows: Option<Py<PyAny>>,
        tables: Vec<String>,
        finder: Py<PyAny>,
    ) -> PyResult<String> {
        let mut cache = StateFolder::open(cache)?;
        let outside = Outside::new(finder);
        let mut drive = open::drive(drive, &live::settings(set), &policy, seed, &outside)?;
        drive.build = build;
        let wanted = move |table: RunTable| tables.iter().any(|name| name == table.name());
        drive.recording.requests &= wanted(RunTable::Requests);
        drive.recording.snapshots = wanted(RunTable::Snapshots);
        memory::check(&drive)?;
        let address = live::address(unix, listen)?;
        let pace = live::pace(slowdown)?;
        let options = ::live::Options { address, insecure, control, store, record, pace };
        let stop = stop.flag();
        worker::run(py, Arc::clone(&outside), progress, rows, ReadTally::NONE, move |tick, sink| {
            let start = Stopwatch::start();
            let sink = sink.map(|mut sink| -> Sink {
                Box::new(move |table, rows| !wanted(table) || sink(table, rows))
            });
            let served = live::serve(&drive, &options, &mut cache, &stop, &opened, tick, sink);
            outside.verdict()?;
            let (mut report, running, how_served) = served?;
            report.set_timing(WallTimes {
                wall: start.wall(),
                cpu: start.cpu(),
                running: running.as_secs_f64(),
            });
            let mut value = report.value().clone();
            value["timing"]["live"] = how_served;
            Ok(value.to_string())
        })
    }

    /// The bytes that a workload writes in each second, from its first request to its last: bytes,
    /// and the pages of the drive that they touch.
    #[pyfunction]
    #[pyo3(signature = (drive, workload, *, set, seed, reading, progress, finder))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn demand<'py>(
        py: Python<'py>,
        drive: &str,
        workload: String,
        set: Vec<String>,
        seed: Option<open::WholeNumber>,
        reading: open::ReadingOptions,
        progress: Option<Py<PyAny>>,
        finder: Py<PyAny>,
    ) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
        let spec = reading.checked(&workload)?;
        let outside = Outside::new(finder);
        let drive = open::drive(drive, &set, &[], seed, &outside)?;
        let drive = open::set_up(drive, &workload)?;
        let (bytes, pages) =
            worker::run(py, outside, progress, None, spec.tally(), move |tick, _| {
                Ok(forward::demand(&drive, &workload, &spec, tick)?.columns())
            })?;
        Ok([bytes.into_pyarray(py), pages.into_pyarray(py)])
    }

    /// Years of a workload that repeats, or of a demand in numbers; the result as JSON. The lists
    /// of numbers say how much is to be kept: bins, epochs, the first period and how many.
    #[pyfunction]
    #[pyo3(signature = (
        drive, workload, *, build, demand, waf, page_write, target, step, keep, set, policy, seed,
        reading, cache, progress, finder
    ))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn fast_forward(
        py: Python<'_>,
        drive: &str,
        workload: Option<String>,
        build: String,
        demand: Option<(Vec<f64>, Option<Vec<f64>>)>,
        waf: Option<f64>,
        page_write: Option<&str>,
        target: Option<&str>,
        step: Option<&str>,
        keep: (usize, usize, u64, usize),
        set: Vec<String>,
        policy: Vec<String>,
        seed: Option<open::WholeNumber>,
        reading: open::ReadingOptions,
        cache: Option<CacheOptions>,
        progress: Option<Py<PyAny>>,
        finder: Py<PyAny>,
    ) -> PyResult<String> {
        let spec = reading.checked(workload.as_deref().unwrap_or_default())?;
        let outside = Outside::new(finder);
        let drive = open::drive(drive, &set, &policy, seed, &outside)?;
        let mut drive = open::set_up(drive, workload.as_deref().unwrap_or_default())?;
        drive.build = build;
        let asked = forward::Asked::new(&drive, waf, page_write, target, step, keep)?;
        let mut cache = StateFolder::open(cache)?;
        if waf.is_none() {
            memory::check(&drive)?;
        }
        let read = spec.tally();
        worker::run(py, Arc::clone(&outside), progress, None, read, move |tick, _| {
            let start = Stopwatch::start();
            let what = forward::What { workload: workload.as_deref(), demand, spec };
            let value = forward::forward(&drive, &what, &asked, &mut cache, tick);
            outside.verdict()?;
            let mut value = value?;
            value["timing"] = start.timing();
            Ok(value.to_string())
        })
    }

    /// Frames of the LDPC code over a sensed channel: their outcome, as JSON.
    #[pyfunction]
    fn ldpc_frames(py: Python<'_>, request: &str, first: u64, count: u64) -> PyResult<String> {
        ldpc::frames(py, request, first, count)
    }

    /// Facts of a code and a channel without reading a frame, as JSON.
    #[pyfunction]
    fn ldpc_facts(request: &str) -> PyResult<String> {
        ldpc::facts(request)
    }

    /// The exact interval of 95 % for a share of which `hits` of `trials` were seen.
    #[pyfunction]
    fn ldpc_interval(hits: u64, trials: u64) -> (f64, f64) {
        ldpc::share(hits, trials)
    }

    /// AGCR's levels under limits of 1, 3 and 7 sensings, as JSON.
    #[pyfunction]
    fn ldpc_levels(limits: [f64; 3]) -> PyResult<String> {
        ldpc::levels(limits)
    }
}
