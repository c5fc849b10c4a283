//! Strings and numbers of a schema, extremes first.

use super::random::Random;
use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Number, Value};

/// JavaScript's `Number.MAX_SAFE_INTEGER`.
pub(super) const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

const TEXTS: [&str; 16] = [
    "",
    "a",
    "hello world",
    "日本語 🚂 e\u{301}",
    "a\u{0}b",
    "\"quoted\" \\ \n\t\r\u{7f}",
    "__proto__",
    "</script>${1}`",
    "null",
    "\u{2028}\u{2029}\u{feff}",
    "\u{fffd}\u{10ffff}",
    "-0",
    "1",
    "2024-02-29T23:59:60Z",
    "https://example.com/?a=b#c",
    "%00%ff",
];

/// Returns a string within the schema's bounds, or one that matches its pattern.
pub(super) fn string(map: &Map<String, Value>, random: &mut Random) -> String {
    let bound = |keyword: &str| map.get(keyword).and_then(Value::as_u64).map(|count| count as usize);
    if let Some(Value::String(pattern)) = map.get("pattern")
        && let Some(text) = matching(pattern, random)
    {
        return text;
    }
    let mut text = match random.below(12) {
        0 => "é🚂".repeat(1500),
        _ => (*random.pick(&TEXTS).unwrap_or(&"")).to_owned(),
    };
    let length = text.chars().count();
    let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(usize::MAX));
    if length < least {
        text.extend(std::iter::repeat_n('ж', least - length));
    }
    text.chars().take(most).collect()
}

/// A text that matches a pattern, where one is found.
pub(super) fn matching(pattern: &str, random: &mut Random) -> Option<String> {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&random.next().to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = string_regex(&without_anchors(pattern)).ok()?;
    Some(strategy.new_tree(&mut runner).ok()?.current())
}

/// Anchors say where a match is; a text that is made from the pattern is the match.
fn without_anchors(pattern: &str) -> String {
    let mut out = String::new();
    let (mut is_escaped, mut is_class) = (false, false);
    for character in pattern.chars() {
        let is_anchor = !is_escaped && !is_class && matches!(character, '^' | '$');
        match character {
            '[' if !is_escaped => is_class = true,
            ']' if !is_escaped => is_class = false,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
        if !is_anchor {
            out.push(character);
        }
    }
    // ECMA-262's classes are ASCII's, which also keeps the texts short of the exotic.
    out.replace("\\d", "[0-9]").replace("\\w", "[A-Za-z0-9_]")
}

/// A number within the bounds that the schema sets.
pub(super) fn number(map: &Map<String, Value>, is_integer: bool, random: &mut Random) -> Option<Value> {
    let bound = |keyword: &str| map.get(keyword).and_then(Value::as_f64);
    let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let step = bound("multipleOf").or(is_integer.then_some(1.0));
    let extreme = if is_integer { MAX_SAFE_INTEGER as f64 } else { 1e308 };
    let least = bound("minimum").or(above.map(|bound| bound + step.unwrap_or(1e-3))).unwrap_or(-extreme);
    let most = bound("maximum").or(below.map(|bound| bound - step.unwrap_or(1e-3))).unwrap_or(extreme);
    let middle = least / 2.0 + most / 2.0;
    let small = random.below(2000) as f64 - 1000.0;
    let fixed = [0.0, 1.0, -1.0, 42.0, 0.5, 0.1 + 0.2, 5e-324, 1e15, 1e16 + 2.0, 123_456_789_012.0];
    let extremes = [least, most, middle, small, extreme, -extreme];
    let candidates: Vec<f64> = fixed
        .into_iter()
        .chain(extremes)
        .map(|candidate| match step {
            Some(step) => (candidate / step).round() * step,
            None => candidate,
        })
        .filter(|candidate| (least..=most).contains(candidate))
        .filter(|candidate| !is_integer || candidate.abs() <= MAX_SAFE_INTEGER as f64)
        .collect();
    json_number(*random.pick(&candidates)?)
}

/// As a person writes it: whole numbers without a fraction.
pub(super) fn json_number(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64 {
        return Some((number as i64).into());
    }
    Number::from_f64(number).map(Value::Number)
}
