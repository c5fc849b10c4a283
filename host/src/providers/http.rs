//! Requests to web servers, as definitions describe them. What is sent and read is the crate `agent-spaces-providers`'
//! business; this brings together the definition, what the configuration gives, and the call.

use super::{Answering, Provider, ProviderGrants, ProviderKind};
use crate::handlers::{Call, CapabilityError};
use crate::pipeline::Operator;
use agent_spaces_policy::NetworkPolicy;
use agent_spaces_providers::ProviderError;
use agent_spaces_providers::http::{Credentials, HttpProvider, origin};
use capability_gen::implementation::HttpOperation;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the functions of one module share: connections, hosts and credentials.
pub(crate) struct HttpModule {
    /// As scripts import it.
    name: String,
    provider: HttpProvider,
    network: NetworkPolicy,
    /// Hears what would allow a refused request.
    operator: Option<Arc<Operator>>,
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
    pub(crate) fn new(
        name: &str,
        grants: &ProviderGrants,
        operator: Option<Arc<Operator>>,
    ) -> Result<HttpModule, String> {
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
        let provider = HttpProvider::new(network.clone(), origins, grants.limits.time);
        Ok(HttpModule { name: name.to_owned(), provider, network, operator })
    }

    /// Tells the operator which line would allow a request that was refused.
    fn tell(&self, operation: &HttpOperation, error: &ProviderError) {
        let (Some(operator), Some(origin)) = (&self.operator, origin(operation)) else { return };
        let host = origin.host_str().unwrap_or_default();
        let key = match self.network.check(&operation.method, host) {
            Err(_) => "domains",
            Ok(()) if error.message.contains("private address") => "private",
            Ok(()) => return,
        };
        let line = json!({ "providers": { &self.name: { "http": { key: [host] } } } });
        let wanted = origin.origin().ascii_serialization();
        operator(&format!(
            "{} may not reach {wanted}: {}. In an accepted configuration, this would allow it: {line}",
            self.name, error.message
        ));
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
                if error.code == "call.denied" {
                    self.module.tell(&self.operation, &error);
                }
                let ProviderError { code, message, retryable, details } = error;
                CapabilityError { code, message, retryable, details }
            })
        })
    }
}
