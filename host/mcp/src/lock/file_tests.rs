use super::*;
use crate::lock::{LockedEndpoint, Offer, ServerIdentity};
use agent_spaces_secrets::Redactor;
use proptest::prelude::*;
use serde_json::{Value, json};

const FILE: &str = "capabilities.lock";

fn slack() -> LockedServer {
    let identity = ServerIdentity { name: "slack".to_owned(), version: "1.0.0".to_owned(), title: None };
    let endpoint = LockedEndpoint::stdio("npx", vec!["-y".to_owned(), "@scope/slack@1.2.3".to_owned()]);
    let tools = [json!({"name": "send", "inputSchema": {"type": "object"}}), json!({"name": "list"})];
    let offer = Offer {
        identity: Some(&identity),
        protocol: Some("2025-11-25"),
        instructions: Some("Be kind."),
        has_resources: true,
        tools: &tools,
        prompts: &[json!({"name": "greet"})],
    };
    LockedServer::of(endpoint, &offer, &Redactor::default()).unwrap()
}

fn error(text: &str) -> LockError {
    Lock::from_text(FILE, text).unwrap_err()
}

#[test]
fn the_file_is_readable_json() {
    let remote =
        LockedServer::of(LockedEndpoint::remote("https://a.example/mcp?k=1"), &Offer::default(), &Redactor::default());
    let servers = [("slack".to_owned(), slack()), ("docs".to_owned(), remote.unwrap())];
    let lock = Lock { servers: servers.into() };
    let expected = r#"{
  "version": 1,
  "servers": {
    "docs": {
      "endpoint": {
        "url": "https://a.example/mcp"
      },
      "tools": []
    },
    "slack": {
      "endpoint": {
        "command": "npx",
        "args": [
          "-y",
          "@scope/slack@1.2.3"
        ]
      },
      "package": {
        "manager": "npm",
        "name": "@scope/slack",
        "version": "1.2.3",
        "pinned": true
      },
      "server": {
        "name": "slack",
        "version": "1.0.0"
      },
      "protocol": "2025-11-25",
      "instructions": "Be kind.",
      "resources": true,
      "prompts": [
        {
          "name": "greet"
        }
      ],
      "tools": [
        {
          "name": "list"
        },
        {
          "name": "send",
          "inputSchema": {
            "type": "object"
          }
        }
      ]
    }
  }
}
"#;
    assert_eq!(lock.to_text().unwrap(), expected);
    assert_eq!(Lock::from_text(FILE, expected).unwrap(), lock);
    assert_eq!(Lock::from_text(FILE, &format!("\u{feff}{expected}")).unwrap(), lock);
}

#[test]
fn invisible_characters_are_escaped() {
    let mut lock = Lock::default();
    let text = "a\n\u{1b}[31m\u{202e}b\u{200b}\u{3164}\u{e0041}\u{9b}é☀\u{fe0f}";
    lock.servers.insert("a".to_owned(), LockedServer { instructions: Some(text.to_owned()), ..slack() });
    let written = lock.to_text().unwrap();
    assert!(written.contains("a\\n\\u001b[31m\\u202eb\\u200b\\u3164\\udb40\\udc41\\u009bé☀\u{fe0f}"), "{written}");
    assert_eq!(Lock::from_text(FILE, &written).unwrap(), lock);
}

#[test]
fn errors_have_the_position_and_the_fix() {
    let text = r#"{
        "version": 1,
        "servers": {"a": {"endpoint": {"url": "x"}, "tools": [], "extra": 1}}
    }"#;
    let error = error(text);
    assert_eq!((error.line, error.file.as_str()), (3, FILE));
    let shown = error.to_string();
    assert!(shown.starts_with("capabilities.lock:3:") && shown.contains("unknown field `extra`"), "{shown}");
    assert!(shown.ends_with("or delete it and accept the servers again"), "{shown}");
    assert_eq!(shown.matches("line").count(), 0, "{shown}");
}

#[test]
fn invalid_files_are_refused() {
    let server = r#"{"endpoint": {"url": "x"}, "tools": []}"#;
    let with = |servers: &str| format!(r#"{{"version": 1, "servers": {servers}}}"#);
    let tools = |tools: &str| with(&format!(r#"{{"a": {{"endpoint": {{"url": "x"}}, "tools": {tools}}}}}"#));
    let cases = [
        (String::new(), "EOF"),
        ("[]".to_owned(), "expected an object with"),
        (r#"{"version": 2, "later": true}"#.to_owned(), "version 2"),
        (with(&format!(r#"{{"a": {server}, "a": {server}}}"#)), "duplicate server \"a\""),
        (tools(r#"[{"name": "t"}, {"name": "t"}]"#), "duplicate name \"t\""),
        (tools(r#"[{"name": "t", "title": "x", "title": "y"}]"#), "duplicate key \"title\""),
        (tools(r#"[{"title": "t"}]"#), "no \"name\""),
        (with(r#"{"a": {"endpoint": {}, "tools": []}}"#), "an endpoint is"),
        (with(r#"{"a": {"endpoint": {"url": "x", "command": "y"}, "tools": []}}"#), "an endpoint is"),
        (tools(&("[".repeat(1_000) + &"]".repeat(1_000))), "recursion limit"),
        ("<<<<<<< ours\n{}".to_owned(), "conflict"),
        (" ".repeat(MAX_LOCK + 1), "larger than"),
    ];
    for (text, reason) in cases {
        let error = error(&text);
        assert!(error.message.contains(reason), "{error}");
        assert!(error.line >= 1 && error.column >= 1);
    }
}

#[test]
fn a_file_over_the_size_limit_is_not_written() {
    let mut lock = Lock::default();
    let large = LockedServer { instructions: Some("x".repeat(MAX_LOCK)), ..slack() };
    lock.servers.insert("a".to_owned(), large);
    assert!(lock.to_text().unwrap_err().message.contains("more than"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z$]{1,8}", inner, 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn written_files_can_be_read_again(
        names in prop::collection::btree_set(any::<String>(), 0..4),
        schema in any_json(),
        text in any::<String>(),
    ) {
        let tools: Vec<Value> = names
            .iter()
            .filter(|name| !crate::trace::one_line(name).is_empty())
            .map(|name| json!({"name": name, "description": text, "inputSchema": schema}))
            .collect();
        let offer = Offer { instructions: Some(&text), tools: &tools, ..Offer::default() };
        let server = LockedServer::of(LockedEndpoint::stdio(&text, vec![text.clone()]), &offer, &Redactor::default());
        let lock = Lock { servers: [(text.clone(), server.unwrap())].into() };
        let written = lock.to_text().unwrap();
        let read = Lock::from_text(FILE, &written).unwrap();
        prop_assert_eq!(&read, &lock);
        prop_assert_eq!(read.to_text().unwrap(), written);
    }
}
