//! Tests of whole policies.

mod call_limits;
mod decisions;
mod explain;
mod hostile;
mod identity;
mod merging;
mod middleware;
mod presets;
mod properties;
mod tightening;
mod untrusted_settings;

use crate::{
    ArgumentPath, Constraint, Decision, Facts, FunctionId, FunctionPolicy, Kind, LabelledFunction, Pattern, Policy,
    Rule, Settings, TextPattern,
};

/// A rule at its location in a configuration.
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

/// Facts of the function with this label.
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
