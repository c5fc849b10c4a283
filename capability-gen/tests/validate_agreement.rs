//! Agreement of the validator with another implementation, on generated and real schemas, and properties of defaults.

use capability_gen::validate::{Invalid, Validator};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        (-2i64..4).prop_map(|number| json!(number)),
        (-2i64..4).prop_map(|number| json!(number as f64)),
        (-4i64..8).prop_map(|number| json!(number as f64 / 2.0)),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[abc]", inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn keyword(schema: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = (&'static str, Value)> {
    let kind = prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let count = || (0u64..4).prop_map(Value::from);
    let names = || {
        vec("[abc]", 0..3).prop_map(|mut names| {
            names.sort();
            names.dedup();
            json!(names)
        })
    };
    let members = |keys: &'static str, schema: BoxedStrategy<Value>| {
        vec((keys, schema), 0..3).prop_map(|members| Value::Object(members.into_iter().collect()))
    };
    let schema = schema.boxed();
    let list = vec(schema.clone(), 1..4).prop_map(Value::from).boxed();
    let one = |name: &'static str, values: BoxedStrategy<Value>| values.prop_map(move |value| (name, value)).boxed();
    let values_of = [
        one(
            "type",
            prop_oneof![
                kind.clone().prop_map(Value::from),
                vec(kind, 1..3).prop_map(|mut kinds| {
                    kinds.sort();
                    kinds.dedup();
                    json!(kinds)
                })
            ]
            .boxed(),
        ),
        one("const", values().boxed()),
        one("enum", vec(values(), 1..4).prop_map(Value::from).boxed()),
        one("minimum", (-2i64..4).prop_map(Value::from).boxed()),
        one("exclusiveMaximum", (-2i64..8).prop_map(|number| json!(number as f64 / 2.0)).boxed()),
        one("multipleOf", (1i64..4).prop_map(|number| json!(number as f64 / 2.0)).boxed()),
        one("minLength", count().boxed()),
        one("maxLength", count().boxed()),
        one(
            "pattern",
            prop::sample::select(vec!["^a", "b$", "^(?!ab)", "(a)\\1", "^[ab]{2}$"]).prop_map(Value::from).boxed(),
        ),
        one("minItems", count().boxed()),
        one("maxItems", count().boxed()),
        one("uniqueItems", any::<bool>().prop_map(Value::from).boxed()),
        one("minProperties", count().boxed()),
        one("maxProperties", count().boxed()),
        one("required", names().boxed()),
        one(
            "dependentRequired",
            vec(("[abc]", names()), 0..3).prop_map(|rules| Value::Object(rules.into_iter().collect())).boxed(),
        ),
        one("default", values().boxed()),
    ];
    let applicators = [
        one("properties", members("[abc]", schema.clone()).boxed()),
        one("properties", members("[abc]", schema.clone()).boxed()),
        one("patternProperties", members("\\^\\[ab\\]|c|[ab]\\$", schema.clone()).boxed()),
        one("additionalProperties", schema.clone()),
        one("propertyNames", schema.clone()),
        one("dependentSchemas", members("[abc]", schema.clone()).boxed()),
        one("items", schema.clone()),
        one("prefixItems", list.clone()),
        one("contains", schema.clone()),
        one("maxContains", count().boxed()),
        one("minContains", count().boxed()),
        one("allOf", list.clone()),
        one("anyOf", list.clone()),
        one("oneOf", list),
        one("not", schema.clone()),
        one("if", schema.clone()),
        one("then", schema.clone()),
        one("else", schema.clone()),
        one("unevaluatedProperties", schema.clone()),
        one("unevaluatedItems", schema.clone()),
        one("$ref", (0..2).prop_map(|number| json!(format!("#/$defs/d{number}"))).boxed()),
    ];
    prop::strategy::Union::new(values_of.into_iter().chain(applicators))
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![4 => Just(json!({})), 1 => any::<bool>().prop_map(Value::from), 4 => vec(keyword(Just(json!({}))), 0..3).prop_map(object)];
    let schema = leaf.prop_recursive(3, 24, 3, |inner| vec(keyword(inner), 0..5).prop_map(object)).boxed();
    // `$defs` refer to each other only through items and members, so that recursion ends.
    (vec(keyword(schema.clone()), 1..6).prop_map(object), schema.clone(), schema).prop_map(|(root, first, second)| {
        let mut root = root;
        root["$defs"] = json!({ "d0": without_references(first), "d1": { "items": without_references(second), "properties": { "a": { "$ref": "#/$defs/d1" } } } });
        root
    })
}

fn object(keywords: Vec<(&'static str, Value)>) -> Value {
    Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn without_references(schema: Value) -> Value {
    match schema {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(name, _)| name != "$ref")
                .map(|(name, value)| (name, without_references(value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => items.into_iter().map(without_references).collect(),
        other => other,
    }
}

fn other_says(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(schema).ok()
}

/// Returns true if `after` contains everything in `before`, unchanged.
fn is_kept(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            before.iter().all(|(name, before)| after.get(name).is_some_and(|after| is_kept(before, after)))
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(before, after)| is_kept(before, after))
        }
        (before, after) => before == after,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_on_made_up_schemas(schema in schemas(), values in vec(values(), 8)) {
        let ours = Validator::new(&schema).expect("a well-formed schema");
        prop_assert!(ours.notes().is_empty());
        let other = other_says(&schema).expect("a well-formed schema");
        for value in values {
            let said = ours.validate(&value);
            prop_assert_eq!(said.is_ok(), other.is_valid(&value), "{} against {}: {:?}", value, schema, said);
            if let Err(Invalid::Issues(issues)) = said {
                prop_assert!(!issues.is_empty());
                prop_assert!(issues.iter().all(|issue| !issue.message.ends_with("does not match the schema")), "{:?}", issues);
            }
        }
    }

    #[test]
    fn defaults_keep_values_valid_and_members_as_they_are(schema in schemas(), values in vec(values(), 8)) {
        let validator = Validator::new(&schema).expect("a well-formed schema");
        for value in values {
            let mut after = value.clone();
            validator.apply_defaults(&mut after);
            prop_assert!(is_kept(&value, &after), "{} became {}", value, after);
            prop_assert!(validator.validate(&value).is_err() || validator.validate(&after).is_ok(), "{} became {}", value, after);
            let mut again = after.clone();
            validator.apply_defaults(&mut again);
            prop_assert_eq!(again, after);
        }
    }
}

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("AGENT_SPACES_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    folder.join("servers").is_dir().then_some(folder)
}

fn schemas_of_corpus(folder: &Path) -> Vec<(String, Value)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("servers")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut schemas = Vec::new();
    for file in files {
        let answer: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let tools =
            answer.as_array().or_else(|| answer["tools"].as_array()).or_else(|| answer["result"]["tools"].as_array());
        for tool in tools.unwrap_or_else(|| panic!("{}", file.display())) {
            for schema in ["inputSchema", "outputSchema"].iter().filter_map(|name| tool.get(*name)) {
                let mut schema = schema.clone();
                // Cleaning removes the dialect's name.
                schema.as_object_mut().map(|schema| schema.remove("$schema"));
                schemas.push((format!("{} {}", file.file_stem().unwrap().display(), tool["name"]), schema));
            }
        }
    }
    schemas
}

/// A plausible value of a schema, to some depth; `variant` selects which.
fn sample(root: &Value, schema: &Value, variant: usize, depth: usize) -> Value {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap_or(schema),
        None => schema,
    };
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.is_empty()) {
        return choices[variant % choices.len()].clone();
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(branches) = schema[keyword].as_array().filter(|branches| !branches.is_empty() && depth > 0) {
            return sample(root, &branches[variant % branches.len()], variant, depth - 1);
        }
    }
    match schema["type"].as_str() {
        Some("string") => json!(["2024-01-01", "a@example.com", "abc", ""][variant % 4]),
        Some("integer" | "number") => json!([1, 0, 25, -1][variant % 4]),
        Some("boolean") => json!(variant.is_multiple_of(2)),
        Some("array") if depth > 0 => json!(vec![sample(root, &schema["items"], variant, depth - 1); variant % 3]),
        Some("object") if depth > 0 => {
            let members = schema["properties"].as_object().into_iter().flatten().enumerate();
            let kept = members.filter(|(at, _)| !(at + variant).is_multiple_of(4));
            Value::Object(
                kept.map(|(_, (name, member))| (name.clone(), sample(root, member, variant, depth - 1))).collect(),
            )
        }
        _ => json!({}),
    }
}

#[test]
fn agrees_on_real_schemas() {
    let Some(folder) = corpus() else {
        println!("skipped: no corpus (set AGENT_SPACES_CORPUS)");
        return;
    };
    let schemas = schemas_of_corpus(&folder);
    let (mut refused, mut refused_by_other, mut notes, mut valid, mut invalid) =
        (Vec::new(), Vec::new(), Vec::new(), 0, 0);
    let (mut our_time, mut other_time, mut compile_time) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for (name, schema) in &schemas {
        let start = Instant::now();
        let ours = Validator::new(schema);
        compile_time += start.elapsed();
        let other = other_says(schema);
        if other.is_none() {
            refused_by_other.push(name);
        }
        let ours = match ours {
            Ok(ours) => ours,
            Err(error) => {
                refused.push(format!("{name}: {error}"));
                continue;
            }
        };
        notes.extend(ours.notes().iter().map(|note| format!("{name}: {note}")));
        for variant in 0..12 {
            let value = sample(schema, schema, variant, 6);
            let start = Instant::now();
            let said = ours.validate(&value);
            our_time += start.elapsed();
            assert_ne!(said, Err(Invalid::Budget), "{name}: {value}");
            if let Some(other) = &other {
                let start = Instant::now();
                let is_valid = other.is_valid(&value);
                other_time += start.elapsed();
                assert_eq!(said.is_ok(), is_valid, "{name}: {value}: {said:?}");
            }
            *(if said.is_ok() { &mut valid } else { &mut invalid }) += 1;
            let mut after = value.clone();
            ours.apply_defaults(&mut after);
            assert!(is_kept(&value, &after) && (said.is_err() || ours.validate(&after).is_ok()), "{name}: {value}");
        }
    }
    println!(
        "{} schemas, {} refused here, {} by the other, {} notes",
        schemas.len(),
        refused.len(),
        refused_by_other.len(),
        notes.len()
    );
    println!(
        "{valid} valid and {invalid} invalid values; ours {our_time:?}, other {other_time:?}; compiled in {compile_time:?}"
    );
    refused.iter().chain(&notes).for_each(|line| println!("  {line}"));
    assert!(refused.len() * 50 < schemas.len(), "more refused than before");
    assert!(valid > 1000 && invalid > 1000);
}
