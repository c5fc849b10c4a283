//! What a component can reach.

use crate::commands::failure::Failure;
use crate::commands::terminal::clean;
use agent_spaces::{Audit as Findings, AuditError, AuditedInterface, audit};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn audit_file(file: &Path) -> Result<(Value, String), Failure> {
    let shown = file.display();
    let fail = |message: String, hint| Failure::new("config.file", format!("{shown}: {message}"), hint);
    let wasm = std::fs::read(file).map_err(|error| fail(error.to_string(), None))?;
    let findings = audit(&wasm).map_err(|error| {
        let hint = match error {
            AuditError::NotWasm => "name a component; what a script can reach is told by `agent-spaces manifest`",
            _ => "name a component, such as one of `agent-spaces compile`",
        };
        fail(error.to_string(), Some(hint))
    })?;
    let text = describe(&shown.to_string(), &findings);
    Ok((json!(findings), text))
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
