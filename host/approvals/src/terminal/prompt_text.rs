//! Text of the approval prompt.
//!
//! Every line of untrusted text begins with a margin and fits the terminal's width: lines without a margin are ours.

use super::arguments::pretty;
use super::style::Style;
use crate::canonical::digest;
use crate::request::Request;
use crate::text_layout::rows;
use crate::times;
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use std::time::SystemTime;

/// Margin of untrusted text.
const MARGIN: &str = "│ ";
/// Most rows of arguments; more would push the beginning off the screen.
const MAX_ARGUMENT_ROWS: usize = 40;
/// Most rows of the message: the arguments above it must stay on a small screen.
const MAX_MESSAGE_ROWS: usize = 4;
/// Most rows of a function's name.
const MAX_NAME_ROWS: usize = 4;
/// Most rows of script locations.
const MAX_PLACE_ROWS: usize = 10;
/// Longest space or run name, in characters.
const MAX_NAME: usize = 60;
/// Characters in the row of module and provider names besides the names, margin included.
const NAME_WORDS: usize = 20;
/// Characters of a digest.
const DIGEST: usize = 64;
/// Longest function name, in characters: fits its rows on a usual screen.
const MAX_LABEL: usize = 300;
/// The longest arguments, in characters; their rows are bounded besides.
const MAX_ARGUMENTS: usize = 100_000;
/// Smallest supported width; a narrower terminal wraps our lines.
const MIN_WIDTH: usize = 10;
/// Largest used width, for readability.
const MAX_WIDTH: usize = 160;

const CHOICES: [&str; 4] = [
    "  y  allow this call",
    "  r  allow every call of this function in this run",
    "  a  allow every call of it with these arguments in this run",
    "  n  deny it; you may add why: n not today",
];

/// Formats the request for a terminal of this width, with the number of requests waiting behind it.
pub(super) fn prompt_text(request: &Request, width: usize, waiting: usize, style: Style) -> Shown {
    let mut prompt = PromptText { text: Shown::default(), width: width.clamp(MIN_WIDTH, MAX_WIDTH), style };
    prompt.heading("A call needs your approval:");
    // One row each, so that none can pass for another; the full name comes last.
    prompt.words(&Shown::line(&request.label(), MAX_LABEL), 1);
    // One row for both: the whole prompt fits a screen of 24 rows, and neither pushes the other out.
    let room = prompt.width.saturating_sub(NAME_WORDS);
    let module = Shown::line(&request.module, room / 2);
    let source = Shown::line(&request.source, room.saturating_sub(module.chars().count()));
    prompt.words(&shown!("of {}, answered by {}", module, source), 1);
    prompt.words(&Shown::line(&request.function_id.to_string(), MAX_LABEL), MAX_NAME_ROWS);
    let space = request.space.as_deref().map(|space| shown!("space {}, ", Shown::line(space, MAX_NAME)));
    let run = Shown::line(&request.run_id, MAX_NAME);
    prompt.words(&shown!("{}run {}, call {}", space.unwrap_or_default(), run, request.call_id), MAX_NAME_ROWS);
    prompt.heading("Its arguments:");
    let left_out = prompt.words(&Shown::text(&pretty(&request.params), MAX_ARGUMENTS), MAX_ARGUMENT_ROWS);
    if left_out > 0 {
        prompt.warning(shown!("{} more lines of arguments are not shown, and are approved with the rest.", left_out));
    }
    if request.redacted {
        prompt.warning("[redacted] replaces secrets; they are sent, and are in the hash.".into());
        let digits = request.digest.chars().filter(char::is_ascii_hexdigit).take(DIGEST);
        prompt.line(shown!("sha256 {}", Shown::line(&digits.collect::<String>(), DIGEST)));
    } else {
        // Computed from what is shown, not taken from the request.
        let digest = digest(&request.function_id, &request.params);
        prompt.line(shown!("sha256 {}", Shown::line(&digest, DIGEST)));
    }
    if !request.message.is_empty() {
        prompt.heading("Message of the capability (unverified):");
        prompt.words(&request.message, MAX_MESSAGE_ROWS);
    }
    if !request.places.is_empty() {
        prompt.heading("Called by the script at:");
        let places: Shown = request.places.iter().map(|place| shown!("{}\n", place)).collect();
        prompt.words(&places, MAX_PLACE_ROWS);
    }
    let time = |text: String| Shown::line(&text, MAX_NAME);
    let (left, at) = (times::left(request.expires, SystemTime::now()), times::text(request.expires));
    prompt.line(shown!("It expires in {}, at {}.", time(left), time(at)));
    match waiting {
        0 => {}
        1 => prompt.line("1 more request waits after this one."),
        more => prompt.line(shown!("{} more requests wait after this one.", more)),
    }
    CHOICES.iter().for_each(|choice| prompt.line(*choice));
    prompt.text
}

struct PromptText {
    text: Shown,
    width: usize,
    style: Style,
}

impl PromptText {
    fn line(&mut self, text: impl Into<Shown>) {
        self.text.push(shown!("{}\n", text.into()));
    }

    fn heading(&mut self, text: &'static str) {
        let text = self.style.bold(text.into());
        self.line(text);
    }

    fn warning(&mut self, text: Shown) {
        let text = self.style.yellow(text);
        self.line(text);
    }

    /// Adds untrusted text, and returns the number of rows left out.
    fn words(&mut self, text: &Shown, max: usize) -> usize {
        // The margin takes two columns, and a full row would move some terminals to the next one.
        let rows = rows(text, self.width.saturating_sub(3));
        for row in rows.iter().take(max) {
            self.text.push(shown!("{}{}\n", MARGIN, row));
        }
        rows.len().saturating_sub(max)
    }
}

#[cfg(test)]
#[path = "prompt_text_tests.rs"]
mod tests;
