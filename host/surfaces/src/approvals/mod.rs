//! Calls of agents that wait for a person, in memory: a question that ends takes its calls with it.
//!
//! - `asked_calls`: calls of a request for approval, as they are shown

mod asked_calls;

use crate::bounds::{
    APPROVAL_TIME, MAX_APPROVALS, MAX_CALLER_APPROVALS, MAX_CALLER_SETTLED, MAX_SETTLED, SETTLED_TIME,
};
use agent_spaces_agent::{ApprovalAnswer, ApprovalRequest, Approver};
use agent_spaces_approvals::{CallListener, Decision, NotWaiting, Settled, Verdict, WaitingCall, WaitingCalls};
use agent_spaces_http_server::Client;
use asked_calls::AskedCalls;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};
use tokio::sync::oneshot;

/// Calls of agents that wait for a person, and some that were settled: those who decide late are told. Clones share them.
#[derive(Clone, Default)]
pub struct AgentApprovals(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    entries: BTreeMap<String, Entry>,
    listeners: Vec<CallListener>,
    /// Number of the newest entry.
    newest: u64,
}

/// One call.
struct Entry {
    /// Tells it from another one with the same id.
    number: u64,
    call: Arc<WaitingCall>,
    /// Question that waits for the decision.
    decide: Option<oneshot::Sender<ApprovalAnswer>>,
    settled_at: Option<Instant>,
}

impl AgentApprovals {
    /// Returns who is asked about the calls of a question.
    pub(crate) fn approver(&self, client: &Client, agent: &str, session: Option<String>) -> Arc<dyn Approver> {
        let (owner, agent) = (client.owner().to_owned(), agent.to_owned());
        Arc::new(CallerApprover { all: self.clone(), owner, agent, session })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if a call with this id waits.
    #[cfg(test)]
    pub(crate) fn has(&self, id: &str) -> bool {
        self.call(id).is_some_and(|call| call.settled.is_none())
    }
}

impl WaitingCalls for AgentApprovals {
    fn calls(&self, owner: Option<&str>) -> Vec<Arc<WaitingCall>> {
        let mut state = self.state();
        state.forget_old();
        let is_listed = |call: &&Arc<WaitingCall>| owner.is_none_or(|owner| call.owner == owner);
        state.entries.values().map(|entry| &entry.call).filter(is_listed).cloned().collect()
    }

    fn call(&self, id: &str) -> Option<Arc<WaitingCall>> {
        self.state().entries.get(id).map(|entry| entry.call.clone())
    }

    fn decide(&self, id: &str, caller: &str, decision: Decision) -> Result<Arc<WaitingCall>, NotWaiting> {
        let decision = decision.sanitized();
        let mut state = self.state();
        let entry = state.entries.get_mut(id).ok_or(NotWaiting::Unknown)?;
        match &entry.call.settled {
            Some(Settled::Decided { .. }) => return Err(NotWaiting::Decided),
            Some(Settled::Over) => return Err(NotWaiting::Over),
            None => {}
        }
        let number = entry.number;
        // A question that ended meanwhile has no use for it.
        let is_heard = entry.decide.take().is_some_and(|decide| decide.send(answer(caller, &decision)).is_ok());
        if !is_heard {
            state.settle(id, number, Settled::Over);
            return Err(NotWaiting::Over);
        }
        let decided = Settled::Decided { decision, caller: caller.to_owned(), at: SystemTime::now() };
        state.settle(id, number, decided).ok_or(NotWaiting::Unknown)
    }

    fn listen(&self, listener: CallListener) {
        self.state().listeners.push(listener);
    }
}

impl State {
    /// Adds a call, and returns its number. The error is why it cannot wait.
    fn add(&mut self, call: WaitingCall, decide: oneshot::Sender<ApprovalAnswer>) -> Result<u64, &'static str> {
        let waiting = || self.entries.values().filter(|entry| entry.settled_at.is_none());
        let of_caller = waiting().filter(|entry| entry.call.owner == call.owner).count();
        if waiting().count() >= MAX_APPROVALS || of_caller >= MAX_CALLER_APPROVALS {
            return Err(
                "too many calls wait for a person: allow the function in the policy, or decide on some of them",
            );
        }
        if self.entries.get(&call.id).is_some_and(|entry| entry.settled_at.is_none()) {
            return Err("a call with the same id waits already");
        }
        self.newest += 1;
        let (id, number, call) = (call.id.clone(), self.newest, Arc::new(call));
        self.tell(&call);
        self.entries.insert(id, Entry { number, call, decide: Some(decide), settled_at: None });
        Ok(number)
    }

    /// Ends the wait for a decision, and returns the call. `None` if it does not wait.
    fn settle(&mut self, id: &str, number: u64, settled: Settled) -> Option<Arc<WaitingCall>> {
        let is_waiting = |entry: &&mut Entry| entry.number == number && entry.settled_at.is_none();
        let entry = self.entries.get_mut(id).filter(is_waiting)?;
        let call = Arc::new(WaitingCall { settled: Some(settled), ..(*entry.call).clone() });
        entry.call = call.clone();
        entry.decide = None;
        entry.settled_at = Some(Instant::now());
        self.tell(&call);
        self.forget_old();
        self.forget_oldest(MAX_CALLER_SETTLED, |other| other.owner == call.owner);
        self.forget_oldest(MAX_SETTLED, |_| true);
        Some(call)
    }

    fn tell(&self, call: &WaitingCall) {
        self.listeners.iter().for_each(|listener| listener(call));
    }

    /// Forgets what was settled long ago.
    fn forget_old(&mut self) {
        self.entries.retain(|_, entry| entry.settled_at.is_none_or(|at| at.elapsed() < SETTLED_TIME));
    }

    /// Forgets the oldest settled call of some, if there are more than this many.
    fn forget_oldest(&mut self, most: usize, is_one: impl Fn(&WaitingCall) -> bool) {
        let settled = self.entries.values().filter(|entry| entry.settled_at.is_some() && is_one(&entry.call));
        let settled: Vec<(u64, String)> = settled.map(|entry| (entry.number, entry.call.id.clone())).collect();
        if settled.len() > most
            && let Some((_, oldest)) = settled.into_iter().min()
        {
            self.entries.remove(&oldest);
        }
    }
}

/// Returns a decision as the question gets it. Whom the caller names is what the caller says; the caller itself is known.
fn answer(caller: &str, decision: &Decision) -> ApprovalAnswer {
    let by = match decision.by == caller {
        true => caller.to_owned(),
        false => format!("{} (through {caller})", decision.by),
    };
    match decision.verdict {
        Verdict::Approved => ApprovalAnswer::Approve { by },
        Verdict::Denied => ApprovalAnswer::Deny { by, reason: decision.reason.clone() },
    }
}

/// Asks whoever may approve for one caller.
struct CallerApprover {
    all: AgentApprovals,
    owner: String,
    agent: String,
    session: Option<String>,
}

impl CallerApprover {
    fn waiting(&self, request: ApprovalRequest) -> WaitingCall {
        let ApprovalRequest { id, message, call } = request;
        let AskedCalls { function, function_id, module, params } = AskedCalls::of(call);
        let created = SystemTime::now();
        WaitingCall {
            id,
            owner: self.owner.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            message,
            function,
            function_id,
            module,
            params,
            created,
            expires: created.checked_add(APPROVAL_TIME).unwrap_or(created),
            settled: None,
        }
    }
}

impl Approver for CallerApprover {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(async move {
            let (id, (decide, decided)) = (request.id.clone(), oneshot::channel());
            let added = self.all.state().add(self.waiting(request), decide);
            let number = match added {
                Ok(number) => number,
                Err(reason) => {
                    return ApprovalAnswer::Deny { by: "agent-spaces".to_owned(), reason: Some(reason.to_owned()) };
                }
            };
            let _withdrawn = Withdrawal { all: &self.all, id: &id, number };
            match tokio::time::timeout(APPROVAL_TIME, decided).await {
                Ok(Ok(answer)) => answer,
                _ => ApprovalAnswer::Expired,
            }
        })
    }
}

/// Takes a call away when nobody waits for its decision any more.
struct Withdrawal<'a> {
    all: &'a AgentApprovals,
    id: &'a str,
    number: u64,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.all.state().settle(self.id, self.number, Settled::Over);
    }
}

#[cfg(test)]
mod tests;
