//! WIT world of one component: the engine's fixed world and the interfaces of one import set.

use anyhow::{Context, Result, anyhow};
use capability_gen::names::is_wit_keyword;
use std::collections::BTreeSet;
use wit_parser::{Resolve, WorldId};

/// World of the engine that a component is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A sandbox of the host, which runs scripts.
    Sandbox,
    /// A compiled program.
    Command,
    /// A compiled program that answers HTTP requests.
    Service,
    /// A compiled program that answers calls of capabilities.
    Provider,
}

/// Full names of a component's interfaces, apart from the engine's own.
pub struct Names<'a> {
    /// Imported interfaces.
    pub imports: &'a BTreeSet<String>,
    /// Exported interfaces.
    pub exports: &'a BTreeSet<String>,
}

/// The world of a component, and that of its binding.
pub struct World {
    /// Holds both worlds.
    pub resolve: Resolve,
    /// Everything that the component imports.
    pub component: WorldId,
    /// The same without what the engine imports by itself, which the binding need not know.
    pub binding: WorldId,
}

impl Base {
    fn exports(self) -> &'static [&'static str] {
        match self {
            Base::Sandbox => &["runner"],
            Base::Command => &["program"],
            Base::Service => &["handler"],
            Base::Provider => &[],
        }
    }

    fn imports(self) -> &'static [&'static str] {
        match self {
            Base::Sandbox => &["console", "timers", "modules", "refusals", "snapshots", "turns"],
            Base::Command | Base::Service | Base::Provider => &["console", "timers"],
        }
    }
}

/// Interfaces that the engine imports by itself: their functions take scalars, which need no memory.
const ENGINE_IMPORTS: [&str; 2] = ["clock", "random"];

/// The interface through which the host meters the engine, which is imported in the same way. Compiled programs do not:
/// their hosts meter or do not meter them as any component.
const METER: &str = "meter";

/// Returns a full name in WIT's syntax: keywords in it get a `%`.
fn written(name: &str) -> String {
    let (path, version) = name.split_at(name.find('@').unwrap_or(name.len()));
    let mut text = String::new();
    for part in path.split_inclusive([':', '/']) {
        if is_wit_keyword(part.trim_end_matches([':', '/'])) {
            text.push('%');
        }
        text.push_str(part);
    }
    text + version
}

/// Builds the world of a component that imports and exports these interfaces.
pub fn world(known: &Resolve, base: Base, names: &Names<'_>) -> Result<World> {
    let mut resolve = known.clone();
    let engine = |name: &str| format!("agent-spaces:engine/{name}@0.1.0");
    let import = |name: String| format!("    import {};\n", written(&name));
    let export = |name: String| format!("    export {};\n", written(&name));
    let meter = (base == Base::Sandbox).then_some(METER);
    let own: String = ENGINE_IMPORTS.into_iter().chain(meter).map(|name| import(engine(name))).collect();
    let shared: String = base
        .imports()
        .iter()
        .map(|name| engine(name))
        .chain(names.imports.iter().cloned())
        .map(import)
        .chain(base.exports().iter().map(|name| engine(name)).chain(names.exports.iter().cloned()).map(export))
        .collect();
    let text =
        format!("package agent-spaces:bound;\nworld component {{\n{own}{shared}}}\nworld binding {{\n{shared}}}\n");
    let package = resolve.push_str("bound.wit", &text).context("making the world of an import set")?;
    let find = |name: &str| {
        let found = resolve.packages[package].worlds.get(name).copied();
        found.ok_or_else(|| anyhow!("the world {name} is missing"))
    };
    let (component, binding) = (find("component")?, find("binding")?);
    Ok(World { resolve, component, binding })
}
