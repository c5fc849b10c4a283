//! The WIT interfaces that scripts may be given.

use crate::binding::world::contracts;
use crate::error::HostError;
use crate::modules::{Binding, Modules};
use crate::values::{FunctionShape, camel_case, function};
use std::collections::BTreeMap;
use wit_parser::{InterfaceId, PackageId, Resolve};

/// A set of interfaces, read and checked.
///
/// ```
/// # fn main() -> Result<(), agent_spaces::HostError> {
/// let mut interfaces = agent_spaces::Interfaces::new()?;
/// interfaces.add("notes.wit", "
///     package capabilities:notes@1.0.0;
///     interface notes {
///         create: async func(title: string) -> result<u32, string>;
///     }
/// ")?;
/// assert_eq!(interfaces.names().collect::<Vec<_>>(), ["capabilities:notes/notes@1.0.0"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Interfaces {
    pub(crate) resolve: Resolve,
    by_name: BTreeMap<String, Interface>,
}

#[derive(Clone)]
pub(crate) struct Interface {
    pub(crate) functions: Vec<FunctionShape>,
    module: String,
    export: String,
}

impl Interfaces {
    /// A set with nothing in it but the shared types of `agent-spaces:host`.
    pub fn new() -> Result<Interfaces, HostError> {
        let resolve = contracts().map_err(HostError::build)?;
        Ok(Interfaces { resolve, by_name: BTreeMap::new() })
    }

    /// Adds every interface of a WIT package. `file` names the text in errors.
    pub fn add(&mut self, file: &str, wit: &str) -> Result<(), HostError> {
        let fail = |message: String| HostError::Wit { file: file.to_owned(), message };
        let mut resolve = self.resolve.clone();
        let package = resolve.push_str(file, wit).map_err(|error| fail(format!("{error:#}")))?;
        let mut added = Vec::new();
        for (name, id) in &resolve.packages[package].interfaces {
            let full_name = resolve.id_of(*id).ok_or_else(|| fail(format!("interface {name} has no name")))?;
            if self.by_name.contains_key(&full_name) {
                return Err(HostError::Duplicate(format!("{file}: interface {full_name} is there already")));
            }
            let interface = read(&resolve, package, *id, name).map_err(fail)?;
            added.push((full_name, interface));
        }
        self.by_name.extend(added);
        self.resolve = resolve;
        Ok(())
    }

    /// Full names: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Every function with its interface, as WIT names them.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name.iter().flat_map(|(name, interface)| {
            interface.functions.iter().map(move |function| (name.as_str(), function.name.as_str()))
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Interface> {
        self.by_name.get(name)
    }

    /// The modules that scripts import these interfaces from.
    pub(crate) fn modules(&self) -> Modules {
        let mut modules = Modules::default();
        for (name, interface) in &self.by_name {
            if !interface.functions.is_empty() {
                let binding = Binding { name: interface.export.clone(), interface: name.clone() };
                modules.bind(interface.module.clone(), binding);
            }
        }
        modules
    }
}

fn read(resolve: &Resolve, package: PackageId, id: InterfaceId, name: &str) -> Result<Interface, String> {
    let package = &resolve.packages[package].name;
    let functions = resolve.interfaces[id]
        .functions
        .values()
        .map(|each| function(resolve, each).map_err(|message| format!("{name}.{}: {message}", each.name)))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Interface {
        functions,
        // `capabilities:train-schedule` is `@capabilities/train-schedule`.
        module: format!("@{}/{}", package.namespace, package.name),
        export: camel_case(name),
    })
}
