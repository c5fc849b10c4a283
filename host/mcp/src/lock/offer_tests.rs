use super::*;
use crate::lock::Lock;
use agent_spaces_secrets::Secret;

fn take_tools(tools: &[Value]) -> Result<LockedServer, OfferError> {
    let offer = Offer { tools, ..Offer::default() };
    LockedServer::of(LockedEndpoint::remote("https://a.example/mcp"), &offer, &Redactor::default())
}

#[test]
fn tools_are_sorted_by_name_and_unknown_members_dropped() {
    let raw = [
        json!({
            "icons": [{"src": "data:,"}],
            "_meta": {"secret": 1, "ui": {"visibility": ["model"], "resourceUri": "ui://x"}},
            "annotations": {"readOnlyHint": true},
            "outputSchema": null,
            "inputSchema": {"type": "object"},
            "description": "Sends",
            "name": "send",
        }),
        json!({"name": "list", "inputSchema": {"type": "object"}}),
    ];
    let locked = take_tools(&raw).unwrap();
    let expected = concat!(
        r#"{"name":"send","description":"Sends","inputSchema":{"type":"object"},"#,
        r#""annotations":{"readOnlyHint":true},"_meta":{"ui":{"visibility":["model"]}}}"#
    );
    assert_eq!(locked.tools[0]["name"], "list");
    assert_eq!(locked.tools[1].to_string(), expected);
}

#[test]
fn the_package_is_found_in_the_command() {
    let endpoint = LockedEndpoint::stdio("npx", vec!["-y".to_owned(), "@scope/mcp@1.2.3".to_owned()]);
    let locked = LockedServer::of(endpoint, &Offer::default(), &Redactor::default()).unwrap();
    assert_eq!(locked.package.unwrap().name, "@scope/mcp");
}

#[test]
fn long_texts_are_truncated_with_a_note() {
    let long = "é".repeat(MAX_DESCRIPTION);
    let identity = ServerIdentity { name: long.clone(), version: "1".to_owned(), title: None };
    let tools = [json!({"name": "a", "description": long})];
    let offer = Offer { identity: Some(&identity), instructions: Some(&long), tools: &tools, ..Offer::default() };
    let locked = LockedServer::of(LockedEndpoint::remote("a:b"), &offer, &Redactor::default()).unwrap();
    let note = "… [cut: 131072 bytes in all]";
    let description = locked.tools[0]["description"].as_str().unwrap();
    for text in [description, locked.instructions.as_deref().unwrap()] {
        assert!(text.ends_with(note) && text.len() == MAX_DESCRIPTION + note.len(), "{}", text.len());
    }
    assert_eq!(locked.server.unwrap().name.len(), MAX_IDENTITY + note.len());
}

#[test]
fn a_server_over_the_limits_is_refused() {
    let tools: Vec<Value> = (0..=MAX_TOOLS).map(|number| json!({"name": format!("t{number}")})).collect();
    assert!(take_tools(&tools[..MAX_TOOLS]).is_ok());
    assert_eq!(take_tools(&tools).unwrap_err(), OfferError::TooMany { what: "tool", count: MAX_TOOLS + 1 });

    let large = |name: &str, size: usize| json!({"name": name, "inputSchema": {"const": "x".repeat(size)}});
    let error = take_tools(&[large("a", MAX_TOOL)]).unwrap_err();
    assert!(error.to_string().starts_with("its tool `a` takes more than"), "{error}");
    let many: Vec<Value> = (0..9).map(|number| large(&number.to_string(), MAX_TOOL - 100)).collect();
    assert_eq!(take_tools(&many).unwrap_err(), OfferError::TooLarge);
}

#[test]
fn tools_without_unique_names_are_refused() {
    assert_eq!(take_tools(&[json!({"title": "x"})]).unwrap_err(), OfferError::NoName { what: "tool", index: 0 });
    assert_eq!(take_tools(&[json!(1)]).unwrap_err(), OfferError::NoName { what: "tool", index: 0 });
    let twice = take_tools(&[json!({"name": "a"}), json!({"name": "b"}), json!({"name": "a"})]).unwrap_err();
    assert_eq!(twice, OfferError::Twice { what: "tool", name: "a".to_owned() });
}

#[test]
fn the_deepest_accepted_tool_can_be_read_again() {
    let nested = |levels: usize| (0..levels).fold(json!(true), |inner, _| json!({ "not": inner }));
    let tool = |levels: usize| json!({"name": "a", "inputSchema": nested(levels)});
    let error = take_tools(&[tool(MAX_DEPTH)]).unwrap_err();
    assert!(error.to_string().contains("levels deep"), "{error}");
    let mut lock = Lock::default();
    lock.servers.insert("deep".to_owned(), take_tools(&[tool(MAX_DEPTH - 1)]).unwrap());
    assert_eq!(Lock::from_text("capabilities.lock", &lock.to_text().unwrap()).unwrap(), lock);
}

#[test]
fn secrets_do_not_reach_the_file() {
    let redactor = Redactor::default();
    redactor.add(&Secret::new("hunter2-hunter2"));
    let text = "uses hunter2-hunter2";
    let identity = ServerIdentity { name: text.to_owned(), version: text.to_owned(), title: Some(text.to_owned()) };
    let offer = Offer {
        identity: Some(&identity),
        protocol: Some(text),
        instructions: Some(text),
        tools: &[json!({"name": "a", "description": text, "inputSchema": {"default": text}})],
        prompts: &[json!({"name": "b", "description": text})],
        ..Offer::default()
    };
    let locked = LockedServer::of(LockedEndpoint::remote("a:b"), &offer, &redactor).unwrap();
    let lock = Lock { servers: [("a".to_owned(), locked)].into() };
    let text = lock.to_text().unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(text.matches("[redacted]").count(), 8, "{text}");
}
