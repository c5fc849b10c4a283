//! Events of a question: the answer on stdout, everything else on stderr.
//!
//! Watchers must not block, and a terminal may: events are printed by a thread of their own, in their order.

use crate::commands::terminal;
use agent_spaces::Shown;
use agent_spaces::agent::{AgentEvent, Watcher};
use capability_gen::counted::counted;
use capability_gen::shown;
use serde_json::Value;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// Characters of arguments that are shown.
const MAX_ARGUMENTS: usize = 200;

/// Prints the events of one question.
pub(super) struct Printer {
    /// `None` ends the thread.
    events: Sender<Option<AgentEvent>>,
    thread: JoinHandle<Printed>,
}

/// State of stdout after the events so far.
#[derive(Default)]
pub(super) struct Printed {
    /// True if the text of the last whole answer is on stdout already.
    pub(super) has_text: bool,
    /// True if stdout does not end with a newline.
    is_line_open: bool,
    /// True if text of an answer that may still fail is there.
    is_partial: bool,
}

impl Printer {
    /// Starts printing. Text is printed only if it is streamed.
    pub(super) fn start(is_streamed: bool) -> Printer {
        let (events, received) = channel::<Option<AgentEvent>>();
        let printing = move || {
            let mut printed = Printed::default();
            while let Ok(Some(event)) = received.recv() {
                printed.print(&event, is_streamed);
            }
            printed
        };
        Printer { events, thread: std::thread::spawn(printing) }
    }

    /// A watcher that prints.
    pub(super) fn watcher(&self) -> Watcher {
        let events = self.events.clone();
        Arc::new(move |event| {
            // After the end of the command nobody prints.
            let _ = events.send(Some(event));
        })
    }

    /// Waits until everything is printed that was sent before.
    pub(super) fn finish(self) -> Printed {
        let _ = self.events.send(None);
        self.thread.join().unwrap_or_default()
    }
}

impl Printed {
    /// Ends an open line of stdout.
    pub(super) fn end_line(&mut self) {
        if std::mem::take(&mut self.is_line_open) {
            terminal::document("\n".to_owned());
        }
    }

    /// Prints a line for people. On a terminal it is not glued to a line of the answer.
    fn note(&mut self, text: Shown) {
        if terminal::is_stdout_terminal() {
            self.end_line();
        }
        terminal::note(text);
    }

    fn print(&mut self, event: &AgentEvent, is_streamed: bool) {
        let line = terminal::clean_line;
        match event {
            AgentEvent::Text { text } if is_streamed => self.text(text),
            // A new answer begins a new line.
            AgentEvent::Turn { .. } => self.end_line(),
            // A model that does not stream may answer after one that does.
            AgentEvent::Answered { .. } => self.has_text = std::mem::take(&mut self.is_partial),
            AgentEvent::ModelFailed { model, message, next } => {
                self.end_line();
                if std::mem::take(&mut self.is_partial) {
                    terminal::warn("the answer so far is void: its model failed");
                }
                let next = next.as_ref().map(|next| format!("; next: {next}")).unwrap_or_default();
                terminal::warn(&format!("{model}: {message}{next}"));
            }
            AgentEvent::CallStarted { name, arguments, .. } => {
                let arguments = short(arguments);
                self.note(shown!("→ {} {}", line(name), arguments));
            }
            AgentEvent::CallFinished { name, is_error, bytes, .. } => {
                let end = if *is_error { "failed" } else { "done" };
                self.note(shown!("← {} {}, {}", line(name), end, counted(*bytes, "byte")));
            }
            AgentEvent::ApprovalRequired { message, .. } => self.note(shown!("approval needed: {}", line(message))),
            AgentEvent::ApprovalDecided { approved, .. } => {
                self.note(shown!("{}", if *approved { "approved" } else { "denied" }));
            }
            AgentEvent::Note { text } => self.note(line(text)),
            AgentEvent::Text { .. } | AgentEvent::Reasoning { .. } | AgentEvent::Asking { .. } => {}
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.is_partial = true;
        self.is_line_open = !text.ends_with('\n');
        terminal::document(text.to_owned());
    }
}

/// Arguments of a call on one line, cut.
fn short(arguments: &Value) -> Shown {
    Shown::line(&arguments.to_string(), MAX_ARGUMENTS)
}

#[cfg(test)]
mod tests {
    use super::Printed;
    use agent_spaces::agent::AgentEvent;

    fn printed(events: &[AgentEvent]) -> bool {
        let mut printed = Printed::default();
        events.iter().for_each(|event| printed.print(event, true));
        printed.has_text
    }

    #[test]
    fn only_the_text_of_the_last_answer_counts_as_printed() {
        let text = || AgentEvent::Text { text: String::from("\n") };
        let model = || "a/b".to_owned();
        let answered = || AgentEvent::Answered { model: model(), input_tokens: 1, output_tokens: 1 };
        let failed = || AgentEvent::ModelFailed { model: model(), message: "cut".to_owned(), next: None };
        assert!(printed(&[text(), answered()]));
        // The second model does not stream: its answer is still to be printed.
        assert!(!printed(&[text(), failed(), answered()]));
        assert!(!printed(&[text(), answered(), AgentEvent::Turn { number: 2 }, answered()]));
        // Nothing came after the first answer.
        assert!(printed(&[text(), answered(), AgentEvent::Turn { number: 2 }, failed()]));
    }
}
