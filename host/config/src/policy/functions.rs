//! Function rules (`policy.functions`).

use super::super::error::quoted;
use super::super::quantity::{Measure, Quantity, read_count, read_duration};
use super::super::reader::{Node, Object, Result};
use super::{arguments, rate};
use agent_spaces_policy::{Decision, Pattern, Rule};
use serde_json::Value;

const KEYS: &[&str] = &[
    "decision",
    "requiresApproval",
    "arguments",
    "maxPerRun",
    "maxPerDay",
    "scopes",
    "rateLimit",
    "idempotent",
    "cache",
    "retries",
    "concurrency",
    "timeout",
];

const DECISIONS: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("approve", Decision::Approve), ("deny", Decision::Deny)];

/// Maximum number of retries: a provider that still fails then will not recover in time.
const MAX_RETRIES: u64 = 10;

/// Reads the `functions` object: rules by function pattern.
pub(super) fn read(node: Node<'_>) -> Result<Vec<Rule>> {
    let rules = node.map("an object of rules", |name, node| {
        let pattern = Pattern::parse(name).map_err(|error| match Pattern::as_scripts_write(name) {
            Some(meant) => node
                .error(format!("{}: functions are named as scripts call them", quoted(name)))
                .with_fix(format!("did you mean {}?", quoted(&meant))),
            None => node.error(format!("{}: {error}", quoted(name))),
        })?;
        rule(pattern, node)
    })?;
    Ok(rules.into_values().collect())
}

fn rule(pattern: Pattern, node: Node<'_>) -> Result<Rule> {
    let rule = Rule::new(pattern, node.path.to_string());
    match node.value {
        Value::String(_) => Ok(Rule { decision: Some(node.choice("decision", DECISIONS)?), ..rule }),
        Value::Object(members) if members.is_empty() => {
            Err(node.error("the rule is empty").with_fix("write \"allow\", \"approve\" or \"deny\", or leave it out"))
        }
        Value::Object(_) => settings(rule, &node.object("a rule", KEYS)?),
        _ => Err(node.expected("\"allow\", \"approve\", \"deny\", or an object of settings")),
    }
}

fn settings(rule: Rule, object: &Object<'_>) -> Result<Rule> {
    let idempotent = object.read("idempotent", |node| node.flag())?;
    for key in ["cache", "retries"] {
        if let Some(node) = object.get(key).filter(|_| idempotent != Some(true)) {
            let message = format!("`{key}` is only for idempotent functions");
            return Err(node.error(message).with_fix(format!("add `\"idempotent\": true`, or leave `{key}` out")));
        }
    }
    Ok(Rule {
        decision: decision(object)?,
        arguments: object.read("arguments", arguments::read)?.unwrap_or_default(),
        max_per_run: object.read("maxPerRun", |node| read_count(node, u64::MAX))?,
        max_per_day: object.read("maxPerDay", |node| read_count(node, u64::MAX))?,
        scopes: object.read("scopes", |node| node.list("a list of scopes", scope))?.unwrap_or_default(),
        rate_limit: object.read("rateLimit", rate::read)?,
        idempotent,
        cache: object.read("cache", read_duration)?,
        retries: object.read("retries", retries)?,
        concurrency: object.read("concurrency", |node| read_count(node, u32::MAX))?,
        timeout: object.read("timeout", read_duration)?,
        ..rule
    })
}

/// Reads the decision in either of its spellings.
fn decision(object: &Object<'_>) -> Result<Option<Decision>> {
    let decision = object.read("decision", |node| node.choice("decision", DECISIONS))?;
    let Some(node) = object.get("requiresApproval") else { return Ok(decision) };
    let spelled = if node.flag()? { Decision::Approve } else { Decision::Allow };
    match decision {
        Some(decision) if decision != spelled => {
            let message = format!("`requiresApproval` means {spelled}, but `decision` is {decision}");
            Err(node.error(message).with_fix("keep `decision`"))
        }
        _ => Ok(Some(spelled)),
    }
}

fn retries(node: Node<'_>) -> Result<u32> {
    match Measure::CountOrNone.read(node)? {
        Quantity::Count(count @ 0..=MAX_RETRIES) => Ok(count as u32),
        _ => Err(node.error(format!("the maximum is {MAX_RETRIES}"))),
    }
}

fn scope(node: Node<'_>) -> Result<String> {
    let scope = node.filled_text("a scope")?;
    // RFC 6749: printable, without space, quote and backslash.
    if !scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e)) {
        return Err(node.error("a scope is one word").with_fix("write each scope as an item of its own"));
    }
    Ok(scope.to_owned())
}
