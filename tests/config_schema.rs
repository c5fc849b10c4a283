//! Agreement of the published configuration schema with the parser.
//!
//! - `accepted`, `refused`: the cases

#![allow(clippy::unwrap_used)]

mod accepted;
mod refused;

use accepted::ACCEPTED;
use agent_spaces::config::{Format, from_text};
use refused::{REFUSED, REFUSED_BY_THE_PARSER_ALONE};
use serde_json::Value;

const SCHEMA: &str = include_str!("../schemas/agent-spaces.config.schema.json");

fn schema() -> jsonschema::Validator {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema).unwrap()
}

fn verdicts(validator: &jsonschema::Validator, text: &str) -> (Result<(), String>, Result<(), String>) {
    let value: Value = serde_json::from_str(text).unwrap();
    let schema = validator.validate(&value).map_err(|error| error.to_string());
    let parser = from_text("f", text, Format::Json).map(drop).map_err(|error| error.to_string());
    (schema, parser)
}

#[test]
fn valid_configurations_pass_both() {
    let validator = schema();
    for text in ACCEPTED {
        assert_eq!(verdicts(&validator, text), (Ok(()), Ok(())), "{text}");
    }
}

#[test]
fn invalid_configurations_pass_neither() {
    let validator = schema();
    for text in REFUSED {
        let (schema, parser) = verdicts(&validator, text);
        assert!(schema.is_err(), "the schema accepts {text}");
        assert!(parser.is_err(), "the parser accepts {text}");
    }
}

#[test]
fn only_the_parser_refuses_what_a_schema_cannot_express() {
    let validator = schema();
    for (reason, text) in REFUSED_BY_THE_PARSER_ALONE {
        let (schema, parser) = verdicts(&validator, text);
        assert_eq!(schema, Ok(()), "no longer a difference: {reason}");
        assert!(parser.is_err(), "{reason}: {text}");
    }
}

#[test]
fn every_setting_of_the_schema_has_a_description() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let (mut rest, mut described) = (vec![&schema], 0);
    while let Some(node) = rest.pop() {
        rest.extend(node.as_array().into_iter().flatten());
        // Narrowing keywords repeat settings that are described elsewhere.
        let narrowing = |key: &str| matches!(key, "oneOf" | "allOf" | "not");
        let members = node.as_object().into_iter().flatten().filter(|(key, _)| !narrowing(key));
        for (key, member) in members {
            rest.push(member);
            if key == "properties" {
                for (name, setting) in member.as_object().into_iter().flatten() {
                    let text = setting.get("description").or(setting.get("$ref"));
                    assert!(text.is_some(), "{name} has no description: {setting}");
                    described += 1;
                }
            }
        }
    }
    assert!(described > 40, "only {described} settings were found");
}
