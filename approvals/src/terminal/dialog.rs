//! One prompt, from its first line to its last.

use super::screen::{Screen, Stop};
use crate::decision::{Decision, Lasts};
use capability_gen::shown;
use capability_gen::shown::Shown;
use std::time::Duration;

/// Who is said to have decided.
const BY: &str = "terminal";

/// Shows the sheet and asks until the answer is one of those it offers. `settle` is how long a prompt stands before
/// keys count: what is typed sooner was meant for something else.
pub(super) fn hold(screen: &mut impl Screen, sheet: &Shown, settle: Duration) -> Result<Decision, Stop> {
    screen.show(&shown!("\n{}", sheet))?;
    screen.show(&"Your answer (y, r, a or n): ".into())?;
    if screen.discard(settle)? {
        screen.show(&"What was typed before this prompt could be read does not count.\n".into())?;
        screen.show(&"Your answer (y, r, a or n): ".into())?;
    }
    loop {
        if let Some(decision) = understood(&screen.line()?) {
            return Ok(decision);
        }
        // Of several pasted lines, the second was not an answer to this.
        screen.discard(Duration::ZERO)?;
        screen.show(&"Please answer y, r, a or n: ".into())?;
    }
}

/// How the prompt ends on the screen.
pub(super) fn last_words(ending: &Result<Decision, Stop>) -> &'static str {
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

fn understood(line: &str) -> Option<Decision> {
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
