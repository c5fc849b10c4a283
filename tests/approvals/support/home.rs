//! Temporary home folder with a project.

use super::{RunOutput, TIMEOUT};
use serde_json::Value;
use std::fs::{self, DirBuilder};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-spaces");

/// A user's folders, and a project. Tests share only compiled code. Clones share one folder, which is removed with the
/// last of them.
#[derive(Clone)]
pub(crate) struct Home {
    folder: Arc<tempfile::TempDir>,
}

impl Home {
    /// A home with an empty project.
    pub(crate) fn new() -> Home {
        let home = Home { folder: Arc::new(private_folder()) };
        for folder in ["project", "config", "data", "state/agent-spaces"] {
            DirBuilder::new().recursive(true).mode(0o700).create(home.path(folder)).unwrap();
        }
        let key = "state/agent-spaces/cache.key";
        fs::copy(warm().join(key), home.path(key)).unwrap();
        home
    }

    /// The same with a trusted configuration.
    pub(crate) fn configured(config: &Value) -> Home {
        let home = Home::new();
        home.configure(config);
        home
    }

    /// Writes a configuration and trusts it.
    pub(crate) fn configure(&self, config: &Value) {
        self.write("agent-spaces.config.json", &config.to_string());
        let accepted = self.finish(&["trust"]);
        assert_eq!(accepted.status, Some(0), "{accepted:?}");
    }

    /// A path of the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The user's state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.path("state/agent-spaces")
    }

    /// A path of the project.
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        self.path("project").join(name)
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.project(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// The command in the project.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments);
        self.set_environment(&mut command);
        command
    }

    /// Sets home and working directory of a command.
    pub(crate) fn set_environment(&self, command: &mut Command) {
        command.current_dir(self.path("project")).env("HOME", self.folder.path());
        for (variable, folder) in [("CONFIG", "config"), ("STATE", "state"), ("DATA", "data")] {
            command.env(format!("XDG_{variable}_HOME"), self.path(folder));
        }
        command.env("XDG_CACHE_HOME", warm().join("cache")).env_remove("AGENT_SPACES_APPROVER_TOKEN");
    }

    /// Runs the command to its end, with nothing to read.
    pub(crate) fn finish(&self, arguments: &[&str]) -> RunOutput {
        finish(self.command(arguments))
    }

    /// Writes a script and runs it with `--json`.
    pub(crate) fn run(&self, source: &str, options: &[&str]) -> RunOutput {
        self.write("script.ts", source);
        self.finish(&[&["run", "script.ts", "--json"], options].concat())
    }
}

/// Runs a command to its end, with nothing to read.
pub(crate) fn finish(mut command: Command) -> RunOutput {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.unwrap();
    let (stdout, stderr) = (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
    let status = wait_with_timeout(&mut child);
    RunOutput { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// Waits for a process; kills it and panics after the timeout.
pub(super) fn wait_with_timeout(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the command hangs");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Reads all of a stream in the background.
pub(super) fn collect(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Folder with mode 0700.
fn private_folder() -> tempfile::TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
}

/// Shared cache, so that the engine is compiled once and not by every test.
fn warm() -> &'static Path {
    static WARM: OnceLock<tempfile::TempDir> = OnceLock::new();
    let warm = WARM.get_or_init(|| {
        let folder = private_folder();
        let mut command = Command::new(PROGRAM);
        command.args(["run", "-"]).current_dir(folder.path()).env("HOME", folder.path());
        for (variable, name) in [("CONFIG", "config"), ("STATE", "state"), ("DATA", "data"), ("CACHE", "cache")] {
            command.env(format!("XDG_{variable}_HOME"), folder.path().join(name));
        }
        assert_eq!(finish(command).status, Some(0));
        folder
    });
    warm.path()
}
