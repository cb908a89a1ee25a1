//! A drive that programs can mount: an NBD server around a drive in simulated time.
//!
//! The only crate that knows wall clocks and sockets. [`wire`] is the protocol as a function of
//! bytes. [`DriveData`] has the data: those that survive a loss of power, and those that do not
//! yet. The rest is one loop. Requests are recorded, and `floatgate run` of the recording gives the
//! same result.

#![allow(clippy::disallowed_methods, reason = "this crate is where wall time is read")]

pub mod store;
pub mod wire;

mod clock;
mod control;
mod core;
#[cfg(test)]
mod cuts;
mod habit;
mod listen;
mod record;
mod server;
mod versions;

pub use clock::TimePace;
pub use listen::Address;
pub use versions::DriveData;

use crate::core::Core;
use listen::Listener;
use record::{Earlier, RequestRecording};
use serde_json::Value;
use ssd::{Drive, Report, RunError, Session};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use store::{ByteStore, FileStore, Memory, Tie};
use wire::Export;

/// How a drive is served.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The address for clients.
    pub address: Address,
    /// Addresses beyond loopback are allowed.
    pub insecure: bool,
    /// The path of the control socket. By default it lies beside the socket for clients, or is
    /// `floatgate-PORT.control` in the current folder.
    pub control: Option<PathBuf>,
    /// The file that keeps its data. Without it, memory keeps them.
    pub store: Option<PathBuf>,
    /// The file that keeps the requests.
    pub record: Option<PathBuf>,
    /// How simulated time passes.
    pub pace: TimePace,
}

/// The progress of a server; done requests are those that came again, or that it served.
pub type Progress = ssd::Progress<Stage>;

/// The activity of a server.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It replays the requests of an earlier server.
    Recovering,
    /// Clients can connect.
    Serving,
}

/// Why a drive is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A named file or socket cannot be used.
    #[error("{}: {}", path.display(), listen::said(source))]
    Place {
        /// The name that was given.
        path: PathBuf,
        /// The message of the system.
        source: io::Error,
    },
    /// The server cannot listen at the address.
    #[error("{address}: {}", listen::said(source))]
    Address {
        /// The name that was given.
        address: String,
        /// The message of the system.
        source: io::Error,
    },
    /// The drive does not go with it.
    #[error("{0}")]
    Drive(#[from] RunError),
    /// The loop could not go on.
    #[error("the sockets cannot be waited for ({0})")]
    Socket(io::Error),
}

/// A store that was just created. It is removed unless a drive is served from it.
struct NewStore(Option<PathBuf>);

impl Drop for NewStore {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A server that has all its files and sockets, but no drive yet.
pub struct Ready {
    listener: Listener,
    control: Listener,
    store: Box<dyn ByteStore>,
    /// The recording that the store's file names.
    tie: Option<Tie>,
    new_store: NewStore,
    recording: RequestRecording,
    /// The requests of an earlier server of the store.
    earlier: Earlier,
    options: Options,
}

impl Ready {
    /// Opens every file and socket that `options` name, or none.
    pub fn new(drive: &Drive, options: &Options) -> Result<Self, ServeError> {
        let place = |path: &PathBuf, source| ServeError::Place { path: path.clone(), source };
        let listener = match &options.address {
            Address::Unix(path) => Listener::unix(path).map_err(|e| place(path, e))?,
            Address::Tcp(address) => Listener::tcp(address, options.insecure)
                .map_err(|source| ServeError::Address { address: address.clone(), source })?,
        };
        let control = options.control.clone().unwrap_or_else(|| listener.beside());
        let control = Listener::unix(&control).map_err(|e| place(&control, e))?;
        let size = ssd::capacity(drive).get();
        let mut reopened = false;
        let (mut tie, mut new_store) = (None, NewStore(None));
        let store: Box<dyn ByteStore> = match &options.store {
            Some(path) => {
                let (store, of_file, there) =
                    FileStore::open(path, size).map_err(|e| place(path, e))?;
                (tie, reopened) = (Some(of_file), there);
                new_store.0 = (!there).then(|| path.clone());
                Box::new(store)
            }
            None => Box::<Memory>::default(),
        };
        let (recording, earlier) = match &options.record {
            Some(path) if reopened && path.exists() => {
                RequestRecording::resume(path, drive, tie.as_ref().and_then(Tie::known))
            }
            Some(path) => RequestRecording::create(path, drive).map(|new| (new, Earlier::NOTHING)),
            None => Ok((RequestRecording::of_none(), Earlier::NOTHING)),
        }
        .map_err(|(path, source)| ServeError::Place { path, source })?;
        let options = options.clone();
        Ok(Self { listener, control, store, tie, new_store, recording, earlier, options })
    }

    /// How clients name the server.
    pub fn uri(&self) -> String {
        self.listener.uri()
    }

    /// The path of its control socket.
    pub fn control(&self) -> &Path {
        self.control.path().expect("it is a Unix socket")
    }

    /// Serves a drive until `stop` is set, or until `report` answers `false`. `report` is called
    /// now and then with the progress. Returns the result of the run, and the facts of its service.
    ///
    /// # Errors
    /// The sockets cannot be waited for, or it was stopped before it found its state again.
    pub fn serve(
        mut self,
        session: Session,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(Report, Value), ServeError> {
        self.new_store.0 = None;
        let drive = session.drive();
        let page = drive.geometry.page_size().get();
        let export = Export {
            name: drive.name.clone(),
            description: drive.summary.clone(),
            size: ssd::capacity(drive).get(),
            sector: drive.host.sector.get() as u32,
            preferred: page.max(drive.host.sector.get()) as u32,
        };
        let versions = DriveData::new(self.store, page);
        let recorded = self.recording.name().map(str::to_owned);
        let mut core = Core::new(session, versions, self.recording);
        let total = Some(self.earlier.requests());
        let recovered = core.recover(&self.earlier, &mut |done, now| {
            let wanted = report(Progress { stage: Stage::Recovering, done, total, now });
            wanted && !stop.load(Ordering::Relaxed)
        })?;
        // From here on the data change: only this recording leads to them.
        let of_store = |path: &Option<PathBuf>, source| {
            let path = path.clone().expect("a store with a tie is a file");
            ServeError::Place { path, source }
        };
        let fail = |source| of_store(&self.options.store, source);
        if let Some(tie) = &self.tie {
            tie.put(recorded.as_deref(), None).map_err(fail)?;
        }
        let pace = self.options.pace;
        let server = server::NbdServer::new(core, export, pace, self.listener, self.control, stop);
        let (report, mut how) = server.run(report)?;
        if let Some(tie) = &self.tie {
            // A recording that ended before the run does not lead to the data.
            let name = recorded.as_deref().filter(|_| how["recording_error"].is_null());
            let digest = report.value()["provenance"]["workload"]["sha256"].as_str();
            tie.put(name, name.and(digest)).map_err(fail)?;
        }
        how["recovered_requests"] = recovered.into();
        Ok((report, how))
    }
}
