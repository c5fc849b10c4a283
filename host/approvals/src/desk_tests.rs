use super::{Desk, Outcome};
use crate::channel::{Answer, Channel, ChannelError, EarlierDecision};
use crate::decision::{Decision, Lasts};
use crate::fixtures::{LONG, question, request, request_of};
use crate::pending::{MAX_PENDING, Pending};
use crate::request::{Question, Request};
use agent_spaces_types::identity::FunctionId;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Answers every request with a fixed decision after a delay.
#[derive(Default)]
struct Fixed {
    answer: Mutex<Option<Result<Decision, &'static str>>>,
    delay: Duration,
    asked: AtomicUsize,
    late: AtomicUsize,
}

impl Fixed {
    fn new(decision: Decision) -> Arc<Fixed> {
        Arc::new(Fixed { answer: Mutex::new(Some(Ok(decision))), ..Fixed::default() })
    }
}

impl Channel for Fixed {
    fn ask(&self, _request: Arc<Request>) -> Answer<'_> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = self.answer.lock().unwrap().clone();
        Box::pin(async move {
            // Blocks on purpose: the desk's timer must not run before the answer.
            std::thread::sleep(self.delay);
            match answer {
                Some(answer) => answer.map_err(|why| ChannelError::Nobody(why.to_owned())),
                None => std::future::pending().await,
            }
        })
    }

    fn too_late(&self, _request: &Request) {
        self.late.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn the_decision_is_the_outcome() {
    let pending = Pending::default();
    for (decision, outcome) in [
        (Decision::approve("ada"), Outcome::Approved as fn(_) -> _),
        (Decision::deny("ada", Some("no".into())), Outcome::Denied as fn(_) -> _),
    ] {
        let desk = Desk::new(Fixed::new(decision.clone()));
        assert_eq!(desk.decide(request(), &pending).await, outcome(decision));
        assert!(pending.list().is_empty());
    }
}

#[tokio::test]
async fn an_approval_for_the_run_covers_only_its_function() {
    let channel = Fixed::new(Decision::approve("ada").lasting(Lasts::Run));
    let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
    for number in 0..3 {
        let outcome = desk.decide(request_of("f", number, LONG), &pending).await;
        assert_eq!(outcome, Outcome::Approved(Decision::approve("ada").lasting(Lasts::Run)));
    }
    assert_eq!(channel.asked.load(Ordering::Relaxed), 1);
    desk.decide(request_of("g", 0, LONG), &pending).await;
    assert_eq!(channel.asked.load(Ordering::Relaxed), 2, "another function is asked for");
    desk.decide(request_of("f", 0, LONG), &Pending::default()).await;
    assert_eq!(channel.asked.load(Ordering::Relaxed), 3, "another run is asked for");
}

/// Two modules may export the same name; approving a function of one does not approve the other's.
#[tokio::test]
async fn an_approval_does_not_cover_a_function_of_the_same_label() {
    for lasts in [Lasts::Run, Lasts::Arguments] {
        let channel = Fixed::new(Decision::approve("ada").lasting(lasts));
        let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
        let own = question("delete", serde_json::json!({ "path": "x" }));
        let library = FunctionId::new("agent-spaces:std/crm@1.0.0", "delete");
        let other = Question { function_id: library, module: "@agent-spaces/std".into(), ..own.clone() };
        for (question, asked) in [(&own, 1), (&own, 1), (&other, 2), (&other, 2)] {
            let request = Arc::new(Request::new(question.clone(), LONG));
            assert!(matches!(desk.decide(request, &pending).await, Outcome::Approved(_)));
            assert_eq!(channel.asked.load(Ordering::Relaxed), asked, "{lasts:?} {}", question.module);
        }
    }
}

#[tokio::test]
async fn an_approval_of_arguments_covers_only_those_arguments() {
    let channel = Fixed::new(Decision::approve("ada").lasting(Lasts::Arguments));
    let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
    for (function, number, asked) in [("f", 1, 1), ("f", 1, 1), ("f", 2, 2), ("g", 1, 3), ("f", 2, 3)] {
        assert!(matches!(desk.decide(request_of(function, number, LONG), &pending).await, Outcome::Approved(_)));
        assert_eq!(channel.asked.load(Ordering::Relaxed), asked, "{function} {number}");
    }
}

#[tokio::test]
async fn denials_and_single_approvals_are_not_remembered() {
    for decision in [Decision::approve("ada"), Decision::deny("ada", None).lasting(Lasts::Run)] {
        let channel = Fixed::new(decision);
        let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
        for asked in 1..=3 {
            desk.decide(request(), &pending).await;
            assert_eq!(channel.asked.load(Ordering::Relaxed), asked);
        }
    }
}

#[tokio::test]
async fn pending_requests_are_limited() {
    for (max, most) in [(3, 3), (1_000, MAX_PENDING), (0, 0)] {
        let (desk, pending) = (Desk::new(Arc::<Fixed>::default()), Pending::new(max));
        let mut waiting: Vec<_> = (0..most)
            .map(|_| {
                let (desk, pending) = (desk.clone(), pending.clone());
                tokio::spawn(async move { desk.decide(request(), &pending).await })
            })
            .collect();
        crate::fixtures::until("all wait", || pending.list().len() == most).await;
        assert_eq!(desk.decide(request(), &pending).await, Outcome::TooMany);
        if let Some(one) = waiting.pop() {
            one.abort();
            crate::fixtures::until("there is a place", || pending.list().len() < most).await;
            let asked = tokio::time::timeout(Duration::from_millis(20), desk.decide(request(), &pending)).await;
            assert!(asked.is_err(), "it waits: {asked:?}");
        }
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        crate::fixtures::until("nobody waits", || pending.list().is_empty()).await;
    }
}

#[tokio::test]
async fn undecided_requests_expire() {
    let (desk, pending) = (Desk::new(Arc::<Fixed>::default()), Pending::default());
    assert_eq!(desk.decide(request_of("f", 1, Duration::from_millis(30)), &pending).await, Outcome::Expired);
    assert!(pending.list().is_empty());
    let channel = Fixed::new(Decision::approve("ada"));
    let outcome = Desk::new(channel.clone()).decide(request_of("f", 1, Duration::ZERO), &pending).await;
    assert_eq!((outcome, channel.asked.load(Ordering::Relaxed)), (Outcome::Expired, 0), "nobody is asked in vain");
}

#[tokio::test]
async fn a_late_decision_is_ignored_and_reported_to_its_channel() {
    let channel = Arc::new(Fixed {
        answer: Mutex::new(Some(Ok(Decision::approve("ada").lasting(Lasts::Run)))),
        delay: Duration::from_millis(60),
        ..Fixed::default()
    });
    let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
    let request = request_of("f", 1, Duration::from_millis(30));
    assert_eq!(desk.decide(request.clone(), &pending).await, Outcome::Expired);
    assert_eq!(channel.late.load(Ordering::Relaxed), 1);
    assert_eq!(pending.remembered(&request), None);
}

#[tokio::test]
async fn a_channel_without_a_person_does_not_approve() {
    let channel = Arc::new(Fixed { answer: Mutex::new(Some(Err("closed"))), ..Fixed::default() });
    assert_eq!(Desk::new(channel).decide(request(), &Pending::default()).await, Outcome::Nobody("closed".into()));
}

#[tokio::test]
async fn a_request_is_announced_only_when_a_person_is_asked() {
    let channel = Fixed::new(Decision::approve("ada").lasting(Lasts::Run));
    let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
    let mut announced = Vec::new();
    for number in 0..3 {
        let request = request_of("f", number, LONG);
        desk.decide_announced(request, &pending, |request| {
            assert_eq!(
                channel.asked.load(Ordering::Relaxed),
                1,
                "the request was announced before it could be decided"
            );
            assert_eq!(pending.list().len(), 1);
            announced.push(request.params["number"].as_u64().unwrap());
        })
        .await;
    }
    assert_eq!(announced, [0]);
}

#[tokio::test]
async fn an_approval_for_the_run_covers_calls_already_waiting() {
    let channel = Arc::<Fixed>::default();
    let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
    let wait = |function: &'static str| {
        let (desk, pending) = (desk.clone(), pending.clone());
        tokio::spawn(async move { desk.decide(request_of(function, 1, LONG), &pending).await })
    };
    let (same, other) = (wait("f"), wait("g"));
    crate::fixtures::until("both wait", || pending.list().len() == 2).await;
    *channel.answer.lock().unwrap() = Some(Ok(Decision::approve("ada").lasting(Lasts::Run)));
    desk.decide(request_of("f", 2, LONG), &pending).await;
    assert!(matches!(same.await.unwrap(), Outcome::Approved(_)));
    assert_eq!(pending.list().len(), 1, "the other function waits on");
    other.abort();
}

/// Has a decision that was made before.
struct Before(Decision);

impl Channel for Before {
    fn ask(&self, _request: Arc<Request>) -> Answer<'_> {
        Box::pin(std::future::pending())
    }

    fn decided_before<'a>(&'a self, _request: &'a Request) -> EarlierDecision<'a> {
        Box::pin(async { Some(self.0.clone()) })
    }
}

#[tokio::test]
async fn a_decision_that_was_made_in_time_counts_however_late_it_is_read() {
    let desk = Desk::new(Arc::new(Before(Decision::approve("ada"))));
    let expired = request_of("f", 1, Duration::ZERO);
    assert_eq!(expired.time_left(), None);
    assert_eq!(desk.decide(expired, &Pending::default()).await, Outcome::Approved(Decision::approve("ada")));
}
