//! Export of spans over OTLP/HTTP with protobuf, set by the variables of the OpenTelemetry specification alone.
//!
//! `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` turns it on, `OTEL_SDK_DISABLED=true` or
//! `OTEL_TRACES_EXPORTER=none` off. The SDK reads the rest: headers, timeouts, `OTEL_SERVICE_NAME`,
//! `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER` with its argument, `OTEL_BSP_*`.
//!
//! Spans that end go to a bounded queue, and a thread of the SDK sends them in batches. A collector that is slow or gone
//! costs spans, which are dropped, and never the time of a run.

use crate::layer::BoxedLayer;
use crate::names;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::redirect::Policy;
use std::net::IpAddr;
use std::time::Duration;
use tokio::runtime::Handle;
use tracing::Metadata;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::Layer as _;

/// Name of the service, if the environment has none.
const SERVICE: &str = "agent-spaces";

/// Name of the instrumentation.
const SCOPE: &str = "agent-spaces";

/// Longest time of one request to the collector: the default of the specification.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time to connect to the collector.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest answer of a collector, in bytes. Its text is a short error at most.
const MAX_ANSWER: usize = 64 << 10;

/// Variables that turn the export on.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Returns true if the environment asks for an export of spans.
pub fn is_configured() -> bool {
    is_asked_for(variable)
}

fn is_asked_for(variable: impl Fn(&str) -> Option<String>) -> bool {
    let is = |name: &str, value: &str| variable(name).is_some_and(|text| text.eq_ignore_ascii_case(value));
    let has_endpoint = ENDPOINTS.iter().any(|name| variable(name).is_some());
    has_endpoint && !is("OTEL_SDK_DISABLED", "true") && !is("OTEL_TRACES_EXPORTER", "none")
}

/// Returns a variable that is set and not empty: the specification makes no difference.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Export of spans.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

impl Exporter {
    /// Creates the export that the environment describes. Its requests are tasks of `runtime`.
    pub(crate) fn new(runtime: Handle) -> Result<Exporter, String> {
        let client = Client { client: client()?, runtime };
        let exporter = SpanExporter::builder().with_http().with_http_client(client).build();
        let exporter = exporter.map_err(|error| error.to_string())?;
        let provider = SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build();
        Ok(Exporter(provider))
    }

    /// Creates an export through this provider, for programs that have one.
    pub fn with_provider(provider: SdkTracerProvider) -> Exporter {
        Exporter(provider)
    }

    /// Returns the layer that exports the host's spans, and no others: those of libraries may have any text.
    pub fn layer(&self) -> BoxedLayer {
        let layer = tracing_opentelemetry::layer::<Registry>()
            .with_tracer(self.0.tracer(SCOPE))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false);
        Box::new(layer.with_filter(filter_fn(is_exported).with_max_level_hint(LevelFilter::INFO)))
    }

    /// Exports what is left, at most for `timeout`, and ends the export. It blocks.
    pub(crate) fn end(self, timeout: Duration) {
        // A collector that does not answer is not the operator's to fix now.
        let _ = self.0.shutdown_with_timeout(timeout);
    }

    /// The same, without blocking the runtime, which sends what is left.
    pub(crate) async fn shutdown(self, timeout: Duration) {
        let ended = tokio::task::spawn_blocking(move || self.end(timeout));
        // The bound of the export itself has a reserve, should a thread not be free.
        let _ = tokio::time::timeout(timeout * 2, ended).await;
    }
}

fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == names::TARGET
}

/// Returns the resource: the environment's, with our name if it has none.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let detected = Resource::builder().build();
    let name = detected.get(&Key::from_static_str("service.name")).map(|name| name.to_string());
    let builder = Resource::builder();
    let builder = match name {
        Some(name) if !name.starts_with("unknown_service") => builder,
        _ => builder.with_service_name(SERVICE),
    };
    builder.with_attribute(version).build()
}

fn client() -> Result<reqwest::Client, String> {
    // An error only means that there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("agent-spaces/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(REQUEST_TIMEOUT)
        // Headers may hold the collector's token, which no other host must get.
        .redirect(Policy::none());
    // A collector on this machine is not reached through a proxy.
    let endpoint = ENDPOINTS.iter().find_map(|name| variable(name));
    let builder = if endpoint.is_some_and(|endpoint| is_loopback(&endpoint)) { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| error.to_string())
}

/// Returns true if the host of a URL is `localhost` or a loopback address.
fn is_loopback(endpoint: &str) -> bool {
    let url = reqwest::Url::parse(endpoint).ok();
    let host = url.as_ref().and_then(|url| url.host_str());
    let host = host.map(|host| host.trim_matches(['[', ']']));
    let is_address = |host: &str| host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    host.is_some_and(|host| host == "localhost" || is_address(host))
}

/// HTTP client of the exporter, whose thread has no runtime of its own.
#[derive(Debug)]
struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(async move { send(&client, request).await }).await?
    }
}

async fn send(client: &reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let request = reqwest::Request::try_from(request)?;
    let mut answer = client.execute(request).await?;
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err("the collector's answer is too large".into());
        }
        body.extend_from_slice(&chunk);
    }
    let mut response = Response::builder().status(answer.status()).body(Bytes::from(body))?;
    *response.headers_mut() = std::mem::take(answer.headers_mut());
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(variables: &[(&str, &str)]) -> bool {
        is_asked_for(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn an_endpoint_turns_the_export_on() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        assert!(asked(&[endpoint]));
        assert!(asked(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/v1/traces")]));
        assert!(asked(&[endpoint, ("OTEL_SDK_DISABLED", "false")]));
        assert!(!asked(&[]));
        assert!(!asked(&[("OTEL_SERVICE_NAME", "x")]));
        assert!(!asked(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]));
        assert!(!asked(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]));
    }

    #[test]
    fn only_loopback_hosts_bypass_the_proxy() {
        for own in ["http://localhost:4318", "http://127.0.0.1:4318/v1", "http://127.9.9.9", "http://[::1]:4318"] {
            assert!(is_loopback(own), "{own}");
        }
        assert!(is_loopback("http://[::ffff:127.0.0.1]:4318"));
        let others =
            ["http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1", "127.0.0.1", ""];
        for other in others {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
