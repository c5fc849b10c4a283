//! Table inside a documentation page.

use anyhow::{Context, Result};

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// Replaces the text between the page's two marks.
pub(crate) fn with(page: &str, between: &str) -> Result<String> {
    let missing = || format!("the page has no {BEGIN} … {END} to put the table between");
    let (before, rest) = page.split_once(BEGIN).with_context(missing)?;
    let (_, after) = rest.split_once(END).with_context(missing)?;
    Ok(format!("{before}{BEGIN}\n{between}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn only_text_between_the_marks_changes() {
        let page = "# A\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nrest\n";
        let new = with(page, "new").expect("it has marks");
        assert_eq!(new, "# A\n<!-- bench:begin -->\nnew\n<!-- bench:end -->\nrest\n");
        assert_eq!(with(&new, "new").expect("it has marks"), new);
        assert!(with("<!-- bench:end --> <!-- bench:begin -->", "new").is_err());
    }
}
