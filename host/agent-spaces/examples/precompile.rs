//! Precompiles a script of a project for hosts without the compiler, such as `examples/edge-server`.
//!
//! `cargo run --release -p agent-spaces --example precompile -- CONFIGURATION SPACE SCRIPT FOLDER`

use agent_spaces::project::{Outlines, Project};
use agent_spaces::{Engine, EngineConfig};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use std::path::Path;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [configuration, space, script, folder] = arguments.as_slice() else {
        bail!("usage: precompile CONFIGURATION SPACE SCRIPT FOLDER");
    };
    let engine = Engine::new(EngineConfig::default())?;
    let project = Project::open(Path::new(configuration), &engine, &Outlines::none())?;
    let space = project.space(Some(space))?.assemble(&engine)?;
    let source = std::fs::read_to_string(script).with_context(|| format!("cannot read {script}"))?;
    let name = Path::new(script).file_name().context("name a script")?.to_string_lossy();
    let program = space.prepare(&name, &source)?;
    let interfaces: Vec<Value> = program
        .sandbox()
        .description()
        .interfaces
        .iter()
        .map(|interface| {
            let functions: Map<String, Value> = interface
                .functions
                .iter()
                .map(|function| {
                    let names = || {
                        function
                            .shape
                            .parameters
                            .iter()
                            .map(|parameter| parameter.name.json.as_str())
                            .collect::<Vec<_>>()
                    };
                    let takes =
                        if function.shape.takes_record() { json!("object") } else { json!({ "values": names() }) };
                    (function.shape.name.clone(), takes)
                })
                .collect();
            json!({
                "name": interface.name,
                "module": interface.module,
                "export": interface.export,
                "isSingleFunction": interface.is_single_function,
                "functions": functions,
            })
        })
        .collect();
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("engine.cwasm"), engine.precompiled()?)?;
    std::fs::write(folder.join("program.cwasm"), program.precompiled()?)?;
    std::fs::write(folder.join("edge.json"), json!({ "interfaces": interfaces }).to_string())?;
    Ok(())
}
