//! Stacks as the script's author wrote it.

use crate::error_report::Location;
use crate::program::Sources;

/// A stack with every place mapped back to the author's own text, and the first such place.
pub(crate) fn restore(stack: &str, sources: &Sources) -> (String, Option<Location>) {
    let mut first = None;
    let mut lines = Vec::new();
    for line in stack.lines() {
        match place(line) {
            Some((before, place, after)) => match sources.locate(place.file, place.line, place.column) {
                Some(location) => {
                    lines.push(format!("{before}{}:{}:{}{after}", location.file, location.line, location.column));
                    first.get_or_insert(location);
                }
                None => lines.push(line.to_owned()),
            },
            None => lines.push(line.to_owned()),
        }
    }
    (lines.join("\n"), first)
}

struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

/// Finds `file:line:column` in `    at name (file:line:column)` or `    at file:line:column`.
fn place(line: &str) -> Option<(&str, Place<'_>, &str)> {
    let (start, end) = match (line.rfind('('), line.ends_with(')')) {
        (Some(open), true) => (open + 1, line.len() - 1),
        _ => (line.find("at ")? + 3, line.len()),
    };
    let text = line.get(start..end)?;
    let (rest, column) = text.rsplit_once(':')?;
    let (file, row) = rest.rsplit_once(':')?;
    let place = Place { file, line: row.parse().ok()?, column: column.parse().ok()? };
    Some((&line[..start], place, &line[end..]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::place;

    #[test]
    fn places_are_found_in_both_forms() {
        let (before, found, after) = place("    at f (lib/a.ts:3:14)").unwrap();
        assert_eq!((before, found.file, found.line, found.column, after), ("    at f (", "lib/a.ts", 3, 14, ")"));
        let (_, found, after) = place("    at agent.ts:1:2").unwrap();
        assert_eq!((found.file, found.line, found.column, after), ("agent.ts", 1, 2, ""));
        assert!(place("    at f (native)").is_none());
    }
}
