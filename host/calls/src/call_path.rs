//! `CallPath`: the path of one function's calls from the sandbox to the provider.

use crate::call::Call;
use crate::context::RunContext;
use crate::handlers::{Handler, Handlers};
use crate::journal::Effect;
use crate::redaction;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::function::{FunctionDescription, InterfaceDescription, label};
use agent_spaces_types::names::not_callable;
use agent_spaces_types::run_error::bound_error;
use serde_json::Value;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

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

    /// Returns the effect of its calls, which decides whether a call may be made again after its host died.
    fn effect(&self) -> Effect {
        Effect::Once
    }

    /// Counts a call that was made before its host died against the limits per run.
    fn recount(&self, _context: &RunContext) {}

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
/// run's limits are enforced, schemas are not. A panic of the handler fails its call alone.
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

    /// Calls the handler, and turns a panic of it into an error.
    async fn answer(&self, call: Call) -> Answer {
        // Scripts do not see the panic message: it may hold internals of the host. The panic hook prints it.
        let panicked = || CapabilityError::failed(format!("{}: its handler panicked", self.label));
        // Unwind safe: handlers share state only behind locks, which a panic poisons.
        let begun = catch_unwind(AssertUnwindSafe(|| (self.handler)(call)));
        let mut answering = begun.map_err(|_| panicked())?;
        poll_fn(|task| {
            let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(task)));
            polled.unwrap_or_else(|_| Poll::Ready(Err(panicked())))
        })
        .await
    }
}

impl CallPath for DirectPath {
    fn label(&self) -> &str {
        &self.label
    }

    fn call(self: Arc<Self>, call: Call, _context: Arc<RunContext>) -> Calling {
        Box::pin(async move {
            match self.answer(call).await {
                Ok(value) => Ok(Answered { value, is_cached: false, outcome: Outcome::new(|_| {}) }),
                Err(mut error) => {
                    error.code = redaction::code(&error.code);
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

#[cfg(test)]
mod tests {
    use crate::call::{Call, FunctionNames};
    use crate::call_path::{CallPath, DirectPath};
    use crate::context::RunContext;
    use crate::events::EventSink;
    use crate::handlers::Handlers;
    use crate::host_memory::HostMemory;
    use crate::scope::RunScope;
    use agent_spaces_types::capability_error::{Answer, CapabilityError};
    use agent_spaces_types::limits::Limits;
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// Calls `a.b` with this handler.
    async fn answer_of<F, Answering>(handler: F) -> Answer
    where
        F: Fn(Call) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = Answer> + Send + 'static,
    {
        let mut handlers = Handlers::new();
        handlers.add("a", "b", handler);
        let path = Arc::new(DirectPath { label: "a.b".into(), handler: handlers.get("a", "b").unwrap() });
        let memory = HostMemory::alone(&Limits::default());
        let context = Arc::new(RunContext::of_host(Arc::default(), EventSink::none(), memory.clone()));
        let names = FunctionNames {
            interface: "a".into(),
            capability: "a".into(),
            function: "b".into(),
            source_name: "b".into(),
            part: None,
        };
        let call = Call::new(&names, ("run".into(), 1), Value::Null, RunScope::default(), &context, &memory.share());
        path.call(call, context).await.map(|answered| answered.value)
    }

    #[tokio::test]
    async fn a_panic_fails_the_call_and_its_message_stays_on_the_host() {
        fn panic_at_once(_: Call) -> std::future::Ready<Answer> {
            panic!("secret of the host")
        }
        async fn panic_later(_: Call) -> Answer {
            tokio::task::yield_now().await;
            panic!("secret of the host")
        }
        let failed: Answer = Err(CapabilityError::failed("a.b: its handler panicked"));
        assert_eq!(answer_of(panic_at_once).await, failed);
        assert_eq!(answer_of(panic_later).await, failed);
        assert_eq!(answer_of(|_| async { Ok(json!(1)) }).await, Ok(json!(1)));
    }

    #[tokio::test]
    async fn an_invalid_error_code_becomes_call_failed() {
        let long = "a".repeat(65);
        for (code, expected) in [
            ("weather.no_such-city", "weather.no_such-city"),
            ("\x1b[2Jcall.denied", "call.failed"),
            ("two words", "call.failed"),
            ("", "call.failed"),
            (long.as_str(), "call.failed"),
        ] {
            let error = CapabilityError::new(code, "no such city");
            let answer = answer_of(move |_| std::future::ready(Err(error.clone()))).await;
            assert_eq!(answer, Err(CapabilityError::new(expected, "no such city")), "{code:?}");
        }
    }
}
