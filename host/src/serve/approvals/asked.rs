//! Which requests a person was asked about through the client.

use super::group::CallGroup;
use agent_spaces_approvals::Request;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a person was asked through the client; clones are one. Who closes a form has decided nothing, and is asked again when
/// the agent comes back.
#[derive(Clone, Default)]
pub(in crate::serve) struct Asked(Arc<Mutex<Forms>>);

#[derive(Default)]
struct Forms {
    /// By request.
    states: BTreeMap<String, FormState>,
    /// The requests that a form of a client without a session decides, by the form's name: those that it showed.
    given: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormState {
    Open,
    Closed,
}

impl Asked {
    /// Those of these requests that nobody was asked about.
    pub(in crate::serve) fn unasked(&self, waiting: Vec<Arc<Request>>) -> Vec<Arc<Request>> {
        let forms = self.forms();
        waiting.into_iter().filter(|request| !forms.states.contains_key(&request.id)).collect()
    }

    /// Whether a person has a form before them for one of these requests.
    pub(in crate::serve) fn has_open(&self, waiting: &[Arc<Request>]) -> bool {
        let forms = self.forms();
        waiting.iter().any(|request| forms.states.get(&request.id) == Some(&FormState::Open))
    }

    /// The form of these requests is gone, with a decision or without one.
    pub(super) fn close(&self, requests: &[String]) {
        let mut forms = self.forms();
        forms.states.extend(requests.iter().map(|id| (id.clone(), FormState::Closed)));
    }

    /// Lets people be asked again whose forms are closed.
    pub(in crate::serve) fn forget_closed(&self) {
        self.forms().states.retain(|_, state| *state == FormState::Open);
    }

    /// Those of these requests that nobody was asked about, for which forms are opened now.
    pub(super) fn open(&self, waiting: Vec<Arc<Request>>) -> Vec<Arc<Request>> {
        let mut forms = self.forms();
        let is_new = |request: &Arc<Request>| match forms.states.entry(request.id.clone()) {
            Entry::Vacant(place) => {
                place.insert(FormState::Open);
                true
            }
            Entry::Occupied(_) => false,
        };
        waiting.into_iter().filter(is_new).collect()
    }

    /// A form was given to a client that brings the answer with its next request.
    pub(super) fn give(&self, group: &CallGroup) {
        self.forms().given.insert(group.id().to_owned(), group.request_ids());
    }

    /// The requests that a form of this name showed.
    pub(super) fn given(&self, form: &str) -> Vec<String> {
        self.forms().given.get(form).cloned().unwrap_or_default()
    }

    fn forms(&self) -> MutexGuard<'_, Forms> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
