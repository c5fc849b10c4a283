//! Which servers of other programs are this program.

use agent_spaces::config::{McpServer, Raw, Transport};
use std::path::Path;

/// Whether a server is `agent-spaces` itself, however it is started: taken in, it would serve itself.
pub(in crate::commands) fn is_ourselves(server: &McpServer) -> bool {
    let Transport::Stdio { program, args, .. } = &server.transport else { return false };
    let is_name = |word: &str| {
        // Either separator, wherever the file was written.
        let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == "agent-spaces"
    };
    let is_this = |word: &str| {
        let this = std::env::current_exe().and_then(std::fs::canonicalize).ok();
        this.is_some() && std::fs::canonicalize(Path::new(word)).ok() == this
    };
    let mut words = [program.as_str()].into_iter().chain(args.iter().map(Raw::expose));
    is_this(program) || words.any(is_name)
}

#[cfg(test)]
mod tests {
    use super::is_ourselves;
    use agent_spaces::config::from_value;
    use serde_json::json;

    #[test]
    fn this_program_is_known_however_it_is_started() {
        let server = |command: &str, args: &[&str]| {
            let config = json!({ "mcpServers": { "a": { "command": command, "args": args } } });
            from_value("f", config).unwrap().mcp_servers.remove("a").unwrap()
        };
        assert!(is_ourselves(&server("/opt/bin/agent-spaces", &["mcp", "serve"])));
        assert!(is_ourselves(&server("C:\\tools\\agent-spaces.exe", &["mcp", "serve"])));
        assert!(is_ourselves(&server("cmd", &["/c", "agent-spaces", "mcp", "serve"])));
        assert!(!is_ourselves(&server("npx", &["-y", "agent-spaces-fan-club"])));
        assert!(!is_ourselves(&server("python", &["/home/me/agent-spaces/server.py"])));
    }
}
