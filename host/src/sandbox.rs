//! A sandbox: the component for one set of interfaces, linked with the functions that answer it.

use crate::engine::Engine;
use crate::error::HostError;
#[cfg(feature = "compiler")]
use crate::events::EventSink;
use crate::events::{CallProgress, EventKind, Observer};
#[cfg(feature = "compiler")]
use crate::handlers::Answer;
use crate::handlers::{Call, CapabilityError, Handlers};
use crate::pipeline::{Answered, Pipeline, Rules};
#[cfg(feature = "compiler")]
use crate::run::Caller;
use crate::run::{Entry, RunContext, RunScope, State};
use crate::services;
use crate::values::{FunctionShape, Shape, camel_case, from_json, to_json};
use agent_spaces_approvals::Pending;
use capability_gen::definition::RateLimit;
use capability_gen::server::ServerPart;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::{Accessor, Component, Instance, InstancePre, Linker, Val};
use wasmtime::{Result, Store};

/// The name under which a sandbox imports the engine's core module.
pub(crate) const ENGINE_IMPORT: &str = "engine";

/// A linked component; cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Linked>);

struct Linked {
    engine: Engine,
    pre: InstancePre<State>,
    entry: Entry,
    description: Description,
    observer: Option<Arc<Observer>>,
    max_pending: usize,
}

/// What a component's interfaces are: enough to link it without their WIT.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) interfaces: Vec<InterfaceDescription>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InterfaceDescription {
    pub(crate) name: String,
    /// What scripts call it.
    pub(crate) export: String,
    /// Whether the export is the one function itself.
    pub(crate) is_single_function: bool,
    pub(crate) functions: Vec<FunctionDescription>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FunctionDescription {
    pub(crate) shape: FunctionShape,
    pub(crate) spec: Option<Arc<FunctionSpec>>,
}

/// What a definition says of a function beyond its WIT.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FunctionSpec {
    /// The capability as its source names it.
    pub(crate) capability: Arc<str>,
    /// The function as its source names it.
    pub(crate) source_name: Arc<str>,
    /// JSON Schema of the parameters, as text.
    pub(crate) schema: String,
    /// Whether a person must approve each call, as far as the definition says.
    pub(crate) requires_approval: Option<bool>,
    /// What the person is asked; `{{name}}` stands for a parameter.
    pub(crate) approval_message: Option<String>,
    /// How often it may be called.
    pub(crate) rate_limit: Option<RateLimit>,
    /// How often its capability may be called, all functions together.
    pub(crate) capability_rate_limit: Option<RateLimit>,
    /// Scopes that a caller must have.
    pub(crate) scopes: Vec<String>,
    /// Whether it is a tool of an MCP server, and one that was accepted as changing nothing.
    pub(crate) is_server_tool: bool,
    pub(crate) is_read_only: bool,
    /// Which part of an MCP server it belongs to, where it is no tool. Its parameters stand one by one in WIT.
    pub(crate) part: Option<ServerPart>,
}

#[cfg(feature = "compiler")]
impl InterfaceDescription {
    /// What answers a function, by the name that scripts use.
    pub(crate) fn target(&self, function: &str, handlers: &Handlers, rules: &Rules) -> Option<Target> {
        let described = self.functions.iter().find(|each| camel_case(&each.shape.name) == function)?;
        Target::new(self, described, handlers, rules)
    }
}

impl FunctionDescription {
    /// A function of which only the WIT is known.
    #[cfg(feature = "compiler")]
    pub(crate) fn plain(shape: FunctionShape) -> FunctionDescription {
        FunctionDescription { shape, spec: None }
    }

    /// Whether its one parameter is the parameters, whatever its type: as in every compiled capability, but for the parts
    /// of an MCP server that are no tools.
    pub(crate) fn is_compiled(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.part.is_none())
    }
}

impl Sandbox {
    /// Links a component with what answers its imports.
    pub(crate) fn link(
        engine: &Engine,
        component: &Component,
        description: Description,
        handlers: &Handlers,
        rules: &Rules,
    ) -> std::result::Result<Sandbox, HostError> {
        let missing = description.missing(handlers);
        if !missing.is_empty() {
            return Err(HostError::MissingHandlers(missing));
        }
        let pre = prepare(engine, component, &description, handlers, rules).map_err(HostError::engine)?;
        let entry = Entry::find(component).map_err(HostError::engine)?;
        let observer = rules.observer.clone();
        let max_pending = rules.policy.approvals().max_pending as usize;
        Ok(Sandbox(Arc::new(Linked { engine: engine.clone(), pre, entry, description, observer, max_pending })))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn entry(&self) -> Entry {
        self.0.entry
    }

    /// Where calls of one run wait for a person.
    pub(crate) fn pending(&self) -> Pending {
        Pending::new(self.0.max_pending)
    }

    /// Who is told of all events.
    pub(crate) fn observer(&self) -> Option<Arc<Observer>> {
        self.0.observer.clone()
    }

    /// The linked interfaces, by full name.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.0.description.interfaces.iter().map(|interface| interface.name.as_str())
    }

    /// What scripts call the linked interfaces and their functions.
    pub(crate) fn exports(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.0.description.interfaces.iter().map(|interface| {
            let functions = interface.functions.iter().map(|function| camel_case(&function.shape.name));
            (interface.export.as_str(), functions.collect())
        })
    }

    pub(crate) async fn instantiate(&self, store: &mut Store<State>) -> Result<Instance> {
        self.0.pre.instantiate_async(store).await
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn component(&self) -> &Component {
        self.0.pre.component()
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn description(&self) -> &Description {
        &self.0.description
    }
}

impl Description {
    /// Functions that nobody answers, as `interface.function`.
    fn missing(&self, handlers: &Handlers) -> Vec<String> {
        let mut missing = Vec::new();
        for interface in &self.interfaces {
            for function in &interface.functions {
                if handlers.get(&interface.name, &function.shape.name).is_none() {
                    missing.push(format!("{}.{}", interface.name, function.shape.name));
                }
            }
        }
        missing
    }
}

fn prepare(
    engine: &Engine,
    component: &Component,
    description: &Description,
    handlers: &Handlers,
    rules: &Rules,
) -> Result<InstancePre<State>> {
    let mut linker = Linker::new(engine.wasmtime());
    linker.root().module(ENGINE_IMPORT, engine.module())?;
    services::add_to_linker(&mut linker)?;
    answer(&mut linker, &description.interfaces, handlers, rules)?;
    linker.instantiate_pre(component)
}

/// Lets handlers answer the functions of interfaces, after all steps.
pub(crate) fn answer(
    linker: &mut Linker<State>,
    interfaces: &[InterfaceDescription],
    handlers: &Handlers,
    rules: &Rules,
) -> Result<()> {
    for interface in interfaces {
        let mut instance = linker.instance(&interface.name)?;
        for function in &interface.functions {
            let name = &function.shape.name;
            let Some(target) = Target::new(interface, function, handlers, rules).map(Arc::new) else { continue };
            if function.shape.is_async {
                instance.func_new_concurrent(name, move |accessor, _, arguments, results| {
                    let target = target.clone();
                    Box::pin(async move { target.answer(accessor, arguments, results).await })
                })?;
            } else {
                instance.func_new_async(name, move |mut store, _, arguments, results| {
                    let target = target.clone();
                    Box::new(async move {
                        let (call, context) = target.begin(store.data_mut(), arguments)?;
                        let (id, begun) = (call.id, Instant::now());
                        let answer = target.pipeline.call(call, &context).await;
                        target.end(store.data_mut(), id, begun, answer, results)
                    })
                })?;
            }
        }
    }
    Ok(())
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
    fn new(
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
    pub(crate) async fn call(&self, run_id: Arc<str>, caller: Arc<Caller>, params: Value) -> Answer {
        let events = EventSink::new(run_id.clone(), None, self.observer.clone());
        if events.is_heard() {
            events.emit(self.scheduled(1, &params));
        }
        let context = Arc::new(RunContext::of_host(caller, events));
        let call = self.describe(run_id, 1, params, CallProgress::default(), (RunScope::default(), &context));
        let begun = Instant::now();
        let answer = self.pipeline.call(call, &context).await.and_then(|answered| {
            // Nobody else will see whether it fits.
            let value = answered.value.clone();
            self.fit(answered).map(|(_, is_cached)| (value, is_cached))
        });
        context.events.emit(ended(1, begun, answer.as_ref().map(|(_, is_cached)| *is_cached)));
        answer.map(|(value, _)| value)
    }

    async fn answer(&self, accessor: &Accessor<State>, arguments: &[Val], results: &mut [Val]) -> Result<()> {
        let (call, context) = accessor.with(|mut access| self.begin(access.get(), arguments))?;
        let (id, begun) = (call.id, Instant::now());
        let answer = self.pipeline.call(call, &context).await;
        accessor.with(|mut access| self.end(access.get(), id, begun, answer, results))
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

/// What scripts call a function.
pub(crate) fn label(interface: &InterfaceDescription, function: &FunctionDescription) -> Arc<str> {
    label_of(&interface.export, &camel_case(&function.shape.name), interface.is_single_function).into()
}

/// A function as scripts call it: `trainSchedule.getSchedule`, of a single function `getWeather`. Rules name it so.
pub(crate) fn label_of(export: &str, function: &str, is_single_function: bool) -> String {
    match is_single_function && function == export {
        true => function.to_owned(),
        false => format!("{export}.{function}"),
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
