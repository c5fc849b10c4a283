//! Answering of a question: its session, its tools, the loop.

use super::AgentService;
use super::open_questions::{OpenQuestion, next_number};
use super::question::{Nesting, Question, SessionChoice};
use super::state::{DayLog, Held};
use crate::answering::{AnswerContext, Outcome};
use crate::approver::watched;
use crate::conversation::Conversation;
use crate::definition::AgentDefinition;
use crate::error::AgentError;
use crate::event::{AgentEvent, unwatched};
use crate::handles::Handles;
use crate::record::{NoLog, QuestionSettings, Record, SessionLog};
use crate::sessions::OpenSession;
use crate::spending::{Spending, Spent};
use crate::tools::Tools;
use crate::turns;
use agent_spaces_serve::concurrency::ConcurrencyPermit;
use agent_spaces_telemetry::spans::{self, QuestionEnd};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// The session of a question that is being answered.
struct InSession {
    /// Its id; empty if nothing is kept.
    id: String,
    records: Vec<Record>,
    log: Arc<dyn SessionLog>,
    is_new: bool,
    /// Kept until the question ends.
    held: Option<Held>,
}

impl AgentService {
    /// Answers a question in a task of its own, which ends when this future is dropped: it is told to, so that a step that
    /// is being recorded is recorded, and the session is free only after that.
    pub(super) async fn answer(&self, question: Question, permit: ConcurrencyPermit) -> Result<Outcome, AgentError> {
        let cancel = question.cancel.child_token();
        let _cancelled_when_dropped = cancel.clone().drop_guard();
        let service = self.clone();
        let answered = async move {
            let _permit = permit;
            service.answer_here(question, cancel).await
        };
        match tokio::spawn(answered.in_current_span()).await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends.
                Err(_) => Err(AgentError::Busy),
            },
        }
    }

    async fn answer_here(&self, mut question: Question, cancel: CancellationToken) -> Result<Outcome, AgentError> {
        let parent = self.0.open.parent_of(&question);
        // Agents that its calls ask are charged to it.
        question.client = question.client.in_question(next_number());
        let agent = self.agent(&question.agent)?;
        if agent.models.is_empty() {
            return Err(AgentError::Configuration(format!(
                "agent {:?} has no model: name one in `models`",
                agent.name
            )));
        }
        let session = self.session_of(&question, &agent).await?;
        // Servers may take long to start.
        let started = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(None),
            tools = self.tools_of(&question, &agent) => tools.map_err(Some),
        };
        let tools = match started {
            Ok(tools) => tools,
            Err(error) => {
                if let (Some(sessions), true) = (&self.0.sessions, session.is_new) {
                    // Nothing was asked in it. What cannot be deleted expires.
                    let _ = sessions.delete(question.client.owner(), &session.id).await;
                }
                return error.map_or_else(|| Ok(Outcome::cancelled()), Err);
            }
        };
        let span = spans::invoke_agent(&agent.name, (!session.id.is_empty()).then_some(session.id.as_str()));
        let outcome = self.run(question, &agent, session, tools, cancel, parent).instrument(span.clone()).await?;
        self.0.guard.ended(&agent.name, outcome.ending.code());
        spans::end_invoke_agent(
            &span,
            QuestionEnd {
                ending: outcome.ending.code(),
                is_failure: !outcome.ending.is_answer(),
                turns: outcome.turns,
                input_tokens: outcome.usage.input_tokens,
                output_tokens: outcome.usage.output_tokens,
            },
        );
        Ok(outcome)
    }

    /// Begins or opens the session.
    async fn session_of(&self, question: &Question, agent: &AgentDefinition) -> Result<InSession, AgentError> {
        let owner = question.client.owner();
        let keeping = |held: Option<Held>, opened: OpenSession, is_new: bool| {
            let OpenSession { id, records, log, .. } = opened;
            InSession { id, records, log: Arc::new(log), is_new, held }
        };
        match &question.session {
            SessionChoice::None => {
                let (id, records, log) = (String::new(), Vec::new(), Arc::new(NoLog));
                Ok(InSession { id, records, log, is_new: false, held: None })
            }
            SessionChoice::New => {
                let sessions = self.0.sessions.as_ref().ok_or_else(no_journal)?;
                let opened = sessions.create(owner, &agent.name, &question.title()).await?;
                let held = self.0.in_use.hold(owner, &opened.id)?;
                Ok(keeping(Some(held), opened, true))
            }
            SessionChoice::Resume(id) => {
                let sessions = self.kept(id)?;
                let held = self.0.in_use.hold(owner, id)?;
                let opened = sessions.open(owner, id).await?;
                if opened.agent != agent.name {
                    return Err(AgentError::Invalid(format!(
                        "session {id:?} is of agent {:?}: ask that agent, or start another session",
                        opened.agent
                    )));
                }
                Ok(keeping(Some(held), opened, false))
            }
        }
    }

    async fn tools_of(&self, question: &Question, agent: &AgentDefinition) -> Result<Arc<dyn Tools>, AgentError> {
        let nesting = Nesting { depth: question.depth() };
        let approver = match question.parent {
            // Whoever watches the question above sees one call.
            Some(_) => question.approver.clone(),
            None => watched(question.approver.clone(), question.watcher.clone()),
        };
        self.0.source.tools(agent, &question.client, approver, nesting).await
    }

    /// Runs the loop.
    async fn run(
        &self,
        question: Question,
        agent: &AgentDefinition,
        session: InSession,
        tools: Arc<dyn Tools>,
        cancel: CancellationToken,
        parent: Option<OpenQuestion>,
    ) -> Result<Outcome, AgentError> {
        let InSession { id, records, log, held: _held, .. } = session;
        let last = QuestionSettings::last_of(&records);
        let is_resumed = question.messages.is_empty();
        let before = if is_resumed { spent(last_question(&records)) } else { Spent::default() };
        let spent = spent(&records);
        let handles = Handles::default();
        let conversation = Conversation::of(records, &handles);
        let settings = if is_resumed { last.clone() } else { question.settings() };
        if is_resumed && conversation.is_finished() {
            return Err(AgentError::Invalid(format!("the last question of session {id:?} is finished; ask something")));
        }
        if settings != last {
            log.append(&Record::Settings { settings: Box::new(settings.clone()) }).await?;
        }
        let sessions = self.0.sessions.as_ref();
        let day = self.0.days.begin(&agent.name, sessions).await;
        let mut agents = vec![agent.name.clone()];
        let above = parent.iter().flat_map(|parent| &parent.agents);
        agents.extend(above.filter(|above| **above != agent.name).cloned());
        let log = match sessions.cloned() {
            Some(sessions) => Arc::new(DayLog { log, sessions, agents: agents.clone() }) as Arc<dyn SessionLog>,
            None => log,
        };
        let agent = settings.applied_to(agent);
        let spending = Spending::new(agent.budgets, spent, day.day.clone(), parent.map(|parent| parent.spending));
        spending.go_on(before);
        let opened = OpenQuestion { spending: spending.clone(), agents };
        let _registered = self.0.open.register(question.client.caller().agent_question, opened);
        let context = AnswerContext {
            models: self.0.models.clone(),
            tools,
            output: settings.output_of(&agent),
            caller_tools: settings.caller_tools,
            tool_choice: settings.tool_choice,
            system: settings.system,
            log,
            handles,
            guard: self.0.guard.for_question(),
            spending,
            accounting: self.0.accounting.clone(),
            caller: question.client.caller().name.clone(),
            watcher: if question.parent.is_some() { unwatched() } else { question.watcher },
            cancel,
            session: id,
        };
        for text in context.tools.warnings() {
            tracing::warn!(target: "agent_spaces::agent", agent = %agent.name, "{text}");
            (context.watcher)(AgentEvent::Note { text });
        }
        Ok(turns::answer(&agent, &context, conversation, question.messages).await)
    }
}

fn no_journal() -> AgentError {
    AgentError::Configuration("sessions need a journal, and this process has none; ask without a session".to_owned())
}

/// The records of the last question.
fn last_question(records: &[Record]) -> &[Record] {
    let start = records.iter().rposition(|record| matches!(record, Record::Asked { .. })).unwrap_or_default();
    &records[start..]
}

/// Spending of answers and nested agents among records.
fn spent(records: &[Record]) -> Spent {
    let mut spent = Spent::default();
    for record in records {
        match record {
            Record::Answered { answer, cost, .. } => spent.add(answer.usage.total(), *cost),
            Record::Nested { tokens, cost } => spent.add(*tokens, Some(*cost)),
            _ => {}
        }
    }
    spent
}
