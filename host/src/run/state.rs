//! What the store of a run holds.

use crate::events::{ConsoleLevel, EventKind, EventSink};
use crate::limits::{
    BytesLimit, CallMemory, ConsoleLimit, DYNAMIC_VALUE_OVERHEAD, FailureLimit, InFlightLimit, Limit, Limits,
    MemoryLimit, Reached, SandboxMemory,
};
use crate::modules::Modules;
#[cfg(feature = "compiler")]
use crate::run::Memory;
use crate::run::turnstile::Turnstile;
use crate::run::{ConsoleLine, RunContext, RunScope};
use crate::usage::Usage;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::{ResourceLimiter, Result};

pub(crate) struct State {
    run_id: Arc<str>,
    started: Instant,
    modules: Arc<Modules>,
    memory: MemoryLimit,
    /// What the sandbox takes of the process's memory, and of that of the run whose call it answers.
    sandbox: SandboxMemory,
    console_limit: ConsoleLimit,
    in_flight: InFlightLimit,
    bytes: BytesLimit,
    failures: FailureLimit,
    /// What a guest may pass in one call as wasmtime counts it, whatever the host's memory.
    max_passed: u64,
    console: Vec<ConsoleLine>,
    context: Arc<RunContext>,
    scope: RunScope,
    turnstile: Turnstile,
    failure: Option<Failure>,
    /// What a component that is no script of ours has of WASI; made when it is first asked for.
    #[cfg(feature = "compiler")]
    wasi: Option<Box<super::wasi::Wasi>>,
    /// What the engine's memory is taken to, where that is what the run is for.
    #[cfg(feature = "compiler")]
    taking: Option<Taking>,
}

/// What becomes of a run whose memory is taken.
#[cfg(feature = "compiler")]
#[derive(Default)]
struct Taking {
    taken: Option<Taken>,
    /// Whether the run saw something that another run would see otherwise.
    has_looked_outside: bool,
}

/// An engine at one moment of a run.
#[cfg(feature = "compiler")]
pub(crate) struct Taken {
    pub(crate) memory: Memory,
    pub(crate) fuel_left: u64,
}

/// Why the host ended a run from within.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Limit(Limit),
    /// The values of its calls took more of the host's memory than a run may have.
    HostMemory,
    /// All runs together use what the process may.
    ProcessMemory,
    /// A handler failed in a function whose type has no way to say so.
    Unspeakable(String),
}

impl State {
    pub(crate) fn new(
        run_id: Arc<str>,
        limits: &Limits,
        modules: Arc<Modules>,
        context: Arc<RunContext>,
        started: Instant,
    ) -> State {
        State {
            run_id,
            started,
            modules,
            memory: MemoryLimit::new(limits.memory),
            sandbox: context.memory.sandbox(context.sandbox),
            console_limit: ConsoleLimit::new(limits.console),
            in_flight: InFlightLimit::new(limits.in_flight),
            bytes: BytesLimit::new(limits.call_bytes),
            failures: FailureLimit::new(limits.failures),
            max_passed: limits.call_bytes.max(limits.result).saturating_mul(DYNAMIC_VALUE_OVERHEAD),
            console: Vec::new(),
            context,
            scope: RunScope::default(),
            turnstile: Turnstile::default(),
            failure: None,
            #[cfg(feature = "compiler")]
            wasi: None,
            #[cfg(feature = "compiler")]
            taking: None,
        }
    }

    /// Gives a component WASI.
    #[cfg(feature = "compiler")]
    pub(crate) fn set_wasi(&mut self, wasi: super::wasi::Wasi) {
        self.wasi = Some(Box::new(wasi));
    }

    /// Whether the sandbox is a component of others.
    fn is_foreign(&self) -> bool {
        #[cfg(feature = "compiler")]
        return self.wasi.is_some();
        #[cfg(not(feature = "compiler"))]
        false
    }

    #[cfg(feature = "compiler")]
    pub(super) fn wasi(&mut self) -> &mut super::wasi::Wasi {
        self.wasi.get_or_insert_default()
    }

    /// Lets the run's memory be taken.
    #[cfg(feature = "compiler")]
    pub(crate) fn wait_for_memory(&mut self) {
        self.taking = Some(Taking::default());
    }

    /// Whether the run is for the engine's memory.
    #[cfg(feature = "compiler")]
    pub(crate) fn is_for_memory(&self) -> bool {
        self.taking.is_some()
    }

    /// Takes the memory of a run that is for that.
    #[cfg(feature = "compiler")]
    pub(crate) fn take(&mut self, taken: Taken) {
        if let Some(taking) = &mut self.taking {
            taking.taken = Some(taken);
        }
    }

    /// Takes note that the run saw something that another run would see otherwise.
    pub(crate) fn look_outside(&mut self) {
        #[cfg(feature = "compiler")]
        if let Some(taking) = &mut self.taking {
            taking.has_looked_outside = true;
        }
    }

    /// What was taken; nothing of a run that another would not be like.
    #[cfg(feature = "compiler")]
    pub(crate) fn taken(&mut self) -> Option<Taken> {
        self.taking.take().filter(|taking| !taking.has_looked_outside)?.taken
    }

    pub(crate) fn run_id(&self) -> &Arc<str> {
        &self.run_id
    }

    pub(crate) fn scope(&self) -> &RunScope {
        &self.scope
    }

    /// Where answers wait for the script to be idle.
    pub(crate) fn turnstile(&self) -> &Turnstile {
        &self.turnstile
    }

    pub(crate) fn events(&self) -> &EventSink {
        &self.context.events
    }

    pub(crate) fn context(&self) -> &Arc<RunContext> {
        &self.context
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn modules(&self) -> &Modules {
        &self.modules
    }

    pub(crate) fn emit(&mut self, kind: EventKind) {
        self.context.events.emit(kind);
    }

    /// Remembers why the run ends; the error ends it.
    fn reached(&mut self, reached: Reached) -> wasmtime::Error {
        self.failure.get_or_insert(Failure::Limit(reached.0));
        wasmtime::Error::new(reached)
    }

    /// How much a guest may pass in the next call, as wasmtime counts it: half of what is left of the host's memory, so
    /// that there is as much for what is made of it.
    pub(crate) fn passable(&self) -> usize {
        usize::try_from(self.max_passed.min(self.context.memory.left() / 2)).unwrap_or(usize::MAX)
    }

    /// Ends the run because its calls take more memory than the host has for it.
    pub(crate) fn out_of_host_memory(&mut self) -> wasmtime::Error {
        let is_process_out = self.context.memory.is_process_out();
        self.failure.get_or_insert(if is_process_out { Failure::ProcessMemory } else { Failure::HostMemory });
        wasmtime::Error::new(Reached(Limit::Memory))
    }

    /// Ends the run because a handler failed where the function's type cannot say so.
    pub(crate) fn unspeakable(&mut self, message: String) -> wasmtime::Error {
        self.failure.get_or_insert(Failure::Unspeakable(message.clone()));
        wasmtime::Error::msg(message)
    }

    pub(crate) fn print(&mut self, level: ConsoleLevel, text: String) -> Result<()> {
        self.console_limit.print(&text).map_err(|reached| self.reached(reached))?;
        if self.context.events.is_heard() {
            self.context.events.emit(EventKind::Console { level, text: text.clone() });
        }
        self.console.push(ConsoleLine { level, text });
        Ok(())
    }

    /// Takes note of a call, unless it is too much; gives its number.
    pub(crate) fn begin_call(
        &mut self,
        (params, bytes): (&Value, u64),
        memory: &CallMemory,
        event: impl FnOnce(u64) -> EventKind,
    ) -> Result<u64> {
        let counted = self.context.calls.count().and_then(|id| {
            self.bytes.send(bytes)?;
            self.in_flight.enter()?;
            Ok(id)
        });
        let call_id = counted.map_err(|reached| self.reached(reached))?;
        if self.context.events.is_heard() {
            // The event has a copy of the parameters.
            memory.take_value(params).map_err(|_| self.out_of_host_memory())?;
            self.context.events.emit(event(call_id));
        }
        Ok(call_id)
    }

    /// The most bytes that an answer may have: nothing is made of one that has more.
    pub(crate) fn max_answer(&self) -> u64 {
        self.bytes.allowed()
    }

    /// Takes note of an answer's size, unless it is too much.
    pub(crate) fn receive(&mut self, bytes: u64) -> Result<()> {
        self.bytes.receive(bytes).map_err(|reached| {
            self.in_flight.leave();
            self.reached(reached)
        })
    }

    /// Takes note of a call's end, unless too many have failed one after the other.
    pub(crate) fn end_call(&mut self, is_ok: bool, event: EventKind) -> Result<()> {
        self.in_flight.leave();
        self.context.events.emit(event);
        self.failures.count(is_ok).map_err(|reached| self.reached(reached))
    }

    /// What was used so far, and the parts of the report that are here.
    pub(crate) fn finish(&mut self, fuel: u64) -> (Usage, Vec<ConsoleLine>, Option<Failure>) {
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

/// The most instances, memories or tables of one component.
const MAX_PARTS: usize = 64;

impl ResourceLimiter for State {
    /// An error here ends the run at the growth: a script cannot catch it.
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        self.memory.grow(current, desired).map_err(|reached| self.reached(reached))?;
        let is_image = !self.is_foreign();
        match self.sandbox.grow(current, desired, is_image) {
            true => Ok(true),
            false => Err(self.out_of_host_memory()),
        }
    }

    /// The pool's own bound, which is above every limit that can be asked for.
    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> Result<()> {
        Err(self.reached(Reached(Limit::Memory)))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        self.memory.grow_table(current, desired).map_err(|reached| self.reached(reached))?;
        Ok(true)
    }

    /// Some for each language's runtime; each costs the host something besides its memory.
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
