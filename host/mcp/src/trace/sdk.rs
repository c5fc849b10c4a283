//! Log events of the SDK and its dependencies, as trace lines.

use super::Trace;
use std::fmt::{self, Write as _};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Crates whose log events are traced.
const CRATES: [&str; 7] = ["rmcp", "reqwest", "hyper", "hyper_util", "tungstenite", "tokio_tungstenite", "rustls"];

/// Returns a `tracing` layer that writes warnings of `rmcp` and its dependencies to the trace, without secrets. It ignores
/// all other events.
pub fn sdk_layer<S>(trace: Trace) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    Lines { trace }.with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::WARN))
}

fn is_traced(metadata: &Metadata<'_>) -> bool {
    // Spans alone have no text.
    metadata.is_event() && CRATES.contains(&crate_of(metadata)) && *metadata.level() <= Level::WARN
}

struct Lines {
    trace: Trace,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.trace.line(crate_of(event.metadata()), || {
            let mut words = Words::default();
            event.record(&mut words);
            format!("{}: {}{}", event.metadata().level().as_str().to_lowercase(), words.message, words.fields)
        });
    }
}

fn crate_of<'a>(metadata: &Metadata<'a>) -> &'a str {
    metadata.target().split("::").next().unwrap_or_default()
}

/// Message and fields of an event. Not truncated here: that could cut a secret in half, and messages have a size limit.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Visit for Words {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String fails only if the value's own formatting does; the text so far is kept.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_secrets::{Redactor, Secret};
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::layer::SubscriberExt as _;

    fn lines(log: impl FnOnce()) -> Vec<String> {
        let redactor = Redactor::default();
        redactor.add(&Secret::new("hunter2-\"quoted\""));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let trace = Trace::to(redactor, move |line| sink.lock().expect("lock").push(line.to_string()));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(sdk_layer(trace)), log);
        lines.lock().expect("lock").clone()
    }

    #[test]
    fn secrets_in_fields_are_masked() {
        let secret = "hunter2-\"quoted\"";
        let found = lines(|| {
            tracing::warn!(target: "rmcp::transport", token = secret, debug = ?secret, other = 1, "refused {secret}");
            tracing::error!(target: "hyper", header = %format!("Authorization: Bearer unknown-token"));
        });
        assert_eq!(
            found,
            [
                "[mcp] rmcp: warn: refused [redacted] token=[redacted] debug=\"[redacted]\" other=1",
                "[mcp] hyper: error:  header=Authorization: Bearer [redacted]",
            ]
        );
    }

    #[test]
    fn other_crates_and_lower_levels_are_left_out() {
        let log = || {
            tracing::warn!(target: "another", "no");
            tracing::warn!(target: "rmcpx", "no");
            tracing::debug!(target: "hyper", "no");
            tracing::info!(target: "rmcp::service", "no");
        };
        assert_eq!(lines(log), Vec::<String>::new());
    }
}
