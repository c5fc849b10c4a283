//! Server of one precompiled program, without the compiler: `edge-server FOLDER ADDRESS`.
//!
//! # Layout
//! - here: arguments, and loading of the program
//! - [`manifest`]: names of the functions that the program can call
//! - [`remote`]: answers calls through the REST API
//! - [`http`]: runs the program at each request

mod http;
mod manifest;
mod remote;

use agent_spaces_calls::handlers::Handlers;
use agent_spaces_sandbox::engine::{Engine, EngineConfig};
use agent_spaces_sandbox::program::Program;
use anyhow::{Context, Result, bail};
use manifest::Manifest;
use remote::Remote;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs of one program that a small machine bears at once.
const MAX_RUNS: u32 = 50;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, address] = arguments.as_slice() else { bail!("usage: edge-server FOLDER ADDRESS") };
    let remote = Remote::from_environment()?;
    let program = load(&PathBuf::from(folder), &Arc::new(remote))?;
    http::serve(address, program).await
}

/// Loads the engine and the program, and links the program's functions with the server.
fn load(folder: &Path, remote: &Arc<Remote>) -> Result<Program> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let manifest: Manifest = serde_json::from_slice(&read("edge.json")?).context("edge.json is not valid")?;
    let mut handlers = Handlers::new();
    for interface in manifest.interfaces {
        let interface = Arc::new(interface);
        for (function, takes) in interface.functions.clone() {
            let (remote, target, takes) = (remote.clone(), interface.clone(), Arc::new(takes));
            handlers.add(interface.name.clone(), function, move |call| {
                let (remote, target, takes) = (remote.clone(), target.clone(), takes.clone());
                async move { remote.call(&target, &takes, call).await }
            });
        }
    }
    let config = EngineConfig { max_runs: MAX_RUNS, ..EngineConfig::default() };
    let (engine, program) = (read("engine.cwasm")?, read("program.cwasm")?);
    // SAFETY: the folder is the output of `precompile`, which whoever starts the server vouches for: it is native code, as
    // this binary is.
    #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
    let program = unsafe {
        let engine = Engine::from_precompiled(config, &engine).context("engine.cwasm is of another version")?;
        Program::from_precompiled(&engine, &program, &handlers).context("program.cwasm is of another version")?
    };
    Ok(program)
}
