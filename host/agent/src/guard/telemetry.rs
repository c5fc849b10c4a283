//! Metrics of the guard, of requests to models and of questions.

use super::Guard;
use crate::model::ModelTarget;
use agent_spaces_models::{ModelErrorKind, Usage};

impl Guard {
    /// Counts an activation: what triggered it, what came of it, and how many tokens were left.
    pub(crate) fn activated(&self, target: &ModelTarget, trigger: &'static str, outcome: &'static str, remaining: u64) {
        if let Some(metrics) = &self.shared.metrics {
            metrics.context_guard(&target.provider.name, &target.model, trigger, outcome, remaining);
        }
    }

    /// Counts a request to a model: the usage and cost of its answer, or the kind of its failure.
    pub(crate) fn asked(&self, target: &ModelTarget, outcome: Result<(&Usage, Option<f64>), ModelErrorKind>) {
        let Some(metrics) = &self.shared.metrics else { return };
        let (provider, model) = (&*target.provider.name, &*target.model);
        match outcome {
            Ok((usage, cost)) => {
                metrics.model_request(provider, model, "ok");
                let tokens = [
                    ("input", usage.input_tokens),
                    ("output", usage.output_tokens),
                    ("cached", usage.cached_tokens),
                    ("cache_write", usage.cache_write_tokens),
                    ("reasoning", usage.reasoning_tokens),
                ];
                metrics.model_tokens(provider, model, &tokens);
                if let Some(cost) = cost {
                    metrics.model_cost(provider, model, cost);
                }
            }
            Err(kind) => metrics.model_request(provider, model, code(kind)),
        }
    }

    /// Counts a question that ended.
    pub(crate) fn ended(&self, agent: &str, ending: &'static str) {
        if let Some(metrics) = &self.shared.metrics {
            metrics.question(agent, ending);
        }
    }
}

/// Code of a failure, for metrics and spans.
pub(crate) fn code(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Configuration => "configuration",
        ModelErrorKind::Unauthorized => "unauthorized",
        ModelErrorKind::Invalid => "invalid",
        ModelErrorKind::ContextWindow => "context_window",
        ModelErrorKind::RateLimited => "rate_limited",
        ModelErrorKind::Quota => "quota",
        ModelErrorKind::Server => "server",
        ModelErrorKind::Unreachable => "unreachable",
        ModelErrorKind::Timeout => "timeout",
        ModelErrorKind::Cut => "cut",
        ModelErrorKind::Malformed => "malformed",
        ModelErrorKind::TooLarge => "too_large",
    }
}
