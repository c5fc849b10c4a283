//! Folders of workspaces: of this host alone, or on a file system that hosts share.

use crate::commands::config_choice::ConfigChoice;
use crate::commands::failure::Failure;
use crate::commands::foreign_configs::file::make_folder;
use crate::commands::space_choice::SpaceChoice;
use crate::commands::{folders, host_name};
use agent_spaces::Code;
use agent_spaces::config::Config;
use agent_spaces::journal::{DocumentFilter, Expected, NewDocument, Put, Store, StoreError};
use agent_spaces::rest::Pins;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File in a shared folder by which hosts know that it is the one that they share, and not the empty place where it
/// should be mounted.
const MARK: &str = ".agent-spaces-folder";

/// Kind of the documents that have the marks of shared folders.
const KIND: &str = "shared_folder";

/// Most bytes of a mark.
const MAX_MARK: u64 = 100;

/// Most marks of a store: one for each place that its folder was ever at.
const MAX_MARKS: usize = 100;

/// Looks for a mark that another host has just made and not stored yet, and the time between them.
const LOOKS: usize = 10;
const LOOK: Duration = Duration::from_millis(200);

/// Folders of workspaces.
#[derive(Default)]
pub(super) struct Workspaces {
    /// Folder that all hosts share.
    shared: Option<PathBuf>,
    /// Hosts of the workspaces of configured spaces, by space.
    configured: BTreeMap<String, String>,
}

impl Workspaces {
    /// Reads them before the project is loaded. A configuration that is not accepted has no say.
    pub(super) fn of(choice: &SpaceChoice) -> Workspaces {
        match choice.configuration().and_then(ConfigChoice::peek) {
            Some((config, true)) => Workspaces::read(&config),
            _ => Workspaces::default(),
        }
    }

    fn read(config: &Config) -> Workspaces {
        let settings = &config.serve.workspaces;
        let with_files = config.spaces.iter().filter(|(_, space)| space.workspace.is_some());
        Workspaces {
            shared: settings.shared.as_ref().map(PathBuf::from),
            configured: settings
                .host
                .as_ref()
                .map(|host| with_files.map(|(name, _)| (name.clone(), host.clone())).collect())
                .unwrap_or_default(),
        }
    }

    /// Returns the folder of this host, unless hosts share one.
    pub(super) fn own(&self) -> Option<PathBuf> {
        if self.shared.is_some() { None } else { folders::workspaces() }
    }

    /// Returns the folder that hosts share.
    pub(super) fn shared(&self) -> Option<PathBuf> {
        self.shared.clone()
    }

    /// Returns the folder of the spaces that are made at run time, and makes it if it is this host's. One that hosts share
    /// must be there.
    pub(super) async fn open(&self, store: &dyn Store) -> Result<PathBuf, Failure> {
        let failed = |folder: &Path, error: io::Error, hint: &str| {
            Failure::new(Code::HostState, format!("{}: {error}", folder.display()), Some(hint))
        };
        if let Some(folder) = &self.shared {
            let hint = "mount the folder of `serve.workspaces.shared`, and give this user the right to write to it";
            let (kept, is_new) = mark(folder, &store.owner().id).map_err(|error| failed(folder, error, hint))?;
            check_mark(folder, &kept, is_new, store).await?;
            return Ok(folder.clone());
        }
        let folder = folders::workspaces().ok_or_else(|| {
            Failure::new(Code::HostState, "there is no home folder for workspaces", Some("name one with --data"))
        })?;
        make_folder(&folder).map_err(|error| failed(&folder, error, "name a folder with --data"))?;
        Ok(folder)
    }

    /// Returns the hosts of workspaces; `None` if all hosts share them, or there is one host.
    pub(super) fn pins(&self, store: &dyn Store) -> Result<Option<Pins>, Failure> {
        match store.is_shared() && self.shared.is_none() {
            true => Ok(Some(Pins { host: host_name::name()?, configured: self.configured.clone() })),
            false => Ok(None),
        }
    }
}

/// Returns the mark of a shared folder, which gets this one if it has none; then it is new.
fn mark(folder: &Path, new: &str) -> io::Result<(String, bool)> {
    let file = folder.join(MARK);
    let mut made = tempfile::NamedTempFile::new_in(folder)?;
    made.write_all(new.as_bytes())?;
    made.as_file().sync_all()?;
    match made.persist_noclobber(&file) {
        Ok(_) => Ok((new.to_owned(), true)),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
            let mut text = String::new();
            fs::File::open(&file)?.take(MAX_MARK).read_to_string(&mut text)?;
            Ok((text.trim().to_owned(), false))
        }
        Err(refused) => Err(refused.error),
    }
}

/// Refuses a folder that hosts of another store have: each would remove the workspaces of the other, whose spaces it does
/// not know.
async fn check_store(folder: &Path, mark: &str, store: &dyn Store) -> Result<(), Failure> {
    let body = serde_json::Value::from(mark).to_string();
    let filter = DocumentFilter { limit: MAX_MARKS, ..DocumentFilter::of(KIND) };
    for _ in 0..LOOKS {
        if store.documents(filter.clone()).await.map_err(unreadable)?.iter().any(|known| known.body == body) {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    let message = format!("{} is the folder of hosts with another store", folder.display());
    let file = folder.join(MARK);
    let hint = format!("name another folder. If all its workspaces are of this store, remove {}", file.display());
    Err(Failure::new(Code::HostState, message, Some(&hint)))
}

fn unreadable(error: StoreError) -> Failure {
    Failure::new(Code::HostJournal, error.to_string(), None)
}

/// Refuses a folder with another mark than the one that the hosts of the store share.
async fn check_mark(folder: &Path, mark: &str, is_new: bool, store: &dyn Store) -> Result<(), Failure> {
    let id = folder.to_string_lossy().into_owned();
    let body = serde_json::Value::from(mark).to_string();
    let known = match store.document(KIND, &id).await.map_err(unreadable)? {
        Some(known) => known.body,
        None => {
            if !is_new {
                check_store(folder, mark, store).await?;
            }
            let new =
                NewDocument { kind: KIND.to_owned(), id, owner: String::new(), body: body.clone(), expires: None };
            match store.put_document(new, Expected::Absent).await.map_err(unreadable)? {
                Put::Stored(_) | Put::Missing => return Ok(()),
                Put::Conflict(known) => known.body,
            }
        }
    };
    if known == body {
        return Ok(());
    }
    let file = folder.join(MARK);
    let message = format!("{} is not the folder that other hosts of this store have", folder.display());
    let known: String = serde_json::from_str(&known).unwrap_or_default();
    let hint = format!(
        "mount it. If it is a copy, or the other one is lost, write `{known}` to {} and start again",
        file.display()
    );
    Err(Failure::new(Code::HostState, message, Some(&hint)))
}

#[cfg(test)]
mod tests {
    use super::{MARK, Workspaces};
    use agent_spaces::config::{Format, from_text};
    use agent_spaces::journal::SqliteStore;
    use std::fs;

    fn read(text: &str) -> Workspaces {
        Workspaces::read(&from_text("f", text, Format::Json).unwrap())
    }

    #[test]
    fn configured_spaces_with_files_are_on_the_host_that_is_named() {
        let spaces = r#""spaces": {"desk": {"workspace": "./desk"}, "plain": {}}"#;
        let named = read(&format!(r#"{{"serve": {{"workspaces": {{"host": "files-1"}}}}, {spaces}}}"#));
        assert_eq!(named.configured, [("desk".to_owned(), "files-1".to_owned())].into());
        assert!(named.shared().is_none() && read(&format!("{{{spaces}}}")).configured.is_empty());
        let shared = read(r#"{"serve": {"workspaces": {"shared": "/mnt/spaces"}}}"#);
        assert!(shared.own().is_none() && shared.shared().is_some_and(|folder| folder.ends_with("mnt/spaces")));
    }

    #[tokio::test]
    async fn a_folder_that_is_not_mounted_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        // Each is another host.
        let open = || SqliteStore::open(&scratch.path().join("journal"), Default::default()).unwrap();
        let (store, other) = (open(), open());
        let folder = scratch.path().join("shared");
        let workspaces = Workspaces { shared: Some(folder.clone()), ..Workspaces::default() };
        assert!(workspaces.open(&store).await.is_err(), "it is not there, and is not made");
        fs::create_dir(&folder).unwrap();
        for host in [&store, &other] {
            assert_eq!(workspaces.open(host).await.ok(), Some(folder.clone()));
        }
        let mark = fs::read_to_string(folder.join(MARK)).unwrap();
        fs::remove_file(folder.join(MARK)).unwrap();
        assert!(workspaces.open(&other).await.is_err(), "the place where it is mounted is empty");
        fs::write(folder.join(MARK), format!("{mark}\n")).unwrap();
        assert!(workspaces.open(&store).await.is_ok());
        assert!(workspaces.pins(&store).is_ok_and(|pins| pins.is_none()));
    }

    #[tokio::test]
    async fn hosts_with_another_store_have_another_folder() {
        let scratch = tempfile::tempdir().unwrap();
        let open = |name: &str| SqliteStore::open(&scratch.path().join(name), Default::default()).unwrap();
        let (store, other) = (open("one"), open("two"));
        let folder = scratch.path().join("shared");
        fs::create_dir(&folder).unwrap();
        let workspaces = Workspaces { shared: Some(folder.clone()), ..Workspaces::default() };
        assert!(workspaces.open(&store).await.is_ok());
        assert!(workspaces.open(&other).await.is_err());
        // It was moved.
        let moved = scratch.path().join("moved");
        fs::rename(&folder, &moved).unwrap();
        let workspaces = Workspaces { shared: Some(moved.clone()), ..Workspaces::default() };
        assert!(workspaces.open(&store).await.is_ok());
        fs::remove_file(moved.join(MARK)).unwrap();
        assert!(workspaces.open(&other).await.is_ok(), "a person said that it is this one's");
    }
}
