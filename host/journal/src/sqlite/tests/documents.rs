//! Documents across processes, and in a full store.

use super::{open, wait};
use crate::document::{Document, DocumentFilter, Expected, NewDocument, Put};
use crate::error::StoreError;
use crate::sqlite::{Settings, SqliteStore};
use crate::store::Store;

fn document(id: &str, bytes: usize) -> NewDocument {
    NewDocument { kind: "note".to_owned(), id: id.to_owned(), body: "x".repeat(bytes), ..NewDocument::default() }
}

fn put(store: &SqliteStore, new: NewDocument) -> Result<Document, StoreError> {
    match wait(store.put_document(new, Expected::Any))? {
        Put::Stored(document) => Ok(document),
        refused => panic!("{refused:?}"),
    }
}

#[test]
fn documents_survive_the_process() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("journal");
    let store = open(&folder);
    put(&store, document("a", 10)).unwrap();
    let expected = [put(&store, document("b", 5000)).unwrap(), put(&store, document("a", 20)).unwrap()];
    put(&store, document("c", 10)).unwrap();
    // It is queued, and nobody waits for it.
    drop(store.delete_document("note", "c", Some(1)));
    drop(store);
    let store = open(&folder);
    assert_eq!(wait(store.documents(DocumentFilter::of("note"))).unwrap(), expected);
    let next = wait(store.put_document(document("a", 1), Expected::Version(2))).unwrap();
    assert!(matches!(next, Put::Stored(Document { version: 3, .. })), "{next:?}");
}

#[test]
fn a_full_store_refuses_documents_but_not_smaller_ones_nor_deletions() {
    let outer = tempfile::tempdir().unwrap();
    let settings = Settings { max_bytes: 1 << 20, ..Settings::default() };
    let store = SqliteStore::open(&outer.path().join("journal"), settings).unwrap();
    let mut stored = 0;
    let full = loop {
        match put(&store, document(&format!("doc_{stored}"), 100_000)) {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, StoreError::Full(_)) && stored > 3, "{stored}: {full:?}");
    assert!(matches!(put(&store, document("doc_0", 250_000)), Err(StoreError::Full(_))));
    assert_eq!(put(&store, document("doc_0", 10)).unwrap().version, 2);
    assert_eq!(wait(store.delete_document("note", "doc_1", None)), Ok(true));
    put(&store, document("new", 100_000)).unwrap();
}

#[test]
fn a_document_that_does_not_fit_the_queue_is_refused() {
    let outer = tempfile::tempdir().unwrap();
    let settings = Settings { max_queued: 20_000, ..Settings::default() };
    let store = SqliteStore::open(&outer.path().join("journal"), settings).unwrap();
    assert!(matches!(put(&store, document("a", 20_000)), Err(StoreError::QueueFull(_))));
    assert_eq!(wait(store.document("note", "a")), Ok(None));
    put(&store, document("a", 10_000)).unwrap();
}
