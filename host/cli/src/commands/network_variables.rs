//! Proxy and certificate variables that are set here and not passed to MCP servers.

use agent_spaces::config::{McpServer, Transport};
use agent_spaces_mcp::process::{network_variables, withheld_variables};
use serde_json::{Map, Value};

/// Maximum number of servers that are named.
const MAX_NAMED: usize = 8;

/// Variables that are not passed on, and the servers without them.
pub(super) struct Withheld {
    pub(super) variables: Vec<String>,
    pub(super) servers: Vec<String>,
    /// Servers grouped by the variables that they lack, in order of appearance.
    groups: Vec<(Vec<String>, Vec<String>)>,
}

impl Withheld {
    /// Returns the variables that these servers do not get; `None` if there are none.
    pub(super) fn of<'a>(servers: impl Iterator<Item = (&'a str, &'a McpServer)>) -> Option<Withheld> {
        Withheld::among(&network_variables(), servers)
    }

    fn among<'a>(here: &[String], servers: impl Iterator<Item = (&'a str, &'a McpServer)>) -> Option<Withheld> {
        let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
        let mut without = Vec::new();
        for (name, server) in servers {
            let Transport::Stdio { env, .. } = &server.transport else { continue };
            let withheld = withheld_variables(here, env.keys().map(String::as_str));
            if withheld.is_empty() {
                continue;
            }
            without.push(name.to_owned());
            let withheld: Vec<String> = withheld.into_iter().map(str::to_owned).collect();
            match groups.iter_mut().find(|(variables, _)| *variables == withheld) {
                Some((_, servers)) => servers.push(name.to_owned()),
                None => groups.push((withheld, vec![name.to_owned()])),
            }
        }
        let is_withheld = |name: &&String| groups.iter().any(|(variables, _)| variables.contains(*name));
        let variables: Vec<String> = here.iter().filter(is_withheld).cloned().collect();
        (!without.is_empty()).then_some(Withheld { variables, servers: without, groups })
    }

    /// Returns the message.
    pub(super) fn sentence(&self) -> String {
        let of_group = |(variables, servers): &(Vec<String>, Vec<String>)| {
            let named = servers.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = match servers.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let verb = if variables.len() == 1 { "is" } else { "are" };
            let variables = variables.join(", ");
            format!("{variables} {verb} set here, but not passed to these servers: {named}{more}")
        };
        self.groups.iter().map(of_group).collect::<Vec<_>>().join("; ")
    }

    /// Returns the advice.
    pub(super) fn fix(&self) -> String {
        format!("pass them to a server that needs them: {}", env_line(self.variables.iter()))
    }

    /// Returns the advice for a server that rejects a certificate: pass the variables that name certificates.
    pub(super) fn certificate_fix(&self) -> Option<String> {
        let certificates: Vec<&String> =
            self.variables.iter().filter(|name| !name.to_ascii_uppercase().ends_with("_PROXY")).collect();
        let named = certificates.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        (!certificates.is_empty()).then(|| {
            let line = env_line(certificates.into_iter());
            format!("{named}, set here, may name a proxy's certificate and is not passed to it. Add {line}")
        })
    }

    /// Returns the missing variables by server.
    pub(super) fn by_server(&self) -> Map<String, Value> {
        let lacking = self.groups.iter().flat_map(|(variables, servers)| servers.iter().map(move |it| (it, variables)));
        lacking.map(|(server, variables)| (server.clone(), variables.as_slice().into())).collect()
    }
}

/// Returns the configuration line that passes these variables to a server.
fn env_line<'a>(variables: impl Iterator<Item = &'a String>) -> String {
    let each = variables.map(|name| format!("\"{name}\": \"${{{name}}}\""));
    format!("\"env\": {{ {} }}", each.collect::<Vec<_>>().join(", "))
}

/// Returns true if an error text of a program looks like an untrusted certificate.
pub(super) fn is_about_certificates(text: &str) -> bool {
    const SIGNS: [&str; 9] = [
        "unknownissuer",
        "certificate verify failed",
        "certificate_verify_failed",
        "self_signed_cert",
        "self-signed certificate",
        "self signed certificate",
        "issuer cert",
        "unable to verify the first certificate",
        "signed by unknown authority",
    ];
    let text = text.to_ascii_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign)) || text.contains("issuer_cert") || text.contains("verify_leaf")
}

#[cfg(test)]
mod tests {
    use crate::commands::network_variables::{Withheld, is_about_certificates};
    use agent_spaces::config::from_value;
    use serde_json::json;

    #[test]
    fn each_server_is_named_for_what_it_lacks() {
        let env = |env: serde_json::Value| json!({ "command": "x", "env": env });
        let servers = json!({
            "all": env(json!({ "https_proxy": "p", "SSL_CERT_FILE": "f" })), "bare": env(json!({})),
            "half": env(json!({ "SSL_CERT_FILE": "f" })), "too": env(json!({})), "web": { "url": "https://x.test/mcp" },
        });
        let config = from_value("f", json!({ "mcpServers": servers })).unwrap();
        let here = ["HTTPS_PROXY".to_owned(), "SSL_CERT_FILE".to_owned()];
        let all = || config.mcp_servers.iter().map(|(name, server)| (name.as_str(), server));
        let withheld = Withheld::among(&here, all()).unwrap();
        assert_eq!(
            withheld.sentence(),
            "HTTPS_PROXY, SSL_CERT_FILE are set here, but not passed to these servers: bare, too; HTTPS_PROXY is set here, but \
             not passed to these servers: half"
        );
        assert_eq!(withheld.servers, ["bare", "half", "too"]);
        let fix = withheld.certificate_fix().unwrap();
        assert!(fix.ends_with("Add \"env\": { \"SSL_CERT_FILE\": \"${SSL_CERT_FILE}\" }"), "{fix}");
        let half = Withheld::among(&here, all().filter(|(name, _)| *name == "half")).unwrap();
        assert_eq!(half.certificate_fix(), None, "it has the certificates");
        assert!(Withheld::among(&here, all().filter(|(name, _)| *name == "all")).is_none());
    }

    #[test]
    fn untrusted_certificates_are_distinguished_from_other_errors() {
        for text in [
            "invalid peer certificate: UnknownIssuer",
            "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
            "npm error code SELF_SIGNED_CERT_IN_CHAIN",
            "npm error code UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
            "x509: certificate signed by unknown authority",
        ] {
            assert!(is_about_certificates(text), "{text}");
        }
        assert!(!is_about_certificates("its process exited (exit status 1): no such issuer"));
    }
}
