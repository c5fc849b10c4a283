//! Property test: many concurrent requests, decided, denied, withdrawn and abandoned at random. No outcome reaches
//! another request, and nothing is left behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]

use agent_spaces_approvals::{
    ApproverToken, Channel, Decision, Desk, Lasts, MAX_PENDING, Outcome, Pending, PipeChannel, Question, Request,
    Store, StoreChannel, Verdict,
};
use agent_spaces_types::identity::FunctionId;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

/// Plan of one request; times in milliseconds.
#[derive(Clone, Debug)]
struct Plan {
    run: usize,
    function: &'static str,
    number: u8,
    lifetime: u64,
    /// Time and content of its decision; shortly after, the opposite decision follows.
    decided: Option<(u64, Verdict, Lasts)>,
    /// Time of its withdrawal by the run.
    dropped: Option<u64>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let verdict = select(vec![Verdict::Approved, Verdict::Denied]);
    let lasts = select(vec![Lasts::Once, Lasts::Once, Lasts::Run, Lasts::Arguments]);
    (
        0..2usize,
        select(vec!["f", "g", "h"]),
        0..4u8,
        // Expires surely before, possibly before, or surely after its decision.
        select(vec![40, 560, 60_000]),
        prop::option::weighted(0.8, (0..90u64, verdict, lasts)),
        prop::option::weighted(0.3, 0..90u64),
    )
        .prop_map(|(run, function, number, lifetime, decided, dropped)| {
            // An undecided request must expire soon, or the test would wait for it.
            let lifetime = if decided.is_none() { 40 } else { lifetime };
            Plan { run, function, number, lifetime, decided, dropped }
        })
}

impl Plan {
    fn request(&self) -> Arc<Request> {
        let question = Question {
            run_id: format!("run_{}", self.run),
            call_id: 1,
            space: None,
            function_id: FunctionId::new("capabilities:crm/crm@1.0.0", self.function),
            module: "@capabilities/crm".into(),
            source: "the host".into(),
            capability: "crm".into(),
            function: self.function.into(),
            params: json!({ "number": self.number }),
            shown: None,
            message: String::new(),
            places: vec![],
        };
        Arc::new(Request::new(question, Duration::from_millis(self.lifetime)))
    }
}

/// Decider's end of a channel.
#[derive(Clone)]
enum Person {
    Pipe(Arc<tokio::sync::Mutex<tokio::io::DuplexStream>>),
    Store(Store, Arc<ApproverToken>),
}

impl Person {
    /// Decides, with the request's id as the decider's name.
    async fn decides(&self, request: &Request, verdict: Verdict, lasts: Lasts) {
        let decision = Decision { verdict, lasts, reason: None, by: request.id.clone() };
        match self {
            Person::Pipe(stream) => {
                let mut line = serde_json::to_value(&decision).unwrap();
                line["id"] = json!(request.id);
                stream.lock().await.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            }
            // It may have gone, or have been decided.
            Person::Store(store, token) => drop(store.decide(request, decision, token)),
        }
    }
}

async fn carry_out(plans: &[Plan], channel: Arc<dyn Channel>, person: Person) {
    let desk = Desk::new(channel);
    let runs = [Pending::default(), Pending::default()];
    let everything = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = plans
        .iter()
        .cloned()
        .map(|plan| {
            let (desk, pending, person) = (desk.clone(), runs[plan.run].clone(), person.clone());
            let request = plan.request();
            everything.lock().unwrap().push((plan.clone(), request.clone()));
            let announce = move |request: &Request| {
                let (request, person) = (request.clone(), person.clone());
                if let Some((after, verdict, lasts)) = plan.decided {
                    tokio::spawn(async move {
                        sleep(Duration::from_millis(after)).await;
                        person.decides(&request, verdict, lasts).await;
                        let other = if verdict == Verdict::Denied { Verdict::Approved } else { Verdict::Denied };
                        person.decides(&request, other, Lasts::Run).await;
                    });
                }
            };
            let patience = Duration::from_millis(plan.dropped.unwrap_or(120_000));
            let decide = async move { desk.decide_announced(request, &pending, announce).await };
            tokio::spawn(async move { tokio::time::timeout(patience, decide).await.ok() })
        })
        .collect();
    let everything = everything.lock().unwrap().clone();
    for (task, (plan, request)) in tasks.into_iter().zip(&everything) {
        let outcome = task.await.unwrap();
        check(outcome, plan, request, &everything);
    }
    assert!(runs.iter().all(|run| run.list().is_empty()), "something stays pending");
}

fn check(outcome: Option<Outcome>, plan: &Plan, request: &Request, everything: &[(Plan, Arc<Request>)]) {
    let of_run = everything.iter().filter(|(other, _)| other.run == plan.run);
    match outcome {
        None => assert!(plan.dropped.is_some()),
        Some(Outcome::Denied(decision)) => {
            assert_eq!(decision.by, request.id, "another request's denial");
            assert!(matches!(plan.decided, Some((_, Verdict::Denied, _))), "the second decision counted");
        }
        Some(Outcome::Approved(decision)) => {
            let (approved, asked) = everything.iter().find(|(_, asked)| asked.id == decision.by).unwrap();
            let (_, verdict, lasts) = approved.decided.unwrap();
            assert_eq!((verdict, lasts), (Verdict::Approved, decision.lasts), "the second decision counted");
            let is_covered = approved.run == plan.run
                && match lasts {
                    Lasts::Once => false,
                    Lasts::Run => approved.function == plan.function,
                    Lasts::Arguments => asked.digest == request.digest,
                };
            assert!(decision.by == request.id || is_covered, "another request's approval: {decision:?}");
        }
        Some(Outcome::Expired) => assert!(plan.lifetime < 60_000 || plan.decided.is_none(), "{plan:?}"),
        Some(Outcome::TooMany) => assert!(of_run.count() > MAX_PENDING),
        Some(Outcome::Nobody(why)) => panic!("{why}"),
    }
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(work);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pipe_outcomes_match_their_requests(plans in prop::collection::vec(plan(), 1..60)) {
        run(async {
            let (end, ours) = tokio::io::duplex(1 << 16);
            let reports = Arc::new(Mutex::new(Vec::new()));
            let told = Arc::clone(&reports);
            let channel = PipeChannel::new(ours, move |text| told.lock().unwrap().push(text.to_string()));
            let person = Person::Pipe(Arc::new(tokio::sync::Mutex::new(end)));
            carry_out(&plans, Arc::new(channel), person).await;
            // Whoever hears of a request can decide it, however fast they are.
            let reports = reports.lock().unwrap().clone();
            assert!(!reports.iter().any(|report| report.contains("no pending request")), "{reports:?}");
        });
    }

    #[test]
    fn store_outcomes_match_their_requests(plans in prop::collection::vec(plan(), 1..60)) {
        run(async {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(&folder.path().join("approvals")).unwrap();
            let token = Arc::new(ApproverToken::new().unwrap());
            let channel = StoreChannel::new(store.clone(), token.key(), |_| ());
            carry_out(&plans, Arc::new(channel), Person::Store(store.clone(), token)).await;
            // Decisions may still be on their way.
            sleep(Duration::from_millis(100)).await;
            for name in ["pending", "decided"] {
                let left = std::fs::read_dir(folder.path().join("approvals").join(name)).unwrap();
                let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
                assert!(left.is_empty(), "left in {name}: {left:?}");
            }
        });
    }
}
