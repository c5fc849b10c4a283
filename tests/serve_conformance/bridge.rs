//! HTTP bridge to `mcp serve` over stdio, for a suite that speaks only HTTP.
//!
//! Each session has a process of its own, and so has each request without a session. Messages pass as they are; all that
//! the process says until it has answered goes back with the answer. What is about HTTP itself cannot be asked here.

use crate::servers::Home;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::HashMap;
use std::error::Error;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdin, ChildStdout};

/// Timeout of a process's answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Says which session a request belongs to.
const SESSION: &str = "mcp-session-id";

type Failure = Box<dyn Error + Send + Sync>;
type Shared = Arc<tokio::sync::Mutex<Process>>;

pub(crate) struct Bridge {
    home: Arc<Home>,
    options: &'static [&'static str],
    sessions: Mutex<HashMap<String, Shared>>,
    /// Number of sessions so far.
    begun: AtomicU64,
}

/// A server, until this is dropped.
struct Process {
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Bridge {
    /// Starts a server with these options until this program ends; returns its URL.
    pub(crate) async fn start(home: Arc<Home>, options: &'static [&'static str]) -> Result<String, Box<dyn Error>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let bridge = Arc::new(Bridge { home, options, sessions: Mutex::default(), begun: AtomicU64::new(0) });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let bridge = bridge.clone();
                let service = service_fn(move |request| {
                    let bridge = bridge.clone();
                    async move { bridge.answer(request).await }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Ok(url)
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Failure> {
        let named = request.headers().get(SESSION).map(|id| id.to_str().map(str::to_owned)).transpose()?;
        match *request.method() {
            Method::POST => {}
            Method::DELETE => {
                let ended = named.and_then(|id| self.sessions().remove(&id));
                return plain(if ended.is_some() { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND });
            }
            _ => return plain(StatusCode::METHOD_NOT_ALLOWED),
        }
        let message: Value = serde_json::from_slice(&request.into_body().collect().await?.to_bytes())?;
        let known = named.as_ref().map(|id| self.sessions().get(id).cloned());
        let (process, begun) = match known {
            Some(Some(process)) => (process, None),
            Some(None) => return plain(StatusCode::NOT_FOUND),
            None => {
                let process = Shared::new(Process::start(&self.home, self.options)?.into());
                let begun = (message["method"] == "initialize").then(|| {
                    let id = format!("session-{}", self.begun.fetch_add(1, Ordering::Relaxed));
                    self.sessions().insert(id.clone(), process.clone());
                    id
                });
                (process, begun)
            }
        };
        let said = process.lock().await.exchange(&message).await?;
        if said.is_empty() {
            return plain(StatusCode::ACCEPTED);
        }
        let body: String = said.iter().map(|line| format!("data: {line}\n\n")).collect();
        let mut answer = Response::builder().header("content-type", "text/event-stream");
        if let Some(id) = begun {
            answer = answer.header(SESSION, id);
        }
        Ok(answer.body(Full::new(Bytes::from(body)))?)
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<String, Shared>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    fn start(home: &Home, options: &[&str]) -> Result<Process, Failure> {
        let mut child = home.serve(options).stdin(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("it hears nothing")?;
        let lines = BufReader::new(child.stdout.take().ok_or("it says nothing")?).lines();
        Ok(Process { input, lines, _child: child })
    }

    /// Forwards a message; returns all messages up to the answer, if one is expected.
    async fn exchange(&mut self, message: &Value) -> Result<Vec<String>, Failure> {
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        let asked = message.get("id").filter(|_| message.get("method").is_some());
        let Some(id) = asked else { return Ok(Vec::new()) };
        let mut said = Vec::new();
        loop {
            let line = tokio::time::timeout(TIMEOUT, self.lines.next_line()).await??.ok_or("it ended")?;
            let heard: Value = serde_json::from_str(&line)?;
            let is_answer = heard.get("id") == Some(id) && heard.get("method").is_none();
            said.push(line);
            if is_answer {
                return Ok(said);
            }
        }
    }
}

fn plain(status: StatusCode) -> Result<Response<Full<Bytes>>, Failure> {
    Ok(Response::builder().status(status).body(Full::default())?)
}
