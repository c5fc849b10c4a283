//! Names, values and paths in messages: truncated, on one line, without control characters.

use crate::hidden::is_hidden;
use serde_json::Value;
use std::io::{self, Write};

/// Maximum length of a value.
const MAX_VALUE: usize = 80;
/// Maximum number of values in a list.
const MAX_LISTED: usize = 12;
/// Maximum length of a path.
const MAX_PATH: usize = 300;

/// At most `most` characters, without control, bidirectional and zero-width ones.
pub(super) fn clean(text: &str, most: usize) -> String {
    let mut characters = text.chars().filter(|character| !is_hidden(*character));
    let mut cleaned: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() {
        cleaned.push('…');
    }
    cleaned
}

/// Quotes a value for a message: `'celsius'`, `12`, `{"a":1}`.
pub(super) fn quote(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", clean(text, MAX_VALUE)),
        other => {
            let mut start = Start(Vec::new());
            let is_whole = serde_json::to_writer(&mut start, other).is_ok();
            let text = clean(&String::from_utf8_lossy(&start.0), MAX_VALUE);
            if is_whole || text.ends_with('…') { text } else { format!("{text}…") }
        }
    }
}

/// `'celsius', 'fahrenheit'`
pub(super) fn list(values: &[Value]) -> String {
    let mut texts: Vec<String> = values.iter().take(MAX_LISTED).map(quote).collect();
    if values.len() > MAX_LISTED {
        texts.push(format!("… ({} more)", values.len() - MAX_LISTED));
    }
    texts.join(", ")
}

/// Writer that keeps only the start of its input.
struct Start(Vec<u8>);

impl Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() > MAX_VALUE * 4 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(&bytes[..bytes.len().min(MAX_VALUE * 4 + 1)]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Path in the value, from the inside out.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Member(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// Number of steps.
    pub(super) fn depth(&self) -> usize {
        let mut depth = 0;
        let mut here = self;
        while let Path::Member(parent, _) | Path::Item(parent, _) = here {
            depth += 1;
            here = parent;
        }
        depth
    }

    /// JavaScript notation: `trips[3].stops`, `["odd name"]`.
    pub(super) fn text(&self) -> String {
        let mut segments = Vec::new();
        let mut here = self;
        loop {
            here = match here {
                Path::Root => break,
                Path::Member(parent, name) => {
                    let name = clean(name, MAX_VALUE);
                    segments.push(if is_identifier(&name) {
                        format!(".{name}")
                    } else {
                        format!("[{}]", Value::from(name))
                    });
                    parent
                }
                Path::Item(parent, index) => {
                    segments.push(format!("[{index}]"));
                    parent
                }
            };
        }
        segments.reverse();
        let whole = segments.concat();
        let whole = whole.strip_prefix('.').unwrap_or(&whole);
        if whole.chars().count() <= MAX_PATH {
            return whole.to_owned();
        }
        // The end is more informative than the beginning.
        let skipped = whole.chars().count() - MAX_PATH;
        format!("…{}", whole.chars().skip(skipped).collect::<String>())
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first == '_' || first == '$' || unicode_ident::is_xid_start(first))
        && characters.all(|next| next == '$' || unicode_ident::is_xid_continue(next))
}
