use super::{Question, Request, is_id};
use agent_spaces_types::identity::FunctionId;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::{Duration, SystemTime};

fn question(params: Value) -> Question {
    Question {
        run_id: "run_1".into(),
        call_id: 4,
        space: None,
        function_id: FunctionId::new("capabilities:crm/crm@1.0.0", "create-ticket"),
        module: "@capabilities/crm".into(),
        source: "the host".into(),
        capability: "crm".into(),
        function: "createTicket".into(),
        params,
        shown: None,
        message: "Create a ticket".into(),
        places: vec!["agent.ts:5".into()],
    }
}

#[test]
fn a_request_round_trips_through_json() {
    let request = Request::new(question(json!({ "b": 1.5, "a": ["x"] })), Duration::from_secs(600));
    let read: Request = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
    assert_eq!(read, request);
    assert_eq!(read.fingerprint(), request.fingerprint());
    assert!(read.is_consistent());
}

#[test]
fn a_changed_request_is_detected() {
    let request = Request::new(question(json!({ "amount": 1 })), Duration::from_secs(600));
    let changed = Request { params: json!({ "amount": 100 }), ..request.clone() };
    assert!(!changed.is_consistent());
    let other = agent_spaces_types::identity::FunctionId::new("agent-spaces:std/crm@1.0.0", "create-ticket");
    assert!(!Request { function_id: other, ..request.clone() }.is_consistent());
    for other in [
        changed,
        Request { message: "harmless".into(), ..request.clone() },
        Request { module: "@agent-spaces/std".into(), ..request.clone() },
        Request { source: "the host itself".into(), ..request.clone() },
        Request { run_id: "run_2".into(), ..request.clone() },
        Request { expires: request.expires + Duration::from_secs(1), ..request.clone() },
    ] {
        assert_ne!(other.fingerprint(), request.fingerprint());
        assert!(!other.is_consistent(), "shown under the id of another: {other:?}");
    }
}

/// Shown and stored arguments have no secrets; the decision is bound to the arguments that are sent.
#[test]
fn the_digest_covers_the_unredacted_arguments() {
    let (sent, shown) = (json!({ "token": "hunter2hunter2" }), json!({ "token": "[redacted]" }));
    let plain = Request::new(question(sent.clone()), Duration::from_secs(600));
    assert!(!serde_json::to_string(&plain).unwrap().contains("redacted"));
    let request = Request::new(Question { shown: Some(shown.clone()), ..question(sent) }, Duration::from_secs(600));
    assert_eq!((&request.params, &request.digest, request.redacted), (&shown, &plain.digest, true));
    let text = serde_json::to_string(&request).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let read: Request = serde_json::from_str(&text).unwrap();
    assert!(read == request && read.is_consistent());
    let changed = Request { params: json!({}), ..request.clone() };
    assert!(changed.fingerprint() != request.fingerprint() && !changed.is_consistent());
    // Claiming that secrets were redacted does not help.
    assert!(!Request { params: json!({}), redacted: true, ..plain }.is_consistent());
}

#[test]
fn ids_are_unique() {
    let ids: HashSet<String> =
        (0..1_000).map(|_| Request::new(question(Value::Null), Duration::from_secs(1)).id).collect();
    assert_eq!(ids.len(), 1_000);
    assert!(ids.iter().all(|id| is_id(id)));
}

#[test]
fn only_valid_ids_become_file_names() {
    assert!(is_id("apr_0a"));
    for other in ["", "apr_", "apr_A", "apr_../x", "apr_a.json", "apr_a/b", "apr_é", "xapr_a", "apr_a\0", "apr-a"] {
        assert!(!is_id(other), "{other}");
    }
    assert!(!is_id(&format!("apr_{}", "a".repeat(100))));
}

#[test]
fn untrusted_texts_are_bounded() {
    let places = (0..100).map(|_| "x".repeat(10_000)).collect();
    let question = Question { message: "m".repeat(10_000), places, ..question(Value::Null) };
    let request = Request::new(question, Duration::MAX);
    assert_eq!((request.message.len(), request.places.len()), (499 + '…'.len_utf8(), 10));
    assert!(request.places.iter().all(|place| place.chars().count() == 200));
    assert!(request.expires < SystemTime::now() + Duration::from_secs(31 * 24 * 60 * 60));
}

#[test]
fn a_message_is_one_line_without_hidden_characters_also_from_a_file() {
    let hostile = "Delete\r\n\x1b[2J\u{202e}\u{200b}?";
    let asked = Question { message: hostile.into(), places: vec![hostile.into()], ..question(Value::Null) };
    let request = Request::new(asked, Duration::from_secs(60));
    let shown = "Delete <U+001B>[2J<U+202E><U+200B>?";
    assert_eq!((request.message.as_str(), request.places[0].as_str()), (shown, shown));
    let mut written = json!(request);
    written["message"] = json!(hostile);
    written["places"] = json!([hostile]);
    assert_eq!(serde_json::from_value::<Request>(written).unwrap(), request);
}

#[test]
fn an_expired_request_has_no_time_left() {
    let request = Request::new(question(Value::Null), Duration::ZERO);
    assert_eq!(request.time_left(), None);
    assert!(Request::new(question(Value::Null), Duration::from_secs(60)).time_left().unwrap().as_secs() > 50);
}
