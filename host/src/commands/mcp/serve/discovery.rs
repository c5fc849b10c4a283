//! Servers are asked for their tools while callers are served already. One that fails is a note, and is asked again later.

use super::source::{Source, Unknown};
use crate::commands::failure::Failure;
use crate::commands::{clients, terminal};
use agent_spaces::mcp::brief;
use agent_spaces::{ConcurrencyLimiter, ConcurrencyPlace};
use agent_spaces_mcp::{CallError, Listing};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

/// How many are asked at one time: each may be a program that starts.
const AT_ONCE: usize = 8;

/// How long one keeps its place. One that says nothing for longer is waited for without, so that one that works begins.
const TURN: Duration = Duration::from_secs(3);

/// How long one may take: what it runs may have to be fetched first.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers that come within so long of the first are read together.
const TOGETHER: Duration = Duration::from_millis(200);

type Asked = Result<Listing, CallError>;

/// Asks the servers whose tools nobody knows, and serves what they have as it comes. Those that gave nothing are asked again
/// when somebody asks about functions, ever more seldom. Never ends.
pub(super) async fn discover(source: Arc<Source>) {
    let limiter = ConcurrencyLimiter::new(AT_ONCE);
    let mut asking: JoinSet<Asked> = JoinSet::new();
    let mut asked: HashMap<Id, Unknown> = HashMap::new();
    let mut due = source.due();
    let (mut is_warned, mut taking) = (false, Duration::ZERO);
    loop {
        for server in due.drain(..) {
            let task = asking.spawn(ask(source.clone(), limiter.clone(), server.clone()));
            asked.insert(task.id(), server);
        }
        if asking.is_empty() && !is_warned {
            source.warn_of_unexposed();
            is_warned = true;
        }
        tokio::select! {
            Some(first) = asking.join_next_with_id() => {
                let mut answers = vec![first];
                // The more there is the longer it takes to serve it anew, and the more is read together.
                let until = Instant::now() + TOGETHER.max(taking);
                while let Ok(Some(next)) = tokio::time::timeout_at(until, asking.join_next_with_id()).await {
                    answers.push(next);
                }
                let begun = Instant::now();
                let answers = answers.into_iter().filter_map(|answer| match answer {
                    Ok((id, answer)) => asked.remove(&id).map(|server| (server, Some(answer))),
                    Err(broken) => asked.remove(&broken.id()).map(|server| (server, None)),
                });
                take_all(source.clone(), answers.collect()).await;
                taking = begun.elapsed();
            }
            // What is configured may be something else by now.
            () = source.question() => if source.has_due() {
                let reading = source.clone();
                blocking(move || reading.offer_notes()).await;
                due = source.due();
            },
        }
    }
}

/// What a server answered.
async fn ask(source: Arc<Source>, limiter: ConcurrencyLimiter, server: Unknown) -> Asked {
    let place = limiter.enter().await;
    let client = source.session().clients().stranger(&server);
    let (listed, place) = in_turn(place, tokio::time::timeout(PATIENCE, client.list())).await;
    // Nobody has to wait for its end, but the next one that is started.
    tokio::spawn(async move {
        client.close().await;
        drop(place);
    });
    listed.unwrap_or(Err(CallError::Timeout { after: PATIENCE }))
}

/// Waits for an answer, and gives its place back with it if that came within its turn.
async fn in_turn<T>(place: ConcurrencyPlace, answer: impl Future<Output = T>) -> (T, Option<ConcurrencyPlace>) {
    tokio::pin!(answer);
    if let Ok(early) = tokio::time::timeout(TURN, &mut answer).await {
        return (early, Some(place));
    }
    drop(place);
    (answer.await, None)
}

/// Takes in what servers answered, and serves it. Where nothing is new what is served stays, with all that is under way in it.
async fn take_all(source: Arc<Source>, answers: Vec<(Unknown, Option<Asked>)>) {
    blocking(move || {
        let taken: Vec<bool> = answers.into_iter().map(|(server, answer)| take(&source, &server, answer)).collect();
        if taken.contains(&true) { source.offer() } else { source.offer_notes() }
    })
    .await;
}

/// Does what takes a thread, and warns where that cannot be done.
async fn blocking(work: impl FnOnce() -> Result<(), Failure> + Send + 'static) {
    if let Ok(Err(failure)) = tokio::task::spawn_blocking(work).await {
        terminal::warn(failure.message());
    }
}

/// Accepts what a server offers, or remembers why it offers nothing; gives whether there is something new.
fn take(source: &Source, server: &Unknown, answer: Option<Asked>) -> bool {
    let (why, failure) = match answer {
        Some(Ok(listing)) => match source.accept(server, &listing) {
            Ok(()) => return true,
            Err(failure) => ("what it offers could not be written down".to_owned(), Some(failure)),
        },
        Some(Err(error)) => {
            let why = brief(&server.name, &error, &source.argument());
            (why, Some(clients::refused(&server.name, &error)))
        }
        // Asking itself broke off: that is our own fault, and said where it happened.
        None => ("it could not be asked".to_owned(), None),
    };
    source.note_failure(&server.name, why);
    // The whole of it is for who runs the server; an agent need not know how programs are started.
    if let Some(failure) = failure {
        terminal::warn(failure.message());
    }
    false
}
