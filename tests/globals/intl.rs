//! `Intl` in the engine itself. The many combinations are tried against Node's in `guest-js/tests-js`; here are some of
//! them with the answers that Node's ICU gave, and all time zones.

use agent_spaces::{Limits, RunOptions};
use agent_spaces_tests::{empty_space, error, value};
use jiff::{Timestamp, tz::TimeZoneDatabase};
use serde_json::Value;

/// Expressions, and what ICU answers: made by `guest-js/locale-data/cases.mjs`.
const CASES: &str = include_str!("intl.json");

#[tokio::test]
async fn texts_match_icu() {
    let cases: Vec<(String, Value)> = serde_json::from_str(CASES).unwrap();
    let expressions: Vec<String> = cases.iter().map(|(expression, _)| format!("() => {expression}")).collect();
    let source = format!("[{}].map((each) => each())", expressions.join(",\n"));
    let found = value(&empty_space(), &source).await;
    assert_eq!(found.as_array().unwrap().len(), cases.len());
    let different: Vec<String> = cases
        .iter()
        .zip(found.as_array().unwrap())
        .filter(|((_, expected), found)| expected != *found)
        .map(|((expression, expected), found)| format!("{expression}: ICU {expected}, here {found}"))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(cases.len() > 500);
}

/// The engine reads the zone data by itself: at every instant as the host does.
#[tokio::test]
async fn every_time_zone_matches_the_host() {
    let zones = TimeZoneDatabase::bundled();
    let names: Vec<String> = zones.available().map(|name| name.as_str().to_owned()).collect();
    assert!(names.len() > 500);
    let instants: Vec<Timestamp> = [
        "1850-01-01T00:00:00Z",
        "1912-06-30T12:00:00Z",
        "1945-08-14T23:00:00Z",
        "1969-12-31T23:59:59Z",
        "1995-04-02T09:59:59Z",
        "2025-01-15T12:00:00Z",
        "2025-07-15T12:00:00Z",
        "2060-03-28T00:59:59Z",
        "2060-03-28T01:00:00Z",
        "2199-11-05T05:30:00Z",
        "9000-10-26T01:00:00Z",
    ]
    .iter()
    .map(|text| text.parse().unwrap())
    .collect();
    let milliseconds: Vec<i64> = instants.iter().map(|instant| instant.as_millisecond()).collect();
    let source = format!(
        "const instants = {};
         {}.map((timeZone) => {{
             const format = new Intl.DateTimeFormat('sv-SE', {{ timeZone, dateStyle: 'short', timeStyle: 'medium' }});
             return instants.map((instant) => format.format(instant));
         }})",
        serde_json::to_string(&milliseconds).unwrap(),
        serde_json::to_string(&names).unwrap(),
    );
    let program = empty_space().prepare("zones.js", &source).unwrap();
    let limits = Limits { fuel: u64::MAX / 4, ..Limits::default() };
    let found = program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await.outcome.unwrap();
    assert_eq!(found.as_array().unwrap().len(), names.len());
    let mut different = Vec::new();
    for (name, found) in names.iter().zip(found.as_array().unwrap()) {
        let zone = zones.get(name).unwrap();
        assert_eq!(found.as_array().unwrap().len(), instants.len(), "{name}");
        for (instant, found) in instants.iter().zip(found.as_array().unwrap()) {
            let expected = instant.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string();
            if found.as_str() != Some(&expected) {
                different.push(format!("{name} at {instant}: {expected}, here {found}"));
            }
        }
    }
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different[..different.len().min(20)].join("\n"));
}

#[tokio::test]
async fn other_locales_and_options_are_refused_by_name() {
    let space = empty_space();
    for (source, expected) in [
        ("(1).toLocaleString('pl')", "Locale pl is not available here, only de, de-DE, en"),
        ("new Date(0).toLocaleDateString('pt-BR')", "Locale pt-BR is not available here"),
        ("new Intl.NumberFormat('en', { style: 'unit', unit: 'liter' })", "only: decimal percent currency"),
        ("new Date(0).toLocaleString('en', { timeZone: 'Mars/Olympus' })", "Invalid time zone specified: Mars/Olympus"),
        ("(1).toLocaleString('x'.repeat(100000))", "Incorrect locale information provided"),
    ] {
        let ended = error(&space, source).await;
        assert_eq!(ended.name.as_deref(), Some("RangeError"), "{source}");
        assert!(ended.message.contains(expected) && ended.message.len() < 400, "{source}: {}", ended.message);
    }
}
