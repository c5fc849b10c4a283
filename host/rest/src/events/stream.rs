//! Server-sent events of one or several runs.

use super::reader::EventReader;
use crate::followers::Follower;
use crate::runs::RunStatus;
use crate::service::Service;
use crate::sse;
use agent_spaces_calls::turns::{Turns, in_turn};
use agent_spaces_journal::{RunRow, Status};
use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::select_all;
use futures_util::stream;
use serde_json::json;
use std::convert::Infallible;
use std::fmt::Write as _;

/// Stream of the events of some runs.
pub(super) struct EventStream {
    service: Service,
    runs: Vec<FollowedRun>,
    /// True if it goes on until all runs have ended.
    follows: bool,
    is_started: bool,
    is_over: bool,
    /// Run that is read first.
    first: usize,
}

struct FollowedRun {
    id: String,
    reader: EventReader,
    follower: Follower,
    /// State when the request came.
    known: Status,
    /// Number of the last event that was sent, now or before.
    sent: Option<u64>,
    /// State that only a person changes, if it was sent.
    told: Option<RunStatus>,
    /// True once its end was sent.
    is_done: bool,
}

impl EventStream {
    /// Streams these runs, each from the event after the given one on.
    pub(super) fn new(service: &Service, runs: Vec<(RunRow, Option<u64>)>, follows: bool) -> EventStream {
        let runs = runs.into_iter().map(|(row, last)| FollowedRun {
            reader: EventReader::after(service.store(), &row.id, last),
            follower: service.0.followers.follow(&row.id),
            known: row.status,
            sent: last,
            told: None,
            is_done: false,
            id: row.id,
        });
        EventStream {
            service: service.clone(),
            runs: runs.collect(),
            follows,
            is_started: false,
            is_over: false,
            first: 0,
        }
    }

    /// Returns the response.
    pub(super) fn response(self) -> Response {
        // The connection polls it, so it says itself whose turns it takes.
        let turns = Turns::current();
        let frames = stream::unfold(self, move |mut stream| {
            let next = async move {
                let bytes = stream.next().await?;
                Some((Ok::<Bytes, Infallible>(bytes), stream))
            };
            in_turn(turns.clone(), next).map(Option::flatten)
        });
        sse::response(frames)
    }

    /// Returns the next bytes; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        if !std::mem::replace(&mut self.is_started, true) {
            return Some(Bytes::from_static(sse::FIRST));
        }
        loop {
            let mut text = String::new();
            let (count, first) = (self.runs.len(), self.first);
            for index in (0..count).map(|offset| first.wrapping_add(offset) % count.max(1)) {
                if self.read(index, &mut text).await.is_err() {
                    // The client connects again, and goes on where it was.
                    self.is_over = true;
                    return Some(text.into()).filter(|bytes: &Bytes| !bytes.is_empty());
                }
                if text.len() >= sse::MAX_FRAME {
                    // The others come first in the next one.
                    self.first = index.wrapping_add(1);
                    break;
                }
            }
            if self.runs.iter().all(|run| run.is_done) {
                self.is_over = true;
            }
            if !text.is_empty() {
                return Some(text.into());
            }
            if self.is_over || !self.follows {
                self.is_over = true;
                return None;
            }
            let changes = self.runs.iter_mut().filter(|run| !run.is_done).map(|run| Box::pin(run.follower.changed()));
            let draining = self.service.0.draining.clone();
            tokio::select! {
                _changed = select_all(changes) => {}
                () = tokio::time::sleep(sse::KEEP_ALIVE) => return Some(Bytes::from_static(sse::COMMENT)),
                // Clients connect again, to this server or another.
                () = draining.cancelled() => {
                    self.is_over = true;
                    return None;
                }
            }
        }
    }

    /// Adds the next events of one run.
    async fn read(&mut self, index: usize, text: &mut String) -> Result<(), crate::problem::Problem> {
        let Some(run) = self.runs.get_mut(index).filter(|run| !run.is_done) else { return Ok(()) };
        // Before the events: what is on disk by now is read then.
        let position = run.follower.position();
        let status = if run.known.is_ended() { run.known } else { position.status.unwrap_or(run.known) };
        // Before the first look nobody knows how far the run is.
        if position.status.is_some() && position.entries <= run.reader.entries() && !status.is_ended() {
            return match status {
                Status::Parked => self.tell_status(index, text).await,
                _ => Ok(()),
            };
        }
        let events = run.reader.next().await?;
        if events.is_empty() && status == Status::Parked {
            return self.tell_status(index, text).await;
        }
        if events.is_empty() && status.is_ended() {
            run.is_done = true;
            let data = json!({ "runId": run.id, "status": status.as_str() });
            let _ = write!(text, "event: end\ndata: {data}\n\n");
        }
        for event in events {
            if let Some(run) = self.runs.get_mut(index) {
                run.sent = Some(event.number);
            }
            let id = self.id();
            // The text of an event has no line breaks: JSON escapes them.
            let _ = write!(text, "id: {id}\ndata: {}\n\n", event.text);
        }
        Ok(())
    }

    /// Adds the state of a run that waits for a person, which no event shows: one that only follows events would wait for
    /// ever.
    async fn tell_status(&mut self, index: usize, text: &mut String) -> Result<(), crate::problem::Problem> {
        let Some(run) = self.runs.get_mut(index) else { return Ok(()) };
        let Some(row) = self.service.store().run(&run.id).await? else { return Ok(()) };
        let status = Some(RunStatus::of(&row)).filter(|status| status.needs_person());
        if status != run.told {
            run.told = status;
            if let Some(status) = status {
                let data = json!({ "runId": run.id, "status": status });
                let _ = write!(text, "event: status\ndata: {data}\n\n");
            }
        }
        Ok(())
    }

    /// Returns the id of an event: the numbers of the last events of all runs, in the order of the request.
    fn id(&self) -> String {
        let number = |run: &FollowedRun| run.sent.map_or_else(String::new, |number| number.to_string());
        self.runs.iter().map(number).collect::<Vec<_>>().join(",")
    }
}
