//! What holds of whole policies.

mod counting;
mod decisions;
mod explaining;
mod hostile;
mod identity;
mod merging;
mod presets;
mod properties;
mod settings_of_calls;
mod tightening;

use crate::{
    ArgumentPath, Constraint, Decision, Facts, FunctionId, FunctionPolicy, Kind, LabelledFunction, Pattern, Policy,
    Rule, Settings, TextPattern,
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
    policy(rules).function(&facts(label, Kind::Handler))
}

/// What is known of a function that scripts call so.
fn facts(label: &str, kind: Kind) -> Facts<'_> {
    Facts::new(Box::leak(Box::new(id(label))), label, kind)
}

/// The function that has this label in its own module.
fn id(label: &str) -> FunctionId {
    let (capability, function) = label.split_once('.').unwrap_or((label, label));
    FunctionId::new(format!("capabilities:{capability}/{capability}@1.0.0"), function)
}

fn labelled(label: &str) -> LabelledFunction {
    let capability = label.split('.').next().unwrap();
    LabelledFunction { id: id(label), label: label.into(), module: format!("@capabilities/{capability}") }
}
