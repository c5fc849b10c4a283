//! `CallPath`: the path of one function's calls from the sandbox to the provider.

use crate::call::Call;
use crate::context::RunContext;
use crate::handlers::{Handler, Handlers};
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::function::{FunctionDescription, InterfaceDescription, label};
use agent_spaces_types::names::not_callable;
use agent_spaces_types::run_error::bound_error;
use serde_json::Value;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

/// Path of one function's calls from the sandbox to the provider.
pub trait CallPath: Send + Sync {
    /// Returns the JavaScript name of the function: `trainSchedule.getSchedule`.
    fn label(&self) -> &str;

    /// Executes a call. The sandbox, which knows the answer's type, ends it: see [`Outcome`].
    fn call(self: Arc<Self>, call: Call, context: Arc<RunContext>) -> Calling;

    /// Refuses a call that its caller may not make, whatever its parameters.
    fn refuse(&self, call: &Call, context: &RunContext) -> CapabilityError;

    /// Refuses a call whose arguments do not match the function's WIT types. `order` has the names of the parameters in
    /// declared order.
    fn refuse_arguments(
        self: Arc<Self>,
        call: Call,
        issues: Vec<TypeIssue>,
        order: Vec<String>,
        context: Arc<RunContext>,
    ) -> Refusing;

    /// Returns true if the function is visible to some callers only.
    fn is_gated(&self) -> bool;

    /// Returns the scopes that affect its visibility.
    fn scopes(&self) -> Vec<String>;

    /// Returns true if it is visible to a caller with these scopes.
    fn is_open(&self, scopes: &BTreeSet<String>) -> bool;
}

/// Future of a call's answer.
pub type Calling = Pin<Box<dyn Future<Output = Result<Answered, CapabilityError>> + Send>>;

/// Future of a refusal.
pub type Refusing = Pin<Box<dyn Future<Output = CapabilityError> + Send>>;

/// Factory of call paths; returns `None` for a function without a provider.
pub type Paths<'a> = dyn Fn(&InterfaceDescription, &FunctionDescription) -> Option<Arc<dyn CallPath>> + 'a;

/// Argument that does not match its WIT type, as the engine reports it.
#[derive(Clone, Debug)]
pub struct TypeIssue {
    /// Path in the arguments.
    pub path: String,
    /// Description of the mismatch.
    pub message: String,
    /// True if the argument is missing.
    pub missing: bool,
}

/// Answer of a call. It is cached and recorded once its type has been checked.
pub struct Answered {
    /// The value.
    pub value: Value,
    /// True if it came from the cache.
    pub is_cached: bool,
    /// Completion handler of the call.
    pub outcome: Outcome,
}

/// Completion handler of an answered call.
pub struct Outcome(Box<End>);

/// Ends a call.
type End = dyn FnOnce(Option<&CapabilityError>) + Send;

impl Outcome {
    /// Creates a handler that calls `end` when the call ends.
    pub fn new(end: impl FnOnce(Option<&CapabilityError>) + Send + 'static) -> Outcome {
        Outcome(Box::new(end))
    }

    /// Ends the call, with an error if the answer does not match its type.
    pub fn end(self, error: Option<&CapabilityError>) {
        (self.0)(error);
    }
}

/// Call path directly to the handler, for hosts that load precompiled programs and need no policies. WIT types and the
/// run's limits are enforced, schemas are not.
pub struct DirectPath {
    label: Arc<str>,
    handler: Arc<Handler>,
}

impl DirectPath {
    /// Creates the path to a function's handler, or returns `None` if it has none.
    pub fn find(
        interface: &InterfaceDescription,
        function: &FunctionDescription,
        handlers: &Handlers,
    ) -> Option<Arc<dyn CallPath>> {
        let handler = handlers.get(&interface.name, &function.shape.name)?;
        Some(Arc::new(DirectPath { label: label(interface, function), handler }))
    }
}

impl CallPath for DirectPath {
    fn label(&self) -> &str {
        &self.label
    }

    fn call(self: Arc<Self>, call: Call, _context: Arc<RunContext>) -> Calling {
        Box::pin(async move {
            match (self.handler)(call).await {
                Ok(value) => Ok(Answered { value, is_cached: false, outcome: Outcome::new(|_| {}) }),
                Err(mut error) => {
                    bound_error(&mut error.code, &mut error.message);
                    Err(error)
                }
            }
        })
    }

    fn refuse(&self, _call: &Call, _context: &RunContext) -> CapabilityError {
        CapabilityError::new(Code::CallDenied, not_callable(&self.label))
    }

    fn refuse_arguments(
        self: Arc<Self>,
        _call: Call,
        issues: Vec<TypeIssue>,
        _order: Vec<String>,
        _context: Arc<RunContext>,
    ) -> Refusing {
        let said = issues.first().map(|issue| format!("{}: {}", issue.path, issue.message)).unwrap_or_default();
        let error = CapabilityError::new(Code::CallInvalid, format!("{}: {said}", self.label));
        Box::pin(std::future::ready(error))
    }

    fn is_gated(&self) -> bool {
        false
    }

    fn scopes(&self) -> Vec<String> {
        Vec::new()
    }

    fn is_open(&self, _scopes: &BTreeSet<String>) -> bool {
        true
    }
}
