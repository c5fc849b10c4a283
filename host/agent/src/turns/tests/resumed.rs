use crate::answering::Ending;
use crate::fixtures::{MemoryLog, ScriptedTools, Stage, Step, answer, call, says};
use crate::record::Record;
use agent_spaces_models::{Api, Finish, Message, Origin, Part};
use serde_json::json;

fn asked() -> Record {
    Record::Asked { messages: vec![Message::user("go")] }
}

fn answered(parts: Vec<Part>, finish: Finish) -> Record {
    let origin = Origin { provider: "local".into(), model: "first".into(), api: Api::Ollama };
    Record::Answered { origin, request: String::new(), answer: answer(parts, finish), cost: None }
}

fn two_calls() -> Record {
    answered(vec![call("a", "act", &json!({})), call("b", "look", &json!({}))], Finish::ToolCalls)
}

fn stage(steps: Vec<(&'static str, Step)>, records: Vec<Record>) -> Stage {
    let mut stage = Stage::new(steps, ScriptedTools::echo());
    stage.log = MemoryLog::of(records);
    stage
}

#[tokio::test]
async fn a_call_that_was_being_made_is_in_doubt_and_not_repeated() {
    let calling = Record::Calling { calls: vec!["a".into()] };
    let stage = stage(vec![("first", says("I looked."))], vec![asked(), two_calls(), calling]);
    let outcome = stage.go_on().await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Done, "I looked."));
    let made: Vec<_> = stage.tools.calls().into_iter().map(|call| call.name).collect();
    assert_eq!(made, ["look"]);
    let results = stage.results();
    assert!(results[0].contains("outcome of this call is not known"), "{results:?}");
    assert_eq!(results[1], "look {}");
    assert_eq!(stage.model.requests()[0].messages.len(), 3);
}

#[tokio::test]
async fn calls_that_had_not_begun_are_made() {
    let stage = stage(vec![("first", says("done"))], vec![asked(), two_calls()]);
    assert_eq!(stage.go_on().await.text, "done");
    assert_eq!(stage.tools.calls().len(), 2);
}

#[tokio::test]
async fn a_recorded_answer_is_given_without_asking_again() {
    let text = answered(vec![Part::Text("Four.".into())], Finish::Stop);
    let stage = stage(Vec::new(), vec![asked(), text]);
    let outcome = stage.go_on().await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Done, "Four."));
    assert!(matches!(stage.log.records().last(), Some(Record::Finished { .. })));
}

#[tokio::test]
async fn calls_of_a_recorded_refusal_are_not_made() {
    let parts = vec![call("a", "act", &json!({}))];
    let stage = stage(Vec::new(), vec![asked(), answered(parts, Finish::Refused("policy".into()))]);
    assert_eq!(stage.go_on().await.ending, Ending::Refused);
    assert!(stage.tools.calls().is_empty());
}

#[tokio::test]
async fn a_question_without_an_answer_is_asked() {
    let stage = stage(vec![("first", says("done"))], vec![asked()]);
    assert_eq!(stage.go_on().await.text, "done");
    assert_eq!(stage.model.requests()[0].messages, [Message::user("go")]);
}

#[tokio::test]
async fn another_question_leaves_open_calls_behind() {
    let calling = Record::Calling { calls: vec!["a".into()] };
    let stage = stage(vec![("first", says("Fine."))], vec![asked(), two_calls(), calling]);
    assert_eq!(stage.ask("Never mind. How are you?").await.text, "Fine.");
    assert!(stage.tools.calls().is_empty());
    let requests = stage.model.requests();
    let Part::ToolResult(first) = &requests[0].messages[2].parts[0] else { panic!("no result") };
    assert!(first.is_error && first.text.contains("not known"));
}
