//! Lists and transcripts of the sessions of one agent: a caller sees its own, the operator those of all.

use super::{MAX_PAGE, SESSION, SessionPage, SessionPart, Sessions, is_expired, now_ms, store_failed, summary};
use crate::error::AgentError;
use agent_spaces_journal::DocumentFilter;

/// Reads of the store for one page: the store does not know agents, so that few of many sessions may be theirs.
const MAX_READS: usize = 10;

impl Sessions {
    /// Sessions of an agent, newest first; those of all callers without an owner. A page that is not full may have a next
    /// one.
    pub(crate) async fn list_of(
        &self,
        owner: Option<&str>,
        agent: &str,
        before: Option<(i64, String)>,
        limit: usize,
    ) -> Result<SessionPage, AgentError> {
        let limit = limit.clamp(1, MAX_PAGE);
        let (mut sessions, mut next, now) = (Vec::new(), before, now_ms());
        for _ in 0..MAX_READS {
            let (owner, before) = (owner.map(str::to_owned), next.clone());
            let filter = DocumentFilter { owner, before, limit: MAX_PAGE, ..DocumentFilter::of(SESSION) };
            let found = self.store.documents(filter).await.map_err(store_failed)?;
            let is_last = found.len() < MAX_PAGE;
            for document in found {
                next = Some((document.created, document.id.clone()));
                if is_expired(&document, now) {
                    continue;
                }
                let session = summary(document)?;
                if session.agent != agent {
                    continue;
                }
                sessions.push(session);
                if sessions.len() >= limit {
                    return Ok(SessionPage { sessions, next });
                }
            }
            if is_last {
                return Ok(SessionPage { sessions, next: None });
            }
        }
        Ok(SessionPage { sessions, next })
    }

    /// Records of a session of an agent, from a number on.
    pub(crate) async fn part_of(
        &self,
        owner: Option<&str>,
        agent: &str,
        id: &str,
        from: u64,
    ) -> Result<SessionPart, AgentError> {
        let summary = summary(self.find_of(owner, id).await?)?;
        if summary.agent != agent {
            return Err(AgentError::UnknownSession(summary.id));
        }
        let (records, next) = self.read_part(id, from).await?;
        Ok(SessionPart { summary, records, next })
    }
}
