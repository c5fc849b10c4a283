//! Detection of configured MCP servers that are this program: used as a server, it would serve itself.

use agent_spaces_config::{McpServer, Raw, Transport};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Name of this program and of its packages.
const NAME: &str = "agent-spaces";

/// Cargo package of the command.
const PACKAGE: &str = "agent-spaces-cli";

/// Subcommand that starts this program as an MCP server.
const VERB: [&str; 2] = ["mcp", "serve"];

/// Most bytes of a `Cargo.toml` that are read.
const MAX_MANIFEST: u64 = 64 << 10;

/// Returns true if a server is `agent-spaces` itself, which would then serve itself.
pub fn is_ourselves(server: &McpServer) -> bool {
    let Transport::Stdio { program, args, cwd, .. } = &server.transport else { return false };
    if is_this(program) {
        return true;
    }
    // The command line of `sh -c` is one argument.
    let line = [program.as_str()].into_iter().chain(args.iter().map(Raw::expose));
    let words: Vec<&str> = line.flat_map(str::split_whitespace).map(|word| word.trim_matches(['"', '\''])).collect();
    let Some(verb) = words.windows(2).position(|pair| *pair == VERB) else { return is_name(program) };
    let before = &words[..verb];
    before.iter().any(|word| is_name(word)) || is_built_here(before, cwd.as_deref())
}

/// Returns true if a word names this program or its package: `/opt/bin/agent-spaces`, `agent-spaces.exe`,
/// `agent-spaces@1.2`, `@scope/agent-spaces@latest`.
fn is_name(word: &str) -> bool {
    // The file may come from a machine with the other path separator.
    let last = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let last = last.split_once('@').map_or(last, |(name, _)| name);
    last.strip_suffix(".exe").or(last.strip_suffix(".cmd")).unwrap_or(last) == NAME
}

/// Returns true if a program is the running executable, by its path or through `PATH`.
fn is_this(program: &str) -> bool {
    let Some(this) = std::env::current_exe().and_then(std::fs::canonicalize).ok() else { return false };
    let is_same = |path: PathBuf| std::fs::canonicalize(path).is_ok_and(|path| path == this);
    match program.contains(['/', '\\']) {
        true => is_same(PathBuf::from(program)),
        false => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            // The first match is the one that would be started.
            let found = std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file());
            found.is_some_and(is_same)
        }
    }
}

/// Returns true if these words make cargo build and run this program: `cargo run --manifest-path …/Cargo.toml --`.
fn is_built_here(words: &[&str], cwd: Option<&str>) -> bool {
    let is_cargo = words.first().is_some_and(|program| program.rsplit(['/', '\\']).next() == Some("cargo"));
    if !is_cargo || !words.contains(&"run") {
        return false;
    }
    let flag = |name: &str| {
        let next = words.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
        let joined = || words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        next.or_else(joined)
    };
    let package = ["-p", "--package", "--bin"].iter().find_map(|name| flag(name));
    if let Some(package) = package {
        return is_name(package) || package == PACKAGE;
    }
    let manifest = match (flag("--manifest-path"), cwd) {
        (Some(manifest), _) => PathBuf::from(manifest),
        (None, Some(cwd)) => Path::new(cwd).join("Cargo.toml"),
        (None, None) => return false,
    };
    // Manifest of the command's package, or of the workspace that contains it.
    let is_ours = |line: &str| {
        line == format!("name = \"{PACKAGE}\"") || line.starts_with("agent-spaces = { path = \"host/agent-spaces\"")
    };
    manifest_text(&manifest).is_some_and(|text| text.lines().any(is_ours))
}

/// Reads the beginning of a manifest. Its file type is checked first: the configuration that names it is not accepted
/// yet, and opening a pipe or a device blocks or has side effects.
fn manifest_text(path: &Path) -> Option<String> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MAX_MANIFEST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use crate::self_detection::is_ourselves;
    use agent_spaces_config::from_value;
    use serde_json::{Value, json};

    fn is_ours(server: Value) -> bool {
        let config = json!({ "mcpServers": { "a": server } });
        is_ourselves(&from_value("f", config).unwrap().mcp_servers.remove("a").unwrap())
    }

    #[test]
    fn every_way_of_starting_this_program_is_detected() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let manifest = format!("--manifest-path={root}/host/cli/Cargo.toml");
        let this = std::env::current_exe().unwrap();
        for (command, args) in [
            ("/opt/bin/agent-spaces", vec!["mcp", "serve"]),
            ("agent-spaces", vec![]),
            ("C:\\tools\\agent-spaces.exe", vec!["mcp", "serve", "--config", "x"]),
            ("cmd", vec!["/c", "agent-spaces", "mcp", "serve"]),
            ("npx", vec!["-y", "agent-spaces@latest", "mcp", "serve"]),
            ("npx", vec!["-y", "@agent-spaces/agent-spaces@1.2.0", "mcp", "serve"]),
            ("bunx", vec!["agent-spaces", "mcp", "serve"]),
            ("sh", vec!["-c", "exec 'agent-spaces' mcp serve --space support"]),
            ("env", vec!["X=1", "agent-spaces", "mcp", "serve"]),
            ("cargo", vec!["run", "--release", "-p", "agent-spaces", "--", "mcp", "serve"]),
            ("cargo", vec!["run", "-p", "agent-spaces-cli", "--", "mcp", "serve"]),
            ("/home/me/.cargo/bin/cargo", vec!["run", "--bin=agent-spaces", "--", "mcp", "serve"]),
            ("cargo", vec!["run", "-q", &manifest, "--", "mcp", "serve"]),
            (this.to_str().unwrap(), vec!["whatever"]),
        ] {
            assert!(is_ours(json!({ "command": command, "args": args })), "{command} {args:?}");
        }
        assert!(is_ours(json!({ "command": "cargo", "args": ["run", "--", "mcp", "serve"], "cwd": root })));
    }

    #[test]
    fn other_programs_are_not_detected() {
        for (command, args) in [
            ("npx", vec!["-y", "agent-spaces-fan-club", "mcp", "serve"]),
            ("python", vec!["/home/me/agent-spaces/server.py"]),
            ("npx", vec!["-y", "@modelcontextprotocol/server-filesystem", "/home/me/agent-spaces"]),
            ("other", vec!["mcp", "serve", "--name", "agent-spaces"]),
            ("cargo", vec!["run", "--", "mcp", "serve"]),
            ("cargo", vec!["run", "-p", "other", "--", "mcp", "serve"]),
        ] {
            assert!(!is_ours(json!({ "command": command, "args": args })), "{command} {args:?}");
        }
        assert!(!is_ours(json!({ "url": "https://example.com/agent-spaces" })));
    }

    /// Opening a pipe would block a caller that only lists servers.
    #[cfg(unix)]
    #[test]
    fn a_manifest_that_is_not_a_regular_file_is_not_opened() {
        for path in ["/dev/stdin", "/dev/tty", "/dev/zero"] {
            let args = ["run", "--manifest-path", path, "--", "mcp", "serve"];
            assert!(!is_ours(json!({ "command": "cargo", "args": args })), "{path}");
        }
    }
}
