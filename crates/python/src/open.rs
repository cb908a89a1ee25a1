//! From the names that the user gives to the engine's objects: drives and workloads, built-in or in
//! files.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use ssd::kernel::{Bytes, Dur, Rng};
use ssd::policies::external::Supplier;
use ssd::workload::catalogue::Catalogue;
use ssd::workload::standin::{Length, Profile};
use ssd::workload::{
    self, About, AddressWrap, Composition, Generator, Named, OutOfRange, PartText, Pattern,
    ReadOptions, ReadTally, Steps, Workload, digest, open_trace,
};
use ssd::{ConfigError, Drive, Layers, RunError};

use crate::error::{self, InputError, WorkloadError, code, of_drive, of_run, of_trace};
use crate::files;
use crate::finder::Finder;
use crate::outside::Outside;

pub(crate) mod parquet;

use parquet::Opener;

/// A whole number from an argument.
pub(crate) struct WholeNumber(u64);

impl<'a, 'py> FromPyObject<'a, 'py> for WholeNumber {
    type Error = PyErr;

    fn extract(said: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        said.extract().map(Self).map_err(|e| {
            if !e.is_instance_of::<PyOverflowError>(said.py()) {
                return e;
            }
            let range = format!("expected a whole number from 0 to {}", u64::MAX);
            error::input(code::VALUE, format!("{range}, not `{}`", &*said))
        })
    }
}

/// The drive called `name`, a preset or a file, with the settings of the command line.
pub(crate) fn drive(
    name: &str,
    set: &[String],
    policy: &[String],
    seed: Option<WholeNumber>,
    outside: &Arc<Outside>,
) -> PyResult<Drive> {
    of_layers(name, set, policy, seed, outside, ssd::config::load_with)
}

/// The settings that a drive file inherits and that matter, as JSON.
pub(crate) fn inherited(
    name: &str,
    set: &[String],
    policy: &[String],
    outside: &Arc<Outside>,
) -> PyResult<Value> {
    of_layers(name, set, policy, None, outside, |layers, supplier| {
        Ok(ssd::config::inherited(layers, supplier))
    })
}

/// A part of the drive called `name`, a preset or a file, with the settings of the command line.
fn of_layers<T>(
    name: &str,
    set: &[String],
    policy: &[String],
    seed: Option<WholeNumber>,
    outside: &Arc<Outside>,
    of: impl FnOnce(&Layers<'_>, Option<&dyn Supplier>) -> Result<T, Vec<ConfigError>>,
) -> PyResult<T> {
    let preset = ssd::presets().iter().find(|(preset, _)| *preset == name);
    let text = match preset {
        Some((_, text)) => (*text).to_owned(),
        None if is_path(name) => {
            files::settings(Path::new(name), "a drive file (TOML)", &["drive"])
                .map_err(|(code, text)| error::input(code, text))?
        }
        None => {
            let hint = ssd::kernel::hint(name, ssd::presets().iter().map(|(name, _)| *name));
            return Err(error::input(
                code::UNKNOWN_NAME,
                format!("`{name}` is neither a drive file nor a built-in drive; {hint}"),
            ));
        }
    };
    // The base of a file is named relative to it.
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let unreadable = RefCell::new(None);
    let library = |wanted: &str| {
        let path = folder.join(wanted);
        if !is_path(wanted) {
            return None;
        }
        match files::settings(&path, "a drive or chip file (TOML)", &["drive", "chip"]) {
            Ok(text) => Some((path.display().to_string(), text)),
            Err(refused) => {
                // A missing one is an error with the line that names it.
                unreadable.borrow_mut().get_or_insert(refused);
                None
            }
        }
    };
    let seed = seed.map(|WholeNumber(seed)| seed);
    let layers = Layers { file: (name, &text), library: &library, set, policy, seed };
    let found = of(&layers, Some(&Finder(Arc::clone(outside))));
    outside.verdict()?;
    found.map_err(|errors| match unreadable.take() {
        Some((code, text)) if code != code::NO_FILE => error::input(code, text),
        _ => of_drive(&errors),
    })
}

/// Options of reading a workload and of changing it, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadingOptions {
    format: Option<String>,
    time_unit: Option<String>,
    columns: Option<String>,
    event: Option<String>,
    devices: Vec<String>,
    process: Option<String>,
    flow_by: Option<String>,
    skip_bad: bool,
    traces: Vec<PathBuf>,
    slice: Option<String>,
    first: Option<u64>,
    footprint: Option<f64>,
    speed: Option<f64>,
    repeat: Option<u64>,
    tables: Py<PyAny>,
}

/// The same, checked.
#[derive(Clone, Debug)]
pub(crate) struct OpenSpec {
    options: ReadOptions,
    /// The columns as the user wrote them, for a table with named columns.
    columns: Option<String>,
    /// Whether the user said that it is such a table.
    table: bool,
    steps: Steps,
    /// The folders of catalogue files.
    pub(crate) traces: Vec<PathBuf>,
    opener: Opener,
    /// The depth of nesting: the number of files that contain this workload as a part.
    depth: u32,
}

/// The greatest depth of files of parts within files of parts.
const DEEPEST: u32 = 8;

fn parsed<T: FromStr<Err = String>>(text: Option<&str>) -> Result<Option<T>, String> {
    text.map(str::parse).transpose()
}

impl ReadingOptions {
    /// For the workload that is called `workload`.
    pub(crate) fn checked(self, workload: &str) -> PyResult<OpenSpec> {
        let steps = Steps {
            slice: parsed(self.slice.as_deref()).map_err(InputError::new_err)?,
            first: self.first,
            footprint: self.footprint,
            speed: self.speed,
            repeat: self.repeat,
        };
        steps.check().map_err(|(key, what)| InputError::new_err(format!("`{key}`: {what}")))?;
        let options = ReadOptions {
            time_unit: parsed(self.time_unit.as_deref()).map_err(InputError::new_err)?,
            event: parsed(self.event.as_deref()).map_err(InputError::new_err)?,
            devices: self.devices,
            process: self.process,
            flow_by: parsed(self.flow_by.as_deref()).map_err(InputError::new_err)?,
            skip_bad: self.skip_bad,
            tally: ReadTally::new(),
            ..ReadOptions::default()
        };
        let opener = Opener::new(self.tables);
        let (columns, table) = (None, false);
        let spec =
            OpenSpec { options, columns, table, steps, traces: self.traces, opener, depth: 0 };
        spec.reading(workload, self.format.as_deref(), self.columns.as_deref())
            .map_err(InputError::new_err)
    }
}

impl OpenSpec {
    /// The same with a format and columns, which are other words for a table.
    fn reading(
        mut self,
        workload: &str,
        format: Option<&str>,
        columns: Option<&str>,
    ) -> Result<Self, String> {
        self.table = format == Some(parquet::FORMAT);
        if self.table || format.is_none() && parquet::is_one(Path::new(workload)) {
            self.columns = columns.map(ToOwned::to_owned);
            return Ok(self);
        }
        self.options.format = parsed(format)?;
        self.options.columns = parsed(columns)?;
        Ok(self)
    }

    /// The same for a part of a file.
    fn part(&self, workload: &str, part: &PartText) -> Result<Self, String> {
        let options = ReadOptions {
            time_unit: parsed(part.time_unit.as_deref())?,
            event: parsed(part.event.as_deref())?,
            devices: part.devices.clone(),
            process: part.process.clone(),
            flow_by: part.flow_by,
            skip_bad: part.skip_bad,
            tally: self.options.tally.clone(),
            ..ReadOptions::default()
        };
        let (columns, table, steps) = (None, false, Steps::default());
        let (traces, opener) = (self.traces.clone(), self.opener.clone());
        let depth = self.depth + 1;
        let spec = Self { options, columns, table, steps, traces, opener, depth };
        spec.reading(workload, part.format.as_deref(), part.columns.as_deref())
    }

    /// The counter of records that are read.
    pub(crate) fn tally(&self) -> ReadTally {
        self.options.tally.clone()
    }

    /// The reading options of the workload.
    pub(crate) fn said(&self) -> Option<String> {
        let said = [
            self.table.then(|| format!("format={}", parquet::FORMAT)),
            self.columns.as_ref().map(|columns| format!("columns={columns}")),
            self.options.said(),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// Everything that decides which requests a file has.
    pub(crate) fn key(&self) -> String {
        format!("{:?} {:?} {} {:?}", self.options, self.columns, self.table, self.steps)
    }

    pub(crate) fn options(&self) -> &ReadOptions {
        &self.options
    }

    pub(crate) fn columns(&self) -> Option<&str> {
        self.columns.as_deref()
    }

    pub(crate) fn opener(&self) -> &Opener {
        &self.opener
    }
}

/// The workload called `name`: a trace, a file of settings for a generator, a trace of the
/// catalogue, or a generator.
pub(crate) fn workload(drive: &Drive, name: &str, spec: &OpenSpec) -> PyResult<Box<dyn Workload>> {
    workload_by(ssd::generator, drive, name, spec)
}

/// The same for a look at the workload alone, which need not fit the drive.
pub(crate) fn workload_alone(
    drive: &Drive,
    name: &str,
    spec: &OpenSpec,
) -> PyResult<Box<dyn Workload>> {
    let workload = workload_by(ssd::generator_alone, drive, name, spec)?;
    let shift = drive.workload.shift;
    if shift == 0 {
        return Ok(workload);
    }
    let moved = AddressWrap::new(workload, OutOfRange::Refuse, shift, Bytes::new(u64::MAX));
    Ok(Box::new(moved.map_err(|e| of_trace(&e))?))
}

/// Makes the generator of a name, as the drive's settings have it.
type Generate = fn(&Drive, &str) -> Result<Box<dyn Workload>, RunError>;

fn workload_by(
    generator: Generate,
    drive: &Drive,
    name: &str,
    spec: &OpenSpec,
) -> PyResult<Box<dyn Workload>> {
    let workload = as_it_is(generator, drive, name, spec)?;
    spec.steps.apply(workload).map_err(|e| of_trace(&e))
}

/// The workload before anything is done to it.
fn as_it_is(
    generator: Generate,
    drive: &Drive,
    name: &str,
    spec: &OpenSpec,
) -> PyResult<Box<dyn Workload>> {
    let OpenSpec { options, traces, .. } = spec;
    if is_flows(name) {
        if let Some(said) = spec.said() {
            return Err(WorkloadError::new_err(format!(
                "these are several flows, and `{said}` says how one trace is to be read; say it of a \
                 flow: NAME=WORKLOAD:KEY=VALUE"
            )));
        }
        let depth = drive.host.queue_depth;
        let parts = Composition::of_flows("--flow", name, depth);
        let parts = parts.map_err(WorkloadError::new_err)?;
        let shown = parts.flows().collect::<Vec<_>>().join(" + ");
        let drive = &whole(drive)?;
        let share = shared(drive, parts.flows().count() as u64);
        return together(generator, [drive, &share], (&shown, Path::new("")), spec, &parts);
    }
    let path = Path::new(name);
    let settings_file = is_settings(name);
    if is_table(path, spec) {
        return parquet::open(path, spec);
    }
    if is_trace(name) {
        return open_trace(path, options).map_err(|e| of_trace(&e));
    }
    if name.contains(':') && !settings_file {
        let (length, seed) = length(drive, name)?;
        let catalogue = Catalogue::built_in();
        let workload = catalogue.open_or_stand_in(name, traces, options, length, seed);
        return workload.map_err(|e| of_trace(&e));
    }
    if let Some(said) = spec.said() {
        return Err(WorkloadError::new_err(format!(
            "{name}: this is not a trace, but `{said}` is an option for reading traces"
        )));
    }
    if settings_file {
        return by_file(generator, drive, path, spec);
    }
    generator(drive, name).map_err(|e| match Catalogue::built_in().meant(name) {
        Some(full) => {
            error::workload(code::UNKNOWN_NAME, format!("{e}; did you mean the trace `{full}`?"))
        }
        None => of_run(&e),
    })
}

/// Finds mistakes of the trace in a file without reading it to its end.
pub(crate) fn glance(name: &str, spec: &OpenSpec) -> PyResult<()> {
    let path = Path::new(name);
    if is_table(path, spec) {
        return parquet::glance(path, spec);
    }
    workload::glance(path, &spec.options).map_err(|e| of_trace(&e))
}

/// Whether a workload's name is that of a file with requests.
pub(crate) fn is_trace(name: &str) -> bool {
    is_path(name) && !is_settings(name) && !is_flows(name)
}

/// A drive as parts of a workload see it: the parts together are sampled as a whole, if the drive
/// is scaled down.
fn whole(drive: &Drive) -> PyResult<Drive> {
    drive.for_sampling().ok_or_else(|| {
        WorkloadError::new_err(
            "`scale` samples what is put together, and the whole drive has more than 2^32 mapping units: \
             give one workload, or a smaller drive",
        )
    })
}

/// A drive as seen by a generator without `span` that is one of `n` flows. It has the generator's
/// share of the addresses; regions begin at multiples of 1 MiB.
fn shared(drive: &Drive, n: u64) -> Drive {
    let mut drive = drive.clone();
    let share = (ssd::capacity(&drive).get() / n) >> 20 << 20;
    if share > 0 && !drive.workload.generator.contains_key("span") {
        drive.logical_pages = (share / drive.geometry.page_size().get()) as u32;
    }
    drive
}

/// Whether a workload's name is the text of the flows that a command line puts together
/// (`floatgate.workloads.flows`).
fn is_flows(name: &str) -> bool {
    name.starts_with("schema = ") && name.contains("\n[[part]]\n")
}

fn is_settings(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "toml")
}

/// Whether the workload is a Parquet file.
fn is_table(path: &Path, spec: &OpenSpec) -> bool {
    spec.table || spec.options.format.is_none() && parquet::is_one(path)
}

/// The drive with the settings of the file that describes its generator, if one does, so that the
/// resolved drive determines the requests.
pub(crate) fn set_up(mut drive: Drive, workload: &str) -> PyResult<Drive> {
    if !is_settings(workload) {
        return Ok(drive);
    }
    if let Described::Generator(_, merged) = described(&drive, Path::new(workload))? {
        let section = &mut drive.resolved["workload"];
        if section.is_null() {
            *section = Value::Object(Map::new());
        }
        for (key, value) in &merged {
            section[key] = value.clone();
        }
        drive.workload.generator = merged;
    }
    Ok(drive)
}

/// The workload of a file of settings.
enum Described {
    /// A generator; settings of the drive and the command line are added.
    Generator(Pattern, Map<String, Value>),
    /// The profile of a stand-in.
    Profile(Box<Profile>),
    /// Parts to be put together, or their mistakes.
    Parts(Result<Composition, String>),
}

fn described(drive: &Drive, path: &Path) -> PyResult<Described> {
    let shown = path.display().to_string();
    let fail = |what: String| WorkloadError::new_err(format!("{shown}: {what}"));
    let text = files::settings(path, "a workload file (TOML)", &["workload", "stand-in"])
        .map_err(|(code, text)| error::workload(code, text))?;
    if let Some(composition) = Composition::read(&shown, &text) {
        return Ok(Described::Parts(composition));
    }
    if Profile::is_meant(&text) {
        return Profile::read(&text).map(|p| Described::Profile(Box::new(p))).map_err(fail);
    }
    let generator: Generator = toml::from_str(&text).map_err(|e| fail(e.to_string()))?;
    let mut merged: Map<String, Value> = toml::from_str(&text).map_err(|e| fail(e.to_string()))?;
    merged.remove("pattern");
    // Two settings decide when requests arrive: either replaces both.
    let own = &drive.workload.generator;
    let when = ["arrivals", "rate"];
    if when.iter().any(|key| own.contains_key(*key)) {
        merged.retain(|key, _| !when.contains(&key.as_str()));
    }
    merged.extend(own.clone());
    Ok(Described::Generator(generator.pattern, merged))
}

/// The workload that a file of settings describes.
fn by_file(
    make: Generate,
    drive: &Drive,
    path: &Path,
    spec: &OpenSpec,
) -> PyResult<Box<dyn Workload>> {
    match described(drive, path)? {
        Described::Generator(pattern, merged) => {
            let settings = (spec.depth > 0).then(|| Value::from(merged.clone()).to_string());
            let mut drive = drive.clone();
            drive.workload.generator = merged;
            let made = make(&drive, pattern.name())
                .map_err(|e| WorkloadError::new_err(format!("{}: {e}", path.display())))?;
            // A part's settings are in no resolved drive; those of a whole workload are
            // ([`set_up`]).
            Ok(match settings {
                Some(settings) => told_apart(made, &settings),
                None => made,
            })
        }
        Described::Profile(profile) => {
            let (length, seed) = length(drive, &profile.stands_for)?;
            let made = profile.workload(length, seed).map_err(|e| of_trace(&e))?;
            Ok(told_apart(made, &profile.text()))
        }
        Described::Parts(parts) => composed(make, drive, path, spec, parts),
    }
}

/// A workload with the text that it was made from.
fn told_apart(made: Box<dyn Workload>, text: &str) -> Box<dyn Workload> {
    let about = About { sha256: Some(digest(text)), ..made.about().clone() };
    Box::new(Named::new(made, about))
}

/// The parts of a file, together. Their paths are seen from the file.
fn composed(
    make: Generate,
    drive: &Drive,
    path: &Path,
    spec: &OpenSpec,
    composition: Result<Composition, String>,
) -> PyResult<Box<dyn Workload>> {
    let composition = composition.map_err(WorkloadError::new_err)?;
    if spec.depth >= DEEPEST {
        let what = "files of parts contain one another without end";
        return Err(WorkloadError::new_err(format!("{}: {what}", path.display())));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let shown = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let drive = &whole(drive)?;
    together(make, [drive, drive], (&shown, folder), spec, &composition)
}

/// The same for parts that are `shown` under a name, with paths as seen from a folder. The second
/// drive is that of generators without a span of their own.
fn together(
    make: Generate,
    [drive, share]: [&Drive; 2],
    (shown, folder): (&str, &Path),
    spec: &OpenSpec,
    composition: &Composition,
) -> PyResult<Box<dyn Workload>> {
    // A mistake in a part is one of the whole.
    let mut code = None;
    let mut nth = 0;
    let mut open = |part: &PartText| {
        let seen = folder.join(&part.workload);
        let name = if is_file(&part.workload, &seen) {
            seen.to_string_lossy().into_owned()
        } else {
            part.workload.clone()
        };
        let depth = spec.depth;
        let spec = spec.part(&name, part)?;
        let drive = if is_spanless(drive, &name) { share } else { drive };
        let drive = seeded(drive, depth, nth);
        nth += 1;
        workload_by(make, &drive, &name, &spec).map_err(|e| {
            code = error::code_of(&e).or(code.take());
            match Python::try_attach(|py| e.value(py).to_string()) {
                Some(text) => text,
                None => e.to_string(),
            }
        })
    };
    let opened = composition.open(shown, &mut open);
    opened.map_err(|text| error::workload(code.as_deref().unwrap_or(code::WORKLOAD), text))
}

/// Whether a name is that of a generator, or of a file with one, without addresses of its own.
fn is_spanless(drive: &Drive, name: &str) -> bool {
    let by_file = || described(drive, Path::new(name));
    Pattern::from_name(name).is_some()
        || is_settings(name)
            && matches!(by_file(), Ok(Described::Generator(_, own)) if !own.contains_key("span"))
}

/// A drive as seen by the `nth` part of a file that is nested `depth` deep. Parts generated by the
/// same settings are not copies of each other. So each but the first has a seed that follows from
/// that of the whole. The part's own file takes precedence.
fn seeded(drive: &Drive, depth: u32, nth: usize) -> Cow<'_, Drive> {
    if nth == 0 {
        return Cow::Borrowed(drive);
    }
    let name = format!("workload/part/{depth}/{nth}");
    let own = |seed: u64| Rng::named(seed, &name).bits() >> 1; // as great as a seed may be
    let mut drive = drive.clone();
    drive.seed = own(drive.seed);
    if let Some(seed) = drive.workload.generator.get_mut("seed")
        && let Some(said) = seed.as_u64()
    {
        *seed = own(said).into();
    }
    Cow::Owned(drive)
}

/// The requested length of a stand-in, the settings of its reads, and its seed. The other settings
/// are those of generators.
fn length(drive: &Drive, name: &str) -> PyResult<(Length, u64)> {
    let said = &drive.workload.generator;
    let taken = ["requests", "duration", "created-reads", "seed"];
    if let Some(other) = said.keys().find(|key| !taken.contains(&key.as_str())) {
        return Err(WorkloadError::new_err(format!(
            "{name}: `workload.{other}` is for generators; a stand-in takes {}",
            taken.map(|key| format!("`workload.{key}`")).join(", ")
        )));
    }
    let duration = said.get("duration").and_then(Value::as_str);
    let duration = duration.map(|text| text.parse::<Dur>().expect("the configuration is checked"));
    let length = Length {
        requests: said.get("requests").and_then(Value::as_u64),
        duration,
        created_reads: said.get("created-reads").and_then(Value::as_f64),
    };
    Ok((length, said.get("seed").and_then(Value::as_u64).unwrap_or(drive.seed)))
}

/// The profile of the trace `name`: measured, if it has files; as published, if it is one of the
/// catalogue without files.
pub(crate) fn profile(
    name: &str,
    spec: &OpenSpec,
    fit: impl FnOnce(&dyn Workload) -> PyResult<Profile>,
) -> PyResult<Profile> {
    let path = Path::new(name);
    if is_path(name) {
        if is_settings(name) {
            return Err(InputError::new_err(format!(
                "{name}: a profile is fitted to a trace; this is a file of settings"
            )));
        }
        let trace = if is_table(path, spec) {
            parquet::open(path, spec)?
        } else {
            open_trace(path, &spec.options).map_err(|e| of_trace(&e))?
        };
        return fit(&*spec.steps.apply(trace).map_err(|e| of_trace(&e))?);
    }
    let catalogue = Catalogue::built_in();
    if catalogue.is_there(name, &spec.traces).map_err(|e| of_trace(&e))? {
        let trace = catalogue.open(name, &spec.traces, &spec.options).map_err(|e| of_trace(&e))?;
        return fit(&*spec.steps.apply(trace).map_err(|e| of_trace(&e))?);
    }
    catalogue.published_profile(name).map_err(|e| of_trace(&e))
}

/// Whether a word names a file rather than something built in.
fn is_path(name: &str) -> bool {
    is_file(name, Path::new(name))
}

/// The same for a word that would name the file `place`: it exists, or the word looks like a file.
/// A folder is not a file, so built-in names take precedence over it. No other name of a folder is
/// meant.
fn is_file(name: &str, place: &Path) -> bool {
    let built_in = || name.contains(':') || Pattern::from_name(name).is_some();
    name.contains(['/', '\\', '.']) || place.exists() && !(place.is_dir() && built_in())
}
