//! Approval desk: turns requests into outcomes.

use crate::channel::{Channel, ChannelError};
use crate::decision::{Decision, Verdict};
use crate::pending::Pending;
use crate::request::Request;
use std::sync::Arc;

/// Approval desk of a space: sends requests to its channel.
#[derive(Clone)]
pub struct Desk {
    channel: Arc<dyn Channel>,
}

/// Outcome of a request. Only [`Outcome::Approved`] lets the call proceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A person approved this call, or an earlier approval covers it.
    Approved(Decision),
    /// A person denied it.
    Denied(Decision),
    /// No decision in time.
    Expired,
    /// The run reached its limit of pending requests; nobody was asked.
    TooMany,
    /// No person can be asked, with the reason.
    Nobody(String),
}

impl Outcome {
    /// Returns the decision of a person.
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Outcome::Approved(decision) | Outcome::Denied(decision) => Some(decision),
            Outcome::Expired | Outcome::TooMany | Outcome::Nobody(_) => None,
        }
    }
}

impl Desk {
    /// Creates a desk that sends its requests to this channel.
    pub fn new(channel: Arc<dyn Channel>) -> Desk {
        Desk { channel }
    }

    /// Asks a person, unless an earlier approval of the run covers the call, and waits for the outcome. Dropping the
    /// future withdraws the request.
    pub async fn decide(&self, request: Arc<Request>, pending: &Pending) -> Outcome {
        self.decide_announced(request, pending, |_| ()).await
    }

    /// Like [`Desk::decide`]. `announce` is called if a person is asked, once the request can be decided, so that a
    /// listener can answer at once.
    pub async fn decide_announced(
        &self,
        request: Arc<Request>,
        pending: &Pending,
        announce: impl FnOnce(&Request) + Send,
    ) -> Outcome {
        if let Some(decision) = pending.remembered(&request) {
            return Outcome::Approved(decision);
        }
        if let Some(decision) = self.channel.decided_before(&request).await {
            return Self::accept(decision.sanitized(), &request, pending);
        }
        let Some(left) = request.time_left() else { return Outcome::Expired };
        let Some(_slot) = pending.take_slot(&request) else { return Outcome::TooMany };
        let answer = self.channel.ask(Arc::clone(&request));
        announce(&request);
        tokio::select! {
            biased;
            // An approval for the run also covers the calls that are already waiting.
            decision = pending.covered(&request) => Outcome::Approved(decision),
            answer = answer => self.judge(answer, &request, pending),
            () = tokio::time::sleep(left) => Outcome::Expired,
        }
    }

    fn judge(&self, answer: Result<Decision, ChannelError>, request: &Request, pending: &Pending) -> Outcome {
        let decision = match answer {
            Ok(decision) => decision.sanitized(),
            Err(ChannelError::Expired) => return Outcome::Expired,
            Err(ChannelError::Nobody(why)) => return Outcome::Nobody(why),
        };
        // The timer stops while the computer sleeps.
        if request.time_left().is_none() {
            self.channel.too_late(request);
            return Outcome::Expired;
        }
        Self::accept(decision, request, pending)
    }

    fn accept(decision: Decision, request: &Request, pending: &Pending) -> Outcome {
        match decision.verdict {
            Verdict::Denied => Outcome::Denied(decision),
            Verdict::Approved => {
                pending.remember(request, &decision);
                Outcome::Approved(decision)
            }
        }
    }
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
