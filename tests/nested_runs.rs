//! Nested runs: handlers and scripts that answer calls of other runs, with scarce slots and time.

use agent_spaces::approvals::{Answer, Channel, ChannelError, Decision, Request};
use agent_spaces::policy::Policy;
use agent_spaces::project::{Project, Surroundings};
use agent_spaces::{CapabilityError, Engine, EngineConfig, Handlers, Interfaces, Limits, Program, RunOptions, Space};
use agent_spaces_calls::turns::Turns;
use agent_spaces_tests::{builder_with, engine, run_with, value};
use serde_json::{Value, json};
use std::fs;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A space of a project with these files, whose configuration its user has accepted.
fn project(engine: &Engine, config: Value, files: &[(&str, &str)]) -> (TempDir, Space) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let file = folder.path().join("agent-spaces.config.json");
    fs::write(&file, config.to_string()).unwrap();
    let surroundings = Surroundings { user_folder: Some(folder.path().to_owned()), ..Surroundings::default() };
    let project = Project::open_in(&file, engine, &surroundings).unwrap();
    let space = project.space(Some("outer")).and_then(|modules| modules.assemble(engine)).unwrap();
    (folder, space)
}

/// `first.go` is a script that calls `second.go`, which is a script that calls the handler `desk.note`.
fn chain(engine: &Engine) -> (TempDir, Space) {
    let scripted = |name: &str, space: &str| {
        let script = json!({ "file": format!("../scripts/{name}.ts"), "space": space });
        json!({ "name": name, "functions": [{ "name": "go", "parameters": { "n": { "type": "integer" } }, "script": script }] })
            .to_string()
    };
    let config = json!({ "spaces": {
        "outer": { "capabilities": ["./capabilities/first.json"] },
        "middle": { "capabilities": ["./capabilities/second.json"] },
        "inner": { "capabilities": ["./capabilities/desk.json"] },
    } });
    let files = [
        ("capabilities/first.json", &*scripted("first", "middle")),
        ("capabilities/second.json", &*scripted("second", "inner")),
        (
            "capabilities/desk.json",
            r#"{ "name": "desk", "functions": [{ "name": "note", "parameters": { "n": { "type": "integer" } } }] }"#,
        ),
        ("capabilities/desk.ts", "export const note = ({ n }) => n + 1;"),
        (
            "scripts/first.ts",
            "import { second } from '@capabilities/second'; export default ({ n }) => second.go({ n });",
        ),
        ("scripts/second.ts", "import { desk } from '@capabilities/desk'; export default ({ n }) => desk.note({ n });"),
    ];
    project(engine, config, &files)
}

/// An engine with so many places.
fn narrow(max_runs: u32) -> Engine {
    Engine::new(EngineConfig { max_runs, ..EngineConfig::default() }).unwrap()
}

#[tokio::test]
async fn nested_runs_do_not_deadlock_on_slots() {
    let engine = narrow(1);
    let (_folder, space) = chain(&engine);
    let one = "import { first } from '@capabilities/first'; export default await first.go({ n: 1 });";
    assert_eq!(value(&space, one).await, json!(2));
    // Far more than there are places, of every depth.
    let many = "import { first } from '@capabilities/first';
        export default await Promise.all(Array.from({ length: 200 }, (_, n) => first.go({ n })));";
    let expected: Vec<u32> = (1..=200).collect();
    assert_eq!(value(&space, many).await, json!(expected));
}

#[tokio::test]
async fn many_nested_runs_complete() {
    let engine = narrow(3);
    let (_folder, space) = chain(&engine);
    let source = "import { first } from '@capabilities/first';
        export default (await Promise.all(Array.from({ length: 12 }, (_, n) => first.go({ n })))).length;";
    let program = space.prepare("script.ts", source).unwrap();
    let runs: Vec<_> = (0..20).map(|_| program.start(RunOptions::default())).collect();
    for run in runs {
        assert_eq!(run.finish().await.outcome.unwrap(), json!(12));
    }
}

/// Turns that are counted. Work that is polled in them may start more, as in a server whose tenants take turns.
fn counted(taken: &Arc<AtomicUsize>) -> Turns {
    let taken = taken.clone();
    Turns::new(move |mut work| {
        taken.fetch_add(1, Ordering::SeqCst);
        let turns = counted(&taken);
        Box::pin(poll_fn(move |context| {
            let _entered = turns.enter();
            work.as_mut().poll(context)
        }))
    })
}

#[tokio::test]
async fn all_that_answers_a_call_takes_the_turns_of_the_run() {
    let engine = narrow(4);
    let (_folder, space) = chain(&engine);
    let source = "import { first } from '@capabilities/first'; export default await first.go({ n: 1 });";
    let program = space.prepare("script.ts", source).unwrap();
    let taken = Arc::new(AtomicUsize::new(0));
    let turns = counted(&taken);
    let mut run = pin!(program.run(RunOptions::default()));
    let report = poll_fn(|context| {
        let _entered = turns.enter();
        run.as_mut().poll(context)
    });
    assert_eq!(report.await.outcome.unwrap(), json!(2));
    // Two scripts, a handler, and the run whose memory its calls begin with.
    let taken = taken.load(Ordering::SeqCst);
    assert!(taken >= 4, "{taken}");
}

/// A handler of the host's own may run the very script that calls it.
#[tokio::test]
async fn unbounded_nesting_is_refused() {
    let program: Arc<OnceLock<Program>> = Arc::default();
    let (known, mut handlers) = (program.clone(), Handlers::new());
    handlers.add("test:deep/deep@1.0.0", "down", move |_| {
        let program = known.get().cloned();
        async move {
            let report = program.ok_or("there is no program")?.run(RunOptions::default()).await;
            report.outcome.map_err(|error| CapabilityError::new(error.code, error.message))
        }
    });
    let wit = "package test:deep@1.0.0;
        interface deep {
            use agent-spaces:host/types@0.1.0.{capability-error, json};
            down: async func() -> result<json, capability-error>;
        }";
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add("deep.wit", wit).unwrap();
    let space = Space::builder(&narrow(1)).interfaces(interfaces, handlers).build().unwrap();
    let source = "import { deep } from '@test/deep';
        export default await deep.down().then((below) => 1 + below, (error) => error.code === 'call.unavailable' ? 0 : -99);";
    let ready = space.prepare("script.ts", source).unwrap();
    program.set(ready.clone()).ok().unwrap();
    assert_eq!(ready.run(RunOptions::default()).await.outcome.unwrap(), json!(8));
}

/// A capability `desk` of one function in TypeScript, whose module begins with this.
fn desk(top: &str, limits: &Value, rule: &Value) -> (TempDir, Space) {
    let definition = format!(
        "import {{ defineTool }} from '@agent-spaces/capabilities';
        {top}
        export const desk = defineTool({{ name: 'desk', functions: {{ note: {{
            description: 'Notes', parameters: {{}}, approvalMessage: () => 'In its own words?', handler: () => 'noted',
        }} }} }});"
    );
    let config = json!({
        "providers": { "@capabilities/desk": { "limits": limits } },
        "spaces": { "outer": { "capabilities": ["./capabilities/desk.ts"], "policy": { "functions": { "desk.note": rule } } } },
    });
    project(&engine(), config, &[("capabilities/desk.ts", &definition)])
}

/// Preparation for an abandoned call is reused by a later one.
#[tokio::test]
async fn module_evaluation_may_exceed_the_calls_timeout() {
    let top = "let sum = 0; for (let i = 0; i < 10_000_000; i++) sum += i;";
    let (_folder, space) = desk(top, &json!({}), &json!({ "timeout": "100ms" }));
    let source = "import { desk } from '@capabilities/desk';
        const attempt = () => desk.note().catch((error) => error.code);
        const said = [await attempt()];
        while (said.at(-1) === 'call.timeout' && said.length < 200) said.push(await attempt());
        export default [said[0], said.at(-1)];";
    assert_eq!(value(&space, source).await, json!(["call.timeout", "noted"]));
}

/// Says what it was asked, and decides after a while.
struct Person {
    asked: Mutex<Vec<String>>,
    after: Duration,
}

impl Channel for Person {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        self.asked.lock().unwrap().push(request.message.to_string());
        Box::pin(async {
            tokio::time::sleep(self.after).await;
            Ok::<_, ChannelError>(Decision::approve("ada"))
        })
    }
}

#[tokio::test]
async fn approval_does_not_wait_for_module_evaluation() {
    for (top, expected) in [("", "In its own words?"), ("for (;;);", "")] {
        let (_folder, space) = desk(top, &json!({ "time": "60s" }), &json!("approve"));
        let person = Arc::new(Person { asked: Mutex::default(), after: Duration::ZERO });
        space.approvals().ask(person.clone());
        let source = "import { desk } from '@capabilities/desk'; export default await desk.note();";
        let begun = Instant::now();
        let limits = Limits { time: Duration::from_secs(5), ..Limits::default() };
        let report = run_with(&space, source, limits).await;
        assert_eq!(report.outcome.is_ok(), top.is_empty());
        assert_eq!(*person.asked.lock().unwrap(), [expected]);
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}

/// A function's timeout does not run while a nested call waits for approval.
#[tokio::test]
async fn a_functions_timeout_pauses_during_nested_approval() {
    let rules = |policy: Value| {
        let config = agent_spaces::config::from_value("test", json!({ "policy": { "functions": policy } }));
        Policy::new(config.unwrap().policy)
    };
    let wit = "package test:desk@1.0.0; interface desk { note: async func() -> result<string, string>; }";
    let mut handlers = Handlers::new();
    handlers.add("test:desk/desk@1.0.0", "note", |_| async { Ok(json!("noted")) });
    let person = Arc::new(Person { asked: Mutex::default(), after: Duration::from_secs(3) });
    let inner = builder_with(wit, handlers)
        .policy(rules(json!({ "desk.note": "approve" })))
        .approval_channel(person.clone())
        .build()
        .unwrap();
    let program = inner.prepare("inner.ts", "import { desk } from '@test/desk'; export default await desk.note();");
    let program = program.unwrap();
    let mut handlers = Handlers::new();
    handlers.add("test:daily/daily@1.0.0", "report", move |call| {
        let program = program.clone();
        async move {
            let options = RunOptions { parent: Some(call.as_parent()), ..RunOptions::default() };
            program.run(options).await.outcome.map_err(|error| CapabilityError::failed(error.message))
        }
    });
    let wit = "package test:daily@1.0.0; interface daily { report: async func() -> result<string, string>; }";
    let policy = rules(json!({ "daily.report": { "timeout": "1s" } }));
    let outer = builder_with(wit, handlers).policy(policy).build().unwrap();
    let source = "import { daily } from '@test/daily'; export default await daily.report();";
    assert_eq!(value(&outer, source).await, json!("noted"));
    assert_eq!(person.asked.lock().unwrap().len(), 1);
}
