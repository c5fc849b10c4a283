//! Delivery order of answers: a script receives them one at a time in order of arrival, and only that order affects its
//! fuel.

use agent_spaces::{EventKind, Handlers, RunOptions, RunReport, Space};
use agent_spaces_tests::space;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

const WIT: &str = "package test:far@1.0.0;
interface far {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record params { id: u32 }
    ask: async func(params: params) -> result<string, capability-error>;
}";

const IDS: u64 = 6;

/// Asks for all at once, and says which answer it has been given.
const SOURCE: &str = "import { far } from '@test/far';
const seen: string[] = [];
await Promise.all(Array.from({ length: 6 }, async (_, id) => {
  const answer = await far.ask({ id });
  seen.push(answer.slice(0, 3 + id).toUpperCase());
  console.log(String(id));
}));
seen";

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// A space whose calls wait until the test answers them.
fn far() -> (Space, Waiting) {
    let waiting = Waiting::default();
    let kept = waiting.clone();
    let mut handlers = Handlers::new();
    handlers.add("test:far/far@1.0.0", "ask", move |call| {
        let (sender, receiver) = oneshot::channel();
        if let (Some(id), Ok(mut waiting)) = (call.params["id"].as_u64(), kept.lock()) {
            waiting.insert(id, sender);
        }
        async move { Ok(receiver.await.unwrap_or_default()) }
    });
    (space(WIT, handlers), waiting)
}

fn answer(waiting: &Waiting, id: u64) {
    let sender = waiting.lock().unwrap().remove(&id).expect("it was asked for");
    // Of lengths that differ, so that the engine's memory depends on the order.
    sender.send(Value::from(format!("{id}{}", "x".repeat(id as usize * 900)))).unwrap();
}

/// All answers are there before the script is woken, or each only when the one before it was taken.
async fn run(order: &[u64], one_by_one: bool) -> RunReport {
    let (space, waiting) = far();
    let program = space.prepare("script.ts", SOURCE).unwrap();
    let mut run = program.start(RunOptions::default());
    let mut left = order.iter().copied();
    let mut asked = 0;
    while let Some(event) = run.next_event().await {
        match event.kind {
            EventKind::CallScheduled { .. } => {
                asked += 1;
                if asked == IDS {
                    // The handler of the last call may not have been polled yet.
                    while waiting.lock().unwrap().len() < order.len() {
                        tokio::task::yield_now().await;
                    }
                    let first = if one_by_one { 1 } else { order.len() };
                    left.by_ref().take(first).for_each(|id| answer(&waiting, id));
                }
            }
            EventKind::Console { .. } if one_by_one => {
                if let Some(id) = left.next() {
                    answer(&waiting, id);
                }
            }
            _ => {}
        }
    }
    run.finish().await
}

#[tokio::test]
async fn fuel_depends_only_on_the_order_of_answers() {
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]] {
        let (together, apart) = (run(&order, false).await, run(&order, true).await);
        let printed: Vec<u64> = together.console.iter().filter_map(|line| line.text.parse().ok()).collect();
        assert_eq!(printed, order, "given in the order of arrival");
        assert_eq!(together.console, apart.console);
        assert_eq!(together.outcome.unwrap(), apart.outcome.unwrap());
        assert_eq!(together.usage.fuel, apart.usage.fuel, "{order:?}");
    }
}

/// An immediate answer is delivered like a delayed one.
#[tokio::test]
async fn immediate_and_late_answers_take_the_same_fuel() {
    let mut fuel = Vec::new();
    for is_late in [false, true] {
        let mut handlers = Handlers::new();
        handlers.add("test:far/far@1.0.0", "ask", move |call| async move {
            if is_late {
                tokio::task::yield_now().await;
            }
            Ok(json!(format!("{}", call.params["id"])))
        });
        let space = space(WIT, handlers);
        let source = "import { far } from '@test/far';\nlet text = '';\nfor (let id = 0; id < 5; id++) text += await far.ask({ id });\ntext";
        let report = agent_spaces_tests::run(&space, source).await;
        assert_eq!(report.outcome.unwrap(), "01234");
        fuel.push(report.usage.fuel);
    }
    assert_eq!(fuel[0], fuel[1]);
}

/// An answer that comes while the script computes waits until it is idle.
#[tokio::test]
async fn an_answer_does_not_interrupt_running_code() {
    let source = "import { far } from '@test/far';
        const asked = far.ask({ id: 0 }).then((text) => text.length);
        let sum = 0;
        for (let i = 0; i < 300_000; i++) sum = (sum + i) % 1_000_003;
        const parts: string[] = [];
        for (let i = 0; i < 200; i++) parts.push('part'.repeat(i));
        [await asked, sum, parts.length]";
    let mut fuel = Vec::new();
    for is_late in [false, true] {
        let (space, waiting) = far();
        let program = space.prepare("script.ts", source).unwrap();
        let mut run = program.start(RunOptions::default());
        let mut late = None;
        while let Some(event) = run.next_event().await {
            if let EventKind::CallScheduled { .. } = event.kind {
                while waiting.lock().unwrap().is_empty() {
                    tokio::task::yield_now().await;
                }
                match is_late {
                    false => answer(&waiting, 0),
                    // On another thread's time, when the loops are over or nearly so.
                    true => late = Some(waiting.clone()),
                }
            }
            if let Some(waiting) = late.take() {
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                answer(&waiting, 0);
            }
        }
        let report = run.finish().await;
        assert_eq!(report.outcome.unwrap()[0], 1);
        fuel.push(report.usage.fuel);
    }
    assert_eq!(fuel[0], fuel[1]);
}
