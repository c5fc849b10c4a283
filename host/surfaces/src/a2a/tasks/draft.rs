//! The answer of a task while it is written.

use crate::a2a::bounds::{MAX_ANSWER, MIN_PIECE};

/// Text of an answer, sent in pieces. The last piece is held back, so that it can be marked as the last.
#[derive(Debug)]
pub(super) struct Draft {
    text: String,
    /// Bytes at the end of the text that were not sent.
    held: usize,
    /// True if nothing of it was sent: its first piece replaces what was sent before.
    is_new: bool,
    /// True if there was more than is kept.
    is_cut: bool,
}

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// True if it belongs after the pieces before it, or replaces them.
    pub(super) is_appended: bool,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft { text: String::new(), held: 0, is_new: true, is_cut: false }
    }
}

impl Draft {
    /// Begins again: a model is asked, and what was said before is not the answer.
    pub(super) fn restart(&mut self) {
        *self = Draft::default();
    }

    /// Adds text. Returns the piece that is sent now.
    pub(super) fn push(&mut self, text: &str) -> Option<Piece> {
        self.is_cut |= self.text.len().saturating_add(text.len()) > MAX_ANSWER;
        if self.is_cut {
            return None;
        }
        let piece = if self.held >= MIN_PIECE { self.send() } else { None };
        self.text.push_str(text);
        self.held += text.len();
        piece
    }

    fn send(&mut self) -> Option<Piece> {
        let text = self.text.get(self.text.len().saturating_sub(self.held)..)?.to_owned();
        self.held = 0;
        Some(Piece { text, is_appended: !std::mem::replace(&mut self.is_new, false) })
    }

    /// Returns the last piece of an answer: what is left of it, or the whole if it is not what was sent.
    pub(super) fn last(&mut self, answer: &str) -> Piece {
        let is_rest = !self.is_new && !self.is_cut && self.held > 0 && self.text == answer;
        let rest = if is_rest { self.send() } else { None };
        rest.unwrap_or_else(|| Piece { text: answer.to_owned(), is_appended: false })
    }

    /// Returns what was sent.
    pub(super) fn sent(&self) -> Option<&str> {
        let sent = self.text.get(..self.text.len().saturating_sub(self.held))?;
        Some(sent).filter(|_| !self.is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, is_appended: bool) -> Piece {
        Piece { text: text.to_owned(), is_appended }
    }

    #[test]
    fn pieces_together_are_the_answer() {
        let (long, mut draft) = ("x".repeat(MIN_PIECE), Draft::default());
        assert_eq!((draft.push(&long), draft.sent()), (None, None));
        assert_eq!(draft.push("a"), Some(piece(&long, false)));
        assert_eq!(draft.push("b"), None);
        assert_eq!(draft.sent(), Some(long.as_str()));
        assert_eq!(draft.last(&format!("{long}ab")), piece("ab", true));
    }

    #[test]
    fn an_answer_that_was_not_sent_is_sent_whole() {
        let mut draft = Draft::default();
        draft.push("short");
        assert_eq!(draft.last("short"), piece("short", false));
        let mut draft = Draft::default();
        draft.push(&"x".repeat(MIN_PIECE));
        draft.push("y");
        assert_eq!(draft.last("other"), piece("other", false));
    }

    #[test]
    fn text_before_another_attempt_is_replaced() {
        let (long, mut draft) = ("x".repeat(MIN_PIECE), Draft::default());
        draft.push(&long);
        draft.push("y");
        draft.restart();
        assert_eq!(draft.sent(), None);
        draft.push(&long);
        assert_eq!(draft.push("z"), Some(piece(&long, false)));
    }

    #[test]
    fn an_answer_is_bounded() {
        let mut draft = Draft::default();
        draft.push(&"x".repeat(MAX_ANSWER));
        assert_eq!((draft.push("y"), draft.push("z"), draft.text.len()), (None, None, MAX_ANSWER));
        assert!(!draft.last("w").is_appended);
    }
}
