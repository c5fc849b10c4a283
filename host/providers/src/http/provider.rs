//! Provider of HTTP functions: combines a definition's operation, the grants of the configuration, and the call.

use crate::http::{Credentials, HttpProvider, origin};
use crate::{ProviderError, ProviderGrants};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::operator_notices::Notices;
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_policy::{NetworkPolicy, NetworkRefusal};
use agent_spaces_std::{RefusalReason, Refused};
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::provider_kind::ProviderKind;
use capability_gen::implementation::HttpOperation;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// State that the functions of one module share: connections, hosts and credentials.
pub struct HttpModule {
    /// Specifier that scripts import.
    name: String,
    provider: HttpProvider,
    network: NetworkPolicy,
    /// Receives the setting that would allow a refused request.
    notices: Notices,
}

/// Provider of one function.
pub struct HttpFunction {
    module: Arc<HttpModule>,
    operation: Box<HttpOperation>,
}

impl HttpModule {
    /// Creates the shared state from the grants of a module.
    ///
    /// # Errors
    /// If a credential cannot be sent; the text names its origin.
    pub fn new(name: &str, grants: &ProviderGrants, notices: Notices) -> Result<HttpModule, String> {
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

    /// Sends the operator a notice of a refused request, with the setting that would allow it.
    fn report_refusal(&self, function: &str, operation: &HttpOperation, refused: &Refused, message: &str) {
        let Some(origin) = origin(operation) else { return };
        let (name, host) = (&self.name, &refused.host);
        let from = origin.host_str().unwrap_or_default();
        // A trailing dot makes no other host.
        if from.strip_suffix('.').unwrap_or(from) != host {
            // A server chose this host, so no setting is suggested that an operator might copy.
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
            format!("To allow it, add to an accepted configuration: {line}")
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
                "It is listed in \"blocked\" of the configuration's \"providers\"".to_owned()
            }
            RefusalReason::Private => line("private", json!([host])),
            RefusalReason::Never => "No setting allows it".to_owned(),
        }
    }
}

impl HttpFunction {
    /// Creates the provider of an operation.
    pub fn new(module: &Arc<HttpModule>, operation: &HttpOperation) -> HttpFunction {
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
            let answer = self.module.provider.call(&self.operation, &call.params, call.idempotency_key()).await;
            answer.map_err(|error| {
                let ProviderError { code, message, retryable, details, refused } = error;
                if let Some(refused) = refused {
                    self.module.report_refusal(&call.function, &self.operation, &refused, &message);
                }
                CapabilityError { code, message, retryable, details }
            })
        })
    }
}
