//! A Wasm component that exports the capability's interface: in any language, with grants and caps of its own.
//!
//! Each call runs in a fresh instance. A component may import WASI, of which it has the variables that its module is
//! given, clocks and randomness; `agent-spaces:std`, within the hosts that its module is given; and the services that
//! compiled scripts have. Anything else is refused when it is linked.

use super::fitting::fits;
use super::{Answering, Provider, ProviderGrants, ProviderKind, failure};
use crate::absent::Position;
use crate::engine::Engine;
use crate::error::HostError;
use crate::events::EventSink;
use crate::handlers::{Answer, Call, CapabilityError, Handlers};
use crate::interfaces::Interfaces;
use crate::limits::{CallLimit, CallMemory, Limits, RunMemory, SandboxKind, YIELD_INTERVAL, handles};
use crate::pipeline::{Grants, Rules, STANDARD};
use crate::run::{Ending, RunContext, State, Wasi, apart};
use crate::sandbox::{self, InterfaceDescription};
use crate::services;
use crate::standard::StandardLibrary;
use crate::values::{FunctionShape, Shape, from_json, to_json};
use agent_spaces_mcp::secrets::Secret;
use capability_gen::json_memory::Meter;
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

/// The largest component that is read.
const MAX_BYTES: u64 = 64 << 20;

/// A component that answers the functions of a module.
pub(crate) struct WasmComponent {
    path: PathBuf,
    linked: Arc<Linked>,
}

struct Linked {
    engine: wasmtime::Engine,
    pre: InstancePre<State>,
    /// By interface and function, as WIT has them.
    exports: HashMap<(String, String), Export>,
    env: BTreeMap<String, Secret>,
    limits: Limits,
}

#[derive(Clone)]
struct Export {
    index: ComponentExportIndex,
    shape: FunctionShape,
    /// Of a compiled capability the one parameter is the parameters, whatever its type.
    is_compiled: bool,
}

/// Why a component cannot answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ComponentError {
    /// It cannot be read, or is no component.
    #[error("{0}")]
    Unreadable(String),
    /// It lacks a function of the capability.
    #[error("it does not export the function `{function}` of {interface}")]
    Missing {
        /// The interface.
        interface: String,
        /// The function.
        function: String,
    },
    /// It has a function of another type.
    #[error("its function `{function}` of {interface} has not the type that the definition says")]
    Mistyped {
        /// The interface.
        interface: String,
        /// The function.
        function: String,
    },
    /// It wants what it is not given.
    #[error("{0}")]
    Unlinked(String),
    /// The host failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl WasmComponent {
    /// The component of a file, linked for these interfaces.
    pub(crate) fn prepare(
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
                if !matches!(&item, ComponentItem::ComponentFunc(found) if fits(&function.shape, found)) {
                    return Err(ComponentError::Mistyped { interface: interface.name.clone(), function: name.clone() });
                }
                let shape = function.shape.clone();
                let export = Export { index, shape, is_compiled: function.is_compiled() };
                exports.insert((interface.name.clone(), crate::values::camel_case(name)), export);
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
            let lost = || CapabilityError::failed("The component's call was lost");
            // This is inside another run's call, and wasmtime drives one store at a time.
            apart(async move { linked.call(call).await }).await.unwrap_or_else(|| Err(lost()))
        })
    }
}

impl Linked {
    async fn call(&self, call: Call) -> Answer {
        let key = (call.interface.to_string(), call.function.to_string());
        let unknown = || CapabilityError::new("call.unavailable", format!("The component has no {}", call.function));
        let export = self.exports.get(&key).ok_or_else(unknown)?;
        let invalid = |error: crate::values::Mismatch| CapabilityError::new("call.invalid", error.to_string());
        let memory = call.memory;
        let arguments = memory.metered(|meter| arguments(export, call.params, meter)).map_err(invalid)?;
        let mut store = self.store(call.run_id, &memory);
        let run = self.run(&mut store, export, &arguments);
        let answer = match tokio::time::timeout(self.limits.time, run).await {
            Ok(Ok(answer)) => return answered(answer, export, &memory),
            Ok(Err(trap)) => Ending::Trapped(trap),
            Err(_) => Ending::TimedOut,
        };
        let (.., failure) = store.data_mut().finish(0);
        match answer.outcome(failure, &self.limits, None) {
            Ok(_) => Err(CapabilityError::failed("The component gave nothing")),
            Err(error) => Err(failure::of_run(error, Position::Handler)),
        }
    }

    fn store(&self, run_id: Arc<str>, memory: &CallMemory) -> Store<State> {
        let RunMemory(memory) = memory.run();
        let host = RunContext::of_host(Arc::default(), EventSink::none(), memory);
        let context =
            Arc::new(RunContext { sandbox: SandboxKind::Nested, calls: CallLimit::new(self.limits.calls), ..host });
        let mut state = State::new(run_id, &self.limits, Arc::default(), context, Instant::now());
        state.set_wasi(Wasi::new(self.env.iter().map(|(name, value)| (name.as_str(), value.expose()))));
        Store::new(&self.engine, state)
    }

    async fn run(&self, store: &mut Store<State>, export: &Export, arguments: &[Val]) -> wasmtime::Result<Option<Val>> {
        store.limiter(|state| state);
        store.set_fuel(self.limits.fuel)?;
        store.fuel_async_yield_interval(Some(YIELD_INTERVAL))?;
        store.set_hostcall_fuel(store.data().passable());
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
        // Asked before it is opened, because opening a pipe waits for somebody to write.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let mut wasm = Vec::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut wasm)?;
        if wasm.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(format!(
                "it is larger than {MAX_BYTES} bytes, which is the most that is read"
            )));
        }
        Ok(wasm)
    };
    read().map_err(|error| ComponentError::Unreadable(error.to_string()))
}

/// Links a component with all that it may have.
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
    sandbox::answer(&mut linker, &selection.interfaces, &handlers, &rules).map_err(unlinked)?;
    linker.instantiate_pre(component).map_err(unlinked)
}

/// The parameters of a call as the function takes them.
fn arguments(export: &Export, params: Value, meter: &mut Meter<'_>) -> Result<Vec<Val>, crate::values::Mismatch> {
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

/// What a function returned, as scripts are given it.
fn answered(answer: Option<Val>, export: &Export, memory: &CallMemory) -> Answer {
    memory.count_answer();
    let to_json = |value: &Val, shape: &Shape| memory.metered(|meter| to_json(value, shape, meter));
    let unusable = |error: &dyn std::fmt::Display| CapabilityError::new("call.protocol", error.to_string());
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
        (Err(_), ..) => Err(CapabilityError::failed("The component failed without a word")),
    }
}

/// An error of the component's own.
fn error(payload: Value) -> CapabilityError {
    match payload {
        Value::String(message) => CapabilityError::failed(message),
        payload => match serde_json::from_value::<CapabilityError>(payload.clone()) {
            Ok(error) => CapabilityError { code: failure::code(error.code), ..error },
            // An interface with errors of its own.
            Err(_) => CapabilityError { details: Some(payload), ..CapabilityError::failed("The component failed") },
        },
    }
}
