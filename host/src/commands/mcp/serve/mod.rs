//! `agent-spaces mcp serve`
//!
//! - `source`: where what is served comes from
//! - `discovery`: servers are asked for their tools while callers are served already

mod discovery;
mod source;

use crate::commands::failure::Failure;
use crate::commands::space_choice::SpaceChoice;
use crate::commands::{clients, folders, terminal};
use agent_spaces::Caller;
use agent_spaces::serve::{Client, CodeMode, ElicitedDecisions, Offers, serve_streams};
use clap::Args;
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
  claude mcp add agent-spaces -- agent-spaces mcp serve --config /path/to/agent-spaces.config.json")]
pub(super) struct Serve {
    #[command(flatten)]
    choice: SpaceChoice,

    /// Scope that the caller has, for functions that ask for it; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
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
        let (source, served) = runtime.block_on(serve(mode, client, loading));
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

fn flatten<T>(joined: Result<Result<T, Failure>, tokio::task::JoinError>) -> Result<T, Failure> {
    joined.unwrap_or_else(|error| Err(Failure::new("host.runtime", error.to_string(), None)))
}

/// Until this process is told to stop.
async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
