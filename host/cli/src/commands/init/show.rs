//! Output of `init`, as text and as JSON.

use super::super::foreign_configs::{Entry, Source, SourceScope, State};
use super::super::terminal::{clean_line, clean_path};
use super::Written;
use super::client_snippets::indented;
use super::own_config::{OwnConfig, addition, literal_secrets};
use agent_spaces::config::{ConfigError, McpServer, Transport};
use agent_spaces::mcp::endpoint;
use agent_spaces_mcp::lock::LockedEndpoint;
use agent_spaces_mcp::secrets::{ExpandError, MASK, Secret, Variables, expand, secrets_in_args};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Maximum characters of a command or an address, and warnings per file: untrusted files may have any number.
const MAX_SHOWN: usize = 120;
const MAX_WARNINGS: usize = 10;

/// Output as text and as JSON.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) data: Value,
}

/// Describes the servers that were found, by file.
pub(super) fn found(sources: &[Source], entries: &[Entry], present: &BTreeMap<String, McpServer>) -> Shown {
    let (mut text, mut data) = (String::new(), Vec::new());
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or_default().min(24);
    for (source, at) in sources.iter().zip(0..) {
        let scope = match source.scope {
            SourceScope::User | SourceScope::Named => "",
            SourceScope::UserHere => ", for this folder",
            SourceScope::Folder => ", of this folder",
        };
        let _ = writeln!(text, "{}{scope}  {}", source.program, path(&source.file));
        let (mut servers, mut warnings) = (Vec::new(), Vec::new());
        for entry in entries.iter().filter(|entry| entry.source == at) {
            let (endpoint, names) = (cut(&endpoint(&entry.server.transport).to_string()), names(&entry.server));
            let note = note(entry, present);
            let _ = write!(text, "  {:width$}  {endpoint}", entry.name);
            if !names.is_empty() {
                let verb = if matches!(entry.server.transport, Transport::Stdio { .. }) { "sets" } else { "sends" };
                let _ = write!(text, "  ({verb} {})", cut(&names.join(", ")));
            }
            text.push('\n');
            if let Some(note) = &note {
                let _ = writeln!(text, "  {:width$}  - {}", "", clean_line(note));
            }
            servers.push(json!({
                "name": entry.name, "endpoint": endpoint, "variables": names, "state": state(&entry.state),
                "as": entry.our_name(), "note": note,
            }));
        }
        match &source.found {
            Err(error) => {
                let _ = writeln!(text, "  ! it cannot be read: {}", clean_line(error));
                warnings.push(error.clone());
            }
            Ok(found) => {
                warnings.extend(found.warnings.iter().map(warning));
                for warning in warnings.iter().take(MAX_WARNINGS) {
                    let _ = writeln!(text, "  ! {}", clean_line(warning));
                }
                if let Some(more) = warnings.len().checked_sub(MAX_WARNINGS).filter(|more| *more > 0) {
                    let _ = writeln!(text, "  ! and {more} more");
                }
            }
        }
        if entries.iter().any(|entry| entry.source == at && entry.state == State::OfFolder) {
            let _ = writeln!(
                text,
                "  ! not copied, because they came with the folder: review them, then run this again with --here or with \
                 --from {}",
                path(&source.file)
            );
        }
        text.push('\n');
        data.push(json!({
            "file": source.file, "program": source.program, "servers": servers, "warnings": warnings,
        }));
    }
    Shown { text, data: data.into() }
}

/// Returns the note about the state of a server.
fn note(entry: &Entry, present: &BTreeMap<String, McpServer>) -> Option<String> {
    let name = &entry.name;
    match &entry.state {
        State::New(new) if new == name => None,
        State::New(new) => Some(format!("renamed to `{new}`: another server is named `{name}`")),
        State::Known(known) if present.contains_key(known) => {
            Some(format!("already in your configuration, as `{known}`"))
        }
        State::Known(known) => Some(format!("the same as `{known}` above")),
        State::Off => Some("disabled, so not copied".to_owned()),
        State::Ourselves => Some("this is agent-spaces itself".to_owned()),
        State::Unsupported(reason) => Some(format!("not copied: {reason}")),
        State::OfFolder => None,
    }
}

fn state(state: &State) -> &'static str {
    match state {
        State::New(_) => "new",
        State::Known(_) => "known",
        State::Off => "off",
        State::Ourselves => "ourselves",
        State::Unsupported(_) => "unsupported",
        State::OfFolder => "ofFolder",
    }
}

/// Returns the names of its variables or headers, without their values.
fn names(server: &McpServer) -> Vec<String> {
    match &server.transport {
        Transport::Stdio { env, .. } => env.keys().map(|name| clean_line(name).into()).collect(),
        Transport::Remote { headers, .. } => headers.keys().map(|name| clean_line(name).into()).collect(),
    }
}

/// Describes a warning without the file name, which is printed above it.
fn warning(warning: &ConfigError) -> String {
    let fix = warning.fix.as_ref().map(|fix| format!("; {fix}")).unwrap_or_default();
    format!("{}: {}{fix}", warning.path, warning.message)
}

/// Describes the result of writing, and the secrets in it.
pub(super) fn written(ours: &OwnConfig, new: &[&Entry], written: &Written, is_here: bool) -> String {
    let file = path(ours.file());
    let names: Vec<&str> = new.iter().filter_map(|entry| entry.our_name()).collect();
    let names = names.join(", ");
    let mut text = match written {
        Written::Done => format!("Wrote {file}: {names}\n"),
        Written::Planned => format!("Would write {file}: {names}\n"),
        Written::Nothing => match ours.is_there() {
            true => format!("Nothing to add: {file} has every server that can be copied.\n"),
            false => "Nothing was written: no server can be copied.\n".to_owned(),
        },
        Written::ByHand => {
            let addition = indented(&format!("{:#}", masked(addition(new))));
            format!(
                "Nothing was written: {file} is not JSON. Add this to it:\n\n{addition}\n\nValues of variables and \
                 headers are hidden: set `${{NAME}}` or write the value there, and replace each {MASK}.\n"
            )
        }
        Written::Refused => return "Nothing was written.\n".to_owned(),
    };
    let secrets = literal_secrets(new);
    if !secrets.is_empty() && *written != Written::ByHand {
        let all = secrets.iter().map(|(server, names)| format!("{} of {server}", names.join(", ")));
        let _ = writeln!(
            text,
            "It has secrets in plain text, as the originals do: {}.\nOnly you can read the file. Better: write \
             `${{NAME}}` instead and set that variable where your agent is started{}",
            clean_line(&all.collect::<Vec<_>>().join("; ")),
            if is_here { "; and never commit the file as it is." } else { "." }
        );
    }
    if is_here && matches!(written, Written::Done | Written::Planned) {
        let _ = writeln!(text, "It starts nothing until you accept it: `agent-spaces trust {file}`");
    }
    text
}

/// Returns the variables that servers use and that are not set here, by server.
pub(super) fn unset_variables(new: &[&Entry]) -> BTreeMap<String, BTreeSet<String>> {
    // Each server gets a `SPACE_DIR` when it starts.
    let variables = Variables::of_process().with("SPACE_DIR", "");
    let mut unset: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in new {
        let mut names = BTreeSet::new();
        let mut waiting: Vec<&Value> = entry.ours.values().collect();
        while let Some(value) = waiting.pop() {
            match value {
                Value::Array(items) => waiting.extend(items),
                Value::Object(members) => waiting.extend(members.values()),
                Value::String(text) => names.extend(unset_in(text, &variables)),
                _ => {}
            }
        }
        if !names.is_empty() {
            unset.entry(entry.our_name().unwrap_or(&entry.name).to_owned()).or_default().extend(names);
        }
    }
    unset
}

/// Returns the variables of a text that are not set. [`expand`] stops at the first one, so each `${…}` is expanded alone.
fn unset_in(text: &str, variables: &Variables) -> Vec<String> {
    let mut parts = text.split("${");
    let mut before = parts.next().unwrap_or_default();
    let mut names = Vec::new();
    for part in parts {
        // `$${` is a literal `${`.
        if !before.ends_with('$')
            && let Err(ExpandError::MissingVariable { name }) = expand(&format!("${{{part}"), variables)
        {
            names.push(name);
        }
        before = part;
    }
    names
}

/// Describes the unset variables.
pub(super) fn unset(unset: &BTreeMap<String, BTreeSet<String>>) -> String {
    let of_server = |(server, names): (&String, &BTreeSet<String>)| {
        format!("{} of {server}", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
    };
    let all = unset.iter().map(of_server).collect::<Vec<_>>().join("; ");
    format!(
        "\nUnset variables, without which these servers do not start: {}.\nSet them where your agent is started, or write \
         `${{NAME:-}}` for an optional one.\n",
        clean_line(&all)
    )
}

/// Masks values that may be secret: terminals keep a history.
fn masked(mut addition: Value) -> Value {
    let servers = addition.get_mut("mcpServers").and_then(Value::as_object_mut);
    for server in servers.into_iter().flat_map(|servers| servers.values_mut()) {
        for key in ["env", "headers"] {
            let members = server.get_mut(key).and_then(Value::as_object_mut);
            for (name, value) in members.into_iter().flatten() {
                if value.as_str().is_some_and(|text| !text.contains("${")) {
                    *value = format!("${{{}}}", name.replace('-', "_").to_ascii_uppercase()).into();
                }
            }
        }
        let words = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let words: Vec<String> = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
        let in_args = secrets_in_args(&words);
        for word in server.get_mut("args").and_then(Value::as_array_mut).into_iter().flatten() {
            mask(word, &in_args);
        }
        if let Some(url) = server.get_mut("url") {
            // Anything after the path may be a secret.
            let whole = url.as_str().unwrap_or_default();
            let shown = LockedEndpoint::remote(whole).to_string();
            *url = if shown == whole { shown } else { format!("{shown}{MASK}") }.into();
        }
        if let Some(auth) = server.get_mut("auth").and_then(Value::as_object_mut)
            && let Some(secret) = auth.get_mut("clientSecret")
        {
            *secret = "${CLIENT_SECRET}".into();
        }
    }
    addition
}

fn mask(text: &mut Value, secrets: &[Secret]) {
    let Some(shown) = text.as_str() else { return };
    let literal = secrets.iter().map(Secret::expose).filter(|secret| !secret.contains("${"));
    *text = literal.fold(shown.to_owned(), |text, secret| text.replace(secret, MASK)).into();
}

/// Returns the result of writing as JSON.
pub(super) fn config(ours: &OwnConfig, new: &[&Entry], written: &Written) -> Value {
    let state = match written {
        Written::Done => "written",
        Written::Planned => "planned",
        Written::Nothing => "unchanged",
        Written::ByHand => "byHand",
        Written::Refused => "refused",
    };
    let added: Vec<&str> = new.iter().filter_map(|entry| entry.our_name()).collect();
    let secrets: BTreeMap<String, Vec<String>> = literal_secrets(new).into_iter().collect();
    json!({ "file": ours.file(), "state": state, "added": added, "literalSecrets": secrets })
}

/// Describes how to start if no server was found.
pub(super) fn nothing(looked: &[PathBuf], file: &Path) -> String {
    let mut text = "No MCP servers were found. Searched:\n".to_owned();
    for file in looked {
        let _ = writeln!(text, "  {}", path(file));
    }
    let example = json!({
        "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } },
        "capabilities": { "global": ["mcp:time"] },
    });
    let _ = writeln!(
        text,
        "\nTo begin with a server of your own, write this to {}:\n\n{}\n\nthen run `agent-spaces doctor`. To see a script \
         run:\n\n  echo '1 + 1' | agent-spaces run -",
        path(file),
        indented(&format!("{example:#}"))
    );
    text
}

fn path(path: &Path) -> String {
    clean_path(path).into()
}

fn cut(text: &str) -> String {
    agent_spaces::Shown::line(text, MAX_SHOWN + 1).into()
}

#[cfg(test)]
mod tests {
    use super::unset_in;
    use agent_spaces_mcp::secrets::Variables;
    use std::collections::BTreeMap;

    #[test]
    fn every_unset_variable_of_a_text_is_found() {
        let variables = Variables::from_map(BTreeMap::from([("SET".to_owned(), "x".to_owned())]));
        let unset = |text| unset_in(text, &variables);
        assert_eq!(unset("${A}:${env:B}@${SET}/${C:-}$${D}$E${F"), ["A", "B"]);
        assert_eq!(unset("$${A}${B:-$}${C} ${D:-{}}${E}"), ["C", "E"]);
        assert!(unset("no variables, $ { } } ${SET}").is_empty());
    }
}
