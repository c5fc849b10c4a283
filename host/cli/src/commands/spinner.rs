//! Progress spinner on stderr.

use agent_spaces::Shown;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Progress spinner on a terminal; prints nothing otherwise.
pub(super) struct Spinner(ProgressBar);

/// Starts a spinner with a message.
pub(super) fn spin(message: impl Into<Shown>) -> Spinner {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    let spinner = Spinner(bar);
    spinner.set_message(message.into());
    spinner.0.enable_steady_tick(Duration::from_millis(100));
    spinner
}

impl Spinner {
    /// Changes the message.
    pub(super) fn set_message(&self, message: Shown) {
        self.0.set_message(String::from(message));
    }

    /// Removes the spinner.
    pub(super) fn finish_and_clear(&self) {
        self.0.finish_and_clear();
    }
}
