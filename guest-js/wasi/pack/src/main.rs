//! Turns the adapters' core modules into the components that the host ships.
//!
//! `agent-spaces-wasi-pack MODULES_DIR PREBUILT_DIR [TOOL=VERSION …]` encodes each module as a component
//! ([`encode`]), drops what only tools read ([`strip`]), and writes it with a record of its hash and of
//! the tools that made it ([`record`]).

mod encode;
mod record;
mod strip;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The crates of this workspace that become components.
const ADAPTERS: [&str; 3] = ["services", "command", "http"];

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(modules), Some(output)) = (arguments.next(), arguments.next()) else {
        bail!("usage: agent-spaces-wasi-pack MODULES_DIR PREBUILT_DIR [TOOL=VERSION …]");
    };
    let tools = arguments.map(|tool| tool.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let (modules, output) = (PathBuf::from(modules), PathBuf::from(output));

    let mut components = Vec::new();
    for name in ADAPTERS {
        let path = modules.join(format!("agent_spaces_wasi_{name}.wasm"));
        let module = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let component = encode::encode(&module).with_context(|| format!("making a component of {}", path.display()))?;
        components.push((format!("wasi-{name}.wasm"), component));
    }
    record::write(&output, &components, &tools)
}
