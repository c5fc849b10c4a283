//! The modules that were resolved before the run, given when they are first imported.

use crate::modules::ModuleSource;
use crate::run::State;
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
}

impl From<&ModuleSource> for Module {
    fn from(source: &ModuleSource) -> Module {
        match source {
            ModuleSource::JavaScript(source) => Module::Source(source.clone()),
            ModuleSource::Json(text) => Module::Json(text.clone()),
            ModuleSource::Bindings(bindings) => Module::Bindings(
                bindings
                    .iter()
                    .map(|binding| Binding { name: binding.name.clone(), interface: binding.interface.clone() })
                    .collect(),
            ),
        }
    }
}

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker.instance("agent-spaces:engine/modules@0.1.0")?.func_wrap(
        "load",
        |store: StoreContextMut<'_, State>, (name,): (String,)| {
            let module = store.data().modules().get(&name).map(Module::from);
            Ok((module.ok_or_else(|| format!("{name} is not among the run's modules")),))
        },
    )
}
