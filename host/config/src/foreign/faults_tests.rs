use super::tests::{found, names, server, warnings};
use super::{Foreign, MAX_BYTES, MAX_SERVERS, MAX_WARNINGS, read};
use serde_json::{Value, json};

#[test]
fn unknown_keys_warn_and_invalid_servers_are_skipped() {
    let found = found(
        r#"{ "mcpServers": {
            "good": { "command": "x", "argz": ["y"], "future": { "deep": [1] }, "alwaysAllow": ["a"] },
            "typo": { "comand": "x" }, "wrong": { "command": 7 }, "both": { "command": "x", "url": "https://x" },
            "word": "npx", "nothing": null, "tools": { "command": "x", "disabledTools": "rm" }
        } }"#,
    );
    assert_eq!(names(&found), ["good"]);
    assert_eq!(
        warnings(&found),
        [
            "f: $.mcpServers.good.argz: unknown key `argz`; did you mean `args`?",
            "f: $.mcpServers.good.future: unknown key `future`; it is ignored",
            "f: $.mcpServers.typo.comand: unknown key `comand`; did you mean `command`?",
            "f: $.mcpServers.typo: server skipped: an MCP server has a `command` or a `url`, and this one has \
             neither; add `command` for a local server or `url` for a remote one",
            "f: $.mcpServers.wrong.command: server skipped: expected a program, or a list of a program and its \
             arguments, found a number",
            "f: $.mcpServers.both: server skipped: an MCP server has a `command` or a `url`, and this one has \
             both; keep the one to use",
            "f: $.mcpServers.word: server skipped: expected an MCP server, found a string",
            "f: $.mcpServers.nothing: server skipped: expected an MCP server, found null",
            "f: $.mcpServers.tools.disabledTools: server skipped: expected a list of tools, found a string",
        ]
    );
}

#[test]
fn keys_of_the_other_kind_of_server_are_ignored() {
    let found = server(json!({ "url": "https://x", "args": [], "env": { "A": "b" } }));
    assert_eq!(
        (names(&found), warnings(&found)),
        (vec!["s"], vec!["f: $.mcpServers.s: `env` is ignored: it belongs to another kind of server".to_owned()])
    );
    assert_eq!(warnings(&server(json!({ "command": "x", "headers": {} }))), Vec::<String>::new());
}

#[test]
fn a_file_without_servers_is_empty_and_a_misspelt_key_is_a_warning() {
    for text in ["", " \n", "// nothing\n", "{}", r#"{ "mcpServers": {} }"#, r#"{ "mcp": 1 }"#, r#"{ "theme": "x" }"#] {
        assert_eq!(found(text), Foreign::default(), "{text}");
    }
    assert_eq!(
        warnings(&found(r#"{ "mcp_servers": { "a": { "command": "x" } } }"#)),
        ["f: $.mcp_servers: unknown key `mcp_servers`; did you mean `mcpServers`?"]
    );
    assert_eq!(
        warnings(&found(r#"{ "mcpServers": "x" }"#)),
        ["f: $.mcpServers: expected an object of MCP servers, found a string"]
    );
}

#[test]
fn invalid_json_is_refused_with_its_position() {
    let message = |text: &str| read("f", text).unwrap_err().to_string();
    assert_eq!(message("{ /* é */ \"a\": tru }"), "f:1:19: expected ident");
    assert!(message("[]").contains("found a list"));
    assert_eq!(
        message("{ \"mcpServers\": {\n \"a\": {}, // one\n \"a\": {} } }"),
        "f:3:4: $.mcpServers.a: duplicate key `a`; keep one"
    );
    for text in ["{", "{ /* }", "{ \"a\": }", "\0", "{'a': 1}"] {
        assert!(read("f", text).unwrap_err().position.is_some(), "{text}");
    }
}

#[test]
fn a_hostile_file_ends_in_an_error_or_in_bounded_warnings() {
    assert!(read("f", &" ".repeat(MAX_BYTES + 1)).unwrap_err().message.contains("bytes"));
    for open in ["[", "{\"mcpServers\":", "/*", "\"", "{\"a\":["] {
        assert!(read("f", &open.repeat(100_000)).is_err(), "{open}");
    }
    let deep = format!(r#"{{ "mcpServers": {{ "a": {{ "command": {}1{} }} }} }}"#, "[".repeat(50), "]".repeat(50));
    assert!(warnings(&found(&deep))[0].starts_with("f: $.mcpServers.a: server skipped: the configuration is nested"));
    let many: Value = (0..3_000).map(|index| (format!("s{index}"), json!({ "command": "x", "odd": 1 }))).collect();
    let found = found(&json!({ "mcpServers": many }).to_string());
    assert_eq!((found.servers.len(), found.warnings.len()), (MAX_SERVERS, MAX_WARNINGS + 1));
    assert_eq!(found.warnings.last().unwrap().message, "2900 more warnings not shown");
}

#[test]
fn values_are_never_in_warnings() {
    let found = found(
        r#"{ "mcpServers": {
            "a": { "url": "hunter2" }, "b": { "command": "x", "env": { "A": ["hunter2"] } },
            "c": { "url": "https://x", "headers": { "A": "hunter2\n" } }, "d": { "command": "x", "key": "hunter2" },
            "e": { "url": "https://x", "auth": "hunter2" }, "f": { "url": "https://x", "oauth": { "clientSecret": "hunter2" } },
            "g": { "command": "x", "args": ["hunter2${input:x}"] }
        } }"#,
    );
    assert_eq!((names(&found), found.warnings.len()), (vec!["d", "g"], 6));
    assert!(!format!("{found:?}").contains("hunter2") && !warnings(&found).concat().contains("hunter2"), "{found:?}");
}
