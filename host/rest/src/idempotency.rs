//! Idempotency keys: a request that is repeated with the same key has one effect.

use crate::ids;
use crate::problem::Problem;
use crate::service::Service;
use crate::time::now_ms;
use crate::who::Who;
use agent_spaces_journal::{Document, Expected, NewDocument, Put};
use axum::extract::OptionalFromRequestParts;
use http::StatusCode;
use http::request::Parts;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Looks for what another request with the same key is about to make, and the time between two.
pub(crate) const MAX_LOOKS: usize = 20;
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Header of the key.
const HEADER: &str = "idempotency-key";

/// Longest key, in bytes.
const MAX_KEY: usize = 255;

/// Kind of the documents.
const KIND: &str = "idempotency_key";

/// Time for which a key is known.
const KEPT_FOR_MS: i64 = 24 * 60 * 60 * 1_000;

/// Key of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdempotencyKey(String);

/// Effect of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// It was not used before. The id is that of the request's effect now.
    New,
    /// An earlier request with the same content has this id.
    Before {
        /// Id of its effect.
        id: String,
        /// True if it had its effect. Otherwise the server may have stopped before.
        is_done: bool,
    },
}

/// Use of a key, as the store keeps it.
#[derive(Serialize, Deserialize)]
struct Used {
    /// Hash of the request.
    request: String,
    /// Id of its effect.
    id: String,
    /// True once it had its effect, which may be removed before the key expires.
    #[serde(default)]
    is_done: bool,
}

impl IdempotencyKey {
    /// A key, for tests.
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> IdempotencyKey {
        IdempotencyKey(text.to_owned())
    }

    /// Returns the id of the document.
    fn document_id(&self, who: &Who, what: &str) -> String {
        ids::derived("key_", &[who.owner(), what, &self.0])
    }

    /// Remembers that the request of this key had its effect: it has none again, even if what it made is removed.
    pub(crate) async fn finish(&self, service: &Service, who: &Who, what: &str) -> Result<(), Problem> {
        self.remember(service, who, what, None).await
    }

    /// As [`finish`](IdempotencyKey::finish), for an effect whose id is known only now.
    pub(crate) async fn finish_with(
        &self,
        service: &Service,
        who: &Who,
        what: &str,
        effect: &str,
    ) -> Result<(), Problem> {
        self.remember(service, who, what, Some(effect)).await
    }

    async fn remember(&self, service: &Service, who: &Who, what: &str, effect: Option<&str>) -> Result<(), Problem> {
        let Some(known) = service.store().document(KIND, &self.document_id(who, what)).await? else { return Ok(()) };
        let used: Used = serde_json::from_str(&known.body).map_err(|error| Problem::internal(&error))?;
        if used.is_done {
            return Ok(());
        }
        let id = effect.map_or_else(|| used.id.clone(), str::to_owned);
        let used = Used { id, is_done: true, ..used };
        let body = serde_json::to_string(&used).map_err(|error| Problem::internal(&error))?;
        let Document { kind, id, owner, expires, version, .. } = known;
        let new = NewDocument { kind, id, owner, body, expires };
        // If somebody else changed it meanwhile, it was for the same.
        service.store().put_document(new, Expected::Version(version)).await?;
        Ok(())
    }

    /// Claims the key for a request whose effect will have this id.
    pub(crate) async fn claim(
        &self,
        service: &Service,
        who: &Who,
        what: &str,
        request: &str,
        id: &str,
    ) -> Result<Claimed, Problem> {
        let request = blake3::hash(request.as_bytes()).to_hex().to_string();
        let used = Used { request, id: id.to_owned(), is_done: false };
        let new = NewDocument {
            kind: KIND.to_owned(),
            id: self.document_id(who, what),
            owner: who.owner().to_owned(),
            body: serde_json::to_string(&used).map_err(|error| Problem::internal(&error))?,
            expires: Some(now_ms().saturating_add(KEPT_FOR_MS)),
        };
        let known = match service.store().put_document(new.clone(), Expected::Absent).await? {
            Put::Stored(_) => return Ok(Claimed::New),
            Put::Missing => return Err(Problem::internal(&"the store neither has the key nor took it")),
            Put::Conflict(known) => known,
        };
        if known.expires.is_some_and(|at| at <= now_ms()) {
            // Two requests may find it at once: one of them takes it.
            return match service.store().put_document(new, Expected::Version(known.version)).await? {
                Put::Stored(_) => Ok(Claimed::New),
                Put::Conflict(_) | Put::Missing => Err(Problem::conflict("conflict", "The key is in use: try again")),
            };
        }
        let before: Used = serde_json::from_str(&known.body).map_err(|error| Problem::internal(&error))?;
        if before.request != used.request {
            let detail = "This Idempotency-Key was used for another request: use a new key for each";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "request.idempotency", detail));
        }
        Ok(Claimed::Before { id: before.id, is_done: before.is_done })
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<IdempotencyKey>, Problem> {
        let mut given = parts.headers.get_all(HEADER).iter();
        let (value, more) = (given.next(), given.next());
        let Some(value) = value else { return Ok(None) };
        let text = value.to_str().ok().filter(|text| (1..=MAX_KEY).contains(&text.trim().len()) && more.is_none());
        let wrong = || {
            Problem::header("Idempotency-Key", format!("expected one key of 1 to {MAX_KEY} printable ASCII characters"))
        };
        text.map(|text| Some(IdempotencyKey(text.trim().to_owned()))).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::{Claimed, IdempotencyKey};
    use crate::service::test_service;
    use crate::who::Who;
    use agent_spaces_http_server::Client;

    #[tokio::test]
    async fn a_key_remembers_that_its_request_had_an_effect() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        let who = Who(Client::of_process(Default::default()));
        let key = IdempotencyKey::of("key-1");
        let claim = async |id: &str| key.claim(&service, &who, "run", "{}", id).await.unwrap();
        key.finish(&service, &who, "run").await.unwrap();
        assert_eq!(claim("run_1").await, Claimed::New);
        let before = |is_done| Claimed::Before { id: "run_1".to_owned(), is_done };
        assert_eq!(claim("run_2").await, before(false), "the server may have stopped before");
        key.finish(&service, &who, "space").await.unwrap();
        assert_eq!(claim("run_2").await, before(false), "that was another kind of request");
        for _ in 0..2 {
            key.finish(&service, &who, "run").await.unwrap();
            assert_eq!(claim("run_2").await, before(true));
        }
        assert!(key.claim(&service, &who, "run", "{1}", "run_3").await.is_err(), "another request");
    }
}
