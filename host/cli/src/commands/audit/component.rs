//! Audit of a component: its hashes, imports and exports.

use crate::commands::failure::Failure;
use crate::commands::terminal::{clean, clean_line};
use agent_spaces::Code;
use agent_spaces::{Audit as Findings, AuditError, AuditedInterface, audit};
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};
use std::path::Path;

/// Returns the findings as JSON and as text.
pub(super) fn audit_file(file: &Path) -> Result<(Value, Shown), Failure> {
    let shown = file.display();
    let fail = |message: String, hint| Failure::new(Code::ConfigFile, format!("{shown}: {message}"), hint);
    let wasm = std::fs::read(file).map_err(|error| fail(error.to_string(), None))?;
    let findings = audit(&wasm).map_err(|error| {
        let hint = match error {
            AuditError::NotWasm => "name a component; for a script, use `agent-spaces manifest`",
            _ => "name a component, such as the output of `agent-spaces compile`",
        };
        fail(error.to_string(), Some(hint))
    })?;
    let text = describe(&shown.to_string(), &findings);
    Ok((json!(findings), text))
}

fn describe(file: &str, findings: &Findings) -> Shown {
    let hash = clean_line(&findings.sha256);
    let mut text = shown!("{} ({} bytes)\nsha256 {}\n", clean_line(file), findings.bytes, hash);
    for module in &findings.modules {
        let what = if module.is_engine { ", the engine of this agent-spaces" } else { "" };
        let hash = clean_line(&module.sha256);
        text.push(shown!("core module sha256 {} ({} bytes{})\n", hash, module.bytes, what));
    }
    section(&mut text, "imports", &findings.imports);
    section(&mut text, "exports", &findings.exports);
    text
}

fn section(text: &mut Shown, title: &'static str, interfaces: &[AuditedInterface]) {
    text.push(shown!("\n{}: {}\n", title, if interfaces.is_empty() { "nothing" } else { "" }));
    for interface in interfaces {
        text.push(shown!("  {}\n", clean_line(&interface.name)));
        for line in interface.wit.lines() {
            text.push(shown!("    {}\n", clean(line)));
        }
    }
}
