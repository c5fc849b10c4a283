//! What a space can reach: every function, and what answers it.

use crate::commands::failure::Failure;
use crate::commands::space_choice::ConfigChoice;
use crate::commands::{folders, terminal};
use agent_spaces::mcp::locked_endpoint;
use agent_spaces::project::{DefinitionBody, DefinitionFile};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn audit(name: &str, config: &ConfigChoice) -> Result<(Value, String), Failure> {
    let engine = folders::engine(true)?;
    let project = config.open(&engine)?.ok_or_else(|| {
        let hint = "name a component's file, or add agent-spaces.config.json";
        Failure::new("config.file", format!("{name}: no such file, and no configuration was found"), Some(hint))
    })?;
    let modules = project.space(Some(name))?;
    let mut text = format!("{}\n", terminal::clean_line(name));
    let mut values = Vec::new();
    for definition in &modules.given {
        let provider = provider(definition);
        match &definition.body {
            DefinitionBody::Module(module) => {
                let compiled = module.compile()?;
                let _ = writeln!(text, "\n{}\n  answered by {}", clean(&compiled.specifier), clean(&provider));
                let mut functions = Vec::new();
                for capability in &compiled.capabilities {
                    for function in &capability.functions {
                        let approval = capability.requires_approval(function);
                        let mark = if approval { "  asks for approval" } else { "" };
                        let label = match capability.is_single_function {
                            true => function.js_name.clone(),
                            false => format!("{}.{}", capability.export, function.js_name),
                        };
                        let _ = writeln!(text, "  {}{mark}", clean(&label));
                        functions
                            .push(json!({ "function": label, "wire": function.name, "requiresApproval": approval }));
                    }
                }
                values.push(json!({ "module": compiled.specifier, "provider": provider, "functions": functions }));
            }
            DefinitionBody::Wit(wit) => {
                let file = definition.path.display().to_string();
                let _ = writeln!(text, "\n{}\n  answered by {}", clean(&file), clean(&provider));
                for line in wit.lines() {
                    let _ = writeln!(text, "  {}", clean(line));
                }
                values.push(json!({ "module": file, "provider": provider, "wit": wit }));
            }
        }
    }
    for server in &modules.undiscovered {
        let state = server.obstacle().unwrap_or_else(|| "its tools are not known yet".into());
        let _ = writeln!(text, "\n{}\n  {}", clean(&server.specifier()), clean(&state));
        values.push(json!({ "module": server.specifier(), "state": state }));
    }
    Ok((json!({ "space": name, "modules": values }), text))
}

fn provider(definition: &DefinitionFile) -> String {
    match (&definition.handlers, &definition.server) {
        (Some(file), _) => format!("{} in a sandbox of its own", file.display()),
        (None, Some(server)) => {
            let configured = &server.configured;
            format!("MCP server {} ({})", configured.name, locked_endpoint(configured))
        }
        (None, None) => "nothing".into(),
    }
}

fn clean(text: &str) -> String {
    terminal::clean_line(text)
}
