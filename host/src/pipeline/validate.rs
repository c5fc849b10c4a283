//! Parameters against their schema, before any provider sees them.

use super::{Checks, Pipeline, defaults};
use crate::handlers::{Call, CapabilityError};
use crate::off_thread::{MAX_INLINE_BYTES, Stop};
use capability_gen::validate::{Invalid, Issue, IssueKind};
use serde_json::{Value, json};
use std::sync::Arc;

/// Parameters up to this size are checked where they are; larger ones on a thread that may block, so that they
/// hold up no other run.
const MAX_INLINE_NODES: usize = 1_000;

/// Fills in defaults and checks the parameters of a call.
pub(super) async fn check(
    pipeline: &Arc<Pipeline>,
    checks: &Checks,
    params: Value,
    call: &Call,
) -> Result<Value, CapabilityError> {
    examine(pipeline, checks, params, call).await?.map_err(|invalid| invalid_error(&pipeline.label, invalid))
}

/// What the schema says of the parameters of a call that is refused already.
pub(super) async fn issues(
    pipeline: &Arc<Pipeline>,
    checks: &Checks,
    params: Value,
    call: &Call,
) -> Result<Vec<Issue>, CapabilityError> {
    Ok(match examine(pipeline, checks, params, call).await? {
        Err(Invalid::Issues(issues)) => issues,
        Ok(_) | Err(Invalid::Budget) => Vec::new(),
    })
}

/// The parameters with their defaults, or what is wrong with them.
async fn examine(
    pipeline: &Arc<Pipeline>,
    checks: &Checks,
    params: Value,
    call: &Call,
) -> Result<Result<Value, Invalid>, CapabilityError> {
    let is_compiled = checks.compiled.get().is_some() || checks.spec.schema.len() as u64 <= MAX_INLINE_BYTES;
    if is_compiled && count(&params, MAX_INLINE_NODES) < MAX_INLINE_NODES {
        return examine_now(pipeline, params);
    }
    let (pipeline, memory) = (pipeline.clone(), call.memory.clone());
    let work = move |_: &Stop| {
        // Filling in defaults keeps the parameters as they were beside those that they become.
        memory.take_value(&params).map_err(|error| CapabilityError::failed(error.to_string()))?;
        examine_now(&pipeline, params)
    };
    call.turns.off_thread(work).await?
}

fn examine_now(pipeline: &Pipeline, mut params: Value) -> Result<Result<Value, Invalid>, CapabilityError> {
    let compiled = pipeline.compiled()?;
    defaults::apply(compiled, &mut params);
    Ok(compiled.validator.validate(&params).map(|()| params))
}

/// As [`check`], here and with the parameters as they are.
#[cfg(feature = "compiler")]
pub(super) fn check_now(pipeline: &Pipeline, params: Value) -> Result<Value, CapabilityError> {
    match pipeline.compiled()?.validator.validate(&params) {
        Ok(()) => Ok(params),
        Err(invalid) => Err(invalid_error(&pipeline.label, invalid)),
    }
}

fn invalid_error(label: &str, invalid: Invalid) -> CapabilityError {
    match invalid {
        Invalid::Issues(issues) => refuse(label, &issues),
        Invalid::Budget => {
            let message = format!("{label}: the parameters take too long to check: pass less at one time");
            CapabilityError::new("call.invalid", message)
        }
    }
}

/// Every issue, the first in the message.
pub(super) fn refuse(label: &str, issues: &[Issue]) -> CapabilityError {
    let first = issues.first().map(|issue| match issue.path.is_empty() {
        true => issue.message.clone(),
        false => format!("{}: {}", issue.path, issue.message),
    });
    let more = match issues.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let message = format!("{label}: {}{more}", first.unwrap_or_default());
    let is_missing = issues.iter().any(|issue| issue.kind == IssueKind::Missing);
    let listed: Vec<Value> =
        issues.iter().map(|issue| json!({ "path": issue.path, "message": issue.message })).collect();
    let mut error = CapabilityError::new("call.invalid", message);
    error.details = Some(json!({
        "issues": listed,
        "hint": if is_missing { "missing_fields" } else { "invalid_arguments" },
    }));
    error
}

/// How many values there are in a value, counted up to a bound.
fn count(value: &Value, bound: usize) -> usize {
    let mut waiting = vec![value];
    let mut count = 0;
    while let Some(value) = waiting.pop() {
        count += 1;
        if count >= bound || waiting.len() >= bound {
            return bound;
        }
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.values()),
            Value::String(text) if text.len() > bound => return bound,
            _ => {}
        }
    }
    count
}
