//! Interactive mode: questions from a terminal, one after the other in one session.

use super::Asking;
use super::line_editor::{Input, LineEditor};
use crate::commands::failure::Failure;
use crate::commands::terminal;
use agent_spaces::agent::SessionChoice;
use capability_gen::shown;

/// Parsed input line.
enum Line {
    Question(String),
    /// Show earlier questions.
    History,
    /// Ask this one again.
    Again(usize),
    Nothing,
    End,
}

impl Asking<'_> {
    /// Asks until the input ends. Returns the exit status of the last question.
    pub(super) fn interactive(&self, mut session: SessionChoice) -> Result<u8, Failure> {
        let mut editor = LineEditor::open(!self.command.no_session)?;
        terminal::note("/history lists earlier questions, !NUMBER asks one again, Ctrl-C clears the line, Ctrl-D ends");
        let mut status = 0;
        loop {
            let line = match editor.read()? {
                Input::Line(line) => line,
                Input::Cleared => continue,
                Input::End => break,
            };
            let text = match parse(line.trim()) {
                Line::End => break,
                Line::Nothing => continue,
                Line::History => {
                    for (number, question) in editor.newest() {
                        terminal::note(shown!("{:>4}  {}", number, terminal::shorten_middle(question, 200)));
                    }
                    continue;
                }
                Line::Again(number) => match editor.get(number).map(str::to_owned) {
                    Some(question) => {
                        editor.add(&question);
                        question
                    }
                    None => {
                        terminal::warn("there is no such question; /history lists them");
                        continue;
                    }
                },
                Line::Question(text) => {
                    // With its leading space, which keeps it out of the history.
                    editor.add(line.trim_end());
                    text
                }
            };
            match self.once(session.clone(), Some(text)) {
                Ok((ended, kept)) => {
                    status = ended;
                    if let Some(kept) = kept {
                        session = SessionChoice::Resume(kept);
                    }
                }
                // The next question may be answered.
                Err(failure) => status = failure.show(),
            }
        }
        if let SessionChoice::Resume(id) = &session {
            terminal::note(shown!("go on with: agent-spaces agent --resume {}", terminal::clean_line(id)));
        }
        Ok(status)
    }
}

fn parse(text: &str) -> Line {
    match text {
        "" => Line::Nothing,
        "/exit" | "/quit" => Line::End,
        "/history" => Line::History,
        text => match text.strip_prefix('!').and_then(|number| number.parse().ok()) {
            Some(number) => Line::Again(number),
            None => Line::Question(text.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, parse};

    #[test]
    fn commands_and_questions_are_told_apart() {
        assert!(matches!(parse("/history"), Line::History));
        assert!(matches!(parse("!12"), Line::Again(12)));
        assert!(matches!(parse("/quit"), Line::End));
        assert!(matches!(parse(""), Line::Nothing));
        assert!(matches!(parse("!important: what is 2 + 2?"), Line::Question(text) if text.contains("2 + 2")));
    }
}
