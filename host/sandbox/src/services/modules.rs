//! Host side of the `modules` interface: loads modules, which were resolved before the run, on their first import.

use crate::imports::Hidden;
use crate::modules::ModuleSource;
use crate::state::{State, note_fuel};
use agent_spaces_types::names::not_callable;
use wasmtime::component::{ComponentType, Linker, Lower};
use wasmtime::{Result, StoreContextMut};

#[derive(ComponentType, Lower)]
#[component(variant)]
enum Module {
    #[component(name = "source")]
    Source(String),
    #[component(name = "json")]
    Json(String),
    #[component(name = "bindings")]
    Bindings(Vec<Binding>),
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Binding {
    name: String,
    interface: String,
    hidden: Vec<String>,
}

impl Module {
    /// Creates a module without the hidden functions.
    fn new(source: &ModuleSource, hidden: &Hidden) -> Module {
        match source {
            ModuleSource::JavaScript(source) => Module::Source(source.clone()),
            ModuleSource::Json(text) => Module::Json(text.clone()),
            ModuleSource::Bindings(bindings) => {
                let hidden_of = |interface: &str| -> Vec<String> { hidden.of(interface).map(str::to_owned).collect() };
                let is_hidden = |interface: &str| match interface.split_once('#') {
                    Some((interface, function)) => hidden.has(interface, function),
                    None => false,
                };
                // A hidden export has no members either.
                let gone: Vec<_> = bindings.iter().filter(|binding| is_hidden(&binding.interface)).collect();
                let is_seen = |name: &str| !gone.iter().any(|gone| Some(gone.name.as_str()) == name.split('.').next());
                let seen = bindings.iter().filter(|binding| is_seen(&binding.name));
                let given = seen.map(|binding| Binding {
                    name: binding.name.clone(),
                    interface: binding.interface.clone(),
                    hidden: hidden_of(&binding.interface),
                });
                Module::Bindings(given.collect())
            }
        }
    }
}

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut modules = linker.instance("agent-spaces:engine/modules@0.1.0")?;
    modules.func_wrap("load", |store: StoreContextMut<'_, State>, (name,): (String,)| {
        let imports = store.data().imports();
        let module = imports.and_then(|imports| Some(Module::new(imports.modules.get(&name)?, &imports.hidden)));
        Ok((module.ok_or_else(|| format!("{name} is not among the run's modules")),))
    })?;
    modules.func_wrap("missing", |mut store: StoreContextMut<'_, State>, (interface, name): (String, String)| {
        note_fuel(&mut store);
        let Some(imports) = store.data().imports().cloned() else { return Ok((not_callable(&name),)) };
        Ok((imports.functions.refuse_unknown(store.data_mut(), &interface, &name)?,))
    })
}
