//! One function of a sandbox: from the values of a call to the pipeline, and back.

use super::description::{FunctionDescription, InterfaceDescription, label};
use crate::events::{CallProgress, EventKind};
#[cfg(feature = "compiler")]
use crate::events::{Event, EventSink, Observer};
#[cfg(feature = "compiler")]
use crate::handlers::{Answer, WholeAnswer};
use crate::handlers::{Call, CapabilityError, Handlers};
use crate::pipeline::{Answered, Pipeline, Rules};
#[cfg(feature = "compiler")]
use crate::run::Caller;
use crate::run::{RunContext, RunScope, State};
#[cfg(feature = "compiler")]
use crate::run_id;
use crate::values::{FunctionShape, Shape, camel_case, from_json, to_json};
#[cfg(feature = "compiler")]
use agent_spaces_approvals::Pending;
use capability_gen::server::ServerPart;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
#[cfg(feature = "compiler")]
use tokio::sync::mpsc;
use wasmtime::component::{Accessor, Val};
use wasmtime::{Result, StoreContextMut};

#[cfg(feature = "compiler")]
impl InterfaceDescription {
    /// What answers a function, by the name that scripts use.
    pub(crate) fn target(&self, function: &str, handlers: &Handlers, rules: &Rules) -> Option<Target> {
        let described = self.functions.iter().find(|each| camel_case(&each.shape.name) == function)?;
        Target::new(self, described, handlers, rules)
    }
}

/// A call that no script makes.
#[cfg(feature = "compiler")]
#[derive(Default)]
pub(crate) struct HostCall {
    pub(crate) params: Value,
    pub(crate) caller: Arc<Caller>,
    /// Hears what happens, beside the space's observer.
    pub(crate) events: Option<mpsc::UnboundedSender<Event>>,
    /// What waits for a person.
    pub(crate) pending: Pending,
    /// Where the whole answer of an MCP server goes.
    pub(crate) whole: Option<WholeAnswer>,
}

/// One function and what answers it.
pub(crate) struct Target {
    interface: Arc<str>,
    capability: Arc<str>,
    function: Arc<str>,
    source_name: Arc<str>,
    shape: FunctionShape,
    /// Of a compiled capability the one parameter is the parameters, whatever its type.
    is_compiled: bool,
    part: Option<ServerPart>,
    pipeline: Arc<Pipeline>,
    /// Hears of calls that no script makes.
    #[cfg(feature = "compiler")]
    observer: Option<Arc<Observer>>,
}

impl Target {
    pub(super) fn new(
        interface: &InterfaceDescription,
        function: &FunctionDescription,
        handlers: &Handlers,
        rules: &Rules,
    ) -> Option<Target> {
        let handler = handlers.get(&interface.name, &function.shape.name)?;
        let message = handlers.message(&interface.name, &function.shape.name);
        let name: Arc<str> = interface.name.as_str().into();
        let js_name: Arc<str> = camel_case(&function.shape.name).into();
        let label = label(interface, function);
        let spec = function.spec.as_ref();
        Some(Target {
            pipeline: Arc::new(Pipeline::new(label, rules.clone(), &name, spec.cloned(), handler, message)),
            interface: name,
            capability: spec.map_or_else(|| interface.export.as_str().into(), |spec| spec.capability.clone()),
            source_name: spec.map_or_else(|| js_name.clone(), |spec| spec.source_name.clone()),
            function: js_name,
            shape: function.shape.clone(),
            is_compiled: function.is_compiled(),
            part: spec.and_then(|spec| spec.part),
            #[cfg(feature = "compiler")]
            observer: rules.observer.clone(),
        })
    }

    /// What holds for its calls.
    #[cfg(feature = "compiler")]
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Answers a call that no script makes.
    #[cfg(feature = "compiler")]
    pub(crate) async fn call(&self, call: HostCall) -> Answer {
        let HostCall { params, caller, events, pending, whole } = call;
        let run_id = run_id::new();
        let events = EventSink::new(run_id.clone(), &caller, events, self.observer.clone());
        if events.is_heard() {
            events.emit(self.scheduled(1, &params));
        }
        let progress = CallProgress::new(1, &events, self.pipeline.redactor());
        let context = Arc::new(RunContext { pending, ..RunContext::of_host(caller, events) });
        let mut call = self.describe(run_id, 1, params, progress, (RunScope::default(), &context));
        call.whole = whole.clone();
        let begun = Instant::now();
        let answer = self.pipeline.call(call, &context).await.and_then(|answered| {
            // Who passes on what a server sent asks for no type of ours.
            if whole.is_some_and(|whole| whole.get().is_some()) {
                answered.outcome.end(None);
                return Ok((answered.value, answered.is_cached));
            }
            // Nobody else will see whether it fits.
            let value = answered.value.clone();
            self.fit(answered).map(|(_, is_cached)| (value, is_cached))
        });
        context.events.emit(ended(1, begun, answer.as_ref().map(|(_, is_cached)| *is_cached)));
        answer.map(|(value, _)| value)
    }

    /// Answers a call of a script, which goes on meanwhile.
    pub(super) async fn answer(
        &self,
        accessor: &Accessor<State>,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        let (call, context) = accessor.with(|mut access| self.begin(access.get(), arguments))?;
        let (id, begun) = (call.id, Instant::now());
        let answer = self.pipeline.call(call, &context).await;
        accessor.with(|mut access| self.end(access.get(), id, begun, answer, results))
    }

    /// The same while the script stands still.
    pub(super) async fn answer_still(
        &self,
        mut store: StoreContextMut<'_, State>,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        let (call, context) = self.begin(store.data_mut(), arguments)?;
        let (id, begun) = (call.id, Instant::now());
        let answer = self.pipeline.call(call, &context).await;
        self.end(store.data_mut(), id, begun, answer, results)
    }

    fn begin(&self, state: &mut State, arguments: &[Val]) -> Result<(Call, Arc<RunContext>)> {
        let params = self.params(arguments)?;
        let id = state.begin_call(&params, |id| self.scheduled(id, &params))?;
        let progress = CallProgress::new(id, state.events(), self.pipeline.redactor());
        let context = state.context().clone();
        let call = self.describe(state.run_id().clone(), id, params, progress, (state.scope().clone(), &context));
        Ok((call, context))
    }

    fn scheduled(&self, call_id: u64, params: &Value) -> EventKind {
        EventKind::CallScheduled {
            call_id,
            interface: self.interface.clone(),
            capability: self.capability.clone(),
            function: self.function.clone(),
            params: params.clone(),
        }
    }

    fn describe(
        &self,
        run_id: Arc<str>,
        id: u64,
        params: Value,
        progress: CallProgress,
        (scope, context): (RunScope, &RunContext),
    ) -> Call {
        Call {
            run_id,
            id,
            interface: self.interface.clone(),
            capability: self.capability.clone(),
            function: self.function.clone(),
            source_name: self.source_name.clone(),
            part: self.part,
            params,
            progress,
            scope,
            caller: context.caller.clone(),
            clock: Some(context.clock.clone()),
            script: context.script.clone(),
            whole: None,
        }
    }

    /// The one record's members, or all parameters by name.
    fn params(&self, arguments: &[Val]) -> Result<Value> {
        match (arguments, self.shape.parameters.as_slice()) {
            ([argument], [parameter]) if self.shape.takes_record() || self.is_compiled => {
                Ok(to_json(argument, &parameter.shape)?)
            }
            _ => {
                let mut params = Map::new();
                for (argument, parameter) in arguments.iter().zip(&self.shape.parameters) {
                    params.insert(parameter.name.json.clone(), to_json(argument, &parameter.shape)?);
                }
                Ok(Value::Object(params))
            }
        }
    }

    fn end(
        &self,
        state: &mut State,
        call_id: u64,
        begun: Instant,
        answer: std::result::Result<Answered, CapabilityError>,
        results: &mut [Val],
    ) -> Result<()> {
        let value = match answer {
            Ok(answered) => match state.receive(&answered.value) {
                Ok(()) => self.fit(answered),
                // The run ends here; the call was answered all the same.
                Err(reached) => {
                    let message = format!("{}'s answer is larger than one may be", self.pipeline.label());
                    answered.outcome.end(Some(&CapabilityError::failed(message)));
                    return Err(reached);
                }
            },
            Err(error) => Err(error),
        };
        let event = ended(call_id, begun, value.as_ref().map(|(_, is_cached)| *is_cached));
        state.end_call(value.is_ok(), event)?;
        let value = match value {
            Ok((value, _)) => value,
            Err(error) => Some(self.error(&error).ok_or_else(|| {
                let message = format!("{}.{} failed: {error}", self.interface, self.function);
                state.unspeakable(message)
            })?),
        };
        if let (Some(slot), Some(value)) = (results.first_mut(), value) {
            *slot = value;
        }
        Ok(())
    }

    /// Ends a call that was answered: its value as the function returns it, and whether an earlier call gave it.
    fn fit(&self, answered: Answered) -> std::result::Result<(Option<Val>, bool), CapabilityError> {
        let Answered { value, is_cached, outcome } = answered;
        let fitted = self.value(value);
        outcome.end(fitted.as_ref().err());
        fitted.map(|value| (value, is_cached))
    }

    /// A handler's value as the function returns it.
    fn value(&self, value: Value) -> std::result::Result<Option<Val>, CapabilityError> {
        let mismatch = |mismatch: crate::values::Mismatch| {
            let message = format!("{}'s answer does not fit its type: {mismatch}", self.pipeline.label());
            let details = Some(serde_json::json!({ "hint": "malformed_response" }));
            CapabilityError { details, ..CapabilityError::failed(message) }
        };
        match &self.shape.result {
            None => Ok(None),
            Some(Shape::Result(None, _)) => Ok(Some(Val::Result(Ok(None)))),
            Some(Shape::Result(Some(ok), _)) => {
                let value = from_json(value, ok).map_err(mismatch)?;
                Ok(Some(Val::Result(Ok(Some(Box::new(value))))))
            }
            Some(shape) => from_json(value, shape).map(Some).map_err(mismatch),
        }
    }

    /// An error as the function returns it, where its type can say so.
    fn error(&self, error: &CapabilityError) -> Option<Val> {
        let Some(Shape::Result(_, err)) = &self.shape.result else { return None };
        let payload = match err.as_deref() {
            None => None,
            Some(Shape::String) => Some(Val::String(error.message.clone())),
            Some(shape) => {
                let record = serde_json::to_value(error).ok()?;
                // An interface with errors of its own gets them from the details.
                let own = || from_json(error.details.clone()?, shape).ok();
                Some(from_json(record, shape).ok().or_else(own)?)
            }
        };
        Some(Val::Result(Err(payload.map(Box::new))))
    }
}

/// The event of a call's end.
fn ended(call_id: u64, begun: Instant, answer: std::result::Result<bool, &CapabilityError>) -> EventKind {
    let duration_ms = begun.elapsed().as_secs_f64() * 1e3;
    match answer {
        Ok(cached) => EventKind::CallResult { call_id, duration_ms, cached },
        Err(error) => {
            let (code, message) = (error.code.clone(), error.message.clone());
            EventKind::CallError { call_id, duration_ms, code, message }
        }
    }
}
