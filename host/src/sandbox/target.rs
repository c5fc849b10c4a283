//! One function of a sandbox: from the values of a call to the pipeline, and back.

use super::description::{FunctionDescription, InterfaceDescription, function_id, label};
#[cfg(feature = "compiler")]
use crate::audit_trail::{AuditHandle, RunAudit};
#[cfg(feature = "compiler")]
use crate::engine::MemoryBudget;
use crate::events::{CallProgress, EventKind};
#[cfg(feature = "compiler")]
use crate::events::{Event, EventSink, Observer};
#[cfg(feature = "compiler")]
use crate::handlers::{Answer, WholeAnswer};
use crate::handlers::{Call, CapabilityError, Handlers};
use crate::limits::{CallMemory, text_bytes};
#[cfg(feature = "compiler")]
use crate::limits::{HostMemory, Limits};
use crate::off_thread::{MAX_INLINE_BYTES, Turn};
use crate::pipeline::{Answered, Names, Outcome, Pipeline, Rules};
#[cfg(feature = "compiler")]
use crate::run::Caller;
use crate::run::{RunContext, RunScope, State};
#[cfg(feature = "compiler")]
use crate::run_id;
use crate::values::{FunctionShape, NotJson, Shape, camel_case, from_json, memory_of, to_json};
#[cfg(feature = "compiler")]
use agent_spaces_approvals::Pending;
use capability_gen::identity::FunctionId;
use capability_gen::json_memory::{self, Allowance, Meter};
use capability_gen::server::ServerPart;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
#[cfg(feature = "compiler")]
use tokio::sync::mpsc;
use wasmtime::component::{Access, Accessor, Val};
use wasmtime::{AsContextMut, Result, StoreContextMut};

#[cfg(feature = "compiler")]
impl InterfaceDescription {
    /// What answers a function, by its name in WIT.
    pub(crate) fn target(&self, function: &str, handlers: &Handlers, rules: &Rules) -> Option<Target> {
        let described = self.functions.iter().find(|each| each.shape.name == function)?;
        Target::new(self, described, handlers, rules)
    }
}

/// What an error may take of the host's memory as a component's value: far more than any error has.
const MAX_ERROR_BYTES: u64 = 64 << 20;

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
    id: FunctionId,
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
    #[cfg(feature = "compiler")]
    audit: Option<AuditHandle>,
}

impl Target {
    pub(super) fn new(
        interface: &InterfaceDescription,
        function: &FunctionDescription,
        handlers: &Handlers,
        rules: &Rules,
    ) -> Option<Target> {
        let handler = handlers.get(&interface.name, &function.shape.name)?;
        let answering = handlers.provider(&interface.name, &function.shape.name);
        let name: Arc<str> = interface.name.as_str().into();
        let js_name: Arc<str> = camel_case(&function.shape.name).into();
        let id = function_id(interface, function);
        let names =
            Names { id: id.clone(), label: label(interface, function), module: interface.module.as_str().into() };
        let spec = function.spec.as_ref();
        Some(Target {
            pipeline: Arc::new(Pipeline::new(names, rules.clone(), function, handler, answering)),
            id,
            interface: name,
            capability: spec.map_or_else(|| interface.export.as_str().into(), |spec| spec.capability.clone()),
            source_name: spec.map_or_else(|| js_name.clone(), |spec| spec.source_name.clone()),
            function: js_name,
            shape: function.shape.clone(),
            is_compiled: function.is_compiled(),
            part: spec.and_then(|spec| spec.part),
            #[cfg(feature = "compiler")]
            observer: rules.observer.clone(),
            #[cfg(feature = "compiler")]
            audit: rules.audit.clone(),
        })
    }

    /// What holds for its calls.
    #[cfg(feature = "compiler")]
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Answers a call that no script makes, within what all runs together may use.
    #[cfg(feature = "compiler")]
    pub(crate) async fn call(self: &Arc<Target>, call: HostCall, process: &Arc<MemoryBudget>) -> Answer {
        let HostCall { params, caller, events, pending, whole } = call;
        let run_id = run_id::new();
        let audit = self.audit.as_ref().map(|audit| Arc::new(audit.run(&run_id, &caller, None)));
        let observer = RunAudit::observing(audit.as_ref(), self.observer.clone());
        let events = EventSink::new(run_id.clone(), &caller, events, observer, self.pipeline.redactor());
        if events.is_heard() {
            events.emit(self.scheduled(1, &params));
        }
        let progress = CallProgress::new(1, &events);
        let memory = HostMemory::new(&Limits::default(), process);
        let context = Arc::new(RunContext { pending, audit, ..RunContext::of_host(caller, events, memory) });
        let memory = context.memory.share();
        let mut call = self.describe(run_id, 1, params, progress, (RunScope::default(), &context), &memory);
        call.whole = whole.clone();
        let begun = Instant::now();
        let answered = match memory.take_value(&call.params) {
            Ok(()) => self.pipeline.call(call, &context).await,
            Err(error) => Err(CapabilityError::failed(error.to_string())),
        };
        let is_whole = whole.is_some_and(|whole| whole.get().is_some());
        let answer = match answered {
            // Who passes on what a server sent asks for no type of ours.
            Ok(answered) if is_whole => {
                answered.outcome.end(None);
                Ok((answered.value, answered.is_cached))
            }
            // Nobody else will see whether it fits.
            Ok(answered) => match memory.take_value(&answered.value) {
                Ok(()) => {
                    let value = answered.value.clone();
                    let fitted = self.fit(answered, u64::MAX, &memory, &context).await;
                    fitted.outcome.end(fitted.value.as_ref().err());
                    fitted.value.map(|_| (value, fitted.is_cached))
                }
                Err(error) => {
                    let error = CapabilityError::failed(error.to_string());
                    answered.outcome.end(Some(&error));
                    Err(error)
                }
            },
            Err(error) => Err(error),
        };
        context.events.emit(ended(1, begun, answer.as_ref().map(|(_, is_cached)| *is_cached)));
        answer.map(|(value, _)| value)
    }

    /// Answers a call of a script, which goes on meanwhile.
    pub(super) async fn answer(
        self: &Arc<Target>,
        accessor: &Accessor<State>,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        // What was passed is there already: it counts before anybody waits, and bounds what is passed next.
        let lifted = accessor.with(|mut access| {
            let lifted = Lifted::new(access.get(), arguments);
            bound_next(&mut access);
            lifted
        })?;
        let params = self.params_of(arguments, &lifted).await;
        let Lifted { context, memory, bytes } = lifted;
        let turn = if bytes > MAX_INLINE_BYTES { Some(context.turns.take().await) } else { None };
        let (call, max_answer) = accessor.with(|mut access| {
            let call = self.begin(access.get(), params, &memory, turn)?;
            bound_next(&mut access);
            Ok::<_, wasmtime::Error>((call, access.get().max_answer()))
        })?;
        let (id, begun) = (call.id, Instant::now());
        let answer = self.answered(call, max_answer, &memory, &context).await;
        accessor.with(|mut access| {
            self.end(access.get(), (id, begun), answer, &memory, results)?;
            bound_next(&mut access);
            Ok(())
        })
    }

    /// The same while the script stands still.
    pub(super) async fn answer_still(
        self: &Arc<Target>,
        mut store: StoreContextMut<'_, State>,
        arguments: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        let lifted = Lifted::new(store.data_mut(), arguments)?;
        let params = self.params_of(arguments, &lifted).await;
        let Lifted { context, memory, bytes } = lifted;
        let turn = if bytes > MAX_INLINE_BYTES { Some(context.turns.take().await) } else { None };
        let call = self.begin(store.data_mut(), params, &memory, turn)?;
        let max_answer = store.data().max_answer();
        let (id, begun) = (call.id, Instant::now());
        let answer = self.answered(call, max_answer, &memory, &context).await;
        self.end(store.data_mut(), (id, begun), answer, &memory, results)
    }

    /// The parameters of a call, and how long they are.
    async fn params_of(&self, arguments: &[Val], lifted: &Lifted) -> LiftedParams {
        let Lifted { context, memory, bytes } = lifted;
        let read = || -> LiftedParams {
            let params = memory.metered(|meter| self.params(arguments, meter))?;
            let bytes = text_bytes(&params);
            Ok((params, bytes))
        };
        if *bytes > MAX_INLINE_BYTES { context.turns.in_place(read).await } else { read() }
    }

    /// Takes note of a call. That it is scheduled is redacted, hashed and logged: of large parameters, in a turn.
    fn begin(
        &self,
        state: &mut State,
        params: LiftedParams,
        memory: &Arc<CallMemory>,
        turn: Option<Turn>,
    ) -> Result<Call> {
        let (params, bytes) = params.map_err(|error| match error {
            NotJson::Memory(_) => state.out_of_host_memory(),
            broken @ NotJson::Broken(_) => wasmtime::Error::new(broken),
        })?;
        let mut schedule = || state.begin_call((&params, bytes), memory, |id| self.scheduled(id, &params));
        let id = match turn {
            Some(turn) => turn.work(schedule),
            None => schedule(),
        }?;
        let progress = CallProgress::new(id, state.events());
        let context = state.context().clone();
        let scope = (state.scope().clone(), &*context);
        Ok(self.describe(state.run_id().clone(), id, params, progress, scope, memory))
    }

    /// The answer to a call, as the function returns it.
    async fn answered(
        self: &Arc<Target>,
        call: Call,
        max_answer: u64,
        memory: &Arc<CallMemory>,
        context: &Arc<RunContext>,
    ) -> std::result::Result<Fitted, CapabilityError> {
        let answered = self.pipeline.call(call, context).await?;
        Ok(self.fit(answered, max_answer, memory, context).await)
    }

    fn scheduled(&self, call_id: u64, params: &Value) -> EventKind {
        EventKind::CallScheduled {
            call_id,
            interface: self.interface.clone(),
            function_id: self.id.clone(),
            capability: self.capability.clone(),
            function: self.function.clone(),
            params: params.clone(),
            sent: None,
        }
    }

    fn describe(
        &self,
        run_id: Arc<str>,
        id: u64,
        params: Value,
        progress: CallProgress,
        (scope, context): (RunScope, &RunContext),
        memory: &Arc<CallMemory>,
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
            ledger: context.audit.as_ref().map(|audit| audit.ledger().clone()),
            script: context.script.clone(),
            whole: None,
            memory: memory.clone(),
            turns: context.turns.clone(),
        }
    }

    /// The one record's members, or all parameters by name.
    fn params(&self, arguments: &[Val], meter: &mut Meter<'_>) -> std::result::Result<Value, NotJson> {
        match (arguments, self.shape.parameters.as_slice()) {
            ([argument], [parameter]) if self.shape.takes_record() || self.is_compiled => {
                to_json(argument, &parameter.shape, meter)
            }
            _ => {
                let mut params = Map::new();
                for (argument, parameter) in arguments.iter().zip(&self.shape.parameters) {
                    params.insert(parameter.name.json.clone(), to_json(argument, &parameter.shape, meter)?);
                }
                Ok(Value::Object(params))
            }
        }
    }

    fn end(
        &self,
        state: &mut State,
        (call_id, begun): (u64, Instant),
        answer: std::result::Result<Fitted, CapabilityError>,
        memory: &CallMemory,
        results: &mut [Val],
    ) -> Result<()> {
        let value = match answer {
            Ok(fitted) => {
                let received = state.receive(fitted.bytes);
                // Where the run ends here, the call was answered all the same.
                fitted.outcome.end(fitted.value.as_ref().err());
                received?;
                fitted.value.map(|value| (value, fitted.is_cached))
            }
            Err(error) => Err(error),
        };
        let event = ended(call_id, begun, value.as_ref().map(|(_, is_cached)| *is_cached));
        state.end_call(value.is_ok(), event)?;
        if memory.is_exhausted() {
            return Err(state.out_of_host_memory());
        }
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

    /// Makes what the function returns of an answer, away from the threads that serve where it is large.
    async fn fit(
        self: &Arc<Target>,
        answered: Answered,
        max_bytes: u64,
        memory: &Arc<CallMemory>,
        context: &RunContext,
    ) -> Fitted {
        let Answered { value, is_cached, outcome } = answered;
        let is_small = json_memory::size(&value, MAX_INLINE_BYTES) < MAX_INLINE_BYTES;
        let (bytes, value) = if is_small {
            self.fit_now(value, max_bytes, memory)
        } else {
            let (target, memory) = (self.clone(), memory.clone());
            let fitting = context.turns.off_thread(move |_| target.fit_now(value, max_bytes, &memory));
            fitting.await.unwrap_or_else(|error| (0, Err(error)))
        };
        Fitted { bytes, value, is_cached, outcome }
    }

    /// How long an answer is, and what the function returns.
    fn fit_now(&self, value: Value, max_bytes: u64, memory: &CallMemory) -> (u64, FittedValue) {
        let bytes = text_bytes(&value);
        if bytes > max_bytes {
            let message = format!("{}'s answer is larger than one may be", self.pipeline.label());
            return (bytes, Err(CapabilityError::failed(message)));
        }
        (bytes, self.value(value, memory))
    }

    /// A handler's value as the function returns it.
    fn value(&self, value: Value, memory: &CallMemory) -> FittedValue {
        let mismatch = |mismatch: crate::values::Mismatch| {
            let message = format!("{}'s answer does not fit its type: {mismatch}", self.pipeline.label());
            let details = Some(serde_json::json!({ "hint": "malformed_response" }));
            CapabilityError { details, ..CapabilityError::failed(message) }
        };
        memory.take_answer(&value).map_err(|error| mismatch(error.into()))?;
        let from_json = |value, shape: &Shape| memory.metered(|meter| from_json(value, shape, meter)).map_err(mismatch);
        match &self.shape.result {
            None => Ok(None),
            Some(Shape::Result(None, _)) => Ok(Some(Val::Result(Ok(None)))),
            Some(Shape::Result(Some(ok), _)) => Ok(Some(Val::Result(Ok(Some(Box::new(from_json(value, ok)?)))))),
            Some(shape) => from_json(value, shape).map(Some),
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
                let fit = |value| from_json(value, shape, &mut Meter::new(&mut Allowance(MAX_ERROR_BYTES))).ok();
                // An interface with errors of its own gets them from the details.
                let own = || fit(error.details.clone()?);
                Some(fit(record).or_else(own)?)
            }
        };
        Some(Val::Result(Err(payload.map(Box::new))))
    }
}

/// What the host knows of a call that was passed to it.
struct Lifted {
    context: Arc<RunContext>,
    memory: Arc<CallMemory>,
    /// What its arguments take, which is counted.
    bytes: u64,
}

impl Lifted {
    fn new(state: &mut State, arguments: &[Val]) -> Result<Lifted> {
        let context = state.context().clone();
        let (memory, bytes) = (context.memory.share(), memory_of(arguments));
        memory.take(bytes).map_err(|_| state.out_of_host_memory())?;
        Ok(Lifted { context, memory, bytes })
    }
}

/// Lets the guest pass no more in its next call than there is memory for.
fn bound_next(access: &mut Access<'_, State>) {
    let passable = access.get().passable();
    access.as_context_mut().set_hostcall_fuel(passable);
}

/// An answer that is on its way to the script.
struct Fitted {
    /// How long its text is.
    bytes: u64,
    value: FittedValue,
    is_cached: bool,
    outcome: Outcome,
}

/// What a function returns, or why its answer cannot be that.
type FittedValue = std::result::Result<Option<Val>, CapabilityError>;

/// The parameters of a call, and about how long their text is.
type LiftedParams = std::result::Result<(Value, u64), NotJson>;

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
