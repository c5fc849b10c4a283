//! Parser of `config` and `annotations`: approvals, rate limits, scopes, hints.

use super::error::{SourceError, quoted};
use super::node::Node;
use crate::definition::{Annotations, Config, Period, RateLimit};
use crate::names::nearest;

/// Maximum number of annotation keys compared with the five known ones.
const MAX_HINTS: usize = 32;

const CONFIG_KEYS: [&str; 4] = ["requiresApproval", "approvalMessage", "rateLimit", "scopes"];

/// Parses the member `config`; returns the default if it is absent.
pub(super) fn read(parent: &Node<'_>) -> Result<Config, SourceError> {
    let Some(node) = parent.get("config") else { return Ok(Config::default()) };
    node.object("\"config\"")?;
    node.check_keys(&CONFIG_KEYS, "config")?;
    Ok(Config {
        requires_approval: node.get_bool("requiresApproval")?,
        approval_message: node.get_text("approvalMessage")?.map(str::to_owned),
        rate_limit: node.get("rateLimit").map(|limit| rate_limit(&limit)).transpose()?,
        scopes: node.get("scopes").map(|scopes| list_of_text(&scopes)).transpose()?.unwrap_or_default(),
    })
}

/// Parses a function's configuration: its `config`, and `requiresApproval` and `approvalMessage` beside it.
pub(super) fn read_function(function: &Node<'_>) -> Result<Config, SourceError> {
    let mut config = read(function)?;
    let twice = |key: &str| {
        let message = format!("{key:?} contradicts the function's config");
        Err(function.get(key).as_ref().unwrap_or(function).error(message, "Set it in one of the two places."))
    };
    if let Some(requires_approval) = function.get_bool("requiresApproval")?
        && config.requires_approval.replace(requires_approval).is_some_and(|other| other != requires_approval)
    {
        return twice("requiresApproval");
    }
    if let Some(message) = function.get_text("approvalMessage")?
        && config.approval_message.replace(message.to_owned()).is_some_and(|other| other != message)
    {
        return twice("approvalMessage");
    }
    Ok(config)
}

/// Known hints of a function.
pub(super) const HINTS: [&str; 5] = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// Refuses misspelt hints, which would be ignored otherwise.
pub(super) fn check_hints(node: &Node<'_>) -> Result<(), SourceError> {
    for (key, member) in node.members().take(MAX_HINTS).filter(|(key, _)| !HINTS.contains(key)) {
        if let Some(near) = nearest(key, HINTS.iter().copied()) {
            let message = format!("{} is not a key of \"annotations\"", quoted(key));
            return Err(member.error(message, format!("Did you mean {near:?}?")));
        }
    }
    Ok(())
}

/// Parses side-effect hints; values that are not booleans are left out.
pub(super) fn annotations(node: &Node<'_>) -> Annotations {
    let hint = |key: &str| node.value.get(key).and_then(serde_json::Value::as_bool);
    Annotations {
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    }
}

fn rate_limit(node: &Node<'_>) -> Result<RateLimit, SourceError> {
    node.object("\"rateLimit\"")?;
    node.check_keys(&["requests", "period"], "rateLimit")?;
    let example = "Write {\"requests\": 100, \"period\": \"minute\"}.";
    let Some(requests) = node.get("requests") else { return Err(node.error("\"requests\" is missing", example)) };
    let Some(period) = node.get("period") else { return Err(node.error("\"period\" is missing", example)) };
    let Some(count) = requests.value.as_u64().filter(|count| *count > 0) else {
        return Err(requests.error("\"requests\" is not a whole number above 0", example));
    };
    let period = match period.text("\"period\"")? {
        "second" => Period::Second,
        "minute" => Period::Minute,
        "hour" => Period::Hour,
        "day" => Period::Day,
        other => {
            let known = ["second", "minute", "hour", "day"];
            let fix = match nearest(other, known.iter().copied()) {
                Some(near) => format!("Did you mean {near:?}?"),
                None => "Write second, minute, hour or day.".to_owned(),
            };
            return Err(period.error(format!("unknown period {}", quoted(other)), fix));
        }
    };
    Ok(RateLimit { requests: count, period })
}

fn list_of_text(node: &Node<'_>) -> Result<Vec<String>, SourceError> {
    if !node.value.is_array() {
        return Err(node.mistyped("\"scopes\"", "an array of text"));
    }
    node.items().map(|item| item.text("a scope").map(str::to_owned)).collect()
}
