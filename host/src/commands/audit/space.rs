//! What a space can reach: every function, what answers it, and what becomes of calls of it.

use crate::commands::failure::Failure;
use crate::commands::reach::{self, Reached};
use crate::commands::space_choice::ConfigChoice;
use crate::commands::{folders, terminal};
use agent_spaces::project::DefinitionBody;
use agent_spaces::{ManifestFunction, ManifestInterface, ManifestProvider, STANDARD_LIBRARY};
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};

pub(super) fn audit(name: &str, config: &ConfigChoice) -> Result<(Value, Shown), Failure> {
    let engine = folders::engine(true)?;
    let project = config.open(&engine)?.ok_or_else(|| {
        let hint = "name a component's file, or add agent-spaces.config.json";
        Failure::new("config.file", format!("{name}: no such file, and no configuration was found"), Some(hint))
    })?;
    let modules = project.space(Some(name))?;
    let mut rest = modules.assemble(&engine)?.reach()?;
    let mut text = shown!("{}\n", clean(name));
    let mut values = Vec::new();
    for definition in &modules.given {
        let own = definition.interfaces()?;
        let (interfaces, others) = rest.into_iter().partition(|each| own.contains(&each.interface));
        rest = others;
        let module = match &definition.body {
            DefinitionBody::Module(module) => module.outline.specifier.clone(),
            DefinitionBody::Wit(_) => definition.path.display().to_string(),
        };
        text.push(shown!("\n{}\n", clean(&module)));
        functions(&mut text, interfaces.iter().flat_map(|interface: &ManifestInterface| &interface.functions));
        values.push(json!({ "module": module, "interfaces": described(&interfaces) }));
    }
    for server in &modules.undiscovered {
        let state = server.obstacle().unwrap_or_else(|| "its tools are not known yet".into());
        text.push(shown!("\n{}\n  {}\n", clean(&server.specifier()), clean(&state)));
        values.push(json!({ "module": server.specifier(), "state": state }));
    }
    text.push(shown!("\n{}\n  answered by the host\n", STANDARD_LIBRARY));
    rest.iter().for_each(|part| standard(&mut text, part));
    values.push(json!({ "module": STANDARD_LIBRARY, "interfaces": described(&rest) }));
    let reached = Reached::of(&modules, project.limits(Some(name)));
    text.push(shown!("\n{}\n{}\n{}\n", reached.files(), reached.network(), reached.limits()));
    let value = json!({
        "space": name, "modules": values, "files": reached.files_json(), "network": reached.network_json(),
        "limits": reached.limits_json(),
    });
    Ok((value, text))
}

/// Writes functions, each after what answers it where that changes.
fn functions<'a>(text: &mut Shown, functions: impl Iterator<Item = &'a ManifestFunction>) {
    let mut last = None;
    for function in functions {
        if last != Some(&function.provider) {
            let ManifestProvider { kind, description } = &function.provider;
            text.push(shown!("  answered by {} ({})\n", clean(description), clean(&kind.to_string())));
        }
        last = Some(&function.provider);
        reach::function(text, "  ", function);
    }
}

fn described(interfaces: &[ManifestInterface]) -> Value {
    let function = |each: &ManifestFunction| {
        let ManifestFunction { function, provider, decision, because, terms, .. } = each;
        json!({ "function": function, "provider": provider, "decision": decision, "because": because, "terms": terms })
    };
    let interface = |each: &ManifestInterface| {
        let functions: Vec<Value> = each.functions.iter().map(function).collect();
        json!({ "interface": each.interface, "functions": functions })
    };
    interfaces.iter().map(interface).collect()
}

/// One line where the same holds for all functions of a part.
fn standard(text: &mut Shown, part: &ManifestInterface) {
    let holds = |function: &ManifestFunction| (function.decision, function.terms.clone());
    match part.functions.split_first() {
        Some((first, others)) if others.iter().all(|other| holds(other) == holds(first)) => {
            let capability = first.function.split('.').next().unwrap_or_default();
            reach::function(text, "  ", &ManifestFunction { function: format!("{capability}.*"), ..first.clone() });
        }
        _ => part.functions.iter().for_each(|function| reach::function(text, "  ", function)),
    }
}

fn clean(text: &str) -> Shown {
    terminal::clean_line(text)
}
