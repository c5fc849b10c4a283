//! Agents of a project, with the spaces whose functions are their tools.

use crate::commands::failure::Failure;
use agent_spaces::Code;
use agent_spaces::agent::{
    AgentDefinition, AgentError, AgentSource, AgentSummary, Approver, Instructions, Nesting, OutputFormat, SpaceTools,
    ToolContext, ToolMode, ToolOutput, ToolRequest, Tools, unwatched,
};
use agent_spaces::models::Tool;
use agent_spaces::serve::{Client, CodeMode, ElicitedDecisions, Exposure, Mode, Offers, ProxyMode};
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Both forms in which agents get the functions of one space.
#[derive(Clone)]
pub(in crate::commands) struct SpaceModes {
    /// Search, describe, run a program.
    pub(in crate::commands) code: Mode,
    /// One tool a function.
    pub(in crate::commands) direct: Mode,
}

impl SpaceModes {
    /// Creates the modes of a space, and the offers that a source fills.
    pub(in crate::commands) fn new(
        offers: Offers,
        decisions: &ElicitedDecisions,
        concurrency: usize,
    ) -> (SpaceModes, Offers) {
        // Policies and scopes decide what an agent may call; nothing else is held back from it.
        let offers = offers.exposing(Exposure::new(vec!["*".to_owned()]));
        let code = Mode::Code(CodeMode::with_concurrency(offers.clone(), decisions.clone(), concurrency));
        let direct = Mode::Proxy(ProxyMode::with_concurrency(offers.clone(), decisions.clone(), concurrency));
        (SpaceModes { code, direct }, offers)
    }

    /// Ends all runs.
    pub(in crate::commands) async fn close(&self) {
        self.code.close().await;
        self.direct.close().await;
    }
}

/// Opens a space by its name, which may take seconds; `None` is the space of the global capabilities.
pub(in crate::commands) type OpenSpace = Arc<dyn Fn(Option<&str>) -> Result<SpaceModes, Failure> + Send + Sync>;

/// Agents and their spaces. A space is opened when an agent first needs it.
#[derive(Default)]
pub(in crate::commands) struct ServedAgents {
    agents: BTreeMap<String, Arc<AgentDefinition>>,
    spaces: Mutex<BTreeMap<Option<String>, SpaceModes>>,
    open: Option<OpenSpace>,
}

impl ServedAgents {
    /// Adds an agent.
    pub(in crate::commands) fn add(&mut self, agent: AgentDefinition) {
        self.agents.insert(agent.name.clone(), Arc::new(agent));
    }

    /// Adds a space.
    pub(in crate::commands) fn add_space(&mut self, name: Option<String>, modes: SpaceModes) {
        self.spaces.get_mut().insert(name, modes);
    }

    /// Sets how other spaces are opened.
    pub(in crate::commands) fn open_through(&mut self, open: OpenSpace) {
        self.open = Some(open);
    }

    async fn modes(&self, space: Option<&str>) -> Result<SpaceModes, AgentError> {
        // Held while a space is opened: another agent in the same space waits for it.
        let mut spaces = self.spaces.lock().await;
        let name = space.map(str::to_owned);
        if let Some(modes) = spaces.get(&name) {
            return Ok(modes.clone());
        }
        let failed = |why: &str| AgentError::Tools(format!("space {:?}: {why}", space.unwrap_or("global")));
        let open = self.open.clone().ok_or_else(|| failed("it is not open"))?;
        let opened = name.clone();
        let opening = tokio::task::spawn_blocking(move || open(opened.as_deref()));
        let modes = match opening.await {
            Ok(Ok(modes)) => modes,
            Ok(Err(failure)) => return Err(failed(failure.message())),
            Err(error) => return Err(failed(&error.to_string())),
        };
        spaces.insert(name, modes.clone());
        Ok(modes)
    }
}

impl AgentSource for ServedAgents {
    fn agents(&self) -> Vec<AgentSummary> {
        let summary = |agent: &Arc<AgentDefinition>| AgentSummary {
            name: agent.name.clone(),
            description: agent.description.clone(),
            schema: match &agent.output {
                OutputFormat::Json(schema) => Some(schema.clone()),
                OutputFormat::Text | OutputFormat::Markdown => None,
            },
        };
        self.agents.values().map(summary).collect()
    }

    fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>> {
        self.agents.get(name).cloned()
    }

    fn tools<'a>(
        &'a self,
        agent: &'a AgentDefinition,
        client: &'a Client,
        approver: Arc<dyn Approver>,
        _nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>> {
        Box::pin(async move {
            if agent.tools == ToolMode::Off {
                return Ok(Arc::new(NoTools) as Arc<dyn Tools>);
            }
            let SpaceModes { code, direct } = self.modes(agent.space.as_deref()).await?;
            let client = client.clone();
            let tools = match agent.tools {
                ToolMode::Code | ToolMode::Off => SpaceTools::connect(code, client, approver, unwatched()).await?,
                ToolMode::Direct => SpaceTools::connect_direct(&code, direct, client, approver, unwatched()).await?,
                ToolMode::Auto => SpaceTools::connect_to_either(code, direct, client, approver, unwatched()).await?,
            };
            Ok(Arc::new(tools) as Arc<dyn Tools>)
        })
    }
}

/// Nothing to call.
struct NoTools;

impl Tools for NoTools {
    fn list(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn instructions(&self) -> Vec<Instructions> {
        Vec::new()
    }

    fn call<'a>(&'a self, call: ToolRequest, _context: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let output = ToolOutput::error(format!("There is no tool {:?}.", call.name));
        Box::pin(std::future::ready(output))
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Failure {
        let code = match &error {
            AgentError::UnknownAgent { .. } | AgentError::UnknownSession(_) => Code::ConfigUnknown,
            AgentError::Invalid(_) | AgentError::SessionBusy(_) => Code::ConfigUsage,
            AgentError::Denied(_) => Code::CallDenied,
            AgentError::Configuration(_) => Code::ConfigFile,
            AgentError::Store(_) => Code::HostJournal,
            AgentError::Tools(_) => Code::HostMcp,
            AgentError::Busy => Code::HostRuntime,
        };
        let hint =
            matches!(error, AgentError::UnknownSession(_)).then_some("list them with `agent-spaces agent --sessions`");
        Failure::new(code, error.to_string(), hint)
    }
}
