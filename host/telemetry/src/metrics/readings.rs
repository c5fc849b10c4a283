//! Readings: gauges of the process that are read at every scrape.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fmt;

/// Most servers that are listed: those of the configuration, which are few.
const MAX_SERVERS: usize = 500;

/// States of a process. What it does not have stays `None` and is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// Runs that wait for a slot.
    pub runs_queued: Option<u64>,
    /// Runs in memory that have begun.
    pub runs_executing: Option<u64>,
    /// Runs that left memory and are continued later.
    pub runs_parked: Option<u64>,
    /// Approval requests without a decision.
    pub approvals_waiting: Option<u64>,
    /// Writes of the journal to disk since the process began.
    pub journal_flushes: Option<u64>,
    /// Health of MCP servers.
    pub servers: Vec<ServerHealth>,
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
            ("runs_parked", "Runs that left memory and are continued later.", readings.runs_parked),
            ("approvals_waiting", "Approval requests without a decision.", readings.approvals_waiting),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                gauge(value).encode(metric)?;
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
