//! Tests of instants, zones and durations.

use super::*;
use proptest::prelude::*;
use std::time::{Instant, SystemTime};

fn answer(function: &str, params: Value) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("runtime");
    runtime.block_on(call(function, params))
}

fn text(function: &str, params: Value) -> String {
    answer(function, params).expect("an answer").as_str().expect("text").to_owned()
}

fn parse(text_: &str, zone: Option<&str>) -> String {
    text("parse", json!({ "text": text_, "zone": zone }))
}

fn add(instant: &str, duration: &str, zone: Option<&str>) -> String {
    text("add", json!({ "instant": instant, "duration": duration, "zone": zone }))
}

/// Checks that a call is refused as invalid, and that the message says so much.
fn refused(function: &str, params: Value, why: &str) {
    let error = answer(function, params.clone()).expect_err(&format!("{params}"));
    assert_eq!((error.code.as_str(), error.retryable), ("call.invalid", false), "{error}");
    assert!(error.message.contains(why), "{error}");
}

#[test]
fn now_is_an_instant_in_milliseconds() {
    let now = text("now", Value::Null);
    assert_eq!((now.len(), &now[19..20], &now[23..]), ("2025-01-15T10:30:00.000Z".len(), ".", "Z"));
    let then: jiff::Timestamp = now.parse().expect("RFC 3339");
    let passed = SystemTime::now().duration_since(then.into()).expect("past");
    assert!(passed < Duration::from_secs(60), "{passed:?}");
}

#[test]
fn many_instant_formats_are_parsed() {
    for (given, zone, expected) in [
        ("2025-01-15T10:30:00Z", None, "2025-01-15T10:30:00Z"),
        ("2025-01-15T10:30:00.25+02:00", None, "2025-01-15T08:30:00.25Z"),
        ("2025-01-15t10:30:00z", None, "2025-01-15T10:30:00Z"),
        ("2025-01-15 10:30:00-05:30", None, "2025-01-15T16:00:00Z"),
        ("2025-01-15T10:30:00.123456789Z", None, "2025-01-15T10:30:00.123456789Z"),
        ("Wed, 15 Jan 2025 10:30:00 +0100", None, "2025-01-15T09:30:00Z"),
        ("15 Jan 2025 10:30:00 GMT", None, "2025-01-15T10:30:00Z"),
        ("2025-01-15", None, "2025-01-15T00:00:00Z"),
        ("2025-01-15", Some("Europe/Berlin"), "2025-01-14T23:00:00Z"),
        ("2025-01-15 10:30", None, "2025-01-15T10:30:00Z"),
        ("2025-07-15 10:30", Some("Europe/Berlin"), "2025-07-15T08:30:00Z"),
        ("2025-07-15T10:30:05.5", Some("america/new_york"), "2025-07-15T14:30:05.5Z"),
        ("2025-01-15T10:30[Europe/Berlin]", None, "2025-01-15T09:30:00Z"),
        ("2025-01-15T10:30+01:00[Europe/Berlin]", None, "2025-01-15T09:30:00Z"),
        ("2025-01-15[Asia/Tokyo]", None, "2025-01-14T15:00:00Z"),
        ("2025-01-15T10:30[+05:30]", None, "2025-01-15T05:00:00Z"),
        ("  2025-01-15T10:30:00Z\n", None, "2025-01-15T10:30:00Z"),
        // A zone or offset in the text takes precedence over the given one.
        ("2025-01-15T10:30:00Z", Some("Europe/Berlin"), "2025-01-15T10:30:00Z"),
        ("2025-01-15T10:30[Asia/Tokyo]", Some("Europe/Berlin"), "2025-01-15T01:30:00Z"),
    ] {
        assert_eq!(parse(given, zone), expected, "{given}");
    }
}

#[test]
fn ambiguous_local_times_are_earlier_and_skipped_ones_move_forward() {
    for (given, expected) in [
        ("2025-10-26 02:30", "2025-10-26T00:30:00Z"),
        ("2025-03-30 02:30", "2025-03-30T01:30:00Z"),
        ("2025-10-26T02:30[Europe/Berlin]", "2025-10-26T00:30:00Z"),
        ("2025-03-30T02:30[Europe/Berlin]", "2025-03-30T01:30:00Z"),
        ("2025-10-26T02:30+01:00[Europe/Berlin]", "2025-10-26T01:30:00Z"),
    ] {
        assert_eq!(parse(given, Some("Europe/Berlin")), expected, "{given}");
    }
    // In Beirut, the clock skips midnight itself.
    assert_eq!(parse("2025-03-30", Some("Asia/Beirut")), "2025-03-29T22:00:00Z");
}

#[test]
fn invalid_instants_are_refused_with_the_expected_formats() {
    for (given, why) in [
        ("", "expected RFC 3339 (2025-01-15T10:30:00Z)"),
        ("tomorrow", "expected RFC 3339 (2025-01-15T10:30:00Z)"),
        ("2025-02-30", "day"),
        ("2025-13-01", "month"),
        ("2025-01-15T25:00Z", "hour"),
        ("2025-01-15T10:30+99:00", "offset"),
        ("Thu, 15 Jan 2025 10:30:00 +0000", "weekday"),
        ("10:30", "expected RFC 3339"),
        ("1736937000", "expected RFC 3339"),
        ("2025-01-15T10:30+05:00[Europe/Berlin]", "Europe/Berlin"),
        ("2025-01-15T10:30[Europe/Berln]", "did you mean Europe/Berlin?"),
        ("9999-12-31T23:59:59-23:59", "is not an instant"),
        ("-000044-03-15T12:00:00Z", "from 0000 to 9999"),
    ] {
        refused("parse", json!({ "text": given }), why);
    }
    refused("parse", json!({ "text": "2".repeat(201) }), "at most 200 bytes, not 201");
}

#[test]
fn an_unknown_zone_is_refused_with_a_suggestion() {
    for (zone, why) in [
        ("Europe/Berln", "Unknown time zone \"Europe/Berln\"; did you mean Europe/Berlin?"),
        ("Berlin", "did you mean Europe/Berlin?"),
        ("new york", "did you mean America/New_York?"),
        ("Mars/Olympus", "expected an IANA name such as Europe/Berlin, or UTC"),
        ("", "expected an IANA name"),
        ("+02:00", "expected an IANA name"),
        ("../../etc/passwd", "expected an IANA name"),
        ("Etc/Unknown", "Unknown time zone"),
        (&"x".repeat(101), "too long"),
    ] {
        for (function, params) in [
            ("parse", json!({ "text": "2025-01-15", "zone": zone })),
            ("format", json!({ "instant": "2025-01-15T10:30:00Z", "pattern": "%Y", "zone": zone })),
            ("parts", json!({ "instant": "2025-01-15T10:30:00Z", "zone": zone })),
            ("add", json!({ "instant": "2025-01-15T10:30:00Z", "duration": "1d", "zone": zone })),
        ] {
            refused(function, params, why);
        }
    }
}

#[test]
fn instants_are_formatted_by_a_pattern_in_a_zone() {
    for (pattern, zone, expected) in [
        ("%Y-%m-%d %H:%M:%S", None, "2025-07-15 22:30:05"),
        ("%A, %d %B %Y", Some("Asia/Tokyo"), "Wednesday, 16 July 2025"),
        ("%H:%M %Z (%:z)", Some("Europe/Berlin"), "00:30 CEST (+02:00)"),
        ("%Q %s %% %.3f", Some("Europe/Berlin"), "Europe/Berlin 1752618605 % .250"),
        ("Grüße", None, "Grüße"),
        ("", None, ""),
    ] {
        let params = json!({ "instant": "2025-07-15T22:30:05.25Z", "pattern": pattern, "zone": zone });
        assert_eq!(text("format", params), expected);
    }
    let with = |pattern: String| json!({ "instant": "2025-07-15T22:30:05Z", "pattern": pattern });
    refused("format", with("%Y %".to_owned()), "such as %Y-%m-%d %H:%M");
    refused("format", with("%!".to_owned()), "such as %Y-%m-%d %H:%M");
    refused("format", with("x".repeat(201)), "at most 200 bytes, not 201");
    let mut long = with("%Q".repeat(100));
    assert_eq!(text("format", long.clone()), "UTC".repeat(100));
    long["zone"] = json!("America/Argentina/Buenos_Aires");
    refused("format", long, "more than 1000 bytes");
}

#[test]
fn an_instant_has_parts_in_a_zone() {
    let parts = |instant: &str, zone: Value| answer("parts", json!({ "instant": instant, "zone": zone }));
    assert_eq!(
        parts("2025-07-13T22:30:05.257999Z", json!("europe/berlin")),
        Ok(json!({
            "year": 2025, "month": 7, "day": 14, "hour": 0, "minute": 30, "second": 5, "millisecond": 257,
            "weekday": 1, "offset": "+02:00", "zone": "Europe/Berlin",
        }))
    );
    let offset = |instant: &str, zone: Value| {
        let parts = parts(instant, zone).expect("parts");
        (parts["offset"].clone(), parts["zone"].clone())
    };
    assert_eq!(offset("2025-01-01T00:00:00Z", Value::Null), (json!("+00:00"), json!("UTC")));
    assert_eq!(offset("2025-01-01T00:00:00Z", json!("America/St_Johns")), (json!("-03:30"), json!("America/St_Johns")));
    assert_eq!(offset("1850-01-01T00:00:00Z", json!("Europe/Berlin")), (json!("+00:53:28"), json!("Europe/Berlin")));
    let sunday = parts("2025-07-13T12:00:00Z", Value::Null).expect("parts");
    assert_eq!(sunday["weekday"], 7);
}

#[test]
fn days_and_months_follow_the_zones_calendar() {
    let berlin = Some("Europe/Berlin");
    for (instant, duration, zone, expected) in [
        ("2025-01-15T10:30:00Z", "1h 30m", None, "2025-01-15T12:00:00Z"),
        ("2025-01-15T10:30:00Z", "-2d", None, "2025-01-13T10:30:00Z"),
        ("2025-01-15T10:30:00Z", "2 days ago", None, "2025-01-13T10:30:00Z"),
        ("2025-01-31T10:30:00Z", "P1M", None, "2025-02-28T10:30:00Z"),
        ("2025-01-15T10:30:00Z", "-P1Y2M3DT4H5M6.5S", None, "2023-11-12T06:24:53.5Z"),
        ("2025-01-15T10:30:00Z", "250ms", None, "2025-01-15T10:30:00.25Z"),
        ("2025-01-15T10:30:00Z", "1.5h", None, "2025-01-15T12:00:00Z"),
        // The night in which the clock is set forward has 23 hours.
        ("2025-03-29T12:00:00+01:00", "1d", berlin, "2025-03-30T10:00:00Z"),
        ("2025-03-29T12:00:00+01:00", "24h", berlin, "2025-03-30T11:00:00Z"),
        ("2025-03-29T12:00:00+01:00", "1d", None, "2025-03-30T11:00:00Z"),
        // Where it is the first of the month already.
        ("2025-01-31T23:30:00Z", "P1M", berlin, "2025-02-28T23:30:00Z"),
    ] {
        assert_eq!(add(instant, duration, zone), expected, "{instant} {duration}");
    }
}

#[test]
fn invalid_and_excessive_durations_are_refused() {
    let with = |duration: &str| json!({ "instant": "2025-01-15T10:30:00Z", "duration": duration });
    for duration in ["", "5", "1 fortnight", "h", "P", "1h 30", "∞", &"1h ".repeat(50)] {
        refused("add", with(duration), "duration must be one such as `1h 30m`, `-2d` or `P1M`");
    }
    for duration in ["9000y", "-9000y", "P19998Y", "-P19998Y", "631107417600s", "-2026y"] {
        refused("add", with(duration), "0000");
    }
}

#[test]
fn differences_are_in_milliseconds() {
    for (earlier, later, expected) in [
        ("2025-01-15T10:30:00Z", "2025-01-15T12:00:00.5+01:00", 1_800_500.0),
        ("2025-01-15T10:30:00Z", "2025-01-15T10:29:59Z", -1000.0),
        ("2025-01-15T10:30:00Z", "2025-01-15T10:30:00.0001Z", 0.1),
        ("0000-01-01T00:00:00Z", "9999-12-30T00:00:00Z", 3_652_423.0 * 86_400_000.0),
    ] {
        let found = answer("since", json!({ "earlier": earlier, "later": later })).expect("a number");
        assert_eq!(found.as_f64(), Some(expected), "{earlier} {later}");
    }
}

#[test]
fn an_instant_without_an_offset_is_refused() {
    for instant in
        ["2025-01-15", "2025-01-15T10:30:00", "2025-01-15T10:30[Europe/Berlin]", "", "-000001-01-01T00:00:00Z"]
    {
        for (function, params) in [
            ("format", json!({ "instant": instant, "pattern": "%Y" })),
            ("parts", json!({ "instant": instant })),
            ("add", json!({ "instant": instant, "duration": "1h" })),
        ] {
            refused(function, params, "instant must be an instant of RFC 3339 with its offset");
        }
        refused("since", json!({ "earlier": instant, "later": "2025-01-15T10:30:00Z" }), "earlier must be an instant");
        refused("since", json!({ "earlier": "2025-01-15T10:30:00Z", "later": instant }), "later must be an instant");
    }
}

#[test]
fn sleep_takes_the_requested_time_up_to_ten_minutes() {
    let start = Instant::now();
    assert_eq!(answer("sleep", json!({ "milliseconds": 30 })), Ok(Value::Null));
    assert!(start.elapsed() >= Duration::from_millis(30));
    refused("sleep", json!({ "milliseconds": 600_001 }), "at most 600000, which is ten minutes, not 600001");
    refused("sleep", json!({ "milliseconds": -1 }), "milliseconds");
    refused("sleep", json!({}), "milliseconds is missing");
    refused("wait", json!({}), "There is no function time.wait");
    // The longest is allowed; a caller that stops waiting ends it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("runtime");
    let wait = async {
        tokio::time::timeout(Duration::from_millis(30), call("sleep", json!({ "milliseconds": 600_000 }))).await
    };
    assert!(runtime.block_on(wait).is_err());
}

/// Anything, and things that look like instants, zones, patterns and durations at and beyond all limits.
fn odd() -> impl Strategy<Value = String> {
    let number = prop_oneof![any::<i64>().prop_map(|number| number.to_string()), "[0-9]{1,6}"];
    prop_oneof![
        ".{0,60}",
        "[0-9TZ:+.\\[\\]/ -]{0,60}",
        "[+-]?[0-9]{4,6}-[0-9]{2}-[0-9]{2}[T ][0-2][0-9]:[0-5][0-9](:[0-6][0-9](\\.[0-9]{1,12})?)?(Z|[+-][0-9]{2}:[0-9]{2})?",
        "(-009999|0000|9999)-(01-01|12-3[01])T(00|23):(00|59):(00|59)(Z|[+-](00|14|23|25|26):(00|59))",
        "(0000|9999)-(01-01|12-31)( (00:00|23:59))?(\\[(Asia/Tokyo|Pacific/Apia|America/Adak)\\])?",
        "[A-Z][a-z]{2}, [0-9]{1,2} [A-Z][a-z]{2} [0-9]{2,5} [0-9]{2}:[0-9]{2}(:[0-9]{2})? ([+-][0-9]{4}|GMT|EST|X)",
        "(%[-_0^#:.]*[0-9]{0,4}[A-Za-z%]){0,20}",
        "(-?[0-9]{1,20}(\\.[0-9]{1,12})? ?(y|mo|w|d|h|m|s|ms|us|ns)[ ,]?){1,4}( ago)?",
        "[+-]?P([0-9]{1,20}[YMWD]){0,3}(T([0-9]{1,20}(\\.[0-9]{1,10})?[HMS]){1,3})?",
        "(Asia|Europe|America)/[A-Za-z_]{1,20}",
        (number.clone(), "[a-z]{1,3}").prop_map(|(number, unit)| format!("{number}{unit}")),
    ]
}

fn instant() -> impl Strategy<Value = String> {
    prop_oneof![
        odd(),
        Just("9999-12-30T22:00:00.999999999Z".to_owned()),
        Just("0000-01-01T00:00:00Z".to_owned()),
        Just("2025-01-15T10:30:00Z".to_owned()),
    ]
}

fn zone() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        odd().prop_map(Some),
        prop::sample::select(&[None, Some("Asia/Tokyo"), Some("Pacific/Apia"), Some("America/Adak"), Some("UTC")][..])
            .prop_map(|zone| zone.map(str::to_owned)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_parameters_give_a_result_or_a_refusal(
        one in instant(), other in instant(), pattern in odd(), zone in zone(), milliseconds in any::<i64>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("runtime");
        for (function, params) in [
            ("parse", json!({ "text": one, "zone": zone })),
            ("format", json!({ "instant": one, "pattern": pattern, "zone": zone })),
            ("parts", json!({ "instant": one, "zone": zone })),
            ("add", json!({ "instant": one, "duration": pattern, "zone": zone })),
            ("since", json!({ "earlier": one, "later": other })),
            ("sleep", json!({ "milliseconds": if milliseconds > 0 { milliseconds.saturating_add(600_001) } else { milliseconds } })),
        ] {
            match runtime.block_on(call(function, params.clone())) {
                Err(error) => {
                    prop_assert_eq!(error.code, "call.invalid", "{}", params);
                    prop_assert!(error.message.len() < 1500, "{}", error.message);
                }
                // What one function gives is an instant to all others.
                Ok(Value::String(instant)) if function != "format" => {
                    prop_assert!(instant.ends_with('Z'), "{}", instant);
                    prop_assert!(instant::read("instant", &instant).is_ok(), "{}", instant);
                }
                Ok(value) => prop_assert!(value.to_string().len() < 10_000),
            }
        }
    }
}
