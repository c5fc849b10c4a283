//! The WIT interfaces that scripts may be given.

use crate::binding::world::contracts;
use crate::error::HostError;
use crate::modules::{Binding, Modules};
use crate::values::{FunctionShape, alike, camel_case, function};
use std::collections::BTreeMap;
use wit_parser::{InterfaceId, PackageId, Resolve, UnresolvedPackageGroup};

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
        let parsed = UnresolvedPackageGroup::parse(file, wit);
        let group = parsed.map_err(|(sources, error)| fail(error.render(&sources)))?;
        let packages = std::iter::once(&group.main).chain(&group.nested).map(|package| &package.name);
        if let Some(name) = packages.into_iter().find(|name| self.resolve.package_names.contains_key(*name)) {
            return Err(HostError::Duplicate(format!("{file}: the package {name} is there already")));
        }
        let mut resolve = self.resolve.clone();
        let package = resolve.push_group(group).map_err(|error| fail(format!("{error:#}")))?;
        let mut added = BTreeMap::new();
        for (name, id) in &resolve.packages[package].interfaces {
            let full_name = resolve.id_of(*id).ok_or_else(|| fail(format!("interface {name} has no name")))?;
            let interface = read(&resolve, package, *id, name).map_err(fail)?;
            let mut others = self.by_name.iter().chain(&added);
            if let Some((other, _)) = others.find(|(_, other)| other.is_named_as(&interface)) {
                let Interface { export, module, .. } = &interface;
                let message = format!("{file}: {full_name} and {other} would both be `{export}` of '{module}'");
                return Err(HostError::Duplicate(message));
            }
            added.insert(full_name, interface);
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

impl Interface {
    /// Whether scripts could not tell the two apart.
    fn is_named_as(&self, other: &Interface) -> bool {
        (&self.module, &self.export) == (&other.module, &other.export)
    }
}

fn read(resolve: &Resolve, package: PackageId, id: InterfaceId, name: &str) -> Result<Interface, String> {
    let package = &resolve.packages[package].name;
    let functions = resolve.interfaces[id]
        .functions
        .values()
        .map(|each| function(resolve, each).map_err(|message| format!("{name}.{}: {message}", each.name)))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some((first, second)) = alike(functions.iter().map(|function| function.name.as_str())) {
        return Err(format!("{name}: scripts would call both {first} and {second} `{}`", camel_case(first)));
    }
    Ok(Interface {
        functions,
        // `capabilities:train-schedule` is `@capabilities/train-schedule`.
        module: format!("@{}/{}", package.namespace, package.name),
        export: camel_case(name),
    })
}
