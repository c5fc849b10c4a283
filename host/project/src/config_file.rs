//! Reading of a configuration file in JSON, TOML, YAML or TypeScript.

use super::{ProjectError, Surroundings, text, variables};
use crate::trust::Acceptance;
use agent_spaces_config as config;
use agent_spaces_config::{Config, Format};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_space::space::Space;
use agent_spaces_types::limits::Limits;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Time limit of a configuration in TypeScript, which usually is a literal.
const TIME: Duration = Duration::from_secs(5);

/// Reads a configuration file and its acceptance.
pub(super) fn read(
    file: &Path,
    engine: &Engine,
    surroundings: &Surroundings,
) -> Result<(Config, Acceptance), ProjectError> {
    read_with(file, &|| Ok(engine.clone()), surroundings)
}

/// As [`read`], with an engine that is created only for TypeScript.
pub(super) fn read_with(
    file: &Path,
    engine: &dyn Fn() -> Result<Engine, ProjectError>,
    surroundings: &Surroundings,
) -> Result<(Config, Acceptance), ProjectError> {
    let text = text::read(file, config::MAX_BYTES)?;
    let shown = file.display().to_string();
    let format = Format::of(file);
    let mut value = match format {
        Some(format) => config::value_from_text(&shown, &text, format)?,
        None => evaluate(&shown, &text, &engine()?)?,
    };
    // Size and depth are checked before anything walks the value.
    config::check_bounds(&shown, &value)?;
    let acceptance = surroundings.acceptance(file, &text)?;
    variables::fill(&shown, &mut value, acceptance.status)?;
    let config = config::from_value(&shown, value).map_err(|error| match format {
        Some(format) => config::located(error, &text, format),
        None => error,
    })?;
    Ok((config, acceptance))
}

/// Runs a configuration in TypeScript, without capabilities or imports.
fn evaluate(file: &str, text: &str, engine: &Engine) -> Result<Value, ProjectError> {
    let limits = Limits { time: TIME, ..Limits::default() };
    let space = Space::builder(engine).limits(limits).build()?;
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = space.prepare(&name, text).map_err(|error| match error {
        PrepareError::Script(error) => {
            let place = error.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
            let hint = error.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            ProjectError::Evaluation(format!("{file}{place}: {}{hint}", error.message))
        }
        PrepareError::Host(error) => error.into(),
    })?;
    // The caller may be in an async runtime, where `block_on` panics.
    let report = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
            Ok(runtime.block_on(program.run(RunOptions::default())))
        });
        run.join().unwrap_or_else(|_| Err(std::io::Error::other("the configuration could not be run")))
    });
    let report = report.map_err(|error| ProjectError::file(Path::new(file), error))?;
    report.outcome.map_err(|error| {
        let place = error.location.as_ref().map(|place| format!(":{}:{}", place.line, place.column));
        ProjectError::Evaluation(format!("{file}{}: {}", place.unwrap_or_default(), error.message))
    })
}
