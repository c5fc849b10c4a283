//! Grants of a provider: variables, hosts, credentials and limits from the configuration.

use agent_spaces_config as config;
use agent_spaces_policy::{DomainPattern, NetworkPolicy, Policy, Preset, Settings};
use agent_spaces_secrets::{
    Expanded, Redactor, Resolved, Secret, SecretError, Variables, credential_value, expand, secret_value,
};
use agent_spaces_types::limits::Limits;
use std::collections::BTreeMap;

/// Grants of the configuration to the providers of a module. A definition cannot grant itself anything.
#[derive(Clone, Debug, Default)]
pub struct ProviderGrants {
    /// Environment variables.
    pub env: BTreeMap<String, Secret>,
    /// Hosts that it may reach.
    pub network: NetworkPolicy,
    /// Credentials by origin; each is sent to that origin alone.
    pub origins: BTreeMap<String, Credentials>,
    /// Resource limits of one call.
    pub limits: Limits,
}

/// Credentials added to requests to one origin.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// Headers by name.
    pub headers: BTreeMap<String, Secret>,
    /// Query parameters by name.
    pub query: BTreeMap<String, Secret>,
}

impl ProviderGrants {
    /// Resolves the grants of a module's configuration. Registers secrets with the redactor first; credentials of origins
    /// are always secret.
    ///
    /// # Errors
    /// If a variable is not set or a secret is too short to redact; the text has the path in the configuration.
    pub fn fill(provider: &config::Provider, redactor: &Redactor) -> Result<ProviderGrants, String> {
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
            let path = |member: &str| format!("origins[{origin:?}].{member}");
            let headers = values(&path("headers"), &credentials.headers, &credential_value)?;
            let query = values(&path("query"), &credentials.query, &credential_value)?;
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

/// Registers the secrets of a module's configuration with the redactor, before any provider is built. Values that cannot
/// be resolved are skipped.
pub fn register_secrets(provider: &config::Provider, redactor: &Redactor) {
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

/// Builds the network policy: listed hosts and those of the origins, with every method unless the configuration limits
/// them.
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
    use crate::grants::*;
    use serde_json::{Value, json};

    fn filled(provider: Value) -> Result<Redactor, String> {
        let module = "@capabilities/crm";
        let config = config::from_value("f", json!({ "providers": { module: provider } })).unwrap();
        let redactor = Redactor::default();
        ProviderGrants::fill(&config.providers[module], &redactor).map(|_| redactor)
    }

    #[test]
    fn origin_credentials_are_always_secret_and_only_variables_can_be_public() {
        let redactor = filled(json!({
            "env": { "TENANT_KEY": "tenant-for-all" }, "public": ["TENANT_KEY", "Tenant", "region"],
            "origins": { "https://a.example": {
                "headers": { "Tenant": "tenant-of-ours" }, "query": { "region": "region-of-ours" },
            } },
        }));
        let shown = redactor.unwrap().text("tenant-for-all tenant-of-ours region-of-ours").into_owned();
        assert_eq!(shown, "tenant-for-all [redacted] [redacted]");
    }

    /// One value that cannot be resolved does not keep others from being registered.
    #[test]
    fn secrets_are_registered_even_if_others_cannot_be_resolved() {
        let config = config::from_value(
            "f",
            json!({ "providers": { "@capabilities/crm": {
            "env": { "A_TOKEN": "${NOT_SET_IN_THIS_TEST}", "B_TOKEN": "the-token-of-b" },
            "origins": { "https://a.example": { "headers": { "X": "short", "Y": "header-of-ours" } } },
        } } }),
        );
        let redactor = Redactor::default();
        register_secrets(&config.unwrap().providers["@capabilities/crm"], &redactor);
        assert_eq!(redactor.text("the-token-of-b header-of-ours short"), "[redacted] [redacted] short");
    }

    #[test]
    fn a_credential_too_short_to_redact_is_refused() {
        let short = json!({ "public": ["v"], "origins": { "https://a.example": { "query": { "v": "2" } } } });
        let error = filled(short).unwrap_err();
        assert!(error.contains("origins[\"https://a.example\"].query.v: `v` is a credential"), "{error}");
    }
}
