//! `agent-spaces audit`

use super::failure::Failure;
use super::terminal::clean;
use agent_spaces::{Audit as Findings, AuditedInterface, audit};
use clap::Args;
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Show what a compiled component can reach.
#[derive(Args)]
#[command(after_help = "Example:
  agent-spaces compile agent.ts -o agent.wasm && agent-spaces audit agent.wasm")]
pub(super) struct Audit {
    /// The component
    file: PathBuf,

    /// Print the findings as one JSON object
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) fn execute(self) -> u8 {
        match self.audit() {
            Ok(findings) => {
                let text = match self.json {
                    true => format!("{}\n", json!(findings)),
                    false => describe(&self.file.display().to_string(), &findings),
                };
                super::output::print(&text)
            }
            Err(failure) => failure.report(self.json),
        }
    }

    fn audit(&self) -> Result<Findings, Failure> {
        let shown = self.file.display();
        let fail = |message: String, hint| Failure::new("config.file", format!("{shown}: {message}"), hint);
        let wasm = std::fs::read(&self.file).map_err(|error| fail(error.to_string(), None))?;
        audit(&wasm)
            .map_err(|error| fail(error.to_string(), Some("name a component, such as one of `agent-spaces compile`")))
    }
}

fn describe(file: &str, findings: &Findings) -> String {
    let mut text = format!("{} ({} bytes)\nsha256 {}\n", clean(file), findings.bytes, findings.sha256);
    for module in &findings.modules {
        let what = if module.is_engine { ", the engine of this agent-spaces" } else { "" };
        let _ = writeln!(text, "core module sha256 {} ({} bytes{what})", module.sha256, module.bytes);
    }
    section(&mut text, "imports", &findings.imports);
    section(&mut text, "exports", &findings.exports);
    text
}

fn section(text: &mut String, title: &str, interfaces: &[AuditedInterface]) {
    let _ = writeln!(text, "\n{title}: {}", if interfaces.is_empty() { "nothing" } else { "" }.trim_end());
    for interface in interfaces {
        let _ = writeln!(text, "  {}", clean(&interface.name));
        for line in interface.wit.lines() {
            let _ = writeln!(text, "    {}", clean(line));
        }
    }
}
