//! Provider of an MCP server's tools, resources and prompts.

use super::caller_sessions::CallerSessions;
use super::clients::McpClients;
use super::configured_server::ConfiguredServer;
use super::locked_endpoint;
use super::server_module::ServerModule;
use crate::trust::Status;
use agent_spaces_calls::call::Call;
use agent_spaces_calls::operator_notices::{Notices, Told};
use agent_spaces_calls::provider::{Answering, GettingReady, Provider};
use agent_spaces_config::Scope;
use agent_spaces_mcp::lock::LockedServer;
use agent_spaces_mcp::results::CONTENT_MEMBER;
use agent_spaces_mcp::{CallError, CallOptions, ConnectError, Progress, Server};
use agent_spaces_providers::provider_code;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::provider_kind::ProviderKind;
use agent_spaces_types::server_part::ServerPart;
use agent_spaces_types::shown::Shown;
use capability_gen::sources::is_result_wrapped;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Session that was opened before the space that uses it was made.
#[derive(Clone)]
pub struct Connected(pub Arc<Server>);

impl fmt::Debug for Connected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Connected")
    }
}

/// Provider of one server's module in one space.
pub struct McpProvider {
    clients: McpClients,
    configured: Arc<ConfiguredServer>,
    accepted: Option<Arc<LockedServer>>,
    space: Option<String>,
    /// Session for all calls, if there is one: opened before the space was made, or shared by all spaces of this host.
    server: Option<Arc<Server>>,
    /// Tools whose results the server wraps in `{ "result": … }`.
    wrapped: HashSet<String>,
    /// Tools whose result type allows no content blocks beside the declared members.
    closed: HashSet<String>,
    sessions: Arc<CallerSessions>,
    notices: Notices,
}

impl Provider for McpProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Mcp
    }

    fn description(&self) -> String {
        describe(&self.configured)
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move { self.answer(call).await })
    }

    fn get_ready(self: Arc<Self>, call: &Call) -> GettingReady {
        let (server, tool) = (self.server_of(call), call.source_name.clone());
        Box::pin(async move { server.get_ready().await.map_err(|error| self.error(&tool, error)) })
    }
}

/// Provider without a session, for spaces that are only inspected. Its calls fail.
pub struct Unconnected(pub Arc<ConfiguredServer>);

impl Provider for Unconnected {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Mcp
    }

    fn description(&self) -> String {
        describe(&self.0)
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        let message = format!("{}.{}: MCP servers are not available here", call.capability, call.function);
        Box::pin(std::future::ready(Err(CapabilityError::new(Code::CallUnavailable, message))))
    }
}

fn describe(server: &ConfiguredServer) -> String {
    format!("MCP server {} ({})", server.name, locked_endpoint(server))
}

impl McpProvider {
    /// Creates the provider of a server's module for a space.
    pub fn new(clients: &McpClients, server: &ServerModule, space: Option<&str>) -> McpProvider {
        let ServerModule { configured, accepted, tools, connected } = server;
        let accepted = accepted.as_ref();
        let shared = || (configured.config.scope == Scope::Host).then(|| clients.server(configured, accepted, space));
        let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
        McpProvider {
            server: connected.as_ref().map(|connected| connected.0.clone()).or_else(shared),
            clients: clients.clone(),
            configured: configured.clone(),
            accepted: accepted.cloned(),
            space: space.map(str::to_owned),
            wrapped: tools.iter().filter(|tool| is_result_wrapped(&tool["outputSchema"])).filter_map(name).collect(),
            closed: tools.iter().filter(|tool| is_closed(tool)).filter_map(name).collect(),
            sessions: clients.caller_sessions(),
            notices: notices(clients, configured),
        }
    }

    /// Session that answers a call.
    fn server_of(&self, call: &Call) -> Arc<Server> {
        let make = || self.clients.server(&self.configured, self.accepted.as_ref(), self.space.as_deref());
        match (&self.server, self.configured.config.scope) {
            (Some(server), _) => server.clone(),
            // The run owns the session, which ends with the run.
            (None, Scope::Run) => {
                Arc::clone(&*call.scope.get_or_insert(&format!("mcp:{}", self.configured.name), make))
            }
            (None, _) => self.sessions.get_or_make(call.caller.name.as_deref(), make),
        }
    }

    async fn answer(&self, call: Call) -> Answer {
        let server = self.server_of(&call);
        let tool = call.source_name.clone();
        let answer = match call.part {
            Some(part) => ask(part, &server, &call).await,
            None => self.call_tool(&server, call).await,
        };
        answer.map_err(|error| self.error(&tool, error))
    }

    async fn call_tool(&self, server: &Server, call: Call) -> Result<Value, CallError> {
        let idempotency_key = call.idempotency_key();
        let Call { params, source_name, progress, whole: slot, .. } = call;
        let arguments = match params {
            Value::Object(arguments) => arguments,
            // A tool without parameters receives `{}`.
            _ => Map::new(),
        };
        let tell = move |step: Progress| progress.tell(step.progress, step.total, step.message);
        let options = CallOptions { progress: Some(Arc::new(tell)), idempotency_key };
        let mut value = match slot {
            None => server.call(&source_name, arguments, options).await?,
            Some(slot) => {
                // Discard the answer to an earlier attempt.
                slot.put(None);
                let (data, whole) = server.call_whole(&source_name, arguments, options).await;
                slot.put(
                    whole
                        .filter(|_| matches!(data, Ok(_) | Err(CallError::Tool { .. } | CallError::Capability { .. }))),
                );
                data?
            }
        };
        if let Value::Object(members) = &mut value
            && self.closed.contains(&*source_name)
            && members.shift_remove(CONTENT_MEMBER).is_some()
        {
            let text = format!("`{source_name}` sends content that its result type does not declare; it is dropped");
            self.notices.tell(&source_name, "answer", &text);
        }
        Ok(match value {
            Value::Object(mut wrapper)
                if self.wrapped.contains(&*source_name) && wrapper.len() == 1 && wrapper.contains_key("result") =>
            {
                wrapper.remove("result").unwrap_or_default()
            }
            value => value,
        })
    }

    /// Error for the script. Host details go to the operator.
    fn error(&self, tool: &str, error: CallError) -> CapabilityError {
        let name = &self.configured.name;
        let message = error.to_string();
        let new = |code: Code, message: String| CapabilityError::new(code, message);
        match error {
            CallError::Tool { text, details } => CapabilityError { details, ..CapabilityError::failed(text) },
            CallError::Capability { code, message, retryable, details } => {
                CapabilityError { code: provider_code(code), message, retryable, details }
            }
            CallError::Protocol { code, data, .. } => {
                let mut details = json!({ "code": code });
                if let Some(data) = data {
                    details["data"] = data;
                }
                CapabilityError { details: Some(details), ..new(Code::CallProtocol, message) }
            }
            CallError::Malformed(_) => new(Code::CallProtocol, message),
            CallError::RateLimited => CapabilityError { retryable: true, ..new(Code::CallRateLimited, message) },
            CallError::Timeout { after } => {
                let details = Some(json!({ "afterMs": after.as_millis() as u64 }));
                CapabilityError { details, ..new(Code::CallTimeout, message) }
            }
            CallError::Expired => CapabilityError { retryable: true, ..new(Code::CallUnavailable, message) },
            CallError::Lost(_) => {
                self.notices.tell(tool, "connection", &message);
                let message = "the connection to the server ended while the call was under way: it may or may not \
                               have taken effect";
                new(Code::CallFailed, message.into())
            }
            CallError::Asks(_) => {
                self.notices.tell(tool, "acceptance", &message);
                new(Code::CallDenied, message)
            }
            // The new tool list is text that nobody has accepted: only the operator sees it.
            CallError::Changed(_) => {
                self.notices.tell(tool, "acceptance", &message);
                let message = format!(
                    "`{tool}` of the MCP server `{name}` has changed since it was accepted: its operator can review \
                     `agent-spaces audit --diff` and run `agent-spaces mcp accept`"
                );
                new(Code::CallDenied, message)
            }
            // The reason may name files and commands of this machine: only the operator sees it.
            CallError::Unavailable(error) => {
                self.notices.tell(tool, "connection", &error.to_string());
                match error {
                    ConnectError::Refused(_) => {
                        let unaccepted =
                            format!("the MCP server `{name}` may not be used until its operator accepts it");
                        let message = match (self.configured.config.enabled, self.configured.acceptance.status) {
                            (false, _) => format!("the MCP server `{name}` is switched off"),
                            (true, Status::Accepted) => format!(
                                "{unaccepted}: they can review `agent-spaces audit --diff`, then run `agent-spaces mcp \
                                 accept {name}`"
                            ),
                            (true, _) => {
                                format!("{unaccepted}: they can read the configuration, then run `agent-spaces trust`")
                            }
                        };
                        new(Code::CallDenied, message)
                    }
                    ConnectError::Unauthorized { .. } => {
                        let message =
                            format!("the MCP server `{name}` requires authorization: its operator must log in");
                        new(Code::CallUnavailable, message)
                    }
                    _ => {
                        let message = format!("the MCP server `{name}` is not available");
                        CapabilityError { retryable: true, ..new(Code::CallUnavailable, message) }
                    }
                }
            }
            _ => new(Code::CallFailed, message),
        }
    }
}

/// Operator notices, sent to the same place as the server's warnings.
fn notices(clients: &McpClients, server: &ConfiguredServer) -> Notices {
    let (context, name) = (clients.context().clone(), server.name.clone());
    let redactor = context.redactor.clone();
    Notices::new(Some(Arc::new(move |text: &Shown| context.warn(&name, text))), redactor, Told::default())
}

/// Returns true if a tool's result type allows no undeclared members.
fn is_closed(tool: &Value) -> bool {
    let schema = &tool["outputSchema"];
    schema["additionalProperties"] == false && schema["properties"].get(CONTENT_MEMBER).is_none()
}

/// Calls a function for resources or prompts of a server.
async fn ask(part: ServerPart, server: &Server, call: &Call) -> Result<Value, CallError> {
    let text = |name: &str| call.params.get(name).and_then(Value::as_str).unwrap_or_default();
    match (part, &*call.function) {
        (ServerPart::Resources, "read") => server.read_resource(text("uri")).await,
        (ServerPart::Resources, "templates") => server.list_resource_templates().await.map(Value::Array),
        (ServerPart::Resources, _) => server.list_resources().await.map(Value::Array),
        (ServerPart::Prompts, "get") => {
            let arguments = call.params.get("arguments").and_then(Value::as_object).cloned();
            server.get_prompt(text("name"), arguments.unwrap_or_default()).await
        }
        (ServerPart::Prompts, _) => server.list_prompts().await.map(Value::Array),
    }
}
