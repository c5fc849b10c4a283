//! World of a run: the store, a shop whose calls have effects, and the file of these effects.

use agent_spaces_approvals::{Answer, ApproverToken, Channel, Decision, Request};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_durable::channel::DurableChannel;
use agent_spaces_durable::doubt::{self, Doubt};
use agent_spaces_durable::{DoubtAnswer, DurableError, DurableReport, DurableRuns, RunInfo, Settings};
use agent_spaces_journal::{
    ApprovalFilter, ClaimError, Refused, Settings as StoreSettings, SqliteStore, Store, Stored,
};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_pipeline::audit_trail::AuditHandle;
use agent_spaces_policy::{Decision as Rules, Pattern, Policy, Rule, Settings as PolicySettings};
use agent_spaces_sandbox::engine::{Engine, EngineConfig};
use agent_spaces_sandbox::modules::ModuleSource;
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_space::builder::SpaceBuilder;
use agent_spaces_space::space::Space;
use agent_spaces_types::capability_error::CapabilityError;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

const WIT: &str = "package test:shop@1.0.0;
interface shop {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record params { item: u32 }
    pay: async func(params: params) -> result<u32, capability-error>;
    look: async func(params: params) -> result<u32, capability-error>;
    grant: async func(params: params) -> result<u32, capability-error>;
    break: async func(params: params) -> result<u32, capability-error>;
    hang: async func(params: params) -> result<u32, capability-error>;
    text: async func(params: params) -> result<string, capability-error>;
    numbers: async func(params: params) -> result<list<u32>, capability-error>;
    weigh: func(params: params) -> result<u32, capability-error>;
    stall: func(params: params) -> result<u32, capability-error>;
}";
const SHOP: &str = "test:shop/shop@1.0.0";

/// 20 parallel calls, timers, randomness, dates, a call that may be repeated, and two approvals.
pub(crate) const SCRIPT: &str = "import { shop } from '@test/shop';
const began = Date.now();
const dice = Math.random();
console.log('dice', dice >= 0 && dice < 1);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const items = Array.from({ length: 20 }, (_, index) => index + 1);
const [paid, first, granted] = await Promise.all([
  Promise.all(items.map((item) => shop.pay({ item }))),
  Promise.race([pause(3).then(() => 'short'), pause(30).then(() => 'long')]),
  shop.grant({ item: 100 }),
]);
console.log('paid', paid.length, first, new Date(began).toISOString().length);
await pause(2);
const seen = await shop.look({ item: 7 });
const last = await shop.grant({ item: 101 });
console.log('last', last, shop.weigh({ item: 3 }));
({ paid, granted, seen, last, dice, isForward: Date.now() >= began, span: performance.now() > 0 })";

/// Effects of the script that happen once each.
pub(crate) fn expected_effects() -> Vec<String> {
    let mut effects: Vec<String> = (1..=20).map(|item| format!("pay {item}")).collect();
    effects.extend(["grant 100".to_owned(), "grant 101".to_owned(), "weigh 3".to_owned()]);
    effects.sort();
    effects
}

/// The engine of this process.
pub(crate) fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineConfig { max_runs: 8, ..EngineConfig::default() }).unwrap()).clone()
}

/// Settings for tests: nobody waits long.
pub(crate) fn settings() -> Settings {
    Settings { park_after: Duration::from_secs(20), lease: Duration::from_secs(60), ..Settings::default() }
}

/// Folder of a store and of the providers' effects.
pub(crate) struct World(PathBuf);

impl World {
    pub(crate) fn at(folder: &Path) -> World {
        World(folder.to_owned())
    }

    /// Opens the store.
    pub(crate) fn store(&self, settings: StoreSettings) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(&self.0.join("journal"), settings).unwrap())
    }

    /// Opens the database of the store as a person with an editor would.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.0.join("journal/journal.sqlite")).unwrap()
    }

    /// Returns durable runs on a new store.
    pub(crate) fn runs(&self, settings: Settings) -> DurableRuns {
        DurableRuns::new(self.store(StoreSettings::default()), settings)
    }

    /// Returns the shop. `channel` asks a person.
    pub(crate) fn space(&self, channel: Arc<dyn Channel>) -> Space {
        self.builder(channel).build().unwrap()
    }

    /// Returns the shop with an audit log that every call must be in.
    pub(crate) fn audited_space(&self, channel: Arc<dyn Channel>, audit: AuditHandle) -> Space {
        self.builder(channel).audit(audit).build().unwrap()
    }

    fn builder(&self, channel: Arc<dyn Channel>) -> SpaceBuilder {
        let mut interfaces = Interfaces::new().unwrap();
        interfaces.add("shop.wit", WIT).unwrap();
        let mut handlers = Handlers::new();
        let file = self.0.join("effects");
        handlers.add_interface(SHOP, move |call| answer(file.clone(), call));
        let rule = |pattern: &str| Rule::new(Pattern::parse(pattern).unwrap(), "test");
        let functions = vec![
            Rule { decision: Some(Rules::Approve), ..rule("shop.grant") },
            Rule { idempotent: Some(true), ..rule("shop.look") },
            Rule { idempotent: Some(true), retries: Some(1), ..rule("shop.break") },
        ];
        let policy = Policy::new(PolicySettings { functions, ..PolicySettings::default() });
        let space = Space::builder(&engine()).interfaces(interfaces, handlers);
        let space = space.module("@test/input", ModuleSource::Json("null".to_owned()));
        space.policy(policy).approval_channel(channel)
    }

    /// Changes the bodies of a run's entries of one kind.
    pub(crate) fn edit(&self, run: &str, kind: &str, change: impl Fn(&mut Value)) {
        let database = self.database();
        let sql = "SELECT seq, body FROM entries WHERE run = ?1 AND kind = ?2";
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([run, kind], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let rows: Vec<(i64, Vec<u8>)> = rows.map(Result::unwrap).collect();
        assert!(!rows.is_empty(), "no {kind}");
        for (seq, body) in rows {
            let mut body: Value = serde_json::from_slice(&body).unwrap();
            change(&mut body);
            let sql = "UPDATE entries SET body = ?3 WHERE run = ?1 AND seq = ?2";
            database.execute(sql, rusqlite::params![run, seq, body.to_string().into_bytes()]).unwrap();
        }
    }

    /// Effects of a run, sorted.
    pub(crate) fn effects(&self, run: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join("effects")).unwrap_or_default();
        let of_run = text.lines().filter_map(|line| line.strip_prefix(run)?.strip_prefix(' '));
        let mut effects: Vec<String> = of_run.map(str::to_owned).collect();
        effects.sort();
        effects
    }

    /// Starts a run of a script, and returns its report.
    pub(crate) async fn run(
        &self,
        runs: &DurableRuns,
        space: &Space,
        script: &str,
        options: RunOptions,
    ) -> DurableReport {
        let program = space.prepare("agent.ts", script).unwrap();
        runs.run(&program, options, RunInfo::default()).await.unwrap()
    }

    /// Answers a question about a call from the file of effects.
    pub(crate) async fn resolve(&self, store: &dyn Store, doubt: &Doubt) {
        let entries = entries(store, &doubt.run_id).await;
        let events = events(&entries);
        let scheduled = events.iter().filter_map(|event| serde_json::from_str::<Value>(event).ok());
        let call = scheduled
            .into_iter()
            .find(|event| event["type"] == "callScheduled" && event["callId"] == doubt.call_id)
            .expect("a call in doubt is recorded");
        let (function, item) = (call["function"].as_str().unwrap(), call["params"]["item"].as_u64().unwrap());
        let has_happened = self.effects(&doubt.run_id).contains(&format!("{function} {item}"));
        let answer = if has_happened { DoubtAnswer::Happened((item * 10).into()) } else { DoubtAnswer::DidNotHappen };
        store.decide(&doubt.id(), &answer.text()).await.unwrap();
    }

    /// Answers all questions about calls of a run, as they come.
    pub(crate) fn resolve_doubts(&self, store: Arc<dyn Store>, run: String) -> JoinHandle<()> {
        let world = World(self.0.clone());
        tokio::spawn(async move {
            loop {
                for question in doubt::undecided(&*store, &run).await.unwrap() {
                    world.resolve(&*store, &question).await;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
    }
}

/// Answers a call of the shop, and writes down that it took effect.
async fn answer(file: PathBuf, call: Call) -> Result<Value, CapabilityError> {
    let item = call.params["item"].as_u64().unwrap();
    match &*call.function {
        // It is retried.
        "break" => {
            let error = CapabilityError::failed(format!("no item {item}"));
            return Err(CapabilityError { retryable: true, ..error });
        }
        "hang" | "stall" => return std::future::pending().await,
        "numbers" => return Ok(json!(vec![0; usize::try_from(item).unwrap()])),
        "text" => return Ok(json!("x".repeat(usize::try_from(item).unwrap()))),
        _ => {}
    }
    pause(item * 3 % 4).await;
    let line = format!("{} {} {item}\n", call.run_id, call.function);
    // One write: whole, or not there.
    OpenOptions::new().create(true).append(true).open(file).unwrap().write_all(line.as_bytes()).unwrap();
    pause(item * 5 % 4).await;
    Ok((item * 10).into())
}

/// Waits, but not at all for zero milliseconds.
async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

/// Person who approves everything after a moment.
pub(crate) struct Person;

impl Channel for Person {
    fn ask(&self, _request: Arc<Request>) -> Answer<'_> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(8)).await;
            Ok(Decision::approve("ada"))
        })
    }
}

/// Channel whose decisions are in the store.
pub(crate) fn decided_in(store: Arc<dyn Store>, token: &str) -> Arc<dyn Channel> {
    let key = token.parse::<ApproverToken>().unwrap().key();
    Arc::new(DurableChannel::new(store, move || vec![key.clone()], None))
}

/// Approves the requests that wait in the store. Returns their number.
pub(crate) async fn approve_all(store: &dyn Store, token: &str) -> usize {
    let token: ApproverToken = token.parse().unwrap();
    let mut approved = 0;
    for row in store.approvals(ApprovalFilter::default()).await.unwrap() {
        if !doubt::is_doubt(&row.id) {
            let request: Request = serde_json::from_str(&row.request).unwrap();
            let decision = token.sign_decision(&request, Decision::approve("ada"));
            store.decide(&row.id, &decision).await.unwrap();
            approved += 1;
        }
    }
    approved
}

/// Drops a host, and waits until its tasks have ended.
pub(crate) async fn close(runs: DurableRuns, space: Option<Space>) {
    let store = Arc::downgrade(runs.store());
    drop((runs, space));
    while store.strong_count() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Continues a run of a host that was closed: in this process its store may still be closing.
pub(crate) async fn resume(runs: &DurableRuns, run: &str, space: &Space) -> DurableReport {
    let began = Instant::now();
    loop {
        match runs.resume(run, space, RunOptions::default()).await {
            Err(DurableError::Claim(ClaimError::Refused(Refused::Owned { .. }))) => {
                assert!(began.elapsed() < Duration::from_secs(10), "a dead owner still owns {run}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            resumed => return resumed.unwrap(),
        }
    }
}

/// Reads the journal of a run.
pub(crate) async fn entries(store: &dyn Store, run: &str) -> Vec<Stored> {
    store.read(run, 0, usize::MAX).await.unwrap()
}

/// Recorded events, as they were sent.
pub(crate) fn events(entries: &[Stored]) -> Vec<String> {
    let events = entries.iter().filter(|entry| entry.kind == "event");
    events.map(|entry| String::from_utf8(entry.body.clone()).unwrap()).collect()
}
