//! A service with a scripted model and one tool, for tests of surfaces.

use crate::approvals::AgentApprovals;
use crate::asking::Asker;
use crate::bodies::{Bodies, Held};
use agent_spaces_agent::{
    AgentDefinition, AgentError, AgentLimits, AgentService, AgentSource, AgentSummary, ApprovalAnswer, ApprovalRequest,
    Approver, Budgets, Instructions, LanguageModel, ModelTarget, Nesting, OutputFormat, Sampling, ToolContext,
    ToolMode, ToolOutput, ToolRequest, Tools, Window,
};
use agent_spaces_approvals::{Decision, WaitingCalls as _};
use agent_spaces_http_server::{Client, HttpResponse};
use agent_spaces_journal::Store;
use agent_spaces_models::{
    Answer, Api, Arguments, Delta, Finish, ModelError, ModelErrorKind, Part, Provider, Request, Tool, ToolCall, Usage,
    Watch,
};
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_types::caller::Caller;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Reaction of the model to one request.
pub(crate) enum Step {
    /// It says this, word by word.
    Says(&'static str),
    /// It says something, then calls a tool.
    Calls(&'static str, &'static str, Value),
    /// It fails for good.
    Fails,
    /// It never answers.
    Hangs,
}

/// One agent, `planner`, whose own tool is `look`. A call of `pay` needs a person. The caller `eve` may not ask it.
pub(crate) struct Scripted {
    agent: Arc<AgentDefinition>,
    steps: Mutex<VecDeque<Step>>,
    requests: Mutex<Vec<Request>>,
    /// Questions whose model was asked and dropped before it answered.
    dropped: AtomicUsize,
}

impl Scripted {
    pub(crate) fn new(output: OutputFormat, steps: Vec<Step>) -> Arc<Scripted> {
        let limits = AgentLimits { attempts: 1, ..AgentLimits::default() };
        let target = ModelTarget {
            provider: Provider {
                name: "local".to_owned(),
                api: Api::Ollama,
                base_url: "http://127.0.0.1:1/api".parse().unwrap(),
                key: None,
                headers: Vec::new(),
                timeout: Duration::from_secs(1),
                openrouter: false,
            },
            model: "tiny".to_owned(),
            window: Window { tokens: 8_000, ..Window::default() },
            max_output_tokens: None,
            temperature: None,
            top_p: None,
            tool_choice: None,
            options: Map::new(),
            stream: true,
            price: None,
        };
        let agent = AgentDefinition {
            name: "planner".to_owned(),
            description: "Plans".to_owned(),
            prompt: "You plan.".to_owned(),
            models: vec![target],
            space: None,
            tools: ToolMode::Direct,
            output,
            sampling: Sampling { max_output_tokens: Some(500), ..Sampling::default() },
            limits,
            budgets: Budgets::default(),
        };
        let (steps, requests, dropped) = (Mutex::new(steps.into()), Mutex::default(), AtomicUsize::new(0));
        Arc::new(Scripted { agent: Arc::new(agent), steps, requests, dropped })
    }

    pub(crate) fn service(self: &Arc<Scripted>) -> AgentService {
        AgentService::new(self.clone(), self.clone(), None, Accounting::default(), None)
    }

    /// The same, with sessions in a store.
    pub(crate) fn stored_service(self: &Arc<Scripted>, store: Arc<dyn Store>) -> AgentService {
        AgentService::new(self.clone(), self.clone(), Some(store), Accounting::default(), None)
    }

    /// Asks with a limit of one question at once.
    pub(crate) fn asker(self: &Arc<Scripted>) -> Asker {
        Asker::new(self.service().surface("test", Some(1)), AgentApprovals::default(), CancellationToken::new())
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Counts answers that nobody waited for.
struct Pending<'a>(&'a AtomicUsize);

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl LanguageModel for Scripted {
    fn answer<'a>(
        &'a self,
        _target: &'a ModelTarget,
        request: &'a Request,
        watch: &'a mut Watch<'_>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            self.requests.lock().unwrap().push(request.clone());
            let step = self.steps.lock().unwrap().pop_front().expect("the model is asked too often");
            let mut parts = Vec::new();
            let mut say = |text: &'static str| {
                text.split_inclusive(' ').for_each(|word| watch(Delta::Text(word)));
                parts.extend((!text.is_empty()).then(|| Part::Text(text.to_owned())));
            };
            let finish = match step {
                Step::Says(text) => {
                    say(text);
                    Finish::Stop
                }
                Step::Calls(text, name, arguments) => {
                    say(text);
                    let id = format!("call_{}", self.requests.lock().unwrap().len());
                    let arguments = Arguments::Object(arguments.as_object().cloned().unwrap());
                    parts.push(Part::ToolCall(ToolCall { id, name: name.to_owned(), arguments, opaque: None }));
                    Finish::ToolCalls
                }
                Step::Fails => return Err(ModelError::new(ModelErrorKind::Invalid, "no such model")),
                Step::Hangs => {
                    let _pending = Pending(&self.dropped);
                    std::future::pending::<()>().await;
                    Finish::Stop
                }
            };
            let usage = Usage { input_tokens: 10, output_tokens: 5, cached_tokens: 4, ..Usage::default() };
            Ok(Answer { parts, finish, usage, model: None })
        })
    }
}

impl AgentSource for Scripted {
    fn agents(&self) -> Vec<AgentSummary> {
        vec![AgentSummary { name: self.agent.name.clone(), description: "Plans".to_owned(), schema: None }]
    }

    fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>> {
        (name == self.agent.name).then(|| self.agent.clone())
    }

    fn check(&self, _agent: &AgentDefinition, client: &Client) -> Result<(), AgentError> {
        match client.owner() {
            "eve" => Err(AgentError::Denied("this caller may not ask it".to_owned())),
            _ => Ok(()),
        }
    }

    fn tools<'a>(
        &'a self,
        agent: &'a AgentDefinition,
        client: &'a Client,
        approver: Arc<dyn Approver>,
        _nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>> {
        let tools = self.check(agent, client).map(|()| Arc::new(OwnTools(approver)) as Arc<dyn Tools>);
        Box::pin(std::future::ready(tools))
    }
}

/// The agent's own tools.
struct OwnTools(Arc<dyn Approver>);

impl Tools for OwnTools {
    fn list(&self) -> Vec<Tool> {
        ["look", "pay"].map(tool).into()
    }

    fn instructions(&self) -> Vec<Instructions> {
        Vec::new()
    }

    fn call<'a>(&'a self, call: ToolRequest, _context: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            if call.name == "pay" {
                let request = ApprovalRequest { id: "apr_pay".to_owned(), message: "Pay?".to_owned(), call: json!({}) };
                let ApprovalAnswer::Approve { by } = self.0.ask(request).await else {
                    return ToolOutput::error("denied");
                };
                return ToolOutput { text: format!("paid, says {by}"), ..ToolOutput::default() };
            }
            ToolOutput { text: "a cat".to_owned(), ..ToolOutput::default() }
        })
    }
}

/// A tool that takes any object.
fn tool(name: &str) -> Tool {
    Tool { name: name.to_owned(), description: String::new(), parameters: json!({ "type": "object" }) }
}

/// A caller.
pub(crate) fn ann() -> Client {
    Client::named("ann", Caller::default()).approving()
}

/// A caller that may ask no agent.
pub(crate) fn eve() -> Client {
    Client::named("eve", Caller::default())
}

/// Approves the call of `pay` for Ann, once it waits.
pub(crate) async fn approve_pay(approvals: &AgentApprovals) {
    let waiting = async {
        while !approvals.has("apr_pay") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("nobody is asked");
    approvals.decide("apr_pay", "ann", Decision::approve("ann")).unwrap();
}

/// Memory for a body.
pub(crate) fn held() -> Held {
    Bodies::default().empty(&ann()).unwrap()
}

/// Reads a whole response.
pub(crate) async fn text(response: HttpResponse) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Reads a whole response of JSON.
pub(crate) async fn value(response: HttpResponse) -> Value {
    serde_json::from_str(&text(response).await).unwrap()
}

/// The events of a stream: names, and data as JSON where it is.
pub(crate) fn events(text: &str) -> Vec<(Option<String>, Value)> {
    let blocks = text.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    let event = |block: &str| {
        let line = |prefix: &str| block.lines().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned);
        let data = line("data: ").unwrap();
        (line("event: "), serde_json::from_str(&data).unwrap_or(Value::String(data)))
    };
    blocks.map(event).collect()
}
