use crate::answering::Ending;
use crate::definition::OutputFormat;
use crate::event::AgentEvent;
use crate::fixtures::{ScriptedTools, Stage, Step, answer, call, calls, says, tool};
use crate::record::Record;
use crate::tools::ToolOutput;
use agent_spaces_models::{Finish, Message, Part, Role, ToolChoice, ToolResult};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Barrier;

#[tokio::test]
async fn a_text_is_an_answer() {
    let stage = Stage::new(vec![("first", says("Four."))], ScriptedTools::echo());
    let outcome = stage.ask("What is two and two?").await;
    assert_eq!((outcome.ending, outcome.text.as_str(), outcome.turns), (Ending::Done, "Four.", 1));
    assert_eq!(outcome.model.as_deref(), Some("local/first"));
    assert_eq!(outcome.usage.output_tokens, 10);
    let request = &stage.model.requests()[0];
    assert_eq!(request.system.as_deref(), Some("You help."));
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["act", "grow", "look", "read_result"]);
    let kinds: Vec<_> = stage.log.records();
    assert!(matches!(
        kinds.as_slice(),
        [Record::Asked { .. }, Record::Answered { .. }, Record::Finished { ending }] if ending == "done"
    ));
    assert!(stage.events().contains(&AgentEvent::Text { text: "Four.".to_owned() }));
}

#[tokio::test]
async fn calls_of_one_answer_are_made_side_by_side() {
    let barrier = Arc::new(Barrier::new(3));
    let tools = ScriptedTools::new(move |call| {
        let barrier = barrier.clone();
        Box::pin(async move {
            // Each waits until all are being made.
            barrier.wait().await;
            ToolOutput { text: call.id, ..ToolOutput::default() }
        })
    });
    let three = calls(&[("a", "look", json!({})), ("b", "look", json!({ "n": 1 })), ("c", "act", json!({}))]);
    let mut stage = Stage::new(vec![("first", three), ("first", says("done"))], tools);
    stage.agent.limits.tool_timeout = Duration::from_secs(5);
    assert_eq!(stage.ask("go").await.ending, Ending::Done);
    // The model sees them in the order of its calls.
    let requests = stage.model.requests();
    let results = requests[1].messages.last().unwrap();
    assert_eq!(results.role, Role::Tool);
    let texts: Vec<_> =
        results.parts.iter().map(|part| matches!(part, Part::ToolResult(result) if !result.is_error)).collect();
    assert_eq!(texts, [true, true, true]);
    let ids: Vec<_> = results
        .parts
        .iter()
        .filter_map(|part| if let Part::ToolResult(result) = part { Some(result.call_id.as_str()) } else { None })
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_failure_of_a_tool_goes_to_the_model() {
    let tools = ScriptedTools::new(|_| Box::pin(std::future::ready(ToolOutput::error("the disk is full"))));
    let steps = vec![("first", calls(&[("a", "act", json!({}))])), ("first", says("It is full."))];
    let stage = Stage::new(steps, tools);
    assert_eq!(stage.ask("go").await.text, "It is full.");
    assert_eq!(stage.results(), ["the disk is full"]);
    assert!(!stage.events().iter().any(|event| matches!(event, AgentEvent::ModelFailed { .. })));
}

#[tokio::test]
async fn a_tool_that_takes_too_long_is_a_failure_for_the_model() {
    let tools = ScriptedTools::new(|_| Box::pin(std::future::pending::<ToolOutput>()));
    let steps = vec![("first", calls(&[("a", "act", json!({}))])), ("first", says("Too slow."))];
    let mut stage = Stage::new(steps, tools);
    stage.agent.limits.tool_timeout = Duration::from_millis(20);
    assert_eq!(stage.ask("go").await.text, "Too slow.");
    assert!(stage.results()[0].contains("timed out"));
}

#[tokio::test]
async fn unknown_tools_and_broken_arguments_are_told_to_the_model() {
    let wrong = calls(&[("a", "fly", json!({})), ("b", "act", json!("not an object"))]);
    let stage = Stage::new(vec![("first", wrong), ("first", says("Sorry."))], ScriptedTools::echo());
    assert_eq!(stage.ask("go").await.ending, Ending::Done);
    let mut results = stage.results();
    results.sort();
    assert!(results[0].contains("arguments of act are not a JSON object"), "{results:?}");
    assert!(results[1].contains("no tool fly") && results[1].contains("act, grow, look"), "{results:?}");
    assert!(stage.tools.calls().is_empty());
}

#[tokio::test]
async fn a_flood_of_calls_is_made_a_few_at_a_time() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    let tools = ScriptedTools::new(move |call| {
        let (now, most) = (now.clone(), most.clone());
        Box::pin(async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::SeqCst);
            ToolOutput { text: call.id, ..ToolOutput::default() }
        })
    });
    let ids: Vec<_> = (0..100).map(|number| format!("c{number}")).collect();
    let flood: Vec<_> =
        ids.iter().enumerate().map(|(number, id)| (id.as_str(), "look", json!({ "n": number }))).collect();
    let mut stage = Stage::new(vec![("first", calls(&flood)), ("first", says("done"))], tools);
    stage.agent.limits.parallel_calls = 4;
    assert_eq!(stage.ask("go").await.ending, Ending::Done);
    assert_eq!(stage.tools.calls().len(), 100);
    assert_eq!(stage.results().len(), 100);
    assert_eq!(seen.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn calls_with_the_same_id_get_a_result_each() {
    let twice = calls(&[("a", "look", json!({ "n": 1 })), ("a", "look", json!({ "n": 2 }))]);
    let stage = Stage::new(vec![("first", twice), ("first", says("done"))], ScriptedTools::echo());
    stage.ask("go").await;
    let requests = stage.model.requests();
    let results = requests[1].messages.last().unwrap();
    let texts: Vec<_> = results
        .parts
        .iter()
        .filter_map(|part| if let Part::ToolResult(result) = part { Some(result.text.as_str()) } else { None })
        .collect();
    assert_eq!(texts, [r#"look {"n":1}"#, r#"look {"n":2}"#]);
}

#[tokio::test]
async fn a_model_that_repeats_itself_is_told_and_then_loses_its_tools() {
    let mut steps: Vec<_> = (0..6).map(|_| ("first", calls(&[("a", "look", json!({ "n": 1 }))]))).collect();
    steps.push(("first", says("I give up.")));
    let stage = Stage::new(steps, ScriptedTools::echo());
    let outcome = stage.ask("go").await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::TurnLimit, "I give up."));
    assert!(outcome.message.unwrap().contains("repeated"));
    let results = stage.results();
    assert!(!results[1].contains("same call") && results[2].contains("same call gave the same result 3 times"));
    assert!(stage.model.requests()[6].tools.is_empty());
    assert_eq!(stage.tools.calls().len(), 6);
}

#[tokio::test]
async fn a_call_whose_result_changes_is_no_repetition() {
    let count = AtomicUsize::new(0);
    let tools = ScriptedTools::new(move |_| {
        let text = count.fetch_add(1, Ordering::SeqCst).to_string();
        Box::pin(std::future::ready(ToolOutput { text, ..ToolOutput::default() }))
    });
    let mut steps: Vec<_> = (0..10).map(|_| ("first", calls(&[("a", "look", json!({}))]))).collect();
    steps.push(("first", says("It is there.")));
    let stage = Stage::new(steps, tools);
    assert_eq!(stage.ask("poll").await.ending, Ending::Done);
}

#[tokio::test]
async fn calls_of_the_callers_tools_end_the_question() {
    let both = calls(&[("a", "theirs", json!({ "q": 1 })), ("b", "look", json!({}))]);
    let mut stage = Stage::new(vec![("first", both), ("first", says("Both."))], ScriptedTools::echo());
    stage.caller_tools = vec![tool("theirs"), tool("look")];
    let outcome = stage.ask("go").await;
    assert_eq!(outcome.ending, Ending::CallerTools);
    assert_eq!(outcome.calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["theirs"]);
    // The agent's own call was made. A name that both have is the agent's.
    assert_eq!(stage.tools.calls().len(), 1);
    let listed = &stage.model.requests()[0].tools;
    assert_eq!(listed.iter().filter(|tool| tool.name == "look").count(), 1);

    let (call_id, name, text) = (outcome.calls[0].id.clone(), "theirs".to_owned(), "of the caller".to_owned());
    let result = ToolResult { call_id, name, text, images: Vec::new(), is_error: false };
    let outcome = stage.ask_messages(vec![Message::results(vec![result])]).await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Done, "Both."));
    let requests = stage.model.requests();
    let texts: Vec<_> = requests[1]
        .messages
        .last()
        .unwrap()
        .parts
        .iter()
        .filter_map(|part| if let Part::ToolResult(result) = part { Some(result.text.as_str()) } else { None })
        .collect();
    assert_eq!(texts, ["of the caller", "look {}"]);
}

#[tokio::test]
async fn json_that_its_schema_does_not_allow_is_corrected() {
    let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let steps = vec![("first", says("It is one.")), ("first", says(r#"{"n": "one"}"#)), ("first", says(r#"{"n": 1}"#))];
    let mut stage = Stage::new(steps, ScriptedTools::echo());
    stage.agent.output = OutputFormat::Json(schema.clone());
    let outcome = stage.ask("How many?").await;
    assert_eq!((outcome.ending, outcome.value), (Ending::Done, Some(json!({ "n": 1 }))));
    let requests = stage.model.requests();
    // With tools a schema would keep the model from calling them.
    assert!(requests[0].output.is_none() && !requests[0].tools.is_empty());
    assert!(requests[1].output.as_ref().is_some_and(|output| output.schema == schema) && requests[1].tools.is_empty());
    assert!(requests[1].messages.last().unwrap().text().contains("not JSON"));
    assert!(requests[2].messages.last().unwrap().text().contains("Schema"));
}

#[tokio::test]
async fn a_model_that_never_writes_the_json_is_ended() {
    let steps = (0..3).map(|_| ("first", says("It is one."))).collect();
    let mut stage = Stage::new(steps, ScriptedTools::echo());
    stage.agent.output = OutputFormat::Json(json!({ "type": "object" }));
    let outcome = stage.ask("How many?").await;
    assert_eq!((outcome.ending, outcome.value, stage.model.left()), (Ending::InvalidOutput, None, 0));
}

#[tokio::test]
async fn refusals_and_cut_answers_are_told() {
    let refused = Step::Answer(answer(vec![], Finish::Refused("policy".to_owned())));
    let outcome = Stage::new(vec![("first", refused)], ScriptedTools::echo()).ask("q").await;
    assert_eq!(outcome.ending, Ending::Refused);
    assert!(outcome.message.unwrap().contains("policy"));
    let cut = Step::Answer(answer(vec![Part::Text("It is".to_owned())], Finish::Length));
    let outcome = Stage::new(vec![("first", cut)], ScriptedTools::echo()).ask("q").await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Length, "It is"));
}

#[tokio::test]
async fn calls_of_a_refused_answer_are_not_made() {
    let parts = vec![call("a", "act", &json!({}))];
    let refused = Step::Answer(answer(parts, Finish::Refused("policy".to_owned())));
    let stage = Stage::new(vec![("first", refused)], ScriptedTools::echo());
    assert_eq!(stage.ask("q").await.ending, Ending::Refused);
    assert!(stage.tools.calls().is_empty());
}

#[tokio::test]
async fn a_model_that_must_call_a_tool_does_so_in_the_first_turn_alone() {
    let steps = vec![("first", calls(&[("a", "look", json!({}))])), ("first", says("Seen."))];
    let mut stage = Stage::new(steps, ScriptedTools::echo());
    stage.agent.models[0].tool_choice = Some(ToolChoice::Required);
    assert_eq!(stage.ask("q").await.text, "Seen.");
    let choices: Vec<_> = stage.model.requests().into_iter().map(|request| request.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Required, ToolChoice::Auto]);
}

#[tokio::test]
async fn a_model_that_says_nothing_is_reminded_once() {
    let nothing = || Step::Answer(answer(vec![], Finish::Other("MALFORMED_FUNCTION_CALL".to_owned())));
    let stage = Stage::new(vec![("first", nothing()), ("first", says("Four."))], ScriptedTools::echo());
    assert_eq!(stage.ask("q").await.text, "Four.");
    let requests = stage.model.requests();
    assert!(requests[1].messages.last().unwrap().text().contains("no text") && !requests[1].tools.is_empty());
    // Then silence is the answer.
    let stage = Stage::new(vec![("first", nothing()), ("first", nothing())], ScriptedTools::echo());
    let outcome = stage.ask("q").await;
    assert_eq!((outcome.ending, outcome.text.as_str(), outcome.turns), (Ending::Done, "", 2));
}

#[tokio::test]
async fn a_pause_of_the_provider_is_gone_on_with() {
    let pause = Step::Answer(answer(vec![Part::Text("So".to_owned())], Finish::Pause));
    let stage = Stage::new(vec![("first", pause), ("first", says("far."))], ScriptedTools::echo());
    assert_eq!(stage.ask("q").await.ending, Ending::Done);
    assert_eq!(stage.model.requests()[1].messages.last().map(|message| message.role), Some(Role::Assistant));
}
