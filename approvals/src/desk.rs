//! One outcome to every request.

use crate::channel::{Channel, ChannelError};
use crate::decision::{Decision, Verdict};
use crate::pending::Pending;
use crate::request::Request;
use std::sync::Arc;

/// Where the calls of a space wait for a person.
#[derive(Clone)]
pub struct Desk {
    channel: Arc<dyn Channel>,
}

/// What became of a request. Only [`Outcome::Approved`] lets the call go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A person approved this call, or an earlier one for longer than that call.
    Approved(Decision),
    /// A person denied it.
    Denied(Decision),
    /// Nobody decided in time.
    Expired,
    /// The run has as many requests waiting as it may have; nobody was asked.
    TooMany,
    /// There is nobody who could decide, and why.
    Nobody(String),
}

impl Desk {
    /// A desk whose requests go to this channel.
    pub fn new(channel: Arc<dyn Channel>) -> Desk {
        Desk { channel }
    }

    /// Asks, unless the run has an approval that covers the call, and waits for the outcome. Dropping the future
    /// withdraws the request.
    pub async fn decide(&self, request: Arc<Request>, pending: &Pending) -> Outcome {
        self.decide_announced(request, pending, |_| ()).await
    }

    /// The same. `announce` is called if somebody is asked, once the request can be decided: who hears of it there
    /// can answer at once.
    pub async fn decide_announced(
        &self,
        request: Arc<Request>,
        pending: &Pending,
        announce: impl FnOnce(&Request) + Send,
    ) -> Outcome {
        if let Some(decision) = pending.remembered(&request) {
            return Outcome::Approved(decision);
        }
        let Some(left) = request.time_left() else { return Outcome::Expired };
        let Some(_place) = pending.enter(&request) else { return Outcome::TooMany };
        let answer = self.channel.ask(Arc::clone(&request));
        announce(&request);
        tokio::select! {
            biased;
            // Who approved a function for the run is not asked again for the calls that waited with it.
            decision = pending.covered(&request) => Outcome::Approved(decision),
            answer = answer => self.judge(answer, &request, pending),
            () = tokio::time::sleep(left) => Outcome::Expired,
        }
    }

    fn judge(&self, answer: Result<Decision, ChannelError>, request: &Request, pending: &Pending) -> Outcome {
        let decision = match answer {
            Ok(decision) => decision.tidied(),
            Err(ChannelError::Expired) => return Outcome::Expired,
            Err(ChannelError::Nobody(why)) => return Outcome::Nobody(why),
        };
        // The timer does not count while a computer sleeps.
        if request.time_left().is_none() {
            self.channel.too_late(request);
            return Outcome::Expired;
        }
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
