//! Whether the space's policy lets this caller make this call with these parameters.

use super::{Pipeline, Rules};
use crate::handlers::CapabilityError;
use crate::run::{Caller, RunContext};
use crate::sandbox::FunctionSpec;
use agent_spaces_policy::{Facts, FunctionId, FunctionPolicy, Kind, Refusal};
use serde_json::Value;
use std::sync::Arc;

/// What names of the standard library's interfaces begin with.
pub(crate) const STANDARD: &str = "agent-spaces:std/";

/// What rules ask of a function that nobody has linked.
#[cfg(feature = "compiler")]
pub(crate) struct KnownFunction<'a> {
    pub(crate) id: &'a FunctionId,
    /// As scripts call it.
    pub(crate) label: &'a str,
    pub(crate) requires_approval: Option<bool>,
    pub(crate) scopes: &'a [String],
    pub(crate) is_server_tool: bool,
    pub(crate) is_read_only: bool,
}

impl Rules {
    /// What holds for one function, found out once when it is linked.
    pub(crate) fn of(&self, id: &FunctionId, label: &str, spec: Option<&FunctionSpec>) -> FunctionPolicy {
        let interface = id.interface();
        let kind = match spec {
            Some(spec) => kind(interface, spec.is_server_tool, spec.is_read_only),
            None => kind(interface, false, false),
        };
        self.policy.function(&Facts {
            id,
            label,
            kind,
            requires_approval: spec.and_then(|spec| spec.requires_approval),
            rate_limit: spec.and_then(|spec| spec.rate_limit),
            capability_rate_limit: spec.and_then(|spec| spec.capability_rate_limit),
            scopes: spec.map(|spec| spec.scopes.as_slice()).unwrap_or_default(),
        })
    }

    /// Whether calls of a function by this caller may pass at all. Nobody is told.
    #[cfg(feature = "compiler")]
    pub(crate) fn is_open(&self, function: &KnownFunction<'_>, caller: &Caller) -> bool {
        self.grants.has(function.id.interface()) && self.known(function).is_open(&caller.scopes)
    }

    /// Why the policy denies a function to everybody, for the operator, where it does.
    #[cfg(feature = "compiler")]
    pub(crate) fn denial(&self, function: &KnownFunction<'_>) -> Option<String> {
        self.known(function).check_decision().err().map(|refusal| refusal.operator)
    }

    #[cfg(feature = "compiler")]
    fn known(&self, function: &KnownFunction<'_>) -> FunctionPolicy {
        let KnownFunction { id, label, requires_approval, scopes, is_server_tool, is_read_only } = *function;
        let kind = kind(id.interface(), is_server_tool, is_read_only);
        self.policy.function(&Facts {
            id,
            label,
            kind,
            requires_approval,
            rate_limit: None,
            capability_rate_limit: None,
            scopes,
        })
    }
}

fn kind(interface: &str, is_server_tool: bool, is_read_only: bool) -> Kind {
    match is_server_tool {
        _ if interface.starts_with(STANDARD) => Kind::Standard,
        true => Kind::ServerTool { read_only: is_read_only },
        false => Kind::Handler,
    }
}

/// Whether the caller may call the function at all.
pub(super) fn check_caller(pipeline: &Pipeline, caller: &Caller) -> Result<(), CapabilityError> {
    let policy = &pipeline.policy;
    let checked = policy.check_decision().and_then(|()| policy.check_scopes(&caller.scopes));
    checked.map_err(|refusal| refuse(pipeline, "policy", refusal))
}

/// Whether these parameters are allowed.
pub(super) fn check_arguments(pipeline: &Pipeline, params: &Value) -> Result<(), CapabilityError> {
    pipeline.policy.check_arguments(params).map_err(|refusal| refuse(pipeline, "arguments", refusal))
}

/// Counts the call in its run and its day, unless there were too many: before anybody is asked, so that nobody is
/// asked more often than that either.
pub(super) async fn count(pipeline: &Arc<Pipeline>, context: &Arc<RunContext>) -> Result<(), CapabilityError> {
    let now = |pipeline: &Pipeline, context: &RunContext| {
        let counted = pipeline.policy.count(&context.counts, &*pipeline.rules.days);
        counted.map_err(|refusal| refuse(pipeline, "count", refusal))
    };
    if !pipeline.policy.is_counted_by_day() {
        return now(pipeline, context);
    }
    let (counting, counted_in) = (pipeline.clone(), context.clone());
    let counted = context.turns.waiting(move || now(&counting, &counted_in)).await;
    counted.unwrap_or_else(|_| Err(CapabilityError::new("call.denied", "the call could not be counted")))
}

/// The script hears what it did; the operator hears of the rule.
fn refuse(pipeline: &Pipeline, rule: &'static str, refusal: Refusal) -> CapabilityError {
    pipeline.notify(rule, &refusal.operator);
    CapabilityError::new("call.denied", refusal.message)
}
