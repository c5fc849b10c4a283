//! Discovery of a server's authorization server, and client registration.

use super::login_error::LoginError;
use super::target::{Target, is_private, is_safe, manager};
use super::{challenge, plain};
use crate::{Context, OAuthClient};
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig};
use serde_json::Value;
use url::Url;

/// Client name that authorization servers show.
const CLIENT_NAME: &str = "Agent Spaces";

/// Discovered authorization server.
pub(super) struct Authority {
    /// rmcp's client for it.
    pub(super) manager: AuthorizationManager,
    /// Its metadata.
    pub(super) metadata: AuthorizationMetadata,
    /// True if the server is in a private network, so that the authorization server may be too.
    pub(super) is_private: bool,
}

/// Finds the authorization server of a server.
pub(super) async fn discover(target: &Target<'_>, posts: bool, context: &Context) -> Result<Authority, LoginError> {
    let failed = |error: AuthError| LoginError::Discovery(plain(context, &error));
    let reception =
        challenge::ask(target, posts).await.map_err(|error| LoginError::Unreachable(plain(context, &error)))?;
    let is_private = is_private(&target.url, reception.peer).await;
    let mut manager = manager(&target.url, is_private).await.map_err(failed)?;
    let found = manager.resolve_metadata_from_challenge(reception.challenge.as_deref()).await.map_err(failed)?;
    // Default endpoints are only for old servers that do require authorization.
    if !found.source.is_discovered() && !reception.refused {
        return Err(LoginError::NotAsked);
    }
    let metadata = found.metadata;
    check("the authorization server's authorization endpoint", &metadata.authorization_endpoint)?;
    check("the authorization server's token endpoint", &metadata.token_endpoint)?;
    if let Some(endpoint) = &metadata.registration_endpoint {
        check("the authorization server's registration endpoint", endpoint)?;
    }
    if found.source.is_discovered() && metadata.code_challenge_methods_supported.is_none() {
        context.warn(target.name, "its authorization server does not advertise PKCE");
    }
    manager.set_metadata(metadata.clone());
    Ok(Authority { manager, metadata, is_private })
}

fn check(what: &'static str, endpoint: &str) -> Result<(), LoginError> {
    let url = Url::parse(endpoint).map_err(|_| LoginError::Discovery(format!("{what} is not a URL")))?;
    if is_safe(&url) { Ok(()) } else { Err(LoginError::Insecure { what }) }
}

impl Authority {
    /// Sets the client id: the configured one, a client id metadata document, or one registered now. Returns the client
    /// secret unless it is the configured one.
    pub(super) async fn identify(
        &mut self,
        client: &OAuthClient,
        redirect_uri: &str,
        scopes: &[&str],
        context: &Context,
    ) -> Result<Option<String>, LoginError> {
        let failed = |error: AuthError| LoginError::Registration(plain(context, &error));
        if let Some(id) = &client.client_id
            && (!is_document(id) || self.takes_documents())
        {
            let mut config = OAuthClientConfig::new(id, redirect_uri);
            if let Some(secret) = &client.client_secret {
                context.redactor.add(secret);
                config = config.with_client_secret(secret.expose());
            }
            self.manager.configure_client(config).map_err(failed)?;
            return Ok(None);
        }
        if self.metadata.registration_endpoint.is_none() {
            return Err(LoginError::NoRegistration);
        }
        let config = self.manager.register_client(CLIENT_NAME, redirect_uri, scopes).await.map_err(failed)?;
        Ok(config.client_secret)
    }

    /// Returns true if `iss` of an authorization response names this server. Otherwise its texts must not be shown.
    pub(super) fn is_from(&self, issuer: Option<&str>) -> bool {
        match issuer {
            Some(issuer) => self.metadata.issuer.as_deref() == Some(issuer),
            None => !self.flag("authorization_response_iss_parameter_supported"),
        }
    }

    fn takes_documents(&self) -> bool {
        self.flag("client_id_metadata_document_supported")
    }

    fn flag(&self, name: &str) -> bool {
        self.metadata.additional_fields.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Returns true if a client id is the URL of a client id metadata document.
fn is_document(id: &str) -> bool {
    Url::parse(id).is_ok_and(|url| url.scheme() == "https" && url.path() != "/")
}
