//! Digits of bytes.

use std::fmt::Write;

/// Bytes in hexadecimal digits, two for each, in lower case: the usual text of a digest.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes every text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::hexadecimal;

    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(hexadecimal(&[]), "");
        assert_eq!(hexadecimal(&[0, 1, 0x0a, 0x10, 0xfe, 0xff]), "00010a10feff");
    }
}
