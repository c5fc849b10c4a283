use super::super::Raw;
use super::tests::{config, message, server};
use super::{Auth, Elicitation, OAuthClient, Protocol, Scope, ToolFilters, Transport};
use serde_json::json;
use std::time::Duration;

#[test]
fn every_setting_of_a_server_is_read() {
    let server = server(json!({
        "type": "stdio", "command": ["node", "a.js"], "args": ["b"], "cwd": "./c", "enabled": false, "timeout": "5s",
        "tools": "./tools.json", "toolFilters": { "allow": [], "deny": ["rm"] }, "env": { "A": "b", "C": "d" },
        "scope": "caller", "protocol": "stateless", "elicitation": "defaults", "connectTimeout": "1min",
        "toolTimeouts": { "slow": "30s", "slower": 90 }, "progressTimeout": "10min", "maxMessageBytes": "1MiB",
        "roots": ["./a", "/b"], "public": ["C"]
    }))
    .unwrap();
    let seconds = Duration::from_secs;
    assert_eq!(
        (server.scope, server.protocol, server.elicitation),
        (Scope::Caller, Protocol::Stateless, Elicitation::Defaults)
    );
    assert_eq!((server.connect_timeout, server.progress_timeout), (Some(seconds(60)), Some(seconds(600))));
    assert_eq!(server.tool_timeouts, [("slow".to_owned(), seconds(30)), ("slower".to_owned(), seconds(90))].into());
    assert_eq!((server.max_message_bytes, server.roots.len(), server.public), (Some(1 << 20), 2, vec!["C".to_owned()]));
    let args = vec![Raw::new("a.js"), Raw::new("b")];
    let env = [("A".to_owned(), Raw::new("b")), ("C".to_owned(), Raw::new("d"))].into();
    let transport = Transport::Stdio { program: "node".into(), args, env, cwd: Some("./c".into()) };
    assert_eq!(server.transport, transport);
    assert_eq!((server.enabled, server.timeout), (false, Some(Duration::from_secs(5))));
    assert_eq!(server.tools.as_deref(), Some("./tools.json"));
    assert_eq!(server.tool_filters, ToolFilters { allow: Some(vec![]), deny: vec!["rm".into()] });
}

#[test]
fn absent_settings_have_defaults() {
    let server = server(json!({ "url": "https://x" })).unwrap();
    assert_eq!((server.scope, server.protocol, server.elicitation), Default::default());
    assert_eq!((server.scope, server.enabled, server.unsupported), (Scope::Space, true, None));
    assert_eq!((server.connect_timeout, server.timeout, server.progress_timeout), (None, None, None));
    assert_eq!((server.max_message_bytes, server.roots.len() + server.public.len()), (None, 0));
    let Transport::Remote { auth, .. } = server.transport else { panic!("a local server") };
    assert_eq!(auth, Auth::OAuth(OAuthClient::default()));
}

#[test]
fn invalid_limits_of_a_server_are_refused() {
    assert_eq!(
        message(json!({ "command": "x", "maxMessageBytes": 100 })),
        "f: $.mcpServers.s.maxMessageBytes: the size must be between 4096 and 1073741824 bytes"
    );
    assert_eq!(
        message(json!({ "command": "x", "timeout": "10s", "progressTimeout": "5s" })),
        "f: $.mcpServers.s.progressTimeout: `progressTimeout` is shorter than `timeout`; make it at least as \
         long as `timeout`"
    );
    assert_eq!(
        message(json!({ "command": "x", "connectTimeout": "11min" })),
        "f: $.mcpServers.s.connectTimeout: the maximum connect timeout is 10m"
    );
    for value in [
        json!({ "command": "x", "maxMessageBytes": "2GiB" }),
        json!({ "command": "x", "toolTimeouts": { "a": 0 } }),
        json!({ "command": "x", "toolTimeouts": { "": 1 } }),
        json!({ "command": "x", "toolTimeouts": { "a": "31days" } }),
        json!({ "command": "x", "toolTimeouts": ["a"] }),
        json!({ "command": "x", "roots": [""] }),
        json!({ "command": "x", "roots": vec!["./x"; 65] }),
        json!({ "command": "x", "roots": "./x" }),
        json!({ "command": "x", "scope": "world" }),
        json!({ "command": "x", "protocol": 1 }),
        json!({ "command": "x", "elicitation": "ask" }),
    ] {
        assert!(server(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn only_existing_variables_and_headers_can_be_public() {
    assert_eq!(
        message(json!({ "command": "x", "env": { "REGION": "eu" }, "public": ["REGIN"] })),
        "f: $.mcpServers.s.public[0]: the server has no variable `REGIN`; did you mean `REGION`?"
    );
    let read = server(json!({ "url": "https://x", "headers": { "X-Region": "eu" }, "public": ["x-region"] })).unwrap();
    assert_eq!(read.public, ["X-Region"]);
    for value in [
        json!({ "command": "x", "public": ["PATH"] }),
        json!({ "command": "x", "env": { "A": "" }, "public": ["A", "A"] }),
        json!({ "command": "x", "env": { "A": "" }, "public": ["a"] }),
        json!({ "url": "https://x", "headers": { "A": "" }, "public": "A" }),
    ] {
        assert!(server(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn defaults_are_read_and_checked() {
    let read = config(json!({ "defaults": { "toolTimeout": "7s" } })).unwrap();
    assert_eq!(read.defaults.tool_timeout, Some(Duration::from_secs(7)));
    assert!(config(json!({ "defaults": { "llmTimeout": 1 } })).is_err());
    assert!(config(json!({ "defaults": { "toolTimeout": 0 } })).is_err());
}
