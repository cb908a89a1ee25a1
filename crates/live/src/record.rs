//! The requests of a live drive, as a trace in the text of `blkparse`. Every request has its
//! simulated time in nanoseconds. Its connection is its process, `connection-3` with the number 3,
//! so each can be a flow of its own. Before it stands the hint about the data, `hint 3`, if there is one.
//! The last line is a flush.
//!
//! Two files lie beside it. One is the drive, so `floatgate run REC.toml REC` repeats the run. The
//! other has a line for each action on the control socket.

use crate::store::KnownPages;
use sha2::{Digest, Sha256};
use ssd::kernel::{Time, hexadecimal};
use ssd::workload::{About, Op, ReadOptions, Request, TraceError, Workload, open_trace};
use ssd::{Drive, RunError};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The connection of requests that no client asked for.
pub(crate) const SERVER: u32 = 0;

/// The most bytes of the file of a served drive.
const LARGEST_DRIVE: u64 = 1 << 20;

/// Lines are handed over to the system in pieces of this size.
const PIECE: usize = 1 << 16;

/// The requests so far, kept in files if that was requested.
pub(crate) struct RequestRecording {
    files: Option<Files>,
    /// Lines that were not handed over.
    text: String,
    digest: Sha256,
    lines: u64,
    /// Its unique name.
    name: Option<String>,
}

struct Files {
    trace: File,
    /// Bytes of it: whole lines.
    whole: u64,
    events: File,
    /// Their paths: the trace first.
    paths: [PathBuf; 3],
    /// Something was recorded.
    used: bool,
}

impl Drop for Files {
    /// A recording without requests is removed.
    fn drop(&mut self) {
        if !self.used {
            remove(&self.paths);
        }
    }
}

/// The earlier recording.
pub(crate) struct Earlier(Option<Box<dyn Workload>>);

impl Earlier {
    pub(crate) const NOTHING: Self = Self(None);

    /// How many requests they are.
    pub(crate) fn requests(&self) -> u64 {
        self.0.as_ref().and_then(|trace| trace.about().requests).unwrap_or(0)
    }

    /// Shows every request, in order, batch by batch, as long as `see` has no error.
    pub(crate) fn each_batch(
        &self,
        see: &mut dyn FnMut(&[Request]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        self.0.as_ref().map_or(Ok(()), |trace| trace.each_batch(see))
    }
}

/// Opens a recording as a workload.
fn trace_of(path: &Path) -> Result<Box<dyn Workload>, TraceError> {
    let format = Some("blkparse".parse().expect("it is a format"));
    let time_unit = Some("s".parse().expect("it is a unit"));
    open_trace(path, &ReadOptions { format, time_unit, ..ReadOptions::default() })
}

/// A digest so far, in hexadecimal digits.
fn hex(digest: &Sha256) -> String {
    hexadecimal(&digest.clone().finalize())
}

/// A name that no other recording has.
fn unique() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hexadecimal(&bytes))
}

/// The name of a recording: its first event has it. Those of earlier versions have none.
fn name_in(events: &File) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    BufReader::new(events).take(PIECE as u64).read_until(b'\n', &mut line)?;
    let first: serde_json::Value = serde_json::from_slice(&line).unwrap_or_default();
    Ok(first["recording"].as_str().map(str::to_owned))
}

/// The drive as a file.
fn drive_text(drive: &Drive) -> String {
    toml::to_string(&drive.resolved).expect("a resolved drive is a drive file")
}

/// Removes files that nobody has used.
fn remove(paths: &[PathBuf]) {
    for path in paths {
        let _ = std::fs::remove_file(path);
    }
}

/// A path with an ending added.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(ending);
    name.into()
}

impl RequestRecording {
    /// Of nothing but a digest.
    pub(crate) fn of_none() -> Self {
        Self { files: None, text: String::new(), digest: Sha256::new(), lines: 0, name: None }
    }

    /// Creates the files. Nothing is overwritten, and either all of them exist or none.
    pub(crate) fn create(path: &Path, drive: &Drive) -> Result<Self, (PathBuf, io::Error)> {
        let paths = [path.to_owned(), beside(path, ".toml"), beside(path, ".events")];
        let mut files = Vec::new();
        for place in &paths {
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(place) {
                Ok(file) => files.push(file),
                Err(e) => {
                    remove(&paths[..files.len()]);
                    let there = e.kind() == io::ErrorKind::AlreadyExists;
                    let what = "this is there already, and a recording is never written over";
                    let e = if there { io::Error::new(e.kind(), what) } else { e };
                    return Err((place.clone(), e));
                }
            }
        }
        let [trace, mut of_drive, mut events] = <[File; 3]>::try_from(files).expect("one for each");
        let written =
            of_drive.write_all(drive_text(drive).as_bytes()).and_then(|()| of_drive.sync_all());
        if let Err(e) = written {
            remove(&paths);
            return Err((paths[1].clone(), e));
        }
        let name = unique().and_then(|name| {
            let line = serde_json::json!({ "at_ns": 0, "event": "begin", "recording": name });
            events.write_all(format!("{line}\n").as_bytes())?;
            Ok(name)
        });
        let name = match name {
            Ok(name) => Some(name),
            Err(e) => {
                remove(&paths);
                return Err((paths[2].clone(), e));
            }
        };
        let files = Some(Files { trace, whole: 0, events, paths, used: false });
        Ok(Self { files, name, ..Self::of_none() })
    }

    /// Its unique name, if it is kept in files.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Continues an earlier recording after its last whole line. Its drive must be the same, and it
    /// must be the recording that the store names (`known`).
    pub(crate) fn resume(
        path: &Path,
        drive: &Drive,
        known: Option<KnownPages>,
    ) -> Result<(Self, Earlier), (PathBuf, io::Error)> {
        let paths = [path.to_owned(), beside(path, ".toml"), beside(path, ".events")];
        let fail = |place: &PathBuf, e: io::Error| (place.clone(), e);
        let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        for place in &paths {
            // Opening a pipe in its place would wait.
            let is_file = std::fs::metadata(place).map_err(|e| fail(place, e))?.is_file();
            if !is_file {
                return Err(fail(place, wrong("this is not a regular file".into())));
            }
        }
        let mut served = String::new();
        File::open(&paths[1])
            .and_then(|file| file.take(LARGEST_DRIVE).read_to_string(&mut served))
            .map_err(|e| fail(&paths[1], e))?;
        if served != drive_text(drive) {
            let what = "the drive of the recording is not this one, and its state cannot be found \
                        again; serve the same drive, or record to another file";
            return Err(fail(&paths[1], wrong(what.into())));
        }
        let open = |path: &PathBuf| {
            let file = OpenOptions::new().read(true).append(true).open(path);
            file.map_err(|e| fail(path, e))
        };
        let (trace, events) = (open(&paths[0])?, open(&paths[2])?);
        let fail_trace = |e| fail(&paths[0], e);
        let mut recording = Self::of_none();
        recording.name = name_in(&events).map_err(|e| fail(&paths[2], e))?;
        if let Some(known) = &known
            && known.name != recording.name
        {
            let what = "this is not the recording that the data in the store come from, so the state \
                        of the drive would not fit them. Name the recording of the last server of \
                        this store, or a new file";
            return Err(fail_trace(wrong(what.into())));
        }
        let whole = recording.take_in(&trace).map_err(fail_trace)?;
        if let Some(sha256) = known.and_then(|known| known.sha256)
            && sha256 != hex(&recording.digest)
        {
            let what = "this recording is not what it was when the last server of the store ended, \
                        so it does not lead to the data in the store; name a new file";
            return Err(fail_trace(wrong(what.into())));
        }
        // The last line may have been cut.
        trace.set_len(whole).map_err(fail_trace)?;
        let used = whole > 0;
        recording.files = Some(Files { trace, whole, events, paths: paths.clone(), used });
        let earlier = if used { Some(trace_of(path)) } else { None };
        let earlier = earlier.transpose().map_err(|e| fail_trace(wrong(e.to_string())))?;
        Ok((recording, Earlier(earlier)))
    }

    /// Goes on after the whole lines of an earlier recording, and returns their bytes. Only one
    /// line is in memory at a time, however long the recording is.
    fn take_in(&mut self, trace: &File) -> io::Result<u64> {
        let mut reader = BufReader::with_capacity(PIECE, trace);
        let (mut line, mut whole) = (Vec::new(), 0);
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return Ok(whole);
            }
            whole += line.len() as u64;
            self.lines += 1;
            self.digest.update(&line);
        }
    }

    /// Records a request that arrived at `at` by a connection.
    pub(crate) fn put(&mut self, at: Time, request: &Request, connection: u32) -> io::Result<()> {
        self.lines += 1;
        let (s, ns) = (at.as_ns() / 1_000_000_000, at.as_ns() % 1_000_000_000);
        let (lines, text) = (self.lines, &mut self.text);
        let what = match request.op {
            Op::Read => "R",
            Op::Write => "W",
            Op::WriteFua => "WF",
            Op::Trim => "D",
            Op::Flush => "FN",
        };
        let put = write!(text, "259,0 0 {lines} {s}.{ns:09} {connection} Q {what} ");
        put.expect("a string takes every text");
        if request.has_extent() {
            let (first, sectors) = (request.offset / 512, request.len / 512);
            write!(text, "{first} + {sectors} ").expect("a string takes every text");
        }
        if request.hint > 0 {
            write!(text, "hint {} ", request.hint).expect("a string takes every text");
        }
        match connection {
            SERVER => text.push_str("[server]\n"),
            n => writeln!(text, "[connection-{n}]").expect("a string takes every text"),
        }
        if text.len() >= PIECE { self.hand_over() } else { Ok(()) }
    }

    /// Hands the requests so far over to the system.
    pub(crate) fn hand_over(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        if let Some(files) = &mut self.files {
            files.used = true;
            if let Err(e) = files.trace.write_all(self.text.as_bytes()) {
                // It ends here: the rest is a recording of a part.
                let _ = files.trace.set_len(files.whole);
                self.lines -= self.text.lines().count() as u64;
                self.text.clear();
                return Err(e);
            }
            files.whole += self.text.len() as u64;
        }
        self.digest.update(&self.text);
        self.text.clear();
        Ok(())
    }

    /// Records an action through the control socket.
    pub(crate) fn note(&mut self, at: Time, what: &str) -> io::Result<()> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let line = serde_json::json!({ "at_ns": at.as_ns(), "event": what });
        files.events.write_all(format!("{line}\n").as_bytes())
    }

    /// Ends the recording on the disk. Returns its description for the result.
    pub(crate) fn finish(mut self) -> io::Result<About> {
        self.hand_over()?;
        let mut name = "live".to_owned();
        if let Some(Files { trace, events, paths, .. }) = &self.files {
            trace.sync_all()?;
            events.sync_all()?;
            name = paths[0].file_name().map_or(name, |n| n.to_string_lossy().into_owned());
        }
        let sha256 = hex(&self.digest);
        Ok(About {
            name,
            format: "blkparse".into(),
            sha256: Some(sha256),
            reading: None,
            requests: Some(self.lines),
            span: None,
            timed: true,
            closed: Vec::new(),
            flows: Vec::new(),
            stand_in: None,
            notes: Vec::new(),
        })
    }
}
