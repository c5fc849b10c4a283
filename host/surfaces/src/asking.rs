//! Questions that are being answered, and their events.

use crate::approvals::AgentApprovals;
use crate::bodies::Held;
use crate::bounds::MAX_QUEUED;
use crate::failure::Failure;
use agent_spaces_agent::{
    AgentDefinition, AgentError, AgentEvent, AgentService, ModelTarget, Outcome, OutputFormat, Question, Sampling,
    SessionChoice, Surface, Watcher,
};
use agent_spaces_http_server::Client;
use agent_spaces_models::{Message, Tool, ToolChoice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument as _;

/// Question of a surface.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) agent: String,
    pub(crate) session: SessionChoice,
    pub(crate) messages: Vec<Message>,
    pub(crate) system: Option<String>,
    pub(crate) caller_tools: Vec<Tool>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) output: Option<OutputFormat>,
    pub(crate) sampling: Sampling,
}

/// Asks for one surface, within its limit. Clones share it.
#[derive(Clone)]
pub(crate) struct Asker {
    surface: Surface,
    approvals: AgentApprovals,
    stopping: CancellationToken,
}

impl Asker {
    /// Creates the asker of a surface. All surfaces share `approvals` and `stopping`.
    pub(crate) fn new(surface: Surface, approvals: AgentApprovals, stopping: CancellationToken) -> Asker {
        Asker { surface, approvals, stopping }
    }

    pub(crate) fn service(&self) -> &AgentService {
        self.surface.service()
    }

    #[cfg(test)]
    pub(crate) fn approvals(&self) -> &AgentApprovals {
        &self.approvals
    }

    /// Ends all questions.
    pub(crate) fn stop(&self) {
        self.stopping.cancel();
    }

    /// Asks. Dropping the result cancels the question. Without `has_events` only the end is told. `held` is let go when
    /// the question is over.
    pub(crate) fn ask(&self, client: &Client, asking: Asking, has_events: bool, held: Held) -> Asked {
        let (sender, updates) = mpsc::unbounded_channel();
        let cancel = self.stopping.child_token();
        let state = Arc::new(State::default());
        let sampling = match self.service().agent(&asking.agent) {
            Ok(agent) => within(asking.sampling, &agent),
            // The question fails.
            Err(_) => asking.sampling,
        };
        let watcher = watcher(&state, &sender, &cancel, has_events);
        let session = match &asking.session {
            SessionChoice::Resume(id) => Some(id.clone()),
            // A new one has its id only once the question is being answered.
            SessionChoice::New | SessionChoice::None => None,
        };
        let question = Question {
            session: asking.session,
            system: asking.system,
            caller_tools: asking.caller_tools,
            tool_choice: asking.tool_choice,
            output: asking.output,
            sampling,
            approver: self.approvals.approver(client, &asking.agent, session),
            watcher,
            cancel: cancel.clone(),
            ..Question::new(client.clone(), asking.agent, asking.messages)
        };
        let asked = Asked { updates, state: state.clone(), _cancel: cancel.clone().drop_guard() };
        let surface = self.surface.clone();
        let task = async move {
            let _held = held;
            // A question that waits for its turn leaves the queue; one that is being answered ends.
            let result = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                result = surface.ask(question) => Some(result),
            };
            let ended = ended(result, state.has_calls.load(Ordering::Relaxed));
            // A client that is gone wants no answer.
            let _ = sender.send(Update::Ended(Box::new(ended)));
        };
        tokio::spawn(task.in_current_span());
        asked
    }
}

/// Bounds what a caller wishes by what the agent and its models allow. Clients ask for as many tokens as the largest models
/// write, whatever the model is.
fn within(wished: Sampling, agent: &AgentDefinition) -> Sampling {
    let of_model = |model: &ModelTarget| {
        let half = u32::try_from(model.window.tokens / 2).unwrap_or(u32::MAX).max(1);
        model.max_output_tokens.map_or(half, |most| most.min(half))
    };
    let bounds = agent.models.iter().map(of_model).chain(agent.sampling.max_output_tokens);
    let most = bounds.min().unwrap_or(u32::MAX);
    Sampling { max_output_tokens: wished.max_output_tokens.map(|tokens| tokens.min(most)), ..wished }
}

/// Returns who passes the events of a question on.
fn watcher(
    state: &Arc<State>,
    sender: &mpsc::UnboundedSender<Update>,
    cancel: &CancellationToken,
    has_events: bool,
) -> Watcher {
    let (state, sender, cancel) = (state.clone(), sender.clone(), cancel.clone());
    Arc::new(move |event: AgentEvent| {
        if matches!(event, AgentEvent::CallStarted { .. }) {
            state.has_calls.store(true, Ordering::Relaxed);
        }
        if !has_events {
            return;
        }
        let size = size(&event);
        if state.queued.fetch_add(size, Ordering::Relaxed).saturating_add(size) > MAX_QUEUED {
            cancel.cancel();
            return;
        }
        let _ = sender.send(Update::Event(event));
    })
}

/// Returns about how many bytes an event takes.
fn size(event: &AgentEvent) -> usize {
    let text = match event {
        AgentEvent::Text { text } | AgentEvent::Reasoning { text } | AgentEvent::Note { text } => text.len(),
        AgentEvent::ModelFailed { message, .. } => message.len(),
        AgentEvent::CallStarted { arguments, .. } => arguments.to_string().len(),
        AgentEvent::ApprovalRequired { message, call, .. } => message.len() + call.to_string().len(),
        _ => 0,
    };
    text + 256
}

/// State of a question.
#[derive(Debug, Default)]
struct State {
    /// True if calls were made.
    has_calls: AtomicBool,
    /// Bytes of events that nobody has read.
    queued: AtomicUsize,
}

/// News of a question.
#[derive(Debug)]
pub(crate) enum Update {
    /// An event of the agent.
    Event(AgentEvent),
    /// It is over.
    Ended(Box<Ended>),
}

/// End of a question. Its answer may be cut or refused.
pub(crate) type Ended = Result<Outcome, Failure>;

/// Returns the end of a question; `None` if it was cancelled.
fn ended(result: Option<Result<Outcome, AgentError>>, had_calls: bool) -> Ended {
    let failure = match result {
        Some(Ok(outcome)) => match Failure::of_outcome(&outcome) {
            None => return Ok(outcome),
            Some(failure) => failure,
        },
        Some(Err(error)) => Failure::of_error(&error),
        None => Failure::stopping(),
    };
    Err(Failure { had_calls, ..failure })
}

/// A question that is being answered. Dropping it cancels the question.
#[derive(Debug)]
pub(crate) struct Asked {
    updates: mpsc::UnboundedReceiver<Update>,
    state: Arc<State>,
    _cancel: DropGuard,
}

impl Asked {
    /// Waits for the answer.
    pub(crate) async fn answer(mut self) -> Ended {
        loop {
            if let Update::Ended(ended) = self.next().await {
                return *ended;
            }
        }
    }

    /// Waits for news.
    pub(crate) async fn next(&mut self) -> Update {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// See [`Asked::next`].
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Update> {
        self.updates.poll_recv(context).map(|update| match update {
            Some(Update::Event(event)) => {
                self.state.queued.fetch_sub(size(&event), Ordering::Relaxed);
                Update::Event(event)
            }
            Some(over) => over,
            // The task is gone without a word.
            None => Update::Ended(Box::new(ended(None, self.state.has_calls.load(Ordering::Relaxed)))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scripted, Step, ann, held};
    use agent_spaces_types::caller::Caller;
    use std::time::Duration;

    fn asking(text: &str) -> Asking {
        Asking {
            agent: "planner".to_owned(),
            session: SessionChoice::None,
            messages: vec![Message::user(text)],
            system: None,
            caller_tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            output: None,
            sampling: Sampling::default(),
        }
    }

    #[tokio::test]
    async fn callers_that_wait_take_turns() {
        let steps = vec![Step::Hangs, Step::Says("2"), Step::Says("4"), Step::Says("3")];
        let scripted = Scripted::new(OutputFormat::Text, steps);
        let (asker, bob) = (scripted.asker(), Client::named("bob", Caller::default()));
        let first = asker.ask(&ann(), asking("first"), false, held());
        while scripted.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut waiting = Vec::new();
        for (client, text) in [(ann(), "second"), (ann(), "third"), (bob, "fourth")] {
            waiting.push(asker.ask(&client, asking(text), false, held()));
            while asker.surface.waiting() < waiting.len() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        drop(first);
        for asked in waiting {
            asked.answer().await.unwrap();
        }
        let order: Vec<String> = scripted.requests().iter().map(|request| request.messages[0].text()).collect();
        assert_eq!(order, ["first", "second", "fourth", "third"]);
    }
}
