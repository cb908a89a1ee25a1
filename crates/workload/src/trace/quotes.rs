//! Quotes around the fields of a table, as in RFC 4180.
//!
//! A line with quotes is copied once: quotes become blanks, so every field keeps its place and the
//! readers need not know of them. A separator inside quotes becomes a byte that separates nothing.

use super::fields::{BLANK, Fault};

/// The bytes that represent a comma, a semicolon, a tab and a blank inside quotes.
pub(crate) const COMMA: u8 = 0x1c;
const SEMICOLON: u8 = 0x1d;
const TAB: u8 = 0x1e;
/// See above.
pub(crate) const BLANK_INSIDE: u8 = 0x1f;
const INSIDE: [(u8, u8); 4] =
    [(b',', COMMA), (b';', SEMICOLON), (b'\t', TAB), (b' ', BLANK_INSIDE)];

/// Copies a line without its quotes. `separator` is that of the table, `None` if it is not known.
pub(crate) fn unquote(
    line: &[u8],
    separator: Option<u8>,
    copy: &mut Vec<u8>,
) -> Result<(), Box<Fault>> {
    copy.clear();
    copy.extend_from_slice(line);
    let separates = |byte: u8| match separator {
        Some(BLANK) => byte == b' ' || byte == b'\t',
        Some(separator) => byte == separator,
        None => matches!(byte, b',' | b';' | b'\t'),
    };
    let (mut begun, mut empty, mut i) = (None, true, 0);
    while i < copy.len() {
        let byte = copy[i];
        match (byte, begun) {
            (b'"', Some(_)) if copy.get(i + 1) == Some(&b'"') => i += 1,
            (b'"', Some(_)) => {
                copy[i] = b' ';
                (begun, empty) = (None, false);
            }
            // A quote amid a field is a letter like others.
            (b'"', None) if empty => {
                copy[i] = b' ';
                begun = Some(i);
            }
            (_, Some(_)) if separates(byte) => {
                copy[i] = INSIDE.iter().find(|(b, _)| *b == byte).map_or(byte, |(_, to)| *to);
            }
            (b' ', None) if separator.is_none() => empty = true,
            (_, None) if separates(byte) => empty = true,
            (b' ', _) => {}
            _ => empty = false,
        }
        i += 1;
    }
    match begun {
        None => Ok(()),
        Some(at) => {
            let found = "a quote that does not end on its line".into();
            let hint = "a field with a line end in it is not read";
            Err(Box::new(Fault {
                at: Some(at),
                found,
                expected: "a second quote".into(),
                hint: hint.into(),
            }))
        }
    }
}

/// The bytes of a field as they were inside the quotes.
pub(crate) fn restored(field: &[u8]) -> Vec<u8> {
    let restore = |byte: &u8| INSIDE.iter().find(|(_, to)| to == byte).map_or(*byte, |(b, _)| *b);
    field.iter().map(restore).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stay_where_they_are() {
        let cases = [
            (r#""1.0","R",4096"#, Some(b','), " 1.0 , R ,4096"),
            (r#""a,b";"c;d""#, Some(b';'), " a,b ; c\x1dd "),
            (r#""a,b","c;d""#, None, " a\x1cb , c\x1dd "),
            (r#" "x y" "1""#, Some(BLANK), "  x\x1fy   1 "),
            (r#"5" disk,"","a""b""#, Some(b','), "5\" disk,  , a\"\"b "),
        ];
        for (line, separator, want) in cases {
            let mut copy = Vec::new();
            unquote(line.as_bytes(), separator, &mut copy).unwrap();
            assert_eq!(String::from_utf8(copy.clone()).unwrap(), want);
            assert_eq!(copy.len(), line.len());
        }
        assert_eq!(restored(b"a\x1cb\x1dc\x1ed\x1fe"), b"a,b;c\td e");
        let open = unquote(br#"1,"R,4096"#, Some(b','), &mut Vec::new()).unwrap_err();
        assert_eq!(open.at, Some(2));
    }
}
