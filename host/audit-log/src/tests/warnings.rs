//! Collector of warnings. They come from threads of the recorders, so there is one collector for the process.

use super::Place;
use crate::OPERATOR_TARGET;
use std::fmt::Debug;
use std::sync::{LazyLock, Mutex};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// Warnings of all logs: the path of the log, and the text.
static COLLECTED: LazyLock<Mutex<Vec<Warning>>> = LazyLock::new(|| {
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Collector)).expect("the only one");
    Mutex::default()
});

#[derive(Default)]
struct Warning {
    log: String,
    text: String,
}

struct Collector;

impl<S: Subscriber> Layer<S> for Collector {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == OPERATOR_TARGET && *event.metadata().level() == Level::WARN {
            let mut warning = Warning::default();
            event.record(&mut warning);
            COLLECTED.lock().expect("lock").push(warning);
        }
    }
}

impl Visit for Warning {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "log" => self.log = format!("{value:?}"),
            "message" => self.text = format!("{value:?}"),
            other => panic!("{other}"),
        }
    }
}

/// Collects warnings from now on.
pub(super) fn collect() {
    LazyLock::force(&COLLECTED);
}

impl Place {
    /// Returns the warnings about this log.
    pub(super) fn warnings(&self) -> Vec<String> {
        let (all, log) = (COLLECTED.lock().expect("lock"), self.log.display().to_string());
        all.iter().filter(|warning| warning.log == log).map(|warning| warning.text.clone()).collect()
    }
}
