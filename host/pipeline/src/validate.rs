//! Schema validation of parameters, with defaults filled in.

use super::{Checks, Pipeline, defaults};
use agent_spaces_calls::blocking_pool::{MAX_INLINE_BYTES, StopFlag};
use agent_spaces_calls::call::Call;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use capability_gen::validate::{Invalid, Issue, IssueKind};
use serde_json::{Value, json};
use std::sync::Arc;

/// Parameters with fewer values than this are validated inline, others on a blocking thread, so that they do not delay
/// other runs.
const MAX_INLINE_NODES: usize = 1_000;

/// Fills in defaults and validates the parameters of a call.
pub(super) async fn check(
    pipeline: &Arc<Pipeline>,
    checks: &Checks,
    params: Value,
    call: &Call,
) -> Result<Value, CapabilityError> {
    examine(pipeline, checks, params, call).await?.map_err(|invalid| invalid_error(&pipeline.label, invalid))
}

/// Returns the schema violations of a call that is refused already.
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

/// Returns the parameters with their defaults, or their schema violations.
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
    let work = move |_: &StopFlag| {
        // While defaults are filled in, both versions of the parameters are in memory.
        memory.take_value(&params).map_err(|error| CapabilityError::failed(error.to_string()))?;
        examine_now(&pipeline, params)
    };
    call.blocking_pool.run(work).await?
}

fn examine_now(pipeline: &Pipeline, mut params: Value) -> Result<Result<Value, Invalid>, CapabilityError> {
    let compiled = pipeline.compiled()?;
    defaults::apply(compiled, &mut params);
    Ok(compiled.validator.validate(&params).map(|()| params))
}

/// Validates as [`check`] does, but inline and without filling in defaults.
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
            let message = format!("{label}: validation of the parameters takes too long: pass less at one time");
            CapabilityError::new(Code::CallInvalid, message)
        }
    }
}

/// Returns an error that lists every issue in its details and the first in its message.
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
    let mut error = CapabilityError::new(Code::CallInvalid, message);
    error.details = Some(json!({
        "issues": listed,
        "hint": if is_missing { "missing_fields" } else { "invalid_arguments" },
    }));
    error
}

/// Counts the nested values of a value, up to a bound.
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
