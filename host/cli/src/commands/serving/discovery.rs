//! Background discovery: lists the tools of MCP servers while callers are served. A failure becomes a note and is
//! retried.

use super::source::{Source, UndiscoveredServer};
use crate::commands::failure::Failure;
use crate::commands::{session, terminal};
use agent_spaces::mcp::brief;
use agent_spaces::{ConcurrencyLimiter, ConcurrencyPermit};
use agent_spaces_mcp::{CallError, Listing};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

/// Number of servers asked concurrently: each may start a program.
const MAX_CONCURRENT: usize = 8;

/// Time that a server occupies a concurrency slot. A slower one continues without a slot, so that it blocks no other.
const SLOT_TIME: Duration = Duration::from_secs(3);

/// Timeout of one server: its package may have to be downloaded first.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Listings that arrive within this time of the first are served together.
const BATCH_WINDOW: Duration = Duration::from_millis(200);

type Answer = Result<Listing, CallError>;

/// Lists the tools of undiscovered servers and serves them as they arrive. Servers that failed are retried with
/// backoff, when a client asks about functions. Never returns.
pub(in crate::commands) async fn discover(source: Arc<Source>) {
    let limiter = ConcurrencyLimiter::new(MAX_CONCURRENT);
    let mut asking: JoinSet<Answer> = JoinSet::new();
    let mut asked: HashMap<Id, UndiscoveredServer> = HashMap::new();
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
                // Reloading takes longer with more tools, so the batch window grows with it.
                let until = Instant::now() + BATCH_WINDOW.max(taking);
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
            // The configuration may have changed.
            () = source.question() => if source.has_due() {
                let reading = source.clone();
                blocking(move || reading.offer_notes()).await;
                due = source.due();
            },
        }
    }
}

/// Lists the tools of a server.
async fn ask(source: Arc<Source>, limiter: ConcurrencyLimiter, server: UndiscoveredServer) -> Answer {
    let slot = limiter.enter().await;
    let client = source.session().clients().stranger(&server);
    let (listed, slot) = with_slot(slot, tokio::time::timeout(TIMEOUT, client.list())).await;
    // Closing runs in the background, and keeps the slot until it is done.
    tokio::spawn(async move {
        client.close().await;
        drop(slot);
    });
    listed.unwrap_or(Err(CallError::Timeout { after: TIMEOUT }))
}

/// Waits for an answer, and returns the slot too if it arrived within its time.
async fn with_slot<T>(slot: ConcurrencyPermit, answer: impl Future<Output = T>) -> (T, Option<ConcurrencyPermit>) {
    tokio::pin!(answer);
    if let Ok(early) = tokio::time::timeout(SLOT_TIME, &mut answer).await {
        return (early, Some(slot));
    }
    drop(slot);
    (answer.await, None)
}

/// Records the answers of servers, and reloads the project if there are new tools. Otherwise only notes change, and
/// running calls are not disturbed.
async fn take_all(source: Arc<Source>, answers: Vec<(UndiscoveredServer, Option<Answer>)>) {
    blocking(move || {
        let taken: Vec<bool> = answers.into_iter().map(|(server, answer)| take(&source, &server, answer)).collect();
        if taken.contains(&true) { source.offer() } else { source.offer_notes() }
    })
    .await;
}

/// Runs blocking work, and prints a warning if it fails.
async fn blocking(work: impl FnOnce() -> Result<(), Failure> + Send + 'static) {
    if let Ok(Err(failure)) = tokio::task::spawn_blocking(work).await {
        terminal::warn(failure.message());
    }
}

/// Records the tools of a server, or the reason of its failure. Returns true if there are new tools.
fn take(source: &Source, server: &UndiscoveredServer, answer: Option<Answer>) -> bool {
    let (why, failure) = match answer {
        Some(Ok(listing)) => match source.accept(server, &listing) {
            Ok(()) => return true,
            Err(failure) => ("its tools could not be recorded".to_owned(), Some(failure)),
        },
        Some(Err(error)) => {
            let why = brief(&server.name, &error, &source.argument());
            (why, Some(session::refused(&server.name, &error)))
        }
        // The task panicked, which was reported there.
        None => ("its tools could not be listed".to_owned(), None),
    };
    source.note_failure(&server.name, why);
    // Full details go to the operator: agents need not know how programs are started.
    if let Some(failure) = failure {
        terminal::warn(failure.message());
    }
    false
}
