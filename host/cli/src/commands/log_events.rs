//! `tracing` events on stderr: warnings of the library to the operator, and those of the MCP SDK as trace lines.

use super::terminal;
use agent_spaces::OPERATOR_TARGET;
use agent_spaces_mcp::trace::{Trace, sdk_layer};
use agent_spaces_telemetry::BoxedLayer;
use std::fmt::{Debug, Write as _};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{Filtered, LevelFilter, filter_fn};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// Prints events from now on. Only the first call of a process has an effect.
pub(super) fn print(trace: Trace) {
    let layers = layers(trace, terminal::warn::<str>);
    let _is_first = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layers));
}

/// Returns the layers for the operator and for the trace of MCP servers. A command with further ones, such as structured
/// logs, passes these to `agent_spaces_telemetry::init` before it opens a session: the first subscriber of a process
/// counts.
pub(super) fn layers(trace: Trace, warn: impl Fn(&str) + Send + Sync + 'static) -> Vec<BoxedLayer> {
    let filter = filter_fn(is_for_operator).with_max_level_hint(LevelFilter::WARN);
    let operator: Filtered<_, _, Registry> = Operator(warn).with_filter(filter);
    vec![Box::new(operator), Box::new(sdk_layer::<Registry>(trace))]
}

fn is_for_operator(metadata: &Metadata<'_>) -> bool {
    metadata.is_event() && metadata.target() == OPERATOR_TARGET && *metadata.level() <= Level::WARN
}

/// Passes the message of each event to a function. Other fields are for hosts that keep logs.
struct Operator<Warn>(Warn);

impl<S: Subscriber, Warn: Fn(&str) + 'static> Layer<S> for Operator<Warn> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut message = Message::default();
        event.record(&mut message);
        (self.0)(&message.0);
    }
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // Writing to a String fails only if the value's own formatting does; the text so far is kept.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_mcp::secrets::Redactor;
    use std::sync::{Arc, Mutex};

    /// Returns the warnings and the trace lines of these events.
    fn printed(log: impl FnOnce()) -> (Vec<String>, Vec<String>) {
        let (warnings, lines) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (to_warnings, to_lines) = (warnings.clone(), lines.clone());
        let trace = Trace::to(Redactor::default(), move |line| to_lines.lock().unwrap().push(line.to_string()));
        let warn = move |text: &str| to_warnings.lock().unwrap().push(text.to_owned());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layers(trace, warn)), log);
        (warnings.lock().unwrap().clone(), lines.lock().unwrap().clone())
    }

    #[test]
    fn warnings_to_the_operator_are_their_message_alone() {
        let (warnings, lines) = printed(|| {
            tracing::warn!(target: OPERATOR_TARGET, log = "x.jsonl", "the audit log is {}", "full");
            tracing::warn!(target: "rmcp::service", "closed");
        });
        assert_eq!(warnings, ["the audit log is full"]);
        assert_eq!(lines, ["[mcp] rmcp: warn: closed"]);
    }

    #[test]
    fn other_events_are_dropped() {
        let (warnings, lines) = printed(|| {
            tracing::info!(target: OPERATOR_TARGET, "no");
            tracing::warn!(target: "agent_spaces", "no");
            tracing::error!("no");
        });
        assert_eq!((warnings, lines), (Vec::new(), Vec::new()));
    }
}
