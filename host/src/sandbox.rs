//! A sandbox: the component for one set of interfaces, linked with the functions that answer it.
//!
//! - `description`: what its interfaces and functions are
//! - `target`: one function and what answers it; `answer`: its answers as component values; `host_call`: calls that no
//!   script makes
//! - `hidden`: functions that a caller does not see; `missing`: calls of them, and of those that never existed
//! - `misfit`: calls whose arguments do not fit the function's types

mod answer;
mod description;
mod hidden;
#[cfg(feature = "compiler")]
mod host_call;
mod misfit;
mod missing;
mod target;

pub(crate) use description::label_of;
pub(crate) use description::{Description, FunctionDescription, FunctionSpec, InterfaceDescription};
#[cfg(feature = "compiler")]
pub(crate) use description::{function_id, label};
pub(crate) use hidden::Hidden;
#[cfg(feature = "compiler")]
pub(crate) use host_call::HostCall;
pub(crate) use misfit::{Misfit, TypeIssue};
pub(crate) use target::Target;

use crate::audit_trail::AuditHandle;
use crate::engine::Engine;
use crate::error::HostError;
use crate::events::Observer;
use crate::handlers::Handlers;
use crate::pipeline::{Notices, Rules};
use crate::run::{Caller, Entry, State};
use crate::services;
use crate::values::camel_case;
use agent_spaces_approvals::Pending;
use agent_spaces_mcp::secrets::Redactor;
use hidden::Gates;
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
    gates: Gates,
    targets: Vec<Arc<Target>>,
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
        let (pre, targets) = prepare(engine, component, &description, handlers, rules).map_err(HostError::engine)?;
        let entry = Entry::find(component).map_err(HostError::engine)?;
        let (observer, audit, redactor) = (rules.observer.clone(), rules.audit.clone(), rules.redactor.clone());
        let max_pending = rules.policy.approvals().max_pending as usize;
        let (engine, notices) = (engine.clone(), rules.notices());
        let gates = Gates::new(targets.iter().cloned());
        Ok(Sandbox(Arc::new(Linked {
            engine,
            pre,
            entry,
            description,
            observer,
            audit,
            redactor,
            notices,
            max_pending,
            gates,
            targets,
        })))
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

    /// What a caller does not see of it.
    pub(crate) fn hidden(&self, caller: &Caller) -> Arc<Hidden> {
        self.0.gates.hidden(caller)
    }

    /// What scripts call the linked interfaces and their functions, but for those that are hidden.
    pub(crate) fn exports(&self, hidden: &Hidden) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.0.description.interfaces.iter().map(|interface| {
            let names = interface.functions.iter().map(|function| function.shape.name.as_str());
            let seen = names.filter(|name| !hidden.has(&interface.name, name));
            (interface.export.as_str(), seen.map(camel_case).collect())
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
) -> Result<(InstancePre<State>, Vec<Arc<Target>>)> {
    let mut linker = Linker::new(engine.wasmtime());
    linker.root().module(ENGINE_IMPORT, engine.module())?;
    services::add_to_linker(&mut linker)?;
    let targets = answer(&mut linker, &description.interfaces, handlers, rules)?;
    Ok((linker.instantiate_pre(component)?, targets))
}

/// Lets handlers answer the functions of interfaces, after all steps. Gives the functions.
pub(crate) fn answer(
    linker: &mut Linker<State>,
    interfaces: &[InterfaceDescription],
    handlers: &Handlers,
    rules: &Rules,
) -> Result<Vec<Arc<Target>>> {
    let mut targets = Vec::new();
    for interface in interfaces {
        let mut instance = linker.instance(&interface.name)?;
        for function in &interface.functions {
            let name = &function.shape.name;
            let Some(target) = Target::new(interface, function, handlers, rules).map(Arc::new) else { continue };
            targets.push(target.clone());
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
    Ok(targets)
}
