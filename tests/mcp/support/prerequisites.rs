//! Prerequisites of tests on the machine. A missing one skips with a message, and with `AGENT_SPACES_CI=1` it fails.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp/servers");

/// Prints that the test is skipped if a prerequisite is missing; panics with `AGENT_SPACES_CI=1`.
fn or_skip<T>(what: Option<T>, name: &str) -> Option<T> {
    if what.is_none() {
        let text = format!("skipped: {name}");
        assert!(std::env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "{text}");
        // Not captured by the test harness: a skipped test must be visible.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
    what
}

/// Path of the Python executable, not of a wrapper script.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    });
    or_skip(found.as_deref(), "there is no python3")
}

/// The configuration of the hostile server with these flags.
pub(crate) fn hostile(flags: &[&str]) -> Option<Value> {
    let program = format!("{SERVERS}/hostile");
    let arguments: Vec<&str> = ["-B", &program].into_iter().chain(flags.iter().copied()).collect();
    Some(json!({ "command": python()?, "args": arguments, "timeout": "10s" }))
}

/// The configuration of a server of a few lines, see `servers/odd.py`.
pub(crate) fn odd(arguments: &[&str]) -> Option<Value> {
    with_python(python()?, "odd.py", arguments)
}

/// Configuration of a script in `servers/`, run by this Python.
pub(crate) fn with_python(python: &Path, server: &str, arguments: &[&str]) -> Option<Value> {
    let python = or_skip(python.exists().then_some(python), "there is no such Python")?;
    let program = format!("{SERVERS}/{server}");
    let arguments: Vec<&str> = ["-B", &program].into_iter().chain(arguments.iter().copied()).collect();
    Some(json!({ "command": python, "args": arguments, "timeout": "30s" }))
}

/// The same, logging received messages to the project's file `log.jsonl`.
pub(crate) fn hostile_logging(flags: &[&str]) -> Option<Value> {
    hostile(&[flags, &["--log", "log.jsonl"]].concat())
}

/// Configuration of a small honest server, `filesystem` or `memory`. It logs its starts to the project's file `starts`.
pub(crate) fn small(name: &str) -> Option<Value> {
    let arguments = ["-B", &format!("{SERVERS}/small.py"), name, "--log", "starts"];
    Some(json!({ "command": python()?, "args": arguments }))
}

/// Configuration of a server that attempts forbidden accesses, and its program, which the project must contain as
/// `reaching.py`.
#[cfg(target_os = "linux")]
pub(crate) fn reaching() -> Option<(Value, &'static str)> {
    let server = json!({ "command": python()?, "args": ["-B", "reaching.py"] });
    Some((server, include_str!("../servers/reaching.py")))
}

/// Requires a kernel with full confinement: files, ports, signals, system calls.
#[cfg(target_os = "linux")]
pub(crate) fn kernel_confines() -> Option<()> {
    use agent_spaces::confinement::{Kernel, Network, Profile};
    let network = Network::Ports { connect: Vec::new(), bind: Vec::new() };
    let gaps = Kernel::current().gaps(&Profile { network, ..Profile::default() });
    let missing: Vec<&str> = gaps.iter().map(|gap| gap.what).collect();
    or_skip(missing.is_empty().then_some(()), &missing.join("; "))
}

/// Hostile web server, killed on drop.
pub(crate) struct HostileHttpServer {
    child: Child,
    port: u64,
}

impl HostileHttpServer {
    /// URL of one of its misbehaviours.
    pub(crate) fn url(&self, way: &str) -> String {
        format!("http://127.0.0.1:{}/{way}", self.port)
    }

    /// Returns every request to it, or to the other origin that it redirects to.
    pub(crate) fn seen(&self) -> Vec<Value> {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", u16::try_from(self.port).unwrap())).unwrap();
        stream.write_all(b"GET /seen HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

impl Drop for HostileHttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the hostile web server.
pub(crate) fn hostile_http_server() -> Option<HostileHttpServer> {
    let mut command = Command::new(python()?);
    command.arg("-B").arg(format!("{SERVERS}/http_hostile.py"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ports: Value = serde_json::from_str(&line).unwrap();
    Some(HostileHttpServer { child, port: ports["port"].as_u64().unwrap() })
}

/// The folder of servers from npm and PyPI.
pub(crate) fn published() -> Option<PathBuf> {
    let folder = std::env::var_os("AGENT_SPACES_MCP_SERVERS").map(PathBuf::from);
    or_skip(folder.filter(|folder| folder.is_dir()), "AGENT_SPACES_MCP_SERVERS names no folder of servers")
}

/// The browser that @playwright/mcp drives.
pub(crate) fn browser() -> Option<PathBuf> {
    let found =
        ["/usr/bin/chromium", "/usr/bin/google-chrome"].into_iter().map(PathBuf::from).find(|file| file.is_file());
    or_skip(found, "there is no chromium")
}

/// Requires npx.
pub(crate) fn node() -> Option<()> {
    let found = Command::new("npx").arg("--version").output().ok().filter(|output| output.status.success());
    or_skip(found.map(drop), "there is no npx")
}
