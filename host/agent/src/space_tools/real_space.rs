//! A real space behind the tools: programs, approvals.

use super::SpaceTools;
use crate::approver::{ApprovalAnswer, ApprovalRequest, Approver, NoApprover};
use crate::event::unwatched;
use crate::tools::{ToolContext, ToolOutput, ToolRequest, Tools as _};
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_config::TypeCheck;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_policy::Policy;
use agent_spaces_project::{DefinitionFile, Outlines, definitions_at};
use agent_spaces_sandbox::engine::{Engine, EngineConfig};
use agent_spaces_serve::check::TypeChecker;
use agent_spaces_serve::{
    Client, CodeMode, ElicitedDecisions, Exposure, Mode, Offer, Offers, ProxyMode, ServedChannel, Servers,
};
use agent_spaces_space::space::Space;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::limits::Limits;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const WIT: &str = "package test:desk@1.0.0;
interface desk {
    read: async func() -> result<string, string>;
    note: async func() -> result<string, string>;
}";

/// Code mode over a space whose function `note` needs an approval; counts its calls.
fn desk() -> (Mode, Arc<AtomicUsize>) {
    let (code, _, notes) = desk_modes(Vec::new());
    (code, notes)
}

/// Code mode and proxy mode over that space, with these definitions in their catalogue.
fn desk_modes(definitions: Vec<DefinitionFile>) -> (Mode, Mode, Arc<AtomicUsize>) {
    let notes = Arc::new(AtomicUsize::new(0));
    let mut handlers = Handlers::new();
    handlers.add("test:desk/desk@1.0.0", "read", |_| async { Ok(json!("an empty desk")) });
    let counted = notes.clone();
    handlers.add("test:desk/desk@1.0.0", "note", move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok(json!("noted")) }
    });
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add("desk.wit", WIT).unwrap();
    let settings = json!({ "policy": { "functions": { "desk.note": "approve" } } });
    let policy = Policy::new(agent_spaces_config::from_value("test", settings).unwrap().policy);
    let decisions = ElicitedDecisions::default();
    let space = Space::builder(&Engine::new(EngineConfig::default()).unwrap())
        .interfaces(interfaces, handlers)
        .policy(policy)
        .approval_channel(Arc::new(ServedChannel::new(decisions.clone(), None)))
        .build()
        .unwrap();
    let offers = Offers::new(Outlines::none()).exposing(Exposure::new(vec!["*".to_owned()]));
    let offer = Offer {
        space,
        definitions,
        limits: Limits::default(),
        time_limit: None,
        notes: Vec::new(),
        checker: TypeChecker::new(TypeCheck::Off, None),
        has_files: false,
        has_network: false,
        servers: Servers::default(),
    };
    offers.put(offer).unwrap();
    let direct = Mode::Proxy(ProxyMode::new(offers.clone(), decisions.clone()));
    (Mode::Code(CodeMode::new(offers, decisions)), direct, notes)
}

async fn run(tools: &SpaceTools, function: &str) -> ToolOutput {
    let code = format!("import {{ desk }} from '@test/desk';\nexport default await desk.{function}();");
    let arguments = [("code".to_owned(), json!(code))].into_iter().collect();
    let request = ToolRequest { id: "call_1".into(), name: "run_code".into(), arguments };
    let context = ToolContext { cancel: CancellationToken::new(), timeout: Duration::from_secs(60) };
    tools.call(request, &context).await
}

struct Person {
    answer: ApprovalAnswer,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Approver for Person {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        self.asked.lock().unwrap().push(request);
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

#[tokio::test]
async fn a_person_decides_about_the_calls_of_a_program() {
    let (mode, notes) = desk();
    // One whose own answers would not count.
    let client = || Client::named("ann", Caller::default());
    let deny = ApprovalAnswer::Deny { by: "ada".into(), reason: Some("not today".into()) };
    let approve = ApprovalAnswer::Approve { by: "ada".into() };
    for (answer, made) in [(deny, 0), (approve, 1)] {
        let person = Arc::new(Person { answer, asked: Mutex::default() });
        let tools = SpaceTools::connect(mode.clone(), client(), person.clone(), unwatched()).await.unwrap();
        let read = run(&tools, "read").await;
        assert!(!read.is_error && read.text.contains("an empty desk"), "{read:?}");
        assert_eq!(person.asked.lock().unwrap().len(), 0, "nobody needs to approve it");
        let noted = run(&tools, "note").await;
        assert_eq!((noted.is_error, notes.load(Ordering::Relaxed)), (made == 0, made), "{noted:?}");
        assert!(noted.text.contains(if made == 0 { "not today" } else { "noted" }), "{noted:?}");
        let asked = person.asked.lock().unwrap().clone();
        let [request] = asked.as_slice() else { panic!("{asked:?}") };
        assert!(request.id.starts_with("apr_") && request.message.contains("desk.note"), "{request:?}");
        assert_eq!((&request.call["function"], &request.call["id"]), (&json!("desk.note"), &json!(request.id)));
    }
}

#[tokio::test]
async fn without_a_person_a_call_that_needs_one_is_refused() {
    let (mode, notes) = desk();
    let client = Client::of_process(Caller::default());
    let tools = SpaceTools::connect(mode, client, Arc::new(NoApprover), unwatched()).await.unwrap();
    let noted = run(&tools, "note").await;
    assert!(noted.is_error && noted.text.contains("agent-spaces approvals token"), "{noted:?}");
    assert_eq!(notes.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn hand_written_interfaces_are_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("desk.wit"), WIT).unwrap();
    let (code, direct, _) = desk_modes(definitions_at(folder.path(), &Outlines::none()).unwrap());
    let (client, nobody) = (Client::of_process(Caller::default()), Arc::new(NoApprover));
    let connecting =
        SpaceTools::connect_to_either(code.clone(), direct.clone(), client.clone(), nobody.clone(), unwatched());
    let chosen = connecting.await.unwrap();
    assert!(chosen.list().iter().any(|tool| tool.name == "run_code"));
    assert_eq!(chosen.warnings(), Vec::<String>::new());
    let tools = SpaceTools::connect_direct(&code, direct, client, nobody, unwatched()).await.unwrap();
    assert_eq!(tools.list(), []);
    let warnings = tools.warnings();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(warning.contains("@test/desk") && warning.contains("`tools: code`"), "{warning}");
}

#[tokio::test]
async fn the_end_of_one_connection_leaves_the_programs_of_others() {
    struct Slow;
    impl Approver for Slow {
        fn ask(&self, _request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                ApprovalAnswer::Approve { by: "ada".to_owned() }
            })
        }
    }
    let (mode, notes) = desk();
    let client = || Client::named("ann", Caller::default());
    let one = SpaceTools::connect(mode.clone(), client(), Arc::new(Slow), unwatched()).await.unwrap();
    let other = SpaceTools::connect(mode, client(), Arc::new(Slow), unwatched()).await.unwrap();
    let ending = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        drop(other);
    };
    let (noted, ()) = tokio::join!(run(&one, "note"), ending);
    assert!(noted.text.contains("noted") && notes.load(Ordering::Relaxed) == 1, "{noted:?}");
}
