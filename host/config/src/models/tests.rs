use super::{ModelApi, ModelProvider, ToolChoiceSetting};
use crate::from_value;
use serde_json::{Value, json};
use std::time::Duration;

fn read(name: &str, provider: Value) -> Result<ModelProvider, String> {
    let config = from_value("f", json!({ "models": { name: provider } }));
    config.map(|mut config| config.models.remove(name).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn names_of_providers_imply_format_and_address() {
    let of = |name: &str| read(name, json!({})).map(|provider| (provider.api, provider.base_url.expose().to_owned()));
    assert_eq!(of("openai"), Ok((ModelApi::OpenaiResponses, "https://api.openai.com/v1".into())));
    assert_eq!(of("anthropic"), Ok((ModelApi::Anthropic, "https://api.anthropic.com/v1".into())));
    assert_eq!(of("google"), of("gemini"));
    assert_eq!(of("openrouter"), Ok((ModelApi::OpenaiChat, "https://openrouter.ai/api/v1".into())));
    assert_eq!(of("ollama").unwrap().0, ModelApi::Ollama);
    assert!(of("vllm").unwrap_err().contains("`api` is missing"));
    let chat = read("openai", json!({ "api": "openai-chat" })).unwrap();
    assert_eq!((chat.api, chat.base_url.expose()), (ModelApi::OpenaiChat, "https://api.openai.com/v1"));
    let work = read("work", json!({ "api": "anthropic" })).unwrap();
    assert_eq!(work.base_url.expose(), "https://api.anthropic.com/v1");
    // Deny twin: a key is not sent to OpenAI because a format was named.
    assert!(read("vllm", json!({ "api": "openai-chat" })).unwrap_err().contains("`baseUrl` is missing"));
}

#[test]
fn a_provider_has_key_headers_timeout_and_models() {
    let provider = read(
        "vllm",
        json!({
            "api": "openai-chat", "apiKey": "${KEY}", "baseUrl": "http://127.0.0.1:8000/v1", "headers": { "X-Team": "a" },
            "timeout": "90s", "stream": false, "toolChoice": "required", "options": { "seed": 1 },
            "models": { "meta/llama": {
                "contextWindow": 8_000, "contextWindowBufferTokens": 0, "tokenizer": "tiktoken:o200k_base",
                "maxOutputTokens": 500, "toolChoice": "auto", "temperature": 0, "topP": 0.9, "options": {},
                "price": { "input": 0.1, "output": 2, "cached": 0.01 },
            } },
        }),
    )
    .unwrap();
    assert_eq!(provider.api_key.as_ref().unwrap().expose(), "${KEY}");
    assert_eq!((provider.timeout, provider.stream), (Some(Duration::from_secs(90)), Some(false)));
    assert_eq!(provider.tool_choice, Some(ToolChoiceSetting::Required));
    let model = &provider.models["meta/llama"];
    assert_eq!((model.context_window, model.context_window_buffer_tokens), (Some(8_000), Some(0)));
    let price = model.price.unwrap();
    assert_eq!((price.output.get(), price.cached.unwrap().get(), price.cache_write), (2.0, 0.01, None));
}

#[test]
fn wrong_settings_are_refused_without_keys() {
    for wrong in [
        json!({ "apiKey": "" }),
        json!({ "apiKey": "hunter2\nhunter2" }),
        json!({ "apiKey": { "x": "hunter2" } }),
        json!({ "baseUrl": "hunter2" }),
        json!({ "baseUrl": "file:///hunter2" }),
        json!({ "baseUrl": "http://a b" }),
        json!({ "headers": { "A B": "hunter2" } }),
        json!({ "api": "openai" }),
        json!({ "options": [] }),
        json!({ "toolChoice": "none" }),
        json!({ "timeout": 0 }),
        json!({ "key": "hunter2" }),
        json!({ "models": { "a b": {} } }),
        json!({ "models": { "a": { "contextWindow": 0 } } }),
        json!({ "models": { "a": { "contextWindow": 100, "contextWindowBufferTokens": 100 } } }),
        json!({ "models": { "a": { "price": { "input": 1 } } } }),
        json!({ "models": { "a": { "price": { "input": -1, "output": 1 } } } }),
    ] {
        let message = read("openai", wrong.clone()).unwrap_err();
        assert!(message.contains("$.models.openai") && !message.contains("hunter2"), "{wrong}: {message}");
    }
    let provider = read("openai", json!({ "apiKey": "hunter2hunter2", "headers": { "X": "hunter2" } })).unwrap();
    assert!(!format!("{provider:?}").contains("hunter2"));
}

#[test]
fn a_provider_of_the_command_line_reads_its_usual_variable() {
    let openai = ModelProvider::well_known("openai").unwrap();
    assert_eq!(openai.api_key.unwrap().expose(), "${OPENAI_API_KEY}");
    assert_eq!(ModelProvider::well_known("ollama").unwrap().api_key, None);
    assert_eq!(ModelProvider::well_known("elsewhere"), None);
    // Deny twin: a configuration that names no key sends none.
    assert_eq!(read("openai", json!({ "baseUrl": "https://example.com" })).unwrap().api_key, None);
}
