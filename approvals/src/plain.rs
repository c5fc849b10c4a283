//! A stranger's text, as a person may be shown it.

use capability_gen::hidden::is_hidden;

/// At most so many characters; the last one is `…` where something was left out.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The text on one line without what is not seen, of at most so many characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let words = text.split_whitespace().map(visible).filter(|word| !word.is_empty()).collect::<Vec<_>>();
    shortened(&words.join(" "), max)
}

/// The text without what is not seen or acts on the reader.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|character| !is_hidden(*character)).collect()
}

/// The text in rows that no terminal of this width breaks again: its own lines, cut where they are too long.
pub(crate) fn rows(text: &str, width: usize) -> Vec<String> {
    // A terminal ends lines at other characters than `lines` does; those are hidden ones, which are left out.
    text.lines().flat_map(|line| cut(&visible(line), width)).collect()
}

fn cut(line: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for character in line.chars() {
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
    use super::{one_line, rows, shortened};

    #[test]
    fn text_is_shortened_by_characters() {
        assert_eq!(shortened("żółw", 4), "żółw");
        assert_eq!(shortened("żółwie", 4), "żół…");
        assert_eq!(shortened("", 0), "");
    }

    #[test]
    fn one_line_has_neither_breaks_nor_hidden_characters() {
        assert_eq!(one_line(" a\r\nb\u{2028}c\t\u{200b} \x1b[2Jd\u{202e} ", 99), "a b c [2Jd");
    }

    #[test]
    fn rows_fit_and_lose_nothing_that_is_seen() {
        assert_eq!(rows("abcdefg\n\nh\ri\r\n", 3), ["abc", "def", "g", "", "hi"]);
        assert_eq!(rows("日本語", 4), ["日本", "語"]);
        assert_eq!(rows("日", 1), ["日"]);
        assert!(rows("", 5).is_empty());
    }
}
