//! Parsers of all formats: real documents, and errors with place and fix.

mod command;
mod corpus;
mod documents_in_yaml;
mod flat;
mod hostile;
mod http;
mod listed;
mod mcp;
mod openapi;
mod openapi_requests;
mod selection;
mod tags;
mod tool;
mod yaml;

use capability_gen::definition::Definition;
use capability_gen::sources::{Format, Source, SourceError, parse};
use serde_json::Value;

/// Parses a document called `dir/company-crm.json`, in whatever format it is.
fn read(value: &Value) -> Result<Vec<Definition>, SourceError> {
    read_text(&value.to_string(), None)
}

fn read_as(value: &Value, format: Format) -> Result<Vec<Definition>, SourceError> {
    read_text(&value.to_string(), Some(format))
}

fn read_text(text: &str, format: Option<Format>) -> Result<Vec<Definition>, SourceError> {
    parse(&Source { file: "dir/company-crm.json", text, name: None, format })
}

/// The only definition of a document.
#[track_caller]
fn one(value: &Value) -> Definition {
    let mut definitions = read(value).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(definitions.len(), 1);
    definitions.remove(0)
}

/// Checks that a document is refused at `path`, for a reason that has `message` in it and with a fix that has `fix`.
#[track_caller]
fn refused(value: &Value, path: &str, message: &str, fix: &str) {
    check_error(read(value), path, message, fix);
}

#[track_caller]
fn check_error(result: Result<Vec<Definition>, SourceError>, path: &str, message: &str, fix: &str) {
    let error = result.expect_err("it should be refused");
    assert_eq!(error.place.path, path, "{error}");
    assert_eq!(error.place.file, "dir/company-crm.json");
    assert!(error.message.contains(message), "{error}");
    assert!(error.fix.contains(fix) && error.fix.ends_with(['.', '?']), "{error}");
    assert_eq!(error.to_string(), format!("dir/company-crm.json: {path}: {}. {}", error.message, error.fix));
}
