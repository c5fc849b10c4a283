//! Decisions from another program as JSON Lines.
//!
//! `{"id":"apr_…","decision":"approve"}`, optionally with `reason`, `by` and `for`. Whoever writes to the pipe decides,
//! so the script must not have access to it.

mod line;

use crate::channel::{Answer, Channel, ChannelError};
use crate::decision::Decision;
use crate::request::Request;
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use line::{MAX_LINE, Next};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, BufReader};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// Most past ids kept, to explain why a decision was ignored.
const MAX_PAST: usize = 256;
/// The longest id in a report, in characters.
const MAX_ID: usize = 64;

/// Channel that reads decisions from a stream of lines. Create it within a tokio runtime, which reads them.
pub struct PipeChannel {
    shared: Arc<Shared>,
    reader: AbortHandle,
}

/// Receives every line that decided nothing.
type Report = Box<dyn Fn(&Shown) + Send + Sync>;

struct Shared {
    state: Mutex<State>,
    report: Report,
}

#[derive(Default)]
struct State {
    waiting: HashMap<String, oneshot::Sender<Decision>>,
    past: VecDeque<(String, Past)>,
    /// Reason why no more decisions will arrive.
    closed: Option<String>,
}

/// State of a request that is no longer pending.
#[derive(Clone, Copy)]
enum Past {
    Decided,
    Gone,
}

impl PipeChannel {
    /// Reads decisions until the stream ends. `report` receives every line that decided nothing, and why.
    pub fn new(
        stream: impl AsyncRead + Send + Unpin + 'static,
        report: impl Fn(&Shown) + Send + Sync + 'static,
    ) -> PipeChannel {
        let shared = Arc::new(Shared { state: Mutex::default(), report: Box::new(report) });
        let reader = tokio::spawn(read(stream, Arc::clone(&shared))).abort_handle();
        PipeChannel { shared, reader }
    }
}

impl Channel for PipeChannel {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        let (tell, told) = oneshot::channel();
        let mut state = self.shared.state();
        if state.closed.is_none() {
            state.waiting.insert(request.id.clone(), tell);
        }
        drop(state);
        let waiting = Waiting { shared: &self.shared, id: request.id.clone() };
        Box::pin(async move {
            // Move the guard into the future.
            let waiting = waiting;
            let answer = told.await;
            let why = || waiting.shared.state().closed.clone().unwrap_or_else(|| "asked twice".to_owned());
            answer.map_err(|_| ChannelError::Nobody(why()))
        })
    }

    fn too_late(&self, request: &Request) {
        (self.shared.report)(&too_late(&request.id));
    }
}

impl Drop for PipeChannel {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Guard of a pending request; dropping it removes the request.
struct Waiting<'a> {
    shared: &'a Shared,
    id: String,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if state.waiting.remove(&self.id).is_some() {
            state.note(std::mem::take(&mut self.id), Past::Gone);
        }
    }
}

async fn read(stream: impl AsyncRead + Unpin, shared: Arc<Shared>) {
    let mut stream = BufReader::new(stream);
    let why = loop {
        match line::next(&mut stream).await {
            Ok(Next::Line(line)) => shared.take(&line),
            Ok(Next::TooLong) => (shared.report)(&shown!("ignored a decision of more than {} bytes", MAX_LINE)),
            Ok(Next::End) => break "the stream of decisions has ended".to_owned(),
            Err(error) => break format!("decisions can no longer be read: {error}"),
        }
    };
    let mut state = shared.state();
    state.closed = Some(why);
    // Dropping the senders wakes the waiting requests.
    state.waiting.clear();
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let (id, decision) = match line::parse(line) {
            Ok(parsed) => parsed,
            Err(error) => return (self.report)(&Shown::line(&format!("invalid decision: {error}"), 300)),
        };
        let mut state = self.state();
        let past = match state.waiting.remove(&id).map(|tell| tell.send(decision)) {
            Some(Ok(())) => return state.note(id, Past::Decided),
            // It is being withdrawn right now.
            Some(Err(_)) => {
                state.note(id.clone(), Past::Gone);
                Some(Past::Gone)
            }
            None => state.past.iter().rev().find(|(known, _)| *known == id).map(|(_, past)| *past),
        };
        drop(state);
        (self.report)(&match past {
            Some(Past::Decided) => shown!("{} is already decided: the first decision counts", Shown::line(&id, MAX_ID)),
            Some(Past::Gone) => too_late(&id),
            None => shown!("no pending request {}", Shown::line(&id, MAX_ID)),
        });
    }
}

impl State {
    fn note(&mut self, id: String, past: Past) {
        if self.past.len() >= MAX_PAST {
            self.past.pop_front();
        }
        self.past.push_back((id, past));
    }
}

fn too_late(id: &str) -> Shown {
    shown!("the decision on {} came too late: the request had expired or was withdrawn", Shown::line(id, MAX_ID))
}

#[cfg(test)]
#[path = "pipe_tests.rs"]
mod tests;
