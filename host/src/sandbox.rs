//! A sandbox: the component for one set of interfaces, linked with the functions that answer it.
//!
//! - `description`: what its interfaces and functions are
//! - `target`: one function and what answers it; `answer`: its answers as component values; `host_call`: calls that no
//!   script makes

mod answer;
mod description;
#[cfg(feature = "compiler")]
mod host_call;
mod target;

pub(crate) use description::{Description, FunctionDescription, FunctionSpec, InterfaceDescription};
#[cfg(feature = "compiler")]
pub(crate) use description::{function_id, label, label_of};
#[cfg(feature = "compiler")]
pub(crate) use host_call::HostCall;
pub(crate) use target::Target;

use crate::audit_trail::AuditHandle;
use crate::engine::Engine;
use crate::error::HostError;
use crate::events::Observer;
use crate::handlers::Handlers;
use crate::pipeline::{Notices, Rules};
use crate::run::{Entry, State};
use crate::services;
use crate::values::camel_case;
use agent_spaces_approvals::Pending;
use agent_spaces_mcp::secrets::Redactor;
use std::sync::Arc;
use wasmtime::component::{Component, Instance, InstancePre, Linker};
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
    audit: Option<AuditHandle>,
    redactor: Redactor,
    notices: Notices,
    max_pending: usize,
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
        let (observer, audit, redactor) = (rules.observer.clone(), rules.audit.clone(), rules.redactor.clone());
        let max_pending = rules.policy.approvals().max_pending as usize;
        let (engine, notices) = (engine.clone(), rules.notices());
        let linked = Linked { engine, pre, entry, description, observer, audit, redactor, notices, max_pending };
        Ok(Sandbox(Arc::new(linked)))
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

    /// Where all events are written.
    pub(crate) fn audit(&self) -> Option<&AuditHandle> {
        self.0.audit.as_ref()
    }

    /// What takes secrets out of all that is shown of its runs.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.0.redactor
    }

    /// Where notices to the operator go.
    pub(crate) fn notices(&self) -> &Notices {
        &self.0.notices
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
                instance.func_new_async(name, move |store, _, arguments, results| {
                    let target = target.clone();
                    Box::new(async move { target.answer_still(store, arguments, results).await })
                })?;
            }
        }
    }
    Ok(())
}
