//! Start of the command with a warm cache.

use crate::report::Report;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(crate) fn measure(report: &mut Report) -> Result<()> {
    let Some(command) = command()? else { return Ok(()) };
    let mut script = tempfile::NamedTempFile::with_suffix(".js")?;
    script.write_all(b"1 + 1")?;
    let run = |program: &std::path::Path, arguments: &[&std::ffi::OsStr]| -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let begun = Instant::now();
            Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
            best = best.min(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok(best)
    };
    let ours = run(&command, &["run".as_ref(), script.path().as_os_str()])?;
    report.add("agent-spaces run, warm", ours, "ms");
    if let Ok(node) = run("node".as_ref(), &[script.path().as_os_str()]) {
        report.against("node", node);
    }
    Ok(())
}

/// The command, if it is built.
pub(crate) fn command() -> Result<Option<PathBuf>> {
    let own = std::env::current_exe()?;
    let command = own.parent().context("no folder")?.join("agent-spaces");
    let is_built = command.is_file();
    if !is_built {
        eprintln!("skipped: {} is not built (cargo build --release)", command.display());
    }
    Ok(is_built.then_some(command))
}
