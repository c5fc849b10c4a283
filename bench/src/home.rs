//! The command in a fresh home folder.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the command, if it is built.
pub(crate) fn command() -> Result<Option<PathBuf>> {
    let own = std::env::current_exe()?;
    let command = own.parent().context("no folder")?.join("agent-spaces");
    let is_built = command.is_file();
    if !is_built {
        eprintln!("skipped: {} is not built (cargo build --release)", command.display());
    }
    Ok(is_built.then_some(command))
}

/// Program whose settings, caches and records are all in this folder.
pub(crate) fn within(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    for (variable, name) in [
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_DATA_HOME", "data"),
    ] {
        command.env(variable, folder.join(name));
    }
    command
}

/// Runs `1 + 1` there, which also compiles the engine if necessary.
pub(crate) fn first_run(program: &Path, folder: &Path) -> Result<()> {
    let script = folder.join("first.js");
    std::fs::write(&script, "1 + 1")?;
    let output = within(program, folder).arg("run").arg(script).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "no script can be run");
    let answer = String::from_utf8_lossy(&output.stdout);
    ensure!(answer.trim() == "2", "1 + 1 is {answer}");
    Ok(())
}
