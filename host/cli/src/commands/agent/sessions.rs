//! `agent-spaces agent --sessions`, and the session of `--resume`.

use crate::commands::failure::Failure;
use crate::commands::journal::{OpenJournal, time};
use crate::commands::serving::agents::ServedAgents;
use crate::commands::terminal;
use agent_spaces::agent::{AgentService, SessionSummary};
use agent_spaces::models::Client as ModelClient;
use agent_spaces::serve::Client;
use agent_spaces::{Accounting, Caller, Code};
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most sessions that are listed.
const MAX_LISTED: usize = 100;

/// Name of the newest session.
const LAST: &str = "last";

/// Lists the user's sessions.
pub(super) fn list() -> Result<(Value, Shown), Failure> {
    let sessions = newest()?;
    let mut text = Shown::default();
    for session in &sessions {
        let line = terminal::clean_line;
        let (id, agent, when) = (line(&session.id), line(&session.agent), line(&time(session.updated)));
        text.push(shown!("{}  {}  {}  {}\n", id, when, agent, line(&session.title)));
    }
    if sessions.is_empty() {
        text.push("No sessions.\n");
    }
    let values = sessions.iter().map(|session| {
        json!({
            "session": session.id,
            "agent": session.agent,
            "title": session.title,
            "created": time(session.created),
            "updated": time(session.updated),
        })
    });
    Ok((values.collect(), text))
}

/// Finds a session by its id, or the newest.
pub(super) fn find(id: &str) -> Result<SessionSummary, Failure> {
    if id == LAST {
        let newest = newest()?.into_iter().next();
        return newest.ok_or_else(|| Failure::new(Code::ConfigUnknown, "there is no session yet", None));
    }
    let journal = OpenJournal::open()?;
    let (summary, _) = journal.wait(service(&journal)?.session(&client(), id))?;
    Ok(summary)
}

fn newest() -> Result<Vec<SessionSummary>, Failure> {
    let journal = OpenJournal::open()?;
    Ok(journal.wait(service(&journal)?.sessions(&client(), None, MAX_LISTED))?.sessions)
}

/// A service that only reads sessions.
fn service(journal: &OpenJournal) -> Result<AgentService, Failure> {
    let models = ModelClient::new().map_err(|error| Failure::new(Code::HostRuntime, error.to_string(), None))?;
    let store = Some(journal.store.clone());
    Ok(AgentService::new(Arc::new(ServedAgents::default()), Arc::new(models), store, Accounting::default(), None))
}

/// The user of this process owns the sessions of the command.
fn client() -> Client {
    Client::of_process(Caller::default())
}
