//! Spans of durable runs: a replay opens none for the calls that the journal answers.

use crate::support::Shop;
use agent_spaces_durable::{DurableRuns, RunInfo, Settings, State};
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_telemetry::names;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

const RUN: &str = "run_spans";

const SCRIPT: &str = "import { shop } from '@test/shop';
const first = await shop.pay({ item: 1 });
await new Promise((done) => setTimeout(done, 2_000));
first + await shop.pay({ item: 2 })";

/// Names and fields of all spans of this process that were opened.
static OPENED: Mutex<Vec<Fields>> = Mutex::new(Vec::new());

type Fields = BTreeMap<&'static str, String>;

struct Recorded;

impl<S: tracing::Subscriber> Layer<S> for Recorded {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        if attributes.metadata().target() == names::TARGET {
            let mut fields = Texts(Fields::from([("", attributes.metadata().name().to_owned())]));
            attributes.record(&mut fields);
            OPENED.lock().unwrap().push(fields.0);
        }
    }
}

struct Texts(Fields);

impl Visit for Texts {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

/// Returns the spans of the run: whether one of a run is resumed, and the number of a call.
fn opened() -> Vec<String> {
    let opened = OPENED.lock().unwrap();
    let of_run = opened.iter().filter(|fields| fields.get(names::RUN_ID).is_some_and(|id| id == RUN));
    let shown = |fields: &Fields| match fields[""].as_str() {
        names::RUN => format!("run, resumed: {}", fields[names::RUN_RESUMED]),
        names::EXECUTE_TOOL => format!("{}, call {}", fields[names::OTEL_NAME], fields[names::GEN_AI_CALL]),
        other => other.to_owned(),
    };
    of_run.map(shown).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_from_the_journal_have_no_spans() {
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Recorded)).unwrap();
    let shop = Shop::new();
    let (store, space) = (shop.store(), shop.space());
    let program = space.prepare("agent.ts", SCRIPT).unwrap();
    // The run leaves memory while it waits for its timer.
    let parking = Settings { park_after: Duration::from_millis(10), ..Settings::default() };
    let options = RunOptions { run_id: Some(RUN.into()), ..RunOptions::default() };
    let parked = DurableRuns::new(store.clone(), parking).run(&program, options, RunInfo::default()).await.unwrap();
    assert!(matches!(parked.state, State::Parked(_)), "{:?}", parked.state);
    assert_eq!(opened(), ["run, resumed: false", "execute_tool shop.pay, call 1"]);

    let second = DurableRuns::new(store, Settings::default());
    assert!(second.attend(RUN).await.unwrap(), "the run does not wait for a host");
    let done = second.resume(RUN, &space, RunOptions::default()).await.unwrap();
    assert_eq!((done.state, done.report.outcome.unwrap()), (State::Ended, 30.into()));
    assert_eq!(opened()[2..], ["run, resumed: true", "execute_tool shop.pay, call 2"]);
}
