use super::{ConfiguredAgents, DEFAULT_AGENT};
use crate::definition::{OutputFormat, ToolMode};
use crate::error::AgentError;
use agent_spaces_config::{ModelChoice, from_value};
use agent_spaces_models::{Api, ToolChoice};
use agent_spaces_secrets::{Redactor, Variables};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

fn agents(config: Value) -> ConfiguredAgents {
    let config = from_value("f", config).unwrap();
    let variables = [("KEY", "sk-0123456789abcdef"), ("EMPTY_KEY", "")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let empty =
        ConfiguredAgents::new("f".to_owned(), PathBuf::new(), Variables::from_map(variables), Redactor::default());
    ConfiguredAgents { models: config.models, agents: config.agents, ..empty }
}

fn message(result: Result<impl std::fmt::Debug, AgentError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn an_agent_has_its_models_in_order_with_keys_and_addresses() {
    let agents = agents(json!({
        "models": {
            "anthropic": { "apiKey": "${KEY}", "models": { "claude": {
                "contextWindow": 200_000, "maxOutputTokens": 1000, "options": { "a": { "y": 2 } },
                "price": { "input": 3, "output": 15 },
            } }, "options": { "a": { "x": 1 } }, "toolChoice": "required" },
            "ollama": { "baseUrl": "http://localhost:11434/v1", "stream": false, "timeout": "5s" },
            "openrouter": { "apiKey": "none" },
        },
        "agents": { "planner": {
            "models": ["anthropic/claude", "ollama/qwen3", "openrouter/a/b"], "prompt": "Plan.", "tools": "off",
            "output": "markdown", "limits": { "turns": 3 }, "budgets": { "run": { "cost": 1 } },
        } },
    }));
    let planner = agents.definition("planner", &[]).unwrap();
    assert_eq!((planner.prompt.as_str(), planner.tools), ("Plan.", ToolMode::Off));
    assert_eq!((planner.output, planner.limits.turns), (OutputFormat::Markdown, 3));
    assert_eq!((planner.budgets.run.cost, planner.budgets.day.cost), (Some(1.0), None));
    let [claude, qwen, router] = planner.models.as_slice() else { panic!("three models") };
    assert_eq!((claude.label(), claude.provider.api), ("anthropic/claude".to_owned(), Api::Anthropic));
    assert_eq!(claude.provider.key.as_ref().unwrap().expose(), "sk-0123456789abcdef");
    assert_eq!((claude.window.tokens, claude.max_output_tokens), (200_000, Some(1_000)));
    assert_eq!((claude.tool_choice.clone(), claude.stream), (Some(ToolChoice::Required), true));
    assert_eq!(Value::Object(claude.options.clone()), json!({ "a": { "x": 1, "y": 2 } }));
    assert_eq!(claude.price.unwrap().output, 15.0);
    assert_eq!(qwen.provider.base_url.as_str(), "http://localhost:11434/api");
    assert_eq!((qwen.stream, qwen.provider.timeout, qwen.window.tokens), (false, Duration::from_secs(5), 131_072));
    assert!(qwen.provider.key.is_none() && router.provider.openrouter && !qwen.provider.openrouter);
    // The key that was read is masked from now on; a word that is no key is not.
    assert!(!agents.redactor.text("sent sk-0123456789abcdef").contains("0123456789"));
    assert_eq!(agents.redactor.text("none of it"), "none of it");
    assert!(!format!("{claude:?}").contains("0123456789"));
}

#[test]
fn errors_name_file_place_and_fix_and_only_the_agent_that_needs_it_fails() {
    let agents = agents(json!({
        "models": {
            "openai": { "apiKey": "${ABSENT}" }, "empty": { "api": "anthropic", "apiKey": "${EMPTY_KEY}" },
            "broken": { "api": "gemini", "baseUrl": "${KEY}" },
        },
        "agents": {
            "a": { "models": ["openai/gpt"] }, "b": { "models": ["empty/x"] }, "c": { "models": ["opnai/gpt"] },
            "d": { "models": ["broken/x"] }, "e": { "models": ["empty/x"], "promptFile": "./absent.md" },
            "g": { "models": ["empty/x"], "output": { "schema": { "type": 7 } } },
        },
    }));
    let failed = |name: &str| message(agents.definition(name, &[]));
    assert!(failed("a").starts_with("f: $.models.openai.apiKey: the variable `ABSENT` is not set"), "{}", failed("a"));
    assert!(agents.definition("b", &[]).unwrap().models[0].provider.key.is_none());
    assert_eq!(failed("c"), "f: $.agents.c.models: there is no provider \"opnai\"; did you mean `openai`?");
    assert!(failed("d").starts_with("f: $.models.broken.baseUrl: ") && !failed("d").contains("0123456789"));
    assert!(failed("e").contains("$.agents.e.promptFile: absent.md: there is no such file"), "{}", failed("e"));
    assert!(failed("g").contains("$.agents.g.output.schema"), "{}", failed("g"));
    let unknown = failed("planer");
    assert!(unknown.contains("\"planer\"") && unknown.contains("a, b, c"), "{unknown}");
    assert!(message(agents.only()).contains("which agent?"));
}

#[test]
fn a_secret_in_an_address_is_masked() {
    let agents = agents(json!({
        "models": { "gate": { "api": "openai-chat", "baseUrl": "https://gate.example/${KEY}/v1" } },
        "agents": { "a": { "models": ["gate/m"] } },
    }));
    assert!(agents.definition("a", &[]).is_ok());
    assert!(!agents.redactor.text("POST https://gate.example/sk-0123456789abcdef/v1").contains("0123456789"));
}

#[test]
fn the_window_of_ollama_is_the_one_that_is_sent() {
    let agents = agents(json!({
        "models": { "ollama": { "options": { "think": true }, "models": {
            "window": { "contextWindow": 8_000 },
            "option": { "options": { "options": { "num_ctx": 4_000, "top_k": 1 } } },
            "both": { "contextWindow": 8_000, "options": { "options": { "num_ctx": 2_000 } } },
        } } },
        "agents": { "x": { "models": ["ollama/window", "ollama/option", "ollama/both", "ollama/neither"] } },
    }));
    let models = agents.definition("x", &[]).unwrap().models;
    let windows: Vec<u64> = models.iter().map(|model| model.window.tokens).collect();
    assert_eq!(windows, [8_000, 4_000, 2_000, 131_072]);
    let options: Vec<Value> = models.into_iter().map(|model| Value::Object(model.options)).collect();
    assert_eq!(
        options,
        [
            json!({ "think": true, "options": { "num_ctx": 8_000 } }),
            json!({ "think": true, "options": { "num_ctx": 4_000, "top_k": 1 } }),
            json!({ "think": true, "options": { "num_ctx": 2_000 } }),
            json!({ "think": true }),
        ]
    );
}

#[test]
fn a_budget_of_money_needs_a_price() {
    let agents = |price: Value| {
        agents(json!({
            "models": { "ollama": { "models": { "a": price, "b": {} } } },
            "agents": { "x": { "models": ["ollama/a", "ollama/b"], "budgets": { "day": { "cost": 1 } } } },
        }))
    };
    let unpriced = message(agents(json!({})).definition("x", &[]));
    assert!(unpriced.starts_with("f: $.agents.x.budgets: no model of the agent has a price"), "{unpriced}");
    assert!(agents(json!({ "price": { "input": 1, "output": 2 } })).definition("x", &[]).is_ok());
    // Whoever names a model on the command line knows what it costs.
    assert!(agents(json!({})).definition("x", &[ModelChoice::parse("ollama/c").unwrap()]).is_ok());
}

#[test]
fn there_is_a_default_agent_without_any() {
    let one = agents(json!({ "models": { "ollama": { "models": { "qwen3": {} } } } }));
    assert_eq!((one.only(), one.names()[0].0.as_str()), (Ok(DEFAULT_AGENT), DEFAULT_AGENT));
    let agent = one.definition(DEFAULT_AGENT, &[]).unwrap();
    assert_eq!((agent.models[0].label(), agent.tools), ("ollama/qwen3".to_owned(), ToolMode::Auto));
    assert!(!agent.prompt.is_empty());
    let two = agents(json!({ "models": { "ollama": { "models": { "a": {}, "b": {} } } } }));
    assert!(message(two.definition(DEFAULT_AGENT, &[])).contains("several models"));
    let none = agents(json!({}));
    assert!(message(none.definition(DEFAULT_AGENT, &[])).contains("no model is configured"));
    // An agent of that name is not made up beside others.
    let others = agents(json!({ "models": { "ollama": {} }, "agents": { "x": { "models": ["ollama/a"] } } }));
    assert!(others.definition(DEFAULT_AGENT, &[]).is_err());
    assert_eq!(others.only(), Ok("x"));
}

#[test]
fn a_model_of_the_command_line_replaces_those_of_the_agent() {
    let agents = agents(json!({ "models": {}, "agents": { "x": { "models": ["absent/a"] } } }));
    let given = [ModelChoice::parse("ollama/qwen3").unwrap()];
    let agent = agents.definition("x", &given).unwrap();
    assert_eq!(agent.models[0].label(), "ollama/qwen3");
    let unknown = [ModelChoice::parse("elsewhere/x").unwrap()];
    assert!(message(agents.definition("x", &unknown)).starts_with("--model: there is no provider"));
    // Its usual variable is read, and absent here.
    let openai = [ModelChoice::parse("openai/gpt").unwrap()];
    assert!(message(agents.definition("x", &openai)).contains("`OPENAI_API_KEY` is not set"));
}
