use super::{CountError, DayCounts, DayFile, Taken, Wanted};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

const ONE: &[Wanted<'static>] = &[Wanted { key: "a", most: 2 }];

#[test]
fn counts_persist_and_the_file_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("space.json");
    assert_eq!(DayFile::new(&path).take(ONE).unwrap(), Taken::Counted);
    assert_eq!(DayFile::new(&path).take(ONE).unwrap(), Taken::Counted);
    assert_eq!(DayFile::new(&path).take(ONE).unwrap(), Taken::Full(0));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn limits_of_a_part_are_counted_in_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, own) = (folder.path().join("whole"), folder.path().join("own"));
    let file = DayFile::new(&whole).with_part(DayFile::new(&own), "spc_1: ");
    let wanted = [Wanted { key: "* at $.policy", most: 3 }, Wanted { key: "* at spc_1: $", most: 2 }];
    assert_eq!(file.take(&wanted).unwrap(), Taken::Counted);
    assert_eq!(file.take(&wanted).unwrap(), Taken::Counted);
    assert_eq!(file.take(&wanted).unwrap(), Taken::Full(1), "refused by the part");
    assert!(!fs::read_to_string(&whole).unwrap().contains("spc_1"));
    let other = DayFile::new(&whole).with_part(DayFile::new(folder.path().join("other")), "spc_2: ");
    let wanted = [Wanted { key: "* at spc_2: $", most: 9 }, Wanted { key: "* at $.policy", most: 3 }];
    assert_eq!(other.take(&wanted).unwrap(), Taken::Counted, "the refused call cost the whole nothing");
    assert_eq!(other.take(&wanted).unwrap(), Taken::Full(1), "the whole is shared");
}

#[test]
fn counts_reset_on_the_next_day() {
    let folder = tempfile::tempdir().unwrap();
    let file = DayFile::new(folder.path().join("space.json"));
    for today in [7, 7, 8] {
        assert_eq!(file.take_on(today, ONE).unwrap(), Taken::Counted, "{today}");
    }
    assert_eq!(file.take_on(8, ONE).unwrap(), Taken::Counted);
    assert_eq!(file.take_on(8, ONE).unwrap(), Taken::Full(0));
}

#[test]
fn a_clock_that_was_ahead_blocks_for_at_most_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let file = DayFile::new(folder.path().join("space.json"));
    for (today, taken) in
        [(100, Taken::Counted), (100, Taken::Counted), (7, Taken::Full(0)), (7, Taken::Full(0)), (8, Taken::Counted)]
    {
        assert_eq!(file.take_on(today, ONE).unwrap(), taken, "{today}");
    }
}

#[test]
fn an_invalid_file_refuses_calls_and_is_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.json");
    let today = super::day_of(std::time::SystemTime::now());
    for text in [
        String::new(),
        "{".to_owned(),
        "null".to_owned(),
        r#"{"version":2,"today":{"day":1,"counts":{}}}"#.to_owned(),
        r#"{"version":1,"today":{"day":1}}"#.to_owned(),
        r#"{"version":1,"today":{"day":1,"counts":{"a":-1}}}"#.to_owned(),
        r#"{"version":1,"today":{"day":1,"counts":{"a":1e400}}}"#.to_owned(),
        r#"{"version":1,"today":{"day":1,"counts":{}},"more":1}"#.to_owned(),
        format!(r#"{{"version":1,"today":{{"day":{today},"counts":{{"a":2}}"#),
    ] {
        fs::write(&path, &text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let error = DayFile::new(&path).take(ONE).unwrap_err();
        assert!(matches!(error, CountError::Corrupt { .. }), "{text}: {error}");
        assert!(error.to_string().contains("are refused until it is repaired or removed"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(DayFile::new(&path).take(ONE).unwrap(), Taken::Counted);
}

#[test]
fn a_file_that_others_can_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.json");
    DayFile::new(&path).take(ONE).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o620)).unwrap();
    assert!(matches!(DayFile::new(&path).take(ONE), Err(CountError::Exposed { .. })));
    let link = folder.path().join("link.json");
    symlink(&path, &link).unwrap();
    assert!(matches!(DayFile::new(&link).take(ONE), Err(CountError::Corrupt { .. })));
    fs::create_dir(folder.path().join("folder.json")).unwrap();
    assert!(matches!(DayFile::new(folder.path().join("folder.json")).take(ONE), Err(CountError::Corrupt { .. })));
}

#[test]
fn concurrent_counts_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.json");
    let wanted = [Wanted { key: "a", most: 25 }];
    let counted: usize = std::thread::scope(|scope| {
        let count = || (0..10).filter(|_| DayFile::new(&path).take(&wanted).unwrap() == Taken::Counted).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(counted, 25);
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = DayFile::new(folder.path().join("file").join("space.json")).take(ONE).unwrap_err();
    assert!(matches!(error, CountError::Io { .. }), "{error}");
}
