use super::super::{Auth, OAuthClient, Raw, RemoteKind, Transport};
use super::{Foreign, read};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn found(text: &str) -> Foreign {
    read("f", text).unwrap()
}

pub(super) fn warnings(found: &Foreign) -> Vec<String> {
    found.warnings.iter().map(ToString::to_string).collect()
}

pub(super) fn names(found: &Foreign) -> Vec<&str> {
    found.servers.keys().map(String::as_str).collect()
}

/// One server of a file that has no other.
pub(super) fn server(value: Value) -> Foreign {
    found(&json!({ "mcpServers": { "s": value } }).to_string())
}

fn command(found: &Foreign, name: &str) -> String {
    match &found.servers[name].transport {
        Transport::Stdio { program, args, .. } => {
            let words = [program.as_str()].into_iter().chain(args.iter().map(Raw::expose));
            words.collect::<Vec<_>>().join(" ")
        }
        Transport::Remote { kind, url, .. } => format!("{kind:?} {}", url.expose()),
    }
}

#[test]
fn a_file_of_claude_desktop() {
    let found = found(
        r#"{
          "globalShortcut": "Ctrl+Space",
          "mcpServers": {
            "filesystem": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data"] },
            "slack": {
              "command": "npx", "args": ["-y", "@modelcontextprotocol/server-slack"],
              "env": { "SLACK_BOT_TOKEN": "${SLACK_BOT_TOKEN}", "SLACK_TEAM_ID": "T01234567" }
            }
          }
        }"#,
    );
    assert_eq!((names(&found), warnings(&found)), (vec!["filesystem", "slack"], vec![]));
    assert_eq!(command(&found, "filesystem"), "npx -y @modelcontextprotocol/server-filesystem /data");
    let slack = &found.servers["slack"];
    assert_eq!((slack.file.as_str(), slack.place.as_str()), ("f", "$.mcpServers.slack"));
    assert!(matches!(&slack.transport, Transport::Stdio { env, .. } if env.len() == 2));
}

#[test]
fn a_project_file_of_claude_code() {
    let found = found(
        r#"{ "mcpServers": {
            "api": { "type": "http", "url": "${API:-https://api.example.com}/mcp",
                     "headers": { "Authorization": "Bearer ${API_KEY}" }, "timeout": 600000 },
            "old": { "type": "sse", "url": "https://example.com/sse" },
            "live": { "type": "ws", "url": "wss://example.com/socket" },
            "login": { "type": "http", "url": "https://example.com/mcp",
                       "oauth": { "clientId": "abc", "callbackPort": 8080, "scopes": "read write" } },
            "db": { "type": "stdio", "command": "${CLAUDE_PROJECT_DIR:-.}/db", "args": [], "env": {} }
        } }"#,
    );
    assert_eq!(names(&found), ["api", "db", "live", "login", "old"]);
    assert_eq!(
        warnings(&found),
        ["f: $.mcpServers.login.oauth.callbackPort: `callbackPort` of an OAuth client is ignored"]
    );
    assert_eq!(found.servers["api"].timeout, Some(Duration::from_secs(600)));
    assert_eq!(command(&found, "live"), "WebSocket wss://example.com/socket");
    let client =
        OAuthClient { client_id: Some("abc".into()), client_secret: None, scopes: vec!["read".into(), "write".into()] };
    let auth_of = |name: &str| match &found.servers[name].transport {
        Transport::Remote { auth, .. } => auth.clone(),
        Transport::Stdio { .. } => panic!("{name} is local"),
    };
    assert_eq!((auth_of("login"), auth_of("api")), (Auth::OAuth(client), Auth::None));
}

#[test]
fn the_users_file_of_claude_code_has_much_else() {
    let history: Vec<_> = (0..20_000).map(|turn| json!({ "display": format!("turn {turn}"), "pasted": {} })).collect();
    let text = json!({
        "numStartups": 12, "projects": { "/p": { "history": history, "mcpServers": { "other": { "command": "x" } } } },
        "mcpServers": { "mine": { "type": "stdio", "command": "x", "args": [], "env": {} } }
    });
    let found = found(&text.to_string());
    assert_eq!((names(&found), warnings(&found)), (vec!["mine"], vec![]));
}

#[test]
fn a_file_of_cursor_with_comments() {
    let found = found(
        "\u{feff}{\n  // tools – for all\n  \"mcpServers\": {\n    \"docs\": { \"url\": \"https://docs.example.com/mcp\", \
         \"headers\": { \"X-Key\": \"${env:DOCS_KEY}\" }, },\n    /* \"old\": {} */\n    \"local\": { \"command\": \"python\", \
         \"args\": [\"${workspaceFolder}/tool.py\"], \"envFile\": \".env\" },\n    \"login\": { \"url\": \"https://x\", \
         \"auth\": { \"CLIENT_ID\": \"a\", \"CLIENT_SECRET\": \"${env:S}\", \"scopes\": [\"read\"] } }\n  },\n}\n",
    );
    assert_eq!((names(&found), warnings(&found)), (vec!["docs", "local", "login"], vec![]));
    let Transport::Remote { headers, .. } = &found.servers["docs"].transport else { panic!("docs is remote") };
    assert_eq!(headers["X-Key"].expose(), "${DOCS_KEY}");
    assert_eq!(
        found.servers["local"].unsupported.as_deref(),
        Some("`envFile`: variables from a file are not supported; write them under `env`")
    );
    let Transport::Remote { auth: Auth::OAuth(client), .. } = &found.servers["login"].transport else { panic!() };
    assert_eq!(client.client_secret.as_ref().map(Raw::expose), Some("${S}"));
}

#[test]
fn a_file_of_windsurf_and_one_of_gemini() {
    let windsurf = found(
        r#"{ "mcpServers": { "remote": { "serverUrl": "https://x/mcp", "disabledTools": ["rm", "mv"], "disabled": true } } }"#,
    );
    let remote = &windsurf.servers["remote"];
    assert_eq!((remote.enabled, command(&windsurf, "remote").as_str()), (false, "Http https://x/mcp"));
    assert!(remote.tool_filters.allows("ls") && !remote.tool_filters.allows("rm"));
    let gemini = found(
        r#"{ "theme": "x", "mcpServers": { "g": { "httpUrl": "https://x", "timeout": 30000, "trust": true,
             "includeTools": ["a", "b"], "excludeTools": ["b"] } } }"#,
    );
    let server = &gemini.servers["g"];
    assert!(matches!(server.transport, Transport::Remote { kind: RemoteKind::Http, .. }));
    assert_eq!((server.timeout, warnings(&gemini)), (Some(Duration::from_secs(30)), vec![]));
    assert_eq!(["a", "b", "c"].map(|tool| server.tool_filters.allows(tool)), [true, false, false]);
}

#[test]
fn files_of_vs_code() {
    let text = r#"{
        // asked once
        "inputs": [{ "type": "promptString", "id": "token", "description": "Token", "password": true }],
        "servers": {
            "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" },
            "asks": { "command": "npx", "args": ["x"], "env": { "TOKEN": "${input:token}", "PORT": 3000, "OFF": null } },
            "boxed": { "command": "x", "sandboxEnabled": true, "dev": { "watch": "x" } },
            "unboxed": { "command": "x", "sandboxEnabled": false },
        },
    }"#;
    let project = found(text);
    assert_eq!((names(&project), warnings(&project)), (vec!["asks", "boxed", "github", "unboxed"], vec![]));
    assert_eq!(
        project.servers["asks"].unsupported.as_deref(),
        Some("`${input:token}` is an input prompt of its editor; write `${NAME}` for a variable")
    );
    let Transport::Stdio { env, .. } = &project.servers["asks"].transport else { panic!("asks is local") };
    assert_eq!((env["PORT"].expose(), env.contains_key("OFF")), ("3000", false));
    assert!(project.servers["boxed"].unsupported.is_some() && project.servers["unboxed"].unsupported.is_none());
    let settings =
        found(r#"{ "editor.fontSize": 12, "mcp": { "inputs": [], "servers": { "a": { "command": "x" } } } }"#);
    assert_eq!(settings.servers["a"].place, "$.mcp.servers.a");
}

#[test]
fn settings_of_zed_in_both_forms() {
    let found = found(
        r#"{ "context_servers": {
            "new": { "source": "custom", "command": "x", "args": ["y"], "env": {} },
            "old": { "command": { "path": "a", "args": ["b"], "env": null }, "settings": {} }
        } }"#,
    );
    assert_eq!((command(&found, "new"), command(&found, "old")), ("x y".to_owned(), "a b".to_owned()));
    assert_eq!(warnings(&found), Vec::<String>::new());
}

#[test]
fn a_list_of_servers_with_names() {
    let list = r#"[{ "name": "filesystem", "command": "npx", "args": ["-y", "fs", "/"] },
                   { "name": "github", "command": "npx", "env": { "TOKEN": "${GITHUB_TOKEN}" } }, { "command": "x" }]"#;
    for (text, place) in [
        (format!(r#"{{ "servers": {list} }}"#), "$.servers"),
        (format!(r#"{{ "mcp": {{ "enabled": true, "client": {{ "servers": {list} }} }} }}"#), "$.mcp.client.servers"),
    ] {
        let found = found(&text);
        assert_eq!(names(&found), ["filesystem", "github"]);
        assert_eq!(found.servers["github"].place, format!("{place}[1]"));
        let expected = format!("f: {place}[2]: server skipped: a server in a list needs a `name`");
        assert_eq!(warnings(&found), [expected]);
    }
}

#[test]
fn a_timeout_is_in_milliseconds_and_implausible_ones_are_ignored() {
    for (given, expected) in [(json!(1000), 1), (json!(60_000), 60), (json!("30s"), 30)] {
        let found = server(json!({ "command": "x", "timeout": given }));
        assert_eq!(found.servers["s"].timeout, Some(Duration::from_secs(expected)), "{given}");
    }
    for given in [json!(60), json!(0), json!(-1), json!(1500.5), json!(1e18)] {
        let found = server(json!({ "command": "x", "timeout": given }));
        assert_eq!((found.servers["s"].timeout, found.warnings.len()), (None, 1), "{given}");
    }
}

#[test]
fn names_are_translated_and_valid_names_take_precedence() {
    let found = found(
        r#"{ "mcpServers": {
            "GitHub MCP": { "command": "a" }, "github-mcp": { "command": "b" }, "__proto__": { "command": "c" },
            "日本": { "command": "d" }, "constructor": { "command": "e" }, "A B": { "command": 1 }
        } }"#,
    );
    assert_eq!(names(&found), ["constructor", "github-mcp", "proto"]);
    assert_eq!(command(&found, "github-mcp"), "b");
    assert_eq!(
        warnings(&found),
        [
            "f: $.mcpServers[\"GitHub MCP\"]: server skipped: the name `github-mcp` is already used by \
             $.mcpServers.github-mcp",
            "f: $.mcpServers.__proto__: `__proto__` is renamed to `proto`",
            "f: $.mcpServers[\"日本\"]: server skipped: `日本` contains no letter or digit for a name",
            "f: $.mcpServers[\"A B\"].command: server skipped: expected a program, or a list of a program and \
             its arguments, found a number",
        ]
    );
}
