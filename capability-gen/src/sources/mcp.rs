//! What an MCP server answers to `tools/list`: `{tools}`, in a JSON-RPC answer or not, a bare array, or one tool.
//! Beside `tools` may stand what it answers to `initialize`: `instructions`, and `capabilities` with `resources` and
//! `prompts`.
//!
//! Servers may send what they like beside what is known here. The server does not choose the capability's name or
//! version. Tools that are for the server's own user interface only are left out, with a note.

use super::collect::Collected;
use super::error::{SourceError, quoted};
use super::flat::Bias;
use super::node::Node;
use super::wrapped_result::{WrappedResult, wrapped_result};
use super::{config, function, tags};
use crate::definition::{Annotations, Config, Definition, FunctionDefinition, Note, ServerExtras, SourceKind};
use serde_json::Value;

pub(super) fn parse(root: &Node<'_>, name: &str) -> Result<Vec<Definition>, SourceError> {
    if let Some(error) = root.get("error") {
        let text = error.value.get("message").and_then(Value::as_str).unwrap_or("it gives no message");
        let message = format!("the server answered with an error: {}", quoted(text));
        return Err(error.error(message, "Ask it for tools/list again, and save the answer that has tools."));
    }
    let envelope = root.get("result").unwrap_or_else(|| root.clone());
    let tools = match envelope.get("tools") {
        Some(tools) => Some(tools),
        None if envelope.value.is_array() => Some(envelope.clone()),
        None => None,
    };
    let mut collected = Collected::default();
    match tools {
        Some(tools) => {
            tools.check_list("\"tools\"")?;
            for item in tools.items() {
                add(&item, &mut collected)?;
            }
        }
        None if envelope.has("name") => add(&envelope, &mut collected)?,
        None => {
            return Err(
                envelope.error("there is no \"tools\" here", "Give the answer to tools/list: {\"tools\": […]}.")
            );
        }
    }
    if envelope.get("nextCursor").is_some_and(|cursor| cursor.value != "") {
        collected.notes.push(envelope.note("the server has more tools than this page lists"));
    }
    root.check_name(name, "server")?;
    let extras = extras(&envelope, &mut collected.notes);
    if collected.len() == 0 && extras.parts().next().is_none() {
        return Ok(Vec::new());
    }
    let mut definition = collected.into_definition(name, SourceKind::Mcp, root);
    definition.server = (extras != ServerExtras::default()).then_some(extras);
    Ok(vec![definition])
}

fn extras(envelope: &Node<'_>, notes: &mut Vec<Note>) -> ServerExtras {
    // A list in an array, and one tool by itself, have no room for more.
    if !envelope.has("tools") {
        return ServerExtras::default();
    }
    let offers = |part: &str| {
        let offered = envelope.value.get("capabilities").and_then(|capabilities| capabilities.get(part));
        offered.is_some_and(|offered| offered.is_object() || offered == true)
    };
    ServerExtras {
        instructions: text(envelope, "instructions", notes),
        has_resources: offers("resources"),
        has_prompts: offers("prompts"),
    }
}

fn add(node: &Node<'_>, collected: &mut Collected) -> Result<(), SourceError> {
    node.object("a tool")?;
    let name = node.get_name("tool")?;
    if !is_for_agents(node.value) {
        let message = format!("left out: {} is for the server's user interface, not for agents", quoted(name));
        collected.notes.push(node.note(message));
        return Ok(());
    }
    let function = read(node, name, &mut collected.notes)?;
    collected.add(function)
}

/// Without `_meta.ui.visibility` a tool is for everybody.
fn is_for_agents(tool: &Value) -> bool {
    let visibility = tool.pointer("/_meta/ui/visibility").and_then(Value::as_array);
    visibility.is_none_or(|list| list.iter().any(|who| who == "model" || who == "agent" || who == "agents"))
}

fn read(node: &Node<'_>, name: &str, notes: &mut Vec<Note>) -> Result<FunctionDefinition, SourceError> {
    let annotations = node.get("annotations");
    let title = text(node, "title", notes).or_else(|| text(annotations.as_ref()?, "title", notes));
    let parameters = match node.get("inputSchema") {
        Some(schema) => function::parameters(Some(&schema), Bias::Schema)?,
        None => function::parameters(node.get("parameters").as_ref(), Bias::None)?,
    };
    // Not MCP's, and taken where it tightens: whoever wrote it beside the schema means it.
    let requires_approval = (node.value.get("requiresApproval") == Some(&Value::Bool(true))).then_some(true);
    let mut is_result_wrapped = false;
    let returns = match node.get("outputSchema") {
        None => None,
        Some(schema) => match wrapped_result(schema.value) {
            WrappedResult::Inner(inner) => {
                is_result_wrapped = true;
                Some(inner)
            }
            WrappedResult::Stuck => {
                notes.push(
                    schema.note("the result stays wrapped: its schema refers to places that unwrapping would move"),
                );
                function::returns(Some(&schema))?
            }
            WrappedResult::No => function::returns(Some(&schema))?,
        },
    };
    Ok(FunctionDefinition {
        name: name.to_owned(),
        title,
        description: text(node, "description", notes).unwrap_or_default(),
        parameters,
        returns,
        is_result_wrapped,
        annotations: annotations.map_or(Annotations::default(), |node| config::annotations(&node)),
        tags: labels(node.value),
        config: Config { requires_approval, ..Config::default() },
        implementation: None,
        place: node.place(),
    })
}

/// The tags of a tool: MCP has none, and servers give them beside what it has.
fn labels(tool: &Value) -> Vec<String> {
    let places = ["/_meta/tags", "/_meta/_fastmcp/tags", "/_meta/fastmcp/tags"];
    places.iter().find_map(|place| tool.pointer(place)).map(tags::known).unwrap_or_default()
}

/// A server's text for people; one that is no text costs nobody the tool.
fn text(node: &Node<'_>, key: &str, notes: &mut Vec<Note>) -> Option<String> {
    let member = node.get(key)?;
    let text = member.value.as_str();
    if text.is_none() {
        notes.push(member.note("left out: it is not text"));
    }
    text.map(str::to_owned)
}
