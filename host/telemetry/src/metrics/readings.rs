//! Readings: gauges of the process that are read at every scrape.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use std::fmt;
use std::time::Duration;

/// Most servers that are listed: those of the configuration, which are few.
const MAX_SERVERS: usize = 500;

/// States of a process. What it does not have stays `None` and is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// Runs that wait for a slot.
    pub runs_queued: Option<u64>,
    /// Runs in memory that have begun.
    pub runs_executing: Option<u64>,
    /// Runs that may be in memory at once.
    pub places: Option<u64>,
    /// Runs that wait for one of these places, without those that a quota keeps waiting; if hosts share a store, this
    /// host's part of them.
    pub runs_waiting: Option<u64>,
    /// Time for which the first of them has waited.
    pub longest_wait: Option<Duration>,
    /// Hosts that share the store.
    pub hosts: Option<u64>,
    /// Runs that left memory and are continued later.
    pub runs_parked: Option<u64>,
    /// Approval requests without a decision.
    pub approvals_waiting: Option<u64>,
    /// Writes of the journal to disk since the process began.
    pub journal_flushes: Option<u64>,
    /// Health of MCP servers.
    pub servers: Vec<ServerHealth>,
}

impl Readings {
    /// Returns the load of the process as a part of what it can take: above 1, runs wait for others to end.
    fn saturation(&self) -> Option<f64> {
        let places = self.places.filter(|places| *places > 0)?;
        let wanted = self.runs_executing.unwrap_or_default().saturating_add(self.runs_waiting.unwrap_or_default());
        Some(wanted as f64 / places as f64)
    }
}

/// Health of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerHealth {
    /// Name in the configuration.
    pub name: String,
    /// False if the last attempt to list its tools failed, or if it is refused.
    pub is_up: bool,
}

/// Collector of the readings.
pub(super) struct Collected(Box<dyn Fn() -> Readings + Send + Sync>);

impl Collected {
    pub(super) fn new(read: impl Fn() -> Readings + Send + Sync + 'static) -> Collected {
        Collected(Box::new(read))
    }
}

impl fmt::Debug for Collected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Collected").finish_non_exhaustive()
    }
}

impl Collector for Collected {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let readings = (self.0)();
        let gauges = [
            ("runs_queued", "Runs that wait for a slot.", readings.runs_queued),
            ("runs_executing", "Runs in memory that have begun.", readings.runs_executing),
            ("places", "Runs that may be in memory at once.", readings.places),
            ("hosts", "Hosts that share the store.", readings.hosts),
            ("runs_parked", "Runs that left memory and are continued later.", readings.runs_parked),
            ("approvals_waiting", "Approval requests without a decision.", readings.approvals_waiting),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                gauge(value).encode(metric)?;
            }
        }
        let seconds = Unit::Seconds;
        let ratios = [
            (
                "saturation",
                "Runs that have a place or wait for one, by the number of places.",
                None,
                readings.saturation(),
            ),
            (
                "queue_wait",
                "Time for which the first run that waits for a place has waited.",
                Some(&seconds),
                readings.longest_wait.map(|wait| wait.as_secs_f64()),
            ),
        ];
        for (name, help, unit, value) in ratios {
            if let Some(value) = value {
                let metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
                ConstGauge::new(value).encode(metric)?;
            }
        }
        if let Some(flushes) = readings.journal_flushes {
            let help = "Writes of the journal to disk.";
            let metric = encoder.encode_descriptor("journal_flushes", help, None, MetricType::Counter)?;
            ConstCounter::new(flushes).encode(metric)?;
        }
        if !readings.servers.is_empty() {
            let help = "Whether an MCP server answers: 1 or 0.";
            let mut metric = encoder.encode_descriptor("mcp_server_up", help, None, MetricType::Gauge)?;
            for server in readings.servers.iter().take(MAX_SERVERS) {
                let labels = [("server", server.name.as_str())];
                gauge(u64::from(server.is_up)).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

fn gauge(value: u64) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX))
}
