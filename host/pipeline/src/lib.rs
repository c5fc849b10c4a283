//! Call pipeline: the steps of a call on its way to its provider and back, the same for every provider and caller. A
//! step lets the call pass, changes its parameters, or refuses it with the error that the caller gets.
//!
//! The rules themselves live in `agent-spaces-policy`, the approval queue in `agent-spaces-approvals`, the log file in
//! `agent-spaces-audit-log`; providers live in `agent-spaces-providers`.
//!
//! # Layout
//! - the steps, one file each, in the order of `Pipeline::steps`: `grant`, `policy` (caller), `validate` with `defaults`,
//!   `policy` (arguments), `rate`, `policy` (counts), `approval`, `cache`, `audit`, `durable`, `retry`, `provide`
//! - `issues`, `hint`: issue list of errors about arguments, and the machine-readable hint of errors
//! - `explain`: dry run of the steps
//! - `rules`, `history`: state that all pipelines of a space share, and the part of it that survives a reload
//! - [`audit_trail`]: events of runs in the audit log
//! - [`accounting`], `accounting_entry`: usage log, one line per call and per request to a model

pub mod accounting;
mod accounting_entry;
mod approval;
mod audit;
pub mod audit_trail;
mod cache;
mod defaults;
mod durable;
mod explain;
mod grant;
mod hint;
mod history;
mod issues;
mod policy;
mod provide;
mod rate;
mod retry;
mod rules;
mod validate;

pub use agent_spaces_audit_log::OPERATOR_TARGET;
pub use approval::Approvals;
pub use grant::Grants;
pub use history::{Histories, History};
pub use policy::KnownFunction;
pub use rules::{ResultObserver, Rules};

use agent_spaces_calls::call::Call;
use agent_spaces_calls::call_path::{Answered, CallPath, Calling, Outcome, Refusing, TypeIssue};
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::handlers::{Handler, Handlers};
use agent_spaces_calls::journal::Effect;
use agent_spaces_calls::provider::Provider;
use agent_spaces_calls::redaction;
use agent_spaces_policy::{FunctionId, FunctionPolicy, UnknownArgument, not_callable};
use agent_spaces_secrets::Redactor;
use agent_spaces_telemetry::spans;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::function::{FunctionDescription, FunctionSpec, InterfaceDescription, function_id, label};
use agent_spaces_types::run_error::bound_error;
use agent_spaces_types::shape::Shape;
use capability_gen::validate::{Issue, IssueKind, Validator};
use provide::LimitedHandler;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use tracing::Instrument as _;

/// Pipeline of one function: all steps around its provider.
pub struct Pipeline {
    /// Identity of the function; key of its policy, rate limits, counts and cached answers.
    id: FunctionId,
    /// `trainSchedule.getSchedule`, for messages.
    label: Arc<str>,
    /// `@capabilities/train-schedule`, for approval requests.
    module: Arc<str>,
    /// `id` as text; key by which repeated operator notices are dropped.
    topic: String,
    rules: Rules,
    policy: FunctionPolicy,
    /// Rules for arguments that the function does not have.
    unknown_arguments: Vec<UnknownArgument>,
    /// Parameter schema; hand-written WIT has none.
    checks: Option<Checks>,
    /// True if the result has no declared type.
    is_result_unknown: bool,
    /// The provider, unless it is a closure. It may supply the approval message.
    provider: Option<Arc<dyn Provider>>,
    handler: LimitedHandler,
}

/// Names of a function.
struct FunctionNames {
    id: FunctionId,
    /// As scripts call it: `trainSchedule.getSchedule`.
    label: Arc<str>,
    /// Module that exports it.
    module: Arc<str>,
}

/// Parameter schema of a function, compiled on the first call.
struct Checks {
    spec: Arc<FunctionSpec>,
    /// Compiled lazily: a module has many functions, and a script calls few.
    compiled: OnceLock<Result<Compiled, String>>,
}

struct Compiled {
    validator: Validator,
}

/// Source of an answer.
enum Source {
    Cache,
    /// With the pending cache insert, if the answer is cacheable.
    Provider(Option<Box<cache::PendingInsert>>),
}

impl Pipeline {
    fn new(
        names: FunctionNames,
        rules: Rules,
        function: &FunctionDescription,
        handler: Arc<Handler>,
        provider: Option<Arc<dyn Provider>>,
    ) -> Pipeline {
        let FunctionNames { id, label, module } = names;
        let policy = rules.of(&id, &label, function.spec.as_deref());
        let handler = LimitedHandler::new(handler, provider.clone(), &policy.middleware(), &id, &rules.concurrency);
        let checks = function.spec.clone().map(|spec| Checks { spec, compiled: OnceLock::new() });
        let unknown_arguments = match policy.has_arguments() {
            true => policy.unknown_arguments(&function.parameters_schema()),
            false => Vec::new(),
        };
        let topic = id.to_string();
        let ignored = policy.ignored_rule();
        let notes = unknown_arguments.iter().map(ToString::to_string).chain(ignored);
        notes.for_each(|text| rules.notices().tell(&topic, "arguments", &text));
        Pipeline {
            id,
            topic,
            label,
            module,
            rules,
            policy,
            unknown_arguments,
            is_result_unknown: checks.is_some() && returns_json(function),
            checks,
            provider,
            handler,
        }
    }

    /// Builds the pipeline of an interface's function; `None` if no handler is registered for it.
    pub fn of(
        interface: &InterfaceDescription,
        function: &FunctionDescription,
        handlers: &Handlers,
        rules: &Rules,
    ) -> Option<Pipeline> {
        let handler = handlers.get(&interface.name, &function.shape.name)?;
        let provider = handlers.provider(&interface.name, &function.shape.name);
        let names = FunctionNames {
            id: function_id(interface, function),
            label: label(interface, function),
            module: interface.module.as_str().into(),
        };
        Some(Pipeline::new(names, rules.clone(), function, handler, provider))
    }

    /// Takes a call through all steps up to its answer. The caller, which checks the answer's type, ends it with
    /// [`Outcome`].
    async fn answer(self: &Arc<Pipeline>, call: Call, context: &Arc<RunContext>) -> Result<Answered, CapabilityError> {
        let mut entry = accounting_entry::begin(&self.rules.accounting, &self.id, &call, self.is_server_tool());
        let redacted = |mut error: CapabilityError| {
            // An error may quote what was sent. Redact before truncation: half a secret would not be found.
            redaction::failure(&self.rules.redactor, &mut error);
            error
        };
        match self.steps(call, context, &mut entry).await.map_err(redacted).map_err(bounded).map_err(hint::add) {
            Ok((value, answer)) => {
                entry.measure(&value);
                let (is_cached, pending) = match answer {
                    Source::Cache => (true, None),
                    Source::Provider(pending) => (false, pending),
                };
                if let (true, false, Some(observe)) = (self.is_result_unknown, is_cached, &self.rules.results) {
                    observe(&self.id, &value);
                }
                let end = move |error: Option<&CapabilityError>| {
                    if let (None, Some(pending)) = (error, pending) {
                        pending.insert();
                    }
                    entry.end(error);
                };
                Ok(Answered { value, is_cached, outcome: Outcome::new(end) })
            }
            Err(error) => {
                entry.end(Some(&error));
                Err(error)
            }
        }
    }

    /// The steps, in order.
    async fn steps(
        self: &Arc<Pipeline>,
        mut call: Call,
        context: &Arc<RunContext>,
        entry: &mut accounting_entry::OpenEntry,
    ) -> Result<(Value, Source), CapabilityError> {
        grant::check(&self.rules.grants, &call.interface, &self.label)?;
        policy::check_caller(self, &context.caller)?;
        if let Some(checks) = &self.checks {
            let params = std::mem::take(&mut call.params);
            call.params = validate::check(self, checks, params, &call).await?;
        }
        policy::check_arguments(self, &call.params)?;
        rate::acquire(self, context).await?;
        durable::count(self, &call, context).await?;
        approval::check(self, &call, context).await?;
        let key = match cache::lookup(self, &call, context) {
            cache::Lookup::Hit(value) => {
                // Secrets may have been learned after the answer was cached.
                let value = redaction::answer(&self.rules.redactor, Ok(value), &context.blocking_pool).await?;
                return Ok((value, Source::Cache));
            }
            cache::Lookup::Miss(key) => key,
        };
        audit::check(self, call.id, context).await?;
        let whole = call.whole.clone();
        let answer = retry::call(self, call, context, entry).await;
        let value = redaction::answer(&self.rules.redactor, answer, &context.blocking_pool).await?;
        let pending = cache::prepare_insert(self, key, &value, whole.as_ref());
        Ok((value, Source::Provider(pending.map(Box::new))))
    }

    /// Returns the refusal of a call that this caller may never make, whatever its parameters. It is accounted like any
    /// other call.
    fn refusal(&self, call: &Call, context: &RunContext) -> CapabilityError {
        let entry = accounting_entry::begin(&self.rules.accounting, &self.id, call, self.is_server_tool());
        let checked = grant::check(&self.rules.grants, &call.interface, &self.label);
        let checked = checked.and_then(|()| policy::check_caller(self, &context.caller));
        let refused = || CapabilityError::new(Code::CallDenied, not_callable(&self.label));
        let error = checked.err().unwrap_or_else(refused);
        entry.end(Some(&error));
        error
    }

    /// Returns the refusal of a call whose arguments do not fit the function's types, with all schema violations, in the
    /// order of the parameters. Grant and policy come first: a denied caller learns nothing about the parameters.
    async fn argument_refusal(
        self: &Arc<Pipeline>,
        call: Call,
        by_type: Vec<TypeIssue>,
        order: &[String],
        context: &RunContext,
    ) -> CapabilityError {
        let by_type = by_type.into_iter().map(issue).collect();
        let entry = accounting_entry::begin(&self.rules.accounting, &self.id, &call, self.is_server_tool());
        let mut error = self.argument_error(call, by_type, order, context).await.unwrap_or_else(|error| error);
        redaction::failure(&self.rules.redactor, &mut error);
        let error = hint::add(bounded(error));
        entry.end(Some(&error));
        error
    }

    async fn argument_error(
        self: &Arc<Pipeline>,
        mut call: Call,
        by_type: Vec<Issue>,
        order: &[String],
        context: &RunContext,
    ) -> Result<CapabilityError, CapabilityError> {
        grant::check(&self.rules.grants, &call.interface, &self.label)?;
        policy::check_caller(self, &context.caller)?;
        let params = std::mem::take(&mut call.params);
        let by_schema = match &self.checks {
            // With separate parameters, schema paths do not hold the parameter names.
            Some(checks) if !params.is_null() && checks.spec.part.is_none() => {
                validate::issues(self, checks, params, &call).await?
            }
            _ => Vec::new(),
        };
        Ok(validate::refuse(&self.label, &issues::merge(by_type, by_schema, order)))
    }

    /// Returns the policy of the function.
    pub fn policy(&self) -> &FunctionPolicy {
        &self.policy
    }

    /// Sends a notice to the operator; `rule` names its kind.
    fn notify(&self, rule: &'static str, text: &str) {
        self.rules.notices().tell(&self.topic, rule, text);
    }

    /// Returns the redactor that removes secrets from answers and errors.
    pub fn redactor(&self) -> &Redactor {
        &self.rules.redactor
    }

    fn is_server_tool(&self) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.spec.is_server_tool)
    }

    fn compiled(&self) -> Result<&Compiled, CapabilityError> {
        let Some(checks) = &self.checks else { return Err(CapabilityError::failed("there is no schema")) };
        let compile = || {
            let schema: Value = serde_json::from_str(&checks.spec.schema).map_err(|error| error.to_string())?;
            let validator = Validator::new(&schema).map_err(|error| error.to_string())?;
            Ok(Compiled { validator })
        };
        checks.compiled.get_or_init(compile).as_ref().map_err(|message| {
            let message = format!("{}: invalid parameter schema: {message}", self.label);
            CapabilityError::new(Code::CallUnavailable, message)
        })
    }
}

impl CallPath for Pipeline {
    fn label(&self) -> &str {
        &self.label
    }

    fn call(self: Arc<Self>, call: Call, context: Arc<RunContext>) -> Calling {
        Box::pin(async move {
            // Calls that the journal of a durable run answers do not come here, so a replay opens no span.
            let span = spans::call(&self.label, &call.run_id, call.id);
            let answer = self.answer(call, &context).instrument(span.clone()).await;
            let outcome = answer.as_ref().map(|answered| answered.is_cached).map_err(|error| error.code.as_str());
            spans::end_call(&span, outcome);
            answer
        })
    }

    fn refuse(&self, call: &Call, context: &RunContext) -> CapabilityError {
        self.refusal(call, context)
    }

    fn refuse_arguments(
        self: Arc<Self>,
        call: Call,
        issues: Vec<TypeIssue>,
        order: Vec<String>,
        context: Arc<RunContext>,
    ) -> Refusing {
        Box::pin(async move { self.argument_refusal(call, issues, &order, &context).await })
    }

    fn effect(&self) -> Effect {
        durable::effect(self)
    }

    fn recount(&self, context: &RunContext) {
        policy::recount(self, context);
    }

    fn is_gated(&self) -> bool {
        self.policy.is_gated()
    }

    fn scopes(&self) -> Vec<String> {
        self.policy.scopes().map(str::to_owned).collect()
    }

    fn is_open(&self, scopes: &BTreeSet<String>) -> bool {
        self.policy.is_open(scopes)
    }
}

/// Converts an issue of the engine's type check into one of the validator's form.
fn issue(TypeIssue { path, message, missing }: TypeIssue) -> Issue {
    Issue { path, message, kind: if missing { IssueKind::Missing } else { IssueKind::Type } }
}

/// Returns true if the function's result is typed as arbitrary JSON.
fn returns_json(function: &FunctionDescription) -> bool {
    matches!(&function.shape.result, Some(Shape::Result(Some(answer), _)) if **answer == Shape::Json)
}

/// Truncates the texts of an error: a provider's may have any length.
fn bounded(mut error: CapabilityError) -> CapabilityError {
    bound_error(&mut error.code, &mut error.message);
    error
}
