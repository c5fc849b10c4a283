//! `agent-spaces capabilities list`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, output, terminal};
use agent_spaces::project::{DefinitionBody, DefinitionFile};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};

/// List the capabilities that are defined here.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces capabilities list
  agent-spaces capabilities list --json | jq -r '.[].name'")]
pub(super) struct List {
    #[command(flatten)]
    sources: Sources,

    /// Print the list as one JSON array
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn execute(self) -> u8 {
        match self.list() {
            Ok(entries) if self.json => output::print_line(&Value::Array(entries)),
            Ok(entries) => output::print(&table(&entries)),
            Err(failure) => failure.report(self.json),
        }
    }

    fn list(&self) -> Result<Vec<Value>, Failure> {
        let engine = folders::engine(true)?;
        let (_, definitions) = self.sources.load(&engine)?;
        Ok(definitions.iter().flat_map(entries).collect())
    }
}

fn entries(definition: &DefinitionFile) -> Vec<Value> {
    let file = definition.path.display().to_string();
    let handlers = definition.handlers.as_ref().map(|path| path.display().to_string());
    match &definition.body {
        DefinitionBody::Wit(_) => {
            let stem = definition.path.file_stem().unwrap_or_default().to_string_lossy();
            vec![json!({ "name": stem, "source": "wit", "file": file, "handlers": handlers })]
        }
        DefinitionBody::Module(module) => {
            let entry = |interface: &agent_spaces::PackageInterface| {
                json!({
                    "name": interface.capability,
                    "version": interface.version,
                    "source": module.outline.source,
                    "module": module.outline.specifier,
                    "export": interface.export,
                    "interface": interface.name,
                    "functions": interface.functions.len(),
                    "file": file,
                    "handlers": handlers,
                })
            };
            module.outline.interfaces.iter().map(entry).collect()
        }
    }
}

fn table(entries: &[Value]) -> Shown {
    let text = |entry: &Value, key: &str| match &entry[key] {
        Value::String(text) => terminal::clean_line(text),
        Value::Null => Shown::default(),
        other => terminal::clean_line(&other.to_string()),
    };
    let columns = ["name", "version", "source", "module", "functions", "file"];
    let width =
        |key: &str| entries.iter().map(|entry| text(entry, key).chars().count()).max().unwrap_or(0).max(key.len());
    let widths: Vec<usize> = columns.iter().map(|key| width(key)).collect();
    let line = |cells: Vec<Shown>| {
        let mut line = Shown::default();
        for (index, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            // Nothing stands after the last, so that no line ends in spaces.
            let width = if index + 1 == cells.len() { 0 } else { *width };
            line.push(shown!("{}{:<width$}", if index > 0 { "  " } else { "" }, cell));
        }
        shown!("{}\n", line)
    };
    let mut out = line(columns.iter().map(|key| Shown::from(*key)).collect());
    for entry in entries {
        out.push(line(columns.iter().map(|key| text(entry, key)).collect()));
    }
    out
}
