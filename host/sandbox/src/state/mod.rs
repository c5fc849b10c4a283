//! Store data of a run: limits, events, imports.
//!
//! - [`answer_queue`]: delivery of answers to the script, one at a time
//! - `dirty_pages`: the pages that a run wrote, for a memory capture
//! - `meter`: account of the fuel
//! - `wasi`: WASI context of foreign components (feature `wasi`)

pub mod answer_queue;
mod dirty_pages;
mod meter;
#[cfg_attr(not(feature = "wasi"), path = "no_wasi.rs")]
mod wasi;

pub use dirty_pages::DirtyPages;
pub use wasi::Wasi;

use crate::imports::RunImports;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::events::EventSink;
use agent_spaces_calls::host_memory::{CallMemory, SandboxMemory};
use agent_spaces_calls::journal::{Diverged, RecordedAnswer, RunJournal};
use agent_spaces_calls::scope::RunScope;
use agent_spaces_types::code::Code;
use agent_spaces_types::event::{ConsoleLevel, ConsoleLine, EventKind};
use agent_spaces_types::limits::{
    BytesLimit, ConsoleLimit, DYNAMIC_VALUE_OVERHEAD, FailureLimit, InFlightLimit, Limit, Limits, MemoryLimit, Reached,
};
use agent_spaces_types::usage::Usage;
use answer_queue::AnswerQueue;
use meter::Meter;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::{AsContextMut, ResourceLimiter, Result};

/// Store data of a run.
pub struct State {
    run_id: Arc<str>,
    started: Instant,
    imports: Option<RunImports>,
    memory: MemoryLimit,
    /// Account of the sandbox's memory.
    sandbox: SandboxMemory,
    console_limit: ConsoleLimit,
    in_flight: InFlightLimit,
    bytes: BytesLimit,
    failures: FailureLimit,
    /// Maximum size of one call's arguments as wasmtime counts it, whatever host memory is left.
    max_passed: u64,
    console: Vec<ConsoleLine>,
    context: Arc<RunContext>,
    scope: RunScope,
    answers: AnswerQueue,
    meter: Meter,
    failure: Option<Failure>,
    /// Codes with which the host refused calls, each once.
    refusals: Vec<Code>,
    /// WASI context of a foreign component.
    wasi: Option<Box<Wasi>>,
    /// Memory capture, if that is the run's purpose.
    capture: Option<CaptureState>,
}

/// State of a memory capture.
#[derive(Default)]
struct CaptureState {
    taken: Option<EngineState>,
    /// True if the run read the clock or randomness, so that another run may come to another memory.
    is_nondeterministic: bool,
}

/// Engine at one moment of a run.
pub struct EngineState {
    /// Dirty pages of its memory.
    pub memory: DirtyPages,
    /// Fuel consumed.
    pub fuel: u64,
}

/// Reason why the host ended a run from within.
#[derive(Clone, Debug)]
pub enum Failure {
    /// A limit was reached.
    Limit(Limit),
    /// The host memory of the run is exhausted.
    HostMemory,
    /// The memory budget of all runs is exhausted.
    ProcessMemory,
    /// A handler failed in a function whose result type has no error case.
    NoErrorType(String),
    /// A replayed script did something else than was recorded.
    Diverged(Diverged),
}

/// Call that the guest has begun.
pub struct BegunCall {
    /// Its number in the run.
    pub id: u64,
    /// Its answer, if that was recorded.
    pub recorded: Option<RecordedAnswer>,
}

impl State {
    /// Creates the store data of a run; without imports for a foreign component.
    pub fn new(
        run_id: Arc<str>,
        limits: &Limits,
        imports: Option<RunImports>,
        context: Arc<RunContext>,
        started: Instant,
    ) -> State {
        State {
            run_id,
            started,
            imports,
            memory: MemoryLimit::new(limits.memory),
            sandbox: context.memory.sandbox(context.sandbox),
            console_limit: ConsoleLimit::new(limits.console),
            in_flight: InFlightLimit::new(limits.in_flight),
            bytes: BytesLimit::new(limits.call_bytes),
            failures: FailureLimit::new(limits.failures),
            max_passed: limits.call_bytes.max(limits.result).saturating_mul(DYNAMIC_VALUE_OVERHEAD),
            console: Vec::new(),
            answers: match &context.journal {
                Some(journal) => AnswerQueue::replaying(journal.deliveries()),
                None => AnswerQueue::default(),
            },
            context,
            scope: RunScope::default(),
            meter: Meter::new(Some(limits.fuel), 0),
            failure: None,
            refusals: Vec::new(),
            wasi: None,
            capture: None,
        }
    }

    /// Sets the WASI context of a foreign component.
    pub fn set_wasi(&mut self, wasi: Wasi) {
        self.wasi = Some(Box::new(wasi));
    }

    /// Returns true if the sandbox is a foreign component.
    fn is_foreign(&self) -> bool {
        self.wasi.is_some()
    }

    /// Enables the memory capture.
    pub fn capture_memory(&mut self) {
        self.capture = Some(CaptureState::default());
    }

    /// Returns true if the run captures the engine's memory.
    pub fn is_capturing(&self) -> bool {
        self.capture.is_some()
    }

    /// Stores the captured memory.
    pub fn capture(&mut self, taken: EngineState) {
        if let Some(taking) = &mut self.capture {
            taking.taken = Some(taken);
        }
    }

    /// Records that the run read something that differs between runs: its memory must not be reused.
    pub fn mark_nondeterministic(&mut self) {
        if let Some(taking) = &mut self.capture {
            taking.is_nondeterministic = true;
        }
    }

    /// Takes the captured memory; `None` if the run was nondeterministic.
    pub fn captured(&mut self) -> Option<EngineState> {
        self.capture.take().filter(|taking| !taking.is_nondeterministic)?.taken
    }

    /// Returns the run id.
    pub fn run_id(&self) -> &Arc<str> {
        &self.run_id
    }

    /// Returns the values that live as long as the run.
    pub fn scope(&self) -> &RunScope {
        &self.scope
    }

    /// Returns the queue of answers, which wait for the script to be idle.
    pub fn answers(&self) -> &AnswerQueue {
        &self.answers
    }

    /// Returns the event sink.
    pub fn events(&self) -> &EventSink {
        &self.context.events
    }

    /// Returns the run context.
    pub fn context(&self) -> &Arc<RunContext> {
        &self.context
    }

    /// Returns the journal of a durable run.
    pub fn journal(&self) -> Option<&Arc<dyn RunJournal>> {
        self.context.journal.as_ref()
    }

    /// Sets the fuel that the guest may consume, without a limit if it is `None`, and what it is charged from the start.
    pub fn set_fuel(&mut self, limit: Option<u64>, spent: u64) {
        self.meter = Meter::new(limit, spent);
    }

    /// Returns the fuel that the guest had consumed when it last told, or when it was last [noted](note_fuel).
    pub fn fuel_consumed(&self) -> u64 {
        self.meter.consumed()
    }

    /// Counts the fuel that the engine used, and returns its next slice, or the error that ends the run at its limit.
    pub(crate) fn refill(&mut self, left: i64) -> Result<i64> {
        self.meter.refill(left).ok_or_else(|| self.reached(Reached(Limit::Fuel)))
    }

    /// True if the run has to let others go on after a slice.
    pub(crate) fn must_yield(&mut self) -> bool {
        self.meter.must_yield(Instant::now())
    }

    /// Takes note of the end of a yield.
    pub(crate) fn resume(&mut self) {
        self.meter.resume(Instant::now());
    }

    /// Counts the fuel that the engine used of its slice.
    pub(crate) fn note(&mut self, left: i64) {
        self.meter.note(left);
    }

    /// Records that a replayed script diverged, and returns the error that ends the run.
    pub fn diverged(&mut self, diverged: Diverged) -> wasmtime::Error {
        self.failure.get_or_insert(Failure::Diverged(diverged.clone()));
        wasmtime::Error::new(diverged)
    }

    /// Returns the start time.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns what the run can import; `None` for a foreign component.
    pub(crate) fn imports(&self) -> Option<&RunImports> {
        self.imports.as_ref()
    }

    /// Emits an event.
    pub fn emit(&mut self, kind: EventKind) {
        self.context.events.emit(kind);
    }

    /// Records the limit that was reached, and returns the error that ends the run.
    fn reached(&mut self, reached: Reached) -> wasmtime::Error {
        self.failure.get_or_insert(Failure::Limit(reached.0));
        wasmtime::Error::new(reached)
    }

    /// Returns the maximum size of the next call's arguments as wasmtime counts it: half of the host memory left, so
    /// that the other half is there for their JSON.
    pub fn max_next_call_bytes(&self) -> usize {
        usize::try_from(self.max_passed.min(self.context.memory.left() / 2)).unwrap_or(usize::MAX)
    }

    /// Records that host memory is exhausted, and returns the error that ends the run.
    pub fn out_of_host_memory(&mut self) -> wasmtime::Error {
        let is_process_out = self.context.memory.is_process_out();
        self.failure.get_or_insert(if is_process_out { Failure::ProcessMemory } else { Failure::HostMemory });
        wasmtime::Error::new(Reached(Limit::Memory))
    }

    /// Records that a handler failed in a function whose result type has no error case, and returns the error that ends
    /// the run.
    pub fn fail_without_error_type(&mut self, message: String) -> wasmtime::Error {
        self.failure.get_or_insert(Failure::NoErrorType(message.clone()));
        wasmtime::Error::msg(message)
    }

    /// Writes a console message, or returns the error that ends the run if the limit is reached.
    pub fn print(&mut self, level: ConsoleLevel, text: String) -> Result<()> {
        self.console_limit.print(&text).map_err(|reached| self.reached(reached))?;
        if self.context.events.is_heard() {
            self.context.events.emit(EventKind::Console { level, text: text.clone() });
        }
        self.console.push(ConsoleLine { level, text });
        Ok(())
    }

    /// Counts a call and returns its number and recorded answer, or the error that ends the run if a limit is reached.
    pub fn begin_call(
        &mut self,
        (params, bytes): (&Value, u64),
        memory: &CallMemory,
        event: impl FnOnce(u64) -> EventKind,
    ) -> Result<BegunCall> {
        let counted = self.context.calls.count().and_then(|id| {
            self.bytes.send(bytes)?;
            self.in_flight.enter()?;
            Ok(id)
        });
        let call_id = counted.map_err(|reached| self.reached(reached))?;
        let started = self.journal().map(|journal| journal.start_call(call_id, self.meter.consumed()));
        let recorded = started.transpose().map_err(|diverged| self.diverged(diverged))?.flatten();
        if self.context.events.is_heard() {
            // The event has a copy of the parameters.
            memory.take_value(params).map_err(|_| self.out_of_host_memory())?;
            self.context.events.emit(event(call_id));
        }
        Ok(BegunCall { id: call_id, recorded })
    }

    /// Returns the maximum size of an answer: larger ones are not converted.
    pub fn max_answer(&self) -> u64 {
        self.bytes.allowed()
    }

    /// Counts the size of an answer, or returns the error that ends the run if the limit is reached.
    pub fn receive(&mut self, bytes: u64) -> Result<()> {
        self.bytes.receive(bytes).map_err(|reached| {
            self.in_flight.leave();
            self.reached(reached)
        })
    }

    /// Counts the end of a call, or returns the error that ends the run after too many consecutive failures.
    pub fn end_call(&mut self, is_ok: bool, event: EventKind) -> Result<()> {
        self.in_flight.leave();
        if let EventKind::CallError { code, .. } = &event
            && let Some(code) = Code::parse(code).filter(|code| code.is_refusal())
            && !self.refusals.contains(&code)
        {
            self.refusals.push(code);
        }
        self.context.events.emit(event);
        self.failures.count(is_ok).map_err(|reached| self.reached(reached))
    }

    /// Takes the codes with which the host refused calls.
    pub fn take_refusals(&mut self) -> Vec<Code> {
        std::mem::take(&mut self.refusals)
    }

    /// Returns the usage, the console output, and the reason if the host ended the run.
    pub fn finish(&mut self, fuel: u64) -> (Usage, Vec<ConsoleLine>, Option<Failure>) {
        let usage = Usage {
            fuel,
            memory_bytes: self.memory.peak(),
            wall_ms: self.started.elapsed().as_secs_f64() * 1e3,
            calls: self.context.calls.made(),
            bytes_in: self.bytes.received(),
            bytes_out: self.bytes.sent(),
        };
        (usage, std::mem::take(&mut self.console), self.failure.take())
    }
}

/// Notes the fuel that the guest has consumed. An engine that meters itself has told before it called the host.
pub(crate) fn note_fuel(store: &mut impl AsContextMut<Data = State>) {
    let mut store = store.as_context_mut();
    if let Ok(left) = store.get_fuel() {
        store.data_mut().meter.note_left(left);
    }
}

/// Maximum instances, memories or tables of one component.
const MAX_PARTS: usize = 64;

impl ResourceLimiter for State {
    /// Returns an error instead of `false`: it ends the run, and the script cannot catch it.
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        self.memory.grow(current, desired).map_err(|reached| self.reached(reached))?;
        let is_image = !self.is_foreign();
        match self.sandbox.grow(current, desired, is_image) {
            true => Ok(true),
            false => Err(self.out_of_host_memory()),
        }
    }

    /// Called for the pool's own bound, which is above every valid limit.
    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> Result<()> {
        Err(self.reached(Reached(Limit::Memory)))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        self.memory.grow_table(current, desired).map_err(|reached| self.reached(reached))?;
        Ok(true)
    }

    /// Language runtimes need several; each costs host memory besides its own.
    fn instances(&self) -> usize {
        MAX_PARTS
    }

    fn memories(&self) -> usize {
        MAX_PARTS
    }

    fn tables(&self) -> usize {
        MAX_PARTS
    }
}
