use super::{SignedDecision, VerifyError};
use crate::decision::{Decision, Lasts, Verdict};
use crate::fixtures::{request, request_of};
use crate::request::Request;
use crate::store::ApproverToken;
use serde_json::{Value, json};
use std::time::Duration;

fn signed(request: &Request, token: &ApproverToken) -> SignedDecision {
    SignedDecision::new(request, Decision::deny("ada", Some("no".into())).lasting(Lasts::Once), token)
}

#[test]
fn a_signed_decision_verifies_after_a_round_trip() {
    let (request, token) = (request(), ApproverToken::new().unwrap());
    let text = serde_json::to_string(&signed(&request, &token)).unwrap();
    let read: SignedDecision = serde_json::from_str(&text).unwrap();
    assert_eq!(read.verify(&request, &token.key()).unwrap(), Decision::deny("ada", Some("no".into())));
}

#[test]
fn a_decision_that_a_caller_passes_on_names_both() {
    let (request, token) = (request(), ApproverToken::new().unwrap());
    for (by, name) in [("ann", "ann (through desk)"), ("desk", "desk")] {
        let text = token.sign_decision_of("desk", &request, Decision::approve(by));
        assert_eq!(token.key().verify_decision(&request, &text).unwrap().by, name);
        for caller in [json!("operator"), Value::Null] {
            let mut changed: Value = serde_json::from_str(&text).unwrap();
            changed["caller"] = caller;
            assert!(token.key().verify_decision(&request, &changed.to_string()).is_err(), "{changed}");
        }
    }
}

#[test]
fn every_change_of_a_decision_is_detected() {
    let (request, token) = (request(), ApproverToken::new().unwrap());
    let original = serde_json::to_value(signed(&request, &token)).unwrap();
    for (key, value) in [
        ("decision", json!("approve")),
        ("reason", json!("yes")),
        ("reason", Value::Null),
        ("by", json!("eve")),
        ("caller", json!("eve")),
        ("for", json!("run")),
        ("decided", json!("2026-01-01T00:00:00.000Z")),
        ("signature", json!("")),
        ("signature", json!("!")),
        ("signature", json!("A".repeat(86))),
    ] {
        let mut changed = original.clone();
        changed[key] = value;
        let changed: SignedDecision = serde_json::from_value(changed).unwrap();
        assert_eq!(changed.verify(&request, &token.key()), Err(VerifyError::Signature), "{key}");
    }
}

#[test]
fn a_decision_is_valid_only_for_its_request() {
    let token = ApproverToken::new().unwrap();
    let asked = request();
    let decision = signed(&asked, &token);
    assert_eq!(decision.clone().verify(&request(), &token.key()), Err(VerifyError::Request));
    let other_arguments =
        Request { id: asked.id.clone(), ..(*request_of("createTicket", 2, Duration::from_secs(60))).clone() };
    assert_eq!(decision.clone().verify(&other_arguments, &token.key()), Err(VerifyError::Digest));
    // The same call with another message: another file was shown.
    for other in [
        Request { message: "harmless".into(), ..(*asked).clone() },
        Request { run_id: "run_2".into(), ..(*asked).clone() },
        Request { places: vec![], ..(*asked).clone() },
    ] {
        assert_eq!(decision.clone().verify(&other, &token.key()), Err(VerifyError::Signature));
    }
    assert!(decision.verify(&asked, &token.key()).is_ok());
}

#[test]
fn a_decision_of_another_token_is_refused() {
    let asked = request();
    let decision = signed(&asked, &ApproverToken::new().unwrap());
    assert_eq!(decision.verify(&asked, &ApproverToken::new().unwrap().key()), Err(VerifyError::Signature));
}

#[test]
fn a_late_decision_is_refused() {
    let token = ApproverToken::new().unwrap();
    let expired = request_of("f", 1, Duration::ZERO);
    let decision = SignedDecision::new(&expired, Decision::approve("ada"), &token);
    assert_eq!(decision.decision, Verdict::Approved);
    assert_eq!(decision.verify(&expired, &token.key()), Err(VerifyError::Late));
}
