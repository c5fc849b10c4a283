//! Permissions and locations of a log and its head folder.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

#[test]
fn created_files_and_folders_are_private() {
    let place = Place::with(2);
    for folder in [place.log.parent().expect("folder"), &place.heads] {
        assert_eq!(mode(folder), 0o700, "{folder:?}");
    }
    let head = |name| place.heads.join(name);
    for file in [place.log.clone(), head("key"), head("head.json"), head("live.json"), head("lock")] {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
}

#[test]
fn a_head_folder_that_is_not_private_is_refused() {
    let place = Place::with(1);
    set_mode(&place.heads, 0o755);
    let refused = place.open_in(BOOT).expect_err("refused");
    assert!(matches!(refused, AuditError::NotPrivate { .. }), "{refused}");
    let refused = place.check(Some(BOOT)).expect_err("not believed");
    assert!(matches!(refused, AuditError::NotPrivate { .. }), "{refused}");
    assert!(refused.to_string().contains("chmod go-rwx"), "{refused}");
}

#[test]
fn a_copied_head_folder_may_be_readable_but_not_writable_by_others() {
    let place = Place::with(1);
    let copy = || place.verification(true).check_in(Some(BOOT));
    set_mode(&place.heads, 0o755);
    assert_eq!(copy().expect("whole").entries, 1);
    for mode in [0o775, 0o757] {
        set_mode(&place.heads, mode);
        assert!(matches!(copy(), Err(AuditError::NotPrivate { .. })), "{mode:o}");
    }
}

#[test]
fn a_missing_log_is_not_tampering() {
    let place = Place::new();
    assert!(matches!(place.check(Some(BOOT)), Err(AuditError::NoLog { .. })), "neither log nor head");
    fs::create_dir(&place.heads).expect("made");
    set_mode(&place.heads, 0o700);
    assert!(matches!(place.check(Some(BOOT)), Err(AuditError::NoLog { .. })), "an empty head folder");
    fs::create_dir(place.log.parent().expect("folder")).expect("made");
    place.write("a line");
    assert!(matches!(place.check(Some(BOOT)), Err(AuditError::Tampered(_))), "a log without a head");
}

#[test]
fn a_log_writable_by_others_is_refused_and_a_readable_one_is_not() {
    let place = Place::with(1);
    let log = place.open();
    set_mode(&place.log, 0o644);
    log.append(&[entry(2)]).expect("appended");
    set_mode(&place.log, 0o664);
    let refused = log.append(&[entry(3)]).expect_err("refused");
    assert!(matches!(refused, AuditError::NotPrivate { .. }), "{refused}");
}

#[test]
fn symlinks_and_pipes_are_refused() {
    for name in ["logs/audit.jsonl", "heads/key", "heads/head.json", "heads/live.json", "heads/lock", "heads"] {
        let place = Place::with(1);
        let log = place.open();
        let path = place.heads.parent().expect("folder").join(name);
        let moved = path.with_extension("moved");
        fs::rename(&path, &moved).expect("moved");
        symlink(&moved, &path).expect("linked");
        let refused = place.check(Some(BOOT)).expect_err("not believed");
        assert!(matches!(refused, AuditError::WrongKind { found: "a link", .. }), "{name}: {refused}");
        let refused = place.open_in(BOOT).and_then(|log| log.append(&[entry(2)]));
        assert!(matches!(refused, Err(AuditError::WrongKind { found: "a link", .. })), "{name}: {refused:?}");
        if name != "heads" && name != "heads/lock" && name != "heads/key" {
            log.append(&[entry(2)]).expect_err(name);
        }
        crash(log);
    }
    let place = Place::with(1);
    fs::remove_file(&place.log).expect("removed");
    rustix::fs::mkfifoat(rustix::fs::CWD, &place.log, rustix::fs::Mode::RWXU).expect("made");
    let refused = place.check(Some(BOOT)).expect_err("not believed");
    assert!(matches!(refused, AuditError::WrongKind { found: "a pipe", .. }), "{refused}");
}

#[test]
fn replacing_a_file_never_follows_a_symlink() {
    let place = Place::with(1);
    let victim = place.log.with_file_name("victim");
    fs::write(&victim, "precious").expect("writable");
    symlink(&victim, place.heads.join("head.json.new")).expect("linked");
    let log = place.open();
    log.append(&[entry(2)]).expect("appended");
    log.flush().expect("flushed");
    assert_eq!(fs::read_to_string(&victim).expect("readable"), "precious");
    assert_eq!(place.verify().expect("whole").entries, 2);
}

#[test]
fn a_log_inside_its_head_folder_is_refused() {
    let place = Place::new();
    for name in ["audit.jsonl", "logs/audit.jsonl", "../heads/audit.jsonl"] {
        let refused = AuditLog::open(&place.heads.join(name), &place.heads).expect_err("refused");
        assert!(matches!(refused, AuditError::SameFolder { .. }), "{refused}");
    }
}

#[test]
fn errors_name_the_fix() {
    let place = Place::with(1);
    fs::remove_file(&place.log).expect("removed");
    let refused = place.open_in(BOOT).expect_err("refused").to_string();
    assert!(refused.contains("audit.jsonl\" is missing; keep log and head folder"), "{refused}");
}
