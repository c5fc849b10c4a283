//! Requests that wait for a durable run that is not in memory.

use super::follow::FollowOptions;
use super::progress::ProgressReporter;
use super::run_result::{EndedRun, of_ended};
use super::running_result::{Approvers, ReturnReason, WaitReport, of_recorded};
use super::{CodeMode, refused};
use crate::approvals::Elicitation;
use crate::durable::{DurableSpace, FoundRun};
use crate::runs::Ended;
use agent_spaces_http_server::Client;
use agent_spaces_journal::Status;
use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResponse, CallToolResult};
use std::time::Duration;

/// Shortest time between two looks at the journal: every write of any run changes it.
const MIN_INTERVAL: Duration = Duration::from_millis(50);

impl CodeMode {
    /// Waits for a run of the journal until it ends, needs an approval that the agent does not know of, or the time is
    /// over. Once it is in memory, it is followed there.
    ///
    /// Boxed, because a run may come and leave several times.
    pub(super) fn follow_recorded<'a, 'r: 'a>(
        &'a self,
        client: &'a Client,
        id: &'a str,
        options: FollowOptions,
        reporter: &'a mut ProgressReporter<'r>,
    ) -> BoxFuture<'a, CallToolResponse> {
        Box::pin(self.look_up(client, id, options, reporter))
    }

    async fn look_up(
        &self,
        client: &Client,
        id: &str,
        options: FollowOptions,
        reporter: &mut ProgressReporter<'_>,
    ) -> CallToolResponse {
        let served = self.0.offers.get().await;
        let Some(durable) = served.durable.clone() else { return unknown_run(id).into() };
        let form = Elicitation::of(client, reporter.context());
        let (mut is_attended, mut version) = (false, 0);
        loop {
            if let Some(run) = self.0.runs.get(client, id) {
                return self.follow(client, &run, options, reporter).await;
            }
            let found = match durable.find(client, id).await {
                Ok(Some(found)) => found,
                Ok(None) => return unknown_run(id).into(),
                Err(_) => return unreadable(id).into(),
            };
            if found.status.is_ended() {
                return ended(&durable, &found, options.part).await.into();
            }
            if durable.runs().is_stopping() {
                return self.unfinished(&durable, &found, form, &options.wait_time.waiting(ReturnReason::TimeOver));
            }
            let is_parked = found.status == Status::Parked && !found.requests.is_empty();
            if form != Elicitation::None && is_parked && !is_attended {
                // The person at this client decides.
                is_attended = true;
                self.attend(client, &durable, &served, id).await;
            } else if form == Elicitation::None && durable.is_news(&found.requests) {
                return self.unfinished(
                    &durable,
                    &found,
                    form,
                    &options.wait_time.waiting(ReturnReason::ApprovalNeeded),
                );
            }
            let changed = async {
                tokio::time::sleep(MIN_INTERVAL).await;
                durable.store().changed(version).await
            };
            let changing = tokio::time::timeout_at(options.wait_time.until(), changed);
            match reporter.during("waiting for the run", changing).await {
                Ok(changed) => version = changed,
                Err(_) => {
                    return self.unfinished(&durable, &found, form, &options.wait_time.waiting(ReturnReason::TimeOver));
                }
            }
        }
    }

    /// Builds the result of a run that has not ended.
    fn unfinished(
        &self,
        durable: &DurableSpace,
        found: &FoundRun,
        form: Elicitation,
        waited: &WaitReport,
    ) -> CallToolResponse {
        durable.report(&found.requests);
        let approvers =
            Approvers { is_client_asked: form != Elicitation::None, has_elsewhere: self.0.decisions.has_elsewhere() };
        of_recorded(found, approvers, waited).into()
    }
}

/// Builds a page of the result of an ended run.
async fn ended(durable: &DurableSpace, found: &FoundRun, part: usize) -> CallToolResult {
    let id = &found.id;
    match Ended::recorded(&**durable.store(), id).await {
        Ok(Some(ended)) => {
            let run = EndedRun { id, warnings: &found.origin.warnings, program: None };
            of_ended(&run, &ended, part).unwrap_or_else(|| out_of_range(id, part))
        }
        Ok(None) | Err(_) => unreadable(id),
    }
}

/// Builds the result of a request for a page that does not exist.
pub(super) fn out_of_range(id: &str, part: usize) -> CallToolResult {
    refused(format!("part {part} of `{id}` is out of range"))
}

/// Builds the result of a request for a run that the caller does not have.
pub(super) fn unknown_run(id: &str) -> CallToolResult {
    refused(format!("you have no run `{id}`; it may have ended long ago: run the program again"))
}

/// Builds the result of a request for a run whose journal is faulty. Details are for the operator.
fn unreadable(id: &str) -> CallToolResult {
    refused(format!(
        "the journal of `{id}` cannot be read now; the user can check it with `agent-spaces runs show {id}`"
    ))
}
