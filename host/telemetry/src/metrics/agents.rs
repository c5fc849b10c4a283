//! Metrics of agents: questions, requests to models, and the context guard.

use super::labels::{OTHER, Outcome};
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// Prefix of the context guard's metrics: dashboards of other agents know these names.
const GUARD_PREFIX: &str = "ai_agent";

/// Most models, and most agents, with labels of their own; others are `other`. With some twenty series a model that makes
/// a few thousand.
const MAX_NAMES: usize = 200;

/// Most tokens of one answer that are believed: a counter must not overflow.
const MAX_TOKENS: u64 = 1 << 40;

/// Longest name in a label, in bytes.
const MAX_NAME: usize = 128;

/// Metrics of agents and models. Clones share them.
#[derive(Clone, Default)]
pub struct AgentMetrics {
    questions: Family<(Agent, Ending), Counter>,
    requests: Family<(Model, Outcome), Counter>,
    tokens: Family<(Model, Kind), Counter>,
    cost: Family<Model, Counter<f64, AtomicU64>>,
    guard_events: Family<(Model, Activation), Counter>,
    guard_remaining: Family<(Model, Activation), Gauge>,
    agents: Names<Agent>,
    models: Names<Model>,
}

impl AgentMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("agent_questions", "Questions to agents that ended", self.questions.clone());
        registry.register("model_requests", "Requests to models, by outcome", self.requests.clone());
        registry.register("model_tokens", "Tokens that models counted, by kind", self.tokens.clone());
        registry.register("model_cost", "Cost of answers of models whose prices are configured", self.cost.clone());
    }

    pub(super) fn register_guard(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix(GUARD_PREFIX);
        let (events, remaining) = (self.guard_events.clone(), self.guard_remaining.clone());
        registry.register("context_guard_events", "Activations of the context guard", events);
        let help = "Tokens that were left in the context window at the last activation of the guard";
        registry.register("context_guard_remaining_tokens", help, remaining);
    }

    /// Counts a question that ended.
    pub fn question(&self, agent: &str, ending: &'static str) {
        let agent = self.agents.bounded(Agent(agent.into()));
        self.questions.get_or_create(&(agent, Ending(ending))).inc();
    }

    /// Counts a request to a model.
    pub fn model_request(&self, provider: &str, model: &str, outcome: &'static str) {
        self.requests.get_or_create(&(self.model(provider, model), Outcome { outcome })).inc();
    }

    /// Counts tokens of an answer, by kind.
    pub fn model_tokens(&self, provider: &str, model: &str, tokens: &[(&'static str, u64)]) {
        let model = self.model(provider, model);
        for &(kind, count) in tokens.iter().filter(|(_, count)| *count > 0) {
            self.tokens.get_or_create(&(model.clone(), Kind(kind))).inc_by(count.min(MAX_TOKENS));
        }
    }

    /// Adds the cost of an answer. A counter cannot fall, so what is not a positive number is left out.
    pub fn model_cost(&self, provider: &str, model: &str, cost: f64) {
        if cost.is_finite() && cost >= 0.0 {
            self.cost.get_or_create(&self.model(provider, model)).inc_by(cost);
        }
    }

    /// Counts an activation of the context guard.
    pub fn context_guard(
        &self,
        provider: &str,
        model: &str,
        trigger: &'static str,
        outcome: &'static str,
        remaining: u64,
    ) {
        let labels = (self.model(provider, model), Activation { trigger, outcome });
        self.guard_events.get_or_create(&labels).inc();
        self.guard_remaining.get_or_create(&labels).set(i64::try_from(remaining).unwrap_or(i64::MAX));
    }

    fn model(&self, provider: &str, model: &str) -> Model {
        self.models.bounded(Model { provider: provider.into(), model: model.into() })
    }
}

/// Labels that were given out, up to a bound.
#[derive(Clone)]
struct Names<T>(Arc<Mutex<HashSet<T>>>);

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names(Arc::default())
    }
}

impl<T: Named> Names<T> {
    /// The name itself, or `other` beyond the bound.
    fn bounded(&self, name: T) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&name) {
            return name;
        }
        if known.len() >= MAX_NAMES || !name.is_acceptable() {
            return T::other();
        }
        known.insert(name.clone());
        name
    }
}

/// A label, or labels, whose values come from a configuration.
trait Named: Clone + Eq + Hash {
    fn is_acceptable(&self) -> bool;
    fn other() -> Self;
}

fn is_acceptable(name: &str) -> bool {
    name.len() <= MAX_NAME && !name.contains(char::is_control)
}

/// A model and its provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Model {
    provider: Arc<str>,
    model: Arc<str>,
}

impl Named for Model {
    fn is_acceptable(&self) -> bool {
        is_acceptable(&self.provider) && is_acceptable(&self.model)
    }

    fn other() -> Self {
        Model { provider: OTHER.into(), model: OTHER.into() }
    }
}

impl EncodeLabelSet for Model {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("provider", &*self.provider), ("model", &*self.model)].encode(encoder)
    }
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent(Arc<str>);

impl Named for Agent {
    fn is_acceptable(&self) -> bool {
        is_acceptable(&self.0)
    }

    fn other() -> Self {
        Agent(OTHER.into())
    }
}

impl EncodeLabelSet for Agent {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("agent", &*self.0)].encode(encoder)
    }
}

/// Ending of a question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Ending(&'static str);

impl EncodeLabelSet for Ending {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("ending", self.0)].encode(encoder)
    }
}

/// Kind of tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind(&'static str);

impl EncodeLabelSet for Kind {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("kind", self.0)].encode(encoder)
    }
}

/// Activation of the context guard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Activation {
    trigger: &'static str,
    outcome: &'static str,
}

impl EncodeLabelSet for Activation {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("trigger", self.trigger), ("outcome", self.outcome)].encode(encoder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Format, Metrics, Readings};

    fn series(text: &str, name: &str) -> Vec<String> {
        text.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
    }

    #[test]
    fn the_guard_has_its_known_names() {
        let metrics = Metrics::new(Readings::default);
        for remaining in [500, 20] {
            metrics.agents().context_guard("openai", "gpt-5", "tool", "failed", remaining);
        }
        let text = metrics.encode_as(Format::Prometheus);
        let labels = "{provider=\"openai\",model=\"gpt-5\",trigger=\"tool\",outcome=\"failed\"}";
        assert_eq!(
            series(&text, "ai_agent_context_guard_events_total"),
            [format!("ai_agent_context_guard_events_total{labels} 2")]
        );
        assert_eq!(
            series(&text, "ai_agent_context_guard_remaining_tokens"),
            [format!("ai_agent_context_guard_remaining_tokens{labels} 20")]
        );
        assert!(text.contains("# TYPE ai_agent_context_guard_events_total counter\n"), "{text}");
    }

    #[test]
    fn tokens_and_costs_are_sums() {
        let metrics = Metrics::new(Readings::default);
        let agents = metrics.agents();
        agents.model_tokens("p", "m", &[("input", 100), ("cached", 0)]);
        agents.model_tokens("p", "m", &[("input", 20), ("output", 3)]);
        for cost in [0.5, 0.25, f64::NAN, f64::INFINITY, -1.0] {
            agents.model_cost("p", "m", cost);
        }
        let text = metrics.encode();
        let mut tokens = series(&text, "agent_spaces_model_tokens_total");
        tokens.sort();
        assert_eq!(
            tokens,
            [
                "agent_spaces_model_tokens_total{provider=\"p\",model=\"m\",kind=\"input\"} 120",
                "agent_spaces_model_tokens_total{provider=\"p\",model=\"m\",kind=\"output\"} 3",
            ]
        );
        assert_eq!(
            series(&text, "agent_spaces_model_cost_total"),
            ["agent_spaces_model_cost_total{provider=\"p\",model=\"m\"} 0.75"]
        );
    }

    #[test]
    fn names_beyond_the_bound_share_a_label() {
        let metrics = Metrics::new(Readings::default);
        let agents = metrics.agents();
        for number in 0..MAX_NAMES + 50 {
            agents.model_request("p", &format!("m{number}"), "ok");
            agents.question(&format!("a{number}"), "done");
        }
        agents.model_request("p", &"m".repeat(MAX_NAME + 1), "ok");
        let text = metrics.encode();
        assert_eq!(series(&text, "agent_spaces_model_requests_total").len(), MAX_NAMES + 1);
        assert_eq!(series(&text, "agent_spaces_agent_questions_total").len(), MAX_NAMES + 1);
        assert!(text.contains("{provider=\"other\",model=\"other\",outcome=\"ok\"} 51\n"), "{text}");
        assert!(text.contains("{agent=\"other\",ending=\"done\"} 50\n"), "{text}");
    }
}
