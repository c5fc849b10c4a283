//! A function that is answered by a request to a web server.
//!
//! | file | what |
//! |---|---|
//! | `fill` | parameters as text |
//! | `address` | the address: a parameter is never more than a part of one segment of its path |
//! | `query` | members of queries and forms |
//! | `headers` | headers and cookies |
//! | `body` | what is sent |
//! | `credentials` | what is added to requests to one origin, and to none other |
//! | `answer` | what of an answer is the value |
//! | `failure` | what scripts are told of an answer that is an error |
//! | `pages` | the rest of a list |
//!
//! Requests go through the client of the standard library: its policy, addresses and sizes hold here.

mod address;
mod answer;
mod body;
mod credentials;
mod failure;
mod fill;
mod headers;
mod pages;
mod query;
#[cfg(test)]
mod tests;

pub use address::origin;
pub use credentials::{CredentialError, Credentials};

use crate::error::ProviderError;
use ::http::Method;
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_policy::NetworkPolicy;
use agent_spaces_std::StdError;
use agent_spaces_std::http::{Client, ExactAnswer, ExactRequest, Redirects};
use capability_gen::implementation::{HttpOperation, HttpResponse};
use query::Pair;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use url::Url;

/// Sends the requests of one definition's functions.
pub struct HttpProvider {
    client: Client,
    origins: BTreeMap<String, Credentials>,
    timeout: Duration,
    max_bytes: u64,
    redactor: Redactor,
}

impl HttpProvider {
    /// What reaches what the policy allows, and has these credentials for these origins. A call with all its pages
    /// takes no longer than `timeout`, nor than the policy says. What a server says of an error is cut once it is without
    /// the secrets that the redactor knows.
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

    /// Answers a call with these parameters.
    ///
    /// # Errors
    /// Parameters that cannot be sent, what the policy does not allow, what cannot be reached, and answers that are
    /// errors or not what they should be.
    pub async fn call(&self, operation: &HttpOperation, params: &Value) -> Result<Value, ProviderError> {
        let request = Prepared::of(operation, params)?;
        let deadline = Deadline { begun: Instant::now(), timeout: self.timeout };
        match &operation.pages {
            Some(pages) => pages::read(self, &request, pages, params, &deadline).await,
            None => {
                let answer = self.send(&request, &request.url, &request.query, &deadline).await?;
                failure::check(operation, &answer, params, &self.redactor)?;
                answer::value(operation, &answer)
            }
        }
    }

    /// Sends a request to an address of the origin that it was made for, with that origin's credentials.
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

/// A request with its parameters filled in, and without credentials.
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

/// When a call must be over.
struct Deadline {
    begun: Instant,
    timeout: Duration,
}

impl Deadline {
    fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.begun.elapsed())
    }

    /// What went wrong. One request of several ended by the time that was left is late by the time of the call.
    fn explain(&self, error: StdError) -> ProviderError {
        let mut error = ProviderError::from(error);
        if error.code == "call.timeout" {
            error.message = format!("There was no whole answer within {} ms", self.timeout.as_millis());
        }
        error
    }
}
