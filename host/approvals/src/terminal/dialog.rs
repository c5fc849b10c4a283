//! Dialog of one prompt.

use super::screen::{Screen, Stop};
use crate::decision::{Decision, Lasts};
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use std::time::Duration;

/// Name of the decider.
const BY: &str = "terminal";

/// Shows the text and asks until the answer is valid. `settle` is how long a prompt is shown before keys count: earlier
/// keys were meant for something else.
pub(super) fn ask(screen: &mut impl Screen, text: &Shown, settle: Duration) -> Result<Decision, Stop> {
    screen.show(&shown!("\n{}", text))?;
    screen.show(&"Your answer (y, r, a or n): ".into())?;
    if screen.discard(settle)? {
        screen.show(&"Keys typed before this prompt could be read are ignored.\n".into())?;
        screen.show(&"Your answer (y, r, a or n): ".into())?;
    }
    loop {
        if let Some(decision) = parse_answer(&screen.line()?) {
            return Ok(decision);
        }
        // The second of several pasted lines was not an answer to this prompt.
        screen.discard(Duration::ZERO)?;
        screen.show(&"Please answer y, r, a or n: ".into())?;
    }
}

/// Returns the closing line of the prompt.
pub(super) fn closing_line(ending: &Result<Decision, Stop>) -> &'static str {
    match ending {
        Ok(Decision { verdict: crate::Verdict::Denied, .. }) => "Denied.\n",
        Ok(Decision { lasts: Lasts::Once, .. }) => "Allowed, this once.\n",
        Ok(Decision { lasts: Lasts::Run, .. }) => "Allowed, as every call of this function in this run.\n",
        Ok(Decision { lasts: Lasts::Arguments, .. }) => "Allowed, as every call with these arguments in this run.\n",
        Err(Stop::Withdrawn) => "\nWithdrawn: the run no longer waits for this.\n",
        Err(Stop::Expired) => "\nExpired: the call was not made.\n",
        Err(Stop::Ended | Stop::Failed(_)) => "\nNobody answered: the call was not made.\n",
    }
}

fn parse_answer(line: &str) -> Option<Decision> {
    let line = line.trim();
    let (word, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let reason = reason.trim();
    let lasts = match (word.to_ascii_lowercase().as_str(), reason) {
        ("n" | "no", reason) => {
            return Some(Decision::deny(BY, (!reason.is_empty()).then(|| reason.to_owned())));
        }
        ("y" | "yes", "") => Lasts::Once,
        ("r", "") => Lasts::Run,
        ("a", "") => Lasts::Arguments,
        _ => return None,
    };
    Some(Decision::approve(BY).lasting(lasts))
}

#[cfg(test)]
#[path = "dialog_tests.rs"]
mod tests;
