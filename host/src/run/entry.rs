//! The engine's entry point, with its types.

use wasmtime::component::{Component, ComponentExportIndex, ComponentType, Instance, Lift, Lower, TypedFunc};
use wasmtime::{Result, Store};

/// The interface that every sandbox exports.
pub(crate) const RUNNER: &str = "agent-spaces:engine/runner@0.1.0";

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct Script<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    #[component(name = "call-default")]
    pub(crate) call_default: bool,
    #[component(name = "max-result-bytes")]
    pub(crate) max_result_bytes: u32,
}

/// A script as it comes, or as an engine has it.
#[derive(ComponentType, Lower)]
#[component(variant)]
pub(crate) enum Code<'a> {
    #[component(name = "source")]
    Source(Script<'a>),
    #[component(name = "compiled")]
    Compiled(Compiled<'a>),
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct Compiled<'a> {
    pub(crate) memory: &'a [u64],
    #[component(name = "max-result-bytes")]
    pub(crate) max_result_bytes: u32,
}

/// What a run is for.
#[cfg_attr(not(feature = "compiler"), expect(dead_code, reason = "only a host that compiles takes an engine's memory"))]
#[derive(Clone, Copy, ComponentType, Lower)]
#[component(enum)]
#[repr(u8)]
pub(crate) enum Purpose {
    #[component(name = "value")]
    Value,
    #[component(name = "compiled-memory")]
    CompiledMemory,
    #[component(name = "evaluated-memory")]
    EvaluatedMemory,
}

/// What the engine says of a script that failed.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
pub(crate) struct ScriptFailure {
    pub(crate) code: String,
    pub(crate) name: Option<String>,
    pub(crate) message: String,
    pub(crate) stack: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) details: Option<String>,
    pub(crate) retryable: bool,
}

pub(crate) type Answer = std::result::Result<String, ScriptFailure>;

/// Where `run` is in a component, looked up once.
#[derive(Clone, Copy)]
pub(crate) struct Entry(ComponentExportIndex);

impl Entry {
    pub(crate) fn find(component: &Component) -> Result<Entry> {
        let missing = || wasmtime::Error::msg("the component does not export a runner");
        let runner = component.get_export_index(None, RUNNER).ok_or_else(missing)?;
        component.get_export_index(Some(&runner), "run").map(Entry).ok_or_else(missing)
    }

    pub(crate) fn function<'a, T>(
        self,
        store: &mut Store<T>,
        instance: &Instance,
    ) -> Result<TypedFunc<(Code<'a>, Purpose), (Answer,)>> {
        instance.get_typed_func(store, self.0)
    }
}
