//! A whole app with a Slack of our own and a scripted model.

mod fake;

use super::{Slack, SlackSettings};
use crate::testing::{Scripted, Step};
use agent_spaces_agent::{AgentService, OutputFormat};
use agent_spaces_journal::{SqliteStore, Store};
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_secrets::Secret;
use fake::FakeSlack;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An app that is connected.
struct App {
    model: Arc<Scripted>,
    fake: FakeSlack,
    slack: Slack,
    _folder: tempfile::TempDir,
}

async fn start(steps: Vec<Step>) -> App {
    let (model, fake) = (Scripted::new(OutputFormat::Text, steps), FakeSlack::start().await);
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&folder.path().join("journal"), agent_spaces_journal::Settings::default()).unwrap());
    let service = AgentService::new(model.clone(), model.clone(), Some(store.clone()), Accounting::default(), None);
    let settings = SlackSettings {
        app_token: Some(Secret::new("xapp-1")),
        bot_token: Secret::new("xoxb-1"),
        signing_secret: None,
        agent: "planner".to_owned(),
        approvers: BTreeSet::from(["U1".to_owned()]),
        scopes: BTreeSet::new(),
        base_url: fake.base.parse().unwrap(),
    };
    let slack = Slack::new(settings, &service, Some(store), None).unwrap();
    let running = slack.clone();
    tokio::spawn(async move { running.run().await.unwrap() });
    App { model, fake, slack, _folder: folder }
}

/// A mention of the bot.
fn mention(event: &str, message: &str, thread: Option<&str>, text: &str) -> Value {
    let mut mention = json!({
        "type": "app_mention", "channel": "C1", "user": "U2", "text": format!("<@UBOT> {text}"), "ts": message,
    });
    if let Some(thread) = thread {
        mention["thread_ts"] = thread.into();
    }
    json!({ "type": "event_callback", "team_id": "T1", "event_id": event, "event": mention })
}

fn click(user: &str, action: &str) -> Value {
    json!({
        "type": "block_actions", "user": { "id": user }, "channel": { "id": "C1" },
        "container": { "thread_ts": "1.1" }, "actions": [{ "action_id": action, "value": "apr_pay" }],
    })
}

fn says(text: &str) -> impl Fn(&Value) -> bool {
    move |body| body["text"] == text
}

#[tokio::test]
async fn a_thread_is_a_session_and_a_repeated_event_is_one_question() {
    let mut app = start(vec![Step::Says("**one**"), Step::Says("two")]).await;
    let mut socket = app.fake.socket().await;
    socket.deliver("e1", "events_api", mention("Ev1", "1.1", None, "first?")).await;
    app.fake.call("chat.postmessage", |body| body["thread_ts"] == "1.1" && body["channel"] == "C1").await;
    let answer = app.fake.call("chat.update", says("*one*")).await;
    assert_eq!(answer["channel"], "C1");
    // Slack repeats what it did not see acknowledged, in another envelope.
    socket.deliver("e2", "events_api", mention("Ev1", "1.1", None, "first?")).await;
    socket.deliver("e3", "events_api", mention("Ev2", "1.2", Some("1.1"), "second?")).await;
    app.fake.call("chat.update", says("two")).await;
    let requests = app.model.requests();
    assert_eq!(requests.len(), 2);
    let texts: Vec<String> = requests[1].messages.iter().map(agent_spaces_models::Message::text).collect();
    assert!(texts.iter().any(|text| text.contains("first?")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("**one**")), "{texts:?}");
}

#[tokio::test]
async fn only_configured_people_approve() {
    let mut app = start(vec![Step::Calls("", "pay", json!({})), Step::Says("done")]).await;
    let mut socket = app.fake.socket().await;
    socket.deliver("e1", "events_api", mention("Ev1", "1.1", None, "pay!")).await;
    let asked = app.fake.call("chat.postmessage", |body| body["blocks"].is_array()).await;
    assert_eq!(asked["thread_ts"], "1.1");
    socket.deliver("e2", "interactive", click("U2", "agent_spaces_approve")).await;
    let refused = app.fake.call("chat.postephemeral", |body| body["user"] == "U2").await;
    assert!(refused["text"].as_str().unwrap().contains("may not decide"), "{refused}");
    assert_eq!(app.model.requests().len(), 1);
    socket.deliver("e3", "interactive", click("U1", "agent_spaces_approve")).await;
    app.fake.call("chat.update", says("done")).await;
    let told = serde_json::to_string(&app.model.requests()[1].messages).unwrap();
    assert!(told.contains("paid, says slack:U1"), "{told}");
    // The buttons are gone, and another click changes nothing.
    app.fake.call("chat.update", says("Approved by <@U1>")).await;
    socket.deliver("e4", "interactive", click("U1", "agent_spaces_deny")).await;
    app.fake.call("chat.postephemeral", |body| body["user"] == "U1").await;
}

#[tokio::test]
async fn the_app_connects_again_and_answers_on() {
    let mut app = start(vec![Step::Says("back")]).await;
    let mut socket = app.fake.socket().await;
    socket.send(&json!({ "type": "disconnect", "reason": "refresh_requested" })).await;
    let mut socket = app.fake.socket().await;
    socket.deliver("e1", "events_api", mention("Ev1", "1.1", None, "there?")).await;
    app.fake.call("chat.update", says("back")).await;
}

#[tokio::test]
async fn slash_commands_are_answered_at_slack_alone() {
    let mut app = start(vec![Step::Says("it is")]).await;
    let mut socket = app.fake.socket().await;
    let command = |url: String| {
        json!({
            "command": "/agent", "text": "is it?", "user_id": "U2", "channel_id": "C1", "team_id": "T1",
            "response_url": url,
        })
    };
    socket.deliver("e1", "slash_commands", command("http://169.254.169.254/latest".to_owned())).await;
    socket.deliver("e2", "slash_commands", command(format!("{}respond", app.fake.base))).await;
    let answer = app.fake.call("respond", says("it is")).await;
    assert_eq!(answer["response_type"], "ephemeral");
    // The first was not asked.
    assert_eq!(app.model.requests().len(), 1);
}

#[tokio::test]
async fn failures_are_told_plainly() {
    let mut app = start(vec![Step::Fails]).await;
    let mut socket = app.fake.socket().await;
    socket.deliver("e1", "events_api", mention("Ev1", "1.1", None, "why?")).await;
    let told =
        app.fake.call("chat.update", |body| body["text"].as_str().is_some_and(|text| text.contains(":warning:")));
    assert!(told.await["text"].as_str().unwrap().len() > ":warning: ".len());
}

#[tokio::test]
async fn people_are_told_when_the_app_stops() {
    let mut app = start(vec![Step::Hangs]).await;
    let mut socket = app.fake.socket().await;
    socket.deliver("e1", "events_api", mention("Ev1", "1.1", None, "why?")).await;
    app.fake.call("chat.postmessage", |body| body["thread_ts"] == "1.1").await;
    while app.model.requests().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    app.slack.stop().await;
    let told = app.fake.calls("chat.update");
    assert!(told.iter().any(|body| body["text"].as_str().is_some_and(|text| text.contains(":warning:"))), "{told:?}");
}
