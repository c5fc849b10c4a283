//! Names of spans and attributes.
//!
//! `gen_ai.*` and `mcp.*` are those of the semantic conventions for generative AI and MCP, which are still in development:
//! when they change, this file changes. Other names are `agent_spaces.*`.

use agent_spaces_types::code::Code;

/// Target of every span.
pub const TARGET: &str = "agent_spaces::span";

/// Span of an HTTP request to this host. Its exported name is `{method} {route}`.
pub const REQUEST: &str = "http_request";
/// Span of a run.
pub const RUN: &str = "agent_spaces.run";
/// Span of a call. Its exported name is `execute_tool {function}`.
pub const EXECUTE_TOOL: &str = "execute_tool";
/// Span of a question to an agent. Its exported name is `invoke_agent {agent}`.
pub const INVOKE_AGENT: &str = "invoke_agent";
/// Span of a request to a model. Its exported name is `chat {model}`.
pub const CHAT: &str = "chat";
/// Span of a call's wait for approval.
pub const APPROVAL: &str = "agent_spaces.approval";
/// Span of a request to an MCP server. Its exported name is `{method} {target}`.
pub const MCP_REQUEST: &str = "mcp_request";
/// Span of a request from an MCP client. Its exported name is `{method} {target}`.
pub const MCP_SERVED: &str = "mcp_served";

/// Field that sets the exported name of a span.
pub const OTEL_NAME: &str = "otel.name";
/// Field that sets the kind of a span: `client`, `server`, `internal`.
pub const OTEL_KIND: &str = "otel.kind";
/// Field that sets the status of a span: `ok`, `error`.
pub const OTEL_STATUS: &str = "otel.status_code";

/// Code of an error.
pub const ERROR_TYPE: &str = "error.type";
/// Value in place of text from outside, which may be any: error codes of providers, HTTP methods, names of tools.
pub const OTHER: &str = "_OTHER";

/// Method of an HTTP request.
pub const HTTP_METHOD: &str = "http.request.method";
/// Route of an HTTP request: `/v1/runs/{run}`.
pub const HTTP_ROUTE: &str = "http.route";
/// Status of an HTTP response.
pub const HTTP_STATUS: &str = "http.response.status_code";

/// Operation: [`EXECUTE_TOOL`], [`INVOKE_AGENT`] or [`CHAT`].
pub const GEN_AI_OPERATION: &str = "gen_ai.operation.name";
/// Name of a function, as scripts write it, or of a server's tool.
pub const GEN_AI_TOOL: &str = "gen_ai.tool.name";
/// Number of a call in its run, or id of an agent's call.
pub const GEN_AI_CALL: &str = "gen_ai.tool.call.id";

/// Name of an agent.
pub const GEN_AI_AGENT: &str = "gen_ai.agent.name";
/// Id of an agent's session.
pub const GEN_AI_CONVERSATION: &str = "gen_ai.conversation.id";
/// Name of a provider in the configuration.
pub const GEN_AI_PROVIDER: &str = "gen_ai.provider.name";
/// Name of the model that is asked.
pub const GEN_AI_MODEL: &str = "gen_ai.request.model";
/// Tokens of requests.
pub const GEN_AI_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens of answers.
pub const GEN_AI_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";

/// Method of an MCP request: `tools/call`.
pub const MCP_METHOD: &str = "mcp.method.name";
/// Id of an MCP session.
pub const MCP_SESSION: &str = "mcp.session.id";
/// Version of the protocol.
pub const MCP_VERSION: &str = "mcp.protocol.version";
/// Name of a prompt.
pub const GEN_AI_PROMPT: &str = "gen_ai.prompt.name";
/// Host of a remote server.
pub const SERVER_ADDRESS: &str = "server.address";
/// Transport: `pipe` or `tcp`.
pub const NETWORK_TRANSPORT: &str = "network.transport";

/// Name of an MCP server in the configuration.
pub const MCP_SERVER: &str = "agent_spaces.mcp.server";
/// Run id.
pub const RUN_ID: &str = "agent_spaces.run.id";
/// True if the run was replayed from its journal first.
pub const RUN_RESUMED: &str = "agent_spaces.run.resumed";
/// True if the run answers a call of another run.
pub const RUN_NESTED: &str = "agent_spaces.run.nested";
/// Outcome of a run: `ok`, `parked`, or the code of its error.
pub const RUN_OUTCOME: &str = "agent_spaces.run.outcome";
/// Fuel that a run consumed.
pub const RUN_FUEL: &str = "agent_spaces.run.fuel";
/// Peak memory of a run, in bytes.
pub const RUN_MEMORY: &str = "agent_spaces.run.memory_bytes";
/// Calls of a run.
pub const RUN_CALLS: &str = "agent_spaces.run.calls";
/// True if a call was answered from the cache.
pub const CALL_CACHED: &str = "agent_spaces.call.cached";
/// Id of an approval request.
pub const APPROVAL_ID: &str = "agent_spaces.approval.id";
/// Decision on an approval request: `approve`, `deny` or `expire`.
pub const APPROVAL_DECISION: &str = "agent_spaces.approval.decision";
/// True if the person was asked before the host of a durable run died, or the run was parked.
pub const APPROVAL_RESUMED: &str = "agent_spaces.approval.resumed";

/// Ending of a question: `done`, `turn-limit`, ….
pub const QUESTION_ENDING: &str = "agent_spaces.question.ending";
/// Turns of a question.
pub const QUESTION_TURNS: &str = "agent_spaces.question.turns";

/// `_meta` key, and header, of a trace context.
pub const TRACEPARENT: &str = "traceparent";
/// `_meta` key, and header, of the vendors' part of a trace context.
pub const TRACESTATE: &str = "tracestate";

/// Returns an error code as telemetry has it: one of the host's, or [`OTHER`].
pub fn error_type(code: &str) -> &'static str {
    Code::parse(code).map_or(OTHER, Code::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codes_of_the_host_are_named() {
        assert_eq!(error_type("call.denied"), "call.denied");
        assert_eq!(error_type("customer 4711 owes 12 EUR"), OTHER);
        assert_eq!(error_type(""), OTHER);
    }
}
