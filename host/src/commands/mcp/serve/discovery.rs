//! Servers are asked for their tools while callers are served already. One that fails is a note, and is asked again later.

use super::source::{Source, Unknown};
use crate::commands::{clients, terminal};
use agent_spaces::ConcurrencyLimiter;
use agent_spaces::mcp::brief;
use agent_spaces_mcp::{CallError, Listing};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// How many are asked at one time: each may be a program that starts.
const AT_ONCE: usize = 8;

/// How long one may take: what it runs may have to be fetched first.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers that come within so long of the first are read together.
const TOGETHER: Duration = Duration::from_millis(200);

type Asked = (Unknown, Result<Listing, CallError>);

/// Asks the servers whose tools nobody knows, and serves what they have as it comes. Those that gave nothing are asked again
/// when somebody asks about functions, ever more seldom. Never ends.
pub(super) async fn discover(source: Arc<Source>) {
    let limiter = ConcurrencyLimiter::new(AT_ONCE);
    let mut asking: JoinSet<Asked> = JoinSet::new();
    let mut due = source.due();
    let (mut is_warned, mut taking) = (false, Duration::ZERO);
    loop {
        for server in due.drain(..) {
            asking.spawn(ask(source.clone(), limiter.clone(), server));
        }
        if asking.is_empty() && !is_warned {
            source.warn_of_unexposed();
            is_warned = true;
        }
        tokio::select! {
            Some(first) = asking.join_next() => {
                let mut answers = vec![first];
                // The more there is the longer it takes to serve it anew, and the more is read together.
                let until = Instant::now() + TOGETHER.max(taking);
                while let Ok(Some(next)) = tokio::time::timeout_at(until, asking.join_next()).await {
                    answers.push(next);
                }
                let begun = Instant::now();
                take_all(source.clone(), answers).await;
                taking = begun.elapsed();
            }
            () = source.question() => due = source.due(),
        }
    }
}

async fn ask(source: Arc<Source>, limiter: ConcurrencyLimiter, server: Unknown) -> Asked {
    let place = limiter.enter().await;
    let client = source.session().clients().stranger(&server);
    let listed = tokio::time::timeout(PATIENCE, client.list()).await;
    // Nobody has to wait for its end, but the next one that is started.
    tokio::spawn(async move {
        client.close().await;
        drop(place);
    });
    (server, listed.unwrap_or(Err(CallError::Timeout { after: PATIENCE })))
}

/// Takes in what servers answered, and serves it.
async fn take_all(source: Arc<Source>, answers: Vec<Result<Asked, JoinError>>) {
    let taken = tokio::task::spawn_blocking(move || {
        answers.into_iter().flatten().for_each(|answer| take(&source, answer));
        source.offer()
    });
    if let Ok(Err(failure)) = taken.await {
        terminal::warn(failure.message());
    }
}

/// Accepts what a server offers, or remembers why it offers nothing.
fn take(source: &Source, (server, listed): Asked) {
    let refused = match listed {
        Ok(listing) => {
            let accepted = source.accept(&server, &listing);
            accepted.err().map(|failure| ("what it offers could not be written down".to_owned(), failure))
        }
        Err(error) => Some((brief(&server.name, &error), clients::refused(&server.name, &error))),
    };
    if let Some((why, failure)) = refused {
        source.note_failure(&server.name, why);
        // The whole of it is for who runs the server; an agent need not know how programs are started.
        terminal::warn(failure.message());
    }
}
