//! Hex and base64 encodings.

use crate::error::StdError;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine as _};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

#[derive(Clone, Copy)]
pub(super) enum Encoding {
    Hex,
    /// RFC 4648, section 4; written with padding.
    Base64,
    /// RFC 4648, section 5; written without padding, as in tokens and URLs.
    Base64Url,
}

/// By their names in scripts.
pub(super) const ENCODINGS: &[(&str, Encoding)] =
    &[("hex", Encoding::Hex), ("base64", Encoding::Base64), ("base64url", Encoding::Base64Url)];

/// Padding is redundant and often omitted: it may be missing, wholly or in part.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT.with_encode_padding(false));

impl Encoding {
    pub(super) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Encoding::Hex => HEXLOWER.encode(bytes),
            Encoding::Base64 => BASE64.encode(bytes),
            Encoding::Base64Url => BASE64_URL.encode(bytes),
        }
    }

    pub(super) fn decode(self, text: &str) -> Result<Vec<u8>, StdError> {
        match self {
            Encoding::Hex => unhex(text),
            Encoding::Base64 => BASE64.decode(text).map_err(|error| refuse("base64", "base64url", b"-_", error)),
            Encoding::Base64Url => BASE64_URL.decode(text).map_err(|error| refuse("base64url", "base64", b"+/", error)),
        }
    }
}

/// Decodes hex in either case.
fn unhex(text: &str) -> Result<Vec<u8>, StdError> {
    // The decoder counts bytes, and tells an odd length first.
    if let Some(place) = text.chars().position(|character| !character.is_ascii_hexdigit()) {
        return Err(StdError::invalid(format!("text is not hex: character {} is not a hex digit", place + 1)));
    }
    let odd = |_| StdError::invalid("text is not hex: it has an odd number of digits");
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(odd)
}

/// Converts a decoding error, and hints at the other encoding if the text uses its characters.
fn refuse(name: &str, other: &str, characters: &[u8], error: DecodeError) -> StdError {
    StdError::invalid(match error {
        DecodeError::InvalidByte(place, byte) if characters.contains(&byte) => {
            format!("text is not {name}: character {} is one of {other}", place + 1)
        }
        DecodeError::InvalidByte(place, _) => {
            format!("text is not {name}: character {} is invalid", place + 1)
        }
        DecodeError::InvalidLength(_) => format!("text is not {name}: a character is missing, or one is too many"),
        DecodeError::InvalidLastSymbol(..) => format!("text is not {name}: its last character is invalid"),
        DecodeError::InvalidPadding => format!("text is not {name}: its padding is wrong"),
    })
}
