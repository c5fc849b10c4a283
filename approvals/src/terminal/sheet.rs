//! What a person reads before they decide.
//!
//! Every line that holds a stranger's words begins with a margin, and none is so long that the terminal would break
//! it: what has no margin is ours.

use super::arguments::pretty;
use super::style::Style;
use crate::canonical::digest;
use crate::plain::{one_line, rows};
use crate::request::Request;
use crate::times;
use std::fmt::Write as _;
use std::time::SystemTime;

/// What stands before a stranger's words.
const MARGIN: &str = "│ ";
/// How many rows of arguments are shown; the rest would push the beginning off the screen.
const MAX_ARGUMENT_ROWS: usize = 40;
/// How many rows of a message are shown: the arguments above it must stay on a small screen.
const MAX_MESSAGE_ROWS: usize = 4;
/// How many rows the name of a function may take.
const MAX_NAME_ROWS: usize = 4;
/// How many rows of places in the script are shown.
const MAX_PLACE_ROWS: usize = 10;
/// The longest name of a space or a run, in characters.
const MAX_NAME: usize = 60;
/// The longest name of a module, and of what answers it, in characters.
const MAX_SOURCE: usize = 200;
/// How many characters a digest has.
const DIGEST: usize = 64;
/// Narrower than this nothing can be read; such a terminal breaks our lines as it likes.
const MIN_WIDTH: usize = 10;
/// Wider than this nobody reads.
const MAX_WIDTH: usize = 160;

const CHOICES: [&str; 4] = [
    "  y  allow this call",
    "  r  allow every call of this function in this run",
    "  a  allow every call of it with these arguments in this run",
    "  n  deny it; you may add why: n not today",
];

/// The request as a person is shown it, on a terminal so many columns wide, while others wait behind it.
pub(super) fn sheet(request: &Request, width: usize, waiting: usize, style: Style) -> String {
    let mut sheet = Sheet { text: String::new(), width: width.clamp(MIN_WIDTH, MAX_WIDTH), style };
    sheet.heading("A call needs your approval:");
    // One row each, so that none can pass for another; the whole name is the last of them.
    sheet.words(&one_line(&request.label(), MAX_NAME), 1);
    let (module, source) = (one_line(&request.module, MAX_SOURCE), one_line(&request.source, MAX_SOURCE));
    sheet.words(&format!("of {module}, answered by {source}"), MAX_NAME_ROWS);
    sheet.words(&request.function_id.to_string(), MAX_NAME_ROWS);
    let space = request.space.as_deref().map(|space| format!("space {}, ", one_line(space, MAX_NAME)));
    let run = one_line(&request.run_id, MAX_NAME);
    sheet.words(&format!("{}run {run}, call {}", space.unwrap_or_default(), request.call_id), MAX_NAME_ROWS);
    sheet.heading("Its arguments:");
    let left_out = sheet.words(&pretty(&request.params), MAX_ARGUMENT_ROWS);
    if left_out > 0 {
        sheet.warning(&format!("{left_out} more lines of arguments are not shown, and are approved with the rest."));
    }
    if request.redacted {
        sheet.warning("[redacted] stands for secrets. They are sent, and in the hash.");
        let digits = request.digest.chars().filter(char::is_ascii_hexdigit).take(DIGEST);
        sheet.line(&format!("sha256 {}", digits.collect::<String>()));
    } else {
        // Of what is shown, whatever the request says of itself.
        sheet.line(&format!("sha256 {}", digest(&request.function_id, &request.params)));
    }
    if !request.message.trim().is_empty() {
        sheet.heading("In the capability's own words, which nobody checked:");
        sheet.words(&request.message, MAX_MESSAGE_ROWS);
    }
    if !request.places.is_empty() {
        sheet.heading("Called by the script at:");
        let places: Vec<String> = request.places.iter().map(|place| one_line(place, usize::MAX)).collect();
        sheet.words(&places.join("\n"), MAX_PLACE_ROWS);
    }
    let left = times::left(request.expires, SystemTime::now());
    sheet.line(&format!("It expires in {left}, at {}.", times::text(request.expires)));
    match waiting {
        0 => {}
        1 => sheet.line("1 more request waits after this one."),
        more => sheet.line(&format!("{more} more requests wait after this one.")),
    }
    CHOICES.iter().for_each(|choice| sheet.line(choice));
    sheet.text
}

struct Sheet {
    text: String,
    width: usize,
    style: Style,
}

impl Sheet {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text}");
    }

    fn heading(&mut self, text: &str) {
        let text = self.style.bold(text);
        self.line(&text);
    }

    fn warning(&mut self, text: &str) {
        let text = self.style.yellow(text);
        self.line(&text);
    }

    /// A stranger's words, and how many of their rows were left out.
    fn words(&mut self, text: &str, max: usize) -> usize {
        // The margin takes two columns, and a full row would move some terminals to the next one.
        let rows = rows(text, self.width.saturating_sub(3));
        for row in rows.iter().take(max) {
            let _ = writeln!(self.text, "{MARGIN}{row}");
        }
        rows.len().saturating_sub(max)
    }
}

#[cfg(test)]
#[path = "sheet_tests.rs"]
mod tests;
