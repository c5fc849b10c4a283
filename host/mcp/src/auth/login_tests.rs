use super::*;
use crate::auth::fake_server::{Behaviour, Fake, Follower};
use crate::auth::insufficient_scope;
use crate::token_store::TokenStore;
use crate::{BearerSource, ProcessSpec, RemoteEndpoint};
use agent_spaces_secrets::Secret;
use base64::Engine;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;

/// Browser that cannot be opened.
struct NoBrowser;

impl Browser for NoBrowser {
    fn open(&self, _url: &str) -> io::Result<()> {
        Err(io::Error::other("no screen"))
    }
}

async fn failure_of(behaviour: Behaviour, auth: Auth) -> (LoginError, Fake) {
    let fake = Fake::start(behaviour).await;
    let context = Context::default();
    let (browser, _pages) = Follower::new();
    let error = login(&fake.settings(auth), &context, &browser).await.unwrap_err();
    assert_eq!(context.tokens.list().unwrap(), [], "what failed is not kept");
    (error, fake)
}

#[tokio::test]
async fn a_login_ends_with_tokens_in_the_store() {
    let fake = Fake::start(Behaviour::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let tokens = TokenStore::in_file(folder.path().join("tokens.json"));
    let context = Context { tokens: tokens.clone(), ..Context::default() };
    let (browser, mut pages) = Follower::new();
    let report = login(&fake.settings(Auth::OAuth), &context, &browser).await.unwrap();
    assert_eq!((report.name.as_str(), report.renews), ("slack", true));
    assert_eq!(report.scopes, ["read", "write"], "the challenge says which");
    assert!(report.expires.unwrap() > SystemTime::now());
    assert!(pages.recv().await.unwrap().contains("<h1>Logged in</h1>"));

    let resource = format!("{}/mcp", fake.base);
    let asked = &fake.seen("/authorize")[0].query;
    assert_eq!(asked["resource"], resource, "the query of the address may be secret");
    assert_eq!((asked["code_challenge_method"].as_str(), asked["scope"].as_str()), ("S256", "read write"));
    assert!(asked["redirect_uri"].starts_with("http://127.0.0.1:") && asked["redirect_uri"].ends_with("/callback"));
    let registered: serde_json::Value = serde_json::from_str(&fake.seen("/register")[0].body).unwrap();
    assert_eq!(registered["redirect_uris"], json!([asked["redirect_uri"]]));
    let exchanged = &fake.seen("/token")[0];
    assert_eq!((exchanged.form["code"].as_str(), &exchanged.form["resource"]), ("the-code", &resource));
    let challenge = Sha256::digest(exchanged.form["code_verifier"].as_bytes());
    assert_eq!(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(challenge), asked["code_challenge"]);
    assert!(exchanged.authorization.as_ref().unwrap().starts_with("Basic "), "the registered secret is used");

    let kept = tokens.list().unwrap().remove(0);
    assert_eq!((kept.name.as_str(), &kept.url, kept.scopes), ("slack", &resource, report.scopes));
    let request = &fake.seen("/mcp")[0];
    assert_eq!((request.method.as_str(), request.query["key"].as_str()), ("POST", "hidden"));
}

/// Sends a request with a wrong state before the real browser does.
struct Intruder(Follower);

impl Browser for Intruder {
    fn open(&self, url: &str) -> io::Result<()> {
        let callback = format!("{}?code=stolen&state=guessed", parameter(url, "redirect_uri").unwrap());
        let (url, person) = (url.to_owned(), self.0.clone());
        tokio::spawn(async move {
            let refused = reqwest::get(callback).await.unwrap();
            assert_eq!(refused.status(), 400);
            person.open(&url).unwrap();
        });
        Ok(())
    }
}

#[tokio::test]
async fn a_response_with_another_state_is_refused_and_the_login_continues() {
    let fake = Fake::start(Behaviour::default()).await;
    let (browser, _pages) = Follower::new();
    login(&fake.settings(Auth::OAuth), &Context::default(), &Intruder(browser)).await.unwrap();
    let codes: Vec<_> = fake.seen("/token").iter().map(|seen| seen.form["code"].clone()).collect();
    assert_eq!(codes, ["the-code"]);
}

#[tokio::test]
async fn a_refusal_is_shown_to_the_operator_and_the_person() {
    let answer = Some("error=access_denied&error_description=%3Cb%3Enot%20you");
    let fake = Fake::start(Behaviour { answer, ..Behaviour::default() }).await;
    let (browser, mut pages) = Follower::new();
    let error = login(&fake.settings(Auth::OAuth), &Context::default(), &browser).await.unwrap_err();
    assert_eq!(error.to_string(), "the login was refused: access_denied: <b>not you");
    let page = pages.recv().await.unwrap();
    assert!(page.contains("<h1>Not logged in</h1>") && page.contains("&lt;b&gt;not you"), "{page}");
    assert!(fake.seen("/token").is_empty());
}

#[tokio::test]
async fn a_login_times_out() {
    let fake = Fake::start(Behaviour::default()).await;
    let after = Duration::from_millis(300);
    let error = login_within(&fake.settings(Auth::OAuth), &Context::default(), &NoBrowser, after).await.unwrap_err();
    assert_eq!(error.to_string(), "login timed out after 300ms");
}

/// Reports the URL and opens nothing.
struct UrlReporter(tokio::sync::mpsc::UnboundedSender<String>);

impl Browser for UrlReporter {
    fn open(&self, url: &str) -> io::Result<()> {
        self.0.send(url.to_owned()).map_err(io::Error::other)
    }
}

#[tokio::test]
async fn a_cancelled_login_stops_listening() {
    let fake = Fake::start(Behaviour::default()).await;
    let (told, mut pages) = tokio::sync::mpsc::unbounded_channel();
    let (settings, context, browser) = (fake.settings(Auth::OAuth), Context::default(), UrlReporter(told));
    let callback = tokio::select! {
        _ = login(&settings, &context, &browser) => panic!("it ended"),
        page = pages.recv() => parameter(&page.unwrap(), "redirect_uri").unwrap(),
    };
    assert!(reqwest::get(callback).await.unwrap_err().is_connect());
}

/// The state and the resource are ours, even if the authorization endpoint has parameters of those names.
#[test]
fn parameters_of_the_authorization_server_are_not_taken_for_ours() {
    let page = "https://as.example/authorize?state=theirs&resource=theirs&x=y&state=ours&resource=mine";
    assert_eq!(parameter(page, "state").as_deref(), Some("ours"));
    assert_eq!(parameter(page, "resource").as_deref(), Some("mine"));
    assert_eq!(parameter(page, "scope"), None);
}

#[tokio::test]
async fn a_response_of_another_issuer_is_refused() {
    let supported = json!({ "authorization_response_iss_parameter_supported": true });
    for (answer, metadata) in [
        ("code=the-code&iss=https%3A%2F%2Fevil.example", json!({})),
        ("error=words-of-evil&iss=https%3A%2F%2Fevil.example", json!({})),
        ("code=the-code", supported.clone()),
        ("error=words-of-evil", supported),
    ] {
        let (error, fake) =
            failure_of(Behaviour { answer: Some(answer), metadata, ..Behaviour::default() }, Auth::OAuth).await;
        assert!(matches!(error, LoginError::WrongIssuer), "{answer}: {error}");
        assert!(fake.seen("/token").is_empty(), "no code is sent");
    }
}

#[tokio::test]
async fn unencrypted_endpoints_are_refused() {
    for (key, endpoint) in [
        ("authorization_endpoint", "http://evil.example/authorize"),
        ("authorization_endpoint", "file:///etc/passwd"),
        ("token_endpoint", "http://evil.example/token"),
        ("registration_endpoint", "http://10.0.0.1/register"),
    ] {
        let (error, fake) =
            failure_of(Behaviour { metadata: json!({ key: endpoint }), ..Behaviour::default() }, Auth::OAuth).await;
        assert!(matches!(error, LoginError::Insecure { .. }), "{key}: {error}");
        assert!(fake.seen("/authorize").is_empty() && fake.seen("/register").is_empty());
    }
    let url = Secret::new("http://example.com/mcp");
    let remote = RemoteEndpoint { url, headers: BTreeMap::new(), auth: Auth::OAuth };
    let settings = ServerSettings::new("slack", Endpoint::Http(remote));
    let error = login(&settings, &Context::default(), &NoBrowser).await.unwrap_err();
    assert!(matches!(error, LoginError::Insecure { what: "its address" }), "{error}");
}

#[tokio::test]
async fn servers_without_logins_have_their_own_errors() {
    let (error, _) = failure_of(Behaviour { asks: false, ..Behaviour::default() }, Auth::OAuth).await;
    assert!(matches!(error, LoginError::NotAsked), "{error}");
    let (error, _) = failure_of(Behaviour::default(), Auth::Bearer(BearerSource::Token(Secret::new("token")))).await;
    assert!(error.to_string().contains("uses a bearer token"), "{error}");
    let stdio = ProcessSpec { program: "server".into(), args: vec![], env: BTreeMap::new(), cwd: None, confine: None };
    let settings = ServerSettings::new("files", Endpoint::Stdio(stdio));
    let error = login(&settings, &Context::default(), &NoBrowser).await.unwrap_err();
    assert!(matches!(error, LoginError::Local(_)), "{error}");
    let (error, _) = failure_of(
        Behaviour { metadata: json!({ "registration_endpoint": null }), ..Behaviour::default() },
        Auth::OAuth,
    )
    .await;
    assert!(matches!(error, LoginError::NoRegistration), "{error}");
    let (error, _) = failure_of(
        Behaviour { metadata: json!({ "code_challenge_methods_supported": ["plain"] }), ..Behaviour::default() },
        Auth::OAuth,
    )
    .await;
    assert!(error.to_string().contains("S256"), "{error}");
}

#[tokio::test]
async fn the_configured_client_and_scopes_take_precedence() {
    let fake = Fake::start(Behaviour::default()).await;
    let client = OAuthClient {
        client_id: Some("configured".into()),
        client_secret: Some(Secret::new("configured-secret")),
        scopes: vec!["mine".into()],
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.json");
    let context = Context { tokens: TokenStore::in_file(file.clone()), ..Context::default() };
    let (browser, _pages) = Follower::new();
    login(&fake.settings(Auth::OAuthClient(client)), &context, &browser).await.unwrap();
    assert!(fake.seen("/register").is_empty());
    let asked = &fake.seen("/authorize")[0].query;
    assert_eq!((asked["client_id"].as_str(), asked["scope"].as_str()), ("configured", "mine"));
    assert!(!std::fs::read_to_string(file).unwrap().contains("configured-secret"), "it stays in the configuration");
}

#[tokio::test]
async fn the_configured_secret_is_not_sent_to_another_authorization_server() {
    let fake = Fake::start(Behaviour::default()).await;
    let client = OAuthClient {
        client_id: Some("configured".into()),
        client_secret: Some(Secret::new("configured-secret")),
        scopes: Vec::new(),
    };
    let (context, settings) = (Context::default(), fake.settings(Auth::OAuthClient(client)));
    let (browser, _pages) = Follower::new();
    login(&settings, &context, &browser).await.unwrap();
    login(&settings, &context, &browser).await.unwrap();
    let before = |record: &mut Record| record.metadata.issuer = Some("https://before.example".into());
    context.tokens.update("slack", &format!("{}/mcp", fake.base), before).await.unwrap();
    let error = login(&settings, &context, &NoBrowser).await.unwrap_err();
    assert!(matches!(error, LoginError::OtherAuthority { .. }), "{error}");
    assert_eq!(fake.seen("/token").len(), 2);
}

#[tokio::test]
async fn a_client_id_metadata_document_is_used_if_supported() {
    let client = OAuthClient { client_id: Some("https://example.com/client.json".into()), ..OAuthClient::default() };
    for (supported, id) in [(true, "https://example.com/client.json"), (false, "registered")] {
        let metadata = json!({ "client_id_metadata_document_supported": supported });
        let fake = Fake::start(Behaviour { metadata, ..Behaviour::default() }).await;
        let (browser, _pages) = Follower::new();
        login(&fake.settings(Auth::OAuthClient(client.clone())), &Context::default(), &browser).await.unwrap();
        assert_eq!(fake.seen("/authorize")[0].query["client_id"], id);
    }
}

#[tokio::test]
async fn a_later_login_requests_missing_scopes_and_keeps_the_others() {
    let fake = Fake::start(Behaviour::default()).await;
    let (context, settings) = (Context::default(), fake.settings(Auth::OAuth));
    let (browser, _pages) = Follower::new();
    login(&settings, &context, &browser).await.unwrap();
    let advice = insufficient_scope(&settings, Some("admin read"), &context).await.to_string();
    assert!(advice.contains("`admin read`; run `agent-spaces mcp login slack`"), "{advice}");
    login(&settings, &context, &browser).await.unwrap();
    assert_eq!(fake.seen("/authorize")[1].query["scope"], "read write admin");
    let advice = insufficient_scope(&settings, Some("admin"), &context).await.to_string();
    assert!(advice.contains("already requested that"), "another login would change nothing: {advice}");
}

#[tokio::test]
async fn client_credentials_are_used_if_they_are_the_only_grant() {
    let metadata = json!({
        "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
    });
    let fake = Fake::start(Behaviour { metadata, ..Behaviour::default() }).await;
    let client = OAuthClient {
        client_id: Some("robot".into()),
        client_secret: Some(Secret::new("robot-secret")),
        scopes: Vec::new(),
    };
    let report = login(&fake.settings(Auth::OAuthClient(client)), &Context::default(), &NoBrowser).await.unwrap();
    assert!(report.renews);
    let exchanged = &fake.seen("/token")[0];
    assert_eq!(exchanged.form["grant_type"], "client_credentials");
    assert_eq!(exchanged.form["resource"], format!("{}/mcp", fake.base));
}
