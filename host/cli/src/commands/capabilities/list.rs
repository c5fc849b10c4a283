//! `agent-spaces capabilities list`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, output, terminal};
use agent_spaces::project::{RegistryEntry, registered_servers, registry};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Map, Value, json};

/// List the capabilities that are defined here: the registry.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces capabilities list
  agent-spaces capabilities list --json | jq -r '.capabilities[].name'
  agent-spaces capabilities list --json | jq '.capabilities[].schema.functions[] | {id, owner, implementation, tags}'")]
pub(super) struct List {
    #[command(flatten)]
    sources: Sources,

    /// Print the registry as one JSON object: `capabilities` and `mcpServers`, each by name
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn execute(self) -> u8 {
        match self.list() {
            Ok((_, registry)) if self.json => output::print_line(&registry),
            Ok((entries, _)) => output::print(&table(&entries)),
            Err(failure) => failure.report(self.json),
        }
    }

    fn list(&self) -> Result<(Vec<RegistryEntry>, Value), Failure> {
        let engine = folders::engine(true)?;
        let (folder, definitions) = self.sources.load(&engine)?;
        let entries = registry(&folder, &definitions)?;
        let servers = match self.sources.config.open(&engine)?.filter(|_| self.sources.paths.is_empty()) {
            Some(project) => registered_servers(project.servers().values().map(|server| &**server)),
            None => json!({}),
        };
        let capabilities: Map<String, Value> = entries.iter().map(|entry| (entry.name.clone(), json!(entry))).collect();
        let registry = json!({ "capabilities": capabilities, "mcpServers": servers });
        Ok((entries, registry))
    }
}

fn table(entries: &[RegistryEntry]) -> Shown {
    let columns = ["name", "version", "source", "module", "functions", "owner", "file"];
    let row = |entry: &RegistryEntry| -> Vec<Shown> {
        let functions = entry.schema["functions"].as_array().map_or(0, Vec::len);
        let source = json!(entry.source).as_str().unwrap_or_default().to_owned();
        let owner = entry.owner.clone().unwrap_or_default();
        let cells = [&entry.name, &entry.version, &source, &entry.module, &functions.to_string(), &owner, &entry.file];
        cells.into_iter().map(|cell| terminal::clean_line(cell)).collect()
    };
    let heads = columns.iter().map(|head| Shown::from(*head)).collect();
    let rows: Vec<Vec<Shown>> = std::iter::once(heads).chain(entries.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut out = Shown::default();
    for row in &rows {
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // The last column is not padded, so that no line ends in spaces.
            let width = if index + 1 == row.len() { 0 } else { *width };
            out.push(shown!("{}{:<width$}", if index > 0 { "  " } else { "" }, cell));
        }
        out.push(shown!("\n"));
    }
    out
}
