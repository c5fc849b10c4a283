use crate::answering::Ending;
use crate::event::AgentEvent;
use crate::fixtures::{MemoryLog, ScriptedTools, Stage, Step, calls, fails, says};
use agent_spaces_models::{ModelError, ModelErrorKind, Role};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

fn cut(text: &'static str) -> Step {
    Step::Fail(text, ModelError::new(ModelErrorKind::Cut, "the stream ended before its end"))
}

fn limited(seconds: u64) -> Step {
    let mut error = ModelError::new(ModelErrorKind::RateLimited, "slow down");
    error.retry_after = Some(Duration::from_secs(seconds));
    Step::Fail("", error)
}

/// A stage whose models get one attempt each.
fn stage(steps: Vec<(&'static str, Step)>) -> Stage {
    let mut stage = Stage::new(steps, ScriptedTools::echo());
    stage.agent.limits.attempts = 1;
    stage
}

fn act() -> Step {
    calls(&[("a", "act", json!({}))])
}

#[tokio::test]
async fn the_next_model_gets_the_same_request() {
    let stage = stage(vec![("first", fails(ModelErrorKind::Server)), ("second", act()), ("second", says("done"))]);
    let outcome = stage.ask("go").await;
    assert_eq!((outcome.ending, outcome.model.as_deref()), (Ending::Done, Some("local/second")));
    assert_eq!(stage.tools.calls().len(), 1);
    let requests = stage.model.requests();
    assert_eq!((&requests[0].messages, &requests[0].tools), (&requests[1].messages, &requests[1].tools));
    assert_eq!((requests[0].model.as_str(), requests[1].model.as_str()), ("first", "second"));
}

#[tokio::test]
async fn a_model_that_dies_while_it_speaks_leaves_nothing_behind() {
    let stage = stage(vec![("first", cut("I will now ac")), ("second", act()), ("second", says("done"))]);
    assert_eq!(stage.ask("go").await.text, "done");
    assert_eq!(stage.tools.calls().len(), 1);
    let records = serde_json::to_string(&stage.log.records()).unwrap();
    assert!(!records.contains("I will now"));
    // Those who saw the text are told that it is void.
    let events = stage.events();
    let place = |wanted: &AgentEvent| events.iter().position(|event| event == wanted);
    let text = place(&AgentEvent::Text { text: "I will now ac".to_owned() }).unwrap();
    let failed = AgentEvent::ModelFailed {
        model: "local/first".to_owned(),
        message: "the stream ended before its end".to_owned(),
        next: Some("local/second".to_owned()),
    };
    let asking = place(&AgentEvent::Asking { model: "local/second".to_owned() }).unwrap();
    let failed = place(&failed).unwrap();
    assert!(text < failed && failed < asking);
}

#[tokio::test]
async fn after_a_call_the_next_model_gets_its_result_and_the_call_is_not_repeated() {
    let stage = stage(vec![("first", act()), ("first", cut("It is d")), ("second", says("done"))]);
    let outcome = stage.ask("go").await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Done, "done"));
    assert_eq!(stage.tools.calls().len(), 1);
    let requests = stage.model.requests();
    let roles: Vec<_> = requests[2].messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
    assert_eq!(requests[1].messages, requests[2].messages);
}

#[tokio::test]
async fn a_model_that_failed_is_not_asked_again_in_the_question() {
    let steps = vec![
        ("first", fails(ModelErrorKind::Unauthorized)),
        ("second", act()),
        ("second", says("done")),
        ("first", says("again")),
    ];
    let stage = stage(steps);
    assert_eq!(stage.ask("go").await.text, "done");
    assert_eq!(stage.ask("and now?").await.text, "again");
}

#[tokio::test]
async fn when_all_models_fail_each_is_named() {
    let named = ModelError::new(ModelErrorKind::Server, "local, model first: HTTP 500");
    let stage = stage(vec![("first", Step::Fail("", named)), ("second", fails(ModelErrorKind::Quota))]);
    let outcome = stage.ask("go").await;
    assert_eq!(outcome.ending, Ending::ModelFailed);
    let message = outcome.message.unwrap();
    assert_eq!(message, "No model answered: local/first: HTTP 500; local/second: the provider failed");
}

#[tokio::test]
async fn a_provider_that_asks_for_a_wait_gets_it() {
    let steps = vec![("first", limited(1)), ("first", says("now"))];
    let stage = Stage::new(steps, ScriptedTools::echo());
    let begun = Instant::now();
    assert_eq!(stage.ask("go").await.text, "now");
    let waited = begun.elapsed();
    // Our own first wait is half of it.
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
}

#[tokio::test]
async fn the_next_model_is_asked_instead_of_a_long_wait() {
    let stage = Stage::new(vec![("first", limited(60)), ("second", says("now"))], ScriptedTools::echo());
    let begun = Instant::now();
    assert_eq!(stage.ask("go").await.text, "now");
    assert!(begun.elapsed() < Duration::from_secs(30));
    // The only model is waited for.
    let mut stage = Stage::new(vec![("first", limited(2)), ("first", says("now"))], ScriptedTools::echo());
    stage.agent.models.truncate(1);
    let begun = Instant::now();
    assert_eq!(stage.ask("go").await.text, "now");
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn waits_grow_and_attempts_end() {
    let mut steps: Vec<_> = (0..3).map(|_| ("first", fails(ModelErrorKind::Server))).collect();
    steps.push(("second", says("now")));
    let stage = Stage::new(steps, ScriptedTools::echo());
    let begun = Instant::now();
    assert_eq!(stage.ask("go").await.text, "now");
    let waited = begun.elapsed();
    // Half a second and a second, and some more of each.
    assert!(waited >= Duration::from_millis(1_500), "{waited:?}");
}

#[tokio::test]
async fn no_call_is_made_that_is_not_recorded() {
    let mut stage = stage(vec![("first", act())]);
    // Question and answer are recorded; that the call is made is not.
    stage.log = MemoryLog::full_after(2);
    let outcome = stage.ask("go").await;
    assert_eq!(outcome.ending, Ending::Store);
    assert!(outcome.message.unwrap().contains("the disk is full"));
    assert!(stage.tools.calls().is_empty());
}
