//! Drives by name: presets, and drive files with the files that they are based on.

use ssd::{Drive, Layers};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Larger settings files are mistakes.
const LARGEST: u64 = 1 << 20;

/// The drive of this name under settings and policies, or every mistake as a message.
pub(crate) fn load(
    name: &str,
    set: &[String],
    policy: &[String],
    seed: Option<u64>,
) -> Result<Drive, String> {
    let preset = ssd::presets().iter().find(|(preset, _)| *preset == name);
    let text = match preset {
        Some((_, text)) => (*text).to_owned(),
        None if is_path(name) => read(Path::new(name))?,
        None => {
            let hint = ssd::kernel::hint(name, ssd::presets().iter().map(|(name, _)| *name));
            return Err(format!("`{name}` is neither a drive file nor a built-in drive; {hint}"));
        }
    };
    // The base of a file is named relative to it.
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let library = |wanted: &str| {
        let path = folder.join(wanted);
        let text = if is_path(wanted) { read(&path).ok() } else { None };
        text.map(|text| (path.display().to_string(), text))
    };
    let layers = Layers { file: (name, &text), library: &library, set, policy, seed };
    let drive = ssd::config::load(&layers);
    let mut drive =
        drive.map_err(|errors| ssd::config::render(&errors, false).trim_end().to_owned())?;
    ssd::BUILD.clone_into(&mut drive.build);
    Ok(drive)
}

/// Whether a name is that of a file.
fn is_path(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|e| e == "toml")
}

fn read(path: &Path) -> Result<String, String> {
    let failed = |why: String| format!("{}: {why}", path.display());
    let mut text = String::new();
    if !path.is_file() {
        return Err(failed("there is no such file; expected a drive file (TOML)".into()));
    }
    let file = File::open(path).map_err(|e| failed(e.to_string()))?;
    let read = file.take(LARGEST + 1).read_to_string(&mut text);
    match read {
        Ok(n) if n as u64 > LARGEST => Err(failed("this is larger than 1 MiB".into())),
        Ok(_) => Ok(text),
        Err(e) => Err(failed(e.to_string())),
    }
}
