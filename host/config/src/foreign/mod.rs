//! Import of MCP servers from configuration files of other programs. The files are only read here.
//!
//! Unlike our own file, these may have keys that only their program knows. So an unknown key is a warning, a server that
//! cannot be read is skipped with a warning, and the others still work.
//!
//! - `ai_agent`: models and defaults of `.ai-agent.json`
//! - `jsonc`: JSON with comments and trailing commas
//! - `switches`: switches that disable all servers of a file
//! - `server`, `variables`: translation of a server and its placeholders
//! - `server_name`: translation of a server's name
//! - `written`: origin of a server, and its translation as JSON

mod ai_agent;
mod jsonc;
mod server;
mod server_name;
mod switches;
mod variables;
mod written;

pub use agent_spaces_protected_paths::clients::{Client, PROJECT_FILES, Platform, well_known};
pub use ai_agent::{AI_AGENT_FILE, AiAgent, read_ai_agent};
pub(super) use jsonc::to_json;
pub use written::Written;

use super::config_path::ConfigPath;
use super::error::{ConfigError, quoted};
use super::mcp_server::McpServer;
use super::reader::Node;
use super::{Format, json_text, yaml_text};
use agent_spaces_types::counted::counted;
use agent_spaces_types::nearest::nearest;
use capability_gen::yaml::Bounds;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum size of a file, in bytes. Some programs keep a history in the same one.
pub const MAX_BYTES: usize = 16 << 20;

/// Maximum number of servers and of warnings of one file.
const MAX_SERVERS: usize = 1_000;
const MAX_WARNINGS: usize = 100;

/// Paths of servers in the files of known programs.
const SERVER_PATHS: [&[&str]; 5] =
    [&["mcpServers"], &["servers"], &["mcp", "servers"], &["mcp", "client", "servers"], &["context_servers"]];

/// Servers of another program's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreign {
    /// Servers, under names that are valid here.
    pub servers: BTreeMap<String, McpServer>,
    /// Origin and translation of the same servers.
    pub written: BTreeMap<String, Written>,
    /// Skipped servers, unknown keys and changed names.
    pub warnings: Vec<ConfigError>,
}

/// Reads another program's file: `.mcp.json` and those of Claude, Cursor, Windsurf, VS Code, Zed and their like.
///
/// A bare number as `timeout` is in milliseconds, as in these programs. `${env:NAME}` becomes `${NAME}`; other
/// placeholders of an editor make a server [unsupported](McpServer::unsupported). Duplicate keys are refused as in our
/// own file: programs differ in which one they take. If the file disables MCP as a whole (`mcp.enabled`,
/// `mcp.client.enabled`), its servers are disabled. A file whose name ends in `.yaml` or `.yml` is YAML.
pub fn read(file: &str, text: &str) -> Result<Foreign, ConfigError> {
    read_as(ForeignFormat::of(Path::new(file)), file, text)
}

/// Reads a file of this format, whatever its name; `file` is the name in errors. See [`read`].
pub fn read_as(format: ForeignFormat, file: &str, text: &str) -> Result<Foreign, ConfigError> {
    read_at_paths(format, file, text, &SERVER_PATHS)
}

/// Format of another program's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    /// JSON, with comments and trailing commas.
    Json,
    /// YAML.
    Yaml,
}

impl ForeignFormat {
    /// Returns the format by file name.
    pub fn of(file: &Path) -> ForeignFormat {
        match Format::of(file) {
            Some(Format::Yaml) => ForeignFormat::Yaml,
            _ => ForeignFormat::Json,
        }
    }
}

/// Reads the servers that Claude Code has for one folder alone, from the same file as those for all folders.
pub fn read_of_folder(file: &str, text: &str, folder: &str) -> Result<Foreign, ConfigError> {
    read_at_paths(ForeignFormat::Json, file, text, &[&["projects", folder, "mcpServers"]])
}

/// Maximum nesting of a YAML file: that of the JSON parser.
const MAX_DEPTH: usize = 127;

fn read_at_paths(format: ForeignFormat, file: &str, text: &str, paths: &[&[&str]]) -> Result<Foreign, ConfigError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes (limit {MAX_BYTES})", text.len());
        return Err(ConfigError::of_text(file, None, message));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Ok(Foreign::default());
    }
    let value = match format {
        ForeignFormat::Yaml => yaml_text::read_within(file, text, Bounds { bytes: MAX_BYTES, depth: MAX_DEPTH })?,
        ForeignFormat::Json => match jsonc::to_json(text) {
            text if text.trim_ascii().is_empty() => return Ok(Foreign::default()),
            text => json_text::read(file, &text)?,
        },
    };
    if value.is_null() && format == ForeignFormat::Yaml {
        return Ok(Foreign::default());
    }
    let root = Node { path: ConfigPath::root(file), value: &value };
    if !value.is_object() {
        return Err(root.expected("an object with MCP servers"));
    }
    let mut reader =
        Reader { found: Foreign::default(), omitted: 0, is_edited: format == ForeignFormat::Json, off: None };
    let switches = switches::read(root, &mut |warning| reader.warn(warning));
    let mut is_found = false;
    for keys in paths {
        reader.off = switches.over(keys).map(str::to_owned);
        at(root, keys, &mut |node| {
            is_found = true;
            reader.servers(node, keys);
        });
    }
    if !is_found && paths == SERVER_PATHS {
        reader.suggest_server_key(root);
    }
    Ok(reader.finish(root))
}

/// Calls `read` with the value at `keys`, if present.
fn at(node: Node<'_>, keys: &[&str], read: &mut dyn FnMut(Node<'_>)) {
    match keys {
        [] => read(node),
        [key, rest @ ..] => {
            if let Some(value) = node.value.as_object().and_then(|members| members.get(*key)) {
                at(Node { path: node.path.key(key), value }, rest, read);
            }
        }
    }
}

struct Reader {
    found: Foreign,
    /// Number of warnings beyond [`MAX_WARNINGS`].
    omitted: usize,
    /// True if entries can be removed from the file: only JSON is edited in place.
    is_edited: bool,
    /// Path of the switch that disables the servers read now.
    off: Option<String>,
}

impl Reader {
    fn warn(&mut self, warning: ConfigError) {
        match self.found.warnings.len() < MAX_WARNINGS {
            true => self.found.warnings.push(warning),
            false => self.omitted += 1,
        }
    }

    /// Reads an object of servers by name, or a list of servers with a `name` each.
    fn servers(&mut self, node: Node<'_>, keys: &[&str]) {
        match node.value {
            Value::Object(members) => {
                // Valid names come first, so that a translated name never takes theirs.
                let (own, other): (Vec<_>, Vec<_>) = members.iter().partition(|(name, _)| server_name::is_valid(name));
                for (name, value) in own.into_iter().chain(other) {
                    self.server(name, Node { path: node.path.key(name), value }, keys);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    let node = Node { path: node.path.index(index), value };
                    match value.get("name").and_then(Value::as_str) {
                        // A list has no members to remove by name.
                        Some(name) => self.server(name, node, &[]),
                        None => self.warn(skipped(node.error("a server in a list needs a `name`"))),
                    }
                }
            }
            Value::Null => {}
            _ => self.warn(node.expected("an object of MCP servers")),
        }
    }

    fn server(&mut self, given: &str, node: Node<'_>, keys: &[&str]) {
        let Some(name) = server_name::normalise(given) else {
            let error = node.error(format!("{} contains no letter or digit for a name", quoted(given)));
            return self.warn(skipped(error));
        };
        if let Some(first) = self.found.servers.get(&name) {
            let error = node.error(format!("the name `{name}` is already used by {}", first.place));
            return self.warn(skipped(error));
        }
        if self.found.servers.len() >= MAX_SERVERS {
            return self.warn(skipped(node.error(format!("a file can have at most {MAX_SERVERS} servers"))));
        }
        let mut warnings = Vec::new();
        match server::read(node, &mut warnings) {
            Ok((mut server, own)) => {
                if let Some(off) = &self.off {
                    (server.enabled, server.off_at) = (false, Some(off.clone()));
                }
                let keys = if self.is_edited { keys } else { &[] };
                if name != given {
                    self.warn(node.error(format!("{} is renamed to `{name}`", quoted(given))));
                }
                self.found.written.insert(name.clone(), Written::new(keys, given, own));
                self.found.servers.insert(name, server);
            }
            Err(error) => warnings.push(skipped(error)),
        }
        warnings.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Warns of a misspelt key in a file without servers.
    fn suggest_server_key(&mut self, root: Node<'_>) {
        for key in root.value.as_object().into_iter().flat_map(|members| members.keys()) {
            if let Some(known) = nearest(key, ["mcpServers", "servers", "context_servers"].into_iter()) {
                let warning = root.path.key(key).error(format!("unknown key {}", quoted(key)));
                self.warn(warning.with_fix(format!("did you mean `{known}`?")));
            }
        }
    }

    fn finish(mut self, root: Node<'_>) -> Foreign {
        if self.omitted > 0 {
            self.found.warnings.push(root.error(format!("{} not shown", counted(self.omitted, "more warning"))));
        }
        self.found
    }
}

/// Marks an error as the reason why a server is skipped.
fn skipped(error: ConfigError) -> ConfigError {
    ConfigError { message: format!("server skipped: {}", error.message), ..error }
}

#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod tests;
