//! Known files that are not traces in text: archives, other compression, records of other programs.

use super::feed::{Cut, Feed};
use super::fields::shown;
use super::input::Stored;
use crate::TraceError;
use crate::error::{Spot, detail};

/// Whether the first bytes look like those of some kind of file.
type Looks = fn(&[u8]) -> bool;

/// Compression that is not read, and the advice.
const PACKED: [(&str, Looks, &str); 7] = [
    ("bzip2", is_bzip2, "`bunzip2` takes the trace out of it"),
    ("lz4", |head| head.starts_with(b"\x04\x22\x4d\x18"), "`unlz4` takes the trace out of it"),
    ("7z", |head| head.starts_with(b"7z\xbc\xaf\x27\x1c"), "`7z x` takes the trace out of it"),
    ("lzip", |head| head.starts_with(b"LZIP\x01"), "`lzip -d` takes the trace out of it"),
    ("lzop", |head| head.starts_with(b"\x89LZO\0\r\n"), "`lzop -d` takes the trace out of it"),
    ("lzma", is_lzma, "`unlzma` takes the trace out of it"),
    (
        "compress",
        |head| matches!(head, [0x1f, 0x9d, 0x89..=0x90, ..]),
        "`uncompress` takes the trace out of it",
    ),
];

const TAKE_OUT: &str = "take the trace out of it";
const UTF_16: &str = "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8 FILE > NEW`";

/// Whole files of another kind, and the advice.
const KINDS: [(&str, Looks, &str); 22] = [
    ("an archive (tar)", is_tar, TAKE_OUT),
    ("an archive (zip)", is_zip, TAKE_OUT),
    ("an archive (rar)", |head| head.starts_with(b"Rar!\x1a\x07"), TAKE_OUT),
    ("an archive (cpio)", is_cpio, TAKE_OUT),
    ("an archive (cab)", |head| head.starts_with(b"MSCF\0\0\0\0"), TAKE_OUT),
    ("the binary output of blktrace", is_blktrace, "let blkparse print it as text"),
    (
        "a recording of trace-cmd",
        |head| head.starts_with(b"\x17\x08\x44tracing"),
        "record the block layer with blktrace, and let blkparse print it as text",
    ),
    (
        "a recording of perf",
        |head| head.starts_with(b"PERFILE2"),
        "record the block layer with blktrace, and let blkparse print it as text",
    ),
    (
        "packets of a network (pcap)",
        is_pcap,
        "a trace has the requests of a drive, not of a network",
    ),
    ("text in UTF-32", is_utf_32, "convert it to UTF-8: `iconv -f UTF-32 -t UTF-8 FILE > NEW`"),
    ("text in UTF-16", is_utf_16, UTF_16),
    (
        "lines that end in carriage returns alone",
        ends_in_returns,
        "`tr '\\r' '\\n' < FILE > NEW` ends them as others do",
    ),
    (
        "a Parquet file",
        |head| head.starts_with(b"PAR1"),
        "read it as a file of its own, not compressed: Parquet compresses its columns itself",
    ),
    (
        "a spreadsheet (xls)",
        |head| head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        "save the sheet as CSV",
    ),
    (
        "a database (SQLite)",
        |head| head.starts_with(b"SQLite format 3\0"),
        "export the table as CSV",
    ),
    (
        "a table in HDF5",
        |head| head.starts_with(b"\x89HDF\r\n\x1a\n"),
        "write the table as CSV or Parquet",
    ),
    ("a table in Arrow's format", |head| head.starts_with(b"ARROW1"), "write the table as Parquet"),
    (
        "a pointer of Git LFS",
        |head| head.starts_with(b"version https://git-lfs.github.com/spec/"),
        "`git lfs pull` fetches the file itself",
    ),
    (
        "a page of the web",
        |head| begins(head, b"<!doctype html") || begins(head, b"<html"),
        "was this the page of the download, instead of the file?",
    ),
    (
        "XML",
        |head| begins(head, b"<?xml"),
        "`floatgate config convert` reads the files of other simulators",
    ),
    ("JSON", is_json, "write the requests as CSV, one a line"),
    ("a document (PDF)", |head| head.starts_with(b"%PDF-"), "a trace is text, one request a line"),
];

/// `BZh`, the size of its blocks, and the mark of a block or, without one, of the end.
fn is_bzip2(head: &[u8]) -> bool {
    matches!(head, [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
        if rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17rE8P\x90"))
}

/// The usual properties, a dictionary of a power of two, and a size that is unknown or below 2^32.
fn is_lzma(head: &[u8]) -> bool {
    matches!(head, [0x5d, 0, 0, _, _, size @ ..]
        if size.starts_with(&[0xff; 8]) || matches!(size, [_, _, _, _, 0, 0, 0, 0, ..]))
}

/// Checked by the sum of the first header, which archives without `ustar` have too. It covers the
/// 512 bytes, with those of the sum itself taken as blanks.
fn is_tar(head: &[u8]) -> bool {
    let Some((header, _)) = head.split_at_checked(512) else {
        return head.get(257..262) == Some(b"ustar");
    };
    let (sum, blanks) = (148..156, 8 * u32::from(b' '));
    let digits = header[sum.clone()].trim_ascii().split(|b| matches!(b, b' ' | 0)).next();
    let said = digits.and_then(|d| std::str::from_utf8(d).ok()).map(|d| u32::from_str_radix(d, 8));
    let bytes = header.iter().enumerate().filter(|(i, _)| !sum.contains(i));
    let counted = blanks + bytes.map(|(_, byte)| u32::from(*byte)).sum::<u32>();
    header[257..].starts_with(b"ustar") || header[0] != 0 && said == Some(Ok(counted))
}

/// An archive of files, an empty one, and one in several volumes.
fn is_zip(head: &[u8]) -> bool {
    [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"].iter().any(|magic| head.starts_with(*magic))
}

fn is_cpio(head: &[u8]) -> bool {
    let text = [b"070707", b"070701", b"070702"].iter().any(|magic| head.starts_with(*magic));
    // In text the numbers of six or eight digits follow without a blank.
    text && head.get(6..30).is_some_and(|more| more.iter().all(u8::is_ascii_hexdigit))
}

fn is_blktrace(head: &[u8]) -> bool {
    head.get(..4).is_some_and(|m| m[1..] == *b"tae" || m[..3] == *b"eat")
}

fn is_pcap(head: &[u8]) -> bool {
    [b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\x0a\x0d\x0d\x0a", b"\x4d\x3c\xb2\xa1"]
        .iter()
        .any(|magic| head.starts_with(*magic))
}

fn is_utf_32(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff")
}

/// Found by its mark, or by the first line: every second byte is zero, and none of the others.
fn is_utf_16(head: &[u8]) -> bool {
    const LOOKED_AT: usize = 32;
    let text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let pairs = || head[..head.len().min(LOOKED_AT)].chunks_exact(2);
    let little = || pairs().all(|pair| pair[1] == 0 && text(&pair[0]));
    let big = || pairs().all(|pair| pair[0] == 0 && text(&pair[1]));
    let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    marked || head.len() >= LOOKED_AT / 2 && (little() || big())
}

/// Like the text of the early Macintosh.
fn ends_in_returns(head: &[u8]) -> bool {
    let text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let inner = head.strip_suffix(b"\r").unwrap_or(head);
    memchr::memchr(b'\r', inner).is_some()
        && memchr::memchr(b'\n', head).is_none()
        && head.iter().all(text)
}

fn is_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let rest = head.get(1..).unwrap_or_default().trim_ascii_start();
    match head.first() {
        Some(b'{') => rest.starts_with(b"\""),
        Some(b'[') => matches!(rest.first(), Some(b'{' | b'[')),
        _ => false,
    }
}

/// Whether text begins with a word, in any case.
fn begins(head: &[u8], word: &[u8]) -> bool {
    let head = head.strip_prefix(super::feed::BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    head.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The compression of stored bytes that is not read: its name, and the advice.
pub(super) fn packed(head: &[u8]) -> Option<(&'static str, &'static str)> {
    PACKED.iter().find(|(_, looks, _)| looks(head)).map(|(name, _, advice)| (*name, *advice))
}

/// Refuses a file of another kind, for any requested format. A file in pieces may have any first
/// bytes.
pub(super) fn check(stored: &Stored, feed: &mut Feed, cut: Cut) -> Result<(), TraceError> {
    if cut != Cut::Lines {
        return Ok(());
    }
    let (head, _) = feed.head()?;
    if let Some((name, advice)) = packed(head) {
        return Err(stored.packed(name, advice));
    }
    let Some((name, _, advice)) = KINDS.iter().find(|(_, looks, _)| looks(head)) else {
        return Ok(());
    };
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    let found = format!("no trace begins like {}", shown(first));
    let hint = format!("this looks like {name}; {advice}");
    let expected = "a trace, plain or compressed with gzip, zstd or xz";
    let spot = Spot::Line { line: 1, column: 0 };
    Err(TraceError::Format(detail(&stored.name, spot, found, expected, hint)))
}
