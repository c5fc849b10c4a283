//! MCP `tools/list` results: `{tools}`, with or without a JSON-RPC envelope, a bare array, or one tool. Members of the
//! `initialize` result are allowed beside `tools`: `instructions`, and `capabilities` with `resources` and `prompts`.
//!
//! Unknown members are ignored. The server does not choose the capability's name or version. Tools meant only for the
//! server's user interface are left out, with a note.

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
        let text = error.value.get("message").and_then(Value::as_str).unwrap_or("no message");
        let message = format!("error response from the server: {}", quoted(text));
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
            return Err(envelope.error("no \"tools\"", "Give the answer to tools/list: {\"tools\": […]}."));
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
    // Only the object form can have other members.
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

/// Returns true unless `_meta.ui.visibility` excludes agents.
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
    // Not part of MCP, but accepted because it only tightens the policy.
    let requires_approval = (node.value.get("requiresApproval") == Some(&Value::Bool(true))).then_some(true);
    let mut is_result_wrapped = false;
    let returns = match node.get("outputSchema") {
        None => None,
        Some(schema) => match wrapped_result(schema.value) {
            WrappedResult::Inner(inner) => {
                is_result_wrapped = true;
                Some(inner)
            }
            WrappedResult::Inseparable => {
                notes
                    .push(schema.note("the result stays wrapped: references in its schema would break when unwrapped"));
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

/// Tags of a tool, which some servers send although MCP has none.
fn labels(tool: &Value) -> Vec<String> {
    let places = ["/_meta/tags", "/_meta/_fastmcp/tags", "/_meta/fastmcp/tags"];
    places.iter().find_map(|place| tool.pointer(place)).map(tags::known).unwrap_or_default()
}

/// Optional text of a tool; other values are left out with a note instead of refusing the tool.
fn text(node: &Node<'_>, key: &str, notes: &mut Vec<Note>) -> Option<String> {
    let member = node.get(key)?;
    let text = member.value.as_str();
    if text.is_none() {
        notes.push(member.note("left out: not text"));
    }
    text.map(str::to_owned)
}
