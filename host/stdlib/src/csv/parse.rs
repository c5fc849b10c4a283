//! CSV parsing.

use super::repeated;
use crate::bounded::{MAX_MADE_BYTES, no_memory, too_large};
use crate::error::{Answer, StdError};
use agent_spaces_types::json_memory::{Account, ITEM_BYTES, Meter, NoMemory};
use csv::{ErrorKind, ReaderBuilder, StringRecord};
use serde_json::{Map, Value, json};

/// Memory overhead of a field besides its text.
const FIELD_BYTES: usize = 64;

/// Memory of the reader for each field of the current row: its end, with room to grow.
const FIELD_END_BYTES: u64 = 16;

/// Memory of the duplicate check, per column name.
const NAME_BYTES: u64 = 64;

/// Parses rows as objects keyed by the first row, or as lists.
pub(super) fn parse(text: &str, delimiter: u8, has_header: bool, account: &mut dyn Account) -> Answer {
    let mut meter = Meter::new(account);
    check_quotes(text)?;
    // One row may be the whole text.
    let fields = text.bytes().filter(|byte| *byte == delimiter).count() as u64 + 1;
    meter.take(fields * FIELD_END_BYTES + text.len() as u64).map_err(|_| no_memory())?;
    // The header is read like any row, so that all lengths are compared with its length.
    let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(text.as_bytes());
    let mut records = reader.records();
    let mut header = None;
    if has_header {
        let Some(record) = records.next() else { return Ok(json!([])) };
        let names = record.map_err(|error| problem(&error))?;
        meter.take(names.len() as u64 * NAME_BYTES).map_err(|_| no_memory())?;
        if let Some(name) = repeated(&names) {
            let message =
                format!("Duplicate column {name:?} in the first row; use {{ header: false }} to get rows as lists");
            return Err(StdError::invalid(message));
        }
        header = Some(names);
    }
    let mut left = MAX_MADE_BYTES;
    let mut rows = Vec::new();
    for record in records {
        let record = record.map_err(|error| problem(&error))?;
        let names = header.as_ref().map_or(0, |names| names.as_slice().len());
        let size = record.as_slice().len() + names + record.len() * FIELD_BYTES;
        left = left.checked_sub(size).ok_or_else(too_large)?;
        meter
            .make_room(&mut rows)
            .and_then(|()| count(&mut meter, header.as_ref(), &record))
            .map_err(|_| no_memory())?;
        rows.push(row(header.as_ref(), &record));
    }
    Ok(Value::Array(rows))
}

/// Charges the memory of a row.
fn count(meter: &mut Meter<'_>, header: Option<&StringRecord>, record: &StringRecord) -> Result<(), NoMemory> {
    let names = header.map_or(0, |names| names.as_slice().len());
    meter.work((record.as_slice().len() + names) as u64)?;
    match header {
        Some(names) => {
            meter.take_object(record.len())?;
            names.iter().try_for_each(|name| meter.take_text(name.len()))?;
        }
        None => meter.take_list(record.len(), ITEM_BYTES)?,
    }
    record.iter().try_for_each(|field| meter.take_text(field.len()))
}

fn row(header: Option<&StringRecord>, record: &StringRecord) -> Value {
    match header {
        Some(names) => {
            let members = names.iter().zip(record).map(|(name, field)| (name.to_owned(), field.into()));
            Value::Object(members.collect::<Map<_, _>>())
        }
        None => record.iter().collect(),
    }
}

/// Refuses an unclosed quote: the rest would become one field.
fn check_quotes(text: &str) -> Result<(), StdError> {
    let (mut line, mut opened) = (1_usize, None);
    for byte in text.bytes() {
        match byte {
            b'\n' => line += 1,
            b'"' => opened = if opened.is_some() { None } else { Some(line) },
            _ => {}
        }
    }
    match opened {
        None => Ok(()),
        Some(line) => Err(at_line(line as u64, "has an unclosed quote; write a quote in a field as \"\"")),
    }
}

fn problem(error: &csv::Error) -> StdError {
    match error.kind() {
        ErrorKind::UnequalLengths { pos: Some(place), expected_len, len } => {
            at_line(place.line(), &format!("has {len} fields, but the first row has {expected_len}"))
        }
        _ => StdError::invalid("The text is not CSV"),
    }
}

fn at_line(line: u64, what: &str) -> StdError {
    StdError { details: Some(json!({ "line": line })), ..StdError::invalid(format!("Line {line} of the text {what}")) }
}
