//! `tracing` subscriber of a process: logs, export of spans, and layers of the program.

use crate::layer::BoxedLayer;
use crate::log::{self, LogFormat, Redact};
#[cfg(feature = "otlp")]
use crate::otlp;
use std::time::Duration;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;

/// Longest time to wait for the last spans to be exported when the process ends. Container platforms kill a process some
/// ten seconds after they ask it to end.
pub const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Settings of a process's telemetry.
#[derive(Default)]
pub struct Settings {
    /// Format of the log.
    pub log: LogFormat,
    /// Filter of the log: `target=level`, separated by commas. `None` is that of the environment, or the default.
    pub filter: Option<String>,
    /// Removes secrets from the log.
    pub redact: Option<Redact>,
    /// Further layers: the program's own.
    pub layers: Vec<BoxedLayer>,
    /// Runtime that sends spans. `None` exports none, whatever the environment says.
    #[cfg(feature = "otlp")]
    pub runtime: Option<tokio::runtime::Handle>,
}

/// Telemetry that could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Malformed filter of the log.
    #[error("{0}")]
    Filter(String),
    /// The environment asks for an export that cannot be made.
    #[error("spans cannot be exported: {0} (see OTEL_EXPORTER_OTLP_ENDPOINT, or set OTEL_SDK_DISABLED=true)")]
    Export(String),
    /// The process has a subscriber already.
    #[error("the process has a tracing subscriber already")]
    Subscriber,
}

/// Telemetry of the process. Dropping it waits for the last spans, at most [`FLUSH_TIMEOUT`].
#[must_use = "dropping it ends the export of spans"]
#[derive(Debug, Default)]
pub struct Guard {
    #[cfg(feature = "otlp")]
    exporter: Option<otlp::Exporter>,
}

#[cfg(feature = "otlp")]
impl Guard {
    /// Returns true if spans are exported.
    pub fn is_exporting(&self) -> bool {
        self.exporter.is_some()
    }

    /// Exports the last spans without blocking the runtime, at most for twice [`FLUSH_TIMEOUT`].
    pub async fn shutdown(mut self) {
        if let Some(exporter) = self.exporter.take() {
            exporter.shutdown(FLUSH_TIMEOUT).await;
        }
    }
}

#[cfg(not(feature = "otlp"))]
impl Guard {
    /// Returns true if spans are exported.
    pub fn is_exporting(&self) -> bool {
        false
    }

    /// Exports the last spans without blocking the runtime, at most for twice [`FLUSH_TIMEOUT`].
    pub async fn shutdown(self) {}
}

#[cfg(feature = "otlp")]
impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(exporter) = self.exporter.take() {
            exporter.end(FLUSH_TIMEOUT);
        }
    }
}

/// Sets the subscriber of the process.
///
/// # Errors
/// The filter or the variables of the export are malformed, or there is a subscriber already.
pub fn init(settings: Settings) -> Result<Guard, InitError> {
    let (layers, guard) = layers(settings)?;
    let subscriber = tracing_subscriber::registry().with(layers);
    tracing::subscriber::set_global_default(subscriber).map_err(|_| InitError::Subscriber)?;
    Ok(guard)
}

/// Returns the layers of the subscriber.
fn layers(settings: Settings) -> Result<(Vec<BoxedLayer>, Guard), InitError> {
    let mut layers = settings.layers;
    let filter = log::filter(&settings.filter.unwrap_or_else(log::filter_from_env)).map_err(InitError::Filter)?;
    if let Some(layer) = log::layer::<Registry>(settings.log, filter, settings.redact) {
        layers.push(Box::new(layer));
    }
    #[cfg(feature = "otlp")]
    let guard = match settings.runtime.filter(|_| otlp::is_configured()) {
        Some(runtime) => {
            let exporter = otlp::Exporter::new(runtime).map_err(InitError::Export)?;
            layers.push(exporter.layer());
            Guard { exporter: Some(exporter) }
        }
        None => Guard::default(),
    };
    #[cfg(not(feature = "otlp"))]
    let guard = Guard::default();
    Ok((layers, guard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_filter_is_an_error() {
        let settings = Settings { filter: Some("agent_spaces=loud".to_owned()), ..Settings::default() };
        assert!(matches!(layers(settings), Err(InitError::Filter(_))));
    }

    #[test]
    fn layers_of_the_program_stay() {
        let quiet = || Settings { filter: Some("warn".to_owned()), log: LogFormat::Off, ..Settings::default() };
        assert_eq!(layers(quiet()).unwrap().0.len(), 0);
        let own: BoxedLayer = Box::new(tracing_subscriber::layer::Identity::new());
        let (kept, guard) = layers(Settings { layers: vec![own], ..quiet() }).unwrap();
        assert_eq!((kept.len(), guard.is_exporting()), (1, false));
    }
}
