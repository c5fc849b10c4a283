//! What a provider is given.

use crate::config;
use crate::limits::Limits;
use agent_spaces_mcp::secrets::{Expanded, Redactor, Resolved, Secret, SecretError, Variables};
use agent_spaces_mcp::secrets::{credential_value, expand, secret_value};
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
    /// What is sent to an origin is always a secret.
    pub(crate) fn fill(provider: &config::Provider, redactor: &Redactor) -> Result<ProviderGrants, String> {
        let variables = Variables::of_process();
        type Classify<'a> = &'a dyn Fn(&str, Expanded) -> Result<Resolved, SecretError>;
        let values = |member: &str, raw: &BTreeMap<String, config::Raw>, classify: Classify<'_>| {
            let mut values = BTreeMap::new();
            for (name, raw) in raw {
                let fail = |error: &dyn std::fmt::Display| format!("{}.{member}.{name}: {error}", provider.place);
                let expanded = expand(raw.expose(), &variables).map_err(|error| fail(&error))?;
                let resolved = classify(name, expanded).map_err(|error| fail(&error))?;
                resolved.secrets.iter().for_each(|secret| redactor.add(secret));
                values.insert(name.clone(), resolved.value);
            }
            Ok::<_, String>(values)
        };
        let mut origins = BTreeMap::new();
        for (origin, credentials) in &provider.origins {
            let place = |member: &str| format!("origins[{origin:?}].{member}");
            let headers = values(&place("headers"), &credentials.headers, &credential_value)?;
            let query = values(&place("query"), &credentials.query, &credential_value)?;
            origins.insert(origin.clone(), Credentials { headers, query });
        }
        Ok(ProviderGrants {
            env: values("env", &provider.env, &|name, value| secret_value(name, value, &provider.public))?,
            network: network(provider),
            origins,
            limits: provider.limits.apply(Limits::default()),
        })
    }
}

/// Makes known what is secret in what the configuration gives to a module, before anything answers it: also where
/// something of it cannot be filled in.
pub(crate) fn learn(provider: &config::Provider, redactor: &Redactor) {
    let variables = Variables::of_process();
    let add = |resolved: Option<Resolved>| {
        resolved.iter().flat_map(|resolved| &resolved.secrets).for_each(|secret| redactor.add(secret));
    };
    let expanded = |raw: &config::Raw| expand(raw.expose(), &variables).ok();
    for (name, raw) in &provider.env {
        add(expanded(raw).and_then(|value| secret_value(name, value, &provider.public).ok()));
    }
    let credentials = provider.origins.values().flat_map(|origin| origin.headers.iter().chain(&origin.query));
    for (name, raw) in credentials {
        add(expanded(raw).and_then(|value| credential_value(name, value).ok()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn filled(provider: Value) -> Result<Redactor, String> {
        let module = "@capabilities/crm";
        let config = config::from_value("f", json!({ "providers": { module: provider } })).unwrap();
        let redactor = Redactor::default();
        ProviderGrants::fill(&config.providers[module], &redactor).map(|_| redactor)
    }

    #[test]
    fn whatever_is_sent_to_an_origin_is_secret_and_only_variables_are_public() {
        let redactor = filled(json!({
            "env": { "TENANT_KEY": "tenant-for-all" }, "public": ["TENANT_KEY", "Tenant", "region"],
            "origins": { "https://a.example": {
                "headers": { "Tenant": "tenant-of-ours" }, "query": { "region": "region-of-ours" },
            } },
        }));
        let shown = redactor.unwrap().text("tenant-for-all tenant-of-ours region-of-ours").into_owned();
        assert_eq!(shown, "tenant-for-all [redacted] [redacted]");
    }

    /// What cannot be used is no reason to forget what can.
    #[test]
    fn secrets_are_known_before_they_are_used() {
        let config = config::from_value(
            "f",
            json!({ "providers": { "@capabilities/crm": {
            "env": { "A_TOKEN": "${NOT_SET_IN_THIS_TEST}", "B_TOKEN": "the-token-of-b" },
            "origins": { "https://a.example": { "headers": { "X": "short", "Y": "header-of-ours" } } },
        } } }),
        );
        let redactor = Redactor::default();
        learn(&config.unwrap().providers["@capabilities/crm"], &redactor);
        assert_eq!(redactor.text("the-token-of-b header-of-ours short"), "[redacted] [redacted] short");
    }

    #[test]
    fn a_credential_that_cannot_be_kept_secret_is_refused() {
        let short = json!({ "public": ["v"], "origins": { "https://a.example": { "query": { "v": "2" } } } });
        let error = filled(short).unwrap_err();
        assert!(error.contains("origins[\"https://a.example\"].query.v: `v` is a credential"), "{error}");
    }
}
