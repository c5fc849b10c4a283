//! Server-sent events about the changes of what one caller may see.

use crate::change_feed::{Change, Following};
use crate::runs::RunStatus;
use crate::service::Service;
use crate::who::Who;
use crate::{sse, time};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use std::convert::Infallible;
use std::fmt::Write as _;
use tokio_util::sync::CancellationToken;

/// Stream of changes.
pub(super) struct ChangeStream {
    who: Who,
    following: Following,
    /// Cancelled when the server stops.
    draining: CancellationToken,
    is_started: bool,
    is_over: bool,
}

impl ChangeStream {
    pub(super) fn new(service: &Service, who: Who, following: Following) -> ChangeStream {
        let draining = service.0.draining.clone();
        ChangeStream { who, following, draining, is_started: false, is_over: false }
    }

    /// Returns the response.
    pub(super) fn response(self) -> Response {
        let frames = stream::unfold(self, |mut stream| async move {
            let bytes = stream.next().await?;
            Some((Ok::<Bytes, Infallible>(bytes), stream))
        });
        sse::response(frames)
    }

    /// Returns the next bytes; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if !std::mem::replace(&mut self.is_started, true) {
            return Some(Bytes::from_static(sse::FIRST));
        }
        let quiet = tokio::time::sleep(sse::KEEP_ALIVE);
        tokio::pin!(quiet);
        while !self.is_over {
            let change = tokio::select! {
                change = self.following.next() => change,
                () = &mut quiet => return Some(Bytes::from_static(sse::COMMENT)),
                // Clients connect again, to this server or another.
                () = self.draining.cancelled() => return None,
            };
            let mut text = String::new();
            self.add(&change, &mut text);
            while !self.is_over
                && text.len() < sse::MAX_FRAME
                && let Some(change) = self.following.next_now()
            {
                self.add(&change, &mut text);
            }
            if !text.is_empty() {
                return Some(text.into());
            }
        }
        None
    }

    /// Adds a change, if it is one of what the caller may see.
    fn add(&mut self, change: &Change, text: &mut String) {
        match change {
            Change::Run { row, has_pending } if self.who.owns(&row.summary.caller) => {
                let data = json!({
                    "id": row.id,
                    "spaceId": row.summary.space,
                    "name": row.summary.script,
                    "status": RunStatus::shown(row, *has_pending),
                    "updatedAt": time::format(row.updated),
                });
                // The text has no line breaks: JSON escapes them.
                let _ = write!(text, "event: run\ndata: {data}\n\n");
            }
            Change::Approval { id, run, owner, status } if self.who.owns(owner) => {
                let data = json!({ "id": id, "runId": run, "status": status });
                let _ = write!(text, "event: approval\ndata: {data}\n\n");
            }
            Change::AgentApproval { id, agent, owner, status } if self.who.owns(owner) => {
                let data = json!({ "id": id, "agent": agent, "status": status });
                let _ = write!(text, "event: approval\ndata: {data}\n\n");
            }
            Change::Run { .. } | Change::Approval { .. } | Change::AgentApproval { .. } => {}
            // The client connects again, and reads its lists.
            Change::Missed => self.is_over = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ChangeStream;
    use crate::service::{Service, test_service};
    use crate::who::Who;
    use agent_spaces_http_server::Client;
    use agent_spaces_journal::{Entry, NewRun, Status, Summary};
    use agent_spaces_types::caller::Caller;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn stream(service: &Service, who: Who) -> ChangeStream {
        let following = service.0.changes.follow(who.owner()).unwrap();
        ChangeStream::new(service, who, following)
    }

    fn named(name: &str) -> Who {
        Who(Client::named(name, Caller { name: Some(name.to_owned()), ..Caller::default() }))
    }

    /// Creates a run of a caller and ends it.
    async fn end(service: &Service, id: &str, caller: &str) {
        let summary = Summary {
            project: "/project".to_owned(),
            caller: caller.to_owned(),
            space: "spc_1".to_owned(),
            script: "a.ts".to_owned(),
            ..Summary::default()
        };
        let new = NewRun { id: id.to_owned(), summary, lease: Duration::from_secs(60), content: vec![] };
        let store = service.store();
        let (claim, _created) = store.create(new, store.owner(), vec![Entry::new("started", 0, "{}")]);
        store.finish(&claim, 1, vec![], Status::Finished, "{}".to_owned()).await.unwrap();
    }

    /// Reads until a run ended, and returns the data of all events.
    async fn until(stream: &mut ChangeStream, id: &str) -> Vec<Value> {
        let mut seen: Vec<Value> = Vec::new();
        while !seen.iter().any(|data| data["id"] == id && data["status"] == "finished") {
            let bytes = tokio::time::timeout(Duration::from_secs(10), stream.next()).await.unwrap().unwrap();
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            seen.extend(data.map(|data| serde_json::from_str::<Value>(data).unwrap()));
        }
        seen
    }

    #[tokio::test]
    async fn a_caller_is_told_of_its_own_things_and_the_operator_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        let operator = Who(Client::of_process(Caller::default()));
        let (mut all, mut own) = (stream(&service, operator), stream(&service, named("ann")));
        end(&service, "run_1", "bob").await;
        end(&service, "run_2", "ann").await;
        let mine = until(&mut own, "run_2").await;
        assert!(mine.iter().all(|data| data["id"] == "run_2"), "{mine:?}");
        let mut last = mine.last().cloned().unwrap();
        let updated = last.as_object_mut().unwrap().remove("updatedAt").unwrap();
        assert!(updated.as_str().unwrap().ends_with('Z'), "{updated}");
        let expected = json!({ "id": "run_2", "spaceId": "spc_1", "name": "a.ts", "status": "finished" });
        assert_eq!(last, expected);
        let everything = until(&mut all, "run_2").await;
        assert!(everything.iter().any(|data| data["id"] == "run_1"), "{everything:?}");
    }

    #[tokio::test]
    async fn a_stream_ends_when_the_server_stops() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        let mut stream = stream(&service, named("ann"));
        assert_eq!(stream.next().await.unwrap(), "retry: 500\n\n");
        service.drain();
        let end = tokio::time::timeout(Duration::from_secs(10), stream.next()).await.unwrap();
        assert_eq!(end, None);
    }
}
