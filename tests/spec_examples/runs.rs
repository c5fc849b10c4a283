//! Runs of the specification's scripts.

use super::{Built, EXAMPLES, definitions};
use agent_spaces::project::{Equipment, SpaceModules};
use agent_spaces::{RunOptions, RunReport, Space, SpaceBuilder, Workspace};
use agent_spaces_tests::engine;
use serde_json::{Value, json};
use std::path::Path;

fn builder(example: &str) -> SpaceBuilder {
    SpaceModules::all(&definitions(example)).builder(&engine(), &Equipment::default()).unwrap()
}

fn space(example: &str) -> Space {
    builder(example).build().unwrap()
}

async fn run(space: &Space, name: &str, source: &str) -> RunReport {
    let program = space.prepare(name, source).unwrap_or_else(|error| panic!("{error}: {source}"));
    program.run(RunOptions::default()).await
}

async fn value(space: &Space, source: &str) -> Value {
    run(space, "script.ts", source).await.outcome.unwrap_or_else(|error| panic!("{error:?}: {source}"))
}

/// A script of an example, and its result.
struct Script {
    path: &'static str,
    value: Value,
    console: &'static [&'static str],
    calls: u64,
}

fn trip(id: &str, hour: u8, minute: u8, destination: &str, platform: &str) -> Value {
    json!({"id": id, "hour": hour, "minute": minute, "destination": destination, "platform": platform})
}

/// The printed scripts, unchanged.
#[tokio::test]
async fn the_specifications_scripts_run_unchanged() {
    let note = json!({
        "id": "note-1", "title": "Morning Trains", "content": "7:00 - Springfield\n9:00 - Capital City",
    });
    let reply = json!({"channel": "C02", "text": "Re: \"The build is green\" - Got it!", "ts": "1736937003.000100"});
    let central = [
        trip("IC-101", 7, 5, "Springfield", "4a"),
        trip("RE-202", 9, 40, "Capital City", "1"),
        trip("IC-303", 14, 15, "Springfield", "2"),
    ];
    let both = json!({"result": central, "proxy": central});
    let operated = &["Train operated by: Northern"];
    for script in [
        Script { path: "composition/agent.ts", value: note, console: &[], calls: 2 },
        Script { path: "train-schedule/agent.ts", value: Value::Null, console: operated, calls: 2 },
        Script { path: "train-schedule/call.ts", value: both, console: &[], calls: 2 },
        Script { path: "train-schedule-typescript/agent.ts", value: Value::Null, console: operated, calls: 2 },
        Script { path: "weather/agent.ts", value: Value::Null, console: &["14.5°C: fog"], calls: 1 },
        Script { path: "slack/agent.ts", value: reply, console: &[], calls: 3 },
        Script { path: "slack/two-servers.ts", value: Value::Null, console: &[], calls: 2 },
        // The printed script waits for an approval; here it was given beforehand.
        Script { path: "company-crm/agent.ts", value: Value::Null, console: &["Created ticket: tkt_1"], calls: 2 },
    ] {
        let (example, name) = script.path.split_once('/').unwrap();
        let source = std::fs::read_to_string(Path::new(EXAMPLES).join(script.path)).unwrap();
        let space = space(example);
        if example == "company-crm" {
            space.approvals().approve(space.identify("crm.createTicket").unwrap());
        }
        let report = run(&space, name, &source).await;
        assert_eq!(report.outcome.as_ref().ok(), Some(&script.value), "{}: {report:?}", script.path);
        let console: Vec<&str> = report.console.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(console, script.console, "{}", script.path);
        assert_eq!(report.usage.calls, script.calls, "{}", script.path);
    }
}

/// A call of each example's functions: module, export, function, parameters.
const CALLS: [(&str, &str, &str, &str); 8] = [
    ("train-schedule", "train-schedule", "trainSchedule.getSchedule", "{ station: 'Harbour' }"),
    ("train-schedule", "train-schedule", "trainSchedule.getTrainDetails", "{ trainId: 'IC-303' }"),
    ("train-schedule-typescript", "train-schedule", "trainSchedule.getTrainDetails", "{ trainId: 'IC-303' }"),
    ("composition", "company", "trainSchedule.getSchedule", "{}"),
    ("composition", "company", "notes.create", "{ title: 'a', content: 'b' }"),
    ("weather", "weather", "getWeather", "{ location: 'Rome', unit: 'fahrenheit' }"),
    ("slack", "mcp-slack", "slack.getChannelHistory", "{ channel: 'C01' }"),
    ("company-crm", "company-crm", "crm.searchCustomers", "{ query: 'acme', limit: 1 }"),
];

/// The imported proxy, the generated `index.js` and a call by name give the same.
#[tokio::test]
async fn every_way_of_calling_gives_the_same_result() {
    for (example, module, function, params) in CALLS {
        let built = Built::of(example);
        let workspace = Workspace::open(&built.path(module, "")).unwrap();
        let space = builder(example).workspace(workspace).build().unwrap();
        let export = function.split('.').next().unwrap();
        // A single function is one of the capability that its module is named by.
        let (capability, called) = function.split_once('.').unwrap_or((module, function));
        let source = format!(
            "import {{ {export} }} from '@capabilities/{module}';
            import {{ {export} as generated }} from './index.js';
            const generatedFunction = typeof generated === 'function' ? generated : generated.{called};
            export default await Promise.all([
              {function}({params}),
              generatedFunction({params}),
              __agentSpaces.callCapability('{capability}', '{called}', {params}),
            ]);"
        );
        let all = value(&space, &source).await;
        let [proxy, generated, by_name] = all.as_array().unwrap().as_slice() else { panic!("{all}") };
        assert!(!proxy.is_null(), "{function}");
        assert_eq!((generated, by_name), (proxy, proxy), "{example}: {function}");
    }
}

/// Without approval, the ticket of the specification is not created.
#[tokio::test]
async fn the_ticket_example_needs_approval() {
    let source = std::fs::read_to_string(Path::new(EXAMPLES).join("company-crm/agent.ts")).unwrap();
    let report = run(&space("company-crm"), "agent.ts", &source).await;
    assert_eq!(report.outcome.unwrap_err().code, "call.approval_denied");
    assert!(report.console.is_empty());
}

/// A call by name reaches no more than the imports.
#[tokio::test]
async fn a_call_by_name_needs_the_import() {
    let call = "await __agentSpaces.callCapability('trainSchedule', 'getSchedule', { station: 'Harbour' })";
    let space = space("train-schedule");
    let report = run(&space, "script.ts", call).await;
    assert_eq!(report.outcome.unwrap_err().code, "import.denied");
    assert_eq!(report.usage.calls, 0);
    let imported = value(&space, &format!("import '@capabilities/train-schedule'; {call}")).await;
    assert_eq!(imported, json!([trip("RE-404", 8, 20, "Central", "1")]));
}

/// The array methods of a promised list, beside the awaited one.
#[tokio::test]
async fn a_promised_list_takes_array_methods() {
    let source = "import { trainSchedule } from '@capabilities/company';
        const late = await trainSchedule.getSchedule().filter(trip => trip.hour >= 12).map(trip => trip.id);
        const same = (await trainSchedule.getSchedule()).filter(trip => trip.hour >= 12).map(trip => trip.id);
        export default [late, same];";
    assert_eq!(value(&space("composition"), source).await, json!([["IC-303"], ["IC-303"]]));
}
