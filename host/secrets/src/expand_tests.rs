//! Tests of variable expansion.

use super::*;

fn variables() -> Variables {
    let map = [("TOKEN", "abc123456789"), ("EMPTY", ""), ("HOME", "/home/me"), ("é", "no")];
    Variables::from_map(map.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
}

fn text(input: &str) -> String {
    expand(input, &variables()).expect(input).text
}

fn error(input: &str) -> String {
    expand(input, &variables()).expect_err(input).to_string()
}

#[test]
fn variables_and_defaults_are_expanded() {
    assert_eq!(text("Bearer ${TOKEN}!"), "Bearer abc123456789!");
    assert_eq!(text("${TOKEN}${TOKEN}"), "abc123456789abc123456789");
    assert_eq!(text("${env:TOKEN}"), "abc123456789");
    assert_eq!(text("${NONE:-fallback}"), "fallback");
    assert_eq!(text("${env:NONE:-fallback}"), "fallback");
    assert_eq!(text("${EMPTY:-fallback}"), "fallback");
    assert_eq!(text("${EMPTY}"), "");
    assert_eq!(text("${NONE:-}"), "");
    assert_eq!(text("${TOKEN:-fallback}"), "abc123456789");
}

#[test]
fn a_default_ends_at_the_brace_that_matches() {
    assert_eq!(text(r#"${NONE:-{"a":{}}}}"#), r#"{"a":{}}}"#);
    assert_eq!(text("${NONE:-a:-b}"), "a:-b");
}

#[test]
fn other_dollar_signs_are_literal() {
    assert_eq!(text("$${TOKEN} $TOKEN $$ $"), "${TOKEN} $TOKEN $$ $");
    assert_eq!(text("$$${TOKEN}"), "$${TOKEN}");
    assert_eq!(text("$${"), "${");
}

#[test]
fn a_missing_variable_is_named() {
    let missing = expand("x ${NONE}", &variables()).expect_err("missing");
    assert_eq!(missing, ExpandError::MissingVariable { name: "NONE".into() });
    assert_eq!(
        missing.to_string(),
        "the variable `NONE` is not set, or is not UTF-8: set it, write `${NONE:-default}`, or `${NONE:-}` where it may be \
         missing"
    );
}

#[test]
fn syntax_of_editors_and_shells_is_an_error_with_the_fix() {
    assert!(error("${input:key}").contains("`${input:key}` is not supported: there is no prompt here"));
    assert!(error("${config:a.b}").contains("only editors define it"));
    assert!(error("${command:a}").contains("only editors define it"));
    assert!(error("${workspaceFolder}").contains("write the path itself"));
    assert!(error("${workspaceFolder:a}").contains("write the path itself"));
    assert!(error("${userHome}/x").contains("write the path itself"));
    for form in ["${}", "${A-b}", "${A:?b}", "${A:=b}", "${1}", "${é}", "${A B}", "${:-x}", "${env:}"] {
        assert!(error(form).contains("write `${NAME}` or `${NAME:-default}`"), "{form}");
    }
    assert!(error("${NONE:-${TOKEN}}").contains("plain text"));
}

#[test]
fn an_unfinished_variable_is_an_error() {
    for form in ["${", "a ${TOKEN", "${NONE:-{}"] {
        assert_eq!(expand(form, &variables()).expect_err(form), ExpandError::Unfinished);
    }
    assert_eq!(error("${").matches("${").count(), 3);
}

#[test]
fn added_variables_are_plain_and_shadow_others() {
    let variables = variables().with("workspaceFolder", "/w").with("TOKEN", "shown");
    let expanded = expand("${workspaceFolder}/${TOKEN}/${HOME}", &variables).expect("known");
    assert_eq!(expanded.text, "/w/shown//home/me");
    assert!(!expanded.is_secret);
    assert!(expanded.values.is_empty());
}

#[test]
fn a_text_with_a_secret_variable_is_secret() {
    let expanded = expand("a ${TOKEN} b", &variables()).expect("known");
    assert!(expanded.is_secret);
    assert_eq!(expanded.values.iter().map(Secret::expose).collect::<Vec<_>>(), ["abc123456789"]);
    for plain in ["literal", "${HOME}", "${NONE:-literal}", "${EMPTY}", "$${TOKEN}"] {
        assert!(!expand(plain, &variables()).expect(plain).is_secret, "{plain}");
    }
    assert!(!format!("{expanded:?}").contains("abc123456789"));
}

#[test]
fn the_result_is_bounded() {
    let map = BTreeMap::from([("BIG".to_owned(), "x".repeat(1 << 16))]);
    let variables = Variables::from_map(map);
    assert_eq!(expand(&"${BIG}".repeat(16), &variables).expect("fits").text.len(), MAX_EXPANDED);
    assert_eq!(expand(&"${BIG}".repeat(17), &variables).expect_err("large"), ExpandError::TooLarge);
    assert_eq!(expand(&"y".repeat(MAX_EXPANDED + 1), &variables).expect_err("large"), ExpandError::TooLarge);
}
