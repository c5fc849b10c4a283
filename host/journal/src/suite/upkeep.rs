//! Lists, export and import, prune, changes.

use super::content::with;
use super::{Fixture, LEASE, entry, new, texts};
use crate::approval::Approval;
use crate::content::Content;
use crate::entry::Entry;
use crate::error::StoreError;
use crate::run::{Filter, Prune, Pruned, Signalled, Status};
use crate::transfer::{ExportedRun, IMPORTED};
use std::time::Duration;

async fn listed(fixture: &Fixture, filter: Filter) -> Vec<String> {
    fixture.store.list(filter).await.unwrap().into_iter().map(|run| run.id).collect()
}

/// Newest first; equal times by id.
pub async fn lists_are_filtered_and_paged(fixture: &Fixture) {
    for (id, status) in [("run_1", Status::Finished), ("run_2", Status::Failed)] {
        fixture.end(id, status).await;
    }
    fixture.pass(LEASE);
    for id in ["run_0", "run_3"] {
        fixture.create(id).await;
    }
    let all = Filter::default();
    assert_eq!(listed(fixture, all.clone()).await, ["run_3", "run_0", "run_2", "run_1"]);
    let only = |statuses: &[Status]| Filter { statuses: statuses.to_vec(), ..Filter::default() };
    assert_eq!(listed(fixture, only(&[Status::Running])).await, ["run_3", "run_0"]);
    assert_eq!(listed(fixture, only(&[Status::Failed, Status::Running])).await, ["run_3", "run_0", "run_2"]);
    assert_eq!(listed(fixture, only(&[Status::Parked])).await, [""; 0]);
    let mut pages = Vec::new();
    let mut filter = Filter { limit: 1, ..all };
    while let Some(run) = fixture.store.list(filter.clone()).await.unwrap().pop() {
        filter.before = Some((run.created, run.id.clone()));
        pages.push(run.id);
    }
    assert_eq!(pages, ["run_3", "run_0", "run_2", "run_1"]);
    let size = fixture.store.size().await.unwrap();
    assert_eq!(
        size.runs.into_iter().collect::<Vec<_>>(),
        [(Status::Running, 2), (Status::Finished, 1), (Status::Failed, 1)]
    );
    assert!(size.bytes > 0 && size.file_bytes > 0);
}

async fn full_run(fixture: &Fixture) -> String {
    let store = &fixture.store;
    let run = with("run_1", &[Content::new(&b"engine"[..])]);
    let (claim, _) = store.create(run, store.owner(), vec![entry("0")]);
    drop(store.append(&claim, 1, vec![Entry::new("raw", 5, vec![0xff, 0x00, 0x41])]));
    for (id, is_decided) in [("apr_1", true), ("apr_2", false)] {
        let request = Approval { id: id.to_owned(), call: 1, request: "{}".to_owned() };
        store.request_approval(&claim, 2, vec![], request).await.unwrap();
        if is_decided {
            store.decide(id, "yes").await.unwrap();
        }
    }
    store.export("run_1").await.unwrap()
}

/// Everything but who owns it: an unfinished one waits for a person.
pub async fn an_exported_run_is_imported_whole(fixture: &Fixture) {
    let text = full_run(fixture).await;
    let there = &fixture.elsewhere;
    assert_eq!(there.import(&text).await, Ok("run_1".to_owned()));
    let exists = StoreError::Exists { id: "run_1".to_owned() };
    assert_eq!(there.import(&text).await, Err(exists.clone()));
    assert_eq!(fixture.store.import(&text).await, Err(exists));
    let (here, arrived) = (ExportedRun::parse(&text).unwrap(), there.export("run_1").await.unwrap());
    let arrived = ExportedRun::parse(&arrived).unwrap();
    let mark = arrived.entries.last().unwrap();
    assert_eq!((mark.seq, mark.kind.as_str()), (2, IMPORTED));
    assert_eq!(arrived, here.clone().arrived(mark.at_ms));
    assert_eq!((here.entries.len(), here.blobs.len(), here.approvals.len()), (2, 1, 2));
    assert_eq!(here.signals, ["approval:apr_1"]);
    let run = there.run("run_1").await.unwrap().unwrap();
    assert_eq!((run.status, run.owner, run.epoch), (Status::Parked, None, 1));
    assert_eq!(there.due(i64::MAX, 10).await.unwrap(), [""; 0], "it may still run where it was");
    assert_eq!(there.signal("run_1", IMPORTED).await, Ok(Signalled::Woken));
    let claim = there.claim("run_1", there.owner(), LEASE).await.unwrap();
    assert_eq!((claim.epoch, claim.next_seq), (2, 3));
    there.append(&claim, 3, vec![]).await.unwrap();

    fixture.end("run_2", Status::Failed).await;
    let text = fixture.store.export("run_2").await.unwrap();
    there.import(&text).await.unwrap();
    assert_eq!(there.run("run_2").await, fixture.store.run("run_2").await);
    assert_eq!(texts(&**there, "run_2").await, ["0"]);
    let unknown = StoreError::Unknown { run: "run_3".to_owned() };
    assert_eq!(fixture.store.export("run_3").await, Err(unknown));
}

/// Truncated at any line, or with one changed character anywhere.
pub async fn a_changed_document_is_refused(fixture: &Fixture) {
    let text = full_run(fixture).await;
    let there = &fixture.elsewhere;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for count in 0..lines.len() {
        let refused = there.import(&lines[..count].concat()).await;
        assert!(matches!(refused, Err(StoreError::Invalid(_))), "{count} lines: {refused:?}");
    }
    for index in 0..text.len() - 1 {
        let mut changed = text.clone().into_bytes();
        changed[index] ^= 1;
        if let Ok(changed) = String::from_utf8(changed) {
            let refused = ExportedRun::parse(&changed);
            assert!(refused.is_err(), "byte {index} of {text}");
        }
    }
    let newer = text.replacen(r#""version":1"#, r#""version":2"#, 1);
    assert_eq!(there.import(&newer).await, Err(StoreError::Newer { found: 2, known: 1 }));
    assert_eq!(there.list(Filter::default()).await, Ok(vec![]));
    there.import(&text).await.unwrap();
}

/// By age.
pub async fn prune_keeps_unfinished_runs_and_shared_blobs(fixture: &Fixture) {
    let store = &fixture.store;
    let mut hashes = Vec::new();
    for id in ["run_old", "run_open", "run_new"] {
        let content = [Content::new(id.as_bytes()), Content::new(&b"shared"[..])];
        let (claim, _) = store.create(with(id, &content), store.owner(), vec![entry("0")]);
        hashes.extend(content.map(|content| content.hash().to_owned()));
        match id {
            "run_open" => store.release(&claim).await.unwrap(),
            _ => store.finish(&claim, 1, vec![], Status::Finished, "{}".to_owned()).await.unwrap(),
        }
        fixture.pass(LEASE);
    }
    let policy = Prune { older_than: Some(LEASE * 2), max_bytes: None, now_ms: fixture.now() };
    let pruned = store.prune(policy).await.unwrap();
    assert_eq!(pruned.runs, 1);
    assert_eq!(listed(fixture, Filter::default()).await, ["run_new", "run_open"]);
    assert_eq!(store.read("run_old", 0, 10).await, Ok(vec![]));
    let mut kept = Vec::new();
    for hash in &hashes {
        kept.push(store.has_blob(hash).await.unwrap());
    }
    assert_eq!(kept, [false, true, true, true, true, true]);
    let policy = Prune { older_than: Some(Duration::ZERO), max_bytes: Some(0), now_ms: i64::MAX };
    assert_eq!(store.prune(policy).await.unwrap().runs, 1);
    assert_eq!(listed(fixture, Filter::default()).await, ["run_open"]);
    assert_eq!(fixture.bodies("run_open").await, ["0"]);
    assert_eq!(store.has_blob(&hashes[1]).await, Ok(true));
    let nothing = Prune { older_than: None, max_bytes: None, now_ms: i64::MAX };
    assert_eq!(store.prune(nothing).await, Ok(Pruned::default()));
}

/// By size, and the space is free again.
pub async fn prune_removes_the_oldest_until_the_size_fits(fixture: &Fixture) {
    let store = &fixture.store;
    let large = "x".repeat(100_000);
    for number in 0..8 {
        let (claim, _) = store.create(new(&format!("run_{number}")), store.owner(), vec![entry(&large)]);
        store.finish(&claim, 1, vec![], Status::Finished, "{}".to_owned()).await.unwrap();
        fixture.pass(LEASE);
    }
    let before = store.size().await.unwrap();
    let policy = Prune { older_than: None, max_bytes: Some(before.bytes - 250_000), now_ms: fixture.now() };
    let pruned = store.prune(policy).await.unwrap();
    assert_eq!(pruned.runs, 3, "{pruned:?}");
    assert!((250_000..450_000).contains(&pruned.bytes), "{pruned:?}");
    let after = store.size().await.unwrap();
    assert!(after.bytes <= before.bytes - 250_000, "{before:?} {after:?}");
    assert_eq!(listed(fixture, Filter::default()).await, ["run_7", "run_6", "run_5", "run_4", "run_3"]);
}

/// By this handle and by the other.
pub async fn changes_are_seen_by_all(fixture: &Fixture) {
    for store in [&fixture.store, &fixture.other] {
        assert_ne!(store.changed(0).await, 0, "it returns at once");
    }
    let mut seen = [fixture.store.changed(0).await, fixture.other.changed(0).await];
    for round in 0..2 {
        let waiting = [fixture.store.changed(seen[0]), fixture.other.changed(seen[1])];
        fixture.create(&format!("run_{round}")).await;
        for (number, changed) in waiting.into_iter().enumerate() {
            let version = tokio::time::timeout(Duration::from_secs(20), changed).await.expect("a change");
            assert_ne!(version, seen[number]);
            seen[number] = version;
        }
    }
}
