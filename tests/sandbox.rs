//! Scripts in sandboxes.

use agent_spaces::Handlers;
use agent_spaces_tests::{empty_space, run, space, value};
use serde_json::json;

#[tokio::test]
async fn a_script_has_a_value() {
    let space = empty_space();
    assert_eq!(value(&space, "export default 1 + 1").await, json!(2));
    assert_eq!(value(&space, "const x: number = 20; x * 2").await, json!(40));
    assert_eq!(value(&space, "return { a: [1, 'x', null] }").await, json!({"a": [1, "x", null]}));
    assert_eq!(value(&space, "export default async () => { await 0; return 'called' }").await, json!("called"));
    let report = run(&space, "console.log('hello', { a: 1 }); await new Promise(r => setTimeout(r, 5)); 'slept'").await;
    assert_eq!(report.outcome.unwrap(), json!("slept"));
    println!("{:?} {:?}", report.console, report.usage);
}

#[tokio::test]
async fn a_capability_is_called() {
    let mut handlers = Handlers::new();
    handlers.add("capabilities:train-schedule/train-schedule@1.0.0", "get-schedule", |call| async move {
        println!("{call:?}");
        Ok(json!([{"id": "t1", "hour": 7}, {"id": "t2", "hour": 13, "platform": "4a"}]))
    });
    let wit = "package capabilities:train-schedule@1.0.0;
        interface train-schedule {
            use agent-spaces:host/types@0.1.0.{capability-error, json};
            record params { station: option<string>, extra: option<json> }
            record trip { id: string, hour: s64, platform: option<string> }
            get-schedule: async func(params: params) -> result<list<trip>, capability-error>;
        }";
    let space = space(wit, handlers);
    let report = run(
        &space,
        "import { trainSchedule } from '@capabilities/train-schedule';
        const trips = await trainSchedule.getSchedule({ station: 'Central', extra: {a: [1, null]} });
        trips.filter(t => t.hour < 12)",
    )
    .await;
    println!("{report:?}");
    assert_eq!(report.outcome.unwrap(), json!([{"id": "t1", "hour": 7}]));
    let report = run(
        &space,
        "import { trainSchedule } from '@capabilities/train-schedule';
        await trainSchedule.getSchedule({ statoin: 'Central' })",
    )
    .await;
    println!("{report:?}");
}
