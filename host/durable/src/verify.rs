//! Offline replay: executes a run again and compares every step with its journal. No call leaves the host.

use crate::engines::Engines;
use crate::error::DurableError;
use crate::log::{RunLog, Target};
use crate::recorded_call::RecordedCall;
use crate::recorded_event::is_same;
use crate::replay::Replay;
use crate::runs::DurableRuns;
use crate::settings::Settings;
use crate::step::shown_value;
use crate::stored::{entries, image, seed};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::call_path::{CallPath, Calling, Refusing, TypeIssue};
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::journal::Diverged;
use agent_spaces_calls::run_rules::RunRules;
use agent_spaces_journal::Store;
use agent_spaces_linker::failure::ProgramSource;
use agent_spaces_sandbox::engine::{Engine, WASMTIME_VERSION};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::program::source_info::SourceInfo;
use agent_spaces_sandbox::program::{Program, ProgramImage};
use agent_spaces_sandbox::run::RunReport;
use agent_spaces_sandbox::sandbox::Sandbox;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::function::{FunctionDescription, InterfaceDescription, label};
use serde_json::Value;
use std::collections::BTreeSet;
use std::future::{pending, ready};
use std::sync::Arc;

/// Result of an offline replay.
#[derive(Debug)]
pub struct Verification {
    /// Report of the replayed run.
    pub report: RunReport,
    /// Events that the script repeated, as they were recorded.
    pub events: Vec<String>,
    /// The first step that differs.
    pub diverged: Option<Diverged>,
    /// The recorded call that comes at that step, or next.
    pub next_call: Option<RecordedCall>,
    /// Places in the script that make this call: `agent.ts:5`.
    pub places: Vec<String>,
    /// The recorded value or error; `None` if the run is not over.
    pub recorded: Option<Value>,
    /// True if fuel was compared: both hosts have the same version of wasmtime.
    pub compared_fuel: bool,
}

/// Replays a run on the engine that it began with.
///
/// # Errors
/// The journal of the run cannot be read, or its program not be restored.
pub async fn verify(store: &Arc<dyn Store>, run: &str, current: &Engine) -> Result<Verification, DurableError> {
    verify_with(&Engines::default(), store, run, current).await
}

impl DurableRuns {
    /// Replays a run as [`verify`] does. Engines of older programs are compiled once for all replays.
    ///
    /// # Errors
    /// The journal of the run cannot be read, or its program not be restored.
    pub async fn verify(&self, run: &str, current: &Engine) -> Result<Verification, DurableError> {
        verify_with(self.engines(), self.store(), run, current).await
    }
}

async fn verify_with(
    engines: &Engines,
    store: &Arc<dyn Store>,
    run: &str,
    current: &Engine,
) -> Result<Verification, DurableError> {
    let mut replay = Replay::read(entries(&**store, run).await?)?;
    replay.compares_fuel = replay.header.wasmtime == WASMTIME_VERSION;
    replay.keeps_events = true;
    let header = replay.header.clone();
    let engine = engines.of(&header, store, current).await?;
    let program = restore(&engine, image(&**store, &header).await?).await?.with_hidden(header.hidden.clone());
    let (recorded, compared_fuel) = (replay.result.clone(), replay.compares_fuel);
    let log = RunLog::new(run.into(), Target::Nothing, Settings::default(), &seed(&header)?, replay, 0);
    let log = Arc::new(log);
    let report = program.run(header.replay_options(log.clone())).await;
    let diverged = log.divergence().or_else(|| recorded.as_ref().and_then(|recorded| compare(recorded, &report)));
    let events = log.take_events();
    let next_call = diverged.as_ref().and_then(|_| log.next_call());
    let places = next_call.as_ref().map(|call| call.places(&program)).unwrap_or_default();
    Ok(Verification { report, events, diverged, next_call, places, recorded, compared_fuel })
}

/// Compares the value of a replayed run with the recorded one. Errors are in its events, which are compared already.
fn compare(recorded: &Value, report: &RunReport) -> Option<Diverged> {
    let (expected, seen) = (recorded.get("ok")?, report.outcome.as_ref().ok()?);
    (!is_same(expected, seen)).then(|| Diverged { expected: shown_value(expected), seen: shown_value(seen) })
}

/// Restores a program whose calls have no provider. This compiles it, unless its code is cached, so it has a thread where
/// it may block.
pub(crate) async fn restore(engine: &Engine, image: ProgramImage) -> Result<Program, DurableError> {
    let engine = engine.clone();
    let restoring = tokio::task::spawn_blocking(move || restore_now(&engine, image)).await;
    restoring.map_err(|error| HostError::Engine(error.to_string()))?
}

fn restore_now(engine: &Engine, image: ProgramImage) -> Result<Program, DurableError> {
    let component = engine.component(image.component())?;
    let paths = |interface: &InterfaceDescription, function: &FunctionDescription| {
        Some(Arc::new(NoProvider { label: label(interface, function) }) as Arc<dyn CallPath>)
    };
    let sandbox = Sandbox::link(engine, &component, None, image.description().clone(), &paths, RunRules::default())?;
    let source = image.source().and_then(ProgramSource::from_bytes);
    let source = source.map(|source| Arc::new(source) as Arc<dyn SourceInfo>);
    Ok(Program::from_image(image, sandbox, source))
}

/// Call path of a function without a provider. Its calls are answered from the journal.
struct NoProvider {
    label: Arc<str>,
}

impl CallPath for NoProvider {
    fn label(&self) -> &str {
        &self.label
    }

    fn call(self: Arc<Self>, _call: Call, _context: Arc<RunContext>) -> Calling {
        Box::pin(pending())
    }

    fn refuse(&self, _call: &Call, _context: &RunContext) -> CapabilityError {
        CapabilityError::new(Code::CallDenied, format!("{} is not recorded", self.label))
    }

    fn refuse_arguments(
        self: Arc<Self>,
        call: Call,
        _issues: Vec<TypeIssue>,
        _order: Vec<String>,
        context: Arc<RunContext>,
    ) -> Refusing {
        Box::pin(ready(self.refuse(&call, &context)))
    }

    fn is_gated(&self) -> bool {
        false
    }

    fn scopes(&self) -> Vec<String> {
        Vec::new()
    }

    fn is_open(&self, _scopes: &BTreeSet<String>) -> bool {
        true
    }
}
