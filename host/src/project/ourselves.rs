//! Which servers of other programs are this program, however they start it.

use crate::config::{McpServer, Raw, Transport};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What this program and its packages are called.
const NAME: &str = "agent-spaces";

/// The verb that serves: whatever starts this program as an MCP server says so.
const VERB: [&str; 2] = ["mcp", "serve"];

/// Most bytes of a package's manifest that are looked at.
const MAX_MANIFEST: u64 = 64 << 10;

/// Whether a server is `agent-spaces` itself: taken in, it would serve itself.
pub fn is_ourselves(server: &McpServer) -> bool {
    let Transport::Stdio { program, args, cwd, .. } = &server.transport else { return false };
    if is_this(program) {
        return true;
    }
    // A shell's line is one argument.
    let line = [program.as_str()].into_iter().chain(args.iter().map(Raw::expose));
    let words: Vec<&str> = line.flat_map(str::split_whitespace).map(|word| word.trim_matches(['"', '\''])).collect();
    let Some(verb) = words.windows(2).position(|pair| *pair == VERB) else { return is_name(program) };
    let before = &words[..verb];
    before.iter().any(|word| is_name(word)) || is_built_here(before, cwd.as_deref())
}

/// Whether a word names this program or its package: `/opt/bin/agent-spaces`, `agent-spaces.exe`, `agent-spaces@1.2`,
/// `@scope/agent-spaces@latest`.
fn is_name(word: &str) -> bool {
    // Either separator, wherever the file was written.
    let last = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let last = last.split_once('@').map_or(last, |(name, _)| name);
    last.strip_suffix(".exe").or(last.strip_suffix(".cmd")).unwrap_or(last) == NAME
}

/// Whether a program is the one that runs now, by its path or by the `PATH`.
fn is_this(program: &str) -> bool {
    let Some(this) = std::env::current_exe().and_then(std::fs::canonicalize).ok() else { return false };
    let is_same = |path: PathBuf| std::fs::canonicalize(path).is_ok_and(|path| path == this);
    match program.contains(['/', '\\']) {
        true => is_same(PathBuf::from(program)),
        false => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            // What is found first is what is started.
            let found = std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file());
            found.is_some_and(is_same)
        }
    }
}

/// Whether these words let cargo build and run this program: `cargo run --manifest-path …/Cargo.toml --`.
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
        return is_name(package);
    }
    let manifest = match (flag("--manifest-path"), cwd) {
        (Some(manifest), _) => PathBuf::from(manifest),
        (None, Some(cwd)) => Path::new(cwd).join("Cargo.toml"),
        (None, None) => return false,
    };
    let mut text = String::new();
    let read = std::fs::File::open(&manifest).and_then(|file| file.take(MAX_MANIFEST).read_to_string(&mut text));
    // Of the package itself, or of the folder that it is developed in.
    let is_ours =
        |line: &str| line == "name = \"agent-spaces\"" || line.starts_with("agent-spaces = { path = \"host\"");
    read.is_ok() && text.lines().any(is_ours)
}

#[cfg(test)]
mod tests {
    use super::is_ourselves;
    use crate::config::from_value;
    use serde_json::{Value, json};

    fn is_ours(server: Value) -> bool {
        let config = json!({ "mcpServers": { "a": server } });
        is_ourselves(&from_value("f", config).unwrap().mcp_servers.remove("a").unwrap())
    }

    #[test]
    fn this_program_is_known_however_it_is_started() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let manifest = format!("--manifest-path={}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
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
            ("/home/me/.cargo/bin/cargo", vec!["run", "--bin=agent-spaces", "--", "mcp", "serve"]),
            ("cargo", vec!["run", "-q", &manifest, "--", "mcp", "serve"]),
            (this.to_str().unwrap(), vec!["whatever"]),
        ] {
            assert!(is_ours(json!({ "command": command, "args": args })), "{command} {args:?}");
        }
        assert!(is_ours(json!({ "command": "cargo", "args": ["run", "--", "mcp", "serve"], "cwd": root })));
    }

    #[test]
    fn others_are_others() {
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
}
