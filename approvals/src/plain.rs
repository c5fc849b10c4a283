//! Text as the prompt and the requests have it: shortened, and in rows.

use capability_gen::shown::Shown;

/// At most so many characters; the last one is `…` where something was left out.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The text in rows that no terminal of this width breaks again: its own lines, cut where they are too long.
pub(crate) fn rows(text: &Shown, width: usize) -> Vec<Shown> {
    text.lines().flat_map(|line| cut(line, width)).map(|row| Shown::text(&row, usize::MAX)).collect()
}

fn cut(line: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for character in line.chars() {
        // A tab takes as many columns as the terminal likes.
        let character = if character == '\t' { ' ' } else { character };
        // Terminals disagree on what is wide; none takes more than two columns.
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
    fn text_is_shortened_by_characters() {
        assert_eq!(shortened("żółw", 4), "żółw");
        assert_eq!(shortened("żółwie", 4), "żół…");
        assert_eq!(shortened("", 0), "");
    }

    #[test]
    fn rows_fit_and_lose_nothing_that_is_seen() {
        let rows = |text: &str, width| rows(&Shown::text(text, usize::MAX), width);
        assert_eq!(rows("abcdefg\n\nh\ti\n", 3), ["abc", "def", "g", "", "h i"]);
        assert_eq!(rows("日本語", 4), ["日本", "語"]);
        assert_eq!(rows("日", 1), ["日"]);
        assert!(rows("", 5).is_empty());
    }
}
