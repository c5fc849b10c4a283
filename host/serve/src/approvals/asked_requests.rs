//! State of approval forms by request.

use super::group::CallGroup;
use agent_spaces_approvals::Request;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Requests that were shown to a person through the client. Clones share state. Closing a form decides nothing; the
/// person is asked again when the agent resumes.
#[derive(Clone, Default)]
pub(crate) struct AskedRequests(Arc<Mutex<Forms>>);

#[derive(Default)]
struct Forms {
    /// Form state by request id.
    states: BTreeMap<String, FormState>,
    /// Requests that a form of a client without a session shows, by form name.
    given: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormState {
    Open,
    Closed,
}

impl AskedRequests {
    /// Returns those of these requests that have had no form.
    pub(crate) fn unasked(&self, waiting: Vec<Arc<Request>>) -> Vec<Arc<Request>> {
        let forms = self.forms();
        waiting.into_iter().filter(|request| !forms.states.contains_key(&request.id)).collect()
    }

    /// Returns true if a form is open for one of these requests.
    pub(crate) fn has_open(&self, waiting: &[Arc<Request>]) -> bool {
        let forms = self.forms();
        waiting.iter().any(|request| forms.states.get(&request.id) == Some(&FormState::Open))
    }

    /// Marks the form of these requests as closed, with a decision or without.
    pub(super) fn close(&self, requests: &[String]) {
        let mut forms = self.forms();
        forms.states.extend(requests.iter().map(|id| (id.clone(), FormState::Closed)));
    }

    /// Forgets closed forms, so that their requests are asked again.
    pub(crate) fn forget_closed(&self) {
        self.forms().states.retain(|_, state| *state == FormState::Open);
    }

    /// Marks forms as open for the requests that have had none, and returns those.
    pub(super) fn open(&self, waiting: Vec<Arc<Request>>) -> Vec<Arc<Request>> {
        let mut forms = self.forms();
        let is_new = |request: &Arc<Request>| match forms.states.entry(request.id.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(FormState::Open);
                true
            }
            Entry::Occupied(_) => false,
        };
        waiting.into_iter().filter(is_new).collect()
    }

    /// Records a form whose answer comes with the client's next request.
    pub(super) fn record_form(&self, group: &CallGroup) {
        self.forms().given.insert(group.id().to_owned(), group.request_ids());
    }

    /// Returns the requests that a form showed.
    pub(super) fn requests_of_form(&self, form: &str) -> Vec<String> {
        self.forms().given.get(form).cloned().unwrap_or_default()
    }

    fn forms(&self) -> MutexGuard<'_, Forms> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
