use super::*;
use agent_spaces_types::caller::Caller;
use serde_json::json;

fn client(name: &str) -> Client {
    Client::named(name, Caller::default())
}

fn request(id: &str) -> ApprovalRequest {
    let call = json!({ "function": "bank.pay", "functionId": "f", "module": "m", "params": { "amount": 1 } });
    ApprovalRequest { id: id.to_owned(), message: "Pay?".to_owned(), call }
}

/// Asks, and returns once the call waits.
async fn asked(approvals: &AgentApprovals, owner: &str, id: &str) -> tokio::task::JoinHandle<ApprovalAnswer> {
    let session = Some("ses_1".to_owned());
    let (approver, request) = (approvals.approver(&client(owner), "planner", session), request(id));
    let asking = tokio::spawn(async move { approver.ask(request).await });
    while !approvals.has(id) {
        tokio::task::yield_now().await;
    }
    asking
}

/// Collects what is told: ids, and whether they wait.
fn told(approvals: &AgentApprovals) -> Arc<Mutex<Vec<(String, bool)>>> {
    let told: Arc<Mutex<Vec<(String, bool)>>> = Arc::default();
    let heard = told.clone();
    approvals.listen(Box::new(move |call| heard.lock().unwrap().push((call.id.clone(), call.settled.is_none()))));
    told
}

#[tokio::test]
async fn a_call_waits_for_its_first_decision() {
    let approvals = AgentApprovals::default();
    let told = told(&approvals);
    let asking = asked(&approvals, "ann", "apr_1").await;
    let waiting = approvals.call("apr_1").unwrap();
    assert_eq!((waiting.agent.as_str(), waiting.session.as_deref()), ("planner", Some("ses_1")));
    assert_eq!((waiting.function.as_str(), &waiting.params[..]), ("bank.pay", &[Some(json!({ "amount": 1 }))][..]));
    assert!(waiting.expires > waiting.created && waiting.settled.is_none());
    let decided = approvals.decide("apr_1", "ann", Decision::approve("Ann\nLee")).unwrap();
    assert!(matches!(&decided.settled, Some(Settled::Decided { caller, .. }) if caller == "ann"), "{decided:?}");
    let ApprovalAnswer::Approve { by } = asking.await.unwrap() else { panic!("it was approved") };
    assert!(by.starts_with("Ann") && by.ends_with("Lee (through ann)") && !by.contains('\n'), "{by}");
    assert_eq!(approvals.decide("apr_1", "ann", Decision::deny("ann", None)), Err(NotWaiting::Decided));
    assert_eq!(approvals.call("apr_1"), Some(decided));
    assert_eq!(*told.lock().unwrap(), [("apr_1".to_owned(), true), ("apr_1".to_owned(), false)]);
}

#[tokio::test]
async fn a_denial_has_its_reason_and_the_caller_itself_as_decider() {
    let approvals = AgentApprovals::default();
    let asking = asked(&approvals, "ann", "apr_1").await;
    let reason = Some("no".to_owned());
    approvals.decide("apr_1", "the operator", Decision::deny("the operator", reason.clone())).unwrap();
    assert_eq!(asking.await.unwrap(), ApprovalAnswer::Deny { by: "the operator".to_owned(), reason });
}

#[tokio::test]
async fn calls_are_listed_by_owner() {
    let approvals = AgentApprovals::default();
    let all = [asked(&approvals, "ann", "apr_1").await, asked(&approvals, "bob", "apr_2").await];
    let ids = |owner| approvals.calls(owner).iter().map(|call| call.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(Some("bob")), ids(Some("eve"))), (vec!["apr_2".to_owned()], vec![]));
    assert_eq!(ids(None), ["apr_1", "apr_2"]);
    all.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_question_that_ends_takes_its_calls_with_it() {
    let approvals = AgentApprovals::default();
    let told = told(&approvals);
    let asking = asked(&approvals, "ann", "apr_1").await;
    asking.abort();
    let _ = asking.await;
    assert!(!approvals.has("apr_1"));
    assert_eq!(approvals.decide("apr_1", "ann", Decision::approve("ann")), Err(NotWaiting::Over));
    assert_eq!(approvals.decide("apr_2", "ann", Decision::approve("ann")), Err(NotWaiting::Unknown));
    assert_eq!(told.lock().unwrap().len(), 2);
    // The same call may be asked about again.
    let again = asked(&approvals, "ann", "apr_1").await;
    approvals.decide("apr_1", "ann", Decision::approve("ann")).unwrap();
    assert_eq!(again.await.unwrap(), ApprovalAnswer::Approve { by: "ann".to_owned() });
}

#[tokio::test]
async fn the_numbers_of_waiting_and_settled_calls_are_bounded() {
    let approvals = AgentApprovals::default();
    let mut all = Vec::new();
    for number in 0..MAX_CALLER_APPROVALS {
        all.push(asked(&approvals, "ann", &format!("apr_{number:03}")).await);
    }
    let refused = approvals.approver(&client("ann"), "planner", None).ask(request("apr_more")).await;
    assert!(matches!(refused, ApprovalAnswer::Deny { .. }));
    let other = asked(&approvals, "bob", "apr_of_bob").await;
    approvals.decide("apr_of_bob", "bob", Decision::approve("bob")).unwrap();
    for number in 0..MAX_CALLER_APPROVALS {
        approvals.decide(&format!("apr_{number:03}"), "ann", Decision::approve("ann")).unwrap();
    }
    let one_more = asked(&approvals, "ann", "apr_more").await;
    approvals.decide("apr_more", "ann", Decision::approve("ann")).unwrap();
    assert_eq!(approvals.calls(Some("ann")).len(), MAX_CALLER_SETTLED);
    assert_eq!((approvals.call("apr_000"), approvals.call("apr_001").is_some()), (None, true), "the oldest is gone");
    assert!(approvals.call("apr_of_bob").is_some(), "nobody pushes out calls of others");
    for asking in all.into_iter().chain([other, one_more]) {
        assert!(matches!(asking.await.unwrap(), ApprovalAnswer::Approve { .. }));
    }
}
