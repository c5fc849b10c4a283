use crate::answering::Ending;
use crate::definition::Budget;
use crate::event::AgentEvent;
use crate::fixtures::{ScriptedTools, Stage, Step, calls, says};
use crate::guard::Guard;
use crate::record::Record;
use crate::tools::ToolOutput;
use crate::turns::{CLOSING, TOO_LARGE};
use agent_spaces_models::Image;
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_secrets::Redactor;
use serde_json::json;
use std::time::Duration;

fn look(number: u32) -> Step {
    calls(&[("a", "look", json!({ "n": number }))])
}

/// A tool with a result of 2 MB, which names one place.
fn large() -> std::sync::Arc<ScriptedTools> {
    ScriptedTools::new(|_| {
        let mut text = "one line of many\n".repeat(120_000);
        text.push_str("the needle is 4711\n");
        Box::pin(std::future::ready(ToolOutput { text, ..ToolOutput::default() }))
    })
}

#[tokio::test]
async fn the_last_turn_has_no_tools_and_one_closing_message() {
    let mut stage =
        Stage::new(vec![("first", look(1)), ("first", look(2)), ("first", says("So far."))], ScriptedTools::echo());
    stage.agent.limits.turns = 3;
    let outcome = stage.ask("go").await;
    assert_eq!((outcome.ending, outcome.text.as_str(), outcome.turns), (Ending::TurnLimit, "So far.", 3));
    let requests = stage.model.requests();
    assert!(!requests[1].tools.is_empty() && requests[2].tools.is_empty());
    assert_eq!(requests[2].messages.last().unwrap().text(), CLOSING);
    let notices = stage.log.records().into_iter().filter(|record| matches!(record, Record::Notice { .. }));
    assert_eq!(notices.count(), 1);
}

#[tokio::test]
async fn calls_in_the_last_turn_are_not_made() {
    let mut stage = Stage::new(vec![("first", look(1)), ("first", look(2))], ScriptedTools::echo());
    stage.agent.limits.turns = 2;
    assert_eq!(stage.ask("go").await.ending, Ending::TurnLimit);
    assert_eq!(stage.tools.calls().len(), 1);
}

#[tokio::test]
async fn a_budget_ends_the_question_before_the_next_request() {
    let mut stage = Stage::new(vec![("first", look(1))], ScriptedTools::echo());
    stage.agent.budgets.run = Budget { tokens: Some(10), cost: None };
    let outcome = stage.ask("go").await;
    assert_eq!(outcome.ending, Ending::Budget);
    assert!(outcome.message.unwrap().contains("budgets.run.tokens"));
    assert_eq!(stage.results().len(), 1);
}

#[tokio::test]
async fn a_large_result_becomes_a_handle_that_is_read_in_parts() {
    let find = calls(&[("b", "read_result", json!({ "handle": "result_1", "find": "needle" }))]);
    let part = calls(&[("c", "read_result", json!({ "handle": "result_1", "offset": 0, "length": 40 }))]);
    let steps = vec![
        ("first", calls(&[("a", "grow", json!({}))])),
        ("first", find),
        ("first", part),
        ("first", says("It is 4711.")),
    ];
    let mut stage = Stage::new(steps, large());
    stage.agent.models.truncate(1);
    stage.agent.models[0].window.tokens = 8_000;
    let outcome = stage.ask("Where is the needle?").await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Done, "It is 4711."));
    let results = stage.results();
    assert!(results[0].len() < 8_000 && results[0].contains("result_1"));
    assert!(results[1].contains("the needle is 4711"), "{}", results[1]);
    assert!(results[2].contains("one line of many"), "{}", results[2]);
    let kept = stage.log.records().into_iter().find_map(|record| match record {
        Record::Kept { handle, text } => Some((handle, text.len())),
        _ => None,
    });
    assert!(kept.is_some_and(|(handle, bytes)| handle == "result_1" && bytes > 2_000_000));
    assert!(stage.events().iter().any(|event| matches!(event, AgentEvent::Note { text } if text.contains("result_1"))));
    let requests = stage.model.requests();
    let guard = Guard::new(None);
    assert!(requests.iter().all(|request| guard.request(&stage.agent.models[0], request) < 8_000));
}

#[tokio::test]
async fn a_handle_is_read_in_a_later_question() {
    let read = calls(&[("b", "read_result", json!({ "handle": "result_1", "find": "needle" }))]);
    let steps = vec![
        ("first", calls(&[("a", "grow", json!({}))])),
        ("first", says("It is large.")),
        ("first", read),
        ("first", says("4711")),
    ];
    let stage = Stage::new(steps, large());
    stage.ask("Get it.").await;
    assert_eq!(stage.ask("Where is the needle?").await.text, "4711");
    assert!(stage.results()[1].contains("the needle is 4711"));
}

#[tokio::test]
async fn a_result_that_fits_nowhere_fails_and_the_model_concludes() {
    let steps = || vec![("first", calls(&[("a", "grow", json!({}))])), ("first", says("Without it."))];
    let mut stage = Stage::new(steps(), large());
    stage.agent.models.truncate(1);
    stage.agent.sampling.max_output_tokens = Some(100);
    assert_eq!(stage.ask("go").await.ending, Ending::Done);
    // A window with room for the first request, the call and a few tokens.
    let target = &stage.agent.models[0];
    let tokens = Guard::new(None).request(target, &stage.model.requests()[0]);
    let mut full = Stage::new(steps(), large());
    full.agent = stage.agent.clone();
    full.agent.models[0].window.tokens = tokens + 100 + target.window.buffer + 60;
    let outcome = full.ask("go").await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::ContextLimit, "Without it."));
    assert_eq!(outcome.ending.code(), "EXIT-TOKEN-LIMIT");
    assert_eq!(full.results(), ["(tool failed: context window budget exceeded)"]);
    assert_eq!(TOO_LARGE, "(tool failed: context window budget exceeded)");
    let requests = full.model.requests();
    assert!(requests[1].tools.is_empty());
    assert_eq!(requests[1].messages.last().unwrap().text(), CLOSING);
}

#[tokio::test]
async fn images_of_a_conversation_are_bounded() {
    let tools = ScriptedTools::new(|call| {
        let image = Image { media_type: "image/png".to_owned(), data: "A".repeat(6 << 20) };
        let output = ToolOutput { text: call.id, images: vec![image], ..ToolOutput::default() };
        Box::pin(std::future::ready(output))
    });
    let two = calls(&[("a", "look", json!({ "n": 1 })), ("b", "look", json!({ "n": 2 }))]);
    let stage = Stage::new(vec![("first", two), ("first", look(3)), ("first", says("Seen."))], tools);
    assert_eq!(stage.ask("go").await.text, "Seen.");
    let images = |record: Record| match record {
        Record::Returned { result } => Some((result.images.len(), result.text.contains("1 of 1 images left out"))),
        _ => None,
    };
    let found: Vec<_> = stage.log.records().into_iter().filter_map(images).collect();
    assert_eq!(found, [(1, false), (1, false), (0, true)]);
}

#[tokio::test]
async fn a_conversation_that_fits_no_window_ends_the_question() {
    let mut stage = Stage::new(Vec::new(), ScriptedTools::echo());
    stage.agent.models.iter_mut().for_each(|target| target.window.tokens = 500);
    let outcome = stage.ask(&"many words ".repeat(2_000)).await;
    assert_eq!(outcome.ending, Ending::ContextLimit);
    assert!(stage.model.requests().is_empty());
}

#[tokio::test]
async fn a_model_with_a_larger_window_takes_over() {
    let mut stage = Stage::new(vec![("second", says("Long."))], ScriptedTools::echo());
    stage.agent.models[0].window.tokens = 500;
    assert_eq!(stage.ask(&"many words ".repeat(2_000)).await.text, "Long.");
}

#[tokio::test]
async fn a_question_that_takes_too_long_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("usage.jsonl");
    let mut stage = Stage::new(vec![("first", Step::Hang)], ScriptedTools::echo());
    stage.accounting = Accounting::to_file(&file, Redactor::default()).unwrap();
    stage.agent.limits.time = Duration::from_millis(200);
    let outcome = stage.ask("go").await;
    assert_eq!(outcome.ending, Ending::Time);
    assert!(matches!(stage.log.records().last(), Some(Record::Finished { ending }) if ending == "time-limit"));
    // Its provider may charge for what was asked.
    let usage = std::fs::read_to_string(file).unwrap();
    assert!(usage.lines().count() == 1 && usage.contains(r#""status":"failed""#), "{usage}");
}

#[tokio::test]
async fn a_cancelled_question_is_not_finished() {
    let tools = ScriptedTools::new(|_| Box::pin(std::future::pending::<ToolOutput>()));
    let stage = Stage::new(vec![("first", look(1))], tools);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stage.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(stage.ask("go"), cancel);
    assert_eq!(outcome.ending, Ending::Cancelled);
    assert!(matches!(stage.log.records().last(), Some(Record::Calling { .. })));
}
