//! Comparison of a server with its lock entry.

use super::change::Change;
use super::difference::{Differences, step};
use super::package::is_same_but_version;
use super::schema::SchemaDifferences;
use super::server::{LockedEndpoint, LockedServer, ServerIdentity, name_of};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the changes: first of the server, then of each tool. The order of keys and of tools is ignored.
pub fn compare(locked: &LockedServer, now: &LockedServer) -> Vec<Change> {
    let mut changes = Vec::new();
    compare_server(locked, now, &mut changes);
    for (name, before, now) in pairs(&locked.tools, &now.tools) {
        let tool = name.to_owned();
        match (before, now) {
            (Some(before), Some(now)) => compare_tool(tool, before, now, &mut changes),
            (None, _) => changes.push(Change::Added { tool }),
            (Some(_), None) => changes.push(Change::Removed { tool }),
        }
    }
    changes
}

fn compare_server(locked: &LockedServer, now: &LockedServer, changes: &mut Vec<Change>) {
    if locked.endpoint != now.endpoint && !differs_in_version(&locked.endpoint, &now.endpoint) {
        changes.push(Change::Endpoint { before: locked.endpoint.to_string(), now: now.endpoint.to_string() });
    } else if let (Some(before), Some(now)) = (&locked.package, &now.package)
        && before.version != now.version
    {
        let (before, package, now) = (before.version.clone(), now.name.clone(), now.version.clone());
        changes.push(Change::PackageVersion { package, before, now });
    }
    if locked.server != now.server {
        changes.push(Change::Identity { before: identity(&locked.server), now: identity(&now.server) });
    }
    if locked.protocol != now.protocol {
        let text = |protocol: &Option<String>| protocol.clone().unwrap_or_else(|| "none".to_owned());
        changes.push(Change::Protocol { before: text(&locked.protocol), now: text(&now.protocol) });
    }
    if locked.instructions != now.instructions {
        let value = |text: &Option<String>| text.clone().map(Value::from);
        let mut differences = Differences::default();
        differences.push("/instructions", value(&locked.instructions).as_ref(), value(&now.instructions).as_ref());
        changes.push(Change::Instructions(differences));
    }
    if locked.has_resources != now.has_resources {
        changes.push(Change::Resources { now: now.has_resources });
    }
    let mut prompts = Differences::default();
    for (name, before, now) in pairs(&locked.prompts, &now.prompts) {
        if before != now {
            prompts.push(&step("", name), before, now);
        }
    }
    if !prompts.is_empty() {
        changes.push(Change::Prompts(prompts));
    }
}

fn compare_tool(tool: String, before: &Value, now: &Value, changes: &mut Vec<Change>) {
    let mut schema = SchemaDifferences::default();
    let mut hints = Differences::default();
    for (key, before, now) in members(before, now) {
        let pointer = step("", key);
        match key {
            "inputSchema" | "outputSchema" => schema.add(&pointer, before, now),
            "title" | "description" => schema.prose.push(&pointer, before, now),
            "annotations" => compare_annotations(&pointer, before, now, &mut hints, &mut schema.prose),
            _ => hints.push(&pointer, before, now),
        }
    }
    let SchemaDifferences { meaning, prose } = schema;
    if !meaning.is_empty() {
        changes.push(Change::Schema { tool: tool.clone(), differences: meaning });
    }
    if !hints.is_empty() {
        changes.push(Change::Annotations { tool: tool.clone(), differences: hints });
    }
    if !prose.is_empty() {
        changes.push(Change::Description { tool, differences: prose });
    }
}

/// Compares annotations: a changed title is prose, the others are breaking. Absent annotations equal empty ones.
fn compare_annotations(
    pointer: &str,
    before: Option<&Value>,
    now: Option<&Value>,
    hints: &mut Differences,
    prose: &mut Differences,
) {
    let none = Value::Object(serde_json::Map::new());
    let (old, new) = (before.unwrap_or(&none), now.unwrap_or(&none));
    if !old.is_object() || !new.is_object() {
        hints.push(pointer, before, now);
        return;
    }
    for (key, before, now) in members(old, new) {
        let differences = if key == "title" { &mut *prose } else { &mut *hints };
        differences.push(&step(pointer, key), before, now);
    }
}

/// Returns the members of two objects that differ.
fn members<'a>(
    before: &'a Value,
    now: &'a Value,
) -> impl Iterator<Item = (&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let keys = |value: &'a Value| value.as_object().into_iter().flat_map(|members| members.keys());
    let added = keys(now).filter(|key| before.get(key.as_str()).is_none());
    keys(before)
        .chain(added)
        .map(|key| (key.as_str(), before.get(key.as_str()), now.get(key.as_str())))
        .filter(|(_, before, now)| before != now)
}

/// Pairs the items of two lists by name, in the order of names.
fn pairs<'a>(before: &'a [Value], now: &'a [Value]) -> impl Iterator<Item = Pair<'a>> {
    let mut pairs: BTreeMap<&str, (Option<&Value>, Option<&Value>)> = BTreeMap::new();
    for item in before {
        pairs.entry(name_of(item)).or_default().0 = Some(item);
    }
    for item in now {
        pairs.entry(name_of(item)).or_default().1 = Some(item);
    }
    pairs.into_iter().map(|(name, (before, now))| (name, before, now))
}

type Pair<'a> = (&'a str, Option<&'a Value>, Option<&'a Value>);

/// Returns true if two endpoints differ only in the version of the package they run.
fn differs_in_version(locked: &LockedEndpoint, now: &LockedEndpoint) -> bool {
    match (locked, now) {
        (LockedEndpoint::Stdio { command, args }, LockedEndpoint::Stdio { command: now_command, args: now_args }) => {
            command == now_command && is_same_but_version(command, args, now_args)
        }
        _ => false,
    }
}

fn identity(server: &Option<ServerIdentity>) -> String {
    match server {
        None => "nothing".to_owned(),
        Some(ServerIdentity { name, version, title: None }) => format!("`{name}` {version}"),
        Some(ServerIdentity { name, version, title: Some(title) }) => format!("`{name}` {version} ({title})"),
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
