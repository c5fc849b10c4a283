use super::*;
use crate::answering::Ending;
use crate::approver::{ApprovalAnswer, ApprovalRequest, Approver};
use crate::definition::{Budget, OutputFormat};
use crate::event::AgentEvent;
use crate::fixtures::{self, ScriptedModel, ScriptedTools, Step, calls, says, tool};
use crate::tools::{ToolOutput, Tools};
use agent_spaces_journal::{Settings, SqliteStore};
use agent_spaces_models::{Message, Part, Role, ToolResult};
use agent_spaces_types::caller::Caller;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;

/// One agent, whose tools one function answers.
struct OneAgent {
    agent: Arc<AgentDefinition>,
    tools: Arc<ScriptedTools>,
    nestings: Mutex<Vec<Nesting>>,
    approvers: Mutex<Vec<Arc<dyn Approver>>>,
}

impl AgentSource for OneAgent {
    fn agents(&self) -> Vec<AgentSummary> {
        let AgentDefinition { name, description, .. } = AgentDefinition::clone(&self.agent);
        vec![AgentSummary { name, description, schema: None }]
    }

    fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>> {
        (name == self.agent.name).then(|| self.agent.clone())
    }

    fn tools<'a>(
        &'a self,
        _agent: &'a AgentDefinition,
        _client: &'a Client,
        approver: Arc<dyn Approver>,
        nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>> {
        self.nestings.lock().unwrap().push(nesting);
        self.approvers.lock().unwrap().push(approver);
        let tools: Arc<dyn Tools> = self.tools.clone();
        Box::pin(std::future::ready(Ok(tools)))
    }
}

struct World {
    _folder: TempDir,
    store: Arc<SqliteStore>,
    source: Arc<OneAgent>,
    model: Arc<ScriptedModel>,
    service: AgentService,
}

fn world(agent: AgentDefinition, steps: Vec<(&'static str, Step)>, tools: Arc<ScriptedTools>) -> World {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap());
    let source =
        Arc::new(OneAgent { agent: Arc::new(agent), tools, nestings: Mutex::default(), approvers: Mutex::default() });
    let model = ScriptedModel::new(steps);
    let service = AgentService::new(source.clone(), model.clone(), Some(store.clone()), Accounting::default(), None);
    World { _folder: folder, store, source, model, service }
}

fn ann() -> Client {
    Client::named("ann", Caller::default())
}

fn question(text: &str, session: SessionChoice) -> Question {
    Question { session, ..Question::new(ann(), "helper", vec![Message::user(text)]) }
}

fn go_on(session: &str) -> Question {
    let session = SessionChoice::Resume(session.to_owned());
    Question { session, ..Question::new(ann(), "helper", Vec::new()) }
}

/// Waits until something is true.
async fn until(is_true: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if is_true() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never became true");
}

#[tokio::test]
async fn a_session_goes_on_in_another_process() {
    let steps = vec![("first", says("Hello Ann.")), ("first", says("Your name is Ann."))];
    let world = world(fixtures::agent(), steps, ScriptedTools::echo());
    let surface = world.service.surface("test", None);
    let first = surface.ask(question("I am Ann.", SessionChoice::New)).await.unwrap();
    assert_eq!(first.ending, Ending::Done);
    let (source, model) = (world.source.clone(), world.model.clone());
    let other = AgentService::new(source, model, Some(world.store.clone()), Accounting::default(), None);
    let resumed = question("Who am I?", SessionChoice::Resume(first.session.clone()));
    let second = other.surface("test", None).ask(resumed).await.unwrap();
    assert_eq!((second.text.as_str(), &second.session), ("Your name is Ann.", &first.session));
    let texts: Vec<_> = world.model.requests()[1].messages.iter().map(Message::text).collect();
    assert_eq!(texts, ["I am Ann.", "Hello Ann.", "Who am I?"]);
    let page = other.sessions(&ann(), None, 10).await.unwrap();
    assert_eq!(page.sessions.iter().map(|session| session.title.as_str()).collect::<Vec<_>>(), ["I am Ann."]);
    assert_eq!(other.replay(&ann(), &first.session).await.unwrap().divergences, []);
}

#[tokio::test]
async fn sessions_of_others_cannot_be_used() {
    let world = world(fixtures::agent(), vec![("first", says("Hello."))], ScriptedTools::echo());
    let surface = world.service.surface("test", None);
    let session = surface.ask(question("I am Ann.", SessionChoice::New)).await.unwrap().session;
    let bob = Client::named("bob", Caller::default());
    let mut stolen = question("What did she say?", SessionChoice::Resume(session.clone()));
    stolen.client = bob.clone();
    let unknown = AgentError::UnknownSession(session.clone());
    assert_eq!(surface.ask(stolen).await, Err(unknown.clone()));
    assert_eq!(world.service.session(&bob, &session).await.map(|_| ()), Err(unknown.clone()));
    assert_eq!(world.service.delete_session(&bob, &session).await, Err(unknown.clone()));
    world.service.delete_session(&ann(), &session).await.unwrap();
    assert_eq!(world.service.session(&ann(), &session).await.map(|_| ()), Err(unknown));
}

#[tokio::test]
async fn nothing_is_kept_without_a_session() {
    let world = world(fixtures::agent(), vec![("first", says("Hello."))], ScriptedTools::echo());
    let outcome = world.service.surface("test", None).ask(question("Hi.", SessionChoice::None)).await.unwrap();
    assert_eq!(outcome.session, "");
    assert!(world.service.sessions(&ann(), None, 10).await.unwrap().sessions.is_empty());
}

#[tokio::test]
async fn questions_that_cannot_be_asked_are_refused() {
    let world = world(fixtures::agent(), vec![("first", says("Hello."))], ScriptedTools::echo());
    let surface = world.service.surface("test", None);
    let mut unknown = question("Hi.", SessionChoice::New);
    unknown.agent = "nobody".to_owned();
    assert!(
        matches!(surface.ask(unknown).await, Err(AgentError::UnknownAgent { known, .. }) if known.contains("helper"))
    );
    let empty = Question::new(ann(), "helper", Vec::new());
    assert!(matches!(surface.ask(empty).await, Err(AgentError::Invalid(_))));
    let mut wrong = question("Hi.", SessionChoice::New);
    wrong.output = Some(OutputFormat::Json(json!({ "type": 7 })));
    assert!(matches!(surface.ask(wrong).await, Err(AgentError::Invalid(why)) if why.contains("not usable")));
    let session = surface.ask(question("Hi.", SessionChoice::New)).await.unwrap().session;
    assert!(matches!(surface.ask(go_on(&session)).await, Err(AgentError::Invalid(why)) if why.contains("is finished")));
    let lost = question("Hi.", SessionChoice::Resume("ses_000000000000000000000000".to_owned()));
    assert!(matches!(surface.ask(lost).await, Err(AgentError::UnknownSession(_))));
}

#[tokio::test]
async fn a_dropped_question_is_cancelled_and_can_go_on() {
    let steps = vec![("first", calls(&[("a", "act", json!({}))])), ("first", says("done"))];
    let world = world(fixtures::agent(), steps, ScriptedTools::new(|_| Box::pin(std::future::pending::<ToolOutput>())));
    let surface = world.service.surface("test", None);
    let asked = tokio::spawn({
        let surface = surface.clone();
        async move { surface.ask(question("go", SessionChoice::New)).await }
    });
    until(|| world.source.tools.calls().len() == 1).await;
    let id = world.service.sessions(&ann(), None, 10).await.unwrap().sessions[0].id.clone();
    // While it is answered, nobody else can ask in it.
    let busy = question("and?", SessionChoice::Resume(id.clone()));
    assert_eq!(surface.ask(busy).await, Err(AgentError::SessionBusy(id.clone())));
    assert_eq!(world.service.delete_session(&ann(), &id).await, Err(AgentError::SessionBusy(id.clone())));
    asked.abort();
    let mut outcome = surface.ask(go_on(&id)).await;
    for _ in 0..2_000 {
        if outcome != Err(AgentError::SessionBusy(id.clone())) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        outcome = surface.ask(go_on(&id)).await;
    }
    assert_eq!(outcome.unwrap().text, "done");
    // The call may have taken effect: it is not repeated.
    assert_eq!(world.source.tools.calls().len(), 1);
    let requests = world.model.requests();
    let Part::ToolResult(result) = &requests[1].messages[2].parts[0] else { panic!("no result") };
    assert!(result.text.contains("not known"));
}

/// An agent whose tools never start.
struct Slow(Arc<AgentDefinition>);

impl AgentSource for Slow {
    fn agents(&self) -> Vec<AgentSummary> {
        Vec::new()
    }

    fn definition(&self, _name: &str) -> Option<Arc<AgentDefinition>> {
        Some(self.0.clone())
    }

    fn tools<'a>(
        &'a self,
        _agent: &'a AgentDefinition,
        _client: &'a Client,
        _approver: Arc<dyn Approver>,
        _nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_question_is_cancelled_while_its_tools_start() {
    let world = world(fixtures::agent(), Vec::new(), ScriptedTools::echo());
    let source = Arc::new(Slow(world.source.agent.clone()));
    let service =
        AgentService::new(source, world.model.clone(), Some(world.store.clone()), Accounting::default(), None);
    let surface = service.surface("test", None);
    let asked = question("go", SessionChoice::New);
    let cancel = asked.cancel.clone();
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(surface.ask(asked), cancelling);
    assert_eq!(outcome.unwrap().ending, Ending::Cancelled);
    // Nothing was asked in its session.
    assert!(service.sessions(&ann(), None, 10).await.unwrap().sessions.is_empty());
}

#[tokio::test]
async fn a_question_that_goes_on_is_asked_as_it_was() {
    let steps = vec![("first", Step::Hang), ("first", says("Oui."))];
    let world = world(fixtures::agent(), steps, ScriptedTools::echo());
    let surface = world.service.surface("test", None);
    let mut french = question("go", SessionChoice::New);
    french.system = Some("Speak French.".to_owned());
    french.sampling.temperature = Some(0.25);
    french.caller_tools = vec![tool("theirs")];
    french.output = Some(OutputFormat::Markdown);
    let cancel = french.cancel.clone();
    let asking = surface.ask(french);
    let cancelling = async {
        until(|| world.model.requests().len() == 1).await;
        cancel.cancel();
    };
    let (cancelled, ()) = tokio::join!(asking, cancelling);
    let cancelled = cancelled.unwrap();
    assert_eq!(cancelled.ending, Ending::Cancelled);
    assert_eq!(surface.ask(go_on(&cancelled.session)).await.unwrap().text, "Oui.");
    let requests = world.model.requests();
    assert_eq!(requests[0], requests[1]);
    assert!(requests[1].system.as_ref().is_some_and(|system| system.contains("French") && system.contains("Markdown")));
    assert_eq!(requests[1].temperature, Some(0.25));
}

#[tokio::test]
async fn results_of_the_callers_tools_are_the_next_question() {
    let steps = vec![("first", calls(&[("a", "theirs", json!({}))])), ("first", says("Thanks."))];
    let world = world(fixtures::agent(), steps, ScriptedTools::echo());
    let surface = world.service.surface("test", None);
    let mut asked = question("go", SessionChoice::New);
    asked.caller_tools = vec![tool("theirs")];
    let outcome = surface.ask(asked).await.unwrap();
    assert_eq!(outcome.ending, Ending::CallerTools);
    let (call_id, name, text) = (outcome.calls[0].id.clone(), "theirs".to_owned(), "here".to_owned());
    let result = ToolResult { call_id, name, text, images: Vec::new(), is_error: false };
    let mut next = go_on(&outcome.session);
    next.messages = vec![Message::results(vec![result])];
    assert_eq!(surface.ask(next).await.unwrap().text, "Thanks.");
    assert_eq!(world.model.requests()[1].messages.last().map(|message| message.role), Some(Role::Tool));
}

#[tokio::test]
async fn a_surface_answers_a_few_at_a_time_and_others_wait() {
    let steps = vec![("first", Step::Hang), ("first", says("second")), ("first", says("fourth"))];
    let world = world(fixtures::agent(), steps, ScriptedTools::echo());
    let surface = world.service.surface("test", Some(1));
    let ask = |text: &'static str| {
        let surface = surface.clone();
        tokio::spawn(async move { surface.ask(question(text, SessionChoice::None)).await })
    };
    let first = ask("first");
    until(|| world.model.requests().len() == 1).await;
    let second = ask("second");
    until(|| surface.waiting() == 1).await;
    let third = ask("third");
    until(|| surface.waiting() == 2).await;
    let fourth = ask("fourth");
    until(|| surface.waiting() == 3).await;
    // One that is gone is never asked.
    third.abort();
    until(|| surface.waiting() == 2).await;
    first.abort();
    assert_eq!(second.await.unwrap().unwrap().text, "second");
    assert_eq!(fourth.await.unwrap().unwrap().text, "fourth");
    let asked: Vec<_> = world.model.requests().iter().map(|request| request.messages[0].text()).collect();
    assert_eq!(asked, ["first", "second", "fourth"]);
}

#[tokio::test]
async fn a_nested_question_needs_no_permit_shows_no_events_and_is_not_too_deep() {
    let world = world(fixtures::agent(), vec![("first", Step::Hang), ("first", says("nested"))], ScriptedTools::echo());
    let surface = world.service.surface("test", Some(1));
    let holding = tokio::spawn({
        let surface = surface.clone();
        async move { surface.ask(question("hold", SessionChoice::None)).await }
    });
    until(|| world.model.requests().len() == 1).await;
    let events: Arc<Mutex<Vec<AgentEvent>>> = Arc::default();
    let seen = events.clone();
    let mut nested = question("go", SessionChoice::None);
    nested.watcher = Arc::new(move |event| seen.lock().unwrap().push(event));
    nested.parent = Some(Nesting { depth: 2 }.parent());
    assert_eq!(surface.ask(nested).await.unwrap().text, "nested");
    assert!(events.lock().unwrap().is_empty());
    assert_eq!(world.source.nestings.lock().unwrap().last().map(|nesting| nesting.depth), Some(3));
    let mut deep = question("go", SessionChoice::None);
    deep.parent = Some(Nesting { depth: 8 }.parent());
    assert!(matches!(surface.ask(deep).await, Err(AgentError::Invalid(why)) if why.contains("8 deep")));
    holding.abort();
}

#[tokio::test]
async fn whoever_watches_a_question_is_told_of_approvals() {
    let world = world(fixtures::agent(), vec![("first", says("Hello."))], ScriptedTools::echo());
    let events: Arc<Mutex<Vec<AgentEvent>>> = Arc::default();
    let seen = events.clone();
    let mut watched = question("Hi.", SessionChoice::None);
    watched.watcher = Arc::new(move |event| seen.lock().unwrap().push(event));
    world.service.surface("test", None).ask(watched).await.unwrap();
    let approver = world.source.approvers.lock().unwrap().remove(0);
    let request = ApprovalRequest { id: "apr_1".to_owned(), message: "Pay?".to_owned(), call: json!({}) };
    assert!(matches!(approver.ask(request).await, ApprovalAnswer::Deny { .. }));
    let events = events.lock().unwrap();
    assert!(events.iter().any(|event| matches!(event, AgentEvent::ApprovalRequired { id, .. } if id == "apr_1")));
}

#[tokio::test]
async fn budgets_of_a_session_and_a_day_last_longer_than_a_question() {
    let mut agent = fixtures::agent();
    agent.budgets.session = Budget { tokens: Some(15), cost: None };
    agent.budgets.day = Budget { tokens: Some(25), cost: None };
    let steps = vec![("first", says("one")), ("first", says("two")), ("first", says("three"))];
    let world = world(agent, steps, ScriptedTools::echo());
    let surface = world.service.surface("test", None);
    let session = surface.ask(question("1", SessionChoice::New)).await.unwrap().session;
    let again = || question("2", SessionChoice::Resume(session.clone()));
    assert_eq!(surface.ask(again()).await.unwrap().ending, Ending::Done);
    let spent = surface.ask(again()).await.unwrap();
    assert_eq!(spent.ending, Ending::Budget);
    assert!(spent.message.unwrap().contains("budgets.session.tokens"));
    // Another process knows what was spent today.
    let (source, model) = (world.source.clone(), world.model.clone());
    let other = AgentService::new(source, model, Some(world.store.clone()), Accounting::default(), None);
    let surface = other.surface("test", None);
    assert_eq!(surface.ask(question("3", SessionChoice::New)).await.unwrap().text, "three");
    let spent = surface.ask(question("4", SessionChoice::New)).await.unwrap();
    assert_eq!(spent.ending, Ending::Budget);
    assert!(spent.message.unwrap().contains("budgets.day.tokens"));
}

#[tokio::test]
async fn what_a_question_spends_counts_for_the_day_before_it_ends() {
    let steps = vec![("first", calls(&[("a", "look", json!({}))])), ("first", Step::Hang)];
    let world = world(fixtures::agent(), steps, ScriptedTools::echo());
    let surface = world.service.surface("test", None);
    let asked = tokio::spawn(async move { surface.ask(question("go", SessionChoice::None)).await });
    until(|| world.model.requests().len() == 2).await;
    // Another process, in which the agent has a budget.
    let mut bounded = fixtures::agent();
    bounded.budgets.day = Budget { tokens: Some(10), cost: None };
    let source = Arc::new(OneAgent {
        agent: Arc::new(bounded),
        tools: ScriptedTools::echo(),
        nestings: Mutex::default(),
        approvers: Mutex::default(),
    });
    let model = ScriptedModel::new(Vec::new());
    let other = AgentService::new(source, model, Some(world.store.clone()), Accounting::default(), None);
    let outcome = other.surface("test", None).ask(question("go", SessionChoice::None)).await.unwrap();
    assert_eq!(outcome.ending, Ending::Budget);
    asked.abort();
}
