//! Text of an answer that was sent, so that a client gets the rest and nothing twice.

use agent_spaces_agent::AgentEvent;

/// Text that was sent.
#[derive(Debug)]
pub(crate) struct Written {
    /// True if text is sent at the end alone.
    is_whole: bool,
    /// Text since a model was asked last.
    current: String,
    /// True if any text was sent before that.
    has_earlier: bool,
}

/// Text to send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// True if other text was sent before: this begins a new paragraph.
    pub(crate) is_new_paragraph: bool,
    /// The text.
    pub(crate) piece: String,
}

impl Piece {
    /// The text with its paragraph.
    pub(crate) fn text(self) -> String {
        if self.is_new_paragraph && !self.piece.is_empty() { format!("\n\n{}", self.piece) } else { self.piece }
    }
}

impl Written {
    pub(crate) fn new(is_whole: bool) -> Written {
        Written { is_whole, current: String::new(), has_earlier: false }
    }

    /// Returns the text to send for an event.
    pub(crate) fn event(&mut self, event: &AgentEvent) -> Option<Piece> {
        match event {
            // Text of a model that failed cannot be taken back: what comes next is a new paragraph.
            AgentEvent::Asking { .. } => {
                self.has_earlier |= !self.current.is_empty();
                self.current.clear();
                None
            }
            AgentEvent::Text { text } if !self.is_whole && !text.is_empty() => Some(self.add(text)),
            _ => None,
        }
    }

    /// Returns what is left of the answer: all of it for models that do not stream.
    pub(crate) fn rest(&mut self, answer: &str) -> Piece {
        let rest = answer.strip_prefix(self.current.as_str()).unwrap_or_default().to_owned();
        self.add(&rest)
    }

    fn add(&mut self, text: &str) -> Piece {
        let is_new_paragraph = self.has_earlier && self.current.is_empty();
        self.current.push_str(text);
        Piece { is_new_paragraph, piece: text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking() -> AgentEvent {
        AgentEvent::Asking { model: "p/m".to_owned() }
    }

    fn text(text: &str) -> AgentEvent {
        AgentEvent::Text { text: text.to_owned() }
    }

    fn sent(written: &mut Written, events: &[AgentEvent], answer: &str) -> String {
        let mut all: String = events.iter().filter_map(|event| written.event(event)).map(Piece::text).collect();
        all.push_str(&written.rest(answer).text());
        all
    }

    #[test]
    fn turns_are_paragraphs_and_nothing_comes_twice() {
        let events = [asking(), text("Let me "), text("look."), asking(), text("It is "), text("one.")];
        assert_eq!(sent(&mut Written::new(false), &events, "It is one."), "Let me look.\n\nIt is one.");
        assert_eq!(sent(&mut Written::new(false), &events[..5], "It is one."), "Let me look.\n\nIt is one.");
    }

    #[test]
    fn models_that_do_not_stream_are_sent_whole() {
        assert_eq!(sent(&mut Written::new(false), &[asking(), asking()], "It is one."), "It is one.");
    }

    #[test]
    fn answers_with_a_schema_are_sent_whole() {
        let events = [asking(), text("not json"), asking(), text("{}")];
        assert_eq!(sent(&mut Written::new(true), &events, "{}"), "{}");
    }
}
