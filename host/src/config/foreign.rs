//! MCP servers that other programs have configured. Their files are only read here.
//!
//! Our own file is refused for a slip; these belong to someone else, who may know more than we do. So a key that is
//! not known here warns, a server that cannot be read is left out with a warning, and the others still work.
//!
//! - `jsonc`: comments and trailing commas
//! - `switches`: what turns all servers of a file off
//! - `server`, `variables`: one server of theirs as one of ours
//! - `server_name`: a name of theirs as one of ours
//! - `written`: where one of theirs stands, and how our own file would have it
//! - `client`: which programs, and where their files are

mod client;
mod jsonc;
mod server;
mod server_name;
mod switches;
mod variables;
mod written;

pub use client::{Client, PROJECT_FILES, Platform, well_known};
pub(super) use jsonc::to_json;
pub use written::Written;

use super::error::{ConfigError, quoted};
use super::json_text;
use super::mcp_server::McpServer;
use super::place::Place;
use super::reader::Node;
use super::{Format, yaml_text};
use capability_gen::counted::counted;
use capability_gen::names::nearest;
use capability_gen::yaml::Bounds;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Largest file. Some programs keep a history in the same one.
pub const MAX_BYTES: usize = 16 << 20;

/// Most servers and most warnings of one file.
const MAX_SERVERS: usize = 1_000;
const MAX_WARNINGS: usize = 100;

/// Where servers stand in the files of the programs that are known.
const PLACES: [&[&str]; 5] =
    [&["mcpServers"], &["servers"], &["mcp", "servers"], &["mcp", "client", "servers"], &["context_servers"]];

/// What another program's file gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreign {
    /// Its servers, under names that are ours.
    pub servers: BTreeMap<String, McpServer>,
    /// The same servers as they stand there, and as our own file would have them.
    pub written: BTreeMap<String, Written>,
    /// What was left out or changed, and where.
    pub warnings: Vec<ConfigError>,
}

/// Reads another program's file: `.mcp.json` and those of Claude, Cursor, Windsurf, VS Code, Zed and their like.
///
/// A bare number as `timeout` is in milliseconds, as these programs have it. `${env:NAME}` is `${NAME}`; what else only
/// an editor can fill in makes a server [unsupported](McpServer::unsupported). Two equal keys are refused as in our own
/// file: programs differ in which of them they take. Where the file switches MCP off as a whole (`mcp.enabled`,
/// `mcp.client.enabled`), its servers are switched off. A file whose name ends in `.yaml` or `.yml` is YAML.
pub fn read(file: &str, text: &str) -> Result<Foreign, ConfigError> {
    read_as(ForeignFormat::of(Path::new(file)), file, text)
}

/// As [`read`], of a file that is written so, whatever it is called in errors.
pub fn read_as(format: ForeignFormat, file: &str, text: &str) -> Result<Foreign, ConfigError> {
    read_places(format, file, text, &PLACES)
}

/// How another program's file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    /// JSON, with comments and trailing commas.
    Json,
    /// YAML.
    Yaml,
}

impl ForeignFormat {
    /// By the file's name.
    pub fn of(file: &Path) -> ForeignFormat {
        match Format::of(file) {
            Some(Format::Yaml) => ForeignFormat::Yaml,
            _ => ForeignFormat::Json,
        }
    }
}

/// Reads the servers that the user of Claude Code has for one folder alone. They stand in the same file as those for
/// all folders.
pub fn read_of_folder(file: &str, text: &str, folder: &str) -> Result<Foreign, ConfigError> {
    read_places(ForeignFormat::Json, file, text, &[&["projects", folder, "mcpServers"]])
}

/// Deepest nesting of a file in YAML: as deep as the parser of JSON goes.
const MAX_DEPTH: usize = 127;

fn read_places(format: ForeignFormat, file: &str, text: &str, places: &[&[&str]]) -> Result<Foreign, ConfigError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, and at most {MAX_BYTES} are read", text.len());
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
    let root = Node { place: Place::root(file), value: &value };
    if !value.is_object() {
        return Err(root.expected("an object with MCP servers"));
    }
    let mut reader =
        Reader { found: Foreign::default(), silent: 0, is_edited: format == ForeignFormat::Json, off: None };
    let switches = switches::read(root, &mut |warning| reader.warn(warning));
    let mut is_found = false;
    for keys in places {
        reader.off = switches.over(keys).map(str::to_owned);
        at(root, keys, &mut |node| {
            is_found = true;
            reader.servers(node, keys);
        });
    }
    if !is_found && places == PLACES {
        reader.look_for_slip(root);
    }
    Ok(reader.finish(root))
}

/// Hands over the value that `keys` lead to, if it is there.
fn at(node: Node<'_>, keys: &[&str], read: &mut dyn FnMut(Node<'_>)) {
    match keys {
        [] => read(node),
        [key, rest @ ..] => {
            if let Some(value) = node.value.as_object().and_then(|members| members.get(*key)) {
                at(Node { place: node.place.key(key), value }, rest, read);
            }
        }
    }
}

struct Reader {
    found: Foreign,
    /// Warnings beyond the last that is kept.
    silent: usize,
    /// Whether entries can be taken out of the file: only JSON is changed in place.
    is_edited: bool,
    /// The switch that turns off the servers that are read now.
    off: Option<String>,
}

impl Reader {
    fn warn(&mut self, warning: ConfigError) {
        match self.found.warnings.len() < MAX_WARNINGS {
            true => self.found.warnings.push(warning),
            false => self.silent += 1,
        }
    }

    /// An object of servers by name, or a list of servers with a `name` each.
    fn servers(&mut self, node: Node<'_>, keys: &[&str]) {
        match node.value {
            Value::Object(members) => {
                // A name that is ours already keeps its server, wherever in the file it stands.
                let (own, other): (Vec<_>, Vec<_>) = members.iter().partition(|(name, _)| server_name::is_own(name));
                for (name, value) in own.into_iter().chain(other) {
                    self.server(name, Node { place: node.place.key(name), value }, keys);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    let node = Node { place: node.place.index(index), value };
                    match value.get("name").and_then(Value::as_str) {
                        // A list has no members to take out by name.
                        Some(name) => self.server(name, node, &[]),
                        None => self.warn(left_out(node.error("a server in a list has a `name`"))),
                    }
                }
            }
            Value::Null => {}
            _ => self.warn(node.expected("an object of MCP servers")),
        }
    }

    fn server(&mut self, given: &str, node: Node<'_>, keys: &[&str]) {
        let Some(name) = server_name::own(given) else {
            let error = node.error(format!("{} has no letter or digit to make a name of", quoted(given)));
            return self.warn(left_out(error));
        };
        if let Some(first) = self.found.servers.get(&name) {
            let error = node.error(format!("the name `{name}` is taken by {}", first.place));
            return self.warn(left_out(error));
        }
        if self.found.servers.len() >= MAX_SERVERS {
            return self.warn(left_out(node.error(format!("a file gives at most {MAX_SERVERS} servers"))));
        }
        let mut warnings = Vec::new();
        match server::read(node, &mut warnings) {
            Ok((mut server, own)) => {
                if let Some(off) = &self.off {
                    (server.enabled, server.off_at) = (false, Some(off.clone()));
                }
                let keys = if self.is_edited { keys } else { &[] };
                if name != given {
                    self.warn(node.error(format!("{} is called `{name}` here", quoted(given))));
                }
                self.found.written.insert(name.clone(), Written::new(keys, given, own));
                self.found.servers.insert(name, server);
            }
            Err(error) => warnings.push(left_out(error)),
        }
        warnings.into_iter().for_each(|warning| self.warn(warning));
    }

    /// A file of no known shape may have its key misspelt; one without servers is nothing to speak of.
    fn look_for_slip(&mut self, root: Node<'_>) {
        for key in root.value.as_object().into_iter().flat_map(|members| members.keys()) {
            if let Some(known) = nearest(key, ["mcpServers", "servers", "context_servers"].into_iter()) {
                let warning = root.place.key(key).error(format!("unknown key {}", quoted(key)));
                self.warn(warning.with_fix(format!("did you mean `{known}`?")));
            }
        }
    }

    fn finish(mut self, root: Node<'_>) -> Foreign {
        if self.silent > 0 {
            self.found.warnings.push(root.error(format!("{} not shown", counted(self.silent, "more warning"))));
        }
        self.found
    }
}

/// Says that an error cost the server and nothing else.
fn left_out(error: ConfigError) -> ConfigError {
    ConfigError { message: format!("this server is left out: {}", error.message), ..error }
}

#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod tests;
