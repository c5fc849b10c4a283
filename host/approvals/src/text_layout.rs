//! Truncation and wrapping of text for prompts.

use agent_spaces_types::shown::Shown;

/// Truncates to `max` characters, ending with `…` if anything was cut.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Wraps text into rows that no terminal of this width wraps again.
pub(crate) fn rows(text: &Shown, width: usize) -> Vec<Shown> {
    text.lines().flat_map(|line| cut(line, width)).map(|row| Shown::text(&row, usize::MAX)).collect()
}

fn cut(line: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for character in line.chars() {
        // The width of a tab depends on the terminal.
        let character = if character == '\t' { ' ' } else { character };
        // Terminals disagree on which characters are wide; none takes more than two columns.
        let columns = if character.is_ascii() { 1 } else { 2 };
        if used > 0 && used + columns > width {
            rows.push(String::new());
            used = 0;
        }
        if let Some(row) = rows.last_mut() {
            row.push(character);
        }
        used += columns;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{Shown, rows, shortened};

    #[test]
    fn text_is_truncated_by_characters() {
        assert_eq!(shortened("żółw", 4), "żółw");
        assert_eq!(shortened("żółwie", 4), "żół…");
        assert_eq!(shortened("", 0), "");
    }

    #[test]
    fn rows_fit_and_lose_no_visible_text() {
        let rows = |text: &str, width| rows(&Shown::text(text, usize::MAX), width);
        assert_eq!(rows("abcdefg\n\nh\ti\n", 3), ["abc", "def", "g", "", "h i"]);
        assert_eq!(rows("日本語", 4), ["日本", "語"]);
        assert_eq!(rows("日", 1), ["日"]);
        assert!(rows("", 5).is_empty());
    }
}
