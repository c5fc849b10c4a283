use super::{deciding, facts, function, matching, policy, rule, with_argument};
use crate::{Decision, Facts, Kind, Period, Rate, Rule};
use serde_json::json;

fn rules() -> Vec<Rule> {
    vec![
        deciding("github.*", Decision::Approve),
        Rule {
            decision: Some(Decision::Allow),
            max_per_run: Some(5),
            max_per_day: Some(50),
            scopes: vec!["triage".into()],
            rate_limit: Some(Rate { requests: 10, period: Period::Minute, wait: None }),
            ..with_argument("github.createIssue", "repo", matching("acme/*"))
        },
    ]
}

#[test]
fn an_explanation_lists_all_conditions() {
    let explanation = function(rules(), "github.createIssue").explain(Some(&json!({ "repo": "evil/x" })));
    assert_eq!(
        explanation.to_string(),
        r#"github.createIssue: allow, by $.policy.functions["github.createIssue"]
  `github.*` says approve, but is overridden ($.policy.functions["github.*"])
  fails: the argument `repo` must match `acme/*` ($.policy.functions["github.createIssue"].arguments): `repo`: it does not match the pattern
  the caller must have the scope `triage` ($.policy.functions["github.createIssue"].scopes)
  at most 5 calls in one run ($.policy.functions["github.createIssue"])
  at most 50 calls in one day ($.policy.functions["github.createIssue"])
  10 requests per minute ($.policy.functions["github.createIssue"].rateLimit)
  so the outcome is deny"#
    );
    let text = serde_json::to_value(&explanation).unwrap();
    assert_eq!(text["outcome"], "deny");
    assert_eq!(text["because"], json!({ "rule": { "place": "$.policy.functions[\"github.createIssue\"]" } }));
    assert_eq!(text["checks"][1]["passes"], false);
}

#[test]
fn passed_and_unknown_checks_are_distinguished() {
    let create = function(rules(), "github.createIssue");
    let passing = create.explain(Some(&json!({ "repo": "acme/x" })));
    assert_eq!((passing.outcome, passing.checks[1].passes), (Decision::Allow, Some(true)));
    let general = create.explain(None);
    assert_eq!((general.outcome, general.checks[1].passes), (Decision::Allow, None));
}

#[test]
fn an_explanation_without_rules_names_the_default_or_definition() {
    assert_eq!(function(rules(), "slack.post").explain(None).to_string(), "slack.post: allow, by default");
    let facts = Facts { requires_approval: Some(true), ..facts("slack.post", Kind::Handler) };
    let declared = policy(vec![rule("slack.*")]).function(&facts).explain(None);
    assert_eq!(declared.to_string(), "slack.post: approve, by `requiresApproval` of its definition");
}
