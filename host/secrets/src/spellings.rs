//! Spellings of a secret: its encodings in JSON, URLs, HTML, hexadecimal, UTF-16 and base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::{HEXLOWER, HEXUPPER};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Characters besides letters and digits that URL encoders leave unescaped: none, RFC 3986, `encodeURIComponent`,
/// forms, Python's `quote`, `encodeURI`, and the userinfo, path and query of the URL standard.
const UNESCAPED: [&str; 9] = [
    "",
    "-._~",
    "-_.!~*'()",
    "*-._",
    "-._~/",
    "-_.!~*'();/?:@&=+$,#",
    "!$%&'()*+,-._~",
    "!$%&'()*+,-./:;=@[\\]_|~",
    "!$%&()*+,-./:;=?@[\\]^_`{|}~",
];

/// Characters that JSON encoders escape without need: none, Go, Ruby and PHP, .NET.
const OVERESCAPED: [&str; 4] = ["", "<>&", "<>&'", "<>&'\"+`"];

/// Returns all spellings of the text. They are case-sensitive.
pub(super) fn spellings(text: &str) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::from([text.as_bytes().to_vec()]);
    let mut add = |spelling: String| {
        found.insert(spelling.into_bytes());
    };
    json_spellings(text, &mut add);
    percent_spellings(text, &mut add);
    base64_spellings(text, &mut add);
    add(html(text, "&#39;"));
    add(html(text, "&#x27;"));
    add(HEXLOWER.encode(text.as_bytes()));
    add(HEXUPPER.encode(text.as_bytes()));
    found.insert(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    found.insert(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    found
}

/// Returns the most common spellings, for long texts, which would have too many.
pub(super) fn common_spellings(text: &str) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::from([text.to_owned()]);
    found.insert(json(text, MINIMAL));
    found.insert(json(text, Escapes { ascii: true, ..MINIMAL }));
    let component = percent(text, true, |byte| is_left(byte, "-_.!~*'()"));
    found.insert(percent(text, true, |byte| is_left(byte, "*-._")).replace("%20", "+"));
    found.insert(component);
    found.extend(base64_parts(text).iter().map(|part| part.replace('+', "-").replace('/', "_")));
    found.extend(base64_parts(text));
    found.into_iter().map(String::into_bytes).collect()
}

fn json_spellings(text: &str, add: &mut impl FnMut(String)) {
    for needless in OVERESCAPED {
        for (ascii, slash, upper) in flags() {
            add(json(text, Escapes { needless, ascii, slash, upper }));
        }
    }
    // JSON in a JSON string, for example if a tool returns JSON as text and the whole message is shown.
    let ascii = Escapes { ascii: true, ..MINIMAL };
    add(json(&json(text, MINIMAL), MINIMAL));
    add(json(&json(text, ascii), ascii));
}

fn flags() -> impl Iterator<Item = (bool, bool, bool)> {
    (0..8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0))
}

/// Characters that a JSON encoder escapes in addition to the required ones.
#[derive(Clone, Copy)]
struct Escapes {
    needless: &'static str,
    ascii: bool,
    slash: bool,
    upper: bool,
}

/// Only the required escapes.
const MINIMAL: Escapes = Escapes { needless: "", ascii: false, slash: false, upper: false };

fn json(text: &str, escapes: Escapes) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            wanted if escapes.needless.contains(wanted) => push_units(&mut out, wanted, escapes.upper),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '/' if escapes.slash => out.push_str("\\/"),
            control if control < ' ' => push_units(&mut out, control, escapes.upper),
            foreign if escapes.ascii && !foreign.is_ascii() => push_units(&mut out, foreign, escapes.upper),
            other => out.push(other),
        }
    }
    out
}

fn push_units(out: &mut String, character: char, upper: bool) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        // Writing to a String cannot fail.
        let _ = if upper { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
    }
}

fn percent_spellings(text: &str, add: &mut impl FnMut(String)) {
    for upper in [true, false] {
        add(percent(text, upper, |_| false));
        for left in UNESCAPED {
            let spelt = percent(text, upper, |byte| is_left(byte, left));
            add(spelt.replace("%20", "+"));
            add(spelt);
        }
    }
}

fn is_left(byte: u8, left: &str) -> bool {
    byte.is_ascii_alphanumeric() || left.as_bytes().contains(&byte)
}

fn percent(text: &str, upper: bool, keep: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let _ = match (keep(byte), upper) {
            (true, _) => write!(out, "{}", char::from(byte)),
            (false, true) => write!(out, "%{byte:02X}"),
            (false, false) => write!(out, "%{byte:02x}"),
        };
    }
    out
}

fn base64_spellings(text: &str, add: &mut impl FnMut(String)) {
    for part in base64_parts(text) {
        let url_safe = part.replace('+', "-").replace('/', "_");
        add(url_safe.replace('=', "%3D"));
        add(url_safe);
        add(part.replace('/', "\\/"));
        add(part.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"));
        add(part.replace('+', "%2b").replace('/', "%2f").replace('=', "%3d"));
        add(part);
    }
}

/// Returns base64 of the text at any position in the encoded bytes: 0, 1 or 2 bytes into a group of three. Characters
/// at either end that also depend on neighbouring bytes are left out, except at the end of the encoded bytes.
fn base64_parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for (before, first) in [(0, 0), (1, 2), (2, 3)] {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(text.as_bytes());
        let encoded = STANDARD.encode(&bytes);
        let certain = bytes.len() * 8 / 6;
        let unpadded = encoded.trim_end_matches('=').len();
        let ends = [certain, unpadded, encoded.len()];
        parts.extend(ends.iter().filter_map(|end| encoded.get(first..*end)).map(str::to_owned));
    }
    parts
}

fn html(text: &str, apostrophe: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    escaped.replace('\'', apostrophe)
}

#[cfg(test)]
#[path = "spellings_tests.rs"]
mod tests;
