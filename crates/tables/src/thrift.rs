//! The compact protocol of Thrift, in which Parquet keeps its metadata; as far as Parquet needs it.

/// Kinds of fields.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I8: u8 = 3;
const I16: u8 = 4;
pub(crate) const I32: u8 = 5;
const I64: u8 = 6;
pub(crate) const BINARY: u8 = 8;
const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

/// A number in groups of seven bits, the lowest first.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A signed number in a form that is short near zero.
pub(crate) fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint(out, (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned());
}

/// Writes one struct, field by field in ascending order.
pub(crate) struct StructFields<'a> {
    out: &'a mut Vec<u8>,
    last: u8,
}

impl<'a> StructFields<'a> {
    /// The fields of a struct; it ends with [`StructFields::end`].
    pub(crate) fn of(out: &'a mut Vec<u8>) -> Self {
        Self { out, last: 0 }
    }

    fn begin(&mut self, id: u8, kind: u8) -> &mut Vec<u8> {
        assert!(id > self.last && id - self.last < 16, "fields ascend");
        self.out.push((id - self.last) << 4 | kind);
        self.last = id;
        self.out
    }

    pub(crate) fn bool(mut self, id: u8, value: bool) -> Self {
        self.begin(id, if value { TRUE } else { FALSE });
        self
    }

    pub(crate) fn i8(mut self, id: u8, value: i8) -> Self {
        self.begin(id, I8).push(value.cast_unsigned());
        self
    }

    pub(crate) fn i16(mut self, id: u8, value: i16) -> Self {
        zigzag(self.begin(id, I16), value.into());
        self
    }

    pub(crate) fn i32(mut self, id: u8, value: i32) -> Self {
        zigzag(self.begin(id, I32), value.into());
        self
    }

    pub(crate) fn i64(mut self, id: u8, value: i64) -> Self {
        zigzag(self.begin(id, I64), value);
        self
    }

    /// A count, as a number of 32 bits.
    pub(crate) fn count(self, id: u8, value: usize) -> Self {
        self.i32(id, i32::try_from(value).expect("pages and lists are below 2 GiB"))
    }

    /// A place or a size, as a number of 64 bits.
    pub(crate) fn size(self, id: u8, value: u64) -> Self {
        self.i64(id, value.cast_signed())
    }

    pub(crate) fn text(mut self, id: u8, value: &str) -> Self {
        text(self.begin(id, BINARY), value);
        self
    }

    /// A struct inside this one.
    pub(crate) fn inner(mut self, id: u8, write: impl FnOnce(StructFields<'_>)) -> Self {
        write(StructFields::of(self.begin(id, STRUCT)));
        self
    }

    /// A list of one kind; `write` appends an element as its kind is written outside of structs.
    pub(crate) fn list<T>(
        mut self,
        id: u8,
        kind: u8,
        elements: &[T],
        mut write: impl FnMut(&mut Vec<u8>, &T),
    ) -> Self {
        let out = self.begin(id, LIST);
        match elements.len() {
            few @ 0..15 => out.push((few as u8) << 4 | kind),
            many => {
                out.push(0xf0 | kind);
                varint(out, many as u64);
            }
        }
        for element in elements {
            write(out, element);
        }
        self
    }

    pub(crate) fn end(self) {
        self.out.push(0);
    }
}

/// A text as an element of a list.
pub(crate) fn text(out: &mut Vec<u8>, value: &str) {
    varint(out, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_need() {
        let mut out = Vec::new();
        for value in [0, 1, 127, 128, 300, u64::MAX] {
            varint(&mut out, value);
        }
        assert_eq!(out[..6], [0, 1, 127, 0x80, 1, 0xac]);
        assert_eq!(out.len(), 1 + 1 + 1 + 2 + 2 + 10);
        out.clear();
        for value in [0, -1, 1, -2, i64::MIN] {
            zigzag(&mut out, value);
        }
        assert_eq!(out[..4], [0, 1, 2, 3]);
        assert_eq!(out[4..], [[0xff; 9].as_slice(), &[1]].concat());
    }

    #[test]
    fn a_struct_by_hand() {
        // The example of a struct with a short jump, a list, a struct inside and both truths.
        let mut out = Vec::new();
        StructFields::of(&mut out)
            .i32(1, -3)
            .bool(3, true)
            .bool(4, false)
            .text(5, "ab")
            .list(6, I32, &[7, 8], |out, &n| zigzag(out, n))
            .inner(8, |inner| inner.i64(2, 64).end())
            .end();
        let expected = [
            0x15, 5,    // field 1, i32, zigzag of -3
            0x21, // field 3, true
            0x12, // field 4, false
            0x18, 2, b'a', b'b', // field 5, binary of two
            0x19, 0x25, 14, 16, // field 6, a list of two i32
            0x2c, 0x26, 0x80, 1, 0, // field 8, a struct: field 2, i64, 128; its end
            0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn a_long_list_has_its_length_apart() {
        let mut out = Vec::new();
        StructFields::of(&mut out).list(1, I32, &[0; 15], |out, &n| zigzag(out, n)).end();
        assert_eq!(out[..3], [0x19, 0xf5, 15]);
    }
}
