//! From what the user names to what the engine takes: drives and workloads, built-in or in files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Map, Value};
use ssd::kernel::Bytes;
use ssd::workload::catalogue::Catalogue;
use ssd::workload::{
    self, Fold, Generator, OutOfRange, Pattern, ReadOptions, Workload, open_trace,
};
use ssd::{Drive, Layers, RunError};

use crate::error::{InputError, WorkloadError, of_drive, of_run, of_trace};
use crate::outside::{Finder, Outside};

/// Larger settings files are mistakes.
const LARGEST: u64 = 1 << 20;

/// The drive called `name`, a preset or a file, under what the command line adds.
pub(crate) fn drive(
    name: &str,
    set: &[String],
    policy: &[String],
    seed: Option<u64>,
    outside: &Arc<Outside>,
) -> PyResult<Drive> {
    let preset = ssd::presets().iter().find(|(preset, _)| *preset == name);
    let text = match preset {
        Some((_, text)) => (*text).to_owned(),
        None if is_path(name) => read(Path::new(name)).map_err(InputError::new_err)?,
        None => {
            let names: Vec<&str> = ssd::presets().iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(InputError::new_err(format!(
                "`{name}` is neither a drive file nor a built-in drive (these are {names})"
            )));
        }
    };
    // What a file inherits from is named as seen from it.
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let library = |wanted: &str| {
        let path = folder.join(wanted);
        let text = is_path(wanted).then(|| read(&path).ok()).flatten()?;
        Some((path.display().to_string(), text))
    };
    let layers = Layers { file: (name, &text), library: &library, set, policy, seed };
    let drive = ssd::config::load_with(&layers, Some(&Finder(Arc::clone(outside))));
    outside.verdict()?;
    drive.map_err(|errors| of_drive(&errors))
}

/// How a trace is to be read, as a dictionary says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    format: Option<String>,
    time_unit: Option<String>,
    columns: Option<String>,
    event: Option<String>,
    devices: Vec<String>,
    process: Option<String>,
    skip_bad: bool,
    traces: Vec<PathBuf>,
}

/// The same, checked.
#[derive(Clone, Debug)]
pub(crate) struct How {
    pub(crate) options: ReadOptions,
    /// Where the files of the catalogue lie.
    pub(crate) traces: Vec<PathBuf>,
}

impl Reading {
    pub(crate) fn checked(self) -> PyResult<How> {
        fn parsed<T: FromStr<Err = String>>(text: Option<String>) -> PyResult<Option<T>> {
            text.map(|t| t.parse()).transpose().map_err(InputError::new_err)
        }
        let options = ReadOptions {
            format: parsed(self.format)?,
            time_unit: parsed(self.time_unit)?,
            columns: parsed(self.columns)?,
            event: parsed(self.event)?,
            devices: self.devices,
            process: self.process,
            skip_bad: self.skip_bad,
        };
        Ok(How { options, traces: self.traces })
    }
}

/// The workload called `name`: a trace, a file of settings for a generator, a trace of the
/// catalogue, or a generator.
pub(crate) fn workload(drive: &Drive, name: &str, how: &How) -> PyResult<Box<dyn Workload>> {
    workload_by(ssd::generator, drive, name, how)
}

/// The same for a look at the workload alone, which need not fit the drive.
pub(crate) fn workload_alone(drive: &Drive, name: &str, how: &How) -> PyResult<Box<dyn Workload>> {
    let workload = workload_by(ssd::generator_alone, drive, name, how)?;
    let shift = drive.workload.shift;
    if shift == 0 {
        return Ok(workload);
    }
    let moved = Fold::new(workload, OutOfRange::Refuse, shift, Bytes::new(u64::MAX));
    Ok(Box::new(moved.map_err(|e| WorkloadError::new_err(e.to_string()))?))
}

/// Makes the generator of a name, as the drive's settings have it.
type Generate = fn(&Drive, &str) -> Result<Box<dyn Workload>, RunError>;

fn workload_by(
    generator: Generate,
    drive: &Drive,
    name: &str,
    how: &How,
) -> PyResult<Box<dyn Workload>> {
    let How { options, traces } = how;
    let path = Path::new(name);
    let settings_file = is_settings(name);
    if is_trace(name) {
        return open_trace(path, options).map_err(|e| of_trace(&e));
    }
    if name.contains(':') && !settings_file {
        return Catalogue::built_in().open(name, traces, options).map_err(|e| of_trace(&e));
    }
    if let Some(said) = options.said() {
        return Err(WorkloadError::new_err(format!(
            "{name}: this is no trace, and `{said}` says how a trace is to be read"
        )));
    }
    if settings_file {
        return set_up_by(generator, drive, path);
    }
    generator(drive, name).map_err(|e| match Catalogue::built_in().meant(name) {
        Some(full) => WorkloadError::new_err(format!("{e}; did you mean the trace `{full}`?")),
        None => of_run(&e),
    })
}

/// Finds what is wrong with the trace in a file without reading it to its end.
pub(crate) fn glance(name: &str, how: &How) -> PyResult<()> {
    workload::glance(Path::new(name), &how.options).map_err(|e| of_trace(&e))
}

/// Whether a workload's name is that of a file with requests.
pub(crate) fn is_trace(name: &str) -> bool {
    is_path(name) && !is_settings(name)
}

fn is_settings(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "toml")
}

/// The drive with the settings of the file that describes its generator, if one does, so that the
/// resolved drive says which requests there are.
pub(crate) fn set_up(mut drive: Drive, workload: &str) -> PyResult<Drive> {
    if is_settings(workload) {
        let (_, merged) = settings(&drive, Path::new(workload))?;
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

/// The generator that a file describes, and its settings; what the drive and the command line say
/// comes on top.
fn settings(drive: &Drive, path: &Path) -> PyResult<(Pattern, Map<String, Value>)> {
    let shown = path.display();
    let fail = |what: String| WorkloadError::new_err(format!("{shown}: {what}"));
    let text = read(path).map_err(WorkloadError::new_err)?;
    let generator: Generator = toml::from_str(&text).map_err(|e| fail(e.to_string()))?;
    let mut merged: Map<String, Value> = toml::from_str(&text).map_err(|e| fail(e.to_string()))?;
    merged.remove("pattern");
    merged.extend(drive.workload.generator.clone());
    Ok((generator.pattern, merged))
}

/// That generator.
fn set_up_by(make: Generate, drive: &Drive, path: &Path) -> PyResult<Box<dyn Workload>> {
    let (pattern, merged) = settings(drive, path)?;
    let mut drive = drive.clone();
    drive.workload.generator = merged;
    make(&drive, pattern.name())
        .map_err(|e| WorkloadError::new_err(format!("{}: {}", path.display(), of_run(&e))))
}

/// Whether a word names a file rather than something built in: it is there, or it looks like one.
fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', '.']) || Path::new(name).exists()
}

/// A whole file of settings.
fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    if path.is_dir() {
        return Err(format!("{shown}: this is a directory; expected a TOML file"));
    }
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text)) {
        Ok(n) if n as u64 > LARGEST => {
            Err(format!("{shown}: this is larger than 1 MiB; expected a TOML file"))
        }
        Ok(_) => Ok(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("{shown}: there is no such file"))
        }
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
            Err(format!("{shown}: this is not text; expected a TOML file"))
        }
        Err(e) => Err(format!("{shown}: it cannot be read ({e})")),
    }
}
