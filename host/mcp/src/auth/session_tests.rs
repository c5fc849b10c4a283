use super::*;
use crate::OAuthClient;
use crate::auth::fake_server::{Behaviour, Fake, Follower};
use crate::auth::login;
use crate::token_store::TokenStore;
use serde_json::json;

/// Starts a fake server and logs in there; tokens are in a file.
async fn logged_in(behaviour: Behaviour, auth: Auth) -> (Fake, Context, ServerSettings, tempfile::TempDir) {
    let fake = Fake::start(behaviour).await;
    let folder = tempfile::tempdir().unwrap();
    let tokens = TokenStore::in_file(folder.path().join("tokens.json"));
    let context = Context { tokens, ..Context::default() };
    let settings = fake.settings(auth);
    let (browser, _pages) = Follower::new();
    login(&settings, &context, &browser).await.unwrap();
    (fake, context, settings, folder)
}

fn remote(settings: &ServerSettings) -> &RemoteEndpoint {
    let Endpoint::Http(remote) = &settings.endpoint else { panic!("not remote") };
    remote
}

async fn token(settings: &ServerSettings, context: &Context) -> Result<Option<String>, ConnectError> {
    let token = access_token(settings, remote(settings), context).await?;
    Ok(token.map(|token| token.expose().to_owned()))
}

#[tokio::test]
async fn without_a_login_there_is_no_token() {
    let fake = Fake::start(Behaviour::default()).await;
    assert_eq!(token(&fake.settings(Auth::OAuth), &Context::default()).await, Ok(None));
}

#[tokio::test]
async fn a_valid_token_is_used_without_a_request() {
    let (fake, context, settings, _folder) = logged_in(Behaviour::default(), Auth::OAuth).await;
    let before = fake.seen("/prm").len();
    assert_eq!(token(&settings, &context).await, Ok(Some("access-token-1".into())));
    let http = client(&settings, remote(&settings), reqwest::Client::new(), &context).await.unwrap().unwrap();
    assert_eq!(http.get_access_token().await.unwrap(), "access-token-1");
    assert_eq!((fake.seen("/prm").len(), fake.seen("/token").len()), (before, 1));
}

#[tokio::test]
async fn another_address_under_the_same_name_gets_no_token() {
    let (_fake, context, _settings, _folder) = logged_in(Behaviour::default(), Auth::OAuth).await;
    let other = Fake::start(Behaviour::default()).await;
    assert_eq!(token(&other.settings(Auth::OAuth), &context).await, Ok(None));
}

/// The resource is spelled as it was at the login, even if `Url` would normalize it.
#[tokio::test]
async fn an_expired_token_is_refreshed_and_stored() {
    for (resource, spelt) in [(None, "/mcp"), (Some(""), ""), (Some("/"), "/")] {
        let behaviour = Behaviour { expires_in: 1, resource, ..Behaviour::default() };
        let (fake, context, settings, _folder) = logged_in(behaviour, Auth::OAuth).await;
        assert_eq!(token(&settings, &context).await, Ok(Some("access-token-2".into())));
        let requests = fake.seen("/token");
        assert_eq!(requests[1].form["grant_type"], "refresh_token");
        assert_eq!(requests[1].form["resource"], format!("{}{spelt}", fake.base));
        assert_eq!(requests[1].form["resource"], requests[0].form["resource"]);
        assert_eq!(requests[1].authorization, requests[0].authorization, "as the same client");
        assert_eq!(token(&settings, &context).await, Ok(Some("access-token-3".into())), "with the new refresh token");
    }
}

/// The fake server accepts each refresh token once, so using an old one would lose the login.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_refreshes_do_not_lose_the_login() {
    let behaviour = Behaviour { expires_in: 1, ..Behaviour::default() };
    let (_fake, context, settings, _folder) = logged_in(behaviour, Auth::OAuth).await;
    let all: Vec<_> = (0..6)
        .map(|_| {
            let (settings, context) = (settings.clone(), context.clone());
            tokio::spawn(async move { token(&settings, &context).await })
        })
        .collect();
    for one in all {
        assert!(one.await.unwrap().unwrap().unwrap().starts_with("access-token-"));
    }
}

#[tokio::test]
async fn a_revoked_login_is_an_error_with_the_login_command() {
    let behaviour = Behaviour { expires_in: 1, revoked: true, ..Behaviour::default() };
    let (_fake, context, settings, _folder) = logged_in(behaviour, Auth::OAuth).await;
    let message = "its login has expired: run `agent-spaces mcp login slack`".to_owned();
    assert_eq!(token(&settings, &context).await, Err(ConnectError::Unauthorized { message }));
    assert_eq!(token(&settings, &context).await, Ok(None), "the token is not tried again");
    assert_eq!(context.tokens.list().unwrap(), []);
}

#[tokio::test]
async fn a_token_file_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let (_fake, context, settings, folder) = logged_in(Behaviour::default(), Auth::OAuth).await;
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(folder.path().join("tokens.json"), open).unwrap();
    let message = token(&settings, &context).await.unwrap_err().to_string();
    assert!(message.contains("chmod 600"), "{message}");
}

#[tokio::test]
async fn a_client_credentials_token_is_replaced_before_it_expires() {
    let client = OAuthClient {
        client_id: Some("robot".into()),
        client_secret: Some(Secret::new("robot-secret")),
        scopes: Vec::new(),
    };
    for (expires_in, expected) in [(3600, "access-token-1"), (200, "access-token-2")] {
        let metadata = json!({ "grant_types_supported": ["client_credentials"] });
        let behaviour = Behaviour { metadata, expires_in, ..Behaviour::default() };
        let (fake, context, settings, _folder) = logged_in(behaviour, Auth::OAuthClient(client.clone())).await;
        assert_eq!(token(&settings, &context).await, Ok(Some(expected.into())));
        assert!(fake.seen("/authorize").is_empty(), "no person is asked");
    }
}

#[tokio::test]
async fn the_advice_for_a_missing_scope_depends_on_the_configuration() {
    let context = Context::default();
    let fake = Fake::start(Behaviour::default()).await;
    let scopes = vec!["read".to_owned()];
    let configured = Auth::OAuthClient(OAuthClient { scopes, ..OAuthClient::default() });
    for (auth, words) in [
        (Auth::OAuth, "`write`; run `agent-spaces mcp login slack`"),
        (configured, "`write`; add that to the `scopes` of `slack` and run `agent-spaces mcp login slack`"),
        (Auth::Bearer(crate::BearerSource::File("/run/token".into())), "`write`; it comes from the file /run/token"),
    ] {
        let message = insufficient_scope(&fake.settings(auth), Some("write"), &context).await.to_string();
        assert!(message.ends_with(words), "{message}");
    }
}
