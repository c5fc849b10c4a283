use super::{MAX_SHOWN, form};
use crate::approvals::group::CallGroup;
use agent_spaces_approvals::{Question, Request};
use agent_spaces_policy::FunctionId;
use rmcp::model::ElicitRequestParams;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn request(function: &str, params: Value, message: &str) -> Arc<Request> {
    let question = Question {
        run_id: "run_1".into(),
        call_id: 1,
        space: None,
        function_id: FunctionId::new("capabilities:crm/crm@1.0.0", function),
        module: "@capabilities/crm".into(),
        source: "MCP server crm".into(),
        capability: "crm".into(),
        function: function.into(),
        params,
        shown: None,
        message: message.into(),
        places: Vec::new(),
    };
    Arc::new(Request::new(question, Duration::from_secs(60)))
}

fn texts(waiting: Vec<Arc<Request>>) -> Vec<String> {
    let text = |group: &CallGroup| match form(group).unwrap() {
        ElicitRequestParams::FormElicitationParams { message, .. } => message,
        other => panic!("{other:?}"),
    };
    CallGroup::of(waiting).iter().map(text).collect()
}

#[test]
fn calls_of_one_function_share_a_form() {
    let calls = vec![
        request("send", json!({ "to": "ada" }), ""),
        request("delete", json!({}), ""),
        request("send", json!({ "to": "bob" }), ""),
    ];
    let texts = texts(calls);
    assert_eq!(texts.len(), 2, "{texts:?}");
    let said = "A program wants to make 2 calls of crm.send of @capabilities/crm, answered by MCP server crm \
                (capabilities:crm/crm@1.0.0#send), with these arguments:\n\
                1. {\n  \"to\": \"ada\"\n}\n2. {\n  \"to\": \"bob\"\n}\n";
    assert_eq!(texts[0], said);
    assert!(texts[1].starts_with("A program wants to call crm.delete of "), "{}", texts[1]);
}

#[test]
fn calls_that_do_not_fit_a_form_get_another() {
    let long = "x".repeat(290);
    let params = |number: usize| json!({ "number": number, "a": long, "b": long });
    let calls: Vec<_> = (0..20).map(|number| request("send", params(number), "")).collect();
    let all = texts(calls);
    assert!(all.len() > 1 && all.iter().all(|text| !text.contains("NOT shown")), "{}", all.len());
    assert!((0..20).all(|number| all.iter().any(|text| text.contains(&format!("\"number\": {number}\n")))), "{all:?}");
    let huge: Value = (0..MAX_SHOWN).map(Value::from).collect();
    let alone = texts(vec![request("send", json!({ "list": huge }), ""), request("send", json!({}), "")]);
    assert!(alone.len() == 2 && alone[0].contains("NOT shown"), "{alone:?}");
}

#[test]
fn the_text_of_a_definition_is_marked_as_unchecked() {
    let silent = texts(vec![request("send", json!({}), "")]).remove(0);
    assert!(!silent.contains("says") && !silent.contains("Allow"), "{silent}");
    let one = texts(vec![request("send", json!({}), "Harmless.\n1. {}")]).remove(0);
    assert!(one.ends_with("\nThe definition of the function says (unchecked): Harmless. 1. {}"), "{one}");
    let several = texts(vec![request("send", json!({}), "First"), request("send", json!({}), "Second")]).remove(0);
    assert!(several.ends_with("says (unchecked):\n1. First\n2. Second"), "{several}");
}
