//! Connections that use the tokens of an earlier login, and renew them.

use super::advice::{auth_of, login_again, origin, refused, unauthorized};
use super::record::{Grant, Record};
use super::target::{Target, is_safe, manager};
use super::{machine, scopes};
use crate::secrets::Secret;
use crate::{Auth, ConnectError, Context, Endpoint, RemoteEndpoint, ServerSettings};
use rmcp::transport::auth::{AuthClient, AuthError, AuthorizationManager, OAuthClientConfig};
use rmcp::transport::streamable_http_client::StreamableHttpClient;
use std::time::{Duration, SystemTime};
use url::Url;

/// A client's own token is replaced when it would end within this time: nothing renews it on the way.
const CLIENT_TOKEN_RESERVE: Duration = Duration::from_secs(300);

/// A client that sends the token of an earlier login with each request and renews it in time, for all processes that
/// share the login. Nothing where there was no login.
pub async fn client<C: StreamableHttpClient>(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    http: C,
    context: &Context,
) -> Result<Option<AuthClient<C>>, ConnectError> {
    let Some(manager) = restore(settings, endpoint, context).await? else { return Ok(None) };
    // A login that has ended is known now, and not after a request that is refused.
    manager.get_access_token().await.map_err(|error| refused(settings, &error, context))?;
    Ok(Some(AuthClient::new(http, manager)))
}

/// The token of an earlier login, renewed if it has ended. Nothing where there was no login.
pub async fn access_token(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    context: &Context,
) -> Result<Option<Secret>, ConnectError> {
    let Some(manager) = restore(settings, endpoint, context).await? else { return Ok(None) };
    let token = manager.get_access_token().await.map_err(|error| refused(settings, &error, context))?;
    Ok(Some(Secret::new(token)))
}

/// What it means that a server wants more than the token allows. The next login asks for what is missing.
pub async fn insufficient_scope(settings: &ServerSettings, required: Option<&str>, context: &Context) -> ConnectError {
    let required = scopes::named(required.unwrap_or_default());
    let lacks = if required.is_empty() {
        "the token does not allow this".to_owned()
    } else {
        format!("the token lacks what this needs: `{}`", required.join(" "))
    };
    let advice = match auth_of(settings) {
        Some(Auth::Bearer(source)) => format!("it comes from {}", origin(source)),
        Some(Auth::OAuthClient(client)) if !client.scopes.is_empty() => {
            format!("add that to the `scopes` of `{}` and {}", settings.name, login_again(&settings.name))
        }
        Some(Auth::OAuth | Auth::OAuthClient(_)) => match remember(settings, &required, context).await {
            Ok(true) => login_again(&settings.name),
            Ok(false) => "a login has asked for that already: the account may not have that right".to_owned(),
            Err(error) => error,
        },
        Some(Auth::None) | None => return unauthorized(settings),
    };
    ConnectError::Unauthorized { message: format!("{lacks}; {advice}") }
}

/// Keeps what the next login is to ask for. Says whether it would ask for anything new.
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

/// rmcp's side of an earlier login, ready to give tokens.
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
        return Err(ConnectError::Failed("its address is not https: no token is sent there".to_owned()));
    }
    let failed = |error: AuthError| refused(settings, &error, context);
    let Some(mut manager) = manager_of(&target, &record).await.map_err(failed)? else {
        let message = format!("its authorization server is another one now: {}", login_again(&settings.name));
        return Err(ConnectError::Unauthorized { message });
    };
    manager.set_credential_store(context.tokens.entry(&target, &context.redactor));
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
        machine::exchange(&mut manager, &client, &record.asked, &record.resource).await.map_err(failed)?;
    }
    Ok(Some(manager))
}

/// A manager that renews tokens for what they were first asked for, or nothing when somebody else renews them now.
async fn manager_of(target: &Target<'_>, record: &Record) -> Result<Option<AuthorizationManager>, AuthError> {
    // Without discovery, rmcp asks for tokens for the address that it is given, as `Url` spells it. Where that is the
    // resource to the letter, nobody needs to be asked before the first request.
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
