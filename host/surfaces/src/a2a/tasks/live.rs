//! A task that is worked on in this process.

use super::approval::Waiting;
use super::content::Content;
use super::draft::{Draft, Piece};
use super::kept::{KeptTask, lease};
use crate::a2a::bounds::{CANCEL_GRACE, MAX_HISTORY, MAX_QUEUED, MAX_STATUS, MAX_STREAMS};
use crate::a2a::error::{A2aError, ErrorKind};
use crate::a2a::parts;
use crate::a2a::stream::{Subscription, Update};
use crate::a2a::time;
use crate::a2a::types::{
    Artifact, ArtifactUpdate, Message, Part, StatusUpdate, StreamEvent, Task, TaskState, TaskStatus,
};
use agent_spaces_agent::AgentEvent;
use agent_spaces_types::shown::Shown;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

/// Id and name of the artifact that is the answer.
const ANSWER: &str = "answer";

/// Characters of the name of a tool.
const MAX_NAME: usize = 200;

/// A task, with those who watch it.
pub(super) struct Live {
    pub(super) id: String,
    pub(super) owner: String,
    pub(super) agent: String,
    pub(super) context: String,
    /// Ends the question.
    pub(super) cancel: CancellationToken,
    /// Cancelled when nothing works on the task any more, and it is stored.
    pub(super) ended: CancellationToken,
    /// Told when something has to be stored.
    pub(super) unsaved: Notify,
    state: Mutex<State>,
    states: watch::Sender<TaskState>,
}

/// Mutable state of a task.
pub(super) struct State {
    pub(super) status: TaskStatus,
    changed: i64,
    history: Vec<Message>,
    /// True if messages or answers are not stored.
    is_content_unsaved: bool,
    draft: Draft,
    answer: Option<Artifact>,
    streams: Vec<mpsc::Sender<Update>>,
    /// Calls that wait for a person, in the order in which they are shown.
    pub(super) approvals: VecDeque<Waiting>,
}

/// Names of a task.
pub(super) struct Names {
    pub(super) id: String,
    pub(super) owner: String,
    pub(super) agent: String,
    pub(super) context: String,
}

impl Live {
    /// A task that begins with a message.
    pub(super) fn new(names: Names, message: &Message, cancel: CancellationToken) -> Live {
        let Names { id, owner, agent, context } = names;
        let changed = time::now_ms();
        let state = State {
            status: TaskStatus { state: TaskState::Submitted, message: None, timestamp: time::format(changed) },
            changed,
            history: Vec::new(),
            is_content_unsaved: true,
            draft: Draft::default(),
            answer: None,
            streams: Vec::new(),
            approvals: VecDeque::new(),
        };
        let states = watch::Sender::new(TaskState::Submitted);
        let (ended, unsaved) = (CancellationToken::new(), Notify::new());
        let live = Live { id, owner, agent, context, cancel, ended, unsaved, state: Mutex::new(state), states };
        live.remember(&mut live.state(), message);
        live
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().status.state.is_over()
    }

    /// Waits until the task is over and stored, or needs its caller.
    pub(super) async fn settled(&self) {
        let mut states = self.states.subscribe();
        // The sender is this task's own.
        let _ = states.wait_for(|state| !state.is_going()).await;
        if self.is_over() {
            self.stored().await;
        }
    }

    /// Waits until a task that is over is stored, for some time.
    pub(super) async fn stored(&self) {
        let _late_is_fine = tokio::time::timeout(CANCEL_GRACE, self.ended.cancelled()).await;
    }

    /// Keeps a message of the conversation.
    pub(super) fn remember(&self, state: &mut State, message: &Message) {
        let mut message = parts::kept(message);
        (message.task_id, message.context_id) = (Some(self.id.clone()), Some(self.context.clone()));
        if state.history.len() >= MAX_HISTORY {
            state.history.remove(0);
        }
        state.history.push(message);
        state.is_content_unsaved = true;
    }

    /// Keeps what a person is asked, once.
    pub(super) fn remember_question(&self, state: &mut State, status: &TaskStatus) {
        if status.state == TaskState::InputRequired
            && let Some(asked) = &status.message
            && !state.history.iter().any(|known| known.message_id == asked.message_id)
        {
            self.remember(state, asked);
        }
    }

    /// A message of the agent for a status.
    pub(super) fn message(&self, text: &str) -> Message {
        let text = String::from(Shown::text(text, MAX_STATUS));
        Message::of_agent(&self.context, &self.id, vec![Part::text(text)])
    }

    /// Changes the status, unless the task is over. What a person was asked stays in the history.
    pub(super) fn set(&self, state: &mut State, to: TaskState, message: Option<Message>) {
        if state.status.state.is_over() {
            return;
        }
        let changed = time::now_ms().max(state.changed);
        let status = TaskStatus { state: to, message, timestamp: time::format(changed) };
        let before = std::mem::replace(&mut state.status, status);
        state.changed = changed;
        self.remember_question(state, &before);
        let update = StatusUpdate { task_id: &self.id, context_id: &self.context, status: &state.status.clone() };
        self.publish(state, &StreamEvent::StatusUpdate(update));
        if to.is_over() {
            state.streams.clear();
            state.approvals.clear();
        }
        if before.state != to {
            self.states.send_replace(to);
            self.unsaved.notify_one();
        }
    }

    /// Sends an event to all streams. One whose client does not read ends.
    fn publish(&self, state: &mut State, event: &StreamEvent<'_>) {
        if state.streams.is_empty() {
            return;
        }
        let update = update(event, state.status.state);
        state.streams.retain(|stream| stream.try_send(update.clone()).is_ok());
    }

    /// Passes on what happens while the question is answered.
    pub(super) fn event(&self, event: AgentEvent) {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.status.state == TaskState::Submitted {
            self.set(state, TaskState::Working, None);
        }
        match event {
            AgentEvent::Asking { .. } => state.draft.restart(),
            AgentEvent::Text { text } => {
                if let Some(piece) = state.draft.push(&text).filter(|_| !state.status.state.is_over()) {
                    let Piece { text, is_appended } = piece;
                    self.publish_answer(state, vec![Part::text(text)], is_appended, false);
                }
            }
            AgentEvent::CallStarted { name, .. } if state.status.state == TaskState::Working => {
                let message = self.message(&format!("Calls {}", Shown::line(&name, MAX_NAME)));
                self.set(state, TaskState::Working, Some(message));
            }
            _ => {}
        }
    }

    fn publish_answer(&self, state: &mut State, parts: Vec<Part>, append: bool, last_chunk: bool) {
        let artifact = answer(parts);
        let (task_id, context_id) = (self.id.as_str(), self.context.as_str());
        let update = ArtifactUpdate { task_id, context_id, artifact: &artifact, append, last_chunk };
        self.publish(state, &StreamEvent::ArtifactUpdate(update));
    }

    /// Ends the task, unless it is over. Returns whether it was not.
    pub(super) fn finish(&self, to: TaskState, message: Option<&str>, parts: Vec<Part>) -> bool {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.status.state.is_over() {
            return false;
        }
        if state.status.state == TaskState::Submitted && to == TaskState::Completed {
            self.set(state, TaskState::Working, None);
        }
        if !parts.is_empty() {
            let (sent, append) = match parts.as_slice() {
                [Part { text: Some(text), .. }] => {
                    let piece = state.draft.last(text);
                    (vec![Part::text(piece.text)], piece.is_appended)
                }
                _ => (parts.clone(), false),
            };
            self.publish_answer(state, sent, append, true);
            state.answer = Some(answer(parts));
        }
        state.is_content_unsaved = true;
        let message = message.map(|text| self.message(text));
        self.set(state, to, message);
        true
    }

    /// Takes over a status that another process stored, which ends the task.
    pub(super) fn adopt(&self, task: KeptTask) {
        self.set(&mut self.state(), task.status.state, task.status.message);
        self.cancel.cancel();
    }

    /// The task as it is.
    pub(super) fn snapshot(&self) -> Task {
        self.task(&self.state())
    }

    fn task(&self, state: &State) -> Task {
        let draft = || state.draft.sent().map(|text| answer(vec![Part::text(text)]));
        let is_failed = state.status.state.is_over() && state.status.state != TaskState::Completed;
        let artifact = state.answer.clone().or_else(draft).filter(|_| !is_failed);
        Task {
            id: self.id.clone(),
            context_id: self.context.clone(),
            status: state.status.clone(),
            artifacts: artifact.map(|artifact| vec![artifact]),
            history: state.history.clone(),
        }
    }

    /// The task as it is, and its events from then on.
    pub(super) fn subscribe(&self, ends_with_wait: bool) -> Result<Subscription, A2aError> {
        let mut state = self.state();
        state.streams.retain(|stream| !stream.is_closed());
        if state.streams.len() >= MAX_STREAMS {
            return Err(A2aError::of_task(
                ErrorKind::Busy,
                &self.id,
                "The task has too many streams: close some of them",
            ));
        }
        let first = update(&StreamEvent::Task(&self.task(&state)), state.status.state);
        let (sender, updates) = mpsc::channel(MAX_QUEUED);
        if !state.status.state.is_over() {
            state.streams.push(sender);
        }
        Ok(Subscription { first, updates, ends_with_wait })
    }

    /// Documents to store: the status, and messages and answers if they changed.
    pub(super) fn kept(&self) -> (KeptTask, Option<Content>) {
        let mut guard = self.state();
        let state = &mut *guard;
        let is_unsaved = std::mem::replace(&mut state.is_content_unsaved, false);
        let content = is_unsaved.then(|| {
            let Task { history, artifacts, .. } = self.task(state);
            Content { history, artifacts: artifacts.unwrap_or_default() }
        });
        (self.kept_task(state), content)
    }

    /// The status as it is stored.
    pub(super) fn kept_status(&self) -> KeptTask {
        self.kept_task(&self.state())
    }

    fn kept_task(&self, state: &State) -> KeptTask {
        KeptTask {
            agent: self.agent.clone(),
            context: self.context.clone(),
            status: state.status.clone(),
            changed: state.changed,
            lease: if state.status.state.is_over() { None } else { lease(time::now_ms()) },
        }
    }

    /// Messages and answers could not be stored.
    pub(super) fn content_was_not_saved(&self) {
        self.state().is_content_unsaved = true;
    }
}

fn answer(parts: Vec<Part>) -> Artifact {
    Artifact { artifact_id: ANSWER.to_owned(), name: ANSWER.to_owned(), parts }
}

fn update(event: &StreamEvent<'_>, state: TaskState) -> Update {
    // Keys are texts, so this does not fail.
    Update { json: serde_json::to_string(event).unwrap_or_default().into(), state }
}
