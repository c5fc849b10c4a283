//! Whole files in, definitions or errors out.

mod faults;
mod forms;
mod hostile;
mod parameters;
mod random;
mod seed;
mod siblings;
mod signatures;
mod types;
mod unsupported;

use super::{DefinedTool, no_files, parse};
use crate::definition::Definition;
use crate::sources::SourceError;
use serde_json::Value;
use std::sync::Arc;

/// A file without others beside it.
fn alone(text: &str) -> Result<Vec<DefinedTool>, SourceError> {
    parse("tool.ts", text, &no_files)
}

/// A file among others of its folder, `project/`.
fn among(files: &[(&str, &str)], text: &str) -> Result<Vec<DefinedTool>, SourceError> {
    let load = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        Ok(found.map(|(_, text)| Arc::from(*text)))
    };
    parse("project/tool.ts", text, &load)
}

/// The tools of a file that must be accepted.
fn read(text: &str) -> Vec<DefinedTool> {
    alone(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The one tool of a file that must be accepted.
fn definition(text: &str) -> Definition {
    let mut tools = read(text);
    assert_eq!(tools.len(), 1);
    tools.remove(0).definition
}

/// A file with one function, which has these members besides its handler, after these declarations.
fn file(declarations: &str, members: &str) -> String {
    format!(
        "import {{ defineTool }} from '@agent-spaces/capabilities';\n{declarations}\n\
         export const tool = defineTool({{ functions: {{ run: {{ {members}, handler: async () => null }} }} }});\n"
    )
}

/// The result schema of a function with `returns: {} as <ty>`.
fn returns(declarations: &str, ty: &str) -> Value {
    let mut definition = definition(&file(declarations, &format!("returns: {{}} as {ty}")));
    definition.functions.remove(0).returns.expect("a schema")
}

/// The place, message and fix of a file that must be refused.
fn refusal(text: &str) -> (String, String, String) {
    match alone(text) {
        Ok(tools) => panic!("accepted as {tools:#?}"),
        Err(error) => {
            assert_eq!(error.place.file, "tool.ts");
            (error.place.path, error.message, error.fix)
        }
    }
}
