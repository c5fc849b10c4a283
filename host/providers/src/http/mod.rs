//! HTTP provider: a function implemented by a request to a web server.
//!
//! | file | contents |
//! |---|---|
//! | `fill` | encoding of parameters as text |
//! | `address` | URL: a parameter never exceeds one path segment |
//! | `query` | query and form parameters |
//! | `headers` | headers and cookies |
//! | `body` | request body |
//! | `credentials` | credentials for one origin |
//! | `answer` | value of a response |
//! | `failure` | error responses worded for scripts |
//! | `pagination` | following pages of a list |
//!
//! Requests use the standard library's client: its network policy, address checks and size limits apply.

mod address;
mod answer;
mod body;
mod credentials;
mod failure;
mod fill;
mod headers;
mod pagination;
pub mod provider;
mod query;
#[cfg(test)]
mod tests;

pub use address::origin;
pub use credentials::{CredentialError, Credentials};

use crate::error::ProviderError;
use ::http::Method;
use agent_spaces_policy::NetworkPolicy;
use agent_spaces_secrets::Redactor;
use agent_spaces_std::StdError;
use agent_spaces_std::http::{Client, ExactAnswer, ExactRequest, Redirects};
use agent_spaces_telemetry::context::{self, TraceContext};
use agent_spaces_types::code::Code;
use capability_gen::implementation::{HttpOperation, HttpResponse};
use query::Pair;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use url::Url;

/// Provider of one definition's functions.
pub struct HttpProvider {
    client: Client,
    origins: BTreeMap<String, Credentials>,
    timeout: Duration,
    max_bytes: u64,
    redactor: Redactor,
}

impl HttpProvider {
    /// Creates a provider with a network policy's client and credentials per origin. A call with all its pages takes no
    /// longer than `timeout`, nor than the policy allows. The redactor removes secrets from error bodies before they
    /// are truncated.
    pub fn new(
        network: NetworkPolicy,
        origins: BTreeMap<String, Credentials>,
        timeout: Duration,
        redactor: &Redactor,
    ) -> HttpProvider {
        let timeout = timeout.min(network.timeout);
        let max_bytes = network.max_response_bytes;
        HttpProvider { client: Client::new(network), origins, timeout, max_bytes, redactor: redactor.clone() }
    }

    /// Calls an operation with these parameters. A request that is not idempotent has the header `Idempotency-Key` if
    /// there is a key for the call, and `traceparent` if the span of the call is
    /// exported.
    ///
    /// # Errors
    /// If the parameters cannot be sent, the policy forbids it, the server is unreachable, or the response is an error
    /// or invalid.
    pub async fn call(
        &self,
        operation: &HttpOperation,
        params: &Value,
        idempotency_key: Option<String>,
    ) -> Result<Value, ProviderError> {
        let mut request = Prepared::of(operation, params)?;
        if let Some(key) = idempotency_key {
            headers::add_idempotency_key(&mut request.headers, &request.method, &key);
        }
        if let Some(context) = context::current().filter(TraceContext::is_sampled) {
            headers::add_trace_context(&mut request.headers, &context);
        }
        let deadline = Deadline { begun: Instant::now(), timeout: self.timeout };
        match &operation.pages {
            Some(pages) => pagination::read(self, &request, pages, params, &deadline).await,
            None => {
                let answer = self.send(&request, &request.url, &request.query, &deadline).await?;
                failure::check(operation, &answer, params, &self.redactor)?;
                answer::value(operation, &answer)
            }
        }
    }

    /// Sends a request with the credentials of its origin.
    async fn send(
        &self,
        request: &Prepared<'_>,
        url: &Url,
        query: &[Pair],
        deadline: &Deadline,
    ) -> Result<ExactAnswer, ProviderError> {
        let mut url = url.clone();
        let mut headers = request.headers.clone();
        let credentials = self.origins.get(&url.origin().ascii_serialization());
        let is_secret = |name: &str| credentials.is_some_and(|credentials| credentials.has_query(name));
        let pairs = query.iter().filter(|pair| !is_secret(&pair.name)).cloned();
        let secrets = credentials.into_iter().flat_map(Credentials::pairs);
        let text = query::text(pairs.chain(secrets));
        url.set_query((!text.is_empty()).then_some(text.as_str()));
        if let Some(credentials) = credentials {
            credentials.add_headers(&mut headers);
        }
        let redirects = if credentials.is_some() { Redirects::SameOrigin } else { Redirects::Anywhere };
        let exact = ExactRequest {
            method: request.method.clone(),
            url,
            headers,
            body: request.body.clone(),
            redirects,
            timeout: deadline.left(),
        };
        self.client.send(exact).await.map_err(|error| deadline.explain(error))
    }
}

/// Filled request, without credentials.
struct Prepared<'a> {
    operation: &'a HttpOperation,
    method: Method,
    /// Without a query.
    url: Url,
    query: Vec<Pair>,
    headers: ::http::HeaderMap,
    body: Option<bytes::Bytes>,
}

impl<'a> Prepared<'a> {
    fn of(operation: &'a HttpOperation, params: &Value) -> Result<Prepared<'a>, ProviderError> {
        let method = Method::from_bytes(operation.method.as_bytes())
            .map_err(|_| ProviderError::invalid("The definition has a method that cannot be sent"))?;
        let wants_json = operation.response == HttpResponse::Json || operation.result.is_some();
        let is_json = wants_json || operation.pages.is_some();
        let body = operation.body.as_ref().map(|body| body::bytes(body, params)).transpose()?.flatten();
        let media_type = body.as_ref().and(operation.body.as_ref()).map(|body| body.media_type.as_str());
        Ok(Prepared {
            operation,
            method,
            url: address::fill(operation, params)?,
            query: query::pairs(&operation.query, params, fill::MAX_MEMBER)?,
            headers: headers::fill(operation, params, media_type, is_json)?,
            body,
        })
    }
}

/// Deadline of a call.
struct Deadline {
    begun: Instant,
    timeout: Duration,
}

impl Deadline {
    fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.begun.elapsed())
    }

    /// Converts an error. A timeout of one of several requests is reported with the timeout of the call.
    fn explain(&self, error: StdError) -> ProviderError {
        let mut error = ProviderError::from(error);
        if error.code == Code::CallTimeout {
            error.message = format!("Timed out: no complete answer within {} ms", self.timeout.as_millis());
        }
        error
    }
}
