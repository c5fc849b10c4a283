//! Sandbox: the component for one set of interfaces, linked with the functions that it imports.
//!
//! - [`entry`]: the engine's entry point, with its types

pub mod entry;

use crate::engine::Engine;
use crate::error::HostError;
use crate::imports::{Hidden, ImportedFunction, ImportedFunctions};
use crate::services;
use crate::state::State;
use agent_spaces_calls::call_path::Paths;
use agent_spaces_calls::operator_notices::Notices;
use agent_spaces_calls::run_rules::RunRules;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::function::{Description, InterfaceDescription};
use agent_spaces_types::names::camel_case;
use entry::Entry;
use std::sync::Arc;
use wasmtime::component::{Component, Instance, InstancePre, Linker};
use wasmtime::{Result, Store};

/// Import name of the engine's core module.
pub const ENGINE_IMPORT: &str = "engine";

/// Linked component; cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Linked>);

struct Linked {
    engine: Engine,
    pre: InstancePre<State>,
    entry: Entry,
    functions: Arc<ImportedFunctions>,
    wasm: Option<Vec<u8>>,
    with_functions: Option<Arc<BindFunctions>>,
}

/// Builds the component of a sandbox once more, with functions of a memory of its engine compiled beside it. The first
/// parameter is the memory; the second tells the program's functions by their addresses. `None` if there are none to compile.
pub type BindFunctions = dyn Fn(&[u8], &dyn Fn(u32) -> bool) -> Option<BoundFunctions> + Send + Sync;

/// Component with compiled functions.
pub struct BoundFunctions {
    /// The component, before it is compiled itself.
    pub wasm: Vec<u8>,
    /// Addresses of words of the engine's memory, and the indices in its table that go there: one for each function.
    pub words: Vec<(u32, u32)>,
}

impl Sandbox {
    /// Links a component with the call paths of its imported functions. `wasm` is the component before it was compiled,
    /// which an image of a program needs.
    pub fn link(
        engine: &Engine,
        component: &Component,
        wasm: Option<Vec<u8>>,
        description: Description,
        paths: &Paths<'_>,
        rules: RunRules,
    ) -> std::result::Result<Sandbox, HostError> {
        let (pre, functions) = prepare(engine, component, &description, paths, &rules).map_err(HostError::engine)?;
        let entry = Entry::find(component).map_err(HostError::engine)?;
        let functions = Arc::new(ImportedFunctions::new(functions, description, rules));
        Ok(Sandbox(Arc::new(Linked { engine: engine.clone(), pre, entry, functions, wasm, with_functions: None })))
    }

    /// Returns the sandbox with a way to compile hot functions of its programs.
    #[must_use]
    pub fn with_functions(self, bind: Arc<BindFunctions>) -> Sandbox {
        let Linked { engine, pre, entry, functions, wasm, .. } = &*self.0;
        Sandbox(Arc::new(Linked {
            engine: engine.clone(),
            pre: pre.clone(),
            entry: *entry,
            functions: functions.clone(),
            wasm: wasm.clone(),
            with_functions: Some(bind),
        }))
    }

    /// Returns the way to compile hot functions; `None` if there is none.
    pub fn bind_functions(&self) -> Option<&Arc<BindFunctions>> {
        self.0.with_functions.as_ref()
    }

    /// Links another component with the same imports: the calls of both take the same paths.
    #[cfg(feature = "compile")]
    pub(crate) fn linked_again(&self, component: &Component) -> Result<Sandbox> {
        let (engine, functions) = (self.engine(), self.functions());
        let mut linker = Linker::new(engine.wasmtime());
        linker.root().module(ENGINE_IMPORT, engine.module())?;
        services::add_to_linker(&mut linker)?;
        add_functions(&mut linker, &functions.description().interfaces, |interface, function| {
            functions.find(interface, function).cloned()
        })?;
        let (pre, entry) = (linker.instantiate_pre(component)?, Entry::find(component)?);
        let (engine, functions) = (engine.clone(), functions.clone());
        Ok(Sandbox(Arc::new(Linked { engine, pre, entry, functions, wasm: None, with_functions: None })))
    }

    /// Returns its engine.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Returns the entry point of the component.
    pub fn entry(&self) -> Entry {
        self.0.entry
    }

    /// Returns the settings that all its runs share.
    pub fn rules(&self) -> &RunRules {
        self.0.functions.rules()
    }

    /// Returns the redactor of everything that is shown of its runs.
    pub fn redactor(&self) -> &Redactor {
        &self.0.functions.rules().redactor
    }

    /// Returns the sink of notices to the operator.
    pub fn notices(&self) -> &Notices {
        &self.0.functions.rules().notices
    }

    /// Iterates over the full names of the linked interfaces.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.0.functions.description().interfaces.iter().map(|interface| interface.name.as_str())
    }

    /// Returns the functions that it imports.
    pub(crate) fn functions(&self) -> &Arc<ImportedFunctions> {
        &self.0.functions
    }

    /// Returns the functions hidden from a caller.
    pub fn hidden(&self, caller: &Caller) -> Arc<Hidden> {
        self.0.functions.hidden(caller)
    }

    /// Iterates over the JavaScript names of the linked interfaces and their functions, except hidden ones.
    pub fn exports(&self, hidden: &Hidden) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.0.functions.description().interfaces.iter().map(|interface| {
            let names = interface.functions.iter().map(|function| function.shape.name.as_str());
            let seen = names.filter(|name| !hidden.has(&interface.name, name));
            (interface.export.as_str(), seen.map(camel_case).collect())
        })
    }

    /// Creates a fresh instance.
    pub async fn instantiate(&self, store: &mut Store<State>) -> Result<Instance> {
        self.0.pre.instantiate_async(store).await
    }

    /// Returns the component as Wasm; `None` if it was loaded as native code.
    pub fn wasm(&self) -> Option<&[u8]> {
        self.0.wasm.as_deref()
    }

    /// Returns the compiled component.
    pub fn component(&self) -> &Component {
        self.0.pre.component()
    }

    /// Returns the description of its interfaces.
    pub fn description(&self) -> &Description {
        self.0.functions.description()
    }
}

fn prepare(
    engine: &Engine,
    component: &Component,
    description: &Description,
    paths: &Paths<'_>,
    rules: &RunRules,
) -> Result<(InstancePre<State>, Vec<Arc<ImportedFunction>>)> {
    let mut linker = Linker::new(engine.wasmtime());
    linker.root().module(ENGINE_IMPORT, engine.module())?;
    services::add_to_linker(&mut linker)?;
    let imports = link_functions(&mut linker, &description.interfaces, paths, rules)?;
    Ok((linker.instantiate_pre(component)?, imports))
}

/// Adds the functions of interfaces to a linker, and returns them. Functions without a call path are left out.
pub fn link_functions(
    linker: &mut Linker<State>,
    interfaces: &[InterfaceDescription],
    paths: &Paths<'_>,
    rules: &RunRules,
) -> Result<Vec<Arc<ImportedFunction>>> {
    let mut imports: Vec<Arc<ImportedFunction>> = Vec::new();
    for interface in interfaces {
        let functions = &interface.functions;
        let new = |function| ImportedFunction::new(interface, function, paths, rules).map(Arc::new);
        imports.extend(functions.iter().filter_map(new));
    }
    add_functions(linker, interfaces, |interface, function| {
        let is_it = |import: &&Arc<ImportedFunction>| {
            import.id().interface() == interface && import.id().function() == function
        };
        imports.iter().find(is_it).cloned()
    })?;
    Ok(imports)
}

/// Adds the functions of interfaces that are found by the names of their interface and their own.
fn add_functions(
    linker: &mut Linker<State>,
    interfaces: &[InterfaceDescription],
    find: impl Fn(&str, &str) -> Option<Arc<ImportedFunction>>,
) -> Result<()> {
    for interface in interfaces {
        let mut instance = linker.instance(&interface.name)?;
        for function in &interface.functions {
            let name = &function.shape.name;
            let Some(import) = find(&interface.name, name) else { continue };
            if function.shape.is_async {
                instance.func_new_concurrent(name, move |accessor, _, arguments, results| {
                    let import = import.clone();
                    Box::pin(async move { import.answer_async(accessor, arguments, results).await })
                })?;
            } else {
                instance.func_new_async(name, move |store, _, arguments, results| {
                    let import = import.clone();
                    Box::new(async move { import.answer_sync(store, arguments, results).await })
                })?;
            }
        }
    }
    Ok(())
}
