//! Component provider: a Wasm component, written in any language, that exports the capability's interface.
//!
//! Each call runs in a fresh instance with its own limits. A component may import WASI, limited to granted variables,
//! clocks and randomness; `agent-spaces:std`, limited to granted hosts; and the services of compiled scripts. Any other
//! import is refused at link time.

use super::type_match::matches_shape;
use super::{ProviderGrants, run_failure};
use crate::standard::StandardLibrary;
use agent_spaces_calls::call::Call;
use agent_spaces_calls::call_path::CallPath;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::events::EventSink;
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_calls::host_memory::{CallMemory, RunMemory, SandboxKind};
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_pipeline::{Grants, Pipeline, Rules};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::execution::{Ending, in_own_task};
use agent_spaces_sandbox::state::{State, Wasi};
use agent_spaces_sandbox::values::{from_json, to_json};
use agent_spaces_sandbox::{sandbox, services};
use agent_spaces_script::absent::Position;
use agent_spaces_secrets::Secret;
use agent_spaces_space::extension::Extension;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::function::InterfaceDescription;
use agent_spaces_types::json_memory::Meter;
use agent_spaces_types::limits::{CallLimit, Limits, YIELD_INTERVAL, handles};
use agent_spaces_types::provider_kind::ProviderKind;
use agent_spaces_types::shape::{FunctionShape, Shape};
use agent_spaces_types::standard::STANDARD;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use wasmtime::Store;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker, Val};

/// Maximum size of a component file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Component that answers the functions of a module.
pub struct WasmComponent {
    path: PathBuf,
    linked: Arc<Linked>,
}

struct Linked {
    engine: wasmtime::Engine,
    pre: InstancePre<State>,
    /// By interface and function; functions in camel case.
    exports: HashMap<(String, String), Export>,
    env: BTreeMap<String, Secret>,
    limits: Limits,
}

#[derive(Clone)]
struct Export {
    index: ComponentExportIndex,
    shape: FunctionShape,
    /// True for a compiled capability, whose one parameter holds all parameters, whatever its type.
    is_compiled: bool,
}

/// Error of preparing a component.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// The file cannot be read, or is no component.
    #[error("{0}")]
    Unreadable(String),
    /// A function of the capability is not exported.
    #[error("it does not export the function `{function}` of {interface}")]
    Missing {
        /// The interface.
        interface: String,
        /// The function.
        function: String,
    },
    /// An exported function has another type than the capability declares.
    #[error("its function `{function}` of {interface} does not have the type in the definition")]
    Mistyped {
        /// The interface.
        interface: String,
        /// The function.
        function: String,
    },
    /// An import is not available to components.
    #[error("{0}")]
    Unlinked(String),
    /// Error of the host.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl WasmComponent {
    /// Loads a component file and links it for these interfaces.
    pub fn prepare(
        path: &Path,
        interfaces: &[InterfaceDescription],
        grants: ProviderGrants,
        engine: &Engine,
    ) -> Result<WasmComponent, ComponentError> {
        let wasm = read(path)?;
        let component =
            engine.foreign_component(&wasm).map_err(|error| ComponentError::Unreadable(error.to_string()))?;
        let pre = link(&component, engine, &grants)?;
        let mut exports = HashMap::new();
        for interface in interfaces {
            for function in &interface.functions {
                let name = &function.shape.name;
                let missing = || ComponentError::Missing { interface: interface.name.clone(), function: name.clone() };
                let instance = component.get_export_index(None, &interface.name).ok_or_else(missing)?;
                let (item, index) = component.get_export(Some(&instance), name).ok_or_else(missing)?;
                if !matches!(&item, ComponentItem::ComponentFunc(found) if matches_shape(&function.shape, found)) {
                    return Err(ComponentError::Mistyped { interface: interface.name.clone(), function: name.clone() });
                }
                let shape = function.shape.clone();
                let export = Export { index, shape, is_compiled: function.is_compiled() };
                exports.insert((interface.name.clone(), agent_spaces_types::names::camel_case(name)), export);
            }
        }
        let engine = engine.foreign()?.clone();
        let ProviderGrants { env, limits, .. } = grants;
        Ok(WasmComponent { path: path.to_owned(), linked: Arc::new(Linked { engine, pre, exports, env, limits }) })
    }
}

impl Provider for WasmComponent {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Component
    }

    fn description(&self) -> String {
        format!("the component {}", self.path.display())
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        let linked = self.linked.clone();
        Box::pin(async move {
            let lost = || CapabilityError::failed("The call's task stopped");
            // Runs as its own task: this future is polled within another run's store, and wasmtime drives one at a time.
            in_own_task(async move { linked.call(call).await }).await.unwrap_or_else(|| Err(lost()))
        })
    }
}

impl Linked {
    async fn call(&self, call: Call) -> Answer {
        let key = (call.interface.to_string(), call.function.to_string());
        let unknown = || CapabilityError::new(Code::CallUnavailable, format!("The component has no {}", call.function));
        let export = self.exports.get(&key).ok_or_else(unknown)?;
        let invalid =
            |error: agent_spaces_sandbox::values::Mismatch| CapabilityError::new(Code::CallInvalid, error.to_string());
        let memory = call.memory;
        let arguments = memory.metered(|meter| arguments(export, call.params, meter)).map_err(invalid)?;
        let mut store = self.store(call.run_id, &memory);
        let run = self.run(&mut store, export, &arguments);
        let answer = match tokio::time::timeout(self.limits.time, run).await {
            Ok(Ok(answer)) => return to_answer(answer, export, &memory),
            Ok(Err(trap)) => Ending::Trapped(trap),
            Err(_) => Ending::TimedOut,
        };
        let (.., failure) = store.data_mut().finish(0);
        match answer.outcome(failure, &self.limits, None) {
            Ok(_) => Err(CapabilityError::failed("The component returned no value")),
            Err(error) => Err(run_failure::capability_error(error, &[], Position::Handler)),
        }
    }

    fn store(&self, run_id: Arc<str>, memory: &CallMemory) -> Store<State> {
        let RunMemory(memory) = memory.run();
        let host = RunContext::of_host(Arc::default(), EventSink::none(), memory);
        let context =
            Arc::new(RunContext { sandbox: SandboxKind::Nested, calls: CallLimit::new(self.limits.calls), ..host });
        let mut state = State::new(run_id, &self.limits, None, context, Instant::now());
        state.set_wasi(Wasi::new(self.env.iter().map(|(name, value)| (name.as_str(), value.expose()))));
        Store::new(&self.engine, state)
    }

    async fn run(&self, store: &mut Store<State>, export: &Export, arguments: &[Val]) -> wasmtime::Result<Option<Val>> {
        store.limiter(|state| state);
        store.set_fuel(self.limits.fuel)?;
        store.fuel_async_yield_interval(Some(YIELD_INTERVAL))?;
        store.set_hostcall_fuel(store.data().max_next_call_bytes());
        store.set_max_component_handles(handles(self.limits.calls));
        let instance = self.pre.instantiate_async(&mut *store).await?;
        let function = instance.get_func(&mut *store, export.index);
        let function = function.ok_or_else(|| wasmtime::Error::msg("the function is not there"))?;
        let mut results = vec![Val::Bool(false); usize::from(export.shape.result.is_some())];
        function.call_async(&mut *store, arguments, &mut results).await?;
        Ok(results.pop())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ComponentError> {
    let read = || {
        // Checked before opening, because opening a pipe blocks until it has a writer.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut wasm = Vec::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut wasm)?;
        if wasm.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(format!("it is larger than the maximum of {MAX_BYTES} bytes")));
        }
        Ok(wasm)
    };
    read().map_err(|error| ComponentError::Unreadable(error.to_string()))
}

/// Links a component with the imports that components may have.
fn link(component: &Component, engine: &Engine, grants: &ProviderGrants) -> Result<InstancePre<State>, ComponentError> {
    let unlinked = |error: wasmtime::Error| ComponentError::Unlinked(format!("{error:#}"));
    let foreign = engine.foreign()?;
    let mut linker = Linker::<State>::new(foreign);
    services::add_to_linker(&mut linker).map_err(unlinked)?;
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(unlinked)?;
    let (mut interfaces, mut handlers) = (Interfaces::new()?, Handlers::new());
    StandardLibrary::with_network(grants.network.clone()).add_to(&mut interfaces, &mut handlers)?;
    let ty = component.component_type();
    let wanted: BTreeSet<String> =
        ty.imports(foreign).map(|(name, _)| name.to_owned()).filter(|name| name.starts_with(STANDARD)).collect();
    let selection = interfaces.select(&wanted)?;
    let rules = Rules::new(Grants::new(interfaces.names()));
    let paths = |interface: &_, function: &_| {
        let pipeline = Pipeline::of(interface, function, &handlers, &rules)?;
        Some(Arc::new(pipeline) as Arc<dyn CallPath>)
    };
    sandbox::link_functions(&mut linker, &selection.interfaces, &paths, &rules.runs()).map_err(unlinked)?;
    linker.instantiate_pre(component).map_err(unlinked)
}

/// Converts the parameters of a call into the function's arguments.
fn arguments(
    export: &Export,
    params: Value,
    meter: &mut Meter<'_>,
) -> Result<Vec<Val>, agent_spaces_sandbox::values::Mismatch> {
    match export.shape.parameters.as_slice() {
        [parameter] if export.shape.takes_record() || export.is_compiled => {
            Ok(vec![from_json(params, &parameter.shape, meter)?])
        }
        parameters => {
            let mut members = match params {
                Value::Object(members) => members,
                _ => serde_json::Map::new(),
            };
            let mut argument = |name: &str, shape| from_json(members.remove(name).unwrap_or_default(), shape, meter);
            parameters.iter().map(|parameter| argument(&parameter.name.json, &parameter.shape)).collect()
        }
    }
}

/// Converts a function's result into the answer to the script.
fn to_answer(answer: Option<Val>, export: &Export, memory: &CallMemory) -> Answer {
    memory.count_answer();
    let to_json = |value: &Val, shape: &Shape| memory.metered(|meter| to_json(value, shape, meter));
    let unusable = |error: &dyn std::fmt::Display| CapabilityError::new(Code::CallProtocol, error.to_string());
    let (Some(value), Some(shape)) = (answer, &export.shape.result) else { return Ok(Value::Null) };
    let (Val::Result(result), Shape::Result(ok, err)) = (&value, shape) else {
        return to_json(&value, shape).map_err(|error| unusable(&error));
    };
    match (result, ok, err) {
        (Ok(Some(value)), Some(shape), _) => to_json(value, shape).map_err(|error| unusable(&error)),
        (Ok(_), ..) => Ok(Value::Null),
        (Err(Some(payload)), _, Some(shape)) => {
            let payload = to_json(payload, shape).map_err(|error| unusable(&error))?;
            Err(error(payload))
        }
        (Err(_), ..) => Err(CapabilityError::failed("The component failed without a message")),
    }
}

/// Converts the error payload of a component.
fn error(payload: Value) -> CapabilityError {
    match payload {
        Value::String(message) => CapabilityError::failed(message),
        payload => match serde_json::from_value::<CapabilityError>(payload.clone()) {
            Ok(error) => CapabilityError { code: run_failure::provider_code(error.code), ..error },
            // The interface defines its own error type.
            Err(_) => CapabilityError { details: Some(payload), ..CapabilityError::failed("The component failed") },
        },
    }
}
