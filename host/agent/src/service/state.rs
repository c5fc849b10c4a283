//! Shared state of a process: sessions in use, and daily spending of agents.

use crate::error::AgentError;
use crate::record::{Record, SessionLog};
use crate::sessions::Sessions;
use crate::spending::Day;
use futures_util::future::BoxFuture;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Sessions in which a question is being answered, with their owners. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct InUse(Arc<Mutex<HashSet<(String, String)>>>);

/// A session that others cannot use, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    all: InUse,
    key: (String, String),
}

impl InUse {
    /// Holds a session for a question.
    pub(super) fn hold(&self, owner: &str, session: &str) -> Result<Held, AgentError> {
        let key = (owner.to_owned(), session.to_owned());
        if !self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
            return Err(AgentError::SessionBusy(session.to_owned()));
        }
        Ok(Held { all: self.clone(), key })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Daily spending by agent. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Days(Arc<Mutex<HashMap<String, Counted>>>);

#[derive(Debug, Default)]
struct Counted {
    day: Day,
    /// Questions that add to it now.
    questions: usize,
}

/// The day of an agent while a question is answered.
#[derive(Debug)]
pub(super) struct DayInUse {
    days: Days,
    agent: String,
    /// The day.
    pub(super) day: Day,
}

impl Days {
    /// The day of an agent, for a question. It is read from the journal, where other processes add to it, while no other
    /// question of this process adds to it.
    pub(super) async fn begin(&self, agent: &str, sessions: Option<&Sessions>) -> DayInUse {
        let kept = match sessions {
            Some(sessions) => sessions.day(agent).await,
            None => None,
        };
        let mut days = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = days.entry(agent.to_owned()).or_default();
        if let Some(kept) = kept
            && counted.questions == 0
        {
            counted.day = kept;
        }
        counted.questions += 1;
        DayInUse { days: self.clone(), agent: agent.to_owned(), day: counted.day.clone() }
    }
}

impl Drop for DayInUse {
    fn drop(&mut self) {
        let mut days = self.days.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counted) = days.get_mut(&self.agent) {
            counted.questions = counted.questions.saturating_sub(1);
        }
    }
}

/// A log that charges answers to the day of their agent, and of those above it, as soon as they are recorded: a process
/// that is killed has spent, too.
pub(super) struct DayLog {
    /// The log itself.
    pub(super) log: Arc<dyn SessionLog>,
    /// Store of daily spending.
    pub(super) sessions: Sessions,
    /// The agent and those above it.
    pub(super) agents: Vec<String>,
}

impl SessionLog for DayLog {
    fn append<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async move {
            self.log.append(record).await?;
            if let Record::Answered { answer, cost, .. } = record {
                for agent in &self.agents {
                    self.sessions.add_to_day(agent, answer.usage.total(), *cost).await;
                }
            }
            Ok(())
        })
    }
}
