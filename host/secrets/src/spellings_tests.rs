//! Tests of spellings against real encoders.

use super::*;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use url::form_urlencoded;

const SECRET: &str = "p/q\"r\\s é&<日😀+ t?>'=";

fn has(spelling: &str) {
    assert!(spellings(SECRET).contains(spelling.as_bytes()), "{spelling}");
}

#[test]
fn json_of_common_encoders() {
    has(serde_json::to_string(SECRET).expect("text").trim_matches('"'));
    // Python, PHP, Go, .NET
    has(r#"p/q\"r\\s \u00e9&<\u65e5\ud83d\ude00+ t?>'="#);
    has(r#"p\/q\"r\\s \u00e9&<\u65e5\ud83d\ude00+ t?>'="#);
    has(r#"p/q\"r\\s é\u0026\u003c日😀+ t?\u003e'="#);
    has(r"p/q\u0022r\\s \u00E9\u0026\u003C\u65E5\uD83D\uDE00\u002B t?\u003E\u0027=");
    let once = serde_json::to_string(SECRET).expect("text");
    has(serde_json::to_string(&once).expect("text").trim_matches(['"', '\\']));
}

#[test]
fn urls_of_common_encoders() {
    has(&form_urlencoded::byte_serialize(SECRET.as_bytes()).collect::<String>());
    // encodeURIComponent, encodeURI, quote
    has("p%2Fq%22r%5Cs%20%C3%A9%26%3C%E6%97%A5%F0%9F%98%80%2B%20t%3F%3E'%3D");
    has("p/q%22r%5Cs%20%C3%A9&%3C%E6%97%A5%F0%9F%98%80+%20t?%3E'=");
    has("p/q%22r%5Cs%20%C3%A9%26%3C%E6%97%A5%F0%9F%98%80%2B%20t%3F%3E%27%3D");
    has("p%2fq%22r%5cs+%c3%a9%26%3c%e6%97%a5%f0%9f%98%80%2b+t%3f%3e%27%3d");
    let url = url::Url::parse(&format!("http://h/?{}", SECRET.replace('#', "%23"))).expect("address");
    has(url.query().expect("query"));
    let mut url = url::Url::parse("http://h/").expect("address");
    url.set_username(SECRET).expect("user");
    has(url.username());
}

#[test]
fn html_hex_and_utf_16() {
    has("p/q&quot;r\\s é&amp;&lt;日😀+ t?&gt;&#39;=");
    assert!(spellings("p/q").contains(&b"702f71"[..]) && spellings("p/q").contains(&b"702F71"[..]));
    assert!(spellings("ab").contains(&b"a\0b\0"[..]) && spellings("ab").contains(&b"\0a\0b"[..]));
}

#[test]
fn base64_as_a_whole_is_found_to_its_end() {
    has(&STANDARD.encode(SECRET));
    has(&STANDARD_NO_PAD.encode(SECRET));
    has(&URL_SAFE.encode(SECRET));
    has(&URL_SAFE_NO_PAD.encode(SECRET));
    has(&STANDARD.encode(SECRET).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"));
    has(&STANDARD.encode(SECRET).replace('/', "\\/"));
}

#[test]
fn an_ordinary_token_has_few_spellings() {
    assert!(spellings("ghp_0123456789abcdefghijklmnopqrstuvwxyz").len() < 40);
}
