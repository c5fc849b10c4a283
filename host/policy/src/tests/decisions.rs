use super::{deciding, facts, function, labelled, rule};
use crate::Decision::{Allow, Approve, Deny};
use crate::{Because, Decision, Facts, Kind, Pattern, Policy, Preset, Rule, Settings, UnknownCapability};

const TOOL: Kind = Kind::ServerTool { read_only: false };
const READER: Kind = Kind::ServerTool { read_only: true };

#[test]
fn a_preset_decides_by_provider_kind_and_definition() {
    let [none, restrictive, standard, permissive] =
        [None, Some(Preset::Restrictive), Some(Preset::Standard), Some(Preset::Permissive)];
    for (preset, kind, declared, decision) in [
        (none, Kind::Handler, None, Allow),
        (none, TOOL, None, Allow),
        (none, Kind::Handler, Some(true), Approve),
        (none, READER, Some(true), Approve),
        (none, Kind::Handler, Some(false), Allow),
        (restrictive, Kind::Standard, None, Allow),
        (restrictive, READER, None, Allow),
        (restrictive, READER, Some(true), Approve),
        (restrictive, TOOL, None, Approve),
        (restrictive, Kind::Handler, None, Approve),
        (restrictive, Kind::Handler, Some(false), Approve),
        (restrictive, Kind::Handler, Some(true), Approve),
        (standard, Kind::Standard, None, Allow),
        (standard, READER, None, Allow),
        (standard, TOOL, None, Approve),
        (standard, Kind::Handler, None, Approve),
        (standard, Kind::Handler, Some(false), Allow),
        (standard, Kind::Handler, Some(true), Approve),
        (permissive, Kind::Handler, None, Allow),
        (permissive, TOOL, None, Allow),
        (permissive, Kind::Handler, Some(true), Approve),
    ] {
        let policy = Policy::new(Settings { preset, ..Settings::default() });
        let facts = Facts { requires_approval: declared, ..facts("github.createIssue", kind) };
        let decided = policy.function(&facts);
        assert_eq!(decided.decision().decision, decision, "{preset:?} {kind:?} {declared:?}");
        // An operator's rule overrides both, in either direction.
        for ruled in [Allow, Approve, Deny] {
            let functions = vec![deciding("*", ruled)];
            let policy = Policy::new(Settings { preset, functions, ..Settings::default() });
            assert_eq!(policy.function(&facts).decision().decision, ruled, "{preset:?} {kind:?} {declared:?}");
        }
    }
}

#[test]
fn the_most_specific_rule_decides_and_of_equals_the_strictest() {
    let cases: &[(&[(&str, Decision)], Decision)] = &[
        (&[("*", Deny)], Deny),
        (&[("*", Deny), ("github.*", Allow)], Allow),
        (&[("github.*", Approve), ("github.deleteRepo", Deny)], Deny),
        (&[("github.deleteRepo", Allow), ("github.*", Deny)], Allow),
        (&[("github.deleteRepo", Allow), ("*.delete*", Deny), ("*", Deny)], Allow),
        (&[("*.delete*", Deny), ("github.*", Allow)], Deny),
        (&[("*.deleteR*", Deny), ("github.*", Allow)], Deny),
        (&[("*.del*", Deny), ("github.*", Allow)], Allow),
        (&[("github.deleteRepo", Deny), ("github.deleteRepo", Allow)], Deny),
        (&[("github.deleteRepo", Allow), ("github.deleteRepo", Deny)], Deny),
        (&[("github.deleteRepo", Allow), ("github.deleteRepo", Approve)], Approve),
        (&[("slack.*", Deny), ("github.createIssue", Deny)], Allow),
    ];
    for (rules, expected) in cases {
        let rules: Vec<Rule> = rules.iter().map(|(pattern, decision)| deciding(pattern, *decision)).collect();
        let decided = function(rules.clone(), "github.deleteRepo");
        assert_eq!(decided.decision().decision, *expected, "{rules:?}");
        let reversed = function(rules.into_iter().rev().collect(), "github.deleteRepo");
        assert_eq!(reversed.decision(), decided.decision());
    }
    // A rule without a decision leaves it to a less specific one.
    let silent = function(vec![rule("github.deleteRepo"), deciding("github.*", Approve)], "github.deleteRepo");
    assert_eq!(silent.decision().because, Because::Rule { place: "$.policy.functions[\"github.*\"]".into() });
}

#[test]
fn a_denial_names_the_rule_and_the_change_that_would_allow_it() {
    let exact = function(vec![deciding("github.deleteRepo", Deny)], "github.deleteRepo");
    let refusal = exact.check_decision().unwrap_err();
    assert_eq!(refusal.message, crate::not_callable("github.deleteRepo"));
    assert_eq!(
        refusal.operator,
        "github.deleteRepo is denied by $.policy.functions[\"github.deleteRepo\"]; to allow it, \
         $.policy.functions[\"github.deleteRepo\"]: write \"allow\""
    );
    let by_pattern = function(vec![deciding("github.*", Deny)], "github.deleteRepo").check_decision().unwrap_err();
    assert!(
        by_pattern.operator.ends_with("`policy.functions`: add \"github.deleteRepo\": \"allow\""),
        "{by_pattern:?}"
    );
    for decision in [Allow, Approve] {
        assert_eq!(function(vec![deciding("*", decision)], "a.b").check_decision(), Ok(()));
    }
}

#[test]
fn a_function_without_rules_has_an_empty_policy() {
    assert!(function(vec![], "a.b").is_empty());
    assert!(function(vec![deciding("*", Allow), deciding("c.d", Deny)], "a.b").is_empty());
    let busy = [
        deciding("*", Approve),
        Rule { max_per_run: Some(1), ..rule("*") },
        Rule { scopes: vec!["x".into()], ..rule("*") },
        Rule { retries: Some(1), idempotent: Some(true), ..rule("*") },
        Rule { concurrency: Some(1), ..rule("*") },
        super::with_argument("*", "a", super::matching("a")),
    ];
    for rule in busy {
        assert!(!function(vec![rule.clone()], "a.b").is_empty(), "{rule:?}");
    }
}

#[test]
fn an_unused_rule_is_reported_with_the_nearest_function() {
    let policy = super::policy(vec![
        deciding("github.deleteRepos", Deny),
        deciding("*.create*", Deny),
        deciding("jira.*", Deny),
    ]);
    let unused = policy.unused_rules(&["github.deleteRepo", "github.createIssue"].map(labelled), &[]);
    let shown: Vec<_> = unused.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "$.policy.functions[\"github.deleteRepos\"]: no function matches `github.deleteRepos`; did you mean `github.deleteRepo`?",
            "$.policy.functions[\"jira.*\"]: no function matches `jira.*`",
        ]
    );
}

#[test]
fn a_typo_in_a_capability_is_reported_while_other_capabilities_are_unknown() {
    let rules =
        ["comands.*", "calcjs.*", "calcJs.ad", "comand", "*", "*.delete*", "capabilities:mcp-calc-js/calc-js#x"];
    let policy = super::policy(rules.map(|pattern| deciding(pattern, Deny)).to_vec());
    let known = ["commands.run", "commands.stop"].map(labelled);
    let unknown = UnknownCapability { label: "calcJs".into(), package: "capabilities:mcp-calc-js".into() };
    let found = |unknown: &[UnknownCapability]| -> Vec<(String, Option<String>)> {
        policy.unused_rules(&known, unknown).into_iter().map(|unused| (unused.pattern, unused.nearest)).collect()
    };
    let slip = |pattern: &str, near: &str| (pattern.to_owned(), Some(near.to_owned()));
    assert_eq!(
        found(&[unknown]),
        [slip("comands.*", "commands.*"), slip("calcjs.*", "calcJs.*"), slip("comand", "commands")],
        "functions of an unknown capability are not checked"
    );
    assert_eq!(found(&[]).len(), 6);
}

#[test]
fn a_server_name_is_converted_to_its_name_in_scripts() {
    assert_eq!(Pattern::as_scripts_write("calc-js.add").as_deref(), Some("calcJs.add"));
    assert_eq!(Pattern::as_scripts_write("calc-js.*").as_deref(), Some("calcJs.*"));
    assert_eq!(Pattern::as_scripts_write("calc.list-all").as_deref(), Some("calc.listAll"));
    assert_eq!(Pattern::as_scripts_write("calc js.add"), None);
    assert_eq!(Pattern::as_scripts_write("calcJs.add"), None);
}
