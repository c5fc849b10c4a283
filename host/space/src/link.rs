//! Linked sandboxes of a space: component binding, handlers and pipelines for a set of interfaces.

use crate::space::Space;
use agent_spaces_calls::call_path::CallPath;
use agent_spaces_linker::binding;
use agent_spaces_linker::binding::Inside;
use agent_spaces_linker::binding::functions::Functions;
use agent_spaces_linker::binding::world::{Base, Names};
use agent_spaces_linker::failure::ProgramSource;
use agent_spaces_linker::import_set::ImportSet;
use agent_spaces_linker::interfaces::{Interfaces, Selection};
use agent_spaces_pipeline::Pipeline;
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::program::source_info::SourceInfo;
use agent_spaces_sandbox::program::{Program, ProgramImage};
use agent_spaces_sandbox::sandbox::Sandbox;
use agent_spaces_sandbox::snapshot::Snapshot;
use agent_spaces_types::function::Description;
use agent_spaces_types::limits::Limits;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Space {
    /// Returns the sandbox for these interfaces, linked at most once.
    pub fn sandbox(&self, interfaces: &BTreeSet<String>) -> Result<Sandbox, HostError> {
        self.sandbox_of(&ImportSet::whole(interfaces.clone()))
    }

    pub(crate) fn sandbox_of(&self, set: &ImportSet) -> Result<Sandbox, HostError> {
        self.sandboxes.get_or_link(&set.key(), || self.link(set, None))
    }

    /// Returns the program in a sandbox that starts from a snapshot taken after a run of it, with its modules evaluated;
    /// `None` if the run is not deterministic. Blocks: call it on a blocking thread of a tokio runtime.
    pub fn after(&self, program: &Program, limits: Limits) -> Result<Option<Program>, HostError> {
        let set = ImportSet::whole(program.interfaces().map(str::to_owned).collect());
        let (_, binding) = self.binding(&set, Inside::Nothing)?;
        let Some(snapshot) = Snapshot::of(program, &binding, limits)? else { return Ok(None) };
        let snapshot = Arc::new(snapshot);
        let sandbox = self.link(&set, Some(snapshot.clone()))?;
        Ok(Some(program.starting_from(snapshot, sandbox)))
    }

    fn link(&self, set: &ImportSet, snapshot: Option<Arc<Snapshot>>) -> Result<Sandbox, HostError> {
        let (selection, wasm) = self.binding(set, inside(snapshot.as_deref()))?;
        let description = Description { interfaces: selection.interfaces };
        let sandbox = self.link_component(&self.engine, wasm, snapshot.is_none(), description)?;
        // The engine that is linked is the one whose layout the linker knows.
        let (interfaces, set) = (self.interfaces.clone(), set.clone());
        Ok(sandbox.with_functions(Arc::new(move |memory, is_wanted| {
            let selection = select(&interfaces, &set).ok()?;
            let names = Names { imports: set.interfaces(), exports: &BTreeSet::new() };
            let functions = Functions { memory, is_wanted };
            binding::build_with_functions(&selection, &names, inside(snapshot.as_deref()), &functions).ok()?
        })))
    }

    /// Restores a program from its image, on the engine that it was prepared for.
    ///
    /// # Errors
    /// A function that it imports has no handler any more, or the engine cannot load its component.
    pub fn restore(&self, engine: &Engine, image: ProgramImage) -> Result<Program, HostError> {
        let sandbox = self.link_component(engine, image.component().to_vec(), true, image.description().clone())?;
        let source = image.source().and_then(ProgramSource::from_bytes);
        let source = source.map(|source| Arc::new(source) as Arc<dyn SourceInfo>);
        Ok(Program::from_image(image, sandbox, source))
    }

    /// Links a component. A portable one is kept as Wasm, for images of its programs.
    fn link_component(
        &self,
        engine: &Engine,
        wasm: Vec<u8>,
        is_portable: bool,
        description: Description,
    ) -> Result<Sandbox, HostError> {
        let component = engine.component(&wasm)?;
        let missing = self.handlers.missing(&description);
        if !missing.is_empty() {
            return Err(HostError::MissingHandlers(missing));
        }
        let paths = |interface: &_, function: &_| {
            let pipeline = Pipeline::of(interface, function, &self.handlers, &self.rules)?;
            Some(Arc::new(pipeline) as Arc<dyn CallPath>)
        };
        Sandbox::link(engine, &component, is_portable.then_some(wasm), description, &paths, self.rules.runs())
    }

    /// Builds the component that imports the interfaces of a set.
    fn binding(&self, set: &ImportSet, inside: Inside<'_>) -> Result<(Selection, Vec<u8>), HostError> {
        let selection = select(&self.interfaces, set)?;
        let names = Names { imports: set.interfaces(), exports: &BTreeSet::new() };
        let wasm = binding::build(&selection, Base::Sandbox, &names, inside)?;
        Ok((selection, wasm))
    }
}

fn inside(snapshot: Option<&Snapshot>) -> Inside<'_> {
    snapshot.map_or(Inside::Nothing, Inside::Snapshot)
}

/// Returns the interfaces of a set, with the functions that it names.
fn select(interfaces: &Interfaces, set: &ImportSet) -> Result<Selection, HostError> {
    let mut selection = interfaces.select(set.interfaces())?;
    for (interface, functions) in set.named() {
        selection.narrow(interface, functions);
    }
    Ok(selection)
}
