//! One trace from a request through a run and its call into an MCP server, as it is exported.

use crate::context::{self, TraceContext};
use crate::spans::{self, McpRequest, RunEnd};
use crate::{names, otlp};
use agent_spaces_types::usage::Usage;
use opentelemetry::trace::{SpanKind, Status};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter};
use serde_json::Map;
use std::sync::{Arc, Mutex};
use tracing_subscriber::layer::SubscriberExt as _;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// Exporter into memory. Clones share what was exported.
#[derive(Clone, Debug, Default)]
struct Memory(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Memory {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

/// Returns the spans that are exported while this is done, in the order of their ends.
fn exported(sampler: Sampler, work: impl FnOnce()) -> Vec<SpanData> {
    let memory = Memory::default();
    let provider = SdkTracerProvider::builder().with_sampler(sampler).with_simple_exporter(memory.clone()).build();
    let layer = otlp::Exporter::with_provider(provider.clone()).layer();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    provider.force_flush().unwrap();
    let spans = memory.0.lock().unwrap();
    spans.clone()
}

fn attribute(span: &SpanData, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == name);
    found.map(|attribute| attribute.value.to_string())
}

/// Opens the spans of a request with one run, call and request to a server. Returns the `_meta` of that request.
fn work() -> Map<String, serde_json::Value> {
    let mut meta = Map::new();
    let parent = TraceContext::parse(&format!("00-{TRACE}-b7ad6b7169203331-01"), Some("vendor=1")).unwrap();
    let request = spans::request("POST", "/v1/spaces/{space}/runs");
    context::set_parent(&request, &parent);
    request.in_scope(|| {
        let run = spans::run("run_1", false, false);
        run.in_scope(|| {
            let call = spans::call("time.now", "run_1", 1);
            call.in_scope(|| {
                let sent = spans::mcp_request("time", McpRequest::CallTool("get_time"), "pipe");
                sent.in_scope(|| context::current().unwrap().add_to_meta(&mut meta));
                spans::end_mcp_request(&sent, Some("timeout"));
            });
            spans::end_call(&call, Err("call.timeout"));
            // Neither events nor spans of libraries are exported.
            tracing::error!(target: names::TARGET, "a text");
            let _library = tracing::info_span!(target: "rmcp", "a text").entered();
        });
        let usage = Usage { fuel: 7, ..Usage::default() };
        spans::end_run(&run, RunEnd::Failed("script.error"), &usage);
    });
    spans::end_request(&request, 201);
    meta
}

#[test]
fn one_trace_goes_from_a_request_to_a_server() {
    let mut meta = Map::new();
    let spans = exported(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)), || meta = work());
    let names: Vec<&str> = spans.iter().map(|span| &*span.name).collect();
    let expected = ["tools/call get_time", "execute_tool time.now", "agent_spaces.run", "POST /v1/spaces/{space}/runs"];
    assert_eq!(names, expected);
    let [server, call, run, request] = spans.as_slice() else { panic!("{spans:?}") };
    for span in &spans {
        assert_eq!(span.span_context.trace_id().to_string(), TRACE);
        assert!(span.events.is_empty(), "{:?}", span.events);
    }
    assert_eq!(server.parent_span_id, call.span_context.span_id());
    assert_eq!(call.parent_span_id, run.span_context.span_id());
    assert_eq!(run.parent_span_id, request.span_context.span_id());
    assert_eq!(request.parent_span_id.to_string(), "b7ad6b7169203331");

    assert_eq!((&server.span_kind, &request.span_kind), (&SpanKind::Client, &SpanKind::Server));
    assert_eq!(attribute(server, names::MCP_METHOD).as_deref(), Some("tools/call"));
    assert_eq!(attribute(server, names::GEN_AI_TOOL).as_deref(), Some("get_time"));
    assert_eq!(attribute(server, names::GEN_AI_PROMPT), None);
    assert_eq!(attribute(server, names::ERROR_TYPE).as_deref(), Some("timeout"));
    assert_eq!(attribute(call, names::GEN_AI_OPERATION).as_deref(), Some("execute_tool"));
    assert_eq!(attribute(call, names::ERROR_TYPE).as_deref(), Some("call.timeout"));
    assert_eq!(attribute(run, names::RUN_ID).as_deref(), Some("run_1"));
    assert_eq!(attribute(run, names::RUN_RESUMED).as_deref(), Some("false"));
    assert_eq!(attribute(run, names::RUN_OUTCOME).as_deref(), Some("script.error"));
    assert_eq!(attribute(run, names::RUN_FUEL).as_deref(), Some("7"));
    assert_eq!(attribute(request, names::HTTP_STATUS).as_deref(), Some("201"));
    assert_eq!((&run.status, &request.status), (&Status::error(""), &Status::Unset));

    let sent = TraceContext::from_meta(&meta).unwrap();
    assert_eq!((sent.trace_id(), sent.is_sampled(), sent.tracestate()), (TRACE, true, Some("vendor=1")));
    assert_eq!(sent.span_id(), server.span_context.span_id().to_string());
}

#[test]
fn what_is_not_sampled_is_not_exported() {
    let mut meta = Map::new();
    let spans = exported(Sampler::AlwaysOff, || meta = work());
    assert_eq!(spans.len(), 0);
    assert!(!TraceContext::from_meta(&meta).unwrap().is_sampled());
}
