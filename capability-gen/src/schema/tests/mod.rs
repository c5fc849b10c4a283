//! Tests of each rule, of hostile schemas and of real tools.

mod corpus;
mod dialects;
mod hostile;
mod openness;
mod sample;
mod shape;
mod shapes;

use super::{Reader, Reading, SchemaError};
use crate::definition::Place;
use crate::model::{Direction, Types};
use serde_json::Value;

fn place() -> Place {
    Place { file: "tools.json".to_owned(), path: "$.parameters".to_owned() }
}

fn read(direction: Direction, raw: &Value) -> Result<(Reading, Types), SchemaError> {
    let mut reader = Reader::new();
    let reading = match direction {
        Direction::Params => reader.params("get_trip", raw, &place())?,
        Direction::Result => reader.result("get_trip", raw, &place())?,
    };
    Ok((reading, reader.finish()))
}

fn params(raw: &Value) -> (Reading, Types) {
    read(Direction::Params, raw).unwrap()
}

fn result(raw: &Value) -> (Reading, Types) {
    read(Direction::Result, raw).unwrap()
}

/// The shape of the whole root, through its name.
fn shape_of((reading, types): &(Reading, Types)) -> String {
    shape::shape(types, types.resolve(&reading.ty))
}

fn validator(reading: &Reading) -> jsonschema::Validator {
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
    options.build(&reading.schema).unwrap_or_else(|error| panic!("{error}\n{:#}", reading.schema))
}

/// Checks that the clean schema takes these values and refuses those.
#[track_caller]
fn takes(reading: &Reading, good: &[Value], bad: &[Value]) {
    let validator = validator(reading);
    for value in good {
        assert!(validator.is_valid(value), "refused {value}\n{:#}", reading.schema);
    }
    for value in bad {
        assert!(!validator.is_valid(value), "took {value}\n{:#}", reading.schema);
    }
}
