//! Project in a temporary folder, and the command in it.

use super::program::{CommandOutput, RunningCommand};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Project with its own home folder.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// An empty project, with an empty folder `files` in it.
    pub(crate) fn empty() -> Project {
        let project = Project { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(project.path("files")).unwrap();
        // All tests share the code cache, which is trusted only with this key.
        let (from, to) = (warm_home().join("state/agent-spaces"), project.home("state/agent-spaces"));
        fs::create_dir_all(&to).unwrap();
        fs::copy(from.join("cache.key"), to.join("cache.key")).unwrap();
        project
    }

    /// Project with a trusted configuration.
    pub(crate) fn new(config: Value) -> Project {
        let project = Project::empty();
        project.configure(config);
        project.trust();
        project
    }

    /// A project with a space `work`, whose workspace is `files` and whose policy is this.
    pub(crate) fn with_policy(policy: Value) -> Project {
        Project::new(json!({ "spaces": { "work": { "workspace": "./files", "policy": policy } } }))
    }

    pub(crate) fn configure(&self, config: Value) {
        self.write("agent-spaces.config.json", config.to_string());
    }

    pub(crate) fn trust(&self) {
        let done = self.agent_spaces(&["trust"]);
        assert_eq!(done.status, Some(0), "{done:?}");
    }

    /// A path in the project.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("project").join(name)
    }

    /// A path in the home: `state`, `data`, `config`.
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        self.folder.path().join("home").join(name)
    }

    /// A path outside the project.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the project, and makes its folder.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    /// A file's text; none where there is no file.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// The command, in the project's folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        in_home(&mut command, &self.home(""));
        command.env("XDG_CACHE_HOME", warm_home().join("cache"));
        command.args(arguments).current_dir(self.path(""));
        command
    }

    /// Runs the command to its end.
    pub(crate) fn agent_spaces(&self, arguments: &[&str]) -> CommandOutput {
        self.start(arguments).finish()
    }

    /// Starts the command.
    pub(crate) fn start(&self, arguments: &[&str]) -> RunningCommand {
        RunningCommand::start(self.command(arguments))
    }

    /// Runs a script in the space `work`, with `--json`.
    pub(crate) fn run(&self, source: &str) -> CommandOutput {
        self.run_with(source, &["--space", "work", "--json"])
    }

    /// Runs a script with these options.
    pub(crate) fn run_with(&self, source: &str, options: &[&str]) -> CommandOutput {
        self.write("script.ts", source);
        self.agent_spaces(&[&["run", "script.ts"], options].concat())
    }
}

/// A script with the standard library and `attempt`, which gives what a call gave: its value, or its error's code, text
/// and reason.
pub(crate) fn script(body: &str) -> String {
    format!(
        "import {{ fs, http, json, csv, crypto, time }} from '@agent-spaces/std';
        const attempt = async (work) => {{
            try {{ return {{ value: (await work()) ?? null }}; }}
            catch (error) {{ return {{ code: error.code, message: error.message, reason: error.details?.reason ?? null }}; }}
        }};
        {body}"
    )
}

fn in_home(command: &mut Command, home: &Path) {
    command.env("HOME", home);
    for (variable, folder) in [
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_DATA_HOME", "data"),
    ] {
        command.env(variable, home.join(folder));
    }
}

/// Home with a warm code cache, so that the engine is compiled once and not by every test.
fn warm_home() -> &'static Path {
    static HOME: OnceLock<tempfile::TempDir> = OnceLock::new();
    let home = HOME.get_or_init(|| {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        in_home(&mut command, home.path());
        command.args(["run", "-"]).current_dir(home.path());
        assert_eq!(RunningCommand::start(command).finish().status, Some(0));
        home
    });
    home.path()
}
