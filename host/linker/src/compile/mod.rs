//! Compiler of a script into a standalone component.
//!
//! The component contains the engine, the script and every module it imports; its imports are the interfaces that the
//! script can call.

mod wasi;

use crate::binding;
use crate::binding::world::{Base, Names};
use crate::binding::{Inside, embed};
use crate::interfaces::Interfaces;
use crate::resolve::{Denials, Known, Withheld, resolve};
use crate::workspace::Workspace;
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_types::limits::Limits;
use std::collections::BTreeSet;

/// Host that a compiled script runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A host that knows `agent-spaces:engine`: imports the engine's services and the script's interfaces.
    Host,
    /// Any host of `wasi:cli@0.3`: exports `wasi:cli/run`.
    Wasi,
    /// Any host of `wasi:http@0.3`: exports `wasi:http/handler`, which the default export answers.
    WasiHttp,
}

/// A compiled script.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The component.
    pub wasm: Vec<u8>,
    /// The interfaces that it imports beside the services of its target.
    pub interfaces: Vec<String>,
}

/// Compiles a script that may import these interfaces and the files of this workspace.
pub fn compile(
    name: &str,
    source: &str,
    interfaces: &Interfaces,
    workspace: Option<&Workspace>,
    target: Target,
) -> Result<Compiled, PrepareError> {
    let (modules, withheld) = (interfaces.modules(), Withheld::new());
    let max_bytes = Limits::default().source;
    let known = Known {
        modules: &modules,
        withheld: &withheld,
        denials: Denials::default(),
        has_fetch: false,
        packages: None,
        max_bytes,
        memory: None,
    };
    let resolved = resolve(name, source, known, workspace)?;
    let script = (name, resolved.entry.code.as_str(), resolved.entry.call_default);
    let embedded = embed::embed(script, resolved.modules.iter());
    let base = match target {
        Target::Host | Target::Wasi => Base::Command,
        Target::WasiHttp => Base::Service,
    };
    let selection = interfaces.select(&resolved.interfaces)?;
    let names = Names { imports: &resolved.interfaces, exports: &BTreeSet::new() };
    let program = binding::build(&selection, base, &names, Inside::Program(&embedded))?;
    let wasm = match target {
        Target::Host => program,
        Target::Wasi => wasi::command(&program)?,
        Target::WasiHttp => wasi::service(&program)?,
    };
    Ok(Compiled { wasm, interfaces: resolved.interfaces.into_iter().collect() })
}
