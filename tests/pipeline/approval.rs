//! Approval step: what a person sees, what an approval covers, and the paused clock.

use super::rig::{DelayedApprover, Rig, ScriptedApprover, import, rules, settings, with_scopes};
use agent_spaces::{Limits, Run, RunOptions, RunStatus};
use agent_spaces_approvals::{ChannelError, Decision, Lasts};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Approver that decides when the sender says so.
fn slow(rig: &Rig) -> watch::Sender<Option<Decision>> {
    let (sender, decision) = watch::channel(None);
    rig.space.approvals().ask(Arc::new(DelayedApprover { decision }));
    sender
}

async fn types(run: &mut Run, until: &str) -> Vec<String> {
    let mut types = Vec::new();
    while types.last().is_none_or(|last| last != until) {
        let event = tokio::time::timeout(Duration::from_secs(10), run.next_event()).await.unwrap().unwrap();
        types.push(serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned());
    }
    types
}

/// The time of a run is its own: while a person thinks, it does not go by.
#[tokio::test]
async fn waiting_for_approval_pauses_the_clock_and_is_visible() {
    let rig = Rig::new(rules(json!({})));
    let person = slow(&rig);
    let source = format!("{}export default await crm.remove({{ repo: 'x' }})", import("crm"));
    let program = rig.space.prepare("agent.js", &source).unwrap();
    let limits = Limits { time: Duration::from_secs(1), ..Limits::default() };
    let mut run = program.start(RunOptions { limits: Some(limits), ..RunOptions::default() });
    let before = ["runStarted", "callScheduled", "runPaused", "approvalRequired"];
    assert_eq!(types(&mut run, "approvalRequired").await, before);
    let RunStatus::AwaitingApproval(waiting) = run.status() else { panic!("{:?}", run.status()) };
    let [request] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!((request.capability.as_str(), request.function.as_str()), ("crm", "remove"));
    // Parameters as the provider gets them, defaults included, and the call sites.
    assert_eq!(request.params, json!({ "repo": "x", "n": 1 }));
    assert_eq!((request.run_id.as_str(), request.call_id), (run.id(), 1));
    assert_eq!(request.places, ["agent.js:2"]);

    // Three times as long as the run may take.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(matches!(run.status(), RunStatus::AwaitingApproval(_)));
    assert_eq!(rig.count(), 0, "nobody has decided");
    person.send(Some(Decision::approve("ada"))).unwrap();
    let after = ["approvalDecided", "runResumed", "callResult", "runFinished"];
    assert_eq!(types(&mut run, "runFinished").await, after);
    assert!(matches!(run.status(), RunStatus::Running));
    assert_eq!(run.finish().await.outcome.unwrap(), json!("done"));
}

/// The script's own time counts before and after.
#[tokio::test]
async fn the_clock_resumes_after_the_decision() {
    let rig = Rig::new(rules(json!({})));
    let person = slow(&rig);
    let source = format!("{}await crm.remove({{ mode: 'sleep 60000' }})", import("crm"));
    let program = rig.space.prepare("agent.js", &source).unwrap();
    let limits = Limits { time: Duration::from_secs(1), ..Limits::default() };
    let mut run = program.start(RunOptions { limits: Some(limits), ..RunOptions::default() });
    types(&mut run, "approvalRequired").await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    person.send(Some(Decision::approve("ada"))).unwrap();
    let begun = Instant::now();
    assert_eq!(run.finish().await.outcome.unwrap_err().code, "limit.time");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// Unless the operator says that it counts.
#[tokio::test]
async fn waiting_counts_if_the_policy_says_so() {
    let rig = Rig::new(settings(json!({ "approvals": { "countsTime": true } })));
    let _person = slow(&rig);
    let source = format!("{}await crm.remove({{}})", import("crm"));
    let program = rig.space.prepare("agent.js", &source).unwrap();
    let limits = Limits { time: Duration::from_secs(1), ..Limits::default() };
    let mut run = program.start(RunOptions { limits: Some(limits), ..RunOptions::default() });
    assert_eq!(types(&mut run, "approvalRequired").await, ["runStarted", "callScheduled", "approvalRequired"]);
    let report = tokio::time::timeout(Duration::from_secs(30), run.finish()).await.unwrap();
    assert_eq!(report.outcome.unwrap_err().code, "limit.time");
    assert_eq!(rig.count(), 0);
}

#[tokio::test]
async fn an_expired_request_is_not_executed() {
    let rig = Rig::new(settings(json!({ "approvals": { "expires": "80ms" } })));
    let _person = slow(&rig);
    let begun = Instant::now();
    for outcome in [rig.host("crm.remove", json!({})).await, rig.script_one("crm.remove", json!({})).await] {
        let error = outcome.unwrap_err();
        assert_eq!(error.code, "call.approval_expired");
        assert_eq!(error.message, "the approval request for crm.remove expired without a decision");
    }
    assert!(begun.elapsed() >= Duration::from_millis(160));
    assert_eq!(rig.count(), 0);
}

#[tokio::test]
async fn a_call_that_no_approver_can_decide_says_so_in_its_details() {
    let rig = Rig::new(rules(json!({})));
    let without_channel = rig.host("crm.remove", json!({})).await.unwrap_err();
    rig.space.approvals().ask(ScriptedApprover::new([Err(ChannelError::Nobody("gone".into()))]));
    let without_person = rig.host("crm.remove", json!({})).await.unwrap_err();
    for error in [without_channel, without_person] {
        assert_eq!(error.code, "call.approval_denied");
        assert_eq!(error.details, Some(json!({ "reason": "no_approver" })), "{error:?}");
    }
    assert_eq!(rig.count(), 0);
}

/// Scope of an approval: the call, the run, or the same arguments in the run; a denial covers its call.
#[tokio::test]
async fn an_approval_covers_its_scope() {
    let (a, b) = (json!({ "repo": "a" }), json!({ "repo": "b" }));
    let calls = [a.clone(), a.clone(), b.clone(), a.clone()].map(|params| ("crm.remove", params));
    for (lasts, asked) in [(Lasts::Once, 4), (Lasts::Run, 1), (Lasts::Arguments, 2)] {
        let rig = Rig::new(rules(json!({})));
        for run in 1..=2 {
            let person = ScriptedApprover::new((0..9).map(|_| Ok(Decision::approve("ada").lasting(lasts))));
            rig.space.approvals().ask(person.clone());
            assert!(rig.script(&calls).await.iter().all(Result::is_ok), "{lasts:?}");
            // In another run everything is asked again.
            assert_eq!((person.count(), rig.count()), (asked, 4 * run), "{lasts:?}");
        }
        let person = ScriptedApprover::new([
            Ok(Decision::deny("ada", None).lasting(lasts)),
            Ok(Decision::approve("ada").lasting(lasts)),
            Err(ChannelError::Nobody("gone".into())),
        ]);
        rig.space.approvals().ask(person.clone());
        let outcomes = rig.script(&calls).await;
        assert_eq!(outcomes[0].as_ref().unwrap_err().message, "crm.remove was not approved", "{lasts:?}");
        assert!(outcomes[1].is_ok(), "{lasts:?}");
        assert_eq!(outcomes[2].is_ok(), lasts == Lasts::Run, "{lasts:?}");
        assert_eq!(outcomes[3].is_ok(), lasts != Lasts::Once, "{lasts:?}");
    }
}

/// An approval covers one function, and an operator's preapproval asks nobody.
#[tokio::test]
async fn an_approval_covers_one_function() {
    let rig = Rig::new(rules(json!({ "*": "approve" })));
    let person = ScriptedApprover::new([Ok(Decision::approve("ada").lasting(Lasts::Run))]);
    rig.space.approvals().ask(person.clone());
    let outcomes = rig
        .script(&[("crm.find", json!({})), ("crm.note", json!({})), ("crm.find", json!({})), ("post.send", json!({}))])
        .await;
    assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, false]);
    assert_eq!(person.count(), 3);
    rig.space.approvals().approve(rig.space.identify("crm.note").unwrap());
    assert!(rig.script_one("crm.note", json!({})).await.is_ok());
    assert!(rig.host("post.send", json!({})).await.is_err());
    assert_eq!(person.count(), 4);
    // Beforehand is no way around the rest.
    rig.space.approvals().approve(rig.space.identify("crm.pay").unwrap());
    assert_eq!(rig.host("crm.pay", json!({})).await.unwrap_err().code, "call.denied");
    assert!(rig.host_as(with_scopes(&["money"]), "crm.pay", json!({})).await.is_ok());
}

/// Requests over the limit are not sent to the person.
#[tokio::test]
async fn pending_approvals_of_a_run_are_limited() {
    let rig = Rig::new(settings(json!({ "approvals": { "maxPending": 2 } })));
    let person = slow(&rig);
    let source = format!(
        "{}export default (await Promise.allSettled([1, 2, 3, 4].map((n) => crm.remove({{ n }})))).map((it) => it.status)",
        import("crm")
    );
    let program = rig.space.prepare("agent.js", &source).unwrap();
    let mut run = program.start(RunOptions::default());
    let mut refused = 0;
    while refused < 2 {
        refused += types(&mut run, "callError").await.len().min(1);
    }
    let RunStatus::AwaitingApproval(waiting) = run.status() else { panic!("{:?}", run.status()) };
    assert_eq!(waiting.len(), 2);
    person.send(Some(Decision::approve("ada"))).unwrap();
    let statuses = run.finish().await.outcome.unwrap();
    assert_eq!(statuses, json!(["fulfilled", "fulfilled", "rejected", "rejected"]));
}

/// A run that is ended withdraws what it asked; nothing happens afterwards.
#[tokio::test]
async fn a_cancelled_run_withdraws_its_request() {
    let rig = Rig::new(rules(json!({})));
    let person = slow(&rig);
    let program = rig.space.prepare("agent.js", &format!("{}await crm.remove({{}})", import("crm"))).unwrap();
    let mut run = program.start(RunOptions::default());
    types(&mut run, "approvalRequired").await;
    assert_eq!(person.receiver_count(), 2, "somebody is asked");
    run.cancellation_token().cancel();
    types(&mut run, "runFinished").await;
    assert!(matches!(run.status(), RunStatus::Running));
    assert_eq!(run.finish().await.outcome.unwrap_err().code, "run.cancelled");
    assert_eq!(person.receiver_count(), 1, "nobody is asked any more");
    person.send(Some(Decision::approve("ada"))).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(rig.count(), 0);
}

/// A function that does not wait is stopped by a person like any other.
#[tokio::test]
async fn standard_library_functions_can_require_approval() {
    let rig = Rig::new(rules(json!({ "time.now": "approve" })));
    let person = ScriptedApprover::new([Ok(Decision::approve("ada")), Ok(Decision::deny("ada", Some("why?".into())))]);
    rig.space.approvals().ask(person.clone());
    let outcomes = rig.script(&[("time.now", json!({})), ("time.now", json!({}))]).await;
    assert!(matches!(&outcomes[0], Ok(Value::String(_))), "{outcomes:?}");
    assert_eq!(outcomes[1].as_ref().unwrap_err().message, "time.now was not approved: why?");
}
