//! Durable runs of the server: where they belong, reports of those that it continues, removal of old ones.

use crate::commands::space_choice::{Found, SpaceChoice};
use crate::commands::terminal;
use agent_spaces::durable::{DurableError, DurableRuns, State};
use agent_spaces::journal::Store;
use agent_spaces::project::DurableSettings;
use agent_spaces::serve::DurableSpace;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which ended runs are removed.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Returns the durable runs of the served space.
pub(in crate::commands) fn space(
    choice: &SpaceChoice,
    found: &Found,
    settings: &DurableSettings,
    store: Arc<dyn Store>,
) -> DurableSpace {
    let (folder, config) = origin(choice, found);
    let space = choice.space().map(str::to_owned);
    DurableSpace::new(DurableRuns::new(store, settings.runs), folder, space, config)
}

/// Returns the folder of the project and its configuration file, as journals name them.
pub(in crate::commands) fn origin(choice: &SpaceChoice, found: &Found) -> (String, String) {
    let folder = choice.folder(found);
    let folder = folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned();
    let config = match found {
        Found::Project(project) => {
            let file = &project.config().file;
            Path::new(file).canonicalize().map_or_else(|_| file.clone(), |file| file.to_string_lossy().into_owned())
        }
        Found::Definitions(_) => String::new(),
    };
    (folder, config)
}

/// Warns about a run that could not be continued.
pub(in crate::commands) fn report(run: &str, outcome: Result<&State, &DurableError>) {
    let why = match outcome {
        Ok(State::Ended | State::Parked(_)) => return,
        Ok(State::Diverged) => format!("it did not repeat what is recorded; see `agent-spaces runs show {run}`"),
        Ok(State::Lost(error)) => format!("{error}; it is tried again"),
        Err(error) => format!("{error}; it is tried again"),
    };
    terminal::warn(&terminal::clean_line(&format!("the durable run {run} was not continued: {why}")));
}

/// Removes ended runs as the settings say, now and then.
pub(in crate::commands) async fn prune(store: Arc<dyn Store>, settings: DurableSettings) {
    loop {
        if let Err(error) = store.prune(settings.retention()).await {
            terminal::warn(&terminal::clean_line(&format!("old runs stay in the journal: {error}")));
        }
        tokio::time::sleep(PRUNE_INTERVAL).await;
    }
}
