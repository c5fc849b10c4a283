//! Handler of SIGINT and SIGTERM during `run --json`, which must print its JSON object in any case.
//!
//! Before the script runs, a signal prints the object and exits. While it runs, the first signal cancels the run, which
//! then ends normally and is logged. The second signal exits at once.

use super::output;
use agent_spaces::CancellationToken;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Timeout of writing the object before an immediate exit: the reader of stdout may be stuck.
const FINAL_WRITE: Duration = Duration::from_millis(500);

/// Signal handler of one command. Clones share their state.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<Mutex<State>>);

struct State {
    phase: Phase,
    /// Exit status of the first signal.
    status: Option<u8>,
    /// Object to print if there is no report.
    cancelled: Value,
}

enum Phase {
    /// The script does not run yet.
    Preparing,
    /// The script runs.
    Running(CancellationToken),
    /// The run has ended with this report; the session is closing.
    Ending(Value),
    /// The object is printed.
    Printed,
}

impl Interrupt {
    /// Installs the handler. `cancelled` is printed if a signal arrives before there is a report. If the handler cannot
    /// be installed, signals end the process as usual.
    pub(super) fn watch(cancelled: Value) -> Interrupt {
        let state = State { phase: Phase::Preparing, status: None, cancelled };
        let interrupt = Interrupt(Arc::new(Mutex::new(state)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        if let Ok(runtime) = runtime {
            let entered = runtime.enter();
            let signals =
                signal(SignalKind::interrupt()).and_then(|first| Ok((first, signal(SignalKind::terminate())?)));
            drop(entered);
            if let Ok(signals) = signals {
                let listener = interrupt.clone();
                let watching = move || runtime.block_on(listener.listen(signals));
                // If no thread can be started, signals are ignored.
                drop(std::thread::Builder::new().name("signals".into()).spawn(watching));
            }
        }
        interrupt
    }

    /// Marks the script as running; a signal cancels it.
    pub(super) fn running(&self, cancel: CancellationToken) {
        self.state().phase = Phase::Running(cancel);
    }

    /// Sets the report of the run.
    pub(super) fn ended(&self, report: Value) {
        self.state().phase = Phase::Ending(report);
    }

    /// Prints the report of the run, without a copy of a large value. Returns the same as [`Interrupt::print`].
    pub(super) fn print_report(&self) -> (u8, Option<u8>) {
        let mut state = self.state();
        match std::mem::replace(&mut state.phase, Phase::Printed) {
            Phase::Ending(report) => (output::print_line(&report), state.status),
            _ => (output::print_line(&state.cancelled), state.status),
        }
    }

    /// Prints the object. Returns the exit status of writing, and that of the signal if there was one.
    pub(super) fn print(&self, object: &Value) -> (u8, Option<u8>) {
        let mut state = self.state();
        state.phase = Phase::Printed;
        (output::print_line(object), state.status)
    }

    async fn listen(&self, (mut interrupt, mut terminate): (Signal, Signal)) {
        loop {
            let kind = tokio::select! {
                _ = interrupt.recv() => SignalKind::interrupt(),
                _ = terminate.recv() => SignalKind::terminate(),
            };
            self.handle(kind);
        }
    }

    /// Handles a signal. Returns if the run is to end normally.
    fn handle(&self, kind: SignalKind) {
        let mut state = self.state();
        let is_first = state.status.is_none();
        let status = *state.status.get_or_insert(status(kind));
        let object = match &state.phase {
            Phase::Running(cancel) if is_first => return cancel.cancel(),
            Phase::Ending(_) if is_first => return,
            Phase::Ending(report) => Some(report.clone()),
            Phase::Preparing | Phase::Running(_) => Some(state.cancelled.clone()),
            Phase::Printed => None,
        };
        if let Some(object) = object {
            print_last(object);
        }
        // The lock on the state is still held, so nothing else is printed.
        std::process::exit(status.into());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints an object and blocks all later output.
fn print_last(object: Value) {
    let (done, written) = mpsc::channel();
    let printing = move || {
        let _held = std::io::stdout().lock();
        output::print_line(&object);
        let _ = done.send(());
        loop {
            std::thread::park();
        }
    };
    if std::thread::Builder::new().spawn(printing).is_ok() {
        let _ = written.recv_timeout(FINAL_WRITE);
    }
}

/// Returns the exit status that shells report for a signal: 130 for SIGINT, 143 for SIGTERM.
fn status(kind: SignalKind) -> u8 {
    u8::try_from(128 + kind.as_raw_value()).unwrap_or(1)
}
