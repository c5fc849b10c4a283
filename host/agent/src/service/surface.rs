//! Surface: concurrency limit and queue of one protocol.

use super::AgentService;
use super::question::Question;
use crate::answering::Outcome;
use crate::error::AgentError;
use agent_spaces_serve::concurrency::{ConcurrencyLimiter, ConcurrencyPermit};

/// Most questions that wait at one surface. Each has its request in memory.
const MAX_WAITING: usize = 1000;

/// Asks agents for one surface, such as one protocol of a server. Questions beyond its limit wait: callers take
/// turns, and questions of one caller keep their order. One that is dropped leaves the queue and is never asked. Clones
/// share the limit.
#[derive(Clone, Debug)]
pub struct Surface {
    service: AgentService,
    name: String,
    limiter: ConcurrencyLimiter,
}

impl Surface {
    pub(super) fn new(service: AgentService, name: &str, limiter: ConcurrencyLimiter) -> Surface {
        Surface { service, name: name.to_owned(), limiter }
    }

    /// The service behind it.
    pub fn service(&self) -> &AgentService {
        &self.service
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Questions that wait.
    pub fn waiting(&self) -> usize {
        self.limiter.waiting()
    }

    /// Answers a question. Dropping the future cancels the question: its calls end, its steps so far are kept, and it can
    /// be gone on with.
    ///
    /// # Errors
    /// Those of [`AgentError`]. What models and tools report is in the outcome.
    pub async fn ask(&self, question: Question) -> Result<Outcome, AgentError> {
        question.check()?;
        let permit = self.enter(&question).await?;
        self.service.answer(question, permit).await
    }

    async fn enter(&self, question: &Question) -> Result<ConcurrencyPermit, AgentError> {
        // The agent that asks holds a permit: if nested questions waited for one too, all could wait for each other.
        if question.parent.is_some() {
            return self.service.enter_nested();
        }
        if let Some(permit) = self.limiter.try_enter() {
            return Ok(permit);
        }
        if self.limiter.waiting() >= MAX_WAITING {
            tracing::warn!(target: "agent_spaces::agent", surface = %self.name, "{MAX_WAITING} questions wait already");
            return Err(AgentError::Busy);
        }
        tokio::select! {
            biased;
            () = question.cancel.cancelled() => {
                Err(AgentError::Invalid("the question was cancelled while it waited for others".to_owned()))
            }
            permit = self.limiter.enter_as(question.client.identity()) => Ok(permit),
        }
    }
}
