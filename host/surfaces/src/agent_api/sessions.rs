//! Sessions of an agent: a caller sees its own, the operator those of all.

use super::transcript;
use crate::failure::Failure;
use agent_spaces_agent::{AgentService, SessionPage, SessionPart, SessionSummary};
use agent_spaces_http_server::Client;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::form_urlencoded;

/// Bytes of a query, and sessions of a page.
const MAX_QUERY: usize = 2_048;
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

/// Sessions that one caller reads at once: each has some megabytes, which stay in memory until they are sent.
const MAX_READS: usize = 4;

/// Milliseconds from the Unix epoch to the year 9999, after which RFC 3339 has no times.
const MAX_MS: u64 = 253_370_764_800_000;

/// Reads sessions.
#[derive(Default)]
pub(super) struct SessionReader {
    /// Reads that each caller may still have. The configuration bounds the number of callers.
    reads: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
}

/// Query of a request.
#[derive(Debug, Default, PartialEq, Eq)]
struct Query {
    limit: Option<usize>,
    cursor: Option<String>,
}

impl SessionReader {
    /// Lists the sessions of an agent, newest first.
    pub(super) async fn list(
        &self,
        service: &AgentService,
        client: &Client,
        agent: &str,
        query: Option<&str>,
    ) -> Result<Value, Failure> {
        check_agent(service, client, agent)?;
        let query = read_query(query, true)?;
        let before = query.cursor.as_deref().map(position).transpose()?;
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        let found = service.sessions_of(client, agent, before, limit).await;
        let SessionPage { sessions, next } = found.map_err(|error| Failure::of_error(&error))?;
        let mut page = json!({ "items": sessions.iter().map(summary).collect::<Vec<_>>() });
        if let Some((created, id)) = next {
            page["next"] = format!("{created}.{id}").into();
        }
        Ok(page)
    }

    /// Returns a session with its messages, some megabytes of them at most, and the permit to hold until they are sent.
    pub(super) async fn get(
        &self,
        service: &AgentService,
        client: &Client,
        agent: &str,
        id: &str,
        query: Option<&str>,
    ) -> Result<(Value, Option<OwnedSemaphorePermit>), Failure> {
        check_agent(service, client, agent)?;
        let from = match read_query(query, false)?.cursor {
            Some(cursor) => cursor.parse::<u64>().map_err(|_| wrong_cursor())?,
            None => 1,
        };
        // The semaphore is never closed.
        let permit = self.reads_of(client).acquire_owned().await.ok();
        let found = service.session_part(client, agent, id, from).await;
        let SessionPart { summary: session, records, next } = found.map_err(|error| Failure::of_error(&error))?;
        let mut shown = summary(&session);
        shown["messages"] = transcript::messages(&records);
        if let Some(next) = next {
            shown["next"] = next.to_string().into();
        }
        Ok((shown, permit))
    }

    fn reads_of(&self, client: &Client) -> Arc<Semaphore> {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Semaphore::new(MAX_READS));
        reads.entry(client.identity().clone()).or_insert_with(new).clone()
    }
}

/// Refuses an agent that the caller may not ask: to that caller there is none.
fn check_agent(service: &AgentService, client: &Client, agent: &str) -> Result<(), Failure> {
    let is_known = service.agents_of(client).iter().any(|known| known.name == agent);
    if is_known { Ok(()) } else { Err(Failure::unknown_agent(agent)) }
}

fn summary(session: &SessionSummary) -> Value {
    let mut shown = json!({
        "id": session.id,
        "createdAt": time(session.created),
        "updatedAt": time(session.updated),
        "title": session.title,
        "turns": session.totals.turns,
        "usage": session.totals.usage,
    });
    if !session.owner.is_empty() {
        shown["caller"] = session.owner.as_str().into();
    }
    shown
}

/// Formats a time.
fn time(ms: i64) -> String {
    let since = Duration::from_millis(u64::try_from(ms).unwrap_or_default().min(MAX_MS));
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

fn read_query(text: Option<&str>, has_limit: bool) -> Result<Query, Failure> {
    let text = text.unwrap_or_default();
    if text.len() > MAX_QUERY {
        return Err(Failure::invalid("query", format!("The query is longer than {MAX_QUERY} bytes")));
    }
    let mut query = Query::default();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        match &*name {
            "cursor" if query.cursor.is_none() => query.cursor = Some(value.into_owned()),
            "limit" if has_limit && query.limit.is_none() => {
                let limit = value.parse::<usize>().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                let wrong = || Failure::invalid("limit", format!("expected a whole number from 1 to {MAX_LIMIT}"));
                query.limit = Some(limit.ok_or_else(wrong)?);
            }
            "cursor" | "limit" if has_limit || name == "cursor" => {
                return Err(Failure::invalid(&*name, format!("`{name}` is there twice")));
            }
            _ => {
                let name: String = name.chars().take(100).collect();
                return Err(Failure::invalid(name, "unknown parameter"));
            }
        }
    }
    // An empty one asks for the first page.
    query.cursor = query.cursor.filter(|cursor| !cursor.is_empty());
    Ok(query)
}

/// Reads the cursor of a list.
fn position(cursor: &str) -> Result<(i64, String), Failure> {
    let (created, id) = cursor.split_once('.').ok_or_else(wrong_cursor)?;
    Ok((created.parse().map_err(|_| wrong_cursor())?, id.to_owned()))
}

fn wrong_cursor() -> Failure {
    Failure::invalid("cursor", "unknown cursor: use `next` of an earlier page")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;
    use crate::testing::{Scripted, Step, ann, eve};
    use agent_spaces_agent::{OutputFormat, Question, SessionChoice};
    use agent_spaces_journal::SqliteStore;
    use agent_spaces_models::Message;
    use agent_spaces_types::caller::Caller;

    #[tokio::test]
    async fn a_caller_sees_its_own_sessions_and_the_operator_all() {
        let folder = tempfile::tempdir().unwrap();
        let settings = agent_spaces_journal::Settings::default();
        let store = Arc::new(SqliteStore::open(&folder.path().join("journal"), settings).unwrap());
        let steps = vec![Step::Calls("I look.", "look", json!({ "at": "it" })), Step::Says("It is a cat.")];
        let service = Scripted::new(OutputFormat::Text, steps).stored_service(store);
        let asked = Question::new(ann(), "planner", vec![Message::user("What is it?")]);
        let question = Question { session: SessionChoice::New, ..asked };
        let outcome = service.surface("test", None).ask(question).await.unwrap();
        let reader = SessionReader::default();
        let operator = Client::of_process(Caller::default());
        for client in [ann(), operator] {
            let listed = reader.list(&service, &client, "planner", Some("limit=5")).await.unwrap();
            let session = &listed["items"][0];
            assert_eq!((&session["id"], &session["title"]), (&json!(outcome.session), &json!("What is it?")));
            assert_eq!((&session["turns"], &session["usage"]["inputTokens"]), (&json!(2), &json!(20)));
            assert_eq!((&session["caller"], listed.get("next")), (&json!("ann"), None));
            let (read, _) = reader.get(&service, &client, "planner", &outcome.session, None).await.unwrap();
            let messages = read["messages"].as_array().unwrap();
            assert_eq!(messages.len(), 3, "{read}");
            assert_eq!((&messages[0]["role"], &messages[0]["text"]), (&json!("user"), &json!("What is it?")));
            let call = &messages[1]["toolCalls"][0];
            assert_eq!((&call["name"], &call["arguments"]), (&json!("look"), &json!({ "at": "it" })));
            assert_eq!(call["status"], "done");
            assert!(call["result"].as_str().unwrap().contains("a cat"), "{call}");
            assert_eq!(messages[2]["text"], "It is a cat.");
            assert_eq!(messages[2]["usage"]["outputTokens"], 5);
        }
        let bob = Client::named("bob", Caller::default());
        assert_eq!(reader.list(&service, &bob, "planner", None).await.unwrap(), json!({ "items": [] }));
        for (client, agent) in [(bob, "planner"), (eve(), "planner"), (ann(), "other")] {
            let refused = reader.get(&service, &client, agent, &outcome.session, None).await.unwrap_err();
            assert_eq!(refused.kind, FailureKind::NotFound);
        }
        assert_eq!(reader.list(&service, &eve(), "planner", None).await.unwrap_err().kind, FailureKind::NotFound);

        let read =
            async |client: &Client| reader.get(&service, client, "planner", &outcome.session, None).await.unwrap();
        let mut unsent = Vec::new();
        for _ in 0..MAX_READS {
            unsent.push(read(&ann()).await);
        }
        let wait = Duration::from_millis(50);
        assert!(tokio::time::timeout(wait, read(&ann())).await.is_err(), "her client has to read some first");
        drop(read(&Client::of_process(Caller::default())).await);
        unsent.pop();
        drop(read(&ann()).await);
    }

    #[test]
    fn wrong_queries_are_refused() {
        let read = |text: &str| read_query(Some(text), true);
        assert_eq!(read("limit=3&cursor=1.ses_a").unwrap(), Query { limit: Some(3), cursor: Some("1.ses_a".into()) });
        assert_eq!(read("cursor=").unwrap(), Query::default());
        for wrong in ["limit=0", "limit=101", "limit=x", "limit=1&limit=2", "cursor=a&cursor=b", "before=1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read_query(Some("limit=1"), false).is_err() && read(&"x".repeat(MAX_QUERY + 1)).is_err());
        assert_eq!(position("12.ses_a").unwrap(), (12, "ses_a".to_owned()));
        assert!(position("ses_a").is_err() && position("x.ses_a").is_err());
    }
}
