//! Calls that wait for a person in memory, for as long as somebody waits for the answer: those of agents.

use crate::Decision;
use serde_json::Value;
use std::sync::Arc;
use std::time::SystemTime;

/// Is told of a call that is new or was settled.
pub type CallListener = Box<dyn Fn(&WaitingCall) + Send + Sync>;

/// Calls that wait in memory, for those who list and decide them. Who may do so is theirs to check.
pub trait WaitingCalls: Send + Sync + 'static {
    /// Returns the calls that wait, and some that were settled not long ago, in no order. With an owner, only its own.
    fn calls(&self, owner: Option<&str>) -> Vec<Arc<WaitingCall>>;

    /// Returns one of them.
    fn call(&self, id: &str) -> Option<Arc<WaitingCall>>;

    /// Decides on a call, for a caller with this name, and returns the call. Only the first decision counts.
    ///
    /// # Errors
    /// It does not wait any more: somebody decided before, or the time is over.
    fn decide(&self, id: &str, caller: &str, decision: Decision) -> Result<Arc<WaitingCall>, NotWaiting>;

    /// Tells a listener of every change, from now on. It is called while the calls are locked: it returns at once, and
    /// uses nothing of this trait.
    fn listen(&self, listener: CallListener);
}

/// Call that waits in memory, or several calls of one function about which one decision is made.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingCall {
    /// Unguessable id.
    pub id: String,
    /// Caller whose question it is; empty for the operator.
    pub owner: String,
    /// Agent that makes the call.
    pub agent: String,
    /// Session of the question, if it was known when the question was asked.
    pub session: Option<String>,
    /// Text for the person; untrusted.
    pub message: String,
    /// Function, as scripts write it: `crm.createTicket`.
    pub function: String,
    /// Id of the function.
    pub function_id: String,
    /// Module that exports it.
    pub module: String,
    /// Arguments of each call, with secrets redacted; `None` if they are too long to be shown.
    pub params: Vec<Option<Value>>,
    /// Time of the request.
    pub created: SystemTime,
    /// Time after which it can no longer be decided.
    pub expires: SystemTime,
    /// Why it does not wait any more.
    pub settled: Option<Settled>,
}

/// End of the wait for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Somebody decided.
    Decided {
        /// The decision.
        decision: Decision,
        /// Caller who sent it.
        caller: String,
        /// Time of the decision.
        at: SystemTime,
    },
    /// Nobody decided in time, or the question ended before.
    Over,
}

/// Reason why a call cannot be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWaiting {
    /// There is no such call.
    #[error("there is no such call")]
    Unknown,
    /// Somebody decided before.
    #[error("somebody decided before: only the first decision counts")]
    Decided,
    /// Nobody decided in time, or the question ended before.
    #[error("the time to decide is over")]
    Over,
}
