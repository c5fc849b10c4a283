//! Operation → function.

use super::super::error::SourceError;
use super::super::node::Node;
use super::super::{function, tags};
use super::schema::Copier;
use super::{Context, http, request};
use crate::definition::{Annotations, FunctionDefinition, Note};
use serde_json::Value;

/// Maximum number of statuses and media types considered.
pub(super) const MAX_ALTERNATIVES: usize = 128;

/// Operation in the document.
pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    /// Path item, whose members apply to all its operations.
    pub(super) item: Node<'a>,
    pub(super) method: &'static str,
    pub(super) node: Node<'a>,
}

pub(super) fn read<'a>(
    context: &Context<'a>,
    operation: &Operation<'a>,
    notes: &mut Vec<Note>,
) -> Result<FunctionDefinition, SourceError> {
    let node = &operation.node;
    let name = match node.get_text("operationId")? {
        Some(name) => name.to_owned(),
        None => format!("{} {}", operation.method, operation.path),
    };
    node.check_name(&name, "operation")?;
    let request = request::read(context, operation, notes)?;
    let summary = node.get_text("summary")?.filter(|summary| !summary.is_empty());
    let mut function = function::bare(node, &name);
    function.title = summary.map(str::to_owned);
    function.description = node.get_text("description")?.or(summary).unwrap_or_default().to_owned();
    function.returns = result(context, node, notes)?;
    function.annotations = effects(operation.method);
    function.tags = node.get("tags").map(|tags| tags::known(tags.value)).unwrap_or_default();
    function.implementation = http::implementation(context, operation, &request, function.returns.is_some(), notes)?;
    function.parameters = request.schema;
    Ok(function)
}

/// Side-effect hints of an HTTP method.
fn effects(method: &str) -> Annotations {
    let is_safe = matches!(method, "get" | "head" | "options" | "trace");
    Annotations {
        read_only_hint: Some(is_safe),
        destructive_hint: (method == "delete").then_some(true),
        idempotent_hint: (is_safe || matches!(method, "put" | "delete")).then_some(true),
        open_world_hint: None,
    }
}

/// Schema of the successful response.
fn result<'a>(context: &Context<'a>, node: &Node<'a>, notes: &mut Vec<Note>) -> Result<Option<Value>, SourceError> {
    let Some(responses) = node.get("responses") else { return Ok(None) };
    let rank = |status: &str| match status {
        "200" => Some(0),
        "201" => Some(1),
        _ if status.eq_ignore_ascii_case("2xx") => Some(1_000),
        _ => status.parse::<u32>().ok().filter(|status| (200..300).contains(status)),
    };
    let mut good: Vec<_> =
        responses.members().take(MAX_ALTERNATIVES).filter_map(|(status, node)| Some((rank(status)?, node))).collect();
    good.sort_by_key(|(rank, _)| *rank);
    for (_, response) in good {
        let Some(response) = context.document.find(response, "the result is any value")? else { return Ok(None) };
        let Some(content) = response.get("content") else { continue };
        let Some(schema) = media(&content, false).and_then(|(_, media)| media.get("schema")) else { continue };
        let (schema, is_cut) = Copier::new(&context.document, context.schema_cost).whole(&schema)?;
        if is_cut {
            notes.push(node.note("the schema of the result is too large: parts of it allow any value"));
        }
        return Ok(Some(schema));
    }
    Ok(None)
}

/// The best media type for JSON values; only JSON if `allow_other` is false.
pub(super) fn media<'a>(content: &Node<'a>, allow_other: bool) -> Option<(&'a str, Node<'a>)> {
    let rank = |media_type: &str| {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => 0,
            _ if essence.ends_with("+json") || essence == "text/json" => 1,
            "*/*" | "application/*" => 2,
            "application/x-www-form-urlencoded" => 3,
            "multipart/form-data" => 4,
            _ => 5,
        }
    };
    let best = content
        .members()
        .take(MAX_ALTERNATIVES)
        .map(|(name, node)| (rank(name), name, node))
        .min_by_key(|(rank, _, _)| *rank);
    best.filter(|(rank, _, _)| *rank <= 2 || allow_other).map(|(_, name, node)| (name, node))
}
