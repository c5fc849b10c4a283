//! Comparison of a changed script with a recorded run: its calls are answered from the journal as long as they are the
//! same, in order, by function and arguments. No call leaves the host.
//!
//! The changed script runs in the sandbox of the recorded one, so it can import the modules that the recorded one
//! imported, and no others.

use crate::engines::Engines;
use crate::error::DurableError;
use crate::follower::Follower;
use crate::header::Header;
use crate::replay::Replay;
use crate::runs::DurableRuns;
use crate::stored::{entries, image, seed};
use crate::verify::restore;
use agent_spaces_journal::Store;
use agent_spaces_linker::program_parts::program_parts;
use agent_spaces_linker::resolve::{Denials, Known, Withheld, resolve};
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::{ModuleSource, Modules};
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::RunReport;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::script_error::ScriptError;
use agent_spaces_types::standard;
use serde_json::Value;
use std::sync::Arc;

pub use crate::recorded_call::Difference;

/// Script to compare with a recorded run.
#[derive(Clone)]
pub struct ChangedScript<'a> {
    /// File name.
    pub name: &'a str,
    /// Text.
    pub source: &'a str,
    /// Folder whose files it may import.
    pub workspace: Option<Arc<Workspace>>,
}

/// Result of a comparison.
#[derive(Debug)]
pub struct Comparison {
    /// Report of the changed script.
    pub report: RunReport,
    /// Calls that were the same.
    pub matched: u64,
    /// Calls of the recorded run.
    pub recorded_calls: u64,
    /// The first call that differs.
    pub difference: Option<Difference>,
    /// The recorded value or error; `None` if the run is not over.
    pub recorded: Option<Value>,
}

/// Reason why a script cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The journal of the run cannot be read, or its program not be restored.
    #[error(transparent)]
    Run(#[from] DurableError),
    /// The changed script was refused.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// Runs a changed script with the recorded answers, clocks and timers of a run, up to its first other call.
///
/// # Errors
/// The run cannot be read, or the script was refused.
pub async fn compare(
    store: &Arc<dyn Store>,
    run: &str,
    current: &Engine,
    script: ChangedScript<'_>,
) -> Result<Comparison, CompareError> {
    compare_with(&Engines::default(), store, run, current, script).await
}

impl DurableRuns {
    /// Compares a changed script as [`compare`] does. Engines of older programs are compiled once for all comparisons.
    ///
    /// # Errors
    /// The run cannot be read, or the script was refused.
    pub async fn compare(
        &self,
        run: &str,
        current: &Engine,
        script: ChangedScript<'_>,
    ) -> Result<Comparison, CompareError> {
        compare_with(self.engines(), self.store(), run, current, script).await
    }
}

async fn compare_with(
    engines: &Engines,
    store: &Arc<dyn Store>,
    run: &str,
    current: &Engine,
    script: ChangedScript<'_>,
) -> Result<Comparison, CompareError> {
    let replay = Replay::read(entries(&**store, run).await.map_err(DurableError::from)?)?;
    let header = replay.header.clone();
    let engine = engines.of(&header, store, current).await?;
    let recorded_program = restore(&engine, image(&**store, &header).await?).await?;
    let program = changed(&recorded_program, &header, script).await?.with_hidden(header.hidden.clone());
    let recorded = replay.result.clone();
    let follower = Arc::new(Follower::new(run.into(), replay, &seed(&header)?));
    let report = program.run(header.replay_options(follower.clone())).await;
    let (matched, recorded_calls, mut difference) = follower.findings();
    if let Some(difference) = &mut difference
        && let Some(seen) = &difference.seen
    {
        difference.places = seen.places(&program);
    }
    Ok(Comparison { report, matched, recorded_calls, difference, recorded })
}

/// Prepares a script in the sandbox of a program, on a thread where it may block.
async fn changed(program: &Program, header: &Header, script: ChangedScript<'_>) -> Result<Program, CompareError> {
    let ChangedScript { name, source, workspace } = script;
    let (program, limits) = (program.clone(), header.limits.clone());
    let (name, source) = (name.to_owned(), source.to_owned());
    let prepare = move || prepare(&program, &limits, &name, &source, workspace.as_deref());
    let prepared = tokio::task::spawn_blocking(prepare).await;
    Ok(prepared.map_err(|error| DurableError::from(HostError::Engine(error.to_string())))??)
}

fn prepare(
    program: &Program,
    limits: &Limits,
    name: &str,
    source: &str,
    workspace: Option<&Workspace>,
) -> Result<Program, ScriptError> {
    let withheld = Withheld::new();
    let known = Known {
        modules: program.modules(),
        withheld: &withheld,
        denials: Denials::default(),
        has_fetch: has_fetch(program.modules()),
        packages: None,
        max_bytes: limits.source,
        memory: Some(program.sandbox().engine().memory()),
    };
    let mut resolved = resolve(name, source, known, workspace)?;
    resolved.modules.take_given(program.modules());
    Ok(Program::new(program_parts(resolved, name), program.sandbox().clone()))
}

/// Returns true if the recorded script was linked with the functions behind `fetch`.
fn has_fetch(modules: &Modules) -> bool {
    match modules.get(standard::SPECIFIER) {
        Some(ModuleSource::Bindings(bindings)) => {
            bindings.iter().any(|binding| binding.interface_name() == standard::HTTP)
        }
        _ => false,
    }
}
