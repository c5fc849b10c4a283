//! Composition of a program with WASI adapters: its services, and the export that a WASI host calls.

use agent_spaces_sandbox::error::HostError;
use anyhow::{Context, Result, bail, ensure};
use wasm_compose::graph::{Component, ComponentId, CompositionGraph, EncodeOptions, InstanceId};
use wasmparser::Validator;

const SERVICES: &[u8] = include_bytes!("../../wasi/wasi-services.wasm");
const COMMAND: &[u8] = include_bytes!("../../wasi/wasi-command.wasm");
const HTTP: &[u8] = include_bytes!("../../wasi/wasi-http.wasm");

/// Composes a component that exports `wasi:cli/run`.
pub(super) fn command(program: &[u8]) -> Result<Vec<u8>, HostError> {
    compose(program, COMMAND).map_err(HostError::build)
}

/// Composes a component that exports `wasi:http/handler`.
pub(super) fn service(program: &[u8]) -> Result<Vec<u8>, HostError> {
    compose(program, HTTP).map_err(HostError::build)
}

/// Package whose interfaces the adapters import or export; none of it may be left to the WASI host.
const ENGINE_PACKAGE: &str = "agent-spaces:engine/";

/// One component of the composition, instantiated once.
#[derive(Clone, Copy)]
struct Part {
    component: ComponentId,
    instance: InstanceId,
}

/// Composes the component that exports what `front` exports: `services` satisfies `program`'s imports, `program`
/// those of `front`. The rest stays an import: WASI, and the script's capabilities.
fn compose(program: &[u8], front: &[u8]) -> Result<Vec<u8>> {
    // One for all: types of two validators cannot be compared.
    let mut validator = Validator::new();
    let mut graph = CompositionGraph::new();
    let services = add(&mut graph, &mut validator, "services", SERVICES)?;
    let program = add(&mut graph, &mut validator, "program", program)?;
    let front = add(&mut graph, &mut validator, "front", front)?;
    connect(&mut graph, services, program)?;
    connect(&mut graph, services, front)?;
    ensure!(
        connect(&mut graph, program, front)? > 0,
        "the compiled script does not export the interface that the WASI adapter calls"
    );
    let options = EncodeOptions { define_components: true, export: Some(front.instance), validate: false };
    let composed = graph.encode(options).context("composing the script with the WASI adapters")?;
    let component = Component::from_bytes(&mut validator, "composed", composed.as_slice())
        .context("checking the composed component")?;
    if let Some((_, name, _)) = component.imports().find(|(_, name, _)| name.starts_with(ENGINE_PACKAGE)) {
        bail!("the composed component still imports {name}, which no WASI host has");
    }
    Ok(composed)
}

fn add<'a>(graph: &mut CompositionGraph<'a>, validator: &mut Validator, name: &str, bytes: &'a [u8]) -> Result<Part> {
    let component =
        Component::from_bytes(validator, name, bytes).with_context(|| format!("reading the component `{name}`"))?;
    let component = graph.add_component(component)?;
    Ok(Part { component, instance: graph.instantiate(component)? })
}

/// Connects the imports of `to` with the exports of `from` that have the same name; returns their number.
fn connect(graph: &mut CompositionGraph<'_>, from: Part, to: Part) -> Result<usize> {
    let exporter = graph.get_component(from.component).context("a component that was just added")?;
    let importer = graph.get_component(to.component).context("a component that was just added")?;
    let pairs = exporter
        .exports()
        .filter_map(|(export, name, ..)| Some((export, importer.import_by_name(name)?.0)))
        .collect::<Vec<_>>();
    for &(export, import) in &pairs {
        graph.connect(from.instance, Some(export), to.instance, import)?;
    }
    Ok(pairs.len())
}
