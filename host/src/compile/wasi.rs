//! A program over WASI: its services, and the export that a WASI host calls.

use crate::error::HostError;
use anyhow::{Context, Result};
use wasm_compose::graph::{Component, ComponentId, CompositionGraph, EncodeOptions, InstanceId};
use wasmparser::Validator;

const SERVICES: &[u8] = include_bytes!("../../../guest-js/prebuilt/wasi-services.wasm");
const COMMAND: &[u8] = include_bytes!("../../../guest-js/prebuilt/wasi-command.wasm");
const HTTP: &[u8] = include_bytes!("../../../guest-js/prebuilt/wasi-http.wasm");

/// A component that exports `wasi:cli/run`.
pub(super) fn command(program: &[u8]) -> Result<Vec<u8>, HostError> {
    compose(program, COMMAND).map_err(HostError::build)
}

/// A component that exports `wasi:http/handler`.
pub(super) fn service(program: &[u8]) -> Result<Vec<u8>, HostError> {
    compose(program, HTTP).map_err(HostError::build)
}

/// Gives the program its services, and the front the program. What else the program imports stays an
/// import.
fn compose(program: &[u8], front: &[u8]) -> Result<Vec<u8>> {
    let mut parts = Parts { graph: CompositionGraph::new(), validator: Validator::new() };
    let services = parts.add("services", SERVICES)?;
    let program = parts.add("program", program)?;
    let front = parts.add("front", front)?;
    parts.plug(services, program)?;
    parts.plug(services, front)?;
    parts.plug(program, front)?;
    let options = EncodeOptions { define_components: true, export: Some(front.1), validate: true };
    parts.graph.encode(options)
}

struct Parts<'a> {
    graph: CompositionGraph<'a>,
    validator: Validator,
}

type Part = (ComponentId, InstanceId);

impl<'a> Parts<'a> {
    fn add(&mut self, name: &str, wasm: &[u8]) -> Result<Part> {
        let component = Component::from_bytes(&mut self.validator, name, wasm.to_vec())?;
        let component = self.graph.add_component(component)?;
        Ok((component, self.graph.instantiate(component)?))
    }

    /// Connects every export of `from` that `to` imports.
    fn plug(&mut self, from: Part, to: Part) -> Result<()> {
        let exporter = self.graph.get_component(from.0).context("a part is missing")?;
        let exports: Vec<_> = exporter.exports().map(|(index, name, ..)| (index, name.to_owned())).collect();
        for (export, name) in exports {
            let importer = self.graph.get_component(to.0).context("a part is missing")?;
            if let Some((import, ..)) = importer.import_by_name(&name) {
                self.graph.connect(from.1, Some(export), to.1, import)?;
            }
        }
        Ok(())
    }
}
