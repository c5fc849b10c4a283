//! Base64 that plain search cannot match: over several lines, or strings that are base64 as a whole.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use std::ops::Range;
use std::sync::LazyLock;

/// Shortest line of wrapped base64, which has lines of 64 or 76 characters.
const MIN_LINE: usize = 60;

/// Length of the shortest secret in base64, without padding.
const MIN_WHOLE: usize = 11;

/// Lenient decoder, for sloppy encoders.
const DECODER: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Line breaks, plain and as JSON escapes.
static BREAKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let breaks = ["\r\n", "\n", "\\r\\n", "\\n"];
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(breaks).ok()
});

/// Block of base64 over several lines.
pub(super) struct Block {
    /// Its range in the text.
    pub(super) range: Range<usize>,
    /// The base64 without line breaks.
    pub(super) joined: Vec<u8>,
}

/// Returns all blocks of base64 over several lines.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    let mut line_start = 0;
    let bytes = text.as_bytes();
    let breaks = BREAKS.iter().flat_map(|breaks| breaks.find_iter(bytes)).map(|found| (found.start(), found.end()));
    for (line_end, next) in breaks.chain([(bytes.len(), bytes.len())]) {
        let line = bytes.get(line_start..line_end).unwrap_or_default();
        open = open.take().and_then(|mut block| {
            let head = line.iter().take_while(|byte| is_base64(**byte)).count();
            block.joined.extend_from_slice(line.get(..head).unwrap_or_default());
            block.range.end = if head == 0 { block.range.end } else { line_start + head };
            let goes_on = head == line.len() && head > 0;
            if goes_on {
                return Some(block);
            }
            found.push(block);
            None
        });
        if open.is_none() && line_end < bytes.len() {
            let tail = line.iter().rev().take_while(|byte| is_base64(**byte)).count();
            if tail >= MIN_LINE {
                let range = line_end - tail..line_end;
                open = Some(Block { joined: bytes.get(range.clone()).unwrap_or_default().to_vec(), range });
            }
        }
        line_start = next;
    }
    found.extend(open);
    // Plain search finds blocks of a single line.
    found.retain(|block| block.range.len() > block.joined.len());
    found
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Decodes a string that is base64 as a whole, or a `data:` URL.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let body = match text.strip_prefix("data:") {
        Some(address) => address.split_once(";base64,")?.1,
        None => text,
    };
    if body.len() < MIN_WHOLE {
        return None;
    }
    let mut standard = Vec::new();
    for byte in body.trim_end_matches(['=', '\n', '\r']).bytes() {
        match byte {
            b'-' => standard.push(b'+'),
            b'_' => standard.push(b'/'),
            b'\n' | b'\r' => {}
            byte if is_base64(byte) => standard.push(byte),
            _ => return None,
        }
    }
    if standard.len() % 4 == 1 {
        standard.pop();
    }
    DECODER.decode(standard).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_over_lines_is_joined() {
        let line = "QUJD".repeat(19);
        for line_break in ["\n", "\r\n", "\\n"] {
            let text = format!("key: {line}{line_break}{line}{line_break}REVG== end");
            let found = blocks(&text);
            assert_eq!(found.len(), 1, "{line_break:?}");
            assert_eq!(found[0].joined, format!("{line}{line}REVG").into_bytes());
            assert_eq!(&text[found[0].range.clone()], &text[5..text.len() - "== end".len()]);
        }
    }

    #[test]
    fn base64_on_one_line_is_left_to_plain_search() {
        let line = "QUJD".repeat(19);
        for text in [line.clone(), format!("{line}\n"), format!("{line}\n\nQUJD"), format!("x\n{line}")] {
            assert!(blocks(&text).is_empty(), "{text}");
        }
    }

    #[test]
    fn prose_over_lines_is_no_base64() {
        assert!(blocks("a line of words\nand another line of words that goes on\n").is_empty());
    }

    #[test]
    fn whole_strings_are_decoded_however_they_are_written() {
        for text in
            ["aGVsbG8gd29ybGQ=", "aGVsbG8gd29ybGQ", "aGVsbG8g\nd29ybGQ=\n", "data:text/plain;base64,aGVsbG8gd29ybGQ="]
        {
            assert_eq!(decoded(text).as_deref(), Some(&b"hello world"[..]), "{text}");
        }
        assert_eq!(decoded("hello world, hello"), None);
        assert_eq!(decoded("data:text/plain,hello"), None);
    }
}
