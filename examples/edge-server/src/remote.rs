//! Answers calls through the REST API of a server: each is a run of one call, under the server's policy and approvals.

use crate::manifest::{Interface, Takes};
use agent_spaces_calls::call::Call;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use anyhow::{Context, Result};
use reqwest::{Client, Method, StatusCode, redirect};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// One request waits this long for a run; the server allows at most a minute.
const WAIT_SECONDS: u64 = 20;
/// Time for the answer of one request, beyond its wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(WAIT_SECONDS + 20);
/// Longest time that a call waits for a person.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Requests of one call that found no connection or a busy server. All have the same idempotency key: nothing is done twice.
const ATTEMPTS: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Larger than any value that the server returns.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// The server, and the caller that this host is there.
pub(crate) struct Remote {
    client: Client,
    url: String,
    token: String,
    space: String,
}

/// A run, as the server shows it.
#[derive(Deserialize)]
struct Run {
    id: String,
    status: String,
    #[serde(default)]
    value: Value,
    error: Option<RunError>,
}

#[derive(Deserialize)]
struct RunError {
    code: String,
    message: String,
    #[serde(default)]
    retryable: bool,
    details: Option<Value>,
}

/// A refused request.
#[derive(Default, Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    detail: String,
}

#[derive(Deserialize)]
struct Spaces {
    items: Vec<Space>,
}

#[derive(Deserialize)]
struct Space {
    id: String,
    name: String,
}

impl Remote {
    /// Reads the server's address, the token and the space from the environment.
    pub(crate) fn from_environment() -> Result<Remote> {
        let variable = |name: &str| std::env::var(name).with_context(|| format!("set {name}"));
        // An error only means that there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .timeout(ANSWER_TIMEOUT)
            .build()
            .context("the HTTP client cannot be built")?;
        let url = variable("AGENT_SPACES_URL")?.trim_end_matches('/').to_owned();
        Ok(Remote { client, url, token: variable("AGENT_SPACES_TOKEN")?, space: variable("AGENT_SPACES_SPACE")? })
    }

    /// Makes a call on the server. The run's time stands still meanwhile: the server has limits of its own.
    pub(crate) async fn call(&self, interface: &Interface, takes: &Takes, call: Call) -> Answer {
        let _held = call.clock.as_ref().map(|clock| clock.hold().0);
        let arguments = match takes {
            Takes::Object => vec![call.params.clone()],
            Takes::Values(names) => {
                names.iter().map(|name| call.params.get(name).cloned().unwrap_or(Value::Null)).collect()
            }
        };
        let name = format!("{}.{}.js", interface.export, call.function);
        let body = json!({ "name": name, "source": source(interface, &call.function), "input": arguments });
        let key = format!("{}.{}", call.run_id, call.id);
        let space = self.space_id().await?;
        let path = format!("/v1/spaces/{space}/runs?wait={WAIT_SECONDS}");
        let mut run: Run = read(&self.request(Method::POST, &path, Some(&body), Some(&key)).await?)?;
        let begun = Instant::now();
        while !matches!(run.status.as_str(), "finished" | "failed" | "cancelled") {
            if begun.elapsed() > PATIENCE {
                // Nobody would get its result.
                let _ended =
                    self.request(Method::POST, &format!("/v1/runs/{}/cancel", run.id), Some(&json!({})), None).await;
                return Err(CapabilityError::new(Code::CallTimeout, "The server did not answer in time"));
            }
            let path = format!("/v1/runs/{}?wait={WAIT_SECONDS}", run.id);
            run = read(&self.request(Method::GET, &path, None, None).await?)?;
        }
        match run.error {
            None if run.status == "finished" => Ok(run.value),
            None => Err(CapabilityError::failed(format!("The run was {}", run.status))),
            Some(RunError { code, message, retryable, details }) => {
                let own = ["script.", "limit.", "run.", "import.", "host."];
                let is_own = own.iter().any(|prefix| code.starts_with(prefix));
                let code = if is_own { Code::CallFailed.into() } else { code };
                Err(CapabilityError { code, message, retryable, details })
            }
        }
    }

    /// Returns the id of the space, which the environment names by its id or its name.
    async fn space_id(&self) -> Result<String, CapabilityError> {
        if self.space.starts_with("spc_") {
            return Ok(self.space.clone());
        }
        let spaces: Spaces = read(&self.request(Method::GET, "/v1/spaces?limit=100", None, None).await?)?;
        let found = spaces.items.into_iter().find(|space| space.name == self.space);
        let denied =
            || CapabilityError::new(Code::CallDenied, format!("The token may not use the space {}", self.space));
        found.map(|space| space.id).ok_or_else(denied)
    }

    /// Sends a request, again while the server is busy or away.
    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Vec<u8>, CapabilityError> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let refusal = match self.send(method.clone(), path, body, key).await {
                Ok((status, bytes)) if status.is_success() => return Ok(bytes),
                Ok((status, bytes)) => refusal(status, &bytes),
                Err(error) => {
                    // Without the address, which is the host's own business.
                    let reason = error.without_url();
                    let message = format!("The server of this function cannot be reached: {reason}");
                    CapabilityError { retryable: true, ..CapabilityError::new(Code::CallUnavailable, message) }
                }
            };
            if !refusal.retryable || attempt == ATTEMPTS {
                return Err(refusal);
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        Err(CapabilityError::failed("The request was not sent"))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<(StatusCode, Vec<u8>), reqwest::Error> {
        let mut request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let mut response = request.send().await?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_ANSWER {
                // Cut off, it is no valid JSON.
                break;
            }
        }
        Ok((status, bytes))
    }
}

/// Program of the run: one call.
fn source(interface: &Interface, function: &str) -> String {
    let (export, module) = (&interface.export, json!(interface.module));
    let member = if interface.is_single_function { String::new() } else { format!("[{}]", json!(function)) };
    format!(
        "import {{ {export} as capability }} from {module};\n\
         import input from '@agent-spaces/input';\n\
         export default await capability{member}(...input);\n"
    )
}

/// Error of a refused request.
fn refusal(status: StatusCode, bytes: &[u8]) -> CapabilityError {
    let problem: Problem = serde_json::from_slice(bytes).unwrap_or_default();
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE;
    let is_denied = matches!(status.as_u16(), 401 | 403 | 404) || problem.code.starts_with("import.");
    let code = if is_denied { Code::CallDenied } else { Code::CallUnavailable };
    let message = format!("The server refused the call ({}): {}", problem.code, problem.detail);
    CapabilityError { retryable: is_busy, ..CapabilityError::new(code, message) }
}

fn read<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, CapabilityError> {
    serde_json::from_slice(bytes).map_err(|_| CapabilityError::failed("The server's answer cannot be read"))
}
