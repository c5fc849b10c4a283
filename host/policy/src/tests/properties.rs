use super::{deciding, facts, function, matching, with_argument};
use crate::{Decision, FunctionPolicy, Kind, Policy, Preset, Rule, Settings};
use proptest::prelude::*;
use serde_json::json;

const LABEL: &str = "github.deleteRepo";

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![Just(Decision::Allow), Just(Decision::Approve), Just(Decision::Deny)]
}

/// Patterns that match the function, almost match it, and match others.
const PATTERNS: &[&str] =
    &["*", "*.*", "github.*", "git*.*", "*.delete*", "*.d*o", "github.delete*", LABEL, "slack.*", "github.create*"];

fn some_rule() -> impl Strategy<Value = Rule> {
    (prop::sample::select(PATTERNS), prop::option::of(decision())).prop_map(|(pattern, decision)| match decision {
        Some(decision) => deciding(pattern, decision),
        None => super::rule(pattern),
    })
}

fn preset() -> impl Strategy<Value = Option<Preset>> {
    prop::option::of(prop_oneof![Just(Preset::Restrictive), Just(Preset::Standard), Just(Preset::Permissive)])
}

fn of(preset: Option<Preset>, rules: &[Rule]) -> FunctionPolicy {
    let settings = Settings { preset, functions: rules.to_vec(), ..Settings::default() };
    Policy::new(settings).function(&facts(LABEL, Kind::Handler))
}

proptest! {
    #[test]
    fn one_more_rule_loosens_a_decision_only_by_being_more_specific(
        preset in preset(), rules in prop::collection::vec(some_rule(), 0..6), added in some_rule()
    ) {
        let before = of(preset, &rules).decision().decision;
        let after = of(preset, &[&rules[..], std::slice::from_ref(&added)].concat()).decision().decision;
        if after < before {
            let decides = |rule: &&Rule| rule.decision.is_some() && rule.pattern.is_match(&super::id(LABEL), LABEL);
            let strongest = rules.iter().filter(decides).map(|rule| rule.pattern.specificity()).max();
            prop_assert!(decides(&&added));
            prop_assert!(strongest.is_none_or(|strongest| added.pattern.specificity() > strongest));
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        preset in preset(), rules in prop::collection::vec(some_rule(), 0..6).prop_shuffle()
    ) {
        let mut sorted = rules.clone();
        sorted.sort_by(|left, right| left.pattern.as_str().cmp(right.pattern.as_str()));
        prop_assert_eq!(of(preset, &rules).decision().decision, of(preset, &sorted).decision().decision);
    }

    #[test]
    fn one_more_constraint_allows_no_more(
        patterns in prop::collection::vec("[a-c*]{1,3}(/[a-c*]{1,2})?", 0..4), added in "[a-c*]{1,3}", text in "[a-c]{1,3}(/[a-c])?"
    ) {
        let rules: Vec<_> = patterns.iter().map(|pattern| with_argument("*", "x", matching(pattern))).collect();
        let more = [&rules[..], &[with_argument("github.*", "x", matching(&added))]].concat();
        let params = json!({ "x": text });
        if function(more, LABEL).check_arguments(&params).is_ok() {
            prop_assert!(function(rules, LABEL).check_arguments(&params).is_ok());
        }
    }

    #[test]
    fn a_path_that_escapes_never_matches(
        parts in prop::collection::vec(prop::sample::select(&[
            "acme", "x", "..", ".", "", "...", "%2e%2e", "%2f", "ACME", "..;", "．．", "\\", "..\\x", "\u{0}", "é", "*",
        ][..]), 0..6)
    ) {
        let text = parts.join("/");
        let fits = function(vec![with_argument("*", "x", matching("acme/*"))], LABEL)
            .check_arguments(&json!({ "x": text })).is_ok();
        prop_assert_eq!(fits, leads_to(&text).is_some_and(|place| place.len() == 2 && place[0] == "acme") && is_straight(&text));
    }

    #[test]
    fn a_recursive_pattern_never_matches_a_path_that_resolves_elsewhere(text in "(acme)?[a./\\\\%2eEfF; \u{ff0e}\u{2215}-]{0,12}") {
        let fits = function(vec![with_argument("*", "x", matching("acme/**"))], LABEL)
            .check_arguments(&json!({ "x": text })).is_ok();
        if fits {
            prop_assert!(leads_to(&text).is_some_and(|place| place.len() >= 2 && place[0] == "acme"), "{text}");
        }
    }

    #[test]
    fn any_value_is_handled_without_panic(text in any::<String>(), number in any::<f64>(), label in any::<String>()) {
        let rules = vec![with_argument("*", "x[].y", matching("a*/**b"))];
        let limited = function(rules, &label);
        for value in [json!({ "x": [{ "y": text }] }), json!({ "x": number }), json!(text)] {
            let explanation = limited.explain(Some(&value));
            prop_assert_eq!(explanation.checks[0].passes, Some(limited.check_arguments(&value).is_ok()));
        }
    }
}

/// Resolves a text as a lenient reader would: decode, normalize, walk; `None` if it leaves the root.
fn leads_to(text: &str) -> Option<Vec<String>> {
    let text = ["%2e", "%2E", "．"].iter().fold(text.to_owned(), |text, dot| text.replace(dot, "."));
    let text = ["%2f", "%2F", "\\"].iter().fold(text, |text, slash| text.replace(slash, "/"));
    let mut place: Vec<String> = Vec::new();
    for part in text.split('/') {
        match part.split(';').next().unwrap_or_default().trim() {
            "" | "." => {}
            ".." => drop(place.pop()?),
            name => place.push(name.to_owned()),
        }
    }
    Some(place)
}

/// True if the text resolves to itself, segment by segment.
fn is_straight(text: &str) -> bool {
    leads_to(text).is_some_and(|place| place.join("/") == text)
        && !text.contains(['\0', '．'])
        && !text.ends_with("...")
}
