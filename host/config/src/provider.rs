//! Provider grants (`providers`): variables, hosts, credentials and limits by module.

use super::error::quoted;
use super::limits::Limits;
use super::names::is_scoped_module;
use super::policy;
use super::raw::Raw;
use super::reader::{Node, Result};
use agent_spaces_policy::NetworkSettings;
use serde_json::Value;
use std::collections::BTreeMap;

/// Grants to the providers of a module. Definitions cannot grant themselves anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// Environment variables, `${VAR}` not yet expanded.
    pub env: BTreeMap<String, Raw>,
    /// Names of variables whose values are not secret.
    pub public: Vec<String>,
    /// Network settings: hosts that it may reach.
    pub http: NetworkSettings,
    /// Credentials by origin: `https://api.example.com`.
    pub origins: BTreeMap<String, Origin>,
    /// Resource limits of one call.
    pub limits: Limits,
    /// Path in the configuration.
    pub place: String,
}

/// Credentials added to requests to one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Headers, `${VAR}` not yet expanded.
    pub headers: BTreeMap<String, Raw>,
    /// Query parameters, `${VAR}` not yet expanded.
    pub query: BTreeMap<String, Raw>,
}

const KEYS: &[&str] = &["env", "public", "http", "origins", "limits"];

/// Reads the `providers` object, by module name.
pub(super) fn read_providers(node: Node<'_>) -> Result<BTreeMap<String, Provider>> {
    node.map("an object of provider settings by module", |name, node| {
        if !is_scoped_module(name) {
            let error = node.error(format!("{} is not the name of a module", quoted(name)));
            return Err(error.with_fix("write it as scripts import it, such as `@capabilities/crm`"));
        }
        let object = node.object("an object of provider settings", KEYS)?;
        Ok(Provider {
            env: object.read("env", read_env)?.unwrap_or_default(),
            public: object.read("public", |node| node.list("a list of names", read_name))?.unwrap_or_default(),
            http: object.read("http", policy::read_network)?.unwrap_or_default(),
            origins: object.read("origins", read_origins)?.unwrap_or_default(),
            limits: object.read("limits", Limits::read)?.unwrap_or_default(),
            place: node.path.to_string(),
        })
    })
}

/// Reads a list of names, each passed through from the host's environment, or an object of names and values.
fn read_env(node: Node<'_>) -> Result<BTreeMap<String, Raw>> {
    if let Value::Array(_) = node.value {
        let names = node.list("a list of names", read_name)?;
        return Ok(names.into_iter().map(|name| (name.clone(), Raw::new(format!("${{{name}}}")))).collect());
    }
    node.map("variables: a list of names, or an object of names and values", |name, node| {
        check_variable(&node, name)?;
        node.text("the value of a variable").map(Raw::new)
    })
}

fn read_name(node: Node<'_>) -> Result<String> {
    let name = node.filled_text("the name of a variable")?;
    check_variable(&node, name)?;
    Ok(name.to_owned())
}

fn check_variable(node: &Node<'_>, name: &str) -> Result<()> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !name.is_empty() && name.len() <= 256 && name.bytes().all(is_known) && !name.as_bytes()[0].is_ascii_digit() {
        return Ok(());
    }
    let error = node.error(format!("{} is not the name of a variable", quoted(name)));
    Err(error.with_fix("use letters, digits and `_`, with no digit first"))
}

fn read_origins(node: Node<'_>) -> Result<BTreeMap<String, Origin>> {
    node.map("an object of origins", |origin, node| {
        check_origin(&node, origin)?;
        let object = node.object("an object with `headers` and `query`", &["headers", "query"])?;
        let texts = |node: Node<'_>| {
            node.map("an object of names and values", |name, node| {
                if name.is_empty() || name.chars().any(char::is_control) {
                    return Err(node.error(format!("{} cannot be a name", quoted(name))));
                }
                node.text("a text").map(Raw::new)
            })
        };
        Ok(Origin {
            headers: object.read("headers", texts)?.unwrap_or_default(),
            query: object.read("query", texts)?.unwrap_or_default(),
        })
    })
}

/// Refuses text that is not a normalised origin: scheme, host and non-default port.
fn check_origin(node: &Node<'_>, text: &str) -> Result<()> {
    let is_origin = url::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some()
            && url.origin().ascii_serialization() == text
    });
    if is_origin {
        return Ok(());
    }
    let error = node.error(format!("{} is not an origin", quoted(text)));
    Err(error.with_fix("write scheme and host in small letters, with a port if it is not the usual one, such as `https://api.example.com`"))
}

#[cfg(test)]
mod tests {
    use crate::{Config, Raw, from_value};
    use serde_json::{Value, json};

    fn read(providers: Value) -> Result<Config, String> {
        from_value("f", json!({ "providers": providers })).map_err(|error| error.to_string())
    }

    #[test]
    fn a_module_is_given_variables_hosts_and_credentials() {
        let config = read(json!({ "@capabilities/crm": {
            "env": ["CRM_KEY"], "http": { "domains": ["api.crm.example"] }, "limits": { "time": "5s" },
            "origins": { "https://api.crm.example": { "headers": { "Authorization": "Bearer ${CRM_KEY}" } } },
        } }))
        .unwrap();
        let crm = &config.providers["@capabilities/crm"];
        assert_eq!(crm.env["CRM_KEY"], Raw::new("${CRM_KEY}"));
        assert_eq!(crm.http.domains.as_ref().unwrap().len(), 1);
        assert_eq!(crm.origins["https://api.crm.example"].headers["Authorization"], Raw::new("Bearer ${CRM_KEY}"));
        assert_eq!(crm.place, "$.providers[\"@capabilities/crm\"]");
    }

    #[test]
    fn invalid_modules_variables_and_origins_are_refused_with_their_path() {
        for (providers, expected) in [
            (json!({ "crm": {} }), "$.providers.crm: `crm` is not the name of a module"),
            (json!({ "@a/b": { "env": ["1X"] } }), "`1X` is not the name of a variable"),
            (json!({ "@a/b": { "env": { "A=B": "x" } } }), "`A=B` is not the name of a variable"),
            (json!({ "@a/b": { "origins": { "https://a.example/": {} } } }), "`https://a.example/` is not an origin"),
            (json!({ "@a/b": { "origins": { "https://A.example": {} } } }), "is not an origin"),
            (json!({ "@a/b": { "origins": { "https://a.example:443": {} } } }), "is not an origin"),
            (json!({ "@a/b": { "origins": { "file:///x": {} } } }), "is not an origin"),
            (json!({ "@a/b": { "origns": {} } }), "did you mean `origins`?"),
        ] {
            let message = read(providers.clone()).unwrap_err();
            assert!(message.contains(expected), "{providers}: {message}");
        }
    }
}
