//! Spaces whose workspace is a folder of one host: their files are read and written there, and runs that use files executed.

use super::SpaceRecord;
use crate::problem::Problem;
use crate::service::Service;
use crate::source::Assembled;
use http::StatusCode;

impl Service {
    /// Returns the host that a new space with these capabilities is pinned to: this one, unless it has no files, or all
    /// hosts have them.
    pub(super) fn pin(&self, assembled: &Assembled) -> Option<String> {
        self.0.settings.pins.as_ref().filter(|_| assembled.files.is_some()).map(|pins| pins.host.clone())
    }

    /// Returns the host that has the files of a space; `None` if all hosts have them, or there are none.
    pub(crate) fn host_of_files<'a>(&'a self, space: &'a SpaceRecord) -> Option<&'a str> {
        let pins = self.0.settings.pins.as_ref()?;
        let host = match (&space.made, &space.base) {
            (Some(made), _) => made.part.host.as_ref(),
            (None, Some(base)) => pins.configured.get(base),
            (None, None) => None,
        };
        host.map(String::as_str)
    }

    /// Returns true if this is the name of another host. Where all hosts have the same files, it does not matter.
    pub(crate) fn is_other_host(&self, host: &str) -> bool {
        self.0.settings.pins.as_ref().is_some_and(|pins| pins.host != host)
    }

    /// Returns the other host that has the files of a space; `None` if this one has them, or there are none.
    pub(super) fn elsewhere<'a>(&'a self, space: &'a SpaceRecord) -> Option<&'a str> {
        self.host_of_files(space).filter(|host| self.is_other_host(host))
    }

    /// Refuses a request that needs the files of a space which another host has.
    pub(crate) fn check_here(&self, space: &SpaceRecord) -> Result<(), Problem> {
        let Some(host) = self.elsewhere(space) else { return Ok(()) };
        let detail = format!("The files of this space are on the host `{host}`: send the request to that host");
        Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "space.elsewhere", detail))
    }
}

#[cfg(test)]
mod tests {
    use crate::pins::Pins;
    use crate::service::{Service, test_service_pinned};
    use crate::spaces::SpaceRecord;
    use agent_spaces_journal::{Document, DocumentFilter, Expected, NewDocument};
    use serde_json::{Value, json};
    use std::path::Path;

    fn service(folder: &Path, host: &str) -> Service {
        let configured = [("desk".to_owned(), "a".to_owned())].into();
        test_service_pinned(folder, Some(Pins { host: host.to_owned(), configured }))
    }

    fn made(part: &Value) -> SpaceRecord {
        let document = Document {
            kind: "space".to_owned(),
            id: "spc_1".to_owned(),
            owner: "ann".to_owned(),
            body: part.to_string(),
            version: 1,
            created: 0,
            updated: 0,
            expires: None,
        };
        SpaceRecord::read(document).unwrap()
    }

    #[tokio::test]
    async fn files_are_on_the_host_that_a_space_is_pinned_to() {
        let (one, two, plain) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (a, b) = (service(one.path(), "a"), service(two.path(), "b"));
        let pinned = made(&json!({ "name": "x", "host": "a" }));
        assert_eq!((a.elsewhere(&pinned), b.elsewhere(&pinned)), (None, Some("a")));
        let refused = b.check_here(&pinned).unwrap_err();
        assert_eq!((refused.code(), a.check_here(&pinned)), ("space.elsewhere", Ok(())));
        let free = made(&json!({ "name": "x" }));
        assert_eq!((a.elsewhere(&free), b.elsewhere(&free)), (None, None));
        let configured =
            |base: Option<&str>| SpaceRecord { id: "spc_2".to_owned(), made: None, base: base.map(str::to_owned) };
        assert_eq!((a.elsewhere(&configured(Some("desk"))), b.elsewhere(&configured(Some("desk")))), (None, Some("a")));
        assert_eq!((b.elsewhere(&configured(Some("other"))), b.elsewhere(&configured(None))), (None, None));
        // On a file system that hosts share, nothing is pinned, whatever was before.
        assert_eq!(test_service_pinned(plain.path(), None).elsewhere(&pinned), None);
    }

    /// Stores a space that ends.
    async fn put_ending(service: &Service, id: &str, host: &str) {
        let new = NewDocument {
            kind: "space".to_owned(),
            id: id.to_owned(),
            owner: String::new(),
            body: json!({ "name": "x", "host": host, "isEnding": true }).to_string(),
            expires: Some(crate::time::now_ms()),
        };
        service.store().put_document(new, Expected::Any).await.unwrap();
    }

    #[tokio::test]
    async fn a_space_is_gone_when_its_own_host_has_removed_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path(), "b");
        let ids = ["a", "b"].map(|host| (host, crate::ids::new("spc_").unwrap()));
        for (host, id) in &ids {
            put_ending(&service, id, host).await;
            std::fs::create_dir_all(service.workspace(id)).unwrap();
        }
        service.sweep().await.unwrap();
        let left = service.store().documents(DocumentFilter::of("space")).await.unwrap();
        let left: Vec<&String> = left.iter().map(|document| &document.id).collect();
        assert_eq!(left, [&ids[0].1], "the host `a` has yet to remove its files");
        assert!(ids.iter().all(|(_, id)| !service.workspace(id).exists()), "nothing of it is left here");
    }

    #[tokio::test]
    async fn what_is_kept_for_a_space_is_removed_when_another_host_ended_it() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path(), "b");
        let [ended, alive] = [(); 2].map(|()| crate::ids::new("spc_").unwrap());
        for id in [&ended, &alive] {
            std::fs::create_dir_all(service.workspace(id)).unwrap();
        }
        put_ending(&service, &ended, "b").await;
        let used = std::collections::HashSet::from([ended.clone(), alive.clone()]);
        service.forget_ended(&used).await.unwrap();
        assert!(service.workspace(&ended).exists(), "it has not ended yet");
        service.sweep().await.unwrap();
        std::fs::create_dir_all(service.workspace(&ended)).unwrap();
        service.forget_ended(&Default::default()).await.unwrap();
        assert!(service.workspace(&ended).exists(), "nothing of it was used here");
        service.forget_ended(&used).await.unwrap();
        assert!(!service.workspace(&ended).exists() && service.workspace(&alive).exists());
    }
}
