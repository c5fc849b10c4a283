use crate::Answer;
use agent_spaces_types::json_memory::Allowance;
use proptest::prelude::*;
use serde_json::{Value, json};

fn call(function: &str, params: Value) -> Answer {
    super::call(function, params, &mut Allowance(u64::MAX))
}

fn parse(text: &str, options: Value) -> Result<Value, String> {
    call("parse", json!({ "text": text, "options": options })).map_err(|error| error.message)
}

fn stringify(rows: Value, options: Value) -> Result<String, String> {
    let text = call("stringify", json!({ "rows": rows, "options": options })).map_err(|error| error.message)?;
    Ok(text.as_str().unwrap().to_owned())
}

#[test]
fn rows_are_objects_keyed_by_the_header() {
    let text = "name,note\r\nAda,\"a, \"\"b\"\"\r\nc\"\nBob,\n\n\"\",x";
    let rows =
        json!([{ "name": "Ada", "note": "a, \"b\"\r\nc" }, { "name": "Bob", "note": "" }, { "name": "", "note": "x" }]);
    assert_eq!(parse(text, Value::Null), Ok(rows));
    assert_eq!(parse("\u{feff}a\n1", Value::Null), Ok(json!([{ "a": "1" }])));
    assert_eq!(parse("a,b", json!({})), Ok(json!([])));
    assert_eq!(parse("", json!({})), Ok(json!([])));
}

#[test]
fn rows_are_lists_without_a_header_and_the_delimiter_is_configurable() {
    assert_eq!(
        parse("a;b\n1,5;\n", json!({ "header": false, "delimiter": ";" })),
        Ok(json!([["a", "b"], ["1,5", ""]]))
    );
    assert_eq!(parse("a\tb", json!({ "header": false, "delimiter": "\t" })), Ok(json!([["a", "b"]])));
    for delimiter in ["", ",,", "é", "\"", "\n", "\r", "\0"] {
        let error = parse("a", json!({ "delimiter": delimiter })).unwrap_err();
        assert!(error.starts_with("options.delimiter must be one ASCII character"), "{delimiter:?} {error}");
    }
}

#[test]
fn parse_errors_have_a_line() {
    let error = call("parse", json!({ "text": "a,b\n\"1\n\",2\n3\n" })).unwrap_err();
    assert_eq!(error.message, "Line 4 of the text has 1 fields, but the first row has 2");
    assert_eq!((error.code.as_str(), error.details), ("call.invalid", Some(json!({ "line": 4 }))));
    let message = "Duplicate column \"b\" in the first row; use { header: false } to get rows as lists";
    assert_eq!(parse("a,b,c,b\n", Value::Null), Err(message.into()));
    let message = "Line 3 of the text has an unclosed quote; write a quote in a field as \"\"";
    assert_eq!(parse("a,b\n1,\"2\"\n1,\"2\n3,4\n", Value::Null), Err(message.into()));
}

#[test]
fn objects_become_rows_with_a_header() {
    let rows = json!([{ "a": 1, "b": null }, { "c": true, "a": "x,\"y\"\n" }, {}]);
    assert_eq!(stringify(rows.clone(), Value::Null), Ok("a,b,c\r\n1,,\r\n\"x,\"\"y\"\"\n\",,true\r\n,,\r\n".into()));
    let options = json!({ "columns": ["c", "a", "d"], "header": false, "delimiter": ";" });
    assert_eq!(stringify(rows, options), Ok(";1;\r\ntrue;\"x,\"\"y\"\"\n\";\r\n;;\r\n".into()));
    assert_eq!(stringify(json!([]), Value::Null), Ok("".into()));
    assert_eq!(stringify(json!([]), json!({ "columns": ["a", "b"] })), Ok("a,b\r\n".into()));
    assert_eq!(
        stringify(json!([{ "n": 1.5e-7, "m": -12345678901_i64 }]), Value::Null),
        Ok("n,m\r\n1.5e-7,-12345678901\r\n".into())
    );
}

#[test]
fn lists_become_rows_with_a_header_only_if_columns_are_given() {
    let rows = json!([["a", 1], ["", null]]);
    assert_eq!(stringify(rows.clone(), Value::Null), Ok("a,1\r\n,\r\n".into()));
    assert_eq!(stringify(rows.clone(), json!({ "columns": ["x", "y"] })), Ok("x,y\r\na,1\r\n,\r\n".into()));
    assert_eq!(stringify(rows, json!({ "columns": ["x", "y"], "header": false })), Ok("a,1\r\n,\r\n".into()));
}

#[test]
fn inconsistent_rows_are_refused_with_their_position() {
    for (rows, options, message) in [
        (
            json!([{ "a": 1 }, { "a": [1] }]),
            json!({}),
            "Row 2, column \"a\": CSV cannot hold a list; convert it to text first",
        ),
        (json!([[1, {}]]), json!({}), "Row 1, column \"2\": CSV cannot hold an object; convert it to text first"),
        (json!([{}, []]), json!({}), "Row 2 must be an object, as the first row is"),
        (json!([[1], {}]), json!({}), "Row 2 must be a list, as the first row is"),
        (json!([1]), json!({}), "Row 1 must be an object or a list"),
        (json!("a"), json!({}), "rows must be a list of objects or of lists"),
        (json!([[1], [1, 2]]), json!({}), "Row 2 has 2 values, but the first row has 1"),
        (json!([[1]]), json!({ "columns": ["a", "b"] }), "Row 1 has 1 values, but there are 2 columns"),
        (json!([{}]), json!({}), "The rows have no values, so there are no columns"),
        (json!([[]]), json!({}), "The rows have no values, so there are no columns"),
        (json!([]), json!({ "columns": ["a", "a"] }), "options.columns has \"a\" twice"),
        (json!([]), json!({ "columns": [1] }), "options.columns[0] must be a string, not 1"),
    ] {
        assert_eq!(stringify(rows, options), Err(message.into()));
    }
}

#[test]
fn output_size_is_limited() {
    let header: Vec<_> = (0..1000).map(|column| format!("{column:0>1000}")).collect();
    let text = format!("{}\n{}", header.join(","), format!("{}\n", ",".repeat(999)).repeat(100));
    assert!(parse(&text, Value::Null).unwrap_err().starts_with("The result would have more than"));
    let rows = json!(vec![json!({}); 100_000]);
    assert!(stringify(rows, json!({ "columns": header })).unwrap_err().starts_with("The result would have more than"));
}

/// Text with many special characters of CSV.
fn field() -> impl Strategy<Value = String> {
    prop_oneof!["[,;\"\r\n \t\u{feff}a]{0,6}", any::<String>()]
}

proptest! {
    #[test]
    fn lists_round_trip(
        rows in (1..5_usize).prop_flat_map(|width| prop::collection::vec(prop::collection::vec(field(), width), 0..8)),
        delimiter in prop::sample::select(vec![",", ";", "\t", "|", " ", "a"]),
    ) {
        let text = stringify(json!(rows), json!({ "delimiter": delimiter })).unwrap();
        prop_assert_eq!(parse(&text, json!({ "delimiter": delimiter, "header": false })), Ok(json!(rows)));
    }

    #[test]
    fn objects_round_trip(
        names in prop::collection::hash_set(field(), 1..5),
        fields in prop::collection::vec(prop::collection::vec(field(), 5), 0..8),
    ) {
        let row = |fields: Vec<String>| names.iter().cloned().zip(fields).map(|(name, field)| (name, field.into())).collect();
        let rows: Vec<Value> = fields.into_iter().map(|fields| Value::Object(row(fields))).collect();
        let text = stringify(json!(rows), json!({ "columns": Vec::from_iter(names.clone()) })).unwrap();
        prop_assert_eq!(parse(&text, Value::Null), Ok(json!(rows)));
    }

    #[test]
    fn any_text_is_parsed_or_refused_without_panic(text in any::<String>(), has_header in any::<bool>()) {
        let _ = parse(&text, json!({ "header": has_header }));
    }
}

#[test]
fn memory_is_charged_to_the_account() {
    let within = |function: &str, params: Value, bytes: u64| super::call(function, params, &mut Allowance(bytes));
    for text in [",".repeat(100_000), ",\n".repeat(50_000), "a\n".repeat(50_000)] {
        let params = json!({ "text": text, "options": { "header": false } });
        let refused = within("parse", params.clone(), 2 << 20).unwrap_err();
        assert_eq!((refused.code.as_str(), refused.details), ("call.failed", Some(json!({"reason": "tooLarge"}))));
        assert!(within("parse", params, 50 << 20).is_ok());
    }
    let rows = json!({ "rows": vec![json!({ "name": "x".repeat(100) }); 1_000] });
    assert!(within("stringify", rows.clone(), 50_000).is_err());
    assert!(within("stringify", rows, 1 << 20).is_ok());
}
