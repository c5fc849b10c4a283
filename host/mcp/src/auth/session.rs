//! Connections that use and refresh the tokens of an earlier login.

use super::target::{Target, is_safe, manager};
use super::{client_credentials, plain, scopes};
use crate::advice::{auth_of, login_again, origin, unauthorized};
use crate::token_store::{Grant, Record};
use crate::{Auth, ConnectError, Context, Endpoint, RemoteEndpoint, ServerSettings};
use agent_spaces_secrets::Secret;
use rmcp::transport::auth::{AuthClient, AuthError, AuthorizationManager, OAuthClientConfig};
use rmcp::transport::streamable_http_client::StreamableHttpClient;
use std::time::{Duration, SystemTime};
use url::Url;

/// A client credentials token is replaced if it expires within this time: it is not refreshed during a session.
const CLIENT_TOKEN_RESERVE: Duration = Duration::from_secs(300);

/// Returns a client that sends the token of an earlier login with each request and refreshes it in time, for all
/// processes that share the login. Returns `None` if there is no login.
pub async fn client<C: StreamableHttpClient>(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    http: C,
    context: &Context,
) -> Result<Option<AuthClient<C>>, ConnectError> {
    let Some(manager) = restore(settings, endpoint, context).await? else { return Ok(None) };
    // Detect an expired login now, not after a refused request.
    manager.get_access_token().await.map_err(|error| refused(settings, &error, context))?;
    Ok(Some(AuthClient::new(http, manager)))
}

/// Returns the token of an earlier login, refreshed if it has expired, or `None` if there is no login.
pub async fn access_token(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    context: &Context,
) -> Result<Option<Secret>, ConnectError> {
    let Some(manager) = restore(settings, endpoint, context).await? else { return Ok(None) };
    let token = manager.get_access_token().await.map_err(|error| refused(settings, &error, context))?;
    Ok(Some(Secret::new(token)))
}

/// Returns the error for a token that rmcp could not refresh.
pub fn refused(settings: &ServerSettings, error: &AuthError, context: &Context) -> ConnectError {
    match error {
        AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) | AuthError::TokenExpired => {
            ConnectError::Unauthorized { message: format!("its login has expired: {}", login_again(&settings.name)) }
        }
        AuthError::CredentialStoreError(message) => ConnectError::Failed(context.redactor.text(message).into_owned()),
        error => ConnectError::Failed(format!("its token cannot be refreshed: {}", plain(context, error))),
    }
}

/// Returns the error for a token that lacks scopes. The next login requests them.
pub async fn insufficient_scope(settings: &ServerSettings, required: Option<&str>, context: &Context) -> ConnectError {
    let required = scopes::named(required.unwrap_or_default());
    let lacks = if required.is_empty() {
        "insufficient scope of the token".to_owned()
    } else {
        format!("the token lacks scopes: `{}`", required.join(" "))
    };
    let advice = match auth_of(settings) {
        Some(Auth::Bearer(source)) => format!("it comes from {}", origin(source)),
        Some(Auth::OAuthClient(client)) if !client.scopes.is_empty() => {
            format!("add that to the `scopes` of `{}` and {}", settings.name, login_again(&settings.name))
        }
        Some(Auth::OAuth | Auth::OAuthClient(_)) => match remember(settings, &required, context).await {
            Ok(true) => login_again(&settings.name),
            Ok(false) => "a login already requested that: the account may not have the right".to_owned(),
            Err(error) => error,
        },
        Some(Auth::None) | None => return unauthorized(settings),
    };
    ConnectError::Unauthorized { message: format!("{lacks}; {advice}") }
}

/// Stores the scopes that the next login requests. Returns true if any of them is new.
async fn remember(settings: &ServerSettings, required: &[String], context: &Context) -> Result<bool, String> {
    let (Endpoint::Http(remote) | Endpoint::Sse(remote) | Endpoint::WebSocket(remote)) = &settings.endpoint else {
        return Ok(false);
    };
    let target = Target::new(&settings.name, remote)?;
    let mut is_new = true;
    let kept = context.tokens.update(target.name, target.url.as_str(), |record| {
        is_new = required.is_empty() || required.iter().any(|scope| !record.asked.contains(scope));
        record.required = scopes::union(&record.required, required);
    });
    kept.await.map_err(|error| error.to_string())?;
    Ok(is_new)
}

/// Restores rmcp's state of an earlier login.
async fn restore(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    context: &Context,
) -> Result<Option<AuthorizationManager>, ConnectError> {
    if !matches!(endpoint.auth, Auth::OAuth | Auth::OAuthClient(_)) {
        return Ok(None);
    }
    let target = Target::new(&settings.name, endpoint).map_err(|error| ConnectError::Failed(error.to_owned()))?;
    let found = context.tokens.get(target.name, target.url.as_str(), &context.redactor);
    let found = found.map_err(|error| ConnectError::Failed(error.to_string()))?;
    let Some(record) = found.filter(|record| record.grant == Grant::Client || record.credentials.is_some()) else {
        return Ok(None);
    };
    if !is_safe(&target.url) {
        return Err(ConnectError::Failed("its URL is not https: refusing to send a token".to_owned()));
    }
    let failed = |error: AuthError| refused(settings, &error, context);
    let Some(mut manager) = manager_of(&target, &record).await.map_err(failed)? else {
        let message = format!("its authorization server has changed: {}", login_again(&settings.name));
        return Err(ConnectError::Unauthorized { message });
    };
    manager.set_credential_store(context.tokens.entry(target.name, target.url.as_str(), &context.redactor));
    let client = target.client();
    let mut config = OAuthClientConfig::new(&record.client_id, target.url.as_str());
    if let Some(secret) = &client.client_secret {
        context.redactor.add(secret);
    }
    if client.client_id.as_deref() == Some(&record.client_id) {
        config.client_secret = client.client_secret.as_ref().map(|secret| secret.expose().to_owned());
    } else {
        config.client_secret.clone_from(&record.client_secret);
    }
    manager.configure_client(config).map_err(failed)?;
    if record.grant == Grant::Client && ends_soon(&record) {
        client_credentials::exchange(&mut manager, &client, &record.asked, &record.resource).await.map_err(failed)?;
    }
    Ok(Some(manager))
}

/// Returns a manager that refreshes tokens for their original resource, or `None` if the authorization server has
/// changed.
async fn manager_of(target: &Target<'_>, record: &Record) -> Result<Option<AuthorizationManager>, AuthError> {
    // Without discovery, rmcp requests tokens for the URL it is given, as `Url` normalizes it. If that equals the
    // resource, discovery can be skipped.
    if let Ok(resource) = Url::parse(&record.resource)
        && resource.as_str() == record.resource
        && resource.origin() == target.url.origin()
    {
        let mut manager = manager(&resource, record.is_private).await?;
        manager.set_metadata(record.metadata.clone());
        return Ok(Some(manager));
    }
    let mut manager = manager(&target.url, record.is_private).await?;
    let metadata = manager.resolve_metadata().await?.metadata;
    if metadata.issuer != record.metadata.issuer || metadata.token_endpoint != record.metadata.token_endpoint {
        return Ok(None);
    }
    manager.set_metadata(metadata);
    Ok(Some(manager))
}

fn ends_soon(record: &Record) -> bool {
    match (&record.credentials, record.expires()) {
        (None, _) => true,
        (Some(_), Some(end)) => end < SystemTime::now() + CLIENT_TOKEN_RESERVE,
        (Some(_), None) => false,
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
