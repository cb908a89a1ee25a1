//! Opens whole files: a regular file of bounded size, and UTF-8 where text is expected.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ssd::workload;

use crate::error::{self, code};

/// The code of an error, and its message.
pub(crate) type UnusableFile = (&'static str, String);

/// Larger settings files are mistakes.
pub(crate) const SETTINGS: u64 = 1 << 20;

/// Every byte of a file that should hold `expected` in at most `most` bytes. Opening a pipe would
/// wait, and a device has no end, so both are refused before they are opened.
pub(crate) fn content(path: &Path, expected: &str, most: u64) -> Result<Vec<u8>, UnusableFile> {
    let shown = path.display();
    let unusable = |why: String| (code::FILE, format!("{shown}: {why}; expected {expected}"));
    let failed = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            let hint = workload::file_hint(path);
            (code::NO_FILE, format!("{shown}: there is no such file; {hint}"))
        }
        io::ErrorKind::InvalidInput => {
            (code::NO_FILE, format!("{shown}: this cannot be the name of a file"))
        }
        _ => (code::FILE, format!("{shown}: this cannot be read ({})", reason(error))),
    };
    let meta = std::fs::metadata(path).map_err(|e| failed(&e))?;
    if meta.is_dir() {
        return Err(unusable("this is a directory".into()));
    }
    if !meta.is_file() {
        return Err(unusable("this is a pipe, a socket or a device".into()));
    }
    let too_large = || unusable(format!("this is larger than {}", size(most)));
    if meta.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let room = bytes.try_reserve_exact(meta.len() as usize);
    room.map_err(|_| (code::MEMORY, format!("{shown}: this does not fit into memory")))?;
    let read = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    match read {
        // It has grown meanwhile.
        Ok(n) if n as u64 > most => Err(too_large()),
        Ok(_) => Ok(bytes),
        Err(e) => Err(failed(&e)),
    }
}

/// The text of a file, without the byte order mark that some editors put first. `lossy`: bytes that
/// are not UTF-8 are replaced, for programs whose files may have comments in any encoding.
pub(crate) fn text(
    path: &Path,
    expected: &str,
    most: u64,
    lossy: bool,
) -> Result<String, UnusableFile> {
    let bytes = content(path, expected, most)?;
    let shown = path.display();
    if let Some(order) = utf_16(&bytes) {
        return Err((
            code::FILE,
            format!(
                "{shown}: this is text in UTF-16; convert it to UTF-8, for example with \
                 `iconv -f {order} -t UTF-8`"
            ),
        ));
    }
    let bytes = match bytes.strip_prefix("\u{feff}".as_bytes()) {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    String::from_utf8(bytes).or_else(|error| {
        if lossy {
            return Ok(String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        let why = format!("{shown}:{line}: this is not text in UTF-8; expected {expected}");
        Err((code::FILE, why))
    })
}

/// The schemas of floatgate's files, and their names in words.
const KINDS: [(&str, &str); 8] = [
    ("drive", "a drive file"),
    ("chip", "a chip file"),
    ("workload", "a workload file"),
    ("stand-in", "the profile of a stand-in"),
    ("experiment", "an experiment file"),
    ("run", "the result of a run"),
    ("comparison", "a list of results"),
    ("store", "the data of a served drive"),
];

/// Settings (TOML) of one of the kinds `ours`, which `expected` names in words. The error for a
/// file of another kind names that kind, instead of calling each of its keys unknown.
pub(crate) fn settings(path: &Path, expected: &str, ours: &[&str]) -> Result<String, UnusableFile> {
    let text = text(path, expected, SETTINGS, false)?;
    let shown = path.display();
    let other =
        |what: String| (code::FILE, format!("{shown}: this is {what}; expected {expected}"));
    match text.trim_start().as_bytes().first() {
        Some(b'<') => {
            let what = "XML, of which `floatgate config convert` reads that of MQSim".to_owned();
            Err(other(what))
        }
        Some(b'{') => Err(other("JSON".to_owned())),
        _ => match schema(&text).and_then(|found| Some((found, kind(found)?))) {
            Some((found, (name, what))) if !ours.contains(&name) => {
                Err(other(format!("{what} (`schema = \"{found}\"`)")))
            }
            _ => Ok(text),
        },
    }
}

/// The schema that a file names before its first table.
fn schema(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let value =
        lines.find_map(|line| line.strip_prefix("schema")?.trim_start().strip_prefix('='))?;
    value.split(['"', '\'']).nth(1)
}

fn kind(schema: &str) -> Option<(&'static str, &'static str)> {
    let name = schema.strip_prefix("floatgate.")?.split('/').next()?;
    KINDS.into_iter().find(|(known, _)| *known == name)
}

/// The byte order of text in UTF-16: that of its mark, or of its first letter, which is ASCII in
/// every file of settings.
fn utf_16(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [1..=0x7f, 0, 1..=0x7f, 0, ..] => Some("UTF-16LE"),
        [0, 1..=0x7f, 0, 1..=0x7f, ..] => Some("UTF-16BE"),
        _ => None,
    }
}

/// Why the system refused, without the number of the error.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b => format!("{b} bytes"),
    }
}

fn input((code, message): UnusableFile) -> PyErr {
    error::input(code, message)
}

/// The same for Python.
#[pyfunction]
#[pyo3(signature = (path, expected, most, lossy = false))]
#[allow(clippy::needless_pass_by_value, reason = "what Python gives")]
pub(crate) fn text_of(path: PathBuf, expected: &str, most: u64, lossy: bool) -> PyResult<String> {
    text(&path, expected, most, lossy).map_err(input)
}

/// The same for Python; `kind` is the word of its schema.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "what Python gives")]
pub(crate) fn settings_of(path: PathBuf, expected: &str, kind: &str) -> PyResult<String> {
    settings(&path, expected, &[kind]).map_err(input)
}

/// The same for Python.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "what Python gives")]
pub(crate) fn content_of<'py>(
    py: Python<'py>,
    path: PathBuf,
    expected: &str,
    most: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &content(&path, expected, most).map_err(input)?))
}
