//! Functions of a space by their names.

use super::SpaceModules;
use crate::definitions::{DefinitionBody, DefinitionFile};
use crate::error::ProjectError;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::package::interface_name;
use agent_spaces_policy::{FunctionId, LabelledFunction};
use agent_spaces_types::nearest::nearest;

impl SpaceModules<'_> {
    /// Finds a function by its label or its full name. Refuses an unknown name, and a label that is ambiguous between
    /// two modules. `place` is the position of the name, for errors.
    pub fn identify(&self, place: &str, function: &str) -> Result<FunctionId, ProjectError> {
        let known = functions(self.given.iter().copied())?;
        let is_meant = |each: &&LabelledFunction| {
            each.label == function || each.id.to_string() == function || each.name_in_full() == function
        };
        let meant: Vec<&LabelledFunction> = known.iter().filter(is_meant).collect();
        let (message, fix) = match meant.as_slice() {
            [one] => return Ok(one.id.clone()),
            [first, second, ..] => {
                let message =
                    format!("`{function}` is ambiguous: '{}' and '{}' both have it", first.module, second.module);
                let [first, second] = [first, second].map(|each| each.name_in_full());
                (message, format!("Write the full name: `{first}` or `{second}`"))
            }
            [] => {
                let near = nearest(function, known.iter().map(|each| each.label.as_str()));
                let fix = match near {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => "Name it as scripts call it, such as `crm.createTicket`".into(),
                };
                (format!("no capability has the function `{function}`"), fix)
            }
        };
        Err(ProjectError::Unknown { place: place.to_owned(), message, fix })
    }

    /// Finds a function of these modules by its name in the source or in JavaScript.
    pub fn function(&self, name: &str) -> Result<FunctionId, ProjectError> {
        let mut known = Vec::new();
        for definition in &self.given {
            let DefinitionBody::Module(module) = &definition.body else { continue };
            let module = module.compile()?;
            for capability in &module.capabilities {
                for function in &capability.functions {
                    if function.name == name || function.js_name == name {
                        let interface = interface_name(&module, &capability.interface);
                        return Ok(FunctionId::new(interface, function.wit_name.as_str()));
                    }
                    known.push(function.name.clone());
                }
            }
        }
        let near = nearest(name, known.iter().map(String::as_str));
        Err(ProjectError::Unknown {
            place: name.to_owned(),
            message: "there is no such tool".into(),
            fix: near.map_or_else(|| "See `agent-spaces mcp tools`".into(), |near| format!("Did you mean `{near}`?")),
        })
    }
}

/// Functions of definitions and of the standard library.
pub(super) fn functions<'a>(
    definitions: impl Iterator<Item = &'a DefinitionFile>,
) -> Result<Vec<LabelledFunction>, ProjectError> {
    let mut by_hand = Interfaces::new()?;
    by_hand.add_standard()?;
    let mut functions = Vec::new();
    for definition in definitions {
        match &definition.body {
            DefinitionBody::Module(module) => functions.extend(module.outline.labelled()),
            DefinitionBody::Wit(text) => by_hand.add(&definition.path.display().to_string(), text)?,
        }
    }
    functions.extend(by_hand.labelled());
    Ok(functions)
}
