//! Reading and searching of a stored result.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Bytes of a part that is asked for without a length: it fits into small windows.
pub(super) const DEFAULT_LENGTH: usize = 4 << 10;

/// Longest part, in bytes. What this tool returns is never put aside itself.
pub(super) const MAX_LENGTH: usize = 32 << 10;

/// Places of a text that are shown.
const MAX_PLACES: usize = 20;

/// Bytes on each side of a place.
const AROUND: usize = 100;

/// Longest text to look for, in bytes.
const MAX_FIND: usize = 1_000;

/// Answers a call. The error says what is wrong with its arguments.
pub(super) fn answer(text: &str, arguments: &Map<String, Value>) -> Result<String, String> {
    let offset = number(arguments, "offset")?.unwrap_or(0);
    if offset >= text.len() && offset > 0 {
        return Err(format!("`offset` {offset} is behind the end: the result has {} bytes.", text.len()));
    }
    match arguments.get("find") {
        None | Some(Value::Null) => {}
        Some(Value::String(find)) if (1..=MAX_FIND).contains(&find.len()) => return Ok(places(text, find, offset)),
        Some(_) => return Err(format!("`find` is a text of 1 to {MAX_FIND} bytes.")),
    }
    let length = number(arguments, "length")?.unwrap_or(DEFAULT_LENGTH).clamp(1, MAX_LENGTH);
    Ok(part(text, offset, length))
}

/// A number of an argument. Models write numbers as texts, too.
fn number(arguments: &Map<String, Value>, name: &str) -> Result<Option<usize>, String> {
    let number = match arguments.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_u64().or_else(|| value.as_f64().and_then(whole)),
    };
    let number = number.ok_or_else(|| format!("`{name}` is a whole number, 0 or greater."))?;
    Ok(Some(usize::try_from(number).unwrap_or(usize::MAX)))
}

fn whole(number: f64) -> Option<u64> {
    // Beyond it, not every whole number has a floating-point one.
    const MOST: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && (0.0..=MOST).contains(&number)).then_some(number as u64)
}

/// The part from `offset` on, cut between characters, with its place in the whole.
fn part(text: &str, offset: usize, length: usize) -> String {
    let from = text.floor_char_boundary(offset);
    // A part has at least one character, however many bytes it has.
    let to = match text.floor_char_boundary(offset.saturating_add(length)) {
        to if to > from => to,
        _ => text.ceil_char_boundary((from + 1).min(text.len())),
    };
    let rest = if to < text.len() { format!("the next part begins at {to}") } else { "this is the end".to_owned() };
    format!("{}\n\n(bytes {from} to {to} of {}; {rest})", &text[from..to], text.len())
}

/// The places of a text from `offset` on, each with what is around it.
fn places(text: &str, find: &str, offset: usize) -> String {
    let from = text.floor_char_boundary(offset);
    let mut shown = String::new();
    let (mut count, mut next) = (0usize, None);
    let (mut line, mut counted) = (1, 0);
    for (at, _) in text[from..].match_indices(find) {
        let at = from + at;
        count += 1;
        if count > MAX_PLACES {
            next.get_or_insert(at);
            continue;
        }
        line += text[counted..at].matches('\n').count();
        counted = at;
        let begin = text.floor_char_boundary(at.saturating_sub(AROUND));
        let end = text.ceil_char_boundary(at.saturating_add(find.len() + AROUND).min(text.len()));
        let [before, after] = [(begin, 0), (end, text.len())].map(|(cut, whole)| if cut == whole { "" } else { "…" });
        let around = text[begin..end].replace(['\n', '\r'], " ");
        let _ = write!(shown, "\n\n[byte {at}, line {line}] {before}{around}{after}");
    }
    let size = text.len();
    let found = format!("Places of the text from byte {from} to the end, {size}: {count}.");
    match next {
        None => format!("{found}{shown}"),
        Some(next) => format!("{found} These are the first {MAX_PLACES}; others follow from offset {next} on.{shown}"),
    }
}
