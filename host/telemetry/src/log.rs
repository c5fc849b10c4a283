//! Structured logs: `tracing` events on stderr, one line each.
//!
//! A line of JSON is one object: `timestamp`, `level`, `target`, `message`, `fields`, and of the span that it is in
//! `runId`, `traceId` and `spanId`. The filter is a list of `target=level`, as in `RUST_LOG`; by default only the host's own
//! events are written, because those of libraries may quote what they send.

use crate::{context, names};
use serde_json::{Map, Value, json};
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Metadata, Span, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Filter that is used if none is set.
pub const DEFAULT_FILTER: &str = "agent_spaces=info";

/// Variables with the filter; the first that is set counts.
pub const FILTER_VARIABLES: [&str; 2] = ["AGENT_SPACES_LOG", "RUST_LOG"];

/// Longest text of a message or a field, in bytes: a line stays readable, and below what collectors split.
const MAX_TEXT: usize = 8 << 10;

/// Most fields of a line; events of libraries have few.
const MAX_FIELDS: usize = 32;

/// Format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
    /// Nothing.
    Off,
}

impl LogFormat {
    /// Names of all formats, as `--log` takes them.
    pub const NAMES: [&str; 3] = ["text", "json", "off"];
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<LogFormat, String> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            "off" => Ok(LogFormat::Off),
            _ => Err(format!("unknown log format (use {})", LogFormat::NAMES.join(", "))),
        }
    }
}

/// Removes secrets from a text.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Parses a filter.
///
/// # Errors
/// It is malformed; the text says what is expected.
pub fn filter(text: &str) -> Result<Targets, String> {
    let expected =
        |error| format!("invalid log filter: {error} (use a list of target=level: {DEFAULT_FILTER},rmcp=warn)");
    Targets::from_str(text).map_err(expected)
}

/// Returns the filter that the environment sets, or the default.
pub fn filter_from_env() -> String {
    let set = FILTER_VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).find(|text| !text.trim().is_empty());
    set.unwrap_or_else(|| DEFAULT_FILTER.to_owned())
}

/// Returns the layer that writes events to stderr; none for [`LogFormat::Off`].
pub fn layer<S>(format: LogFormat, filter: Targets, redact: Option<Redact>) -> Option<impl Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    writing::<S>(format, filter, redact, |line| {
        // A closed stderr ends neither the process nor a run.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    })
}

fn writing<S>(
    format: LogFormat,
    targets: Targets,
    redact: Option<Redact>,
    write: impl Fn(&str) + Send + Sync + 'static,
) -> Option<impl Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    if format == LogFormat::Off {
        return None;
    }
    // Spans have the ids that lines are found by.
    let highest = targets.iter().map(|(_, level)| level).chain(targets.default_level()).max();
    let highest = highest.unwrap_or(LevelFilter::OFF).max(LevelFilter::INFO);
    let is_written = move |metadata: &Metadata<'_>| match metadata.is_span() {
        true => metadata.target() == names::TARGET,
        false => targets.would_enable(metadata.target(), metadata.level()),
    };
    Some(Lines { format, redact, write }.with_filter(filter_fn(is_written).with_max_level_hint(highest)))
}

struct Lines<Write> {
    format: LogFormat,
    redact: Option<Redact>,
    write: Write,
}

/// Run id of a span, among its extensions.
struct RunId(String);

/// Visitor that copies the run id and no other field: spans are opened for every call.
struct RunIdVisitor(Option<RunId>);

impl Visit for RunIdVisitor {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == names::RUN_ID {
            self.0 = Some(RunId(value.to_owned()));
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl<S, Write> Layer<S> for Lines<Write>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    Write: Fn(&str) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut found = RunIdVisitor(None);
        attributes.record(&mut found);
        if let (Some(run_id), Some(span)) = (found.0, context.span(id)) {
            span.extensions_mut().replace(run_id);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let run_id = context.event_scope(event).into_iter().flatten().find_map(|span| {
            let extensions = span.extensions();
            extensions.get::<RunId>().map(|run_id| run_id.0.clone())
        });
        let line = Line { metadata: event.metadata(), fields, run_id, trace: context::of(&Span::current()) };
        let mut text = match self.format {
            LogFormat::Json => line.json(self.redact.as_ref()),
            LogFormat::Text | LogFormat::Off => line.text(self.redact.as_ref()),
        };
        text.push('\n');
        (self.write)(&text);
    }
}

/// One line of the log.
struct Line<'a> {
    metadata: &'a Metadata<'static>,
    fields: Fields,
    run_id: Option<String>,
    trace: Option<context::TraceContext>,
}

impl Line<'_> {
    fn json(self, redact: Option<&Redact>) -> String {
        let mut line = Map::new();
        line.insert("timestamp".to_owned(), json!(timestamp()));
        line.insert("level".to_owned(), json!(self.metadata.level().as_str().to_lowercase()));
        line.insert("target".to_owned(), json!(self.metadata.target()));
        line.insert("message".to_owned(), json!(cleaned(&self.fields.message, redact)));
        let clean = |(name, value): (&'static str, Value)| match value {
            Value::String(text) => (name.to_owned(), Value::String(cleaned(&text, redact))),
            value => (name.to_owned(), value),
        };
        let fields: Map<String, Value> = self.fields.fields.into_iter().map(clean).collect();
        if !fields.is_empty() {
            line.insert("fields".to_owned(), Value::Object(fields));
        }
        if let Some(run_id) = self.run_id {
            line.insert("runId".to_owned(), json!(run_id));
        }
        if let Some(trace) = self.trace {
            line.insert("traceId".to_owned(), json!(trace.trace_id()));
            line.insert("spanId".to_owned(), json!(trace.span_id()));
        }
        Value::Object(line).to_string()
    }

    fn text(self, redact: Option<&Redact>) -> String {
        let (level, target) = (self.metadata.level(), self.metadata.target());
        let mut line = format!("{} {level:>5} {target}: {}", timestamp(), cleaned(&self.fields.message, redact));
        // Writing to a String does not fail.
        for (name, value) in &self.fields.fields {
            let text = value.as_str().map_or_else(|| value.to_string(), |text| cleaned(text, redact));
            let _ = write!(line, " {name}={text}");
        }
        if let Some(run_id) = &self.run_id {
            let _ = write!(line, " runId={run_id}");
        }
        line
    }
}

fn timestamp() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// Removes secrets and control characters from a text, and bounds its length. Secrets first: half of one would not be
/// found.
fn cleaned(text: &str, redact: Option<&Redact>) -> String {
    let redacted = redact.map(|redact| redact(text));
    let text = redacted.as_deref().unwrap_or(text);
    let mut cleaned = String::with_capacity(text.len().min(MAX_TEXT));
    for character in text.chars() {
        if cleaned.len() + character.len_utf8() > MAX_TEXT {
            cleaned.push('…');
            break;
        }
        if character == '\n' || character == '\t' {
            cleaned.push(' ');
        } else if !character.is_control() {
            cleaned.push(character);
        }
    }
    cleaned
}

/// Message and fields of an event.
#[derive(Default)]
struct Fields {
    message: String,
    fields: std::collections::BTreeMap<&'static str, Value>,
}

impl Fields {
    fn insert(&mut self, field: &Field, value: Value) {
        if self.fields.len() < MAX_FIELDS {
            self.fields.insert(field.name(), value);
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            _ => self.insert(field, json!(value)),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            // Writing to a String fails only if the value's own formatting does; the text so far is kept.
            "message" => {
                let _ = write!(self.message, "{value:?}");
            }
            _ => self.insert(field, Value::String(format!("{value:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spans;
    use std::sync::Mutex;
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt as _;

    fn lines(format: LogFormat, targets: &str, redact: Option<Redact>, log: impl FnOnce()) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let to_lines = lines.clone();
        let write = move |line: &str| to_lines.lock().unwrap().push(line.to_owned());
        let layer = writing::<Registry>(format, filter(targets).unwrap(), redact, write);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    #[test]
    fn a_line_of_json_has_the_run_of_its_span() {
        let lines = lines(LogFormat::Json, DEFAULT_FILTER, None, || {
            let _entered = spans::run("run_1", false, false).entered();
            let _inner = spans::approval("apr_1", false).entered();
            tracing::warn!(target: "agent_spaces::operator", count = 3, log = "a\u{1b}[31m.jsonl", "full\r\n\u{7}now");
        });
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.ends_with("}\n"), "{line}");
        let mut line: Value = serde_json::from_str(line).unwrap();
        let timestamp = line.as_object_mut().unwrap().remove("timestamp").unwrap();
        assert!(humantime::parse_rfc3339(timestamp.as_str().unwrap()).is_ok());
        let expected = json!({
            "level": "warn",
            "target": "agent_spaces::operator",
            "message": "full now",
            "fields": { "count": 3, "log": "a[31m.jsonl" },
            "runId": "run_1",
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn fields_of_a_span_other_than_its_run_are_not_formatted() {
        struct Unformatted;
        impl fmt::Display for Unformatted {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                panic!("the log formats a field that it does not write")
            }
        }
        let lines = lines(LogFormat::Text, DEFAULT_FILTER, None, || {
            let name = "run_1";
            let _entered = tracing::info_span!(
                target: names::TARGET,
                "span",
                { names::OTEL_NAME } = %Unformatted,
                { names::RUN_ID } = name,
            )
            .entered();
            tracing::warn!(target: "agent_spaces::x", "text");
        });
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.ends_with("text runId=run_1\n"), "{line}");
    }

    #[test]
    fn lines_for_people_have_no_control_characters() {
        let lines = lines(LogFormat::Text, DEFAULT_FILTER, None, || {
            tracing::info!(target: "agent_spaces::serve", port = 80, "listening\u{1b}]0;x\u{7}");
        });
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.ends_with("  INFO agent_spaces::serve: listening]0;x port=80\n"), "{line}");
    }

    #[test]
    fn only_what_the_filter_names_is_written() {
        let log = || {
            tracing::info!(target: "rmcp::service", "a token");
            tracing::debug!(target: "agent_spaces::serve", "detail");
            tracing::info!(target: "agent_spaces_mcp", "opened");
        };
        assert_eq!(lines(LogFormat::Json, DEFAULT_FILTER, None, log).len(), 1);
        assert_eq!(lines(LogFormat::Json, "debug", None, log).len(), 3);
        assert_eq!(lines(LogFormat::Off, "debug", None, log).len(), 0);
        assert!(filter("agent_spaces=loud").unwrap_err().starts_with("invalid log filter"));
    }

    #[test]
    fn secrets_are_removed_before_a_text_is_cut() {
        let redact: Redact = Arc::new(|text| text.replace("hunter2", "[secret]"));
        let long = format!("{}hunter2", "x".repeat(MAX_TEXT - 3));
        let lines = lines(LogFormat::Text, DEFAULT_FILTER, Some(redact), || {
            tracing::warn!(target: "agent_spaces::x", field = "hunter2", "{long}");
        });
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.contains("xxx[se… field=[secret]"), "{}", &line[line.len() - 60..]);
    }
}
