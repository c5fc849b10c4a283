//! Policy checks: decision and scopes for the caller, argument rules, counts per run and per day.

use super::{Pipeline, Rules};
use agent_spaces_calls::context::RunContext;
use agent_spaces_policy::{Decision, Facts, FunctionId, FunctionPolicy, Kind, Refusal};
use agent_spaces_types::caller::Caller;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::function::FunctionSpec;
use agent_spaces_types::standard::STANDARD;
use serde_json::Value;
use std::sync::Arc;

/// Facts about a function that is not linked, as far as policy rules need them.
pub struct KnownFunction<'a> {
    /// Identity of the function.
    pub id: &'a FunctionId,
    /// Name as scripts call it: `trainSchedule.getSchedule`.
    pub label: &'a str,
    /// Approval requirement of the definition, if it sets one.
    pub requires_approval: Option<bool>,
    /// Scopes that the caller needs.
    pub scopes: &'a [String],
    /// True for a tool of an MCP server.
    pub is_server_tool: bool,
    /// True if the server declares the tool read-only.
    pub is_read_only: bool,
}

impl Rules {
    /// Resolves the policy of one function. Done once, when the function is linked.
    pub fn of(&self, id: &FunctionId, label: &str, spec: Option<&FunctionSpec>) -> FunctionPolicy {
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

    /// Returns true if this caller may call the function at all. Sends no notice to the operator.
    pub fn is_open(&self, function: &KnownFunction<'_>, caller: &Caller) -> bool {
        self.grants.has(function.id.interface()) && self.known(function).is_open(&caller.scopes)
    }

    /// Returns the operator's explanation if the policy denies a function to all callers.
    pub fn denial(&self, function: &KnownFunction<'_>) -> Option<String> {
        self.known(function).check_decision().err().map(|refusal| refusal.operator)
    }

    /// Returns the decision of the policy about calls of a function, before their arguments are known.
    pub fn decision(&self, function: &KnownFunction<'_>) -> Decision {
        self.known(function).decision().decision
    }

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

/// Refuses a caller to whom the decision or the scopes deny the function.
pub(super) fn check_caller(pipeline: &Pipeline, caller: &Caller) -> Result<(), CapabilityError> {
    let policy = &pipeline.policy;
    let checked = policy.check_decision().and_then(|()| policy.check_scopes(&caller.scopes));
    checked.map_err(|refusal| refuse(pipeline, "policy", refusal))
}

/// Refuses parameters that break an argument rule.
pub(super) fn check_arguments(pipeline: &Pipeline, params: &Value) -> Result<(), CapabilityError> {
    pipeline.policy.check_arguments(params).map_err(|refusal| refuse(pipeline, "arguments", refusal))
}

/// Counts the call against its limits per run and per day, and refuses it beyond them. Comes before the approval, so that
/// the counts limit approval requests too.
pub(super) async fn count(pipeline: &Arc<Pipeline>, context: &Arc<RunContext>) -> Result<(), CapabilityError> {
    let now = |pipeline: &Pipeline, context: &RunContext| {
        let counted = pipeline.policy.count(&context.counts, &*pipeline.rules.days);
        counted.map_err(|refusal| refuse(pipeline, "count", refusal))
    };
    if !pipeline.policy.is_counted_by_day() {
        return now(pipeline, context);
    }
    let (counting, counted_in) = (pipeline.clone(), context.clone());
    let counted = context.blocking_pool.run_waiting(move || now(&counting, &counted_in)).await;
    counted.unwrap_or_else(|_| Err(CapabilityError::new(Code::CallDenied, "the call could not be counted")))
}

/// Counts a call that was made before its host died against its limits per run.
pub(super) fn recount(pipeline: &Pipeline, context: &RunContext) {
    pipeline.policy.recount(&context.counts);
}

/// Sends the rule to the operator and returns the error for the script, which does not name the rule.
fn refuse(pipeline: &Pipeline, rule: &'static str, refusal: Refusal) -> CapabilityError {
    pipeline.notify(rule, &refusal.operator);
    CapabilityError::new(Code::CallDenied, refusal.message)
}
