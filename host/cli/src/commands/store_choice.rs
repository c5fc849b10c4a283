//! Choice of the store: `--store`, the variable `AGENT_SPACES_STORE`, or `store` of an accepted configuration.
//!
//! Without any of them it is the user's SQLite file.

use super::failure::Failure;
use agent_spaces::journal::{Store, StoreError};
use agent_spaces::project::DurableSettings;
use agent_spaces::{Code, OPERATOR_TARGET};
use agent_spaces_journal_postgres::{Address, PostgresStore, Settings};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Environment variable with an address.
pub(super) const VARIABLE: &str = "AGENT_SPACES_STORE";

/// Name of the option.
const OPTION: &str = "--store";

/// Address that means the user's SQLite file, whatever the configuration says.
const EMBEDDED: &str = "sqlite";

/// Most bytes of a file with an address.
const MAX_FILE: u64 = 4096;

/// Time between two attempts to reach the server.
const RETRY: Duration = Duration::from_secs(1);

/// Address of the command line.
static OPTION_VALUE: OnceLock<String> = OnceLock::new();

/// Takes note of the option.
pub(super) fn choose(option: Option<String>) {
    if let Some(text) = option {
        // It is parsed once.
        let _ = OPTION_VALUE.set(text);
    }
}

/// Returns the variable of child processes: the option is not among their arguments.
pub(super) fn of_children() -> Option<(&'static str, &'static str)> {
    OPTION_VALUE.get().map(|text| (VARIABLE, text.as_str()))
}

/// Returns arguments without the option.
pub(super) fn without_option(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut kept = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or_default();
        if text == OPTION {
            arguments.next();
        } else if !text.strip_prefix(OPTION).is_some_and(|rest| rest.starts_with('=')) {
            kept.push(argument);
        }
    }
    kept
}

/// Returns the files that a store needs: that of its address, and that of its root certificates. `configured` is the
/// address in the configuration.
pub(super) fn files(configured: Option<&str>) -> Vec<PathBuf> {
    let variable = || std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let chosen = OPTION_VALUE.get().cloned().or_else(variable).or_else(|| configured.map(str::to_owned));
    chosen.map(|text| files_of(&text)).unwrap_or_default()
}

fn files_of(text: &str) -> Vec<PathBuf> {
    // An address that cannot be read is reported when the store is opened.
    let address = read(text).ok().flatten();
    let certificates = address.as_ref().and_then(Address::root_certificates).map(Path::to_owned);
    text.strip_prefix("file:").map(PathBuf::from).into_iter().chain(certificates).collect()
}

/// Opens the store that was chosen; `None` for the user's SQLite file. A server that cannot be reached is tried again for
/// this long.
pub(super) fn open(settings: &DurableSettings, patience: Duration) -> Result<Option<Arc<dyn Store>>, Failure> {
    let Some(address) = address(settings)? else { return Ok(None) };
    let settings = Settings { max_bytes: settings.max_bytes, ..Settings::default() };
    let begun = Instant::now();
    loop {
        match PostgresStore::open(address.clone(), settings.clone()) {
            Ok(store) => return Ok(Some(Arc::new(store))),
            Err(error @ StoreError::Unreachable(_)) if begun.elapsed() < patience => {
                tracing::warn!(target: OPERATOR_TARGET, "the store is tried again: {error}");
                std::thread::sleep(RETRY);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the address that was chosen.
fn address(settings: &DurableSettings) -> Result<Option<Address>, Failure> {
    let variable = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let configured = settings.store.as_ref().map(|store| store.as_str().to_owned());
    match (OPTION_VALUE.get(), variable.or(configured)) {
        (Some(text), _) => {
            let address = read(text)?;
            let is_visible = Address::is_postgres(text) && address.as_ref().is_some_and(Address::has_password);
            if is_visible {
                let message = "the password in --store is visible to other users of this machine";
                let hint = "write the address to a private file, and use --store file:PATH";
                return Err(Failure::new(Code::ConfigUsage, message, Some(hint)));
            }
            Ok(address)
        }
        (None, Some(text)) => read(&text),
        (None, None) => Ok(None),
    }
}

/// Reads an address, or where it is: `file:PATH`, `env:NAME`.
fn read(text: &str) -> Result<Option<Address>, Failure> {
    let found = match (text.strip_prefix("file:"), text.strip_prefix("env:")) {
        (Some(path), _) => read_file(Path::new(path))?,
        (None, Some(name)) => std::env::var(name).map_err(|_| {
            let message = format!("the variable {name} has no address of a store");
            Failure::new(Code::ConfigUsage, message, Some("set it to postgres://USER@HOST/DATABASE"))
        })?,
        (None, None) => text.to_owned(),
    };
    match found.trim() {
        EMBEDDED => Ok(None),
        found => Ok(Some(Address::parse(found)?)),
    }
}

fn read_file(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("the file with the address of the store, {}: {error}", path.display());
            Err(Failure::new(Code::ConfigFile, message, Some("write postgres://USER:PASSWORD@HOST/DATABASE to it")))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::store_choice::{files_of, read, without_option};
    use std::ffi::OsString;

    #[test]
    fn an_address_is_in_a_file_or_written_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store");
        std::fs::write(&file, "postgres://ann:s3cret@db.example/agents\n").unwrap();
        let shown = |text: &str| read(text).ok().map(|address| address.map(|address| address.to_string()));
        let expected = Some(Some("postgres://ann@db.example/agents".to_owned()));
        assert_eq!(shown(&format!("file:{}", file.display())), expected);
        assert_eq!(shown("postgres://ann@db.example/agents"), expected);
        assert_eq!(shown("sqlite"), Some(None));
        for wrong in ["mysql://s3cret@x/y", "env:AGENT_SPACES_NO_SUCH_VARIABLE", "file:/no/such/file", ""] {
            let failure = read(wrong).err().unwrap();
            assert!(!failure.message().contains("s3cret"), "{}", failure.message());
        }
    }

    #[test]
    fn a_confined_process_reads_the_address_and_the_certificates() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store");
        std::fs::write(&file, "postgres://ann@db.example/agents?sslrootcert=/etc/store-ca.pem").unwrap();
        let certificates = std::path::PathBuf::from("/etc/store-ca.pem");
        assert_eq!(files_of(&format!("file:{}", file.display())), [file, certificates.clone()]);
        assert_eq!(files_of("postgres://db.example/agents?sslrootcert=%2Fetc%2Fstore-ca.pem"), [certificates]);
        assert!(files_of("postgres://db.example/agents").is_empty() && files_of("sqlite").is_empty());
    }

    #[test]
    fn the_option_is_taken_from_arguments() {
        let list = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let arguments =
            list(&["agent-spaces", "--store", "sqlite", "runs", "resume", "--all", "--store=x", "--stores"]);
        assert_eq!(without_option(arguments), list(&["agent-spaces", "runs", "resume", "--all", "--stores"]));
    }
}
