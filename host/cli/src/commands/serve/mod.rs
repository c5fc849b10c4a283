//! `agent-spaces serve`
//!
//! - `source`: spaces of the project for the REST API
//! - `agents`: agents of the configuration, and the surfaces that other programs ask them through; `allowed_agents`: which
//!   of them a caller may ask; `slack`: its Slack app
//! - `approver`: token that signs the decisions of callers
//! - `telemetry`: logs, metrics and traces
//! - `audit`: audit log of the session for the REST API
//! - `servers`: MCP servers of the project for the REST API
//! - `sessions`: sessions of the console in the audit log
//! - `shares`: tenants of the configuration, and places of runs
//! - `runtime`: threads of the async runtime
//! - `workspaces`: folders of workspaces, of this host or shared with others
//! - `drain_delay`: time between a signal and the shutdown

pub(super) mod agents;
mod allowed_agents;
mod approver;
mod audit;
mod drain_delay;
mod runtime;
mod servers;
mod sessions;
mod shares;
mod slack;
mod source;
mod telemetry;
mod workspaces;

use super::agent::settings::Settings;
use super::confinement::ConfineChoice;
use super::failure::Failure;
use super::serving::listener::Listener;
use super::serving::settings::ServeSettings;
use super::serving::source::{Source, SourceOptions};
use super::serving::{StopSignals, discovery, durable};
use super::space_choice::SpaceChoice;
use super::{approvals, console, folders, host_name, terminal};
use agent_spaces::agent::CalledAgents;
use agent_spaces::config::MAX_CONCURRENCY;
use agent_spaces::confinement::HostNeeds;
use agent_spaces::console::ConsoleRoutes;
use agent_spaces::durable::DurableRuns;
use agent_spaces::http_server::{self, Limits, Routes, Sessions, StopNotice};
use agent_spaces::project::Project;
use agent_spaces::rest::{RestRoutes, Service, ServiceSettings};
use agent_spaces::serve::http::McpRoutes;
use agent_spaces::serve::{Client, CodeMode, ElicitedDecisions, Mode, Offers};
use agent_spaces::{Caller, Code, Observer};
use agent_spaces_telemetry::log::LogFormat;
use agents::{Agents, SurfaceOptions};
use audit::ServedAuditLog;
use clap::Args;
use drain_delay::DrainDelay;
use servers::ProjectServers;
use sessions::AuditedSessions;
use shares::Shares;
use source::ProjectSpaces;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use telemetry::ServedMetrics;
use workspaces::Workspaces;

/// Time that blocking tasks have at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(200);

/// Time that requests and runs have at shutdown before runs leave memory.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest time after which a run that waits for a person leaves memory: nobody sits beside a service.
const PARK_AFTER: Duration = Duration::from_secs(2);

/// Connections of one caller and of all: followers of events keep theirs open.
const CONNECTIONS: Limits = Limits { of_caller: 1_000, of_all: 5_000, unauthenticated: 64 };

/// Serve spaces, runs and agents to other programs: REST under /v1, MCP at /mcp; and to people: the console at /console/.
///
/// Runs are durable: they outlive their request and this process. SIGTERM takes no new runs, lets those in memory leave it,
/// and ends the process within some seconds. With --drain-delay it first tells load balancers, through /ready.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces serve
  agent-spaces serve --listen 127.0.0.1:9000 --space support
  agent-spaces serve --data /var/lib/agent-spaces --listen 0.0.0.0:7878 --allow-remote --token-file /run/secrets/token
  curl -H \"Authorization: Bearer $(cat ~/.local/state/agent-spaces/serve.token)\" http://127.0.0.1:7878/v1/spaces

`agent-spaces console` opens the console. The OpenAPI document is at /openapi.json; /health, /ready and /metrics are for operators.
Environment: AGENT_SPACES_LISTEN, AGENT_SPACES_DATA, AGENT_SPACES_HOST_NAME and AGENT_SPACES_DRAIN_DELAY stand for --listen,
--data, --host-name and --drain-delay; AGENT_SPACES_TOKEN is the operator's token.")]
pub(super) struct ServeCommand {
    #[command(flatten)]
    choice: SpaceChoice,

    #[command(flatten)]
    listener: Listener,

    /// Folder of the journal, tokens, counts and workspaces [default: the user's folders]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Name of this host among those that share a store, for workspaces and the audit log: a stable one [default: the
    /// variable AGENT_SPACES_HOST_NAME, else the name of the machine]
    #[arg(long, value_name = "NAME", value_parser = host_name::parse)]
    host_name: Option<String>,

    /// Scope granted to the operator, for functions that require one; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    /// Maximum concurrent runs of one caller; others are queued [default: `serve.concurrency` of the configuration, else 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    concurrency: Option<u16>,

    #[command(flatten)]
    drain_delay: DrainDelay,

    #[command(flatten)]
    surfaces: SurfaceOptions,

    /// Serve no console: no page at /console/, and no sign-in with a browser
    #[arg(long)]
    no_console: bool,

    /// Serve /metrics without a token
    #[arg(long)]
    metrics_open: bool,

    /// Log to stderr: text, json (one object a line), or off, which leaves warnings; what is logged is set by AGENT_SPACES_LOG
    #[arg(long, value_name = "FORMAT", default_value = "off")]
    log: LogFormat,

    /// Print the messages exchanged with MCP servers to stderr
    #[arg(long)]
    trace_mcp: bool,

    #[command(flatten)]
    confine: ConfineChoice,
}

impl ServeCommand {
    pub(super) fn execute(self) -> u8 {
        match self.serve() {
            Ok(()) => 0,
            Err(failure) => failure.show(),
        }
    }

    fn serve(self) -> Result<(), Failure> {
        if let Some(folder) = &self.data {
            folders::use_data(folder)?;
        }
        host_name::choose(self.host_name.clone());
        let models = self.confine.may_enter(&self.choice).then(|| Settings::ai_agent_file(&self.choice)).flatten();
        let workspaces = Workspaces::of(&self.choice);
        let needs = HostNeeds {
            read: self.listener.token_file().into_iter().chain(models).collect(),
            kept: workspaces.own().into_iter().collect(),
            write: workspaces.shared().into_iter().collect(),
        };
        let drain_delay = self.drain_delay.resolve()?;
        self.confine.enter(&self.choice, Some(Path::new(".")), needs)?;
        raise_file_limit();
        let settings = ServeSettings::of_rest(&self.choice, self.concurrency);
        let shares = Shares::of(&self.choice);
        let runtime = runtime::start()?;
        // Before the session: the first subscriber of a process counts.
        let telemetry = telemetry::start(self.log, self.trace_mcp, runtime.handle().clone())?;
        let metrics = ServedMetrics::new();
        let decisions = ElicitedDecisions::default();
        let operator = Client::of_process(Caller { scopes: self.scope.into_iter().collect(), ..Caller::default() });
        let (tenants, sharing) = (shares.tenants.clone(), shares.tenants.clone());
        let offers = Offers::new(folders::outlines())
            .named(settings.name)
            .admitting(move |client| tenants.refusal(client.owner()))
            .taking_turns(move |client, work| Box::pin(sharing.in_turn(client.owner(), work)));
        let mode = Mode::Code(CodeMode::with_concurrency(offers.clone(), decisions.clone(), settings.concurrency));
        let configured = agents::configured(&self.choice);
        let (choice, handle, is_traced) = (self.choice, runtime.handle().clone(), self.trace_mcp);
        let (counted, tenants) = (metrics.metrics().clone(), shares.tenants.clone());
        let observer: Arc<Observer> = Arc::new(move |event| {
            counted.observe(event);
            tenants.observe(event);
        });
        let options = SourceOptions {
            max_runs: shares.max_runs(),
            is_traced,
            is_proxy: false,
            has_journal: true,
            observer: Some(observer),
        };
        let mut source = Source::open(choice, options, handle, offers, decisions.clone())?;
        let called = CalledAgents::default();
        source.call_agents(called.clone());
        source.offer()?;
        let source = Arc::new(source);
        let agents = match &configured {
            Some(settings) => {
                let metrics = Some(metrics.metrics().agents());
                let agents = Agents::open(settings, &source, &decisions, called, metrics)?;
                Some(Arc::new(agents.with_surfaces(&self.surfaces)))
            }
            None => None,
        };
        let mode = match &agents {
            Some(agents) => agents.add_tools(mode),
            None => mode,
        };
        let served = runtime.block_on(serve(
            source.clone(),
            mode.clone(),
            (operator, settings.concurrency, shares, workspaces),
            (&self.listener, drain_delay),
            (metrics, self.metrics_open),
            agents.clone(),
            !self.no_console,
        ));
        // Before the servers end that their calls are at.
        runtime.block_on(mode.close());
        if let Some(agents) = &agents {
            runtime.block_on(agents.close());
        }
        runtime.block_on(source.close());
        runtime.block_on(telemetry.shutdown());
        runtime.shutdown_timeout(SHUTDOWN_GRACE);
        // They have the source too.
        drop((agents, mode));
        // Dropped last: this flushes the audit log.
        drop(source);
        served
    }
}

/// Raises the number of files that the process may open to what the system allows: connections and spaces need many.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Without it the server has fewer connections.
    let _raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

#[cfg(not(unix))]
fn raise_file_limit() {}

/// Serves until a signal arrives.
async fn serve(
    source: Arc<Source>,
    mode: Mode,
    (operator, concurrency, shares, workspaces): (Client, usize, Shares, Workspaces),
    (listener, drain_delay): (&Listener, Duration),
    (metrics, is_metrics_open): (ServedMetrics, bool),
    agents: Option<Arc<Agents>>,
    has_console: bool,
) -> Result<(), Failure> {
    // Registered before the address is printed: its reader may stop the server at once.
    let mut signals = StopSignals::new();
    let bound = listener.bind(operator, source.project()).await?;
    let sessions = has_console.then(|| Sessions::new(&bound.callers));
    let service = service(&source, concurrency, shares, &workspaces).await?;
    service.show_servers(Arc::new(ProjectServers::new(source.clone())));
    if let Some(agents) = &agents {
        service.show_waiting_calls(Arc::new(agents.approvals()));
    }
    service.remove_stray_workspaces().await;
    tokio::spawn(discovery::discover(source.clone()));
    mode.continue_runs(durable::report).await;
    service.continue_runs();
    let sweeping = service.clone();
    tokio::spawn(async move { sweeping.end_expired_spaces().await });
    let sharing = service.clone();
    tokio::spawn(async move { sharing.share_quotas().await });
    let delivering = service.clone();
    tokio::spawn(async move { delivering.deliver_webhooks().await });
    let mcp = Arc::new(McpRoutes::with_store(mode.clone(), &bound.callers, source.store()));
    let stop_notice = StopNotice::default();
    let rest = RestRoutes::new(service.clone())
        .with_metrics(metrics.text(), is_metrics_open)
        .with_stop_notice(stop_notice.clone());
    tokio::spawn(metrics.read(service.clone(), source.clone()));
    // Before the REST API, which has every other path below /v1.
    let mut parts: Vec<Arc<dyn Routes>> = agents.as_ref().map(|agents| agents.parts()).unwrap_or_default();
    parts.push(Arc::new(rest));
    parts.push(mcp.clone());
    if let Some(sessions) = &sessions {
        let log = Arc::new(AuditedSessions(service.clone()));
        parts.push(Arc::new(ConsoleRoutes::new(sessions.clone()).with_log(log)));
        if let Ok(address) = bound.listener.local_addr() {
            console::announce(address);
        }
    }
    if let Some(agents) = agents {
        tokio::spawn(async move { agents.follow().await });
    }
    let settings = http_server::Settings {
        callers: bound.callers,
        sessions,
        origin_check: bound.origin_check,
        limits: CONNECTIONS,
        drain_timeout: DRAIN_TIMEOUT,
        stop_notice: stop_notice.clone(),
    };
    let (clients, idle_timeout) = (source.session().clients(), bound.idle_timeout);
    // Also a caller that only starts runs over REST has MCP servers.
    let runs_of = |client: &Client| service.last_activity(client.owner());
    let stop = async {
        tokio::select! {
            () = signals.next() => {}
            // Never ends by itself.
            () = mcp.reap_gone_callers(clients, idle_timeout, runs_of) => {}
        }
        if !drain_delay.is_zero() {
            terminal::note(
                "stopping soon: /ready answers 503, requests are still served; a second signal stops at once",
            );
            stop_notice.give(drain_delay, signals.next()).await;
        }
        terminal::note("stopping: no new runs, those in memory are parked");
        mode.stop_runs();
        service.drain();
    };
    http_server::serve(bound.listener, settings, parts, stop).await;
    Ok(())
}

/// Creates the service of the REST API.
async fn service(
    source: &Arc<Source>,
    concurrency: usize,
    shares: Shares,
    workspaces: &Workspaces,
) -> Result<Service, Failure> {
    let store = source.store().ok_or_else(|| Failure::new(Code::HostJournal, "the journal is not open", None))?;
    let kept = source.durable();
    let token = approver::token(&*store)?;
    let channel = approvals::journal_channel(store.clone(), Some(token.key()))?;
    let pins = workspaces.pins(&*store)?;
    let workspaces = workspaces.open(&*store).await?;
    let (project, config) = source.origin();
    let audit = source.session().audit().map(|log| ServedAuditLog::shared(log, folders::audit_files()));
    let webhooks_reach_private = source.project().is_some_and(Project::webhooks_reach_private);
    let settings = ServiceSettings {
        project,
        config,
        workspaces,
        pins,
        concurrency,
        places: shares.places,
        tenants: shares.tenants,
        approver: token,
        audit,
        webhooks_reach_private,
    };
    let spaces = Arc::new(ProjectSpaces::new(source.clone(), channel));
    // A run that waits has a place among those of its caller until it leaves memory.
    let runs = agent_spaces::durable::Settings { park_after: kept.runs.park_after.min(PARK_AFTER), ..kept.runs };
    Ok(Service::new(DurableRuns::new(store, runs), spaces, settings))
}
