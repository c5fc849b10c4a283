//! Servers are asked for their tools while callers are served already. One that fails is a note and no more.

use super::source::{Source, Trouble, Unknown};
use crate::commands::{clients, terminal};
use agent_spaces::ConcurrencyLimiter;
use agent_spaces_mcp::{CallError, ConnectError, Listing};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How many are asked at one time: each may be a program that starts.
const AT_ONCE: usize = 8;

/// How long one may take: what it runs may have to be fetched first.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers that come this close together are read together.
const TOGETHER: Duration = Duration::from_millis(150);

type Asked = (Unknown, Result<Listing, CallError>);

/// Asks these servers, and serves what they have as it comes.
pub(super) async fn discover(source: Arc<Source>, servers: Vec<Unknown>) {
    let limiter = ConcurrencyLimiter::new(AT_ONCE);
    let mut asking = JoinSet::new();
    for server in servers {
        source.note(&server.name, Trouble::Asked);
        let (source, limiter) = (source.clone(), limiter.clone());
        asking.spawn(async move {
            let _place = limiter.enter().await;
            let client = source.session().clients().stranger(&server);
            let listed = tokio::time::timeout(PATIENCE, client.list()).await;
            client.close().await;
            (server, listed.unwrap_or(Err(CallError::Timeout { after: PATIENCE })))
        });
    }
    while let Some(first) = asking.join_next().await {
        let mut answers = vec![first];
        while let Ok(Some(next)) = tokio::time::timeout(TOGETHER, asking.join_next()).await {
            answers.push(next);
        }
        let taking = source.clone();
        let taken = tokio::task::spawn_blocking(move || {
            answers.into_iter().flatten().for_each(|answer| take(&taking, answer));
            taking.offer()
        });
        if let Ok(Err(failure)) = taken.await {
            terminal::warn(failure.message());
        }
    }
}

/// Accepts what a server offers, or remembers why it offers nothing.
fn take(source: &Source, (server, listed): Asked) {
    let accepted = match listed {
        Ok(listing) => source.accept(&server, &listing),
        Err(error) => {
            source.note(&server.name, Trouble::Failed(short(&server.name, &error)));
            Err(clients::refused(&server.name, &error))
        }
    };
    if let Err(failure) = accepted {
        source.note_failure(&server.name, "what it offers could not be written down");
        // The whole of it is for who runs the server; an agent need not know how programs are started.
        terminal::warn(failure.message());
    }
}

/// In words that an agent may read, and tell its user.
fn short(server: &str, error: &CallError) -> String {
    match error {
        CallError::Unavailable(ConnectError::Unauthorized { .. }) => {
            format!("it wants its user to sign in: `agent-spaces mcp login {server}`")
        }
        CallError::Timeout { .. } => "it did not answer in time".to_owned(),
        _ => format!("it cannot be reached; `agent-spaces mcp tools {server}` says why"),
    }
}
