//! Agents of the configuration, and the surfaces that other programs ask them through.

use super::allowed_agents::AllowedAgents;
use super::slack;
use crate::commands::agent::settings::Settings;
use crate::commands::failure::Failure;
use crate::commands::serving::agents::{ServedAgents, SpaceModes};
use crate::commands::serving::source::Source;
use crate::commands::space_choice::SpaceChoice;
use crate::commands::terminal;
use agent_spaces::agent::{AgentService, CalledAgents, ToolMode};
use agent_spaces::config::MAX_CONCURRENCY;
use agent_spaces::http_server::Routes;
use agent_spaces::models::Client as ModelClient;
use agent_spaces::serve::{ElicitedDecisions, Mode, Offers};
use agent_spaces::surfaces::{self, A2aRoutes, A2aSettings, AgentApprovals, AgentTools, Slack, SurfaceLimits};
use agent_spaces::{Code, DEFAULT_CONCURRENCY};
use agent_spaces_telemetry::metrics::AgentMetrics;
use clap::Args;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which it is looked whether more tools of servers are known.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// Questions at once, by surface.
#[derive(Args)]
pub(super) struct SurfaceOptions {
    /// Maximum concurrent questions to agents at /v1/{agent}; others are queued [default: 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    api_concurrency: Option<u16>,

    /// Maximum concurrent questions to agents at /v1/chat/completions; others are queued [default: 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    openai_concurrency: Option<u16>,

    /// Maximum concurrent questions to agents at /v1/messages; others are queued [default: 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    anthropic_concurrency: Option<u16>,

    /// Maximum concurrent questions to agents as MCP tools; others are queued [default: 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    mcp_concurrency: Option<u16>,

    /// Maximum concurrent questions to agents in Slack; others are queued [default: 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    slack_concurrency: Option<u16>,

    /// Maximum concurrent questions of other agents at /a2a/{agent}; others are queued [default: 10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_CONCURRENCY)))]
    a2a_concurrency: Option<u16>,

    /// URL under which other agents reach this server, for agent cards [default: http:// and the Host header]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    a2a_url: Option<String>,
}

/// Checks a URL to which paths are appended.
fn base_url(text: &str) -> Result<String, String> {
    let is_base = |url: &url::Url| {
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        matches!(url.scheme(), "http" | "https") && is_plain
    };
    let parsed = url::Url::parse(text).ok().filter(is_base);
    parsed.map(|_| text.to_owned()).ok_or_else(|| "expected a URL such as https://agents.example.com".to_owned())
}

impl SurfaceOptions {
    fn limits(&self) -> SurfaceLimits {
        SurfaceLimits {
            api: self.api_concurrency.map(usize::from),
            openai: self.openai_concurrency.map(usize::from),
            anthropic: self.anthropic_concurrency.map(usize::from),
        }
    }
}

/// Reads the agents of the configuration; `None` if there are none. A server without them is still of use, so what keeps
/// them from being served is a warning.
pub(in crate::commands) fn configured(choice: &SpaceChoice) -> Option<Settings> {
    match Settings::load(choice) {
        Ok(settings) if settings.agents.models.is_empty() => None,
        Ok(settings) => Some(settings),
        Err(failure) => {
            terminal::warn(&terminal::clean_line(&format!("agents are not served: {}", failure.message())));
            None
        }
    }
}

/// Agents with their spaces and surfaces.
pub(in crate::commands) struct Agents {
    source: Arc<Source>,
    spaces: BTreeMap<Option<String>, (SpaceModes, Offers)>,
    service: AgentService,
    /// Agents that scripts of the source call.
    called: CalledAgents,
    parts: Vec<Arc<dyn Routes>>,
    /// Calls of the surfaces that wait for a person.
    approvals: AgentApprovals,
    mcp_limit: Option<usize>,
    slack: Option<Slack>,
}

impl Agents {
    /// Opens the spaces of the agents. Scripts of the source call them through `called`.
    pub(in crate::commands) fn open(
        settings: &Settings,
        source: &Arc<Source>,
        decisions: &ElicitedDecisions,
        called: CalledAgents,
        metrics: Option<AgentMetrics>,
    ) -> Result<Agents, Failure> {
        let mut agents = ServedAgents::default();
        let mut spaces = BTreeMap::new();
        for (name, _) in settings.agents.names() {
            let agent = match settings.agents.definition(&name, &[]) {
                Ok(agent) => agent,
                Err(error) => {
                    terminal::warn(&terminal::clean_line(&format!("agent `{name}` is not served: {error}")));
                    continue;
                }
            };
            if agent.tools != ToolMode::Off {
                let new = || SpaceModes::new(source.offers_apart(), decisions, DEFAULT_CONCURRENCY);
                spaces.entry(agent.space.clone()).or_insert_with(new);
            }
            agents.add(agent);
        }
        for (space, (modes, offers)) in &spaces {
            source.offer_space(space.as_deref(), offers)?;
            agents.add_space(space.clone(), modes.clone());
        }
        let models = ModelClient::new();
        let models = models.map_err(|error| Failure::new(Code::HostRuntime, error.to_string(), None))?;
        let accounting = source.session().equipment().accounting.clone();
        let allowed = Arc::new(AllowedAgents { agents, source: source.clone() });
        let service = AgentService::new(allowed, Arc::new(models), source.store(), accounting, metrics);
        called.serve(&service);
        Ok(Agents {
            source: source.clone(),
            spaces,
            service,
            called,
            parts: Vec::new(),
            approvals: AgentApprovals::default(),
            mcp_limit: None,
            slack: None,
        })
    }

    /// Adds the surfaces of a server.
    pub(super) fn with_surfaces(self, options: &SurfaceOptions) -> Agents {
        let mut parts = surfaces::routes(&self.service, options.limits(), &self.approvals);
        let slack = slack::open(&self.source, &self.service, options.slack_concurrency.map(usize::from));
        parts.extend(slack.as_ref().and_then(Slack::routes));
        if let Some(store) = self.source.store() {
            let (limit, public_url) = (options.a2a_concurrency.map(usize::from), options.a2a_url.clone());
            let settings = A2aSettings { limit, public_url, ..A2aSettings::default() };
            parts.push(Arc::new(A2aRoutes::new(&self.service, store, settings)));
        }
        Agents { parts, slack, mcp_limit: options.mcp_concurrency.map(usize::from), ..self }
    }

    /// Returns the surfaces as parts of the server.
    pub(super) fn parts(&self) -> Vec<Arc<dyn Routes>> {
        self.parts.clone()
    }

    /// Returns calls of the surfaces that wait for a person.
    pub(super) fn approvals(&self) -> AgentApprovals {
        self.approvals.clone()
    }

    /// Adds the agents as tools to those of an MCP server.
    pub(in crate::commands) fn add_tools(&self, mode: Mode) -> Mode {
        mode.with_tools(Arc::new(AgentTools::new(&self.service, self.mcp_limit)))
    }

    /// Follows changes of the project, and Slack. Never returns.
    pub(in crate::commands) async fn follow(&self) {
        let slack = async {
            if let Some(slack) = &self.slack {
                slack::run(slack).await;
            }
        };
        tokio::join!(self.reload(), slack);
    }

    /// Offers the spaces again when more tools of their servers are known. Never returns.
    async fn reload(&self) {
        let mut known = self.source.version();
        loop {
            tokio::time::sleep(RELOAD_INTERVAL).await;
            let version = self.source.version();
            if version == known {
                continue;
            }
            known = version;
            for (space, (_, offers)) in &self.spaces {
                let (source, space, offers) = (self.source.clone(), space.clone(), offers.clone());
                let offered = tokio::task::spawn_blocking(move || source.offer_space(space.as_deref(), &offers)).await;
                if let Ok(Err(failure)) = offered {
                    terminal::warn(&terminal::clean_line(&format!("tools of agents: {}", failure.message())));
                }
            }
        }
    }

    /// Ends their programs.
    pub(in crate::commands) async fn close(&self) {
        if let Some(slack) = &self.slack {
            slack.stop().await;
        }
        self.called.close();
        for (modes, _) in self.spaces.values() {
            modes.close().await;
        }
    }
}
