//! Tests of redaction in everything a server may send.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use data_encoding::HEXLOWER;
use proptest::prelude::*;
use serde_json::json;
use url::form_urlencoded;

fn knowing(secrets: &[&str]) -> Redactor {
    let redactor = Redactor::default();
    secrets.iter().for_each(|secret| redactor.add(&Secret::new(*secret)));
    redactor
}

/// Returns the secret as third-party encoders write it.
fn encoded(secret: &str) -> Vec<String> {
    let quoted = serde_json::to_string(secret).expect("text");
    let hex = HEXLOWER.encode(secret.as_bytes());
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    vec![
        secret.to_owned(),
        quoted.get(1..quoted.len() - 1).expect("quotes").to_owned(),
        form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        percent.to_lowercase(),
        percent,
        hex.to_uppercase(),
        hex,
        STANDARD.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
    ]
}

fn a_secret() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[!-~é日😀][ -~é日😀]{8,60}[!-~é日😀]").expect("pattern")
}

proptest! {
    #[test]
    fn no_spelling_survives_in_text(secret in a_secret(), before in any::<String>(), after in any::<String>()) {
        let redactor = knowing(&[&secret]);
        for spelling in encoded(&secret) {
            let text = format!("{before}{spelling}{after}");
            let masked = redactor.text(&text);
            prop_assert!(!masked.contains(&spelling), "{spelling} in {masked}");
            prop_assert!(masked.contains(MASK));
            prop_assert!(redactor.taints(text.as_bytes()));
        }
    }

    #[test]
    fn no_spelling_survives_in_values(secret in a_secret(), before in any::<String>(), after in any::<String>()) {
        let redactor = knowing(&[&secret]);
        for spelling in encoded(&secret) {
            let text = format!("{before}{spelling}{after}");
            let mut value = json!({"list": [1, {&text: &text}], "text": &text});
            redactor.value(&mut value);
            let strings = [&value["text"], &value["list"][1]].map(Value::to_string);
            prop_assert!(value["text"].as_str().is_some_and(|text| text.contains(MASK)));
            prop_assert!(strings.iter().all(|string| !string.contains(&spelling)), "{spelling} in {value}");
            let inner = value["list"][1].as_object().expect("object");
            prop_assert!(inner.iter().all(|(key, value)| !key.contains(&spelling) && key.contains(MASK)
                && !value.to_string().contains(&spelling)));
        }
    }

    #[test]
    fn base64_around_a_secret_keeps_nothing_of_it(
        secret in a_secret(),
        before in proptest::collection::vec(any::<u8>(), 0..40),
        after in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let redactor = knowing(&[&secret]);
        let bytes = [&before, secret.as_bytes(), &after].concat();
        for text in [STANDARD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            let masked = redactor.text(&text);
            let (left, right) = masked.split_once(MASK).expect("masked");
            // One character at either end may contain a few bits of the secret.
            prop_assert!(left.len() <= (before.len() * 8).div_ceil(6));
            prop_assert!(right.trim_end_matches('=').len() <= (after.len() * 8).div_ceil(6) + 1);
            let mut value = json!(text);
            redactor.value(&mut value);
            prop_assert_eq!(value, json!(MASK));
        }
    }

    /// Each character is plain or one of the escapes that parsers of HTML, URLs and JSON undo.
    #[test]
    fn no_mixture_of_escapes_survives(
        secret in a_secret(),
        ways in proptest::collection::vec(0..6_usize, 1..40),
        before in "[a-z &%\\\\;#]{0,20}",
    ) {
        let redactor = knowing(&[&secret]);
        let way = |(index, character): (usize, char)| {
            let code = u32::from(character);
            match ways[index % ways.len()] {
                // Every encoder escapes a character that begins an escape.
                0 if !matches!(character, '&' | '%' | '\\') => character.to_string(),
                0 | 1 => format!("&#{code};"),
                2 => format!("&#x{code:x};"),
                3 => format!("&#X{code:06X};"),
                4 => character.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect(),
                _ => character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
            }
        };
        let spelling: String = secret.chars().enumerate().map(way).collect();
        // The text before must not become part of the first escape: `&` before `#65;` would.
        let text = format!("{before} {spelling} after");
        let masked = redactor.text(&text);
        prop_assert!(masked.ends_with(&format!("{MASK} after")), "{masked} of {text}");
        let mut value = json!({ &text: [&text] });
        prop_assert!(redactor.is_in(&value));
        redactor.value(&mut value);
        prop_assert!(!redactor.is_in(&value) && !value.to_string().contains(&spelling), "{value}");
    }

    #[test]
    fn text_without_secrets_is_unchanged(secret in "[A-Z]{12,40}", text in "[a-z .,\n\"\\\\%]{0,400}") {
        let redactor = knowing(&[&secret]);
        prop_assert!(matches!(redactor.text(&text), Cow::Borrowed(same) if same == text));
        let mut value = json!({&text: [&text, 1.5, null]});
        let before = value.clone();
        redactor.value(&mut value);
        prop_assert_eq!(value, before);
        prop_assert!(!redactor.taints(text.as_bytes()));
    }
}

#[test]
fn a_redactor_without_secrets_changes_nothing() {
    let redactor = knowing(&["short"]);
    assert!(matches!(redactor.text("short"), Cow::Borrowed("short")));
    assert!(!redactor.taints(b"short"));
}

#[test]
fn stars_keep_lines_and_columns() {
    let redactor = knowing(&["hunter2é\nhunter3"]);
    assert_eq!(redactor.starred("a = 'hunter2é\nhunter3';\n b"), "a = '********\n*******';\n b");
    assert!(matches!(redactor.starred("nothing"), Cow::Borrowed("nothing")));
}

#[test]
fn clones_share_secrets_and_do_not_print_them() {
    let redactor = Redactor::default();
    let clone = redactor.clone();
    assert_eq!(clone.text("hunter2hunter2"), "hunter2hunter2");
    redactor.add(&Secret::new("hunter2hunter2"));
    assert_eq!(clone.text("hunter2hunter2"), MASK);
    redactor.add(&Secret::new("another secret"));
    assert_eq!(clone.text("hunter2hunter2 another secret"), "[redacted] [redacted]");
    assert!(!format!("{redactor:?}").contains("hunter"));
}

#[test]
fn basic_credentials_are_masked_by_the_password_alone() {
    let text = format!("authorization: Basic {}", STANDARD.encode("user:hunter2hunter2"));
    let masked = knowing(&["hunter2hunter2"]).text(&text).into_owned();
    assert!(masked.starts_with("authorization: Basic dXNlcj") && masked.ends_with(MASK), "{masked}");
}

#[test]
fn numbers_that_are_secrets_are_masked() {
    let mut value = json!({"pin": 1_234_567_890, "other": 12});
    knowing(&["1234567890"]).value(&mut value);
    assert_eq!(value, json!({"pin": MASK, "other": 12}));
}

#[test]
fn keys_that_become_equal_keep_their_values() {
    let hex = HEXLOWER.encode(b"hunter2hunter2");
    let mut value = json!({"hunter2hunter2": 1, "a": 2, hex: 3, "[redacted] 2": 4});
    knowing(&["hunter2hunter2"]).value(&mut value);
    let mut values: Vec<i64> = value.as_object().expect("object").values().filter_map(Value::as_i64).collect();
    values.sort_unstable();
    assert_eq!(values, [1, 2, 3, 4], "{value}");
    assert!(!value.to_string().contains("hunter"));
}

#[test]
fn base64_that_is_wrapped_or_nested_is_withheld_whole() {
    let redactor = knowing(&["hunter2hunter2"]);
    let inner = STANDARD.encode(format!("{}hunter2hunter2", "x".repeat(70)));
    let wrapped = format!("{}\n{}", &inner[..76], &inner[76..]);
    for text in [wrapped, STANDARD.encode(&inner), format!("data:text/plain;base64,{inner}")] {
        let mut value = json!([text]);
        redactor.value(&mut value);
        assert_eq!(value, json!([MASK]), "{text}");
    }
}

#[test]
fn deep_values_do_not_overflow_the_stack() {
    let mut value = json!("hunter2hunter2");
    for _ in 0..500_000 {
        value = Value::Array(vec![value]);
    }
    knowing(&["hunter2hunter2"]).value(&mut value);
    // Dismantled by hand: dropping it as a whole would overflow the stack.
    while let Value::Array(mut items) = value {
        value = items.pop().expect("one item");
    }
    assert_eq!(value, json!(MASK));
}

#[test]
fn a_secret_that_is_added_again_is_dropped_last() {
    let redactor = knowing(&["the very first secret", "the second secret"]);
    redactor.add(&Secret::new("the very first secret"));
    for number in 0..MAX_COUNT - 1 {
        redactor.add(&Secret::new(format!("secret number {number:08}")));
    }
    assert!(redactor.taints(b"the very first secret"));
    assert!(!redactor.taints(b"the second secret"));
    assert!(redactor.taints(b"secret number 00000000"));
}

#[test]
fn the_beginning_of_a_too_long_secret_is_found() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + u8::try_from((state >> 33) % 26).expect("letter"))
    };
    let secret: String = (0..1 << 20).map(|_| random()).collect();
    let redactor = knowing(&[&secret]);
    let masked = redactor.text(&secret).into_owned();
    assert_eq!(masked.len(), MASK.len() + secret.len() - MAX_SECRET);
    let mut long = || (0..MAX_SECRET).map(|_| random()).collect::<String>();
    let others: Vec<String> = (1..MAX_TOTAL / MAX_SECRET).map(|_| long()).collect();
    others.iter().for_each(|other| redactor.add(&Secret::new(other.clone())));
    assert!(others.iter().chain([&secret]).all(|secret| redactor.taints(secret.as_bytes())));
    assert_eq!(redactor.text(&STANDARD.encode(&others[0])), MASK, "long ones are found in their common spellings");
    redactor.add(&Secret::new("one more secret"));
    assert!(!redactor.taints(secret.as_bytes()), "the oldest goes when there are too many bytes");
}

#[test]
fn the_end_of_a_text_contains_no_part_of_a_secret() {
    let redactor = knowing(&["hunter2hunter2"]);
    let text = "é hunter2hunter2 and hunter2hunter2!";
    assert_eq!(redactor.end(text, 1), "!");
    assert_eq!(redactor.end(text, 2), format!("{MASK}!"));
    assert_eq!(redactor.end(text, 15), format!("{MASK}!"));
    assert_eq!(redactor.end(text, 20), format!(" and {MASK}!"));
    assert_eq!(redactor.end(text, 21), format!("{MASK} and {MASK}!"));
    assert_eq!(redactor.end(text, usize::MAX), format!("é {MASK} and {MASK}!"));
    assert_eq!(Redactor::default().end(text, 3), "r2!");
    assert_eq!(Redactor::default().end("é", 1), "");
}

#[test]
fn tokens_of_logins_do_not_displace_other_secrets() {
    let redactor = Redactor::default();
    redactor.add(&Secret::new("configured-secret"));
    for number in 0..8 {
        redactor.add_token(&Secret::new(format!("token-{number}-{}", "x".repeat(MAX_SECRET))));
    }
    redactor.add_token(&Secret::new("latest-token"));
    assert_eq!(redactor.text("configured-secret latest-token"), format!("{MASK} {MASK}"));
}
