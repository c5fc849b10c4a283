//! Spaces of the agents of one command: that of the agent that is asked, and those of agents that it calls.

use crate::commands::failure::Failure;
use crate::commands::serving::agents::SpaceModes;
use crate::commands::serving::discovery;
use crate::commands::serving::source::{Source, SourceOptions};
use crate::commands::space_choice::SpaceChoice;
use crate::commands::{folders, terminal};
use agent_spaces::DEFAULT_CONCURRENCY;
use agent_spaces::agent::CalledAgents;
use agent_spaces::serve::{ElicitedDecisions, Offers};
use agent_spaces_approvals::Channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// Time that MCP servers have to list their tools before the first question. Those of later ones are missing from it.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(20);

/// Interval at which that is looked at.
const DISCOVERY_INTERVAL: Duration = Duration::from_millis(50);

/// Spaces of one command.
pub(super) struct Spaces {
    choice: SpaceChoice,
    options: SourceOptions,
    /// Asks the person at the terminal about calls; `None` for nobody.
    channel: Option<Arc<dyn Channel>>,
    runtime: Handle,
    /// Agents that scripts call.
    called: CalledAgents,
    opened: Mutex<Vec<(SpaceModes, Arc<Source>)>>,
}

impl Spaces {
    pub(super) fn new(
        choice: SpaceChoice,
        options: SourceOptions,
        channel: Option<Arc<dyn Channel>>,
        runtime: Handle,
        called: CalledAgents,
    ) -> Spaces {
        Spaces { choice, options, channel, runtime, called, opened: Mutex::default() }
    }

    /// Loads the project, and waits for the MCP servers of a space.
    pub(super) fn open(&self, space: Option<&str>) -> Result<(SpaceModes, Arc<Source>), Failure> {
        let decisions = ElicitedDecisions::default();
        let (modes, offers) = SpaceModes::new(Offers::new(folders::outlines()), &decisions, DEFAULT_CONCURRENCY);
        let choice = self.choice.with(space, None);
        let mut source = Source::open(choice, self.options.clone(), self.runtime.clone(), offers, decisions)?;
        // The person at this terminal decides, and not the client that is served, which is the agent.
        source.ask_through(self.channel.clone());
        source.call_agents(self.called.clone());
        source.offer()?;
        let source = Arc::new(source);
        self.runtime.spawn(discovery::discover(source.clone()));
        self.runtime.block_on(wait_for_servers(&source));
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push((modes.clone(), source.clone()));
        Ok((modes, source))
    }

    /// Ends the programs and servers of all spaces. Returns them: dropped last, they flush the audit log.
    pub(super) async fn close(&self) -> Vec<Arc<Source>> {
        self.called.close();
        let opened = std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner));
        let mut sources = Vec::new();
        for (modes, source) in opened {
            // Before the servers end that their calls are at.
            modes.close().await;
            source.close().await;
            sources.push(source);
        }
        sources
    }
}

/// Waits until the servers have listed their tools, or failed to.
async fn wait_for_servers(source: &Source) {
    let listed = async {
        while source.is_discovering() {
            tokio::time::sleep(DISCOVERY_INTERVAL).await;
        }
    };
    if tokio::time::timeout(DISCOVERY_TIMEOUT, listed).await.is_err() {
        terminal::warn("some MCP servers have not listed their tools yet; the agent does without them");
    }
}
