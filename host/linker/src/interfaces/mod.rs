//! Registry of the WIT interfaces that scripts may import.
//!
//! - `declare`: TypeScript declarations of interfaces that were written as WIT

mod declare;

pub use declare::Declared;

use crate::contracts::contracts;
use crate::marks::Marks;
use crate::package::{Package, PackageInterface};
use crate::shapes::{Context, function};
use agent_spaces_policy::{FunctionId, LabelledFunction};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::{Binding, Modules};
use agent_spaces_types::function::{FunctionDescription, InterfaceDescription, label_of};
use agent_spaces_types::names::{alike, camel_case};
use agent_spaces_types::shape::FunctionShape;
use agent_spaces_types::standard;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use wit_parser::{InterfaceId, LiveTypes, PackageId, Resolve, UnresolvedPackageGroup};

/// Namespace of the host's own packages, which have grant rules of their own.
const OWN_NAMESPACE: &str = "agent-spaces";

/// Interfaces with more functions are large. Smaller ones are bound whole: that takes some tens of milliseconds at
/// most, and scripts that call different functions share a sandbox.
const MAX_BOUND_WHOLE: usize = 32;

/// A set of parsed and checked interfaces.
///
/// ```
/// # use agent_spaces_linker::interfaces::Interfaces;
/// # fn main() -> Result<(), agent_spaces_sandbox::error::HostError> {
/// let mut interfaces = Interfaces::new()?;
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
    /// The contracts and every added WIT text.
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
    /// Parsed from WIT.
    Wit(Vec<FunctionShape>),
    /// Part of a compiled module, which is loaded when a script first imports it.
    Package(Arc<Package>, Box<PackageInterface>),
}

/// Module and export of an interface with many functions.
pub struct LargeInterface<'a> {
    /// The module's specifier.
    pub module: &'a str,
    /// The name that the module exports it under.
    pub export: &'a str,
}

/// Some of the interfaces, ready to be bound.
pub struct Selection {
    /// WIT of the interfaces and all that they refer to.
    pub resolve: Resolve,
    /// JSON marks of the types of compiled capabilities.
    pub marks: Vec<(InterfaceId, Marks)>,
    /// Descriptions of the interfaces.
    pub interfaces: Vec<InterfaceDescription>,
}

impl Interfaces {
    /// An empty set: it has only the shared types of `agent-spaces:host`.
    pub fn new() -> Result<Interfaces, HostError> {
        let resolve = contracts().map_err(HostError::build)?;
        Ok(Interfaces { resolve, by_name: BTreeMap::new() })
    }

    /// Adds every interface of a WIT package. `file` names the text in errors.
    pub fn add(&mut self, file: &str, wit: &str) -> Result<(), HostError> {
        self.add_checked(file, wit, check_namespace)
    }

    /// Adds the standard library.
    pub fn add_standard(&mut self) -> Result<(), HostError> {
        self.add_checked("std.wit", crate::standard_wit::WIT, |_| Ok(()))
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
        let fail = |message| HostError::Wit { file: package.place().to_owned(), message };
        check_namespace(package.specifier().trim_start_matches('@').split('/').next().unwrap_or_default())
            .map_err(fail)?;
        for interface in package.interfaces() {
            check_namespace(interface.name.split(':').next().unwrap_or_default()).map_err(fail)?;
            let body = Body::Package(package.clone(), Box::new(interface.clone()));
            let entry = Interface { module: package.specifier().into(), export: interface.export.clone(), body };
            self.check_name(package.place(), &interface.name, &entry, &added)?;
            added.insert(interface.name.clone(), entry);
        }
        self.by_name.extend(added);
        Ok(())
    }

    /// Refuses duplicate names: no two modules export one name. Names of the standard library are exempt, since MCP
    /// servers have them too (`time`); a rule for such a function must then name the module.
    fn check_name(
        &self,
        file: &str,
        full_name: &str,
        interface: &Interface,
        added: &BTreeMap<String, Interface>,
    ) -> Result<(), HostError> {
        let Interface { export, .. } = interface;
        let same_name = self.by_name.contains_key(full_name) || added.contains_key(full_name);
        let mut others = self.by_name.iter().chain(added);
        let other = match same_name {
            true => Some((full_name, interface)),
            false => others.find(|(_, other)| other.is_named_as(interface)).map(|(name, other)| (name.as_str(), other)),
        };
        let Some((other_name, other)) = other else { return Ok(()) };
        let (module, other_module) = (&interface.module, &other.module);
        let modules = match module == other_module {
            true => format!("of '{module}'"),
            false => format!("of '{module}' and of '{other_module}': rename one, or leave one out"),
        };
        Err(HostError::Duplicate(format!("{file}: {full_name} and {other_name} would both be `{export}` {modules}")))
    }

    /// Full names: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Exports with functions, by module.
    pub fn exports(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut exports: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for interface in self.by_name.values().filter(|interface| interface.functions().next().is_some()) {
            exports.entry(&interface.module).or_default().push(&interface.export);
        }
        exports
    }

    /// Every function with its interface, as WIT names them.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name
            .iter()
            .flat_map(|(name, interface)| interface.functions().map(move |function| (name.as_str(), function)))
    }

    /// Every function with its identity, label and module.
    pub fn labelled(&self) -> impl Iterator<Item = LabelledFunction> {
        self.by_name.iter().flat_map(|(name, interface)| interface.labelled(name))
    }

    /// The functions of a module, or of one of its exports.
    pub fn labelled_in(&self, module: &str, export: Option<&str>) -> impl Iterator<Item = LabelledFunction> {
        let is_in = move |interface: &Interface| {
            interface.module == module && export.is_none_or(|export| interface.root() == export)
        };
        let within = self.by_name.iter().filter(move |(_, interface)| is_in(interface));
        within.flat_map(|(name, interface)| interface.labelled(name))
    }

    /// Functions of exports whose name the standard library and another module share.
    pub fn shared_labels(&self) -> Vec<LabelledFunction> {
        let of = |is_standard: bool| {
            let some = self.by_name.values().filter(move |interface| interface.is_standard() == is_standard);
            some.map(Interface::root).collect::<BTreeSet<&str>>()
        };
        let (standard, others) = (of(true), of(false));
        let is_shared =
            |interface: &Interface| standard.contains(interface.root()) && others.contains(interface.root());
        let shared = self.by_name.iter().filter(|(_, interface)| is_shared(interface));
        shared.flat_map(|(name, interface)| interface.labelled(name)).collect()
    }

    /// Looks up a function by module, export and member, as scripts name them.
    pub fn member(&self, module: &str, export: &str, member: &str) -> Option<FunctionId> {
        let matches = |interface: &Interface| interface.module == module && interface.export == export;
        let (name, interface) = self.by_name.iter().find(|(_, interface)| matches(interface))?;
        let function = interface.functions().find(|each| camel_case(each) == member)?;
        Some(FunctionId::new(name.as_str(), function))
    }

    /// Looks up functions by the names that scripts or their definition use. An interface may also be named in full.
    pub fn with_export(&self, capability: &str, function: &str) -> Vec<LabelledFunction> {
        let is_named = |(name, interface): &(&String, &Interface)| match &interface.body {
            _ if *name == capability => true,
            Body::Wit(_) => interface.export == capability,
            Body::Package(_, package) => {
                [&package.export, &package.capability].into_iter().any(|name| name == capability)
            }
        };
        let named = self.by_name.iter().filter(is_named);
        let functions = named.flat_map(|(name, interface)| interface.labelled(name));
        let matches =
            |each: &LabelledFunction| each.id.function() == function || camel_case(each.id.function()) == function;
        functions.filter(matches).collect()
    }

    /// Selects these interfaces, with everything that binding them takes.
    pub fn select(&self, names: &BTreeSet<String>) -> Result<Selection, HostError> {
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
            let (name, export, module) = (name.clone(), interface.export.clone(), interface.module.clone());
            interfaces.push(InterfaceDescription { name, module, export, is_single_function, functions });
        }
        Ok(Selection { resolve, marks, interfaces })
    }

    /// Returns an interface of compiled capabilities if it has too many functions to be bound whole.
    pub fn large(&self, name: &str) -> Option<LargeInterface<'_>> {
        let interface = self.by_name.get(name)?;
        let Body::Package(_, package) = &interface.body else { return None };
        let is_large =
            package.functions.len() > MAX_BOUND_WHOLE && !package.is_single_function && package.part.is_none();
        is_large.then_some(LargeInterface { module: &interface.module, export: &interface.export })
    }

    /// Modules that scripts import these interfaces from.
    pub fn modules(&self) -> Modules {
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

impl Selection {
    /// Binds only these functions of an interface, by the names that scripts use, and their types. The description
    /// stays whole, for suggestions.
    pub fn narrow(&mut self, interface: &str, named: &BTreeSet<String>) {
        let Some(id) = find(&self.resolve, interface) else { return };
        let mut functions = std::mem::take(&mut self.resolve.interfaces[id].functions);
        functions.retain(|function, _| named.contains(&camel_case(function)));
        let mut live = LiveTypes::default();
        for function in functions.values() {
            live.add_func(&self.resolve, function);
        }
        let interface = &mut self.resolve.interfaces[id];
        interface.functions = functions;
        interface.types.retain(|_, id| live.contains(*id));
    }
}

impl Interface {
    /// True if the two have the same name for scripts.
    fn is_named_as(&self, other: &Interface) -> bool {
        let is_another = self.module != other.module;
        let is_exempt = is_another && (self.is_standard() || other.is_standard());
        // An interface without functions is not exported.
        let is_exported = |each: &Interface| !is_another || each.functions().next().is_some();
        self.export == other.export && !is_exempt && is_exported(self) && is_exported(other)
    }

    fn is_standard(&self) -> bool {
        self.module == standard::SPECIFIER
    }

    /// The imported name: `everything` of `everything.$resources`.
    fn root(&self) -> &str {
        self.export.split('.').next().unwrap_or_default()
    }

    /// Its functions as WIT names them.
    fn functions(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.body {
            Body::Wit(functions) => Box::new(functions.iter().map(|function| function.name.as_str())),
            Body::Package(_, interface) => Box::new(interface.functions.iter().map(String::as_str)),
        }
    }

    fn labelled<'a>(&'a self, name: &'a str) -> impl Iterator<Item = LabelledFunction> + 'a {
        let is_single = matches!(&self.body, Body::Package(_, package) if package.is_single_function);
        self.functions().map(move |function| LabelledFunction {
            id: FunctionId::new(name, function),
            label: label_of(&self.export, &camel_case(function), is_single),
            module: self.module.clone(),
        })
    }
}

/// Refuses the host's own namespace.
fn check_namespace(namespace: &str) -> Result<(), String> {
    match namespace {
        OWN_NAMESPACE => Err(format!("the namespace `{OWN_NAMESPACE}` is reserved for the host: choose another")),
        _ => Ok(()),
    }
}

/// Parses a package into a resolve.
fn push(resolve: &mut Resolve, file: &str, wit: &str) -> Result<PackageId, HostError> {
    let fail = |message: String| HostError::Wit { file: file.to_owned(), message };
    let parsed = UnresolvedPackageGroup::parse(file, wit);
    let group = parsed.map_err(|(sources, error)| fail(error.render(&sources)))?;
    let packages = std::iter::once(&group.main).chain(&group.nested).map(|package| &package.name);
    // `wit-parser` panics on a duplicate package.
    if let Some(name) = packages.into_iter().find(|name| resolve.package_names.contains_key(*name)) {
        return Err(HostError::Duplicate(format!("{file}: duplicate package {name}")));
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
