//! What the operator is told to do when a server refuses us.

use super::plain;
use crate::{Auth, BearerSource, ConnectError, Context, Endpoint, ServerSettings};
use rmcp::transport::auth::AuthError;

/// What a 401 means for a server that is reached with these settings.
pub fn unauthorized(settings: &ServerSettings) -> ConnectError {
    let message = match auth_of(settings) {
        Some(Auth::OAuth | Auth::OAuthClient(_)) => login_again(&settings.name),
        Some(Auth::Bearer(source)) => format!("it refused the token from {}", origin(source)),
        Some(Auth::None) | None => format!("the configuration of `{}` says to send it nothing", settings.name),
    };
    ConnectError::Unauthorized { message }
}

/// What rmcp's error in renewing a token means.
pub fn refused(settings: &ServerSettings, error: &AuthError, context: &Context) -> ConnectError {
    match error {
        AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) | AuthError::TokenExpired => {
            ConnectError::Unauthorized { message: format!("its login has ended: {}", login_again(&settings.name)) }
        }
        AuthError::CredentialStoreError(message) => ConnectError::Failed(context.redactor.text(message).into_owned()),
        error => ConnectError::Failed(format!("its login cannot be renewed: {}", plain(context, error))),
    }
}

/// The command that helps.
pub(super) fn login_again(name: &str) -> String {
    format!("run `agent-spaces mcp login {name}`")
}

/// Where a token comes from.
pub(super) fn origin(source: &BearerSource) -> String {
    match source {
        BearerSource::Token(_) => "the configuration".to_owned(),
        BearerSource::File(path) => format!("the file {}", path.display()),
        BearerSource::Command(endpoint) => format!("the program `{}`", endpoint.program),
    }
}

pub(super) fn auth_of(settings: &ServerSettings) -> Option<&Auth> {
    match &settings.endpoint {
        Endpoint::Stdio(_) => None,
        Endpoint::Http(remote) | Endpoint::Sse(remote) | Endpoint::WebSocket(remote) => Some(&remote.auth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Secret;
    use crate::{RemoteEndpoint, StdioEndpoint};
    use std::collections::BTreeMap;

    fn settings(auth: Auth) -> ServerSettings {
        let url = Secret::new("https://example.com/mcp");
        ServerSettings::new("slack", Endpoint::Http(RemoteEndpoint { url, headers: BTreeMap::new(), auth }))
    }

    fn program(program: &str, argument: &str) -> StdioEndpoint {
        let (env, cwd) = (BTreeMap::new(), None);
        StdioEndpoint { program: program.into(), args: vec![Secret::new(argument)], env, cwd, confine: None }
    }

    #[test]
    fn x_14_the_operator_is_told_which_command_to_run() {
        let message = unauthorized(&settings(Auth::OAuth)).to_string();
        assert_eq!(message, "it asks for authorization: run `agent-spaces mcp login slack`");
    }

    #[test]
    fn a_refused_bearer_token_is_told_by_where_it_came_from() {
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
