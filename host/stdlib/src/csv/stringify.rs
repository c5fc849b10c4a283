//! CSV serialization.

use super::repeated;
use crate::bounded::{BoundedText, too_large};
use crate::error::StdError;
use agent_spaces_types::json_memory::Account;
use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

pub(super) struct Options {
    pub(super) delimiter: u8,
    pub(super) columns: Option<Vec<String>>,
    pub(super) has_header: bool,
}

/// Input rows, all of one kind.
enum Rows<'a> {
    Objects(Vec<&'a Map<String, Value>>),
    Lists(Vec<&'a Vec<Value>>),
}

/// Serializes rows. Lists get a header only if columns are given.
pub(super) fn stringify(rows: &Value, options: &Options, account: &mut dyn Account) -> Result<String, StdError> {
    if let Some(name) = options.columns.as_ref().and_then(|names| repeated(names.iter().map(String::as_str))) {
        return Err(StdError::invalid(format!("options.columns has {name:?} twice")));
    }
    let rows = read_rows(rows)?;
    let text = write(&rows, options, QuoteStyle::Necessary, account)?;
    // A leading BOM would be dropped by readers unless the field is quoted.
    if text.starts_with('\u{feff}') { write(&rows, options, QuoteStyle::Always, account) } else { Ok(text) }
}

fn read_rows(rows: &Value) -> Result<Rows<'_>, StdError> {
    let Value::Array(rows) = rows else { return Err(StdError::invalid("rows must be a list of objects or of lists")) };
    let mismatch = |index: usize, expected: &str| {
        StdError::invalid(format!("Row {} must be {expected}, as the first row is", index + 1))
    };
    match rows.first() {
        None => Ok(Rows::Objects(Vec::new())),
        Some(Value::Object(_)) => {
            let objects =
                rows.iter().enumerate().map(|(index, row)| row.as_object().ok_or_else(|| mismatch(index, "an object")));
            objects.collect::<Result<_, _>>().map(Rows::Objects)
        }
        Some(Value::Array(_)) => {
            let lists =
                rows.iter().enumerate().map(|(index, row)| row.as_array().ok_or_else(|| mismatch(index, "a list")));
            lists.collect::<Result<_, _>>().map(Rows::Lists)
        }
        Some(_) => Err(StdError::invalid("Row 1 must be an object or a list")),
    }
}

fn write(
    rows: &Rows<'_>,
    options: &Options,
    quotes: QuoteStyle,
    account: &mut dyn Account,
) -> Result<String, StdError> {
    let mut builder = WriterBuilder::new();
    builder.delimiter(options.delimiter).quote_style(quotes).terminator(Terminator::CRLF);
    // Row lengths are checked here, for better errors.
    let mut writer = builder.flexible(true).from_writer(BoundedText::new(account));
    let given = options.columns.as_ref().map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    match rows {
        Rows::Objects(rows) => write_objects(&mut writer, rows, given, options.has_header)?,
        Rows::Lists(rows) => write_lists(&mut writer, rows, given, options.has_header)?,
    }
    writer.into_inner().map_err(|_| too_large())?.into_text()
}

fn write_objects(
    writer: &mut Writer<BoundedText<'_>>,
    rows: &[&Map<String, Value>],
    given: Option<Vec<&str>>,
    has_header: bool,
) -> Result<(), StdError> {
    let columns = given.unwrap_or_else(|| columns_of(rows));
    if columns.is_empty() {
        return if rows.is_empty() { Ok(()) } else { Err(no_columns()) };
    }
    if has_header {
        writer.write_record(&columns).map_err(|_| too_large())?;
    }
    for (index, row) in rows.iter().enumerate() {
        for name in &columns {
            let field = row.get(*name).map_or(Ok(Cow::Borrowed("")), |value| field(value, index, name))?;
            writer.write_field(field.as_ref()).map_err(|_| too_large())?;
        }
        end_row(writer)?;
    }
    Ok(())
}

fn write_lists(
    writer: &mut Writer<BoundedText<'_>>,
    rows: &[&Vec<Value>],
    given: Option<Vec<&str>>,
    has_header: bool,
) -> Result<(), StdError> {
    let (length, expected) = match (&given, rows.first()) {
        (Some(columns), _) => (columns.len(), format!("there are {} columns", columns.len())),
        (None, Some(first)) => (first.len(), format!("the first row has {}", first.len())),
        (None, None) => return Ok(()),
    };
    if length == 0 {
        return Err(no_columns());
    }
    if let Some(columns) = given.filter(|_| has_header) {
        writer.write_record(&columns).map_err(|_| too_large())?;
    }
    for (index, row) in rows.iter().enumerate() {
        if row.len() != length {
            let (row_number, found) = (index + 1, row.len());
            return Err(StdError::invalid(format!("Row {row_number} has {found} values, but {expected}")));
        }
        for (column, value) in row.iter().enumerate() {
            let field = field(value, index, &(column + 1).to_string())?;
            writer.write_field(field.as_ref()).map_err(|_| too_large())?;
        }
        end_row(writer)?;
    }
    Ok(())
}

/// Collects all members in order of appearance.
fn columns_of<'a>(rows: &[&'a Map<String, Value>]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    rows.iter().flat_map(|row| row.keys()).map(String::as_str).filter(|name| seen.insert(*name)).collect()
}

fn field<'a>(value: &'a Value, row: usize, column: &str) -> Result<Cow<'a, str>, StdError> {
    match value {
        Value::Null => Ok("".into()),
        Value::String(text) => Ok(text.into()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string().into()),
        Value::Array(_) | Value::Object(_) => {
            let what = if value.is_array() { "a list" } else { "an object" };
            let row = row + 1;
            let message = format!("Row {row}, column {column:?}: CSV cannot hold {what}; convert it to text first");
            Err(StdError::invalid(message))
        }
    }
}

fn end_row(writer: &mut Writer<BoundedText<'_>>) -> Result<(), StdError> {
    writer.write_record(None::<&[u8]>).map_err(|_| too_large())
}

fn no_columns() -> StdError {
    StdError::invalid("The rows have no values, so there are no columns")
}
