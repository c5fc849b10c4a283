//! Redaction: a secret of a provider or script reaches only the provider it is sent to.

use super::rig::{Extras, Rig, ScriptedApprover, rules};
use agent_spaces::{Accounting, AuditBudget, AuditMode, AuditTrail, Limits, RunReport};
use agent_spaces_approvals::{Decision, digest};
use agent_spaces_mcp::secrets::{Redactor, Secret};
use serde_json::{Value, json};
use std::time::Duration;

const SECRET: &str = "hunter2-and-more";

fn rig(accounting: Accounting) -> Rig {
    let redactor = Redactor::default();
    redactor.add(&Secret::new(SECRET));
    Rig::with(
        rules(json!({ "crm.find": { "idempotent": true, "cache": "1m" } })),
        Extras { redactor, accounting, ..Extras::default() },
    )
}

/// The provider says what it is sent.
fn saying(mode: &str) -> Value {
    json!({ "mode": format!("{mode} it is {SECRET}!") })
}

/// All events, as they are written down.
fn written(rig: &Rig) -> String {
    serde_json::to_string(&*rig.events.lock().unwrap()).unwrap()
}

/// A report as the command prints it.
fn printed(report: &RunReport) -> String {
    let outcome = match &report.outcome {
        Ok(value) => json!({ "value": value }),
        Err(error) => json!({ "error": error }),
    };
    json!([outcome, report.console]).to_string()
}

#[tokio::test]
async fn secrets_are_redacted_from_values_errors_details_events_and_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let rig = rig(Accounting::to_file(&file, Redactor::default()).unwrap());
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
    let shown = written(&rig);
    assert!(shown.contains("it is [redacted]!") && !shown.contains(SECRET), "{shown}");
    let accounts = std::fs::read_to_string(&file).unwrap();
    assert!(accounts.contains("it is [redacted]!") && !accounts.contains(SECRET), "{accounts}");
}

/// Error codes are not redacted in events and logs: programs branch on them.
#[tokio::test]
async fn an_invalid_error_code_is_not_passed_on() {
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
    assert!(!written(&rig).contains(SECRET));
}

/// A provider's progress is an event too.
#[tokio::test]
async fn secrets_are_redacted_from_progress() {
    let rig = rig(Accounting::default());
    assert_eq!(rig.script_one("crm.note", saying("tell")).await.unwrap(), json!("told"));
    let shown = written(&rig);
    assert!(shown.contains("callProgress"), "{shown}");
    assert!(!shown.contains(SECRET), "{shown}");
}

/// A definition may put a parameter, or what it read elsewhere, into what a person is asked.
#[tokio::test]
async fn secrets_are_redacted_from_approval_requests() {
    let rig = rig(Accounting::default());
    let person = ScriptedApprover::new([Ok(Decision::deny("ada", None))]);
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
async fn other_texts_are_unchanged() {
    let rig = rig(Accounting::default());
    let person = ScriptedApprover::new([Ok(Decision::deny("ada", Some("not hunter2".into())))]);
    rig.space.approvals().ask(person);
    let error = rig.host("crm.remove", json!({})).await.unwrap_err();
    assert_eq!(error.message, "crm.remove was not approved: not hunter2");
    assert_eq!(rig.host("crm.note", json!({ "mode": "say hunter2" })).await.unwrap(), json!("hunter2"));
}

/// The secret as a script may write it out: as it is, and as pages, addresses and JSON escape it.
fn spellings() -> Vec<String> {
    let each = |write: fn(char) -> String| SECRET.chars().map(write).collect::<String>();
    vec![
        SECRET.to_owned(),
        each(|character| format!("&#{};", u32::from(character))),
        each(|character| format!("&#x{:X};", u32::from(character))),
        each(|character| format!("%{:02X}", u32::from(character))),
        SECRET.replace('-', "&#45;").replace('h', "&#x68;"),
    ]
}

/// A script with a pasted or assembled secret sends it to the called provider and nowhere else.
#[tokio::test]
async fn a_secret_held_by_a_script_is_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let rig = rig(Accounting::to_file(&file, Redactor::default()).unwrap());
    for spelling in spellings() {
        let source = format!(
            "import {{ crm }} from '@capabilities/crm';
            const held = {spelling:?}, joined = [...held].join('');
            const tried = async (call) => {{ try {{ return await call(); }} catch (error) {{ return error.message; }} }};
            console.log('printed', held); console.error({{ [held]: joined }});
            await crm.note({{ repo: joined, mode: 'say ' + held }});
            const failed = await tried(() => crm.note({{ mode: 'fail ' + held }}));
            const wrong = await tried(() => crm.note({{ amount: held }}));
            const unknown = await tried(() => crm.note({{ [held]: 1 }}));
            export default {{ held, [held]: [joined], failed, wrong, unknown }};"
        );
        let report = rig.run(&source, Limits::default()).await;
        let shown = printed(&report);
        assert!(report.outcome.is_ok() && shown.contains("[redacted]"), "{shown}");
        let thrown =
            format!("const held = {spelling:?};\nthrow Object.assign(new Error(held), {{ name: held, code: held }});");
        let thrown = printed(&rig.run(&thrown, Limits::default()).await);
        assert!(thrown.contains("[redacted]"), "{thrown}");
        let (events, accounts) = (written(&rig), std::fs::read_to_string(&file).unwrap());
        assert!(events.contains("callScheduled") && events.contains("console") && accounts.contains("note"));
        for text in [&shown, &thrown, &events, &accounts] {
            assert!(!text.contains(SECRET) && !text.contains(&spelling), "{spelling}: {text}");
        }
        let sent = rig.provided.lock().unwrap();
        let is_sent = |params: &Value| params["repo"] == *spelling && params["mode"] == format!("say {spelling}");
        assert!(sent.iter().any(|(_, params)| is_sent(params)), "the provider gets what was sent: {sent:?}");
    }
}

/// The bounds of a name and a code fall into the secret.
#[tokio::test]
async fn secrets_are_redacted_before_errors_are_truncated() {
    let rig = rig(Accounting::default());
    let source = format!(
        "const long = (length) => 'x'.repeat(length - 9) + {SECRET:?};
        throw Object.assign(new Error('no'), {{ name: long(128), code: long(64) }});"
    );
    let shown = printed(&rig.run(&source, Limits::default()).await);
    assert!(!shown.contains("hunter2") && !written(&rig).contains("hunter2"), "{shown}");
}

/// Other text is unchanged, even if a secret is known.
#[tokio::test]
async fn other_script_output_is_unchanged() {
    let rig = rig(Accounting::default());
    let source = "import { crm } from '@capabilities/crm';
        console.log('hunter2', '&#104;unter2 &amp; 100 %');
        export default [await crm.note({ repo: 'hunter2-and', mode: 'say &#104;unter2' }), { '%41': 1 }];";
    let report = rig.run(source, Limits::default()).await;
    assert_eq!(report.outcome.as_ref().unwrap(), &json!(["&#104;unter2", { "%41": 1 }]));
    assert_eq!(report.console[0].text, "hunter2 &#104;unter2 &amp; 100 %");
    assert!(written(&rig).contains("hunter2-and"));
}

/// The audit log has the arguments without secrets, and the digest of those that were sent, which an approval is for.
#[tokio::test]
async fn digests_cover_the_unredacted_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let (log, heads) = (folder.path().join("log.jsonl"), folder.path().join("heads"));
    let settings = agent_spaces_audit_log::Settings {
        log: log.clone(),
        heads,
        sync_every: Duration::ZERO,
        rotation: None,
        shipping: None,
        host: None,
    };
    let trail = AuditTrail::open(settings, AuditMode::Required, AuditBudget::default()).unwrap();
    let redactor = Redactor::default();
    redactor.add(&Secret::new(SECRET));
    let extras = Extras { redactor, audit: Some(trail.handle()), ..Extras::default() };
    let rig = Rig::with(rules(json!({})), extras);
    let person = ScriptedApprover::new([Ok(Decision::deny("ada", None))]);
    rig.space.approvals().ask(person.clone());
    rig.host("crm.remove", json!({ "repo": SECRET, "n": 1 })).await.unwrap_err();
    let function = rig.space.identify("crm.remove").unwrap();
    let sent = digest(&function, &json!({ "repo": SECRET, "n": 1 }));
    let request = person.asked.lock().unwrap()[0].clone();
    assert_eq!((&request.params["repo"], &request.digest), (&json!("[redacted]"), &sent));
    drop((rig, trail));
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    let entries: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["entry"].take()).collect();
    for kind in ["callScheduled", "approvalRequired"] {
        let entry = entries.iter().find(|entry| entry["type"] == kind).unwrap();
        assert_eq!((&entry["params"]["repo"], &entry["digest"]), (&json!("[redacted]"), &json!(sent)), "{kind}");
    }
}
