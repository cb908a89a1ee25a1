//! Small files in the published formats, under the published names.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::catalogue::{Catalogue, Presence, Shelf};
use crate::trace::drain;
use crate::{Op, ReadOptions, Request, TraceError, Workload};

/// A folder of its own, gone afterwards.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("floatgate-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn write_gz(&self, name: &str, content: &str) {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(content.as_bytes()).unwrap();
        self.write(name, gz.finish().unwrap());
    }

    fn open(&self, name: &str) -> Result<Box<dyn Workload>, TraceError> {
        open(name, &[&self.0])
    }

    fn refused(&self, name: &str, words: &[&str]) {
        let message = self.open(name).err().unwrap_or_else(|| panic!("{name}: opens")).to_string();
        for word in words {
            assert!(message.contains(word), "{name}: {word} is not in: {message}");
        }
    }

    fn presence(&self, name: &str) -> Presence {
        let catalogue = Catalogue::built_in();
        let shelf = Shelf::look(std::slice::from_ref(&self.0)).unwrap();
        shelf.presence(&catalogue, catalogue.get(name).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(name: &str, folders: &[&Path]) -> Result<Box<dyn Workload>, TraceError> {
    let folders: Vec<PathBuf> = folders.iter().map(|f| f.to_path_buf()).collect();
    Catalogue::built_in().open(name, &folders, &ReadOptions::default())
}

fn requests(workload: &dyn Workload) -> Vec<Request> {
    drain(&mut *workload.open().unwrap()).unwrap()
}

/// As `(ns, byte, length, read)`.
pub(super) fn short(workload: &dyn Workload) -> Vec<(u64, u64, u32, bool)> {
    let all = requests(workload);
    all.iter().map(|r| (r.at.as_ns(), r.offset, r.len, r.op == Op::Read)).collect()
}

/// A line of an MSR file: 100 ns ticks from a time in the traced week.
pub(super) fn msr(host: &str, disk: u32, ticks: u64, read: bool, offset: u64, len: u32) -> String {
    let kind = if read { "Read" } else { "Write" };
    format!("{},{host},{disk},{kind},{offset},{len},1000\n", 128_166_372_000_000_000 + ticks)
}

#[test]
fn a_volume_is_found_in_its_archives_folder_and_bears_its_name() {
    let folder = Folder::new("volume");
    let text = msr("hm", 0, 50, true, 8192, 4096) + &msr("hm", 0, 80, false, 0, 512);
    folder.write_gz("snia/MSR-Cambridge/hm_0.csv.gz", &text);
    folder.write("snia/MSR-Cambridge/README.txt", "36 traces\n");
    let trace = folder.open("msr:hm_0").unwrap();
    assert_eq!(short(&*trace), [(0, 8192, 4096, true), (3000, 0, 512, false)]);
    let about = trace.about();
    assert_eq!((about.name.as_str(), about.format.as_str()), ("msr:hm_0", "msr"));
    assert_eq!(about.sha256.as_ref().map(String::len), Some(64));
    // Two requests are not the published four million.
    assert!(
        about.notes.iter().any(|n| n == "excerpt: 2 of 3,993,316 requests"),
        "{:?}",
        about.notes
    );
    assert!(matches!(folder.presence("msr:hm_0"), Presence::There(files) if files.len() == 1));
    assert_eq!(folder.presence("msr:hm_1"), Presence::Missing);
}

#[test]
fn a_whole_server_is_its_volumes_by_the_time_that_all_share() {
    let folder = Folder::new("server");
    // Volume 1 starts before volume 0, whose addresses end at 3 MiB and 512 bytes.
    let mib = 1 << 20;
    let one = msr("mds", 0, 200, true, 3 * mib, 512) + &msr("mds", 0, 400, false, 0, 4096);
    let two = msr("mds", 1, 100, false, 4096, 512) + &msr("mds", 1, 400, true, 0, 8192);
    folder.write("mds_0.csv", one);
    folder.refused("msr:mds", &["msr:mds_1", "missing", "msr-cambridge1.tar"]);
    folder.write_gz("deeper/mds_1.csv.gz", &two);
    let server = folder.open("msr:mds").unwrap();
    let want = [
        (0, 4 * mib + 4096, 512, false),
        (10_000, 3 * mib, 512, true),
        (30_000, 0, 4096, false),
        (30_000, 4 * mib, 8192, true),
    ];
    assert_eq!(short(&*server), want);
    assert_eq!(server.about().name, "msr:mds");
    assert_eq!(server.about().span, Some(4 * mib + 8192));
    assert!(server.about().sha256.is_some());
}

#[test]
fn files_of_one_trace_follow_each_other_on_the_same_devices() {
    let folder = Folder::new("slices");
    // Any format serves: device, block, size, operation, seconds. Device 2 is not in every file,
    // and device 1 reaches farther in the last.
    let file = |lines: &[&str]| lines.join("\n") + "\n";
    let first = file(&["1,0,512,r,5.0", "2,8,512,w,65.0"]);
    let second = file(&["1,8,512,r,3.0", "1,16,512,w,700.0"]);
    let third = file(&["1,4096,512,w,1.0", "2,0,512,r,1.5"]);
    folder.write("a/MSNFS.2008-03-10.12-51.trace.csv.csv", &second);
    folder.write("a/MSNFS.2008-03-10.01-01.trace.csv.csv", &third);
    folder.write("a/MSNFS.2008-03-10.12-41.trace.csv.csv", &first);
    folder.write_gz("b/MSNFS.2008-03-10.12-41.trace.csv.gz", &first);
    let trace = folder.open("msps:msnfs").unwrap();
    let s = 1_000_000_000;
    let three_mib = 3 << 20; // device 1 ends at 4097 blocks, a little above 2 MiB
    let want = [
        (0, 0, 512, true),
        (60 * s, three_mib + 4096, 512, false),
        (600 * s, 4096, 512, true),
        // The second file runs into the third, which then begins where it ends.
        (1297 * s, 8192, 512, false),
        (1297 * s, 4096 * 512, 512, false),
        (1297 * s + s / 2, three_mib, 512, true),
    ];
    assert_eq!(short(&*trace), want);
    let about = trace.about();
    assert_eq!((about.requests, about.span), (Some(6), Some(three_mib + 4096 + 512)));
    assert!(about.notes[0].contains("3 of 36 files"), "{:?}", about.notes);
    let missing = vec!["33 of 36 files".to_owned()];
    assert!(matches!(folder.presence("msps:msnfs"), Presence::Partly(_, m) if m == missing));
    assert_eq!(requests(&*trace), requests(&*trace), "every opening is the same");
}

/// A file of events as Microsoft's servers have them: `(microseconds, disk, read, byte)`.
fn msps(events: &[(u64, u32, bool, u64)]) -> String {
    let columns = "TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, \
                   ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName";
    let mut text = format!("BeginHeader\n DiskRead, {columns}\n DiskWrite, {columns}\nEndHeader\n");
    for (us, disk, read, byte) in events {
        let kind = if *read { "DiskRead" } else { "DiskWrite" };
        text += &format!(
            "{kind}, {us}, store.exe (1234), 480, 0xfffffa80, {byte:#012x}, 0x00001000, 0, {disk}, \
             0x060043, 100, 3, 0, 0xfffffa81, \"D:\\mail.edb\"\n"
        );
    }
    text
}

#[test]
fn events_of_microsofts_servers_follow_each_other_too() {
    let folder = Folder::new("events");
    let mib = 1 << 20;
    let morning = msps(&[(500, 3, true, 4096), (900, 8, false, 0)]);
    let evening = msps(&[(200, 8, false, 8192), (700, 3, true, 2 * mib)]);
    let at = "Exchange-Server-Traces/Exchange/Exchange.12-12-2007";
    folder.write_gz(&format!("{at}.12-05-AM.trace.csv.gz"), &morning);
    folder.write_gz(&format!("{at}.02-39-PM.trace.csv.gz"), &evening);
    let trace = folder.open("msps:exchange").unwrap();
    let later = (14 * 60 + 34) * 60_000_000_000;
    // Disk 3 ends at 2 MiB and 4 KiB in the evening, so disk 8 begins at 3 MiB in both files.
    let want = [
        (0, 4096, 4096, true),
        (400_000, 3 * mib, 4096, false),
        (later, 3 * mib + 8192, 4096, false),
        (later + 500_000, 2 * mib, 4096, true),
    ];
    assert_eq!(short(&*trace), want);
    assert_eq!(trace.about().format, "msps");
    assert_eq!(trace.about().span, Some(3 * mib + 8192 + 4096));
}

/// Files of days that are numbered follow each other by the day, the tenth behind the ninth.
#[test]
fn days_that_are_numbered_follow_each_other() {
    let folder = Folder::new("days");
    let record = |ns: u64, sector: u64, op: char| {
        format!("{ns} 20782 gzip {sector} 8 {op} 6 0 56f11b711d91a065a2b6458eca924523\n")
    };
    for day in 1..=21 {
        let name = format!("mail/cheetah.cs.fiu.edu-110108-113008.{day}.blkparse.gz");
        let begin = day * 86_400_000_000_000;
        let text = record(begin + 5, 8 * day, 'W') + &record(begin + 1005, 8, 'R');
        folder.write_gz(&name, &text);
    }
    let trace = folder.open("fiu:mail").unwrap();
    let want: Vec<_> = (1..=21)
        .flat_map(|day| {
            let begin = (day - 1) * 86_400_000_000_000;
            [(begin, 4096 * day, 4096, false), (begin + 1000, 4096, 4096, true)]
        })
        .collect();
    assert_eq!(short(&*trace), want);
    assert_eq!(trace.about().format, "fiu");
    folder.refused("fiu:homes", &["21 files homes-110108-112108.*.blkparse", "block-io/391"]);
}

#[test]
fn an_order_that_names_leave_open_is_refused_with_a_way_out() {
    let folder = Folder::new("dial");
    for hour in ["08-07", "10-37", "01-07", "03-37", "06-07"] {
        let name = format!("DisplayAdsDataServer.2008-03-08.{hour}.trace.csv.csv");
        folder.write(&name, "1,0,512,r,5.0\n");
    }
    folder.refused("msps:ads", &["AM and PM", "00 to 23"]);
}

#[test]
fn what_is_not_there_says_where_it_can_be_had() {
    let folder = Folder::new("nothing");
    let here = folder.0.display().to_string();
    folder.refused(
        "msr:hm_0",
        &[
            "hm_0.csv",
            ".gz",
            "https://iotta.snia.org/traces/block-io/388",
            "SNIA IOTTA 388",
            "msr-cambridge1.tar, 3.3 GB",
            "--traces",
            &here,
        ],
    );
    folder.refused("msps:map", &["24 files LiveMapsBE.*.trace.csv", "block-io/158"]);
    folder.refused("mango:build", &["nobody has published"]);
    folder.refused("msr:hm0", &["did you mean `msr:hm_0`"]);
    folder.refused("msr:elephant", &["floatgate trace list"]);
    let error = open("umass:websearch", &[]).err().unwrap().to_string();
    assert!(error.contains("no folder of traces is named"), "{error}");
    assert!(error.starts_with("umass:websearch1: "), "{error}");
}

#[test]
fn what_must_be_unpacked_is_said() {
    let folder = Folder::new("packed");
    folder.write("Financial1.spc.bz2", "BZh9");
    folder.write("msr-cambridge2.tar", "");
    folder.refused("umass:financial1", &["Financial1.spc.bz2", "unpack"]);
    folder.refused("msr:web_0", &["msr-cambridge2.tar", "unpack"]);
    folder.refused("msr:web", &["msr-cambridge2.tar", "unpack"]);
    assert_eq!(folder.presence("msr:hm_0"), Presence::Missing, "it is in the other archive");
    folder.write("Financial1.spc", "0,303567,3584,w,0.000000\n1,55590,3072,w,0.000000\n");
    let trace = folder.open("umass:financial").unwrap();
    assert_eq!(trace.about().name, "umass:financial1");
    assert_eq!(requests(&*trace).len(), 2);
}

#[test]
fn what_is_no_trace_of_the_catalogue_is_also_there() {
    let folder = Folder::new("others");
    for name in [
        "umass-financial1-10k.ascii.zst",
        "LICENSE-ssdsim.txt",
        "README.md",
        "readme.txt",
        "notes.pdf",
        "hm_0.csv",
        "msr-cambridge1.tar",
        "deep/er/my.trace",
    ] {
        folder.write(name, "x");
    }
    let shelf = Shelf::look(std::slice::from_ref(&folder.0)).unwrap();
    let others = shelf.others(&Catalogue::built_in());
    let names: Vec<_> =
        others.iter().map(|f| f.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["umass-financial1-10k.ascii.zst", "my.trace"]);
}

#[test]
fn folders_are_searched_in_their_order_and_not_without_end() {
    let (one, two) = (Folder::new("first"), Folder::new("second"));
    one.write("deep/hm_1.csv", msr("hm", 1, 0, true, 0, 512));
    two.write("hm_1.csv", msr("hm", 1, 0, true, 0, 4096));
    let len = |folders: &[&Path]| requests(&*open("msr:hm_1", folders).unwrap())[0].len;
    assert_eq!((len(&[&one.0, &two.0]), len(&[&two.0, &one.0])), (512, 4096));
    one.write("1/2/3/4/5/6/hm_0.csv", msr("hm", 0, 0, true, 0, 512));
    assert_eq!(one.presence("msr:hm_0"), Presence::Missing);
    one.write("1/2/3/4/5/hm_0.csv", msr("hm", 0, 0, true, 0, 512));
    assert!(matches!(one.presence("msr:hm_0"), Presence::There(_)));
    for (path, word) in
        [(one.0.join("none"), "no such folder"), (two.0.join("hm_1.csv"), "not a folder")]
    {
        let error = open("msr:hm_1", &[&path]).err().unwrap().to_string();
        assert!(error.contains(word), "{error}");
    }
}
