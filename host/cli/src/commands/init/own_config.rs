//! Our configuration, to which `init` adds servers.

use super::super::failure::Failure;
use super::super::foreign_configs::{Entry, file};
use super::super::{folders, terminal};
use agent_spaces::Code;
use agent_spaces::config::{self, Config, Entry as Grant, Format, JsonChange, McpServer, edit_json, from_text};
use agent_spaces::project::{find_in, read_config};
use agent_spaces_mcp::secrets::{Secret, looks_secret, secrets_in_args, secrets_in_url};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum size of a configuration.
const MAX_BYTES: usize = 1 << 20;

/// Configuration that servers are added to; it may not exist yet.
pub(super) struct OwnConfig {
    folder: PathBuf,
    file: PathBuf,
    /// Text of an existing JSON file.
    text: Option<String>,
    config: Config,
    is_json: bool,
}

impl OwnConfig {
    /// Opens the configuration of a folder.
    pub(super) fn open(folder: &Path, is_here: bool) -> Result<OwnConfig, Failure> {
        let found = if folder.is_dir() { find_in(folder)? } else { None };
        let new = folder.join("agent-spaces.config.json");
        let mut ours =
            OwnConfig { folder: folder.to_owned(), file: new, text: None, config: Config::default(), is_json: true };
        let Some(found) = found else {
            if std::fs::symlink_metadata(&ours.file).is_ok() {
                let message = format!("{} exists and is not a file", ours.file.display());
                return Err(Failure::new(Code::ConfigFile, terminal::clean_line(&message), Some("remove it")));
            }
            return Ok(ours);
        };
        let name = found.display().to_string();
        if is_here && std::fs::symlink_metadata(&found).is_ok_and(|metadata| metadata.is_symlink()) {
            // An untrusted folder could link to the user's own configuration.
            let message = format!("{name} is a symbolic link, and nothing is added to it");
            return Err(Failure::new(Code::ConfigFile, terminal::clean_line(&message), None));
        }
        let fail = |error: std::io::Error| Failure::new(Code::ConfigFile, format!("{name}: {error}"), None);
        ours.is_json = false;
        ours.config = match Format::of(&found) {
            Some(format) => {
                let text = file::read(&found, MAX_BYTES).map_err(fail)?;
                let config = from_text(&name, &text, format).map_err(unusable)?;
                if format == Format::Json {
                    ours.is_json = true;
                    ours.text = Some(text);
                }
                config
            }
            None => read_config(&found, &folders::engine(true)?, &folders::surroundings())?,
        };
        ours.file = found;
        Ok(ours)
    }

    /// Returns the path of the file.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns its servers.
    pub(super) fn present(&self) -> &BTreeMap<String, McpServer> {
        &self.config.mcp_servers
    }

    /// Returns true if it is JSON, so that servers can be added.
    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Returns true if the file exists.
    pub(super) fn is_there(&self) -> bool {
        self.text.is_some() || !self.is_json
    }

    /// Returns its text with these servers, granted to every script.
    pub(super) fn with(&self, new: &[&Entry]) -> Result<String, Failure> {
        let name = self.file.display().to_string();
        let text = match &self.text {
            None => format!("{:#}\n", addition(new)),
            Some(text) => {
                let mut changes = Vec::new();
                for (name, server) in named(new) {
                    let keys = vec!["mcpServers".to_owned(), name.to_owned()];
                    changes.push(JsonChange::Add(keys, server.clone().into()));
                    let is_given = |grant: &Grant| *grant == Grant::AllMcp || *grant == Grant::Mcp(name.to_owned());
                    if !self.config.global.iter().any(is_given) {
                        let keys = vec!["capabilities".to_owned(), "global".to_owned()];
                        changes.push(JsonChange::Push(keys, format!("mcp:{name}").into()));
                    }
                }
                edit_json(&name, text, &changes).map_err(unusable)?
            }
        };
        // The new text must be a valid configuration.
        from_text(&name, &text, Format::Json).map_err(unusable)?;
        Ok(text)
    }

    /// Writes the text of [`OwnConfig::with`].
    pub(super) fn write(&mut self, text: String, new: &[&Entry]) -> Result<(), Failure> {
        let name = self.file.display().to_string();
        let failed = |error: std::io::Error| Failure::new(Code::HostFile, format!("{name}: {error}"), None);
        file::make_folder(&self.folder).map_err(failed)?;
        match &self.text {
            None => {
                // It may have been created while the user was asked.
                if std::fs::symlink_metadata(&self.file).is_ok() {
                    return Err(failed(std::io::Error::other("created meanwhile; run this again")));
                }
                file::write(&self.file, &text, None).map_err(failed)?;
            }
            Some(before) => {
                let real = std::fs::canonicalize(&self.file).map_err(failed)?;
                if file::read(&real, MAX_BYTES).map_err(failed)? != *before {
                    return Err(failed(std::io::Error::other("changed meanwhile; run this again")));
                }
                let metadata = std::fs::metadata(&real).map_err(failed)?;
                // A file that may contain secrets becomes private, whatever its permissions were.
                let is_private = has_literal_values(new) || !literal_secrets(new).is_empty();
                let mode = (!is_private).then_some(&metadata);
                file::write(&real, &text, mode).map_err(failed)?;
            }
        }
        self.config = from_text(&name, &text, Format::Json).map_err(unusable)?;
        self.text = Some(text);
        Ok(())
    }
}

fn unusable(error: config::ConfigError) -> Failure {
    Failure::new(Code::ConfigFile, error.to_string(), None)
}

/// Returns a configuration with only these servers.
pub(super) fn addition(new: &[&Entry]) -> Value {
    let servers: Map<String, Value> =
        named(new).map(|(name, server)| (name.to_owned(), server.clone().into())).collect();
    let global: Vec<String> = servers.keys().map(|name| format!("mcp:{name}")).collect();
    json!({ "mcpServers": servers, "capabilities": { "global": global } })
}

fn named<'a>(new: &'a [&Entry]) -> impl Iterator<Item = (&'a str, &'a Map<String, Value>)> {
    new.iter().filter_map(|entry| Some((entry.our_name()?, &entry.ours)))
}

/// Returns true if these servers have literal values of variables or headers. Any of them may be a secret.
fn has_literal_values(new: &[&Entry]) -> bool {
    named(new).any(|(_, server)| {
        let mut values =
            ["env", "headers"].iter().filter_map(|key| server.get(*key)?.as_object()).flat_map(Map::values);
        // A default in a reference is a literal value, and so is text between two references.
        let is_name = |inside: &str| !inside.contains(['$', '{', '}']) && !inside.contains(":-");
        let is_reference =
            |text: &str| text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).is_some_and(is_name);
        values.any(|value| value.as_str().is_none_or(|text| !text.is_empty() && !is_reference(text)))
    })
}

/// Returns the literal secrets by server: names of variables and headers, arguments, addresses.
pub(super) fn literal_secrets(new: &[&Entry]) -> Vec<(String, Vec<String>)> {
    let of = |server: &Map<String, Value>| {
        let members = ["env", "headers"].iter().filter_map(|key| server.get(*key)?.as_object()).flatten();
        let is_literal = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && !text.contains("${"));
        let mut names: Vec<String> = members
            .filter(|(name, value)| looks_secret(name) && is_literal(value))
            .map(|(name, _)| name.clone())
            .collect();
        let is_plain = |secrets: Vec<Secret>| secrets.iter().any(|secret| !secret.expose().contains("${"));
        let words = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let words: Vec<String> = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
        if is_plain(secrets_in_args(&words)) {
            names.push("an argument".to_owned());
        }
        if server.get("url").and_then(Value::as_str).is_some_and(|url| is_plain(secrets_in_url(url))) {
            names.push("the address".to_owned());
        }
        names
    };
    let all = named(new).map(|(name, server)| (name.to_owned(), of(server)));
    all.filter(|(_, names)| !names.is_empty()).collect()
}
