//! Scripted models and tools.

use crate::answering::{AnswerContext, Outcome};
use crate::conversation::Conversation;
use crate::definition::{AgentDefinition, AgentLimits, Budgets, OutputFormat, Sampling, ToolMode};
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::guard::Guard;
use crate::handles::Handles;
use crate::model::{LanguageModel, ModelTarget, Window};
use crate::record::{Record, SessionLog};
use crate::spending::{Day, Spending, Spent};
use crate::tools::{Instructions, ToolContext, ToolOutput, ToolRequest, Tools};
use crate::turns;
use agent_spaces_models::{
    Answer, Api, Arguments, Delta, Finish, Message, ModelError, ModelErrorKind, Part, Provider, Request, Tool,
    ToolCall, ToolChoice, Usage, Watch,
};
use agent_spaces_pipeline::accounting::Accounting;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Scripted reaction of a model to a request.
pub(crate) enum Step {
    Answer(Answer),
    /// It says this, and then fails.
    Fail(&'static str, ModelError),
    /// It never answers.
    Hang,
}

/// Models that follow one script. Each step names the model that has to be asked.
#[derive(Default)]
pub(crate) struct ScriptedModel {
    steps: Mutex<VecDeque<(&'static str, Step)>>,
    requests: Mutex<Vec<Request>>,
}

impl ScriptedModel {
    pub(crate) fn new(steps: Vec<(&'static str, Step)>) -> Arc<ScriptedModel> {
        Arc::new(ScriptedModel { steps: Mutex::new(steps.into()), requests: Mutex::default() })
    }

    /// Requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Steps that were not taken.
    pub(crate) fn left(&self) -> usize {
        self.steps.lock().unwrap().len()
    }
}

impl LanguageModel for ScriptedModel {
    fn answer<'a>(
        &'a self,
        target: &'a ModelTarget,
        request: &'a Request,
        watch: &'a mut Watch<'_>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            self.requests.lock().unwrap().push(request.clone());
            let step = self.steps.lock().unwrap().pop_front();
            let (model, step) = step.expect("the model is asked more often than the script says");
            assert_eq!(model, target.model);
            match step {
                Step::Answer(answer) => {
                    for part in &answer.parts {
                        if let Part::Text(text) = part {
                            watch(Delta::Text(text));
                        }
                    }
                    Ok(answer)
                }
                Step::Fail(text, error) => {
                    if !text.is_empty() {
                        watch(Delta::Text(text));
                    }
                    Err(error)
                }
                Step::Hang => std::future::pending().await,
            }
        })
    }
}

/// Answers one call.
type Handler = Box<dyn Fn(ToolRequest) -> BoxFuture<'static, ToolOutput> + Send + Sync>;

/// Tools `look`, `act` and `grow` that one function answers.
pub(crate) struct ScriptedTools {
    handler: Handler,
    calls: Mutex<Vec<ToolRequest>>,
}

impl ScriptedTools {
    pub(crate) fn new(
        handler: impl Fn(ToolRequest) -> BoxFuture<'static, ToolOutput> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(ScriptedTools { handler: Box::new(handler), calls: Mutex::default() })
    }

    /// Tools that say what they were called with.
    pub(crate) fn echo() -> Arc<Self> {
        Self::new(|call| {
            let text = format!("{} {}", call.name, Value::Object(call.arguments));
            Box::pin(std::future::ready(ToolOutput { text, ..ToolOutput::default() }))
        })
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> Vec<ToolRequest> {
        self.calls.lock().unwrap().clone()
    }
}

impl Tools for ScriptedTools {
    fn list(&self) -> Vec<Tool> {
        ["act", "grow", "look"].map(tool).into()
    }

    fn instructions(&self) -> Vec<Instructions> {
        Vec::new()
    }

    fn call<'a>(&'a self, call: ToolRequest, _context: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        self.calls.lock().unwrap().push(call.clone());
        (self.handler)(call)
    }
}

/// A tool that takes any object.
pub(crate) fn tool(name: &str) -> Tool {
    Tool { name: name.to_owned(), description: "A tool.".to_owned(), parameters: json!({ "type": "object" }) }
}

/// Keeps records in memory.
pub(crate) struct MemoryLog {
    records: Mutex<Vec<Record>>,
    /// Maximum number of records.
    most: usize,
}

impl Default for MemoryLog {
    fn default() -> Self {
        MemoryLog { records: Mutex::default(), most: usize::MAX }
    }
}

impl MemoryLog {
    /// A session that has records already.
    pub(crate) fn of(records: Vec<Record>) -> Arc<MemoryLog> {
        Arc::new(MemoryLog { records: Mutex::new(records), most: usize::MAX })
    }

    /// A log that fails after so many records.
    pub(crate) fn full_after(most: usize) -> Arc<MemoryLog> {
        Arc::new(MemoryLog { records: Mutex::default(), most })
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap().clone()
    }
}

impl SessionLog for MemoryLog {
    fn append<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>> {
        let mut records = self.records.lock().unwrap();
        if records.len() >= self.most {
            return Box::pin(std::future::ready(Err(AgentError::Store("the disk is full".to_owned()))));
        }
        records.push(record.clone());
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Everything for questions to one agent.
pub(crate) struct Stage {
    pub(crate) agent: AgentDefinition,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) tools: Arc<ScriptedTools>,
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) events: Arc<Mutex<Vec<AgentEvent>>>,
    pub(crate) cancel: CancellationToken,
    pub(crate) caller_tools: Vec<Tool>,
    pub(crate) accounting: Accounting,
}

impl Stage {
    pub(crate) fn new(steps: Vec<(&'static str, Step)>, tools: Arc<ScriptedTools>) -> Stage {
        Stage {
            agent: agent(),
            model: ScriptedModel::new(steps),
            tools,
            log: Arc::default(),
            events: Arc::default(),
            cancel: CancellationToken::new(),
            caller_tools: Vec::new(),
            accounting: Accounting::default(),
        }
    }

    /// Asks in the session that the log has.
    pub(crate) async fn ask(&self, text: &str) -> Outcome {
        self.ask_messages(vec![Message::user(text)]).await
    }

    /// Goes on with the question that the log has.
    pub(crate) async fn go_on(&self) -> Outcome {
        self.ask_messages(Vec::new()).await
    }

    pub(crate) async fn ask_messages(&self, messages: Vec<Message>) -> Outcome {
        let handles = Handles::default();
        let conversation = Conversation::of(self.log.records(), &handles);
        let events = self.events.clone();
        let context = AnswerContext {
            models: self.model.clone(),
            tools: self.tools.clone(),
            caller_tools: self.caller_tools.clone(),
            tool_choice: ToolChoice::Auto,
            output: self.agent.output.clone(),
            system: None,
            log: self.log.clone(),
            handles,
            guard: Guard::new(None),
            spending: Spending::new(self.agent.budgets, Spent::default(), Day::default(), None),
            accounting: self.accounting.clone(),
            caller: None,
            watcher: Arc::new(move |event| events.lock().unwrap().push(event)),
            cancel: self.cancel.child_token(),
            session: "ses_1".to_owned(),
        };
        turns::answer(&self.agent, &context, conversation, messages).await
    }

    /// Events so far.
    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        self.events.lock().unwrap().clone()
    }

    /// Texts of all results, in the order in which they came.
    pub(crate) fn results(&self) -> Vec<String> {
        let result = |record: Record| match record {
            Record::Returned { result } => Some(result.text),
            _ => None,
        };
        self.log.records().into_iter().filter_map(result).collect()
    }
}

/// An agent with the models `first` and `second`.
pub(crate) fn agent() -> AgentDefinition {
    AgentDefinition {
        name: "helper".to_owned(),
        description: "Helps.".to_owned(),
        prompt: "You help.".to_owned(),
        models: vec![target("first"), target("second")],
        space: None,
        tools: ToolMode::Direct,
        output: OutputFormat::Text,
        sampling: Sampling::default(),
        limits: AgentLimits::default(),
        budgets: Budgets::default(),
    }
}

pub(crate) fn target(model: &str) -> ModelTarget {
    ModelTarget {
        provider: Provider {
            name: "local".to_owned(),
            api: Api::Ollama,
            base_url: "http://127.0.0.1:9/api".parse().unwrap(),
            key: None,
            headers: Vec::new(),
            timeout: Duration::from_secs(5),
            openrouter: false,
        },
        model: model.to_owned(),
        window: Window::default(),
        max_output_tokens: None,
        temperature: None,
        top_p: None,
        tool_choice: None,
        options: Map::new(),
        stream: true,
        price: None,
    }
}

/// An answer of text alone.
pub(crate) fn says(text: &str) -> Step {
    Step::Answer(answer(vec![Part::Text(text.to_owned())], Finish::Stop))
}

/// An answer that calls tools: id, name, arguments.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Step {
    Step::Answer(answer(
        calls.iter().map(|(id, name, arguments)| call(id, name, arguments)).collect(),
        Finish::ToolCalls,
    ))
}

pub(crate) fn answer(parts: Vec<Part>, finish: Finish) -> Answer {
    // Without input tokens the guard learns nothing, and its estimates stay as they are.
    let usage = Usage { output_tokens: 10, ..Usage::default() };
    Answer { parts, finish, usage, model: None }
}

/// A call. Arguments that are no object are broken.
pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Part {
    let arguments = match arguments {
        Value::Object(members) => Arguments::Object(members.clone()),
        other => Arguments::Broken(other.to_string()),
    };
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments, opaque: None })
}

pub(crate) fn fails(kind: ModelErrorKind) -> Step {
    Step::Fail("", ModelError::new(kind, "the provider failed"))
}
