//! Folders of the user (XDG base directories), and the engine with its cache.

use super::failure::Failure;
use super::foreign_configs::file::make_folder;
use super::spinner;
use agent_spaces::Code;
use agent_spaces::project::{Outlines, Surroundings};
use agent_spaces::trust::Trust;
use agent_spaces::{Cache, CodeCache, Engine, EngineConfig, HostError, Origin};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

const NAME: &str = "agent-spaces";

/// Pool size: a script and the handlers that it calls concurrently. Setting up a larger pool takes time.
pub(super) const MAX_RUNS: u32 = 300;

/// Loads the engine, from the user's cache if possible.
pub(super) fn engine(use_cache: bool) -> Result<Engine, HostError> {
    engine_for(use_cache, MAX_RUNS)
}

/// Loads the engine with places for so many runs at once.
pub(super) fn engine_for(use_cache: bool, max_runs: u32) -> Result<Engine, HostError> {
    let cache = if use_cache { cache() } else { None };
    let mut spinner = None;
    let config =
        EngineConfig { cache: cache.map(shared), max_runs, memory_budget: memory_budget()?, ..EngineConfig::default() };
    let loaded = Engine::with_origin(config, |origin| {
        if origin == Origin::Compiled {
            spinner = Some(spinner::spin("Compiling the engine (once)"));
        }
    });
    if let Some(spinner) = spinner {
        spinner.finish_and_clear();
    }
    loaded.map(|(engine, _)| engine)
}

/// Converts a cache into the trait object of the engine configuration.
fn shared(cache: Cache) -> Arc<dyn CodeCache> {
    Arc::new(cache)
}

/// Environment variable with the memory budget of all runs of this process together.
const MEMORY_BUDGET: &str = "AGENT_SPACES_MEMORY_BUDGET";

fn memory_budget() -> Result<Option<u64>, HostError> {
    let Some(text) = std::env::var_os(MEMORY_BUDGET) else { return Ok(None) };
    let parsed = text.to_str().ok_or_else(|| "expected a size such as 8GiB".to_owned()).and_then(super::units::bytes);
    parsed.map(Some).map_err(|error| HostError::Limits(format!("{MEMORY_BUDGET}: {error}")))
}

/// Opens the cache of compiled code; `None` without a home folder, which is only slower.
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

/// Returns the cache of module outlines.
pub(super) fn outlines() -> Outlines {
    match base("XDG_CACHE_HOME", ".cache") {
        Some(folder) => Outlines::in_folder(folder.join(NAME).join("outlines")),
        None => Outlines::none(),
    }
}

/// Returns the user's folders and accepted files.
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

/// Returns the store of accepted files; empty without a home folder.
pub(super) fn trust() -> Trust {
    state().map(|folder| Trust::in_file(folder.join("trust.json"))).unwrap_or_default()
}

/// Environment variable of the data folder, which stands for the state and data folders of the user.
const DATA: &str = "AGENT_SPACES_DATA";

/// Data folder of `--data`.
static DATA_FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Keeps state and data in this folder, which is created if it is missing.
pub(super) fn use_data(folder: &Path) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Code::ConfigUsage, format!("--data {}: {error}", folder.display()), None);
    make_folder(folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    // A process has one.
    let _is_first = DATA_FOLDER.set(folder);
    Ok(())
}

/// Returns the data folder of `--data` or the variable.
fn data() -> Option<PathBuf> {
    let named = || {
        std::env::var_os(DATA).filter(|folder| !folder.is_empty()).and_then(|folder| std::path::absolute(folder).ok())
    };
    DATA_FOLDER.get().cloned().or_else(named)
}

/// Returns the state folder: persistent data outside of every project.
pub(super) fn state() -> Option<PathBuf> {
    match data() {
        Some(folder) => Some(folder.join("state")),
        None => Some(base("XDG_STATE_HOME", ".local/state")?.join(NAME)),
    }
}

/// Returns the folder of data that is not to be lost.
fn kept() -> Option<PathBuf> {
    match data() {
        Some(folder) => Some(folder.join("data")),
        None => Some(base("XDG_DATA_HOME", ".local/share")?.join(NAME)),
    }
}

/// Returns the folder of the workspaces of spaces that are made at run time. No workspace may overlap the state and data
/// folders, so it is beside them.
pub(super) fn workspaces() -> Option<PathBuf> {
    match data() {
        Some(folder) => Some(folder.join("workspaces")),
        None => Some(base("XDG_DATA_HOME", ".local/share")?.join(format!("{NAME}-workspaces"))),
    }
}

/// Returns the audit log in the state folder, and the separate folder of its signed head.
pub(super) fn audit_files() -> Option<(PathBuf, PathBuf)> {
    let heads = kept()?.join("audit");
    Some((state()?.join("audit").join("log.jsonl"), heads))
}

/// Returns the folder of the journal of durable runs.
pub(super) fn journal() -> Option<PathBuf> {
    Some(kept()?.join("journal"))
}

/// Returns the folders that no workspace may overlap and no script may import from.
pub(super) fn protected() -> Vec<PathBuf> {
    all().into_iter().map(|(_, folder)| folder).collect()
}

/// Returns the user's folders of this program, by purpose.
pub(super) fn all() -> Vec<(&'static str, PathBuf)> {
    let own = |base: Option<PathBuf>| base.map(|base| base.join(NAME));
    let all = [
        ("cache", own(base("XDG_CACHE_HOME", ".cache"))),
        ("state", state()),
        ("data", kept()),
        ("configuration", own(base("XDG_CONFIG_HOME", ".config"))),
    ];
    all.into_iter().filter_map(|(what, folder)| Some((what, folder?))).collect()
}

/// Returns the temporary folder of a confined command: the system's is shared with other users.
pub(super) fn temporary() -> Option<PathBuf> {
    Some(base("XDG_CACHE_HOME", ".cache")?.join(NAME).join("tmp"))
}

/// Returns the user's configuration folder.
pub(super) fn user_config() -> Option<PathBuf> {
    Some(base("XDG_CONFIG_HOME", ".config")?.join(NAME))
}

fn base(variable: &str, default: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(std::env::home_dir()?.join(default)))
}
