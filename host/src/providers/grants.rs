//! What a provider is given.

use crate::config;
use crate::limits::Limits;
use agent_spaces_mcp::secrets::{Redactor, Secret, Variables, expand, secret_value};
use agent_spaces_policy::{DomainPattern, NetworkPolicy, Policy, Preset, Settings};
use std::collections::BTreeMap;

/// What the configuration gives to what answers a module. A definition cannot give itself anything.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProviderGrants {
    /// Variables.
    pub(crate) env: BTreeMap<String, Secret>,
    /// The hosts that it may reach.
    pub(crate) network: NetworkPolicy,
    /// What is sent to one origin and nowhere else.
    pub(crate) origins: BTreeMap<String, Credentials>,
    /// What one call may use.
    pub(crate) limits: Limits,
}

/// What is added to requests to one origin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) headers: BTreeMap<String, Secret>,
    pub(crate) query: BTreeMap<String, Secret>,
}

impl ProviderGrants {
    /// Fills in what the configuration says. What is secret in it is made known to the redactor first.
    ///
    /// # Errors
    /// A variable that is not set, or a secret that is too short to be found again; with the place in the configuration.
    pub(crate) fn fill(provider: &config::Provider, redactor: &Redactor) -> Result<ProviderGrants, String> {
        let variables = Variables::of_process();
        let values = |member: &str, raw: &BTreeMap<String, config::Raw>| {
            let mut values = BTreeMap::new();
            for (name, raw) in raw {
                let fail = |error: &dyn std::fmt::Display| format!("{}.{member}.{name}: {error}", provider.place);
                let expanded = expand(raw.expose(), &variables).map_err(|error| fail(&error))?;
                let resolved = secret_value(name, expanded, &provider.public).map_err(|error| fail(&error))?;
                resolved.secrets.iter().for_each(|secret| redactor.add(secret));
                values.insert(name.clone(), resolved.value);
            }
            Ok::<_, String>(values)
        };
        let mut origins = BTreeMap::new();
        for (origin, credentials) in &provider.origins {
            let place = |member: &str| format!("origins[{origin:?}].{member}");
            let headers = values(&place("headers"), &credentials.headers)?;
            let query = values(&place("query"), &credentials.query)?;
            origins.insert(origin.clone(), Credentials { headers, query });
        }
        Ok(ProviderGrants {
            env: values("env", &provider.env)?,
            network: network(provider),
            origins,
            limits: provider.limits.apply(Limits::default()),
        })
    }
}

/// The hosts that are named, those of its origins among them, and every method.
fn network(provider: &config::Provider) -> NetworkPolicy {
    let mut http = provider.http.clone();
    let mut domains = http.domains.take().unwrap_or_default();
    for origin in provider.origins.keys() {
        let host = url::Url::parse(origin).ok().and_then(|url| url.host_str().map(str::to_owned));
        domains.extend(host.and_then(|host| DomainPattern::parse(&host).ok()));
    }
    http.domains = Some(domains);
    let settings = Settings { preset: Some(Preset::Permissive), http, ..Settings::default() };
    Policy::new(settings).network().clone()
}
