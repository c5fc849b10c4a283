//! Calls that a person decides about together.

use super::form::MAX_SHOWN;
use agent_spaces_approvals::{Request, pretty};
use std::sync::Arc;
use std::time::Duration;

/// Calls of one function in one run: one rule asks for all of them, so one form does. Never empty.
#[derive(Clone)]
pub(super) struct CallGroup {
    calls: Vec<GroupedCall>,
}

/// A call of a group, with its arguments as a form shows them.
#[derive(Clone)]
pub(super) struct GroupedCall {
    pub(super) request: Arc<Request>,
    pub(super) arguments: String,
}

impl CallGroup {
    /// The groups of calls that wait, oldest first. A form shows all that it decides: calls whose arguments do not fit into
    /// one are the next form's, and only the arguments of a call that has a form to itself are ever cut.
    pub(super) fn of(waiting: Vec<Arc<Request>>) -> Vec<CallGroup> {
        let mut groups: Vec<CallGroup> = Vec::new();
        for request in waiting {
            let call = GroupedCall { arguments: pretty(&request.params), request };
            match groups.iter_mut().find(|group| group.has_room_for(&call)) {
                Some(group) => group.calls.push(call),
                None => groups.push(CallGroup { calls: vec![call] }),
            }
        }
        groups
    }

    fn has_room_for(&self, call: &GroupedCall) -> bool {
        let is_same = |other: &GroupedCall| {
            let (one, two) = (&other.request, &call.request);
            one.function_id == two.function_id && one.run_id == two.run_id && one.source == two.source
        };
        let characters: usize = self.calls.iter().chain([call]).map(|call| call.arguments.chars().count()).sum();
        self.calls.first().is_some_and(is_same) && characters <= MAX_SHOWN
    }

    pub(super) fn calls(&self) -> &[GroupedCall] {
        &self.calls
    }

    /// What a client names its form by.
    pub(super) fn id(&self) -> &str {
        self.calls.first().map(|call| call.request.id.as_str()).unwrap_or_default()
    }

    /// The requests that its form decides.
    pub(super) fn request_ids(&self) -> Vec<String> {
        self.calls.iter().map(|call| call.request.id.clone()).collect()
    }

    /// How long one of them can still be decided.
    pub(super) fn time_left(&self) -> Duration {
        self.calls.iter().filter_map(|call| call.request.time_left()).max().unwrap_or_default()
    }
}
