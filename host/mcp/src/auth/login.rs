//! OAuth login: by a person in a browser, or with client credentials.

use super::browser::Browser;
use super::callback::Callback;
use super::discovery::{Authority, discover};
use super::login_error::LoginError;
use super::target::{Target, is_safe};
use super::{client_credentials, plain, scopes};
use crate::token_store::{Grant, Record, add_tokens_to, essential, essential_metadata};
use crate::{Auth, Context, Endpoint, OAuthClient, ServerSettings};
use rmcp::transport::auth::{AuthError, CredentialStore, InMemoryCredentialStore};
use std::time::{Duration, SystemTime};
use url::Url;

/// Time for a person to log in.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Outcome of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginReport {
    /// The server's name in the configuration.
    pub name: String,
    /// Scopes of the token.
    pub scopes: Vec<String>,
    /// Expiry of the token, if known.
    pub expires: Option<SystemTime>,
    /// True if the token is refreshed without a person.
    pub renews: bool,
}

/// Logs in at a server and stores the tokens. Waits up to five minutes for a person; dropping the future cancels it.
pub async fn login(
    settings: &ServerSettings,
    context: &Context,
    browser: &dyn Browser,
) -> Result<LoginReport, LoginError> {
    login_within(settings, context, browser, TIMEOUT).await
}

pub(super) async fn login_within(
    settings: &ServerSettings,
    context: &Context,
    browser: &dyn Browser,
    timeout: Duration,
) -> Result<LoginReport, LoginError> {
    let target = target_of(settings)?;
    let client = target.client();
    // Keep the scopes of an earlier login.
    let earlier = context.tokens.get(target.name, target.url.as_str(), &context.redactor)?;
    let mut authority = discover(&target, matches!(settings.endpoint, Endpoint::Http(_)), context).await?;
    // A compromised server could name an authorization server of its own, which would be sent the client secret.
    let is_other = |earlier: &Record| earlier.metadata.issuer != authority.metadata.issuer;
    if client.client_secret.is_some() && earlier.as_ref().is_some_and(is_other) {
        return Err(LoginError::OtherAuthority { name: target.name.to_owned() });
    }
    // An unfinished login is not stored.
    let credentials = InMemoryCredentialStore::new();
    authority.manager.set_credential_store(credentials.clone());

    let asked = if client.scopes.is_empty() {
        let named = authority.manager.select_initial_scopes(&[]).await;
        earlier
            .map(|earlier| scopes::union(&earlier.asked, &earlier.required))
            .map_or(named.clone(), |earlier| scopes::union(&named, &earlier))
    } else {
        client.scopes.clone()
    };
    let login = if client.client_secret.is_some() && client_credentials::is_only_way(&authority.metadata) {
        by_client(&target, &client, &mut authority, &asked, context).await?
    } else {
        by_person(&target, &client, &mut authority, &asked, context, browser, timeout).await?
    };

    let kept = credentials.load().await.map_err(|error| LoginError::Exchange(plain(context, &error)))?;
    let kept = kept.ok_or_else(|| LoginError::Exchange("no token in its response".to_owned()))?;
    add_tokens_to(&kept, &context.redactor);
    let record = Record {
        name: target.name.to_owned(),
        url: target.url.to_string(),
        grant: login.grant,
        resource: login.resource,
        metadata: essential_metadata(&authority.metadata),
        is_private: authority.is_private,
        client_id: kept.client_id.clone(),
        client_secret: login.client_secret,
        asked,
        required: Vec::new(),
        credentials: Some(essential(kept)),
    };
    let report = LoginReport {
        name: record.name.clone(),
        scopes: record.credentials.as_ref().map(|kept| kept.granted_scopes.clone()).unwrap_or_default(),
        expires: record.expires(),
        renews: record.renews(),
    };
    let stored = context.tokens.put(record).await;
    if let Some(page) = login.page {
        match &stored {
            Ok(()) => page.show("Logged in", "You can close this page.").await,
            Err(error) => page.show("Not logged in", &plain(context, error)).await,
        }
    }
    stored?;
    Ok(report)
}

fn target_of(settings: &ServerSettings) -> Result<Target<'_>, LoginError> {
    let configured = |instead| LoginError::Configured { name: settings.name.clone(), instead };
    let remote = match &settings.endpoint {
        Endpoint::Stdio(_) => return Err(LoginError::Local(settings.name.clone())),
        Endpoint::Http(remote) | Endpoint::Sse(remote) | Endpoint::WebSocket(remote) => remote,
    };
    match &remote.auth {
        Auth::OAuth | Auth::OAuthClient(_) => {}
        Auth::Bearer(_) => return Err(configured("a bearer token")),
        Auth::None => return Err(configured("no authorization")),
    }
    let target = Target::new(&settings.name, remote).map_err(LoginError::Address)?;
    if is_safe(&target.url) { Ok(target) } else { Err(LoginError::Insecure { what: "its address" }) }
}

/// Facts about a login in addition to its tokens.
struct Found {
    grant: Grant,
    resource: String,
    client_secret: Option<String>,
    page: Option<super::callback::Page>,
}

async fn by_client(
    target: &Target<'_>,
    client: &OAuthClient,
    authority: &mut Authority,
    asked: &[String],
    context: &Context,
) -> Result<Found, LoginError> {
    if let Some(secret) = &client.client_secret {
        context.redactor.add(secret);
    }
    let resource = target.url.to_string();
    client_credentials::exchange(&mut authority.manager, client, asked, &resource)
        .await
        .map_err(|error| LoginError::Exchange(plain(context, &error)))?;
    Ok(Found { grant: Grant::Client, resource, client_secret: None, page: None })
}

async fn by_person(
    target: &Target<'_>,
    client: &OAuthClient,
    authority: &mut Authority,
    asked: &[String],
    context: &Context,
    browser: &dyn Browser,
    timeout: Duration,
) -> Result<Found, LoginError> {
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let callback = Callback::bind().await.map_err(LoginError::Listen)?;
    let client_secret = authority.identify(client, &callback.redirect_uri(), &asked, context).await?;
    let page = authority.manager.get_authorization_url(&asked).await;
    let page = page.map_err(|error| LoginError::Discovery(plain(context, &error)))?;
    let (Some(state), Some(resource)) = (parameter(&page, "state"), parameter(&page, "resource")) else {
        return Err(LoginError::Discovery("its authorization endpoint cannot be used".to_owned()));
    };
    if let Err(error) = browser.open(&page) {
        context.warn(target.name, &format!("cannot open the browser: {error}"));
    }
    let answer = tokio::time::timeout(timeout, callback.answer(&state)).await;
    let answer = answer.map_err(|_| LoginError::TimedOut { after: timeout })?;
    let result = finish(authority, answer.result, answer.issuer.as_deref(), &state, context).await;
    match result {
        Ok(()) => Ok(Found { grant: Grant::Person, resource, client_secret, page: Some(answer.page) }),
        Err(error) => {
            answer.page.show("Not logged in", &error.to_string()).await;
            Err(error)
        }
    }
}

/// Exchanges the authorization code for tokens.
async fn finish(
    authority: &Authority,
    result: Result<String, String>,
    issuer: Option<&str>,
    state: &str,
    context: &Context,
) -> Result<(), LoginError> {
    if !authority.is_from(issuer) {
        return Err(LoginError::WrongIssuer);
    }
    let code = result.map_err(|words| LoginError::Refused(crate::trace::one_line(&context.redactor.text(&words))))?;
    match authority.manager.exchange_code_for_token_with_issuer(&code, state, issuer).await {
        Ok(_) => Ok(()),
        Err(AuthError::AuthorizationServerMismatch { .. } | AuthError::AuthorizationServerMissingIssuer { .. }) => {
            Err(LoginError::WrongIssuer)
        }
        Err(error) => Err(LoginError::Exchange(plain(context, &error))),
    }
}

/// Returns a query parameter that rmcp added to the authorization URL, after the authorization server's own ones.
fn parameter(page: &str, name: &str) -> Option<String> {
    let url = Url::parse(page).ok()?;
    url.query_pairs().filter(|(key, _)| key == name).last().map(|(_, value)| value.into_owned())
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
