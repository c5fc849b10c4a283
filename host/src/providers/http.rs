//! Requests to web servers, as definitions describe them. What is sent and read is the crate `agent-spaces-providers`'
//! business; this brings together the definition, what the configuration gives, and the call.

use super::{Answering, Provider, ProviderGrants, ProviderKind, failure};
use crate::handlers::{Call, CapabilityError};
use crate::pipeline::Notices;
use agent_spaces_policy::{NetworkPolicy, NetworkRefusal};
use agent_spaces_providers::ProviderError;
use agent_spaces_providers::http::{Credentials, HttpProvider, origin};
use agent_spaces_std::http::{RefusalReason, Refused};
use capability_gen::implementation::HttpOperation;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the functions of one module share: connections, hosts and credentials.
pub(crate) struct HttpModule {
    /// As scripts import it.
    name: String,
    provider: HttpProvider,
    network: NetworkPolicy,
    /// Hears what would allow a refused request.
    notices: Notices,
}

/// Answers one function.
pub(crate) struct HttpFunction {
    module: Arc<HttpModule>,
    operation: Box<HttpOperation>,
}

impl HttpModule {
    /// Within what the configuration gives the module.
    ///
    /// # Errors
    /// A credential that cannot be sent, with its origin.
    pub(crate) fn new(name: &str, grants: &ProviderGrants, notices: Notices) -> Result<HttpModule, String> {
        let mut origins = BTreeMap::new();
        for (origin, given) in &grants.origins {
            let mut credentials = Credentials::default();
            for (header, value) in &given.headers {
                credentials.add_header(header, value.expose()).map_err(|error| format!("{origin}: {error}"))?;
            }
            given.query.iter().for_each(|(member, value)| credentials.add_query(member, value.expose()));
            origins.insert(origin.clone(), credentials);
        }
        let network = grants.network.clone();
        let provider = HttpProvider::new(network.clone(), origins, grants.limits.time, notices.redactor());
        Ok(HttpModule { name: name.to_owned(), provider, network, notices })
    }

    /// Tells the operator of a request that was refused, and which line would allow it.
    fn tell(&self, function: &str, operation: &HttpOperation, refused: &Refused, message: &str) {
        let Some(origin) = origin(operation) else { return };
        let (name, host) = (&self.name, &refused.host);
        let from = origin.host_str().unwrap_or_default();
        // A dot at its end says nothing.
        if from.strip_suffix('.').unwrap_or(from) != host {
            // A server said this host, so no line is shown that somebody might copy.
            let text = format!("{name} was redirected from {from} to {host}, which it may not reach: {message}");
            self.notices.tell(&format!("{name} {function}"), "redirect", &text);
            return;
        }
        let wanted = origin.origin().ascii_serialization();
        let advice = self.advice(refused);
        let text = format!("{name} may not reach {wanted}: {message}. {advice}");
        self.notices.tell(&format!("{name} {function}"), "network", &text);
    }

    fn advice(&self, Refused { host, reason }: &Refused) -> String {
        let line = |key: &str, value: Value| {
            let line = json!({ "providers": { &self.name: { "http": { key: value } } } });
            format!("In an accepted configuration, this would allow it: {line}")
        };
        match reason {
            RefusalReason::Policy(NetworkRefusal::Disabled | NetworkRefusal::Unlisted(_)) => {
                line("domains", json!([host]))
            }
            RefusalReason::Policy(NetworkRefusal::Method(method)) => {
                let known = self.network.methods.iter().flatten().chain([method]);
                line("methods", known.cloned().collect())
            }
            RefusalReason::Policy(NetworkRefusal::Blocked(_)) => {
                "A line of \"blocked\" in the configuration's \"providers\" says so".to_owned()
            }
            RefusalReason::Private => line("private", json!([host])),
            RefusalReason::Never => "No setting allows it".to_owned(),
        }
    }
}

impl HttpFunction {
    pub(crate) fn new(module: &Arc<HttpModule>, operation: &HttpOperation) -> HttpFunction {
        HttpFunction { module: module.clone(), operation: Box::new(operation.clone()) }
    }
}

impl Provider for HttpFunction {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Http
    }

    fn description(&self) -> String {
        format!("{} {}", self.operation.method, self.operation.url.text())
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move {
            let answer = self.module.provider.call(&self.operation, &call.params).await;
            answer.map_err(|error| {
                let ProviderError { code, message, retryable, details, refused } = error;
                if let Some(refused) = refused {
                    self.module.tell(&call.function, &self.operation, &refused, &message);
                }
                CapabilityError { code: failure::code(code), message, retryable, details }
            })
        })
    }
}
