use super::*;
use agent_spaces_types::caller::Caller;

fn client(name: &str) -> Client {
    Client::named(name, Caller::default())
}

fn request(id: &str) -> ApprovalRequest {
    ApprovalRequest { id: id.to_owned(), message: "Pay?".to_owned(), call: json!({ "function": "pay" }) }
}

fn body(value: Value) -> Object {
    value.as_object().cloned().unwrap()
}

/// Asks, and returns once the call waits.
async fn asked(approvals: &Approvals, owner: &str, id: &str) -> tokio::task::JoinHandle<ApprovalAnswer> {
    let (approver, request) = (approvals.approver(&client(owner), "planner"), request(id));
    let asking = tokio::spawn(async move { approver.ask(request).await });
    while !approvals.has(id) {
        tokio::task::yield_now().await;
    }
    asking
}

#[tokio::test]
async fn a_call_waits_for_its_decision() {
    let approvals = Approvals::default();
    let asking = asked(&approvals, "ann", "apr_1").await;
    let ann = client("ann").approving();
    assert_eq!(approvals.get(&ann, "apr_1").unwrap()["agent"], "planner");
    assert_eq!(approvals.list(&ann)["items"][0]["id"], "apr_1");
    let view = approvals.decide(&ann, "apr_1", &body(json!({ "decision": "approve", "by": "Ann" }))).unwrap();
    assert_eq!(view["status"], "approved");
    assert_eq!(asking.await.unwrap(), ApprovalAnswer::Approve { by: "Ann (through ann)".to_owned() });
    let again = approvals.decide(&ann, "apr_1", &body(json!({ "decision": "deny" }))).unwrap_err();
    assert_eq!(again.kind, FailureKind::NotFound);
}

#[tokio::test]
async fn only_the_owner_and_the_operator_see_a_call_and_only_approvers_decide() {
    let approvals = Approvals::default();
    let asking = asked(&approvals, "ann", "apr_1").await;
    let deny = body(json!({ "decision": "deny", "reason": "no" }));
    let bob = client("bob").approving();
    assert_eq!(approvals.list(&bob)["items"], json!([]));
    assert_eq!(approvals.decide(&bob, "apr_1", &deny).unwrap_err().kind, FailureKind::NotFound);
    assert_eq!(approvals.decide(&client("ann"), "apr_1", &deny).unwrap_err().kind, FailureKind::Denied);
    let operator = Client::of_process(Caller::default());
    approvals.decide(&operator, "apr_1", &deny).unwrap();
    let reason = Some("no".to_owned());
    assert_eq!(asking.await.unwrap(), ApprovalAnswer::Deny { by: "the operator".to_owned(), reason });
}

#[tokio::test]
async fn a_question_that_ends_takes_its_calls_with_it() {
    let approvals = Approvals::default();
    let asking = asked(&approvals, "ann", "apr_1").await;
    asking.abort();
    let _ = asking.await;
    assert!(!approvals.has("apr_1"));
}

#[tokio::test]
async fn wrong_decisions_change_nothing() {
    let approvals = Approvals::default();
    let asking = asked(&approvals, "ann", "apr_1").await;
    let ann = client("ann").approving();
    let long = "x".repeat(501);
    for wrong in [
        json!({}),
        json!({ "decision": "maybe" }),
        json!({ "decision": "approve", "for": "run" }),
        json!({ "decision": "approve", "by": " " }),
        json!({ "decision": "approve", "by": "ann\nbob" }),
        json!({ "decision": "deny", "reason": long }),
        json!({ "decision": "approve", "scope": "all" }),
    ] {
        assert!(approvals.decide(&ann, "apr_1", &body(wrong.clone())).is_err(), "{wrong}");
    }
    assert!(approvals.has("apr_1") && !asking.is_finished());
    asking.abort();
}

#[tokio::test]
async fn the_number_of_waiting_calls_is_bounded() {
    let approvals = Approvals::default();
    let mut all = Vec::new();
    for number in 0..MAX_CALLER_APPROVALS {
        all.push(asked(&approvals, "ann", &format!("apr_{number}")).await);
    }
    let refused = approvals.approver(&client("ann"), "planner").ask(request("apr_more")).await;
    assert!(matches!(refused, ApprovalAnswer::Deny { .. }));
    let other = asked(&approvals, "bob", "apr_of_bob").await;
    other.abort();
    all.iter().for_each(tokio::task::JoinHandle::abort);
}
