//! Checks of the engine, the folders and the TypeScript compiler.

use super::super::{folders, foreign_configs};
use super::check::Check;
use agent_spaces::config::TypeCheck;
use agent_spaces::project::{Equipment, Project, SpaceModules};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::{Engine, RunOptions};
use std::path::Path;
use std::time::Instant;

/// Starts the engine and runs a script of one line.
pub(super) fn engine() -> (Option<Engine>, Check) {
    let begun = Instant::now();
    let engine = match folders::engine(true) {
        Ok(engine) => engine,
        Err(error) => return (None, Check::broken("engine", error.to_string(), 5)),
    };
    let loaded = begun.elapsed();
    let begun = Instant::now();
    let check = match run(&engine) {
        Ok(()) => {
            let (load, run) = (loaded.as_secs_f64() * 1e3, begun.elapsed().as_secs_f64() * 1e3);
            Check::fine("engine", format!("starts in {load:.0} ms and runs a script in {run:.0} ms"))
        }
        Err(message) => Check::broken("engine", format!("it starts, but a script fails: {message}"), 5),
    };
    (Some(engine), check)
}

fn run(engine: &Engine) -> Result<(), String> {
    let space = SpaceModules::all(&[]).assemble_with(engine, &Equipment::default()).map_err(|it| it.to_string())?;
    let program = space.prepare("doctor.ts", "const one: number = 1; one + 1").map_err(|it| it.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|it| it.to_string())?;
    let report = runtime.block_on(program.run(RunOptions::default()));
    match report.outcome {
        Ok(value) if value == serde_json::json!(2) => Ok(()),
        Ok(_) => Err("1 + 1 is not 2".to_owned()),
        Err(error) => Err(error.message),
    }
}

/// Checks that the user's folders are writable, and not by other users.
pub(super) fn folders() -> Vec<Check> {
    let all = folders::all();
    if all.is_empty() {
        let check = Check::warning("folders", "there is no home folder: no state is kept, and no file can be accepted");
        return vec![check.fix("set HOME, or XDG_CACHE_HOME, XDG_STATE_HOME, XDG_DATA_HOME and XDG_CONFIG_HOME")];
    }
    all.iter().map(|(what, folder)| self::folder(what, folder)).collect()
}

fn folder(what: &str, folder: &Path) -> Check {
    let subject = format!("{what} folder");
    let shown = folder.display();
    // A missing folder is created in its nearest existing parent.
    let Some(nearest) = folder.ancestors().find(|above| above.symlink_metadata().is_ok()) else {
        return Check::broken(subject, format!("{shown} cannot be created"), 5);
    };
    if !nearest.is_dir() {
        let check = Check::broken(subject, format!("{} exists and is not a folder", nearest.display()), 5);
        return check.fix("move it away");
    }
    if let Err(error) = foreign_configs::file::try_folder(nearest) {
        let check = Check::broken(subject, format!("{shown} cannot be written to: {error}"), 5);
        return check.fix(format!("make {} writable", nearest.display()));
    }
    if nearest != folder {
        return Check::fine(subject, format!("{shown} is created when needed"));
    }
    if foreign_configs::file::is_open_to_others(folder) {
        let check =
            Check::broken(subject, format!("other users can write to {shown}, and so change what is started"), 5);
        return check.fix(format!("chmod go-w {shown}"));
    }
    match (what, folders::trust().list()) {
        ("state", Err(error)) => Check::broken(subject, error.to_string(), 5),
        _ => Check::fine(subject, shown.to_string()),
    }
}

/// Checks for a TypeScript compiler, which type-checks code before it runs.
pub(super) fn typescript(project: Option<&Project>) -> Check {
    let level = project.map(|project| project.config().code_mode.type_check).unwrap_or_default();
    let configured = project.and_then(Project::typescript);
    let is_configured = configured.is_some();
    let names_only = "agents' code is checked for unknown names only";
    // Configured, but unused until the configuration is accepted.
    let unused = project.and_then(Project::typescript_note);
    match TypeChecker::new(level, configured).compiler() {
        _ if level == TypeCheck::Off => Check::note("TypeScript", "type checking of agents' code is off"),
        Ok(compiler) => {
            let unused = unused.map(|note| format!("; {note}")).unwrap_or_default();
            Check::fine("TypeScript", format!("{compiler} type-checks agents' code before it runs{unused}"))
        }
        Err(_) if let Some(note) = unused => Check::note("TypeScript", format!("{names_only}: {note}")),
        Err(error) if is_configured => Check::warning("TypeScript", format!("{names_only}: {error}")),
        Err(error) => Check::note("TypeScript", format!("{names_only}: {error}")),
    }
}
