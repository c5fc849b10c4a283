//! Budgets of an agent that calls another one.

use super::{AgentService, AgentSource, AgentSummary, Nesting, Question, SessionChoice, Surface};
use crate::answering::{Ending, Outcome};
use crate::approver::Approver;
use crate::definition::{AgentDefinition, Budget, Budgets};
use crate::error::AgentError;
use crate::fixtures::{self, ScriptedModel, ScriptedTools, Step, calls, says, tool};
use crate::tools::{Instructions, ToolContext, ToolOutput, ToolRequest, Tools};
use agent_spaces_http_server::Client;
use agent_spaces_journal::{Settings, SqliteStore};
use agent_spaces_models::{Message, Tool};
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_types::caller::Caller;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::sync::{Arc, Mutex, OnceLock};
use tempfile::TempDir;

/// The agent `outer`, whose tool `look` asks the agent `inner`.
struct TwoAgents {
    outer: Arc<AgentDefinition>,
    inner: Arc<AgentDefinition>,
    surface: OnceLock<Surface>,
    asking: Arc<Mutex<Option<Client>>>,
}

impl AgentSource for TwoAgents {
    fn agents(&self) -> Vec<AgentSummary> {
        Vec::new()
    }

    fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>> {
        [&self.outer, &self.inner].into_iter().find(|agent| agent.name == name).cloned()
    }

    fn tools<'a>(
        &'a self,
        agent: &'a AgentDefinition,
        client: &'a Client,
        _approver: Arc<dyn Approver>,
        nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>> {
        let tools: Arc<dyn Tools> = match agent.name.as_str() {
            "outer" => {
                *self.asking.lock().unwrap() = Some(client.clone());
                Arc::new(AskInner { surface: self.surface.get().unwrap().clone(), client: client.clone(), nesting })
            }
            _ => ScriptedTools::echo(),
        };
        Box::pin(std::future::ready(Ok(tools)))
    }
}

struct AskInner {
    surface: Surface,
    client: Client,
    nesting: Nesting,
}

impl Tools for AskInner {
    fn list(&self) -> Vec<Tool> {
        vec![tool("look")]
    }

    fn instructions(&self) -> Vec<Instructions> {
        Vec::new()
    }

    fn call<'a>(&'a self, _call: ToolRequest, _context: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let asked = Question::new(self.client.clone(), "inner", vec![Message::user("and?")]);
            let outcome = self.surface.ask(Question { parent: Some(self.nesting.parent()), ..asked }).await;
            ToolOutput { text: outcome.unwrap().text, ..ToolOutput::default() }
        })
    }
}

struct World {
    _folder: TempDir,
    store: Arc<SqliteStore>,
    /// Client of the last question to `outer`, with which its programs ask.
    asking: Arc<Mutex<Option<Client>>>,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap());
        World { _folder: folder, store, asking: Arc::default() }
    }

    /// A process over the journal. Every answer of a model has ten tokens.
    fn process(&self, outer: Budgets, steps: Vec<(&'static str, Step)>) -> (Surface, Arc<ScriptedModel>) {
        let agent =
            |name: &str, budgets| Arc::new(AgentDefinition { name: name.to_owned(), budgets, ..fixtures::agent() });
        let source = Arc::new(TwoAgents {
            outer: agent("outer", outer),
            inner: agent("inner", Budgets::default()),
            surface: OnceLock::new(),
            asking: self.asking.clone(),
        });
        let model = ScriptedModel::new(steps);
        let service =
            AgentService::new(source.clone(), model.clone(), Some(self.store.clone()), Accounting::default(), None);
        let surface = service.surface("test", None);
        assert!(source.surface.set(surface.clone()).is_ok());
        (surface, model)
    }
}

async fn ask(surface: &Surface, session: SessionChoice) -> Outcome {
    let client = Client::named("ann", Caller::default());
    let asked = Question::new(client, "outer", vec![Message::user("go")]);
    surface.ask(Question { session, ..asked }).await.unwrap()
}

fn tokens(tokens: u64) -> Budget {
    Budget { tokens: Some(tokens), cost: None }
}

/// `outer` calls `inner`, which answers.
fn one_call() -> Vec<(&'static str, Step)> {
    vec![("first", calls(&[("a", "look", json!({}))])), ("first", says("inner"))]
}

#[tokio::test]
async fn a_question_ends_when_a_nested_agent_spends_the_rest_of_its_budget() {
    let world = World::new();
    let (surface, model) = world.process(Budgets { run: tokens(20), ..Budgets::default() }, one_call());
    let outcome = ask(&surface, SessionChoice::None).await;
    assert_eq!((outcome.ending, outcome.usage.output_tokens), (Ending::Budget, 10));
    let message = outcome.message.unwrap();
    assert!(message.contains("20 of 20 tokens") && message.contains("budgets.run.tokens"), "{message}");
    assert_eq!(model.left(), 0);
}

#[tokio::test]
async fn a_nested_agent_counts_for_session_and_day_of_later_questions() {
    let world = World::new();
    let mut steps = one_call();
    steps.push(("first", says("outer")));
    let (surface, _) = world.process(Budgets { session: tokens(30), ..Budgets::default() }, steps);
    let first = ask(&surface, SessionChoice::New).await;
    assert_eq!((first.ending, first.text.as_str()), (Ending::Done, "outer"));
    let second = ask(&surface, SessionChoice::Resume(first.session.clone())).await;
    assert_eq!(second.ending, Ending::Budget);
    assert!(second.message.unwrap().contains("budgets.session.tokens"));
    // The replay of the session needs no nested agent.
    let client = Client::named("ann", Caller::default());
    assert_eq!(surface.service().replay(&client, &first.session).await.unwrap().divergences, []);
    // Another process, in which the agent has a budget for the day.
    let (surface, _) = world.process(Budgets { day: tokens(30), ..Budgets::default() }, Vec::new());
    let third = ask(&surface, SessionChoice::None).await;
    assert_eq!(third.ending, Ending::Budget);
    assert!(third.message.unwrap().contains("30 of 30 tokens"));
}

#[tokio::test]
async fn a_program_that_outlives_its_question_is_charged_to_it() {
    let world = World::new();
    let steps = vec![("first", says("outer")), ("first", says("inner"))];
    let (surface, model) = world.process(Budgets { run: tokens(20), ..Budgets::default() }, steps);
    assert_eq!(ask(&surface, SessionChoice::None).await.ending, Ending::Done);
    let client = world.asking.lock().unwrap().clone().unwrap();
    let asked = Question::new(client, "inner", vec![Message::user("and?")]);
    let asked = Question { parent: Some(Nesting::default().parent()), ..asked };
    assert_eq!(surface.ask(asked.clone()).await.unwrap().ending, Ending::Done);
    let refused = surface.ask(asked).await.unwrap();
    assert_eq!(refused.ending, Ending::Budget);
    assert!(refused.message.unwrap().contains("20 of 20 tokens"));
    assert_eq!(model.left(), 0);
}
