//! Logs, metrics and traces of the server.

use crate::commands::failure::Failure;
use crate::commands::serving::source::Source;
use crate::commands::{known_secrets, log_events, session, terminal};
use agent_spaces::Code;
use agent_spaces::journal::{ApprovalFilter, Status};
use agent_spaces::rest::{MetricsText, Service};
use agent_spaces_telemetry::log::LogFormat;
use agent_spaces_telemetry::metrics::{Format, Metrics, Readings, ServerHealth};
use agent_spaces_telemetry::{Guard, Settings, init};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// Interval at which the journal is asked for what metrics show.
const READ_INTERVAL: Duration = Duration::from_secs(5);

/// Sets up logs and traces, as the flags and the standard variables of OpenTelemetry say.
pub(super) fn start(log: LogFormat, is_traced: bool, runtime: Handle) -> Result<Guard, Failure> {
    // With a log, warnings are in it.
    let warn = move |text: &str| {
        if log == LogFormat::Off {
            terminal::warn(text);
        }
    };
    let settings = Settings {
        log,
        filter: None,
        redact: Some(Arc::new(|text| known_secrets::redactor().text(text).into_owned())),
        layers: log_events::layers(session::trace(is_traced), warn),
        runtime: Some(runtime),
    };
    init(settings).map_err(|error| Failure::new(Code::ConfigVariable, error.to_string(), None))
}

/// Metrics of the server, and the states that are read for them now and then.
#[derive(Clone)]
pub(super) struct ServedMetrics {
    metrics: Metrics,
    readings: Arc<Mutex<Readings>>,
}

impl ServedMetrics {
    pub(super) fn new() -> ServedMetrics {
        let readings = Arc::<Mutex<Readings>>::default();
        let read = readings.clone();
        let metrics = Metrics::new(move || read.lock().unwrap_or_else(PoisonError::into_inner).clone());
        ServedMetrics { metrics, readings }
    }

    /// Returns the metrics that events are counted in.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns what `/metrics` answers with.
    pub(super) fn text(&self) -> Arc<MetricsText> {
        let metrics = self.metrics.clone();
        Arc::new(move |accept: Option<&str>| {
            let format = Format::accepted(accept);
            (metrics.encode_as(format), format.content_type())
        })
    }

    /// Reads the states that metrics show. Never returns.
    pub(super) async fn read(self, service: Service, source: Arc<Source>) {
        loop {
            let readings = states(&service, &source).await;
            *self.readings.lock().unwrap_or_else(PoisonError::into_inner) = readings;
            tokio::time::sleep(READ_INTERVAL).await;
        }
    }
}

async fn states(service: &Service, source: &Source) -> Readings {
    let count = |count: usize| u64::try_from(count).ok();
    let load = service.load();
    let mut readings = Readings {
        runs_queued: count(load.waiting),
        runs_executing: count(load.running),
        places: count(load.places),
        // Every host of a store sees the runs that wait in it.
        runs_waiting: count(load.waiting.div_ceil(service.hosts())),
        longest_wait: Some(load.longest_wait),
        hosts: count(service.hosts()),
        ..Readings::default()
    };
    if let Some(store) = source.store() {
        if let Ok(size) = store.size().await {
            readings.runs_parked = Some(size.runs.get(&Status::Parked).copied().unwrap_or_default());
            let ready = size.runs.get(&Status::Ready).copied().unwrap_or_default();
            readings.runs_queued = readings.runs_queued.map(|queued| queued.max(ready));
        }
        let filter = ApprovalFilter { limit: usize::MAX, ..ApprovalFilter::default() };
        readings.approvals_waiting = store.count_approvals(filter).await.ok();
        // Every write changes the version.
        readings.journal_flushes = Some(store.changed(0).await);
    }
    readings.servers = source.health().into_iter().map(|(name, is_up)| ServerHealth { name, is_up }).collect();
    readings
}
