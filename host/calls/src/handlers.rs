//! Handlers: providers and async Rust closures, by interface and function.

use crate::call::Call;
use crate::provider::Provider;
use agent_spaces_types::capability_error::Answer;
use agent_spaces_types::function::Description;
use agent_spaces_types::provider_kind::ProviderKind;
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// Handler of a function: takes a call, and returns the future of its answer.
pub type Handler = dyn Fn(Call) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;

/// Wildcard for every function of an interface; no function has this name.
pub const ALL: &str = "*";

/// Handlers by interface and function.
#[derive(Clone, Default)]
pub struct Handlers {
    by_name: HashMap<(String, String), Entry>,
}

#[derive(Clone)]
struct Entry {
    handler: Arc<Handler>,
    /// Provider of the handler; `None` for a closure.
    provider: Option<Arc<dyn Provider>>,
}

impl Handlers {
    /// Creates an empty set.
    pub fn new() -> Handlers {
        Handlers::default()
    }

    /// Adds a closure for one function, by full interface name and WIT function name.
    pub fn add<F, Answering>(&mut self, interface: impl Into<String>, function: impl Into<String>, handler: F)
    where
        F: Fn(Call) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = Answer> + Send + 'static,
    {
        let handler: Arc<Handler> = Arc::new(move |call| Box::pin(handler(call)));
        self.by_name.insert((interface.into(), function.into()), Entry { handler, provider: None });
    }

    /// Adds a closure for all functions of an interface that have no handler of their own.
    pub fn add_interface<F, Answering>(&mut self, interface: impl Into<String>, handler: F)
    where
        F: Fn(Call) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = Answer> + Send + 'static,
    {
        self.add(interface, ALL, handler);
    }

    /// Adds a provider for all functions of an interface that have no handler of their own.
    pub fn provide(&mut self, interface: impl Into<String>, provider: Arc<dyn Provider>) {
        self.provide_function(interface, ALL, provider);
    }

    /// Adds a provider for one function, by full interface name and WIT function name.
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

    /// Adds the handlers of another set, which replace those of the same functions.
    pub fn extend(&mut self, other: Handlers) {
        self.by_name.extend(other.by_name);
    }

    /// Returns the handler of a function, or that of its whole interface.
    pub fn get(&self, interface: &str, function: &str) -> Option<Arc<Handler>> {
        self.find(interface, function).map(|entry| entry.handler.clone())
    }

    /// Returns the provider of a function; `None` for a closure.
    pub fn provider(&self, interface: &str, function: &str) -> Option<Arc<dyn Provider>> {
        self.find(interface, function)?.provider.clone()
    }

    /// Describes the provider of a function, for an auditor.
    pub fn describe(&self, interface: &str, function: &str) -> (ProviderKind, String) {
        match self.find(interface, function).and_then(|entry| entry.provider.as_ref()) {
            Some(provider) => (provider.kind(), provider.description()),
            None => (ProviderKind::Native, "the host".to_owned()),
        }
    }

    /// Finds the entry of a function, or else that of its whole interface.
    fn find(&self, interface: &str, function: &str) -> Option<&Entry> {
        // A tuple of owned strings cannot be looked up by reference; this is at link time only.
        let find = |function: &str| self.by_name.get(&(interface.to_owned(), function.to_owned()));
        find(function).or_else(|| find(ALL))
    }

    /// Returns the functions of a description without a handler, as `interface.function`.
    pub fn missing(&self, description: &Description) -> Vec<String> {
        let mut missing = Vec::new();
        for interface in &description.interfaces {
            for function in &interface.functions {
                if self.get(&interface.name, &function.shape.name).is_none() {
                    missing.push(format!("{}.{}", interface.name, function.shape.name));
                }
            }
        }
        missing
    }

    /// Iterates over interface and function names; the function may be [`ALL`].
    pub fn keys(&self) -> impl Iterator<Item = &(String, String)> {
        self.by_name.keys()
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.by_name.keys()).finish()
    }
}
