//! Documents: conditions, owners, pages, expiry, limits.

use super::{Fixture, LEASE, START};
use crate::document::{Document, DocumentFilter, Expected, MAX_BODY, MAX_ID, MAX_KIND, MAX_OWNER, NewDocument, Put};
use crate::error::StoreError;
use crate::run::{Prune, Pruned, Status};
use crate::store::Store;
use std::collections::BTreeSet;

fn document(id: &str, body: &str) -> NewDocument {
    NewDocument { kind: "note".into(), id: id.into(), owner: "ann".into(), body: body.into(), expires: None }
}

/// Returns the stored document.
async fn put(store: &dyn Store, new: NewDocument) -> Document {
    match store.put_document(new, Expected::Any).await.unwrap() {
        Put::Stored(document) => document,
        refused => panic!("{refused:?}"),
    }
}

async fn ids(store: &dyn Store, filter: DocumentFilter) -> Vec<String> {
    store.documents(filter).await.unwrap().into_iter().map(|document| document.id).collect()
}

fn notes() -> DocumentFilter {
    DocumentFilter::of("note")
}

/// Absent, a version, or whatever is there; by either handle.
pub async fn a_put_is_stored_if_its_condition_holds(fixture: &Fixture) {
    let (store, other) = (&fixture.store, &fixture.other);
    let missing = store.put_document(document("a", "0"), Expected::Version(1)).await;
    assert_eq!(missing, Ok(Put::Missing));
    assert_eq!(store.document("note", "a").await, Ok(None));
    let first = Document {
        kind: "note".to_owned(),
        id: "a".to_owned(),
        owner: "ann".to_owned(),
        body: "1".to_owned(),
        version: 1,
        created: START,
        updated: START,
        expires: None,
    };
    let stored = store.put_document(document("a", "1"), Expected::Absent).await;
    assert_eq!(stored, Ok(Put::Stored(first.clone())));
    assert_eq!(other.document("note", "a").await, Ok(Some(first.clone())));
    let conflict = Ok(Put::Conflict(first.clone()));
    assert_eq!(other.put_document(document("a", "2"), Expected::Absent).await, conflict);
    for version in [0, 2, u64::MAX] {
        assert_eq!(other.put_document(document("a", "2"), Expected::Version(version)).await, conflict);
    }
    assert_eq!(store.document("note", "a").await, Ok(Some(first.clone())), "nothing was stored");

    fixture.pass(LEASE);
    let new = NewDocument { owner: String::new(), expires: Some(7), ..document("a", "2") };
    let second = Document {
        owner: String::new(),
        body: "2".to_owned(),
        version: 2,
        updated: START + 60_000,
        expires: Some(7),
        ..first
    };
    assert_eq!(other.put_document(new, Expected::Version(1)).await, Ok(Put::Stored(second.clone())));
    assert_eq!(store.document("note", "a").await, Ok(Some(second)));
    let third = put(&**store, document("a", "3")).await;
    assert_eq!((third.version, third.created, third.expires), (3, START, None));
    assert_eq!(put(&**store, document("b", "1")).await.version, 1);
    let same_id = NewDocument { kind: "other_note".to_owned(), ..document("a", "x") };
    let stored = store.put_document(same_id, Expected::Absent).await.unwrap();
    assert!(matches!(stored, Put::Stored(Document { version: 1, .. })), "a kind has ids of its own: {stored:?}");
    assert_eq!(store.document("note", "a").await.unwrap().unwrap().body, "3");
}

/// At once, by two handles.
pub async fn one_of_two_puts_of_a_version_is_stored(fixture: &Fixture) {
    let stores = [&fixture.store, &fixture.other];
    for round in 0..30 {
        let expected = if round == 0 { Expected::Absent } else { Expected::Version(round) };
        let puts = [0, 1].map(|number| {
            let body = format!("{round} of {number}");
            stores[number].put_document(document("a", &body), expected)
        });
        let (mut stored, mut found) = (Vec::new(), Vec::new());
        for put in puts {
            match put.await.unwrap() {
                Put::Stored(document) => stored.push(document),
                Put::Conflict(document) => found.push(document),
                Put::Missing => panic!("round {round}: it is there"),
            }
        }
        assert_eq!(stored.len(), 1, "round {round}");
        assert_eq!(stored, found, "the loser sees what is there");
        assert_eq!(stored[0].version, round + 1);
        assert_eq!(fixture.store.document("note", "a").await.unwrap(), stored.pop());
    }
}

/// While documents are added and changed: each that was there at the start is seen once, and no other twice.
pub async fn pages_of_documents_have_no_gaps_and_no_repeats(fixture: &Fixture) {
    let store = &*fixture.store;
    let owners = ["ann", "bob"];
    for number in 0..20_usize {
        let owner = owners[number % 2].to_owned();
        put(store, NewDocument { owner, ..document(&format!("doc_{:02}", number * 7 % 20), "{}") }).await;
        // Some have the same time.
        if number % 3 == 0 {
            fixture.pass(LEASE);
        }
    }
    put(store, NewDocument { kind: "other".to_owned(), ..document("doc_other", "{}") }).await;
    for owner in [Some("ann"), Some("bob"), None] {
        let filter = DocumentFilter { owner: owner.map(str::to_owned), ..notes() };
        let all = fixture.other.documents(filter.clone()).await.unwrap();
        let is_newest_first =
            all.windows(2).all(|pair| (pair[0].created, &pair[0].id) > (pair[1].created, &pair[1].id));
        assert!(is_newest_first, "{all:?}");
        assert!(all.iter().all(|document| owner.is_none_or(|owner| document.owner == owner)), "{owner:?}: {all:?}");
        let expected: BTreeSet<String> = all.iter().map(|document| document.id.clone()).collect();
        let (mut seen, mut pages) = (Vec::new(), 0);
        let mut filter = DocumentFilter { limit: 3, ..filter };
        loop {
            let page = store.documents(filter.clone()).await.unwrap();
            let Some(last) = page.last() else { break };
            assert!(page.len() <= 3, "{page:?}");
            filter.before = Some((last.created, last.id.clone()));
            // Neither a change nor a document with the time of one that was listed moves the others.
            put(store, NewDocument { owner: last.owner.clone(), ..document(&last.id, "changed") }).await;
            let (owner, id) = (last.owner.clone(), format!("doc_{}_{pages}", last.owner));
            put(store, NewDocument { owner, ..document(&id, "{}") }).await;
            fixture.pass(LEASE);
            seen.extend(page.into_iter().map(|document| document.id));
            pages += 1;
        }
        let distinct: BTreeSet<String> = seen.iter().cloned().collect();
        assert_eq!(distinct.len(), seen.len(), "no repeats: {seen:?}");
        assert!(expected.is_subset(&distinct), "no gaps: {expected:?} {seen:?}");
        assert!(pages >= 4, "{pages}");
    }
    assert_eq!(ids(store, DocumentFilter { owner: Some("nobody".to_owned()), ..notes() }).await, [""; 0]);
    assert_eq!(ids(store, DocumentFilter { owner: Some(String::new()), ..notes() }).await, [""; 0]);
    assert_eq!(ids(store, DocumentFilter { limit: 0, ..notes() }).await, [""; 0]);
    assert_eq!(ids(store, DocumentFilter::of("unknown")).await, [""; 0]);
    assert_eq!(ids(store, DocumentFilter::of("other")).await, ["doc_other"]);
}

/// With the same filters, up to the limit.
pub async fn counts_of_documents_agree_with_lists(fixture: &Fixture) {
    let store = &*fixture.store;
    for number in 0..12_usize {
        let owner = ["ann", "bob", ""][number % 3].to_owned();
        let expires = (number % 2 == 0).then_some(START + 5);
        put(store, NewDocument { owner, expires, ..document(&format!("doc_{number}"), "{}") }).await;
    }
    put(store, NewDocument { kind: "other".to_owned(), ..document("doc_other", "{}") }).await;
    let mut counted = 0;
    for owner in [None, Some("ann"), Some(""), Some("nobody")] {
        for expired_before in [None, Some(START), Some(i64::MAX)] {
            for before in [None, Some((START, "doc_5".to_owned()))] {
                for limit in [0, 2, 100, usize::MAX] {
                    let (owner, before) = (owner.map(str::to_owned), before.clone());
                    let filter = DocumentFilter { owner, before, expired_before, limit, ..notes() };
                    let listed = store.documents(filter.clone()).await.unwrap().len() as u64;
                    assert_eq!(fixture.other.count_documents(filter.clone()).await, Ok(listed), "{filter:?}");
                    counted += listed;
                }
            }
        }
    }
    assert!(counted > 50, "the filters select something: {counted}");
    assert_eq!(store.count_documents(notes()).await, Ok(12));
    let of_ann = DocumentFilter { owner: Some("ann".to_owned()), ..notes() };
    assert_eq!(store.count_documents(of_ann).await, Ok(4));
    assert_eq!(store.count_documents(DocumentFilter::of("unknown")).await, Ok(0));
}

/// Until then they are read and listed, and are in the way of new ones.
pub async fn expired_documents_stay_until_a_prune(fixture: &Fixture) {
    let store = &*fixture.store;
    let expiring = |id: &str, expires| NewDocument { expires, ..document(id, "{}") };
    for (id, expires) in [("old", Some(START - 1)), ("now", Some(START)), ("later", Some(START + 1)), ("kept", None)] {
        put(store, expiring(id, expires)).await;
    }
    put(store, NewDocument { owner: "bob".to_owned(), ..expiring("old_of_bob", Some(START - 5)) }).await;
    put(store, NewDocument { kind: "key".to_owned(), ..expiring("old_key", Some(0)) }).await;
    assert!(store.document("note", "old").await.unwrap().is_some());
    let again = store.put_document(document("old", "{}"), Expected::Absent).await.unwrap();
    assert!(matches!(again, Put::Conflict(Document { version: 1, .. })), "{again:?}");
    let expired = |time| DocumentFilter { expired_before: Some(time), ..notes() };
    assert_eq!(ids(store, notes()).await, ["old_of_bob", "old", "now", "later", "kept"]);
    assert_eq!(ids(store, expired(START)).await, ["old_of_bob", "old"]);
    assert_eq!(ids(store, expired(i64::MAX)).await, ["old_of_bob", "old", "now", "later"]);
    let of_bob = DocumentFilter { owner: Some("bob".to_owned()), ..expired(i64::MAX) };
    assert_eq!(ids(store, of_bob).await, ["old_of_bob"]);
    let next = DocumentFilter { before: Some((START, "old".to_owned())), limit: 1, ..expired(i64::MAX) };
    assert_eq!(ids(store, next).await, ["now"]);

    fixture.end("run_1", Status::Finished).await;
    let policy = Prune { older_than: None, max_bytes: None, now_ms: START };
    let pruned = store.prune(policy).await.unwrap();
    assert_eq!((pruned.documents, pruned.runs), (3, 0), "of all kinds and owners");
    assert_eq!(ids(&*fixture.other, notes()).await, ["now", "later", "kept"]);
    assert_eq!(store.document("key", "old_key").await, Ok(None));
    assert_eq!(store.prune(policy).await, Ok(Pruned::default()));
    // One that is renewed does not expire.
    put(store, expiring("now", Some(START + 9))).await;
    let pruned = store.prune(Prune { now_ms: START + 2, ..policy }).await.unwrap();
    assert_eq!(pruned.documents, 1);
    assert_eq!(ids(store, notes()).await, ["now", "kept"]);
}

/// More than one transaction removes, some of them large.
pub async fn a_prune_removes_any_number_of_expired_documents(fixture: &Fixture) {
    let store = &*fixture.store;
    let large = "x".repeat(900_000);
    let puts: Vec<_> = (0..1200)
        .map(|number| {
            let body = if number % 120 == 0 { large.as_str() } else { "{}" };
            let new = NewDocument { expires: Some(START - 1), ..document(&format!("doc_{number}"), body) };
            store.put_document(new, Expected::Absent)
        })
        .collect();
    for put in puts {
        put.await.unwrap();
    }
    put(store, document("kept", "{}")).await;
    let before = store.size().await.unwrap().bytes;
    let pruned = store.prune(Prune { older_than: None, max_bytes: None, now_ms: START }).await.unwrap();
    assert_eq!(pruned.documents, 1200);
    let after = store.size().await.unwrap().bytes;
    assert!(pruned.bytes > 8_900_000 && before - after > 8_900_000, "{pruned:?} {before} {after}");
    assert_eq!(ids(store, notes()).await, ["kept"]);
}

/// If one is given; then the next document begins again.
pub async fn a_deletion_removes_the_version_that_it_names(fixture: &Fixture) {
    let (store, other) = (&*fixture.store, &*fixture.other);
    put(store, document("a", "1")).await;
    put(store, document("a", "2")).await;
    for version in [0, 1, 3, u64::MAX] {
        assert_eq!(other.delete_document("note", "a", Some(version)).await, Ok(false), "{version}");
    }
    assert_eq!(other.delete_document("other", "a", None).await, Ok(false));
    assert_eq!(store.document("note", "a").await.unwrap().unwrap().body, "2");
    assert_eq!(other.delete_document("note", "a", Some(2)).await, Ok(true));
    assert_eq!(store.document("note", "a").await, Ok(None));
    assert_eq!(store.delete_document("note", "a", Some(2)).await, Ok(false));
    assert_eq!(store.delete_document("note", "a", None).await, Ok(false));
    assert_eq!(store.put_document(document("a", "3"), Expected::Version(2)).await, Ok(Put::Missing));
    let stored = store.put_document(document("a", "3"), Expected::Absent).await.unwrap();
    assert!(matches!(stored, Put::Stored(Document { version: 1, .. })), "{stored:?}");
    assert_eq!(store.delete_document("note", "a", None).await, Ok(true));
    assert_eq!(ids(store, notes()).await, [""; 0]);
}

/// The largest are stored, larger ones are refused.
pub async fn names_and_sizes_of_documents_are_limited(fixture: &Fixture) {
    let store = &*fixture.store;
    let largest = NewDocument {
        kind: "k".repeat(MAX_KIND),
        id: "i".repeat(MAX_ID),
        owner: "o".repeat(MAX_OWNER),
        body: "b".repeat(MAX_BODY),
        expires: Some(i64::MAX),
    };
    let stored = put(store, largest.clone()).await;
    assert_eq!(fixture.other.document(&largest.kind, &largest.id).await, Ok(Some(stored)));
    let note = document("a", "{}");
    let refused = [
        NewDocument { kind: "k".repeat(MAX_KIND + 1), ..note.clone() },
        NewDocument { kind: String::new(), ..note.clone() },
        NewDocument { kind: "Note".to_owned(), ..note.clone() },
        NewDocument { kind: "note-1".to_owned(), ..note.clone() },
        NewDocument { id: "i".repeat(MAX_ID + 1), ..note.clone() },
        NewDocument { id: String::new(), ..note.clone() },
        NewDocument { id: "a\nb".to_owned(), ..note.clone() },
        NewDocument { owner: "o".repeat(MAX_OWNER + 1), ..note.clone() },
        NewDocument { owner: "a\0".to_owned(), ..note.clone() },
        NewDocument { body: "b".repeat(MAX_BODY + 1), ..note },
    ];
    for new in refused {
        let outcome = store.put_document(new, Expected::Any).await;
        assert!(matches!(outcome, Err(StoreError::Invalid(_))), "{outcome:?}");
    }
    assert_eq!(ids(store, notes()).await, [""; 0]);
    assert_eq!(store.document("", "").await, Ok(None));
    assert_eq!(store.delete_document("Note", "", None).await, Ok(false));
}
