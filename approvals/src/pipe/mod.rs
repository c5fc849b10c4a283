//! Decisions from another program: one JSON object to a line.
//!
//! `{"id":"apr_…","decision":"approve"}`, with `reason`, `by` and `for` where they are wanted. Whoever holds the other
//! end decides, so it must not be within reach of the script.

mod line;

use crate::channel::{Answer, Channel, ChannelError};
use crate::decision::Decision;
use crate::request::Request;
use capability_gen::shown;
use capability_gen::shown::Shown;
use line::{MAX_LINE, Next};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, BufReader};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// How many ids are remembered so as to say why a decision came for nothing.
const MAX_PAST: usize = 256;
/// The longest id in a report, in characters.
const MAX_ID: usize = 64;

/// Takes decisions from a stream of lines. It must be made within a tokio runtime, which reads them.
pub struct PipeChannel {
    shared: Arc<Shared>,
    reader: AbortHandle,
}

/// Told of every line that decided nothing.
type Report = Box<dyn Fn(&Shown) + Send + Sync>;

struct Shared {
    state: Mutex<State>,
    report: Report,
}

#[derive(Default)]
struct State {
    waiting: HashMap<String, oneshot::Sender<Decision>>,
    past: VecDeque<(String, Past)>,
    /// Why nothing will be decided any more.
    closed: Option<String>,
}

/// What became of a request that no longer waits.
#[derive(Clone, Copy)]
enum Past {
    Decided,
    Gone,
}

impl PipeChannel {
    /// Reads decisions until the stream ends. `report` is told of every line that decided nothing, and why.
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
            // The whole of it, so that it lives as long as this.
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

/// A request while it waits; gone when this is dropped.
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
            Ok(Next::TooLong) => (shared.report)(&shown!("a decision of more than {} bytes was left out", MAX_LINE)),
            Ok(Next::End) => break "the stream of decisions has ended".to_owned(),
            Err(error) => break format!("decisions can no longer be read: {error}"),
        }
    };
    let mut state = shared.state();
    state.closed = Some(why);
    // Whoever waits is told by this.
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
            Err(error) => return (self.report)(&Shown::line(&format!("a line that is no decision: {error}"), 300)),
        };
        let mut state = self.state();
        let past = match state.waiting.remove(&id).map(|tell| tell.send(decision)) {
            Some(Ok(())) => return state.note(id, Past::Decided),
            // It is just being withdrawn, and its place will not be found any more.
            Some(Err(_)) => {
                state.note(id.clone(), Past::Gone);
                Some(Past::Gone)
            }
            None => state.past.iter().rev().find(|(known, _)| *known == id).map(|(_, past)| *past),
        };
        drop(state);
        (self.report)(&match past {
            Some(Past::Decided) => shown!("{} was decided before: the first decision holds", Shown::line(&id, MAX_ID)),
            Some(Past::Gone) => too_late(&id),
            None => shown!("no request {} waits for a decision", Shown::line(&id, MAX_ID)),
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
    shown!("the decision on {} came too late: it had expired or was withdrawn", Shown::line(id, MAX_ID))
}

#[cfg(test)]
#[path = "pipe_tests.rs"]
mod tests;
