//! `agent-spaces agent --replay`

use crate::commands::{output, terminal};
use agent_spaces::agent::Replayed;
use capability_gen::counted::counted;
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::json;

/// Exit status of a replay that differs from its recording.
const DIFFERS: u8 = 1;

/// Prints what a replay found. Returns the exit status.
pub(super) fn show(replayed: &Replayed, is_json: bool) -> u8 {
    let written = match is_json {
        true => output::print_line(&json!(replayed)),
        false => output::print(&text(replayed)),
    };
    if replayed.divergences.is_empty() { written } else { DIFFERS }
}

fn text(replayed: &Replayed) -> Shown {
    let mut text = Shown::default();
    for found in &replayed.divergences {
        let message = terminal::clean_line(&found.message);
        text.push(shown!("question {}, record {}: {}\n", found.question, found.record, message));
    }
    let (questions, records) = (counted(replayed.questions, "question"), counted(replayed.records, "record"));
    let differences = counted(replayed.divergences.len(), "difference");
    text.push(shown!("{}, {} as before, {}\n", questions, records, differences));
    text
}

#[cfg(test)]
mod tests {
    use super::text;
    use agent_spaces::agent::{Divergence, Replayed};

    #[test]
    fn differences_come_before_the_sum() {
        let divergences = vec![Divergence { question: 1, record: 4, message: "another\u{1b}[2J prompt".to_owned() }];
        let text = text(&Replayed { questions: 1, records: 3, divergences }).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("question 1, record 4: another") && !lines[0].contains('\u{1b}'), "{text}");
        assert_eq!(lines[1], "1 question, 3 records as before, 1 difference");
    }
}
