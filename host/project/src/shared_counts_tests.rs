use super::{CLOCK, KIND, SharedCounts};
use agent_spaces_journal::{DocumentFilter, Settings, SqliteStore, Store};
use agent_spaces_policy::{CountStore, DayCounts, DayFile, Taken, Wanted};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Opens a store as a host of its own, whose clock is the store's.
fn open(folder: &Path, clock: &Arc<AtomicI64>) -> Arc<dyn Store> {
    let clock = Arc::clone(clock);
    let settings = Settings { clock: Arc::new(move || clock.load(Ordering::SeqCst)), ..Settings::default() };
    Arc::new(SqliteStore::open(&folder.join("journal"), settings).unwrap())
}

fn read(store: &Arc<dyn Store>) -> Vec<(String, u64)> {
    let found = super::wait(store.documents(DocumentFilter::of(KIND)), far()).unwrap();
    let mut found: Vec<_> = found.into_iter().map(|found| (found.id, found.version)).collect();
    found.sort();
    found
}

fn far() -> std::time::Instant {
    std::time::Instant::now() + Duration::from_secs(60)
}

#[test]
fn a_limit_holds_over_hosts_that_count_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(7 * DAY));
    let wanted = [Wanted { key: "a", most: 40 }];
    let made: usize = std::thread::scope(|scope| {
        let hosts: Vec<_> = (0..3)
            .map(|_| {
                let store = open(folder.path(), &clock);
                scope.spawn(move || {
                    let file = DayFile::shared(Arc::new(SharedCounts::new(store)), "space.json");
                    (0..30).filter(|_| file.take(&wanted).unwrap() == Taken::Counted).count()
                })
            })
            .collect();
        hosts.into_iter().map(|host| host.join().unwrap()).sum()
    });
    // Each may have counted a sixteenth ahead.
    assert!((40 - 3..=40).contains(&made), "{made}");
}

#[test]
fn counts_go_by_the_clock_of_the_store_and_start_anew_with_its_day() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(7 * DAY + 1));
    let store = open(folder.path(), &clock);
    let counts: Arc<dyn CountStore> = Arc::new(SharedCounts::new(Arc::clone(&store)));
    let now = counts.now().unwrap().duration_since(UNIX_EPOCH).unwrap().as_millis();
    assert!((7 * DAY as u128..7 * DAY as u128 + 60_000).contains(&now), "{now}");
    let file = DayFile::shared(Arc::clone(&counts), "space.json");
    let one = [Wanted { key: "a", most: 1 }];
    assert_eq!(file.take(&one).unwrap(), Taken::Counted);
    assert_eq!(file.take(&one).unwrap(), Taken::Full(0));
    // Another host learns the time of the next day, and forgets the counts of the first.
    clock.store(8 * DAY, Ordering::SeqCst);
    let other = DayFile::shared(Arc::new(SharedCounts::new(Arc::clone(&store))), "space.json");
    assert_eq!(other.take(&one).unwrap(), Taken::Counted);
    assert_eq!(other.take(&one).unwrap(), Taken::Full(0));
    let stored = super::wait(store.document(KIND, "space.json"), far()).unwrap().unwrap();
    assert_eq!((stored.owner.as_str(), stored.expires.map(|time| time / DAY)), ("", Some(10)));
}

#[test]
fn one_write_counts_a_call_and_a_forgotten_space_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), &Arc::new(AtomicI64::new(DAY)));
    let counts: Arc<dyn CountStore> = Arc::new(SharedCounts::new(Arc::clone(&store)));
    let file = DayFile::shared(Arc::clone(&counts), "space.json");
    for _ in 0..5 {
        assert_eq!(file.take(&[Wanted { key: "a", most: 9 }]).unwrap(), Taken::Counted);
    }
    assert_eq!(read(&store), [(CLOCK.to_owned(), 1), ("space.json".to_owned(), 5)]);
    counts.forget("space.json");
    store.flush().wait().unwrap();
    assert_eq!(read(&store), [(CLOCK.to_owned(), 1)]);
}

#[test]
fn counts_that_somebody_changed_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), &Arc::new(AtomicI64::new(DAY)));
    let new = super::document("space.json", r#"{"version":9}"#.to_owned(), DAY);
    super::wait(store.put_document(new, agent_spaces_journal::Expected::Any), far()).unwrap();
    let file = DayFile::shared(Arc::new(SharedCounts::new(store)), "space.json");
    let error = file.take(&[Wanted { key: "a", most: 9 }]).unwrap_err().to_string();
    assert!(error.contains("in the store of all hosts") && error.contains("are refused until"), "{error}");
}
