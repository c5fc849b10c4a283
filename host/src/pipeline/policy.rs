//! Whether the space's policy lets this caller make this call with these parameters.

use super::{Pipeline, Rules};
use crate::handlers::CapabilityError;
use crate::run::{Caller, RunContext};
use crate::sandbox::FunctionSpec;
use agent_spaces_policy::{Facts, FunctionPolicy, Kind, Refusal};
use serde_json::Value;
use std::sync::Arc;

/// What names of the standard library's interfaces begin with.
pub(crate) const STANDARD: &str = "agent-spaces:std/";

impl Rules {
    /// What holds for one function, found out once when it is linked.
    pub(crate) fn of(&self, label: &str, interface: &str, spec: Option<&FunctionSpec>) -> FunctionPolicy {
        let kind = match spec {
            _ if interface.starts_with(STANDARD) => Kind::Standard,
            Some(spec) if spec.is_server_tool => Kind::ServerTool { read_only: spec.is_read_only },
            _ => Kind::Handler,
        };
        self.policy.function(&Facts {
            label,
            kind,
            requires_approval: spec.and_then(|spec| spec.requires_approval),
            rate_limit: spec.and_then(|spec| spec.rate_limit),
            capability_rate_limit: spec.and_then(|spec| spec.capability_rate_limit),
            scopes: spec.map(|spec| spec.scopes.as_slice()).unwrap_or_default(),
        })
    }
}

/// Whether the caller may call the function at all.
pub(super) fn check_caller(pipeline: &Pipeline, caller: &Caller) -> Result<(), CapabilityError> {
    let policy = &pipeline.policy;
    let checked = policy.check_decision().and_then(|()| policy.check_scopes(&caller.scopes));
    checked.map_err(|refusal| refuse(pipeline, refusal))
}

/// Whether these parameters are allowed.
pub(super) fn check_arguments(pipeline: &Pipeline, params: &Value) -> Result<(), CapabilityError> {
    pipeline.policy.check_arguments(params).map_err(|refusal| refuse(pipeline, refusal))
}

/// Counts the call in its run and its day, unless there were too many: before anybody is asked, so that nobody is
/// asked more often than that either.
pub(super) async fn count(pipeline: &Arc<Pipeline>, context: &Arc<RunContext>) -> Result<(), CapabilityError> {
    let now = |pipeline: &Pipeline, context: &RunContext| {
        let counted = pipeline.policy.count(&context.counts, &*pipeline.rules.days);
        counted.map_err(|refusal| refuse(pipeline, refusal))
    };
    if !pipeline.policy.is_counted_by_day() {
        return now(pipeline, context);
    }
    let (counting, context) = (pipeline.clone(), context.clone());
    let counted = tokio::task::spawn_blocking(move || now(&counting, &context)).await;
    counted.unwrap_or_else(|_| Err(CapabilityError::new("call.denied", "the call could not be counted")))
}

/// The script hears what it did; the operator hears of the rule.
fn refuse(pipeline: &Pipeline, refusal: Refusal) -> CapabilityError {
    pipeline.rules.tell(&refusal.operator);
    CapabilityError::new("call.denied", refusal.message)
}
