//! One agent whose model acts by the scenario that a message names.

use agent_spaces_agent::{
    AgentDefinition, AgentError, AgentLimits, AgentSource, AgentSummary, ApprovalAnswer, ApprovalRequest, Approver,
    Budgets, Instructions, LanguageModel, ModelTarget, Nesting, OutputFormat, Sampling, ToolContext, ToolMode,
    ToolOutput, ToolRequest, Tools, Window,
};
use agent_spaces_http_server::Client;
use agent_spaces_models::{
    Answer, Api, Arguments, Delta, Finish, Message, ModelError, Part, Provider, Request, Role, Tool, ToolCall, Usage,
    Watch,
};
use futures_util::future::BoxFuture;
use serde_json::{Map, json};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Name of the agent.
const NAME: &str = "tck";

/// Tool whose calls need a person.
const TOOL: &str = "ask";

/// Prefix of the id of a message that takes long: twice the timeout of the kit's streams.
const LONG: &str = "test-resubscribe-message-id";
const LONG_TIME: Duration = Duration::from_secs(4);

/// Answers of the model, by prefix of the message's id. The first that fits counts.
const TEXTS: [(&str, &[&str]); 7] = [
    ("tck-artifact-text", &["Generated text content"]),
    ("tck-artifact-data", &["{\"key\":\"value\",\"count\":42}"]),
    ("tck-stream-001", &["Stream hello from TCK"]),
    ("tck-stream-003", &["Stream task lifecycle"]),
    ("tck-stream-ordering-001", &["Ordered output"]),
    ("tck-stream-artifact-text", &["Streamed text content"]),
    ("tck-stream-artifact-chunked", &["chunk-1 ", "chunk-2"]),
];

/// Answer to any other id.
const DEFAULT: &[&str] = &["Hello from TCK"];

/// The agent, its model and its tool.
pub(crate) struct Script {
    agent: Arc<AgentDefinition>,
    calls: Arc<AtomicU64>,
}

impl Script {
    pub(crate) fn new() -> Result<Script, Box<dyn Error>> {
        let provider = Provider {
            name: "script".to_owned(),
            api: Api::Ollama,
            base_url: "http://127.0.0.1:1/".parse()?,
            key: None,
            headers: Vec::new(),
            timeout: Duration::from_secs(1),
            openrouter: false,
        };
        let target = ModelTarget {
            provider,
            model: "script".to_owned(),
            window: Window::default(),
            max_output_tokens: None,
            temperature: None,
            top_p: None,
            tool_choice: None,
            options: Map::new(),
            stream: true,
            price: None,
        };
        let agent = AgentDefinition {
            name: NAME.to_owned(),
            description: "Acts by the scenarios of the conformance kit".to_owned(),
            prompt: "You are a test.".to_owned(),
            models: vec![target],
            space: None,
            tools: ToolMode::Direct,
            output: OutputFormat::Text,
            sampling: Sampling::default(),
            limits: AgentLimits::default(),
            budgets: Budgets::default(),
        };
        Ok(Script { agent: Arc::new(agent), calls: Arc::default() })
    }
}

/// Returns the scenario of the last message of a user.
fn scenario(request: &Request) -> String {
    let last = request.messages.iter().rev().find(|message| message.role == Role::User).map(Message::text);
    let text = last.unwrap_or_default();
    let found = text.split_once("{\"scenario\":\"").and_then(|(_, rest)| rest.split_once('"'));
    found.map(|(id, _)| id.to_owned()).unwrap_or_default()
}

impl LanguageModel for Script {
    fn answer<'a>(
        &'a self,
        _target: &'a ModelTarget,
        request: &'a Request,
        watch: &'a mut Watch<'_>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let scenario = scenario(request);
            let has_result = request.messages.last().is_some_and(|message| message.role == Role::Tool);
            if scenario.starts_with(LONG) {
                tokio::time::sleep(LONG_TIME).await;
            }
            let (parts, finish) = if scenario.starts_with("tck-input-required") && !has_result {
                let id = format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed));
                let arguments = Arguments::Object(Map::new());
                let call = ToolCall { id, name: TOOL.to_owned(), arguments, opaque: None };
                (vec![Part::ToolCall(call)], Finish::ToolCalls)
            } else if scenario.starts_with("tck-reject-task") {
                (Vec::new(), Finish::Refused("rejected".to_owned()))
            } else {
                let texts = TEXTS.iter().find(|(id, _)| scenario.starts_with(id)).map_or(DEFAULT, |(_, texts)| *texts);
                texts.iter().for_each(|text| watch(Delta::Text(text)));
                (vec![Part::Text(texts.concat())], Finish::Stop)
            };
            Ok(Answer { parts, finish, usage: Usage::default(), model: None })
        })
    }
}

impl AgentSource for Script {
    fn agents(&self) -> Vec<AgentSummary> {
        let AgentDefinition { name, description, .. } = &*self.agent;
        vec![AgentSummary { name: name.clone(), description: description.clone(), schema: None }]
    }

    fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>> {
        (name == NAME).then(|| self.agent.clone())
    }

    fn tools<'a>(
        &'a self,
        _agent: &'a AgentDefinition,
        _client: &'a Client,
        approver: Arc<dyn Approver>,
        _nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>> {
        let tools: Arc<dyn Tools> = Arc::new(Asking { approver, calls: self.calls.clone() });
        Box::pin(std::future::ready(Ok(tools)))
    }
}

/// A tool that asks a person.
struct Asking {
    approver: Arc<dyn Approver>,
    calls: Arc<AtomicU64>,
}

impl Tools for Asking {
    fn list(&self) -> Vec<Tool> {
        let parameters = json!({ "type": "object" });
        vec![Tool { name: TOOL.to_owned(), description: "Asks a person".to_owned(), parameters }]
    }

    fn instructions(&self) -> Vec<Instructions> {
        Vec::new()
    }

    fn call<'a>(&'a self, call: ToolRequest, context: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let id = format!("approval_{}", self.calls.fetch_add(1, Ordering::Relaxed));
            let message = "Go on?".to_owned();
            let request = ApprovalRequest { id, message, call: json!({ "function": call.name }) };
            let answer = tokio::select! {
                answer = self.approver.ask(request) => answer,
                () = context.cancel.cancelled() => ApprovalAnswer::Expired,
            };
            match answer {
                ApprovalAnswer::Approve { .. } => ToolOutput { text: "yes".to_owned(), ..ToolOutput::default() },
                ApprovalAnswer::Deny { .. } | ApprovalAnswer::Expired => ToolOutput::error("no"),
            }
        })
    }
}
