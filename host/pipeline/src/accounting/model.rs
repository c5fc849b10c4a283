//! Lines of an agent: requests to models, and results that its context guard refused.

use super::{Accounting, MAX_ERROR, MAX_NAME, Writer, milliseconds};
use serde::Serialize;
use std::time::{Duration, SystemTime};

/// Error of a result that does not fit into the context window.
const TOO_LARGE: &str = "context window budget exceeded";

/// Usage of one request to a model.
#[derive(Clone, Debug)]
pub struct ModelEntry {
    /// Start time.
    pub began: SystemTime,
    /// Time until the answer was whole, or failed.
    pub latency: Duration,
    /// Name of the provider in the configuration.
    pub provider: String,
    /// Name of the model.
    pub model: String,
    /// Name of the caller, if they have one.
    pub caller: Option<String>,
    /// Session of the agent; empty for none.
    pub session: String,
    /// Tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the request that were read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens of the request that were written into it.
    pub cache_write_tokens: u64,
    /// Tokens of the answer that were reasoning.
    pub reasoning_tokens: u64,
    /// Cost, if the price is known.
    pub cost: Option<f64>,
    /// Error message, if the request failed.
    pub error: Option<String>,
}

impl Default for ModelEntry {
    fn default() -> Self {
        ModelEntry {
            began: SystemTime::UNIX_EPOCH,
            latency: Duration::ZERO,
            provider: String::new(),
            model: String::new(),
            caller: None,
            session: String::new(),
            input_tokens: 0,
            output_tokens: 0,
            cached_tokens: 0,
            cache_write_tokens: 0,
            reasoning_tokens: 0,
            cost: None,
            error: None,
        }
    }
}

/// A tool's result that an agent's context guard refused.
#[derive(Clone, Copy, Debug)]
pub struct GuardEntry<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Session of the agent; empty for none.
    pub session: &'a str,
    /// Name of the caller, if they have one.
    pub caller: Option<&'a str>,
    /// Tokens of the conversation with the result.
    pub projected_tokens: u64,
    /// Tokens that a request may have.
    pub limit_tokens: u64,
    /// Tokens that were left for the result.
    pub remaining_tokens: u64,
}

/// Line of a request to a model.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ModelLine {
    r#type: &'static str,
    timestamp: String,
    status: &'static str,
    latency: f64,
    provider: String,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    cached_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    cache_write_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    reasoning_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Line of a refused result. It has the keys of a call's line, so that whoever reads those reads it, too.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GuardLine {
    r#type: &'static str,
    timestamp: String,
    status: &'static str,
    latency: f64,
    characters_in: u64,
    characters_out: u64,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    error: &'static str,
    details: GuardDetails,
}

/// Tokens of a refused result. Programs that read such logs know these names.
#[derive(Serialize)]
struct GuardDetails {
    projected_tokens: u64,
    limit_tokens: u64,
    remaining_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Accounting {
    /// Appends a request to a model, as [`Accounting::record`] does a call.
    pub fn record_model(&self, entry: ModelEntry) {
        self.append(entry.began, |writer| writer.model_line(&entry));
    }

    /// Appends a result that the context guard refused. The call that gave it has a line of its own.
    pub fn record_guard(&self, entry: GuardEntry<'_>) {
        let began = SystemTime::now();
        self.append(began, |writer| writer.guard_line(began, &entry));
    }
}

impl Writer {
    fn model_line(&self, entry: &ModelEntry) -> ModelLine {
        ModelLine {
            r#type: "llm",
            timestamp: humantime::format_rfc3339_millis(entry.began).to_string(),
            status: if entry.error.is_none() { "ok" } else { "failed" },
            latency: milliseconds(entry.latency),
            provider: self.plain(&entry.provider, MAX_NAME),
            model: self.plain(&entry.model, MAX_NAME),
            session: self.name(&entry.session),
            caller: entry.caller.as_deref().and_then(|caller| self.name(caller)),
            input_tokens: entry.input_tokens,
            output_tokens: entry.output_tokens,
            total_tokens: entry.input_tokens.saturating_add(entry.output_tokens),
            cached_tokens: entry.cached_tokens,
            cache_write_tokens: entry.cache_write_tokens,
            reasoning_tokens: entry.reasoning_tokens,
            // JSON has no other numbers.
            cost: entry.cost.filter(|cost| cost.is_finite()),
            error: entry.error.as_deref().map(|error| self.plain(error, MAX_ERROR)),
        }
    }

    fn guard_line(&self, began: SystemTime, entry: &GuardEntry<'_>) -> GuardLine {
        GuardLine {
            r#type: "tool",
            timestamp: humantime::format_rfc3339_millis(began).to_string(),
            status: "failed",
            latency: 0.0,
            characters_in: 0,
            characters_out: 0,
            command: self.plain(entry.tool, MAX_NAME),
            session: self.name(entry.session),
            caller: entry.caller.and_then(|caller| self.name(caller)),
            error: TOO_LARGE,
            details: GuardDetails {
                projected_tokens: entry.projected_tokens,
                limit_tokens: entry.limit_tokens,
                remaining_tokens: entry.remaining_tokens,
            },
        }
    }

    /// A name, unless it is empty.
    fn name(&self, name: &str) -> Option<String> {
        (!name.is_empty()).then(|| self.plain(name, MAX_NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_secrets::{Redactor, Secret};
    use serde_json::{Value, json};

    /// The lines that this work appends.
    fn lines(work: impl FnOnce(&Accounting)) -> Vec<Value> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("calls.jsonl");
        let redactor = Redactor::default();
        redactor.add(&Secret::new("hunter2hunter2"));
        work(&Accounting::to_file(&path, redactor).expect("opens"));
        let text = std::fs::read_to_string(&path).expect("readable");
        text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    fn entry() -> ModelEntry {
        ModelEntry {
            began: SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
            latency: Duration::from_micros(1_234_567),
            provider: "openai".into(),
            model: "gpt-5".into(),
            input_tokens: 100,
            output_tokens: 20,
            ..ModelEntry::default()
        }
    }

    #[test]
    fn a_request_to_a_model_has_exactly_these_keys() {
        let whole = ModelEntry {
            caller: Some("ann".into()),
            session: "ses_1".into(),
            cached_tokens: 60,
            cache_write_tokens: 10,
            reasoning_tokens: 5,
            cost: Some(0.25),
            ..entry()
        };
        let found = lines(|accounting| {
            accounting.record_model(entry());
            accounting.record_model(whole);
        });
        let mut expected = json!({
            "type": "llm", "timestamp": "2023-11-14T22:13:20.123Z", "status": "ok", "latency": 1234.567,
            "provider": "openai", "model": "gpt-5", "inputTokens": 100, "outputTokens": 20, "totalTokens": 120,
        });
        assert_eq!(found[0], expected);
        let more = json!({
            "session": "ses_1", "caller": "ann", "cachedTokens": 60, "cacheWriteTokens": 10, "reasoningTokens": 5,
            "cost": 0.25,
        });
        let members = more.as_object().expect("an object").clone();
        expected.as_object_mut().expect("an object").extend(members);
        assert_eq!(found[1], expected);
    }

    #[test]
    fn a_failed_request_is_redacted_and_bounded() {
        let error = Some(format!("401\nkey hunter2hunter2 {}", "x".repeat(2_000)));
        let model = "m".repeat(1_000);
        let found = lines(|accounting| accounting.record_model(ModelEntry { model, error, ..entry() }));
        assert_eq!(found[0]["status"], "failed");
        let error = found[0]["error"].as_str().expect("text");
        assert!(error.starts_with("401 key [redacted] x") && error.chars().count() <= MAX_ERROR, "{error}");
        assert!(found[0]["model"].as_str().is_some_and(|model| model.chars().count() <= MAX_NAME));
    }

    #[test]
    fn strange_numbers_keep_the_line() {
        let (input_tokens, output_tokens, cost) = (u64::MAX, u64::MAX, Some(f64::NAN));
        let found = lines(|accounting| {
            accounting.record_model(ModelEntry { input_tokens, output_tokens, cost, ..entry() });
        });
        assert_eq!((&found[0]["totalTokens"], found[0].get("cost")), (&json!(u64::MAX), None));
    }

    #[test]
    fn a_refused_result_has_its_tokens() {
        let refused = GuardEntry {
            tool: "look\nhunter2hunter2",
            session: "ses_1",
            caller: None,
            projected_tokens: 9_000,
            limit_tokens: 8_000,
            remaining_tokens: 100,
        };
        let mut found = lines(|accounting| accounting.record_guard(refused));
        let line = found[0].as_object_mut().expect("an object");
        assert!(line.remove("timestamp").is_some());
        let expected = json!({
            "type": "tool", "status": "failed", "latency": 0.0, "charactersIn": 0, "charactersOut": 0,
            "command": "look [redacted]", "session": "ses_1", "error": "context window budget exceeded",
            "details": { "projected_tokens": 9_000, "limit_tokens": 8_000, "remaining_tokens": 100 },
        });
        assert_eq!(found[0], expected);
    }

    #[test]
    fn a_disabled_log_takes_nothing() {
        Accounting::default().record_model(entry());
        assert!(!Accounting::default().is_enabled());
    }
}
