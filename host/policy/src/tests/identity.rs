//! Policies are keyed by a function's interface and name, not by its label in scripts.

use super::{deciding, rule};
use crate::{Decision, Facts, FunctionId, Kind, LabelledFunction, Period, Policy, RateLimit, Rule, Settings};
use std::time::{Duration, Instant};

fn library(function: &str) -> FunctionId {
    FunctionId::new("agent-spaces:std/fs@1.0.0", function)
}

fn own(function: &str) -> FunctionId {
    FunctionId::new("capabilities:fs/fs@1.0.0", function)
}

fn labelled(id: FunctionId, module: &str) -> LabelledFunction {
    LabelledFunction { label: format!("fs.{}", id.function()), id, module: module.into() }
}

/// The library's functions, and those of a module that exports the same name.
fn functions() -> Vec<LabelledFunction> {
    let of_library = ["delete", "list"].map(|function| labelled(library(function), "@agent-spaces/std"));
    let of_own = ["delete", "mount"].map(|function| labelled(own(function), "@capabilities/fs"));
    of_library.into_iter().chain(of_own).collect()
}

fn check(pattern: &str) -> Result<(), String> {
    super::policy(vec![rule(pattern)]).check_labels(&functions()).map_err(|error| error.to_string())
}

#[test]
fn an_ambiguous_label_is_refused_with_both_full_names() {
    assert_eq!(
        check("fs.delete").unwrap_err(),
        "$.policy.functions[\"fs.delete\"]: `fs.delete` could be agent-spaces:std/fs@1.0.0#delete of \
         '@agent-spaces/std' or capabilities:fs/fs@1.0.0#delete of '@capabilities/fs'; write the one that you mean in \
         full: \"agent-spaces:std/fs#delete\" or \"capabilities:fs/fs#delete\""
    );
    for pattern in ["fs.*", "fs", "fs.del*"] {
        let message = check(pattern).unwrap_err();
        assert!(message.ends_with("\"agent-spaces:std/fs#*\" or \"capabilities:fs/fs#*\""), "{message}");
    }
    // Unambiguous labels, full names and wildcards are accepted.
    for pattern in
        ["fs.list", "fs.mount", "fs.m*", "*", "*.delete", "agent-spaces:std/fs#delete", "capabilities:fs/fs", "other.x"]
    {
        assert_eq!(check(pattern), Ok(()), "{pattern}");
    }
}

#[test]
fn a_full_name_decides_its_function_and_no_other_of_that_label() {
    let policy = super::policy(vec![
        deciding("*", Decision::Deny),
        deciding("capabilities:fs/fs@1.0.0#delete", Decision::Allow),
        deciding("agent-spaces:std/fs#list", Decision::Approve),
    ]);
    let decision = |id: FunctionId| {
        let label = format!("fs.{}", id.function());
        policy.function(&Facts::new(&id, &label, Kind::Handler)).decision().decision
    };
    assert_eq!(decision(own("delete")), Decision::Allow);
    assert_eq!(decision(library("delete")), Decision::Deny);
    assert_eq!(decision(library("list")), Decision::Approve);
    assert_eq!(decision(own("list")), Decision::Deny);
    // Another spelling does not override a stricter rule.
    let both = [deciding("fs.delete", Decision::Deny), deciding("capabilities:fs/fs#delete", Decision::Allow)];
    for rules in [both.to_vec(), both.iter().rev().cloned().collect()] {
        let decided = super::policy(rules).function(&Facts::new(&own("delete"), "fs.delete", Kind::Handler));
        assert_eq!(decided.decision().decision, Decision::Deny);
    }
}

#[test]
fn rate_limits_of_definitions_are_counted_by_identity() {
    let policy = Policy::new(Settings::default());
    let once = Some(RateLimit { requests: 1, period: Period::Day });
    for (own_rate, shared_rate) in [(once, None), (None, once)] {
        let policy = if own_rate.is_some() { &policy } else { &Policy::new(Settings::default()) };
        let take = |id: &FunctionId| {
            let facts = Facts {
                rate_limit: own_rate,
                capability_rate_limit: shared_rate,
                ..Facts::new(id, "fs.delete", Kind::Handler)
            };
            policy.function(&facts).take(Instant::now(), Duration::ZERO).is_ok()
        };
        assert!(take(&own("delete")) && !take(&own("delete")));
        assert!(take(&library("delete")), "another function of the same label has a rate of its own");
    }
}

#[test]
fn an_unknown_argument_is_reported_with_the_nearest() {
    let schema = serde_json::json!({ "type": "object", "properties": { "repo": {}, "title": {} } });
    let told = |pattern: &str, path: &str| {
        let rule = super::with_argument(pattern, path, super::matching("*"));
        let unknown = super::function(vec![rule], "github.createIssue").unknown_arguments(&schema);
        unknown.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(told("github.createIssue", "repo"), [""; 0]);
    assert_eq!(
        told("github.createIssue", "repos"),
        [
            "$.policy.functions[\"github.createIssue\"].arguments: `repos`: github.createIssue has no argument `repos`; did you mean `repo`?"
        ]
    );
    assert_eq!(told("github.createIssue", "zzzzzz").len(), 1);
    // A rule over several functions may constrain arguments that only some of them have.
    assert_eq!((told("github.*", "repos").len(), told("github.*", "zzzzzz").len()), (1, 0));
}

#[test]
fn an_unused_full_name_is_reported_too() {
    let policy = super::policy(vec![Rule { decision: Some(Decision::Deny), ..rule("capabilities:fs/fs#delet") }]);
    let unused: Vec<String> = policy.unused_rules(&functions(), &[]).iter().map(ToString::to_string).collect();
    assert_eq!(unused.len(), 1);
    assert!(unused[0].ends_with("did you mean `capabilities:fs/fs#delete`?"), "{unused:?}");
}
