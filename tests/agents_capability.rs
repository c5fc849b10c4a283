//! Agents as a capability: `@capabilities/agents`, with agents of our own behind it.

use agent_spaces::project::{Equipment, Project, Surroundings};
use agent_spaces::{AgentQuestion, Agents, Answering, Caller, Event, ProviderKind, RunOptions, Space};
use agent_spaces_tests::{engine, value};
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Answers every question with what it was asked.
#[derive(Default)]
struct Echo {
    asked: Mutex<Vec<String>>,
}

impl Agents for Echo {
    fn ask(&self, question: AgentQuestion) -> Answering {
        self.asked.lock().unwrap().push(question.text.clone());
        let answer = match question.schema {
            Some(_) => json!({ "steps": [question.agent] }),
            None => json!({ "text": format!("{}: {}", question.agent, question.text) }),
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

type Events = Arc<Mutex<Vec<Event>>>;

/// A space with agents, and the events of its runs.
fn space(agents: Option<Arc<Echo>>, policy: Value) -> (TempDir, Space, Events) {
    let folder = tempfile::tempdir().unwrap();
    let plan = json!({
        "description": "Plans a session",
        "parameters": { "type": "object", "properties": { "topic": { "type": "string" } }, "required": ["topic"] },
        "result": {
            "type": "object", "properties": { "steps": { "type": "array", "items": { "type": "string" } } },
            "required": ["steps"],
        },
    });
    let config = json!({
        "agents": { "planner": { "models": ["a/b"], "functions": { "planSession": plan } } },
        "spaces": { "work": { "capabilities": ["@capabilities/agents"], "policy": policy } },
    });
    let file = folder.path().join("agent-spaces.config.json");
    fs::write(&file, config.to_string()).unwrap();
    let surroundings = Surroundings { user_folder: Some(folder.path().to_owned()), ..Surroundings::default() };
    let project = Project::open_in(&file, &engine(), &surroundings).unwrap();
    let events = Events::default();
    let seen = events.clone();
    let agents = agents.map(|agents| agents as Arc<dyn Agents>);
    let equipment = Equipment { agents, ..Equipment::default() };
    let equipment = equipment.with_observer(move |event| seen.lock().unwrap().push(event.clone()));
    let space = project.space(Some("work")).and_then(|modules| modules.assemble_with(&engine(), &equipment)).unwrap();
    (folder, space, events)
}

const ASK: &str = "import { planner } from '@capabilities/agents';
    export default (await planner.ask({ question: 'Why?' })).text;";

/// A script whose result is the code of the error of its call.
const CODE: &str = "import { planner } from '@capabilities/agents';
    export default await planner.ask({ question: 'Why?' }).catch((error) => `${error.code}: ${error.message}`);";

#[tokio::test]
async fn scripts_ask_agents_and_get_typed_results() {
    let echo = Arc::new(Echo::default());
    let (_folder, space, events) = space(Some(echo.clone()), json!({}));
    assert_eq!(value(&space, ASK).await, json!("planner: Why?"));
    // One call and one result, whatever the agent does.
    let names: Vec<&str> = events.lock().unwrap().iter().map(|event| event.kind.name()).collect();
    for name in ["callScheduled", "callResult"] {
        assert_eq!(names.iter().filter(|other| **other == name).count(), 1, "{names:?}");
    }
    let plan = "import { planner } from '@capabilities/agents';
        const { steps } = await planner.planSession({ topic: 'caching' });
        export default steps.map((step: string) => step.toUpperCase());";
    assert_eq!(value(&space, plan).await, json!(["PLANNER"]));
    let asked = echo.asked.lock().unwrap().clone();
    assert!(asked[1].contains("planSession") && asked[1].contains("caching"), "{asked:?}");
}

#[tokio::test]
async fn parameters_and_policies_hold_for_agents() {
    let echo = Arc::new(Echo::default());
    let (_folder, space, _) = space(Some(echo.clone()), json!({}));
    let wrong = "import { planner } from '@capabilities/agents';
        const params: any = { topic: 5 };
        export default await planner.planSession(params).catch((error) => error.code);";
    assert_eq!(value(&space, wrong).await, json!("call.invalid"));
    let (_folder, denied, _) = self::space(Some(echo.clone()), json!({ "functions": { "planner.ask": "deny" } }));
    let refused = value(&denied, CODE).await;
    assert!(refused.as_str().unwrap().starts_with("call.denied"), "{refused}");
    assert!(echo.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_host_without_agents_says_so() {
    let (_folder, space, _) = space(None, json!({}));
    let refused = value(&space, CODE).await;
    assert!(refused.as_str().unwrap().starts_with("call.unavailable: Agents are not available"), "{refused}");
}

#[tokio::test]
async fn agents_are_called_to_a_maximum_depth() {
    let echo = Arc::new(Echo::default());
    let (_folder, space, _) = space(Some(echo.clone()), json!({}));
    let program = space.prepare("script.ts", CODE).unwrap();
    for (agent_depth, is_asked) in [(7, true), (8, false)] {
        let caller = Arc::new(Caller { agent_depth, ..Caller::default() });
        let outcome = program.run(RunOptions { caller, ..RunOptions::default() }).await.outcome.unwrap();
        let is_denied = outcome.as_str().is_some_and(|text| text.starts_with("call.denied: Agents nested too deep"));
        assert_eq!(is_denied, !is_asked, "{outcome}");
    }
    assert_eq!(echo.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn audits_name_the_kind() {
    let (_folder, space, _) = space(None, json!({}));
    let program = space.prepare("script.ts", ASK).unwrap();
    let manifest = space.manifest(&program);
    let text = serde_json::to_string(&manifest).unwrap();
    assert!(text.contains(&format!("{:?}", ProviderKind::Agent.to_string())), "{text}");
}

#[test]
fn an_agent_may_have_the_name_of_a_capability_that_no_space_has_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("capabilities")).unwrap();
    let desk = json!({ "name": "desk", "functions": [{ "name": "note", "description": "Notes" }] });
    fs::write(folder.path().join("capabilities/desk.json"), desk.to_string()).unwrap();
    let file = folder.path().join("agent-spaces.config.json");
    let open = |capabilities: Value| {
        let config = json!({
            "agents": { "desk": { "models": ["a/b"] } }, "capabilities": { "global": capabilities },
        });
        fs::write(&file, config.to_string()).unwrap();
        let surroundings = Surroundings { user_folder: Some(folder.path().to_owned()), ..Surroundings::default() };
        Project::open_in(&file, &engine(), &surroundings).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(open(json!(["./capabilities/desk.json"])), Ok(()));
    let both = open(json!(["./capabilities/desk.json", "@capabilities/agents"])).unwrap_err();
    assert!(both.contains("`desk` is defined twice"), "{both}");
}
