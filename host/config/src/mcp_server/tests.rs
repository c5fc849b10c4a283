use super::super::{Config, Raw, from_value};
use super::{Auth, RemoteKind, Transport};
use serde_json::{Value, json};

pub(super) fn config(value: Value) -> Result<Config, String> {
    from_value("f", value).map_err(|error| error.to_string())
}

/// One server, read under the name `s`.
pub(super) fn server(value: Value) -> Result<super::McpServer, String> {
    config(json!({ "mcpServers": { "s": value } })).map(|mut config| config.mcp_servers.remove("s").unwrap())
}

pub(super) fn message(value: Value) -> String {
    server(value).unwrap_err()
}

#[test]
fn servers_are_local_or_remote() {
    let config = config(json!({ "mcpServers": {
        "slack": {
            "command": "npx", "args": ["-y", "@modelcontextprotocol/server-slack"],
            "env": { "SLACK_BOT_TOKEN": "${SLACK_BOT_TOKEN}" }
        },
        "github": { "url": "https://mcp.github.com/v1", "headers": { "Authorization": "Bearer ${GITHUB_TOKEN}" } }
    } }))
    .unwrap();
    let slack = Transport::Stdio {
        program: "npx".into(),
        args: vec![Raw::new("-y"), Raw::new("@modelcontextprotocol/server-slack")],
        env: [("SLACK_BOT_TOKEN".to_owned(), Raw::new("${SLACK_BOT_TOKEN}"))].into(),
        cwd: None,
    };
    let github = Transport::Remote {
        kind: RemoteKind::Http,
        url: Raw::new("https://mcp.github.com/v1"),
        headers: [("Authorization".to_owned(), Raw::new("Bearer ${GITHUB_TOKEN}"))].into(),
        auth: Auth::None,
    };
    assert_eq!(config.mcp_servers["slack"].transport, slack);
    assert_eq!(config.mcp_servers["github"].transport, github);
    assert_eq!(config.mcp_servers["github"].file, "f");
    assert!(config.mcp_servers["slack"].enabled);
}

#[test]
fn the_type_is_normalised_or_inferred() {
    let kind = |value| match server(value).unwrap().transport {
        Transport::Remote { kind, .. } => Some(kind),
        Transport::Stdio { .. } => None,
    };
    assert_eq!(kind(json!({ "type": "local", "command": "x" })), None);
    assert_eq!(kind(json!({ "type": "remote", "url": "https://x" })), Some(RemoteKind::Http));
    assert_eq!(kind(json!({ "type": "remote", "url": "ws://x" })), Some(RemoteKind::WebSocket));
    assert_eq!(kind(json!({ "url": "wss://x" })), Some(RemoteKind::WebSocket));
    assert_eq!(kind(json!({ "type": "sse", "url": "http://x" })), Some(RemoteKind::Sse));
    assert_eq!(kind(json!({ "type": "websocket", "url": "${ADDRESS}" })), Some(RemoteKind::WebSocket));
}

#[test]
fn aliases_of_keys_and_types_are_accepted() {
    let same = |one: Value, other: Value| assert_eq!(server(one.clone()), server(other), "{one}");
    same(json!({ "command": "x", "disabled": true }), json!({ "command": "x", "enabled": false }));
    same(json!({ "command": "x", "disabled": false }), json!({ "command": "x" }));
    same(json!({ "url": "http://x", "transport": "sse" }), json!({ "url": "http://x", "type": "sse" }));
    same(json!({ "serverUrl": "https://x" }), json!({ "url": "https://x" }));
    same(json!({ "httpUrl": "https://x" }), json!({ "type": "http", "url": "https://x" }));
    for name in ["streamable-http", "streamableHttp", "streamable_http"] {
        same(json!({ "type": name, "url": "https://x" }), json!({ "type": "http", "url": "https://x" }));
    }
    same(json!({ "type": "ws", "url": "wss://x" }), json!({ "type": "websocket", "url": "wss://x" }));
}

#[test]
fn two_spellings_of_one_setting_are_refused() {
    assert_eq!(
        message(json!({ "command": "x", "enabled": true, "disabled": false })),
        "f: $.mcpServers.s.disabled: `enabled` and `disabled` are the same setting; keep `enabled`"
    );
    assert_eq!(
        message(json!({ "transport": "http", "command": "x" })),
        "f: $.mcpServers.s.transport: a server with a `command` has another type; write `stdio` or `local`, \
         or leave it out"
    );
    for value in [
        json!({ "url": "https://x", "serverUrl": "https://x" }),
        json!({ "url": "https://x", "httpUrl": "https://x" }),
        json!({ "command": "x", "type": "stdio", "transport": "stdio" }),
        json!({ "httpUrl": "https://x", "type": "sse" }),
        json!({ "httpUrl": "wss://x" }),
        json!({ "command": "x", "serverUrl": "https://x" }),
    ] {
        assert!(server(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn a_server_has_one_transport_and_a_matching_type() {
    assert!(message(json!({})).starts_with("f: $.mcpServers.s: ") && message(json!({})).contains("neither"));
    assert!(message(json!({ "command": "x", "url": "https://x" })).contains("both"));
    assert_eq!(
        message(json!({ "type": "http", "command": "x" })),
        "f: $.mcpServers.s.type: a server with a `command` has another type; write `stdio` or `local`, or leave it out"
    );
    assert_eq!(
        message(json!({ "command": "x", "headers": {} })),
        "f: $.mcpServers.s.headers: `headers` belongs to a server with a `url`; remove `headers`"
    );
    for value in [
        json!({ "type": "stdio", "url": "https://x" }),
        json!({ "type": "websocket", "url": "https://x" }),
        json!({ "type": "sse", "url": "wss://x" }),
        json!({ "type": "stdoi", "command": "x" }),
        json!({ "url": "https://x", "env": {} }),
        json!({ "url": "ftp://x" }),
        json!({ "url": "https://" }),
        json!({ "url": "https://x/\r\nHost: y" }),
        json!({ "command": "" }),
        json!({ "command": [] }),
        json!({ "command": ["", "x"] }),
        json!({ "command": ["x", 1] }),
        json!({ "command": "x\u{0}y" }),
        json!({ "command": "x", "args": "-y" }),
        json!({ "command": "x", "enabled": "yes" }),
        json!({ "command": "x", "timeout": 0 }),
        json!({ "command": "x", "toolFilters": { "allow": [""] } }),
        json!({ "command": "x", "toolFilter": {} }),
    ] {
        assert!(server(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn variables_and_headers_cannot_inject_others() {
    for value in [
        json!({ "command": "x", "env": { "A=B": "c" } }),
        json!({ "command": "x", "env": { "": "c" } }),
        json!({ "command": "x", "env": { "A": "b\u{0}C=d" } }),
        json!({ "url": "https://x", "headers": { "A": "b\r\nC: d" } }),
        json!({ "url": "https://x", "headers": { "A: b\r\nC": "d" } }),
        json!({ "url": "https://x", "headers": { "": "d" } }),
        json!({ "url": "https://x", "headers": { "Accept": "a", "accept": "b" } }),
    ] {
        assert!(server(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn a_duplicate_server_is_refused_with_both_paths() {
    let slack = json!({ "slack": { "command": "x" } });
    let message = config(json!({ "mcpServers": slack, "capabilities": { "mcpServers": slack } })).unwrap_err();
    assert_eq!(
        message,
        "f: $.capabilities.mcpServers.slack: the MCP server `slack` is defined at $.mcpServers.slack and at \
         $.capabilities.mcpServers.slack; keep one"
    );
    let github = json!({ "github": { "command": "x" } });
    let both = config(json!({ "mcpServers": slack, "capabilities": { "mcpServers": github } })).unwrap();
    assert_eq!(both.mcp_servers.len(), 2);
    assert_eq!(both.mcp_servers["github"].place, "$.capabilities.mcpServers.github");
}

#[test]
fn debug_output_and_errors_hide_secrets() {
    let value = json!({
        "mcpServers": {
            "a": { "command": ["x", "--key=hunter2"], "args": ["hunter2"], "env": { "A": "hunter2" } },
            "b": { "url": "https://u:hunter2@x/?token=hunter2", "headers": { "A": "hunter2" } }
        }
    });
    let config = config(value).unwrap();
    let text = format!("{config:?} {config:#?}");
    assert!(text.contains("mcpServers.a") && text.contains('…') && !text.contains("hunter2"), "{text}");
    for value in [
        json!({ "command": "x", "env": { "A": ["hunter2"] } }),
        json!({ "command": "x", "env": { "A": "hunter2\u{0}" } }),
        json!({ "command": "x", "args": ["hunter2\u{0}"] }),
        json!({ "url": "hunter2" }),
        json!({ "url": "https://hunter2 x" }),
        json!({ "url": "https://x", "headers": { "A": "hunter2\n" } }),
    ] {
        assert!(!message(value.clone()).contains("hunter2"), "{value}");
    }
}
