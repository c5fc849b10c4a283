use super::{APPROVAL, DECIDED_BY, MAX_SHOWN, decision, form, meta};
use crate::approvals::group::CallGroup;
use agent_spaces_approvals::{Question, Request};
use agent_spaces_http_server::Client;
use agent_spaces_policy::FunctionId;
use agent_spaces_types::caller::Caller;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, JsonObject, MetaObject};
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

#[test]
fn only_a_client_of_this_host_says_who_decided() {
    let meta = MetaObject(JsonObject::from_iter([(DECIDED_BY.to_owned(), json!("ada"))]));
    let answer = ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "decision": "approve" }));
    let answer = answer.with_meta(meta);
    let client = Client::named("ann", Caller::default()).approving();
    assert_eq!(decision(&client, &answer).unwrap().by, "the client");
    assert_eq!(decision(&client.of_host(), &answer).unwrap().by, "ada");
}

#[test]
fn programs_can_read_the_calls_of_a_form() {
    let huge: Value = (0..MAX_SHOWN).map(Value::from).collect();
    for (params, is_whole) in [(json!({ "to": "ada" }), true), (json!({ "list": huge }), false)] {
        let request = request("send", params.clone(), "");
        let groups = CallGroup::of(vec![request.clone()]);
        let meta = meta(&groups[0]);
        let approval = &meta[APPROVAL];
        assert_eq!((&approval["id"], &approval["calls"][0]["id"]), (&json!(request.id), &json!(request.id)));
        assert_eq!(approval["calls"][0]["function"], "crm.send");
        assert_eq!(approval["calls"][0].get("params"), is_whole.then_some(&params));
    }
}
