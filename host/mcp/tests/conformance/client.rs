//! Client under test: logs in when an error advises it, with this crate's public API only.

use crate::errand::Errand;
use agent_spaces_mcp::auth::{self, Browser};
use agent_spaces_mcp::secrets::Secret;
use agent_spaces_mcp::{
    Auth, CallError, ConnectError, Context, Elicitation, Endpoint, OAuthClient, RemoteEndpoint, Server, ServerSettings,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;

/// Client id metadata document that the suite's authorization servers know.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// Limit on logins.
const MAX_LOGINS: usize = 4;
/// Part of errors that advise a login.
const ADVICE: &str = "run `agent-spaces mcp login";

/// Runs the errand of the suite's environment at the server in the last argument.
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("the address of the server is missing")?;
    let given = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let given: Value = serde_json::from_str(&given)?;
    let (settings, context) = (settings(&url, &given), Context::default());
    let mut errand = Errand::new(&given);
    for _ in 0..MAX_LOGINS {
        let resolved = settings.clone();
        let server = Server::new(&context, None, move || Ok(resolved.clone()));
        let result = errand.run(&server).await;
        server.close().await;
        match result {
            Err(CallError::Unavailable(ConnectError::Unauthorized { message })) if message.contains(ADVICE) => {
                eprintln!("{message}");
                eprintln!("{:?}", auth::login(&settings, &context, &Follower).await?);
            }
            result => return Ok(result?),
        }
    }
    Err("no login was enough".into())
}

fn settings(url: &str, given: &Value) -> ServerSettings {
    let text = |name: &str| given.get(name).and_then(Value::as_str).map(str::to_owned);
    let auth = Auth::OAuthClient(OAuthClient {
        client_id: Some(text("client_id").unwrap_or_else(|| DOCUMENT.to_owned())),
        client_secret: text("client_secret").map(Secret::new),
        scopes: Vec::new(),
    });
    let endpoint = RemoteEndpoint { url: Secret::new(url), headers: BTreeMap::new(), auth };
    let mut settings = ServerSettings::new("conformance", Endpoint::Http(endpoint));
    settings.elicitation = Elicitation::Defaults;
    settings
}

/// Browser that follows the redirects of a login, like a person who consents to everything.
struct Follower;

impl Browser for Follower {
    fn open(&self, url: &str) -> std::io::Result<()> {
        let url = url.to_owned();
        tokio::spawn(async move {
            let client = reqwest::Client::builder().no_proxy().build();
            let answer = match client {
                Ok(client) => client.get(url).send().await,
                Err(error) => Err(error),
            };
            if let Err(error) = answer {
                eprintln!("browser: {error}");
            }
        });
        Ok(())
    }
}
