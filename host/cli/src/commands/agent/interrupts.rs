//! SIGINT and SIGTERM: the first cancels the question, the second ends the command. Between questions the first one
//! ends it; there Ctrl-C is a key of the line editor.

use super::terminal_mode;
use crate::commands::serving::stop_signal;
use crate::commands::terminal;
use agent_spaces::CancellationToken;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// Exit status of a cancelled command.
const STATUS: i32 = 130;

/// Signals of one command. Clones share their state.
#[derive(Clone, Default)]
pub(super) struct Interrupts(Arc<Mutex<Option<CancellationToken>>>);

impl Interrupts {
    /// Listens from now on.
    pub(super) fn listen(runtime: &Handle) -> Interrupts {
        let interrupts = Interrupts::default();
        let listener = interrupts.clone();
        // Registered before anything is asked.
        let entered = runtime.enter();
        let mut signal = Box::pin(stop_signal());
        drop(entered);
        runtime.spawn(async move {
            loop {
                signal.await;
                signal = Box::pin(stop_signal());
                listener.handle();
            }
        });
        interrupts
    }

    /// Cancels this question on a signal, until the next is set.
    pub(super) fn cancel(&self, question: CancellationToken) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(question);
    }

    /// Nothing is asked now.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn handle(&self) {
        let question = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match question {
            Some(question) => {
                terminal::note("cancelling; press Ctrl-C again to end at once");
                question.cancel();
            }
            None => {
                terminal_mode::restore();
                std::process::exit(STATUS);
            }
        }
    }
}
