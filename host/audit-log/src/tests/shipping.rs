//! Tests of shipped heads.

use super::*;
use crate::recorder::Recorder;
use crate::settings::Settings;
use crate::ship::Shipping;
use crate::shipped::ShippedHeads;
use std::path::Path;

impl Place {
    fn elsewhere(&self) -> PathBuf {
        self.log.with_file_name("elsewhere.jsonl")
    }

    /// Records entries in a new recorder, which ships its head at the end. Returns the warnings so far.
    fn ship(&self, numbers: std::ops::RangeInclusive<u64>, command: Vec<String>) -> Vec<String> {
        let file = command.is_empty().then(|| self.elsewhere());
        let shipping = Some(Shipping { every: Duration::from_secs(3600), file, command });
        let (log, heads) = (self.log.clone(), self.heads.clone());
        let settings =
            Settings { log, heads, sync_every: Duration::from_secs(1), rotation: None, shipping, host: None };
        warnings::collect();
        let recorder = Recorder::open(settings).expect("opens");
        for number in numbers {
            recorder.record(&entry(number)).expect("room");
        }
        drop(recorder);
        self.warnings()
    }

    fn compare(&self, shipped: &Path) -> Result<Verified, AuditError> {
        Verification { shipped: Some(shipped), ..self.verification(false) }.check()
    }

    /// Forges a log of other entries with the same key.
    fn forge(&self, count: u64) {
        fs::remove_file(&self.log).expect("removed");
        for name in ["head.json", "live.json"] {
            let _ = fs::remove_file(self.heads.join(name));
        }
        let log = AuditLog::open(&self.log, &self.heads).expect("opens");
        for number in 1..=count {
            log.append(&[json!({ "type": "call", "number": number, "forged": true })]).expect("appended");
        }
    }
}

fn tampered(found: Result<Verified, AuditError>) -> Tampered {
    match found {
        Err(AuditError::Tampered(tampered)) => tampered,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_log_forged_with_its_key_does_not_match_shipped_heads() {
    let place = Place::new();
    assert_eq!(place.ship(1..=3, Vec::new()), Vec::<String>::new());
    place.ship(4..=5, Vec::new());
    let agrees = ShippedHeads { agree: 2, removed: 0, entries: 5 };
    assert_eq!(place.compare(&place.elsewhere()).expect("agrees").shipped, Some(agrees));
    // Later entries are no mismatch.
    AuditLog::open(&place.log, &place.heads).and_then(|log| log.append(&[entry(6)])).expect("appended");
    assert_eq!(place.compare(&place.elsewhere()).expect("agrees").shipped, Some(agrees));

    place.forge(6);
    assert_eq!(place.verification(false).check().expect("all is signed").entries, 6);
    assert_eq!(tampered(place.compare(&place.elsewhere())).line, Some(3));
    place.forge(2);
    place.verification(false).check().expect("all is signed");
    let message = tampered(place.compare(&place.elsewhere())).to_string();
    assert!(message.starts_with("line 3: is missing: 3 entries were signed"), "{message}");
}

#[test]
fn a_changed_or_foreign_shipped_head_is_detected() {
    let (place, other) = (Place::new(), Place::new());
    place.ship(1..=3, Vec::new());
    other.ship(1..=3, Vec::new());
    assert!(tampered(place.compare(&other.elsewhere())).message.contains("is not a head that this log's key signed"));
    let heads = fs::read_to_string(place.elsewhere()).expect("readable");
    fs::write(place.elsewhere(), heads.replace("\"count\":3", "\"count\":2")).expect("writable");
    tampered(place.compare(&place.elsewhere()));
    // A torn line is no head, and does not spoil the next one.
    fs::write(place.elsewhere(), format!("{heads}{{\"time\"")).expect("writable");
    assert_eq!(place.compare(&place.elsewhere()).expect("agrees").shipped.map(|found| found.agree), Some(1));
}

#[test]
fn a_command_receives_the_head_and_its_failure_is_reported() {
    let place = Place::new();
    let kept = place.heads.with_file_name("kept");
    let shell = |script: &str| vec!["sh".to_owned(), "-c".to_owned(), script.to_owned(), kept.display().to_string()];
    assert_eq!(place.ship(1..=2, shell("cat >> \"$0\"")), Vec::<String>::new());
    assert_eq!(place.compare(&kept).expect("agrees").shipped.map(|found| found.agree), Some(1));
    let told = place.ship(3..=4, shell("exit 7"));
    assert!(told.len() == 1 && told[0].contains("could not be shipped") && told[0].contains('7'), "{told:?}");
    assert_eq!(place.verification(false).check().expect("whole").entries, 4, "the entries are written all the same");
}
