//! `agent-spaces mcp serve`
//!
//! - `toolboxes`: the project that toolbox mode serves

mod toolboxes;

use crate::commands::agent::settings::Settings;
use crate::commands::confinement::ConfineChoice;
use crate::commands::failure::Failure;
use crate::commands::serve::agents::{self, Agents};
use crate::commands::serving::listener::Http;
use crate::commands::serving::settings::{self, ModeChoice, ServeSettings};
use crate::commands::serving::source::{Source, SourceOptions};
use crate::commands::serving::{discovery, durable, stop_signal};
use crate::commands::session::Session;
use crate::commands::space_choice::SpaceChoice;
use crate::commands::{folders, session, terminal};
use agent_spaces::Caller;
use agent_spaces::Code;
use agent_spaces::agent::CalledAgents;
use agent_spaces::config::MAX_CONCURRENCY;
use agent_spaces::confinement::HostNeeds;
use agent_spaces::serve::http::serve_http;
use agent_spaces::serve::{
    Client, CodeMode, ElicitedDecisions, Mode, Offers, ProxyMode, ToolboxMode, Toolboxes, serve_streams,
};
use clap::Args;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Time that the `initialize` response waits for the project to load.
const LOADING_GRACE: Duration = Duration::from_millis(200);

/// Time that the project has to load once the client is gone.
const LOADING_END: Duration = Duration::from_secs(10);

/// Time that blocking tasks have at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(200);

/// Serve all functions to an agent as three MCP tools: search, describe, and run a program.
///
/// In toolbox mode the tools are `open_toolbox` and `use_tool`, for the `toolboxes` of the configuration. In proxy mode every
/// exposed function is a tool of its own.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces mcp serve
  agent-spaces mcp serve --space support
  agent-spaces mcp serve --http
  agent-spaces mcp serve --http 127.0.0.1:9000 --token-file ~/agents.token
  agent-spaces mcp serve --mode toolbox
  agent-spaces mcp serve --confine
  agent-spaces mcp serve --concurrency 4
  agent-spaces mcp serve --mode proxy --expose crm.createTicket --expose slack
  claude mcp add agent-spaces -- agent-spaces mcp serve --config /path/to/agent-spaces.config.json")]
pub(super) struct Serve {
    #[command(flatten)]
    choice: SpaceChoice,

    /// Scope granted to the caller, for functions that require one; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    /// Tools that the agent gets [default: code; proxy if `mcp.server.exposeHandlers` of an accepted configuration is true]
    #[arg(long, value_enum)]
    mode: Option<ModeChoice>,

    /// In proxy mode: a function (crm.createTicket), a capability (slack) or * to expose; may be repeated [default:
    /// `serve.expose` of the configuration]
    #[arg(long, value_name = "NAME")]
    expose: Vec<String>,

    /// Maximum concurrent runs of one caller, or calls in toolbox and proxy mode; others are queued [default:
    /// `serve.concurrency` of the configuration, else 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    concurrency: Option<u16>,

    /// Print the messages exchanged with MCP servers to stderr
    #[arg(long)]
    trace_mcp: bool,

    #[command(flatten)]
    http: Http,

    #[command(flatten)]
    confine: ConfineChoice,
}

impl Serve {
    pub(super) fn execute(self) -> u8 {
        match self.serve() {
            Ok(()) => 0,
            Err(failure) => failure.show(),
        }
    }

    fn serve(self) -> Result<(), Failure> {
        let models = self.confine.may_enter(&self.choice).then(|| Settings::ai_agent_file(&self.choice)).flatten();
        let needs =
            HostNeeds { read: self.http.token_file().into_iter().chain(models).collect(), ..HostNeeds::default() };
        self.confine.enter(&self.choice, Some(Path::new(".")), needs)?;
        let settings = ServeSettings::of(&self.choice, self.mode, self.concurrency);
        if settings.mode != ModeChoice::Proxy && !self.expose.is_empty() {
            let hint = "add --mode proxy, or remove --expose";
            return Err(Failure::new(Code::ConfigExpose, "--expose needs proxy mode", Some(hint)));
        }
        if let Some(used) = settings::used(&self.choice) {
            terminal::note(terminal::clean_line(&used));
        }
        let runtime = session::runtime()?;
        let decisions = ElicitedDecisions::default();
        let client = Client::of_process(Caller { scopes: self.scope.into_iter().collect(), ..Caller::default() });
        let (choice, handle) = (self.choice, runtime.handle().clone());
        if settings.mode == ModeChoice::Toolbox {
            let (session, toolboxes) = toolboxes::open(&choice, self.trace_mcp, handle, decisions.clone())?;
            let mode = ToolboxMode::with_concurrency(toolboxes.clone(), decisions, settings.concurrency);
            let served = runtime.block_on(serve_toolboxes(&session, &toolboxes, mode, client, self.http));
            runtime.block_on(session.clients().close());
            runtime.shutdown_timeout(SHUTDOWN_GRACE);
            return served;
        }
        let offers = Offers::new(folders::outlines()).named(settings.name);
        let is_proxy = settings.mode == ModeChoice::Proxy;
        let mode = match is_proxy {
            true => Mode::Proxy(ProxyMode::with_concurrency(offers.clone(), decisions.clone(), settings.concurrency)),
            false => Mode::Code(CodeMode::with_concurrency(offers.clone(), decisions.clone(), settings.concurrency)),
        };
        // Agents that the configuration names. Others are for `agent-spaces agent`.
        let configured = agents::configured(&choice).filter(|settings| !settings.agents.agents.is_empty());
        let (called, deciding) = (CalledAgents::default(), decisions.clone());
        let called_by_scripts = called.clone();
        let exposed = self.expose;
        let options = SourceOptions {
            max_runs: folders::MAX_RUNS,
            is_traced: self.trace_mcp,
            is_proxy,
            has_journal: false,
            observer: None,
        };
        let loading = runtime.spawn_blocking(move || {
            let mut source = Source::open(choice, options, handle, offers, decisions)?;
            source.call_agents(called_by_scripts);
            if is_proxy {
                source.expose(exposed)?;
            }
            source.offer()?;
            if is_proxy {
                source.warn_of_denied();
            }
            Ok(Arc::new(source))
        });
        let (mode, agents, loading) = match configured {
            None => (mode, None, loading),
            Some(settings) => {
                // The list of tools is whole when the client first asks for it.
                let source = flatten(runtime.block_on(loading))?;
                let agents = Arc::new(Agents::open(&settings, &source, &deciding, called, None)?);
                let (mode, following) = (agents.add_tools(mode), agents.clone());
                runtime.spawn(async move { following.follow().await });
                (mode, Some(agents), runtime.spawn(std::future::ready(Ok(source))))
            }
        };
        let (source, served) = match self.http.is_asked() {
            true => runtime.block_on(serve_authenticated(mode.clone(), client, self.http, loading)),
            false => runtime.block_on(serve_stdio(mode.clone(), client, loading)),
        };
        // Before the servers end that their calls are at.
        runtime.block_on(mode.close());
        if let Some(agents) = &agents {
            runtime.block_on(agents.close());
        }
        if let Some(source) = &source {
            runtime.block_on(source.close());
        }
        runtime.shutdown_timeout(SHUTDOWN_GRACE);
        // They have the source too.
        drop((agents, mode));
        // Dropped last: this flushes the audit log.
        drop(source);
        served
    }
}

/// Serves toolboxes over stdio until the client disconnects, or over HTTP until a signal arrives.
async fn serve_toolboxes(
    session: &Session,
    toolboxes: &Toolboxes,
    mode: ToolboxMode,
    client: Client,
    http: Http,
) -> Result<(), Failure> {
    let stop = stop_signal();
    let bound = match http.is_asked() {
        true => Some(http.bind(client.clone(), Some(toolboxes.project())).await?),
        false => None,
    };
    let mode = Mode::Toolbox(mode);
    match bound {
        Some(bound) => {
            serve_http(
                bound.listener,
                mode,
                session.clients(),
                bound.callers,
                bound.origin_check,
                bound.idle_timeout,
                stop,
            )
            .await;
            Ok(())
        }
        None => tokio::select! {
            served = serve_streams(mode, client, tokio::io::stdin(), tokio::io::stdout()) => served.map_err(broken),
            () = stop => Ok(()),
        },
    }
}

fn broken(error: String) -> Failure {
    Failure::new(Code::HostMcp, terminal::clean_line(&error), None)
}

type Loading = JoinHandle<Result<Arc<Source>, Failure>>;

/// Serves the parent process over stdio until it disconnects or a signal arrives. The project may finish loading later,
/// so that the client gets its `initialize` response early.
async fn serve_stdio(mode: Mode, client: Client, mut loading: Loading) -> (Option<Arc<Source>>, Result<(), Failure>) {
    let early = tokio::time::timeout(LOADING_GRACE, &mut loading).await;
    let mut loaded = match early.map(flatten) {
        Ok(Ok(loaded)) => Some(loaded),
        // Early errors end the process before the client is initialized.
        Ok(Err(failure)) => return (None, Err(failure)),
        Err(_) => None,
    };
    let mut source = None;
    let serving = serve_streams(mode.clone(), client, tokio::io::stdin(), tokio::io::stdout());
    tokio::pin!(serving);
    let signal = stop_signal();
    tokio::pin!(signal);
    loop {
        if let Some(opened) = loaded.take() {
            source = Some(opened.clone());
            tokio::spawn(discovery::discover(opened));
            mode.continue_runs(durable::report).await;
        }
        tokio::select! {
            served = &mut serving => {
                // A client that leaves early does not hide why the project cannot be loaded.
                if source.is_none() && let Ok(late) = tokio::time::timeout(LOADING_END, &mut loading).await {
                    match flatten(late) {
                        Ok(late) => source = Some(late),
                        Err(failure) => return (None, Err(failure)),
                    }
                }
                return (source, served.map_err(broken));
            }
            () = &mut signal => return (source, Ok(())),
            late = &mut loading, if source.is_none() => match flatten(late) {
                Ok(late) => loaded = Some(late),
                Err(failure) => return (None, Err(failure)),
            },
        }
    }
}

/// Serves callers with a token over HTTP, until a signal arrives.
async fn serve_authenticated(
    mode: Mode,
    own: Client,
    http: Http,
    loading: Loading,
) -> (Option<Arc<Source>>, Result<(), Failure>) {
    let source = match flatten(loading.await) {
        Ok(loaded) => loaded,
        Err(failure) => return (None, Err(failure)),
    };
    // Registered before the address is printed: its reader may stop the server at once.
    let stop = stop_signal();
    let bound = match http.bind(own, source.project()).await {
        Ok(bound) => bound,
        Err(failure) => return (Some(source), Err(failure)),
    };
    tokio::spawn(discovery::discover(source.clone()));
    mode.continue_runs(durable::report).await;
    let stopping = mode.clone();
    let stop = async move {
        stop.await;
        // Requests that wait for durable runs return with their handles.
        stopping.stop_runs();
    };
    serve_http(
        bound.listener,
        mode,
        source.session().clients(),
        bound.callers,
        bound.origin_check,
        bound.idle_timeout,
        stop,
    )
    .await;
    (Some(source), Ok(()))
}

fn flatten<T>(joined: Result<Result<T, Failure>, tokio::task::JoinError>) -> Result<T, Failure> {
    joined.unwrap_or_else(|error| Err(Failure::new(Code::HostRuntime, error.to_string(), None)))
}
