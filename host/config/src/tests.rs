use super::{Config, Format, bounds, from_text, from_value};
use serde_json::{Value, json};

const JSON: &str = r#"{
    "$schema": "./schemas/agent-spaces.config.schema.json",
    "capabilities": { "global": ["@agent-spaces/std", { "path": "./x.json", "as": "x" }] },
    "mcpServers": { "slack": { "command": "npx", "args": ["-y", "slack"], "env": { "TOKEN": "${TOKEN}" } } },
    "limits": { "fuel": "1_000_000_000", "time": "5s", "memory": 67108864 },
    "policy": { "preset": "standard" },
    "spaces": { "my-space": { "capabilities": ["mcp:slack"], "limits": { "time": 0.5 } } }
}"#;

const TOML: &str = r#"
    "$schema" = "./schemas/agent-spaces.config.schema.json"
    policy.preset = "standard"
    [capabilities]
    global = ["@agent-spaces/std", { path = "./x.json", as = "x" }]
    [mcpServers.slack]
    command = "npx"
    args = ["-y", "slack"]
    env.TOKEN = "${TOKEN}"
    [limits]
    fuel = "1_000_000_000"
    time = "5s"
    memory = 67_108_864
    [spaces.my-space]
    capabilities = ["mcp:slack"]
    limits.time = 0.5
"#;

const YAML: &str = r#"
# The same once more.
"$schema": ./schemas/agent-spaces.config.schema.json
capabilities:
  global:
    - "@agent-spaces/std"
    - { path: ./x.json, as: x }
mcpServers:
  slack: { command: npx, args: [-y, slack], env: { TOKEN: "${TOKEN}" } }
limits: { fuel: 1_000_000_000, time: 5s, memory: 67108864 }
policy:
  preset: standard
spaces:
  my-space:
    capabilities: [mcp:slack]
    limits: { time: 0.5 }
"#;

#[test]
fn json_toml_yaml_and_values_give_the_same_configuration() {
    let json = from_text("f", JSON, Format::Json).unwrap();
    assert_eq!(json.mcp_servers.len() + json.spaces.len() + json.global.len(), 4);
    assert_eq!(from_text("f", TOML, Format::Toml).unwrap(), json);
    assert_eq!(from_text("f", YAML, Format::Yaml).unwrap(), json);
    assert_eq!(from_value("f", serde_json::from_str(JSON).unwrap()).unwrap(), json);
    assert_eq!(from_text("f", &format!("\u{feff}{JSON}"), Format::Json).unwrap(), json);
}

#[test]
fn all_keys_are_optional_and_no_others_exist() {
    let empty = Config { file: "f".into(), ..Config::default() };
    assert_eq!(from_text("f", "{}", Format::Json).unwrap(), empty);
    assert_eq!(from_text("f", "", Format::Toml).unwrap(), empty);
    assert_eq!(from_text("f", "# nothing yet\n", Format::Yaml).unwrap(), empty);
    assert_eq!(
        from_text("f", r#"{"capabilites": {}}"#, Format::Json).unwrap_err().to_string(),
        "f: $.capabilites: unknown key `capabilites`; did you mean `capabilities`?"
    );
    assert_eq!(
        from_text("f", "[mcpservers.a]\ncommand = 'x'", Format::Toml).unwrap_err().to_string(),
        "f: $.mcpservers: unknown key `mcpservers`; did you mean `mcpServers`?"
    );
    for value in [json!([]), json!(null), json!("x"), json!({ "__proto__": {} }), json!({ "$schema": 1 })] {
        assert!(from_value("f", value.clone()).is_err(), "{value}");
    }
}

#[test]
fn size_is_limited_as_text_and_as_value() {
    let long = "x".repeat(bounds::MAX_BYTES);
    let text = format!("{{\"$schema\": \"{long}\"}}");
    assert!(from_text("f", &text, Format::Json).unwrap_err().message.contains("bytes"));
    assert!(from_value("f", json!({ "$schema": long })).unwrap_err().message.contains("larger than"));
    assert!(from_value("f", json!({ "$schema": vec![0; bounds::MAX_BYTES] })).unwrap_err().message.contains("larger"));
    let fits = "x".repeat(bounds::MAX_BYTES - 100);
    assert!(from_text("f", &format!("{{\"$schema\": \"{fits}\"}}"), Format::Json).is_ok());
}

#[test]
fn depth_is_limited_and_dropping_a_refused_value_does_not_overflow() {
    let mut deep = Value::Null;
    for _ in 0..1_000_000 {
        deep = Value::Array(vec![deep]);
    }
    assert!(from_value("f", deep).unwrap_err().message.contains("deeper"));
}

#[test]
fn a_file_with_thousands_of_spaces_is_read() {
    let spaces: serde_json::Map<_, _> = (0..30_000).map(|n| (format!("space-{n}"), json!({}))).collect();
    let text = json!({ "spaces": spaces }).to_string();
    assert_eq!(from_text("f", &text, Format::Json).unwrap().spaces.len(), 30_000);
}

#[test]
fn damaged_text_is_refused_without_a_panic() {
    for end in (1..JSON.len()).filter(|end| JSON.is_char_boundary(*end)) {
        let error = from_text("f", &JSON[..end], Format::Json).unwrap_err();
        assert!(error.position.is_some() && error.to_string().starts_with("f:"), "{error}");
    }
    for (format, text) in [(Format::Json, JSON), (Format::Toml, TOML), (Format::Yaml, YAML)] {
        for (start, old) in text.char_indices() {
            for new in ["", "\"", "{", "]", ".", "\0", "é", "9"] {
                let damaged = [&text[..start], new, &text[start + old.len_utf8()..]].concat();
                if let Err(error) = from_text("f", &damaged, format) {
                    assert!(error.file == "f" && error.path.starts_with('$') && !error.message.is_empty(), "{error}");
                }
            }
        }
    }
}
