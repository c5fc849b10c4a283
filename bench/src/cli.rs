//! Startup time of the command, up to a script's result.

use crate::bench::Bench;
use crate::home;
use crate::timing::least;
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const COLD: usize = 3;
const WARM: usize = 20;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let Some(command) = home::command()? else { return Ok(()) };
    let mut cold = Vec::new();
    for _ in 0..COLD {
        let folder = tempfile::tempdir()?;
        cold.push(timed(&mut run(&command, folder.path())?)?);
    }
    bench.report.add("agent-spaces run, nothing in its caches", least(cold), "ms");

    let folder = tempfile::tempdir()?;
    home::first_run(&command, folder.path())?;
    let has_node = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    let (mut ours, mut nothing, mut node) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.pace.rounds(WARM) {
        ours.push(timed(&mut run(&command, folder.path())?)?);
        nothing.push(timed(&mut home::within("true".as_ref(), folder.path()))?);
        if has_node {
            node.push(timed(home::within("node".as_ref(), folder.path()).arg("run.js"))?);
        }
    }
    let (ours, nothing) = (least(ours), least(nothing));
    if has_node {
        bench.report.add("agent-spaces run, warm", ours, "ms").against("node", least(node));
    }
    bench.report.add("agent-spaces run, warm", ours, "ms").against("`true`", nothing);
    bench.report.add("agent-spaces run, warm: more than `true`", ours - nothing, "ms").at_most(40.0);
    Ok(())
}

fn run(command: &Path, folder: &Path) -> Result<Command> {
    std::fs::write(folder.join("run.js"), "1 + 1")?;
    let mut run = home::within(command, folder);
    run.args(["run", "run.js"]);
    Ok(run)
}

/// Milliseconds until it has ended.
fn timed(command: &mut Command) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let time = begun.elapsed().as_secs_f64() * 1e3;
    ensure!(status.success(), "{command:?} failed");
    Ok(time)
}
