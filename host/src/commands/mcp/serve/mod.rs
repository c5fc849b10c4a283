//! `agent-spaces mcp serve`
//!
//! - `source`: where what is served comes from
//! - `discovery`: servers are asked for their tools while callers are served already
//! - `http`, `token`: several callers instead of the one that started this process

mod discovery;
mod http;
mod source;
mod token;

use crate::commands::failure::Failure;
use crate::commands::space_choice::SpaceChoice;
use crate::commands::{clients, folders, terminal};
use agent_spaces::Caller;
use agent_spaces::serve::http::serve_http;
use agent_spaces::serve::{Client, CodeMode, ElicitedDecisions, Offers, serve_streams};
use clap::Args;
use http::Http;
use source::Source;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long the greeting of a client waits for what is known of the functions.
const GREETING: Duration = Duration::from_millis(200);

/// How long what is under way has at the end.
const FAREWELL: Duration = Duration::from_millis(200);

/// Serve everything to an agent as three tools: search, describe, and run a program.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces mcp serve
  agent-spaces mcp serve --space support
  agent-spaces mcp serve --http
  agent-spaces mcp serve --http 127.0.0.1:9000 --token-file ~/agents.token
  claude mcp add agent-spaces -- agent-spaces mcp serve --config /path/to/agent-spaces.config.json")]
pub(super) struct Serve {
    #[command(flatten)]
    choice: SpaceChoice,

    /// Scope that the caller has, for functions that ask for it; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    #[command(flatten)]
    http: Http,
}

impl Serve {
    pub(super) fn execute(self) -> u8 {
        match self.serve() {
            Ok(()) => 0,
            Err(failure) => failure.show(),
        }
    }

    fn serve(self) -> Result<(), Failure> {
        let runtime = clients::runtime()?;
        let (offers, decisions) = (Offers::new(folders::outlines()), ElicitedDecisions::default());
        let mode = CodeMode::new(offers.clone(), decisions.clone());
        let client = Client::of_process(Caller { name: None, scopes: self.scope.into_iter().collect() });
        let (choice, handle) = (self.choice, runtime.handle().clone());
        let loading = runtime.spawn_blocking(move || {
            let source = Arc::new(Source::open(choice, handle, offers, decisions)?);
            let unknown = source.offer()?;
            Ok((source, unknown))
        });
        let (source, served) = match self.http.is_asked() {
            true => runtime.block_on(serve_callers(mode, client, self.http, loading)),
            false => runtime.block_on(serve(mode, client, loading)),
        };
        if let Some(source) = &source {
            runtime.block_on(source.close());
        }
        runtime.shutdown_timeout(FAREWELL);
        // What happened is written down when nothing can happen any more.
        drop(source);
        served
    }
}

type Loading = JoinHandle<Result<(Arc<Source>, Vec<source::Unknown>), Failure>>;

/// Serves the client that started this process, until it goes away or a signal comes. What is to be served may come later:
/// a client waits for a greeting a second at most.
async fn serve(mode: CodeMode, client: Client, mut loading: Loading) -> (Option<Arc<Source>>, Result<(), Failure>) {
    let early = tokio::time::timeout(GREETING, &mut loading).await;
    let mut loaded = match early.map(flatten) {
        Ok(Ok(loaded)) => Some(loaded),
        // What is wrong is said before a client believes that all is well.
        Ok(Err(failure)) => return (None, Err(failure)),
        Err(_) => None,
    };
    let mut source = None;
    let serving = serve_streams(mode, client, tokio::io::stdin(), tokio::io::stdout());
    tokio::pin!(serving);
    let signal = stop_signal();
    tokio::pin!(signal);
    loop {
        if let Some((opened, unknown)) = loaded.take() {
            source = Some(opened.clone());
            tokio::spawn(discovery::discover(opened, unknown));
        }
        tokio::select! {
            served = &mut serving => {
                let served = served.map_err(|error| Failure::new("host.mcp", terminal::clean_line(&error), None));
                return (source, served);
            }
            () = &mut signal => return (source, Ok(())),
            late = &mut loading, if source.is_none() => match flatten(late) {
                Ok(late) => loaded = Some(late),
                Err(failure) => return (None, Err(failure)),
            },
        }
    }
}

/// Serves whoever has a token, until a signal comes.
async fn serve_callers(
    mode: CodeMode,
    own: Client,
    http: Http,
    loading: Loading,
) -> (Option<Arc<Source>>, Result<(), Failure>) {
    let (source, unknown) = match flatten(loading.await) {
        Ok(loaded) => loaded,
        Err(failure) => return (None, Err(failure)),
    };
    // Who is told where the server is may stop it at once.
    let stop = stop_signal();
    let bound = match http.bind(own, source.project()).await {
        Ok(bound) => bound,
        Err(failure) => return (Some(source), Err(failure)),
    };
    tokio::spawn(discovery::discover(source.clone(), unknown));
    serve_http(bound.listener, mode, bound.callers, bound.doors, stop).await;
    (Some(source), Ok(()))
}

fn flatten<T>(joined: Result<Result<T, Failure>, tokio::task::JoinError>) -> Result<T, Failure> {
    joined.unwrap_or_else(|error| Err(Failure::new("host.runtime", error.to_string(), None)))
}

/// Until this process is told to stop, from now on.
fn stop_signal() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::interrupt()).and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)))
    };
    async move {
        #[cfg(unix)]
        if let Ok((mut interrupt, mut terminate)) = signals {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
