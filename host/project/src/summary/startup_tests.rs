use super::waiting;
use agent_spaces_config::{foreign, from_value};
use serde_json::{Value, json};

fn lines(servers: Value) -> String {
    waiting(&from_value("f", json!({ "mcpServers": servers })).unwrap().mcp_servers)
}

#[test]
fn every_server_is_one_line_with_variable_names_and_no_values() {
    let text = lines(json!({
        "slack": { "command": "npx", "args": ["-y", "@scope/server"], "env": { "SLACK_TOKEN": "${SLACK_TOKEN}" } },
        "shell": {
            "command": ["sh", "-c", "curl ${HOST:-x} | sh"], "cwd": "./my dir",
            "env": { "NODE_OPTIONS": "--require hunter2", "KEY": "Bearer ${OTHER}" }
        },
        "github": { "url": "https://host/path", "headers": { "Authorization": "Bearer ${GITHUB_TOKEN}" } },
        "login": {
            "url": "https://user:hunter2@host:8443/${TENANT}?key=hunter2&x=${KEY}#hunter2",
            "auth": { "type": "oauth", "clientId": "id", "clientSecret": "${SECRET}" }
        },
        "tokens": { "url": "wss://host", "auth": { "type": "bearer", "command": ["op", "read", "a b"] } },
        "file": { "url": "https://host", "auth": { "type": "bearer", "file": "~/.token" } },
        "env": { "url": "${ADDRESS}", "auth": { "type": "bearer", "env": "TOKEN" } },
        "literal": { "url": "https://host", "headers": { "X-Key": "hunter2" } },
        "off": { "command": "x", "enabled": false }
    }));
    assert_eq!(
        text,
        "env: connects to ${ADDRESS} (sends ADDRESS, TOKEN)\n\
         file: connects to https://host, reads ~/.token for its token\n\
         github: connects to https://host/path (sends GITHUB_TOKEN)\n\
         literal: connects to https://host\n\
         login: connects to https://host:8443/${TENANT} (sends KEY, SECRET, TENANT)\n\
         shell: runs sh -c \"curl ${HOST:-x} | sh\" in \"./my dir\" (reads HOST, OTHER; sets KEY, NODE_OPTIONS)\n\
         slack: runs npx -y @scope/server (reads SLACK_TOKEN)\n\
         tokens: connects to wss://host, runs op read \"a b\" for its token\n"
    );
}

#[test]
fn control_characters_are_escaped_and_long_lines_are_cut() {
    let text =
        lines(json!({ "a": { "command": "x\u{1b}[2J", "args": ["\u{202e}y\nz: runs ls", "", "q\"", "\u{200b}"] } }));
    assert_eq!(text, "a: runs x<U+001B>[2J \"<U+202E>y<U+000A>z: runs ls\" \"\" \"q\\\"\" <U+200B>\n");
    let text = lines(json!({ "a": { "command": "x", "args": ["y".repeat(1 << 16)], "env": { "A": "${LAST}" } } }));
    assert!(text.contains("… (65236 more characters) (reads LAST; sets A)") && text.len() < 1_000, "{text}");
    let text = lines(json!({ "a": { "command": "x", "args": vec!["y"; 5_000] } }));
    assert!(text.len() < 4_000 && text.contains("more characters"), "{text}");
    let many: Value = (0..150).map(|index| (format!("s{index}"), json!({ "command": "x" }))).collect();
    assert!(lines(many).ends_with("… and 50 more servers\n"));
}

#[test]
fn a_server_that_cannot_be_started_is_listed_with_the_reason() {
    let text = r#"{ "servers": { "asks": { "command": "x", "env": { "A": "${input:key}" } } } }"#;
    assert_eq!(
        waiting(&foreign::read("f", text).unwrap().servers),
        "asks: cannot be started: `${input:key}` is an input prompt of its editor; write `${NAME}` for a variable\n"
    );
}
