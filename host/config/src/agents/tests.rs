use super::{Agent, AgentOutput, AgentPrompt, AgentTools, ModelChoice, RESERVED_AGENT_NAMES};
use crate::from_value;
use serde_json::{Value, json};
use std::time::Duration;

fn read(agent: Value) -> Result<Agent, String> {
    let config = json!({ "agents": { "planner": agent }, "spaces": { "support": {} } });
    from_value("f", config)
        .map(|mut config| config.agents.remove("planner").unwrap())
        .map_err(|error| error.to_string())
}

fn choice(provider: &str, model: &str) -> ModelChoice {
    ModelChoice { provider: provider.into(), model: model.into() }
}

#[test]
fn an_agent_has_models_prompt_tools_limits_and_budgets() {
    let agent = read(json!({
        "description": "Plans", "models": ["anthropic/claude"], "prompt": "Plan. Say ${x} as it is.", "space": "support",
        "tools": "code", "output": { "schema": { "type": "object" } }, "temperature": 0.5, "topP": 1,
        "maxOutputTokens": "4k", "parallelToolCalls": false,
        "limits": { "turns": 5, "time": "2min", "toolTimeout": 30, "parallelCalls": 2, "attempts": 1 },
        "budgets": { "run": { "tokens": "1M", "cost": 0.5 }, "day": { "cost": 20 } },
    }))
    .unwrap();
    assert_eq!(agent.models, [choice("anthropic", "claude")]);
    assert_eq!(agent.prompt, Some(AgentPrompt::Text("Plan. Say ${x} as it is.".into())));
    assert_eq!((agent.space.as_deref(), agent.tools), (Some("support"), Some(AgentTools::Code)));
    assert_eq!(agent.output, AgentOutput::Schema(json!({ "type": "object" })));
    assert_eq!((agent.temperature.unwrap().get(), agent.top_p.unwrap().get()), (0.5, 1.0));
    assert_eq!((agent.max_output_tokens, agent.parallel_tool_calls), (Some(4_000), Some(false)));
    assert_eq!((agent.limits.turns, agent.limits.time), (Some(5), Some(Duration::from_secs(120))));
    assert_eq!(agent.budgets.run.tokens, Some(1_000_000));
    assert_eq!((agent.budgets.session.tokens, agent.budgets.day.cost.unwrap().get()), (None, 20.0));
}

#[test]
fn models_are_tried_as_listed_and_providers_within_a_model() {
    let agent = read(json!({
        "models": ["openrouter/meta/llama:free", { "model": "gpt-5", "providers": ["openai", "azure"] }, "ollama/qwen3"],
    }));
    let expected = [
        choice("openrouter", "meta/llama:free"),
        choice("openai", "gpt-5"),
        choice("azure", "gpt-5"),
        choice("ollama", "qwen3"),
    ];
    assert_eq!(agent.unwrap().models, expected);
    for (wrong, why) in [
        (json!([]), "is empty"),
        (json!(["claude"]), "names no provider; write `provider/claude`"),
        (json!(["/x"]), "names no provider"),
        (json!(["a/b", "a/b"]), "listed twice"),
        (json!(["a/b c"]), "cannot be the name of a model"),
        (json!([{ "model": "x" }]), "`providers` is missing"),
        (json!(["a b/c"]), "cannot be the name of a provider"),
        (json!("a/b"), "a list of models"),
    ] {
        let message = read(json!({ "models": wrong })).unwrap_err();
        assert!(message.contains("$.agents.planner.models") && message.contains(why), "{message}");
    }
    assert!(read(json!({})).unwrap_err().contains("the key `models` is missing"));
}

#[test]
fn wrong_settings_are_refused_with_their_path() {
    let with = |key: &str, value: Value| {
        let mut agent = json!({ "models": ["a/b"] });
        agent[key] = value;
        read(agent)
    };
    for (key, value) in [
        ("tools", json!("codes")),
        ("output", json!("html")),
        ("output", json!({})),
        ("output", json!({ "schema": "x" })),
        ("temperature", json!(3)),
        ("topP", json!(-1)),
        ("space", json!("sales")),
        ("limits", json!({ "turns": 0 })),
        ("limits", json!({ "parallelCalls": 65 })),
        ("budgets", json!({ "week": {} })),
        ("budgets", json!({ "run": { "cost": -1 } })),
        ("description", json!("x".repeat(5_000))),
    ] {
        let message = with(key, value.clone()).unwrap_err();
        assert!(message.contains(&format!("$.agents.planner.{key}")), "{key} {value}: {message}");
    }
    let both = read(json!({ "models": ["a/b"], "prompt": "x", "promptFile": "./x.md" })).unwrap_err();
    assert!(both.contains("keep one"), "{both}");
    assert_eq!(with("promptFile", json!("./x.md")).unwrap().prompt, Some(AgentPrompt::File("./x.md".into())));
}

#[test]
fn names_of_agents_are_safe_in_paths_and_no_routes() {
    let named = |name: &str| from_value("f", json!({ "agents": { name: { "models": ["a/b"] } } }));
    for name in ["planner", "a", "A_1-b", "spaces2"] {
        assert!(named(name).is_ok(), "{name}");
    }
    for name in ["", "a.b", "a/b", "-a", "_a", "ä", "a b", &"x".repeat(65)] {
        assert!(named(name).unwrap_err().message.contains("cannot be the name of an agent"), "{name}");
    }
    for name in ["spaces", "Models", "chat"] {
        assert!(named(name).unwrap_err().message.contains("is a route of the server"), "{name}");
    }
}

#[test]
fn every_route_of_the_service_is_reserved() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/openapi.json");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let firsts: Vec<&str> = paths
        .keys()
        .filter_map(|path| path.strip_prefix("/v1/")?.split('/').next())
        .filter(|part| !part.starts_with('{'))
        .collect();
    assert!(firsts.contains(&"spaces"), "{firsts:?}");
    for first in firsts {
        // A name with another character is no agent's.
        let is_possible = first.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        assert!(!is_possible || RESERVED_AGENT_NAMES.contains(&first), "{first} is a route, and not reserved");
    }
}
