//! Colour of the prompt.

use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use std::ffi::OsStr;

/// Colour mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Coloured,
}

impl Style {
    /// Chooses by the values of `NO_COLOR` and `TERM`.
    pub(super) fn wanted(no_color: Option<&OsStr>, term: Option<&OsStr>) -> Style {
        let is_refused = no_color.is_some_and(|value| !value.is_empty());
        let is_dumb = term.is_none_or(|term| term.is_empty() || term == "dumb");
        if is_refused || is_dumb { Style::Plain } else { Style::Coloured }
    }

    pub(super) fn bold(self, text: Shown) -> Shown {
        self.paint("\x1b[1m", text)
    }

    pub(super) fn yellow(self, text: Shown) -> Shown {
        self.paint("\x1b[33m", text)
    }

    fn paint(self, code: &'static str, text: Shown) -> Shown {
        match self {
            Style::Plain => text,
            Style::Coloured => shown!("{}{}\x1b[0m", code, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Style;
    use std::ffi::OsStr;

    #[test]
    fn no_color_and_dumb_terminals_disable_colour() {
        let style = |no_color: Option<&'static str>, term: Option<&'static str>| {
            Style::wanted(no_color.map(OsStr::new), term.map(OsStr::new))
        };
        assert_eq!(style(None, Some("xterm")), Style::Coloured);
        assert_eq!(style(Some(""), Some("xterm")), Style::Coloured);
        assert_eq!(style(Some("1"), Some("xterm")), Style::Plain);
        assert_eq!(style(None, Some("dumb")), Style::Plain);
        assert_eq!(style(None, None), Style::Plain);
        assert_eq!(Style::Plain.bold("x".into()), "x");
        assert_eq!(Style::Coloured.bold("x".into()), "\x1b[1mx\x1b[0m");
    }
}
