//! Tampering with a log and its heads.

use super::*;
use data_encoding::HEXLOWER;
use proptest::prelude::*;

/// Checks that tampering is detected at this line, with this reason.
fn assert_found(place: &Place, line: impl Into<Option<u64>>, why: &str) {
    let tampered = place.verify().expect_err("found out");
    assert_eq!(tampered.line, line.into(), "{tampered}");
    assert!(tampered.message.contains(why), "{tampered}");
}

/// Joins lines to the text of a log.
fn join<'a>(lines: impl IntoIterator<Item = &'a String>) -> String {
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// Recomputes the hash of a line.
fn rehash(line: &str) -> String {
    let text = line.split_once(",\"hash\":").expect("hash").0;
    let hash = HEXLOWER.encode(ring::digest::digest(&ring::digest::SHA256, format!("{text}}}").as_bytes()).as_ref());
    format!("{text},\"hash\":\"{hash}\"}}")
}

#[test]
fn any_changed_byte_is_detected() {
    let place = Place::with(3);
    assert_eq!(place.verify().expect("whole").entries, 3);
    for path in [&place.log, &place.heads.join("head.json"), &place.heads.join("live.json"), &place.heads.join("key")] {
        let whole = fs::read(path).expect("readable");
        for place_of_byte in 0..whole.len() {
            // The fourth turns a space into a newline.
            for mask in [1, 0x20, 0x80, 0x2a] {
                let mut changed = whole.clone();
                changed[place_of_byte] ^= mask;
                fs::write(path, &changed).expect("writable");
                place.verify().expect_err(&format!("{path:?}, byte {place_of_byte}, mask {mask}"));
            }
        }
        fs::write(path, &whole).expect("writable");
    }
    assert_eq!(place.verify().expect("whole again").entries, 3);
}

#[test]
fn any_byte_added_to_or_removed_from_signed_lines_is_detected() {
    let place = Place::with(3);
    let whole = place.read();
    for byte in 0..whole.len() {
        let mut changed = whole.clone();
        changed.remove(byte);
        place.write(&changed);
        place.verify().expect_err(&format!("without byte {byte}"));
        let mut changed = whole.clone();
        changed.insert(byte, b' ');
        place.write(&changed);
        place.verify().expect_err(&format!("with another byte at {byte}"));
    }
}

#[test]
fn truncation_at_any_byte_is_detected() {
    let place = Place::with(4);
    let whole = place.read();
    let lines = place.lines();
    for length in 0..whole.len() {
        place.write(&whole[..length]);
        let kept = whole[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_found(&place, kept + 1, "is missing or incomplete: the log ends here, and 4 were signed");
    }
    for first in 1..=4 {
        place.write(join(&lines[first..]));
        let line = place.verify().expect_err("found out");
        assert_eq!(line.line, Some(1), "{line}");
    }
}

#[test]
fn reordered_repeated_and_missing_lines_are_located() {
    let place = Place::with(4);
    let lines = place.lines();
    let number = "lines were removed, added or reordered";
    for (order, line, why) in [
        (&[1, 0, 2, 3][..], 1, number),
        (&[0, 2, 1, 3], 2, number),
        (&[0, 1, 3, 2], 3, number),
        (&[0, 0, 1, 2, 3], 2, number),
        (&[0, 1, 1, 3], 3, number),
        (&[0, 1, 2, 3, 3], 5, number),
        (&[0, 1, 2, 3, 0], 5, number),
        (&[1, 2, 3], 1, number),
        (&[0, 2, 3], 2, number),
    ] {
        place.write(join(order.iter().map(|index| &lines[*index])));
        assert_found(&place, line, why);
    }
}

#[test]
fn a_forged_line_is_detected_even_if_well_formed() {
    let place = Place::with(4);
    let lines = place.lines();
    let mut changed = lines.clone();
    changed[1] = lines[1].replace("\"number\":2", "\"number\":7");
    place.write(join(&changed));
    assert_found(&place, 2, "its hash does not match");
    changed[1] = rehash(&changed[1]);
    place.write(join(&changed));
    assert_found(&place, 3, "does not continue line 2");
    // The rest of the chain recomputed: consistent, but not what was signed.
    let hash = |line: &str| line.rsplit('"').nth(1).expect("hash").to_owned();
    changed[2] = rehash(&changed[2].replace(&hash(&lines[1]), &hash(&changed[1])));
    changed[3] = rehash(&changed[3].replace(&hash(&lines[2]), &hash(&changed[2])));
    place.write(join(&changed));
    assert_found(&place, 3, "is not the line that was signed");
    // Only the last line, which only `live.json` signs.
    changed = lines.clone();
    changed[3] = rehash(&lines[3].replace("\"number\":4", "\"number\":7"));
    place.write(join(&changed));
    assert_found(&place, 4, "is not the line that was signed");
    place.write(join(lines.iter().chain([&"{\"seq\":5}".to_owned()])));
    assert_found(&place, 5, "is not a line of this log");
    place.write(join(lines.iter().chain([&String::new()])));
    assert_found(&place, 5, "is not a line of this log");
    place.write(format!("{}garbage", join(&lines)));
    assert_found(&place, 5, "is not a line of this log");
    place.write(join(&lines).replace('\n', "\r\n"));
    assert_found(&place, 1, "its hash does not match");
}

#[test]
fn an_unsigned_line_that_continues_the_chain_is_reported_and_must_be_json() {
    let place = Place::with(2);
    let lines = place.lines();
    let prev = lines[1].rsplit('"').nth(1).expect("hash");
    for (entry, is_kept) in [("{}", true), ("{} {}", false), ("nonsense", false), ("", false), ("{\"a\":1", false)] {
        let line = format!(r#"{{"seq":3,"time":"","prev":"{prev}","entry":{entry},"hash":""}}"#);
        place.write(join(lines.iter().chain([&rehash(&line)])));
        match is_kept {
            true => assert_eq!(place.verify(), Ok(Verified { entries: 3, recovered: 1, lost: 0, ..one_file() })),
            false => assert_found(&place, 3, "is not JSON"),
        }
    }
}

#[test]
fn an_endless_line_uses_bounded_memory() {
    let place = Place::with(1);
    let line = place.lines().remove(0);
    place.write(line.replace("Gr", &"x".repeat(1 << 20)));
    assert_found(&place, 1, "was changed");
    place.write(format!("{line}\n{}", "{\"seq\":2,\"time\":\"".to_owned() + &"x".repeat(1 << 20)));
    assert_found(&place, 2, "is not a line of this log");
}

#[test]
fn a_log_of_another_key_is_detected_at_its_first_line() {
    let (place, other) = (Place::with(3), Place::with(3));
    place.write(other.read());
    assert_found(&place, 1, "belongs to a log of another key");
    let place = Place::with(3);
    place.restore(
        &other
            .heads()
            .into_iter()
            .map(|(path, bytes)| (place.heads.join(path.file_name().expect("name")), bytes))
            .filter(|(path, _)| !path.ends_with("key"))
            .collect::<Vec<_>>(),
    );
    assert_found(&place, None, "was changed, or belongs to another key");
}

#[test]
fn one_head_cannot_replace_the_other() {
    let place = Place::with(3);
    fs::copy(place.heads.join("live.json"), place.heads.join("head.json")).expect("copied");
    assert_found(&place, None, "head.json\" was changed");
}

#[test]
fn missing_files_are_detected() {
    for (gone, why) in [
        ("logs/audit.jsonl", "is missing; 3 entries were signed"),
        ("heads/head.json", "has no head"),
        ("heads/key", "key\" is missing"),
        ("heads", "has no head"),
    ] {
        let place = Place::with(3);
        let path = place.heads.parent().expect("folder").join(gone);
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.expect("removed");
        assert_found(&place, None, why);
        if gone != "heads" {
            let refused = place.open_in(BOOT).expect_err("no new beginning");
            assert!(matches!(refused, AuditError::Tampered(_)), "{refused}");
        }
    }
}

#[test]
fn nothing_is_appended_to_a_log_whose_signed_end_was_changed() {
    for change in [
        |whole: Vec<u8>| whole[..whole.len() - 1].to_vec(),
        |whole: Vec<u8>| Vec::from(&whole[..whole.len() / 2]),
        |mut whole: Vec<u8>| {
            let last = whole.len() - 10;
            whole[last] ^= 1;
            whole
        },
        |whole: Vec<u8>| [whole, b"{\"seq\":4}\n".to_vec()].concat(),
    ] {
        let place = Place::with(3);
        let log = place.open();
        let changed = change(place.read());
        place.write(&changed);
        let refused = log.append(&[entry(4)]).expect_err("refused");
        assert!(matches!(refused, AuditError::Tampered(_)), "{refused}");
        assert_eq!(place.read(), changed, "what happened can still be seen");
    }
}

#[test]
fn tampering_is_detected_after_further_appends() {
    let place = Place::with(3);
    let log = place.open();
    let whole = String::from_utf8(place.read()).expect("text");
    place.write(whole.replace("\"number\":1", "\"number\":7"));
    log.append(&[entry(4)]).expect("the end is as it was signed");
    drop(log);
    assert_found(&place, 1, "its hash does not match");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_change_of_any_log_is_detected(
        texts in prop::collection::vec(".{0,40}", 1..6),
        from in any::<prop::sample::Index>(),
        length in 0..3_usize,
        other in prop::collection::vec(any::<u8>(), 0..3),
        flushed in any::<prop::sample::Index>(),
    ) {
        let place = Place::new();
        let log = place.open();
        for (index, text) in texts.iter().enumerate() {
            log.append(&[json!(text)]).expect("appended");
            if index == flushed.index(texts.len()) {
                log.flush().expect("flushed");
            }
        }
        crash(log);
        prop_assert_eq!(place.verify().expect("whole").entries, texts.len() as u64);
        let whole = place.read();
        let from = from.index(whole.len());
        let to = (from + length).min(whole.len());
        let mut changed = whole.clone();
        changed.splice(from..to, other);
        prop_assume!(changed != whole);
        place.write(&changed);
        prop_assert!(place.verify().is_err());
    }
}
