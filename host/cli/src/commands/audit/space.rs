//! Audit of a space: every function with its provider and its policy decision.

use crate::commands::config_choice::ConfigChoice;
use crate::commands::failure::Failure;
use crate::commands::reach::SpaceReach;
use crate::commands::{folders, reach, terminal};
use agent_spaces::Code;
use agent_spaces::project::{DefinitionBody, FunctionSpecification};
use agent_spaces::{ManifestFunction, ManifestInterface, ManifestProvider, STANDARD_LIBRARY};
use capability_gen::identity::FunctionId;
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the findings as JSON and as text.
pub(super) fn audit(name: &str, config: &ConfigChoice) -> Result<(Value, Shown), Failure> {
    let engine = folders::engine(true)?;
    let project = config.open(&engine)?.ok_or_else(|| {
        let hint = "name a component's file, or add agent-spaces.config.json: `agent-spaces init` writes one";
        Failure::new(Code::ConfigFile, format!("{name}: no such file, and no configuration was found"), Some(hint))
    })?;
    let space = Some(name).filter(|name| *name != "-");
    let modules = project.space(space)?;
    let mut rest = modules.assemble(&engine)?.reach()?;
    reach::warn_of_unused_rules(&modules)?;
    let mut text = shown!("{}\n", clean(space.unwrap_or("without a space")));
    let mut values = Vec::new();
    for definition in &modules.given {
        let own = definition.interfaces()?;
        let (interfaces, others) = rest.into_iter().partition(|each| own.contains(&each.interface));
        rest = others;
        let module = match &definition.body {
            DefinitionBody::Module(module) => module.outline.specifier.clone(),
            DefinitionBody::Wit(_) => definition.path.display().to_string(),
        };
        let known: Known = definition.specifications()?.into_iter().map(|one| (one.id.clone(), one)).collect();
        text.push(shown!("\n{}\n", clean(&module)));
        owners(&mut text, &known);
        functions(&mut text, interfaces.iter().flat_map(|interface: &ManifestInterface| &interface.functions), &known);
        values.push(json!({ "module": module, "interfaces": described(&interfaces, &known) }));
    }
    for server in &modules.undiscovered {
        let state = server.obstacle().unwrap_or_else(|| "its tools are not known yet".into());
        text.push(shown!("\n{}\n  {}\n", clean(&server.specifier()), clean(&state)));
        values.push(json!({ "module": server.specifier(), "state": state }));
    }
    text.push(shown!("\n{}\n  provider: the host\n", STANDARD_LIBRARY));
    rest.iter().for_each(|part| standard(&mut text, part));
    values.push(json!({ "module": STANDARD_LIBRARY, "interfaces": described(&rest, &Known::new()) }));
    let reached = SpaceReach::of(&modules, project.limits(space));
    text.push(shown!("\n{}\n{}\n{}\n", reached.files(), reached.network(), reached.limits()));
    let value = json!({
        "space": space, "modules": values, "files": reached.files_json(), "network": reached.network_json(),
        "limits": reached.limits_json(),
    });
    Ok((value, text))
}

/// Specifications by function.
type Known = BTreeMap<FunctionId, FunctionSpecification>;

/// Writes the owners of a module's capabilities.
fn owners(text: &mut Shown, known: &Known) {
    let owners: BTreeSet<&str> = known.values().filter_map(|one| one.owner.as_deref()).collect();
    for owner in owners {
        text.push(shown!("  owned by {}\n", clean(owner)));
    }
}

/// Writes functions, with a line for the provider where it changes.
fn functions<'a>(text: &mut Shown, functions: impl Iterator<Item = &'a ManifestFunction>, known: &Known) {
    let mut last = None;
    for function in functions {
        if last != Some(&function.provider) {
            let ManifestProvider { kind, description } = &function.provider;
            text.push(shown!("  provider: {} ({})\n", clean(description), clean(&kind.to_string())));
        }
        last = Some(&function.provider);
        reach::function(text, "  ", function);
        let tags = known.get(&function.function_id).map(|one| one.tags.join(", ")).unwrap_or_default();
        if !tags.is_empty() {
            text.push(shown!("      tags: {}\n", clean(&tags)));
        }
    }
}

fn described(interfaces: &[ManifestInterface], known: &Known) -> Value {
    let function = |each: &ManifestFunction| {
        let ManifestFunction { function, provider, decision, because, terms, .. } = each;
        let known = known.get(&each.function_id);
        json!({
            "function": function, "id": each.function_id, "owner": known.and_then(|one| one.owner.as_ref()),
            "provider": provider, "tags": known.map(|one| one.tags.as_slice()).unwrap_or_default(),
            "decision": decision, "because": because, "terms": terms,
        })
    };
    let interface = |each: &ManifestInterface| {
        let functions: Vec<Value> = each.functions.iter().map(function).collect();
        json!({ "interface": each.interface, "functions": functions })
    };
    interfaces.iter().map(interface).collect()
}

/// Writes a part of the standard library: one line if all its functions have the same decision and terms.
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
