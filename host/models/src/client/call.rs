//! One request and its answer, within bounds and time.

use std::time::{Duration, SystemTime};

use agent_spaces_secrets::{Redactor, secrets_in_url};
use agent_spaces_types::shown::Shown;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use reqwest::Response;
use url::Url;

use super::{Client, chain, head, refusal};
use crate::ModelErrorKind::{Configuration, Cut, Timeout, TooLarge, Unreachable};
use crate::answer::{Delta, Watch};
use crate::bounds::{MAX_BODY, MAX_ERROR_BODY, MAX_ERROR_TEXT, MAX_STREAM_TIME};
use crate::frames::{Frame, Frames, Framing};
use crate::trace;
use crate::wire::{self, Wire};
use crate::{Answer, Arguments, ModelError, Origin, Part, Provider, Request};

/// Timeout of the body of an HTTP error. The status alone gives the kind of failure.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of a provider's error code.
const MAX_CODE: usize = 128;
/// Bytes of an error message: the provider's message, and ours.
const MAX_MESSAGE: usize = 2 * MAX_ERROR_TEXT;
/// Fault of an answer that is late as a whole.
const TOO_LONG: &str = "the answer took longer than";

/// One request and its context.
pub(super) struct Call<'a> {
    client: &'a Client,
    provider: &'a Provider,
    request: &'a Request,
    wire: &'static dyn Wire,
    origin: Origin,
    redactor: Redactor,
}

/// A request as it is sent.
struct Written {
    url: Url,
    headers: HeaderMap,
    body: Vec<u8>,
    framing: Framing,
}

impl<'a> Call<'a> {
    pub(super) fn new(client: &'a Client, provider: &'a Provider, request: &'a Request) -> Self {
        let redactor = Redactor::default();
        let in_url = secrets_in_url(provider.base_url.as_str());
        let in_headers = provider.headers.iter().map(|header| &header.value);
        for secret in in_url.iter().chain(in_headers).chain(&provider.key) {
            redactor.add(secret);
        }
        let origin = Origin::new(provider, &request.model);
        Call { client, provider, request, wire: wire::of(provider.api), origin, redactor }
    }

    pub(super) async fn answer(&self, watch: &mut Watch<'_>) -> Result<Answer, ModelError> {
        let timeout = self.provider.timeout;
        let longest = if self.request.stream { timeout.max(MAX_STREAM_TIME) } else { timeout };
        let answered = within(longest, TOO_LONG, self.run(watch)).await.flatten();
        answered.map_err(|error| self.explained(error))
    }

    async fn run(&self, watch: &mut Watch<'_>) -> Result<Answer, ModelError> {
        let Written { url, headers, body, framing } = self.written()?;
        let http = if head::is_loopback(&url) { &self.client.local } else { &self.client.remote };
        let sent = http.post(url).headers(headers).body(body).send();
        let mut response = self.in_time(sent).await?.map_err(unsent)?;
        self.trace_response(|redactor| trace::head(redactor, response.status().as_u16(), response.headers()));
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        // Some servers do not stream although the request asks for it. With JSON lines, such an answer is one line.
        if self.request.stream && (framing == Framing::Lines || !is_json(response.headers())) {
            return self.streamed(response, framing, watch).await;
        }
        let body = self.body(&mut response).await?;
        self.trace_response(|redactor| trace::body(redactor, &body));
        let answer = self.wire.whole(&self.origin, &body)?;
        if self.request.stream {
            report(&answer, watch);
        }
        Ok(answer)
    }

    /// Writes the request. Its body as a value is dropped before the answer is awaited.
    fn written(&self) -> Result<Written, ModelError> {
        let written = self.wire.request(self.provider, self.request)?;
        let url = head::address(self.provider, &written)?;
        let headers = head::headers(self.provider, &written, self.request.stream)?;
        let body = serde_json::to_vec(&written.body)
            .map_err(|error| ModelError::new(Configuration, format!("the request is not JSON: {error}")))?;
        if let Some(trace) = &self.client.trace {
            trace.request(&trace::request(&self.redactor, &url, &headers, &written.body));
        }
        Ok(Written { url, headers, body, framing: written.framing })
    }

    async fn streamed(
        &self,
        mut response: Response,
        framing: Framing,
        watch: &mut Watch<'_>,
    ) -> Result<Answer, ModelError> {
        let mut frames = Frames::new(framing);
        let mut decoder = self.wire.decoder(&self.origin);
        loop {
            let chunk = self.chunk(&mut response).await?;
            let mut take = |frame: Frame<'_>| -> Result<bool, ModelError> {
                self.trace_response(|redactor| trace::event(redactor, frame));
                decoder.event(frame, &mut *watch)
            };
            let is_whole = match &chunk {
                Some(chunk) => frames.push(chunk, &mut take)?,
                None => frames.end(&mut take)?,
            };
            if is_whole || chunk.is_none() {
                return decoder.finish();
            }
        }
    }

    /// The body of an answer that is not streamed.
    async fn body(&self, response: &mut Response) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(response).await? {
            if chunk.len() > MAX_BODY.saturating_sub(body.len()) {
                return Err(ModelError::new(TooLarge, format!("the answer has more than {MAX_BODY} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    async fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, ModelError> {
        let chunk = self.in_time(response.chunk()).await?;
        chunk.map_err(|error| ModelError::new(Cut, format!("the answer ended before its end: {}", chain(error))))
    }

    async fn refused(&self, mut response: Response) -> ModelError {
        let status = response.status().as_u16();
        let retry_after = refusal::retry_after(response.headers(), SystemTime::now());
        let body = self.error_body(&mut response).await;
        // Redacted before anything is cut: half a key is not found.
        let body = self.redactor.text(&String::from_utf8_lossy(&body)).into_owned().into_bytes();
        self.trace_response(|redactor| trace::body(redactor, &body));
        let refusal = self.wire.refusal(&body);
        let kind = refusal::kind(status, &refusal);
        let mut message = format!("HTTP {status}");
        if (300..400).contains(&status) {
            message.push_str(": the server redirects, which is not followed; set the base URL to the final address");
        }
        let said = refusal.message.unwrap_or_else(|| plain_text(&body));
        let said = self.bounded(&said, MAX_ERROR_TEXT);
        if !said.is_empty() {
            message.push_str(": ");
            message.push_str(&said);
        }
        ModelError { kind, message, status: Some(status), code: refusal.code, retry_after }
    }

    /// The start of the body of an HTTP error, as far as it arrives in time.
    async fn error_body(&self, response: &mut Response) -> Vec<u8> {
        let mut body = Vec::new();
        let read = async {
            while body.len() < MAX_ERROR_BODY
                && let Ok(Some(chunk)) = response.chunk().await
            {
                let room = MAX_ERROR_BODY.saturating_sub(body.len());
                body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            }
        };
        // The status alone says what went wrong.
        let _ = tokio::time::timeout(self.provider.timeout.min(ERROR_BODY_TIMEOUT), read).await;
        body
    }

    /// Runs one step, such as the wait for a chunk, within the timeout of the provider.
    async fn in_time<T>(&self, step: impl Future<Output = T>) -> Result<T, ModelError> {
        let late = if self.request.stream { "nothing arrived for" } else { TOO_LONG };
        within(self.provider.timeout, late, step).await
    }

    fn trace_response(&self, text: impl FnOnce(&Redactor) -> Shown) {
        if let Some(trace) = &self.client.trace {
            trace.response(&text(&self.redactor));
        }
    }

    /// The failure with provider and model in its message, redacted and without control characters.
    fn explained(&self, error: ModelError) -> ModelError {
        let error = error.named(&self.origin);
        let code = error.code.map(|code| self.bounded(&code, MAX_CODE));
        ModelError { message: self.bounded(&error.message, MAX_MESSAGE), code, ..error }
    }

    /// One line of at most `most` bytes.
    fn bounded(&self, text: &str, most: usize) -> String {
        let mut line = String::from(Shown::line(&self.redactor.text(text), most));
        line.truncate(line.floor_char_boundary(most));
        line
    }
}

async fn within<T>(longest: Duration, late: &str, step: impl Future<Output = T>) -> Result<T, ModelError> {
    let explain = |_| ModelError::new(Timeout, format!("{late} {longest:?}; raise the timeout if the model is slow"));
    tokio::time::timeout(longest, step).await.map_err(explain)
}

/// Message of an HTTP error whose body is not in the provider's format. An HTML page is left out.
fn plain_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    if text.trim_start().starts_with('<') { String::new() } else { text.into_owned() }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

/// Reports an answer that arrived whole as deltas.
fn report(answer: &Answer, watch: &mut Watch<'_>) {
    for part in &answer.parts {
        match part {
            Part::Text(text) => watch(Delta::Text(text)),
            Part::Reasoning(reasoning) if !reasoning.text.is_empty() => watch(Delta::Reasoning(&reasoning.text)),
            Part::ToolCall(call) => {
                watch(Delta::CallStarted { id: &call.id, name: &call.name });
                let text = match &call.arguments {
                    Arguments::Object(members) => serde_json::to_string(members).unwrap_or_default(),
                    Arguments::Broken(text) => text.clone(),
                };
                watch(Delta::CallArguments { id: &call.id, text: &text });
            }
            Part::Reasoning(_) | Part::Image(_) | Part::ToolResult(_) => {}
        }
    }
}

fn unsent(error: reqwest::Error) -> ModelError {
    let kind = if error.is_builder() { Configuration } else { Unreachable };
    ModelError::new(kind, format!("no answer from the server: {}", chain(error)))
}
