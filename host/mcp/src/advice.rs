//! Advice to the operator for servers that refuse our authorization.

use crate::error::ConnectError;
use crate::settings::{Auth, BearerSource, Endpoint, ServerSettings};

/// Returns the error for a 401 of a server with these settings.
pub(crate) fn unauthorized(settings: &ServerSettings) -> ConnectError {
    let message = match auth_of(settings) {
        Some(Auth::OAuth | Auth::OAuthClient(_)) => login_again(&settings.name),
        Some(Auth::Bearer(source)) => format!("it refused the token from {}", origin(source)),
        Some(Auth::None) | None => format!("the configuration of `{}` disables authorization", settings.name),
    };
    ConnectError::Unauthorized { message }
}

/// Returns the advice to log in, with the command.
pub(crate) fn login_again(name: &str) -> String {
    format!("run `agent-spaces mcp login {name}`")
}

/// Describes the source of a token.
pub(crate) fn origin(source: &BearerSource) -> String {
    match source {
        BearerSource::Token(_) => "the configuration".to_owned(),
        BearerSource::File(path) => format!("the file {}", path.display()),
        BearerSource::Command(endpoint) => format!("the program `{}`", endpoint.program),
    }
}

pub(crate) fn auth_of(settings: &ServerSettings) -> Option<&Auth> {
    match &settings.endpoint {
        Endpoint::Stdio(_) => None,
        Endpoint::Http(remote) | Endpoint::Sse(remote) | Endpoint::WebSocket(remote) => Some(&remote.auth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProcessSpec, RemoteEndpoint};
    use agent_spaces_secrets::Secret;
    use std::collections::BTreeMap;

    fn settings(auth: Auth) -> ServerSettings {
        let url = Secret::new("https://example.com/mcp");
        ServerSettings::new("slack", Endpoint::Http(RemoteEndpoint { url, headers: BTreeMap::new(), auth }))
    }

    fn program(program: &str, argument: &str) -> ProcessSpec {
        let (env, cwd) = (BTreeMap::new(), None);
        ProcessSpec { program: program.into(), args: vec![Secret::new(argument)], env, cwd, confine: None }
    }

    #[test]
    fn the_error_names_the_login_command() {
        let message = unauthorized(&settings(Auth::OAuth)).to_string();
        assert_eq!(message, "authorization required: run `agent-spaces mcp login slack`");
    }

    #[test]
    fn the_error_names_the_source_of_a_refused_bearer_token() {
        let secret = "do-not-show-this";
        for (source, origin) in [
            (BearerSource::Token(Secret::new(secret)), "the configuration"),
            (BearerSource::File("/run/token".into()), "the file /run/token"),
            (BearerSource::Command(program("op", secret)), "the program `op`"),
        ] {
            let message = unauthorized(&settings(Auth::Bearer(source))).to_string();
            assert!(message.ends_with(&format!("it refused the token from {origin}")), "{message}");
            assert!(!message.contains(secret), "{message}");
        }
    }
}
