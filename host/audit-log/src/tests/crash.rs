//! Process crashes and power loss at any moment.

use super::*;

/// Counts complete lines, and tells whether a torn one follows.
fn count(bytes: &[u8]) -> (u64, bool) {
    (bytes.iter().filter(|byte| **byte == b'\n').count() as u64, bytes.last().is_some_and(|byte| *byte != b'\n'))
}

#[test]
fn unsigned_entries_of_a_crashed_process_are_kept_and_reported() {
    for is_flushed in [true, false] {
        let place = Place::with(2);
        let log = place.open();
        if is_flushed {
            log.flush().expect("flushed");
        }
        let (heads, signed) = (place.heads(), place.read().len());
        log.append(&[entry(3), entry(4)]).expect("appended");
        crash(log);
        let whole = place.read();
        for length in signed..=whole.len() {
            place.restore(&heads);
            place.write(&whole[..length]);
            let (kept, is_torn) = count(&whole[..length]);
            let left = Verified { entries: kept, recovered: kept - 2, lost: u64::from(is_torn), ..one_file() };
            assert_eq!(place.verify(), Ok(left), "cut at {length}");

            let log = place.open();
            log.append(&[entry(9)]).expect("appended");
            crash(log);
            let note = u64::from(length > signed);
            assert_eq!(place.verify(), Ok(Verified { entries: kept + note + 1, ..left }), "cut at {length}");
            let mut expected: Vec<_> = (1..=kept).map(entry).collect();
            if length > signed {
                expected.push(json!({ "type": "recovered", "entries": kept - 2, "lost": u64::from(is_torn) }));
            }
            expected.push(entry(9));
            assert_eq!(place.entries(), expected);
        }
        for length in 0..signed {
            place.restore(&heads);
            place.write(&whole[..length]);
            place.verify().expect_err("what was signed is gone");
        }
    }
}

/// A log with two synced and three unsynced entries, after which power is lost.
fn powerless() -> (Place, usize) {
    let place = Place::with(2);
    let log = place.open();
    log.flush().expect("flushed");
    let durable = place.read().len();
    log.append(&[entry(3), entry(4)]).expect("appended");
    log.append(&[entry(5)]).expect("appended");
    crash(log);
    (place, durable)
}

/// Possible states of an unsynced `live.json`.
fn lives(place: &Place) -> Vec<Option<Vec<u8>>> {
    let live = fs::read(place.heads.join("live.json")).expect("live head");
    let mut torn = live.clone();
    torn[100..300].fill(0);
    vec![Some(live), Some(torn), Some(Vec::new()), Some(vec![0; 512]), None]
}

#[test]
fn power_loss_loses_a_tail_and_is_not_tampering() {
    let (place, durable) = powerless();
    let (whole, heads) = (place.read(), place.heads());
    for (index, live) in lives(&place).into_iter().enumerate() {
        for length in 0..=whole.len() {
            // Unsynced bytes are missing, or zeroed.
            for filled in [length, whole.len()] {
                place.restore(&heads);
                let _ = fs::remove_file(place.heads.join("live.json"));
                if let Some(live) = &live {
                    fs::write(place.heads.join("live.json"), live).expect("writable");
                }
                let mut log = whole[..length].to_vec();
                log.resize(filled, 0);
                place.write(&log);
                let found = place.verify_in(NEXT_BOOT);
                if length < durable {
                    found.expect_err("what was on the disk is gone");
                    place.open_in(NEXT_BOOT).expect("opens").append(&[entry(9)]).expect_err("nothing is added");
                    continue;
                }
                let found = found.expect("power was lost, nothing else");
                let (kept, _) = count(&whole[..length]);
                let has_torn = filled as u64 > place_of(&whole, kept);
                let expected = match index {
                    0 if kept == 5 => Verified { entries: 5, recovered: 0, lost: 0, ..one_file() },
                    0 => Verified { entries: kept, recovered: kept - 2, lost: 5 - kept, ..one_file() },
                    _ => Verified { entries: kept, recovered: kept - 2, lost: u64::from(has_torn), ..one_file() },
                };
                assert_eq!(found, expected, "live {index}, cut at {length}, filled to {filled}");

                // Appending syncs, so it is tried at line ends and a few offsets between them.
                let is_end = whole[..length].ends_with(b"\n") || whole[..length - 1].ends_with(b"\n");
                if !is_end && length % 256 != 0 {
                    continue;
                }
                let log = place.open_in(NEXT_BOOT).expect("opens");
                log.append(&[entry(9)]).expect("appended");
                log.append(&[entry(10)]).expect("appended");
                crash(log);
                let note = u64::from(found.recovered > 0 || found.lost > 0);
                let expected = Verified { entries: kept + note + 2, ..found };
                assert_eq!(place.verify_in(NEXT_BOOT), Ok(expected), "live {index}, cut at {length}");
            }
        }
    }
}

/// Returns the offset at which this many lines end.
fn place_of(bytes: &[u8], lines: u64) -> u64 {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place as u64 + 1);
    ends.take(lines as usize).last().unwrap_or_default()
}

#[test]
fn power_loss_during_recovery_is_harmless() {
    let (place, durable) = powerless();
    let torn = place.read()[..place.read().len() - 7].to_vec();
    place.write(&torn);
    let before = place.heads();
    let log = place.open_in(NEXT_BOOT).expect("opens");
    log.append(&[entry(9)]).expect("appended");
    crash(log);
    let (mended, after) = (place.read(), place.heads());
    // The old head with any part of the new bytes, and the new head with all of them.
    for length in durable..=mended.len() {
        for has_live in [true, false] {
            place.restore(&before);
            if !has_live {
                fs::remove_file(place.heads.join("live.json")).expect("removed");
            }
            place.write(&mended[..length]);
            place.verify_in("b009").expect("nobody changed it");
        }
    }
    place.restore(&after);
    place.write(&mended);
    assert_eq!(place.verify_in("b009"), Ok(Verified { entries: 6, recovered: 2, lost: 1, ..one_file() }));
}

#[test]
fn truncation_not_explained_by_power_loss_is_detected() {
    let (place, durable) = powerless();
    let whole = place.read();
    for length in durable..whole.len() {
        place.write(&whole[..length]);
        place.verify().expect_err("the machine runs since before it was written");
    }
    // Power loss does not explain it after the first append of the next boot either.
    place.write(&whole);
    let log = place.open_in(NEXT_BOOT).expect("opens");
    log.append(&[entry(6)]).expect("appended");
    crash(log);
    let whole = place.read();
    place.write(&whole[..whole.len() - 1]);
    place.verify_in(NEXT_BOOT).expect_err("it was on the disk");
}

#[test]
fn a_log_without_appends_is_empty() {
    let place = Place::new();
    drop(place.open());
    assert_eq!(place.verify(), Ok(one_file()));
    fs::remove_file(place.heads.join("head.json")).expect("removed");
    assert_eq!(place.verify(), Ok(Verified::default()), "the log is made before its head");
    place.open().append(&[entry(1)]).expect("appended");
    assert_eq!(place.verify().expect("whole").entries, 1);
}

#[test]
fn recovery_entries_add_up() {
    let place = Place::with(1);
    for round in 1..=3 {
        let heads = place.heads();
        let log = place.open();
        log.append(&[entry(2)]).expect("appended");
        crash(log);
        place.restore(&heads);
        place.open().append(&[entry(3)]).expect("appended");
        assert_eq!(place.verify().expect("whole").recovered, round);
    }
}
