//! Forged files in the approval store: whoever can write there can interfere, but not approve.

use crate::approvals::store::{approvals, listed, pending_ids, start_waiting_run, token};
use crate::approvals::support::{FILE_SYSTEM, Home, PipedRun, RunOutput, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn decided(home: &Home, id: &str) -> PathBuf {
    home.state().join(format!("approvals/decided/{id}.json"))
}

fn pending(home: &Home, id: &str) -> PathBuf {
    home.state().join(format!("approvals/pending/{id}.json"))
}

fn read(file: &PathBuf) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Puts a file there whole, with rights that are in order.
fn put(file: &PathBuf, value: &Value) {
    let unfinished = file.with_extension("forged");
    fs::write(&unfinished, value.to_string()).unwrap();
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&unfinished, file).unwrap();
}

/// Writes a forged decision, and asserts that the run removes it and still waits.
fn assert_decision_ignored(home: &Home, id: &str, forged: &Value) {
    put(&decided(home, id), forged);
    wait_until("the run has looked at the decision", || (!decided(home, id).exists()).then_some(()));
    assert!(pending(home, id).exists(), "it was believed: {forged}");
}

/// A decision that was really made for this request, whose run does not get to see it.
fn made(home: &Home, token: &str, run: &PipedRun, id: &str, arguments: &[&str]) -> Value {
    run.signal(Signal::STOP);
    let done = approvals(home, Some(token), &[&[arguments[0], id], &arguments[1..]].concat());
    assert_eq!(done.status, Some(0), "{done:?}");
    let signed = read(&decided(home, id));
    fs::remove_file(decided(home, id)).unwrap();
    run.signal(Signal::CONT);
    signed
}

/// Denies it for real, which is the only decision that counts.
fn denied(home: &Home, token: &str, run: PipedRun, id: &str, refused: usize) -> RunOutput {
    assert_eq!(approvals(home, Some(token), &["deny", id, "--reason", "truly"]).status, Some(0));
    let ended = run.ends();
    let value = ended.value();
    assert!(value.as_str().unwrap().ends_with("was not approved: truly"), "{value}");
    assert_eq!(ended.stderr.matches("is ignored: ").count(), refused, "{}", ended.stderr);
    ended
}

#[test]
fn a_decision_with_a_wrong_signature_is_refused() {
    let (home, token, run) = start_waiting_run(&FILE_SYSTEM.attempt());
    let id = pending_ids(&home, 1).remove(0);
    let signed = made(&home, &token, &run, &id, &["deny"]);
    // The CLI's own file with an approval instead, without a signature, and with one of zeros.
    for edit in [
        json!({ "decision": "approve" }),
        json!({ "decision": "approve", "signature": "" }),
        json!({ "decision": "approve", "signature": "A".repeat(86) }),
    ] {
        let mut forged = signed.clone();
        forged.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        assert_decision_ignored(&home, &id, &forged);
    }
    assert_decision_ignored(&home, &id, &json!({ "id": id, "decision": "approve", "by": "ada", "for": "run" }));
    denied(&home, &token, run, &id, 4);
}

#[test]
fn the_scope_of_an_approval_cannot_be_extended() {
    let (home, token, run) = start_waiting_run(&FILE_SYSTEM.attempt());
    let id = pending_ids(&home, 1).remove(0);
    let signed = made(&home, &token, &run, &id, &["approve", "--for", "once"]);
    for (key, value) in [("for", json!("run")), ("by", json!("root")), ("digest", json!("0".repeat(64)))] {
        let mut forged = signed.clone();
        forged[key] = value;
        assert_decision_ignored(&home, &id, &forged);
    }
    // Unchanged it is the approver's: nothing but the changes was refused.
    put(&decided(&home, &id), &signed);
    let ended = run.ends();
    assert_eq!(ended.value(), FILE_SYSTEM.value());
    assert_eq!(ended.stderr.matches("is ignored: ").count(), 3, "{}", ended.stderr);
}

#[test]
fn a_decision_on_another_request_is_refused() {
    // The same call twice: even the arguments are the same.
    let (home, token, first) = start_waiting_run(&FILE_SYSTEM.attempt());
    let one = pending_ids(&home, 1).remove(0);
    let second = PipedRun::stored(&home, &FILE_SYSTEM.attempt(), &[]);
    let other = pending_ids(&home, 2).into_iter().find(|id| *id != one).unwrap();
    let signed = made(&home, &token, &first, &one, &["approve", "--for", "run"]);
    assert_decision_ignored(&home, &other, &signed);
    let mut renamed = signed.clone();
    renamed["id"] = json!(other);
    assert_decision_ignored(&home, &other, &renamed);
    denied(&home, &token, second, &other, 2);
    denied(&home, &token, first, &one, 0);
}

#[test]
fn a_decision_cannot_be_replayed() {
    let body = "const attempt = () => fileSystem.deleteFile({ path: 'a' }).catch((error) => error.code);
        export default [await attempt(), await attempt()];";
    let (home, token, mut run) = start_waiting_run(&FILE_SYSTEM.script(body));
    let (one, _) = run.asks();
    let signed = made(&home, &token, &run, &one, &["approve"]);
    put(&decided(&home, &one), &signed);
    let (other, _) = run.asks();
    assert_decision_ignored(&home, &other, &signed);
    assert_eq!(approvals(&home, Some(&token), &["deny", &other]).status, Some(0));
    assert_eq!(run.ends().value(), json!(["deleted a", "call.approval_denied"]));
}

#[test]
fn a_key_in_the_store_does_not_make_an_approver() {
    let (home, token, run) = start_waiting_run(&FILE_SYSTEM.attempt());
    let id = pending_ids(&home, 1).remove(0);
    let original = read(&pending(&home, &id));
    // Somebody with a token of their own, for which the request seems to wait.
    let thief = Home::new();
    let stolen = self::token(&thief);
    let mut changed = original.clone();
    changed["approver"] = read(&thief.state().join("approver.json"))["publicKey"].clone();
    put(&pending(&home, &id), &changed);
    let signed = made(&home, &stolen, &run, &id, &["approve"]);
    assert_decision_ignored(&home, &id, &signed);
    put(&pending(&home, &id), &original);
    denied(&home, &token, run, &id, 1);
}

#[test]
fn a_swapped_request_cannot_be_approved() {
    let (home, token, run) = start_waiting_run(&FILE_SYSTEM.attempt());
    let id = pending_ids(&home, 1).remove(0);
    let original = read(&pending(&home, &id));
    // Other arguments than those that wait.
    let mut changed = original.clone();
    changed["request"]["params"] = json!({ "path": "harmless.txt" });
    put(&pending(&home, &id), &changed);
    assert_eq!(listed(&home), Vec::<Value>::new());
    let refused = approvals(&home, Some(&token), &["approve", &id]);
    assert!(refused.status == Some(4) && refused.stdout.contains("was changed: it does not match"), "{refused:?}");
    // Other words about the arguments that wait, and other arguments as if secrets had been taken out of them: to be shown,
    // and put back before the id is approved.
    for edit in
        [json!({ "message": "Delete nothing?" }), json!({ "params": { "path": "harmless.txt" }, "redacted": true })]
    {
        let mut changed = original.clone();
        changed["request"].as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        put(&pending(&home, &id), &changed);
        assert_eq!(listed(&home), Vec::<Value>::new(), "{edit}");
        assert_eq!(approvals(&home, Some(&token), &["approve", &id]).status, Some(4), "{edit}");
    }
    put(&pending(&home, &id), &original);
    denied(&home, &token, run, &id, 0);
}
