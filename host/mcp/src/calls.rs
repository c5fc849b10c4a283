//! Requests to a server: tool calls, resources, prompts.

use crate::connection::{Connection, Deadline};
use crate::error::CallError;
use crate::handler::{Progress, ProgressSink};
use crate::results;
use crate::spans::{self, McpRequest};
use rmcp::model::*;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{Instrument as _, Span};

/// `_meta` key of the idempotency key of a tool call: see [`CallOptions::idempotency_key`].
pub const IDEMPOTENCY_KEY: &str = "agent-spaces/idempotencyKey";

/// Options of a tool call.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Receives progress notifications.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// Key that is the same whenever this call is made again, so that a server can tell a repetition from a new call.
    pub idempotency_key: Option<String>,
}

/// Limit on rounds of input requests (SEP-2322) for one call.
const MAX_ROUNDS: usize = 10;

impl Connection {
    /// Calls a tool by the server's own name for it; returns the complete result.
    pub(crate) async fn call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        CallOptions { progress, idempotency_key }: CallOptions,
    ) -> Result<Value, CallError> {
        let span = self.request_span(McpRequest::CallTool(tool));
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        let key = idempotency_key.map(|key| (IDEMPOTENCY_KEY.to_owned(), Value::String(key)));
        params.meta = spans::meta(&span, Map::from_iter(key));
        let deadline = self.deadline(self.settings.timeout_of(tool));
        let result = self.rounds(deadline, progress, |answers| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = answers;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        });
        let needed = ["content", "structuredContent", "isError", results::TOOL_RESULT];
        traced(&span, result, &needed).await
    }

    /// Reads a resource; returns the complete result.
    pub(crate) async fn read_resource(&self, uri: &str) -> Result<Value, CallError> {
        let span = self.request_span(McpRequest::ReadResource);
        let mut params = ReadResourceRequestParams::new(uri);
        params.meta = spans::meta(&span, Map::new());
        let result = self.rounds(self.deadline(self.settings.timeout), None, |answers| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = answers;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        });
        traced(&span, result, &["contents"]).await
    }

    /// Renders a prompt with arguments; returns the complete result.
    pub(crate) async fn get_prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, CallError> {
        let span = self.request_span(McpRequest::GetPrompt(name));
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = Some(arguments);
        params.meta = spans::meta(&span, Map::new());
        let result = self.rounds(self.deadline(self.settings.timeout), None, |answers| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = answers;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        });
        traced(&span, result, &["messages"]).await
    }

    /// Sends a request; if the server requires input (SEP-2322), answers and sends it again, within one deadline.
    async fn rounds(
        &self,
        deadline: Deadline,
        progress: Option<ProgressSink>,
        make: impl Fn((Option<InputResponses>, Option<String>)) -> ClientRequest,
    ) -> Result<ServerResult, CallError> {
        let begun = Instant::now();
        let mut answers = (None, None);
        for _ in 0..MAX_ROUNDS {
            match self.request(make(answers), deadline.after(begun.elapsed()), progress.clone()).await? {
                ServerResult::InputRequiredResult(asked) => answers = self.answer_input_requests(asked)?,
                ServerResult::CreateTaskResult(_) => return Err(CallError::Asks("polling of a task".into())),
                result => return Ok(result),
            }
        }
        Err(CallError::Malformed(format!("it requested input {MAX_ROUNDS} times for one call")))
    }

    /// Pings the server.
    pub(crate) async fn ping(&self) -> Result<(), CallError> {
        let is_stateless = self.info().is_some_and(|info| !info.protocol_version.has_initialize());
        let request = match is_stateless {
            // The stateless protocol has no ping; `server/discover` is the cheapest request.
            true => ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {})),
            false => ClientRequest::PingRequest(PingRequest::default()),
        };
        self.request(request, self.deadline(self.settings.timeout), None).await.map(drop)
    }

    pub(crate) fn deadline(&self, silence: Duration) -> Deadline {
        Deadline { silence, total: self.settings.progress_timeout.filter(|total| *total > silence) }
    }

    /// Answers input requests with what the configuration grants the server.
    fn answer_input_requests(
        &self,
        asked: InputRequiredResult,
    ) -> Result<(Option<InputResponses>, Option<String>), CallError> {
        let mut responses = InputResponses::new();
        for (key, request) in asked.input_requests.unwrap_or_default() {
            let response = match request {
                InputRequest::CreateMessage(_) => return Err(CallError::Asks("sampling".into())),
                InputRequest::Elicitation(request) => {
                    let answer = self.handler.elicit(&request.params);
                    serde_json::to_value(answer.map_err(|_| CallError::Asks("elicitation".into()))?)
                }
                InputRequest::ListRoots(_) => {
                    let answer = self.handler.roots();
                    serde_json::to_value(answer.map_err(|_| CallError::Asks("roots".into()))?)
                }
                _ => return Err(CallError::Asks("an unknown kind of input".into())),
            };
            let response = response.map_err(|error| CallError::Malformed(error.to_string()))?;
            responses.insert(key, response);
        }
        if responses.is_empty() && asked.request_state.is_none() {
            return Err(CallError::Malformed("it requires input but has no input requests".into()));
        }
        Ok(((!responses.is_empty()).then_some(responses), asked.request_state))
    }
}

/// Waits for a result in the span of its request.
async fn traced(
    span: &Span,
    result: impl Future<Output = Result<ServerResult, CallError>>,
    needed: &[&str],
) -> Result<Value, CallError> {
    let result = result.instrument(span.clone()).await.and_then(|result| raw(result, needed));
    spans::end(span, &result);
    result
}

/// Returns a result as the server sent it, if it has one of the needed members. The SDK only guesses the kind of a
/// result.
fn raw(result: ServerResult, needed: &[&str]) -> Result<Value, CallError> {
    let value = match result {
        ServerResult::CustomResult(CustomResult(value)) => value,
        result => serde_json::to_value(result).map_err(|error| CallError::Malformed(error.to_string()))?,
    };
    let fits = needed.iter().any(|member| value.get(member).is_some());
    // An empty object is an empty result.
    if fits || value.as_object().is_some_and(Map::is_empty) {
        return Ok(value);
    }
    Err(CallError::Malformed(format!("it has none of the members {}", needed.join(", "))))
}
