//! Questions from a terminal, one after the other in one session.

use super::Asking;
use super::history::History;
use super::question::MAX_QUESTION;
use crate::commands::failure::Failure;
use crate::commands::terminal;
use agent_spaces::Code;
use agent_spaces::agent::SessionChoice;
use capability_gen::shown;
use std::io::{BufRead as _, Read as _};

/// What a person wrote.
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
        let mut history = History::open();
        terminal::note("/history lists earlier questions, !NUMBER asks one again, Ctrl-D ends");
        let mut status = 0;
        loop {
            terminal::ask(&"> ".into());
            let text = match read_line()? {
                Line::End => break,
                Line::Nothing => continue,
                Line::History => {
                    for (number, question) in history.newest() {
                        terminal::note(shown!("{:>4}  {}", number, terminal::shorten_middle(question, 200)));
                    }
                    continue;
                }
                Line::Again(number) => match history.get(number) {
                    Some(question) => question.to_owned(),
                    None => {
                        terminal::warn("there is no such question; /history lists them");
                        continue;
                    }
                },
                Line::Question(text) => text,
            };
            history.add(&text);
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

fn read_line() -> Result<Line, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_QUESTION).read_line(&mut text);
    let read = read.map_err(|error| Failure::new(Code::ConfigUsage, format!("stdin: {error}"), None))?;
    if read == 0 {
        return Ok(Line::End);
    }
    Ok(understood(text.trim()))
}

fn understood(text: &str) -> Line {
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
    use super::{Line, understood};

    #[test]
    fn commands_are_told_from_questions() {
        assert!(matches!(understood("/history"), Line::History));
        assert!(matches!(understood("!12"), Line::Again(12)));
        assert!(matches!(understood("/quit"), Line::End));
        assert!(matches!(understood(""), Line::Nothing));
        assert!(matches!(understood("!important: what is 2 + 2?"), Line::Question(text) if text.contains("2 + 2")));
    }
}
