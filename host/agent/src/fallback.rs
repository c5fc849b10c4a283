//! Model fallback and retries: the same model again after a wait, then the next one. All get the same request.

use crate::answering::AnswerContext;
use crate::event::AgentEvent;
use crate::guard::code;
use crate::model::ModelTarget;
use agent_spaces_models::{Answer, Delta, ModelError, ModelErrorKind, Request, Role, ToolChoice};
use agent_spaces_pipeline::accounting::ModelEntry;
use agent_spaces_telemetry::spans;
use std::time::{Duration, Instant, SystemTime};
use tracing::Instrument as _;

/// First wait between two attempts at a model; each one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Longest wait that we choose.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Longest wait that a provider may ask for while there is another model to ask.
const MAX_ASKED_WAIT: Duration = Duration::from_secs(10);

/// Longest wait that a provider may ask for at all.
const MAX_ONLY_WAIT: Duration = Duration::from_secs(120);

/// A model's answer.
pub(crate) struct Answered {
    /// Position of the model among the agent's.
    pub(crate) target: usize,
    /// The answer.
    pub(crate) answer: Answer,
    /// Its cost, where the price is known.
    pub(crate) cost: Option<f64>,
}

/// Failure of all models.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The conversation exceeds every context window.
    ContextLimit(String),
    /// All failed; the message names each.
    Failed(String),
}

/// Asks the models of an agent in their order, from `first` on: a model that failed for good is not asked again in the
/// same question.
pub(crate) async fn ask(
    targets: &[ModelTarget],
    first: usize,
    attempts: u32,
    context: &AnswerContext,
    request: &Request,
) -> Result<Answered, NoAnswer> {
    let mut failures = Vec::new();
    let mut is_too_large = true;
    for (number, target) in targets.iter().enumerate().skip(first) {
        let next = targets.get(number + 1).map(ModelTarget::label);
        let request = prepared(target, request);
        let tokens = context.guard.request(target, &request);
        let room = context.guard.room(target, request.max_output_tokens);
        if tokens > room {
            context.guard.activated(target, "request", "skipped", room.saturating_sub(tokens));
            let message = format!(
                "the conversation has some {tokens} tokens, and the context window has room for {room}: {} of {} less the \
                 answer's {} and a buffer of {}",
                target.label(),
                target.window.tokens,
                context.guard.output_tokens(target, request.max_output_tokens),
                target.window.buffer
            );
            failed(context, target, &message, next);
            failures.push(format!("{}: {message}", target.label()));
            continue;
        }
        match ask_one(target, attempts, next, context, &request).await {
            Ok((answer, cost)) => {
                context.guard.learn(target, tokens, &answer.usage);
                return Ok(Answered { target: number, answer, cost });
            }
            Err(error) => {
                is_too_large &= error.kind == ModelErrorKind::ContextWindow;
                failures.push(format!("{}: {}", target.label(), reason(target, &error.message)));
            }
        }
    }
    let message = failures.join("; ");
    Err(if is_too_large { NoAnswer::ContextLimit(message) } else { NoAnswer::Failed(message) })
}

/// The request with what the configuration says of this model.
fn prepared(target: &ModelTarget, request: &Request) -> Request {
    let mut request = request.clone();
    request.model.clone_from(&target.model);
    request.stream = target.stream;
    request.max_output_tokens = request.max_output_tokens.or(target.max_output_tokens);
    request.temperature = target.temperature.or(request.temperature);
    request.top_p = target.top_p.or(request.top_p);
    // A model that must call a tool in every turn never ends: the setting holds until one was called.
    let is_called = request.messages.last().is_some_and(|message| message.role == Role::Tool);
    if request.tool_choice == ToolChoice::Auto
        && !is_called
        && let Some(choice) = &target.tool_choice
    {
        request.tool_choice = choice.clone();
    }
    request.options.clone_from(&target.options);
    request
}

/// Asks one model, again after a wait while its failures pass.
async fn ask_one(
    target: &ModelTarget,
    attempts: u32,
    next: Option<String>,
    context: &AnswerContext,
    request: &Request,
) -> Result<(Answer, Option<f64>), ModelError> {
    let mut wait = FIRST_WAIT;
    for attempt in 1.. {
        (context.watcher)(AgentEvent::Asking { model: target.label() });
        let mut sent = Attempt { context, target, began: SystemTime::now(), begun: Instant::now(), is_over: false };
        let watcher = context.watcher.clone();
        let mut watch = move |delta: Delta<'_>| match delta {
            Delta::Text(text) => watcher(AgentEvent::Text { text: text.to_owned() }),
            Delta::Reasoning(text) => watcher(AgentEvent::Reasoning { text: text.to_owned() }),
            Delta::CallStarted { .. } | Delta::CallArguments { .. } => {}
        };
        let span = spans::chat(&target.provider.name, &target.model);
        let answer = context.models.answer(target, request, &mut watch).instrument(span.clone()).await;
        sent.is_over = true;
        let entry = sent.entry();
        let error = match answer {
            Ok(answer) => {
                let cost = context.spending.add(&answer.usage, target.price.as_ref());
                let usage = answer.usage;
                context.guard.asked(target, Ok((&usage, cost)));
                spans::end_chat(&span, Ok((usage.input_tokens, usage.output_tokens)));
                context.accounting.record_model(ModelEntry {
                    input_tokens: usage.input_tokens,
                    output_tokens: usage.output_tokens,
                    cached_tokens: usage.cached_tokens,
                    cache_write_tokens: usage.cache_write_tokens,
                    reasoning_tokens: usage.reasoning_tokens,
                    cost,
                    ..entry
                });
                let (input_tokens, output_tokens) = (usage.input_tokens, usage.output_tokens);
                (context.watcher)(AgentEvent::Answered { model: target.label(), input_tokens, output_tokens });
                return Ok((answer, cost));
            }
            Err(error) => error,
        };
        context.guard.asked(target, Err(error.kind));
        spans::end_chat(&span, Err(code(error.kind)));
        context.accounting.record_model(ModelEntry { error: Some(error.message.clone()), ..entry });
        let longest = if next.is_some() { MAX_ASKED_WAIT } else { MAX_ONLY_WAIT };
        let pause = error.retry_after.unwrap_or(wait + jitter(wait));
        if !error.is_transient() || attempt >= attempts.max(1) || pause > longest {
            failed(context, target, &error.message, next);
            return Err(error);
        }
        let again = format!("{} again in {:.1} s", target.label(), pause.as_secs_f64());
        failed(context, target, &error.message, Some(again));
        tokio::time::sleep(pause).await;
        wait = (wait * 2).min(MAX_WAIT);
    }
    // The loop returns; a range without an end does not say so.
    Err(ModelError::new(ModelErrorKind::Configuration, "the model was not asked"))
}

/// A request to a model. One that is dropped before its end is in the usage log, too: providers charge for it.
struct Attempt<'a> {
    context: &'a AnswerContext,
    target: &'a ModelTarget,
    began: SystemTime,
    begun: Instant,
    is_over: bool,
}

impl Attempt<'_> {
    /// Its line in the usage log, without an outcome.
    fn entry(&self) -> ModelEntry {
        ModelEntry {
            began: self.began,
            latency: self.begun.elapsed(),
            provider: self.target.provider.name.clone(),
            model: self.target.model.clone(),
            caller: self.context.caller.clone(),
            session: self.context.session.clone(),
            ..ModelEntry::default()
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let error = Some("the question ended before the answer".to_owned());
            self.context.accounting.record_model(ModelEntry { error, ..self.entry() });
        }
    }
}

fn failed(context: &AnswerContext, target: &ModelTarget, message: &str, next: Option<String>) {
    let message = reason(target, message).to_owned();
    (context.watcher)(AgentEvent::ModelFailed { model: target.label(), message, next });
}

/// The error message without the model's name, which callers put before it.
fn reason<'a>(target: &ModelTarget, message: &'a str) -> &'a str {
    let name = format!("{}, model {}: ", target.provider.name, target.model);
    message.strip_prefix(name.as_str()).unwrap_or(message)
}

/// Up to a quarter of a wait, so that many hosts do not come back at the same moment.
fn jitter(wait: Duration) -> Duration {
    let mut byte = [0];
    // Without randomness there is no jitter.
    let _ = getrandom::fill(&mut byte);
    wait / 4 * u32::from(byte[0]) / 255
}
