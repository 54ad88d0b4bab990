//! Strings as Java has them: what it makes of bytes that are no UTF-8, and the order it sorts by.

use alloc::string::String;
use core::cmp::Ordering;

/// The longest string that Kafka's length prefix can say, in bytes.
pub(crate) const MAX_LENGTH: usize = i16::MAX as usize;

/// Reads UTF-8 as `new String(bytes, UTF_8)` does, with U+FFFD for what is wrong.
///
/// That is one U+FFFD for each longest prefix of a character, as Rust does, with one difference:
/// Java takes an encoded surrogate (`ed a0..=bf`, with a third byte or cut off before it) for one
/// malformed character, Rust for two or three.
pub(crate) fn replace_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let error = match str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return text;
            }
            Err(error) => error,
        };
        let (valid, invalid) = rest.split_at(error.valid_up_to());
        text.push_str(str::from_utf8(valid).unwrap_or_default());
        text.push(char::REPLACEMENT_CHARACTER);
        rest = &invalid[malformed_length(invalid)..];
    }
}

/// How many bytes at the start of `invalid`, which starts with a malformed character, belong to it.
fn malformed_length(invalid: &[u8]) -> usize {
    match invalid {
        [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] => 3,
        [0xed, 0xa0..=0xbf, ..] => 2,
        _ => {
            let error = str::from_utf8(invalid).err();
            error.and_then(|error| error.error_len()).unwrap_or(invalid.len())
        }
    }
}

/// Compares as `String.compareTo` does in Java, by UTF-16 code units.
///
/// That is the order of the bytes of UTF-8, except that characters above U+FFFF, whose first
/// code unit is a surrogate (`d800..=dfff`), come before U+E000 to U+FFFF, which start with the
/// bytes `ee` and `ef`. Names that Kafka allows are ASCII, where both orders agree.
pub(crate) fn java_order(left: &str, right: &str) -> Ordering {
    if left.is_ascii() || right.is_ascii() {
        return left.cmp(right);
    }
    let differing = left.bytes().zip(right.bytes()).find(|(left, right)| left != right);
    match differing {
        Some((left, right)) => rank(left).cmp(&rank(right)),
        None => left.len().cmp(&right.len()),
    }
}

/// Moves the first bytes of U+E000 to U+FFFF behind those of the characters above U+FFFF. No other
/// byte of a character can be one of these.
fn rank(byte: u8) -> u8 {
    match byte {
        0xee | 0xef => byte + 0x10,
        _ => byte,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_utf8_is_replaced_as_java_replaces_it() {
        // What OpenJDK 17 makes of these bytes, `?` standing for U+FFFD.
        let cases: &[(&[u8], &str)] = &[
            (b"", ""),
            (b"plain", "plain"),
            ("Zürich 東京 😀".as_bytes(), "Zürich 東京 😀"),
            (b"\xff", "?"),
            (b"a\xc0\x80b", "a??b"),
            (b"\xe4\xbd", "?"),
            (b"\xe4\xbda", "?a"),
            (b"\xe0\x80\x80", "???"),
            (b"\xed\xa0\x80", "?"),
            (b"\xed\xbf\xbfx", "?x"),
            (b"\xed\xa0", "?"),
            (b"\xed\xa0x", "?x"),
            (b"\xed", "?"),
            (b"\xedx", "?x"),
            (b"\xed\xa0\x80\xed\xb0\x80", "??"),
            (b"\xf0\x90", "?"),
            (b"\xf0\x90x", "?x"),
            (b"\xf0\x90\x80", "?"),
            (b"\xf0\x80\x80\x80", "????"),
            (b"\xf4\x90\x80\x80", "????"),
            (b"\xf5\x80\x80\x80", "????"),
            (b"\x80\x80", "??"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(replace_invalid(bytes).replace('\u{fffd}', "?"), *expected, "{bytes:02x?}");
        }
    }

    proptest! {
        #[test]
        fn strings_compare_by_utf16_code_units(left in any::<String>(), right in any::<String>()) {
            let expected = left.encode_utf16().collect::<Vec<_>>().cmp(&right.encode_utf16().collect());
            prop_assert_eq!(java_order(&left, &right), expected);
        }

        #[test]
        fn strings_around_the_surrogates_compare_by_utf16_code_units(
            left in "[\u{d000}-\u{d7ff}\u{e000}-\u{10ffff}a]{0,3}",
            right in "[\u{d000}-\u{d7ff}\u{e000}-\u{10ffff}a]{0,3}",
        ) {
            let expected = left.encode_utf16().collect::<Vec<_>>().cmp(&right.encode_utf16().collect());
            prop_assert_eq!(java_order(&left, &right), expected);
        }

        #[test]
        fn a_prefix_comes_first(prefix in any::<String>(), rest in ".+") {
            let longer = [prefix.as_str(), &rest].concat();
            prop_assert_eq!(java_order(&prefix, &longer), Ordering::Less);
            prop_assert_eq!(java_order(&longer, &prefix), Ordering::Greater);
            prop_assert_eq!(java_order(&longer, &longer), Ordering::Equal);
        }
    }
}
