//! What a person reads before they decide.
//!
//! Every line that holds a stranger's words begins with a margin, and none is so long that the terminal would break
//! it: what has no margin is ours.

use super::arguments::pretty;
use super::style::Style;
use crate::canonical::digest;
use crate::plain::rows;
use crate::request::Request;
use crate::times;
use capability_gen::shown;
use capability_gen::shown::Shown;
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
/// What stands in a row beside the names of a module and of what answers it, in characters, the margin included.
const NAME_WORDS: usize = 20;
/// How many characters a digest has.
const DIGEST: usize = 64;
/// The longest name of a function, in characters: what fits into its rows on a usual screen.
const MAX_LABEL: usize = 300;
/// The longest arguments, in characters; their rows are bounded besides.
const MAX_ARGUMENTS: usize = 100_000;
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
pub(super) fn sheet(request: &Request, width: usize, waiting: usize, style: Style) -> Shown {
    let mut sheet = Sheet { text: Shown::default(), width: width.clamp(MIN_WIDTH, MAX_WIDTH), style };
    sheet.heading("A call needs your approval:");
    // One row each, so that none can pass for another; the whole name is the last of them.
    sheet.words(&Shown::line(&request.label(), MAX_LABEL), 1);
    // One row for both: the whole sheet fits a screen of 24 rows, and neither pushes the other out.
    let room = sheet.width.saturating_sub(NAME_WORDS);
    let module = Shown::line(&request.module, room / 2);
    let source = Shown::line(&request.source, room.saturating_sub(module.chars().count()));
    sheet.words(&shown!("of {}, answered by {}", module, source), 1);
    sheet.words(&Shown::line(&request.function_id.to_string(), MAX_LABEL), MAX_NAME_ROWS);
    let space = request.space.as_deref().map(|space| shown!("space {}, ", Shown::line(space, MAX_NAME)));
    let run = Shown::line(&request.run_id, MAX_NAME);
    sheet.words(&shown!("{}run {}, call {}", space.unwrap_or_default(), run, request.call_id), MAX_NAME_ROWS);
    sheet.heading("Its arguments:");
    let left_out = sheet.words(&Shown::text(&pretty(&request.params), MAX_ARGUMENTS), MAX_ARGUMENT_ROWS);
    if left_out > 0 {
        sheet.warning(shown!("{} more lines of arguments are not shown, and are approved with the rest.", left_out));
    }
    if request.redacted {
        sheet.warning("[redacted] stands for secrets. They are sent, and in the hash.".into());
        let digits = request.digest.chars().filter(char::is_ascii_hexdigit).take(DIGEST);
        sheet.line(shown!("sha256 {}", Shown::line(&digits.collect::<String>(), DIGEST)));
    } else {
        // Of what is shown, whatever the request says of itself.
        let digest = digest(&request.function_id, &request.params);
        sheet.line(shown!("sha256 {}", Shown::line(&digest, DIGEST)));
    }
    if !request.message.is_empty() {
        sheet.heading("In the capability's own words, which nobody checked:");
        sheet.words(&request.message, MAX_MESSAGE_ROWS);
    }
    if !request.places.is_empty() {
        sheet.heading("Called by the script at:");
        let places: Shown = request.places.iter().map(|place| shown!("{}\n", place)).collect();
        sheet.words(&places, MAX_PLACE_ROWS);
    }
    let time = |text: String| Shown::line(&text, MAX_NAME);
    let (left, at) = (times::left(request.expires, SystemTime::now()), times::text(request.expires));
    sheet.line(shown!("It expires in {}, at {}.", time(left), time(at)));
    match waiting {
        0 => {}
        1 => sheet.line("1 more request waits after this one."),
        more => sheet.line(shown!("{} more requests wait after this one.", more)),
    }
    CHOICES.iter().for_each(|choice| sheet.line(*choice));
    sheet.text
}

struct Sheet {
    text: Shown,
    width: usize,
    style: Style,
}

impl Sheet {
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

    /// A stranger's words, and how many of their rows were left out.
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
#[path = "sheet_tests.rs"]
mod tests;
