//! Colour, where it is wanted.

use std::ffi::OsStr;

/// Whether lines of ours are told apart by colour too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Coloured,
}

impl Style {
    /// By the values of `NO_COLOR` and `TERM`.
    pub(super) fn wanted(no_color: Option<&OsStr>, term: Option<&OsStr>) -> Style {
        let is_refused = no_color.is_some_and(|value| !value.is_empty());
        let is_dumb = term.is_none_or(|term| term.is_empty() || term == "dumb");
        if is_refused || is_dumb { Style::Plain } else { Style::Coloured }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Style;
    use std::ffi::OsStr;

    #[test]
    fn colour_is_used_unless_it_is_refused() {
        let style = |no_color: Option<&'static str>, term: Option<&'static str>| {
            Style::wanted(no_color.map(OsStr::new), term.map(OsStr::new))
        };
        assert_eq!(style(None, Some("xterm")), Style::Coloured);
        assert_eq!(style(Some(""), Some("xterm")), Style::Coloured);
        assert_eq!(style(Some("1"), Some("xterm")), Style::Plain);
        assert_eq!(style(None, Some("dumb")), Style::Plain);
        assert_eq!(style(None, None), Style::Plain);
        assert_eq!(Style::Plain.bold("x"), "x");
        assert_eq!(Style::Coloured.bold("x"), "\x1b[1mx\x1b[0m");
    }
}
