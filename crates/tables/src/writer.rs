//! Parquet files. Names of structs, and the numbers of fields, are those of the format's
//! `parquet.thrift`.

use std::io::{self, Write};

use crate::arrow;
use crate::column::{Column, Values};
use crate::delta;
use crate::levels::{hybrid, width};
use crate::thrift::{BINARY, I32, STRUCT, StructFields, text, zigzag};

const MAGIC: &[u8; 4] = b"PAR1";

/// The least number of rows in a row group. It also has all rows that came with the last of them.
pub const GROUP: usize = 1 << 16;

// Type
const INT32: i32 = 1;
const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
// FieldRepetitionType
const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
// ConvertedType
const UTF8: i32 = 0;
const UINT_32: i32 = 13;
const UINT_64: i32 = 14;
// Encoding
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const DELTA_BINARY_PACKED: i32 = 5;
const RLE_DICTIONARY: i32 = 8;
// PageType
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;
// CompressionCodec
const UNCOMPRESSED: i32 = 0;

/// Writes one file: some rows at a time, a page of each column for them. Pages are kept until there
/// are rows for a group, because the pages of one column lie together in it.
pub struct Writer<W> {
    out: W,
    /// Bytes written so far.
    at: u64,
    /// Name, kind, words and whether values may be absent: columns without rows.
    schema: Vec<Column>,
    /// The pages of the current group, by column.
    pages: Vec<Vec<u8>>,
    /// Its rows.
    rows: usize,
    groups: Vec<Group>,
    scratch: Vec<u8>,
}

/// A group that is written.
struct Group {
    rows: usize,
    chunks: Vec<Chunk>,
}

/// The part of a column in a group.
struct Chunk {
    /// Its beginning.
    at: u64,
    /// The dictionary, at its beginning, if there is one.
    dictionary: usize,
    /// All its bytes.
    bytes: usize,
}

impl<W: Write> Writer<W> {
    /// A file without rows.
    pub fn new(out: W) -> Self {
        Self {
            out,
            at: 0,
            schema: Vec::new(),
            pages: Vec::new(),
            rows: 0,
            groups: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Adds rows. Their columns are the same every time.
    pub fn write(&mut self, columns: &[Column]) -> io::Result<()> {
        if self.schema.is_empty() {
            self.schema = columns.iter().map(without_rows).collect();
            self.pages = columns.iter().map(|_| Vec::new()).collect();
            self.put(MAGIC)?;
        }
        let rows = columns.first().map_or(0, |column| column.values.len());
        let alike = |(column, known): (&Column, &Column)| {
            column.name == known.name
                && column.values.len() == rows
                && column.optional == known.optional
                && kind(&column.values) == kind(&known.values)
                && words(&column.values) == words(&known.values)
        };
        assert!(
            columns.len() == self.schema.len() && columns.iter().zip(&self.schema).all(alike),
            "rows of other columns"
        );
        if rows == 0 {
            return Ok(());
        }
        for (column, pages) in columns.iter().zip(&mut self.pages) {
            self.scratch.clear();
            encode(&mut self.scratch, column);
            page(pages, DATA_PAGE, self.scratch.len(), |header| {
                header.inner(5, |data| {
                    data.count(1, rows)
                        .i32(2, encoding(&column.values))
                        .i32(3, RLE)
                        .i32(4, RLE)
                        .end();
                })
            });
            pages.extend_from_slice(&self.scratch);
        }
        self.rows += rows;
        if self.rows >= GROUP { self.end_group() } else { Ok(()) }
    }

    /// Writes the rest and the file's own facts, `metadata` included. A file without columns stays
    /// empty.
    pub fn finish(mut self, metadata: &[(String, String)]) -> io::Result<W> {
        if self.schema.is_empty() {
            return Ok(self.out);
        }
        if self.rows > 0 {
            self.end_group()?;
        }
        let mut footer = Vec::new();
        self.describe(&mut footer, metadata);
        let length = footer.len() as u32;
        footer.extend_from_slice(&length.to_le_bytes());
        footer.extend_from_slice(MAGIC);
        self.put(&footer)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(self.schema.len());
        for column in 0..self.schema.len() {
            let at = self.at;
            let mut dictionary = Vec::new();
            if let Values::Words(_, words) = &self.schema[column].values {
                dictionary_page(&mut dictionary, words);
            }
            self.put(&dictionary)?;
            let pages = std::mem::take(&mut self.pages[column]);
            self.put(&pages)?;
            let bytes = dictionary.len() + pages.len();
            chunks.push(Chunk { at, dictionary: dictionary.len(), bytes });
            self.pages[column] = pages;
            self.pages[column].clear();
        }
        self.groups.push(Group { rows: std::mem::take(&mut self.rows), chunks });
        Ok(())
    }

    /// `FileMetaData`.
    fn describe(&self, out: &mut Vec<u8>, metadata: &[(String, String)]) {
        let rows: usize = self.groups.iter().map(|group| group.rows).sum();
        let own = (arrow::KEY.to_owned(), arrow::schema(&self.schema));
        let pairs: Vec<_> = metadata.iter().chain([&own]).collect();
        let groups: Vec<_> = self.groups.iter().enumerate().collect();
        let elements: Vec<_> = std::iter::once(None).chain(self.schema.iter().map(Some)).collect();
        StructFields::of(out)
            .i32(1, 2)
            .list(2, STRUCT, &elements, |out, column| match column {
                Some(column) => element(out, column),
                None => {
                    StructFields::of(out).text(4, "root").count(5, self.schema.len()).end();
                }
            })
            .size(3, rows as u64)
            .list(4, STRUCT, &groups, |out, &(nth, group)| self.row_group(out, nth, group))
            .list(5, STRUCT, &pairs, |out, (key, value)| {
                StructFields::of(out).text(1, key).text(2, value).end();
            })
            .text(6, concat!("floatgate version ", env!("CARGO_PKG_VERSION")))
            .end();
    }

    /// `RowGroup`.
    fn row_group(&self, out: &mut Vec<u8>, nth: usize, group: &Group) {
        let bytes: usize = group.chunks.iter().map(|chunk| chunk.bytes).sum();
        let columns: Vec<_> = self.schema.iter().zip(&group.chunks).collect();
        let fields = StructFields::of(out)
            .list(1, STRUCT, &columns, |out, &(column, chunk)| {
                let data = chunk.at + chunk.dictionary as u64;
                StructFields::of(out)
                    .size(2, chunk.at)
                    .inner(3, |meta| {
                        let encodings = [PLAIN, RLE, encoding(&column.values)];
                        let (kind, ..) = kind(&column.values);
                        let meta = meta
                            .i32(1, kind)
                            .list(2, I32, &encodings, |out, &e| zigzag(out, e.into()))
                            .list(3, BINARY, &[&column.name], |out, name| text(out, name))
                            .i32(4, UNCOMPRESSED)
                            .size(5, group.rows as u64)
                            .size(6, chunk.bytes as u64)
                            .size(7, chunk.bytes as u64)
                            .size(9, data);
                        let place = (chunk.dictionary > 0).then_some(chunk.at);
                        place.into_iter().fold(meta, |meta, at| meta.size(11, at)).end();
                    })
                    .end();
            })
            .size(2, bytes as u64)
            .size(3, group.rows as u64)
            .size(5, group.chunks.first().map_or(0, |chunk| chunk.at))
            .size(6, bytes as u64);
        // Its number has 16 bits; readers that see none count.
        match i16::try_from(nth) {
            Ok(nth) => fields.i16(7, nth).end(),
            Err(_) => fields.end(),
        }
    }
}

/// The same column without its rows.
fn without_rows(column: &Column) -> Column {
    let values = match &column.values {
        Values::Zeros(_) | Values::U64(_) => Values::U64(Vec::new()),
        Values::U32(_) => Values::U32(Vec::new()),
        Values::F64(_) => Values::F64(Vec::new()),
        Values::Words(_, words) => Values::Words(Vec::new(), words.clone()),
    };
    Column { name: column.name.clone(), values, optional: column.optional }
}

/// `Type` and `ConvertedType` of values.
fn kind(values: &Values) -> (i32, Option<i32>) {
    match values {
        Values::Zeros(_) | Values::U64(_) => (INT64, Some(UINT_64)),
        Values::U32(_) => (INT32, Some(UINT_32)),
        Values::F64(_) => (DOUBLE, None),
        Values::Words(..) => (BYTE_ARRAY, Some(UTF8)),
    }
}

/// The words that values are positions in.
fn words(values: &Values) -> Option<&[String]> {
    if let Values::Words(_, words) = values { Some(words) } else { None }
}

fn encoding(values: &Values) -> i32 {
    match values {
        Values::Zeros(_) | Values::U32(_) | Values::U64(_) => DELTA_BINARY_PACKED,
        Values::F64(_) => PLAIN,
        Values::Words(..) => RLE_DICTIONARY,
    }
}

/// `SchemaElement`, with a `LogicalType` where the plain type does not say all.
fn element(out: &mut Vec<u8>, column: &Column) {
    let (kind, converted) = kind(&column.values);
    let fields = StructFields::of(out)
        .i32(1, kind)
        .i32(3, if column.optional { OPTIONAL } else { REQUIRED })
        .text(4, &column.name);
    let Some(converted) = converted else { return fields.end() };
    let whole = |bits| {
        move |logical: StructFields<'_>| {
            logical.inner(10, |int| int.i8(1, bits).bool(2, false).end()).end();
        }
    };
    let fields = fields.i32(6, converted);
    match converted {
        UINT_32 => fields.inner(10, whole(32)),
        UINT_64 => fields.inner(10, whole(64)),
        _ => fields.inner(10, |logical| logical.inner(1, none).end()),
    }
    .end();
}

/// A struct without fields.
fn none(fields: StructFields<'_>) {
    fields.end();
}

/// Begins a page of this length in bytes; `own` writes the fields of its kind.
fn page(
    out: &mut Vec<u8>,
    kind: i32,
    bytes: usize,
    own: impl FnOnce(StructFields<'_>) -> StructFields<'_>,
) {
    let header = StructFields::of(out).i32(1, kind).count(2, bytes).count(3, bytes);
    own(header).end();
}

/// A page with all words, each with its length in front.
fn dictionary_page(out: &mut Vec<u8>, words: &[String]) {
    let mut plain = Vec::new();
    for word in words {
        plain.extend_from_slice(&(word.len() as u32).to_le_bytes());
        plain.extend_from_slice(word.as_bytes());
    }
    page(out, DICTIONARY_PAGE, plain.len(), |header| {
        header.inner(7, |own| own.count(1, words.len()).i32(2, PLAIN).end())
    });
    out.extend_from_slice(&plain);
}

/// The part of a column in a page: which rows have values, if some may have none, and the values.
fn encode(out: &mut Vec<u8>, column: &Column) {
    match &column.values {
        Values::Zeros(n) => {
            present(out, column, *n, |_| true);
            delta::even(out, *n, 0, 0);
        }
        Values::U32(values) => {
            present(out, column, values.len(), |i| values[i] != u32::MAX);
            some(column, values, |&v| v != u32::MAX, |values| delta::pack(out, values));
        }
        Values::U64(values) => {
            present(out, column, values.len(), |i| values[i] != u64::MAX);
            some(column, values, |&v| v != u64::MAX, |values| delta::pack(out, values));
        }
        Values::F64(values) => {
            present(out, column, values.len(), |i| !values[i].is_nan());
            some(
                column,
                values,
                |v| !v.is_nan(),
                |values| {
                    for value in values {
                        out.extend_from_slice(&value.to_le_bytes());
                    }
                },
            );
        }
        Values::Words(codes, words) => {
            present(out, column, codes.len(), |_| true);
            let width = width(words.len());
            out.push(width as u8);
            hybrid(out, codes, width);
        }
    }
}

/// The definition levels, where rows may have no value.
fn present(out: &mut Vec<u8>, column: &Column, rows: usize, has: impl Fn(usize) -> bool) {
    if column.optional {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        let levels: Vec<u8> = (0..rows).map(|i| has(i).into()).collect();
        hybrid(out, &levels, 1);
        let length = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// Calls `write` with the values that are there.
fn some<T: Copy>(
    column: &Column,
    values: &[T],
    has: impl Fn(&T) -> bool,
    write: impl FnOnce(&[T]),
) {
    if column.optional {
        write(&values.iter().copied().filter(has).collect::<Vec<_>>());
    } else {
        write(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Python compares the values that readers find (`tests/test_tables.py`).
    #[test]
    fn rows_of_other_columns_are_a_bug_of_the_caller() {
        let columns = || {
            let word = Column::words("word", vec![0, 1], &["a", "b"]);
            vec![Column::u64("number", vec![1, 2]), word]
        };
        let goes = |change: &dyn Fn(&mut Vec<Column>)| {
            let mut writer = Writer::new(Vec::new());
            writer.write(&columns()).unwrap();
            let mut other = columns();
            change(&mut other);
            catch_unwind(AssertUnwindSafe(|| writer.write(&other).unwrap())).is_ok()
        };
        assert!(goes(&|_| {}));
        assert!(goes(&|other| other[0].values = Values::Zeros(2)));
        assert!(!goes(&|other| drop(other.pop())));
        assert!(!goes(&|other| other[0].name = "other".into()));
        assert!(!goes(&|other| other[0].optional = true));
        assert!(!goes(&|other| other[0].values = Values::U32(vec![1, 2])));
        assert!(!goes(&|other| other[0].values = Values::Zeros(3)));
        assert!(!goes(&|other| other[1] = Column::words("word", vec![0, 1], &["a", "c"])));
    }
}
