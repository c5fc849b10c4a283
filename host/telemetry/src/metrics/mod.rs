//! Metrics of a process, as Prometheus reads them.
//!
//! Runs and calls are counted from the event stream: give [`Metrics::observe`] to the observer of a space. Events of a
//! durable run reach it once, however often the run is replayed. States of the process are read at every scrape: see
//! [`Readings`].
//!
//! # Layout
//! - `mod`: the registry, updated by events
//! - `agents`: metrics of agents and models
//! - `labels`: labels, and the bound on their number
//! - `readings`: gauges that are read at every scrape
//! - `format`: the two text formats

mod agents;
mod format;
mod labels;
mod readings;

pub use agents::AgentMetrics;
pub use format::Format;
pub use labels::MAX_FUNCTIONS;
pub use readings::{Readings, ServerHealth};

use agent_spaces_types::event::{Event, EventKind};
use labels::{CallLabels, Calls, Decision, Functions, Outcome};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;

/// Prefix of every name, but for those of the context guard.
const PREFIX: &str = "agent_spaces";

/// Bounds of durations of runs and calls, in seconds: a run without calls takes microseconds, one that waits for a server
/// seconds.
const SECONDS: [f64; 14] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];

/// Bounds of fuel: a short script uses some hundred thousand units, the default limit is a few billion.
const FUEL: [f64; 7] = [1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11];

/// Bounds of memory, in bytes: 1 MiB to 1 GiB.
const BYTES: [f64; 6] = [1_048_576.0, 4_194_304.0, 16_777_216.0, 67_108_864.0, 268_435_456.0, 1_073_741_824.0];

/// Metrics of a process. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    runs: Family<Outcome, Counter>,
    run_seconds: Histogram,
    run_fuel: Histogram,
    run_bytes: Histogram,
    calls: Family<CallLabels, Counter>,
    call_seconds: Histogram,
    retries: Counter,
    approvals: Family<Decision, Counter>,
    functions: Functions,
    open: Calls,
    agents: AgentMetrics,
}

impl Metrics {
    /// Creates the metrics of a process. `read` is called at every scrape and must not block.
    pub fn new(read: impl Fn() -> Readings + Send + Sync + 'static) -> Metrics {
        let mut all = Registry::default();
        let registry = all.sub_registry_with_prefix(PREFIX);
        let runs = Family::<Outcome, Counter>::default();
        let calls = Family::<CallLabels, Counter>::default();
        let approvals = Family::<Decision, Counter>::default();
        let (run_seconds, call_seconds) = (Histogram::new(SECONDS), Histogram::new(SECONDS));
        let (run_fuel, run_bytes) = (Histogram::new(FUEL), Histogram::new(BYTES));
        let retries: Counter = Counter::default();
        // A help text gets its full stop from the registry.
        registry.register("runs", "Runs that ended, by outcome", runs.clone());
        registry.register_with_unit("run_duration", "Wall-clock time of runs", Unit::Seconds, run_seconds.clone());
        registry.register("run_fuel", "Fuel that runs consumed", run_fuel.clone());
        registry.register_with_unit("run_memory", "Peak memory of runs", Unit::Bytes, run_bytes.clone());
        registry.register("calls", "Calls of capability functions, by function and outcome", calls.clone());
        registry.register_with_unit("call_duration", "Wall-clock time of calls", Unit::Seconds, call_seconds.clone());
        registry.register("call_retries", "Retries of calls that failed for a time", retries.clone());
        registry.register("approvals", "Approval requests that were decided or expired", approvals.clone());
        let agents = AgentMetrics::default();
        agents.register(registry);
        registry.register_collector(Box::new(readings::Collected::new(read)));
        agents.register_guard(&mut all);
        let (functions, open) = (Functions::default(), Calls::default());
        Metrics(Arc::new(Inner {
            registry: all,
            runs,
            run_seconds,
            run_fuel,
            run_bytes,
            calls,
            call_seconds,
            retries,
            approvals,
            functions,
            open,
            agents,
        }))
    }

    /// Metrics of agents and models, for those who ask them.
    pub fn agents(&self) -> AgentMetrics {
        self.0.agents.clone()
    }

    /// Counts an event. Runs that answer calls of other runs are counted as those calls, not as runs.
    pub fn observe(&self, event: &Event) {
        let inner = &*self.0;
        match &event.kind {
            EventKind::CallScheduled { call_id, capability, function, .. } => {
                inner.open.begin(&event.run_id, *call_id, inner.functions.label(capability, function));
            }
            EventKind::CallRepeated { .. } => {
                inner.retries.inc();
            }
            EventKind::CallResult { call_id, duration_ms, cached } => {
                let outcome = if *cached { "cached" } else { "ok" };
                inner.end_call(event, *call_id, outcome, *duration_ms);
            }
            EventKind::CallError { call_id, duration_ms, code, .. } => {
                inner.end_call(event, *call_id, labels::code(code), *duration_ms);
            }
            EventKind::ApprovalDecided { decision, .. } => {
                inner.approvals.get_or_create(&Decision { decision }).inc();
            }
            EventKind::RunFinished { ok, error, usage } => {
                inner.open.end_run(&event.run_id);
                if event.parent.is_none() {
                    let code = error.as_ref().map_or("other", |error| labels::code(&error.code));
                    let outcome = Outcome { outcome: if *ok { "ok" } else { code } };
                    inner.runs.get_or_create(&outcome).inc();
                    inner.run_seconds.observe(usage.wall_ms / 1e3);
                    inner.run_fuel.observe(usage.fuel as f64);
                    inner.run_bytes.observe(usage.memory_bytes as f64);
                }
            }
            _ => {}
        }
    }

    /// Returns all metrics in the OpenMetrics text format.
    pub fn encode(&self) -> String {
        self.encode_as(Format::OpenMetrics)
    }

    /// Returns all metrics in a format.
    pub fn encode_as(&self, format: Format) -> String {
        format.text(&self.0.registry)
    }
}

impl Inner {
    fn end_call(&self, event: &Event, call_id: u64, outcome: &'static str, duration_ms: f64) {
        let function = self.open.end(&event.run_id, call_id);
        self.calls.get_or_create(&CallLabels { function, outcome }).inc();
        self.call_seconds.observe(duration_ms / 1e3);
    }
}

#[cfg(test)]
mod tests;
