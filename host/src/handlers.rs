//! What answers calls: providers, and async Rust closures over JSON.

use crate::audit_trail::Ledger;
use crate::events::CallProgress;
use crate::limits::{CallMemory, RunMemory};
use crate::off_thread::Turns;
use crate::providers::Provider;
#[cfg(feature = "compiler")]
use crate::providers::ProviderKind;
use crate::run::{AnsweringScript, Caller, RunClock, RunScope};
use capability_gen::server::ServerPart;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// A call on its way to a handler.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// The run that makes it.
    pub run_id: Arc<str>,
    /// Its number in the run, from one.
    pub id: u64,
    /// The interface: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub interface: Arc<str>,
    /// The capability as its definition names it: `trainSchedule`.
    pub capability: Arc<str>,
    /// The function as scripts write it: `getSchedule`.
    pub function: Arc<str>,
    /// The function as its definition names it, which is what goes on a wire: `slack_list_channels`.
    pub source_name: Arc<str>,
    /// Which part of an MCP server is called, where it is no tool. Then `source_name` is MCP's method: `prompts/get`.
    pub part: Option<ServerPart>,
    /// The members of the one record parameter, or all parameters by name.
    pub params: Value,
    /// Where to say how far it has come.
    pub progress: CallProgress,
    /// What lives as long as the run.
    pub scope: RunScope,
    /// On whose behalf it is made.
    pub caller: Arc<Caller>,
    /// The clock of the run, which stands while a person is asked.
    pub(crate) clock: Option<RunClock>,
    /// What the run may take of the audit log.
    pub(crate) ledger: Option<Arc<Ledger>>,
    /// The scripts whose run makes it, where it answers a call itself.
    pub(crate) script: Option<Arc<AnsweringScript>>,
    /// Where the whole answer of an MCP server goes, beside the data: for who passes it on.
    pub(crate) whole: Option<WholeAnswer>,
    /// What the host uses for it, of what its run may have.
    pub(crate) memory: Arc<CallMemory>,
    /// When its large values are worked on.
    pub(crate) turns: Turns,
}

/// The whole answer of an MCP server, without secrets: scripts are given its data alone, and who passes it on to another
/// client needs every block of it. Clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholeAnswer(Arc<Mutex<Option<Value>>>);

impl WholeAnswer {
    /// Takes the place of what a call that is repeated was answered before.
    pub(crate) fn put(&self, whole: Option<Value>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = whole;
    }

    pub(crate) fn get(&self) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Why a call gave no value. Scripts catch it as a `CapabilityError`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct CapabilityError {
    /// A dotted code that programs may branch on: `call.failed`.
    pub code: String,
    /// What was wrong and what to do, for the script's author; never a host detail.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Further facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Call {
    /// What a run that answers this call is counted against: the run that makes it.
    pub fn memory(&self) -> RunMemory {
        self.memory.run()
    }
}

impl CapabilityError {
    /// A failure of what stands behind the capability.
    pub fn failed(message: impl Into<String>) -> CapabilityError {
        CapabilityError::new("call.failed", message)
    }

    /// An error with a code of its own.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> CapabilityError {
        CapabilityError { code: code.into(), message: message.into(), retryable: false, details: None }
    }
}

/// The outermost message alone: what is below it may be about anything of the host. A `CapabilityError` inside stays
/// what it is.
impl From<anyhow::Error> for CapabilityError {
    fn from(error: anyhow::Error) -> CapabilityError {
        error.downcast().unwrap_or_else(|error| CapabilityError::failed(error.to_string()))
    }
}

impl From<String> for CapabilityError {
    fn from(message: String) -> CapabilityError {
        CapabilityError::failed(message)
    }
}

impl From<&str> for CapabilityError {
    fn from(message: &str) -> CapabilityError {
        CapabilityError::failed(message)
    }
}

/// What a call gave.
pub type Answer = Result<Value, CapabilityError>;
pub(crate) type Handler = dyn Fn(Call) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;

/// Stands for every function of an interface; no function has this name.
pub(crate) const ALL: &str = "*";

/// Handlers by interface and function.
#[derive(Clone, Default)]
pub struct Handlers {
    by_name: HashMap<(String, String), Entry>,
}

#[derive(Clone)]
struct Entry {
    handler: Arc<Handler>,
    /// What the handler is, where it is no closure.
    provider: Option<Arc<dyn Provider>>,
}

impl Handlers {
    /// Nobody answers anything.
    pub fn new() -> Handlers {
        Handlers::default()
    }

    /// Answers calls of one function: its interface by full name, its own name as WIT has it.
    pub fn add<F, Answering>(&mut self, interface: impl Into<String>, function: impl Into<String>, handler: F)
    where
        F: Fn(Call) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = Answer> + Send + 'static,
    {
        let handler: Arc<Handler> = Arc::new(move |call| Box::pin(handler(call)));
        self.by_name.insert((interface.into(), function.into()), Entry { handler, provider: None });
    }

    /// Answers calls of all functions of an interface that have no handler of their own.
    pub fn add_interface<F, Answering>(&mut self, interface: impl Into<String>, handler: F)
    where
        F: Fn(Call) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = Answer> + Send + 'static,
    {
        self.add(interface, ALL, handler);
    }

    /// Lets a provider answer all functions of an interface that have no other.
    pub fn provide(&mut self, interface: impl Into<String>, provider: Arc<dyn Provider>) {
        self.provide_function(interface, ALL, provider);
    }

    /// Lets a provider answer one function: its interface by full name, its own name as WIT has it.
    pub fn provide_function(
        &mut self,
        interface: impl Into<String>,
        function: impl Into<String>,
        provider: Arc<dyn Provider>,
    ) {
        let answering = provider.clone();
        let handler: Arc<Handler> = Arc::new(move |call| answering.clone().call(call));
        self.by_name.insert((interface.into(), function.into()), Entry { handler, provider: Some(provider) });
    }

    /// Adds the handlers of another set; where both answer a function, the other's stays.
    pub fn extend(&mut self, other: Handlers) {
        self.by_name.extend(other.by_name);
    }

    pub(crate) fn get(&self, interface: &str, function: &str) -> Option<Arc<Handler>> {
        self.find(interface, function).map(|entry| entry.handler.clone())
    }

    /// What answers a function, where it is no closure.
    pub(crate) fn provider(&self, interface: &str, function: &str) -> Option<Arc<dyn Provider>> {
        self.find(interface, function)?.provider.clone()
    }

    /// What answers a function, for an auditor.
    #[cfg(feature = "compiler")]
    pub(crate) fn describe(&self, interface: &str, function: &str) -> (ProviderKind, String) {
        match self.find(interface, function).and_then(|entry| entry.provider.as_ref()) {
            Some(provider) => (provider.kind(), provider.description()),
            None => (ProviderKind::Native, "the host".to_owned()),
        }
    }

    /// What there is for a function, or else for all of its interface.
    fn find(&self, interface: &str, function: &str) -> Option<&Entry> {
        // A tuple of owned strings cannot be looked up by reference; this is at link time only.
        let find = |function: &str| self.by_name.get(&(interface.to_owned(), function.to_owned()));
        find(function).or_else(|| find(ALL))
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &(String, String)> {
        self.by_name.keys()
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.by_name.keys()).finish()
    }
}
