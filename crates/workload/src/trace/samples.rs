//! One list of requests, written in every format with the other lines of its files. The tests read
//! it back; the fuzzer damages it first.

use std::fmt::Write as _;

/// A request as every format can hold it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Piece {
    /// Arrival: one format has nothing finer.
    pub(crate) seconds: u64,
    /// From 0 to 2.
    pub(crate) device: u32,
    /// First sector and number of sectors, of 512 bytes; both 0 for a flush.
    pub(crate) sector: u64,
    /// See above.
    pub(crate) sectors: u64,
    /// `R`, `W`, `D` (discard), `F` (flush) or `U` (write with force unit access).
    pub(crate) op: char,
}

/// Every sample: a name for messages, and the name of its format.
pub(crate) const SAMPLES: [(&str, &str); TABLE.len()] = {
    let mut all = [("", ""); TABLE.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = (TABLE[i].name, TABLE[i].format);
        i += 1;
    }
    all
};

/// The samples, one a line: a name, the format, the requests that it cannot hold, its writer.
const TABLE: &[Sample] = &[
    sample("ssdsim", "ssdsim-ascii", &['D', 'F', 'U'], Text(ssdsim, "# SSDSim\n", "")),
    sample("disksim", "disksim-ascii", &['D', 'F', 'U'], Text(disksim, "", "")),
    sample("msr", "msr", &['D', 'F', 'U'], Text(msr, "", "")),
    sample("msps", "msps", &['D', 'U'], Text(msps, MSPS_HEADER, "")),
    sample("spc", "spc", &['D', 'F', 'U'], Text(spc, "", "")),
    sample("vscsi", "vscsi", &['D', 'U', 'd'], Binary(0, vscsi)),
    sample("vscsi 2", "vscsi-2", &['D', 'U', 'd'], Binary(0, vscsi2)),
    sample("alibaba", "alibaba", &['D', 'F', 'U'], Text(alibaba, ALIBABA_HEADER, "")),
    sample("tencent", "tencent", &['D', 'F', 'U'], Text(tencent, "", "")),
    sample("systor", "systor", &['D', 'F', 'U'], Text(systor, SYSTOR_HEADER, "")),
    sample("blkparse", "blkparse", &[], Text(blkparse, BLKPARSE_HEADER, BLKPARSE_SUMMARY)),
    sample("fiu", "fiu", &['D', 'F', 'U'], Text(fiu, "", "")),
    sample("wiscsee", "wiscsee", &['F', 'U', 'd'], Text(wiscsee, "", "")),
    sample("fio 2", "fio", &['U'], Text(fio2, FIO2_HEADER, FIO2_ENDING)),
    sample("fio 3", "fio", &['U'], Text(fio3, FIO3_HEADER, "99000000 /dev/b close\n")),
    sample("csv", "csv", &[], Text(csv, "when;what;where;sectors;disk\n", "")),
    sample("csv with quotes", "csv", &[], Text(quoted, "when;what;where;sectors;disk\n", "")),
];

struct Sample {
    name: &'static str,
    format: &'static str,
    /// Operations that become writes; `d`: devices, which become the first one.
    lacks: &'static [char],
    written: Written,
}

/// How a sample is written.
enum Written {
    /// A line or more for each request, with a heading and an ending.
    Text(Line, &'static str, &'static str),
    /// A heading of this number of bytes, and a record for each request.
    Binary(usize, fn((usize, &Piece)) -> Vec<u8>),
}

use Written::{Binary, Text};

const fn sample(
    name: &'static str,
    format: &'static str,
    lacks: &'static [char],
    written: Written,
) -> Sample {
    Sample { name, format, lacks, written }
}

fn named(name: &str) -> &'static Sample {
    TABLE.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("{name} is not a sample"))
}

const ALIBABA_HEADER: &str = "device_id,opcode,offset,length,timestamp\n";
const SYSTOR_HEADER: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n";
const BLKPARSE_HEADER: &str = "Input file sdb.blktrace.0 added\n";

/// The content of the columns of the table.
pub(crate) const COLUMNS: &str = "time=1:us,op=2,offset=3,size=4:sectors,device=5";

/// The same by the names in the first line.
pub(crate) const NAMED_COLUMNS: &str =
    "time=when:us,op=what,offset=where,size=sectors:sectors,device=disk";

/// Whether a sample can hold an operation; other samples have writes in its place.
pub(crate) fn has_op(name: &str, op: char) -> bool {
    !named(name).lacks.contains(&op)
}

/// Whether a sample can hold devices; other samples have only the first one.
pub(crate) fn has_devices(name: &str) -> bool {
    !named(name).lacks.contains(&'d')
}

/// Whether it consists of lines.
pub(crate) fn is_text(name: &str) -> bool {
    matches!(named(name).written, Text(..))
}

/// Requests for a sample.
pub(crate) fn pieces(name: &str, count: u64) -> Vec<Piece> {
    let ops = ['R', 'W', 'D', 'W', 'F', 'U', 'W'];
    let ops = ops.map(|op| if has_op(name, op) { op } else { 'W' });
    let piece = |i: u64| {
        let op = ops[i as usize % ops.len()];
        let (sector, sectors) = if op == 'F' { (0, 0) } else { (i * 7919 % 5003, 1 + i % 9) };
        let device = if has_devices(name) { (i * 7 % 3) as u32 } else { 0 };
        Piece { seconds: i * 2, device, sector, sectors, op }
    };
    (0..count).map(piece).collect()
}

/// The file of a sample.
pub(crate) fn write(name: &str, pieces: &[Piece]) -> Vec<u8> {
    match named(name).written {
        Text(line, heading, ending) => {
            let mut text = heading.to_owned();
            for (i, piece) in (0..).zip(pieces) {
                line(&mut text, i, piece);
            }
            (text + ending).into_bytes()
        }
        Binary(heading, record) => {
            let mut bytes = vec![0; heading];
            bytes.extend(pieces.iter().enumerate().flat_map(record));
            bytes
        }
    }
}

type Line = fn(&mut String, u64, &Piece);

impl Piece {
    fn offset(&self) -> u64 {
        self.sector * 512
    }

    fn bytes(&self) -> u64 {
        self.sectors * 512
    }

    fn reads(&self) -> bool {
        self.op == 'R'
    }

    fn word(&self) -> &'static str {
        match self.op {
            'R' => "read",
            'D' => "trim",
            'F' => "sync",
            _ => "write",
        }
    }
}

/// `writeln!` into a text, which does not fail.
macro_rules! put {
    ($text:expr, $($word:tt)*) => { writeln!($text, $($word)*).expect("memory does not fail") };
}

fn ssdsim(t: &mut String, _: u64, p: &Piece) {
    let op = u8::from(p.reads());
    put!(t, "{}000000000 {} {} {} {op}", p.seconds, p.device, p.sector, p.sectors);
}

fn disksim(t: &mut String, _: u64, p: &Piece) {
    let op = u8::from(p.reads());
    put!(t, "{}000.000000 {} {} {} {op}", p.seconds, p.device, p.sector, p.sectors);
}

fn msr(t: &mut String, _: u64, p: &Piece) {
    let (ticks, op) = (p.seconds * 10_000_000, if p.reads() { "Read" } else { "Write" });
    put!(t, "{ticks},hm,{},{op},{},{},91250", p.device, p.offset(), p.bytes());
}

const MSPS_HEADER: &str = "\
BeginHeader
                DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
               DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
            DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
               DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
EndHeader
OS Version: 6.0.6001, Trace Size: 12KB, Events Lost: 0, Buffers lost: 0
";

/// Every third request takes three seconds, so the file is not in the order of arrival.
fn msps(t: &mut String, i: u64, p: &Piece) {
    let elapsed = if i % 3 == 0 { 3_000_000 } else { 283 };
    let (kind, us) = (if p.reads() { "DiskRead" } else { "DiskWrite" }, p.seconds * 1_000_000);
    if p.op == 'F' {
        put!(
            t,
            "               DiskFlush, {:>10},        System (   4),        480, 0xfffffa8005, \
             {elapsed:>38}, {:>8}, 0x060043,         283,       3",
            us + elapsed,
            p.device,
        );
        return;
    }
    if p.reads() {
        put!(
            t,
            "            DiskReadInit, {us:>10},        System (   4),        480, 0xfffffa8005"
        );
    }
    put!(
        t,
        "{kind:>24}, {:>10},        System (   4),        480, 0xfffffa8005, {:#012x}, {:#010x}, \
         {elapsed:>11}, {:>8}, 0x060043,         283,       3, Original, 0xfffffa8006, \"C:\\a, b\"",
        us + elapsed,
        p.offset(),
        p.bytes(),
        p.device,
    );
}

fn spc(t: &mut String, i: u64, p: &Piece) {
    let op = if p.reads() { 'r' } else { 'W' };
    let more = if i % 5 == 0 { ",further,columns" } else { "" };
    put!(t, "{},{},{},{op},{}.000000{more}", p.device, p.sector, p.bytes(), p.seconds);
}

fn vscsi((i, p): (usize, &Piece)) -> Vec<u8> {
    let mut record = (i as u32).to_le_bytes().to_vec();
    record.extend((p.bytes() as u32).to_le_bytes());
    let op = match p.op {
        'R' => 0x28,
        'F' => 0x35,
        _ => 0x2a,
    };
    record.extend([1, 0, 0, 0, op, 0, 0, 1]);
    record.extend(p.sector.to_le_bytes());
    record.extend((p.seconds * 1_000_000).to_le_bytes());
    record
}

fn vscsi2((i, p): (usize, &Piece)) -> Vec<u8> {
    let first = vscsi((i, p));
    let mut record = vec![first[12], 0, 0, 2];
    record.extend(&first[..12]);
    record.extend(&first[16..]);
    record.extend(283_u64.to_le_bytes());
    record
}

/// Every third record has no digest, every fourth the digests of its sectors.
fn fiu(t: &mut String, i: u64, p: &Piece) {
    let digest = " 56f11b711d91a065a2b6458eca924523";
    let digests = digest.repeat(if i % 3 == 0 {
        0
    } else if i % 4 == 0 {
        p.sectors as usize
    } else {
        1
    });
    let op = if p.reads() { 'R' } else { 'W' };
    let (at, sector, sectors, device) = (p.seconds, p.sector, p.sectors, p.device);
    put!(t, "{at}000000000 20782 gzip {sector} {sectors} {op} 6 {device}{digests}");
}

fn alibaba(t: &mut String, _: u64, p: &Piece) {
    put!(t, "{},{},{},{},{}000000", p.device, p.op, p.offset(), p.bytes(), p.seconds);
}

fn tencent(t: &mut String, _: u64, p: &Piece) {
    let op = u8::from(!p.reads());
    put!(t, "{},{},{},{op},{}", 1_538_323_200 + p.seconds, p.sector, p.sectors, p.device);
}

fn systor(t: &mut String, i: u64, p: &Piece) {
    let seconds = 1_456_135_200 + p.seconds;
    put!(t, "{seconds}.000000000,0.000806000,{},{},{},{}", p.op, p.device, p.offset(), p.bytes());
    if i % 8 == 0 {
        put!(t, "{seconds}.014020000,,,4,20480,4096");
    }
}

const BLKPARSE_SUMMARY: &str = "\
CPU0 (8,16):
 Reads Queued:           1,        4KiB\t Writes Queued:           1,        4KiB

Throughput (R/W): 7KiB/s / 9KiB/s
Events (8,16): 60 entries
Skips: 0 forward (0 -   0.0%)
";

fn blkparse(t: &mut String, i: u64, p: &Piece) {
    let (minor, at) = (16 * (1 + p.device), p.seconds);
    if i % 10 == 0 {
        put!(t, "  8,{minor:<3} 0 {:8} {at:5}.000000000 13213  P   N [kworker/u81:0]", 5 * i);
        put!(t, "  8,{minor:<3} 0 {:8} {at:5}.000000000   723  D   N 0 (12 00) [sg]", 5 * i + 1);
    }
    if p.op == 'F' {
        // Queued as a write of nothing, issued as a flush.
        put!(t, "  8,{minor:<3} 0 {:8} {at:5}.000000000 13213  Q FWS [my app]", 5 * i + 2);
        put!(t, "  8,{minor:<3} 0 {:8} {at:5}.000015000 13213  D  FN [kworker/0:1H]", 5 * i + 2);
        put!(t, "  8,{minor:<3} 0 {:8} {at:5}.000900000     0  C  FN 0 [0]", 5 * i + 2);
        put!(t, "  8,{minor:<3} 0 {:8} {at:5}.000901000     0  C  WS 0 [0]", 5 * i + 2);
        return;
    }
    let letters = if p.op == 'U' { "WF" } else { &p.op.to_string() };
    let kind = format!("{letters}{}", if i % 3 == 0 { "S" } else { "" });
    for (event, ns, name) in [('Q', 0, "my app"), ('D', 15_000, "my app"), ('C', 900_000, "0")] {
        let pid = if event == 'C' { 0 } else { 13213 };
        put!(
            t,
            "  8,{minor:<3} 0 {:8} {at:5}.{ns:09} {pid:5}  {event} {kind:>3} {} + {} [{name}]",
            5 * i + 2,
            p.sector,
            p.sectors,
        );
    }
}

fn wiscsee(t: &mut String, _: u64, p: &Piece) {
    let op = if p.op == 'D' { "discard" } else { p.word() };
    let (at, offset, bytes) = (p.seconds, p.offset(), p.bytes());
    put!(t, "1386 D {op} {offset} {bytes} {at}.000000000 1.8784e-05 True");
    put!(t, "0 C {op} {offset} {bytes} {at}.000090000 9e-05 True");
}

const FIO2_HEADER: &str = "\
fio version 2 iolog
/dev/a add
/dev/b add
/dev/c add
/dev/a open
";
const FIO2_ENDING: &str = "/dev/b sync_file_range 0 4096\n/dev/b close\n";

fn fio2(t: &mut String, i: u64, p: &Piece) {
    if i > 0 {
        put!(t, "/dev/a wait 2000000 0");
    }
    let file = ['a', 'b', 'c'][p.device as usize];
    put!(t, "/dev/{file} {} {} {}", p.word(), p.offset(), p.bytes());
}

const FIO3_HEADER: &str = "\
fio version 3 iolog
0 /dev/a add
0 /dev/b add
0 /dev/c add
2 /dev/a open
";

fn fio3(t: &mut String, _: u64, p: &Piece) {
    let file = ['a', 'b', 'c'][p.device as usize];
    put!(t, "{}000000 /dev/{file} {} {} {}", p.seconds, p.word(), p.offset(), p.bytes());
}

/// The same, as a spreadsheet writes it.
fn quoted(t: &mut String, i: u64, p: &Piece) {
    let mut line = String::new();
    csv(&mut line, i, p);
    let fields: Vec<String> = line.trim_end().split(';').map(|f| format!("\"{f}\"")).collect();
    put!(t, "{}", fields.join(";"));
}

fn csv(t: &mut String, _: u64, p: &Piece) {
    let disk = ["sda", "sdb", "sdc"][p.device as usize];
    let op = if p.op == 'U' { "WF" } else { &p.op.to_string() };
    put!(t, "{}000000;{op};{};{};{disk}", p.seconds, p.offset(), p.sectors);
}
