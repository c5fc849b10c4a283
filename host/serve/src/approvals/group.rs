//! Groups of calls that share an approval form.

use super::form::MAX_SHOWN;
use agent_spaces_approvals::{Request, pretty};
use std::sync::Arc;
use std::time::Duration;

/// Calls of one function in one run, which the same rule applies to. Never empty.
#[derive(Clone)]
pub(super) struct CallGroup {
    calls: Vec<GroupedCall>,
}

/// Call of a group, with its arguments as a form shows them.
#[derive(Clone)]
pub(super) struct GroupedCall {
    pub(super) request: Arc<Request>,
    pub(super) arguments: String,
}

impl CallGroup {
    /// Groups pending calls, oldest first. A form shows everything that it decides: calls whose arguments do not fit go
    /// to another form, and arguments are truncated only in a form of a single call.
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

    /// Returns the id of its form.
    pub(super) fn id(&self) -> &str {
        self.calls.first().map(|call| call.request.id.as_str()).unwrap_or_default()
    }

    /// Returns the requests that its form decides.
    pub(super) fn request_ids(&self) -> Vec<String> {
        self.calls.iter().map(|call| call.request.id.clone()).collect()
    }

    /// Returns the longest time until one of its requests expires.
    pub(super) fn time_left(&self) -> Duration {
        self.calls.iter().filter_map(|call| call.request.time_left()).max().unwrap_or_default()
    }
}
