//! A client of NBD of the tests' own, and a server in a thread.

#![allow(clippy::disallowed_methods, reason = "tests wait for servers")]

use floatgate_live::{Address, Options, Ready, TimePace};
use serde_json::{Value, json};
use ssd::config::{Layers, load, render};
use ssd::workload::{ReadOptions, open_trace};
use ssd::{Drive, NoCache};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Two dies with a plane each, 512 pages of 4 KiB, half of them spare.
const DRIVE: &str = r#"
name = "small"
[geometry]
channels = 2
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 32
pages-per-block = 8
page-size = "4KiB"
bits-per-cell = 1
[timing]
bus = "included"
erase = "3ms"
read = "50us"
program = "600us"
[reliability]
endurance = 1000000000
[ftl]
spare-factor = 0.5
unmapped-read = "zero"
[ftl.gc]
start = 2
stop = 2
[precondition]
fill = "none"
"#;

pub(crate) const PAGE: u64 = 4096;
pub(crate) const SECTOR: u64 = 512;

pub(crate) fn drive(settings: &[&str]) -> Drive {
    let set: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let layers = Layers {
        file: ("small.toml", DRIVE),
        library: &|_| None,
        set: &set,
        policy: &[],
        seed: None,
    };
    load(&layers).unwrap_or_else(|errors| panic!("{}", render(&errors, false)))
}

/// A folder that goes with its owner.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        // Paths of sockets are short.
        let path = std::env::temp_dir().join(format!("fg-live-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server at work.
pub(crate) struct Server {
    pub(crate) folder: Arc<Folder>,
    pub(crate) drive: Drive,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(Value, Value)>>,
}

impl Server {
    /// Serves a drive from memory with the fast clock.
    pub(crate) fn new(drive: &Drive) -> Self {
        Self::with(drive, Arc::new(Folder::new()), None, TimePace::Fast)
    }

    pub(crate) fn with(
        drive: &Drive,
        folder: Arc<Folder>,
        store: Option<PathBuf>,
        pace: TimePace,
    ) -> Self {
        let options = Options {
            address: Address::Unix(folder.path("s")),
            insecure: false,
            control: Some(folder.path("c")),
            store,
            record: Some(folder.path("trace")),
            pace,
        };
        let ready = Ready::new(drive, &options).expect("every place is there");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let of_thread = drive.clone();
        let thread = std::thread::spawn(move || {
            let session =
                ssd::open_session(&of_thread, ssd::Client::BlockDevice, &mut NoCache, &mut |_| {
                    true
                });
            let session = session.expect("it is fit for it");
            let (report, how) = ready.serve(session, &stopped, &mut |_| true).expect("it serves");
            (report.value().clone(), how)
        });
        Self { folder, drive: drive.clone(), stop, thread: Some(thread) }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.folder.path("s"))
    }

    pub(crate) fn raw(&self) -> UnixStream {
        let stream = UnixStream::connect(self.folder.path("s")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    pub(crate) fn control(&self, what: &Value) -> Value {
        let mut stream = UnixStream::connect(self.folder.path("c")).unwrap();
        stream.write_all(format!("{what}\n").as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn cut_power(&self) {
        self.control(&json!({ "do": "power-cut" }));
    }

    /// Ends the server. Returns its result, and the record of its service.
    pub(crate) fn end(mut self) -> (Value, Value) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("it has not ended").join().expect("it ends in order")
    }

    /// The same; a run of the recording gives the same result.
    pub(crate) fn end_and_replay(self) -> Value {
        let (folder, drive) = (Arc::clone(&self.folder), self.drive.clone());
        let (mut live, _) = self.end();
        let mut again = replay(&drive, &folder.path("trace"));
        let digest = |value: &Value| value["provenance"]["workload"]["sha256"].clone();
        assert_eq!(digest(&live), digest(&again));
        for value in [&mut live, &mut again] {
            value["provenance"]["workload"] = Value::Null;
            value["timing"] = Value::Null;
        }
        assert_eq!(live, again);
        live
    }
}

pub(crate) fn replay(drive: &Drive, path: &Path) -> Value {
    let options = ReadOptions { time_unit: Some("s".parse().unwrap()), ..ReadOptions::default() };
    let trace = open_trace(path, &options).unwrap();
    let report = ssd::run(drive, trace, &mut NoCache, &mut |_| true).unwrap();
    report.value().clone()
}

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const DISCONNECT: u16 = 2;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const TRIM: u16 = 4;
pub(crate) const ZEROES: u16 = 6;
pub(crate) const STATUS: u16 = 7;
pub(crate) const FUA: u16 = 1;
pub(crate) const NO_HOLE: u16 = 2;

/// A client after its handshake.
pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    pub(crate) size: u64,
    pub(crate) flags: u16,
    pub(crate) cookie: u64,
}

/// The answer to a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) cookie: u64,
    pub(crate) error: u32,
    pub(crate) data: Vec<u8>,
}

pub(crate) fn option(stream: &mut UnixStream, option: u32, data: &[u8]) {
    let mut out = b"IHAVEOPT".to_vec();
    out.extend(option.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
    stream.write_all(&out).unwrap();
}

pub(crate) fn take<const N: usize>(stream: &mut UnixStream) -> [u8; N] {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).expect("the server answers");
    bytes
}

pub(crate) fn u32_of(stream: &mut UnixStream) -> u32 {
    u32::from_be_bytes(take(stream))
}

/// The replies to an option up to the one that ends them: their kinds and data.
pub(crate) fn answers(stream: &mut UnixStream, to: u32) -> Vec<(u32, Vec<u8>)> {
    let mut all = Vec::new();
    loop {
        assert_eq!(u64::from_be_bytes(take(stream)), 0x0003_e889_0455_65a9);
        assert_eq!(u32_of(stream), to);
        let (kind, len) = (u32_of(stream), u32_of(stream));
        let mut data = vec![0; len as usize];
        stream.read_exact(&mut data).unwrap();
        all.push((kind, data));
        if kind == 1 || kind >> 31 == 1 {
            return all;
        }
    }
}

/// Greets and is greeted.
pub(crate) fn greet(stream: &mut UnixStream) {
    assert_eq!(&take::<16>(stream), b"NBDMAGICIHAVEOPT");
    assert_eq!(u16::from_be_bytes(take(stream)), 3);
    stream.write_all(&3_u32.to_be_bytes()).unwrap();
}

impl Client {
    /// Plain replies.
    pub(crate) fn new(path: &Path) -> Self {
        Self::of(path, "")
    }

    /// The same, of the export of this name.
    pub(crate) fn of(path: &Path, export: &str) -> Self {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        greet(&mut stream);
        let length = (export.len() as u32).to_be_bytes();
        option(&mut stream, 7, &[&length[..], export.as_bytes(), &[0; 2]].concat());
        let told = answers(&mut stream, 7);
        let export = &told.iter().find(|(kind, data)| *kind == 3 && data[1] == 0).unwrap().1;
        let size = u64::from_be_bytes(export[2..10].try_into().unwrap());
        let flags = u16::from_be_bytes(export[10..12].try_into().unwrap());
        Self { stream, size, flags, cookie: 0 }
    }

    /// Sends a command, without waiting for its reply. Returns its cookie.
    pub(crate) fn send(
        &mut self,
        code: u16,
        flags: u16,
        offset: u64,
        len: u64,
        data: &[u8],
    ) -> u64 {
        let out = self.command(code, flags, offset, len, data);
        self.stream.write_all(&out).unwrap();
        self.cookie
    }

    /// A command as bytes; its cookie is the client's last.
    fn command(&mut self, code: u16, flags: u16, offset: u64, len: u64, data: &[u8]) -> Vec<u8> {
        self.cookie += 1;
        let mut out = 0x2560_9513_u32.to_be_bytes().to_vec();
        out.extend(flags.to_be_bytes());
        out.extend(code.to_be_bytes());
        out.extend(self.cookie.to_be_bytes());
        out.extend(offset.to_be_bytes());
        out.extend((len as u32).to_be_bytes());
        out.extend_from_slice(data);
        out
    }

    /// Sends reads of some pages at once, and takes as many replies.
    pub(crate) fn read_batch(&mut self, pages: impl Iterator<Item = u64>) {
        let commands: Vec<_> =
            pages.map(|page| self.command(READ, 0, page * PAGE, PAGE, &[])).collect();
        self.stream.write_all(&commands.concat()).unwrap();
        for _ in &commands {
            assert_eq!(self.take(|_| PAGE as usize).error, 0);
        }
    }

    /// The next reply; a successful one brings `len` bytes.
    pub(crate) fn take(&mut self, len: impl Fn(u64) -> usize) -> Reply {
        assert_eq!(u32_of(&mut self.stream), 0x6744_6698);
        let error = u32_of(&mut self.stream);
        let cookie = u64::from_be_bytes(take(&mut self.stream));
        let mut data = vec![0; if error == 0 { len(cookie) } else { 0 }];
        self.stream.read_exact(&mut data).unwrap();
        Reply { cookie, error, data }
    }

    /// A command and its reply.
    pub(crate) fn ask(
        &mut self,
        code: u16,
        flags: u16,
        offset: u64,
        len: u64,
        data: &[u8],
    ) -> Reply {
        let cookie = self.send(code, flags, offset, len, data);
        let reply = self.take(|_| if code == READ { len as usize } else { 0 });
        assert_eq!(reply.cookie, cookie);
        reply
    }

    pub(crate) fn read(&mut self, offset: u64, len: u64) -> Vec<u8> {
        let reply = self.ask(READ, 0, offset, len, &[]);
        assert_eq!(reply.error, 0, "a read of {len} bytes at {offset}");
        reply.data
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        assert_eq!(self.ask(WRITE, 0, offset, data.len() as u64, data).error, 0);
    }

    pub(crate) fn flush(&mut self) {
        assert_eq!(self.ask(FLUSH, 0, 0, 0, &[]).error, 0);
    }
}
