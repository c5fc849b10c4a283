//! CSV (RFC 4180): fields with delimiters, quotes or line breaks are quoted, quotes are doubled, and lines end with CR
//! LF. Lines that end with LF are parsed as well.

mod parse;
mod stringify;
#[cfg(test)]
mod tests;

use crate::error::{Answer, StdError};
use crate::params::{Params, read};
use agent_spaces_types::json_memory::Account;
use serde_json::Value;

/// Calls `parse` or `stringify`. Memory is charged to the account.
pub fn call(function: &str, params: Value, account: &mut dyn Account) -> Answer {
    match function {
        "parse" => {
            let (text, (delimiter, has_header)) = read(params, |params| {
                let text = params.text("text")?;
                let options = params.record("options", |options| {
                    Ok((delimiter(options)?, options.optional_bool("header")?.unwrap_or(true)))
                })?;
                Ok((text, options))
            })?;
            parse::parse(&text, delimiter, has_header, account)
        }
        "stringify" => {
            let (rows, options) = read(params, |params| {
                let rows = params.value("rows")?;
                let options = params.record("options", |options| {
                    Ok(stringify::Options {
                        delimiter: delimiter(options)?,
                        columns: options.optional_texts("columns")?,
                        has_header: options.optional_bool("header")?.unwrap_or(true),
                    })
                })?;
                Ok((rows, options))
            })?;
            stringify::stringify(&rows, &options, account).map(Value::String)
        }
        _ => Err(StdError::unknown_function("csv", function)),
    }
}

fn delimiter(options: &mut Params) -> Result<u8, StdError> {
    let Some(text) = options.optional_text("delimiter")? else { return Ok(b',') };
    match text.as_bytes() {
        [byte] if *byte == b'\t' || (b' '..=b'~').contains(byte) && *byte != b'"' => Ok(*byte),
        _ => Err(StdError::invalid(
            "options.delimiter must be one ASCII character that is neither a quote nor a line break",
        )),
    }
}

/// Returns the first repeated name.
fn repeated<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}
