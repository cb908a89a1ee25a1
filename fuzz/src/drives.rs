//! Drive files, with settings of the command line on top.

use ssd::config::{Layers, load, render};

/// The first byte chooses: a file; or a preset, on which every line is a `--set` or, after a `!`, a
/// `--policy`.
pub(crate) fn read(bytes: &[u8]) -> bool {
    let (first, bytes) = crate::choice(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let presets = ssd::presets();
    let Some(preset) = first.checked_sub(1) else {
        return drive(("some.toml", text), &[], &[]);
    };
    let lines = || text.lines().map(str::to_owned);
    let set: Vec<String> = lines().filter(|l| !l.starts_with('!')).collect();
    let policy: Vec<String> = lines().filter_map(|l| l.strip_prefix('!').map(Into::into)).collect();
    drive(presets[preset % presets.len()], &set, &policy)
}

fn drive(file: (&str, &str), set: &[String], policy: &[String]) -> bool {
    let library = &|_: &str| None;
    match load(&Layers { file, library, set, policy, seed: None }) {
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            assert!(!render(&errors, false).is_empty(), "an error without words");
            false
        }
        Ok(drive) => {
            // The configuration in a result is a drive file, and describes this drive.
            let written = toml::to_string(&drive.resolved).expect("a resolved drive is plain");
            let file = ("resolved.toml", written.as_str());
            let again = load(&Layers { file, library, set: &[], policy: &[], seed: None });
            let again = again.unwrap_or_else(|e| panic!("{}\n{written}", render(&e, false)));
            assert_eq!(again.resolved, drive.resolved);
            true
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let whole = ssd::presets().iter().map(|(_, text)| [&[0], text.as_bytes()].concat());
    let settings = [
        "geometry.channels=2\nftl.spare-factor=0.2\n",
        "timing.bus={ rate = \"333MT/s\", width-bits = 8, command = \"300ns\" }\n",
        "host.mode=queue-depth\nhost.queue-depth=4\nrun.seed=7\n!cost=agcr:window=2\n",
        "precondition.fill=full\nprecondition.age=random\n!victim=d-choices:d=3\n!wear=static\n",
        "reliability.model=on\nreliability.endurance=3000\n!read-disturb=refresh:limit=60\n",
        "ftl.gc.start=3\nftl.gc.stop=5\nftl.gc.background-stop=6\nbuffer.size=64KiB\n",
    ];
    let own =
        settings.iter().enumerate().map(|(i, text)| [&[i as u8 + 1], text.as_bytes()].concat());
    whole.chain(own).collect()
}
