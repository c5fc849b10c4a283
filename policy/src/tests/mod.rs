//! What holds of whole policies.

mod counting;
mod decisions;
mod explaining;
mod hostile;
mod merging;
mod presets;
mod properties;
mod settings_of_calls;

use crate::{
    ArgumentPath, Constraint, Decision, Facts, FunctionPolicy, Kind, Pattern, Policy, Rule, Settings, TextPattern,
};

/// A rule at the place that a configuration would have it.
fn rule(pattern: &str) -> Rule {
    Rule::new(Pattern::parse(pattern).unwrap(), format!("$.policy.functions[\"{pattern}\"]"))
}

fn deciding(pattern: &str, decision: Decision) -> Rule {
    Rule { decision: Some(decision), ..rule(pattern) }
}

fn with_argument(pattern: &str, path: &str, constraint: Constraint) -> Rule {
    Rule { arguments: vec![(ArgumentPath::parse(path).unwrap(), constraint)], ..rule(pattern) }
}

fn matching(pattern: &str) -> Constraint {
    Constraint { matches: Some(vec![TextPattern::parse(pattern).unwrap()]), ..Constraint::default() }
}

fn policy(rules: Vec<Rule>) -> Policy {
    Policy::new(Settings { functions: rules, ..Settings::default() })
}

fn function(rules: Vec<Rule>, label: &str) -> FunctionPolicy {
    policy(rules).function(&Facts::new(label, Kind::Handler))
}
