//! Entry point of the engine: the `runner` interface with its types.

use wasmtime::component::{Component, ComponentExportIndex, ComponentType, Instance, Lift, Lower, TypedFunc};
use wasmtime::{Result, Store};

/// Interface that every sandbox exports.
pub const RUNNER: &str = "agent-spaces:engine/runner@0.1.0";

/// Script as JavaScript source.
#[derive(ComponentType, Lower)]
#[component(record)]
pub struct Script<'a> {
    /// File name.
    pub name: &'a str,
    /// JavaScript.
    pub source: &'a str,
    /// True if the value is the return value of the default export.
    #[component(name = "call-default")]
    pub call_default: bool,
    /// Result limit.
    #[component(name = "max-result-bytes")]
    pub max_result_bytes: u32,
}

/// Script as source, or as the memory of an engine that has compiled it.
#[derive(ComponentType, Lower)]
#[component(variant)]
pub enum Code<'a> {
    /// JavaScript source.
    #[component(name = "source")]
    Source(Script<'a>),
    /// Compiled script.
    #[component(name = "compiled")]
    Compiled(Compiled<'a>),
}

/// Script as the memory of an engine that has compiled it.
#[derive(ComponentType, Lower)]
#[component(record)]
pub struct Compiled<'a> {
    /// Snapshot in the engine's format.
    pub memory: &'a [u64],
    /// Result limit.
    #[component(name = "max-result-bytes")]
    pub max_result_bytes: u32,
}

/// Purpose of a run.
#[derive(Clone, Copy, ComponentType, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum Purpose {
    /// Returns the script's value.
    #[component(name = "value")]
    Value,
    /// Captures the memory after compiling the script.
    #[component(name = "compiled-memory")]
    CompiledMemory,
    /// Captures the memory after evaluating the script.
    #[component(name = "evaluated-memory")]
    EvaluatedMemory,
}

/// Error of a failed script, as the engine reports it.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
pub struct ScriptFailure {
    /// Error code.
    pub code: String,
    /// Constructor name of the thrown error.
    pub name: Option<String>,
    /// Error message.
    pub message: String,
    /// Stack trace, in the engine's format.
    pub stack: Option<String>,
    /// Suggested fix.
    pub hint: Option<String>,
    /// `details` of a `CapabilityError`, as JSON text.
    pub details: Option<String>,
    /// True if the same run may succeed later.
    pub retryable: bool,
}

/// JSON text of a script's value, or its error.
pub type Answer = std::result::Result<String, ScriptFailure>;

/// Export index of `run` in a component, looked up once.
#[derive(Clone, Copy)]
pub struct Entry(ComponentExportIndex);

impl Entry {
    /// Finds the export in a component.
    pub fn find(component: &Component) -> Result<Entry> {
        let missing = || wasmtime::Error::msg("the component does not export a runner");
        let runner = component.get_export_index(None, RUNNER).ok_or_else(missing)?;
        component.get_export_index(Some(&runner), "run").map(Entry).ok_or_else(missing)
    }

    /// Returns the typed function of an instance.
    pub fn function<'a, T>(
        self,
        store: &mut Store<T>,
        instance: &Instance,
    ) -> Result<TypedFunc<(Code<'a>, Purpose), (Answer,)>> {
        instance.get_typed_func(store, self.0)
    }
}
