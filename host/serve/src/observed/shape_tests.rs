use super::{MAX_TEXT, ResultShape};
use serde_json::{Value, json};

fn seen(values: &[Value]) -> String {
    values.iter().map(ResultShape::of).reduce(ResultShape::merged).unwrap().text()
}

#[test]
fn names_and_types_are_shown_and_no_values() {
    let value = json!({ "ok": true, "channels": [{ "id": "C1", "name": "general" }, { "id": "C2", "topic": null }] });
    assert_eq!(seen(&[value]), "{ channels: { id: string; name?: string; topic?: null }[]; ok: boolean }");
    assert_eq!(seen(&[json!("plain text")]), "string");
    assert_eq!(seen(&[json!([]), json!([1, "a"])]), "(number | string)[]");
}

#[test]
fn keys_that_are_data_are_not_shown() {
    let secret = "ada@example.com";
    for value in [
        json!({ (secret): 1 }),
        json!({ "2026-01-01": { "open": 1 } }),
        json!({ "U024BE7LH9": "x" }),
        json!({ "a": [1], "b": [2], "c": [3], "d": [4] }),
        json!({ ("x".repeat(41)): 1 }),
        (0..30).map(|number| (format!("n{number}"), json!(1))).collect::<serde_json::Map<_, _>>().into(),
    ] {
        assert!(seen(std::slice::from_ref(&value)).starts_with("{ [key: string]: "), "{value}");
    }
    // Different every time.
    let (one, two) = (json!({ "ada": 1, "bob": 2, "eve": 3 }), json!({ "joe": 1, "kim": 2, "lea": 3 }));
    assert_eq!(seen(&[one, two]), "{ [key: string]: number }");
}

#[test]
fn members_missing_in_some_samples_are_optional() {
    assert_eq!(seen(&[json!({ "a": 1, "b": 1 }), json!({ "a": "x" })]), "{ a: number | string; b?: number }");
    assert_eq!(seen(&[json!({}), json!({ "a": 1 })]), "{ a?: number }");
}

#[test]
fn a_value_of_any_size_has_a_short_shape() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!({ "next": deep });
    }
    let wide: Value = (0..100_000).map(|number| json!({ "a": number })).collect();
    let long: serde_json::Map<String, Value> =
        (0..20).map(|number| (format!("{}{number}", "x".repeat(38)), json!({ "a": { "b": 1 }, "c": [] }))).collect();
    for value in [deep, wide, Value::Object(long)] {
        let text = seen(&[value]);
        assert!(text.chars().count() <= MAX_TEXT && !text.is_empty(), "{text}");
    }
}
