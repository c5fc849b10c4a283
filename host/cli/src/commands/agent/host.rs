//! The service that answers the questions of a command, with the tools of a space.

use super::AgentCommand;
use super::interrupts::Interrupts;
use super::settings::Settings;
use super::spaces::Spaces;
use crate::commands::failure::Failure;
use crate::commands::serving::agents::ServedAgents;
use crate::commands::serving::source::SourceOptions;
use crate::commands::{folders, journal, known_secrets, session, terminal};
use agent_spaces::agent::{
    AgentDefinition, AgentService, CalledAgents, Outcome, Question, Replayed, SessionChoice, Surface, ToolMode,
};
use agent_spaces::journal::Store;
use agent_spaces::models::{Client as ModelClient, Message, Trace};
use agent_spaces::project::DurableSettings;
use agent_spaces::serve::Client;
use agent_spaces::{Accounting, Caller, Code, Shown};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Time that blocking tasks have at the end.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(200);

/// Everything that answers questions.
pub(super) struct Host {
    runtime: Runtime,
    surface: Surface,
    client: Client,
    interrupts: Interrupts,
    spaces: Arc<Spaces>,
}

impl Host {
    /// Opens the space of an agent, if it has tools, and the journal of its sessions.
    pub(super) fn open(
        command: &AgentCommand,
        settings: Settings,
        mut agent: AgentDefinition,
    ) -> Result<Host, Failure> {
        let runtime = session::runtime()?;
        let interrupts = Interrupts::listen(runtime.handle());
        let options = SourceOptions {
            max_runs: folders::MAX_RUNS,
            is_traced: command.trace_mcp,
            is_proxy: false,
            has_journal: !command.no_session,
            observer: None,
        };
        let channel = command.approvals.channel_of_agent()?;
        let called = CalledAgents::default();
        let space = settings.choice.space().map(str::to_owned).or(agent.space.take());
        agent.space.clone_from(&space);
        let mut agents = ServedAgents::default();
        // Agents that cannot be used are missing only for agents that call them.
        let others = settings.agents.agents.keys().filter(|name| **name != agent.name);
        others.filter_map(|name| settings.agents.definition(name, &[]).ok()).for_each(|other| agents.add(other));
        let spaces = Arc::new(Spaces::new(settings.choice, options, channel, runtime.handle().clone(), called.clone()));
        let (store, accounting) = match agent.tools {
            ToolMode::Off => {
                if command.choice.space().is_some() {
                    terminal::warn("--space has no effect: the agent has no tools");
                }
                (store(command)?, accounting(settings.accounting.as_deref())?)
            }
            ToolMode::Auto | ToolMode::Code | ToolMode::Direct => {
                let (modes, source) = spaces.open(space.as_deref())?;
                agents.add_space(space, modes);
                // Without a session too: budgets of a day are kept where there is a journal.
                (source.store(), source.session().equipment().accounting.clone())
            }
        };
        agents.add(agent);
        let opening = spaces.clone();
        agents.open_through(Arc::new(move |space: Option<&str>| opening.open(space).map(|(modes, _)| modes)));
        let models = model_client(command.trace_llm)?;
        let service = AgentService::new(Arc::new(agents), Arc::new(models), store, accounting, None);
        called.serve(&service);
        let scopes = command.scope.iter().cloned().collect();
        let client = Client::of_process(Caller { scopes, ..Caller::default() });
        Ok(Host { surface: service.surface("command", None), runtime, client, interrupts, spaces })
    }

    /// Creates a question; without a text, an interrupted one goes on.
    pub(super) fn question(&self, agent: &str, session: SessionChoice, text: Option<String>) -> Question {
        let messages = text.map(Message::user).into_iter().collect();
        Question { session, ..Question::new(self.client.clone(), agent, messages) }
    }

    /// Asks, until the question is answered or cancelled.
    pub(super) fn ask(&self, question: Question) -> Result<Outcome, Failure> {
        self.interrupts.cancel(question.cancel.clone());
        let outcome = self.runtime.block_on(self.surface.ask(question));
        self.interrupts.forget();
        Ok(outcome?)
    }

    /// Answers the questions of a session again, from its records.
    pub(super) fn replay(&self, session: &str) -> Result<Replayed, Failure> {
        Ok(self.runtime.block_on(self.surface.service().replay(&self.client, session))?)
    }

    /// Ends programs and servers.
    pub(super) fn close(self) {
        let Host { runtime, surface, spaces, .. } = self;
        drop(surface);
        let sources = runtime.block_on(spaces.close());
        runtime.shutdown_timeout(SHUTDOWN_GRACE);
        // Dropped last: this flushes the audit log.
        drop((spaces, sources));
    }
}

/// Opens the journal, unless nothing is kept.
fn store(command: &AgentCommand) -> Result<Option<Arc<dyn Store>>, Failure> {
    match command.no_session {
        true => Ok(None),
        false => journal::open(&DurableSettings::default()).map(Some),
    }
}

/// Opens the usage log, for an agent without a space that has one.
fn accounting(file: Option<&Path>) -> Result<Accounting, Failure> {
    let Some(file) = file else { return Ok(Accounting::default()) };
    let opened = Accounting::to_file(file, known_secrets::redactor().clone());
    opened.map_err(|error| {
        let message = format!("the accounting file {}: {error}", file.display());
        Failure::new(Code::ConfigFile, message, None)
    })
}

fn model_client(is_traced: bool) -> Result<ModelClient, Failure> {
    let client = ModelClient::new();
    let client = client.map_err(|error| Failure::new(Code::HostRuntime, error.to_string(), None))?;
    Ok(match is_traced {
        true => client.with_trace(Arc::new(StderrTrace)),
        false => client,
    })
}

/// Prints the traffic with models.
struct StderrTrace;

impl Trace for StderrTrace {
    fn request(&self, text: &str) {
        terminal::trace(&Shown::text(&format!("[llm] > {text}"), usize::MAX));
    }

    fn response(&self, text: &str) {
        terminal::trace(&Shown::text(&format!("[llm] < {text}"), usize::MAX));
    }
}
