//! Project in a temporary folder, and the command in it.

use super::processes::{eventually, of_project, signal};
use super::program::{CommandOutput, finish};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Environment variable that marks the servers of a project and their child processes.
const MARKER: &str = "AGENT_SPACES_TEST_MARKER";

/// Time within which the servers of an ended command must be gone.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(3);

/// Project; dropping it fails the test if a server process is left.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    marker: String,
}

impl Project {
    /// An empty folder.
    pub(crate) fn empty() -> Project {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let marker = format!("{}-{number}-of-a-test", std::process::id());
        Project { folder: tempfile::tempdir().unwrap(), marker }
    }

    /// Project with a trusted configuration.
    pub(crate) fn new(config: Value) -> Project {
        let project = Project::empty();
        project.configure(config);
        project.trust();
        project
    }

    /// Project whose scripts may use these servers.
    pub(crate) fn with_servers(servers: Value) -> Project {
        let given: Vec<String> = servers.as_object().unwrap().keys().map(|name| format!("mcp:{name}")).collect();
        Project::new(json!({ "mcpServers": servers, "capabilities": { "global": given } }))
    }

    /// Writes a configuration, with the marker in every server that is a process.
    pub(crate) fn configure(&self, mut config: Value) {
        if let Some(servers) = config.get_mut("mcpServers") {
            self.mark(servers);
        }
        let toolboxes = config.get_mut("toolboxes").and_then(Value::as_object_mut);
        for toolbox in toolboxes.into_iter().flat_map(|toolboxes| toolboxes.values_mut()) {
            self.mark(&mut toolbox["mcpServers"]);
        }
        self.write("agent-spaces.config.json", &config.to_string());
    }

    /// Puts the marker into every server that is a process.
    pub(crate) fn mark(&self, servers: &mut Value) {
        for server in servers.as_object_mut().into_iter().flat_map(|servers| servers.values_mut()) {
            if server.get("command").is_some() {
                server["env"][MARKER] = self.marker.clone().into();
            }
        }
    }

    pub(crate) fn trust(&self) {
        let done = self.agent_spaces(&["trust"]);
        assert_eq!(done.status, Some(0), "{done:?}");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The lines of JSON in a file.
    pub(crate) fn lines(&self, name: &str) -> Vec<Value> {
        self.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The command, in the project's folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        in_home(&mut command, warm_home());
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn agent_spaces(&self, arguments: &[&str]) -> CommandOutput {
        finish(self.command(arguments))
    }

    /// Runs a script with `--json`.
    pub(crate) fn run(&self, source: &str) -> CommandOutput {
        self.run_with(source, &["--json"])
    }

    /// Runs a script with these options.
    pub(crate) fn run_with(&self, source: &str, options: &[&str]) -> CommandOutput {
        self.write("script.ts", source);
        self.agent_spaces(&[&["run", "script.ts"], options].concat())
    }

    /// Lists its running processes.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        of_project(&self.marker, &self.folder.path().display().to_string())
    }

    /// Asserts that its processes end soon.
    pub(crate) fn assert_nothing_left(&self) {
        let is_empty = eventually(CLEANUP_TIMEOUT, || self.processes().is_empty());
        assert!(is_empty, "still there: {:?}", self.processes());
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A test that failed already leaves nothing to the next one.
            self.processes().iter().for_each(|(pid, _)| signal(*pid, "KILL"));
        } else {
            self.assert_nothing_left();
        }
    }
}

/// A script with servers and `attempt`, which gives what a call gave: its value or its error.
pub(crate) fn script(servers: &[&str], body: &str) -> String {
    let imports: String =
        servers.iter().map(|name| format!("import {{ {name} }} from '@capabilities/mcp-{name}';\n")).collect();
    format!(
        "{imports}
        const attempt = async (work) => {{
            const begun = Date.now();
            try {{ return {{ value: await work(), ms: Date.now() - begun }}; }}
            catch (error) {{
                const {{ code, message, details = null, retryable = false }} = error;
                return {{ code, message, details, retryable, ms: Date.now() - begun }};
            }}
        }};
        {body}"
    )
}

fn in_home(command: &mut Command, home: &Path) {
    command.env("XDG_CONFIG_HOME", home.join("config"));
    command.env("XDG_CACHE_HOME", home.join("cache"));
    command.env("XDG_STATE_HOME", home.join("state"));
    command.env("XDG_DATA_HOME", home.join("data"));
}

/// A home for all tests of this process. The engine is compiled in it once, not by every test at the same time.
fn warm_home() -> &'static Path {
    static HOME: OnceLock<tempfile::TempDir> = OnceLock::new();
    let home = HOME.get_or_init(|| {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        in_home(&mut command, home.path());
        command.args(["run", "-"]).current_dir(home.path());
        assert_eq!(finish(command).status, Some(0));
        home
    });
    home.path()
}
