//! Power lost at every event of a small scenario: after each command that comes and each instant at which
//! something happens in the drive. Each sector must be its last version that had to survive, or a later one.

use crate::core::{Core, Who};
use crate::record::RequestRecording;
use crate::store::{ByteStore, Memory};
use crate::versions::DriveData;
use crate::wire::{CommandKind, NbdCommand};
use ssd::Drive;
use ssd::kernel::Rng;
use std::collections::BTreeMap;
use std::io;

const PAGE: u64 = 4096;
const SECTOR: u64 = 512;
/// Pages that are written.
const PAGES: u64 = 24;
const SECTORS: usize = (PAGES * PAGE / SECTOR) as usize;
const COMMANDS: u64 = 240;
/// Commands inside at once.
const DEPTH: usize = 6;

/// Two dies, so small that they collect soon.
const DRIVE: &str = r#"
name = "cut"
[geometry]
channels = 2
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 8
pages-per-block = 8
page-size = "4KiB"
bits-per-cell = 1
[timing]
bus = "included"
erase = "3ms"
read = "50us"
program = "600us"
[reliability]
endurance = 1000000
[ftl]
spare-factor = 0.75
unmapped-read = "zero"
[ftl.gc]
start = 2
stop = 2
[precondition]
fill = "none"
"#;

const VOLATILE: &str = "buffer.power-loss-protected=false";

/// Drives, and whether acknowledged data is safe there.
const DRIVES: [(&str, &[&str], bool); 7] = [
    ("no buffer", &[], true),
    (
        "cached",
        &[
            "geometry.bits-per-cell=2",
            "geometry.blocks-per-plane=24",
            "slc={ read = \"25us\", program = \"150us\" }",
            "policies.slc-cache={ name = \"static\", size = \"64KiB\" }",
        ],
        true,
    ),
    ("protected", &["buffer.size=32KiB", "buffer.flush-above=0.5"], true),
    ("volatile", &["buffer.size=32KiB", "buffer.flush-above=0.5", VOLATILE], false),
    ("volatile, with a slow port", &["buffer.size=64KiB", "buffer.latency=70us", VOLATILE], false),
    ("write-through", &["buffer.size=32KiB", "buffer.kind=write-through", VOLATILE], true),
    (
        "volatile, in units",
        &["buffer.size=64KiB", VOLATILE, UNITS[0], UNITS[1], UNITS[2], UNITS[3]],
        false,
    ),
];
const UNITS: [&str; 4] = [
    "geometry.page-size=16KiB",
    "ftl.mapping-unit=4KiB",
    "geometry.pages-per-block=2",
    "geometry.blocks-per-plane=16",
];

fn drive(settings: &[&str]) -> Drive {
    let set: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let layers = ssd::config::Layers {
        file: ("cut.toml", DRIVE),
        library: &|_| None,
        set: &set,
        policy: &[],
        seed: None,
    };
    ssd::config::load(&layers)
        .unwrap_or_else(|errors| panic!("{}", ssd::config::render(&errors, false)))
}

/// A planted fault of the drive or its client that a cut has to find.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// The store loses each write whose number is a multiple of this.
    LostWrite(u64),
    /// A flush is answered and does nothing.
    NoFlush,
    /// A write that must survive is treated as one that need not.
    NoFua,
}

/// A store that may lose its data.
struct Lossy {
    pages: Memory,
    writes: u64,
    every: Option<u64>,
}

impl ByteStore for Lossy {
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.pages.read(offset, into)
    }
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.writes += 1;
        if self.every.is_some_and(|every| self.writes.is_multiple_of(every)) {
            return Ok(());
        }
        self.pages.write(offset, data)
    }
    fn zero(&mut self, offset: u64, len: u64) -> io::Result<()> {
        self.pages.zero(offset, len)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.pages.sync()
    }
    fn extent(&self, offset: u64, end: u64) -> (u64, bool) {
        self.pages.extent(offset, end)
    }
}

/// The possible contents of one sector: its versions in the order in which they were sent; 0 is nothing.
struct History {
    versions: Vec<u64>,
    /// The last of these that must have survived, and the last that was answered.
    safe: usize,
    answered: usize,
}

/// A command on its way. It has the versions that it brings (as sector and place in its history)
/// and whether they are safe once it is answered. A flush has the commands that were answered when
/// it was sent.
#[derive(Default)]
struct Sent {
    brings: Vec<(usize, usize)>,
    forced: bool,
    covers: Vec<usize>,
}

/// A client that remembers its writes, and the drive.
struct Scenario {
    core: Core,
    fault: Fault,
    rng: Rng,
    sectors: Vec<History>,
    version: u64,
    sent: u64,
    inside: BTreeMap<u64, Sent>,
}

fn stamp(version: u64) -> Vec<u8> {
    version.to_le_bytes().repeat(SECTOR as usize / 8)
}

impl Scenario {
    fn new(drive: &Drive, fault: Fault) -> Self {
        let session =
            ssd::open_session(drive, ssd::Client::BlockDevice, &mut ssd::NoCache, &mut |_| true)
                .expect("the drive is fit for it");
        let every = if let Fault::LostWrite(every) = fault { Some(every) } else { None };
        let store = Lossy { pages: Memory::default(), writes: 0, every };
        let versions = DriveData::new(Box::new(store), PAGE);
        let one = || History { versions: vec![0], safe: 0, answered: 0 };
        Self {
            core: Core::new(session, versions, RequestRecording::of_none()),
            fault,
            rng: Rng::named(1, "test/cuts"),
            sectors: (0..SECTORS).map(|_| one()).collect(),
            version: 0,
            sent: 0,
            inside: BTreeMap::new(),
        }
    }

    fn begin(&mut self, kind: CommandKind, first: usize, len: usize, fua: bool, data: Vec<u8>) {
        let fua = fua && self.fault != Fault::NoFua;
        let kind = match kind {
            CommandKind::Flush if self.fault == Fault::NoFlush => CommandKind::Status { one: true },
            other => other,
        };
        let (offset, len) = (first as u64 * SECTOR, (len as u64 * SECTOR) as u32);
        let command = NbdCommand { cookie: self.sent, kind, offset, len, fua, data };
        self.core.begin(Who { key: 0, number: 1, hint: 0 }, command);
    }

    /// The next command comes.
    fn send(&mut self) {
        self.sent += 1;
        let kind = self.rng.below(16);
        if kind < 2 {
            let covers = self.sectors.iter().map(|s| s.answered).collect();
            self.inside.insert(self.sent, Sent { covers, ..Sent::default() });
            return self.begin(CommandKind::Flush, 0, 0, false, Vec::new());
        }
        let len = 1 + self.rng.below(16) as usize;
        let first = self.rng.below((SECTORS - len) as u32) as usize;
        // Most writes of a file system are aligned.
        let aligned = (first / 8 * 8, len.next_multiple_of(8).min(SECTORS - first / 8 * 8));
        let (first, len) = if kind < 12 { aligned } else { (first, len) };
        let forced = self.rng.below(6) == 0;
        let (kind, writes) = match kind {
            2 => (CommandKind::Trim, false),
            3 => (CommandKind::Zero { no_hole: true }, false),
            _ => (CommandKind::Write, true),
        };
        let (mut data, mut brings) = (Vec::new(), Vec::new());
        for sector in first..first + len {
            self.version += 1;
            let version = if writes { self.version } else { 0 };
            data.extend(stamp(version));
            self.sectors[sector].versions.push(version);
            brings.push((sector, self.sectors[sector].versions.len() - 1));
        }
        self.inside.insert(self.sent, Sent { brings, forced, ..Sent::default() });
        self.begin(kind, first, len, forced, if writes { data } else { Vec::new() });
    }

    /// Takes the answers.
    fn collect(&mut self) {
        while let Some(done) = self.core.finished.pop_front() {
            assert_eq!(done.outcome, Ok(()));
            let sent = self.inside.remove(&done.command.cookie).expect("it was sent");
            for &(sector, at) in &sent.brings {
                let history = &mut self.sectors[sector];
                history.answered = history.answered.max(at);
                if sent.forced {
                    history.safe = history.safe.max(at);
                }
            }
            for (history, at) in self.sectors.iter_mut().zip(&sent.covers) {
                history.safe = history.safe.max(*at);
            }
        }
    }

    /// Takes one step: a command comes, or the next event of the drive. Returns whether there was
    /// one.
    fn step(&mut self) -> bool {
        if self.inside.len() < DEPTH && self.sent < COMMANDS {
            self.send();
        } else if self.core.is_busy() {
            let next = self.core.session().sim().next_at();
            assert!(next.is_some(), "commands are inside, and nothing happens any more");
            self.core.advance(next);
        } else {
            return false;
        }
        self.collect();
        true
    }

    fn read(&self) -> Vec<u8> {
        let mut data = vec![0; SECTORS * SECTOR as usize];
        self.core.versions.read(0, &mut data).expect("memory is read");
        data
    }

    /// The power fails: every sector holds an allowed version, and the drive goes on.
    fn cut(mut self, keeps_answered: bool) -> Result<(), String> {
        self.core.cut_power();
        for (sector, data) in self.read().chunks(SECTOR as usize).enumerate() {
            let found = u64::from_le_bytes(data[..8].try_into().expect("eight bytes"));
            if data != stamp(found) {
                return Err(format!("sector {sector} is of two versions"));
            }
            let history = &self.sectors[sector];
            let least = if keeps_answered { history.answered } else { history.safe };
            if !history.versions[least..].contains(&found) {
                return Err(format!(
                    "sector {sector} holds version {found}; sent were {:?}, of which number {least} \
                     must have survived",
                    history.versions
                ));
            }
        }
        if self.fault == Fault::None {
            let page = stamp(u64::MAX).repeat(8);
            self.begin(CommandKind::Write, 8, 8, true, page.clone());
            while self.core.finished.is_empty() {
                self.core.advance(None);
            }
            self.core.cut_power();
            assert_eq!(self.read()[PAGE as usize..2 * PAGE as usize], page);
        }
        Ok(())
    }
}

/// Cuts the power after each step of a scenario. Returns the number of cuts, and the first error
/// that one found.
fn cut_everywhere(settings: &[&str], keeps_answered: bool, fault: Fault) -> (u64, Option<String>) {
    let drive = drive(settings);
    let mut whole = Scenario::new(&drive, fault);
    let mut steps = 0;
    while whole.step() {
        steps += 1;
    }
    if fault == Fault::None {
        let counts = whole.core.session().sim().ftl().counts();
        println!("{settings:?}: {steps} cuts, {} erases", counts.erase.total());
        assert!(counts.erase.total() > 5, "there was collection");
    }
    for upto in 0..=steps {
        let mut scenario = Scenario::new(&drive, fault);
        (0..upto).for_each(|_| assert!(scenario.step()));
        if let Err(what) = scenario.cut(keeps_answered) {
            return (steps, Some(format!("cut {upto}: {what}")));
        }
    }
    (steps, None)
}

#[test]
fn power_may_fail_at_every_event() {
    let mut cuts = 0;
    for (name, settings, keeps_answered) in DRIVES {
        let (steps, found) = cut_everywhere(settings, keeps_answered, Fault::None);
        assert_eq!(found, None, "{name}");
        cuts += steps + 1;
    }
    println!("{cuts} cuts");
    assert!(cuts > 3000);
}

/// A cut finds each fault that is planted, and a buffer that does not keep its promise.
#[test]
fn a_planted_fault_is_found() {
    for (name, settings, keeps_answered) in DRIVES {
        let (_, found) = cut_everywhere(settings, keeps_answered, Fault::LostWrite(20));
        println!("{name}: {}", found.expect("writes were lost"));
        if !keeps_answered {
            for (fault, promised) in
                [(Fault::NoFlush, false), (Fault::NoFua, false), (Fault::None, true)]
            {
                let (_, found) = cut_everywhere(settings, promised, fault);
                println!("{name}, {fault:?}: {}", found.expect("acknowledged data was lost"));
            }
        }
    }
}
