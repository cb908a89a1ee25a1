//! Arrow's schema of a table, as its readers look for it in a Parquet file: a message of Arrow's
//! `Schema.fbs` in base64. Without it, words would be read as texts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, VOffsetT, WIPOffset};

use crate::column::Column;
use crate::column::Values;

/// The key under which it is kept.
pub(crate) const KEY: &str = "ARROW:schema";

/// The key under which polars keeps the words of an `Enum`, each with its length in front.
const ENUM: &str = "_PL_ENUM_VALUES2";

// Of `Schema.fbs` and `Message.fbs`.
const V5: i16 = 4;
const SCHEMA: u8 = 1;
const INT: u8 = 2;
const FLOATING_POINT: u8 = 3;
const UTF8: u8 = 5;
const DOUBLE: i16 = 2;

/// The place of the field with this number in its table.
const fn slot(number: VOffsetT) -> VOffsetT {
    4 + 2 * number
}

type Builder<'a> = FlatBufferBuilder<'a>;
type FieldOffset = WIPOffset<UnionWIPOffset>;

/// The value under [`KEY`].
pub(crate) fn schema(columns: &[Column]) -> String {
    let mut fbb = Builder::new();
    let fields: Vec<_> = columns.iter().map(|column| field(&mut fbb, column)).collect();
    let fields = fbb.create_vector(&fields);
    let start = fbb.start_table();
    fbb.push_slot_always(slot(1), fields);
    let schema = fbb.end_table(start);
    let start = fbb.start_table();
    fbb.push_slot_always(slot(0), V5);
    fbb.push_slot_always(slot(1), SCHEMA);
    fbb.push_slot_always(slot(2), schema);
    let message = fbb.end_table(start);
    fbb.finish(message, None);
    let data = fbb.finished_data();
    let length = data.len().next_multiple_of(8);
    let mut out = vec![0xff; 4];
    out.extend_from_slice(&(length as u32).to_le_bytes());
    out.extend_from_slice(data);
    out.resize(8 + length, 0);
    STANDARD.encode(out)
}

fn field(fbb: &mut Builder<'_>, column: &Column) -> FieldOffset {
    let name = fbb.create_string(&column.name);
    let (kind, of, words) = match &column.values {
        Values::U32(_) => (INT, int(fbb, 32), None),
        Values::U64(_) | Values::Zeros(_) => (INT, int(fbb, 64), None),
        Values::F64(_) => {
            let start = fbb.start_table();
            fbb.push_slot_always(slot(0), DOUBLE);
            (FLOATING_POINT, fbb.end_table(start).as_union_value(), None)
        }
        Values::Words(_, words) => {
            let start = fbb.start_table();
            (UTF8, fbb.end_table(start).as_union_value(), Some(dictionary(fbb, words)))
        }
    };
    let none: [FieldOffset; 0] = [];
    let children = fbb.create_vector(&none);
    let start = fbb.start_table();
    fbb.push_slot_always(slot(0), name);
    fbb.push_slot_always(slot(1), column.optional);
    fbb.push_slot_always(slot(2), kind);
    fbb.push_slot_always(slot(3), of);
    if let Some((dictionary, _)) = words {
        fbb.push_slot_always(slot(4), dictionary);
    }
    fbb.push_slot_always(slot(5), children);
    if let Some((_, metadata)) = words {
        fbb.push_slot_always(slot(6), metadata);
    }
    fbb.end_table(start).as_union_value()
}

/// An unsigned number.
fn int(fbb: &mut Builder<'_>, bits: i32) -> FieldOffset {
    let start = fbb.start_table();
    fbb.push_slot_always(slot(0), bits);
    fbb.push_slot_always(slot(1), false);
    fbb.end_table(start).as_union_value()
}

type Metadata<'a> =
    WIPOffset<flatbuffers::Vector<'a, flatbuffers::ForwardsUOffset<UnionWIPOffset>>>;

/// That a column counts through words, in their order; and the words.
fn dictionary<'a>(fbb: &mut Builder<'a>, words: &[String]) -> (FieldOffset, Metadata<'a>) {
    let index = int(fbb, 8);
    let start = fbb.start_table();
    fbb.push_slot_always(slot(1), index);
    fbb.push_slot_always(slot(2), true);
    let dictionary = fbb.end_table(start).as_union_value();
    let listed: String =
        words.iter().fold(String::new(), |all, word| format!("{all}{};{word}", word.len()));
    let (key, value) = (fbb.create_string(ENUM), fbb.create_string(&listed));
    let start = fbb.start_table();
    fbb.push_slot_always(slot(0), key);
    fbb.push_slot_always(slot(1), value);
    let pair = fbb.end_table(start).as_union_value();
    (dictionary, fbb.create_vector(&[pair]))
}
