//! Journal of durable runs: the user's store, and its errors.

use super::failure::Failure;
use super::{folders, session, store_choice, terminal};
use agent_spaces::Code;
use agent_spaces::durable::DurableError;
use agent_spaces::durable::find::find;
use agent_spaces::journal::{ClaimError, Refused, RunRow, SqliteStore, Store, StoreError};
use agent_spaces::project::DurableSettings;
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;

/// Fix of a full journal.
const FULL: &str = "remove ended runs with `agent-spaces runs prune --older-than 7d`, or raise `durable.maxBytes` in an \
                    accepted configuration";

/// Time for which a server waits at its start for the server of its store, which may just fail over.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens the store that was chosen, by default the user's journal, and creates it if it is missing.
pub(super) fn open(settings: &DurableSettings) -> Result<Arc<dyn Store>, Failure> {
    open_within(settings, Duration::ZERO)
}

/// The same for a command that serves others: it waits for a server that cannot be reached.
pub(super) fn open_patiently(settings: &DurableSettings) -> Result<Arc<dyn Store>, Failure> {
    open_within(settings, PATIENCE)
}

fn open_within(settings: &DurableSettings, patience: Duration) -> Result<Arc<dyn Store>, Failure> {
    if let Some(store) = store_choice::open(settings, patience)? {
        return Ok(store);
    }
    let folder = folders::journal().ok_or_else(|| {
        Failure::new(Code::HostState, "there is no home folder for the journal", Some("set XDG_DATA_HOME"))
    })?;
    Ok(Arc::new(SqliteStore::open(&folder, settings.journal())?))
}

/// Opens the store that was chosen, or the user's journal if there is one.
pub(super) fn open_existing() -> Result<Option<Arc<dyn Store>>, Failure> {
    if let Some(store) = store_choice::open(&DurableSettings::default(), Duration::ZERO)? {
        return Ok(Some(store));
    }
    match folders::journal().is_some_and(|folder| folder.is_dir()) {
        true => open(&DurableSettings::default()).map(Some),
        false => Ok(None),
    }
}

/// The journal and the runtime of a command that executes nothing.
pub(super) struct OpenJournal {
    pub(super) store: Arc<dyn Store>,
    runtime: Runtime,
}

impl OpenJournal {
    /// Opens the user's journal.
    pub(super) fn open() -> Result<OpenJournal, Failure> {
        let runtime = session::runtime()?;
        Ok(OpenJournal { store: open(&DurableSettings::default())?, runtime })
    }

    /// Blocks on a future.
    pub(super) fn wait<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, Failure>
    where
        Failure: From<E>,
    {
        Ok(self.runtime.block_on(work)?)
    }

    /// Returns the run whose id begins with these characters.
    pub(super) fn find(&self, run: &str) -> Result<RunRow, Failure> {
        if run.trim().is_empty() {
            let hint = "list the runs with `agent-spaces runs list`";
            return Err(Failure::new(Code::ConfigUsage, "the id of the run is empty", Some(hint)));
        }
        self.wait(find(&*self.store, run))
    }
}

/// Returns milliseconds since the Unix epoch.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a time of the journal as RFC 3339.
pub(super) fn time(at_ms: i64) -> String {
    let since = Duration::from_millis(u64::try_from(at_ms).unwrap_or_default());
    match UNIX_EPOCH.checked_add(since).filter(|_| since.as_secs() < MAX_SECONDS) {
        Some(time) => humantime::format_rfc3339_seconds(time).to_string(),
        None => "never".to_owned(),
    }
}

/// Seconds from the Unix epoch to the year 9999, after which RFC 3339 has no times.
const MAX_SECONDS: u64 = 253_370_764_800;

/// Returns what a run waits for, one line each, as text and as JSON.
pub(super) fn waits(run: &str, keys: &[String], at_ms: Option<i64>) -> (Vec<String>, Value) {
    // A server may attend to any parked run; nobody waits for that.
    let keys: Vec<&String> = keys.iter().filter(|key| !key.starts_with(agent_spaces::durable::runs::ATTEND)).collect();
    let mut lines: Vec<String> = keys.iter().map(|key| wait(run, key)).collect();
    lines.extend(at_ms.map(|at_ms| format!("until {}", time(at_ms))));
    (lines, json!({ "at": at_ms.map(time), "for": keys }))
}

/// Explains one key that a run waits for.
fn wait(run: &str, key: &str) -> String {
    // `doubt_RUN_CALL_ATTEMPT`
    let doubt = key.strip_prefix("approval:doubt_").and_then(|rest| rest.rsplit_once('_')?.0.rsplit_once('_'));
    match (doubt, key.strip_prefix("approval:")) {
        (Some((_, call)), _) => format!(
            "for your word on call {call}, which may have taken effect: `agent-spaces runs show {run}`, then \
             `agent-spaces runs answer {run} {call} …`"
        ),
        (None, Some(id)) => format!("for an approval: `agent-spaces approvals approve {id}`, or `deny`"),
        (None, None) if key == agent_spaces::durable::runs::RESUME => {
            format!("to be continued by you, because its script diverged: `agent-spaces replay {run}` shows where")
        }
        (None, None) if key == agent_spaces::journal::IMPORTED => {
            format!("to be continued by you, because it was imported: `agent-spaces runs resume {run}`")
        }
        (None, None) => format!("for {key}"),
    }
}

/// Sanitizes lines, and indents them.
pub(super) fn indented(lines: &[String]) -> Shown {
    lines.iter().map(|line| shown!("  {}\n", terminal::clean_line(line))).collect()
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let (code, hint) = match &error {
            StoreError::Unknown { .. } => (Code::ConfigUnknown, Some("list the runs with `agent-spaces runs list`")),
            StoreError::Exists { .. } => (Code::ConfigUsage, None),
            StoreError::Invalid(_) => (Code::ConfigFile, None),
            StoreError::Full(_) => (Code::HostJournal, Some(FULL)),
            _ => (Code::HostJournal, None),
        };
        Failure::new(code, error.to_string(), hint)
    }
}

impl From<DurableError> for Failure {
    fn from(error: DurableError) -> Failure {
        let (code, hint) = match &error {
            DurableError::UnknownRun { .. } => {
                (Code::ConfigUnknown, Some("list the runs with `agent-spaces runs list`"))
            }
            DurableError::Ambiguous { .. } => (Code::ConfigUnknown, Some("write more of the run's id")),
            DurableError::NotInDoubt { .. } | DurableError::Answered { .. } => (Code::ConfigUsage, None),
            DurableError::Claim(ClaimError::Refused(refused)) => {
                let waits = matches!(refused, Refused::Parked { .. });
                (if waits { Code::RunParked } else { Code::ConfigUsage }, Some(hint(refused)))
            }
            DurableError::Claim(ClaimError::Store(error)) | DurableError::Store(error) => return error.clone().into(),
            DurableError::Host(error) => (error.code(), None),
            _ => (Code::HostJournal, None),
        };
        Failure::new(code, error.to_string(), hint)
    }
}

/// Returns what to do about a run that cannot be continued now.
fn hint(refused: &Refused) -> &'static str {
    match refused {
        Refused::Parked { .. } => "`agent-spaces runs show` says what it waits for",
        Refused::Owned { .. } => "another process executes it; wait, or end it with `agent-spaces runs cancel`",
        _ => "`agent-spaces runs show` shows its result",
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::journal::{time, wait};

    #[test]
    fn times_of_any_number_are_shown() {
        assert_eq!((time(0), time(1_000)), ("1970-01-01T00:00:00Z".to_owned(), "1970-01-01T00:00:01Z".to_owned()));
        assert_eq!((time(-5), time(i64::MAX)), ("1970-01-01T00:00:00Z".to_owned(), "never".to_owned()));
    }

    #[test]
    fn each_wait_names_the_command_that_ends_it() {
        assert!(wait("run_1", "approval:apr_2").contains("agent-spaces approvals approve apr_2"));
        assert!(wait("run_1", "approval:doubt_run_1_3_1").contains("agent-spaces runs answer run_1 3"));
        assert!(wait("run_1", "resume").contains("agent-spaces replay run_1"));
        assert!(wait("run_1", "imported").contains("agent-spaces runs resume run_1"));
        assert_eq!(wait("run_1", "answer:1"), "for answer:1");
    }
}
