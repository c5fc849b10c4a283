//! Appends from one and many writers.

use super::*;
use crate::line::MAX_ENTRY;
use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use std::thread;

#[test]
fn a_line_has_number_time_previous_hash_and_entry() {
    let place = Place::with(2);
    let lines: Vec<Value> = place.lines().iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["seq"], &lines[1]["seq"]), (&json!(1), &json!(2)));
    assert_eq!(lines[1]["entry"], entry(2));
    assert_eq!(lines[1]["prev"], lines[0]["hash"]);
    let time = humantime::parse_rfc3339(lines[0]["time"].as_str().expect("text")).expect("a time");
    assert!(time.elapsed().expect("past") < Duration::from_secs(60));
    // As an independent verifier would: the line without its last member.
    let text = place.lines()[0].split_once(",\"hash\":").expect("hash").0.to_owned() + "}";
    assert_eq!(lines[0]["hash"], HEXLOWER.encode(digest(&SHA256, text.as_bytes()).as_ref()));
}

#[test]
fn a_reopened_log_continues_the_chain() {
    let place = Place::with(2);
    place.open().append(&[entry(3), entry(4)]).expect("appended");
    assert_eq!(place.entries(), (1..=4).map(entry).collect::<Vec<_>>());
    assert_eq!(place.verify(), Ok(Verified { entries: 4, recovered: 0, lost: 0, ..one_file() }));
}

#[test]
fn an_oversized_entry_is_written_as_hash_and_length() {
    let place = Place::new();
    let log = place.open();
    let longest = json!("x".repeat(MAX_ENTRY - 2));
    let longer = json!("x".repeat(MAX_ENTRY - 1));
    let deep = |levels| (0..levels).fold(json!(1), |value, _| json!([value]));
    log.append(&[longest.clone(), longer.clone(), deep(100), deep(101)]).expect("appended");
    let omitted = |entry: Value| {
        let text = entry.to_string();
        let hash = HEXLOWER.encode(digest(&SHA256, text.as_bytes()).as_ref());
        json!({ "type": "omitted", "bytes": text.len(), "sha256": hash })
    };
    assert_eq!(place.entries(), [longest, omitted(longer), deep(100), omitted(deep(101))]);
    assert_eq!(place.verify().expect("whole").entries, 4);
}

#[test]
fn reserved_entry_types_are_refused() {
    let place = Place::with(1);
    let refused = place.open().append(&[entry(2), json!({ "type": "recovered", "entries": 9, "lost": 0 })]);
    assert!(matches!(refused, Err(AuditError::ReservedType)), "{refused:?}");
    assert_eq!(place.verify(), Ok(Verified { entries: 1, recovered: 0, lost: 0, ..one_file() }));
}

#[test]
fn an_empty_append_writes_nothing() {
    let place = Place::with(1);
    let (log, heads) = (place.read(), place.heads());
    place.open().append(&[]).expect("nothing to do");
    assert_eq!((place.read(), place.heads()), (log, heads));
}

#[test]
fn concurrent_appends_never_interleave() {
    let place = Place::new();
    let shared = place.open();
    thread::scope(|scope| {
        for writer in 0..6 {
            let (place, shared) = (&place, &shared);
            scope.spawn(move || {
                // Half of them have a handle of their own, as another process has.
                let own = (writer % 2 == 0).then(|| place.open());
                for round in 0..20 {
                    let batch: Vec<_> =
                        (0..3).map(|part| json!({ "writer": writer, "round": round, "part": part })).collect();
                    own.as_ref().unwrap_or(shared).append(&batch).expect("appended");
                }
            });
        }
        let place = &place;
        scope.spawn(move || {
            for _ in 0..20 {
                let verified = place.verify().expect("whole at any time");
                assert_eq!((verified.entries % 3, verified.recovered), (0, 0));
            }
        });
    });
    assert_eq!(place.verify(), Ok(Verified { entries: 360, recovered: 0, lost: 0, ..one_file() }));
    for batch in place.entries().chunks(3) {
        assert!(
            batch.iter().all(|entry| (&entry["writer"], &entry["round"]) == (&batch[0]["writer"], &batch[0]["round"]))
        );
        assert_eq!(batch.iter().map(|entry| entry["part"].as_u64()).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    }
}

#[test]
fn drop_flush_and_zero_sync_interval_write_the_durable_head() {
    let durable = |place: &Place| {
        let head: Value =
            serde_json::from_slice(&fs::read(place.heads.join("head.json")).expect("head")).expect("JSON");
        head["count"].as_u64()
    };
    let place = Place::new();
    let log = place.open();
    log.append(&[entry(1)]).expect("appended");
    assert_eq!(durable(&place), Some(0));
    log.flush().expect("flushed");
    assert_eq!(durable(&place), Some(1));
    log.append(&[entry(2)]).expect("appended");
    assert_eq!(durable(&place), Some(1));
    drop(log);
    assert_eq!(durable(&place), Some(2));
    let log = place.open().sync_every(Duration::ZERO);
    log.append(&[entry(3)]).expect("appended");
    assert_eq!(durable(&place), Some(3));
    assert_eq!(place.verify().expect("whole").entries, 3);
}

#[test]
fn without_a_boot_id_every_append_syncs() {
    let place = Place::new();
    let log = AuditLog::open_in(None, &place.log, &place.heads).expect("opens").sync_every(Duration::MAX);
    log.append(&[entry(1)]).expect("appended");
    crash(log);
    assert!(!place.heads.join("live.json").exists());
    let verified = place.check(None).expect("whole");
    assert_eq!(verified, Verified { entries: 1, recovered: 0, lost: 0, ..one_file() });
}
