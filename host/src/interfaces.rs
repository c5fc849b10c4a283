//! The WIT interfaces that scripts may be given.

mod declare;

use crate::binding::world::contracts;
use crate::error::HostError;
use crate::modules::{Binding, Modules};
use crate::package::{Package, PackageInterface};
use crate::sandbox::{FunctionDescription, InterfaceDescription, label_of};
use crate::standard;
use crate::values::marks::Marks;
use crate::values::{Context, FunctionShape, alike, camel_case, function};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use wit_parser::{InterfaceId, PackageId, Resolve, UnresolvedPackageGroup};

/// Packages in it are made here.
const OWN_NAMESPACE: &str = "agent-spaces";

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
    /// The contracts and every WIT text that was added as such.
    resolve: Resolve,
    by_name: BTreeMap<String, Interface>,
}

#[derive(Clone)]
struct Interface {
    module: String,
    export: String,
    body: Body,
}

#[derive(Clone)]
enum Body {
    /// Read from WIT.
    Wit(Vec<FunctionShape>),
    /// Part of a compiled module, which is made when a script first imports it.
    Package(Arc<Package>, Box<PackageInterface>),
}

/// Some of the interfaces, ready to be bound.
pub(crate) struct Selection {
    pub(crate) resolve: Resolve,
    /// How the names of compiled capabilities' types stand for JSON.
    pub(crate) marks: Vec<(InterfaceId, Marks)>,
    pub(crate) interfaces: Vec<InterfaceDescription>,
}

impl Interfaces {
    /// A set with nothing in it but the shared types of `agent-spaces:host`.
    pub fn new() -> Result<Interfaces, HostError> {
        let resolve = contracts().map_err(HostError::build)?;
        Ok(Interfaces { resolve, by_name: BTreeMap::new() })
    }

    /// Adds every interface of a WIT package. `file` names the text in errors.
    pub fn add(&mut self, file: &str, wit: &str) -> Result<(), HostError> {
        self.add_checked(file, wit, |namespace| match namespace {
            // What is in it is granted by other rules.
            OWN_NAMESPACE => Err(format!("the namespace `{OWN_NAMESPACE}` is the host's own: choose another")),
            _ => Ok(()),
        })
    }

    /// Adds the standard library.
    pub(crate) fn add_standard(&mut self) -> Result<(), HostError> {
        self.add_checked("std.wit", standard::WIT, |_| Ok(()))
    }

    fn add_checked(
        &mut self,
        file: &str,
        wit: &str,
        check: impl FnOnce(&str) -> Result<(), String>,
    ) -> Result<(), HostError> {
        let mut resolve = self.resolve.clone();
        let package = push(&mut resolve, file, wit)?;
        let fail = |message: String| HostError::Wit { file: file.to_owned(), message };
        check(&resolve.packages[package].name.namespace).map_err(fail)?;
        let mut added = BTreeMap::new();
        for (name, id) in &resolve.packages[package].interfaces {
            let full_name = resolve.id_of(*id).ok_or_else(|| fail(format!("interface {name} has no name")))?;
            let interface = read(&resolve, package, *id, name).map_err(fail)?;
            self.check_name(file, &full_name, &interface, &added)?;
            added.insert(full_name, interface);
        }
        self.by_name.extend(added);
        self.resolve = resolve;
        Ok(())
    }

    /// Adds the interfaces of a compiled module.
    pub fn add_package(&mut self, package: Package) -> Result<(), HostError> {
        let package = Arc::new(package);
        let mut added = BTreeMap::new();
        for interface in package.interfaces() {
            let body = Body::Package(package.clone(), Box::new(interface.clone()));
            let entry = Interface { module: package.specifier().into(), export: interface.export.clone(), body };
            self.check_name(package.place(), &interface.name, &entry, &added)?;
            added.insert(interface.name.clone(), entry);
        }
        self.by_name.extend(added);
        Ok(())
    }

    /// Scripts can tell every two interfaces apart.
    fn check_name(
        &self,
        file: &str,
        full_name: &str,
        interface: &Interface,
        added: &BTreeMap<String, Interface>,
    ) -> Result<(), HostError> {
        let Interface { export, module, .. } = interface;
        let same_name = self.by_name.contains_key(full_name) || added.contains_key(full_name);
        let mut others = self.by_name.iter().chain(added);
        let other = match same_name {
            true => Some(full_name),
            false => others.find(|(_, other)| other.is_named_as(interface)).map(|(name, _)| name.as_str()),
        };
        match other {
            Some(other) => Err(HostError::Duplicate(format!(
                "{file}: {full_name} and {other} would both be `{export}` of '{module}'"
            ))),
            None => Ok(()),
        }
    }

    /// Full names: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Every function with its interface, as WIT names them.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name.iter().flat_map(|(name, interface)| {
            let functions: Box<dyn Iterator<Item = &str>> = match &interface.body {
                Body::Wit(functions) => Box::new(functions.iter().map(|function| function.name.as_str())),
                Body::Package(_, interface) => Box::new(interface.functions.iter().map(String::as_str)),
            };
            functions.map(move |function| (name.as_str(), function))
        })
    }

    /// The functions of interfaces that were read from WIT, as scripts call them.
    pub(crate) fn labels(&self) -> impl Iterator<Item = String> {
        self.by_name.values().flat_map(|interface| {
            let functions = match &interface.body {
                Body::Wit(functions) => functions.as_slice(),
                Body::Package(..) => &[],
            };
            functions.iter().map(|function| label_of(&interface.export, &camel_case(&function.name), false))
        })
    }

    /// The interface that is this export of a module.
    pub(crate) fn interface_of(&self, module: &str, export: &str) -> Option<&str> {
        let is_meant = |interface: &Interface| interface.module == module && interface.export == export;
        self.by_name.iter().find(|(_, interface)| is_meant(interface)).map(|(name, _)| name.as_str())
    }

    /// The interface that scripts know under this name and that has this function.
    pub(crate) fn with_export(&self, capability: &str, function: &str) -> Option<&str> {
        let has = |name: &str| self.functions().any(|(of, each)| of == name && camel_case(each) == function);
        let named = |interface: &Interface| match &interface.body {
            Body::Wit(_) => interface.export == capability,
            Body::Package(_, package) => {
                [&package.export, &package.capability].into_iter().any(|name| name == capability)
            }
        };
        let found = self.by_name.iter().find(|(name, interface)| named(interface) && has(name));
        found.map(|(name, _)| name.as_str())
    }

    /// These interfaces with all that binding them takes.
    pub(crate) fn select(&self, names: &BTreeSet<String>) -> Result<Selection, HostError> {
        let mut resolve = self.resolve.clone();
        let mut pushed = HashSet::new();
        let mut marks = Vec::new();
        let mut interfaces = Vec::new();
        for name in names {
            let Some(interface) = self.by_name.get(name) else {
                return Err(HostError::UnknownHandler(format!("there is no interface {name}")));
            };
            let functions = match &interface.body {
                Body::Wit(functions) => functions.iter().cloned().map(FunctionDescription::plain).collect(),
                Body::Package(package, _) => {
                    let loaded = package.load()?;
                    if pushed.insert(package.specifier()) {
                        push(&mut resolve, package.place(), &loaded.wit)?;
                    }
                    let missing = || HostError::build(anyhow::anyhow!("{} has no interface {name}", package.place()));
                    let id = find(&resolve, name).ok_or_else(missing)?;
                    let compiled = loaded.interfaces.get(name).ok_or_else(missing)?;
                    let context = Context { resolve: &resolve, marks: Some((id, &compiled.marks)) };
                    let described = compiled.describe(&context, id);
                    let fail = |message| HostError::Wit { file: package.place().to_owned(), message };
                    marks.push((id, compiled.marks.clone()));
                    described.map_err(fail)?
                }
            };
            let is_single_function = matches!(&interface.body, Body::Package(_, package) if package.is_single_function);
            let (name, export) = (name.clone(), interface.export.clone());
            interfaces.push(InterfaceDescription { name, export, is_single_function, functions });
        }
        Ok(Selection { resolve, marks, interfaces })
    }

    /// The modules that scripts import these interfaces from.
    pub(crate) fn modules(&self) -> Modules {
        let mut modules = Modules::default();
        for (name, interface) in &self.by_name {
            let binding = match &interface.body {
                Body::Wit(functions) if functions.is_empty() => continue,
                Body::Wit(_) => Binding { name: interface.export.clone(), interface: name.clone() },
                Body::Package(_, package) => package.binding(),
            };
            modules.bind(interface.module.clone(), binding);
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

/// Reads a package into a resolve.
fn push(resolve: &mut Resolve, file: &str, wit: &str) -> Result<PackageId, HostError> {
    let fail = |message: String| HostError::Wit { file: file.to_owned(), message };
    let parsed = UnresolvedPackageGroup::parse(file, wit);
    let group = parsed.map_err(|(sources, error)| fail(error.render(&sources)))?;
    let packages = std::iter::once(&group.main).chain(&group.nested).map(|package| &package.name);
    // `wit-parser` panics on a package that is there already.
    if let Some(name) = packages.into_iter().find(|name| resolve.package_names.contains_key(*name)) {
        return Err(HostError::Duplicate(format!("{file}: the package {name} is there already")));
    }
    resolve.push_group(group).map_err(|error| fail(format!("{error:#}")))
}

fn find(resolve: &Resolve, full_name: &str) -> Option<InterfaceId> {
    resolve.interfaces.iter().map(|(id, _)| id).find(|id| resolve.id_of(*id).as_deref() == Some(full_name))
}

fn read(resolve: &Resolve, package: PackageId, id: InterfaceId, name: &str) -> Result<Interface, String> {
    let package = &resolve.packages[package].name;
    let context = Context { resolve, marks: None };
    let functions = resolve.interfaces[id]
        .functions
        .values()
        .map(|each| function(&context, each).map_err(|message| format!("{name}.{}: {message}", each.name)))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some((first, second)) = alike(functions.iter().map(|function| function.name.as_str())) {
        return Err(format!("{name}: scripts would call both {first} and {second} `{}`", camel_case(first)));
    }
    Ok(Interface {
        // `capabilities:train-schedule` is `@capabilities/train-schedule`.
        module: format!("@{}/{}", package.namespace, package.name),
        export: camel_case(name),
        body: Body::Wit(functions),
    })
}
