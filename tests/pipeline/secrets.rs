//! A secret that a provider says reaches nobody.

use super::rig::{Extras, Rig, Scripted, rules};
use agent_spaces::Accounting;
use agent_spaces_approvals::Decision;
use agent_spaces_mcp::secrets::{Redactor, Secret};
use serde_json::{Value, json};

const SECRET: &str = "hunter2-and-more";

fn rig(accounting: Accounting) -> Rig {
    let redactor = Redactor::default();
    redactor.add(&Secret::new(SECRET));
    Rig::with(
        rules(json!({ "crm.find": { "idempotent": true, "cache": "1m" } })),
        Extras { redactor, accounting, ..Extras::default() },
    )
}

/// The provider has the secret from elsewhere; here it is sent in pieces, which are no secret.
fn saying(mode: &str) -> Value {
    json!({ "mode": format!("{mode} it is {SECRET}!") })
}

fn ended(rig: &Rig) -> String {
    let events = rig.events.lock().unwrap();
    let ends: Vec<Value> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    // What was asked is the caller's own.
    serde_json::to_string(&ends.iter().filter(|event| event["type"] != "callScheduled").collect::<Vec<_>>()).unwrap()
}

#[tokio::test]
async fn a_secret_is_taken_out_of_values_errors_details_events_and_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let rig = rig(Accounting::to_file(&file, Redactor::default(), |_| ()).unwrap());
    for label in ["crm.find", "crm.note", "github.createIssue", "post.send"] {
        // Twice: the second answer of `crm.find` is one that was kept.
        for _ in 0..2 {
            let by_host = rig.host(label, saying("say")).await.unwrap();
            let by_script = rig.script_one(label, saying("say")).await.unwrap();
            assert_eq!((&by_host, &by_script), (&json!("it is [redacted]!"), &json!("it is [redacted]!")), "{label}");
        }
        for error in [
            rig.host(label, saying("fail")).await.unwrap_err(),
            rig.script_one(label, saying("fail")).await.unwrap_err(),
        ] {
            assert_eq!(error.message, "it is [redacted]!", "{label}");
        }
        let error = rig.host(label, saying("detail")).await.unwrap_err();
        assert_eq!(error.details, Some(json!({ "seen": ["it is [redacted]!"] })), "{label}");
    }
    let shown = ended(&rig);
    assert!(shown.contains("it is [redacted]!") && !shown.contains(SECRET), "{shown}");
    let accounts = std::fs::read_to_string(&file).unwrap();
    assert!(accounts.contains("it is [redacted]!") && !accounts.contains(SECRET), "{accounts}");
}

/// A code is for programs to branch on, and stands in events and logs as it is.
#[tokio::test]
async fn a_code_that_is_none_is_not_passed_on() {
    let rig = rig(Accounting::default());
    let longest = "x".repeat(64);
    for (code, expected) in [
        ("desk.missing-2_b", "desk.missing-2_b"),
        (longest.as_str(), longest.as_str()),
        (&"x".repeat(65), "call.failed"),
        (SECRET, "call.failed"),
        (&format!("desk.{SECRET}"), "call.failed"),
        ("two words", "call.failed"),
        ("ümlaut", "call.failed"),
        ("", "call.failed"),
    ] {
        let params = json!({ "mode": format!("code {code}") });
        assert_eq!(rig.host("crm.note", params.clone()).await.unwrap_err().code, expected);
        assert_eq!(rig.script_one("crm.note", params).await.unwrap_err().code, expected);
    }
    assert!(!ended(&rig).contains(SECRET));
}

/// What a provider says on its way is an event too.
#[tokio::test]
async fn a_secret_is_taken_out_of_what_a_provider_says_of_its_progress() {
    let rig = rig(Accounting::default());
    assert_eq!(rig.script_one("crm.note", saying("tell")).await.unwrap(), json!("told"));
    let shown = ended(&rig);
    assert!(shown.contains("callProgress"), "{shown}");
    assert!(!shown.contains(SECRET), "{shown}");
}

/// A definition may put a parameter, or what it read elsewhere, into what a person is asked.
#[tokio::test]
async fn a_secret_is_taken_out_of_what_a_person_is_asked() {
    let rig = rig(Accounting::default());
    let person = Scripted::new([Ok(Decision::deny("ada", None))]);
    rig.space.approvals().ask(person);
    rig.host("crm.remove", json!({ "repo": SECRET })).await.unwrap_err();
    let events = rig.events.lock().unwrap();
    let events: Vec<Value> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    let asked = events.iter().find(|event| event["type"] == "approvalRequired").expect("nobody was asked");
    let message = asked["message"].as_str().unwrap();
    assert!(message.contains("[redacted]") && !message.contains(SECRET), "{message}");
}

/// And a value that a person gave as a reason, or that no secret is part of, stays as it is.
#[tokio::test]
async fn other_texts_stay_as_they_are() {
    let rig = rig(Accounting::default());
    let person = Scripted::new([Ok(Decision::deny("ada", Some("not hunter2".into())))]);
    rig.space.approvals().ask(person);
    let error = rig.host("crm.remove", json!({})).await.unwrap_err();
    assert_eq!(error.message, "crm.remove was not approved: not hunter2");
    assert_eq!(rig.host("crm.note", json!({ "mode": "say hunter2" })).await.unwrap(), json!("hunter2"));
}
