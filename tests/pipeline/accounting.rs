//! Accounting: one line for every call, whatever its outcome.

use super::rig::{Extras, Rig, import, rules};
use agent_spaces::{Accounting, Limits, RunOptions};
use agent_spaces_mcp::secrets::Redactor;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn rig(file: &Path) -> Rig {
    let accounting = Accounting::to_file(file, Redactor::default()).unwrap();
    let functions = json!({
        "crm.note": "deny",
        "crm.ping": { "arguments": { "amount": { "max": 1, "optional": true } } },
        "crm.pay": { "maxPerRun": 1, "decision": "allow" },
        "github.listIssues": { "idempotent": true, "cache": "1m" },
    });
    Rig::with(rules(functions), Extras { accounting, ..Extras::default() })
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn every_call_has_a_line_for_any_provider_and_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let rig = rig(&file);
    let calls = [
        ("crm.find", json!({ "mode": "say hello" }), "ok"),
        ("crm.find", json!({ "mode": "fail it broke" }), "it broke"),
        ("github.createIssue", json!({}), "ok"),
        ("github.listIssues", json!({}), "ok"),
        ("github.listIssues", json!({}), "ok"),
        ("post.send", json!({}), "ok"),
        ("time.now", json!({}), "ok"),
        // Refused, each by another step.
        ("crm.note", json!({}), "crm.note: no such function"),
        ("crm.pay", json!({}), "crm.pay: no such function"),
        ("crm.ping", json!({ "amount": 5000 }), "crm.ping: amount"),
        ("crm.ping", json!({ "amount": 2 }), "crm.ping: the policy does not allow this value of `amount`"),
        ("crm.remove", json!({}), "crm.remove requires approval, but no approver is available"),
        ("crm.ping", json!({}), "ok"),
        ("crm.ping", json!({}), "ok"),
        ("crm.ping", json!({}), "Rate limit exceeded. Try again in"),
    ];
    let listed: Vec<_> = calls.iter().map(|(label, params, _)| (*label, params.clone())).collect();
    rig.script(&listed).await;
    let written = lines(&file);
    assert_eq!(written.len(), calls.len());
    for ((label, _, expected), line) in calls.iter().zip(&written) {
        let (capability, _) = label.split_once('.').unwrap();
        let is_server = capability == "github";
        assert_eq!(line["type"], "tool");
        assert_eq!(line["mcpServer"], if is_server { json!("github") } else { Value::Null }, "{line}");
        assert_eq!(line["capability"], if is_server { Value::Null } else { json!(capability) }, "{line}");
        let id = match *label {
            "time.now" => json!("agent-spaces:std/time@1.0.0#now"),
            "post.send" => json!("test:post/post@1.0.0#send"),
            _ if is_server => Value::Null,
            label => json!(format!("capabilities:crm/crm@1.0.0#{}", label.split_once('.').unwrap().1)),
        };
        assert_eq!(line["functionId"], id, "{line}");
        assert!(line["latency"].as_f64().unwrap() >= 0.0);
        match *expected {
            "ok" => assert_eq!((&line["status"], &line["error"]), (&json!("ok"), &Value::Null), "{line}"),
            text => {
                assert_eq!(line["status"], "failed", "{line}");
                assert!(line["error"].as_str().unwrap().starts_with(text), "{line}");
                assert_eq!(line["charactersOut"], 0, "{line}");
            }
        }
    }
    // By the provider's own name, with the sizes of what went and came.
    assert_eq!((&written[2]["command"], &written[0]["command"]), (&json!("create_issue"), &json!("find")));
    assert_eq!(written[0]["charactersOut"], "hello".len());
    assert_eq!(written[0]["charactersIn"], json!({ "mode": "say hello" }).to_string().len());
    // The same for the host's own calls.
    rig.host("crm.find", json!({})).await.unwrap();
    rig.host("crm.note", json!({})).await.unwrap_err();
    let after: Vec<Value> = lines(&file).split_off(calls.len());
    let shown: Vec<_> = after.iter().map(|line| (&line["command"], &line["status"])).collect();
    assert_eq!(shown, [(&json!("find"), &json!("ok")), (&json!("note"), &json!("failed"))]);
}

/// The run ends with it, but the call was answered: the line says why the answer was of no use.
#[tokio::test]
async fn an_oversized_answer_has_its_own_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let rig = rig(&file);
    let limits = Limits { call_bytes: 1_000, ..Limits::default() };
    let report = rig.run(&format!("{}await crm.find({{ mode: 'long 2000' }})", import("crm")), limits).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.bytes");
    let written = lines(&file);
    assert_eq!(written.len(), 1);
    assert_eq!((&written[0]["status"], &written[0]["charactersOut"]), (&json!("failed"), &json!(0)));
    assert_eq!(written[0]["error"], "crm.find's answer is too large");
}

/// An unawaited call was made all the same.
#[tokio::test]
async fn calls_of_an_ending_run_are_accounted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let rig = rig(&file);
    let program = rig.space.prepare("agent.js", &format!("{}await crm.find({{ mode: 'sleep 60000' }})", import("crm")));
    let limits = Limits { time: Duration::from_millis(600), ..Limits::default() };
    let report = program.unwrap().run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.time");
    let written = lines(&file);
    assert_eq!(written.len(), 1);
    assert_eq!((&written[0]["status"], &written[0]["command"]), (&json!("failed"), &json!("find")));
    assert!(written[0]["error"].as_str().unwrap().starts_with("cancelled"), "{}", written[0]);
}
