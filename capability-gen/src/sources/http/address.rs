//! URL validation: scheme, host, port and path. Only the path may have parameters.

use super::super::error::SourceError;
use super::super::node::Node;
use url::Url;

/// Maximum length of a base URL.
const MAX_BASE_BYTES: usize = 2048;

/// Parses a tool's base URL: `https://api.example.com/v1`.
pub(super) fn base(node: &Node<'_>) -> Result<String, SourceError> {
    let text = node.text("\"baseUrl\"")?;
    if text.contains("{{") {
        return Err(node.error("the base URL has a parameter in it", "Put it into a \"path\" or a \"query\"."));
    }
    plain_base(text).map_err(|why| refuse(node, why))
}

/// Parses a full URL, whose path may have parameters.
pub(super) fn whole(node: &Node<'_>) -> Result<String, SourceError> {
    let text = node.text("\"url\"")?;
    let start = text.find("://").map_or(0, |at| at + 3);
    let authority = text.get(start..).unwrap_or_default();
    let end = authority.find(['/', '?', '#', '\\']).map_or(text.len(), |at| start + at);
    let (origin, path) = text.split_at_checked(end).unwrap_or((text, ""));
    if origin.contains("{{") {
        let message = "a parameter is in the scheme, the host or the port";
        return Err(node.error(message, "Write these literally: parameters are allowed in the path and the query."));
    }
    let origin = plain_base(origin).map_err(|why| refuse(node, why))?;
    let path = if path.is_empty() { "/" } else { path };
    Ok(origin + &plain_path(path).map_err(|why| refuse(node, why))?)
}

/// Parses a path below a tool's base URL.
pub(super) fn path(node: &Node<'_>) -> Result<String, SourceError> {
    plain_path(node.text("\"path\"")?).map_err(|why| refuse(node, why))
}

fn refuse(node: &Node<'_>, why: &str) -> SourceError {
    node.error(why, "Write a URL such as \"https://api.example.com/v1\", or a path such as \"/pets/{{petId}}\".")
}

/// Normalizes a base URL without parameters: a canonical origin, and a path without its trailing `/`.
pub(in crate::sources) fn plain_base(text: &str) -> Result<String, &'static str> {
    if text.len() > MAX_BASE_BYTES {
        return Err("the URL is too long");
    }
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return Err("the URL does not begin with \"https://\" or \"http://\"");
    }
    // URL parsers disagree about these.
    if text.contains(|character: char| character.is_control() || character.is_whitespace() || character == '\\') {
        return Err("the URL contains a space, a backslash or a control character");
    }
    let url = Url::parse(text).map_err(|_| "invalid URL")?;
    if !url.username().is_empty() || url.password().is_some() || text.contains('@') {
        return Err("the URL contains a user name or password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the URL contains a \"?\" or \"#\": write the query under \"query\"");
    }
    let (_, after) = text.split_once("://").ok_or("invalid URL")?;
    let (authority, path) = after.split_at_checked(after.find('/').unwrap_or(after.len())).unwrap_or((after, ""));
    // URL parsers disagree about escapes and omissions here.
    if authority.is_empty() || authority.contains(['%', '{', '}', '<', '>', '"', '^', '|', '`']) {
        return Err("the URL has no host, or an ambiguous one");
    }
    let path = plain_path(path.strip_suffix('/').unwrap_or(path))?;
    Ok(url.origin().ascii_serialization() + &path)
}

/// Validates and encodes a path, except its parameters.
pub(in crate::sources) fn plain_path(text: &str) -> Result<String, &'static str> {
    if !text.is_empty() && !text.starts_with('/') {
        return Err("the path does not begin with \"/\"");
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        push_encoded(&mut plain, before)?;
        let (name, after) = after.split_once("}}").ok_or("a \"{{\" in the path has no \"}}\" after it")?;
        plain.push_str("{{");
        plain.push_str(name);
        plain.push_str("}}");
        rest = after;
    }
    push_encoded(&mut plain, rest)?;
    if plain.split('/').any(is_dots) {
        return Err("the path contains a \".\" or \"..\" segment");
    }
    Ok(plain)
}

/// Returns true for a `.` or `..` segment, in any encoding.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}

fn push_encoded(plain: &mut String, text: &str) -> Result<(), &'static str> {
    if text.contains(|character: char| character.is_control() || character.is_whitespace() || character == '\\') {
        return Err("the path contains a space, a backslash or a control character");
    }
    if text.contains(['?', '#']) {
        return Err("the path contains a \"?\" or \"#\": write the query under \"query\"");
    }
    for (at, character) in text.char_indices() {
        if character == '%' {
            let digits = text.as_bytes().get(at + 1..at + 3);
            if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                return Err("a \"%\" in the path is not followed by two hexadecimal digits");
            }
        }
        if character.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%/".contains(character) {
            plain.push(character);
        } else {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                plain.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{plain_base, plain_path};

    #[test]
    fn a_base_is_an_origin_and_a_path() {
        for (text, plain) in [
            ("https://api.example.com", "https://api.example.com"),
            ("https://API.example.com:443/v1/", "https://api.example.com/v1"),
            ("http://127.0.0.1:8080/ä", "http://127.0.0.1:8080/%C3%A4"),
            ("https://[::1]/", "https://[::1]"),
        ] {
            assert_eq!(plain_base(text).as_deref(), Ok(plain), "{text}");
        }
        for text in [
            "ftp://a.example",
            "//a.example",
            "https://",
            "https:///a",
            "https://{host}/",
            "https://ev%69l.example",
            "https:/a.example",
            "https://user@a.example",
            "https://a.example@b.example",
            "https://a.example\\@b.example",
            "https://a.example/?b",
            "https://a.example/#b",
            "https://a.example/../b",
            "https://a.example/%2E%2e/b",
            "https://a example",
            "https://a.example/%zz",
            "https://a.example:99999",
            "javascript:alert(1)",
        ] {
            assert!(plain_base(text).is_err(), "{text}: {:?}", plain_base(text));
        }
    }

    #[test]
    fn a_path_keeps_its_parameters() {
        assert_eq!(plain_path("/a/{{b c}}/d|ü").as_deref(), Ok("/a/{{b c}}/d%7C%C3%BC"));
        assert_eq!(plain_path("/a{b}").as_deref(), Ok("/a%7Bb%7D"));
        for text in ["a", "/a b", "/a?b", "/a\\b", "/../a", "/./a", "/a/%2e", "/a/.%2E/b", "/%", "/{{a", "/a\nb"] {
            assert!(plain_path(text).is_err(), "{text}");
        }
    }
}
