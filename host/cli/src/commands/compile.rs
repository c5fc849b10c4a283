//! `agent-spaces compile`

use super::failure::Failure;
use super::script_file::ScriptFile;
use super::space_choice::SpaceChoice;
use super::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::project::{DefinitionFile, Outlines, definitions_at};
use agent_spaces::{Compiled, Target, compile};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Compile a script into a WebAssembly component that carries its engine.
///
/// The component imports the interfaces that the script imports, and nothing else beside the services
/// of its target.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces compile agent.ts -o agent.wasm
  agent-spaces compile hello.ts --target wasi -o hello.wasm && wasmtime run hello.wasm
  agent-spaces compile server.ts --target wasi-http -o server.wasm && wasmtime serve server.wasm
  agent-spaces compile capabilities/crm.ts --provider -o crm.wasm   # exports the interface of crm")]
pub(super) struct Compile {
    /// The script, or the definition; - reads a script from stdin
    file: PathBuf,

    /// Output file: the component
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Host that runs the component
    #[arg(long, value_enum, default_value_t = TargetName::Host)]
    target: TargetName,

    /// Compile a definition's handlers into a component that exports the definition's interface
    #[arg(long, conflicts_with_all = ["target", "workspace", "space", "config", "capabilities"])]
    provider: bool,

    /// Folder whose files the script may import [default: the script's own]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    #[command(flatten)]
    choice: SpaceChoice,

    /// Print the result as one line of JSON
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
        if self.provider {
            let compiled = definition(&self.file)?.compile_component()?;
            return self.write(&compiled);
        }
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
        self.write(&compiled)?;
        if !self.json && target != Target::Host && !compiled.interfaces.is_empty() {
            let (output, names) = (self.output.display(), compiled.interfaces.join(", "));
            terminal::warn(&format!(
                "{output} still imports {names}: plug components that export them, such as with `wac plug`"
            ));
        }
        Ok(())
    }

    fn write(&self, compiled: &Compiled) -> Result<(), Failure> {
        let output = self.output.display();
        std::fs::write(&self.output, &compiled.wasm)
            .map_err(|error| Failure::new(Code::ConfigOutput, format!("{output}: {error}"), None))?;
        if self.json {
            let (bytes, imports) = (compiled.wasm.len(), &compiled.interfaces);
            let line = json!({ "ok": true, "output": self.output, "bytes": bytes, "interfaces": imports });
            output::print_line(&line);
        }
        Ok(())
    }
}

/// Reads the definition of a file.
fn definition(file: &Path) -> Result<DefinitionFile, Failure> {
    let definitions = definitions_at(file, &Outlines::none())?;
    let none = || {
        let message = format!("{} defines no capability", file.display());
        Failure::new(Code::ConfigUnknown, message, Some("name a definition, such as capabilities/crm.ts"))
    };
    definitions.into_iter().next().ok_or_else(none)
}
