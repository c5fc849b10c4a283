//! `tracing` events on stderr: warnings of the library to the operator, and those of the MCP SDK as trace lines.

use super::terminal;
use agent_spaces::OPERATOR_TARGET;
use agent_spaces_mcp::trace::{Trace, sdk_layer};
use std::fmt::{Debug, Write as _};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// Prints events from now on. Only the first call of a process has an effect.
pub(super) fn print(trace: Trace) {
    let _is_first = tracing::subscriber::set_global_default(subscriber(trace, terminal::warn::<str>));
}

fn subscriber(trace: Trace, warn: impl Fn(&str) + Send + Sync + 'static) -> impl Subscriber + Send + Sync {
    let filter = filter_fn(is_for_operator).with_max_level_hint(LevelFilter::WARN);
    tracing_subscriber::registry().with(Operator(warn).with_filter(filter)).with(sdk_layer(trace))
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
        tracing::subscriber::with_default(subscriber(trace, warn), log);
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
