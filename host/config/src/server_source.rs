//! Import of MCP servers from other programs (`mcpServersFrom`).

use super::entry::looks_like_path;
use super::error::quoted;
use super::reader::{Node, Result};
use agent_spaces_protected_paths::clients::Client;
use std::collections::HashSet;

/// Entry of `mcpServersFrom`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ServerSource {
    /// The user's own servers of another program.
    Client(Client),
    /// A file in another program's format.
    File(String),
}

impl ServerSource {
    /// Reads a list; refuses duplicates.
    pub(super) fn read_list(node: Node<'_>) -> Result<Vec<ServerSource>> {
        let mut seen = HashSet::new();
        node.list("a list of programs and files", |node| {
            let text = node.filled_text("a program or a path")?;
            let source = match looks_like_path(text) {
                true => ServerSource::File(text.to_owned()),
                false => {
                    node.choice("program, or path that starts with `./`,", &Client::NAMES).map(ServerSource::Client)?
                }
            };
            match seen.insert(source.clone()) {
                true => Ok(source),
                false => Err(node.error(format!("{} is already listed", quoted(text))).with_fix("keep one")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::from_value;
    use crate::server_source::ServerSource;
    use agent_spaces_protected_paths::clients::Client;
    use serde_json::{Value, json};

    fn read(sources: Value) -> Result<Vec<ServerSource>, String> {
        let config = from_value("f", json!({ "mcpServersFrom": sources }));
        config.map(|config| config.mcp_servers_from).map_err(|error| error.to_string())
    }

    #[test]
    fn servers_come_from_programs_and_from_files() {
        let names = ["claude-desktop", "claude-code", "cursor", "vscode", "windsurf"];
        let clients = [Client::ClaudeDesktop, Client::ClaudeCode, Client::Cursor, Client::VsCode, Client::Windsurf];
        assert_eq!(read(json!(names)), Ok(clients.map(ServerSource::Client).to_vec()));
        for path in ["./x.json", "/x.json", "../x", "~/x"] {
            assert_eq!(read(json!([path])), Ok(vec![ServerSource::File(path.into())]));
        }
    }

    #[test]
    fn unknown_programs_and_duplicates_are_refused() {
        assert_eq!(
            read(json!(["claude-destop"])).unwrap_err(),
            "f: $.mcpServersFrom[0]: unknown program, or path that starts with `./`, `claude-destop`; \
             did you mean `claude-desktop`?"
        );
        assert_eq!(
            read(json!(["./x", "./x"])).unwrap_err(),
            "f: $.mcpServersFrom[1]: `./x` is already listed; keep one"
        );
        for sources in [json!("cursor"), json!([""]), json!([1]), json!(["file.json"]), json!(["./x\u{0}"])] {
            assert!(read(sources.clone()).is_err(), "{sources}");
        }
    }
}
