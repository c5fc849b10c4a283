//! Tasks: those that are worked on, and those that are kept.
//!
//! - `kept`, `content`: documents of the journal; `list`: lists of them
//! - `registry`: tasks that are worked on, counted
//! - `live`: a task that is worked on, with those who watch it; `draft`: its answer while it is written
//! - `approval`: calls of it that wait for a person
//! - `run`: work on it

mod approval;
mod content;
mod draft;
mod kept;
mod list;
mod live;
mod registry;
mod run;

use super::error::{A2aError, ErrorKind};
use super::operation::{Operation, SendRequest, push_not_supported};
use super::parts;
use super::stream::Subscription;
use super::time;
use super::types::{Message, Part, Task, TaskState, TaskStatus};
use crate::bodies::Held;
use crate::failure::Failure;
use agent_spaces_agent::{OutputFormat, Question, SessionChoice, Surface};
use agent_spaces_http_server::Client;
use agent_spaces_journal::Store;
use approval::TaskApprover;
use kept::{Changed, Kept, KeptTask};
use live::{Live, Names};
use run::Work;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// Tasks of all agents and callers. Clones share them.
#[derive(Clone)]
pub(super) struct Tasks(Arc<Inner>);

struct Inner {
    surface: Surface,
    kept: Kept,
    /// Tasks that are worked on, by id.
    live: Mutex<HashMap<String, Arc<Live>>>,
    /// Their number.
    count: watch::Sender<usize>,
    stopping: CancellationToken,
}

/// Answer to an operation.
pub(super) enum Reply {
    Json(Value),
    Stream(Subscription),
}

/// A task, wherever it is.
enum Found {
    Live(Arc<Live>),
    Kept(Box<KeptTask>, u64),
}

impl Tasks {
    pub(super) fn new(surface: Surface, store: Arc<dyn Store>) -> Tasks {
        Tasks(Arc::new(Inner {
            surface,
            kept: Kept::new(store),
            live: Mutex::default(),
            count: watch::Sender::new(0),
            stopping: CancellationToken::new(),
        }))
    }

    /// Carries out an operation of a caller at an agent.
    pub(super) async fn perform(
        &self,
        client: &Client,
        agent: &str,
        operation: Operation,
        held: Held,
    ) -> Result<Reply, A2aError> {
        let value = match operation {
            Operation::Send { request, is_streamed } => {
                return self.send(client, agent, &request, is_streamed, held).await;
            }
            Operation::Subscribe { task } => return self.subscribe(client, agent, &task).await.map(Reply::Stream),
            Operation::Get { task, history } => json!(self.get(client, agent, &task).await?.with_history(history)),
            Operation::List(request) => self.list(client, agent, &request).await?,
            Operation::Cancel { task } => json!(self.cancel(client, agent, &task).await?),
            Operation::Push => return Err(push_not_supported()),
            Operation::ExtendedCard => {
                let message = "There is no extended card: the public card says everything";
                return Err(A2aError::new(ErrorKind::Unsupported, message));
            }
        };
        Ok(Reply::Json(value))
    }

    async fn send(
        &self,
        client: &Client,
        agent: &str,
        request: &SendRequest,
        is_streamed: bool,
        held: Held,
    ) -> Result<Reply, A2aError> {
        let history = request.history()?;
        let (live, subscription) = match request.message.task() {
            Some(task) => {
                let live = self.go_on(client, agent, task, &request.message).await?;
                let subscription = is_streamed.then(|| live.subscribe(true)).transpose()?;
                (live, subscription)
            }
            None => self.start(client, agent, request, is_streamed, held).await?,
        };
        if let Some(subscription) = subscription {
            return Ok(Reply::Stream(subscription));
        }
        if !request.returns_immediately() {
            live.settled().await;
        }
        Ok(Reply::Json(json!({ "task": live.snapshot().with_history(history) })))
    }

    /// Starts a task. Its stream begins before it is worked on.
    async fn start(
        &self,
        client: &Client,
        agent: &str,
        request: &SendRequest,
        is_streamed: bool,
        held: Held,
    ) -> Result<(Arc<Live>, Option<Subscription>), A2aError> {
        let message = &request.message;
        let asked = parts::question(message)?;
        let definition = self.0.surface.service().agent(agent);
        let definition = definition.map_err(|error| A2aError::of_failure(&Failure::of_error(&error)))?;
        let context = message.context().map_or_else(|| crate::ids::new("ctx_"), str::to_owned);
        let names = Names {
            id: crate::ids::new(kept::PREFIX),
            owner: client.owner().to_owned(),
            agent: agent.to_owned(),
            context,
        };
        let (live, registered) = self.register(Live::new(names, message, self.0.stopping.child_token()))?;
        let Live { id, owner, context, .. } = &*live;
        let session = self.0.kept.session(owner, agent, context).await?;
        let (task, content) = live.kept();
        self.0.kept.put_content(owner, id, content.unwrap_or_default()).await?;
        let version = self.0.kept.create(owner, id, &task).await?;
        let subscription = is_streamed.then(|| live.subscribe(true)).transpose()?;
        let mut question = Question::new(client.clone(), agent, vec![asked]);
        question.session = session.map_or(SessionChoice::New, SessionChoice::Resume);
        if request.wants_json() && !matches!(definition.output, OutputFormat::Json(_)) {
            question.output = Some(OutputFormat::Json(json!({ "type": "object" })));
        }
        question.approver = Arc::new(TaskApprover::new(live.clone(), client));
        question.cancel = live.cancel.clone();
        let watched = live.clone();
        question.watcher = Arc::new(move |event| watched.event(event));
        let (kept, surface) = (self.0.kept.clone(), self.0.surface.clone());
        let work = Work { live: live.clone(), kept, surface, question, version, registered, held };
        tokio::spawn(work.run().in_current_span());
        Ok((live, subscription))
    }

    /// Passes a message to a task that needs input.
    async fn go_on(&self, client: &Client, agent: &str, task: &str, message: &Message) -> Result<Arc<Live>, A2aError> {
        // It is refused like one that starts a task.
        parts::question(message)?;
        let found = self.find(client, agent, task).await?;
        let context = match &found {
            Found::Live(live) => &live.context,
            Found::Kept(task, _) => &task.context,
        };
        if message.context().is_some_and(|given| given != context) {
            let fault = "The task belongs to another context: send the task's `contextId`, or none";
            return Err(A2aError::params("message.contextId", fault));
        }
        match found {
            Found::Live(live) => live.receive(message, client).map(|()| live),
            Found::Kept(kept, _) => Err(elsewhere(task, kept.status.state)),
        }
    }

    async fn get(&self, client: &Client, agent: &str, task: &str) -> Result<Task, A2aError> {
        match self.find(client, agent, task).await? {
            Found::Live(live) => Ok(live.snapshot()),
            Found::Kept(kept, _) => self.stored(client.owner(), task.to_owned(), *kept).await,
        }
    }

    async fn subscribe(&self, client: &Client, agent: &str, task: &str) -> Result<Subscription, A2aError> {
        match self.find(client, agent, task).await? {
            Found::Live(live) if !live.is_over() => live.subscribe(false),
            Found::Live(live) => Err(elsewhere(task, live.snapshot().status.state)),
            Found::Kept(kept, _) => Err(elsewhere(task, kept.status.state)),
        }
    }

    async fn cancel(&self, client: &Client, agent: &str, task: &str) -> Result<Task, A2aError> {
        let over = || {
            let message = "The task cannot be cancelled: it is over";
            A2aError::of_task(ErrorKind::TaskNotCancelable, task, message)
        };
        let (mut kept, version) = match self.find(client, agent, task).await? {
            Found::Live(live) => {
                let is_ended = live.finish(TaskState::Canceled, Some("Cancelled by its caller"), Vec::new());
                live.cancel.cancel();
                // Its session is free then.
                live.stored().await;
                return if is_ended { Ok(live.snapshot()) } else { Err(over()) };
            }
            Found::Kept(kept, version) => (*kept, version),
        };
        if kept.status.state.is_over() {
            return Err(over());
        }
        // The process that works on it learns of it when it renews the task.
        let now = time::now_ms();
        let message = Message::of_agent(&kept.context, task, vec![Part::text("Cancelled by its caller")]);
        kept.status = TaskStatus { state: TaskState::Canceled, message: Some(message), timestamp: time::format(now) };
        (kept.changed, kept.lease) = (now, None);
        match self.0.kept.change(client.owner(), task, &kept, version).await? {
            Changed::Stored(_) => self.stored(client.owner(), task.to_owned(), kept).await,
            Changed::Otherwise(other, _) if other.status.state.is_over() => Err(over()),
            Changed::Otherwise(..) => {
                Err(A2aError::of_task(ErrorKind::Busy, task, "The task changed at the same time: try again"))
            }
            Changed::Gone => Err(A2aError::not_found(task)),
        }
    }

    /// Finds a task of a caller at an agent. One whose process is gone has failed, and is stored so.
    async fn find(&self, client: &Client, agent: &str, task: &str) -> Result<Found, A2aError> {
        let owner = client.owner();
        if let Some(live) = self.live(owner, agent, task) {
            return Ok(Found::Live(live));
        }
        let found = self.0.kept.task(owner, agent, task).await?;
        let (mut kept, mut version) = found.ok_or_else(|| A2aError::not_found(task))?;
        if kept.fail_if_abandoned(task, time::now_ms()) {
            match self.0.kept.change(owner, task, &kept, version).await? {
                Changed::Stored(stored) => version = stored,
                Changed::Otherwise(other, stored) => (kept, version) = (*other, stored),
                Changed::Gone => return Err(A2aError::not_found(task)),
            }
        }
        Ok(Found::Kept(Box::new(kept), version))
    }

    /// Returns a task that is worked on here.
    fn live(&self, owner: &str, agent: &str, task: &str) -> Option<Arc<Live>> {
        let live = self.entries().get(task).cloned();
        live.filter(|live| live.owner == owner && live.agent == agent)
    }

    /// Returns a task with its messages and answers.
    async fn stored(&self, owner: &str, id: String, task: KeptTask) -> Result<Task, A2aError> {
        let content = self.0.kept.content(owner, &id).await?;
        let artifacts = Some(content.artifacts).filter(|artifacts| !artifacts.is_empty());
        Ok(Task { id, context_id: task.context, status: task.status, artifacts, history: content.history })
    }
}

/// Refuses what only a task takes that is worked on here.
fn elsewhere(task: &str, state: TaskState) -> A2aError {
    let message = match state.is_over() {
        true => "The task is over: send a message without `taskId` to start another in the same context",
        false => "The task is worked on by another process of this server: get it again later",
    };
    A2aError::of_task(ErrorKind::Unsupported, task, message)
}
