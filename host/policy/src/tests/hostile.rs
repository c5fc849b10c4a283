use super::{function, matching, with_argument};
use crate::{Constraint, FunctionPolicy, TextPattern};
use serde_json::{Number, Value, json};

fn limited(path: &str, constraint: Constraint) -> FunctionPolicy {
    function(vec![with_argument("github.*", path, constraint)], "github.createIssue")
}

#[test]
fn no_spelling_escapes_a_path_constraint() {
    let repo = limited("repo", matching("acme/*"));
    for passing in [json!("acme/x"), json!("acme/x-1.2"), json!("acme/.github"), json!("acme/日本")] {
        assert_eq!(repo.check_arguments(&json!({ "repo": passing })), Ok(()), "{passing}");
    }
    for refused in [
        json!("acme/../x"),
        json!("acme//x"),
        json!("ACME/x"),
        json!("acme%2f..%2fx"),
        json!("acme/%2e%2e"),
        json!("acme/x\u{0}"),
        json!("acme/\u{0}../x"),
        json!("ａｃｍｅ/x"),
        json!("acme／x"),
        json!("acme/．．"),
        json!("acme/.."),
        json!("acme/."),
        json!("acme/"),
        json!("acme"),
        json!(""),
        json!("acme\\x"),
        json!("acme/x\\..\\y"),
        json!("acme/x/y"),
        json!("/acme/x"),
        json!("../acme/x"),
        json!(" acme/x"),
        json!("acme/x\n"),
        json!("x\nacme/x"),
        json!("acme/\u{202e}x"),
        json!("acme/e\u{301}"),
        json!("acme/..;/x"),
        json!(["acme/x"]),
        json!({ "0": "acme/x" }),
        json!(1),
        json!(true),
        json!(null),
        json!("acme/".to_owned() + &"x".repeat(1 << 20)),
    ] {
        let refusal = repo.check_arguments(&json!({ "repo": refused })).unwrap_err();
        assert!(
            refusal.message.starts_with("github.createIssue: the policy does not allow this value of `repo`"),
            "{refused}"
        );
        assert!(!refusal.message.contains("acme/*"), "the script must not see the pattern: {refusal:?}");
        assert!(refusal.operator.contains("`acme/*` by $.policy.functions[\"github.*\"].arguments"), "{refusal:?}");
    }
    assert!(repo.check_arguments(&json!({})).unwrap_err().message.ends_with("`repo`: it is missing"));
    assert!(repo.check_arguments(&json!({ "Repo": "acme/x" })).is_err());
    assert!(repo.check_arguments(&json!([])).is_err() && repo.check_arguments(&json!(null)).is_err());
}

#[test]
fn the_script_sees_why_its_text_is_not_canonical() {
    let repo = limited("repo", matching("acme/*"));
    let message = |text: &str| repo.check_arguments(&json!({ "repo": text })).unwrap_err().message;
    assert!(message("acme/../x").ends_with(": it contains a path segment of dots"));
    assert!(message("acme%2fx").ends_with(": it contains a percent-encoded character"));
    assert!(message("evil/x").ends_with("this value of `repo`"));
}

#[test]
fn number_constraints_refuse_other_types() {
    let amount = limited("amount", Constraint { min: Some(0.into()), max: Some(100.into()), ..Constraint::default() });
    let check = |text: &str| amount.check_arguments(&json!({ "amount": serde_json::from_str::<Value>(text).unwrap() }));
    for text in ["0", "-0", "-0.0", "100", "1e2", "99.9999999", "100.0"] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
    for text in [
        "100.0000001",
        "101",
        "-1",
        "-1e-300",
        "1e308",
        "18446744073709551615",
        "\"5\"",
        "\"1e400\"",
        "[5]",
        "true",
        "null",
    ] {
        assert!(check(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Value>("1e400").is_err(), "no such number comes this far");
    let wide = limited("amount", Constraint { max: Some(Number::from(u64::MAX)), ..Constraint::default() });
    assert!(wide.check_arguments(&json!({ "amount": 1.8446744073709552e19 })).is_err());
    assert_eq!(wide.check_arguments(&json!({ "amount": u64::MAX })), Ok(()));
}

#[test]
fn every_item_of_a_list_is_checked() {
    let to = limited("to[]", matching("*@acme.com"));
    assert_eq!(to.check_arguments(&json!({ "to": ["a@acme.com", "b@acme.com"] })), Ok(()));
    let refusal = to.check_arguments(&json!({ "to": ["a@acme.com", "b@evil.com"] })).unwrap_err();
    assert!(refusal.message.ends_with("this value of `to[1]`"), "{refusal:?}");
    for refused in
        [json!("a@acme.com"), json!({ "0": "a@acme.com" }), json!([["a@acme.com"]]), json!(["a@acme.com", null])]
    {
        assert!(to.check_arguments(&json!({ "to": refused })).is_err(), "{refused}");
    }
}

#[test]
fn all_matching_rules_apply() {
    let forbidden = Constraint { not: vec![TextPattern::parse("acme/secret").unwrap()], ..Constraint::default() };
    let both = function(
        vec![with_argument("*", "repo", matching("acme/*")), with_argument("github.createIssue", "repo", forbidden)],
        "github.createIssue",
    );
    let check = |repo: &str| both.check_arguments(&json!({ "repo": repo })).is_ok();
    assert!(check("acme/x") && !check("acme/secret") && !check("acme/SECRET") && !check("evil/x"));
}
