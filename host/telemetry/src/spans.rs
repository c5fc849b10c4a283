//! Constructors of the host's spans. No other code opens spans of this target.
//!
//! A span's parent is the current span. A spawned task has no current span, so instrument its future.

use crate::names;
use agent_spaces_types::usage::Usage;
use std::fmt;
use tracing::field::{Empty, display};
use tracing::{Level, Span, span};

/// Opens the span of an HTTP request to this host. `route` is the pattern, not the path, which has ids.
pub fn request(method: &str, route: &str) -> Span {
    // Clients may invent methods.
    let method = match method {
        "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" => method,
        _ => names::OTHER,
    };
    span!(
        target: names::TARGET,
        Level::INFO,
        names::REQUEST,
        { names::OTEL_NAME } = %format_args!("{method} {route}"),
        { names::OTEL_KIND } = "server",
        { names::OTEL_STATUS } = Empty,
        { names::HTTP_METHOD } = method,
        { names::HTTP_ROUTE } = route,
        { names::HTTP_STATUS } = Empty,
        { names::ERROR_TYPE } = Empty,
    )
}

/// Ends the span of an HTTP request with the status of its response.
pub fn end_request(span: &Span, status: u16) {
    if span.is_disabled() {
        return;
    }
    span.record(names::HTTP_STATUS, i64::from(status));
    if status >= 500 {
        span.record(names::OTEL_STATUS, "error");
        span.record(names::ERROR_TYPE, display(status));
    }
}

/// Opens the span of a run.
pub fn run(run_id: &str, is_resumed: bool, is_nested: bool) -> Span {
    span!(
        target: names::TARGET,
        Level::INFO,
        names::RUN,
        { names::OTEL_STATUS } = Empty,
        { names::RUN_ID } = run_id,
        { names::RUN_RESUMED } = is_resumed,
        { names::RUN_NESTED } = is_nested,
        { names::RUN_OUTCOME } = Empty,
        { names::RUN_FUEL } = Empty,
        { names::RUN_MEMORY } = Empty,
        { names::RUN_CALLS } = Empty,
        { names::ERROR_TYPE } = Empty,
    )
}

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd<'a> {
    /// It succeeded.
    Ok,
    /// It left memory and is continued later.
    Parked,
    /// It failed with this code.
    Failed(&'a str),
}

/// Ends the span of a run.
pub fn end_run(span: &Span, end: RunEnd<'_>, usage: &Usage) {
    if span.is_disabled() {
        return;
    }
    let outcome = match end {
        RunEnd::Ok => "ok",
        RunEnd::Parked => "parked",
        RunEnd::Failed(code) => names::error_type(code),
    };
    span.record(names::RUN_OUTCOME, outcome);
    span.record(names::RUN_FUEL, integer(usage.fuel));
    span.record(names::RUN_MEMORY, integer(usage.memory_bytes));
    span.record(names::RUN_CALLS, integer(usage.calls));
    if let RunEnd::Failed(_) = end {
        failed(span, outcome);
    }
}

/// Opens the span of a call. `function` is the name that scripts use.
pub fn call(function: &str, run_id: &str, call_id: u64) -> Span {
    span!(
        target: names::TARGET,
        Level::INFO,
        names::EXECUTE_TOOL,
        { names::OTEL_NAME } = %format_args!("{} {function}", names::EXECUTE_TOOL),
        { names::OTEL_STATUS } = Empty,
        { names::GEN_AI_OPERATION } = names::EXECUTE_TOOL,
        { names::GEN_AI_TOOL } = function,
        { names::GEN_AI_CALL } = %call_id,
        { names::RUN_ID } = run_id,
        { names::CALL_CACHED } = Empty,
        { names::ERROR_TYPE } = Empty,
    )
}

/// Ends the span of a call: whether its answer came from the cache, or the code of its error.
pub fn end_call(span: &Span, outcome: Result<bool, &str>) {
    if span.is_disabled() {
        return;
    }
    match outcome {
        Ok(is_cached) => {
            span.record(names::CALL_CACHED, is_cached);
        }
        Err(code) => failed(span, names::error_type(code)),
    }
}

/// Opens the span of a question to an agent. A question without a session has no id.
pub fn invoke_agent(agent: &str, session: Option<&str>) -> Span {
    span!(
        target: names::TARGET,
        Level::INFO,
        names::INVOKE_AGENT,
        { names::OTEL_NAME } = %format_args!("{} {agent}", names::INVOKE_AGENT),
        { names::OTEL_STATUS } = Empty,
        { names::GEN_AI_OPERATION } = names::INVOKE_AGENT,
        { names::GEN_AI_AGENT } = agent,
        { names::GEN_AI_CONVERSATION } = session,
        { names::GEN_AI_INPUT_TOKENS } = Empty,
        { names::GEN_AI_OUTPUT_TOKENS } = Empty,
        { names::QUESTION_ENDING } = Empty,
        { names::QUESTION_TURNS } = Empty,
        { names::ERROR_TYPE } = Empty,
    )
}

/// End of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionEnd {
    /// Ending: `done`, `turn-limit`, ….
    pub ending: &'static str,
    /// True if that is a failure.
    pub is_failure: bool,
    /// Turns.
    pub turns: u32,
    /// Tokens of all requests.
    pub input_tokens: u64,
    /// Tokens of all answers.
    pub output_tokens: u64,
}

/// Ends the span of a question.
pub fn end_invoke_agent(span: &Span, end: QuestionEnd) {
    if span.is_disabled() {
        return;
    }
    span.record(names::QUESTION_ENDING, end.ending);
    span.record(names::QUESTION_TURNS, i64::from(end.turns));
    span.record(names::GEN_AI_INPUT_TOKENS, integer(end.input_tokens));
    span.record(names::GEN_AI_OUTPUT_TOKENS, integer(end.output_tokens));
    if end.is_failure {
        failed(span, end.ending);
    }
}

/// Opens the span of a request to a model, by the name of its provider in the configuration.
pub fn chat(provider: &str, model: &str) -> Span {
    span!(
        target: names::TARGET,
        Level::INFO,
        names::CHAT,
        { names::OTEL_NAME } = %format_args!("{} {model}", names::CHAT),
        { names::OTEL_KIND } = "client",
        { names::OTEL_STATUS } = Empty,
        { names::GEN_AI_OPERATION } = names::CHAT,
        { names::GEN_AI_PROVIDER } = provider,
        { names::GEN_AI_MODEL } = model,
        { names::GEN_AI_INPUT_TOKENS } = Empty,
        { names::GEN_AI_OUTPUT_TOKENS } = Empty,
        { names::ERROR_TYPE } = Empty,
    )
}

/// Ends the span of a request to a model: tokens of request and answer, or the kind of its failure.
pub fn end_chat(span: &Span, outcome: Result<(u64, u64), &'static str>) {
    if span.is_disabled() {
        return;
    }
    match outcome {
        Ok((input, output)) => {
            span.record(names::GEN_AI_INPUT_TOKENS, integer(input));
            span.record(names::GEN_AI_OUTPUT_TOKENS, integer(output));
        }
        Err(kind) => failed(span, kind),
    }
}

/// Opens the span of a call that an agent's model asks for. The tool has to be one that exists.
pub fn agent_call(tool: &str, call_id: &str) -> Span {
    span!(
        target: names::TARGET,
        Level::INFO,
        names::EXECUTE_TOOL,
        { names::OTEL_NAME } = %format_args!("{} {tool}", names::EXECUTE_TOOL),
        { names::OTEL_STATUS } = Empty,
        { names::GEN_AI_OPERATION } = names::EXECUTE_TOOL,
        { names::GEN_AI_TOOL } = tool,
        { names::GEN_AI_CALL } = call_id,
        { names::ERROR_TYPE } = Empty,
    )
}

/// Ends the span of an agent's call.
pub fn end_agent_call(span: &Span, is_error: bool) {
    if is_error {
        failed(span, names::OTHER);
    }
}

/// Opens the span of a call's wait for approval.
pub fn approval(approval_id: &str, was_asked: bool) -> Span {
    span!(
        target: names::TARGET,
        Level::INFO,
        names::APPROVAL,
        { names::APPROVAL_ID } = approval_id,
        { names::APPROVAL_RESUMED } = was_asked,
        { names::APPROVAL_DECISION } = Empty,
    )
}

/// Ends the span of a wait for approval.
pub fn end_approval(span: &Span, decision: &'static str) {
    span.record(names::APPROVAL_DECISION, decision);
}

/// Request to an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpRequest<'a> {
    /// `tools/call` with the server's name of the tool.
    CallTool(&'a str),
    /// `prompts/get` with the name of the prompt.
    GetPrompt(&'a str),
    /// `resources/read`. Addresses of resources may hold arguments, so they are left out.
    ReadResource,
}

impl<'a> McpRequest<'a> {
    /// Returns the method.
    pub fn method(self) -> &'static str {
        match self {
            McpRequest::CallTool(_) => "tools/call",
            McpRequest::GetPrompt(_) => "prompts/get",
            McpRequest::ReadResource => "resources/read",
        }
    }

    fn tool(self) -> Option<&'a str> {
        match self {
            McpRequest::CallTool(tool) => Some(tool),
            McpRequest::GetPrompt(_) | McpRequest::ReadResource => None,
        }
    }

    fn prompt(self) -> Option<&'a str> {
        match self {
            McpRequest::GetPrompt(prompt) => Some(prompt),
            McpRequest::CallTool(_) | McpRequest::ReadResource => None,
        }
    }

    fn span_name(self) -> SpanName<'a> {
        SpanName(self)
    }
}

/// Name of a request's span, formatted only by a subscriber that reads it.
struct SpanName<'a>(McpRequest<'a>);

impl fmt::Display for SpanName<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.method())?;
        match self.0.tool().or(self.0.prompt()) {
            Some(target) => write!(formatter, " {target}"),
            None => Ok(()),
        }
    }
}

/// Opens the span of a request to an MCP server, by its name in the configuration. The address of a remote one is
/// recorded with [`names::SERVER_ADDRESS`], the version of the protocol with [`names::MCP_VERSION`], a session with
/// [`names::MCP_SESSION`].
pub fn mcp_request(server: &str, request: McpRequest<'_>, transport: &'static str) -> Span {
    span!(
        target: names::TARGET,
        Level::INFO,
        names::MCP_REQUEST,
        { names::OTEL_NAME } = %request.span_name(),
        { names::OTEL_KIND } = "client",
        { names::OTEL_STATUS } = Empty,
        { names::MCP_METHOD } = request.method(),
        { names::MCP_SERVER } = server,
        { names::MCP_SESSION } = Empty,
        { names::MCP_VERSION } = Empty,
        { names::GEN_AI_OPERATION } = request.tool().map(|_| names::EXECUTE_TOOL),
        { names::GEN_AI_TOOL } = request.tool(),
        { names::GEN_AI_PROMPT } = request.prompt(),
        { names::NETWORK_TRANSPORT } = transport,
        { names::SERVER_ADDRESS } = Empty,
        { names::ERROR_TYPE } = Empty,
    )
}

/// Longest name of a tool that a client may put into a span; those that exist are shorter.
const MAX_TOOL_NAME: usize = 64;

/// Opens the span of a tool call that an MCP client sent to this host. The client chose the name, so only one of the form
/// that names of tools have is in the span.
pub fn mcp_served(tool: &str) -> Span {
    let is_named = tool.len() <= MAX_TOOL_NAME
        && tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/'));
    let request = McpRequest::CallTool(if is_named { tool } else { names::OTHER });
    span!(
        target: names::TARGET,
        Level::INFO,
        names::MCP_SERVED,
        { names::OTEL_NAME } = %request.span_name(),
        { names::OTEL_KIND } = "server",
        { names::OTEL_STATUS } = Empty,
        { names::MCP_METHOD } = request.method(),
        { names::GEN_AI_OPERATION } = names::EXECUTE_TOOL,
        { names::GEN_AI_TOOL } = request.tool(),
        { names::ERROR_TYPE } = Empty,
    )
}

/// Ends the span of a request to an MCP server, or of one from a client. The kind of an error is one of the host's own
/// words.
pub fn end_mcp_request(span: &Span, error: Option<&'static str>) {
    if let Some(error) = error {
        failed(span, error);
    }
}

/// Converts a number: an attribute is a signed one, and anything else would be exported as text.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn failed(span: &Span, error: &'static str) {
    span.record(names::OTEL_STATUS, "error");
    span.record(names::ERROR_TYPE, error);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_requests_are_named_by_method_and_target() {
        assert_eq!(McpRequest::CallTool("get_time").span_name().to_string(), "tools/call get_time");
        assert_eq!(McpRequest::GetPrompt("greet").span_name().to_string(), "prompts/get greet");
        assert_eq!(McpRequest::ReadResource.span_name().to_string(), "resources/read");
    }
}
