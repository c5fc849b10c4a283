//! Fixture with a folder of scripts and commands, and the case runner.

use crate::{endings, values};
use agent_spaces_providers::command::{Command, CommandError, Commands};
use agent_spaces_secrets::{Redactor, Secret};
use capability_gen::implementation::{CommandTemplate, Implementation};
use capability_gen::sources::{Source, parse};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Stdio, exit};
use std::time::{Duration, Instant};

/// Variable of the host's environment that no program may see.
pub(crate) const CANARY: &str = "CANARY_OF_THE_HOST";

/// Test case, which panics on failure.
pub(crate) type Case = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

/// List of cases by function name.
#[macro_export]
macro_rules! cases {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), || Box::pin($name()))),*] };
}

pub(crate) fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("victim") => endings::victim(),
        Some(mode @ ("plain" | "supervised")) => run(mode),
        _ => ["supervised", "plain"].into_iter().for_each(again),
    }
}

/// Runs all cases in a process of their own.
fn again(mode: &str) {
    let status = own(&[mode]).env(CANARY, "a secret of the host").status();
    assert!(status.is_ok_and(|status| status.success()), "cases failed: {mode}");
}

/// This program, with other arguments.
pub(crate) fn own(arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(mode: &str) {
    let mut cases: Vec<Case> = values::CASES.to_vec();
    cases.extend(endings::CASES);
    if mode == "supervised" {
        cases.extend(endings::SUPERVISED);
    }
    let mut has_failed = false;
    for (name, case) in cases {
        let begun = Instant::now();
        let ended = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(case());
        });
        let is_ok = ended.join().is_ok();
        has_failed |= !is_ok;
        println!("{mode}: {name} ... {} ({:?})", if is_ok { "ok" } else { "FAILED" }, begun.elapsed());
    }
    exit(i32::from(has_failed));
}

/// A folder of scripts.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn new() -> Rig {
        Rig { folder: tempfile::tempdir().unwrap() }
    }

    /// With a script `run.sh`.
    pub(crate) fn with(script: &str) -> Rig {
        let rig = Rig::new();
        let file = rig.path("run.sh");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
        rig
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Shared settings of commands in the folder.
    pub(crate) fn commands(&self) -> Commands {
        let env = [("TOKEN", "granted-token"), ("OTHER", "granted-other")];
        let env = env.map(|(name, value)| (name.to_owned(), Secret::new(value)));
        let redactor = Redactor::default();
        env.iter().for_each(|(_, value)| redactor.add(value));
        Commands::new(self.folder.path(), &BTreeMap::from(env), Duration::from_secs(20), &redactor)
    }

    pub(crate) fn command(&self, command: Value) -> Command {
        self.commands().command(template(command))
    }
}

/// Parses the template of a command whose function has the parameters `a`, `b`, `n` and `list`.
pub(crate) fn template(command: Value) -> CommandTemplate {
    let tool = json!({ "name": "t", "functions": [{
            "name": "f", "command": command,
            "parameters": { "type": "object", "properties": { "a": {}, "b": {}, "n": {}, "list": { "type": "array" } } }
        }] });
    let source = Source { file: "t.json", text: &tool.to_string(), name: None, format: None };
    let definitions = parse(&source).unwrap_or_else(|error| panic!("{error}"));
    let Some(Implementation::Command(template)) = definitions[0].functions[0].implementation.clone() else {
        panic!("no command");
    };
    template
}

impl Rig {
    /// Calls a command.
    pub(crate) async fn call(&self, command: Value, params: Value) -> Result<Value, CommandError> {
        self.command(command).call(&params).await
    }

    /// Calls `run.sh`.
    pub(crate) async fn run(&self, mut command: Value) -> Result<Value, CommandError> {
        command["program"] = "./run.sh".into();
        self.call(command, json!({})).await
    }

    /// Returns the PIDs that a script recorded.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.path("pids")).unwrap_or_default();
        text.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    /// Asserts that this many processes ran, and that none is left.
    #[track_caller]
    pub(crate) fn assert_all_gone(&self, count: usize) {
        let pids = self.processes();
        assert_eq!(pids.len(), count, "{pids:?}");
        let begun = Instant::now();
        while pids.iter().any(|pid| is_alive(*pid)) {
            assert!(begun.elapsed() < Duration::from_secs(3), "still there: {pids:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a script has recorded this many PIDs.
    pub(crate) async fn begun(&self, count: usize) {
        let begun = Instant::now();
        while self.processes().len() < count {
            assert!(begun.elapsed() < Duration::from_secs(10), "it does not begin");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// True if a process runs; a zombie does not.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
