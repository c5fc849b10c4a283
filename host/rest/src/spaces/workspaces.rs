//! Removal of the files of spaces that callers made, also of workspace folders that were left over.

use super::SpaceRecord;
use super::record::{KIND, PREFIX};
use super::removal::ENDED_KIND;
use crate::problem::Problem;
use crate::service::Service;
use agent_spaces_journal::DocumentFilter;
use agent_spaces_pipeline::OPERATOR_TARGET;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Least age of a folder that is removed because it has no space: another server may be making one.
const MIN_AGE: Duration = Duration::from_secs(60 * 60);

/// Hexadecimal digits of the id of a space.
const DIGITS: usize = 24;

impl Service {
    /// Checks that a space was not ended while a request used it. Otherwise the request may have made its folders again,
    /// which are removed.
    pub(crate) async fn check_kept(&self, space: &SpaceRecord) -> Result<(), Problem> {
        if space.made.is_none() {
            return Ok(());
        }
        let stored = self.stored_space(&space.id).await?.and_then(|space| space.made);
        if stored.is_some_and(|made| !made.part.is_ending) {
            return Ok(());
        }
        self.remove_kept(space).await?;
        Err(Problem::not_found("space"))
    }

    /// Removes what is kept for a space that ended: its counts, MCP sessions, files, and its place in the cache.
    pub(super) async fn remove_kept(&self, space: &SpaceRecord) -> Result<(), Problem> {
        let (service, ended) = (self.clone(), space.clone());
        let removed = tokio::task::spawn_blocking(move || {
            if let Some(part) = service.part(&ended) {
                service.0.source.forget(ended.base.as_deref(), &part);
            }
            remove(&service.workspace(&ended.id))
        });
        let removed = removed.await.map_err(|error| Problem::internal(&error))?;
        removed.map_err(|error| Problem::internal(&error))?;
        self.0.spaces.forget(&space.id);
        Ok(())
    }

    /// Removes workspace folders that no space has: the server stopped while it made or ended one. For the start of a
    /// server.
    pub async fn remove_stray_workspaces(&self) {
        if let Err(problem) = self.sweep_workspaces().await {
            tracing::warn!(target: OPERATOR_TARGET, "left-over workspaces were not removed: {}", problem.code());
        }
    }

    async fn sweep_workspaces(&self) -> Result<(), Problem> {
        let folder = self.0.settings.workspaces.clone();
        let found = tokio::task::spawn_blocking(move || old_workspaces(&folder)).await;
        let found = found.map_err(|error| Problem::internal(&error))?.map_err(|error| Problem::internal(&error))?;
        // A journal that never had a space may be a new one beside the folders of another: files stay then.
        let knows_spaces = self.has_documents(KIND).await? || self.has_documents(ENDED_KIND).await?;
        for id in found {
            let workspace = self.workspace(&id);
            if let Some(document) = self.store().document(KIND, &id).await? {
                if self.elsewhere(&SpaceRecord::read(document)?).is_some() {
                    // Another host has its files: this folder was made for checks, and is removed only if it is empty.
                    let _removed = tokio::task::spawn_blocking(move || std::fs::remove_dir(workspace)).await;
                }
                continue;
            }
            let removal = move || if knows_spaces { remove(&workspace) } else { std::fs::remove_dir(&workspace) };
            match tokio::task::spawn_blocking(removal).await {
                Ok(Ok(())) => {
                    tracing::warn!(target: OPERATOR_TARGET, "removed the workspace {id}, which no space has");
                }
                Ok(Err(error)) => {
                    tracing::warn!(target: OPERATOR_TARGET, "no space has the workspace {id}, and it stays: {error}");
                }
                Err(error) => return Err(Problem::internal(&error)),
            }
        }
        Ok(())
    }

    async fn has_documents(&self, kind: &str) -> Result<bool, Problem> {
        let filter = DocumentFilter { limit: 1, ..DocumentFilter::of(kind) };
        Ok(self.store().count_documents(filter).await? > 0)
    }
}

/// Removes a folder, if there is one. Blocks.
fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns the ids of spaces whose folders are here and were not made just now. Blocks.
fn old_workspaces(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Some(id) = entry.file_name().to_str().filter(|name| is_made_id(name)).map(str::to_owned) else { continue };
        // Of the entry itself: never of what a link points at.
        let found = entry.metadata()?;
        let is_old = found.modified()?.elapsed().is_ok_and(|age| age >= MIN_AGE);
        if found.is_dir() && is_old {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Returns true for the id of a space that a caller made.
fn is_made_id(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.strip_prefix(PREFIX).is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::{DIGITS, MIN_AGE, is_made_id};
    use crate::ids;
    use crate::service::{Service, test_service};
    use crate::space_documents::KIND;
    use agent_spaces_journal::{Expected, NewDocument};
    use serde_json::json;
    use std::fs;
    use std::path::Path;
    use std::time::SystemTime;

    async fn put_space(service: &Service, id: &str, is_ending: bool) {
        let new = NewDocument {
            kind: KIND.to_owned(),
            id: id.to_owned(),
            owner: "ann".to_owned(),
            body: json!({ "name": "a", "isEnding": is_ending }).to_string(),
            expires: None,
        };
        service.store().put_document(new, Expected::Any).await.unwrap();
    }

    fn make_folder(folder: &Path, is_old: bool) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("a.txt"), "a").unwrap();
        if is_old {
            let opened = fs::File::open(folder).unwrap();
            opened.set_modified(SystemTime::now() - MIN_AGE * 2).unwrap();
        }
    }

    #[test]
    fn ids_of_made_spaces_are_known_by_their_form() {
        assert!(is_made_id(&ids::new("spc_").unwrap()));
        let digits = "0".repeat(DIGITS);
        for name in [format!("spc_{digits}0"), format!("run_{digits}"), format!("spc_{}/", &digits[1..]), "spc_".into()]
        {
            assert!(!is_made_id(&name), "{name}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn folders_that_no_space_has_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        service.remove_stray_workspaces().await;
        let names: Vec<String> = (0..5).map(|number| format!("spc_{number:024x}")).collect();
        let [kept, stray, young, empty, link] = [0, 1, 2, 3, 4].map(|number| service.workspace(&names[number]));
        for (workspace, is_old) in [(&kept, true), (&stray, true), (&young, false)] {
            make_folder(workspace, is_old);
        }
        let other = service.workspace("notes");
        make_folder(&other, true);
        fs::create_dir(&empty).unwrap();
        fs::File::open(&empty).unwrap().set_modified(SystemTime::now() - MIN_AGE * 2).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();

        service.remove_stray_workspaces().await;
        assert!(kept.exists() && stray.exists() && !empty.exists(), "the journal never had a space");
        put_space(&service, &names[0], false).await;
        service.remove_stray_workspaces().await;
        assert!(!stray.exists());
        assert!(kept.join("a.txt").exists() && young.exists() && other.join("a.txt").exists() && link.exists());
    }

    #[tokio::test]
    async fn a_folder_that_a_request_made_after_the_end_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        let id = ids::new("spc_").unwrap();
        put_space(&service, &id, false).await;
        let space = service.stored_space(&id).await.unwrap().unwrap();
        let workspace = service.workspace(&id);
        make_folder(&workspace, false);
        service.check_kept(&space).await.unwrap();
        assert!(workspace.exists(), "it is used");
        // While it is removed, and afterwards.
        put_space(&service, &id, true).await;
        assert_eq!(service.check_kept(&space).await.unwrap_err().code(), "not_found");
        assert!(!workspace.exists());
        service.store().delete_document(KIND, &id, None).await.unwrap();
        make_folder(&workspace, false);
        assert!(service.check_kept(&space).await.is_err() && !workspace.exists());
    }
}
