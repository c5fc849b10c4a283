//! W3C trace context: strict parser for incoming requests, and the context of a span for outgoing ones.
//!
//! A context from outside names the trace that a run belongs to and nothing else; a malformed one is ignored, as the
//! specification asks. Without the feature `otlp` no span has a context.

use crate::names::{TRACEPARENT, TRACESTATE};
use serde_json::{Map, Value};
use tracing::Span;

/// Length of a `traceparent` of version 00: `00-` 32 digits `-` 16 digits `-` 2 digits.
const TRACEPARENT_LENGTH: usize = 55;

/// Longest `traceparent` of a later version. The specification sets no limit; what follows version 00's part is dropped.
const MAX_TRACEPARENT: usize = 256;

/// Longest `tracestate`: the length that every host must be able to propagate.
const MAX_TRACESTATE: usize = 512;

/// Most members of a `tracestate`, by the specification.
const MAX_MEMBERS: usize = 32;

/// Longest key, and longest value, of a member, by the specification.
const MAX_MEMBER_PART: usize = 256;

/// Trace context: the trace and the span that caused something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// In the form of version 00.
    traceparent: String,
    tracestate: Option<String>,
}

impl TraceContext {
    /// Parses a context. A malformed `tracestate` is dropped; without a valid `traceparent` there is no context.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<TraceContext> {
        let traceparent = traceparent.trim_matches([' ', '\t']);
        if traceparent.len() > MAX_TRACEPARENT || !traceparent.is_ascii() {
            return None;
        }
        let (known, rest) = traceparent.split_at_checked(TRACEPARENT_LENGTH)?;
        let mut parts = known.split('-');
        let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_rest_valid = rest.is_empty() || (version != "00" && rest.starts_with('-'));
        let is_valid = parts.next().is_none()
            && is_rest_valid
            && version != "ff"
            && is_hexadecimal(version, 2)
            && is_hexadecimal(trace, 32)
            && is_hexadecimal(parent, 16)
            && is_hexadecimal(flags, 2)
            && trace.contains(|digit: char| digit != '0')
            && parent.contains(|digit: char| digit != '0');
        if !is_valid {
            return None;
        }
        // Of the flags, version 00 knows one.
        let is_sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
        let traceparent = format!("00-{trace}-{parent}-0{}", u8::from(is_sampled));
        Some(TraceContext { traceparent, tracestate: tracestate.and_then(tracestate_of) })
    }

    /// Finds the context in the headers of a request. Two of `traceparent` are none.
    pub fn from_headers<'h>(headers: impl IntoIterator<Item = (&'h str, &'h [u8])>) -> Option<TraceContext> {
        let (mut parent, mut state) = (None, String::new());
        for (name, value) in headers {
            if name.eq_ignore_ascii_case(TRACEPARENT) {
                if parent.is_some() {
                    return None;
                }
                parent = Some(std::str::from_utf8(value).ok()?);
            } else if name.eq_ignore_ascii_case(TRACESTATE) && state.len() <= MAX_TRACESTATE {
                // Several headers are one list. Text that is no UTF-8 makes the list invalid.
                if !state.is_empty() {
                    state.push(',');
                }
                state.push_str(std::str::from_utf8(value).unwrap_or("="));
            }
        }
        TraceContext::parse(parent?, (!state.is_empty()).then_some(state.as_str()))
    }

    /// Finds the context in the `_meta` of an MCP message.
    pub fn from_meta(meta: &Map<String, Value>) -> Option<TraceContext> {
        TraceContext::parse(meta.get(TRACEPARENT)?.as_str()?, meta.get(TRACESTATE).and_then(Value::as_str))
    }

    /// Adds the context to the `_meta` of an MCP message.
    pub fn add_to_meta(&self, meta: &mut Map<String, Value>) {
        meta.insert(TRACEPARENT.to_owned(), Value::String(self.traceparent.clone()));
        if let Some(state) = &self.tracestate {
            meta.insert(TRACESTATE.to_owned(), Value::String(state.clone()));
        }
    }

    /// Returns the `traceparent`.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// Returns the `tracestate`, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.tracestate.as_deref()
    }

    /// Returns the id of the trace: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        self.part(1)
    }

    /// Returns the id of the span: 16 hexadecimal digits.
    pub fn span_id(&self) -> &str {
        self.part(2)
    }

    /// Returns true if the trace is recorded: its spans are exported.
    pub fn is_sampled(&self) -> bool {
        self.part(3) == "01"
    }

    fn part(&self, number: usize) -> &str {
        self.traceparent.split('-').nth(number).unwrap_or_default()
    }
}

fn is_hexadecimal(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns a valid `tracestate` without space around its members.
fn tracestate_of(text: &str) -> Option<String> {
    if text.len() > MAX_TRACESTATE {
        return None;
    }
    let members = text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty());
    let members: Vec<&str> = members.collect();
    let is_valid = members.len() <= MAX_MEMBERS && members.iter().all(|member| is_member(member));
    (is_valid && !members.is_empty()).then(|| members.join(","))
}

fn is_member(member: &str) -> bool {
    let Some((key, value)) = member.split_once('=') else { return false };
    let is_key = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    let is_value = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'=');
    let is_length = |text: &str| !text.is_empty() && text.len() <= MAX_MEMBER_PART;
    is_length(key)
        && is_length(value)
        && key.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && key.bytes().all(is_key)
        && value.bytes().all(is_value)
}

/// Returns the context of the current span, if spans are exported.
pub fn current() -> Option<TraceContext> {
    of(&Span::current())
}

/// Returns the context of a span, if spans are exported.
#[cfg(feature = "otlp")]
pub fn of(span: &Span) -> Option<TraceContext> {
    use opentelemetry::trace::TraceContextExt as _;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;

    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let context = context.span().span_context().clone();
    if !context.is_valid() {
        return None;
    }
    let flags = u8::from(context.is_sampled());
    let traceparent = format!("00-{}-{}-0{flags}", context.trace_id(), context.span_id());
    let tracestate = tracestate_of(&context.trace_state().header());
    Some(TraceContext { traceparent, tracestate })
}

/// Returns the context of a span, if spans are exported.
#[cfg(not(feature = "otlp"))]
pub fn of(_: &Span) -> Option<TraceContext> {
    None
}

/// Makes a span a child of one in another process. It has no effect once the span was entered.
#[cfg(feature = "otlp")]
pub fn set_parent(span: &Span, parent: &TraceContext) {
    use opentelemetry::Context;
    use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState};
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;

    if span.is_disabled() {
        return;
    }
    let ids = (TraceId::from_hex(parent.trace_id()), SpanId::from_hex(parent.span_id()));
    let (Ok(trace), Ok(id)) = ids else { return };
    let flags = TraceFlags::default().with_sampled(parent.is_sampled());
    let state = parent.tracestate().and_then(|state| state.parse().ok()).unwrap_or(TraceState::NONE);
    let remote = SpanContext::new(trace, id, flags, true, state);
    // An error only means that nothing exports the span, or that it has begun.
    let _ = span.set_parent(Context::new().with_remote_span_context(remote));
}

/// Makes a span a child of one in another process. It has no effect once the span was entered.
#[cfg(not(feature = "otlp"))]
pub fn set_parent(_: &Span, _: &TraceContext) {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    fn valid() -> String {
        format!("00-{TRACE}-{SPAN}-01")
    }

    #[test]
    fn a_valid_traceparent_has_its_parts() {
        let context = TraceContext::parse(&valid(), Some("a=1, b@c=2 ,")).unwrap();
        assert_eq!((context.trace_id(), context.span_id(), context.is_sampled()), (TRACE, SPAN, true));
        assert_eq!((context.traceparent(), context.tracestate()), (valid().as_str(), Some("a=1,b@c=2")));
        let unsampled = TraceContext::parse(&format!("00-{TRACE}-{SPAN}-02"), None).unwrap();
        assert_eq!(unsampled.traceparent(), format!("00-{TRACE}-{SPAN}-00"));
    }

    #[test]
    fn later_versions_are_read_as_the_first() {
        for later in [format!("01-{TRACE}-{SPAN}-01"), format!("cc-{TRACE}-{SPAN}-03-more-of-it")] {
            assert_eq!(TraceContext::parse(&later, None).unwrap().traceparent(), valid());
        }
    }

    #[test]
    fn malformed_traceparents_are_refused() {
        let upper = TRACE.to_uppercase();
        let malformed = [
            String::new(),
            "00".to_owned(),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("0-{TRACE}-{SPAN}-001"),
            format!("00-{upper}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}-{SPAN}-0g"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{TRACE}-{SPAN}-01 x"),
            format!("01-{TRACE}-{SPAN}-01more"),
            format!("00-{TRACE}{SPAN}--01"),
            format!("00_{TRACE}_{SPAN}_01"),
            format!("00-{TRACE}-{SPAN}-é"),
            format!("01-{TRACE}-{SPAN}-01-{}", "x".repeat(MAX_TRACEPARENT)),
        ];
        for text in malformed {
            assert_eq!(TraceContext::parse(&text, None), None, "{text}");
        }
    }

    #[test]
    fn a_malformed_tracestate_is_dropped() {
        let many = vec!["a=1"; MAX_MEMBERS + 1].join(",");
        let long = format!("a={}", "x".repeat(MAX_TRACESTATE));
        for state in ["", "a", "a=", "=1", "A=1", "a=1=2", "a=1\n", "a=ü", "_a=1", &many, &long] {
            let context = TraceContext::parse(&valid(), Some(state)).unwrap();
            assert_eq!(context.tracestate(), None, "{state}");
        }
    }

    #[test]
    fn headers_are_found_whatever_their_case() {
        let (parent, invalid) = (valid(), [0xff_u8]);
        let one =
            [("TraceParent", parent.as_bytes()), ("tracestate", b"a=1".as_slice()), ("tracestate", b"b=2".as_slice())];
        let context = TraceContext::from_headers(one).unwrap();
        assert_eq!(context.tracestate(), Some("a=1,b=2"));
        let two = [("traceparent", parent.as_bytes()), ("traceparent", parent.as_bytes())];
        assert_eq!(TraceContext::from_headers(two), None);
        assert_eq!(TraceContext::from_headers([("traceparent", invalid.as_slice())]), None);
        assert_eq!(TraceContext::from_headers([("tracestate", b"a=1".as_slice())]), None);
    }

    #[test]
    fn meta_carries_a_context() {
        let context = TraceContext::parse(&valid(), Some("a=1")).unwrap();
        let mut meta = Map::new();
        context.add_to_meta(&mut meta);
        assert_eq!(Value::Object(meta.clone()), json!({ "traceparent": valid(), "tracestate": "a=1" }));
        assert_eq!(TraceContext::from_meta(&meta), Some(context));
        assert_eq!(TraceContext::from_meta(json!({ "traceparent": 1 }).as_object().unwrap()), None);
    }

    #[test]
    fn a_disabled_span_has_no_context() {
        assert_eq!(current(), None);
        assert_eq!(of(&Span::none()), None);
    }
}
