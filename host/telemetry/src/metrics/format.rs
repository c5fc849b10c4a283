//! Text formats of metrics.
//!
//! In OpenMetrics a counter is declared without the suffix `_total` that its samples have. The older format of Prometheus,
//! which `promtool check metrics` reads, declares every name as its samples have it, and knows no units.

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

/// Text format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Text format 0.0.4 of Prometheus.
    Prometheus,
}

impl Format {
    /// Chooses the format by the header `Accept` of a scrape.
    pub fn accepted(accept: Option<&str>) -> Format {
        match accept {
            Some(accept) if accept.to_ascii_lowercase().contains("application/openmetrics-text") => Format::OpenMetrics,
            _ => Format::Prometheus,
        }
    }

    /// Returns the value of the header `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    pub(super) fn text(self, registry: &Registry) -> String {
        let mut text = String::new();
        // Writing to a String does not fail; if a metric fails, the text before it is kept.
        let _ = text::encode(&mut text, registry);
        match self {
            Format::OpenMetrics => text,
            Format::Prometheus => prometheus(&text),
        }
    }
}

/// Rewrites OpenMetrics as the older format.
fn prometheus(text: &str) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let counter =
            lines.peek().copied().and_then(|next: &str| next.strip_prefix("# TYPE ")?.strip_suffix(" counter"));
        if let (Some(help), Some(name)) = (line.strip_prefix("# HELP "), counter)
            && let Some(help) = help.strip_prefix(name)
        {
            rewritten.push_str(&format!("# HELP {name}_total{help}\n# TYPE {name}_total counter\n"));
            lines.next();
        } else if !line.starts_with("# UNIT ") && line != "# EOF" {
            rewritten.push_str(line);
            rewritten.push('\n');
        }
    }
    rewritten
}
