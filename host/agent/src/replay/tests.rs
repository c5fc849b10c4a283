use super::*;
use crate::answering::Ending;
use crate::fixtures::{ScriptedTools, Stage, Step, calls, says};
use crate::tools::ToolOutput;
use agent_spaces_models::{ModelError, ModelErrorKind};
use serde_json::json;
use std::time::Duration;

async fn replay_of(stage: &Stage) -> Replayed {
    replay(&stage.agent, stage.tools.as_ref(), &stage.log.records()).await
}

/// Tools whose results come in the reverse order of their calls; `grow` gives 2 MB.
fn reverse() -> Arc<ScriptedTools> {
    ScriptedTools::new(|call| {
        Box::pin(async move {
            let wait = call.arguments.get("wait").and_then(serde_json::Value::as_u64).unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(wait)).await;
            let text = if call.name == "grow" { "a line\n".repeat(300_000) } else { format!("{wait} ms") };
            ToolOutput { text, ..ToolOutput::default() }
        })
    })
}

#[tokio::test]
async fn a_session_repeats_itself() {
    let mixed = calls(&[
        ("a", "grow", json!({ "wait": 30 })),
        ("b", "look", json!({ "wait": 20 })),
        ("c", "grow", json!({ "wait": 10 })),
        ("d", "fly", json!({})),
        ("e", "look", json!("broken")),
    ]);
    let cut = Step::Fail("half", ModelError::new(ModelErrorKind::Invalid, "no"));
    let mut steps = vec![("first", mixed), ("first", cut)];
    steps.push(("second", calls(&[("f", "read_result", json!({ "handle": "result_2", "find": "line" }))])));
    steps.extend((0..3).map(|_| ("second", calls(&[("g", "look", json!({}))]))));
    steps.push(("second", says("done")));
    steps.push(("first", says("Again.")));
    let stage = Stage::new(steps, reverse());
    assert_eq!(stage.ask("go").await.ending, Ending::Done);
    assert_eq!(stage.ask("and?").await.ending, Ending::Done);
    let made = stage.tools.calls().len();
    let replayed = replay_of(&stage).await;
    assert_eq!(replayed.divergences, []);
    assert_eq!((replayed.questions, replayed.records), (2, stage.log.records().len()));
    // Nothing was asked or called.
    assert_eq!((stage.tools.calls().len(), stage.model.requests().len()), (made, 8));
}

#[tokio::test]
async fn a_changed_prompt_is_a_divergence_at_every_answer() {
    let steps = vec![("first", calls(&[("a", "look", json!({}))])), ("first", says("done"))];
    let mut stage = Stage::new(steps, ScriptedTools::echo());
    stage.ask("go").await;
    stage.agent.prompt = "You hinder.".to_owned();
    let replayed = replay_of(&stage).await;
    let places: Vec<_> = replayed.divergences.iter().map(|found| (found.question, found.record)).collect();
    assert_eq!(places, [(1, 2), (1, 5)]);
    assert!(replayed.divergences[0].message.contains("request"));
}

#[tokio::test]
async fn another_limit_is_a_divergence_where_it_acts() {
    let steps = vec![("first", calls(&[("a", "look", json!({}))])), ("first", says("done"))];
    let mut stage = Stage::new(steps, ScriptedTools::echo());
    stage.ask("go").await;
    stage.agent.limits.turns = 2;
    let replayed = replay_of(&stage).await;
    assert_eq!(replayed.divergences.len(), 1);
    assert_eq!(replayed.divergences[0].record, 5);
    assert!(replayed.divergences[0].message.contains("replayed: a notice"), "{replayed:?}");
}

#[tokio::test]
async fn a_model_that_is_no_longer_there_is_a_divergence() {
    let mut stage = Stage::new(vec![("first", says("done"))], ScriptedTools::echo());
    stage.ask("go").await;
    stage.agent.models.remove(0);
    let replayed = replay_of(&stage).await;
    assert_eq!(replayed.divergences.len(), 1);
    assert!(replayed.divergences[0].message.contains("local/first"), "{replayed:?}");
}

#[tokio::test]
async fn an_interrupted_question_is_replayed_as_far_as_it_came() {
    let hangs = ScriptedTools::new(|call| {
        Box::pin(async move {
            if call.name == "act" {
                std::future::pending::<()>().await;
            }
            ToolOutput { text: call.name, ..ToolOutput::default() }
        })
    });
    let stage = Stage::new(vec![("first", calls(&[("a", "act", json!({})), ("b", "look", json!({}))]))], hangs);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stage.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(stage.ask("go"), cancel);
    assert_eq!(outcome.ending, Ending::Cancelled);
    let replayed = replay_of(&stage).await;
    assert_eq!(replayed.divergences, []);
    assert_eq!(replayed.records, stage.log.records().len());
}
