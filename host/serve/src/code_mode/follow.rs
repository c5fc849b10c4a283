//! Requests that wait for their run.

use super::CodeMode;
use super::follow_recorded::out_of_range;
use super::progress::ProgressReporter;
use super::run_result::{EndedRun, of_ended};
use super::running_result::{Approvers, ReturnReason, WaitReport, of_running};
use crate::approvals::{Elicitation, OpenForms, input_required};
use crate::runs::{ServedRun, Waited};
use agent_spaces_approvals::Request;
use agent_spaces_http_server::Client;
use rmcp::model::CallToolResponse;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum time a request waits for a run. Most clients give up after a minute.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(45);

/// The same for a request of this host, which gives up when it is told to.
pub(super) const HOST_WAIT: Duration = Duration::from_secs(5 * 60);

/// Time that a request waits.
#[derive(Clone, Copy)]
pub(super) struct WaitTime {
    begun: Instant,
    until: Instant,
    /// True if the request asked for more than the maximum.
    is_cut: bool,
}

impl WaitTime {
    /// Starts the wait, for the seconds that the agent asks for, at most `most`.
    pub(super) fn new(asked: Option<f64>, most: Duration) -> Result<WaitTime, String> {
        let begun = Instant::now();
        let seconds = asked.unwrap_or(MAX_WAIT.as_secs_f64());
        if !seconds.is_finite() || seconds < 0.0 {
            return Err(format!("`wait` must be a number of seconds from 0 to {}", MAX_WAIT.as_secs()));
        }
        let is_cut = seconds > most.as_secs_f64();
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or(most).min(most);
        Ok(WaitTime { begun, until: begun + wait, is_cut })
    }

    /// Returns the end of the wait.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Describes the wait of a request that returns now.
    pub(super) fn waiting(&self, why: ReturnReason) -> WaitReport {
        WaitReport { waited: self.begun.elapsed(), why, is_cut: self.is_cut }
    }
}

/// Options of a request that follows a run.
#[derive(Clone, Copy)]
pub(super) struct FollowOptions {
    /// Part of the result to return.
    pub(super) part: usize,
    pub(super) wait_time: WaitTime,
    /// True if the person has just closed a form without a decision.
    pub(super) is_form_closed: bool,
}

impl CodeMode {
    /// Waits for a run until it ends, an approval is pending that the agent does not know of, or the time is over.
    /// Dropping the future, because the client cancelled or disconnected, cancels the run, unless it is durable and the
    /// client has its handle.
    pub(super) async fn follow(
        &self,
        client: &Client,
        run: &Arc<ServedRun>,
        options: FollowOptions,
        reporter: &mut ProgressReporter<'_>,
    ) -> CallToolResponse {
        let guard = CancelOnDrop(Some(run.clone()));
        let answer = self.follow_in_memory(client, run, options, reporter).await;
        run.handed_out();
        guard.disarm();
        match answer {
            Some(answer) => answer,
            None => self.follow_recorded(client, &run.id, options, reporter).await,
        }
    }

    /// Waits for a run as long as it is in memory. Returns `None` if it leaves.
    async fn follow_in_memory(
        &self,
        client: &Client,
        run: &Arc<ServedRun>,
        FollowOptions { part, wait_time, mut is_form_closed }: FollowOptions,
        reporter: &mut ProgressReporter<'_>,
    ) -> Option<CallToolResponse> {
        let context = reporter.context();
        let progress = reporter.follow(run);
        tokio::pin!(progress);
        let (form, decisions) = (Elicitation::of(client, context), &self.0.decisions);
        let mut forms = OpenForms::default();
        let answer = loop {
            let is_closed = is_form_closed;
            let is_news = |waiting: &[Arc<Request>]| match form {
                Elicitation::None => !decisions.has_elsewhere() || !run.reported.is(waiting),
                Elicitation::Session | Elicitation::Stateless => {
                    let is_asked = run.asked.unasked(waiting.to_vec()).is_empty();
                    let is_known = run.asked.has_open(waiting) || (!is_closed && run.reported.is(waiting));
                    !is_asked || !is_known
                }
            };
            let waited = tokio::select! {
                waited = run.wait(wait_time.until, is_news) => waited,
                () = forms.next_closed() => {
                    is_form_closed = true;
                    continue;
                }
                // Never completes.
                () = &mut progress => continue,
            };
            let (waiting, why) = match waited {
                Waited::Ended(ended) => {
                    let over = EndedRun { id: &run.id, warnings: &run.warnings, program: run.program.as_ref() };
                    break of_ended(&over, &ended, part).unwrap_or_else(|| out_of_range(&run.id, part)).into();
                }
                Waited::Left => return None,
                Waited::News(waiting) if is_form_closed => (waiting, ReturnReason::FormClosed),
                Waited::News(waiting) => (waiting, ReturnReason::ApprovalNeeded),
                Waited::TimeOver(waiting) => (waiting, ReturnReason::TimeOver),
            };
            let is_over = why == ReturnReason::TimeOver;
            let unasked = run.asked.unasked(waiting.clone());
            match form {
                // The client shows a form; this request keeps waiting.
                Elicitation::Session if !is_over && !unasked.is_empty() => {
                    forms.open(decisions, client, &context.peer, (&run.asked, unasked));
                    continue;
                }
                Elicitation::Stateless if !unasked.is_empty() => break input_required(&run.asked, unasked, &run.id),
                Elicitation::None if decisions.refuse_unasked(&waiting) => match is_over {
                    // The agent sees the outcome when it resumes.
                    true => break of_running(run, &[], Approvers::default(), &wait_time.waiting(why)).into(),
                    false => continue,
                },
                _ => {}
            }
            run.reported.set(&waiting);
            let approvers =
                Approvers { is_client_asked: form != Elicitation::None, has_elsewhere: decisions.has_elsewhere() };
            break of_running(run, &waiting, approvers, &wait_time.waiting(why)).into();
        };
        Some(answer)
    }
}

/// Cancels a run on drop because its client left, unless disarmed.
struct CancelOnDrop(Option<Arc<ServedRun>>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(run) = &self.0 {
            run.client_left();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::code_mode::follow::{HOST_WAIT, MAX_WAIT, WaitTime};

    #[test]
    fn the_wait_time_is_capped_and_marked_as_such() {
        let wait = |seconds: f64| WaitTime::new(Some(seconds), MAX_WAIT);
        assert!(wait(46.0).unwrap().is_cut && wait(1e300).unwrap().is_cut);
        assert!(!WaitTime::new(Some(46.0), HOST_WAIT).unwrap().is_cut);
        let most = wait(45.0).unwrap();
        assert!(!most.is_cut && most.until - most.begun == MAX_WAIT);
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(wait(wrong).is_err_and(|error| error.contains("0 to 45")), "{wrong}");
        }
    }
}
