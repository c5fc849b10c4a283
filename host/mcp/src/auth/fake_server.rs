//! Fake server with its authorization server on loopback, for tests.

use super::browser::Browser;
use crate::{Auth, Endpoint, RemoteEndpoint, ServerSettings};
use agent_spaces_secrets::Secret;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

/// Behaviour of the fake server; the defaults are correct behaviour.
#[derive(Clone)]
pub(super) struct Behaviour {
    /// Requires authorization.
    pub(super) asks: bool,
    /// `resource` in its metadata, instead of its URL.
    pub(super) resource: Option<&'static str>,
    /// Replaces fields of the authorization server's metadata; null removes one.
    pub(super) metadata: Value,
    /// Query of the redirect, instead of one with a code.
    pub(super) answer: Option<&'static str>,
    /// Lifetime of tokens.
    pub(super) expires_in: u64,
    /// Refuses refresh tokens.
    pub(super) revoked: bool,
}

impl Default for Behaviour {
    fn default() -> Behaviour {
        let metadata = json!({});
        Behaviour { asks: true, resource: None, metadata, answer: None, expires_in: 3600, revoked: false }
    }
}

/// Recorded request.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    pub(super) form: BTreeMap<String, String>,
    pub(super) authorization: Option<String>,
    pub(super) body: String,
}

#[derive(Clone)]
pub(super) struct Fake {
    pub(super) base: String,
    behaviour: Behaviour,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Number of tokens issued: only the last refresh token is accepted.
    given: Arc<Mutex<u32>>,
}

impl Fake {
    pub(super) async fn start(behaviour: Behaviour) -> Fake {
        crate::transport::tls::install_provider();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let fake = Fake { base, behaviour, seen: Arc::default(), given: Arc::default() };
        let server = fake.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let server = server.clone();
                tokio::spawn(async move { server.serve(stream).await });
            }
        });
        fake
    }

    pub(super) fn settings(&self, auth: Auth) -> ServerSettings {
        let url = Secret::new(format!("{}/mcp?key=hidden", self.base));
        ServerSettings::new("slack", Endpoint::Http(RemoteEndpoint { url, headers: BTreeMap::new(), auth }))
    }

    /// Returns the requests to a path, in order.
    pub(super) fn seen(&self, path: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|seen| seen.path == path).cloned().collect()
    }

    async fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let Some(seen) = read(&mut stream).await else { return };
        self.seen.lock().unwrap().push(seen.clone());
        let (status, headers, body) = self.answer(&seen);
        let length = body.len();
        let response =
            format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        let _ = stream.get_mut().write_all(response.as_bytes()).await;
    }

    fn answer(&self, seen: &Seen) -> (&'static str, String, String) {
        let base = &self.base;
        let json = |value: Value| ("200 OK", "Content-Type: application/json\r\n".to_owned(), value.to_string());
        match (seen.method.as_str(), seen.path.as_str()) {
            (_, "/mcp") if self.behaviour.asks => {
                let challenge = format!("Bearer resource_metadata=\"{base}/prm\", scope=\"read write\"");
                ("401 Unauthorized", format!("WWW-Authenticate: {challenge}\r\n"), String::new())
            }
            (_, "/mcp") => json(json!({})),
            ("GET", "/prm") => {
                let resource = self.behaviour.resource.map_or(format!("{base}/mcp"), |path| format!("{base}{path}"));
                json(json!({ "resource": resource, "authorization_servers": [base] }))
            }
            ("GET", "/.well-known/oauth-authorization-server") if self.behaviour.asks => json(self.metadata()),
            ("POST", "/register") => json(json!({
                "client_id": "registered", "client_secret": "registered-secret", "redirect_uris": [],
            })),
            ("GET", "/authorize") => {
                let query = |name: &str| seen.query.get(name).cloned().unwrap_or_default();
                let answer = self.behaviour.answer.unwrap_or("code=the-code");
                let location = format!("{}?{answer}&state={}", query("redirect_uri"), query("state"));
                ("302 Found", format!("Location: {location}\r\n"), String::new())
            }
            ("POST", "/token") => self.token(seen),
            _ => ("404 Not Found", String::new(), String::new()),
        }
    }

    fn metadata(&self) -> Value {
        let base = &self.base;
        let mut metadata = json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        for (key, value) in self.behaviour.metadata.as_object().unwrap() {
            metadata[key] = value.clone();
        }
        metadata
    }

    fn token(&self, seen: &Seen) -> (&'static str, String, String) {
        let mut given = self.given.lock().unwrap();
        let headers = "Content-Type: application/json\r\n".to_owned();
        let expected = format!("refresh-token-{given}");
        if let Some(token) = seen.form.get("refresh_token")
            && (self.behaviour.revoked || *token != expected)
        {
            return ("400 Bad Request", headers, json!({ "error": "invalid_grant" }).to_string());
        }
        *given += 1;
        let mut tokens = json!({
            "access_token": format!("access-token-{given}"), "token_type": "Bearer",
            "expires_in": self.behaviour.expires_in,
        });
        if seen.form.get("grant_type").map(String::as_str) != Some("client_credentials") {
            tokens["refresh_token"] = json!(format!("refresh-token-{given}"));
        }
        ("200 OK", headers, tokens.to_string())
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let mut words = first.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let url = Url::parse("http://fake").ok()?.join(target).ok()?;
    Some(Seen {
        method,
        path: url.path().to_owned(),
        query: url.query_pairs().into_owned().collect(),
        form: url::form_urlencoded::parse(&body).into_owned().collect(),
        authorization,
        body: String::from_utf8(body).ok()?,
    })
}

/// Headless browser that follows redirects and reports the last page.
#[derive(Clone)]
pub(super) struct Follower(mpsc::UnboundedSender<String>);

impl Follower {
    pub(super) fn new() -> (Follower, mpsc::UnboundedReceiver<String>) {
        let (pages, shown) = mpsc::unbounded_channel();
        (Follower(pages), shown)
    }
}

impl Browser for Follower {
    fn open(&self, url: &str) -> std::io::Result<()> {
        let (url, pages) = (url.to_owned(), self.0.clone());
        tokio::spawn(async move {
            let page = reqwest::get(url).await.unwrap().text().await.unwrap();
            let _ = pages.send(page);
        });
        Ok(())
    }
}
