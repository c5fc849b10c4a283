//! Context guard: token estimates of requests, checked against context windows.
//!
//! - `tokenizer`: tokenizer of a model; `counts`: tokens of texts, in bounded time
//! - `weigher`: tokens of messages, tools and images
//! - `learned`: corrections from reported usage
//! - `telemetry`: metrics

mod counts;
mod learned;
mod telemetry;
#[cfg(test)]
mod tests;
mod tokenizer;
mod weigher;

pub(crate) use telemetry::code;

use crate::model::ModelTarget;
use crate::tools::ToolOutput;
use agent_spaces_models::{Api, Request, Usage};
use agent_spaces_telemetry::metrics::AgentMetrics;
use counts::Counts;
use learned::Learned;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use weigher::Weigher;

/// Tokens that are kept free for an answer without a bound.
const DEFAULT_OUTPUT: u64 = 4_096;

/// The same for Anthropic's format, which demands a bound: the one that is sent where none is set.
const ANTHROPIC_OUTPUT: u64 = 16_384;

/// Most targets of one question.
const MAX_TARGETS: usize = 1_000;

/// Context guard. Clones share the learned corrections.
#[derive(Clone)]
pub(crate) struct Guard {
    shared: Arc<Shared>,
    /// Tokens of system prompt and tools in the last request, by target. They are the agent's.
    overheads: Arc<Mutex<HashMap<String, u64>>>,
}

struct Shared {
    metrics: Option<AgentMetrics>,
    counts: Counts,
    learned: Learned,
}

impl Guard {
    /// A guard of a process.
    pub(crate) fn new(metrics: Option<AgentMetrics>) -> Guard {
        let shared = Shared { metrics, counts: Counts::default(), learned: Learned::default() };
        Guard { shared: Arc::new(shared), overheads: Arc::default() }
    }

    /// A guard for one question, which shares what was learned of targets. Agents with other prompts and tools may ask
    /// the same target at the same time.
    pub(crate) fn for_question(&self) -> Guard {
        Guard { shared: self.shared.clone(), overheads: Arc::default() }
    }

    /// Tokens of a whole request.
    pub(crate) fn request(&self, target: &ModelTarget, request: &Request) -> u64 {
        let weigher = self.weigher(target);
        let (fixed, label) = (weigher.fixed(request), target.label());
        let tokens = self.shared.learned.corrected(&label, fixed + weigher.messages(&request.messages));
        let mut overheads = self.overheads.lock().unwrap_or_else(PoisonError::into_inner);
        if overheads.len() < MAX_TARGETS || overheads.contains_key(&label) {
            overheads.insert(label, fixed);
        }
        tokens
    }

    /// Tokens of a request. One with messages alone gets the system prompt and tools of the last whole request.
    pub(crate) fn conversation(&self, target: &ModelTarget, request: &Request) -> u64 {
        let (weigher, label) = (self.weigher(target), target.label());
        let fixed = if request.system.is_none() && request.tools.is_empty() {
            let overheads = self.overheads.lock().unwrap_or_else(PoisonError::into_inner);
            overheads.get(&label).copied().unwrap_or_default()
        } else {
            weigher.fixed(request)
        };
        self.shared.learned.corrected(&label, fixed + weigher.messages(&request.messages))
    }

    /// Tokens of a tool's result.
    pub(crate) fn result(&self, target: &ModelTarget, output: &ToolOutput) -> u64 {
        let tokens = self.weigher(target).result(&output.text, &output.images);
        self.shared.learned.corrected(&target.label(), tokens)
    }

    /// Tokens that a request may have.
    pub(crate) fn room(&self, target: &ModelTarget, max_output: Option<u32>) -> u64 {
        let window = &target.window;
        window.tokens.saturating_sub(self.output_tokens(target, max_output)).saturating_sub(window.buffer)
    }

    /// Tokens that are kept free for the answer.
    pub(crate) fn output_tokens(&self, target: &ModelTarget, max_output: Option<u32>) -> u64 {
        let usual = if target.provider.api == Api::Anthropic { ANTHROPIC_OUTPUT } else { DEFAULT_OUTPUT };
        max_output.map_or_else(|| usual.min(target.window.tokens / 4), u64::from)
    }

    /// Learns from the usage that the provider reports for a request that was estimated at this many tokens.
    pub(crate) fn learn(&self, target: &ModelTarget, estimated: u64, usage: &Usage) {
        self.shared.learned.learn(&target.label(), estimated, usage.input_tokens);
    }

    fn weigher<'a>(&'a self, target: &'a ModelTarget) -> Weigher<'a> {
        Weigher::new(&self.shared.counts, target)
    }
}
