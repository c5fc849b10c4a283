//! Reading a configuration, whatever it is written in.

use super::{ProjectError, text};
use crate::config::{self, Config, Format};
use crate::engine::Engine;
use crate::error::PrepareError;
use crate::handlers::Handlers;
use crate::interfaces::Interfaces;
use crate::limits::Limits;
use crate::run::RunOptions;
use crate::space::Space;
use std::path::Path;
use std::time::Duration;

/// A configuration is a literal as a rule; whoever computes one may take this long.
const TIME: Duration = Duration::from_secs(5);

/// Reads a configuration file.
pub(super) fn read(file: &Path, engine: &Engine) -> Result<Config, ProjectError> {
    let text = text::read(file, config::MAX_BYTES)?;
    let shown = file.display().to_string();
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Ok(config::from_text(&shown, &text, Format::Toml)?),
        Some("ts" | "mts" | "js" | "mjs") => evaluate(&shown, &text, engine),
        _ => Ok(config::from_text(&shown, &text, Format::Json)?),
    }
}

/// Runs a configuration in TypeScript, with no capability and no other file.
fn evaluate(file: &str, text: &str, engine: &Engine) -> Result<Config, ProjectError> {
    let space = Space::new(engine.clone(), Interfaces::new()?, Handlers::new())?;
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = space.prepare(&name, text).map_err(|error| match error {
        PrepareError::Script(error) => {
            let place = error.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
            let hint = error.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            ProjectError::Evaluation(format!("{file}{place}: {}{hint}", error.message))
        }
        PrepareError::Host(error) => error.into(),
    })?;
    let limits = Limits { time: TIME, ..Limits::default() };
    // The caller may be in an async runtime, where one must not block.
    let report = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
            Ok(runtime.block_on(program.run(RunOptions { limits, ..RunOptions::default() })))
        });
        run.join().unwrap_or_else(|_| Err(std::io::Error::other("the configuration could not be run")))
    });
    let report = report.map_err(|error| ProjectError::file(Path::new(file), error))?;
    let value = report.outcome.map_err(|error| {
        let place = error.location.as_ref().map(|place| format!(":{}:{}", place.line, place.column));
        ProjectError::Evaluation(format!("{file}{}: {}", place.unwrap_or_default(), error.message))
    })?;
    Ok(config::from_value(file, value)?)
}
