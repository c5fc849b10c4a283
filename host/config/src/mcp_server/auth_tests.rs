use super::super::Transport;
use super::{Auth, BearerSource, OAuthClient};
use crate::{Raw, from_value};
use serde_json::{Value, json};

fn read(server: Value) -> Result<Auth, String> {
    let config = from_value("f", json!({ "mcpServers": { "s": server } })).map_err(|error| error.to_string())?;
    match &config.mcp_servers["s"].transport {
        Transport::Remote { auth, .. } => Ok(auth.clone()),
        Transport::Stdio { .. } => Err("a local server".to_owned()),
    }
}

fn auth(auth: Value) -> Result<Auth, String> {
    read(json!({ "url": "https://x", "auth": auth }))
}

#[test]
fn every_kind_of_authentication_is_read() {
    let bearer = |source| Ok(Auth::Bearer(source));
    assert_eq!(auth(json!("none")), Ok(Auth::None));
    assert_eq!(auth(json!({ "type": "none" })), Ok(Auth::None));
    assert_eq!(auth(json!("oauth")), Ok(Auth::OAuth(OAuthClient::default())));
    assert_eq!(
        auth(json!({ "type": "bearer", "token": "${TOKEN}" })),
        bearer(BearerSource::Token(Raw::new("${TOKEN}")))
    );
    assert_eq!(auth(json!({ "type": "bearer", "env": "TOKEN" })), bearer(BearerSource::Env("TOKEN".into())));
    assert_eq!(auth(json!({ "type": "bearer", "file": "./t" })), bearer(BearerSource::File("./t".into())));
    assert_eq!(
        auth(json!({ "type": "bearer", "command": ["op", "read", "x"] })),
        bearer(BearerSource::Command(["op", "read", "x"].map(Raw::new).to_vec()))
    );
    let client = OAuthClient {
        client_id: Some("id".into()),
        client_secret: Some(Raw::new("${SECRET}")),
        scopes: vec!["read".into(), "a:b/c".into()],
    };
    let given = json!({ "type": "oauth", "clientId": "id", "clientSecret": "${SECRET}", "scopes": ["read", "a:b/c"] });
    assert_eq!(auth(given), Ok(Auth::OAuth(client)));
}

#[test]
fn an_authorization_header_replaces_auth() {
    let headers = json!({ "AUTHORIZATION": "Bearer ${T}" });
    assert_eq!(read(json!({ "url": "https://x", "headers": headers })), Ok(Auth::None));
    assert_eq!(read(json!({ "url": "https://x", "headers": headers, "auth": "none" })), Ok(Auth::None));
    assert_eq!(
        read(json!({ "url": "https://x", "headers": headers, "auth": "oauth" })).unwrap_err(),
        "f: $.mcpServers.s.auth: both `auth` and the header `Authorization` are set; keep one"
    );
}

#[test]
fn invalid_authentication_is_refused() {
    assert_eq!(
        auth(json!({ "type": "bearer", "token": "x", "env": "X" })).unwrap_err(),
        "f: $.mcpServers.s.auth: a bearer token has exactly one source; keep one of `token`, `env`, `file` and `command`"
    );
    assert_eq!(
        auth(json!({ "type": "oauth", "token": "x" })).unwrap_err(),
        "f: $.mcpServers.s.auth.token: `token` does not belong to an authorization of type `oauth`; \
         remove `token`, or write another `type`"
    );
    assert_eq!(
        read(json!({ "command": "x", "auth": "none" })).unwrap_err(),
        "f: $.mcpServers.s.auth: `auth` belongs to a server with a `url`; remove `auth`"
    );
    for value in [
        json!("bearer"),
        json!("basic"),
        json!(null),
        json!({}),
        json!({ "type": "bearer" }),
        json!({ "type": "bearer", "token": "" }),
        json!({ "type": "bearer", "token": "a b" }),
        json!({ "type": "bearer", "token": "a\r\nX: y" }),
        json!({ "type": "bearer", "env": "${X}" }),
        json!({ "type": "bearer", "file": "" }),
        json!({ "type": "bearer", "command": "op read" }),
        json!({ "type": "bearer", "command": [] }),
        json!({ "type": "bearer", "command": [""] }),
        json!({ "type": "bearer", "token": "x", "clientId": "y" }),
        json!({ "type": "none", "token": "x" }),
        json!({ "type": "oauth", "clientSecret": "x" }),
        json!({ "type": "oauth", "scopes": "read write" }),
        json!({ "type": "oauth", "scopes": ["read write"] }),
        json!({ "type": "oauth", "clientID": "x" }),
    ] {
        assert!(auth(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn debug_output_and_errors_hide_tokens() {
    let token = auth(json!({ "type": "bearer", "token": "hunter2" })).unwrap();
    let command = auth(json!({ "type": "bearer", "command": ["x", "--key=hunter2"] })).unwrap();
    let secret = auth(json!({ "type": "oauth", "clientId": "x", "clientSecret": "hunter2" })).unwrap();
    assert!(!format!("{token:?} {command:#?} {secret:?}").contains("hunter2"));
    for value in [
        json!("hunter2"),
        json!({ "type": "bearer", "token": "hunter2 " }),
        json!({ "type": "bearer", "token": ["hunter2"] }),
        json!({ "type": "oauth", "clientSecret": "hunter2" }),
        json!({ "type": "bearer", "env": "${hunter2}" }),
    ] {
        let message = auth(value.clone()).unwrap_err();
        assert!(!message.contains("hunter2"), "{message}");
    }
}
