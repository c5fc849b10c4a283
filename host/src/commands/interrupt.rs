//! SIGINT and SIGTERM while a script is run for another program, which is told its one object all the same.
//!
//! Until the script runs, a signal prints the object and ends the process: what was started ends with it. While it runs,
//! the first signal cancels it, so that it ends as any run does and is written down. The second ends the process at once.

use super::output;
use agent_spaces::CancelHandle;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long the object may take to be written by who ends at once: whoever reads stdout may have stopped.
const LAST_WORD: Duration = Duration::from_millis(500);

/// Watches for signals from when it is made; clones are one.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<Mutex<State>>);

struct State {
    phase: Phase,
    /// The exit status by the first signal that came.
    status: Option<u8>,
    /// What is printed where there is no report.
    cancelled: Value,
}

enum Phase {
    /// Nothing runs yet.
    Preparing,
    /// The script runs.
    Running(CancelHandle),
    /// It does no more, and this came of it; what was started for it ends.
    Ending(Value),
    /// All is said.
    Printed,
}

impl Interrupt {
    /// Watches from now on. `cancelled` is printed where a signal comes before there is a report. Where signals cannot be
    /// watched they end the process as ever.
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
                let heard = interrupt.clone();
                let watching = move || runtime.block_on(heard.hear(signals));
                // Without a thread nobody hears them, and a signal does nothing but be counted.
                drop(std::thread::Builder::new().name("signals".into()).spawn(watching));
            }
        }
        interrupt
    }

    /// The script runs from now on: it ends by this.
    pub(super) fn running(&self, cancel: CancelHandle) {
        self.state().phase = Phase::Running(cancel);
    }

    /// This came of the run.
    pub(super) fn ended(&self, report: Value) {
        self.state().phase = Phase::Ending(report);
    }

    /// Prints what came of the run: a value may be large, so it is there once. Gives what [`Interrupt::print`] gives.
    pub(super) fn print_report(&self) -> (u8, Option<u8>) {
        let mut state = self.state();
        match std::mem::replace(&mut state.phase, Phase::Printed) {
            Phase::Ending(report) => (output::print_line(&report), state.status),
            _ => (output::print_line(&state.cancelled), state.status),
        }
    }

    /// Prints the one object. Gives the exit status of writing it, and that of the signal if there was one.
    pub(super) fn print(&self, object: &Value) -> (u8, Option<u8>) {
        let mut state = self.state();
        state.phase = Phase::Printed;
        (output::print_line(object), state.status)
    }

    async fn hear(&self, (mut interrupt, mut terminate): (Signal, Signal)) {
        loop {
            let kind = tokio::select! {
                _ = interrupt.recv() => SignalKind::interrupt(),
                _ = terminate.recv() => SignalKind::terminate(),
            };
            self.heed(kind);
        }
    }

    /// Heeds a signal; comes back where the run goes on to its end.
    fn heed(&self, kind: SignalKind) {
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
            say_last(object);
        }
        // The state is held until then: nothing else is printed.
        std::process::exit(status.into());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints this, and lets nothing be printed after it.
fn say_last(object: Value) {
    let (said, heard) = mpsc::channel();
    let saying = move || {
        let _held = std::io::stdout().lock();
        output::print_line(&object);
        let _nobody_may_wait = said.send(());
        loop {
            std::thread::park();
        }
    };
    if std::thread::Builder::new().spawn(saying).is_ok() {
        let _late_is_never = heard.recv_timeout(LAST_WORD);
    }
}

/// What shells show of a process that a signal ended: 130 for SIGINT, 143 for SIGTERM.
fn status(kind: SignalKind) -> u8 {
    u8::try_from(128 + kind.as_raw_value()).unwrap_or(1)
}
