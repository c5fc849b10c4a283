//! A call on its way to its provider and back: one file to a step, in the order of [`Pipeline::steps`].
//!
//! The same steps stand around every provider, whoever calls. A step lets the call pass, changes its parameters,
//! or refuses it with the error that the caller is given.

mod approval;
mod audit;
mod cache;
mod defaults;
#[cfg(feature = "compiler")]
mod explain;
mod grant;
mod hint;
#[cfg(feature = "compiler")]
mod history;
mod issues;
mod operator_notices;
mod policy;
mod provide;
mod rate;
mod record;
mod repeat;
mod rules;
mod validate;

pub use approval::Approvals;
pub use grant::Grants;
#[cfg(feature = "compiler")]
pub use history::Histories;
#[cfg(feature = "compiler")]
pub(crate) use history::History;
pub(crate) use operator_notices::Notices;
pub use operator_notices::Operator;
#[cfg(feature = "compiler")]
pub(crate) use operator_notices::{Told, notice};
#[cfg(feature = "compiler")]
pub(crate) use policy::{KnownFunction, STANDARD};
pub use rules::ResultObserver;
pub(crate) use rules::Rules;

use crate::error_report::bound_error;
use crate::handlers::{Call, CapabilityError, Handler};
use crate::providers;
use crate::redaction;
use crate::run::RunContext;
use crate::sandbox::{FunctionDescription, FunctionSpec};
use crate::values::Shape;
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_policy::{FunctionId, FunctionPolicy, not_callable};
use capability_gen::validate::{Issue, Validator};
use provide::Provider;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// The steps around one function's provider.
pub(crate) struct Pipeline {
    /// Which function it is. Whatever is decided, counted or kept is so by this.
    id: FunctionId,
    /// `trainSchedule.getSchedule`, for messages.
    label: Arc<str>,
    /// `@capabilities/train-schedule`, for people.
    module: Arc<str>,
    /// The function's identity as text: what notices are counted by.
    topic: String,
    rules: Rules,
    policy: FunctionPolicy,
    /// Constraints on arguments that it does not have.
    #[cfg(feature = "compiler")]
    unknown_arguments: Vec<String>,
    /// What is known of the function; WIT that was written by hand has no schemas.
    checks: Option<Checks>,
    /// Whether nobody says what it gives.
    is_result_unknown: bool,
    /// What answers, where it is no closure: it may say what a person is asked.
    answering: Option<Arc<dyn providers::Provider>>,
    provider: Provider,
}

/// The names of a function.
pub(crate) struct Names {
    pub(crate) id: FunctionId,
    /// What scripts call it.
    pub(crate) label: Arc<str>,
    /// What they import it from.
    pub(crate) module: Arc<str>,
}

struct Checks {
    spec: Arc<FunctionSpec>,
    /// Made when the function is first called: a module has many functions, a script calls few.
    compiled: OnceLock<Result<Compiled, String>>,
}

struct Compiled {
    validator: Validator,
}

/// What a call gave, and whether an earlier one gave it. It is kept and written down when it is known whether it fits its
/// type.
pub(crate) struct Answered {
    pub(crate) value: Value,
    pub(crate) is_cached: bool,
    pub(crate) outcome: Outcome,
}

/// Where an answer comes from, and what is to be kept of it.
enum Source {
    Cache,
    Provider(Option<cache::Keeping>),
}

/// What is still to be done about a call that was answered.
pub(crate) struct Outcome {
    recorded: record::Recorded,
    keeping: Option<cache::Keeping>,
}

impl Outcome {
    /// Ends the call: with an answer that fits, or with why it does not.
    pub(crate) fn end(self, error: Option<&CapabilityError>) {
        if let (None, Some(keeping)) = (error, self.keeping) {
            keeping.keep();
        }
        self.recorded.end(error);
    }
}

impl Pipeline {
    pub(crate) fn new(
        names: Names,
        rules: Rules,
        function: &FunctionDescription,
        handler: Arc<Handler>,
        answering: Option<Arc<dyn providers::Provider>>,
    ) -> Pipeline {
        let Names { id, label, module } = names;
        let policy = rules.of(&id, &label, function.spec.as_deref());
        let provider = Provider::new(handler, answering.clone(), &policy.middleware(), &id, &rules.lines);
        let checks = function.spec.clone().map(|spec| Checks { spec, compiled: OnceLock::new() });
        let unknown_arguments = match policy.has_arguments() {
            true => policy.unknown_arguments(&function.parameters_schema()),
            false => Vec::new(),
        };
        let topic = id.to_string();
        let ignored = policy.ignored_rule();
        let notes = unknown_arguments.iter().chain(&ignored);
        notes.for_each(|text| rules.notices().tell(&topic, "arguments", text));
        Pipeline {
            id,
            topic,
            label,
            module,
            rules,
            policy,
            #[cfg(feature = "compiler")]
            unknown_arguments,
            is_result_unknown: checks.is_some() && gives_json(function),
            checks,
            answering,
            provider,
        }
    }

    /// Takes a call through all steps up to its answer. Whoever knows the answer's type ends it: see [`Outcome`].
    pub(crate) async fn call(
        self: &Arc<Pipeline>,
        call: Call,
        context: &Arc<RunContext>,
    ) -> Result<Answered, CapabilityError> {
        let mut recorded = record::begin(&self.rules.accounting, &self.id, &call, self.is_server_tool());
        let redacted = |mut error: CapabilityError| {
            // What was sent may be in why it was refused. Before it is cut: half a secret would no longer be found.
            redaction::failure(&self.rules.redactor, &mut error);
            error
        };
        match self.steps(call, context, &mut recorded).await.map_err(redacted).map_err(bounded).map_err(hint::add) {
            Ok((value, answer)) => {
                recorded.measure(&value);
                let (is_cached, keeping) = match answer {
                    Source::Cache => (true, None),
                    Source::Provider(keeping) => (false, keeping),
                };
                if let (true, false, Some(observe)) = (self.is_result_unknown, is_cached, &self.rules.results) {
                    observe(&self.id, &value);
                }
                Ok(Answered { value, is_cached, outcome: Outcome { recorded, keeping } })
            }
            Err(error) => {
                recorded.end(Some(&error));
                Err(error)
            }
        }
    }

    /// The order.
    async fn steps(
        self: &Arc<Pipeline>,
        mut call: Call,
        context: &Arc<RunContext>,
        recorded: &mut record::Recorded,
    ) -> Result<(Value, Source), CapabilityError> {
        grant::check(&self.rules.grants, &call.interface, &self.label)?;
        policy::check_caller(self, &context.caller)?;
        if let Some(checks) = &self.checks {
            let params = std::mem::take(&mut call.params);
            call.params = validate::check(self, checks, params, &call).await?;
        }
        policy::check_arguments(self, &call.params)?;
        rate::take(self, context).await?;
        policy::count(self, context).await?;
        approval::check(self, &call, context).await?;
        let key = match cache::find(self, &call, context) {
            cache::Found::Answer(value) => {
                // A secret may have become known since it was kept.
                let value = redaction::answer(&self.rules.redactor, Ok(value), &context.turns).await?;
                return Ok((value, Source::Cache));
            }
            cache::Found::Nothing(key) => key,
        };
        audit::check(self, call.id, context).await?;
        let whole = call.whole.clone();
        let answer = repeat::call(self, call, context, recorded).await;
        let value = redaction::answer(&self.rules.redactor, answer, &context.turns).await?;
        let keeping = cache::prepare(self, key, &value, whole.as_ref());
        Ok((value, Source::Provider(keeping)))
    }

    /// Why a call is refused that its caller may not make, whatever its parameters. It is written down like any other.
    pub(crate) fn refuse(&self, call: &Call, context: &RunContext) -> CapabilityError {
        let recorded = record::begin(&self.rules.accounting, &self.id, call, self.is_server_tool());
        let checked = grant::check(&self.rules.grants, &call.interface, &self.label);
        let checked = checked.and_then(|()| policy::check_caller(self, &context.caller));
        let refused = || CapabilityError::new("call.denied", not_callable(&self.label));
        let error = checked.err().unwrap_or_else(refused);
        recorded.end(Some(&error));
        error
    }

    /// Why a call is refused whose arguments do not fit the function's types, with all else that is wrong with them, in
    /// the order of the parameters. The steps before say no first: who may not call it learns nothing of its parameters.
    pub(crate) async fn refuse_misfit(
        self: &Arc<Pipeline>,
        call: Call,
        by_type: Vec<Issue>,
        order: &[&str],
        context: &RunContext,
    ) -> CapabilityError {
        let recorded = record::begin(&self.rules.accounting, &self.id, &call, self.is_server_tool());
        let mut error = self.misfit(call, by_type, order, context).await.unwrap_or_else(|error| error);
        redaction::failure(&self.rules.redactor, &mut error);
        let error = hint::add(bounded(error));
        recorded.end(Some(&error));
        error
    }

    async fn misfit(
        self: &Arc<Pipeline>,
        mut call: Call,
        by_type: Vec<Issue>,
        order: &[&str],
        context: &RunContext,
    ) -> Result<CapabilityError, CapabilityError> {
        grant::check(&self.rules.grants, &call.interface, &self.label)?;
        policy::check_caller(self, &context.caller)?;
        let params = std::mem::take(&mut call.params);
        let by_schema = match &self.checks {
            // Of parameters that stand one by one, paths do not tell the names.
            Some(checks) if !params.is_null() && checks.spec.part.is_none() => {
                validate::issues(self, checks, params, &call).await?
            }
            _ => Vec::new(),
        };
        Ok(validate::refuse(&self.label, &issues::merge(by_type, by_schema, order)))
    }

    /// What holds for its calls.
    pub(crate) fn policy(&self) -> &FunctionPolicy {
        &self.policy
    }

    /// Tells the operator what only they may know of a call, and by which rule.
    fn notify(&self, rule: &'static str, text: &str) {
        self.rules.notices().tell(&self.topic, rule, text);
    }

    /// What takes secrets out of all that is shown of its calls.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.rules.redactor
    }

    fn is_server_tool(&self) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.spec.is_server_tool)
    }

    /// What scripts call the function.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    fn compiled(&self) -> Result<&Compiled, CapabilityError> {
        let Some(checks) = &self.checks else { return Err(CapabilityError::failed("there is no schema")) };
        let compile = || {
            let schema: Value = serde_json::from_str(&checks.spec.schema).map_err(|error| error.to_string())?;
            let validator = Validator::new(&schema).map_err(|error| error.to_string())?;
            Ok(Compiled { validator })
        };
        checks.compiled.get_or_init(compile).as_ref().map_err(|message| {
            let message = format!("{}: the schema of its parameters cannot be used: {message}", self.label);
            CapabilityError::new("call.unavailable", message)
        })
    }
}

/// Whether a function's answer is JSON of any kind, as far as its type says.
fn gives_json(function: &FunctionDescription) -> bool {
    matches!(&function.shape.result, Some(Shape::Result(Some(answer), _)) if **answer == Shape::Json)
}

/// With texts that are not longer than an error's may be: a provider writes what it likes.
fn bounded(mut error: CapabilityError) -> CapabilityError {
    bound_error(&mut error.code, &mut error.message);
    error
}
