//! Power cuts under a client that remembers its writes: each sector is its last version that was
//! made safe, or a later one.

use crate::common::{
    Client, FLUSH, FUA, Folder, PAGE, READ, SECTOR, Server, TRIM, WRITE, ZEROES, drive,
};
use floatgate_live::TimePace;
use kernel::Rng;
use ssd::Drive;
use ssd::kernel;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Cuts for each drive.
const CUTS: usize = if cfg!(feature = "verify") { 250 } else { 12 };
/// Pages that are written.
const PAGES: u64 = 48;
const SECTORS: usize = (PAGES * PAGE / SECTOR) as usize;

/// The allowed contents of one sector: its versions in the order in which they were sent; 0 is
/// nothing.
struct History {
    versions: Vec<u64>,
    /// Of these the last that must have survived, and the last that was answered.
    safe: usize,
    answered: usize,
}

/// A command on its way: the versions that it brings, as sector and place in its history.
struct Sent {
    flags: u16,
    brings: Vec<(usize, usize)>,
    /// Of a flush: the writes answered before it was sent.
    covers: Vec<usize>,
}

#[derive(Default)]
struct Tally {
    /// Sectors that lost a version that was answered, or one that was not.
    lost_answered: u64,
    lost_sent: u64,
    /// Sectors that had a newer version than they had to.
    newer: u64,
}

struct Writer {
    rng: Rng,
    sectors: Vec<History>,
    version: u64,
    tally: Tally,
}

fn stamp(version: u64) -> Vec<u8> {
    version.to_le_bytes().repeat(SECTOR as usize / 8)
}

impl Writer {
    fn new(seed: u64) -> Self {
        let one = || History { versions: vec![0], safe: 0, answered: 0 };
        Self {
            rng: Rng::named(seed, "writer"),
            sectors: (0..SECTORS).map(|_| one()).collect(),
            version: 0,
            tally: Tally::default(),
        }
    }

    /// Sends something. Returns its cookie and its kind.
    fn send(&mut self, client: &mut Client) -> (u64, Sent) {
        let kind = self.rng.below(16);
        if kind == 0 {
            let covers = self.sectors.iter().map(|s| s.answered).collect();
            let cookie = client.send(FLUSH, 0, 0, 0, &[]);
            return (cookie, Sent { flags: 0, brings: Vec::new(), covers });
        }
        let len = 1 + self.rng.below(24) as usize;
        let first = self.rng.below((SECTORS - len) as u32) as usize;
        // Most writes of a file system are aligned.
        let (first, len) =
            if kind < 12 { (first / 8 * 8, len.div_ceil(8) * 8) } else { (first, len) };
        let len = len.min(SECTORS - first);
        let flags = if self.rng.below(8) == 0 { FUA } else { 0 };
        let code = if kind == 1 {
            TRIM
        } else if kind == 2 {
            ZEROES
        } else {
            WRITE
        };
        let mut data = Vec::new();
        let mut brings = Vec::new();
        for sector in first..first + len {
            self.version += 1;
            let version = if code == WRITE { self.version } else { 0 };
            data.extend(stamp(version));
            self.sectors[sector].versions.push(version);
            brings.push((sector, self.sectors[sector].versions.len() - 1));
        }
        let data: &[u8] = if code == WRITE { &data } else { &[] };
        let cookie = client.send(code, flags, first as u64 * SECTOR, len as u64 * SECTOR, data);
        (cookie, Sent { flags, brings, covers: Vec::new() })
    }

    fn answered(&mut self, sent: &Sent) {
        for &(sector, at) in &sent.brings {
            let history = &mut self.sectors[sector];
            history.answered = history.answered.max(at);
            if sent.flags & FUA != 0 {
                history.safe = history.safe.max(at);
            }
        }
        for (history, at) in self.sectors.iter_mut().zip(&sent.covers) {
            history.safe = history.safe.max(*at);
        }
    }

    /// Keeps up to eight commands inside for a while, and leaves some there.
    fn work(&mut self, client: &mut Client) {
        let mut inside: BTreeMap<u64, Sent> = BTreeMap::new();
        let mut left = 20 + self.rng.below(60);
        while left > 0 {
            while inside.len() < 8 {
                let (cookie, sent) = self.send(client);
                inside.insert(cookie, sent);
            }
            let reply = client.take(|_| 0);
            assert_eq!(reply.error, 0);
            let sent = inside.remove(&reply.cookie).expect("it was sent");
            self.answered(&sent);
            left -= 1;
        }
    }

    /// Every sector holds an allowed version; from now on that version is the safe one.
    fn check(&mut self, client: &mut Client, keeps_answered: bool, name: &str) {
        let data = client.read(0, SECTORS as u64 * SECTOR);
        for (sector, data) in data.chunks(SECTOR as usize).enumerate() {
            let found = u64::from_le_bytes(data[..8].try_into().unwrap());
            assert_eq!(data, stamp(found), "{name}: sector {sector} is of one version");
            let history = &self.sectors[sector];
            let least = if keeps_answered { history.answered } else { history.safe };
            let allowed = &history.versions[least..];
            let at = allowed.iter().rposition(|version| *version == found);
            let Some(at) = at.map(|at| at + least) else {
                panic!(
                    "{name}: sector {sector} holds version {found}; sent were {:?}, of which number \
                     {least} must have survived",
                    history.versions
                );
            };
            self.tally.lost_answered += u64::from(at < history.answered);
            self.tally.lost_sent += u64::from(at + 1 < history.versions.len());
            self.tally.newer += u64::from(at > history.safe);
            self.sectors[sector] = History { versions: vec![found], safe: 0, answered: 0 };
        }
    }
}

/// Drives, and whether answered writes are safe there.
fn drives() -> [(&'static str, Drive, bool); 5] {
    let volatile = "buffer.power-loss-protected=false";
    let buffered = ["buffer.size=64KiB", "buffer.flush-above=0.5"];
    let grouped = [
        "geometry.page-size=16KiB",
        "ftl.mapping-unit=4KiB",
        "ftl.spare-factor=0.8",
        "buffer.size=128KiB",
        volatile,
    ];
    // Data is folded while power fails, and read from blocks of either mode afterwards.
    let cached = [
        "geometry.bits-per-cell=2",
        "slc={ read = \"25us\", program = \"150us\" }",
        "policies.slc-cache={ name = \"hybrid\", static = \"32KiB\", size = \"64KiB\" }",
        buffered[0],
        buffered[1],
        volatile,
    ];
    [
        ("no buffer", drive(&[]), true),
        ("volatile, cached", drive(&cached), false),
        ("protected", drive(&buffered), true),
        ("volatile", drive(&[buffered[0], buffered[1], volatile]), false),
        ("volatile, grouped", drive(&grouped), false),
    ]
}

#[test]
fn every_sector_is_its_last_safe_version_or_a_later_one() {
    for (seed, (name, drive, keeps_answered)) in drives().into_iter().enumerate() {
        let server = Server::new(&drive);
        let mut writer = Writer::new(seed as u64);
        for _ in 0..CUTS {
            let mut client = server.client();
            writer.work(&mut client);
            server.cut_power();
            writer.check(&mut server.client(), keeps_answered, name);
        }
        let Tally { lost_answered, lost_sent, newer } = writer.tally;
        // Cuts came when they could do harm, and volatile buffers did lose data.
        assert!(lost_sent > 0, "{name}: no write was under way");
        assert!(keeps_answered || lost_answered > 0, "{name}: nothing was lost");
        assert!(newer > 0, "{name}: what was programmed is not taken back");
        // The replay includes the cuts.
        let result = server.end_and_replay();
        assert!(result["host"]["flush"]["requests"].as_u64() >= Some(CUTS as u64));
    }
}

#[test]
fn an_orderly_end_keeps_everything_and_a_reopened_store_has_it() {
    let drive = drive(&["buffer.size=64KiB", "buffer.power-loss-protected=false"]);
    let folder = Arc::new(Folder::new());
    let mut written: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for round in 0..3_u64 {
        let store = Some(folder.path("store"));
        let server = Server::with(&drive, Arc::clone(&folder), store, TimePace::Fast);
        let mut client = server.client();
        for (page, data) in &written {
            assert_eq!(&client.read(page * PAGE, PAGE), data, "round {round}, page {page}");
        }
        for page in (round..PAGES).step_by(3) {
            let data = stamp(round << 32 | page).repeat(8);
            client.write(page * PAGE, &data);
            written.insert(page, data);
        }
        assert_eq!(client.ask(READ, 0, round * PAGE, PAGE, &[]).data, written[&round]);
        // The recording goes on where it ended: all rounds are one run.
        let writes = server.end_and_replay()["host"]["write"]["requests"].as_u64();
        assert_eq!(writes, Some(written.len() as u64));
    }
}

/// Several connections are one drive: a flush on any of them covers the writes answered on all.
#[test]
fn a_flush_covers_what_was_answered_on_other_connections() {
    let drive = drive(&["buffer.size=64KiB", "buffer.power-loss-protected=false"]);
    let server = Server::new(&drive);
    for flushed in [true, false] {
        let (mut writer, mut other) = (server.client(), server.client());
        writer.write(0, &[1 + u8::from(flushed); PAGE as usize]);
        if flushed {
            other.flush();
        }
        server.cut_power();
        // The first write survives either way, and the one that was not flushed does not.
        assert_eq!(server.client().read(0, PAGE), [2; PAGE as usize], "flushed: {flushed}");
    }
    server.end_and_replay();
}
