//! Content of runs: stored with them or not at all, and once.

use super::{Fixture, entry, new};
use crate::content::{Content, hash};
use crate::error::StoreError;
use crate::run::{NewRun, Prune, Status};
use crate::transfer::ExportedRun;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

/// Content that stores may look for before they are given its bytes.
const LARGE: usize = 100_000;

/// Returns a run to create, with content.
pub(super) fn with(id: &str, content: &[Content]) -> NewRun {
    NewRun { content: content.to_vec(), ..new(id) }
}

/// Large and small, of several runs, and the same twice.
pub async fn content_is_stored_once_and_by_its_hash(fixture: &Fixture) {
    let store = &fixture.store;
    let bytes = vec![0xff_u8; LARGE];
    let (large, small) = (Content::new(bytes.clone()), Content::new(&b"small"[..]));
    let run = with("run_1", &[large.clone(), small.clone()]);
    store.create(run, store.owner(), vec![entry(large.hash())]).1.await.unwrap();
    assert_eq!(large.hash(), blake3::hash(&bytes).to_hex().as_str());
    assert_eq!(fixture.other.get_blob(large.hash()).await, Ok(Some(bytes.clone())));
    assert_eq!(fixture.other.get_blob(small.hash()).await, Ok(Some(b"small".to_vec())));
    assert_eq!(store.has_blob(large.hash()).await, Ok(true));
    let before = store.size().await.unwrap().bytes;
    let again = [vec![large.clone()], vec![Content::new(bytes)], vec![large.clone(), large, small]];
    for (number, content) in again.iter().enumerate() {
        let run = with(&format!("run_again_{number}"), content);
        fixture.other.create(run, fixture.other.owner(), vec![]).1.await.unwrap();
    }
    assert!(store.size().await.unwrap().bytes < before + LARGE as u64 / 2);
    let missing = "0".repeat(64);
    assert_eq!((store.has_blob(&missing).await, store.get_blob(&missing).await), (Ok(false), Ok(None)));
}

/// As of one moment, in another process that looks all the time.
pub async fn whoever_sees_a_new_run_sees_its_content(fixture: &Fixture) {
    let shared = Content::new(vec![1_u8; LARGE]);
    for number in 0..20 {
        let id = format!("run_{number}");
        let content =
            [shared.clone(), Content::new(id.repeat(LARGE / id.len()).into_bytes()), Content::new(id.as_bytes())];
        let (other, name) = (Arc::clone(&fixture.other), id.clone());
        let seen = tokio::spawn(async move {
            loop {
                match other.export(&name).await {
                    Ok(text) => return ExportedRun::parse(&text).unwrap(),
                    Err(StoreError::Unknown { .. }) => tokio::task::yield_now().await,
                    Err(error) => panic!("{error}"),
                }
            }
        });
        tokio::task::yield_now().await;
        let (_, created) = fixture.store.create(with(&id, &content), fixture.store.owner(), vec![entry("0")]);
        created.await.unwrap();
        let mut expected: Vec<Vec<u8>> = content.iter().map(|content| content.bytes().to_vec()).collect();
        expected.sort_by_key(|bytes| hash(bytes));
        let seen = seen.await.unwrap();
        assert!(seen.blobs == expected, "{id} was seen with {} of its {} blobs", seen.blobs.len(), expected.len());
        assert_eq!(seen.entries.len(), 1);
    }
}

/// The id is invalid or taken, among creations that succeed.
pub async fn a_failed_creation_leaves_no_run_and_no_content(fixture: &Fixture) {
    let store = &fixture.store;
    fixture.create("run_1").await;
    let kept = Content::new(vec![1_u8; LARGE]);
    for size in [10, LARGE] {
        let lost = Content::new(vec![2_u8; size]);
        let create = |id: &str, content: &Content| {
            let content = [kept.clone(), content.clone()];
            store.create(with(id, &content), store.owner(), vec![entry("second")]).1
        };
        let own = Content::new(vec![3_u8; size]);
        let tickets = [create("run\n", &lost), create(&format!("run_{size}"), &own), create("run_1", &lost)];
        let [invalid, created, taken] = tickets;
        assert!(matches!(invalid.await, Err(StoreError::Invalid(_))));
        assert_eq!(created.await, Ok(()));
        assert_eq!(taken.await, Err(StoreError::Exists { id: "run_1".to_owned() }));
        assert_eq!(fixture.other.has_blob(lost.hash()).await, Ok(false));
        assert_eq!(fixture.other.has_blob(own.hash()).await, Ok(true));
    }
    assert_eq!(store.run("run\n").await, Ok(None));
    assert_eq!(fixture.bodies("run_1").await, ["0"]);
    let untouched = ExportedRun::parse(&store.export("run_1").await.unwrap()).unwrap();
    assert!(untouched.blobs.is_empty());
}

/// With the same content and with other content, through both handles.
pub async fn a_repeated_creation_stores_nothing(fixture: &Fixture) {
    let first = Content::new(vec![1_u8; LARGE]);
    let run = with("run_1", from_ref(&first));
    fixture.store.create(run, fixture.store.owner(), vec![entry("0")]).1.await.unwrap();
    let before = (fixture.store.export("run_1").await.unwrap(), fixture.store.size().await.unwrap());
    let second = Content::new(vec![2_u8; LARGE]);
    for store in [&fixture.store, &fixture.other] {
        for content in [vec![], vec![first.clone()], vec![first.clone(), second.clone()]] {
            let (_, ticket) = store.create(with("run_1", &content), store.owner(), vec![entry("0")]);
            assert_eq!(ticket.await, Err(StoreError::Exists { id: "run_1".to_owned() }));
        }
    }
    assert_eq!(fixture.store.has_blob(second.hash()).await, Ok(false));
    let after = (fixture.store.export("run_1").await.unwrap(), fixture.store.size().await.unwrap());
    assert_eq!((after.0, after.1.bytes, after.1.runs), (before.0, before.1.bytes, before.1.runs));
}

/// It removes the last run that has the content, while another is created with it.
pub async fn a_prune_takes_no_content_of_a_new_run(fixture: &Fixture) {
    let store = &fixture.store;
    for number in 0..10_u8 {
        let bytes = vec![number; if number.is_multiple_of(2) { LARGE } else { 10 }];
        let content = [Content::new(bytes.clone())];
        let (claim, _) = store.create(with(&format!("run_old_{number}"), &content), store.owner(), vec![]);
        store.finish(&claim, 0, vec![], Status::Finished, "{}".to_owned()).await.unwrap();
        let policy = Prune { older_than: Some(Duration::ZERO), max_bytes: None, now_ms: i64::MAX };
        let pruned = fixture.other.prune(policy);
        let (_, created) = store.create(with(&format!("run_new_{number}"), &content), store.owner(), vec![]);
        created.await.unwrap();
        assert_eq!(pruned.await.unwrap().runs, 1);
        assert_eq!(store.get_blob(content[0].hash()).await, Ok(Some(bytes)));
    }
}
