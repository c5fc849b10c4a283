//! Common parser of model providers' formats: one bare function, or a list of them as an array or under `tools`.
//!
//! A bare function is a capability of its own, with the same name. A list is one capability with the source's name,
//! however many functions it has, so that adding one does not affect scripts that use the others.

use super::collect::{Collected, check_any};
use super::error::{SourceError, quoted};
use super::flat::Bias;
use super::function;
use super::node::Node;
use crate::definition::{Definition, FunctionDefinition, Note, SourceKind};
use crate::names::nearest;

/// Keys of the parameters' schema.
const PARAMETERS: [&str; 3] = ["parameters", "input_schema", "inputSchema"];
const RETURNS: [&str; 3] = ["returns", "output_schema", "outputSchema"];

/// Known keys. An unknown key that resembles one of them is refused, since ignoring a misspelt `requiresApproval` would
/// be dangerous; other unknown keys get a note.
const KEYS: [&str; 14] = [
    "name",
    "title",
    "description",
    "parameters",
    "input_schema",
    "inputSchema",
    "returns",
    "output_schema",
    "outputSchema",
    "annotations",
    "tags",
    "requiresApproval",
    "approvalMessage",
    "config",
];

/// Keys of providers that are ignored without a note.
const IGNORED: [&str; 3] = ["type", "strict", "cache_control"];

/// Maximum number of unknown keys of a function; real ones have a handful.
const MAX_UNKNOWN_KEYS: usize = 32;

/// Differences between the formats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    /// Treatment of parameters that could be a flat map or a schema.
    pub(super) bias: Bias,
    /// Vendor, for messages.
    pub(super) vendor: &'static str,
}

pub(super) fn parse(root: &Node<'_>, name: &str, listed: Listed) -> Result<Vec<Definition>, SourceError> {
    let list = if root.value.is_array() { Some(root.clone()) } else { root.get("tools") };
    let mut collected = Collected::default();
    let Some(list) = list else {
        root.object("a tool")?;
        add(root, listed, &mut collected)?;
        check_any(root, &collected)?;
        if is_bare(root) {
            let message = "read as a function without parameters: a tool has \"functions\", a function \"parameters\"";
            collected.notes.push(root.note(message));
        }
        let mut definition = collected.into_definition("", SourceKind::Tool, root);
        if let [function] = definition.functions.as_slice() {
            definition.name.clone_from(&function.name);
            definition.description.clone_from(&function.description);
            definition.is_single_function = true;
        }
        return Ok(vec![definition]);
    };
    list.check_list("\"tools\"")?;
    for item in list.items() {
        item.object("a tool")?;
        add(&item, listed, &mut collected)?;
    }
    check_any(&list, &collected)?;
    root.check_name(name, "source")?;
    Ok(vec![collected.into_definition(name, SourceKind::Tool, root)])
}

/// Returns true if this could be a tool without functions as well as a function.
fn is_bare(node: &Node<'_>) -> bool {
    let shows = |keys: &[&str]| keys.iter().any(|key| node.value.get(key).is_some());
    !shows(&PARAMETERS) && !shows(&RETURNS) && !shows(&["type", "function", "annotations"])
}

fn add(node: &Node<'_>, listed: Listed, collected: &mut Collected) -> Result<(), SourceError> {
    if let Some(kind) = node.value.get("type").and_then(|kind| kind.as_str())
        && kind != "function"
        && !PARAMETERS.iter().any(|key| node.has(key))
    {
        let message = format!("left out: {} is a built-in tool of {} without a schema", quoted(kind), listed.vendor);
        collected.notes.push(node.note(message));
        return Ok(());
    }
    let function = match node.get("function") {
        Some(inner) => {
            inner.object("\"function\"")?;
            let is_misplaced = |key: &str| !IGNORED.contains(&key) && nearest(key, KEYS.iter().copied()).is_some();
            if let Some((key, member)) = node.members().find(|(key, _)| is_misplaced(key)) {
                let message = format!("{} is beside \"function\"", quoted(key));
                return Err(member.error(message, "Move it into \"function\"."));
            }
            read(&inner, listed, &mut collected.notes)?
        }
        None => read(node, listed, &mut collected.notes)?,
    };
    collected.add(function)
}

fn read(node: &Node<'_>, listed: Listed, notes: &mut Vec<Note>) -> Result<FunctionDefinition, SourceError> {
    let name = node.get_name("function")?;
    let mut unknown = 0;
    for (key, value) in node.value.as_object().into_iter().flatten() {
        if KEYS.contains(&key.as_str()) || IGNORED.contains(&key.as_str()) || key.starts_with("x-") {
            continue;
        }
        let member = node.member(key, value);
        if let Some(near) = nearest(key, KEYS.iter().copied()) {
            let message = format!("{} is not a key of a function", quoted(key));
            return Err(member.error(message, format!("Did you mean {near:?}?")));
        }
        unknown += 1;
        if unknown > MAX_UNKNOWN_KEYS {
            let message = format!("this function has more than {MAX_UNKNOWN_KEYS} unknown keys");
            return Err(member.error(message, "Give a function: {name, description, parameters}."));
        }
        notes.push(member.note(format!("unknown key {}, ignored", quoted(key))));
    }
    let mut function = function::read(node, name)?;
    function.parameters = function::parameters(one_of(node, &PARAMETERS)?.as_ref(), listed.bias)?;
    function.returns = function::returns(one_of(node, &RETURNS)?.as_ref())?;
    Ok(function)
}

fn one_of<'a>(node: &Node<'a>, keys: &[&str]) -> Result<Option<Node<'a>>, SourceError> {
    let mut found = keys.iter().filter_map(|key| node.get(key));
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => {
            let message = format!("duplicate of {}", first.path);
            Err(second.error(message, "Keep one of the two."))
        }
        (first, _) => Ok(first),
    }
}
