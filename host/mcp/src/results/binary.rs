//! Normalization of base64 from servers to standard base64.

use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::{Engine, alphabet};
use std::borrow::Cow;

/// Decoder that accepts missing padding and non-zero trailing bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Returns standard base64 with padding, and the bytes. Also accepts line breaks, the URL-safe alphabet and missing
/// padding; standard base64 is returned unchanged.
pub(super) fn standard(text: &str) -> Option<(Cow<'_, str>, Vec<u8>)> {
    if let Ok(bytes) = STANDARD.decode(text) {
        return Some((Cow::Borrowed(text), bytes));
    }
    let plain: String = text
        .chars()
        .filter(|letter| !letter.is_ascii_whitespace())
        .map(|letter| match letter {
            '-' => '+',
            '_' => '/',
            letter => letter,
        })
        .collect();
    let bytes = LENIENT.decode(plain).ok()?;
    Some((Cow::Owned(STANDARD.encode(&bytes)), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_base64_is_unchanged() {
        for text in ["", "iVBORw0KGgo=", "/+8=", "AAEC"] {
            let (standard, _) = standard(text).unwrap();
            assert!(matches!(standard, Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn other_variants_become_standard_with_the_same_bytes() {
        let all: Vec<u8> = (0..=255).collect();
        let sent = STANDARD.encode(&all);
        let wrapped = sent.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect::<Vec<_>>();
        let spellings = [
            wrapped.join("\r\n") + "\n",
            sent.trim_end_matches('=').to_owned(),
            sent.replace('+', "-").replace('/', "_"),
        ];
        for spelling in spellings {
            let (standard, bytes) = standard(&spelling).unwrap();
            assert_eq!((standard.as_ref(), bytes), (sent.as_str(), all.clone()), "{spelling}");
        }
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["not base64!", "A", "AAAA=A", "data:image/png;base64,AAEC", "é"] {
            assert!(standard(text).is_none(), "{text}");
        }
    }
}
