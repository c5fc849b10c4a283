//! Caller of a request.

use crate::problem::Problem;
use agent_spaces_http_server::Client;
use axum::extract::FromRequestParts;
use http::request::Parts;

/// Caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Who(pub(crate) Client);

impl Who {
    /// Returns the name under which spaces, runs and programs of the caller are stored; empty for the operator.
    pub(crate) fn owner(&self) -> &str {
        self.0.owner()
    }

    /// Returns true for the operator: whoever has the token of the server itself.
    pub(crate) fn is_operator(&self) -> bool {
        self.0.is_process()
    }

    /// Returns true if what this owner has may be seen and changed.
    pub(crate) fn owns(&self, owner: &str) -> bool {
        self.is_operator() || self.owner() == owner
    }

    /// Returns the owner whose things are listed; `None` for those of all.
    pub(crate) fn listed(&self) -> Option<String> {
        (!self.is_operator()).then(|| self.owner().to_owned())
    }

    /// Returns the name under which decisions of this caller are recorded.
    pub(crate) fn decider(&self) -> &str {
        if self.is_operator() { "the operator" } else { self.owner() }
    }

    /// Refuses whoever is not the operator.
    pub(crate) fn check_operator(&self) -> Result<(), Problem> {
        match self.is_operator() {
            true => Ok(()),
            false => Err(Problem::denied("auth.denied", "Only the operator may do this: use the token of the server")),
        }
    }

    /// Refuses a caller that may not decide on calls of its runs.
    pub(crate) fn check_may_approve(&self) -> Result<(), Problem> {
        match self.is_operator() || self.0.may_approve() {
            true => Ok(()),
            false => {
                let detail = "This caller may not decide on calls: the operator can set `mayApprove` for it";
                Err(Problem::denied("auth.denied", detail))
            }
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Who, Problem> {
        // The server puts it there before the request is routed.
        parts.extensions.get::<Who>().cloned().ok_or_else(|| Problem::internal(&"the request has no caller"))
    }
}
