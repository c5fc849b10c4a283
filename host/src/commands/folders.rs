//! Where this user's files are.

use agent_spaces::project::{Outlines, Surroundings};
use agent_spaces::trust::Trust;
use agent_spaces::{Cache, Engine, EngineConfig, HostError, Origin, Shown};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "agent-spaces";

/// A script, and the handlers that it calls at one time. Setting up a larger pool takes time.
const MAX_RUNS: u32 = 300;

/// The engine, from the user's cache where there is one.
pub(super) fn engine(use_cache: bool) -> Result<Engine, HostError> {
    let cache = if use_cache { cache() } else { None };
    let mut spinner = None;
    let config = EngineConfig { cache, max_runs: MAX_RUNS, memory_budget: memory_budget()?, ..EngineConfig::default() };
    let loaded = Engine::with_origin(config, |origin| {
        if origin == Origin::Compiled {
            spinner = Some(spin("Compiling the engine (once)"));
        }
    });
    if let Some(spinner) = spinner {
        spinner.finish_and_clear();
    }
    loaded.map(|(engine, _)| engine)
}

/// The variable that says how much memory all runs of this process may use together.
const MEMORY_BUDGET: &str = "AGENT_SPACES_MEMORY_BUDGET";

fn memory_budget() -> Result<Option<u64>, HostError> {
    let Some(text) = std::env::var_os(MEMORY_BUDGET) else { return Ok(None) };
    let parsed = text.to_str().ok_or_else(|| "expected a size such as 8GiB".to_owned()).and_then(super::units::bytes);
    parsed.map(Some).map_err(|error| HostError::Limits(format!("{MEMORY_BUDGET}: {error}")))
}

/// A machine without a home folder works too, only slower.
fn cache() -> Option<Cache> {
    let folder = base("XDG_CACHE_HOME", ".cache")?.join(NAME).join("compiled");
    let key = state()?.join("cache.key");
    match Cache::open(&folder, &key) {
        Ok(cache) => Some(cache),
        Err(error) => {
            super::terminal::warn(&error.to_string());
            None
        }
    }
}

/// Names of modules that were compiled before.
pub(super) fn outlines() -> Outlines {
    match base("XDG_CACHE_HOME", ".cache") {
        Some(folder) => Outlines::in_folder(folder.join(NAME).join("outlines")),
        None => Outlines::none(),
    }
}

/// What this user has, and has accepted.
pub(super) fn surroundings() -> Surroundings {
    let home = std::env::home_dir();
    Surroundings {
        outlines: outlines(),
        trust: Arc::new(trust()),
        user_folder: user_config(),
        home,
        protected: protected(),
        state: state(),
    }
}

/// Which files this user has accepted. Without a home folder, none.
pub(super) fn trust() -> Trust {
    state().map(|folder| Trust::in_file(folder.join("trust.json"))).unwrap_or_default()
}

/// Where what must outlive a command is kept, outside of every project.
pub(super) fn state() -> Option<PathBuf> {
    Some(base("XDG_STATE_HOME", ".local/state")?.join(NAME))
}

/// The audit log in the state folder, and the folder of its head, which is kept apart. Without a home folder, none.
pub(super) fn audit_files() -> Option<(PathBuf, PathBuf)> {
    let heads = base("XDG_DATA_HOME", ".local/share")?.join(NAME).join("audit");
    Some((state()?.join("audit").join("log.jsonl"), heads))
}

/// Folders that no workspace may overlap, and that no script imports from.
pub(super) fn protected() -> Vec<PathBuf> {
    all().into_iter().map(|(_, folder)| folder).collect()
}

/// What this program keeps, by what it is for.
pub(super) fn all() -> Vec<(&'static str, PathBuf)> {
    let bases = [
        ("cache", base("XDG_CACHE_HOME", ".cache")),
        ("state", base("XDG_STATE_HOME", ".local/state")),
        ("data", base("XDG_DATA_HOME", ".local/share")),
        ("configuration", base("XDG_CONFIG_HOME", ".config")),
    ];
    bases.into_iter().filter_map(|(what, folder)| Some((what, folder?.join(NAME)))).collect()
}

/// Where a confined command keeps what is temporary: the folder of the system is everybody's.
pub(super) fn temporary() -> Option<PathBuf> {
    Some(base("XDG_CACHE_HOME", ".cache")?.join(NAME).join("tmp"))
}

/// The user's own configuration folder.
pub(super) fn user_config() -> Option<PathBuf> {
    Some(base("XDG_CONFIG_HOME", ".config")?.join(NAME))
}

fn base(variable: &str, default: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(std::env::home_dir()?.join(default)))
}

/// A sign of life on a terminal, silent in pipes.
pub(super) struct Spinner(ProgressBar);

/// Says what goes on, until that is done.
pub(super) fn spin(message: impl Into<Shown>) -> Spinner {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    let spinner = Spinner(bar);
    spinner.say(message.into());
    spinner.0.enable_steady_tick(Duration::from_millis(100));
    spinner
}

impl Spinner {
    /// Says what goes on by now.
    pub(super) fn say(&self, message: Shown) {
        self.0.set_message(String::from(message));
    }

    pub(super) fn finish_and_clear(&self) {
        self.0.finish_and_clear();
    }
}
