//! One function of a sandbox: from the values of a call to the pipeline, and back.

use super::answer::Fitted;
use super::description::{FunctionDescription, InterfaceDescription, function_id, label};
#[cfg(feature = "compiler")]
use crate::audit_trail::AuditHandle;
#[cfg(feature = "compiler")]
use crate::events::Observer;
use crate::events::{CallProgress, EventKind};
use crate::handlers::{Call, CapabilityError, Handlers};
use crate::limits::{CallMemory, text_bytes};
use crate::off_thread::{MAX_INLINE_BYTES, Turn};
use crate::pipeline::{Names, Pipeline, Rules};
use crate::run::{RunContext, RunScope, State};
use crate::values::{FunctionShape, NotJson, camel_case, memory_of, to_json};
use capability_gen::identity::FunctionId;
use capability_gen::json_memory::Meter;
use capability_gen::server::ServerPart;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
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

/// One function and what answers it.
pub(crate) struct Target {
    id: FunctionId,
    interface: Arc<str>,
    capability: Arc<str>,
    function: Arc<str>,
    source_name: Arc<str>,
    pub(super) shape: FunctionShape,
    /// Of a compiled capability the one parameter is the parameters, whatever its type.
    pub(super) is_compiled: bool,
    part: Option<ServerPart>,
    pub(super) pipeline: Arc<Pipeline>,
    /// Hears of calls that no script makes.
    #[cfg(feature = "compiler")]
    pub(super) observer: Option<Arc<Observer>>,
    #[cfg(feature = "compiler")]
    pub(super) audit: Option<AuditHandle>,
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

    /// Which function it is.
    pub(super) fn id(&self) -> &FunctionId {
        &self.id
    }

    /// What scripts call it, without its interface.
    pub(super) fn js_name(&self) -> &str {
        &self.function
    }

    /// What holds for its calls.
    #[cfg(feature = "compiler")]
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
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
        let turn = accessor.with(|mut access| {
            self.end(access.get(), (id, begun), answer, &memory, results)?;
            bound_next(&mut access);
            Ok::<_, wasmtime::Error>(access.get().turnstile().arrive())
        })?;
        turn.await;
        Ok(())
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
    pub(super) fn begin(
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

    pub(super) fn scheduled(&self, call_id: u64, params: &Value) -> EventKind {
        // People read it as scripts call it; a function that is a capability of its own has no other name.
        let called = self.pipeline.label().split_once('.').map(|(capability, _)| Arc::from(capability));
        EventKind::CallScheduled {
            call_id,
            interface: self.interface.clone(),
            function_id: self.id.clone(),
            capability: called.unwrap_or_else(|| self.capability.clone()),
            function: self.function.clone(),
            params: params.clone(),
            sent: None,
        }
    }

    pub(super) fn describe(
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

    /// Whether its one parameter is the parameters.
    pub(super) fn takes_params(&self) -> bool {
        self.shape.parameters.len() == 1 && (self.shape.takes_record() || self.is_compiled)
    }

    /// The one record's members, or all parameters by name.
    fn params(&self, arguments: &[Val], meter: &mut Meter<'_>) -> std::result::Result<Value, NotJson> {
        match (arguments, self.shape.parameters.as_slice()) {
            ([argument], [parameter]) if self.takes_params() => to_json(argument, &parameter.shape, meter),
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

/// The parameters of a call, and about how long their text is.
pub(super) type LiftedParams = std::result::Result<(Value, u64), NotJson>;

/// The event of a call's end.
pub(super) fn ended(call_id: u64, begun: Instant, answer: std::result::Result<bool, &CapabilityError>) -> EventKind {
    let duration_ms = begun.elapsed().as_secs_f64() * 1e3;
    match answer {
        Ok(cached) => EventKind::CallResult { call_id, duration_ms, cached },
        Err(error) => {
            let (code, message) = (error.code.clone(), error.message.clone());
            EventKind::CallError { call_id, duration_ms, code, message }
        }
    }
}
