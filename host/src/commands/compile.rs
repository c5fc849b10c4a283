//! `agent-spaces compile`

use super::failure::Failure;
use super::script_file::ScriptFile;
use super::space_choice::SpaceChoice;
use super::{folders, terminal};
use agent_spaces::{Target, compile};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Compile a script into a WebAssembly component that carries its engine.
///
/// The component imports the interfaces that the script imports, and nothing else beside the services
/// of its target.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces compile agent.ts -o agent.wasm
  agent-spaces compile hello.ts --target wasi -o hello.wasm && wasmtime run hello.wasm
  agent-spaces compile server.ts --target wasi-http -o server.wasm && wasmtime serve server.wasm")]
pub(super) struct Compile {
    /// The script; - reads it from stdin
    file: PathBuf,

    /// Where to write the component
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Where it is to run
    #[arg(long, value_enum, default_value_t = TargetName::Host)]
    target: TargetName,

    /// Folder whose files the script may import [default: the script's own]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    #[command(flatten)]
    choice: SpaceChoice,

    /// Print what was compiled as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetName {
    /// A host of agent-spaces:engine
    Host,
    /// Exports wasi:cli/run, for `wasmtime run`
    Wasi,
    /// Exports wasi:http/handler, for `wasmtime serve`
    WasiHttp,
}

impl Compile {
    pub(super) fn execute(self) -> u8 {
        match self.compile() {
            Ok(()) => 0,
            Err(failure) => failure.report(self.json),
        }
    }

    fn compile(&self) -> Result<(), Failure> {
        let script = ScriptFile::read(&self.file, self.workspace.as_deref())?;
        let engine = folders::engine(true)?;
        let found = self.choice.find(&script, &engine)?;
        let interfaces = self.choice.modules(&found)?.interfaces()?;
        let target = match self.target {
            TargetName::Host => Target::Host,
            TargetName::Wasi => Target::Wasi,
            TargetName::WasiHttp => Target::WasiHttp,
        };
        let workspace = script.workspace()?;
        let compiled = compile(&script.name, &script.source, &interfaces, workspace.as_ref(), target)
            .map_err(|error| Failure::refused(error, &script.name, &script.source))?;
        let output = self.output.display();
        std::fs::write(&self.output, &compiled.wasm)
            .map_err(|error| Failure::new("config.output", format!("{output}: {error}"), None))?;
        if self.json {
            let (bytes, imports) = (compiled.wasm.len(), &compiled.interfaces);
            let line = json!({ "ok": true, "output": self.output, "bytes": bytes, "interfaces": imports });
            let _ = writeln!(std::io::stdout(), "{line}");
        } else if target != Target::Host && !compiled.interfaces.is_empty() {
            let names = compiled.interfaces.join(", ");
            terminal::warn(&format!(
                "{output} still imports {names}: plug components that export them, such as with `wac plug`"
            ));
        }
        Ok(())
    }
}
